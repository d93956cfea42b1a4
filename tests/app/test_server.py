"""A session that lasts: what its start told goes on counting."""

import os
import subprocess
import sys

import pytest

from roamkb.core.errors import DiskError
from roamkb.core.errors import Refused
from roamkb.core.model import ProjectKind
from tests.conftest import World

#: Begins a server's session as a child of a shell at work, and asks again once that shell is gone.
_ORPHAN = """
import os, sys, time
from pathlib import Path
from roamkb.app.server import ServedKnowledgeBase
kb = ServedKnowledgeBase.open_for_server()
before, parent = kb.classify(), os.getppid()
Path(sys.argv[1]).touch()
while os.getppid() == parent:
    time.sleep(0.01)
after = kb.classify()
print(before.kind.value, after.kind.value, after.reason)
"""
_SHELL = """
import os, subprocess, sys, time
from pathlib import Path
orphan = subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]], cwd=sys.argv[3])
while not Path(sys.argv[2]).exists() and orphan.poll() is None:
    time.sleep(0.01)
"""


def test_a_server_that_was_begun_at_work_stays_at_work(world: World) -> None:
    """Its parent ended, and with it the only trace; what the parent told at the start counts."""
    environment = {key: value for key, value in world.environment().items() if key != "PWD"}
    # the pipe ends with the last that holds it, the orphan
    told = subprocess.run(
        [sys.executable, "-c", _SHELL, _ORPHAN, str(world.home / "begun"), str(world.personal)],
        cwd=world.work,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    before, after, reason = told.stdout.split(" ", 2)
    assert ("work", "work") == (before, after)
    assert "that began it" in reason


def test_a_personal_project_is_served_as_such(world: World) -> None:
    """What is pinned adds denials, and no more."""
    from roamkb.app.server import ServedKnowledgeBase

    around = world.open().environment
    kb = ServedKnowledgeBase(around)
    assert ProjectKind.PERSONAL is kb.classify().kind
    assert kb.write("Zebras are striped").path.exists()
    assert around.pid == os.getpid()
    with pytest.raises(Refused):
        ServedKnowledgeBase(around, project=str(world.work)).write("Zebras are striped")


def test_the_token_does_not_lie_in_the_knowledge_base(world: World) -> None:
    """A syncer would carry it to other machines."""
    from dataclasses import replace

    from roamkb.app.server import ServedKnowledgeBase

    kb = ServedKnowledgeBase(replace(world.open().environment, state=world.kb / "state"))
    with pytest.raises(DiskError, match="may not lie in the knowledge base"):
        kb.access_token()
    assert not (world.kb / "state").exists()


def test_what_another_process_wrote_is_found_by_each_request(world: World) -> None:
    """All of them share the watch, and none needs a walk for it."""
    from roamkb.app.server import ServedKnowledgeBase

    path = world.node("one.org", "one", "Zebra")
    kb = ServedKnowledgeBase(world.open().environment)
    assert ["Zebra"] == [hit.title for hit in kb.search("zebra").hits]
    before = kb.notes_state()
    for number in range(3):
        text = path.read_text().replace("Zebra", f"Tapir{number}")
        subprocess.run([sys.executable, "-c", f"open({str(path)!r}, 'w').write({text!r})"], check=True)
        served = kb.for_connection(None, None)
        assert [f"Tapir{number}"] == [hit.title for hit in served.search(f"tapir{number}").hits]
        path.write_text(path.read_text().replace(f"Tapir{number}", "Zebra"))
        assert ["Zebra"] == [hit.title for hit in kb.search("zebra").hits]
    assert before != kb.notes_state()
    assert kb.notes_state() is kb.notes_state()
