"""Lines in roamkb's blocks of rule files for which no human's yes is recorded, or none that counts (D27)."""

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
from roamkb.instructions.store.instruction_files import read_instruction_file
from roamkb.log.proof import event_proof
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.learning_state import is_signed
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
_LONGEST_SHOWN: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenLine:
    """A line of a rule file that no human's yes stands for."""

    #: The file, from the project's root.
    target: str
    text: str
    #: What is missing, a clause.
    reason: str


def find_unproven_lines(log: Log, state: LogState, *, must_sign: bool) -> tuple[UnprovenLine, ...]:
    """Return the lines of a project's rule files that agents are told, and for which no human's yes is recorded.

    With `must_sign` a typed word doesn't count either.
    """
    targets = {*(name for name in declared("boot_files") if "*" not in name)}
    targets |= {event.text_field("target") for event in state.events_named("proposed", _APPROVED, "applied")}
    told_lines = [(target, text) for target in sorted(filter(None, targets)) for text in _told_lines(log, target)]
    approvals = _recorded_approvals(state) if told_lines else []
    return tuple(
        UnprovenLine(target=target, text=text, reason=reason)
        for target, text in told_lines
        if (reason := _missing_proof(target, text, approvals, must_sign=must_sign))
    )


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


def _told_lines(log: Log, target: str) -> Iterator[str]:
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
    of_line = [event for event in approvals if (event.text_field("target"), event.text_field("text")) == (target, text)]
    counted = [event for event in of_line if event.event != UNPROVEN]
    if not counted:
        return _UNVERIFIED if of_line else _NOBODY
    if counted[-1].event != _APPROVED:
        return _TAKEN_BACK
    return _TYPED_ONLY if must_sign and not is_signed(counted[-1]) else ""
