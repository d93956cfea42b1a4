"""Two versions of a note side by side, and what is chosen of both."""

import pytest

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.versions import compare_versions
from tests.conftest import World

_COPY = "a.sync-conflict-20260610-120000-ABCDEFG.org"


def test_each_place_is_taken_from_this_from_that_or_from_both(world: World) -> None:
    """All of one version gives its text, and the digest names both contents."""
    first, second = "Same\n\n1\n\nSame again\n\nmine", "Same\n\n2\n3\n\nSame again\n\nmine\nand theirs"
    world.node("a.org", "a", "A", first)
    world.node(_COPY, "a", "A", second)
    comparison = compare_versions(Notes(world.kb), "a.org", _COPY)
    assert 2 == comparison.differences
    assert first == comparison.merge(["first", "first"])
    assert second == comparison.merge(["second", "second"])
    assert "Same\n\n1\n2\n3\n\nSame again\n\nmine" == comparison.merge(["both", "first"])
    for choices in ([], ["first"], ["first", "mine"], ["first"] * 3):
        with pytest.raises(UsageError):
            comparison.merge(choices)
    world.node(_COPY, "a", "A", f"{second}!")
    assert comparison.digest != compare_versions(Notes(world.kb), "a.org", _COPY).digest


def test_a_heading_is_compared_with_the_heading_of_its_id(world: World) -> None:
    """Not with the file that it stands in."""
    heading = "* Part\n:PROPERTIES:\n:ID: part\n:END:\n"
    world.note("whole.org", f":PROPERTIES:\n:ID: whole\n:END:\n#+title: Whole\n\nAbove.\n{heading}Below.\n")
    world.note("part.org", ":PROPERTIES:\n:ID: part\n:END:\n#+title: Part\n\nBelow, too.\n")
    comparison = compare_versions(Notes(world.kb), "whole.org", "part.org")
    assert ("Below.", "Below, too.") == (comparison.first.body, comparison.second.body)


@pytest.mark.parametrize("name", ["none.org", "../secret.org", "/etc/passwd", "out.org", ".hidden.org", ""])
def test_only_notes_and_their_copies_are_read(name: str, world: World) -> None:
    """Whatever path is named."""
    world.node("a.org", "a", "A")
    (world.home / "secret.org").write_text("secret")
    (world.kb / "out.org").symlink_to(world.home / "secret.org")
    (world.kb / ".hidden.org").write_text("hidden")
    with pytest.raises(NotFound):
        compare_versions(Notes(world.kb), "a.org", name)


def test_what_is_no_version_is_said(world: World) -> None:
    """A note beside itself, and a file without a node."""
    world.node("a.org", "a", "A")
    world.note("plain.org", "no id\n")
    for other in ("a.org", "plain.org"):
        with pytest.raises(UsageError):
            compare_versions(Notes(world.kb), "a.org", other)
