"""The project of a harness's session: as much as a denial needs, which has no time for more."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from roamkb.app import callers
from roamkb.app.environment import ProcessEnvironment
from roamkb.boundary.policy import strictest_project
from roamkb.boundary.store import kb_paths
from roamkb.boundary.store import session_evidence
from roamkb.boundary.store import session_folders
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.call_origin import read_call_origin
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import is_within
from roamkb.core.model import Note
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.typing import Any
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts
from roamkb.fs.user_dirs import default_state_dir
from roamkb.harnesses.registry import harness_of
from roamkb.harnesses.registry import hook_project_folder
from roamkb.kb.notes.store import notes as kb_notes
from roamkb.org import agent_node

#: As `broker` sets it, whose import most calls can do without.
_ASKED_BY_VARIABLE = "ROAMKB_ASKED_BY"
#: Without it a file is no agent's, and needn't be parsed.
_AGENT_TAG = b":agent"


class SessionProject:
    """The project of a session, and its agents' notes."""

    def __init__(self, payload: Mapping[str, Any], around: ProcessEnvironment | None = None) -> None:
        """Take the payload, and this process's environment."""
        around = around or ProcessEnvironment.from_process()
        self._around = replace(around, variables=harness_environment(around.variables, payload))
        self._payload = payload

    @cached_property
    def project_kind(self) -> str:
        """The project's kind, by all evidence of where the session works."""
        project = judge_session(harness_session(self._around, self._payload), self._found_rule, self._around)
        record_judgement(self._around, self._payload, project)
        return project.kind

    @cached_property
    def _found_rule(self) -> Rule | BadRule:
        return find_rule(self._around.home, account_home=self._around.account_home)

    @cached_property
    def kb_names(self) -> tuple[str, ...]:
        """Every path of the knowledge bases; where the rule is broken, the last good one's."""
        state = _state_folder(self._around)
        if isinstance(self._found_rule, BadRule):
            return kb_paths.saved_kb_names(state)
        names = tuple(dict.fromkeys(name for folder in self._found_rule.all_folders for name in _all_names(folder)))
        kb_paths.save_kb_names(state, names)
        return names

    def is_in_default_kb(self, path: str) -> bool:
        """Return whether a path is certainly the default knowledge base's; the only one there is has all paths."""
        rule = self._found_rule
        if isinstance(rule, BadRule):
            return False
        others = (*rule.others, *(rule.account.others if rule.account else ()))
        if not others:
            return True
        spellings = {path, path if "\0" in path else os.path.realpath(path)}
        own_names = {*_all_names(rule.kb)}
        other_names = {name for other in others for name in _all_names(other.folder)} - own_names
        return all(
            any(is_within(spelling, name) for name in own_names)
            and not any(is_within(spelling, name) for name in other_names)
            for spelling in spellings
        )

    def is_agent_note(self, path: str) -> bool:
        """Return whether a path is an agent node's file, or doesn't exist yet."""
        if not os.path.lexists(path):
            return True
        if Path(path).is_file() and not _may_be_agent_note(path):
            return False

        notes = kb_notes.Notes(Path(self.kb_names[0]))
        real_path = os.path.realpath(path)
        file = next(
            (note_file for note_file in notes.kb_walk.files if os.path.realpath(note_file.path) == real_path), None
        )
        note = notes.read_note(file) if file else None
        if isinstance(note, Note) and note.nodes:
            return agent_node.is_agent_node(note, note.nodes[0])
        # what org-roam doesn't know may still be somebody's words
        return file is not None and Path(real_path).stat().st_size == 0


def _all_names(folder: Path) -> tuple[str, ...]:
    """Return a folder's name, its real path, and what other mounts call it."""
    real = os.path.realpath(folder)
    names: tuple[str, ...] = ()
    with suppress(OSError):
        names = tuple(other_names(real, read_mounts(Path("/proc"))))
    return (str(folder), real, *names)


def _may_be_agent_note(path: str) -> bool:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return False
    return not text or _AGENT_TAG in text.lower()


def harness_environment(environment: Mapping[str, str], payload: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the environment that the harness itself would set for its commands."""
    return harness_of(payload, environment).session_environment(environment, payload)


def harness_session(around: ProcessEnvironment, payload: Mapping[str, Any]) -> CallOrigin:
    """Return the evidence of where a session works, including the folders that its harness names, or named before."""
    session, cwd, transcript = (_payload_text(payload, name) for name in ("session_id", "cwd", "transcript_path"))
    project = hook_project_folder(around.variables) or cwd
    origin = read_call_origin(
        around.variables, cwd=around.cwd, pid=around.pid, project=Path(project) if project else None
    )
    was_at_work = is_session_at_work(session, around)
    # a long one takes a while to read
    earlier = () if was_at_work else session_folders.transcript_folders(transcript)
    return replace(
        origin,
        harness={**origin.harness, "cwd": cwd} if cwd else origin.harness,
        parents={**origin.parents, **{f"a line of the transcript ({folder})": folder for folder in earlier}},
        was_at_work=was_at_work,
    )


def record_judgement(around: ProcessEnvironment, payload: Mapping[str, Any], project: Project) -> None:
    """Remember for later hooks where the session was, and whether that is work's."""
    session, cwd = _payload_text(payload, "session_id"), _payload_text(payload, "cwd")
    session_folders.record_folder(session, cwd, _state_folder(around), is_work=project.kind is ProjectKind.WORK)


def is_session_at_work(session: str, around: ProcessEnvironment) -> bool:
    """Say whether a hook saw that session in a work project."""
    return session_folders.was_at_work(session, _state_folder(around))


def _state_folder(around: ProcessEnvironment) -> str:
    return str(around.state or default_state_dir())


def _payload_text(payload: Mapping[str, Any], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""


def judge_session(session: CallOrigin, rule: Rule | BadRule, around: ProcessEnvironment) -> Project:
    """Return the project of a session by `rule`, judged by its askers from inside a wall as well."""
    if is_session_at_work(around.session_id, around):
        session = replace(session, was_at_work=True)
    project = session_evidence.session_project(session, rule)
    if not around.variables.get(_ASKED_BY_VARIABLE):
        return project

    askers = callers.asking_sessions(around.variables)
    return strictest_project((project, *(callers.judge_asker(asker, rule) for asker in askers)))
