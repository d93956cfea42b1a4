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
        """Look at the notes of each knowledge base, and remember whether the agent is at work from now on."""
        lines: list[str] = []
        with suppress(RoamkbError, OSError):
            keeper = self._kb.journal_context()
            if keeper is None or not self._id:
                return ""
            lines.append(self._look_at_kb(self._kb, keeper, marks=marks, at_work=at_work))
            for name in keeper.other_kbs:
                with suppress(RoamkbError, OSError):
                    other = self._kb.of_kb(name)
                    if other_keeper := other.journal_context():
                        lines.append(self._look_at_kb(other, other_keeper, marks=marks, at_work=at_work))
        return "\n".join(filter(None, lines))

    def _look_at_kb(
        self,
        kb: "knowledge_base.KnowledgeBase",
        keeper: "journal_verb.JournalContext",
        *,
        marks: bool,
        at_work: bool | None,
    ) -> str:
        name = kb.kb_name if kb.is_named else ""
        with suppress(RoamkbError, OSError):
            journal = keeper.journal
            was_at_work = self._id in journal.sessions_at_work()
            is_cut_short = False
            try:
                looked = self._look_at_notes(keeper, marks=marks)
                is_cut_short = looked.is_cut_short
                # what the hook asks the notes next is asked at the same moment
                kb.seen_tree = looked.unchanged_tree
                return _unexplained_changes_line(looked, name)
            except NoKnowledgeBase as error:
                return _lost_notes_line(error, name) if was_at_work and journal.is_there else ""
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


def _unexplained_changes_line(look_result: "journal_store.LookResult", kb_name: str) -> str:
    """Return one line about changes that nothing explains; empty without any."""
    changes = look_result.untold
    if not changes:
        return ""
    names = [f"{one_line(change.path.decode('utf-8', 'replace'))} {change.what}" for change in changes[:_NAMED_CHANGES]]
    more = f" and {len(changes) - _NAMED_CHANGES} more" if len(changes) > _NAMED_CHANGES else ""
    noun = "file" if len(changes) == 1 else "files"
    label, option = _name_words(kb_name)
    return (
        f"roamkb: {len(changes)} {noun} of the knowledge base{label} changed, and nothing explains it: "
        f"{', '.join(names)}{more}. `roamkb journal show{option}` says more, "
        f"`roamkb journal restore --all{option}` brings back what was."
    )


def _lost_notes_line(error: NoKnowledgeBase, kb_name: str) -> str:
    _, option = _name_words(kb_name)
    return (
        f"roamkb: {error.message}. If it isn't merely unmounted: `roamkb journal restore --all --create-kb{option}` "
        "makes it again from the journal."
    )


def _name_words(kb_name: str) -> tuple[str, str]:
    """Return what is said after `knowledge base`, and after a command about it; empty for the default one."""
    return (f" {kb_name}", f" --kb {kb_name}") if kb_name else ("", "")
