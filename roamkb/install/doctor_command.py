"""Check of the command: whether one is found, and whether all that can be run are of one version."""

from pathlib import Path

from roamkb.fs.package_manager import installed_version
from roamkb.fs.package_manager import uninstall_command
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import join_first
from roamkb.install.store import machine
from roamkb.install.store.machine import DoctorContext

_NAME = "roamkb"


def check_command(context: DoctorContext) -> DoctorCheck:
    """Check for a command on the PATH, and for others there or where hooks look for theirs."""
    folder = context.home / ".local" / "bin"
    if not machine.find_commands(_NAME, context.search_path):
        detail, fix = f"no command {_NAME} on the PATH", "run `make install`"
        if not machine.is_on_path(folder, context.search_path):
            detail += f", and {folder} isn't on it"
            fix += ', and put export PATH="$HOME/.local/bin:$PATH" into your ~/.profile'
        return DoctorCheck(name="command", ok=False, detail=detail, fix=fix)
    return _check_versions(machine.find_commands(_NAME, f"{context.search_path}:{folder}"))


def _check_versions(programs: tuple[Path, ...]) -> DoctorCheck:
    """Check that programs are of one version, as far as their environments tell."""
    environments = [machine.environment_of(program) for program in programs]
    versions = [installed_version(environment) for environment in environments]
    first, *others = (
        f"{program} ({version or 'of an unknown version'})" for program, version in zip(programs, versions, strict=True)
    )
    if not others:
        return DoctorCheck(name="command", ok=True, detail=f"roamkb is {programs[0]}")
    removals = [
        f"`{uninstall_command(environment=environment)}`"
        for environment, version in zip(environments[1:], versions[1:], strict=True)
        if version
    ]
    return DoctorCheck(
        name="command",
        ok=len({*filter(None, versions)}) < 2,
        detail=f"a shell runs {first}; there is also {join_first(others)}",
        fix="; ".join(["keep the one that you update", *(f"{removal} takes the other away" for removal in removals)]),
        proved=False,
    )
