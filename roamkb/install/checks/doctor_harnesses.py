"""Checks of `doctor` for hooks in harnesses' settings: each is run, and each obstacle is named."""

import re
from collections.abc import Iterator
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.harnesses.harness import Harness
from roamkb.harnesses.harness import SettingsOnDisk
from roamkb.harnesses.harness import UnreadableSettings
from roamkb.harnesses.hook_list import Hook
from roamkb.harnesses.hook_list import HookHandler
from roamkb.harnesses.registry import all_harnesses
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import build_check
from roamkb.install.checks.doctor_report import run_check
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import FolderOnDisk
from roamkb.install.plan import RegularFile
from roamkb.install.plan import SymbolicLink
from roamkb.install.plan import UnreadablePath
from roamkb.install.rule_steps import kb_spellings
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.install.store.machine import DoctorContext
from roamkb.install.store.probe import probe
from roamkb.install.store.probe import program_fault

_TOOL_LIST = lazily(r"[\w\-, |]*")


def check_harnesses(context: DoctorContext) -> Iterator[DoctorCheck]:
    """Yield a check for each harness whose settings may hold hooks of ours."""
    for harness in all_harnesses():
        yield run_check(harness.title, partial(_checked, context, harness))


def _checked(patient: DoctorContext, harness: Harness) -> DoctorCheck:
    settings = SettingsOnDisk(
        home=patient.home, root=patient.project.root, read_settings=read_settings, resolve_path=real_path
    )
    path = patient.home / harness.settings_files[0].path
    try:
        data = settings.read_settings(path)
        mine, plugin = harness.installed_handlers(data), harness.enabled_plugin(data)
        faults = tuple(harness.find_faults(settings, mine)) if mine or plugin else ()
    except UnreadableSettings as error:
        return _unreadable_check(harness.title, error.path, error)
    except ValueError as error:
        return _unreadable_check(harness.title, path, error)
    option = f"--{harness.options[0]}"
    off = [fault.detail for fault in faults if not fault.fix]
    if plugin and mine:
        said = f"the plugin {plugin} is on beside them: each hook runs twice"
        fix = f"`{harness.programs[0]} plugin disable {plugin}`, or `roamkb uninstall {option}`"
        return DoctorCheck(ok=False, detail=said, fix=fix)
    if plugin:
        said = f"the plugin {plugin} brings them"
        return replace(build_check(off, fine=said, fix="take that out"), proved=False)
    found = _check_handlers(patient, harness, mine, off, option)
    if not mine or not found.ok:
        return found
    if fault := next((fault for fault in faults if fault.fix), None):
        return DoctorCheck(ok=False, detail=fault.detail, fix=fault.fix)
    if isinstance(patient.rule, Rule):
        advice = harness.missing_settings(data, kb_spellings(patient.rule, patient.home))
        if advice:
            return replace(found, fix=f"`roamkb install {option}` adds {advice}, too")
    return found


def read_settings(path: Path) -> bytes:
    """Return what a settings file holds, at the end of whatever links lead there; nothing where there is none.

    Raises:
        UnreadableSettings: what is there is no file that can be read.
    """
    match read_path_state(real_path(path)):
        case RegularFile(data=data):
            return data
        case AbsentPath():
            return b""
        case FolderOnDisk():
            raise UnreadableSettings(path, "is a folder, and no file")
        case SymbolicLink():
            # all links are followed but those that end nowhere
            raise UnreadableSettings(path, "is a link that leads in a circle")
        case UnreadablePath(reason=reason):
            raise UnreadableSettings(path, f"can't be read: {reason}")


def _unreadable_check(name: str, path: Path, error: ValueError) -> DoctorCheck:
    return DoctorCheck(
        ok=False, detail=f"{path} {error}", fix=f"put it right: {name} may ignore the whole file, hooks and rules too"
    )


def _check_handlers(
    context: DoctorContext,
    harness: Harness,
    handlers: Sequence[HookHandler],
    faults: Sequence[str],
    option: str,
) -> DoctorCheck:
    if not handlers:
        detail = "no hooks of roamkb's in its settings"
        fix = f"`roamkb install {option}` puts them there, or a plugin does: nothing is recalled by itself"
        return DoctorCheck(ok=True, detail=detail, fix=fix, proved=False)
    all_faults = (
        *faults,
        *_misplaced_hooks(handlers, harness),
        *_missing_hooks(handlers, harness.wanted_hooks),
        *_command_faults(context, harness, handlers),
    )
    fine = f"{len(handlers)} hooks, each answered"
    return build_check(all_faults, fine=fine, fix=f"`roamkb install {option}`, or put it right in the settings")


def _misplaced_hooks(handlers: Sequence[HookHandler], harness: Harness) -> Iterator[str]:
    """Yield the hooks that will never run, or run for the wrong event."""
    hook_by_event = {hook.event: hook for hook in harness.wanted_hooks}
    for handler in handlers:
        hook = hook_by_event.get(handler.event)
        command = " ".join(handler.words[1:])
        if hook is None:
            yield f"{handler.event} is no event: `{command}` is never run"
        elif handler.words[2:3] != (hook.command_word,):
            yield f"{handler.event} runs `{command}`, not `hook {hook.command_word}`"
        elif handler.timeout is not None and handler.timeout < hook.timeout:
            yield f"{handler.event} has {handler.timeout:g} {hook.unit}, less than {hook.timeout}"
        if hook is not None and hook.command_word == "pre-tool-use":
            unmatched_tools = [tool for tool in harness.writers if not _matches_tool(handler.matcher, tool)]
            if unmatched_tools:
                yield f"{handler.event} doesn't hear of {', '.join(unmatched_tools)}: its matcher is {handler.matcher}"


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


def _command_faults(context: DoctorContext, harness: Harness, handlers: Sequence[HookHandler]) -> Iterator[str]:
    """Yield the faults of the hooks' commands, each run once."""
    rule = context.rule if isinstance(context.rule, Rule) else None
    programs = dict.fromkeys(handler.words[0] for handler in handlers)
    fault_of_program = {name: program_fault(Path(name), context.search_path) for name in programs}
    yield from (f"{fault}: its hooks are skipped" for fault in fault_of_program.values() if fault)
    for words in dict.fromkeys(handler.words for handler in handlers):
        if fault_of_program[words[0]] is None and len(words) == 3:
            fault = probe(words, harness, home=context.home, search_path=context.search_path, rule=rule)
            if fault:
                yield f"`{' '.join(words[1:])}` {fault}"
