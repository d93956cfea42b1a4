"""Outcomes of forms, kept until the page that is shown next has said them."""

import secrets
from collections import OrderedDict
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field

#: Where the address of the next page names the outcome that it says.
OUTCOME_PARAMETER: Final = "done"
_MOST_OUTCOMES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOutcome:
    """What a form did, in the words of the command that does the same."""

    text: str
    warnings: tuple[str, ...] = ()
    #: The form that takes it back, with its fields; empty where there is none.
    reverse: str = ""
    reverse_label: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    #: The address that is shown next, where it isn't the one that the form names.
    href: str = ""


#: What the form did that led to the page that is being made; None where none did.
shown_outcome: ContextVar[FormOutcome | None] = ContextVar("shown_outcome", default=None)
#: Whether an approver key is for the page, so that what takes a human's yes can be done here.
can_sign: ContextVar[bool] = ContextVar("can_sign", default=False)


class OutcomeShelf:
    """The latest outcomes of forms, each for the page that is shown after it."""

    def __init__(self) -> None:
        self._outcomes: OrderedDict[str, FormOutcome] = OrderedDict()

    def add(self, outcome: FormOutcome) -> str:
        """Keep an outcome, and return its name."""
        name = secrets.token_urlsafe(9)
        self._outcomes[name] = outcome
        while len(self._outcomes) > _MOST_OUTCOMES:
            self._outcomes.popitem(last=False)
        return name

    def take(self, name: str) -> FormOutcome | None:
        """Return the outcome of that name, once: who reloads the page or comes back to it did nothing."""
        return self._outcomes.pop(name, None)
