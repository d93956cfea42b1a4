"""The journal as hooks keep it: a mark where a session begins, a look where its agent stops.

A journal that can't be kept stops nobody's work; `doctor` says what is wrong with it.
"""

from contextlib import suppress
from typing import Final

from roamkb.app import knowledge_base
from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.text import one_line
from roamkb.journal import journal as journal_verb
from roamkb.journal import moments
from roamkb.journal.names import session_key
from roamkb.journal.store import change_traces
from roamkb.journal.store import journal as journal_store
from roamkb.journal.store.glance import begin_turn
from roamkb.journal.store.glance import end_turn

#: Seconds of one hook in which contents are read; what is left is for the next.
_READING_SECONDS: Final = 0.4
#: The same of the very first, which has the most to read, and comes once.
_FIRST_READING_SECONDS: Final = 1.5
#: Seconds that a hook waits for another session's look.
_LOCK_WAIT_SECONDS: Final = 1.0
#: Changes that are named in one line.
_NAMED_CHANGES: Final = 3


class SessionJournal:
    """The journal's work in one session's hooks."""

    def __init__(self, kb: "knowledge_base.KnowledgeBase", session: str) -> None:
        """Take the knowledge base as the session sees it, and the session's id."""
        self._kb = kb
        self._session_id = session
        self._id = session_key(session) if session else ""

    def begin_session(self, source: str = "") -> str:
        """Mark the session's begin; return a line for its human, most often none.

        A session whose context is compacted, perhaps in the middle of a turn, keeps the mark that it has.
        """
        return self._look_and_mark_turn(
            marks=source not in ("compact", "clear"), at_work=None if source == "compact" else False
        )

    def start_turn(self) -> str:
        """Begin a turn: changes since the end of the last one are no agent's of this session."""
        return self._look_and_mark_turn(at_work=True)

    def finish_turn(self) -> str:
        """End a turn; return a line for the human if something changed in it that nothing explains."""
        return self._look_and_mark_turn(at_work=False)

    def _look_and_mark_turn(self, *, marks: bool = False, at_work: bool | None) -> str:
        """Look at the notes, and remember whether the agent is at work from now on."""
        with suppress(RoamkbError, OSError):
            keeper = self._kb.journal_context()
            if keeper is None or not self._id:
                return ""
            journal = keeper.journal
            was_at_work = self._id in journal.sessions_at_work()
            is_cut_short = False
            try:
                looked = self._look_at_notes(keeper, marks=marks)
                is_cut_short = looked.is_cut_short
                # what the hook asks the notes next is asked at the same moment
                self._kb.seen_tree = looked.unchanged_tree
                return _unexplained_changes_line(looked)
            except NoKnowledgeBase as error:
                return _lost_notes_line(error) if was_at_work and journal.is_there else ""
            finally:
                if at_work:
                    begin_turn(str(journal.folder), self._session_id)
                elif was_at_work and at_work is False and not is_cut_short:
                    # what wasn't seen of the turn is seen at the next look
                    end_turn(str(journal.folder), self._session_id)
        return ""

    def _look_at_notes(self, keeper: "journal_verb.JournalContext", *, marks: bool) -> "journal_store.LookResult":
        journal = keeper.journal
        budget = _READING_SECONDS if journal.is_there else _FIRST_READING_SECONDS
        marks = marks or not journal.has_mark(self._id)
        return journal.take_look(
            look_kind="mark" if marks else "look",
            session=self._journal_session(is_new=marks),
            budget=budget,
            tracer=change_traces.find_change_traces(journal, home=keeper.home),
            wait=_LOCK_WAIT_SECONDS,
        )

    def _journal_session(self, *, is_new: bool) -> "moments.JournalSession":
        if not is_new:
            return moments.JournalSession(id=self._id)
        return moments.JournalSession(
            id=self._id, kind=self._kb.classify().kind.value, agent=self._kb.environment.agent_name
        )


def _unexplained_changes_line(look_result: "journal_store.LookResult") -> str:
    """Return one line about changes that nothing explains; empty without any."""
    changes = look_result.untold
    if not changes:
        return ""
    names = [f"{one_line(change.path.decode('utf-8', 'replace'))} {change.what}" for change in changes[:_NAMED_CHANGES]]
    more = f" and {len(changes) - _NAMED_CHANGES} more" if len(changes) > _NAMED_CHANGES else ""
    noun = "file" if len(changes) == 1 else "files"
    return (
        f"roamkb: {len(changes)} {noun} of the knowledge base changed, and nothing explains it: "
        f"{', '.join(names)}{more}. `roamkb journal show` says more, "
        "`roamkb journal restore --all` brings back what was."
    )


def _lost_notes_line(error: NoKnowledgeBase) -> str:
    return (
        f"roamkb: {error.message}. If it isn't merely unmounted: `roamkb journal restore --all --create-kb` "
        "makes it again from the journal."
    )
