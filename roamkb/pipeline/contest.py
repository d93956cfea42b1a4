"""Learnings that a session takes back by what it does next, until its agent settles them (D21)."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import CONTESTED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.gate.transcript_evidence import are_related
from roamkb.secrets.detector import withheld

#: How the reason begins of a learning on whose subject a human spoke: an agent that lets it stand settles it.
SPOKEN_OF: Final = "the human then said: "
_LONGEST: Final = 160


def spoken_of(
    state: LogState, session: str, passages: Sequence[TranscriptPassage], *, since: float
) -> Mapping[str, str]:
    """Return the session's learnings on whose subject its human speaks next, and the words, by id.

    Only those that were learned at or after `since`, in seconds since 1970: of older ones the human spoke
    before.
    """
    said = [one for one in passages if one.speaker is Speaker.HUMAN and one.text]
    found = {}
    for one in of_session(state, session) if said else ():
        # the log has whole seconds
        is_new = one.learning.ts >= int(since)
        after = next((told.text for told in said if not told.ts or told.ts >= one.learning.ts), "")
        if is_new and after and are_related(one.learning.content, after):
            found[one.id] = f"{SPOKEN_OF}“{clipped(withheld(shown(after)), _LONGEST)}”"
    return found


def of_session(state: LogState, session: str) -> Iterator[LearningState]:
    """Yield the session's learnings that count and that nobody has settled for good."""
    for one in state.having("session", session):
        is_settled = one.is_pinned or one.is_overridden or CONTESTED in one.flags
        if one.status == ACTIVE and not is_settled:
            yield one


def contest(log: Log, why: Mapping[str, str], hand: Author) -> None:
    """Record that learnings are taken back, each with the reason.

    Raises:
        DiskError, NotDurable: as the log says.
    """
    _flag(log, why, hand, cleared=False)


def settle(log: Log, session: str, hand: Author) -> None:
    """Let the session's learnings stand that its agent was asked about and didn't take back.

    Raises:
        DiskError, NotDurable: as the log says.
    """
    with_reason = {
        one.id: one.flags[CONTESTED]
        for one in log.read().state().having("session", session)
        if one.flags.get(CONTESTED, "").startswith(SPOKEN_OF)
    }
    _flag(log, with_reason, hand, cleared=True)


def _flag(log: Log, why: Mapping[str, str], hand: Author, *, cleared: bool) -> None:
    if not why:
        return
    with log.locked():
        stamps = EventFactory(hand, after=log.read().last_event, by="contest")
        log.append(
            events=[
                stamps.event("flagged", id, reason=CONTESTED, evidence=reason, cleared=cleared or None)
                for id, reason in why.items()
            ]
        )
