"""A session as a harness's hooks describe it: the part that every event needs."""

import json
import os
import time
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.hooks import journal as hooks_journal
from roamkb.app.hooks.session_project import harness_environment
from roamkb.app.hooks.session_project import harness_session
from roamkb.app.hooks.session_project import record_judgement
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log import brief as log_brief
from roamkb.app.log import project_log as log_project_log
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import Refused
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import Final
from roamkb.core.startup.typing import Self
from roamkb.harnesses import transcript
from roamkb.harnesses.registry import hook_project_folder
from roamkb.log.store import build_budget
from roamkb.log.store import project_log as project_log_module
from roamkb.pipeline import observe
from roamkb.pipeline.extract import markers
from roamkb.pipeline.extract import payloads
from roamkb.remedies import effectiveness
from roamkb.remedies import episodes as remedies_episodes
from roamkb.remedies import remedy
from roamkb.shell import parser
from roamkb.shell import programs
from roamkb.text.store import lexicons

#: Properties of a log's context that are judgements of folders.
_LOG_PROJECTS: Final = ("checkout_project", "log_project")
#: What names a file or folder in a command: a word with a stroke in it, or one that leads out of a folder.
_PLACE: Final = lazily(r"[^\s'\"`;&|<>()]*(?:/|\.\.|~)[^\s'\"`;&|<>()]*")
#: Of what a failed command printed.
_OUTPUT_LENGTH: Final = 20_000
#: Of the processor, for a log that isn't indexed: harnesses wait ten seconds or more.
_BUILD_SECONDS: Final = 2.0


class _HookKnowledgeBase(KnowledgeBase):
    """The knowledge base seen from a harness's session; the session's folder counts as evidence."""

    def __init__(
        self,
        around: ProcessEnvironment,
        *,
        project: str | Path | None,
        payload: Mapping[str, Any],
        judged_projects: Mapping[str, Project],
    ) -> None:
        super().__init__(around, project=project)
        self._payload = payload
        self._judged_projects = judged_projects

    def _open_again(self) -> Self:
        # what was judged was judged for the default one
        return type(self)(self.environment, project=self.project_folder, payload=self._payload, judged_projects={})

    @cached_property
    def current_project(self) -> Project:
        """The project of this session, classified once: an event is one moment.

        A permit to write a note doesn't ask it, and judges the session anew.
        """
        if judged := self._judged_projects.get("session_project"):
            return judged
        project = super().current_project
        record_judgement(self.environment, self._payload, project)
        return project

    @cached_property
    def _found_rule(self) -> Rule | BadRule:
        return super().find_rule()

    def find_rule(self, kb_name: str = "") -> Rule | BadRule:
        """Return the rule, read once, or its fault as a value."""
        return super().find_rule(kb_name) if kb_name else self._found_rule

    @cached_property
    def rule(self) -> Rule:
        """The rule, read once."""
        return super().rule

    @property
    def _call_origin(self) -> "CallOrigin":
        return harness_session(self.environment, self._payload)


def parse_judged_projects(session_pass: Mapping[str, object]) -> dict[str, Project]:
    """Return the projects of a session's pass, by their names; empty where it has none that can be read."""
    entries = session_pass.get("projects")
    try:
        return {
            name: Project(kind=ProjectKind(kind), root=root and Path(root), reason="judged a few minutes ago")
            for name, (kind, root) in (entries.items() if isinstance(entries, dict) else ())
        }
    except (TypeError, ValueError):
        return {}


def render_judged_projects(projects: Mapping[str, Project]) -> dict[str, object]:
    """Return projects, by their names, as a session's pass has them below `projects`."""
    return {name: (project.kind.value, project.root and str(project.root)) for name, project in projects.items()}


class HookSession:
    """One session, as a hook's payload describes it."""

    def __init__(
        self,
        payload: Mapping[str, Any],
        around: ProcessEnvironment | None = None,
        *,
        session_pass: Mapping[str, object] | None = None,
    ) -> None:
        """Take the payload, this process's environment, and the session's cached permissions."""
        self._payload = payload
        around = around or ProcessEnvironment.from_process()
        self.environment = replace(around, variables=harness_environment(around.variables, payload))
        self.session = self.payload_text("session_id")
        self._judged_projects = parse_judged_projects(session_pass or {})
        self.knowledge_base = _HookKnowledgeBase(
            self.environment,
            project=hook_project_folder(around.variables) or self.payload_text("cwd") or None,
            payload=payload,
            judged_projects=self._judged_projects,
        )
        self._began = time.monotonic()
        self._refused: list[observe.DeclinedText] = []

    def payload_text(self, name: str) -> str:
        """Return a text field of the payload; empty where it is no text."""
        value = self._payload.get(name)
        return value if isinstance(value, str) else ""

    @cached_property
    def _project_log(self) -> "log_project_log.ProjectLog":
        log = self.knowledge_base.log
        log.build_budget = self.build_budget
        # where a cached property's value lies
        vars(log).update({name: self._judged_projects[name] for name in _LOG_PROJECTS if name in self._judged_projects})
        return log

    @cached_property
    def build_budget(self) -> "build_budget.BuildBudget":
        """How much of a long log's index one hook may build, well below any harness's timeout."""
        return build_budget.BuildBudget(_BUILD_SECONDS)

    @property
    def is_log_ready(self) -> bool:
        """Whether the log's state can be asked for; where not, this hook built a part of it."""
        try:
            if self.writable_log is not None:
                self.writable_log.read_contents().replay_state()
        except build_budget.StillBuilding:
            return False
        return True

    @cached_property
    def writable_log(self) -> "project_log_module.Log | None":
        """The log of the project, if this session may write to it; None where it has none."""
        try:
            return self._project_log.log_to_write("")
        except (NoLog, Refused, DiskError):
            return None

    @cached_property
    def session_journal(self) -> "hooks_journal.SessionJournal":
        """The journal of the notes, as this session keeps it."""
        return hooks_journal.SessionJournal(self.knowledge_base, self.session)

    @property
    def may_inject(self) -> bool:
        """Whether hooks may put anything into this project's prompts."""
        return log_brief.may_inject(self._project_log)

    def record_payload(self) -> None:
        """Record the payload's events; learn marked statements at once."""
        # most payloads hold nothing to record, and whose log this is takes longer to find out
        events = list(payloads.events_of_payload(self._payload, lambda: lexicons.lexicon("remember")))
        if not events or self.writable_log is None:
            return

        if self.payload_text("tool_name") and any(event.type not in ("tool_use", "error") for event in events):
            # a comment on a task that begins with a type: said by the agent, on purpose, and not twice
            events = self._observe_comments(events)
        observe.record_events(self.writable_log, events, self._project_log.make_author(session=self.session))

    def _observe_comments(self, events: "Sequence[payloads.PayloadEvent]") -> "list[payloads.PayloadEvent]":
        tool_events = [event for event in events if event.type in ("tool_use", "error")]
        if not self.is_log_ready:
            # recorded, they are learned with the rest of the session
            return list(events)
        if all(event.outcome != "failure" for event in tool_events):
            observed = self._project_log.observe(self._tool_command, from_command=True, session=self.session)
            self._refused += (event for event in observed.declined if event.is_refused)
        return tool_events

    def _is_of_work(self, passage: "transcript.TranscriptPassage") -> bool:
        """Return whether a call names something that is work's: the log of no other project may tell of it."""
        named = (word.partition("=")[2] or word for word in _PLACE.findall(passage.command))
        return any(map(self._lies_at_work, (*passage.edits, *named)))

    def _lies_at_work(self, name: str) -> bool:
        try:
            path = Path(os.path.realpath(Path(self.payload_text("cwd") or "/", os.path.expanduser(name))))
            # a file is as its folder is, and most calls name files of a few
            folder = path if path.is_dir() else path.parent
        except (OSError, ValueError):
            # no file has such a name
            return False
        if folder not in self._judged_folders:
            kind = classify_folder(folder, self.knowledge_base.find_rule()).kind
            self._judged_folders[folder] = kind is ProjectKind.WORK
        return self._judged_folders[folder]

    @cached_property
    def _judged_folders(self) -> dict[Path, bool]:
        """Whether each folder that was named is work's."""
        return {}

    def _record_mended(
        self,
        failures: "Sequence[transcript.CommandFailure]",
        passages: "Sequence[transcript.TranscriptPassage]",
    ) -> "tuple[tuple[transcript.CommandFailure, ...], Sequence[effectiveness.RemedyAttempt]]":
        """Record the errors that were mended, and how; return those that still fail, and the attempts."""
        if self.writable_log is None or not (failures or any(passage.is_shell for passage in passages)):
            return (), ()

        if self._project_log.log_project.kind is not ProjectKind.WORK:
            passages = [passage for passage in passages if not self._is_of_work(passage)]
        open_failures, episodes = remedies_episodes.find_episodes(
            failures, passages, parse_shell=parser.read_commands, root=str(self.writable_log.root)
        )
        if not episodes:
            return open_failures, ()
        if not self.is_log_ready:
            # they are looked for again
            return tuple(failures), ()

        return open_failures, remedy.record_episodes(
            self.writable_log, episodes, self._project_log.make_author(session=self.session)
        )

    @property
    def _tool_command(self) -> str:
        return payloads.command_of(self._payload.get("tool_input"))

    @property
    def printed_output(self) -> str:
        """The output of a shell command by the payload; empty for any other tool."""
        if not payloads.is_shell_tool(self.payload_text("tool_name")):
            return ""
        return json.dumps([self._payload.get("tool_response"), self.payload_text("error")])

    def roamkb_calls(self) -> "Sequence[Sequence[str]]":
        """Return the words behind `roamkb` of each call in the payload's shell command, as its harness heard it."""
        runs = (programs.without_runners(command.words) for command in markers.nested_commands(self._tool_command))
        # a Python runs it as a module
        starts = ((words, 3 if words[1:3] == ["-m", "roamkb"] else 1) for words in runs)
        return [
            words[start:] for words, start in starts if start == 3 or programs.name_of("".join(words[:1])) == "roamkb"
        ]

    @property
    def _tool_error(self) -> str:
        """The failed tool's error: a field of its own, or its output."""
        error_texts = (self.payload_text("error"), payloads.printed_by(self._payload.get("tool_response")))
        return next((error_text for error_text in error_texts if error_text.strip()), "")[:_OUTPUT_LENGTH]
