"""A harness's call is judged once, by what the disk says, and the project is asked about last."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from typing import cast

import pytest

from roamkb.app.hooks.session_project import SessionProject
from roamkb.guard.policy import PROTECTED
from roamkb.guard.policy import Denial
from roamkb.interfaces.hooks.tool_calls import edited_names
from roamkb.interfaces.hooks.tool_calls import find_denial
from tests.conftest import World
from tests.guard.shell_lines import HOSTILE


class Asked:
    """A session that says what its project is, and counts how often."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.times = 0

    @property
    def project_kind(self) -> str:
        """What was given."""
        self.times += 1
        return self._kind

    def is_agent_note(self, path: str) -> bool:
        """Say that all notes are the human's."""
        return not os.path.lexists(path)

    def is_in_default_kb(self, _path: str) -> bool:
        """Say that there is one knowledge base."""
        return True


@pytest.fixture
def linked(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world in which links in the project lead into the knowledge base and above it."""
    (world.personal / "notes").symlink_to(world.kb)
    (world.personal / "kb-alias").symlink_to(world.personal / "notes")
    (world.personal / "up").symlink_to(world.home)
    (world.kb / "x.org").write_text("#+title: Mine\n")
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return world


def judged(folder: Path, tool: str, kind: str = "personal", **given: object) -> tuple[Denial | None, int]:
    """Return the answer, and how often the project was asked about."""
    session = Asked(kind)
    payload: dict[str, Any] = {"tool_name": tool, "cwd": str(folder), "tool_input": given}
    return find_denial(payload, lambda: cast(SessionProject, session)), session.times


@pytest.mark.parametrize(
    "command",
    [
        "ls ~", "cd .. && make", "rm -rf dist/*", 'for f in src/*; do wc -l "$f"; done', "cat ~/roam/x.org", "cat KB/x.org", "echo KB > notes.txt", "git status", "make test", "grep -rn foo src | head -5",
        "pytest -q --kb KB", "cp KB/x.org /tmp", "rm ~/.claude/settings.json",
    ],
)  # fmt: skip
def test_the_project_is_asked_about_only_where_notes_would_change(linked: World, command: str) -> None:
    """That takes longer than all else; what nobody may do needs no project either."""
    command = command.replace("KB", str(linked.kb))
    assert 0 == judged(linked.personal, "Bash", command=command)[1]
    denial, times = judged(linked.personal, "Bash", command=f"{command}; rm {linked.kb}/x.org")
    assert denial is not None
    assert times == ("settings" not in command)


@pytest.mark.parametrize("tool", ["Bash", "Write"])
@pytest.mark.parametrize(
    ("path", "is_free"),
    [
        ("src/app.py", True),
        ("notes/x.org", False),
        ("./notes/x.org", False),
        ("kb-alias/x.org", False),
        ("up/roam/x.org", False),
        ("../../roam/x.org", False),
        ("~/roam/x.org", False),
        ("up/.claude/settings.json", False),
    ],
)
def test_a_file_is_judged_by_where_it_really_is(linked: World, tool: str, path: str, is_free: bool) -> None:
    """Whatever links and dots lead there; for an editor and for the shell."""
    given = {"file_path": path} if tool == "Write" else {"command": f"echo > {path}"}
    assert is_free is (judged(linked.personal, tool, **given)[0] is None)
    assert is_free is (judged(linked.personal, tool, "work", **given)[0] is None)


def test_nothing_hostile_is_let_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the lines of the table, in a home of its own."""
    home = tmp_path / "ada"
    kb, project = home / "sync" / "org" / "roam", home / "projects" / "work" / "shop"
    for folder in (kb, project, home / ".claude" / "rules"):
        folder.mkdir(parents=True)
    (kb / "human.org").write_text("#+title: Mine\n")
    (home / ".claude" / "rules" / "knowledge-base.md").write_text(f"```roamkb:kb\n{kb}\n```\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    own = os.uname().nodename
    lines = [
        re.sub(r"\btower\b", own, line).replace("/home/ada", str(home)).replace("~ada", str(home)) for line in HOSTILE
    ]
    # what spells the path of another home in pieces isn't about this one
    lines = [line for line in lines if "home/ada" not in line.lower()]
    assert len(lines) > 190
    assert [] == [line for line in lines if judged(project, "Bash", "work", command=line)[0] is None]


@pytest.mark.parametrize("rule", ["", "nothing of ours", "\n```roamkb:kb\n~/elsewhere\n"])
def test_a_broken_rule_takes_no_advice_away(linked: World, rule: str) -> None:
    """What the last good one said is remembered."""
    path = linked.home / ".claude" / "rules" / "knowledge-base.md"
    path.chmod(0o644)
    path.write_text(rule)
    kept = linked.home / ".local" / "state" / "roamkb" / "kb-names.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps([str(linked.kb)]))
    assert judged(linked.work, "Bash", "unknown", command=f"rm {linked.kb}/x.org")[0] is not None


@pytest.mark.parametrize("name", PROTECTED)
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_makes_the_rule_count_is_guarded_through_links(linked: World, name: str, is_folder: bool) -> None:
    """`make install` links the rule, and people link settings to their dotfiles, or the folder."""
    place = linked.home / name
    top = linked.home / place.relative_to(linked.home).parts[0]
    aside = linked.home / "dotfiles"
    if is_folder:
        top.mkdir(exist_ok=True)
        top.rename(aside)
        top.symlink_to(aside)
    else:
        aside.mkdir()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        (aside / "mine").touch()
        place.symlink_to(aside / "mine")
    for path in (str(place), os.path.realpath(place), f"~/{name}"):
        assert judged(linked.personal, "Write", file_path=path, content="x")[0] is not None, path
        assert judged(linked.personal, "Bash", command=f"rm {path}")[0] is not None, path


def test_a_projects_settings_are_guarded_through_links(linked: World) -> None:
    """The folder may be a link."""
    (linked.personal / "shared").mkdir()
    (linked.personal / ".claude").symlink_to("shared")
    off = '{"disableAllHooks": true}'
    for path in (".claude/settings.json", "shared/../.claude/settings.json"):
        assert judged(linked.personal, "Write", file_path=path, content=off)[0] is not None
        assert judged(linked.personal, "Write", file_path=path, content="{}")[0] is None


def test_a_name_with_a_nul_has_an_answer(linked: World) -> None:
    """It is no file's."""
    assert judged(linked.personal, "Write", file_path="a\0b")[0] is None
    assert judged(linked.personal, "Bash", command="rm a\0b")[0] is None


def test_a_denial_waits_for_nothing_but_the_project(linked: World) -> None:
    """What a session's other hooks need takes as long to import as all of this."""
    payload = {
        "tool_name": "Bash",
        "cwd": str(linked.personal),
        "tool_input": {"command": f"rm {linked.kb}/x.org"},
    }
    code = (
        "import sys; from roamkb.__main__ import main; sys.argv = ['roamkb', 'hook', 'pre-tool-use']; main(); "
        "heavy = {'roamkb.app.knowledge_base', 'roamkb.app.hooks.session', 'roamkb.kb.notes.store.notes', 'roamkb.core.server_address', 'sqlite3'}; "
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(payload), env=linked.environment(), capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert "deny" in done.stdout
    assert "[]" == done.stderr.strip()


@pytest.mark.parametrize(
    ("text", "is_agents"),
    [
        (":PROPERTIES:\n:ID: 1\n:AGENT: claude-code\n:END:\n#+title: T\n#+filetags: :agent:\n", True),
        (":PROPERTIES:\n:ID: 1\n:agent: claude-code\n:END:\n#+title: T\n#+filetags: :agent:\n", True),
        (":PROPERTIES:\n:ID: 1\n:END:\n#+title: T\n#+filetags: :agent:\n", False),
        ("#+title: An agent: who is it\n", False),
        ("", True),
    ],
)
def test_a_note_is_an_agents_by_its_marks(linked: World, text: str, is_agents: bool) -> None:
    """Which personal projects may change; where there is none, the file isn't parsed."""
    (linked.kb / "20260101000000-a.org").write_text(text)
    payload = {"cwd": str(linked.personal)}
    project = SessionProject(payload, linked.open().environment)
    assert is_agents is project.is_agent_note(str(linked.kb / "20260101000000-a.org"))


def test_names_in_a_change_are_found_in_one_pass() -> None:
    """A run of letters, such as a genome, is looked at once: a hundred thousand take as long as they are many."""

    def seconds(length: int) -> float:
        text = "acgt" * (length // 4)
        began = time.process_time()
        assert [] == edited_names({"tool_input": {"content": text}})
        return time.process_time() - began

    few = min(seconds(5_000) for _ in range(5))
    assert min(seconds(80_000) for _ in range(3)) <= 100 * max(few, 1e-4)
    told = {"tool_input": {"content": "retry_count = beforeSend(BeforeSend, plain, _private, a/b_c, 3)"}}
    assert ["retry_count", "beforeSend", "BeforeSend"] == edited_names(told)
