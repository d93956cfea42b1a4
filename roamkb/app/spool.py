"""Calls that can't reach the notes from a sandbox: kept in the project, and carried out by a hook.

Any command on this machine may put a call into a project, one of a work session as well, and its number into a
file. So only those are carried out which the session's own command called, as its harness tells the hook after
it: a call of `roamkb` with that verb and title, which printed the number; the number is a digest of the call.
What counts so is judged as if it were called at the moment that it is carried out, by the hook's session and
from the folder that it was called in.
"""

import time
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Final
from typing import Self

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.hooks import events
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.boundary.policy import strictest_project
from roamkb.boundary.store.session_cache import has_passes
from roamkb.core.errors import BadRule
from roamkb.core.errors import Busy
from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotFound
from roamkb.core.errors import NotWritable
from roamkb.core.errors import Refused
from roamkb.core.errors import RoamkbError
from roamkb.core.model import Project
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.org.agent_node import SUPERSEDED_BY
from roamkb.spool.call import ParameterValues
from roamkb.spool.call import QueuedCall
from roamkb.spool.call import SpooledCall
from roamkb.spool.store.waiting_calls import BEGUN_SUFFIX
from roamkb.spool.store.waiting_calls import CallSpool
from roamkb.spool.store.waiting_calls import call_file_name
from roamkb.spool.store.waiting_calls import open_confirmed
from roamkb.spool.store.waiting_calls import open_spool
from roamkb.spool.store.waiting_calls import save_confirmed
from roamkb.spool.store.waiting_calls import spool_call

#: Seconds of a hook after which what else waits is left to the next one.
_HOOK_SECONDS: Final = 0.5
_UNCONFIRMED_HINT: Final = (
    "if one did, call `roamkb` in the command itself, not in a script, and let what it prints be seen"
)


def queue_call(kb: KnowledgeBase, verb: str, values: ParameterValues) -> QueuedCall | None:
    """Keep a call that `kb` can't carry out here for the next hook; None where none would.

    Raises:
        DiskError: it is too large to wait, or too many do.
    """
    environment = kb.environment
    if not environment.session_id or environment.cwd is None or values.get("dry_run"):
        return None
    try:
        local = kb.log.log_to_write("").local_folder
    except (NoLog, Refused, DiskError):
        return None
    if not has_passes(str(local)):
        # no hook of a session's was ever here
        return None
    folder, now = environment.cwd, environment.now()
    project = kb.project_folder
    call = SpooledCall(
        id=environment.new_id(now),
        verb=verb,
        values=values,
        folder=str(folder),
        project=None if project is None else str(folder / project),
        session=environment.session_id,
        ts=now.timestamp(),
    )
    try:
        path, call = spool_call(local, call)
    except NotWritable:
        return None
    return QueuedCall(call=call, path=str(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledOutcome:
    """Outcome of a call that waited."""

    #: None where the file held none.
    call: SpooledCall | None
    #: What the operation gave.
    result: object = None
    #: Why it wasn't done, or that it was done before.
    error: RoamkbError | None = None
    was_done: bool = False


class _SpooledKnowledgeBase(KnowledgeBase):
    """The knowledge base of a call that waited: judged by the hook's session and its own folder."""

    def __init__(self, session: "events.HookEventSession", call: SpooledCall, *, id: str) -> None:
        around: ProcessEnvironment = session.environment
        folder = Path(call.folder)
        super().__init__(
            replace(around, cwd=folder if folder.is_dir() else None, new_id=lambda _: id, new_node_id=None),
            project=call.project,
        )
        self._call = (session, call, id)

    def _open_again(self) -> Self:
        session, call, id = self._call
        return type(self)(session, call, id=id)

    def judge_project(self, rule: "Rule | BadRule") -> Project:
        return strictest_project((self._call[0].knowledge_base.judge_project(rule), super().judge_project(rule)))


def carry_out(
    session: "events.HookEventSession",
    *,
    printed: str,
    is_over: bool,
    parse_values: Callable[[SpooledCall], "ParameterValues | None"],
) -> Sequence[SpooledOutcome]:
    """Carry out the calls that the session is known to have made; return their outcomes.

    `printed` is what its command printed, and with `is_over` all of a turn's commands were heard. `parse_values`
    returns the values of a call that the command line would take, None of any other.
    """
    if session.writable_log is None:
        return ()
    began, state = time.monotonic(), session.knowledge_base.state_folders.state
    hearing = _SessionCalls(
        session=session, local=session.writable_log.local_folder, state=state, printed=printed, is_over=is_over
    )
    with open_spool(session.writable_log.local_folder) as spool:
        rejected = [_confirm_call(hearing, spool, name) for name in spool.list_names()] if spool else []
    outcomes = [outcome for outcome in rejected if outcome]
    with open_confirmed(session.writable_log.local_folder, state) as confirmed_calls:
        for name in confirmed_calls.list_names() if confirmed_calls else ():
            if outcomes and time.monotonic() - began > _HOOK_SECONDS:
                break
            if confirmed_calls and (outcome := _carry_out_confirmed(session, confirmed_calls, name, parse_values)):
                outcomes.append(outcome)
    return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionCalls:
    """Evidence of a hook for the calls of its session."""

    session: "events.HookEventSession"
    local: Path
    state: Path
    printed: str
    is_over: bool

    def has_printed(self, number: str) -> bool:
        """Return whether the command printed the number of a call, as `roamkb` does."""
        return f"({number}): " in self.printed or f"/{number}.json" in self.printed

    def has_called(self, call: SpooledCall) -> bool:
        """Return whether the command calls `roamkb` so, as far as its words are known before the shell runs it."""
        heard = (words for words in self.session.roamkb_calls() if call.verb in words)
        return any({*call.subjects} <= {*words} or any("$" in word or "`" in word for word in words) for words in heard)


def _confirm_call(hearing: _SessionCalls, spool: CallSpool, name: str) -> SpooledOutcome | None:
    """Keep a call that the session made where no command can change it; return the outcome of any other."""
    is_printed = hearing.has_printed(name.partition(".")[0])
    if not (is_printed or hearing.is_over):
        return None
    call = spool.read_call(name)
    if call is None or call_file_name(call) != name:
        spool.remove_call(name)
        return SpooledOutcome(call=None, error=_no_call_error())
    is_own = call.session == hearing.session.session
    if is_printed and not hearing.has_called(call):
        # a number that another program put where the command reads it
        if not hearing.is_over:
            return None
        is_printed = False
    if is_printed and is_own:
        try:
            save_confirmed(hearing.local, hearing.state, call)
        except RoamkbError as error:
            return SpooledOutcome(call=call, error=error)
    elif not (is_printed or is_own):
        return _drop_if_stale(hearing.session, spool, name, call)
    spool.remove_call(name)
    if is_printed and is_own:
        return None
    why = "no command of this session is known to have called it"
    return SpooledOutcome(call=call, error=RoamkbError(why, hint=_UNCONFIRMED_HINT))


def _no_call_error() -> RoamkbError:
    return RoamkbError("a file in the spool held no call of roamkb's")


def _drop_if_stale(
    session: "events.HookEventSession", spool: CallSpool, name: str, call: SpooledCall
) -> SpooledOutcome | None:
    if not call.is_stale(session.environment.now().timestamp()):
        return None
    spool.remove_call(name)
    return SpooledOutcome(call=call, error=RoamkbError("it waited for more than a day", hint="call it again"))


def _carry_out_confirmed(
    session: "events.HookEventSession",
    spool: CallSpool,
    name: str,
    parse_values: Callable[[SpooledCall], "ParameterValues | None"],
) -> SpooledOutcome | None:
    """Carry out one call, once; return None where it goes on waiting."""
    call = spool.read_call(name)
    values = parse_values(call) if call else None
    if call is None or values is None:
        spool.remove_call(name)
        return SpooledOutcome(call=None, error=_no_call_error())
    if stale := _drop_if_stale(session, spool, name, call):
        return stale
    if call.session != session.session:
        return None
    was_begun = name.endswith(BEGUN_SUFFIX)
    name = spool.change_suffix(name, BEGUN_SUFFIX)
    try:
        outcome = _resume_killed_call(session, call, values) if was_begun else None
        outcome = outcome or _carry_out_call(session, call, values, id=call.id)
    except Busy:
        spool.change_suffix(name, BEGUN_SUFFIX if was_begun else ".json")
        return None
    except RoamkbError as error:
        outcome = SpooledOutcome(call=call, error=error)
    spool.remove_call(name)
    return outcome


def _called_kb(
    session: "events.HookEventSession", call: SpooledCall, values: ParameterValues, *, id: str
) -> KnowledgeBase:
    """Return the knowledge base that the call is about."""
    name = values.get("kb")
    return _SpooledKnowledgeBase(session, call, id=id).of_kb(None if name is None else str(name))


def _carry_out_call(
    session: "events.HookEventSession", call: SpooledCall, values: ParameterValues, *, id: str
) -> SpooledOutcome:
    kb = _called_kb(session, call, values, id=id)
    if call.verb in ("write", "supersede") and kb.has_node_id(id):
        # only a forged call can have one
        raise RoamkbError(f"{id} is another node's id", hint="call it again")
    owner: Any = kb.log if call.verb == "promote" else kb
    return SpooledOutcome(call=call, result=getattr(owner, call.verb)(**values))


def _resume_killed_call(
    session: "events.HookEventSession", call: SpooledCall, values: ParameterValues
) -> SpooledOutcome | None:
    """Return the outcome of a call whose hook was killed; None where it is to be made once more."""
    kb = _called_kb(session, call, values, id=call.id)
    name = str(values.get("name"))
    if call.verb in ("write", "supersede") and kb.has_node_id(call.id):
        if call.verb == "write" or kb.show(name).node.properties.get(SUPERSEDED_BY) == call.id:
            return SpooledOutcome(call=call, was_done=True)
        # it got no further than the new node
        kb.trash(call.id)
        return _carry_out_call(session, call, values, id=session.environment.new_id(session.environment.now()))
    if call.verb == "trash" and values.get("name"):
        try:
            kb.show(name)
        except NotFound:
            return SpooledOutcome(call=call, was_done=True)
    if call.verb == "restore" and values.get("last"):
        raise RoamkbError(
            "its hook was killed, and it isn't known whether it was done",
            hint="`roamkb restore` lists what is in the trash",
        )
    return None
