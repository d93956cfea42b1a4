"""Model extraction: the transcript as a model reads it, and the proposals in its answer (D22)."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.models.names import MODEL_NAMES
from roamkb.pipeline.proposed_learning import ProposedLearning
from roamkb.pipeline.proposed_learning import parse_proposals

#: Characters of a transcript that a model reads in one call: some 60,000 tokens.
_MOST_CHARACTERS: Final = 240_000
#: Of a tool's output: first so many characters, fewer where the whole is too long.
_OUTPUT_LENGTHS: Final = (2_000, 800, 300, 100, 0)
_COMMAND_LENGTH: Final = 600
#: Proposals of one answer: the longest real sessions that were read held some thirty facts.
_MOST_PROPOSALS: Final = 50


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """Parameters of `extract`."""

    _: KW_ONLY
    model: str | None = text_option(
        "--with",
        f"{MODEL_NAMES}, or a command that answers in JSON.",
        metavar="MODEL",
    )
    session: str | None = text_option(
        "--session", "The session whose transcript is read (the project's latest).", metavar="S"
    )


def transcript_payload(passages: Sequence[TranscriptPassage]) -> dict[str, object]:
    """Return a transcript for a model: numbered turns, without roamkb's own output.

    Where the whole is too long tools' outputs are cut, and then its beginning.
    """
    shown_passages = [
        passage for passage in passages if passage.speaker is not Speaker.RECALLED and not passage.is_interruption
    ]
    rows: list[dict[str, object]] = []
    for longest in _OUTPUT_LENGTHS:
        rows = [_turn_row(number, passage, longest) for number, passage in enumerate(shown_passages, start=1)]
        if sum(len(str(row["text"])) for row in rows) <= _MOST_CHARACTERS:
            break
    room = _MOST_CHARACTERS
    fitting = []
    for row in reversed(rows):
        room -= len(str(row["text"]))
        if room < 0:
            break
        fitting.append(row)
    return {"transcript": fitting[::-1]}


def _turn_row(number: int, passage: TranscriptPassage, longest: int) -> dict[str, object]:
    if passage.is_message:
        return {"turn": number, "by": passage.speaker.value, "text": passage.text}
    removed = [f"-{line}" for line in passage.removed.split("\n") if line]
    added = [f"+{line}" for line in passage.added.split("\n") if line]
    changes = "\n".join((*removed, *added))[:longest]
    call_text = f"{passage.command or ' '.join(passage.edits)}"[:_COMMAND_LENGTH]
    failed = " (failed)" if passage.has_failed else ""
    text = "\n".join(filter(None, (call_text, changes, passage.text[:longest])))
    return {"turn": number, "by": f"{passage.speaker.value} {passage.tool}{failed}", "text": text}


def parse_extracted(answer: Mapping[str, object]) -> tuple[tuple[ProposedLearning, ...], tuple[str, ...]]:
    """Return the proposals of a model's answer, and the faults of those that are malformed.

    Raises:
        UsageError: the answer holds no list of proposals.
    """
    items = answer.get("proposals")
    if not isinstance(items, list):
        raise UsageError("the model's answer holds no list of proposals", hint="ask again, or another model")
    proposals: list[ProposedLearning] = []
    faults = [f"of {len(items)} proposals only {_MOST_PROPOSALS} count"] if len(items) > _MOST_PROPOSALS else []
    for number, item in enumerate(items[:_MOST_PROPOSALS], start=1):
        try:
            proposals += parse_proposals([_without_replacement(item)])
        except UsageError as error:
            faults.append(f"{number}: {error.message}")
    return tuple(proposals), tuple(faults)


def _without_replacement(item: object) -> object:
    """Return a proposal without `supersedes`, which in an extraction names no learning."""
    if not isinstance(item, Mapping):
        return item
    return {name: value for name, value in item.items() if name != "supersedes"}
