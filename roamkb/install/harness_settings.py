"""Put roamkb's hooks, rules and server into harnesses' settings, or take just those out again.

What a settings file would become is shown, and written only once the human said so.
"""

from collections.abc import Callable
from collections.abc import Iterable
from difflib import unified_diff
from pathlib import Path

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import cleaned
from roamkb.core.text import clipped
from roamkb.fs.json_edit import BadJson
from roamkb.harnesses.codex_toml import BadToml
from roamkb.harnesses.codex_toml import with_server
from roamkb.harnesses.codex_toml import without_server
from roamkb.harnesses.hook_list import CLAUDE_HOOKS
from roamkb.harnesses.hook_list import CODEX_HOOKS as WANTED_OF_CODEX
from roamkb.harnesses.hook_list import deny_rules
from roamkb.harnesses.settings_json import CLAUDE_MADE
from roamkb.harnesses.settings_json import CODEX_MADE
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.settings_json import with_hooks
from roamkb.harnesses.settings_json import without_hooks
from roamkb.harnesses.store.probe import CLAUDE_SETTINGS
from roamkb.harnesses.store.probe import CODEX_CONFIG
from roamkb.harnesses.store.probe import CODEX_HOOKS
from roamkb.harnesses.store.probe import is_read_only
from roamkb.harnesses.wall_settings import with_wall
from roamkb.harnesses.wall_settings import without_wall
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import Found
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemovePath
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import left_alone
from roamkb.install.plan import unchanged
from roamkb.install.store.apply import look
from roamkb.install.store.apply import real_path
from roamkb.install.wall_setup import LAUNCHER
from roamkb.install.wall_setup import WallSetup
from roamkb.install.wall_setup import launcher_removals
from roamkb.install.wall_setup import launcher_step
from roamkb.install.wall_setup import no_wall_step
from roamkb.install.wall_setup import wall_fault
from roamkb.secrets.detector import withheld

_CLAUDE = "Claude Code hooks"
_CODEX = "Codex hooks"
_SERVER = "Codex MCP server"
#: Of a line in a diff. Settings may be one line, and who says yes has to see all that is added to it.
_WIDTH = 20_000
_Edit = Callable[[bytes | None], bytes | None]


def harness_steps(wishes: InstallOptions, *, home: Path, kb: str, wall: WallSetup) -> tuple[InstallStep, ...]:
    """Return the steps that put in what `wishes` want; `kb` is the knowledge base's path from `~` or `/`.

    Raises:
        UsageError: there is no command that a hook could run.
    """
    if not (wishes.claude or wishes.codex):
        return ()
    if wishes.program is None:
        raise UsageError(
            "no command roamkb for hooks to run", hint="run `make install`, or put it on the PATH"
        )
    program = str(wishes.program)
    steps = []
    if wishes.claude:
        settings = home / CLAUDE_SETTINGS
        fault = wall_fault(wall, settings)

        def claude(data: bytes | None) -> bytes:
            new = with_hooks(data, CLAUDE_HOOKS, program, made=CLAUDE_MADE, deny=deny_rules(kb))
            return new if fault else with_wall(new, str(wall.launcher), wall.closed)

        steps += [no_wall_step(fault)] if fault else [launcher_step(wall)]
        steps.append(_edited(_CLAUDE, settings, claude))
    if wishes.codex:

        def codex(data: bytes | None) -> bytes:
            return with_hooks(data, WANTED_OF_CODEX, program, made=CODEX_MADE)

        steps.append(_edited(_CODEX, home / CODEX_HOOKS, codex))
        if wishes.has_mcp:
            steps.append(_edited(_SERVER, home / CODEX_CONFIG, lambda data: with_server(data, program)))
    return tuple(steps)


def harness_removals(
    wishes: InstallOptions, *, home: Path, kb: str | None, wall: WallSetup
) -> tuple[InstallStep, ...]:
    """Return the steps that take out what is ours, and nothing else."""
    steps = []
    if wishes.claude:

        def claude(data: bytes | None) -> bytes | None:
            left = without_wall(data or b"", wall.closed)
            return without_hooks(left, made=CLAUDE_MADE, deny=deny_rules(kb) if kb else ())

        steps.append(_edited(_CLAUDE, home / CLAUDE_SETTINGS, claude, removing=True))
        if steps[-1].outcome is not StepOutcome.LEFT_ALONE:
            # without the file that they name, no shell command would run
            steps += launcher_removals(wall)
    if wishes.codex:

        def codex(data: bytes | None) -> bytes | None:
            return without_hooks(data or b"", made=CODEX_MADE)

        steps.append(_edited(_CODEX, home / CODEX_HOOKS, codex, removing=True))
        server = _edited(
            _SERVER, home / CODEX_CONFIG, lambda data: without_server(data or b""), removing=True
        )
        steps.append(server)
    return tuple(steps)


def approved(
    steps: Iterable[InstallStep], *, yes: bool, ask: Callable[[str], str] | None
) -> tuple[InstallStep, ...]:
    """Return `steps`, those that the human doesn't want only showing what they would do.

    The launcher of the wall is part of what is asked: it comes with the settings that name it.
    """
    steps = tuple(_approved(step, yes=yes, ask=ask) for step in steps)
    refused = next(
        (step for step in steps if step.what == _CLAUDE and step.outcome is StepOutcome.SHOWN), None
    )
    if refused is None:
        return steps
    return tuple(
        replace(step, outcome=StepOutcome.SHOWN, why=refused.why, change=None)
        if step.what == LAUNCHER and step.outcome is StepOutcome.WRITTEN
        else step
        for step in steps
    )


def _approved(step: InstallStep, *, yes: bool, ask: Callable[[str], str] | None) -> InstallStep:
    if not (step.diff and isinstance(step.change, PutFile)) or step.outcome is not StepOutcome.WRITTEN or yes:
        return step
    if ask is None:
        why = "not written: run it in a terminal, or with --yes"
        return replace(step, outcome=StepOutcome.SHOWN, why=why, change=None)
    if ask(f"{step.diff}\n{step.what}: write this to {step.path}? [y/N]").lower() in ("y", "yes"):
        return replace(step, diff="")
    return replace(step, outcome=StepOutcome.SHOWN, why="not written, as you said", change=None, diff="")


def _edited(what: str, place: Path, edit: _Edit, *, removing: bool = False) -> InstallStep:
    """Return the step that edits the file at the end of whatever links lead there."""
    path, found = real_path(place), look(place)
    if isinstance(found, SymbolicLink):
        # a dotfile manager's: the file is changed where it is kept, and the link stays
        found = look(path)
        if isinstance(found, AbsentPath):
            return left_alone(what, place, "is a link that leads nowhere; put that right and install again")
    if isinstance(found, AbsentPath) and removing:
        return unchanged(what, path, "isn't there")
    if not isinstance(found, AbsentPath | RegularFile):
        return left_alone(what, path, "isn't a file that can be read")
    old = found.data if isinstance(found, RegularFile) else None
    try:
        new = edit(old)
    except (BadJson, BadToml) as error:
        return left_alone(what, path, f"{error}; nothing was changed, put it right and try again")
    if new == old:
        return unchanged(what, path, "holds nothing of roamkb's" if removing else "all is there already")
    if isinstance(found, RegularFile) and is_read_only(path):
        return left_alone(
            what, path, "is read-only; whoever made it so adds the hooks (--dry-run shows them)"
        )
    return _step(what, path, found, new, removing=removing)


def _step(what: str, path: Path, found: Found, new: bytes | None, *, removing: bool) -> InstallStep:
    old = found.data if isinstance(found, RegularFile) else None
    is_replacing = not removing and what != _SERVER and _has_replaced(old, new)
    change = RemovePath(was=found) if new is None else PutFile(data=new, was=found)
    if removing:
        why = "the file held nothing else" if new is None else "only roamkb's own; every other byte stays"
    elif what == _CODEX:
        why = "Codex skips them until you trust them: start `codex` in a terminal, and it asks"
    else:
        done = "their command is another one now" if is_replacing else "added"
        why = "a new file" if old is None else f"{done}; every other byte stays"
    return InstallStep(
        what=what,
        path=path,
        outcome=StepOutcome.REMOVED if removing else StepOutcome.WRITTEN,
        why=why,
        change=change,
        diff=_diff(path, old or b"", new or b""),
        is_loosening=removing or is_replacing,
    )


def _has_replaced(old: bytes | None, new: bytes | None) -> bool:
    """Say whether hooks that were there run something else now."""
    before = {handler.words for handler in own_handlers(old)} if old and old.strip() else set()
    return not before <= {handler.words for handler in own_handlers(new or b"{}")}


def _diff(path: Path, old: bytes, new: bytes) -> str:
    """Return what changes, line by line, without credentials and what would act on a terminal."""
    lines = unified_diff(_lines(old), _lines(new), str(path), str(path), lineterm="", n=2)
    return "\n".join(clipped(line, _WIDTH) for line in lines)


def _lines(data: bytes) -> list[str]:
    return withheld(cleaned(data.decode(errors="replace"))).split("\n")
