"""One knowledge base, seen from one project, while the rule changes under it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.ids import new_id
from tests.conftest import NOON
from tests.conftest import World


class Swapping(dict[str, str]):
    """An environment in whose reading the human puts another rule in place, once."""

    def __init__(self, world: World, other: Path) -> None:
        super().__init__(HOME=str(world.home))
        self._place = world.home / ".claude" / "rules" / "knowledge-base.md"
        self._text = self._place.read_text().replace(str(world.kb), str(other))

    def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """Return a variable, late."""
        self._place.write_text(self._text)
        return super().get(name, default)


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the files below `folder`."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def written(kb: KnowledgeBase, id: str) -> None:
    """Write a note."""
    kb.write("Trams need rails")


def replaced(kb: KnowledgeBase, id: str) -> None:
    """Write a note in place of another."""
    kb.supersede(id, "A kettle holds three litres")


def trashed(kb: KnowledgeBase, id: str) -> None:
    """Move a note to the trash."""
    kb.trash(id)


@pytest.mark.parametrize("call", [written, replaced, trashed])
def test_a_call_writes_into_the_knowledge_base_that_it_was_judged_for(
    world: World, call: Callable[[KnowledgeBase, str], None]
) -> None:
    """Another rule that arrives meanwhile counts from the next call on."""
    other = world.home / "other"
    (other / ".stfolder").mkdir(parents=True)
    note = world.open().write("A kettle holds two litres")
    (other / note.path.name).write_bytes(note.path.read_bytes())
    before, twins = world.files(), contents(other)
    around = ProcessEnvironment(
        home=world.home,
        account_home=world.home,
        variables=Swapping(world, other),
        cwd=world.personal,
        pid=os.getpid(),
        now=lambda: NOON,
        new_id=new_id,
        state=world.home / "state",
        cache=world.home / "cache",
    )
    call(KnowledgeBase(around), note.id)
    assert twins == contents(other)
    assert before != world.files()
