"""Acts that wait for a key's touch, each an operation in a thread of its own, as a command waits at its terminal."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from roamkb.core.errors import RoamkbError
from roamkb.interfaces.page.decisions.outcomes import FormOutcome
from roamkb.interfaces.page.proof.page_human import PATIENCE
from roamkb.interfaces.page.proof.page_human import Assertion
from roamkb.interfaces.page.proof.page_human import PageHuman

#: Who asks for more has forgotten the first.
_MOST_PENDING: Final = 8


class PendingAct:
    """One act: what it asks, and what came of it."""

    def __init__(self, human: PageHuman, carry_out: Callable[[PageHuman], FormOutcome], *, back: str) -> None:
        """Begin the act, which asks the human and then waits."""
        self.human = human
        self.back = back
        self._carry_out = carry_out
        self._outcome: FormOutcome | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = self._carry_out(self.human)
        except (RoamkbError, OSError) as error:
            self._error = error
        finally:
            self.human.is_asked.set()

    @property
    def is_waiting(self) -> bool:
        """Whether it has asked, once there is a question or an end."""
        self.human.is_asked.wait(PATIENCE)
        return self.human.question is not None and self._thread.is_alive()

    def finish(self, assertion: Assertion | None) -> FormOutcome:
        """Answer it, and return what it did; raises what it raised."""
        self.human.answer(assertion)
        self._thread.join(PATIENCE)
        if self._error is not None:
            raise self._error
        if self._outcome is None:
            raise RoamkbError("it isn't done yet, and the server's terminal says why")
        return self._outcome


class PendingActs:
    """The acts that wait, by names that only the session's browser is told."""

    def __init__(self) -> None:
        self._acts: OrderedDict[str, PendingAct] = OrderedDict()

    def add(self, act: PendingAct) -> str:
        """Keep an act, and return its name; the oldest of too many is answered by no."""
        name = secrets.token_urlsafe(18)
        self._acts[name] = act
        while len(self._acts) > _MOST_PENDING:
            _, oldest = self._acts.popitem(last=False)
            oldest.human.answer(None)
        return name

    def find(self, name: str) -> PendingAct | None:
        """Return an act that waits."""
        return self._acts.get(name)

    def take(self, name: str) -> PendingAct | None:
        """Return an act that waits, which is answered now: what answers it a second time finds nothing."""
        return self._acts.pop(name, None)
