"""What keeps tools and commands off a knowledge base with a name: the guard's judgement, and the wall's plan."""

import os
from pathlib import Path

import pytest

from roamkb.app.hooks.session_project import SessionProject
from roamkb.boundary.store.kb_paths import saved_kb_names
from roamkb.fs.user_dirs import default_state_dir
from roamkb.guard.policy import Denial
from roamkb.harnesses.claude_code import HARNESS
from roamkb.harnesses.claude_code import deny_rules
from roamkb.interfaces.hooks import tool_calls
from roamkb.wall.protected import gather_plan
from tests.conftest import World


@pytest.fixture
def home(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME with notes in ~/roam, and in ~/sync/club to which ~/hall may write."""
    for folder in ("sync/club/.stfolder", "hall/stage", "code/both"):
        (world.home / folder).mkdir(parents=True)
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    blocks = "```roamkb:kb/club\n~/sync/club\n```\n```roamkb:project-parents/club\n~/hall\n~/code/both\n```\n"
    # before the default one's
    rule.write_text(f"{blocks}\n{rule.read_text()}")
    (world.kb / "door").symlink_to(world.home / "sync" / "club")
    (world.home / "code" / "site" / "back").symlink_to(world.home / "sync" / "club")
    note = ":PROPERTIES:\n:ID: a\n:AGENT: claude\n:END:\n#+title: A\n#+filetags: :agent:\n"
    for kb in (world.kb, world.home / "sync" / "club"):
        (kb / "20260101000000-agents.org").write_text(note)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("XDG_STATE_HOME", str(world.state.parent))
    for name in ("CLAUDECODE", "CLAUDE_PROJECT_DIR", "PWD"):
        monkeypatch.delenv(name, raising=False)
    return world.home


def denial(home: Path, place: str, tool: str, **tool_input: str) -> Denial | None:
    """Return how a tool call from that folder of HOME is judged."""
    cwd = home / place
    os.chdir(cwd)
    payload = {"tool_name": tool, "tool_input": tool_input, "cwd": str(cwd), "session_id": "s"}
    return tool_calls.find_denial(payload, lambda: SessionProject(payload))


@pytest.mark.parametrize("place", ["code/site", "code/both", "hall/stage", "elsewhere", "work/acme"])
@pytest.mark.parametrize(
    "file",
    [
        "sync/club/new.org",
        "sync/club/20260101000000-agents.org",
        "sync/club/picture.png",
        "sync/club",
        "sync/../sync/club/new.org",
        "roam/door/new.org",
        "code/site/back/new.org",
    ],
)
def test_no_tool_and_no_plain_command_writes_to_a_named_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, place: str, file: str
) -> None:
    """Not from a project that may by `roamkb write --kb` either: the guard judges by the default rule alone."""
    monkeypatch.chdir(home)
    path = f"{home}/{file}"
    assert denial(home, place, "Write", file_path=path, content="x")
    assert denial(home, place, "Edit", file_path=path, old_string="a", new_string="b")
    assert denial(home, place, "Bash", command=f"echo x > {path}")
    assert denial(home, place, "Bash", command=f"touch ~/{file}")
    assert denial(home, place, "Bash", command=f"rm -r {path}")


@pytest.mark.parametrize("command", ["touch ~/sync/cl*/x.org", "echo x > ~/s*/club/x.org", "mkdir ~/sync/{club,x}/y"])
def test_a_pattern_that_may_mean_a_named_one_is_denied(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """In a personal project too."""
    monkeypatch.chdir(home)
    assert denial(home, "code/site", "Bash", command=command)


def test_the_default_one_is_as_open_as_ever(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A personal project's agents may make and change notes of their own there; others may not."""
    monkeypatch.chdir(home)
    new, own = f"{home}/roam/new.org", f"{home}/roam/20260101000000-agents.org"
    for path in (new, own):
        assert denial(home, "code/site", "Write", file_path=path, content="x") is None
        assert denial(home, "hall/stage", "Write", file_path=path, content="x")
    assert denial(home, "code/site", "Bash", command=f"cat {home}/sync/club/*.org") is None


def test_the_wall_and_the_harness_close_all_of_them(home: Path) -> None:
    """By the rule, by the names that were kept once it is broken, and in the settings of a harness."""
    state = default_state_dir()
    club = str(home / "sync" / "club")
    assert {club, str(home / "roam")} <= set(gather_plan([str(home)], state, str(home / "data")).closed)
    names = SessionProject({"cwd": str(home / "code" / "site")}).kb_names
    assert {club, str(home / "roam")} <= {*names} == {*saved_kb_names(state)}
    assert str(home / "roam") == names[0]
    (home / ".claude" / "rules" / "knowledge-base.md").write_text("# broken\n")
    assert {club, str(home / "roam")} <= set(gather_plan([str(home)], state, str(home / "data")).closed)
    assert "Edit(~/sync/club/**)" in deny_rules(("~/roam", "~/sync/club"))
    settings = b'{"permissions": {"deny": ["Edit(~/roam/**)"]}}'
    assert "Edit(~/sync/club/**)" in HARNESS.missing_settings(settings, ("~/roam", "~/sync/club"))
