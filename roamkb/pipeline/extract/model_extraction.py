"""What an extractor is given of a session, and what it answers (D22)."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.request import option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.pipeline.proposed_learning import ProposedLearning
from roamkb.pipeline.proposed_learning import parse_proposals

#: Characters of a transcript that a model reads in one call: some 60,000 tokens.
_MOST: Final = 240_000
#: Of a tool's output: first so many characters, fewer where the whole is too long.
_OUTPUTS: Final = (2_000, 800, 300, 100, 0)
_COMMAND: Final = 600
#: Proposals of one answer: the longest real sessions that were read held some thirty facts.
_MOST_PROPOSALS: Final = 50


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """What `extract` takes."""

    _: KW_ONLY
    model: str | None = option(
        "--with",
        "claude, codex, ollama:MODEL, openai:URL#MODEL, or a command that answers in JSON.",
        metavar="MODEL",
    )
    session: str | None = option(
        "--session", "The session whose transcript is read (the project's latest).", metavar="S"
    )


def transcript_payload(passages: Sequence[TranscriptPassage]) -> dict[str, object]:
    """Return a transcript as a model is given it: numbered turns, without what roamkb itself had shown.

    Where the whole is too long tools' outputs are cut, and then its beginning.
    """
    kept = [one for one in passages if one.speaker is not Speaker.RECALLED and not one.is_interruption]
    rows: list[dict[str, object]] = []
    for longest in _OUTPUTS:
        rows = [_row(number, one, longest) for number, one in enumerate(kept, start=1)]
        if sum(len(str(row["text"])) for row in rows) <= _MOST:
            break
    room = _MOST
    fitting = []
    for row in reversed(rows):
        room -= len(str(row["text"]))
        if room < 0:
            break
        fitting.append(row)
    return {"transcript": fitting[::-1]}


def _row(number: int, passage: TranscriptPassage, longest: int) -> dict[str, object]:
    if passage.is_message:
        return {"turn": number, "by": passage.speaker.value, "text": passage.text}
    removed = [f"-{line}" for line in passage.removed.split("\n") if line]
    added = [f"+{line}" for line in passage.added.split("\n") if line]
    changes = "\n".join((*removed, *added))[:longest]
    called = f"{passage.command or ' '.join(passage.edits)}"[:_COMMAND]
    failed = " (failed)" if passage.has_failed else ""
    text = "\n".join(filter(None, (called, changes, passage.text[:longest])))
    return {"turn": number, "by": f"{passage.speaker.value} {passage.tool}{failed}", "text": text}


def parse_extracted(answer: Mapping[str, object]) -> tuple[tuple[ProposedLearning, ...], tuple[str, ...]]:
    """Return the proposals of a model's answer, and what is wrong with those that are none.

    Raises:
        UsageError: the answer holds no list of proposals.
    """
    told = answer.get("proposals")
    if not isinstance(told, list):
        raise UsageError("the model's answer holds no list of proposals", hint="ask again, or another model")
    found: list[ProposedLearning] = []
    wrong = [f"of {len(told)} proposals only {_MOST_PROPOSALS} count"] if len(told) > _MOST_PROPOSALS else []
    for number, one in enumerate(told[:_MOST_PROPOSALS], start=1):
        try:
            found += parse_proposals([_plain(one)])
        except UsageError as error:
            wrong.append(f"{number}: {error.message}")
    return tuple(found), tuple(wrong)


def _plain(told: object) -> object:
    """Return a proposal without what it replaces: that is a sentence of the transcript, and no learning."""
    if not isinstance(told, Mapping):
        return told
    return {name: value for name, value in told.items() if name != "supersedes"}
