"""Judgements of folders that a session's pass carries from one hook to the next."""

import json
from pathlib import Path

import pytest

from roamkb.app.hooks.session import parse_judged_projects
from roamkb.app.hooks.session import render_judged_projects
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind


@pytest.mark.parametrize("root", [Path("/home/me/code/site"), None])
def test_a_pass_keeps_kinds_and_roots(root: Path | None) -> None:
    """Through JSON; not the reasons, which nobody asks of it."""
    project = Project(kind=ProjectKind.UNKNOWN, root=root, reason="it is nowhere")
    session_pass = json.loads(json.dumps({"projects": render_judged_projects({"log_project": project})}))
    (judged,) = parse_judged_projects(session_pass).values()
    assert (project.kind, project.root) == (judged.kind, judged.root)


@pytest.mark.parametrize("entries", [None, [], {"log_project": ["friendly", "/x"]}, {"log_project": "work"}, {"x": 1}])
def test_of_what_is_none_nothing_is_believed(entries: object) -> None:
    """The session is judged anew."""
    assert {} == parse_judged_projects({"projects": entries})
