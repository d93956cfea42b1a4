"""Edits of harnesses' settings: roamkb's hooks, rules and server, put in or taken out alone.

What a settings file would become is shown, and written only once the human said so.
"""

from collections.abc import Callable
from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.core.text import strip_hidden
from roamkb.harnesses.harness import Harness
from roamkb.harnesses.harness import SettingsFile
from roamkb.harnesses.harness import SettingsRequest
from roamkb.harnesses.registry import all_harnesses
from roamkb.harnesses.registry import get_harness
from roamkb.harnesses.settings_json import own_handlers
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PathState
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemovePath
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import unchanged_step
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.probe import is_read_only
from roamkb.install.wall_setup import LAUNCHER_STEP
from roamkb.install.wall_setup import WallSetup
from roamkb.install.wall_setup import launcher_removals
from roamkb.install.wall_setup import launcher_step
from roamkb.install.wall_setup import no_wall_step
from roamkb.install.wall_setup import wall_fault
from roamkb.secrets.detector import withhold_secrets

#: Of a line in a diff. Settings may be one line, and who says yes has to see all that is added to it.
_MAX_DIFF_WIDTH = 20_000
_Edit = Callable[[bytes | None], bytes | None]


def harness_steps(
    wishes: InstallOptions, *, home: Path, kbs: tuple[str, ...], wall: WallSetup
) -> tuple[InstallStep, ...]:
    """Return the steps that add what `wishes` ask for; `kbs` are paths of knowledge bases, from `~` or `/`.

    Raises:
        UsageError: there is no command that a hook could run.
    """
    if not wishes.harnesses:
        return ()
    if wishes.program is None:
        raise UsageError("no command roamkb for hooks to run", hint="run `make install`, or put it on the PATH")
    request = SettingsRequest(program=str(wishes.program), kbs=kbs, has_mcp=wishes.has_mcp)
    return tuple(
        step
        for harness in map(get_harness, wishes.harnesses)
        for step in _steps_of(harness, request, home=home, wall=wall)
    )


def _steps_of(harness: Harness, request: SettingsRequest, *, home: Path, wall: WallSetup) -> list[InstallStep]:
    steps = []
    if harness.prefix_variables:
        fault = wall_fault(wall, home / harness.settings_files[0].path, harness)
        steps += [no_wall_step(fault)] if fault else [launcher_step(wall)]
        if not fault:
            request = replace(request, launcher=str(wall.launcher_path), closed_paths=tuple(wall.closed_paths))
    for file in harness.settings_files:
        if not file.is_server or request.has_mcp:
            steps.append(_put_in(file, home / file.path, request))
    return steps


def _put_in(file: SettingsFile, place: Path, request: SettingsRequest) -> InstallStep:
    return _plan_edit(file, place, lambda data: file.put_in(data, request))


def harness_removals(
    wishes: InstallOptions, *, home: Path, kbs: tuple[str, ...], wall: WallSetup
) -> tuple[InstallStep, ...]:
    """Return the steps that take out roamkb's own settings and nothing else."""
    steps: list[InstallStep] = []
    for harness in map(get_harness, wishes.harnesses):
        is_walled = bool(harness.prefix_variables)
        closed = tuple(wall.closed_paths) if is_walled else ()
        request = SettingsRequest(program="", kbs=kbs, closed_paths=closed)
        steps += (_removed(file, home / file.path, request) for file in harness.settings_files)
        if is_walled and steps[-1].outcome is not StepOutcome.LEFT_ALONE:
            # without the file that they name, no shell command would run
            steps += launcher_removals(wall)
    return tuple(steps)


def _removed(file: SettingsFile, place: Path, request: SettingsRequest) -> InstallStep:
    return _plan_edit(file, place, lambda data: file.take_out(data or b"", request), removing=True)


def sessions_steps(steps: Iterable[InstallStep]) -> tuple[InstallStep, ...]:
    """Return the step that says whose open sessions to start anew, where settings were changed."""
    changed = {step.what for step in steps if step.change}
    titles = [
        harness.title for harness in all_harnesses() if any(file.label in changed for file in harness.settings_files)
    ]
    if not titles:
        return ()
    why = f"end those of {' and '.join(titles)} and start them anew: an open one goes on with the settings of before"
    return (InstallStep(what="open sessions", path=None, outcome=StepOutcome.OFFERED, why=why),)


def ask_approval(
    steps: Iterable[InstallStep], *, assume_yes: bool, ask: Callable[[str], str] | None
) -> tuple[InstallStep, ...]:
    """Ask for approval of `steps`; return them, with the refused ones only showing their diff.

    The launcher of the wall is part of what is asked: it comes with the settings that name it.
    """
    steps = tuple(_ask_step_approval(step, assume_yes=assume_yes, ask=ask) for step in steps)
    walled = {file.label for harness in all_harnesses() if harness.prefix_variables for file in harness.settings_files}
    refused_step = next((step for step in steps if step.what in walled and step.outcome is StepOutcome.SHOWN), None)
    if refused_step is None:
        return steps
    return tuple(
        replace(step, outcome=StepOutcome.SHOWN, why=refused_step.why, change=None)
        if step.what == LAUNCHER_STEP and step.outcome is StepOutcome.WRITTEN
        else step
        for step in steps
    )


def _ask_step_approval(step: InstallStep, *, assume_yes: bool, ask: Callable[[str], str] | None) -> InstallStep:
    if not (step.diff and isinstance(step.change, PutFile)) or step.outcome is not StepOutcome.WRITTEN or assume_yes:
        return step
    if ask is None:
        reason = "not written: run it in a terminal, or with --yes"
        return replace(step, outcome=StepOutcome.SHOWN, why=reason, change=None)
    if ask(f"{step.diff}\n{step.what}: write this to {step.path}? [y/N]").lower() in ("y", "yes"):
        return replace(step, diff="")
    return replace(step, outcome=StepOutcome.SHOWN, why="not written, as you said", change=None, diff="")


def _plan_edit(file: SettingsFile, link_or_path: Path, edit: _Edit, *, removing: bool = False) -> InstallStep:
    """Return the step that edits the file at the end of the links at that path."""
    step_name = file.label
    path, path_state = real_path(link_or_path), read_path_state(link_or_path)
    if isinstance(path_state, SymbolicLink):
        # a dotfile manager's: the file is changed where it is kept, and the link stays
        path_state = read_path_state(path)
        if isinstance(path_state, AbsentPath):
            return left_alone_step(
                step_name, link_or_path, "is a link that leads nowhere; put that right and install again"
            )
    if isinstance(path_state, AbsentPath) and removing:
        return unchanged_step(step_name, path, "isn't there")
    if not isinstance(path_state, AbsentPath | RegularFile):
        return left_alone_step(step_name, path, "isn't a file that can be read")
    old_data = path_state.data if isinstance(path_state, RegularFile) else None
    try:
        new_data = edit(old_data)
    except ValueError as error:
        return left_alone_step(step_name, path, f"{error}; nothing was changed, put it right and try again")
    if new_data == old_data:
        return unchanged_step(step_name, path, "holds nothing of roamkb's" if removing else "all is there already")
    if isinstance(path_state, RegularFile) and is_read_only(path):
        return left_alone_step(
            step_name, path, "is read-only; whoever made it so adds the hooks (--dry-run shows them)"
        )
    return _build_step(file, path, path_state, new_data, removing=removing)


def _build_step(
    file: SettingsFile, path: Path, path_state: PathState, new_data: bytes | None, *, removing: bool
) -> InstallStep:
    old_data = path_state.data if isinstance(path_state, RegularFile) else None
    is_replacing = not removing and not file.is_server and _has_replaced(old_data, new_data)
    change = RemovePath(was=path_state) if new_data is None else PutFile(data=new_data, was=path_state)
    if removing:
        reason = "the file held nothing else" if new_data is None else "only roamkb's own; every other byte stays"
    elif file.pending_reason:
        reason = file.pending_reason
    else:
        change_phrase = "their command is another one now" if is_replacing else "added"
        reason = "a new file" if old_data is None else f"{change_phrase}; every other byte stays"
    return InstallStep(
        what=file.label,
        path=path,
        outcome=StepOutcome.REMOVED if removing else StepOutcome.WRITTEN,
        why=reason,
        change=change,
        diff=_render_diff(path, old_data or b"", new_data or b""),
        is_loosening=removing or is_replacing,
    )


def _has_replaced(old_data: bytes | None, new_data: bytes | None) -> bool:
    """Say whether hooks that were present run another command now."""
    old_commands = {handler.words for handler in own_handlers(old_data)} if old_data and old_data.strip() else set()
    return not old_commands <= {handler.words for handler in own_handlers(new_data or b"{}")}


def _render_diff(path: Path, old_data: bytes, new_data: bytes) -> str:
    """Return the changed lines, without credentials and terminal control characters."""
    lines = unified_diff(_safe_lines(old_data), _safe_lines(new_data), str(path), str(path), lineterm="", n=2)
    return "\n".join(clip_text(line, _MAX_DIFF_WIDTH) for line in lines)


def _safe_lines(data: bytes) -> list[str]:
    return withhold_secrets(strip_hidden(data.decode(errors="replace"))).split("\n")
