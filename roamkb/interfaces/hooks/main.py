"""`roamkb hook EVENT`: a harness's payload on standard input, one JSON object on standard output, status 0.

Whatever goes wrong, the agent goes on (fail open), and one line in the log's local folder says so. Only
before a tool it is the other way round: where the call names the knowledge base and we don't know, it is
denied. A hook runs at every step, so that this door imports next to nothing, and the rest where it's needed.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH109, PTH117, PTH118, PTH120

import json
import os
import re
import sys

from roamkb import lazy_module
from roamkb.boundary.store.kb_paths import all_kb_names
from roamkb.boundary.store.kb_paths import rule_files
from roamkb.boundary.store.session_cache import find_local_folder
from roamkb.boundary.store.session_cache import find_pass
from roamkb.boundary.store.session_cache import has_calls
from roamkb.boundary.store.session_cache import has_offers
from roamkb.boundary.store.session_cache import save_pass
from roamkb.boundary.store.session_cache import unasked_subjects
from roamkb.boundary.store.session_folders import is_folder_judged
from roamkb.boundary.store.session_folders import was_at_work
from roamkb.fs.user_dirs import default_state_dir
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import harness_of
from roamkb.harnesses.registry import hook_project_folder
from roamkb.interfaces.hooks import tool_calls

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from roamkb.app.hooks import events
    from roamkb.app.hooks import session_project
    from roamkb.app.hooks import stop
    from roamkb.core import errors as core_errors
    from roamkb.core import text as core_text
    from roamkb.fs.tree_digest import TreeDigest
    from roamkb.guard import interactive_commands
    from roamkb.guard import policy
    from roamkb.interfaces.output import context
    from roamkb.interfaces.output import spool
    from roamkb.journal.store import glance
    from roamkb.log.store import hook_errors
    from roamkb.log.store import observation_append
    from roamkb.pipeline.extract import payloads
    from roamkb.pipeline.store import transcript_glance

    Payload = dict[str, Any]
    Answer = dict[str, object]
else:
    core_errors = lazy_module("roamkb.core.errors")
    context = lazy_module("roamkb.interfaces.output.context")
    core_text = lazy_module("roamkb.core.text")
    events = lazy_module("roamkb.app.hooks.events")
    glance = lazy_module("roamkb.journal.store.glance")
    hook_errors = lazy_module("roamkb.log.store.hook_errors")
    interactive_commands = lazy_module("roamkb.guard.interactive_commands")
    observation_append = lazy_module("roamkb.log.store.observation_append")
    payloads = lazy_module("roamkb.pipeline.extract.payloads")
    policy = lazy_module("roamkb.guard.policy")
    session_project = lazy_module("roamkb.app.hooks.session_project")
    spool = lazy_module("roamkb.interfaces.output.spool")
    stop = lazy_module("roamkb.app.hooks.stop")
    transcript_glance = lazy_module("roamkb.pipeline.store.transcript_glance")

#: A harness gives a tool's whole output; more than this is none that we look at.
_MAX_PAYLOAD_BYTES = 32 * 1024 * 1024
#: How a prompt begins that is a harness's own.
_NOTICES = declared("notices")
#: Tools that change no file, and run nothing that could.
_READ_ONLY_TOOLS = frozenset(declared("readers"))
#: Tools that start a subagent.
_SPAWNING_TOOLS = frozenset(declared("spawners"))
_EDITOR_TOOLS = frozenset("Write Edit MultiEdit NotebookEdit".split())
#: Files of one patch that are asked about.
_MAX_PATCH_FILES = 20
#: Events whose hook carries out what waits, as their answers call them.
_QUEUE_EVENTS = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "post-tool-use": "PostToolUse",
    "post-tool-use-failure": "PostToolUseFailure",
    "stop": "Stop",
}
_NO_RECORD_REASON = "this session keeps no record; call `roamkb` from the folder that the session was started in"
#: Of a command: it goes elsewhere, or says that it is another session's; one that says of none is unknown.
_LEAVING_PATTERN = r"\b(?:cd|pushd|popd|chroot|eval)\b|\s-[CD]\b|--(?:chdir|project)\b"
_FORGING_PATTERN = r"\b{beginning}\w+="
_FORGED_REASON = "the command tells `roamkb` of another session than its own; call it without that"
_TYPED_INPUT_REASON = (
    "what is typed into `{program}` once it runs no hook hears of, and it might write to the knowledge base; "
    "run each command by itself, or give the program its script"
)


def run(words: list[str]) -> int:
    """Answer one event; the status is 0 whatever happens."""
    standard_output, sys.stdout = sys.stdout, sys.stderr
    event = next((word for word in words if not word.startswith("-")), "")
    answer: Answer = {}
    data = b""
    try:
        data = _read_standard_input()
        _require_end()
        payload = _parse_payload(data)
        harness = harness_of(payload, os.environ)
        payload = harness.translate_payload(payload)
        event = event or _dashed_event(str(payload.get("hook_event_name", "")))
        payload = _with_event_name(payload, event)
        occasions = _count_occasions(payload) if "--trace" in words else 0
        answer = harness.translate_answer(_with_queued_outcomes(event, payload, _answer_event(event, payload)))
        _judge_new_folder(event, payload)
        if "--trace" in words:
            _print_trace(payload, occasions)
    except Exception as error:  # noqa: BLE001 - a bug of ours is no reason to stop somebody's work
        answer = _answer_crash(event, data, error)
    text = json.dumps(answer)
    try:
        print(text, file=standard_output, flush=True)
    except (OSError, ValueError, AttributeError):
        # nobody listens; Python would complain again when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _judge_new_folder(event: str, payload: "Payload") -> None:
    """Judge a folder that the session is in for the first time, where the answer took no judgement of it."""
    session, folder = payload.get("session_id"), payload.get("cwd")
    try:
        if (
            isinstance(session, str)
            and isinstance(folder, str)
            and not is_folder_judged(session, folder, default_state_dir())
        ):
            _ = session_project.SessionProject(payload).project_kind
    except Exception as error:  # noqa: BLE001 - see `run`
        _record_trouble(event, payload, error)


def _count_occasions(payload: "Payload") -> int:
    """Return how many times the session was shown something; what prevents that is said with the trace."""
    try:
        return _event_session(payload).count_occasions()
    except Exception:  # noqa: BLE001 - see `run`
        return 0


def _print_trace(payload: "Payload", occasions: int) -> None:
    """Say on standard error what the session was shown after so many occasions, and what was weighed."""
    try:
        trace_text = context.trace_text(_event_session(payload).shown_after(occasions))
    except Exception as error:  # noqa: BLE001 - see `run`
        trace_text = f"roamkb: no trace: {error}"
    print(trace_text, file=sys.stderr)


def _read_standard_input() -> bytes:
    """Return the bytes of standard input; none from a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read(_MAX_PAYLOAD_BYTES)


def _require_end() -> None:
    """Raise where more input follows; a harness waits until all of it is read."""
    if sys.stdin is None or sys.stdin.isatty():
        return
    is_over = True
    while sys.stdin.buffer.read(1024 * 1024):
        is_over = False
    if not is_over:
        raise ValueError("the payload is too large")


class _UnknownPayload(ValueError):
    """What a harness gave is JSON, and no payload of a form that is known."""


def _parse_payload(data: bytes) -> "Payload":
    """Parse the payload; empty input is an empty payload. An id that is no text, or that no file could hold, is none.

    Raises:
        ValueError, RecursionError: it is none.
    """
    payload = json.loads(data) if data.strip() else {}
    if not isinstance(payload, dict) or not isinstance(payload.get("tool_input", {}), dict | None):
        raise _UnknownPayload
    session = payload.get("session_id")
    if not isinstance(session, str) or "\0" in session or _with_whole_characters(session) != session:
        payload.pop("session_id", None)
    if b"\\ud" in data or b"\\uD" in data:
        mended: Payload = _with_whole_characters(payload)
        return mended
    return payload


def _with_whole_characters(value: "Any") -> "Any":
    """Return a value of JSON with a mark for each half of a character, as a harness passes it on to a program."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_with_whole_characters(name): _with_whole_characters(member) for name, member in value.items()}
    return [_with_whole_characters(member) for member in value] if isinstance(value, list) else value


def _parse_payload_or_empty(data: bytes) -> "Payload":
    """Parse the payload; return an empty one where it is none."""
    try:
        return _parse_payload(data)
    except (ValueError, RecursionError):
        return {}


def _dashed_event(name: str) -> str:
    """Return an event's name as the command line has it: `PreToolUse` is `pre-tool-use`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


def _with_event_name(payload: "Payload", event: str) -> "Payload":
    """Return the payload with the event's name, which the command line may tell alone."""
    if not payload or payload.get("hook_event_name"):
        return payload
    return {**payload, "hook_event_name": "".join(part.capitalize() for part in event.split("-"))}


def _answer_event(event: str, payload: "Payload") -> "Answer":
    if not payload and event != "pre-tool-use":
        return {}
    match event:
        case "pre-tool-use":
            return _answer_before_tool(payload)
        case "post-tool-use":
            return _answer_after_tool(payload)
        case "post-tool-use-failure":
            return _answer_after_tool({**payload, "hook_event_name": "PostToolUseFailure"})
        case "pre-compact" | "post-compact" | "session-end":
            return _record_event(event, payload)
        case "session-start":
            return _answer_session_start(payload)
        case "subagent-start":
            return _answer_subagent_start(payload)
        case "user-prompt-submit":
            return _answer_prompt(payload)
        case "stop" | "subagent-stop":
            return _answer_stop(event, payload)
    # a slip in a harness's settings would turn a hook off unheard
    print(f"roamkb: there is no event {event!r}; `roamkb hook --help` lists them", file=sys.stderr)
    return {}


def _with_queued_outcomes(event: str, payload: "Payload", answer: "Answer") -> "Answer":
    """Carry out the calls that the sandbox prevented, and return `answer` with their outcomes."""
    name = _QUEUE_EVENTS.get(event)
    if name is None or not payload:
        return answer
    try:
        local = find_local_folder(_session_folder(payload))
        if local is None or not has_calls(local):
            return answer

        outcome_text = spool.carry_out_queued(_event_session(payload), event)
    except Exception as error:  # noqa: BLE001 - see `run`
        _record_trouble(event, payload, error)
        return answer
    if not outcome_text:
        return answer
    if event == "stop" and "reason" in answer:
        return {**answer, "reason": f"{outcome_text}\n\n{answer['reason']}"}
    if event == "stop":
        # for the human: who has stopped isn't called back for this
        return _with_human_message(answer, outcome_text)
    hook_output = answer.get("hookSpecificOutput")
    context_text = hook_output.get("additionalContext", "") if isinstance(hook_output, dict) else ""
    return {**answer, **_context_answer(name, f"{outcome_text}\n\n{context_text}".strip())}


def _context_answer(event: str, text: str) -> "Answer":
    """Return the answer that adds `text` to the agent's context."""
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _event_session(payload: "Payload") -> "events.HookEventSession":
    return events.HookEventSession(payload)


# Once a session, or at a prompt


def _answer_session_start(payload: "Payload") -> "Answer":
    session = _event_session(payload)
    _keep_session_pass(payload, session)
    # before the brief, which may take what time there is
    journal_line = session.session_journal.begin_session(session.payload_text("source"))
    brief = session.start_session()
    if brief is None:
        return _with_human_message({}, journal_line)

    return _with_human_message(_context_answer("SessionStart", context.brief_text(brief)), journal_line)


def _with_human_message(answer: "Answer", message_line: str) -> "Answer":
    """Return the answer with a line that the harness shows to its human, if there is one."""
    if not message_line:
        return answer
    earlier_message = answer.get("systemMessage", "")
    return {**answer, "systemMessage": f"{earlier_message}\n{message_line}".strip()}


def _answer_subagent_start(payload: "Payload") -> "Answer":
    suggestions = _event_session(payload).start_subagent()
    return _suggestions_answer("SubagentStart", suggestions)


def _answer_prompt(payload: "Payload") -> "Answer":
    id = payload.get("session_id", "")
    quiet = glance.find_quiet_journals(id, trusts_folders=True)
    for journal in quiet:
        # what wasn't seen is told from what this turn does by its time
        glance.begin_turn(journal.folder, id, goes_on=not journal.tree.is_complete)
    journal_line = "" if quiet else _event_session(payload).session_journal.start_turn()
    return _with_human_message(_suggest_for_prompt(payload, quiet[0].tree if quiet else None), journal_line)


def _suggest_for_prompt(payload: "Payload", seen_tree: "TreeDigest | None") -> "Answer":
    """Return the suggestions that fit the prompt."""
    prompt = str(payload.get("prompt", ""))
    if prompt.startswith(_NOTICES):
        return {}
    session_pass = _find_session_pass(payload)
    session = events.HookEventSession(payload, session_pass=session_pass)
    suggestions = session.handle_prompt(seen_tree)
    if session_pass is None:
        # of a long turn the next prompt finds the one that the tools' hooks left
        _keep_session_pass(payload, session)
    return _suggestions_answer("UserPromptSubmit", suggestions)


def _suggestions_answer(event: str, suggestions: "events.HookSuggestions") -> "Answer":
    if not suggestions.suggested_ids:
        return {}

    return _context_answer(event, context.suggestions_text(suggestions, source="what roamkb knows about this"))


def _answer_stop(event: str, payload: "Payload") -> "Answer":
    if event == "subagent-stop" and payload.get("agent_type") == "":
        # an errand of the harness's own, such as a compaction: what it says was said before
        return {}
    if event == "subagent-stop":
        return _ask_stopped_agent(payload, is_subagent=True)
    journal_line = _look_at_notes(payload)
    answer = _ask_stopped_agent(payload, is_subagent=False) if _is_look_due(payload) else {}
    return _with_human_message(_with_human_message(answer, journal_line), _lost_statements_line(payload))


def _lost_statements_line(payload: "Payload") -> str:
    """Return a line for the human about what the agent announced, and no log is there to keep."""
    message = str(payload.get("last_assistant_message", ""))
    # most messages hold no such word, and the rest takes a while to import
    if not re.search(r"[A-Z]:", message) or find_local_folder(_session_folder(payload)) is not None:
        return ""
    return stop.StoppedSession(payload).lost_statements_notice(message)


def _look_at_notes(payload: "Payload") -> str:
    """Have the journal look at the notes, if they aren't as it saw them; return a line for the human."""
    id = payload.get("session_id", "")
    if quiet := glance.find_quiet_journals(id):
        for journal in quiet:
            glance.end_turn(journal.folder, id)
        return ""
    return _event_session(payload).session_journal.finish_turn()


def _ask_stopped_agent(payload: "Payload", *, is_subagent: bool) -> "Answer":
    """Return the question to an agent that stops."""
    session = stop.StoppedSession(payload)
    if is_subagent:
        session.stop_subagent()
    stop_question = session.handle_stop(subagent=is_subagent)
    if not stop_question.question and stop_question.promoted is None:
        return {}

    name = "SubagentStop" if is_subagent else "Stop"
    if harness_of(payload, os.environ).shows_questions(os.environ):
        return _context_answer(name, context.stop_question_text(stop_question))
    return {"decision": "block", "reason": context.stop_question_text(stop_question)}


def _is_look_due(payload: "Payload") -> bool:
    """Return whether a stop is worth a look: most of them record nothing and ask nothing."""
    local = find_local_folder(_session_folder(payload))
    session_pass = _find_session_pass(payload) if local is not None else None
    if local is None or (session_pass is not None and session_pass.get("keeps") is not True):
        return False

    return transcript_glance.is_look_due(payload, local, os.environ)


# At every step


def _answer_after_tool(payload: "Payload") -> "Answer":
    session_pass = _find_session_pass(payload)
    # a comment on a task may be learned, and a command that was given a remedy has an outcome
    is_plain = session_pass is not None and not (_may_comment(payload) or has_offers(str(session_pass["local"])))
    if session_pass is None or not is_plain:
        if session_pass is None and find_local_folder(_session_folder(payload)) is None:
            return {}
        session = _event_session(payload)
        _keep_session_pass(payload, session)
        return _answer_failure(payload, session) if _has_failed(payload) else _answer_success(session)
    if session_pass.get("keeps") is not True:
        return {}
    if _has_failed(payload):
        return _answer_failure(payload, _event_session(payload))

    for event in payloads.events_of_payload(payload):
        _append_observation(
            payload,
            session_pass,
            type=event.type,
            text=event.text,
            tool=event.tool,
            outcome=event.outcome,
            files=event.files,
        )
    return {}


def _may_comment(payload: "Payload") -> bool:
    return re.search(r"\bbd\b", payloads.command_of(payload.get("tool_input"))) is not None


def _has_failed(payload: "Payload") -> bool:
    """Return whether a tool failed, for harnesses without an event for that."""
    if payload.get("hook_event_name") == "PostToolUseFailure":
        return True

    return payloads.has_failed(payload.get("tool_response"))


def _answer_success(session: "events.HookEventSession") -> "Answer":
    declined = session.handle_success()
    if not declined:
        return {}

    lines = (
        f"roamkb: not kept: {core_text.one_line(declined_text.text)}: {core_text.one_line(declined_text.reason)}"
        for declined_text in declined
    )
    return _context_answer("PostToolUse", "\n".join(lines))


def _answer_failure(payload: "Payload", session: "events.HookEventSession") -> "Answer":
    remedy = session.handle_failure()
    if remedy is None:
        return {}

    return _context_answer(str(payload.get("hook_event_name", "")), context.remedy_text(remedy))


def _record_event(event: str, payload: "Payload") -> "Answer":
    """Record that the event happened, and little else: there is no time."""
    session_pass = _find_session_pass(payload)
    if session_pass is not None and session_pass.get("keeps") is True:
        cause = payload.get("reason") or payload.get("trigger") or ""
        _append_observation(payload, session_pass, type="message", text=f"{event} {cause}".strip()[:200])
    if event == "session-end":
        # once all else is done: the harness may stop us
        _look_at_notes(payload)
    return {}


def _append_observation(payload: "Payload", session_pass: "dict[str, Any]", **fields: object) -> None:
    known = {name: str(session_pass.get(name, "")) for name in ("agent", "worktree")}
    fields = {**fields, "session": str(payload["session_id"]), **known}
    # observations lie beside the folder that only this machine can name
    observation_append.append_observation(
        os.path.dirname(str(session_pass["local"])), {**fields, "provenance": "observed"}
    )


def _answer_before_tool(payload: "Payload") -> "Answer":
    tool = str(payload.get("tool_name", ""))
    if tool in _READ_ONLY_TOOLS or not payload:
        return _pass_reading_tool(payload, tool)

    if unobservable := _unobservable_reason(payload):
        kind = session_project.SessionProject(payload).project_kind
        if kind != "personal":
            return _denial_answer(f"roamkb: {kind} project: {unobservable}")
    file = tool_calls.edited_file(payload) if tool in _EDITOR_TOOLS else ""
    projects: list[session_project.SessionProject] = []

    def get_project() -> "session_project.SessionProject":
        projects[:] = projects or [session_project.SessionProject(payload)]
        return projects[0]

    # before the log is looked at: one that a repository spoiled may stop nothing but itself
    if denial := tool_calls.find_denial(payload, get_project):
        return _denial_answer(f"roamkb: {denial.reason}; {denial.hint}")
    if projects:
        _keep_session_pass(payload, _event_session(payload))
    if not harness_of(payload, os.environ).reads_before_tool:
        return {}
    return _warn_before_change(payload, [file] if file else _patched_files(payload))


def _warn_before_change(payload: "Payload", files: list[str]) -> "Answer":
    """Return what is known of the first of the files, or of names in the change, that the session wasn't told."""
    local = find_local_folder(_session_folder(payload)) if files else None
    names = tool_calls.edited_names(payload) if local else []
    for path in files if local else ():
        if find_local_folder(os.path.dirname(path)) != local:
            # another project's, whose names would be asked for in vain
            continue
        subjects = unasked_subjects(str(local), payload.get("session_id", ""), path, names)
        if subjects and (warning := _warning_answer(payload, path, [name for name in subjects if name != path])):
            return warning
    return {}


def _pass_reading_tool(payload: "Payload", tool: str) -> "Answer":
    """Return the empty answer; what a subagent is to do is kept for its start, and a failure to keep it ignored."""
    if tool in _SPAWNING_TOOLS:
        try:
            _event_session(payload).keep_subagent_task()
        except Exception as error:  # noqa: BLE001 - see `run`
            _record_trouble("pre-tool-use", payload, error)
    return {}


def _unobservable_reason(payload: "Payload") -> str:
    """Return why roamkb couldn't observe a command in the harness's own sandbox; empty where it can.

    What some harnesses type into a program that runs no hook hears of; and `roamkb` can't know whose it is
    without the session's id, nor in another folder where the harness keeps no record of the session.
    """
    harness = harness_of(payload, os.environ)
    if not harness.has_terminals or payload.get("tool_name") != "Bash":
        return ""

    command = payloads.command_of(payload.get("tool_input"))
    if program := interactive_commands.find_interactive_program(command):
        return _TYPED_INPUT_REASON.format(program=program)
    if "roamkb" not in command.translate(str.maketrans("", "", "'\"\\")):
        return ""
    if re.search(_FORGING_PATTERN.format(beginning=harness.forged_variables), command):
        return _FORGED_REASON
    try:
        current_folder = os.getcwd()
    except OSError:
        # a folder that is gone is no session's
        current_folder = ""

    is_elsewhere = os.path.realpath(tool_calls.call_folder(payload)) != current_folder or re.search(
        _LEAVING_PATTERN, command
    )
    return _NO_RECORD_REASON if is_elsewhere and not payload.get("transcript_path") else ""


def _patched_files(payload: "Payload") -> list[str]:
    """Return the real paths of the files that a patch changes."""
    if payload.get("tool_name") != "apply_patch":
        return []

    file_names = policy.patch_paths(payloads.command_of(payload.get("tool_input")))[:_MAX_PATCH_FILES]
    return [
        os.path.realpath(os.path.join(tool_calls.call_folder(payload), path)) for path in file_names if "\0" not in path
    ]


def _denial_answer(reason: str) -> "Answer":
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


def _warning_answer(payload: "Payload", file: str, names: "list[str]") -> "Answer":
    """Return what is known of a file and of names in the change; a failure to find it denies nothing."""
    try:
        suggestions = _event_session(payload).before_change(file, names)
    except Exception as error:  # noqa: BLE001 - see `run`
        _record_trouble("pre-tool-use", payload, error)
        return {}
    if not suggestions.suggested_ids:
        return {}

    return _context_answer("PreToolUse", context.suggestions_text(suggestions, source="what is known of this file"))


# What is known of the session


def _session_folder(payload: "Payload") -> str:
    folder = hook_project_folder(os.environ) or payload.get("cwd")
    return folder if isinstance(folder, str) and os.path.isabs(folder) else os.getcwd()


def _session_evidence(payload: "Payload") -> list[str | None]:
    """Return all evidence of where the session works; any change of it requires a new judgement."""
    payload_folder = payload.get("cwd")
    harness = sorted(f"{name}={value}" for name, value in os.environ.items() if name.endswith("_PROJECT_DIR"))
    earlier = "at work before" if was_at_work(str(payload.get("session_id", "")), default_state_dir()) else ""
    folder = payload_folder if isinstance(payload_folder, str) else None
    return [os.getcwd(), os.environ.get("PWD"), folder, earlier, *harness]


def _find_session_pass(payload: "Payload") -> "dict[str, Any] | None":
    session = payload.get("session_id")
    if not isinstance(session, str):
        return None
    session_pass = find_pass(session, _session_folder(payload), evidence=_session_evidence(payload), rules=rule_files())
    return dict(session_pass) if session_pass else None


def _keep_session_pass(payload: "Payload", session: "events.HookEventSession") -> None:
    if session.session and session.writable_log is not None:
        local = str(session.writable_log.local_folder)
        save_pass(
            local, session.session, session.session_facts(), evidence=_session_evidence(payload), rules=rule_files()
        )


# When something goes wrong


def _answer_crash(event: str, data: bytes, error: Exception) -> "Answer":
    """Return the answer of an event whose hook crashed, and record a line about it.

    Before a tool that names the knowledge base it is no: a wall that crashes still stands.
    """
    payload = _parse_payload_or_empty(data)
    _record_trouble(event, payload, error)
    if event != "pre-tool-use" or not _names_knowledge_base(data):
        return {}
    denial = _denial_answer(
        "roamkb: the call names the knowledge base, and whether it may be made couldn't be found out. "
        "`roamkb doctor` says what is wrong; `roamkb search` and `roamkb write` are the ways in."
    )
    return harness_of(payload, os.environ).translate_answer(denial)


def _names_knowledge_base(data: bytes) -> bool:
    """Return whether a payload holds the path of the knowledge base, or its end below HOME."""
    text = data.decode("utf-8", "replace").replace("\\/", "/")
    home = (os.environ.get("HOME") or "/").rstrip("/") + "/"
    return any(name.removeprefix(home) in text for name in all_kb_names())


def _record_trouble(event: str, payload: "Payload", error: Exception) -> None:
    """Record a line in the log's local folder: the error's name and its place in our code, nothing else."""
    try:
        local = find_local_folder(_session_folder(payload))
    except (OSError, ValueError):
        local = None
    if local is not None:
        is_ours = not isinstance(error, json.JSONDecodeError | _UnknownPayload)
        why = (
            f"{type(error).__name__} at {core_errors.code_place(error)}"
            if is_ours
            else "what called it gave it no JSON object"
        )
        hook_errors.record_hook_error(local, event, why)
