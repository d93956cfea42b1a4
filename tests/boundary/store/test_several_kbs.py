"""Several knowledge bases in one rule: what makes the rule malformed, and whom each of them allows."""

from pathlib import Path

import pytest

from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.installed_rule import load_rule
from roamkb.boundary.store.kb_paths import all_kb_names
from roamkb.boundary.store.knowledge_bases import account_rule_for
from roamkb.boundary.store.knowledge_bases import lies_in_notes
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from tests.conftest import World


def add_to_rule(world: World, text: str) -> None:
    """Add blocks to the rule, as its human would."""
    path = world.home / ".claude" / "rules" / "knowledge-base.md"
    path.write_text(f"{path.read_text()}\n{text}\n")


def kb_block(folder: object, name: str = "club") -> str:
    return f"```roamkb:kb/{name}\n{folder}\n```\n"


def parents_block(folder: object, name: str = "club") -> str:
    return f"```roamkb:project-parents/{name}\n{folder}\n```\n"


def both_blocks(folder: object, name: str = "club", parent: object = "~/code/club-site") -> str:
    return kb_block(folder, name) + parents_block(parent, name)


def found_rule(world: World, kb_name: str = "default") -> Rule | BadRule:
    return find_rule(world.home, account_home=world.home, kb_name=kb_name)


def loaded_rule(world: World, kb_name: str = "default") -> Rule:
    return load_rule(world.home, account_home=world.home, kb_name=kb_name)


def test_a_rule_has_several(world: World) -> None:
    """Each with its own folder and its own parents, in the order of the rule; the one without a name is the default."""
    add_to_rule(world, both_blocks("~/sync/club/") + both_blocks("/srv/family", "family-2", "~/code/tree"))
    rule = loaded_rule(world)
    assert (world.kb, "default") == (rule.kb, rule.kb_name)
    assert ["club", "family-2"] == [other.name for other in rule.others]
    club = loaded_rule(world, "club")
    assert (world.home / "sync" / "club", (str(world.home / "code" / "club-site"),)) == (club.kb, club.project_parents)
    assert {*rule.all_folders} == {*club.all_folders}
    assert rule == load_rule(world.home, account_home=world.home, kb_name="default")


def test_an_unknown_name_is_an_error(world: World) -> None:
    """It is no other one, and no default."""
    add_to_rule(world, both_blocks("~/sync/club"))
    for name in ("", "Club", "club ", "clu", "club/", "../club", "all", "family"):
        with pytest.raises(UsageError, match="names no knowledge base"):
            loaded_rule(world, name)


@pytest.mark.parametrize(
    ("blocks", "why"),
    [
        (kb_block("~/sync/club"), "without `roamkb:project-parents/club`"),
        (parents_block("~/code/club"), "without `roamkb:kb/club`"),
        (kb_block("~/sync/club") + parents_block("~/code/club", "clubs"), "without"),
        (both_blocks("~/sync/club") + kb_block("~/sync/other"), "twice"),
        (both_blocks("~/sync/club") + parents_block("~/code/other"), "twice"),
        (both_blocks("~/sync/club", "Club"), "unknown block"),
        (both_blocks("~/sync/club", ""), "unknown block"),
        (both_blocks("~/sync/club", "-club"), "unknown block"),
        (both_blocks("~/sync/club", "1club"), "unknown block"),
        (both_blocks("~/sync/club", "klüb"), "unknown block"),
        (both_blocks("~/sync/club", "cl\u200bub"), "unknown block"),
        (both_blocks("~/sync/club", "club/inner"), "unknown block"),
        (both_blocks("~/sync/club", "club more"), "unknown block"),
        (both_blocks("~/sync/club", "a" * 41), "unknown block"),
        (both_blocks("~/sync/club", "all"), "means another thing"),
        (both_blocks("~/sync/club", "default"), "means another thing"),
        (both_blocks("~/sync/club") + "```roamkb:work-roots/club\n~/w\n```\n", "unknown block"),
        (both_blocks("~/sync/club") + "```roamkb:todo/club\nTODO\n```\n", "unknown block"),
        (both_blocks("~/sync/club", parent="/*"), "every folder personal"),
        (both_blocks("~/sync/club", parent="code"), "relative"),
        (both_blocks("~/sync/club", parent="~/a/../b"), "holds . or .."),
        (both_blocks("sync/club"), "is relative"),
        (both_blocks("~/sync/../club"), "holds . or .."),
        (both_blocks("~/"), "is too much"),
        (both_blocks(""), "exactly one line"),
        (both_blocks("~/a\n~/b"), "exactly one line"),
        (both_blocks("~/roam"), "aren't apart"),
        (both_blocks("~/roam/"), "aren't apart"),
        (both_blocks("~//roam//"), "aren't apart"),
        (both_blocks("~/roam/club"), "aren't apart"),
        (both_blocks("~/roam/.stfolder"), "aren't apart"),
        (both_blocks("~/link"), "aren't apart"),
        (both_blocks("~/link/deeper"), "aren't apart"),
        (both_blocks("~/inner"), "aren't apart"),
        (both_blocks("/"), "is too much"),
        (both_blocks("~/sync/club") + both_blocks("~/sync/club", "family"), "aren't apart"),
        (both_blocks("~/sync/club") + both_blocks("~/sync", "family"), "aren't apart"),
        (both_blocks("~/work/club"), "where work is"),
        (both_blocks("~/work-link/club"), "where work is"),
        (f"<!--\n{both_blocks('~/sync/club')}-->\n", "isn't a fence of its own"),
        (f"> {kb_block('~/sync/club')}", "isn't a fence of its own"),
        ("```roamkb:kb/club\n~/sync/club\n", "never ends"),
    ],
)
def test_whatever_could_be_meant_otherwise_closes_all(world: World, blocks: str, why: str) -> None:
    """The whole rule is malformed, so that nothing is personal for any of them; the names count as protected."""
    (world.kb / "deep").mkdir()
    (world.home / "link").symlink_to(world.kb)
    (world.home / "inner").symlink_to(world.kb / "deep")
    (world.home / "work-link").symlink_to(world.home / "work")
    add_to_rule(world, blocks)
    fault = found_rule(world)
    assert isinstance(fault, BadRule)
    assert why in fault.message
    for name in ("club", "default"):
        rule = found_rule(world, name)
        assert isinstance(rule, BadRule)
        assert ProjectKind.PERSONAL is not classify_folder(world.personal, rule).kind
    assert str(world.kb) in all_kb_names([str(world.home)], str(world.state))


def test_the_folder_of_a_parent_counts_as_well(world: World) -> None:
    """The notes may not lie in another one's folder either."""
    add_to_rule(world, both_blocks(world.home))
    assert "aren't apart" in str(found_rule(world))


def test_a_doubled_slash_after_home_leads_nowhere_else(world: World) -> None:
    """The folder that is protected is the one that is written to, whatever this process calls its home."""
    add_to_rule(world, both_blocks("~//sync//club//"))
    folder = world.home / "sync" / "club"
    assert folder == loaded_rule(world, "club").kb
    assert str(folder) in all_kb_names([str(world.home)], str(world.state))


@pytest.mark.parametrize("name", ["club", "a", "a-1", "all-of-us", "defaults", "x" * 40])
@pytest.mark.parametrize("place", ["{}", "  {}", "{}\r"])
def test_every_folder_that_is_allowed_is_a_protected_name(world: World, name: str, place: str) -> None:
    """What the exact reader takes, the wall's and the guard's reader sees as well."""
    folder = world.home / "sync" / "club of 1"
    indent = " " * (len(place) - len(place.lstrip()))
    add_to_rule(
        world, f"{indent}~~~~ roamkb:kb/{name}\n{place.format(folder)}\n{indent}~~~~\n" + parents_block("~/c", name)
    )
    assert str(folder) == str(loaded_rule(world, name).kb)
    assert str(folder) in all_kb_names([str(world.home)], str(world.state))


KIND = ProjectKind


@pytest.mark.parametrize(
    ("place", "default", "club"),
    [
        ("code/site", KIND.PERSONAL, KIND.UNKNOWN),
        ("code/club-site", KIND.PERSONAL, KIND.PERSONAL),
        ("hall/stage", KIND.UNKNOWN, KIND.PERSONAL),
        ("elsewhere", KIND.UNKNOWN, KIND.UNKNOWN),
        ("work/acme", KIND.WORK, KIND.WORK),
        ("hall/work", KIND.WORK, KIND.WORK),
        ("hall/secret", KIND.UNKNOWN, KIND.UNKNOWN),
        ("sync/club", KIND.UNKNOWN, KIND.UNKNOWN),
        ("roam", KIND.UNKNOWN, KIND.UNKNOWN),
        ("code/leads-to-hall", KIND.UNKNOWN, KIND.UNKNOWN),
        ("hall/leads-to-site", KIND.UNKNOWN, KIND.UNKNOWN),
        ("hall/leads-to-work", KIND.WORK, KIND.WORK),
    ],
)
def test_allowance_for_one_is_no_evidence_for_another(
    world: World, place: str, default: ProjectKind, club: ProjectKind
) -> None:
    """Each judges by its own parents, by the typed and the real path; denial counts for all."""
    for folder in ("code/club-site", "hall/stage", "hall/secret", "sync/club"):
        (world.home / folder).mkdir(parents=True)
    for link, target in (
        ("code/leads-to-hall", "hall/stage"),
        ("hall/leads-to-site", "code/site"),
        ("hall/leads-to-work", "work/acme"),
        ("hall/work", "work/acme"),
    ):
        (world.home / link).symlink_to(world.home / target)
    add_to_rule(world, both_blocks("~/sync/club", parent="~/hall\n!~/hall/secret\n~/code/club-site"))
    kinds = [classify_folder(world.home / place, found_rule(world, name)).kind for name in ("default", "club")]
    assert [default, club] == kinds


@pytest.mark.parametrize(
    ("folders", "project", "is_allowed"),
    [
        # a HOME whose default is the account's club: what the account's default allows doesn't count
        (("~/sync/club", "{}/own"), "code/site", False),
        (("~/sync/club", "{}/own"), "hall/stage", True),
        (("~/roam", "{}/own"), "hall/stage", False),
        (("~/roam", "{}/own"), "code/site", True),
        # above both: both must allow
        (("~", "{}/own"), "code/site", False),
        # its named one is the account's
        (("{}/own", "~/roam"), "code/site", True),
        (("{}/own", "~/roam"), "hall/stage", True),
    ],
)
def test_another_home_calls_a_folder_what_it_likes(
    world: World, tmp_path: Path, folders: tuple[str, str], project: str, is_allowed: bool
) -> None:
    """The account's rule judges by the folder, whatever name another HOME's rule gives to it."""
    for folder in ("hall/stage", "sync/club"):
        (world.home / folder).mkdir(parents=True)
    add_to_rule(world, both_blocks("~/sync/club", parent="~/hall"))
    other = tmp_path / "other"
    rule = other / ".claude" / "rules" / "knowledge-base.md"
    rule.parent.mkdir(parents=True)
    kb, named = (folder.replace("~", str(world.home)).format(other) for folder in folders)
    rule.write_text(
        f"```roamkb:kb\n{kb}\n```\n```roamkb:work-roots\nnone\n```\n```roamkb:project-parents\n{world.home}\n```\n"
        + both_blocks(named, "mine", str(world.home))
    )
    kind = classify_folder(world.home / project, load_rule(other, account_home=world.home)).kind
    by_default = kind is ProjectKind.PERSONAL
    if folders[0].startswith("~"):
        assert is_allowed == by_default
    named_kind = classify_folder(world.home / project, load_rule(other, account_home=world.home, kb_name="mine")).kind
    # the account's default one must allow, where its own folder isn't touched
    assert (named_kind is ProjectKind.PERSONAL) == project.startswith("code")


def test_a_folder_around_several_needs_the_leave_of_each(world: World) -> None:
    """Whatever another home calls it; where it touches none, the default one decides."""
    add_to_rule(world, both_blocks("~/club"))
    rule = loaded_rule(world)
    around = account_rule_for(world.home, rule)
    assert around.account is not None
    assert {"default", "club"} == {around.kb_name, around.account.kb_name}
    assert "club" == account_rule_for(world.home / "club" / "inner", rule).kb_name
    assert "default" == account_rule_for(world.unknown, rule).kb_name


def test_what_lies_in_the_notes_of_any_is_known(world: World) -> None:
    """A rule that can't be read names no notes."""
    add_to_rule(world, both_blocks("~/club"))
    rule = loaded_rule(world)
    for path, expected in ((world.kb / "a.org", True), (world.home / "club" / "a.org", True), (world.unknown, False)):
        assert expected is lies_in_notes(path, rule)
        assert not lies_in_notes(path, BadRule(world.home / "rule.md", "is empty"))
