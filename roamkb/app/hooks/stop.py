"""What happens when a session's agent stops: what was said since is heard, and it is asked (D22)."""

from typing import TYPE_CHECKING
from typing import Final

from roamkb.app.hooks.session import HookSession
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.transcript import Speaker
from roamkb.pipeline.extract.stop_question import WorkStretch
from roamkb.pipeline.extract.stop_question import continued

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamkb.harnesses.transcript import TranscriptPassage
    from roamkb.pipeline.promote import PromoteResult

#: Digits of an error's fingerprint by which an ask names it.
_SHORT_DIGEST: Final = 8
_WRAP_UP: Final = "wrap-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopQuestion:
    """What an agent is asked when it stops; most often nothing."""

    #: What the stretch of work taught it.
    question: str = ""
    #: What could be promoted.
    promoted: "PromoteResult | None" = None


class StoppedSession(HookSession):
    """A session whose agent, or a subagent of which, has stopped."""

    def stop(self, *, subagent: bool = False) -> "StopQuestion":
        """Record what was announced since the last look, and return what the agent is asked, if anything.

        What a stretch of work taught it, once a stretch; and once a session which verified learnings are
        worth promoting. Never twice in a row, and not where nobody is there to answer.
        """
        from roamkb.pipeline.store.transcript_glance import heard
        from roamkb.pipeline.store.transcript_glance import may_be_asked
        from roamkb.pipeline.store.transcripts import TranscriptProgress
        from roamkb.pipeline.store.transcripts import find_progress
        from roamkb.pipeline.store.transcripts import is_session_id
        from roamkb.pipeline.store.transcripts import keep_progress

        name = f"{self.session}-{self.text('agent_id')}" if subagent else self.session
        if self.log is None or not is_session_id(name):
            self.record()
            return StopQuestion()
        progress = find_progress(self.log.local, name)
        passages, end = heard(self._payload, start=progress.end, subagent=subagent)
        self._announced(passages)
        failures, mended = self._mended(progress.failures, passages)
        stretch = continued(progress.stretch, passages, mended=bool(mended))
        answered = self._payload.get("stop_hook_active") is True
        is_contested = self._settled(passages, since=progress.looked, answered=answered)
        may_ask = may_be_asked(self._payload, str(self.log.local), self.environment.variables)
        is_asked = may_ask and (is_contested or bool(stretch.reasons))
        # what an agent does when asked is no work to ask about
        kept = WorkStretch() if is_asked or answered else stretch
        looked = progress.looked if answered else self.environment.now().timestamp()
        seen = TranscriptProgress(
            end=end,
            stretch=kept,
            looked=looked,
            failures=failures,
            is_wrapped_up=progress.is_wrapped_up or self._is_wrapped_up(),
        )
        keep_progress(self.log.local, name, seen)
        return StopQuestion(
            question=self._question(since=progress.looked) if is_asked else "",
            # what was just spoken of may be taken back
            promoted=None if subagent or is_contested or not may_ask else self._wrap_up(),
        )

    def _announced(self, passages: "Sequence[TranscriptPassage]") -> None:
        """Record what the agent announced in its messages, those between the calls of tools as well.

        What the human said was recorded with the prompt.
        """
        from roamkb.pipeline.observe import announced
        from roamkb.pipeline.observe import record

        agents = [one for one in passages if one.speaker is not Speaker.HUMAN]
        if self.log is not None and (said := list(announced(agents))):
            record(self.log, said, self._door.author(session=self.session))

    def _settled(self, passages: "Sequence[TranscriptPassage]", *, since: float, answered: bool) -> bool:
        """Contest what the session takes back by its next words and deeds; say whether anything was.

        What its agent was asked about and let stand is settled.
        """
        from roamkb.app.log.learn import undone_in

        if self.log is None or not self.session or not since:
            return False
        from roamkb.pipeline.contest import contest
        from roamkb.pipeline.contest import settle
        from roamkb.pipeline.contest import spoken_of

        hand = self._door.author(session=self.session)
        if answered:
            settle(self.log, self.session, hand)
            return False
        if not (any(one.speaker is Speaker.HUMAN or one.has_failed or one.edits for one in passages)):
            return False
        state = self.log.read().state()
        found = dict(spoken_of(state, self.session, passages, since=since))
        if any(one.has_failed or one.removed for one in passages):
            found |= undone_in(self._door, state, self.session)
        contest(self.log, found, hand)
        return bool(found)

    def _question(self, *, since: float) -> str:
        """Return the ask, with the keys of what this session said and was shown."""
        from roamkb.context.store.injections import shown_to
        from roamkb.log.state.learning_state import CONTESTED
        from roamkb.log.state.learning_state import SUPERSEDED
        from roamkb.pipeline.extract.stop_question import ask_text
        from roamkb.remedies.remedy import last_mended

        log = self._door.log_to_read()
        state = log.read().state()
        counted = [one for one in state.having("session", self.session) if one.status != SUPERSEDED]
        shown = (state.standings.get(id) for id in shown_to(log.local, self.session))
        latest = last_mended(log, self.session, since=since)
        return ask_text(
            mended=(latest.digest[:_SHORT_DIGEST], latest.line) if latest else None,
            contested=[one.learning.key for one in counted if CONTESTED in one.flags],
            captured=[one.learning.key for one in counted if CONTESTED not in one.flags][::-1],
            shown=[one.learning.key for one in shown if one is not None and one.status != SUPERSEDED],
        )

    def _is_wrapped_up(self) -> bool:
        from roamkb.context.store.injections import shown_to

        return self.log is not None and _WRAP_UP in shown_to(self.log.local, self.session)

    def _wrap_up(self) -> "PromoteResult | None":
        """Return what could be promoted, once a session and only if there is something; else None."""
        from roamkb.pipeline.store.transcript_glance import is_known_unpromotable
        from roamkb.pipeline.store.transcript_glance import keep_unpromotable
        from roamkb.pipeline.store.transcript_glance import log_stamp

        if self.log is None or self._is_wrapped_up() or is_known_unpromotable(str(self.log.local)):
            return None
        stamp = log_stamp(str(self.log.local))
        found = self._promotable()
        if found is None:
            keep_unpromotable(self.log.local, stamp)
            return None
        self._door.keep_receipt(self.log, self._door.author(session=self.session), [_WRAP_UP], by=_WRAP_UP)
        return found

    def _promotable(self) -> "PromoteResult | None":
        from roamkb.app.log.pipeline import has_verified

        if self.knowledge_base.classify().kind is not ProjectKind.PERSONAL or not has_verified(self._door):
            return None
        from roamkb.pipeline.promote import PromoteResult

        found = self._door.promote(ask=True, session=self.session)
        return found if isinstance(found, PromoteResult) and found.candidates else None

    def stop_subagent(self) -> None:
        """Have what its agent learned made into fewer learnings, once its session is consolidated."""
        from roamkb.log.store.observations import queue_agent

        agent = self._door.author(session=self.session).agent
        if self.log is not None and agent and self.session:
            queue_agent(self.log.local, agent, self.session)
