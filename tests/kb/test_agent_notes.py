"""Nodes that agents wrote and their human took over."""

from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.core.errors import UsageError
from tests.conftest import World

#: As `org-roam-demote-entire-buffer` and `org-refile` leave it: title and tags on a heading, the drawer below.
_REFILED = "#+title: My week\n\n* Mine\n** {title} :agent:ops:\n{drawer}\nBody.\n"


def _refile(path: Path) -> Path:
    drawer = path.read_text().partition("#+title")[0]
    path.unlink()
    target = path.parent / "week.org"
    target.write_text(_REFILED.format(title="Deploys run on Tuesdays", drawer=drawer))
    return target


def _untag(path: Path) -> Path:
    path.write_text(path.read_text().replace(":agent:", ":"))
    return path


def _set_up(path: Path) -> Path:
    path.write_text(path.read_text().replace("#+filetags", "#+setupfile: x.setup\n#+filetags"))
    return path


@pytest.mark.parametrize(
    ("take", "why"), [(_refile, "refiled"), (_untag, "untagged"), (_set_up, "reads a set-up file")]
)
def test_what_its_human_took_over_is_listed_and_left_alone(
    world: World, take: Callable[[Path], Path], why: str
) -> None:
    """By its new place; no agent changes it or writes it again, and it is still found."""
    (world.kb / "x.setup").write_text("")
    kb = world.open(CLAUDECODE="1")
    written = kb.write("Deploys run on Tuesdays", body="Body.", tags=("ops",))
    path = take(written.path)
    before = world.files()
    (node,) = kb.inventory().taken_over
    assert (node.id, node.path, node.agent, node.why) == (written.id, path, "claude-code", why)
    assert () == kb.inventory().nodes
    for call in (lambda: kb.trash(written.id), lambda: kb.supersede(written.id, "Deploys run on Mondays")):
        with pytest.raises(UsageError, match=f"is a human note .{why}"):
            call()
    assert before == world.files()
    assert [written.id] == [hit.id for hit in kb.search(("Tuesdays",)).hits]


def test_a_humans_own_agent_property_is_none_of_ours(world: World) -> None:
    """An address book of travel agents, for one."""
    world.note("a.org", "* Ms Smith :agent:\n:PROPERTIES:\n:ID: smith\n:AGENT: yes\n:END:\n")
    assert () == world.open().inventory().taken_over


def test_inventory_and_doctor_say_where_it_is(world: World) -> None:
    """For whoever looks for what agents wrote."""
    path = _refile(world.open().write("Deploys run on Tuesdays").path)
    assert f"{path}:4: Deploys run on Tuesdays (the human's now: refiled; agent wrote it)" in world.run("inventory").out
    (check,) = [check for check in world.open().doctor().checks if check.name == "agents' notes"]
    assert f"{path}:4, refiled" in check.detail
