"""What the knowledge base is called, without classifying anybody."""

from pathlib import Path

import pytest
from platformdirs import user_state_path

from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.store import kb_paths as kb_names
from roamkb.fs.user_dirs import default_state_dir
from tests.conftest import World


def test_the_last_good_names_are_kept(tmp_path: Path) -> None:
    """For the day when the rule can't be read."""
    state = str(tmp_path / "state")
    assert () == kb_names.saved_kb_names(state)
    kb_names.save_kb_names(state, ("/kb", "/mnt/kb"))
    assert ("/kb", "/mnt/kb") == kb_names.saved_kb_names(state)


@pytest.mark.parametrize("text", ["", "7", "[", '{"a": 1}', "[1, null]", "[" * 5000])
def test_what_is_no_list_of_names_is_none(tmp_path: Path, text: str) -> None:
    """Whoever wrote it."""
    (tmp_path / "kb-names.json").write_text(text)
    assert () == kb_names.saved_kb_names(str(tmp_path))


def test_the_rules_and_the_kept_names_count(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real path of each."""
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("XDG_STATE_HOME", str(world.home / "state"))
    assert default_state_dir() == str(user_state_path("roamkb"))
    (world.home / "alias").symlink_to(world.kb)
    kb_names.save_kb_names(default_state_dir(), (str(world.home / "alias"), "/gone"))
    assert {str(world.kb), str(world.home / "alias"), "/gone"} <= set(kb_names.all_kb_names())


@pytest.mark.parametrize(
    "block",
    [
        "```roamkb:kb\n# where notes are\n\n~/notes\n```\n",
        "~~~~ roamkb:kb\n~/notes\n~~~~\n",
        "  ```roamkb:kb\r\n  ~/notes  \r\n  ```\r\n",
    ],
)
def test_a_rule_is_read_in_every_form(world: World, monkeypatch: pytest.MonkeyPatch, block: str) -> None:
    """As the exact reader takes it."""
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("XDG_STATE_HOME", str(world.home / "state"))
    path = world.home / ".claude" / "rules" / "knowledge-base.md"
    before, _, after = path.read_text().partition("```roamkb:kb\n")
    text = before + block + after.partition("```\n")[2]
    path.write_bytes(text.encode())
    assert world.home / "notes" == parse_rule(text, source=path, home=world.home).kb
    assert str(world.home / "notes") in kb_names.all_kb_names()


def test_the_folders_of_named_knowledge_bases_count_after_the_defaults(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever their blocks stand, and in a rule that is malformed for it as well."""
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("XDG_STATE_HOME", str(world.home / "state"))
    path = world.home / ".claude" / "rules" / "knowledge-base.md"
    path.write_text(f"```roamkb:kb/club\n~/sync/club/\n```\n\n{path.read_text()}\n```roamkb:kb/Bad Name\n~/odd\n```\n")
    names = kb_names.all_kb_names()
    assert str(world.kb) == names[0]
    assert {str(world.home / "sync" / "club"), str(world.home / "odd")} <= set(names)
