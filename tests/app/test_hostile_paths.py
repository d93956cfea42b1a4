"""Paths that name nobody's home, and filters that name nothing."""

import pytest

from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from tests.conftest import World


def test_a_set_up_file_of_nobody_stops_nothing(world: World) -> None:
    """One bad line in one note never stops the rest."""
    world.note("s.org", ":PROPERTIES:\n:ID: s\n:END:\n#+title: S\n#+SETUPFILE: ~nobody_here/x\n")
    world.node("g.org", "g", "Good")
    assert ["g", "s"] == sorted(node.id for node in world.open().nodes().nodes)
    assert ["g"] == [hit.id for hit in world.open().search("good").hits]


def test_nobodys_home_is_no_traceback(world: World) -> None:
    """Each door that takes a path."""
    world.open().write("A fact")
    with pytest.raises(NotFound):
        world.open().show("~nosuchuser/x.org")
    assert "unknown" == world.open().classify("~nosuchuser/x").kind.value
    assert () == world.open().trash(all_agent=True, from_project="~nosuch").nodes
    with pytest.raises(UsageError, match="no knowledge base at"):
        world.open().install(kb="~nosuch/kb", dry_run=True)


@pytest.mark.parametrize("name", ["two  blanks", "a]][[b", "<%%(x)", "line\nend", "src_elisp{x}"])
def test_a_project_of_any_name_is_found_again(world: World, name: str) -> None:
    """The note keeps its path on one line and harmless; the sweep looks for the same."""
    project = world.home / "code" / name
    project.mkdir()
    written = world.open(project).write("A fact")
    assert [written.id] == [n.id for n in world.open().trash(all_agent=True, from_project=str(project)).nodes]


@pytest.mark.parametrize(
    "call",
    [
        {"all_agent": True, "from_project": ""},
        {"all_agent": True, "from_project": " "},
        {"all_agent": True, "name": ""},
    ],
)
def test_an_empty_name_never_means_all(world: World, call: dict[str, object]) -> None:
    """An unset variable in a script must not sweep everything away."""
    written = world.open().write("A fact")
    with pytest.raises(UsageError):
        world.open().trash(yes=True, **call)  # type: ignore[arg-type]
    assert written.path.exists()
