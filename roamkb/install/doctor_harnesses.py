"""Checks of `doctor` for hooks in harnesses' settings: each is run, and each obstacle is named."""

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
from roamkb.harnesses.codex_toml import untrusted_events
from roamkb.harnesses.hook_list import CLAUDE_HOOKS
from roamkb.harnesses.hook_list import CODEX_HOOKS as WANTED_OF_CODEX
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.hook_list import HookHandler
from roamkb.harnesses.hook_list import deny_rules
from roamkb.harnesses.settings_json import enabled_plugin
from roamkb.harnesses.settings_json import is_disabled
from roamkb.harnesses.settings_json import missing_rules
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.store.probe import CLAUDE_SETTINGS_PATH
from roamkb.harnesses.store.probe import CODEX_CONFIG_PATH
from roamkb.harnesses.store.probe import CODEX_HOOKS_PATH
from roamkb.harnesses.store.probe import probe_hook
from roamkb.harnesses.store.probe import program_fault
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import build_check
from roamkb.install.doctor_report import run_check
from roamkb.install.install import shorten_path
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import RegularFile
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.machine import DoctorContext

#: Tools that the hook before a tool must hear of.
_WRITING_TOOLS = ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file")
_TOOL_LIST = lazily(r"[\w\-, |]*")
#: A human's act, in Codex itself.
_TRUST_HINT = (
    'start `codex` in a terminal: it asks, and "Trust all and continue" is enough, or type /hooks there and '
    "then t; `codex exec` never asks"
)


def check_harnesses(context: DoctorContext) -> Iterator[DoctorCheck]:
    """Yield a check for each harness whose settings may hold hooks of ours."""
    yield run_check("Claude Code", lambda: _check_claude(context))
    yield run_check("Codex", lambda: _check_codex(context))


def _check_claude(context: DoctorContext) -> DoctorCheck:
    path = context.home / CLAUDE_SETTINGS_PATH
    data = _read_settings(path)
    try:
        handlers = own_handlers(data) if data.strip() else ()
        plugin = enabled_plugin(data) if data.strip() else ""
    except BadJson as error:
        return _unreadable_check("Claude Code", path, error)
    off_reasons = list(_hooks_off_reasons(path, context.project.root)) if handlers or plugin else []
    if plugin and handlers:
        detail = f"the plugin {plugin} is on beside them: each hook runs twice"
        fix = f"`claude plugin disable {plugin}`, or `roamkb uninstall --claude`"
        return DoctorCheck(name="Claude Code", ok=False, detail=detail, fix=fix)
    if plugin:
        detail = f"the plugin {plugin} brings them"
        return replace(build_check("Claude Code", off_reasons, fine=detail, fix="take that out"), proved=False)
    handlers_check = _check_handlers(
        context, "Claude Code", handlers, CLAUDE_HOOKS, [*off_reasons, *_short_timeouts(handlers)], "--claude"
    )
    if handlers and handlers_check.ok and isinstance(context.rule, Rule):
        (edits, *_) = deny_rules(shorten_path(context.rule.kb, context.home))
        if missing_rules(data, (edits,)):
            return replace(handlers_check, fix=f"`roamkb install --claude` adds the permission rule {edits}, too")
    return handlers_check


def _hooks_off_reasons(settings: Path, root: Path | None) -> Iterator[str]:
    """Yield the settings, the user's or the project's, that turn every hook off."""
    project_settings = [root / ".claude" / name for name in PROJECT_SETTINGS] if root else []
    for path in (settings, *project_settings):
        with suppress(BadJson):
            if is_disabled(_read_settings(path) or b"{}"):
                yield f"{path} says disableAllHooks: none is run"


def _check_codex(context: DoctorContext) -> DoctorCheck:
    path = context.home / CODEX_HOOKS_PATH
    data, config = _read_settings(path), _read_settings(context.home / CODEX_CONFIG_PATH)
    try:
        handlers = own_handlers(data) if data.strip() else ()
    except BadJson as error:
        return _unreadable_check("Codex", path, error)
    try:
        off_reasons = ["config.toml turns hooks off under [features]"] if handlers and has_hooks_off(config) else []
        skipped = (
            untrusted_events(data, config, {str(path), str(real_path(path))}) if handlers and not off_reasons else ()
        )
    except BadToml as error:
        return _unreadable_check("Codex", context.home / CODEX_CONFIG_PATH, error)
    handlers_check = _check_handlers(context, "Codex", handlers, WANTED_OF_CODEX, off_reasons, "--codex")
    if not skipped or not handlers_check.ok:
        return handlers_check
    detail = f"skipped without a word, since nobody has trusted them as they are now: {', '.join(skipped)}"
    return DoctorCheck(name="Codex", ok=False, detail=detail, fix=_TRUST_HINT)


def _read_settings(path: Path) -> bytes:
    """Return the content of a settings file, links followed; empty if it is absent."""
    path_state = read_path_state(real_path(path))
    return (
        path_state.data if isinstance(path_state, RegularFile) else b"" if isinstance(path_state, AbsentPath) else b"?"
    )


def _unreadable_check(name: str, path: Path, error: ValueError) -> DoctorCheck:
    return DoctorCheck(
        name=name,
        ok=False,
        detail=f"{path} {error}",
        fix=f"put it right: {name} may ignore the whole file, hooks and rules too",
    )


def _check_handlers(
    context: DoctorContext,
    name: str,
    handlers: Sequence[HookHandler],
    expected_hooks: Sequence[Hook],
    faults: Sequence[str],
    option: str,
) -> DoctorCheck:
    if not handlers:
        detail = "no hooks of roamkb's in its settings"
        fix = f"`roamkb install {option}` puts them there, or a plugin does: nothing is recalled by itself"
        return DoctorCheck(name=name, ok=True, detail=detail, fix=fix, proved=False)
    all_faults = (
        *faults,
        *_misplaced_hooks(handlers, expected_hooks),
        *_missing_hooks(handlers, expected_hooks),
        *_command_faults(context, handlers),
    )
    fine = f"{len(handlers)} hooks, each answered"
    return build_check(name, all_faults, fine=fine, fix=f"`roamkb install {option}`, or put it right in the settings")


def _misplaced_hooks(handlers: Sequence[HookHandler], expected_hooks: Sequence[Hook]) -> Iterator[str]:
    """Yield the hooks that will never run, or run for the wrong event."""
    hook_by_event = {hook.event: hook for hook in expected_hooks}
    for handler in handlers:
        hook = hook_by_event.get(handler.event)
        command = " ".join(handler.words[1:])
        if hook is None:
            yield f"{handler.event} is no event: `{command}` is never run"
        elif handler.words[2:3] != (hook.command_word,):
            yield f"{handler.event} runs `{command}`, not `hook {hook.command_word}`"
        elif handler.timeout is not None and handler.timeout < hook.timeout:
            yield f"{handler.event} has {handler.timeout:g} s, less than {hook.timeout}"
        if handler.event == "PreToolUse":
            unmatched_tools = [tool for tool in _WRITING_TOOLS if not _matches_tool(handler.matcher, tool)]
            if unmatched_tools:
                yield f"PreToolUse doesn't hear of {', '.join(unmatched_tools)}: its matcher is {handler.matcher}"


def _matches_tool(matcher: str, tool: str) -> bool:
    """Say whether a matcher admits a tool: a list of names, else an unanchored regular expression."""
    if matcher in ("", "*"):
        return True
    if _TOOL_LIST.fullmatch(matcher):
        return tool in re.split(r"[,|\s]+", matcher)
    try:
        return re.search(matcher, tool) is not None
    except re.error:
        # JavaScript's, perhaps; what we can't read we don't judge
        return True


def _missing_hooks(handlers: Sequence[HookHandler], expected_hooks: Sequence[Hook]) -> Iterator[str]:
    present_events = {handler.event for handler in handlers}
    missing_events = [hook.event for hook in expected_hooks if hook.event not in present_events]
    if missing_events:
        yield f"nothing runs at {', '.join(missing_events)}"


def _short_timeouts(handlers: Sequence[HookHandler]) -> Iterator[str]:
    if any(handler.event == "SessionEnd" and handler.timeout is None for handler in handlers):
        yield "SessionEnd has no timeout, so that all hooks there share 1.5 s"


def _command_faults(context: DoctorContext, handlers: Sequence[HookHandler]) -> Iterator[str]:
    """Yield the faults of the hooks' commands, each run once."""
    rule = context.rule if isinstance(context.rule, Rule) else None
    programs = dict.fromkeys(handler.words[0] for handler in handlers)
    fault_of_program = {name: program_fault(Path(name), context.search_path) for name in programs}
    yield from (f"{fault}: its hooks are skipped" for fault in fault_of_program.values() if fault)
    for words in dict.fromkeys(handler.words for handler in handlers):
        if fault_of_program[words[0]] is None and len(words) == 3:
            fault = probe_hook(words, home=context.home, search_path=context.search_path, rule=rule)
            if fault:
                yield f"`{' '.join(words[1:])}` {fault}"
