"""Calls that can't reach the notes from a sandbox: kept in the project, and carried out by a hook.

Any command on this machine may put a call into a project, one of a work session as well. So only those are
carried out whose number stands in what a command of the session printed, as its harness tells the hook after
it; the number is a digest of the call. What counts so is judged as if it were called at the moment that it is
carried out, by the hook's session and from the folder that it was called in.
"""

import time
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any
from typing import Final

from roamkb.app import KnowledgeBase
from roamkb.app.environment import ProcessEnvironment
from roamkb.boundary.policy import strictest
from roamkb.boundary.store.session_cache import has_passes
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
from roamkb.spool.call import QueuedCall
from roamkb.spool.call import SpooledCall
from roamkb.spool.call import Values
from roamkb.spool.store.waiting_calls import BEGUN
from roamkb.spool.store.waiting_calls import CallSpool
from roamkb.spool.store.waiting_calls import confirmed
from roamkb.spool.store.waiting_calls import keep_confirmed
from roamkb.spool.store.waiting_calls import name_of
from roamkb.spool.store.waiting_calls import opened
from roamkb.spool.store.waiting_calls import put

if TYPE_CHECKING:
    from roamkb.app.hooks.events import HookEventSession
    from roamkb.core.errors import BadRule

#: Seconds of a hook after which what else waits is left to the next one.
_BUDGET: Final = 0.5
_UNHEARD: Final = "if one did, call it again, and let what it prints be seen"
_SUPERSEDED_BY: Final = "SUPERSEDED_BY"


def queue(kb: KnowledgeBase, verb: str, values: Values) -> QueuedCall | None:
    """Keep a call that `kb` can't carry out here for the next hook; None where none would.

    Raises:
        DiskError: it is too large to wait, or too many do.
    """
    around = kb.environment
    if not around.session or around.cwd is None or values.get("dry_run"):
        return None
    try:
        local = kb.log.log_to_write("").local
    except (NoLog, Refused, DiskError):
        return None
    if not has_passes(str(local)):
        # no hook of a session's was ever here
        return None
    folder, now = around.cwd, around.now()
    project = kb.project_folder
    call = SpooledCall(
        id=around.new_id(now),
        verb=verb,
        values=values,
        folder=str(folder),
        project=None if project is None else str(folder / project),
        session=around.session,
        ts=now.timestamp(),
    )
    try:
        path, call = put(local, call)
    except NotWritable:
        return None
    return QueuedCall(call=call, path=str(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledOutcome:
    """What became of a call that waited."""

    #: None where the file held none.
    call: SpooledCall | None
    #: What the operation gave.
    result: object = None
    #: Why it wasn't done, or that it was done before.
    error: RoamkbError | None = None
    was_done: bool = False


class _SpooledKnowledgeBase(KnowledgeBase):
    """The knowledge base as a call that waited sees it: by the hook's session, and by its own folder."""

    def __init__(self, session: "HookEventSession", call: SpooledCall, *, id: str) -> None:
        around: ProcessEnvironment = session.environment
        folder = Path(call.folder)
        super().__init__(
            replace(around, cwd=folder if folder.is_dir() else None, new_id=lambda _: id),
            project=call.project,
        )
        self._hooked = session.knowledge_base

    def judge_project(self, rule: "Rule | BadRule") -> Project:
        return strictest((self._hooked.judge_project(rule), super().judge_project(rule)))


def carry_out(
    session: "HookEventSession",
    *,
    printed: str,
    is_over: bool,
    read: Callable[[SpooledCall], "Values | None"],
) -> Sequence[SpooledOutcome]:
    """Carry out what the session is known to have called; return what became of it.

    `printed` is what its command printed, and with `is_over` all of a turn's commands were heard. `read`
    returns the values of a call that the command line would take, None of any other.
    """
    if session.log is None:
        return ()
    began, state = time.monotonic(), session.knowledge_base.state_folders.state
    hearing = _SessionCalls(
        session=session, local=session.log.local, state=state, printed=printed, is_over=is_over
    )
    with opened(session.log.local) as spool:
        heard = [_confirmed(hearing, spool, name) for name in spool.names()] if spool else []
    outcomes = [outcome for outcome in heard if outcome]
    with confirmed(session.log.local, state) as kept:
        for name in kept.names() if kept else ():
            if outcomes and time.monotonic() - began > _BUDGET:
                break
            if kept and (outcome := _outcome(session, kept, name, read)):
                outcomes.append(outcome)
    return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionCalls:
    """What a hook knows of a session's calls."""

    session: "HookEventSession"
    local: Path
    state: Path
    printed: str
    is_over: bool


def _confirmed(hearing: _SessionCalls, spool: CallSpool, name: str) -> SpooledOutcome | None:
    """Keep a call that the session made where no command can change it; return what became of any other."""
    is_printed = name.partition(".")[0] in hearing.printed
    if not (is_printed or hearing.is_over):
        return None
    call = spool.read(name)
    if call is None or name_of(call) != name:
        spool.drop(name)
        return SpooledOutcome(call=None, error=_no_call())
    is_own = call.session == hearing.session.session
    if is_printed and is_own:
        try:
            keep_confirmed(hearing.local, hearing.state, call)
        except RoamkbError as error:
            return SpooledOutcome(call=call, error=error)
    elif not (is_printed or is_own):
        return _dropped_if_stale(hearing.session, spool, name, call)
    spool.drop(name)
    if is_printed and is_own:
        return None
    why = "no command of this session is known to have called it"
    return SpooledOutcome(call=call, error=RoamkbError(why, hint=_UNHEARD))


def _no_call() -> RoamkbError:
    return RoamkbError("a file in the spool held no call of roamkb's")


def _dropped_if_stale(
    session: "HookEventSession", spool: CallSpool, name: str, call: SpooledCall
) -> SpooledOutcome | None:
    if not call.is_stale(session.environment.now().timestamp()):
        return None
    spool.drop(name)
    return SpooledOutcome(call=call, error=RoamkbError("it waited for more than a day", hint="call it again"))


def _outcome(
    session: "HookEventSession", spool: CallSpool, name: str, read: Callable[[SpooledCall], "Values | None"]
) -> SpooledOutcome | None:
    """Carry out one call, once; return None where it goes on waiting."""
    call = spool.read(name)
    values = read(call) if call else None
    if call is None or values is None:
        spool.drop(name)
        return SpooledOutcome(call=None, error=_no_call())
    if stale := _dropped_if_stale(session, spool, name, call):
        return stale
    if call.session != session.session:
        return None
    is_again = name.endswith(BEGUN)
    name = spool.rename(name, BEGUN)
    try:
        outcome = _again(session, call, values) if is_again else None
        outcome = outcome or _once(session, call, values, id=call.id)
    except Busy:
        spool.rename(name, BEGUN if is_again else ".json")
        return None
    except RoamkbError as error:
        outcome = SpooledOutcome(call=call, error=error)
    spool.drop(name)
    return outcome


def _once(session: "HookEventSession", call: SpooledCall, values: Values, *, id: str) -> SpooledOutcome:
    kb = _SpooledKnowledgeBase(session, call, id=id)
    if call.verb in ("write", "supersede") and kb.has(id):
        # only a forged call can have one
        raise RoamkbError(f"{id} is another node's id", hint="call it again")
    door: Any = kb.log if call.verb == "promote" else kb
    return SpooledOutcome(call=call, result=getattr(door, call.verb)(**values))


def _again(session: "HookEventSession", call: SpooledCall, values: Values) -> SpooledOutcome | None:
    """Return what became of a call whose hook was killed; None where it is to be made once more."""
    kb = _SpooledKnowledgeBase(session, call, id=call.id)
    name = str(values.get("name"))
    if call.verb in ("write", "supersede") and kb.has(call.id):
        if call.verb == "write" or kb.show(name).node.properties.get(_SUPERSEDED_BY) == call.id:
            return SpooledOutcome(call=call, was_done=True)
        # it got no further than the new node
        kb.trash(call.id)
        return _once(session, call, values, id=session.environment.new_id(session.environment.now()))
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
