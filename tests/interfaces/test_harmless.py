"""What the quick look lets through, the guard wouldn't have stopped."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.guard import PROTECTED
from roamkb.core.guard import Ground
from roamkb.core.model import Kind
from roamkb.formats.tool_calls import judge_tool
from roamkb.interfaces.harmless import edited
from roamkb.interfaces.harmless import is_free
from roamkb.interfaces.harmless import is_harmless
from tests.conftest import World
from tests.core.shell_lines import HOSTILE

_WORDS = st.sampled_from(
    "echo x cat cp mv rm tee sed -i > >> | && ; cd .. . notes notes/x.org ./notes ../../roam ~/roam/a.org "
    "$HOME/roam roam/a.org /roam 'ro'am/a.org r*m python -c ln -s dd of=notes/x roamkb approve override "
    "git status make test .claude/settings.json KB \"KB/x\" SITE/notes bash -c 'echo>KB/x' kb-alias/x".split(
        " "
    )
)


@pytest.fixture
def linked(world: World) -> World:
    """A world in which links in the project lead into the knowledge base and above it."""
    (world.personal / "notes").symlink_to(world.kb)
    (world.personal / "kb-alias").symlink_to(world.personal / "notes")
    (world.personal / "up").symlink_to(world.home)
    return world


def is_denied(world: World, tool: str, given: Mapping[str, object], kind: Kind) -> bool:
    """What the guard says."""
    ground = Ground(
        kb=(str(world.kb), os.path.realpath(world.kb)),
        kind=kind,
        cwd=str(world.personal),
        home=str(world.home),
        is_agent_note=lambda _: False,
        resolve=os.path.realpath,
    )
    return judge_tool(tool, given, ground) is not None


@given(words=st.lists(_WORDS, min_size=1, max_size=8), kind=st.sampled_from([Kind.WORK, Kind.PERSONAL]))
@settings(deadline=None, max_examples=300)
def test_no_command_that_is_denied_is_harmless(
    linked: World, monkeypatch: pytest.MonkeyPatch, words: list[str], kind: Kind
) -> None:
    """Through links, quotes, variables and globs."""
    monkeypatch.setenv("HOME", str(linked.home))
    command = " ".join(words).replace("KB", str(linked.kb)).replace("SITE", str(linked.personal))
    call = {"tool_name": "Bash", "cwd": str(linked.personal), "tool_input": {"command": command}}
    if is_denied(linked, "Bash", {"command": command}, kind):
        assert not is_harmless(call, "")
        assert not is_free(call)


@pytest.mark.parametrize(
    "command",
    ["ls ~", "cd .. && make", "rm -rf dist/*", 'for f in src/*; do wc -l "$f"; done', "cat ~/roam/a.org"],
)
def test_what_no_project_is_denied_is_free(
    linked: World, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Nobody has to find out what the project is."""
    monkeypatch.setenv("HOME", str(linked.home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    call = {"tool_name": "Bash", "cwd": str(linked.personal), "tool_input": {"command": command}}
    assert is_free(call)


def test_nothing_hostile_is_let_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the lines that the guard's own table denies, in a home of its own."""
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
        re.sub(r"\btower\b", own, line).replace("/home/ada", str(home)).replace("~ada", str(home))
        for line in HOSTILE
    ]
    # what spells the path of another home in pieces isn't about this one
    lines = [line for line in lines if "home/ada" not in line.lower()]
    calls = [{"tool_name": "Bash", "cwd": str(project), "tool_input": {"command": line}} for line in lines]
    assert len(calls) > 190
    assert [] == [call["tool_input"] for call in calls if is_harmless(call, "") or is_free(call)]


@pytest.mark.parametrize("rule", ["", "nothing of ours", "\n```roamkb:kb\n~/elsewhere\n"])
def test_a_broken_rule_takes_no_wall_down(linked: World, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """What the last good one said is remembered, and nothing said is no leave."""
    monkeypatch.setenv("HOME", str(linked.home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    path = linked.home / ".claude" / "rules" / "knowledge-base.md"
    path.chmod(0o644)
    path.write_text(rule)
    call = {"tool_name": "Bash", "cwd": str(linked.work)}
    removal = {**call, "tool_input": {"command": f"rm {linked.kb}/a.org"}}
    assert "elsewhere" in rule or not is_free(removal)
    kept = linked.home / ".local" / "state" / "roamkb" / "kb-names.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(json.dumps([str(linked.kb)]))
    assert not is_harmless(removal, "")
    assert not is_free(removal)


@pytest.mark.parametrize(
    ("path", "harmless"),
    [
        ("src/app.py", True),
        ("notes/x.org", False),
        ("up/roam/x.org", False),
        ("../../roam/x.org", False),
        ("~/roam/x.org", False),
        ("up/.claude/settings.json", False),
    ],
)
def test_a_file_is_judged_by_where_it_really_is(
    linked: World, monkeypatch: pytest.MonkeyPatch, path: str, harmless: bool
) -> None:
    """Whatever links and dots lead there."""
    monkeypatch.setenv("HOME", str(linked.home))
    call = {"tool_name": "Write", "cwd": str(linked.personal), "tool_input": {"file_path": path}}
    assert harmless == is_harmless(call, edited(call))


@pytest.mark.parametrize("name", PROTECTED)
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_makes_the_rule_count_is_guarded_through_links(
    linked: World, monkeypatch: pytest.MonkeyPatch, name: str, is_folder: bool
) -> None:
    """`make install` links the rule, and people link settings to their dotfiles, or the folder."""
    monkeypatch.setenv("HOME", str(linked.home))
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
        call = {"tool_name": "Write", "cwd": str(linked.personal), "tool_input": {"file_path": path}}
        assert not is_harmless(call, edited(call)), path
    removal = {"tool_input": {"command": f"rm {os.path.realpath(place)}"}, "tool_name": "Bash"}
    assert not is_harmless({**removal, "cwd": str(linked.personal)}, "")
    assert not is_free({**removal, "cwd": str(linked.personal)})


def test_a_projects_settings_are_guarded_through_links(
    linked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be a link."""
    monkeypatch.setenv("HOME", str(linked.home))
    (linked.personal / "shared").mkdir()
    (linked.personal / ".claude").symlink_to("shared")
    for path in (".claude/settings.json", "shared/../.claude/settings.json"):
        call = {"tool_name": "Write", "cwd": str(linked.personal), "tool_input": {"file_path": path}}
        assert not is_harmless(call, edited(call))


@pytest.mark.parametrize(
    "command",
    ["git status", "make test", "pytest -q tests/core", "grep -rn foo src | head -5", "npm run build"],
)
def test_most_commands_are_harmless(linked: World, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Otherwise the quick look would save nothing."""
    monkeypatch.setenv("HOME", str(linked.home))
    assert is_harmless(
        {"tool_name": "Bash", "cwd": str(linked.personal), "tool_input": {"command": command}}, ""
    )
