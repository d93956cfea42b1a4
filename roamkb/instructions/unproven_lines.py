"""Lines in roamkb's blocks of rule files without a human's yes that counts (D27), or whose learning lapsed since."""

from collections.abc import Collection
from collections.abc import Iterator
from typing import Final

from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.harnesses.registry import declared
from roamkb.instructions import instruction_block
from roamkb.instructions import instruction_line
from roamkb.instructions import proposal
from roamkb.instructions.store.instruction_files import read_instruction_file
from roamkb.log.proof import event_proof
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import is_signed
from roamkb.log.state.learning_state import lapse_reason
from roamkb.log.state.tombstones import DIGEST_FIELD
from roamkb.log.state.tombstones import content_digest_of
from roamkb.log.store.project_log import Log

#: A part of a block's marks: most rule files have no block, and what reads one takes long to import.
_BLOCK_NAME: Final = b"roamkb:learned"
_APPROVED: Final = "approved"
#: The human acts that say that a line isn't to stand there.
_REFUSALS: Final = ("rejected", "rolled_back")
_NOBODY: Final = "nobody approved it"
_TAKEN_BACK: Final = "its human rejected it or took it out again"
_TYPED_ONLY: Final = "it was approved by a typed word alone"
_UNVERIFIED: Final = "the signature of its approval can't be verified"
_FORGOTTEN: Final = "its learning was forgotten"
_LONGEST_SHOWN: Final = 100
#: So much of a proposal's id names it.
_NAME_LENGTH: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenLine:
    """A line of a rule file that no human's yes stands for."""

    #: The file, from the project's root.
    target: str
    text: str
    #: What is missing, a clause.
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LapsedLine:
    """An approved line of a rule file whose learning is in force no more."""

    #: The file, from the project's root.
    target: str
    text: str
    #: What became of the learning, a clause.
    reason: str
    #: The id of the proposal that it landed by.
    proposal: str
    #: The learning's id.
    learning: str

    @property
    def command(self) -> str:
        """The command that takes it out."""
        return f"roamkb rollback {self.proposal[:_NAME_LENGTH]}"


def find_unproven_lines(log: Log, state: LogState, *, must_sign: bool) -> tuple[UnprovenLine, ...]:
    """Return the lines of a project's rule files that agents are told, and for which no human's yes is recorded.

    With `must_sign` a typed word doesn't count either. Of a line whose learning was forgotten, its approval was too.
    """
    told_lines = _told_lines(log, state)
    approvals = _recorded_approvals(state) if told_lines else []
    return tuple(
        UnprovenLine(target=target, text=text, reason=reason)
        for target, text in told_lines
        if (reason := _missing_proof(target, text, approvals, must_sign=must_sign))
        and not (reason == _NOBODY and _forgotten_learning(log, text))
    )


def find_lapsed_lines(log: Log, state: LogState) -> tuple[LapsedLine, ...]:
    """Return the approved lines of rule files whose learning was replaced, archived, taken back or forgotten."""
    told_lines = _told_lines(log, state)
    approvals = _recorded_approvals(state) if told_lines else []
    lapsed = (_describe_lapsed(log, state, target, text, approvals) for target, text in told_lines)
    return tuple(filter(None, lapsed))


def _describe_lapsed(
    log: Log, state: LogState, target: str, text: str, approvals: Collection[LedgerEvent]
) -> LapsedLine | None:
    """Return an approved line with what became of its learning; None for one in force, or that nobody approved."""
    counted = _counted_approvals(target, text, approvals)
    if not counted:
        forgotten = _forgotten_learning(log, text)
        name = proposal.proposal_id(forgotten, target)
        return (
            LapsedLine(target=target, text=text, reason=_FORGOTTEN, proposal=name, learning=forgotten)
            if forgotten
            else None
        )
    standing = state.standings.get(counted[-1].of)
    reason = lapse_reason([standing] if standing else [])
    if counted[-1].event != _APPROVED or standing is None or not reason:
        return None
    return LapsedLine(
        target=target,
        text=text,
        reason=reason,
        proposal=counted[-1].text_field("proposal"),
        learning=standing.id,
    )


def _forgotten_learning(log: Log, text: str) -> str:
    """Return the id of the forgotten learning that a line tells; empty where it tells none."""
    contents = log.read_contents()
    digests = {content_digest_of(said) for said in instruction_line.possible_statements(text)}
    if not digests.intersection(contents.tombstones.digests):
        return ""
    tombstones = (event for event in contents.pages[2].told.events if event.event == FORGOTTEN)
    return next((event.of for event in tombstones if event.text_field(DIGEST_FIELD) in digests), "")


def describe_lapsed(lines: Collection[LapsedLine]) -> str:
    """Return what a session is told of such lines, in one line; empty without any."""
    if not lines:
        return ""
    first = next(iter(lines))
    places = ", ".join(dict.fromkeys(one_line(line.target) for line in lines))
    verb = "tells" if len(lines) == 1 else "tell"
    shown = clip_text(one_line(first.text), _LONGEST_SHOWN)
    return (
        f"{count_phrase(len(lines), 'line')} of {places} {verb} what doesn't hold any more: {shown} ({first.reason}); "
        f"your human takes it out with `{first.command}` or in an editor"
    )


def _told_lines(log: Log, state: LogState) -> list[tuple[str, str]]:
    """Return the lines that rule files tell agents, each with its file."""
    targets = {*(name for name in declared("boot_files") if "*" not in name)}
    targets |= {event.text_field("target") for event in state.events_named("proposed", _APPROVED, "applied")}
    return [(target, text) for target in sorted(filter(None, targets)) for text in _lines_of(log, target)]


def _recorded_approvals(state: LogState) -> list[LedgerEvent]:
    """Return the events that approve or refuse lines, and those that claim to and prove nothing."""
    return [
        event
        for event in state.events_named(_APPROVED, *_REFUSALS, UNPROVEN)
        if event.event != UNPROVEN or event.text_field(event_proof.CLAIMED_FIELD) == _APPROVED
    ]


def describe_unproven(lines: Collection[UnprovenLine]) -> str:
    """Return what a session is told of such lines, in one line; empty without any."""
    if not lines:
        return ""
    places = ", ".join(dict.fromkeys(one_line(line.target) for line in lines))
    first = clip_text(one_line(next(iter(lines)).text), _LONGEST_SHOWN)
    have = "has" if len(lines) == 1 else "have"
    return f"{count_phrase(len(lines), 'line')} of {places} {have} no human's proof: {first}; `roamkb doctor` says why"


def _lines_of(log: Log, target: str) -> Iterator[str]:
    try:
        content = read_instruction_file(log.root, target)
    except RoamkbError:
        # what isn't there, or can't be read, tells nobody anything
        return
    if _BLOCK_NAME not in content:
        return
    try:
        yield from sorted(instruction_block.block_lines(content))
    except instruction_block.BadPlace:
        return


def _missing_proof(target: str, text: str, approvals: Collection[LedgerEvent], *, must_sign: bool) -> str:
    """Return why nothing proves a human's yes to a line; empty where something does."""
    counted = _counted_approvals(target, text, approvals)
    if not counted:
        return _UNVERIFIED if _approvals_of(target, text, approvals) else _NOBODY
    if counted[-1].event != _APPROVED:
        return _TAKEN_BACK
    return _TYPED_ONLY if must_sign and not is_signed(counted[-1]) else ""


def _approvals_of(target: str, text: str, approvals: Collection[LedgerEvent]) -> list[LedgerEvent]:
    """Return the events about one line, those that prove nothing among them."""
    return [event for event in approvals if (event.text_field("target"), event.text_field("text")) == (target, text)]


def _counted_approvals(target: str, text: str, approvals: Collection[LedgerEvent]) -> list[LedgerEvent]:
    return [event for event in _approvals_of(target, text, approvals) if event.event != UNPROVEN]
