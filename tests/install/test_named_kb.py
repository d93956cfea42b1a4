"""A knowledge base with a name that `install` adds to the rule and `uninstall` takes out of it."""

import os
from pathlib import Path
from typing import Any

import pytest

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.boundary.store.installed_rule import load_rule
from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from tests.conftest import NOON
from tests.conftest import World


def opened(home: Path, **variables: str) -> KnowledgeBase:
    """Open the library in a project that no rule names."""
    around = ProcessEnvironment(
        home=home,
        account_home=home,
        variables={"HOME": str(home), **variables},
        cwd=home / "code",
        pid=os.getpid(),
        now=lambda: NOON,
        new_id=new_id,
        state=home / "state",
        cache=home / "cache",
        data=home / "data",
    )
    return KnowledgeBase(around)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A HOME with a rule of its own, and notes of a club."""
    for folder in ("roam/.stfolder", "sync/club/.stfolder", "sync/inner", "work/notes/.stfolder", "code", "hall"):
        (tmp_path / folder).mkdir(parents=True)
    opened(tmp_path).install(
        kb=str(tmp_path / "roam"), work_roots=[str(tmp_path / "work")], project_parents=[str(tmp_path / "code")]
    )
    return tmp_path


def rule_bytes(home: Path) -> bytes:
    return (home / ".claude" / "rules" / "knowledge-base.md").read_bytes()


def add(home: Path, name: str = "club", folder: str = "sync/club", parent: str = "hall", **more: Any) -> None:
    opened(home).install(kb_name=name, kb=str(home / folder), project_parents=[str(home / parent)], **more)


def test_one_is_added_kept_and_taken_back(home: Path) -> None:
    """To the byte; what another call wishes for stays beside it, and the default one is as it was."""
    before = rule_bytes(home)
    add(home)
    rule = load_rule(home, account_home=home)
    assert (home / "roam", (str(home / "code"),)) == (rule.kb, rule.project_parents)
    assert [("club", home / "sync" / "club", (str(home / "hall"),))] == [
        (other.name, other.folder, other.project_parents) for other in rule.others
    ]
    added = rule_bytes(home)
    add(home)
    opened(home).install()
    assert added == rule_bytes(home)
    add(home, parent="code/club")
    opened(home).install(project_parents=[str(home / "hall2")])
    rule = load_rule(home, account_home=home)
    assert (str(home / "hall"), str(home / "code" / "club")) == rule.others[0].project_parents
    assert (str(home / "code"), str(home / "hall2")) == rule.project_parents
    opened(home).uninstall(kb_name="club", dry_run=True)
    assert rule == load_rule(home, account_home=home)
    opened(home).uninstall(kb_name="club")
    assert () == load_rule(home, account_home=home).others
    (home / ".claude" / "rules" / "knowledge-base.md").write_bytes(added)
    opened(home).uninstall(kb_name="club")
    assert before == rule_bytes(home)


@pytest.mark.parametrize(
    "wish",
    [
        {"name": "Club"},
        {"name": "all"},
        {"name": "default"},
        {"name": ""},
        {"name": "x\n```\n```roamkb:work-roots"},
        {"folder": "roam"},
        {"folder": "roam/.stfolder"},
        {"folder": "sync/gone"},
        {"folder": "work/notes"},
        {"folder": "."},
        {"folder": "sync/gone/..", "create_kb": True},
        {"folder": "work/notes", "create_kb": True},
    ],
)
def test_what_would_make_the_rule_malformed_is_refused(home: Path, wish: dict[str, Any]) -> None:
    """Nothing is written then."""
    before = rule_bytes(home)
    with pytest.raises(UsageError):
        add(home, **wish)
    assert before == rule_bytes(home)


def test_a_name_without_a_folder_and_a_project_is_refused(home: Path) -> None:
    """So is a name that the rule hasn't got."""
    before = rule_bytes(home)
    for given in ({"kb": str(home / "sync/club")}, {"project_parents": [str(home / "hall")]}, {}):
        with pytest.raises(UsageError):
            opened(home).install(kb_name="club", **given)
    for name in ("club", "default", ""):
        with pytest.raises(UsageError):
            opened(home).uninstall(kb_name=name)
    assert before == rule_bytes(home)


def install_rule(world: World) -> None:
    """Install the world's rule as its human would."""
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.unlink()
    words = (
        "--kb",
        str(world.kb),
        "--work-root",
        str(world.work.parent),
        "--project-parent",
        str(world.personal.parent),
    )
    assert 0 == world.run("install", *words).status


@pytest.mark.parametrize("is_there", [True, False])
def test_an_empty_folder_becomes_one_where_that_is_said(world: World, is_there: bool) -> None:
    """As for the default one, from any folder that isn't work: it is made where it isn't there, and has a first note."""
    install_rule(world)
    club = world.home / "sync" / "club"
    if is_there:
        club.mkdir(parents=True)
    words = ("install", "--kb-name", "club", "--kb", str(club), "--project-parent", str(world.personal))
    refused = world.run(*words, cwd=world.unknown)
    assert (2, True) == (refused.status, "--create-kb begins one there" in refused.err)
    assert 0 == world.run(*words, "--create-kb", "--dry-run", cwd=world.unknown).status
    assert is_there == club.exists()
    done = world.run(*words, "--create-kb", cwd=world.unknown)
    assert 0 == done.status, done.err
    assert 1 == len(list(club.glob("*about_this_knowledge_base.org")))
    assert {} == world.files()
    assert 0 == world.run("write", "The club meets on Tuesdays", "--kb", "club").status
    again = world.run(*words, "--create-kb", cwd=world.unknown)
    assert (0, True) == (again.status, "has notes in it" in again.out), again.err
    assert 2 == len(list(club.glob("*.org")))


def test_a_session_at_work_begins_none(world: World) -> None:
    """Nothing is written there."""
    install_rule(world)
    club = world.home / "sync" / "club"
    club.mkdir(parents=True)
    words = ("install", "--kb-name", "club", "--kb", str(club), "--project-parent", str(world.personal))
    assert 3 == world.run(*words, "--create-kb", cwd=world.work).status
    assert [] == list(club.iterdir())


def test_a_rule_of_somebody_elses_lets_none_begin(world: World) -> None:
    """It would name none, so that nothing kept agents out of it."""
    club = world.home / "sync" / "club"
    words = ("install", "--kb-name", "club", "--kb", str(club), "--project-parent", str(world.personal))
    done = world.run(*words, "--create-kb", cwd=world.unknown)
    assert (2, True) == (done.status, done.out.startswith("WARN  rule: "))
    assert not club.exists()


def test_no_agent_allows_itself_another_one(home: Path) -> None:
    """Whatever its project may."""
    add(home)
    before = rule_bytes(home)
    agent = opened(home, CLAUDECODE="1")
    with pytest.raises(UsageError, match="only a human"):
        agent.install(kb_name="club", kb=str(home / "sync/club"), project_parents=[str(home / "code")])
    with pytest.raises(UsageError, match="only a human"):
        agent.uninstall(kb_name="club")
    assert before == rule_bytes(home)


def test_words_beside_the_blocks_stay(home: Path) -> None:
    """What their human wrote about it isn't roamkb's."""
    add(home)
    path = home / ".claude" / "rules" / "knowledge-base.md"
    path.write_text(path.read_text().replace("## Knowledge base: club\n", "## Knowledge base: club\n\nAsk Ann.\n\n\n"))
    opened(home).uninstall(kb_name="club")
    text = path.read_text()
    assert "## Knowledge base: club\n\nAsk Ann.\n" in text
    assert "roamkb:kb/club" not in text
    assert () == load_rule(home, account_home=home).others
