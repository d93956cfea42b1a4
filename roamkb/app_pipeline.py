"""The pipeline over a project's log: what was observed becomes knowledge, stage by stage (document 002)."""

from typing import TYPE_CHECKING

from roamkb.app_log import ProjectLog
from roamkb.core.errors import UsageError
from roamkb.core.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Iterator

    from roamkb.actions.consolidate import Consolidated
    from roamkb.actions.observe import Observed
    from roamkb.core.saying import Hand
    from roamkb.formats.payloads import Happening
    from roamkb.storage.log import Log


class ProjectPipeline(ProjectLog):
    """The project's log, and the stages that its learnings pass."""

    def observe(
        self,
        text: str,
        *,
        type: str | None = None,
        tool: str | None = None,
        outcome: str | None = None,
        from_command: bool = False,
        from_message: bool = False,
        from_payload: bool = False,
        from_transcript: bool = False,
        task: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> "Observed":
        """Record one raw observation; or learn what an agent said in a command or a message.

        `from_payload` and `from_transcript` record what a hook's payload or a transcript tells.

        Raises:
            UsageError: several things at once, or no JSON. NoLog, Refused, DiskError: nothing was recorded.
        """
        from roamkb.actions import observe as observing
        from roamkb.formats.commands import captured_from_command
        from roamkb.formats.commands import captured_from_message

        if from_command + from_message + from_payload + from_transcript > 1:
            raise UsageError("observe one thing at a time", hint="give one of the --from options")
        if from_command or from_message:
            said = captured_from_command(text) if from_command else captured_from_message(text)
            return observing.learn_said(
                said,
                lambda saying: self.take(saying, agent=agent, session=session),
                task=task or "",
            )
        log, hand = self._log(text), self._hand(agent=agent, session=session)
        happened: Iterable[Happening]
        if from_payload:
            happened, hand = observing.from_payload(text, hand)
        elif from_transcript:
            happened = observing.from_transcript(text)
        else:
            happened = observing.stated(text, type=type or "insight", tool=tool or "", outcome=outcome or "")
        return observing.record(log, happened, hand, task=task or "")

    def consolidate(
        self, stage: str, name: str | None = None, *, agent: str | None = None
    ) -> "tuple[Consolidated, ...]":
        """Turn a session's observations into learnings, an agent's many into few, or lift a task's.

        Without `name`, the stage `session` takes all sessions that said something since the last time.

        Raises:
            UsageError: no such stage, or it needs a name. NoLog, Refused, DiskError.
        """
        from roamkb.actions import consolidate as consolidating

        if stage not in consolidating.STAGES:
            raise UsageError(f"no stage {shown(stage)}", hint="roamkb consolidate session|agent|task ID")
        if name is None and stage != "session":
            raise UsageError(f"which {stage}?", hint=f"roamkb consolidate {stage} ID")
        log, hand = self._log(""), self._hand(agent=agent)
        if stage == "agent" and name is not None:
            return (consolidating.consolidate_agent(log, name, hand),)
        if stage == "task" and name is not None:
            return (consolidating.consolidate_task(log, name, hand),)
        return tuple(self._sessions(log, name, hand))

    def _sessions(self, log: "Log", name: str | None, hand: "Hand") -> "Iterator[Consolidated]":
        """Consolidate one session, or each that is open; then sweep what is old."""
        from roamkb.actions.consolidate import consolidate_session
        from roamkb.storage.boot_files import boot_lines
        from roamkb.storage.observations import finish
        from roamkb.storage.observations import observations
        from roamkb.storage.observations import open_sessions
        from roamkb.storage.observations import sweep
        from roamkb.storage.receipts import receipts

        sessions = open_sessions(log.local) if name is None else [name]
        boot = list(boot_lines(log.root, self._around.home)) if sessions else []
        given = receipts(log.local) if sessions else []
        for session in sessions:
            shown = [id for receipt in given if receipt.session == session for id in receipt.shown]
            yield consolidate_session(
                log, session, observations(log.local, session), hand, shown=shown, boot=boot
            )
            finish(log.local, session)
        sweep(log.local, now=hand.ts)
