"""What `doctor` says of the wall: it is proved by trying to write through it."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import BadRule
from roamkb.guard.hook_tampering import SHELL_PREFIX
from roamkb.harnesses.codex_sandbox import NONE
from roamkb.harnesses.codex_sandbox import sandbox_mode
from roamkb.harnesses.codex_sandbox import writable_above
from roamkb.harnesses.settings_json import find_plugin
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.store.probe import CLAUDE_SETTINGS
from roamkb.harnesses.store.probe import CODEX_CONFIG
from roamkb.harnesses.store.probe import CODEX_HOOKS
from roamkb.harnesses.wall_settings import is_ours
from roamkb.harnesses.wall_settings import shell_prefix
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import looked
from roamkb.install.plan import RegularFile
from roamkb.install.store.apply import look
from roamkb.install.store.apply import real_path
from roamkb.install.store.machine import DoctorContext
from roamkb.install.wall_setup import WALLS
from roamkb.install.wall_setup import WallSetup
from roamkb.wall.plan import is_within
from roamkb.wall.protected import ways

#: Far above what a command needs on a slow machine.
_PATIENCE = 60
#: No note by its name, and nothing that a syncer would keep for long.
_PROBE = ".roamkb-doctor-probe"
_UNLINK = (
    "of roamkb's program: `UV_LINK_MODE=copy uv tool install --reinstall roamkb`; of a note: copy it anew"
)
_INSTALL = "`roamkb install --claude` puts it before Claude Code's shell commands"


def checks_of_wall(patient: DoctorContext, wall: WallSetup) -> Iterator[DoctorCheck]:
    """Yield what keeps each harness's commands from writing to the notes."""
    claude, codex = _content(patient.home / CLAUDE_SETTINGS), _content(patient.home / CODEX_HOOKS)
    yield looked("wall", lambda: _claude(patient, wall, claude))
    if codex.strip() and own_handlers(codex):
        yield looked("wall for Codex", lambda: _codex(patient))


def _claude(patient: DoctorContext, wall: WallSetup, settings: bytes) -> DoctorCheck:
    name = "wall"
    prefix = shell_prefix(settings) if settings.strip() else ""
    works = next(ways(), None)
    if works is None:
        said = "nothing here can keep a command from writing to the notes; what it would do is only judged"
        return DoctorCheck(
            name=name, ok=False, detail=said, fix="install bubblewrap, or a Linux from 5.19 on"
        )
    how = WALLS[works[0]]
    if not prefix:
        hooked = bool(settings.strip()) and bool(own_handlers(settings) or find_plugin(settings))
        said = f"{how} would work, and no harness runs its commands by it; `roamkb exec -- COMMAND` does"
        return DoctorCheck(name=name, ok=not hooked, detail=said, fix=_INSTALL, proved=False)
    if not is_ours(prefix):
        said = f"{SHELL_PREFIX} in the settings is your own, {prefix}: its commands have no wall of roamkb's"
        fix = "without it, `roamkb install --claude` puts one there"
        return DoctorCheck(name=name, ok=True, detail=said, fix=fix, proved=False)
    if isinstance(patient.rule, BadRule):
        wall.plan()
        said = f"by {how}, around what the last good rule named"
        return DoctorCheck(name=name, ok=True, detail=said, proved=False)
    closed = wall.plan().paths_for("/").closed
    if fault := _breach(Path(prefix), patient.rule.kb, closed):
        return DoctorCheck(name=name, ok=False, detail=fault, fix="`roamkb install --claude` makes it anew")
    if twin := _twin(closed):
        said = f"{twin} has another name, outside of what is closed: by that it can be written"
        return DoctorCheck(name=name, ok=False, detail=said, fix=_UNLINK)
    return DoctorCheck(
        name=name, ok=True, detail=f"by {how}; a command that tried couldn't write to the notes"
    )


#: Tries to make a file in each folder and to open each file; says which of them it could. Nothing is changed.
_TRIES = """
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


def _breach(launcher: Path, kb: Path, closed: list[str]) -> str:
    """Return what is wrong with a wall, having tried to write through it to all that it closes."""
    try:
        done = subprocess.run(
            [launcher, "/bin/sh", "-c", _TRIES, "sh", f"{_PROBE}-{os.getpid()}", kb, *closed],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            cwd="/",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"a command behind it doesn't end within {_PATIENCE} s"
    except OSError as error:
        return f"{launcher} can't be run: {error.strerror}; no shell command of Claude Code's can"
    head, _, told = done.stdout.partition(b"tried\n")
    if head or not done.stdout:
        return f"{launcher} doesn't run a command (status {done.returncode})"
    written = [os.fsdecode(path) for path in told.split(b"\0") if path]
    if str(kb) in written:
        return "a command behind it could write to the notes"
    return f"a command behind it could write to {written[0]}" if written else ""


def _twin(closed: list[str]) -> str:
    """Return a closed file that has a name elsewhere as well; empty where there is none.

    uv links what it installs to its cache, and some backups link what didn't change. The Python that
    roamkb's environment was made of isn't looked at: nobody but who keeps it could mend that.
    """
    base = str(real_path(Path(sys.base_prefix)))
    names: dict[tuple[int, int], list[str]] = {}
    missing: dict[tuple[int, int], int] = {}
    for path in (path for top in closed if not is_within(top, base) for path in _files_below(top)):
        found = os.lstat(path)
        if found.st_nlink > 1 and stat.S_ISREG(found.st_mode):
            key = (found.st_dev, found.st_ino)
            names.setdefault(key, []).append(path)
            missing[key] = found.st_nlink - len(names[key])
    return next((names[key][0] for key, count in missing.items() if count), "")


def _files_below(top: str) -> Iterator[str]:
    if not Path(top).is_dir():
        yield top
    for folder, _, files in os.walk(top):
        yield from (f"{folder}/{name}" for name in files)


def _codex(patient: DoctorContext) -> DoctorCheck:
    name, config = "wall for Codex", _content(patient.home / CODEX_CONFIG)
    fix = "start it as `roamkb exec -- codex`: all of it is behind a wall then"
    try:
        mode = sandbox_mode(config)
        kb = "" if isinstance(patient.rule, BadRule) else str(real_path(patient.rule.kb))
        root = writable_above(config, kb, str(patient.home)) if kb else ""
    except ValueError as error:
        return DoctorCheck(
            name=name, ok=False, detail=f"config.toml can't be read: {error}", fix="put it right"
        )
    if mode == NONE:
        return DoctorCheck(name=name, ok=False, detail=f"none: sandbox_mode is {NONE}", fix=fix)
    if root:
        said = f"none: writable_roots names {root}, where the notes are"
        return DoctorCheck(name=name, ok=False, detail=said, fix=f"take that out, or {fix}")
    said = f"its own sandbox ({mode}) lets nothing be written outside of the project"
    return DoctorCheck(name=name, ok=True, detail=said, proved=False)


def _content(path: Path) -> bytes:
    found = look(real_path(path))
    return found.data if isinstance(found, RegularFile) else b""
