"""Contested learnings: those that a session takes back by its later work (D21)."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.text import clip_text
from roamkb.core.text import one_line
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
from roamkb.secrets.detector import withhold_secrets

#: How the reason begins of a learning on whose subject a human spoke: an agent that lets it stand settles it.
HUMAN_REPLY_PREFIX: Final = "the human then said: "
_LONGEST_REPLY: Final = 160


def learnings_human_spoke_of(
    state: LogState, session: str, passages: Sequence[TranscriptPassage], *, since: float
) -> Mapping[str, str]:
    """Return the session's learnings whose subject its human then speaks of, with the words, by id.

    Only those that were learned at or after `since`, in seconds since 1970: of older ones the human spoke
    before.
    """
    human_passages = [item for item in passages if item.speaker is Speaker.HUMAN and item.text]
    reasons = {}
    for item in contestable_learnings(state, session) if human_passages else ():
        # the log has whole seconds
        is_new = item.learning.ts >= int(since)
        reply = next(
            (passage.text for passage in human_passages if not passage.ts or passage.ts >= item.learning.ts), ""
        )
        if is_new and reply and are_related(item.learning.content, reply):
            reasons[item.id] = f"{HUMAN_REPLY_PREFIX}“{clip_text(withhold_secrets(one_line(reply)), _LONGEST_REPLY)}”"
    return reasons


def contestable_learnings(state: LogState, session: str) -> Iterator[LearningState]:
    """Yield the session's active learnings that no human and no earlier contest has settled."""
    yield from filter(is_contestable, state.learnings_with("session", session))


def is_contestable(standing: LearningState) -> bool:
    """Return whether a learning is active, and neither a human nor a contest has settled it."""
    is_settled = standing.is_pinned or standing.is_overridden or CONTESTED in standing.flags
    return standing.status == ACTIVE and not is_settled


def was_contested(standing: LearningState) -> bool:
    """Return whether a learning ever was contested, settled since or not."""
    return any(
        step.event.event == "flagged" and step.event.text_field("reason") == CONTESTED for step in standing.history
    )


def contest_learnings(log: Log, reasons: Mapping[str, str], author: Author) -> None:
    """Record that learnings are contested, each with the reason.

    Raises:
        DiskError, NotDurable: as the log says.
    """
    _append_contest_flags(log, reasons, author, cleared=False)


def settle_contested(log: Log, session: str, author: Author) -> None:
    """Clear the contest flags of the session's learnings that its agent left standing when asked.

    Raises:
        DiskError, NotDurable: as the log says.
    """
    with_reason = {
        standing.id: standing.flags[CONTESTED]
        for standing in log.read_contents().replay_state().learnings_with("session", session)
        if standing.flags.get(CONTESTED, "").startswith(HUMAN_REPLY_PREFIX)
    }
    _append_contest_flags(log, with_reason, author, cleared=True)


def _append_contest_flags(log: Log, reasons: Mapping[str, str], author: Author, *, cleared: bool) -> None:
    if not reasons:
        return
    with log.append_lock():
        stamps = EventFactory(author, after=log.read_contents().last_event, command="contest")
        log.append_entries(
            events=[
                stamps.new_event("flagged", id, reason=CONTESTED, evidence=reason, cleared=cleared or None)
                for id, reason in reasons.items()
            ]
        )
