"""What a harness's hooks ask of a session but at a stop: wired here, decided below, answered by the door.

Every method does one event's work and returns what there is to say. Only the refusal before a tool is meant
to stop anybody; for everything else, whatever goes wrong is the caller's to swallow.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Final

from roamkb.app.hooks.session import HookSession
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from roamkb.context.brief_text import SessionBrief
    from roamkb.context.store.session_shown import SessionShown
    from roamkb.core.model import Hit
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.store.project_log import Log
    from roamkb.pipeline.observe import DeclinedText
    from roamkb.remedies.effectiveness import Remedy

#: Seconds of a session's start after which no more chores are begun: what is left is for the next start.
_BUDGET: Final = 0.8
#: The same of what the brief should know: what the last sessions learned.
_BEFORE_THE_BRIEF: Final = 0.4
#: Of a prompt, what is asked for; a pasted document says it at its beginning.
_PROMPT: Final = 4_000
#: Of what a failed command printed.
_OUTPUT: Final = 20_000
#: Remedies among which one for this very error may be.
_REMEDIES: Final = 20
#: Digits of an error's fingerprint by which an ask names it.
_SHORT_DIGEST: Final = 8
_WRAP_UP: Final = "wrap-up"
#: How Claude Code says that a program started it, for which the last thing said is the answer.
_UNATTENDED: Final = ("sdk-", "claude-code-github-action")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSuggestions:
    """A few learnings and nodes that fit; most often none."""

    learnings: "Sequence[LearningState]" = ()
    nodes: "Sequence[Hit]" = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all of it."""
        return (*(one.id for one in self.learnings), *(hit.id for hit in self.nodes if hit.id))


class HookEventSession(HookSession):
    """A session at any event but a stop."""

    # What happens

    def start(self) -> "SessionBrief | None":
        """Return the brief, and look after what earlier sessions left, as long as the time allows.

        A session that goes on has it already, where its harness kept it.
        """
        from roamkb.app.hooks.session_project import SessionProject
        from roamkb.app.log.brief import make_brief
        from roamkb.context.store.injections import AFRESH
        from roamkb.context.store.injections import is_briefed

        # the day may come when the rule can't be read
        _ = SessionProject(self._payload, self.environment).kb_names
        # so that the brief knows what the last sessions learned
        has_done = self._does(lambda log: self._sweep(log, within=_BEFORE_THE_BRIEF))
        afresh = self.text("source") in ("clear", "compact")
        goes_on = self.text("source") in ("resume", "fork")
        brief = None
        if self.may_inject and not (goes_on and is_briefed(Path(self.text("transcript_path") or "/"))):
            is_subagent = bool(self.text("agent_type"))
            by = AFRESH if afresh else "brief"
            brief = make_brief(self._door, session=self.session, subagent=is_subagent, by=by)
            self._briefed(brief, afresh=afresh)
        self._chores(has_done=has_done)
        return brief

    def _briefed(self, brief: "SessionBrief", *, afresh: bool = False) -> None:
        """Remember the brief where the project has no log to do so."""
        if brief.log is None:
            self._remembers(brief.shown, afresh=afresh)

    def start_subagent(self) -> "SessionBrief | None":
        """Return what helps a subagent; None where nothing does."""
        from roamkb.app.log.brief import make_brief

        if not self.may_inject:
            return None
        brief = make_brief(self._door, session=self.session, subagent=True, by="subagent")
        self._briefed(brief)
        return brief if brief.learnings or brief.nodes else None

    def prompted(self) -> HookSuggestions:
        """Record what a human said for good, and return what fits the prompt and wasn't shown yet."""
        from roamkb.app.log.brief import suggest
        from roamkb.app.log.brief import suggest_nodes
        from roamkb.context.store.injections import shown_to

        prompt = self.text("prompt")
        self.record()
        if not prompt.strip() or not self.may_inject:
            return HookSuggestions()
        prompt = prompt[:_PROMPT]
        if log := self._door.log_or_none():
            learnings, nodes = suggest(self._door, prompt, besides=shown_to(log.local, self.session))
            return self._shown(log, HookSuggestions(learnings=learnings, nodes=nodes), by="prompt")
        if self._shown_without_log is None:
            # where nobody remembers what was shown, it would be shown again and again
            return HookSuggestions()
        offer = HookSuggestions(nodes=suggest_nodes(self._door, prompt, besides=self._shown_without_log))
        return offer if self._remembers(offer.ids) else HookSuggestions()

    def before_change(self, file: str) -> HookSuggestions:
        """Return what is known to go wrong with a file of the project that is about to be changed."""
        from roamkb.app.log.brief import learnings_about_file
        from roamkb.context.store.injections import shown_to

        log = self._door.log_or_none()
        if log is None or not self.may_inject:
            return HookSuggestions()
        path = Path(os.path.realpath(Path(self.text("cwd") or "/", file)))
        # a line of a long brief is no warning at the moment
        besides = shown_to(log.local, self.session, by=("file", "prompt"))
        return self._shown(
            log, HookSuggestions(learnings=learnings_about_file(self._door, path, besides=besides)), by="file"
        )

    @cached_property
    def _shown_without_log(self) -> "SessionShown | None":
        """What the session was shown, where its project has no log; None where that can't be known."""
        from roamkb.context.store.session_shown import SessionShown

        try:
            folder = self.knowledge_base.state_folders.shown_folder(self.knowledge_base.rule.kb)
            return SessionShown(folder, self.session) if folder and self.session else None
        except RoamkbError:
            return None

    def _remembers(self, ids: Sequence[str], *, afresh: bool = False) -> bool:
        """Keep what is shown where the project has no log; say whether that is possible."""
        shown = self._shown_without_log
        if shown is None:
            return False
        if afresh:
            shown.forget()
        try:
            shown.add(ids)
        except RoamkbError:
            return False
        return True

    def _shown(self, log: "Log", offer: HookSuggestions, *, by: str) -> HookSuggestions:
        self._door.keep_receipt(log, self._door.author(session=self.session), offer.ids, by=by)
        return offer

    def failed(self) -> "Remedy | None":
        """Record a failure, and return what fixed it before, best first; None where nothing is known."""
        from roamkb.app.log.remedies import knows_remedies

        self.record()
        if self.log is None:
            return None
        self._settle(failed=True)
        self._follow(failed=True)
        command, error = self._command, self._error
        if not command or not error or not self.may_inject or not knows_remedies(self._door):
            return None
        from roamkb.context.relevance_threshold import carries_over
        from roamkb.context.store.injections import keep_offer
        from roamkb.remedies.effectiveness import is_for
        from roamkb.remedies.remedy import SuggestedRemedies
        from roamkb.secrets.detector import withheld

        found = self._door.remedy("suggest", error=error, limit=_REMEDIES, session=self.session)
        if not isinstance(found, SuggestedRemedies):
            return None
        fit = (
            one
            for one in found.remedies
            if is_for(one, found.fingerprint)
            and carries_over(one.technique, was=[attempt.error.line for attempt in one.attempts], now=error)
        )
        known = next(fit, None)
        if known is None or (known.is_tried and not known.successes):
            return None
        keep_offer(
            self.log.local,
            self.session,
            {"command": withheld(command), "error": withheld(error), "technique": known.technique},
        )
        return known

    def succeeded(self) -> "Sequence[DeclinedText]":
        """Record what a tool did, and where it is what a remedy was offered for, that it helped.

        Return what it said to be kept and no log may have.
        """
        self.record()
        if self.log is not None:
            self._settle(failed=False)
            self._follow(failed=False)
        return self._refused

    def _follow(self, *, failed: bool) -> None:
        """Look for episodes in what a tool did, where no transcript will tell of it."""
        from roamkb.context.store.injections import wait_for_success
        from roamkb.pipeline.extract.stop_question import MENDED
        from roamkb.pipeline.extract.transcript_formats import passage_of_call
        from roamkb.pipeline.store.transcripts import find_progress
        from roamkb.pipeline.store.transcripts import is_session_id
        from roamkb.pipeline.store.transcripts import keep_progress

        has_transcript = Path(self.text("transcript_path") or "-").is_file()
        if self.log is None or has_transcript or not is_session_id(self.session):
            return
        progress = find_progress(self.log.local, self.session)
        name, given = self.text("tool_name"), self._payload.get("tool_input")
        passage = passage_of_call(name, given, result=self._error, failed=failed, ts=0)
        failures, mended = self._mended(progress.failures, [passage])
        if failures == progress.failures:
            return
        stretch = progress.stretch
        if mended:
            stretch = replace(stretch, found=tuple(dict.fromkeys((*stretch.found, MENDED))))
        keep_progress(self.log.local, self.session, replace(progress, failures=failures, stretch=stretch))
        wait_for_success(self.log.local, self.session, waits=bool(failures))

    def _settle(self, *, failed: bool) -> None:
        """Count the remedy that was offered for this command: it works now, or fails as before."""
        from roamkb.context.store.injections import drop_offer
        from roamkb.context.store.injections import find_offer

        if self.log is None or not (offer := find_offer(self.log.local, self.session)):
            return
        from roamkb.remedies.fingerprint import fingerprint
        from roamkb.secrets.detector import withheld

        if offer["command"] != withheld(self._command):
            return
        drop_offer(self.log.local, self.session)
        error = offer["error"]
        if failed and fingerprint(self._error or " ").digest != fingerprint(error).digest:
            # something else fails now, which says nothing about the remedy
            return
        with suppress(RoamkbError):
            self._door.remedy(
                "record",
                error=error,
                technique=offer["technique"],
                outcome="failure" if failed else "success",
                session=self.session,
            )

    # What a session may do

    def may(self) -> dict[str, object]:
        """Return what is remembered of this session for hooks that run at every step."""
        return {"keeps": self.log is not None, "agent": self.environment.agent}

    # Chores

    def _chores(self, *, has_done: bool) -> None:
        """Do what else earlier sessions left to do, as long as the time allows.

        One thing at least, unless one was done: where every start is slow, all would wait for ever.
        """
        from roamkb.context.store.injections import drop_stale_offers

        if self.log is not None:
            drop_stale_offers(self.log.local, now=time.time())
        for chore in (self._sweep, self._gather, self._take_in, self._keep_safe):
            if has_done and self._spent > _BUDGET:
                return
            has_done |= self._does(chore)

    def _does(self, chore: "Callable[[Log], bool]") -> bool:
        # a log that is busy, or a disk that is full: the next start tries again
        with suppress(RoamkbError, OSError):
            return self.log is not None and chore(self.log)
        return False

    @property
    def _spent(self) -> float:
        return time.monotonic() - self._began

    def _sweep(self, log: "Log", within: float = _BUDGET) -> bool:
        """Consolidate the sessions that nobody ended, the latest first; say whether there was one."""
        from roamkb.log.store.observations import open_sessions

        left = [session for session in open_sessions(log.ignored) if session != self.session]
        for n, session in enumerate(reversed(left)):
            if n and self._spent > within:
                break
            self._door.consolidate("session", session)
        return bool(left)

    def _gather(self, log: "Log") -> bool:
        """Consolidate the agents that wait for it and whose sessions are done; say whether there was one."""
        from roamkb.fs.private_files import drop_paper
        from roamkb.log.store.observations import open_sessions
        from roamkb.log.store.observations import queued_agents

        queued = queued_agents(log.local)
        still_open = set(open_sessions(log.ignored)) if queued else set()
        ready = {path: agent for path, (agent, session) in queued.items() if session not in still_open}
        for agent in sorted(set(ready.values())):
            self._door.consolidate("agent", agent)
        for path in ready:
            drop_paper(path)
        return bool(ready)

    def _take_in(self, log: "Log") -> bool:
        """Import what another tool keeps for the project; say whether it had changed."""
        from roamkb.app.log.ingest import ingest_sources
        from roamkb.fs.append import changed

        sources = ingest_sources(self._door, None)
        mark = log.local / "imported"
        seen = repr([(str(source), changed(source)) for source in sources])
        if not sources or (mark.is_file() and mark.read_text() == seen):
            return False
        self._door.ingest()
        mark.write_text(seen)
        return True

    def _keep_safe(self, log: "Log") -> bool:
        """Make the day's snapshot, if there is none; say whether anybody looked for something to keep.

        Where nothing is to be kept there is none afterwards, and the notes aren't all read again for it.
        """
        mark = log.local / "kept-safe"
        today = self.environment.now().date().isoformat()
        if mark.is_file() and mark.read_text() == today:
            return False
        self._door.snapshot(daily=True)
        mark.write_text(today)
        return True
