"""Checks of `doctor` for the wall, proved by an attempt to write through it."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from roamkb.core.errors import BadRule
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.package_manager import copy_command
from roamkb.harnesses.harness import Harness
from roamkb.harnesses.harness import SettingsOnDisk
from roamkb.harnesses.registry import all_harnesses
from roamkb.harnesses.settings_json import enabled_plugin
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.wall_settings import is_own_launcher
from roamkb.harnesses.wall_settings import shell_prefix
from roamkb.install.checks.doctor_harnesses import read_settings
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import run_check
from roamkb.install.store.apply import real_path
from roamkb.install.store.machine import DoctorContext
from roamkb.install.wall_setup import WALL_NAMES
from roamkb.install.wall_setup import WallSetup
from roamkb.wall.plan import is_within
from roamkb.wall.protected import find_wall_methods

#: Far above what a command needs on a slow machine.
_PROBE_TIMEOUT = 60
#: No note by its name, and nothing that a syncer would keep for long.
_PROBE_FILE = ".roamkb-doctor-probe"


@dataclass(frozen=True, slots=True, kw_only=True)
class WallSetting:
    """Whether a harness's settings put the wall before its shell commands; nothing was tried."""

    harness: str
    is_set: bool
    #: What puts it there, or what is wrong with the settings; a clause.
    advice: str


def wall_settings(home: Path) -> Iterator[WallSetting]:
    """Yield what the settings of each harness that roamkb's hooks are in say of the wall; of some it can't be told."""
    for harness in all_harnesses():
        if not harness.prefix_variables:
            continue
        path = harness.settings_files[0].path
        try:
            prefix, is_hooked = _read_prefix(home / path, harness)
        except ValueError as error:
            yield WallSetting(harness=harness.title, is_set=False, advice=f"~/{path} {error}")
            continue
        if is_hooked:
            yield WallSetting(
                harness=harness.title,
                is_set=is_own_launcher(prefix),
                advice=f"`roamkb install --{harness.options[0]}` puts it there",
            )


def check_wall(context: DoctorContext, wall: WallSetup) -> Iterator[DoctorCheck]:
    """Yield the checks of what keeps each harness's commands from writing to the notes."""
    for harness in all_harnesses():
        if harness.prefix_variables:
            yield run_check("wall", partial(_walled, context, wall, harness))
        elif _is_hooked(context.home / harness.settings_files[0].path):
            yield run_check(f"wall for {harness.title}", partial(_sandboxed, context, harness))


def _is_hooked(path: Path) -> bool:
    """Return whether settings hold hooks of ours; not where they can't be read, as the harness's check says."""
    try:
        settings = read_settings(path)
        return bool(settings.strip() and own_handlers(settings))
    except ValueError:
        return False


def _read_prefix(path: Path, harness: Harness) -> tuple[str, bool]:
    """Return the program before a harness's shell commands, by its settings, and whether they run hooks of ours.

    Raises:
        ValueError: they can't be read.
    """
    settings = read_settings(path)
    if not settings.strip():
        return "", False
    is_hooked = bool(own_handlers(settings) or enabled_plugin(settings))
    return shell_prefix(settings, harness.prefix_variables[0]), is_hooked


def _walled(patient: DoctorContext, wall: WallSetup, harness: Harness) -> DoctorCheck:
    (variable,), option = harness.prefix_variables, f"--{harness.options[0]}"
    works = next(find_wall_methods(), None)
    if works is None:
        said = "nothing here can keep a command from writing to the notes; what it would do is only judged"
        return DoctorCheck(ok=False, detail=said, fix="install bubblewrap, or a Linux from 5.19 on")
    how, path = WALL_NAMES[works[0]], patient.home / harness.settings_files[0].path
    try:
        prefix, is_hooked = _read_prefix(path, harness)
    except ValueError:
        said = f"{how} would work; whether {harness.title} runs its commands by it can't be told from {path}"
        return DoctorCheck(ok=True, detail=said, fix=f"put that right: see {harness.title} above", proved=False)
    if not prefix:
        said = f"{how} would work, and no harness runs its commands by it; `roamkb exec -- COMMAND` does"
        return DoctorCheck(
            ok=not is_hooked,
            detail=said,
            fix=f"`roamkb install {option}` puts it before {harness.title}'s shell commands",
            proved=False,
        )
    if not is_own_launcher(prefix):
        said = f"{variable} in the settings is your own, {prefix}: its commands have no wall of roamkb's"
        fix = f"without it, `roamkb install {option}` puts one there"
        return DoctorCheck(ok=True, detail=said, fix=fix, proved=False)
    if isinstance(patient.rule, BadRule):
        wall.renew_plan_file()
        said = f"by {how}, around what the last good rule named"
        return DoctorCheck(ok=True, detail=said, proved=False)
    closed = wall.renew_plan_file().paths_for("/").closed
    if fault := _find_breach(Path(prefix), patient.rule.all_folders, closed, harness.title):
        return DoctorCheck(ok=False, detail=fault, fix=f"`roamkb install {option}` makes it anew")
    if twin := _find_hard_link(closed):
        said = f"{twin} has another name, outside of what is closed: by that it can be written"
        fix = f"of roamkb's program: `{copy_command()}`; of a note: copy it anew"
        return DoctorCheck(ok=False, detail=said, fix=fix)
    return DoctorCheck(ok=True, detail=f"by {how}; a command that tried couldn't write to the notes")


#: Tries to make a file in each folder and to open each file; says which of them it could. Nothing is changed.
_PROBE_SCRIPT = """
echo tried
name=$1; shift
for path do
    if [ -d "$path" ]; then
        (: > "$path/$name") 2> /dev/null && rm -f "$path/$name" && printf '%s\\0' "$path"
    elif [ -f "$path" ]; then
        (: >> "$path") 2> /dev/null && printf '%s\\0' "$path"
    fi
done
"""


def _find_breach(launcher: Path, kbs: tuple[Path, ...], closed: list[str], title: str) -> str:
    """Return the fault of a wall after trying to write through it to every closed path."""
    try:
        completed = subprocess.run(
            [launcher, "/bin/sh", "-c", _PROBE_SCRIPT, "sh", f"{_PROBE_FILE}-{os.getpid()}", *kbs, *closed],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_TIMEOUT,
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"a command behind it doesn't end within {_PROBE_TIMEOUT} s"
    except OSError as error:
        return f"{launcher} can't be run: {error.strerror}; no shell command of {title}'s can"
    head, _, written_paths = completed.stdout.partition(b"tried\n")
    if head or not completed.stdout:
        return f"{launcher} doesn't run a command (status {completed.returncode})"
    written = [os.fsdecode(path) for path in written_paths.split(b"\0") if path]
    if not {*map(str, kbs)}.isdisjoint(written):
        return "a command behind it could write to the notes"
    return f"a command behind it could write to {written[0]}" if written else ""


def _find_hard_link(closed: list[str]) -> str:
    """Return a closed file that has a hard link elsewhere; empty where there is none.

    uv links what it installs to its cache, and some backups link what didn't change. The Python that
    roamkb's environment was made of isn't looked at: nobody but who keeps it could mend that.
    """
    base = str(real_path(Path(sys.base_prefix)))
    names: dict[tuple[int, int], list[str]] = {}
    missing: dict[tuple[int, int], int] = {}
    for path in (path for top in closed if not is_within(top, base) for path in _files_below(top)):
        status = os.lstat(path)
        if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
            key = (status.st_dev, status.st_ino)
            names.setdefault(key, []).append(path)
            missing[key] = status.st_nlink - len(names[key])
    return next((names[key][0] for key, count in missing.items() if count), "")


def _files_below(top: str) -> Iterator[str]:
    if not Path(top).is_dir():
        yield top
    for folder, _, files in os.walk(top):
        yield from (f"{folder}/{name}" for name in files)


def _sandboxed(patient: DoctorContext, harness: Harness) -> DoctorCheck:
    settings = SettingsOnDisk(home=patient.home, root=None, read_settings=read_settings, resolve_path=real_path)
    folders = () if isinstance(patient.rule, BadRule) else patient.rule.all_folders
    report = harness.sandbox_report(settings, tuple(str(real_path(folder)) for folder in folders))
    if report is None:
        return DoctorCheck(ok=True, detail="roamkb's own", proved=False)
    if report.ok:
        return DoctorCheck(ok=True, detail=report.detail, proved=False)
    return DoctorCheck(ok=False, detail=report.detail, fix=report.fix)
