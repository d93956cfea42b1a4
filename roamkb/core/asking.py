"""When an agent is asked what a stretch of work taught it, and in which words (D22).

A stretch is what a transcript holds since the last ask. What decides is what was done, not how it was said.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from roamkb.core.text import clipped
from roamkb.core.transcript import Passage
from roamkb.core.transcript import Speaker

#: Characters of an ask: some 100 tokens.
LONGEST_ASK: Final = 400
#: Characters of a key that is listed; who names it may leave out the rest.
_SHORT_KEY: Final = 32
#: Calls of tools that make a stretch long.
_MANY_CALLS: Final = 5
#: What speaks for an ask: files were changed, an error went away, the human spoke again or stopped the work.
EDITED: Final = "edited"
MENDED: Final = "mended"
CORRECTED: Final = "corrected"
#: Characters of a mended error in the ask.
_SHORT_ERROR: Final = 70
_ASK: Final = (
    "roamkb: which 0-3 facts from this would a later session want (a cause, a decision and why, how a tool, "
    "CI or API behaves, what the user wants)? None is fine. `roamkb learn --proposals -`: "
    '[{"claim","type":"fact|decision|gotcha|pattern","files","evidence":{"quote":"literal: user\'s or '
    'yours"}}]; wrong: "supersedes"/"withdraws": KEY.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What was done since the agent was asked last."""

    #: Calls of tools.
    calls: int = 0
    has_worked: bool = False
    #: What speaks for an ask.
    found: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why the agent should be asked; nothing where there is no reason."""
        return (*self.found, "long") if self.calls >= _MANY_CALLS else self.found


def continued(stretch: Stretch, passages: Iterable[Passage], *, mended: bool = False) -> Stretch:
    """Return a stretch with what came after it, in which a command that had failed was `mended` or none was.

    A reason to ask is that files were changed, that a command was mended, that the human spoke again or
    stopped the agent while it worked, or that it was long.
    """
    found = dict.fromkeys(stretch.found)
    has_worked, calls = stretch.has_worked, stretch.calls
    for passage in passages:
        if passage.is_interruption or (passage.speaker is Speaker.HUMAN and has_worked):
            found[CORRECTED] = None
        has_worked = has_worked or passage.speaker is not Speaker.HUMAN
        calls += not passage.is_message
        if passage.edits:
            found[EDITED] = None
    if mended:
        found[MENDED] = None
    return Stretch(calls=calls, has_worked=has_worked, found=tuple(found))


def ask_text(
    *,
    captured: Iterable[str] = (),
    shown: Iterable[str] = (),
    contested: Iterable[str] = (),
    mended: tuple[str, str] | None = None,
) -> str:
    """Return the ask, with the keys of what the session may correct, as many as fit.

    `mended` is the name of an error that went away, and the error in a few words.
    """
    text = _ASK
    if mended:
        name, error = mended
        text += f' Fixed by what? "mended":"{name}": '
        text += clipped(error, min(_SHORT_ERROR, LONGEST_ASK - len(text)))
    for label, keys in (("Still true?", contested), ("Kept:", captured), ("Shown:", shown)):
        listed = [key[:_SHORT_KEY] for key in keys]
        for number, key in enumerate(listed):
            rest = len(listed) - number - 1
            piece = f" {label} {key}" if number == 0 else f", {key}"
            more = f" (+{rest})" if rest else ""
            if len(text) + len(piece) + len(more) > LONGEST_ASK:
                text += f" (+{rest + 1})" if len(text) + 6 <= LONGEST_ASK and number else ""
                break
            text += piece
    return clipped(text, LONGEST_ASK)
