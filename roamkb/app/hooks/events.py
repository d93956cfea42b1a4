"""Work of a session's hooks at all events but a stop; the hook command prints the answers.

Every method does one event's work and returns what there is to say. Only the refusal before a tool is meant
to stop anybody; for everything else, whatever goes wrong is the caller's to swallow.
"""

import os
import time
from collections.abc import Callable
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from roamkb.app.hooks.session import HookSession
from roamkb.app.hooks.session import render_judged_projects
from roamkb.app.hooks.session_project import SessionProject
from roamkb.app.log import brief as log_brief
from roamkb.app.log import ingest
from roamkb.app.log import remedies
from roamkb.boundary.store import session_cache
from roamkb.context import brief_text
from roamkb.context import shown
from roamkb.context import suggestions
from roamkb.context.store import injections
from roamkb.context.store import session_shown
from roamkb.context.store import suggestion_record
from roamkb.core.errors import RoamkbError
from roamkb.core.model import EVERY_KB
from roamkb.core.model import Hit
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Final
from roamkb.fs import append
from roamkb.fs import files
from roamkb.fs import worktrees
from roamkb.fs.tree_digest import TreeDigest
from roamkb.log.state import learning_state
from roamkb.log.store import observations
from roamkb.log.store import project_log
from roamkb.pipeline import observe
from roamkb.pipeline.extract import stop_question
from roamkb.pipeline.extract import transcript_formats
from roamkb.pipeline.store import transcripts
from roamkb.remedies import effectiveness
from roamkb.remedies import fingerprint
from roamkb.remedies import remedy
from roamkb.secrets import detector

#: Seconds of a session's start after which no more chores are begun: what is left is for the next start.
_CHORE_SECONDS: Final = 0.8
#: The same of what the brief should know: what the last sessions learned.
_SECONDS_BEFORE_BRIEF: Final = 0.4
#: Of a subagent's task, what is kept until it starts.
_TASK_LENGTH: Final = 4_000
#: Which of a tool's inputs says what a subagent is to do.
_TASK_FIELDS: Final = ("prompt", "message")
#: Of what a failed command printed.
_OUTPUT_LENGTH: Final = 20_000
#: Remedies among which one for this very error may be.
_REMEDY_LIMIT: Final = 20
#: Digits of an error's fingerprint by which an ask names it.
_SHORT_DIGEST: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSuggestions:
    """A few learnings and nodes that are relevant; most often none."""

    learnings: "Sequence[learning_state.LearningState]" = ()
    nodes: "Sequence[Hit]" = ()
    #: All that was weighed, the best of each kind first.
    weighed: "Sequence[suggestions.WeighedAnswer]" = ()

    @property
    def suggested_ids(self) -> tuple[str, ...]:
        """The ids of all suggested learnings and nodes."""
        return (*(learning.id for learning in self.learnings), *(hit.id for hit in self.nodes if hit.id))


class HookEventSession(HookSession):
    """A session at any event but a stop."""

    # What happens

    def start_session(self) -> "brief_text.SessionBrief | None":
        """Return the brief, and do the chores that earlier sessions left, as long as the time allows.

        A session that goes on has it already, where its harness kept it.
        """
        # the day may come when the rule can't be read
        _ = SessionProject(self._payload, self.environment).kb_names
        # so that the brief knows what the last sessions learned
        has_done = self._run_chore(lambda log: self._consolidate_open_sessions(log, within=_SECONDS_BEFORE_BRIEF))
        afresh = self.payload_text("source") in ("clear", "compact")
        goes_on = self.payload_text("source") in ("resume", "fork")
        brief = None
        if self.may_inject and not (
            goes_on and injections.is_briefed(Path(self.payload_text("transcript_path") or "/"))
        ):
            is_subagent = bool(self.payload_text("agent_type"))
            shown_by = injections.BRIEF_AFRESH if afresh else "brief"
            brief = log_brief.make_brief(
                self._project_log, session=self.session, subagent=is_subagent, shown_by=shown_by
            )
            self._remember_brief(brief, afresh=afresh)
        self._run_chores(has_done=has_done)
        return brief

    def _remember_brief(self, brief: "brief_text.SessionBrief", *, afresh: bool = False) -> None:
        """Remember the brief where the project has no log to do so, and where it has, that it told of failed hooks."""
        if brief.log is None:
            self._remember_shown(brief.shown_ids, afresh=afresh)
        elif self.writable_log is not None:
            injections.mark_hook_errors_told(self.writable_log.local_folder, now=time.time())

    def keep_subagent_task(self) -> None:
        """Keep what a subagent is to do, with secrets masked: its start, in a moment, doesn't tell."""
        given = self._payload.get("tool_input")
        fields = given if isinstance(given, dict) else {}
        task = next((text for name in _TASK_FIELDS if isinstance(text := fields.get(name), str)), "")
        if task.strip() and self.may_inject and self.writable_log is not None:
            call, text = (
                self.payload_text("tool_use_id"),
                detector.withhold_secrets(task[: 2 * _TASK_LENGTH])[:_TASK_LENGTH],
            )
            session_cache.keep_subagent_task(str(self.writable_log.local_folder), self.session, call, text)

    def start_subagent(self) -> HookSuggestions:
        """Return suggestions that fit what a subagent is to do, as for a prompt; it was shown nothing yet."""
        if self.writable_log is None or not self.may_inject:
            return HookSuggestions()
        task = session_cache.take_subagent_task(str(self.writable_log.local_folder), self.session)
        if not task.strip():
            return HookSuggestions()
        return self._suggest(self.writable_log, task, besides=frozenset(), shown_by=injections.SUBAGENT)

    def handle_prompt(self, seen_tree: "TreeDigest | None" = None) -> HookSuggestions:
        """Record the human's lasting statements, and return suggestions that fit the prompt and are new.

        `seen_tree` is the notes' folder, where this hook has looked at it already.
        """
        prompt = self.payload_text("prompt")
        self.record_payload()
        # for suggestions alone: not every note need have been looked at
        self.knowledge_base.seen_tree = seen_tree
        if not prompt.strip() or not self.may_inject:
            return HookSuggestions()
        if log := self._project_log.log_or_none():
            besides = injections.ids_shown_to(log.local_folder, self.session, is_subagent=False)
            return self._suggest(log, prompt, besides=besides, shown_by="prompt")
        if self._shown_without_log is None:
            # where nobody remembers what was shown, it would be shown again and again
            return HookSuggestions()
        nodes = log_brief.suggest_nodes(self._project_log, prompt, besides=self._shown_without_log)
        suggested = HookSuggestions(nodes=nodes.items, weighed=nodes.weighed)
        return suggested if self._remember_shown(suggested.suggested_ids) else HookSuggestions()

    def _suggest(
        self, log: "project_log.Log", text: str, *, besides: "frozenset[str]", shown_by: str
    ) -> HookSuggestions:
        """Return what fits `text`; keep a receipt of it, and a record of what was weighed."""
        learnings, nodes = log_brief.suggest_for_prompt(self._project_log, text, besides=besides)
        suggested = HookSuggestions(
            learnings=learnings.items,
            nodes=nodes.items,
            weighed=(*learnings.weighed, *nodes.weighed),
        )
        if suggested.weighed and self.writable_log is not None:
            record = suggestion_record.SuggestionRecord(
                ts=self.environment.now().timestamp(),
                session=self.session,
                by=shown_by,
                prompt=suggestion_record.prompt_digest(text),
                answers=tuple(suggested.weighed),
            )
            # a full disk keeps nothing from the agent
            with suppress(RoamkbError):
                suggestion_record.save_suggestion_record(log.local_folder, record)
        return self._keep_receipt(log, suggested, shown_by=shown_by)

    def before_change(self, file: str, names: Sequence[str] = ()) -> HookSuggestions:
        """Return what is known of a file of the project that is about to be changed, or of `names` in the change."""
        log = self._project_log.log_or_none()
        if log is None or not self.may_inject:
            return HookSuggestions()
        path = Path(os.path.realpath(Path(self.payload_text("cwd") or "/", file)))
        besides = injections.ids_shown_to(log.local_folder, self.session, is_subagent="agent_id" in self._payload)
        learnings = log_brief.learnings_about_file(self._project_log, path, names=names, besides=besides)
        return self._keep_receipt(log, HookSuggestions(learnings=learnings), shown_by="file")

    @cached_property
    def _shown_without_log(self) -> "session_shown.SessionShown | None":
        """The record of shown ids of a session without a log; None where there can be none."""
        try:
            folder = self.knowledge_base.state_folders.shown_folder(self.knowledge_base.rule.kb)
            return session_shown.SessionShown(folder, self.session) if folder and self.session else None
        except RoamkbError:
            return None

    def _remember_shown(self, ids: Sequence[str], *, afresh: bool = False) -> bool:
        """Record the ids that are shown where the project has no log; return whether that is possible."""
        session_shown = self._shown_without_log
        if session_shown is None:
            return False
        if afresh:
            session_shown.forget_all()
        try:
            session_shown.add_ids(ids)
        except RoamkbError:
            return False
        return True

    def _keep_receipt(self, log: "project_log.Log", suggestions: HookSuggestions, *, shown_by: str) -> HookSuggestions:
        if suggestions.suggested_ids:
            author = self._project_log.make_author(session=self.session)
            self._project_log.keep_receipt(log, author, suggestions.suggested_ids, shown_by=shown_by)
        return suggestions

    def handle_failure(self) -> "effectiveness.Remedy | None":
        """Record a failure, and return the remedy that best fixed it before, or None."""
        self.record_payload()
        if self.writable_log is None:
            return None
        self._settle_offered_remedy(failed=True)
        self._follow_episodes(failed=True)
        command, error = self._tool_command, self._tool_error
        if (
            not command
            or not error
            or not self.may_inject
            or not self.is_log_ready
            or not remedies.knows_remedies(self._project_log)
        ):
            return None

        suggested = self._project_log.remedy("suggest", error=error, limit=_REMEDY_LIMIT, session=self.session)
        if not isinstance(suggested, remedy.SuggestedRemedies):
            return None
        best_remedy = next((one for one in suggested.remedies if one.is_sure), None)
        if best_remedy is None or (best_remedy.is_tried and not best_remedy.successes):
            return None
        if best_remedy.hazard or self._is_taken_back(best_remedy):
            # it may have helped once, and is nothing to be done again unasked
            return None
        injections.save_suggestion(
            self.writable_log.local_folder,
            self.session,
            {
                "command": detector.withhold_secrets(command),
                "error": detector.withhold_secrets(error),
                "technique": best_remedy.technique,
            },
        )
        self._project_log.keep_receipt(
            self.writable_log,
            self._project_log.make_author(session=self.session),
            [shown.remedy_id(best_remedy.technique)],
            shown_by="error",
        )
        return best_remedy

    def _is_taken_back(self, best_remedy: "effectiveness.Remedy") -> bool:
        """Return whether a remedy says what a learning said that was forgotten, or isn't in force any more."""
        if self.writable_log is None or learning_state.REDACTED in best_remedy.technique:
            return True
        state = self.writable_log.read_contents().replay_state()
        return bool(learning_state.lapse_reason(state.learnings_with("said", best_remedy.technique)))

    def handle_success(self) -> "Sequence[observe.DeclinedText]":
        """Record a tool's use, and count a success for the remedy that was offered for it.

        Return what it said to be kept and no log may have.
        """
        self.record_payload()
        if self.writable_log is not None:
            self._settle_offered_remedy(failed=False)
            self._follow_episodes(failed=False)
        return self._refused

    def _follow_episodes(self, *, failed: bool) -> None:
        """Look for episodes in a tool's calls where no transcript records them."""
        if self.writable_log is None or not session_cache.is_session_id(self.session):
            return
        progress = transcripts.load_progress(self.writable_log.local_folder, self.session)
        if transcripts.records_calls(Path(self.payload_text("transcript_path") or "/")):
            self._leave_episodes_to_transcript(self.writable_log, progress)
            return
        tool_name, tool_input = self.payload_text("tool_name"), self._payload.get("tool_input")
        passage = transcript_formats.passage_of_call(
            tool_name, tool_input, result=self._tool_error, failed=failed, ts=0
        )
        failures, mended = self._record_mended(progress.failures, [passage])
        if failures == progress.failures:
            return
        stretch = progress.stretch
        if mended:
            stretch = replace(stretch, found=tuple(dict.fromkeys((*stretch.found, stop_question.MENDED))))
        transcripts.save_progress(
            self.writable_log.local_folder, self.session, replace(progress, failures=failures, stretch=stretch)
        )
        injections.set_waiting(self.writable_log.local_folder, self.session, waits=bool(failures))

    def _leave_episodes_to_transcript(self, log: "project_log.Log", progress: "transcripts.TranscriptProgress") -> None:
        """Forget what was followed while the transcript held no call yet: it holds those, too, and counts once."""
        if injections.is_waiting(log.local_folder, self.session):
            transcripts.save_progress(log.local_folder, self.session, replace(progress, failures=()))
            injections.set_waiting(log.local_folder, self.session, waits=False)

    def _settle_offered_remedy(self, *, failed: bool) -> None:
        """Count the remedy that was offered for this command: it works now, or fails as before."""
        if self.writable_log is None or not (
            offer := injections.load_suggestion(self.writable_log.local_folder, self.session)
        ):
            return

        if offer["command"] != detector.withhold_secrets(self._tool_command):
            return
        injections.remove_suggestion(self.writable_log.local_folder, self.session)
        error = offer["error"]
        if failed and fingerprint.fingerprint(self._tool_error or " ").digest != fingerprint.fingerprint(error).digest:
            # something else fails now, which says nothing about the remedy
            return
        with suppress(RoamkbError):
            self._project_log.remedy(
                "record",
                error=error,
                technique=offer["technique"],
                outcome="failure" if failed else "success",
                session=self.session,
            )

    def count_occasions(self) -> int:
        """Return how many times the session was shown something, or nearly; 0 without a log."""
        if self._project_log.log_or_none() is None:
            return 0
        latest = self._project_log.shown(session=self.session, limit=1)
        return latest.more + len(latest.occasions)

    def shown_after(self, count: int) -> "shown.ShownList":
        """Return what the session was shown after so many occasions, with what was weighed then.

        Raises:
            NoLog: the project has no log, so that nothing was recorded.
        """
        latest = self._project_log.shown(session=self.session, limit=1)
        is_new = latest.more + len(latest.occasions) > count
        return latest if is_new else replace(latest, occasions=())

    # What a session may do

    def session_facts(self) -> dict[str, object]:
        """Return the facts of this session that hooks at every step need."""
        worktree = worktrees.worktree_name(str(self.writable_log.root)) if self.writable_log else ""
        return {
            "keeps": self.writable_log is not None,
            "agent": self.environment.agent_name,
            "worktree": worktree,
            "projects": render_judged_projects(
                {
                    "session_project": self._project_log.session_project(),
                    "checkout_project": self._project_log.checkout_project,
                    "log_project": self._project_log.log_project,
                }
            ),
        }

    # Chores

    def _run_chores(self, *, has_done: bool) -> None:
        """Run the remaining chores of earlier sessions, as long as the time allows.

        One thing at least, unless one was done: where every start is slow, all would wait for ever.
        """
        if self.writable_log is not None:
            injections.remove_old_suggestions(self.writable_log.local_folder)
        for chore in (
            self._consolidate_open_sessions,
            self._consolidate_queued_agents,
            self._import_changed_sources,
            self._make_daily_snapshot,
        ):
            if has_done and self._seconds_spent > _CHORE_SECONDS:
                return
            has_done |= self._run_chore(chore)

    def _run_chore(self, chore: "Callable[[project_log.Log], bool]") -> bool:
        # a log that is busy, or a disk that is full: the next start tries again
        with suppress(RoamkbError, OSError):
            return self.writable_log is not None and chore(self.writable_log)
        return False

    @property
    def _seconds_spent(self) -> float:
        return time.monotonic() - self._began

    def _consolidate_open_sessions(self, log: "project_log.Log", within: float = _CHORE_SECONDS) -> bool:
        """Consolidate the sessions that were never ended, the latest first; return whether there was one."""
        open_ids = [session for session in observations.open_sessions(log.observed) if session != self.session]
        for position, session in enumerate(reversed(open_ids)):
            if position and self._seconds_spent > within:
                break
            self._project_log.consolidate("session", session)
        return bool(open_ids)

    def _consolidate_queued_agents(self, log: "project_log.Log") -> bool:
        """Consolidate the queued agents whose sessions are done; return whether there was one."""
        queued = observations.queued_agents(log.local_folder)
        still_open = set(observations.open_sessions(log.observed)) if queued else set()
        ready = {path: agent for path, (agent, session) in queued.items() if session not in still_open}
        for agent in sorted(set(ready.values())):
            self._project_log.consolidate("agent", agent)
        for path in ready:
            files.discard_file(path)
        return bool(ready)

    def _import_changed_sources(self, log: "project_log.Log") -> bool:
        """Import the notes that another tool keeps for the project; return whether they had changed."""
        # what comes with a repository that nobody adopted is imported by whoever says so
        sources = [] if log.is_vouched_only else ingest.ingest_sources(self._project_log, None)
        state_file = log.local_folder / "imported"
        source_states = repr([(str(source), append.stat_signature(source)) for source in sources])
        if not sources or append.read_bytes(state_file) == source_states.encode():
            return False
        self._project_log.ingest()
        files.write_private_file(state_file, source_states.encode())
        return True

    def _make_daily_snapshot(self, log: "project_log.Log") -> bool:
        """Make the day's snapshot, if there is none; return whether that was looked into.

        Where nothing is to be kept there is none afterwards, and the notes aren't all read again for it.
        """
        day_file = log.local_folder / "kept-safe"
        today = self.environment.now().date().isoformat().encode()
        if append.read_bytes(day_file) == today:
            return False
        self._project_log.snapshot(daily=True, kb=EVERY_KB)
        files.write_private_file(day_file, today)
        return True
