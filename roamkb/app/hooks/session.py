"""A session as a harness's hooks tell of it: what every event needs to know before it does its own work."""

import json
import time
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from typing import Any
from typing import Final

from roamkb.app import KnowledgeBase
from roamkb.app import ProcessEnvironment
from roamkb.app.hooks.session_project import told_environment
from roamkb.app.hooks.session_project import told_session
from roamkb.core.errors import NoLog
from roamkb.core.model import Project
from roamkb.core.startup.dataclasses import replace

if TYPE_CHECKING:
    from roamkb.app.hooks.journal import SessionJournal
    from roamkb.app.log.project_log import ProjectLog
    from roamkb.boundary.store.folder_evidence import CallOrigin
    from roamkb.harnesses.transcript import CommandFailure
    from roamkb.harnesses.transcript import TranscriptPassage
    from roamkb.log.store.project_log import Log
    from roamkb.pipeline.extract.payloads import PayloadEvent
    from roamkb.pipeline.observe import DeclinedText
    from roamkb.remedies.effectiveness import RemedyAttempt

#: Of what a failed command printed.
_OUTPUT: Final = 20_000


class _HookKnowledgeBase(KnowledgeBase):
    """The knowledge base, seen from a session that a harness tells of: where it says it works counts, too."""

    def __init__(self, around: ProcessEnvironment, *, project: str | None, told_cwd: str) -> None:
        super().__init__(around, project=project)
        self._told_cwd = told_cwd

    @cached_property
    def _project(self) -> Project:
        """What this session's project is, found out once: an event is one moment."""
        return super()._project

    @property
    def _session(self) -> "CallOrigin":
        return told_session(self.environment, self._told_cwd)


class HookSession:
    """One session, as a hook's payload tells of it."""

    def __init__(self, payload: Mapping[str, Any], around: ProcessEnvironment | None = None) -> None:
        """Take the payload, and what is around this process."""
        self._payload = payload
        around = around or ProcessEnvironment.gathered()
        self.environment = replace(around, variables=told_environment(around.variables, payload))
        self.session = self.text("session_id")
        cwd = self.text("cwd")
        self.knowledge_base = _HookKnowledgeBase(
            self.environment,
            project=around.variables.get("CLAUDE_PROJECT_DIR") or cwd or None,
            told_cwd=cwd,
        )
        self._began = time.monotonic()
        self._refused: list[DeclinedText] = []

    def text(self, name: str) -> str:
        """Return a field of the payload, empty where it is no text."""
        value = self._payload.get(name)
        return value if isinstance(value, str) else ""

    @cached_property
    def _door(self) -> "ProjectLog":
        return self.knowledge_base.log

    @cached_property
    def log(self) -> "Log | None":
        """The log of the project, if this session may write to it; None where it has none."""
        from roamkb.core.errors import DiskError
        from roamkb.core.errors import Refused

        try:
            return self._door.log_to_write("")
        except (NoLog, Refused, DiskError):
            return None

    @cached_property
    def journal(self) -> "SessionJournal":
        """The journal of the notes, as this session keeps it."""
        from roamkb.app.hooks.journal import SessionJournal

        return SessionJournal(self.knowledge_base, self.session)

    @property
    def may_inject(self) -> bool:
        """Whether the project's people want to be told anything."""
        from roamkb.context.store.injections import is_off

        log = self._door.log_or_none()
        return log is None or not is_off(log.local)

    def record(self) -> None:
        """Record what the payload tells; what was said to be kept in so many words is learned at once."""
        from roamkb.pipeline.extract.payloads import happenings_of_payload
        from roamkb.text.store.lexicons import lexicon

        told = happenings_of_payload(self._payload, lambda: lexicon("remember"))
        if self.log is None or not (happened := list(told)):
            return
        from roamkb.pipeline.observe import record

        if self.text("tool_name") and any(one.type not in ("tool_use", "error") for one in happened):
            # a comment on a task that begins with a type: said by the agent, on purpose, and not twice
            happened = self._without_comments(happened)
        record(self.log, happened, self._door.author(session=self.session))

    def _without_comments(self, happened: "Sequence[PayloadEvent]") -> "list[PayloadEvent]":
        done = [one for one in happened if one.type in ("tool_use", "error")]
        if all(one.outcome != "failure" for one in done):
            found = self._door.observe(self._command, from_command=True, session=self.session)
            self._refused += (one for one in found.declined if one.is_refused)
        return done

    def _mended(
        self, failures: "Sequence[CommandFailure]", passages: "Sequence[TranscriptPassage]"
    ) -> "tuple[tuple[CommandFailure, ...], Sequence[RemedyAttempt]]":
        """Record the errors that went away and what was done; return what still fails, and the attempts."""
        if self.log is None or not (failures or any(one.is_shell for one in passages)):
            return (), ()
        from roamkb.remedies.episodes import found_episodes
        from roamkb.shell.parser import read_commands

        left, episodes = found_episodes(failures, passages, read=read_commands, root=str(self.log.root))
        if not episodes:
            return left, ()
        from roamkb.remedies.remedy import record_episodes

        return left, record_episodes(self.log, episodes, self._door.author(session=self.session))

    @property
    def _command(self) -> str:
        from roamkb.pipeline.extract.payloads import command_of

        return command_of(self._payload.get("tool_input"))

    @property
    def printed(self) -> str:
        """All that the harness tells of what a command printed; nothing of what another tool gave."""
        from roamkb.pipeline.extract.payloads import is_shell_tool

        if not is_shell_tool(self.text("tool_name")):
            return ""
        return json.dumps([self._payload.get("tool_response"), self.text("error")])

    @property
    def _error(self) -> str:
        """The failed tool's error: a field of its own, or what a command printed."""
        from roamkb.pipeline.extract.payloads import printed_by

        told = (self.text("error"), printed_by(self._payload.get("tool_response")))
        return next((one for one in told if one.strip()), "")[:_OUTPUT]
