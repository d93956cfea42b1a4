"""The journal as hooks keep it: a mark where a session begins, a look where its agent stops.

A journal that can't be kept stops nobody's work; `doctor` says what is wrong with it.
"""

from contextlib import suppress
from typing import TYPE_CHECKING
from typing import Final

from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.text import shown
from roamkb.journal.names import session_key
from roamkb.journal.store.glance import begin_turn
from roamkb.journal.store.glance import end_turn

if TYPE_CHECKING:
    from roamkb.app.knowledge_base import KnowledgeBase
    from roamkb.journal.journal import JournalContext
    from roamkb.journal.moments import JournalSession
    from roamkb.journal.store.journal import LookResult

#: Seconds of one hook in which contents are read; what is left is for the next.
_BUDGET: Final = 0.4
#: The same of the very first, which has the most to read, and comes once.
_FIRST_BUDGET: Final = 1.5
#: Seconds that a hook waits for another session's look.
_PATIENCE: Final = 1.0
#: Changes that are named in one line.
_NAMED: Final = 3


class SessionJournal:
    """What one session's hooks do with the journal."""

    def __init__(self, kb: "KnowledgeBase", session: str) -> None:
        """Take the knowledge base as the session sees it, and the session's id."""
        self._kb = kb
        self._session_id = session
        self._id = session_key(session) if session else ""

    def began(self, source: str = "") -> str:
        """Mark the session's begin; return a line for its human, most often none.

        A session whose context is compacted, perhaps in the middle of a turn, keeps the mark that it has.
        """
        return self._looked(
            marks=source not in ("compact", "clear"), at_work=None if source == "compact" else False
        )

    def prompted(self) -> str:
        """Begin a turn: what changed since the last one ended was no agent's of this session."""
        return self._looked(at_work=True)

    def stopped(self) -> str:
        """End a turn; return a line for the human if something changed in it that nothing explains."""
        return self._looked(at_work=False)

    def _looked(self, *, marks: bool = False, at_work: bool | None) -> str:
        """Look, and remember whether the agent is at work from now on."""
        with suppress(RoamkbError, OSError):
            keeper = self._kb.journal_context()
            if keeper is None or not self._id:
                return ""
            journal = keeper.journal
            was_at_work = self._id in journal.at_work()
            is_cut_short = False
            try:
                looked = self._look(keeper, marks=marks)
                is_cut_short = looked.is_cut_short
                return _told(looked)
            except NoKnowledgeBase as error:
                return _lost(error) if was_at_work and journal.is_there else ""
            finally:
                if at_work:
                    begin_turn(str(journal.folder), self._session_id)
                elif was_at_work and at_work is False and not is_cut_short:
                    # what wasn't seen of the turn is seen at the next look
                    end_turn(str(journal.folder), self._session_id)
        return ""

    def _look(self, keeper: "JournalContext", *, marks: bool) -> "LookResult":
        from roamkb.journal.store.change_traces import traces_of

        journal = keeper.journal
        budget = _BUDGET if journal.is_there else _FIRST_BUDGET
        marks = marks or not journal.has_mark(self._id)
        return journal.look(
            what="mark" if marks else "look",
            session=self._session(is_new=marks),
            budget=budget,
            tracer=traces_of(journal, home=keeper.home),
            wait=_PATIENCE,
        )

    def _session(self, *, is_new: bool) -> "JournalSession":
        from roamkb.journal.moments import JournalSession

        if not is_new:
            return JournalSession(id=self._id)
        return JournalSession(
            id=self._id, kind=self._kb.classify().kind.value, agent=self._kb.environment.agent
        )


def _told(looked: "LookResult") -> str:
    """Return one line about what nothing explains."""
    changes = looked.untold
    if not changes:
        return ""
    names = [f"{shown(change.path.decode('utf-8', 'replace'))} {change.what}" for change in changes[:_NAMED]]
    more = f" and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    what = "file" if len(changes) == 1 else "files"
    return (
        f"roamkb: {len(changes)} {what} of the knowledge base changed, and nothing explains it: "
        f"{', '.join(names)}{more}. `roamkb journal show` says more, "
        "`roamkb journal restore --all` brings back what was."
    )


def _lost(error: NoKnowledgeBase) -> str:
    return (
        f"roamkb: {error.message}. If it isn't merely unmounted: `roamkb journal restore --all --create-kb` "
        "makes it again from the journal."
    )
