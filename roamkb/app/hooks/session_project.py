"""The project of a session as its harness tells of it: what a denial needs, which has no time for more."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from roamkb.app.environment import ProcessEnvironment
from roamkb.boundary.store.folder_evidence import CallOrigin
from roamkb.boundary.store.folder_evidence import find_rule
from roamkb.boundary.store.folder_evidence import session_of
from roamkb.boundary.store.folder_evidence import session_project
from roamkb.boundary.store.kb_paths import keep_names
from roamkb.boundary.store.kb_paths import kept_names
from roamkb.core.errors import BadRule
from roamkb.core.model import Project
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts
from roamkb.fs.user_dirs import usual_state

#: As `broker` sets it, whose import most calls can do without.
_ASKED_BY = "ROAMKB_ASKED_BY"
#: Without it a file is no agent's, and needn't be parsed.
_MARK = b":agent"


class SessionProject:
    """What a session's project is, and which notes are an agent's."""

    def __init__(self, payload: Mapping[str, Any], around: ProcessEnvironment | None = None) -> None:
        """Take the payload, and what is around this process."""
        around = around or ProcessEnvironment.gathered()
        self._around = replace(around, variables=told_environment(around.variables, payload))
        cwd = payload.get("cwd")
        self._cwd = cwd if isinstance(cwd, str) else ""

    @cached_property
    def kind(self) -> str:
        """What the project is, by all that says where the session works."""
        return judged_session(told_session(self._around, self._cwd), self._rule, self._around).kind

    @cached_property
    def _rule(self) -> Rule | BadRule:
        return find_rule(self._around.home, account_home=self._around.account_home)

    @cached_property
    def kb_names(self) -> tuple[str, ...]:
        """Every name of the knowledge base; where the rule is broken, the last good one's."""
        state = str(self._around.state or usual_state())
        if isinstance(self._rule, BadRule):
            return kept_names(state)
        kb, real = self._rule.kb, os.path.realpath(self._rule.kb)
        others: tuple[str, ...] = ()
        with suppress(OSError):
            others = tuple(other_names(real, read_mounts(Path("/proc"))))
        names = tuple(dict.fromkeys((str(kb), real, *others)))
        keep_names(state, names)
        return names

    def is_agent_note(self, path: str) -> bool:
        """Say whether a path is an agent node's file, or nothing yet."""
        if not os.path.lexists(path):
            return True
        if Path(path).is_file() and not _may_be_agents(path):
            return False
        from roamkb.core.model import Note
        from roamkb.kb.notes.store.notes import Notes
        from roamkb.org.agent_node import is_agent_node

        notes = Notes(Path(self.kb_names[0]))
        real = os.path.realpath(path)
        file = next((one for one in notes.walk.files if os.path.realpath(one.path) == real), None)
        note = notes.read(file) if file else None
        if isinstance(note, Note) and note.nodes:
            return is_agent_node(note, note.nodes[0])
        # what org-roam doesn't know may still be somebody's words
        return file is not None and Path(real).stat().st_size == 0


def _may_be_agents(path: str) -> bool:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return False
    return not text or _MARK in text.lower()


def told_environment(environment: Mapping[str, str], payload: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the environment as the harness itself would set it for what it runs."""
    if environment.get("CLAUDE_PROJECT_DIR") and not environment.get("CLAUDECODE"):
        return {**environment, "CLAUDECODE": "1"}
    path = payload.get("transcript_path")
    if "turn_id" in payload or (isinstance(path, str) and "/.codex/" in path):
        return {**environment, "CODEX_THREAD_ID": str(payload.get("session_id"))}
    return environment


def told_session(around: ProcessEnvironment, told_cwd: str) -> CallOrigin:
    """Return the evidence of where a session works, what its harness says of its folder among it."""
    project = around.variables.get("CLAUDE_PROJECT_DIR") or told_cwd
    found = session_of(
        around.variables, cwd=around.cwd, pid=around.pid, project=Path(project) if project else None
    )
    return replace(found, harness={**found.harness, "cwd": told_cwd}) if told_cwd else found


def judged_session(session: CallOrigin, rule: Rule | BadRule, around: ProcessEnvironment) -> Project:
    """Return what `rule` makes of a session, and of who had it begun from inside of a wall."""
    project = session_project(session, rule)
    if not around.variables.get(_ASKED_BY):
        return project
    from roamkb.app.callers import judged_asker
    from roamkb.app.callers import sessions_of_askers
    from roamkb.boundary.policy import strictest

    askers = sessions_of_askers(around.variables)
    return strictest((project, *(judged_asker(one, rule) for one in askers)))
