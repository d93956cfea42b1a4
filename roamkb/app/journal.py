"""The journal as hooks keep it: a mark where a session begins, a look where its agent stops.

A journal that can't be kept stops nobody's work; `doctor` says what is wrong with it.
"""

from contextlib import suppress
from typing import TYPE_CHECKING
from typing import Final

from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.journal import session_key
from roamkb.core.text import shown

if TYPE_CHECKING:
    from roamkb.actions.journal import Keeper
    from roamkb.app.knowledge_base import KnowledgeBase
    from roamkb.core.journal import Session
    from roamkb.storage.journal import Looked

#: Seconds of one hook in which contents are read; what is left is for the next.
_BUDGET: Final = 0.4
#: Seconds that a hook waits for another session's look.
_PATIENCE: Final = 1.0
#: Changes that are named in one line.
_NAMED: Final = 3


class SessionJournal:
    """What one session's hooks do with the journal."""

    def __init__(self, kb: "KnowledgeBase", session: str) -> None:
        """Take the knowledge base as the session sees it, and the session's id."""
        self._kb = kb
        self._id = session_key(session) if session else ""

    def began(self, source: str = "") -> str:
        """Mark the session's begin; return a line for its human, most often none.

        A session whose context is compacted or cleared goes on from the mark that it has.
        """
        goes_on = source in ("compact", "clear")
        return self._looked(marks=not goes_on, ends=True, begins=True)

    def prompted(self) -> str:
        """Begin a turn: what changed before it was no agent's of this session."""
        return self._looked(ends=True, begins=True)

    def stopped(self) -> str:
        """End a turn; return a line for the human if something changed in it that nothing explains."""
        return self._looked(ends_after=True)

    def _looked(
        self, *, marks: bool = False, ends: bool = False, begins: bool = False, ends_after: bool = False
    ) -> str:
        with suppress(RoamkbError, OSError):
            keeper = self._kb._keeper()
            if keeper is None or not self._id:
                return ""
            journal = keeper.journal
            if ends:
                journal.end_turn(self._id)
            try:
                looked = self._look(keeper, marks=marks)
            except NoKnowledgeBase as error:
                return _lost(error) if ends_after and journal.is_there else ""
            finally:
                if ends_after:
                    journal.end_turn(self._id)
                if begins:
                    journal.begin_turn(self._id)
            return _told(looked)
        return ""

    def _look(self, keeper: "Keeper", *, marks: bool) -> "Looked":
        from roamkb.storage.journal_traces import Traces

        journal = keeper.journal
        marks = marks or not journal.has_mark(self._id)
        traces = Traces(journal.kb, is_idle=not journal.at_work(), trashed=keeper.trashed)
        return journal.look(
            what="mark" if marks else "look",
            session=self._session(is_new=marks),
            budget=_BUDGET,
            tracer=traces,
            wait=_PATIENCE,
        )

    def _session(self, *, is_new: bool) -> "Session":
        from roamkb.core.journal import Session

        if not is_new:
            return Session(id=self._id)
        return Session(id=self._id, kind=self._kb.classify().kind.value, agent=self._kb._around.agent)


def _told(looked: "Looked") -> str:
    """Return one line about what nothing explains."""
    changes = looked.untold
    if not changes:
        return ""
    names = [f"{shown(change.path.decode('utf-8', 'replace'))} {change.what}" for change in changes[:_NAMED]]
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    what = "file" if len(changes) == 1 else "files"
    return (
        f"roamkb: {len(changes)} {what} of the knowledge base changed while an agent was at work, and "
        f"nothing explains it: {', '.join(names)}{more}. `roamkb journal show` says more, "
        "`roamkb journal restore --all` brings back what was."
    )


def _lost(error: NoKnowledgeBase) -> str:
    return (
        f"roamkb: {error.message}. If it isn't merely unmounted: `roamkb journal restore --all --create-kb` "
        "makes it again from the journal."
    )
