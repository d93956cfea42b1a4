"""The question that an agent is asked after a stretch of work, and the reasons to ask it (D22).

A stretch is what a transcript holds since the last ask. What decides is what was done, not how it was said.
"""

import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.learning import SHORT_KEY
from roamkb.pipeline.extract import correction

#: Characters of an ask: some 100 tokens.
LONGEST_ASK: Final = 400
#: Calls of tools that make a stretch long.
_MANY_CALLS: Final = 5
#: Changed lines of one file that are slight work, as a typo, a number or a name is.
_FEW_LINES: Final = 3
#: What speaks for an ask: files were changed, an error went away, the human corrected the agent or stopped the work.
EDITED: Final = "edited"
MENDED: Final = "mended"
CORRECTED: Final = "corrected"
#: Characters of a mended error in the ask.
_SHORT_ERROR: Final = 70
_ASK_TEXT: Final = (
    "roamkb: which 0-3 facts would a later session want (cause, decision and why, how a tool or "
    "API behaves, what the user wants)? None is fine. `roamkb learn --proposals -`: "
    '[{"claim","aliases":["2-3 prompts it helps"],"type":"fact|decision|gotcha|pattern","files",'
    '"evidence":{"quote":"literal: user\'s or yours"}}]'
)
_WITHDRAWAL_HINT: Final = '; wrong: "supersedes"/"withdraws": KEY.'
#: Of what was taken back by later words or work, and stands until somebody says so.
_DOUBTED_LABEL: Final = 'Doubted since; if wrong, "withdraws"/"supersedes":'


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStretch:
    """The work done since the agent was last asked."""

    #: Calls of tools.
    calls: int = 0
    has_worked: bool = False
    #: Whether the human spoke after some work.
    was_told: bool = False
    has_failed: bool = False
    #: Files that were changed, two at most.
    files: tuple[str, ...] = ()
    #: Lines of them that were changed.
    lines: int = 0
    #: What stands for the lines that slight work put in.
    put_in: tuple[int, ...] = ()
    #: What stands for the words of the agent's last message.
    said: tuple[int, ...] = ()
    #: What else speaks for an ask.
    found: tuple[str, ...] = ()

    @property
    def ask_reasons(self) -> tuple[str, ...]:
        """Return the reasons to ask the agent; empty where there is none."""
        edited = (EDITED,) if self.files and not self.is_slight else ()
        long = ("long",) if self.calls >= _MANY_CALLS else ()
        return (*self.found, *edited, *long)

    @property
    def is_slight(self) -> bool:
        """Whether at most a few lines of a single file were changed, and nothing failed."""
        return len(self.files) < 2 and self.lines <= _FEW_LINES and not self.has_failed


def extend_stretch(stretch: WorkStretch, passages: Iterable[TranscriptPassage], *, mended: bool = False) -> WorkStretch:
    """Return a stretch extended by later passages; `mended` where a failed command then succeeded.

    A reason to ask is that more was changed than is slight, that a command was mended, that the human stopped
    the agent or denied what it said, or that it was long. Who speaks after slight work corrects it where the agent
    then takes out what it had put in.
    """
    for passage in passages:
        stretch = _add_passage(stretch, passage)
    return replace(stretch, found=_with_reason(stretch, MENDED)) if mended else stretch


def _add_passage(stretch: WorkStretch, passage: TranscriptPassage) -> WorkStretch:
    reasons = stretch.found
    is_told = passage.speaker is Speaker.HUMAN and stretch.has_worked
    is_open = is_told and not (stretch.files and stretch.is_slight)
    if passage.is_interruption or (is_open and correction.is_correction(passage.text, stretch.said)):
        reasons = _with_reason(stretch, CORRECTED)
    is_said = passage.speaker is Speaker.AGENT and passage.is_message and passage.text.strip()
    extended = replace(
        stretch,
        calls=stretch.calls + (not passage.is_message),
        has_worked=stretch.has_worked or passage.speaker is not Speaker.HUMAN,
        has_failed=stretch.has_failed or passage.has_failed,
        was_told=stretch.was_told or is_told,
        said=correction.word_hashes(passage.text) if is_said else stretch.said,
        found=reasons,
    )
    return _add_edit(extended, passage) if passage.edits and not passage.has_failed else extended


def _add_edit(stretch: WorkStretch, passage: TranscriptPassage) -> WorkStretch:
    put_in, taken_out = (
        _added_line_hashes(passage.removed, passage.added),
        _added_line_hashes(passage.added, passage.removed),
    )
    is_undone = stretch.was_told and not set(stretch.put_in).isdisjoint(taken_out)
    # a change of which nobody tells the lines may be any
    lines = max(len(put_in), len(taken_out)) or _FEW_LINES + 1
    extended = replace(
        stretch,
        files=tuple(dict.fromkeys((*stretch.files, *passage.edits)))[:2],
        lines=stretch.lines + lines,
        found=_with_reason(stretch, CORRECTED) if is_undone else stretch.found,
    )
    return replace(extended, put_in=(*extended.put_in, *put_in) if extended.is_slight else ())


def _with_reason(stretch: WorkStretch, reason: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*stretch.found, reason)))


def _added_line_hashes(before: str, after: str) -> list[int]:
    """Return hashes of the lines that `after` has and `before` lacks, but for blank ones."""
    added_lines = Counter(_filled_lines(after)) - Counter(_filled_lines(before))
    return [zlib.crc32(line.encode("utf-8", "surrogatepass")) for line in added_lines.elements()]


def _filled_lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.split("\n")) if line]


def ask_text(
    *,
    captured: Iterable[str] = (),
    shown_keys: Iterable[str] = (),
    contested: Iterable[str] = (),
    mended: tuple[str, str] | None = None,
) -> str:
    """Return the question, with the keys of learnings that the session may correct, as many as fit.

    `mended` is the name of an error that went away, and the error in a few words.
    """
    contested = list(contested)
    text = _ASK_TEXT + ("." if contested else _WITHDRAWAL_HINT)
    if mended:
        name, error = mended
        cause = f' Add "mended":"{name}" to what mended: '
        text += cause + clip_text(error, min(_SHORT_ERROR, LONGEST_ASK - len(text) - len(cause)))
    for label, keys in ((_DOUBTED_LABEL, contested), ("Kept:", captured), ("Shown:", shown_keys)):
        listed = [key[:SHORT_KEY] for key in keys]
        for number, key in enumerate(listed):
            remaining = len(listed) - number - 1
            separator = "" if text.endswith((".", "…")) else "."
            piece = f"{separator} {label} {key}" if number == 0 else f", {key}"
            overflow = f" (+{remaining})" if remaining else ""
            if len(text) + len(piece) + len(overflow) > LONGEST_ASK:
                text += f" (+{remaining + 1})" if len(text) + 6 <= LONGEST_ASK and number else ""
                break
            text += piece
    return clip_text(text, LONGEST_ASK)
