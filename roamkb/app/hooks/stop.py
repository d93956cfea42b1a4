"""The stop of a session's agent: its messages are recorded, and it is asked for lessons (D22)."""

from typing import TYPE_CHECKING
from typing import Final

from roamkb.app.hooks.session import HookSession
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.transcript import Speaker
from roamkb.pipeline.extract.stop_question import WorkStretch
from roamkb.pipeline.extract.stop_question import extend_stretch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamkb.harnesses.transcript import TranscriptPassage
    from roamkb.pipeline.promote import PromoteResult

#: Digits of an error's fingerprint by which an ask names it.
_SHORT_DIGEST: Final = 8
_WRAP_UP: Final = "wrap-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopQuestion:
    """Questions to an agent that stops; most often none."""

    #: What the stretch of work taught it.
    question: str = ""
    #: What could be promoted.
    promoted: "PromoteResult | None" = None


class StoppedSession(HookSession):
    """A session whose agent, or subagent, has stopped."""

    def handle_stop(self, *, subagent: bool = False) -> "StopQuestion":
        """Record announcements since the last look, and return the questions to the agent, if any.

        What a stretch of work taught it, once a stretch; and once a session which verified learnings are
        worth promoting. Never twice in a row, and not where nobody is there to answer.
        """
        from roamkb.pipeline.store.transcript_glance import is_ask_allowed
        from roamkb.pipeline.store.transcript_glance import read_passages_since
        from roamkb.pipeline.store.transcripts import TranscriptProgress
        from roamkb.pipeline.store.transcripts import is_session_id
        from roamkb.pipeline.store.transcripts import load_progress
        from roamkb.pipeline.store.transcripts import save_progress

        name = f"{self.session}-{self.payload_text('agent_id')}" if subagent else self.session
        if self.writable_log is None or not is_session_id(name):
            self.record_payload()
            return StopQuestion()
        progress = load_progress(self.writable_log.local_folder, name)
        passages, end = read_passages_since(self._payload, start=progress.end, subagent=subagent)
        self._record_announcements(passages)
        failures, mended = self._record_mended(progress.failures, passages)
        stretch = extend_stretch(progress.stretch, passages, mended=bool(mended))
        answered = self._payload.get("stop_hook_active") is True
        is_contested = self._contest_retracted(passages, since=progress.looked, answered=answered)
        may_ask = is_ask_allowed(self._payload, str(self.writable_log.local_folder), self.environment.variables)
        is_asked = may_ask and (is_contested or bool(stretch.ask_reasons))
        # what an agent does when asked is no work to ask about
        kept_stretch = WorkStretch() if is_asked or answered else stretch
        looked_at = progress.looked if answered else self.environment.now().timestamp()
        next_progress = TranscriptProgress(
            end=end,
            stretch=kept_stretch,
            looked=looked_at,
            failures=failures,
            is_wrapped_up=progress.is_wrapped_up or self._is_wrapped_up(),
        )
        save_progress(self.writable_log.local_folder, name, next_progress)
        return StopQuestion(
            question=self._stop_question(since=progress.looked) if is_asked else "",
            # what was just spoken of may be taken back
            promoted=None if subagent or is_contested or not may_ask else self._wrap_up_candidates(),
        )

    def _record_announcements(self, passages: "Sequence[TranscriptPassage]") -> None:
        """Record the announcements in the agent's messages, those between calls of tools as well.

        What the human said was recorded with the prompt.
        """
        from roamkb.pipeline.observe import announced_events
        from roamkb.pipeline.observe import record_events

        agent_passages = [passage for passage in passages if passage.speaker is not Speaker.HUMAN]
        if self.writable_log is not None and (announcements := list(announced_events(agent_passages))):
            record_events(self.writable_log, announcements, self._project_log.make_author(session=self.session))

    def _contest_retracted(self, passages: "Sequence[TranscriptPassage]", *, since: float, answered: bool) -> bool:
        """Contest the learnings that the session's later passages retract; return whether any was.

        What its agent was asked about and let stand is settled.
        """
        from roamkb.app.log.learn import retracted_learnings

        if self.writable_log is None or not self.session or not since:
            return False
        from roamkb.pipeline.contest import contest_learnings
        from roamkb.pipeline.contest import learnings_human_spoke_of
        from roamkb.pipeline.contest import settle_contested

        author = self._project_log.make_author(session=self.session)
        if answered:
            settle_contested(self.writable_log, self.session, author)
            return False
        if not (any(passage.speaker is Speaker.HUMAN or passage.has_failed or passage.edits for passage in passages)):
            return False
        state = self.writable_log.read_contents().replay_state()
        contested_keys = dict(learnings_human_spoke_of(state, self.session, passages, since=since))
        if any(passage.has_failed or passage.removed for passage in passages):
            contested_keys |= retracted_learnings(self._project_log, state, self.session)
        contest_learnings(self.writable_log, contested_keys, author)
        return bool(contested_keys)

    def _stop_question(self, *, since: float) -> str:
        """Return the question, with the keys of the session's own learnings and of those it was shown."""
        from roamkb.context.store.injections import ids_shown_to
        from roamkb.log.state.learning_state import CONTESTED
        from roamkb.log.state.learning_state import SUPERSEDED
        from roamkb.pipeline.extract.stop_question import ask_text
        from roamkb.remedies.remedy import last_fixed_error

        log = self._project_log.log_to_read()
        state = log.read_contents().replay_state()
        session_learnings = [
            learning_state
            for learning_state in state.learnings_with("session", self.session)
            if learning_state.status != SUPERSEDED
        ]
        shown_states = (state.standings.get(id) for id in ids_shown_to(log.local_folder, self.session))
        latest = last_fixed_error(log, self.session, since=since)
        return ask_text(
            mended=(latest.digest[:_SHORT_DIGEST], latest.line) if latest else None,
            contested=[
                learning_state.learning.key for learning_state in session_learnings if CONTESTED in learning_state.flags
            ],
            captured=[
                learning_state.learning.key
                for learning_state in session_learnings
                if CONTESTED not in learning_state.flags
            ][::-1],
            shown_keys=[
                learning_state.learning.key
                for learning_state in shown_states
                if learning_state is not None and learning_state.status != SUPERSEDED
            ],
        )

    def _is_wrapped_up(self) -> bool:
        from roamkb.context.store.injections import ids_shown_to

        return self.writable_log is not None and _WRAP_UP in ids_shown_to(self.writable_log.local_folder, self.session)

    def _wrap_up_candidates(self) -> "PromoteResult | None":
        """Return the promotable learnings, once a session and only if there are any; else None."""
        from roamkb.pipeline.store.transcript_glance import is_known_unpromotable
        from roamkb.pipeline.store.transcript_glance import log_stamp
        from roamkb.pipeline.store.transcript_glance import record_unpromotable

        if (
            self.writable_log is None
            or self._is_wrapped_up()
            or is_known_unpromotable(str(self.writable_log.local_folder))
        ):
            return None
        stamp = log_stamp(str(self.writable_log.local_folder))
        promotable = self._find_promotable()
        if promotable is None:
            record_unpromotable(self.writable_log.local_folder, stamp)
            return None
        self._project_log.keep_receipt(
            self.writable_log, self._project_log.make_author(session=self.session), [_WRAP_UP], shown_by=_WRAP_UP
        )
        return promotable

    def _find_promotable(self) -> "PromoteResult | None":
        from roamkb.app.log.pipeline import has_verified

        if self.knowledge_base.classify().kind is not ProjectKind.PERSONAL or not has_verified(self._project_log):
            return None
        from roamkb.pipeline.promote import PromoteResult

        promoted = self._project_log.promote(ask=True, session=self.session)
        return promoted if isinstance(promoted, PromoteResult) and promoted.candidates else None

    def stop_subagent(self) -> None:
        """Queue the subagent, so that its learnings are consolidated after its session."""
        from roamkb.log.store.observations import queue_agent

        agent = self._project_log.make_author(session=self.session).agent
        if self.writable_log is not None and agent and self.session:
            queue_agent(self.writable_log.local_folder, agent, self.session)
