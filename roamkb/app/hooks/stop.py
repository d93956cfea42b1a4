"""The stop of a session's agent: its messages are recorded, and it is asked for lessons (D22)."""

from collections.abc import Sequence
from typing import Final

from roamkb.app.hooks.session import HookSession
from roamkb.app.log import learn
from roamkb.app.log import pipeline
from roamkb.boundary.store.session_cache import is_session_id
from roamkb.context.store import injections
from roamkb.core.errors import RoamkbError
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.state import learning_state
from roamkb.log.store import observations
from roamkb.log.store import receipts
from roamkb.pipeline import contest
from roamkb.pipeline import observe
from roamkb.pipeline import promote
from roamkb.pipeline.extract import markers
from roamkb.pipeline.extract.stop_question import WorkStretch
from roamkb.pipeline.extract.stop_question import ask_text
from roamkb.pipeline.extract.stop_question import extend_stretch
from roamkb.pipeline.store import transcript_glance
from roamkb.pipeline.store import transcripts
from roamkb.remedies import remedy

#: Digits of an error's fingerprint by which an ask names it.
_SHORT_DIGEST: Final = 8
_WRAP_UP: Final = "wrap-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class StopQuestion:
    """Questions to an agent that stops; most often none."""

    #: What the stretch of work taught it.
    question: str = ""
    #: What could be promoted.
    promoted: "promote.PromoteResult | None" = None


class StoppedSession(HookSession):
    """A session whose agent, or subagent, has stopped."""

    def handle_stop(self, *, subagent: bool = False) -> "StopQuestion":
        """Record announcements since the last look, and return the questions to the agent, if any.

        What a stretch of work taught it, once a stretch; and once a session which verified learnings are
        worth promoting, of each once. Never twice in a row, and not where nobody is there to answer.
        """
        name = f"{self.session}-{self.payload_text('agent_id')}" if subagent else self.session
        if self.writable_log is None or not is_session_id(name):
            self.record_payload()
            return StopQuestion()
        if not self.is_log_ready:
            # the next stop looks from where the last one left off
            return StopQuestion()
        progress = transcripts.load_progress(self.writable_log.local_folder, name)
        passages, end = transcript_glance.read_passages_since(self._payload, start=progress.end, subagent=subagent)
        self._record_announcements(passages)
        failures, mended = self._record_mended(progress.failures, passages)
        stretch = extend_stretch(progress.stretch, passages, mended=bool(mended))
        answered = self._payload.get("stop_hook_active") is True
        is_contested = self._contest_retracted(passages, since=progress.looked, answered=answered)
        may_ask = transcript_glance.is_ask_allowed(
            self._payload, str(self.writable_log.local_folder), self.environment.variables
        )
        is_asked = may_ask and (is_contested or bool(stretch.ask_reasons))
        # what an agent does when asked is no work to ask about
        kept_stretch = WorkStretch() if is_asked or answered else stretch
        looked_at = progress.looked if answered else self.environment.now().timestamp()
        next_progress = transcripts.TranscriptProgress(
            end=end,
            stretch=kept_stretch,
            looked=looked_at,
            failures=failures,
            is_wrapped_up=progress.is_wrapped_up or self._is_wrapped_up(),
        )
        transcripts.save_progress(self.writable_log.local_folder, name, next_progress)
        return StopQuestion(
            question=self._stop_question(since=progress.looked) if is_asked else "",
            # what was just spoken of may be taken back
            promoted=None if subagent or is_contested or not may_ask else self._wrap_up_candidates(),
        )

    def _record_announcements(self, passages: "Sequence[TranscriptPassage]") -> None:
        """Record the announcements in the agent's messages, those between calls of tools as well.

        What the human said was recorded with the prompt.
        """
        agent_passages = [passage for passage in passages if passage.speaker is not Speaker.HUMAN]
        if self.writable_log is not None and (announcements := list(observe.announced_events(agent_passages))):
            observe.record_events(self.writable_log, announcements, self._project_log.make_author(session=self.session))

    def _contest_retracted(self, passages: "Sequence[TranscriptPassage]", *, since: float, answered: bool) -> bool:
        """Contest the learnings that the session's later passages retract; return whether any was.

        What its agent was asked about and let stand is settled.
        """
        if self.writable_log is None or not self.session or not since:
            return False

        author = self._project_log.make_author(session=self.session)
        if answered:
            contest.settle_contested(self.writable_log, self.session, author)
            return False
        if not (any(passage.speaker is Speaker.HUMAN or passage.has_failed or passage.edits for passage in passages)):
            return False
        state = self.writable_log.read_contents().replay_state()
        contested_keys = dict(contest.learnings_human_spoke_of(state, self.session, passages, since=since))
        if any(passage.has_failed or passage.removed for passage in passages):
            contested_keys |= learn.retracted_learnings(self._project_log, state, self.session)
        contest.contest_learnings(self.writable_log, contested_keys, author)
        return bool(contested_keys)

    def _stop_question(self, *, since: float) -> str:
        """Return the question, with the keys of the session's own learnings and of those it was shown."""
        log = self._project_log.log_to_read()
        state = log.read_contents().replay_state()
        session_learnings = [
            one for one in state.learnings_with("session", self.session) if one.status != learning_state.SUPERSEDED
        ]
        shown_states = (state.standings.get(id) for id in injections.ids_shown_to(log.local_folder, self.session))
        latest = remedy.last_fixed_error(log, self.session, since=since)
        return ask_text(
            mended=(latest.digest[:_SHORT_DIGEST], latest.line) if latest else None,
            contested=[one.learning.key for one in session_learnings if learning_state.CONTESTED in one.flags],
            captured=[one.learning.key for one in session_learnings if learning_state.CONTESTED not in one.flags][::-1],
            shown_keys=[
                one.learning.key for one in shown_states if one is not None and one.status != learning_state.SUPERSEDED
            ],
        )

    def _is_wrapped_up(self) -> bool:
        return self.writable_log is not None and _WRAP_UP in injections.ids_shown_to(
            self.writable_log.local_folder, self.session
        )

    def _wrap_up_candidates(self) -> "promote.PromoteResult | None":
        """Return the learnings to be asked about, once a session and only if there are any; else None."""
        if (
            self.writable_log is None
            or self._is_wrapped_up()
            or transcript_glance.is_known_unpromotable(str(self.writable_log.local_folder))
        ):
            return None
        stamp = transcript_glance.log_stamp(str(self.writable_log.local_folder))
        promotable = self._find_promotable()
        if promotable is None:
            transcript_glance.record_unpromotable(self.writable_log.local_folder, stamp)
            return None
        named = [one.id for one in promotable.candidates[: promote.ASKED_CANDIDATES]]
        author = self._project_log.make_author(session=self.session)
        self._project_log.keep_receipt(self.writable_log, author, [_WRAP_UP, *named], shown_by=_WRAP_UP)
        return promotable

    def _find_promotable(self) -> "promote.PromoteResult | None":
        """Return the promotable learnings that no session was asked of, or for which more speaks since."""
        if self.knowledge_base.classify().kind is not ProjectKind.PERSONAL or not pipeline.has_verified(
            self._project_log
        ):
            return None

        promoted = self._project_log.promote(ask=True, session=self.session)
        if self.writable_log is None or not isinstance(promoted, promote.PromoteResult):
            return None
        last_asks = {
            id: receipt.id
            for receipt in receipts.read_receipts(self.writable_log.local_folder, naming=_WRAP_UP)
            if receipt.by == _WRAP_UP
            for id in receipt.shown
        }
        candidates = tuple(
            one
            for one in promoted.candidates
            if one.id not in last_asks or promote.has_gained(one, since=last_asks[one.id])
        )
        return replace(promoted, candidates=candidates) if candidates else None

    def lost_statements_notice(self, message: str) -> str:
        """Return a line that counts the typed statements in `message` where no log may have them; else nothing."""
        lost = markers.captured_from_message(message)
        if not lost:
            return ""
        try:
            self._project_log.log_to_write("")
        except RoamkbError as error:
            counted = count_phrase(len(lost), "statement")
            return f"roamkb: not kept: {counted} of the agent's (`LEARNED: …`): {error.message}; {error.hint}"
        return ""

    def stop_subagent(self) -> None:
        """Queue the subagent, so that its learnings are consolidated after its session."""
        agent = self._project_log.make_author(session=self.session).agent
        if self.writable_log is not None and agent and self.session:
            observations.queue_agent(self.writable_log.local_folder, agent, self.session)
