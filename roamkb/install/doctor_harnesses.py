"""What `doctor` says of hooks in harnesses' settings: each is run; what keeps one from running is named."""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.json_edit import BadJson
from roamkb.guard.hook_tampering import PROJECT_SETTINGS
from roamkb.harnesses.codex_toml import BadToml
from roamkb.harnesses.codex_toml import has_hooks_off
from roamkb.harnesses.codex_toml import untrusted
from roamkb.harnesses.hook_list import CLAUDE_HOOKS
from roamkb.harnesses.hook_list import CODEX_HOOKS as WANTED_OF_CODEX
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.hook_list import HookHandler
from roamkb.harnesses.hook_list import deny_rules
from roamkb.harnesses.settings_json import find_plugin
from roamkb.harnesses.settings_json import is_disabled
from roamkb.harnesses.settings_json import missing_rules
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.store.probe import CLAUDE_SETTINGS
from roamkb.harnesses.store.probe import CODEX_CONFIG
from roamkb.harnesses.store.probe import CODEX_HOOKS
from roamkb.harnesses.store.probe import probe
from roamkb.harnesses.store.probe import program_fault
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import check
from roamkb.install.doctor_report import looked
from roamkb.install.install import short_path
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import RegularFile
from roamkb.install.store.apply import look
from roamkb.install.store.apply import real_path
from roamkb.install.store.machine import DoctorContext

#: Tools that the hook before a tool must hear of.
_WRITERS = ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file")
_LIST = lazily(r"[\w\-, |]*")
#: A human's act, in Codex itself.
_TRUST = (
    'start `codex` in a terminal: it asks, and "Trust all and continue" is enough, or type /hooks there and '
    "then t; `codex exec` never asks"
)


def checks_of_harnesses(patient: DoctorContext) -> Iterator[DoctorCheck]:
    """Yield a check for each harness whose settings may hold hooks of ours."""
    yield looked("Claude Code", lambda: _claude(patient))
    yield looked("Codex", lambda: _codex(patient))


def _claude(patient: DoctorContext) -> DoctorCheck:
    path = patient.home / CLAUDE_SETTINGS
    data = _content(path)
    try:
        mine = own_handlers(data) if data.strip() else ()
        plugin = find_plugin(data) if data.strip() else ""
    except BadJson as error:
        return _unreadable("Claude Code", path, error)
    off = list(_off(path, patient.project.root)) if mine or plugin else []
    if plugin and mine:
        said = f"the plugin {plugin} is on beside them: each hook runs twice"
        fix = f"`claude plugin disable {plugin}`, or `roamkb uninstall --claude`"
        return DoctorCheck(name="Claude Code", ok=False, detail=said, fix=fix)
    if plugin:
        said = f"the plugin {plugin} brings them"
        return replace(check("Claude Code", off, fine=said, fix="take that out"), proved=False)
    found = _judged(patient, "Claude Code", mine, CLAUDE_HOOKS, [*off, *_short_of_time(mine)], "--claude")
    if mine and found.ok and isinstance(patient.rule, Rule):
        (edits, *_) = deny_rules(short_path(patient.rule.kb, patient.home))
        if missing_rules(data, (edits,)):
            return replace(found, fix=f"`roamkb install --claude` adds the permission rule {edits}, too")
    return found


def _off(settings: Path, root: Path | None) -> Iterator[str]:
    """Yield the settings, the user's or the project's, that turn every hook off."""
    own = [root / ".claude" / name for name in PROJECT_SETTINGS] if root else []
    for path in (settings, *own):
        with suppress(BadJson):
            if is_disabled(_content(path) or b"{}"):
                yield f"{path} says disableAllHooks: none is run"


def _codex(patient: DoctorContext) -> DoctorCheck:
    path = patient.home / CODEX_HOOKS
    data, config = _content(path), _content(patient.home / CODEX_CONFIG)
    try:
        mine = own_handlers(data) if data.strip() else ()
    except BadJson as error:
        return _unreadable("Codex", path, error)
    try:
        off = ["config.toml turns hooks off under [features]"] if mine and has_hooks_off(config) else []
        skipped = untrusted(data, config, {str(path), str(real_path(path))}) if mine and not off else ()
    except BadToml as error:
        return _unreadable("Codex", patient.home / CODEX_CONFIG, error)
    found = _judged(patient, "Codex", mine, WANTED_OF_CODEX, off, "--codex")
    if not skipped or not found.ok:
        return found
    said = f"skipped without a word, since nobody has trusted them as they are now: {', '.join(skipped)}"
    return DoctorCheck(name="Codex", ok=False, detail=said, fix=_TRUST)


def _content(path: Path) -> bytes:
    """Return what a settings file holds, at the end of whatever links lead there."""
    found = look(real_path(path))
    return found.data if isinstance(found, RegularFile) else b"" if isinstance(found, AbsentPath) else b"?"


def _unreadable(name: str, path: Path, error: ValueError) -> DoctorCheck:
    return DoctorCheck(
        name=name,
        ok=False,
        detail=f"{path} {error}",
        fix=f"put it right: {name} may ignore the whole file, hooks and rules too",
    )


def _judged(
    patient: DoctorContext,
    name: str,
    mine: Sequence[HookHandler],
    wanted: Sequence[Hook],
    faults: Sequence[str],
    option: str,
) -> DoctorCheck:
    if not mine:
        said = "no hooks of roamkb's in its settings"
        fix = f"`roamkb install {option}` puts them there, or a plugin does: nothing is recalled by itself"
        return DoctorCheck(name=name, ok=True, detail=said, fix=fix, proved=False)
    found = (*faults, *_misplaced(mine, wanted), *_missing(mine, wanted), *_mute(patient, mine))
    fine = f"{len(mine)} hooks, each answered"
    return check(name, found, fine=fine, fix=f"`roamkb install {option}`, or put it right in the settings")


def _misplaced(mine: Sequence[HookHandler], wanted: Sequence[Hook]) -> Iterator[str]:
    """Yield the hooks that will never run, or run for the wrong thing."""
    known = {hook.event: hook for hook in wanted}
    for handler in mine:
        hook = known.get(handler.event)
        command = " ".join(handler.words[1:])
        if hook is None:
            yield f"{handler.event} is no event: `{command}` is never run"
        elif handler.words[2:3] != (hook.word,):
            yield f"{handler.event} runs `{command}`, not `hook {hook.word}`"
        elif handler.timeout is not None and handler.timeout < hook.timeout:
            yield f"{handler.event} has {handler.timeout:g} s, less than {hook.timeout}"
        if handler.event == "PreToolUse":
            deaf = [tool for tool in _WRITERS if not _matches(handler.matcher, tool)]
            if deaf:
                yield f"PreToolUse doesn't hear of {', '.join(deaf)}: its matcher is {handler.matcher}"


def _matches(matcher: str, tool: str) -> bool:
    """Say whether a matcher lets a tool through: a list of names, else an unanchored regular expression."""
    if matcher in ("", "*"):
        return True
    if _LIST.fullmatch(matcher):
        return tool in re.split(r"[,|\s]+", matcher)
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        # JavaScript's, perhaps; what we can't read we don't judge
        return True


def _missing(mine: Sequence[HookHandler], wanted: Sequence[Hook]) -> Iterator[str]:
    there = {handler.event for handler in mine}
    gone = [hook.event for hook in wanted if hook.event not in there]
    if gone:
        yield f"nothing runs at {', '.join(gone)}"


def _short_of_time(mine: Sequence[HookHandler]) -> Iterator[str]:
    if any(handler.event == "SessionEnd" and handler.timeout is None for handler in mine):
        yield "SessionEnd has no timeout, so that all hooks there share 1.5 s"


def _mute(patient: DoctorContext, mine: Sequence[HookHandler]) -> Iterator[str]:
    """Yield what is wrong with the commands, each run once."""
    rule = patient.rule if isinstance(patient.rule, Rule) else None
    programs = dict.fromkeys(handler.words[0] for handler in mine)
    broken = {name: program_fault(Path(name), patient.search_path) for name in programs}
    yield from (f"{fault}: its hooks are skipped" for fault in broken.values() if fault)
    for words in dict.fromkeys(handler.words for handler in mine):
        if broken[words[0]] is None and len(words) == 3:
            fault = probe(words, home=patient.home, search_path=patient.search_path, rule=rule)
            if fault:
                yield f"`{' '.join(words[1:])}` {fault}"
