"""Commands that extend, repair or remove roamkb with the program that installed it."""

import shlex
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

#: What uv and pipx leave in an environment that they made for one program.
_UV_RECEIPT = "uv-receipt.toml"
_PIPX_METADATA = "pipx_metadata.json"
#: Where a package came from, in uv's receipt, if not from an index.
_SOURCE_KEYS = ("directory", "path", "url")
_PACKAGE = "roamkb"
#: Where Debian's package has its environment; what is in there is apt's.
_DEBIAN_ENVIRONMENT = Path("/usr/lib/roamkb")


def extra_install_command(extra: str, *, environment: Path | None = None) -> str:
    """Return the command that installs an extra beside the roamkb that runs, so that an upgrade keeps it.

    pip takes the extra's needs from what is installed, wherever that came from.
    """
    environment_folder = environment or Path(sys.prefix)
    if (environment_folder / _UV_RECEIPT).is_file():
        return f"uv tool install --force {_uv_requirement(environment_folder / _UV_RECEIPT, extra)}"
    if (environment_folder / _PIPX_METADATA).is_file():
        return f"pipx inject {shlex.quote(environment_folder.name)} '{_PACKAGE}[{extra}]'"
    if environment_folder == _DEBIAN_ENVIRONMENT:
        # its environment is apt's; an index may have another program of that name
        return f"sudo apt remove {_PACKAGE} && pipx install './[{extra}]'  # in roamkb's checkout"
    return f"{_installer_command()} '{_PACKAGE}[{extra}]'"


def reinstall_command(package: str, *, environment: Path | None = None) -> str:
    """Return the command that installs a damaged package once more, and nothing else."""
    environment_folder = environment or Path(sys.prefix)
    if (environment_folder / _PIPX_METADATA).is_file():
        return f"pipx runpip {shlex.quote(environment_folder.name)} install --force-reinstall --no-deps {package}"
    if environment_folder == _DEBIAN_ENVIRONMENT:
        return f"sudo apt install --reinstall {_PACKAGE}"
    reinstall_option = "--force-reinstall" if _has_pip() else "--reinstall"
    return f"{_installer_command()} {reinstall_option} --no-deps {package}"


def copy_command(*, environment: Path | None = None) -> str:
    """Return the command that installs roamkb once more, by files without a second name in uv's cache."""
    receipt = (environment or Path(sys.prefix)) / _UV_RECEIPT
    if receipt.is_file():
        return f"UV_LINK_MODE=copy uv tool install --reinstall {_uv_requirement(receipt)}"
    return f"UV_LINK_MODE=copy {reinstall_command(_PACKAGE, environment=environment)}"


def uninstall_command(*, environment: Path | None = None) -> str:
    """Return the command that takes the program itself away."""
    environment_folder = environment or Path(sys.prefix)
    if (environment_folder / _UV_RECEIPT).is_file():
        return f"uv tool uninstall {_PACKAGE}"
    if (environment_folder / _PIPX_METADATA).is_file():
        return f"pipx uninstall {shlex.quote(environment_folder.name)}"
    if environment_folder == _DEBIAN_ENVIRONMENT:
        return f"sudo apt remove {_PACKAGE}"
    is_running = environment_folder == Path(sys.prefix)
    python = shlex.quote(sys.executable if is_running else str(environment_folder / "bin" / "python3"))
    has_pip = _has_pip() if is_running else any(environment_folder.glob("lib/python3*/*-packages/pip"))
    return f"{python} -m pip uninstall {_PACKAGE}" if has_pip else f"uv pip uninstall --python {python} {_PACKAGE}"


def installed_version(environment: Path) -> str:
    """Return the version of the roamkb in an environment, by what installers note down; empty if they didn't."""
    versions = {note.name.removeprefix(f"{_PACKAGE}-").removesuffix(".dist-info") for note in _own_notes(environment)}
    # environments of several Pythons may lie in one folder
    return versions.pop() if len(versions) == 1 else ""


def is_installed(environment: Path) -> bool:
    """Say whether an installer put roamkb into an environment: it may run from its source as well."""
    return any(_own_notes(environment))


def _own_notes(environment: Path) -> Iterator[Path]:
    return environment.glob(f"lib/python3*/*-packages/{_PACKAGE}-*.dist-info")


def _installer_command() -> str:
    """Return the command that installs packages into the running environment; uv's may have no pip."""
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if _has_pip() else f"uv pip install --python {python}"


def _has_pip() -> bool:
    return find_spec("pip") is not None


def _uv_requirement(receipt: Path, *more_extras: str) -> str:
    """Return the requirement that uv installed, with more extras, in uv's syntax."""
    try:
        requirements = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
        own_requirement = next(requirement for requirement in requirements if requirement["name"] == _PACKAGE)
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        own_requirement = {}
    extras = ",".join(dict.fromkeys((*own_requirement.get("extras", ()), *more_extras)))
    bracketed = f"[{extras}]" if extras else ""
    if "editable" in own_requirement:
        return "--editable " + shlex.quote(f"{own_requirement['editable']}{bracketed}")
    if "git" in own_requirement:
        return shlex.quote(f"{_PACKAGE}{bracketed} @ git+{own_requirement['git']}")
    source = next((own_requirement[key] for key in _SOURCE_KEYS if key in own_requirement), _PACKAGE)
    return shlex.quote(f"{source}{bracketed}{own_requirement.get('specifier', '')}")
