"""`roamkb hook EVENT`: a harness's payload on standard input, one JSON object on standard output, status 0.

Whatever goes wrong, the agent goes on (fail open), and one line in the log's local folder says so. Only
before a tool it is the other way round: where the call names the knowledge base and we don't know, it is
denied. A hook runs at every step, so that this door imports next to nothing, and the rest where it's needed.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH109, PTH117, PTH118, PTH119, PTH120

import json
import os
import sys

from roamkb.boundary.store.kb_paths import names_of_kb
from roamkb.boundary.store.kb_paths import rule_files
from roamkb.boundary.store.session_cache import find_local
from roamkb.boundary.store.session_cache import find_pass
from roamkb.boundary.store.session_cache import has_calls
from roamkb.boundary.store.session_cache import has_offers
from roamkb.boundary.store.session_cache import keep_pass
from roamkb.boundary.store.session_cache import may_warn

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from roamkb.app.hooks.events import HookEventSession
    from roamkb.app.hooks.session_project import SessionProject

    Payload = dict[str, Any]
    Answer = dict[str, object]

#: A harness gives a tool's whole output; more than this is none that we look at.
_MOST_BYTES = 32 * 1024 * 1024
#: Words of an English prompt that may say what it is about.
_FEWEST = 2
#: How a prompt begins that is Claude Code's own: a background task has ended.
_NOTICE = "<task-notification>"
#: Tools that change no file, and run nothing that could.
_READERS = frozenset(
    "Read Grep Glob LS NotebookRead WebFetch WebSearch TodoWrite TodoRead Task Agent ToolSearch Skill "
    "TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate SendMessage ListMcpResourcesTool "
    "ReadMcpResourceTool ReadMcpResourceDirTool AskUserQuestion EnterPlanMode ExitPlanMode "
    "read_file list_dir grep_files update_plan view_image get_goal list_mcp_resources read_mcp_resource "
    "clockcurr_time clocksleep collaborationspawn_agent collaborationwait_agent".split()
)
_EDITORS = frozenset("Write Edit MultiEdit NotebookEdit".split())
#: Files of one patch that are asked about.
_MOST_FILES = 20
#: Events whose hook carries out what waits, as their answers call them.
_CARRIERS = {
    "session-start": "SessionStart",
    "user-prompt-submit": "UserPromptSubmit",
    "post-tool-use": "PostToolUse",
    "post-tool-use-failure": "PostToolUseFailure",
    "stop": "Stop",
}
_ELSEWHERE = "this session keeps no record; call `roamkb` from the folder that the session was started in"
#: Of a command: it goes elsewhere, or says that it is another session's; one that says of none is unknown.
_LEAVES = r"\b(?:cd|pushd|popd|chroot|eval)\b|\s-[CD]\b|--(?:chdir|project)\b"
_FORGES = r"\bCODEX_\w+="
_FORGED = "the command tells `roamkb` of another session than its own; call it without that"
_TYPED = (
    "what is typed into `{program}` once it runs no hook hears of, and it might write to the knowledge base; "
    "run each command by itself, or give the program its script"
)


def run(words: list[str]) -> int:
    """Answer one event; the status is 0 whatever happens."""
    out, sys.stdout = sys.stdout, sys.stderr
    event = words[0] if words else ""
    answer: Answer = {}
    data = b""
    try:
        data = _given()
        _check_end()
        payload = _read(data)
        event = event or _dashed(str(payload.get("hook_event_name", "")))
        answer = _with_outcomes(event, payload, _answer(event, payload))
    except Exception as error:  # noqa: BLE001 - a bug of ours is no reason to stop somebody's work
        answer = _failed(event, data, error)
    text = json.dumps(answer)
    try:
        print(text, file=out, flush=True)
    except (OSError, ValueError, AttributeError):
        # nobody listens; Python would complain again when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _given() -> bytes:
    """Return what stands on standard input; at a terminal nobody types a payload."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read(_MOST_BYTES)


def _check_end() -> None:
    """Raise where there is more; a harness waits until all of it is taken."""
    if sys.stdin is None or sys.stdin.isatty():
        return
    is_over = True
    while sys.stdin.buffer.read(1024 * 1024):
        is_over = False
    if not is_over:
        raise ValueError("the payload is too large")


def _read(data: bytes) -> "Payload":
    """Return the payload; nothing is an empty one.

    Raises:
        ValueError, RecursionError: it is none.
    """
    payload = json.loads(data) if data.strip() else {}
    if not isinstance(payload, dict) or not isinstance(payload.get("tool_input", {}), dict | None):
        raise ValueError("no payload of a form that is known")
    return payload


def _parsed(data: bytes) -> "Payload":
    """Return the payload; of what is none, nothing."""
    try:
        return _read(data)
    except (ValueError, RecursionError):
        return {}


def _dashed(name: str) -> str:
    """Return an event's name as the command line has it: `PreToolUse` is `pre-tool-use`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


def _answer(event: str, payload: "Payload") -> "Answer":
    if not payload and event != "pre-tool-use":
        return {}
    match event:
        case "pre-tool-use":
            return _before_tool(payload)
        case "post-tool-use":
            return _after_tool(payload)
        case "post-tool-use-failure":
            return _after_tool({**payload, "hook_event_name": "PostToolUseFailure"})
        case "pre-compact" | "post-compact" | "session-end":
            return _mark(event, payload)
        case "session-start":
            return _start(payload)
        case "subagent-start":
            return _start_subagent(payload)
        case "user-prompt-submit":
            return _prompted(payload)
        case "stop" | "subagent-stop":
            return _stopped(event, payload)
    return {}


def _with_outcomes(event: str, payload: "Payload", answer: "Answer") -> "Answer":
    """Carry out what couldn't be done in the session's sandbox, and return `answer` with what came of it."""
    name = _CARRIERS.get(event)
    if name is None or not payload:
        return answer
    try:
        local = find_local(_folder(payload))
        if local is None or not has_calls(local):
            return answer
        from roamkb.interfaces.output.spool import carried_out

        told = carried_out(_session(payload), event)
    except Exception as error:  # noqa: BLE001 - see `run`
        _leave_trouble(event, payload, error)
        return answer
    if not told:
        return answer
    if event == "stop" and "reason" in answer:
        return {**answer, "reason": f"{told}\n\n{answer['reason']}"}
    if event == "stop":
        # for the human: who has stopped isn't called back for this
        return _with_message(answer, told)
    known = answer.get("hookSpecificOutput")
    said = known.get("additionalContext", "") if isinstance(known, dict) else ""
    return {**answer, **_context(name, f"{told}\n\n{said}".strip())}


def _context(event: str, text: str) -> "Answer":
    """Return the answer that puts `text` beside what the agent reads."""
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _session(payload: "Payload") -> "HookEventSession":
    from roamkb.app.hooks.events import HookEventSession

    return HookEventSession(payload)


# Once a session, or at a prompt


def _start(payload: "Payload") -> "Answer":
    session = _session(payload)
    _remember(payload, session)
    # before the brief, which may take what time there is
    told = session.journal.began(session.text("source"))
    brief = session.start()
    if brief is None:
        return _with_message({}, told)
    from roamkb.interfaces.output.context import brief_text

    return _with_message(_context("SessionStart", brief_text(brief)), told)


def _with_message(answer: "Answer", told: str) -> "Answer":
    """Return the answer with a line that the harness shows to its human, if there is one."""
    if not told:
        return answer
    said = answer.get("systemMessage", "")
    return {**answer, "systemMessage": f"{said}\n{told}".strip()}


def _start_subagent(payload: "Payload") -> "Answer":
    brief = _session(payload).start_subagent()
    if brief is None:
        return {}
    from roamkb.interfaces.output.context import brief_text

    return _context("SubagentStart", brief_text(brief))


def _prompted(payload: "Payload") -> "Answer":
    from roamkb.journal.store.glance import begin_turn
    from roamkb.journal.store.glance import find_quiet

    id = str(payload.get("session_id", ""))
    if quiet := find_quiet(id):
        begin_turn(quiet, id)
    told = "" if quiet else _session(payload).journal.prompted()
    return _with_message(_offered(payload), told)


def _offered(payload: "Payload") -> "Answer":
    """Return what fits the prompt."""
    prompt = str(payload.get("prompt", ""))
    # a whole sentence may have no blank in it, but not in English
    if (prompt.isascii() and len(prompt.split()) < _FEWEST) or prompt.startswith(_NOTICE):
        return {}
    offer = _session(payload).prompted()
    if not offer.ids:
        return {}
    from roamkb.interfaces.output.context import offer_text

    return _context("UserPromptSubmit", offer_text(offer, source="what roamkb knows about this"))


def _stopped(event: str, payload: "Payload") -> "Answer":
    if event == "subagent-stop" and payload.get("agent_type") == "":
        # an errand of Claude Code's own, such as a compaction: what it says was said before
        return {}
    if event == "subagent-stop":
        return _asked(payload, is_subagent=True)
    told = _looked(payload)
    return _with_message(_asked(payload, is_subagent=False) if _is_look_due(payload) else {}, told)


def _looked(payload: "Payload") -> str:
    """Have the journal look at the notes, if they aren't as it saw them; return a line for the human."""
    from roamkb.journal.store.glance import end_turn
    from roamkb.journal.store.glance import find_quiet

    id = str(payload.get("session_id", ""))
    if quiet := find_quiet(id):
        end_turn(quiet, id)
        return ""
    return _session(payload).journal.stopped()


def _asked(payload: "Payload", *, is_subagent: bool) -> "Answer":
    """Return what an agent is asked when it stops."""
    from roamkb.app.hooks.stop import StoppedSession

    session = StoppedSession(payload)
    if is_subagent:
        session.stop_subagent()
    asked = session.stop(subagent=is_subagent)
    if not asked.question and asked.promoted is None:
        return {}
    from roamkb.interfaces.output.context import asked_text

    name = "SubagentStop" if is_subagent else "Stop"
    if os.environ.get("AI_AGENT", "").startswith("claude-code"):
        # it shows a block to the human as an error
        return _context(name, asked_text(asked))
    return {"decision": "block", "reason": asked_text(asked)}


def _is_look_due(payload: "Payload") -> bool:
    """Say whether a stop is worth a look: most of them record nothing and ask nothing."""
    local = find_local(_folder(payload))
    known = _pass(payload) if local is not None else None
    if local is None or (known is not None and known.get("keeps") is not True):
        return False
    from roamkb.pipeline.store.transcript_glance import is_look_due

    return is_look_due(payload, local, os.environ)


# At every step


def _after_tool(payload: "Payload") -> "Answer":
    payload = _completed(payload)
    known = _pass(payload)
    # a comment on a task may be learned, and a command that was given a remedy has an outcome
    is_plain = known is not None and not (_may_comment(payload) or has_offers(str(known["local"])))
    if known is None or not is_plain:
        if known is None and find_local(_folder(payload)) is None:
            return {}
        session = _session(payload)
        _remember(payload, session)
        return _failure(payload, session) if _has_failed(payload) else _success(session)
    if known.get("keeps") is not True:
        return {}
    if _has_failed(payload):
        return _failure(payload, _session(payload))
    from roamkb.pipeline.extract.payloads import happenings_of_payload

    for one in happenings_of_payload(payload):
        _capture(payload, known, type=one.type, text=one.text, tool=one.tool, outcome=one.outcome)
    return {}


def _may_comment(payload: "Payload") -> bool:
    import re

    from roamkb.pipeline.extract.payloads import command_of

    return re.search(r"\bbd\b", command_of(payload.get("tool_input"))) is not None


def _completed(payload: "Payload") -> "Payload":
    """Return the payload with the status that Codex keeps to itself: it tells only what a command printed."""
    printed = payload.get("tool_response")
    if "turn_id" not in payload or payload.get("tool_name") != "Bash" or not isinstance(printed, str):
        return payload
    from roamkb.boundary.store.codex_session import exit_code_of

    code = exit_code_of(str(payload.get("transcript_path")), str(payload.get("tool_use_id")))
    return payload if code is None else {**payload, "tool_response": {"output": printed, "exit_code": code}}


def _has_failed(payload: "Payload") -> bool:
    """Say whether a tool failed: Codex has no event of its own for that."""
    if payload.get("hook_event_name") == "PostToolUseFailure":
        return True
    from roamkb.pipeline.extract.payloads import has_failed

    return has_failed(payload.get("tool_response"))


def _success(session: "HookEventSession") -> "Answer":
    refused = session.succeeded()
    if not refused:
        return {}
    from roamkb.core.text import shown

    lines = (f"roamkb: not kept: {shown(one.text)}: {shown(one.reason)}" for one in refused)
    return _context("PostToolUse", "\n".join(lines))


def _failure(payload: "Payload", session: "HookEventSession") -> "Answer":
    remedy = session.failed()
    if remedy is None:
        return {}
    from roamkb.interfaces.output.context import remedy_text

    return _context(str(payload.get("hook_event_name", "")), remedy_text(remedy))


def _mark(event: str, payload: "Payload") -> "Answer":
    """Record that it happened, and little else: there is no time."""
    known = _pass(payload)
    if known is not None and known.get("keeps") is True:
        why = payload.get("reason") or payload.get("trigger") or ""
        _capture(payload, known, type="message", text=f"{event} {why}".strip()[:200])
    if event == "session-end":
        # once all else is done: the harness may stop us
        _looked(payload)
    return {}


def _capture(payload: "Payload", known: "dict[str, Any]", **told: str) -> None:
    from roamkb.log.store.observation_append import capture

    told = {**told, "session": str(payload["session_id"]), "agent": str(known.get("agent", ""))}
    # observations lie beside the folder that only this machine can name
    capture(os.path.dirname(str(known["local"])), {**told, "provenance": "observed"})


def _before_tool(payload: "Payload") -> "Answer":
    tool = str(payload.get("tool_name", ""))
    if tool in _READERS or not payload:
        return {}
    from roamkb.interfaces.hooks.tool_calls import edited
    from roamkb.interfaces.hooks.tool_calls import find_denial

    if unheard := _unheard(payload):
        from roamkb.app.hooks.session_project import SessionProject

        kind = SessionProject(payload).kind
        if kind != "personal":
            return _denied(f"roamkb: {kind} project: {unheard}")
    file = edited(payload) if tool in _EDITORS else ""
    asked: list[SessionProject] = []

    def project() -> "SessionProject":
        from roamkb.app.hooks.session_project import SessionProject

        asked[:] = asked or [SessionProject(payload)]
        return asked[0]

    # before the log is looked at: one that a repository spoiled may stop nothing but itself
    if denial := find_denial(payload, project):
        return _denied(f"roamkb: {denial.reason}; {denial.hint}")
    if asked:
        _remember(payload, _session(payload))
    files = [file] if file else _patched(payload)
    local = find_local(_folder(payload)) if files else None
    for one in files if local else ():
        if may_warn(str(local), str(payload.get("session_id")), one) and (said := _warned(payload, one)):
            return said
    return {}


def _unheard(payload: "Payload") -> str:
    """Return why a command of Codex's would be out of anybody's hearing; empty where it isn't.

    What it types into a program that runs no hook hears of; and `roamkb` can't know whose it is without
    the session's id, nor in another folder where Codex keeps no record of the session.
    """
    if "turn_id" not in payload or payload.get("tool_name") != "Bash":
        return ""
    from roamkb.guard.interactive_commands import awaited
    from roamkb.pipeline.extract.payloads import command_of

    command = command_of(payload.get("tool_input"))
    if program := awaited(command):
        return _TYPED.format(program=program)
    import re

    if "roamkb" not in command.translate(str.maketrans("", "", "'\"\\")):
        return ""
    if re.search(_FORGES, command):
        return _FORGED
    try:
        here = os.getcwd()
    except OSError:
        # a folder that is gone is no session's
        here = ""
    from roamkb.interfaces.hooks.tool_calls import cwd

    is_elsewhere = os.path.realpath(cwd(payload)) != here or re.search(_LEAVES, command)
    return _ELSEWHERE if is_elsewhere and not payload.get("transcript_path") else ""


def _patched(payload: "Payload") -> list[str]:
    """Return the real paths of the files that a patch in Codex's form is about."""
    if payload.get("tool_name") != "apply_patch":
        return []
    from roamkb.guard.policy import paths_of_patch
    from roamkb.interfaces.hooks.tool_calls import cwd
    from roamkb.pipeline.extract.payloads import command_of

    told = paths_of_patch(command_of(payload.get("tool_input")))[:_MOST_FILES]
    return [os.path.realpath(os.path.join(cwd(payload), one)) for one in told if "\0" not in one]


def _denied(reason: str) -> "Answer":
    return {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }


def _warned(payload: "Payload", file: str) -> "Answer":
    """Return what is known to go wrong with a file; a failure to find out denies nothing."""
    try:
        offer = _session(payload).before_change(file)
    except Exception as error:  # noqa: BLE001 - see `run`
        _leave_trouble("pre-tool-use", payload, error)
        return {}
    if not offer.ids:
        return {}
    from roamkb.interfaces.output.context import offer_text

    return _context("PreToolUse", offer_text(offer, source="what went wrong with this file before"))


# What is known of the session


def _folder(payload: "Payload") -> str:
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or payload.get("cwd")
    return folder if isinstance(folder, str) and os.path.isabs(folder) else os.getcwd()


def _evidence(payload: "Payload") -> list[str | None]:
    """Return all that says where the session works; one more word, and somebody has to look again."""
    told = payload.get("cwd")
    harness = sorted(f"{name}={value}" for name, value in os.environ.items() if name.endswith("_PROJECT_DIR"))
    return [os.getcwd(), os.environ.get("PWD"), told if isinstance(told, str) else None, *harness]


def _pass(payload: "Payload") -> "dict[str, Any] | None":
    session = payload.get("session_id")
    if not isinstance(session, str):
        return None
    found = find_pass(session, _folder(payload), evidence=_evidence(payload), rules=rule_files())
    return dict(found) if found else None


def _remember(payload: "Payload", session: "HookEventSession") -> None:
    if session.session and session.log is not None:
        local = str(session.log.local)
        keep_pass(local, session.session, session.may(), evidence=_evidence(payload), rules=rule_files())


# When something goes wrong


def _failed(event: str, data: bytes, error: Exception) -> "Answer":
    """Return the answer of an event that couldn't be looked after, and leave a line about it.

    Before a tool that names the knowledge base it is no: a wall that crashes still stands.
    """
    payload = _parsed(data)
    _leave_trouble(event, payload, error)
    if event != "pre-tool-use" or not _names_the_kb(data):
        return {}
    return _denied(
        "roamkb: the call names the knowledge base, and whether it may be made couldn't be found out. "
        "`roamkb doctor` says what is wrong; `roamkb search` and `roamkb write` are the ways in."
    )


def _names_the_kb(data: bytes) -> bool:
    """Say whether a payload holds the path of the knowledge base, or its end below HOME."""
    text = data.decode("utf-8", "replace").replace("\\/", "/")
    home = (os.environ.get("HOME") or "/").rstrip("/") + "/"
    return any(name.removeprefix(home) in text for name in names_of_kb())


def _leave_trouble(event: str, payload: "Payload", error: Exception) -> None:
    """Leave a line in the log's local folder: the error's name and its place in our code, nothing else."""
    from roamkb.log.store.hook_errors import keep_trouble

    at, place = error.__traceback__, "?"
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if "roamkb" in file:
            place = f"{os.path.basename(file)}:{at.tb_lineno}"
        at = at.tb_next
    try:
        local = find_local(_folder(payload))
    except (OSError, ValueError):
        local = None
    if local is not None:
        keep_trouble(local, event, f"{type(error).__name__} at {place}")
