"""Whether a stop is worth a look."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.app.hooks.stop import StoppedSession
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.log.learning import ALIASES
from roamkb.log.learning import TYPES
from roamkb.pipeline.store.transcript_glance import is_look_due
from roamkb.pipeline.store.transcripts import read_transcript
from tests.app.hooks.test_events import Talk
from tests.conftest import World
from tests.conftest import make_world
from tests.examples import examples

_STEPS: Mapping[str, Callable[[Talk], None]] = {
    "fails": lambda talk: talk.call("Bash", "x.c:3: fatal error: y.h: none", failed=True, command="make -j"),
    "hides its failure": lambda talk: talk.call("Bash", "E   ModuleNotFoundError: y", command="pytest | tail"),
    "makes": lambda talk: talk.call("Bash", "ok", command="make"),
    "tests": lambda talk: talk.call("Bash", "2 passed", command="pytest -x | tail"),
    "installs": lambda talk: talk.call("Bash", "ok", command="apt-get install -y libx-dev"),
    "reads": lambda talk: talk.call("Read", "x", file_path="/x/a.c"),
    "mends a line": lambda talk: talk.call("Edit", file_path="/x/a.c", old_string="a", new_string="b"),
    "takes it back": lambda talk: talk.call("Edit", file_path="/x/a.c", old_string="b", new_string="c"),
    "writes": lambda talk: talk.call("Write", file_path="/x/b.c", content="a\nb\nc\nd\ne"),
    "is told": lambda talk: talk.say("user", "Use the other port"),
    "is stopped": lambda talk: talk.say("user", "[Request interrupted by user]"),
    "says": lambda talk: talk.say("assistant", "Done: it works"),
    "announces": lambda talk: talk.say("assistant", "- **GOTCHA**: the port is taken by the proxy on CI hosts"),
    "learns": lambda talk: talk.learn("The other port is taken by the proxy"),
}


def due(talk: Talk) -> bool:
    """Say whether a stop would be looked at."""
    local = KnowledgeBase(talk.around, project=talk.payload["cwd"]).log.log_to_write("").local_folder
    return is_look_due({**talk.payload, "hook_event_name": "Stop"}, str(local), {})


def kept(project: Path) -> list[str]:
    """Return what the log and the observations say."""
    files = [project / ".roamkb/ledger.jsonl", *(project / ".roamkb/local").glob("observations/*.jsonl")]
    return [line for file in files if file.is_file() for line in file.read_text().splitlines()]


@settings(max_examples=examples(60), deadline=None)
@given(turns=st.lists(st.lists(st.sampled_from(sorted(_STEPS)), max_size=4), min_size=1, max_size=5))
def test_what_a_look_would_find_is_looked_at(tmp_path_factory: pytest.TempPathFactory, turns: list[list[str]]) -> None:
    """Of stops that aren't due none would record anything, nor ask anything."""
    world = make_world(tmp_path_factory.mktemp("world"))
    world.open().log.init()
    talk = Talk(world, world.personal)
    for number, turn in enumerate(turns, start=1):
        for step in turn:
            _STEPS[step](talk)
        was, is_due = kept(world.personal), due(talk)
        question = talk.stop() if is_due or number == len(turns) else ""
        if not is_due:
            assert ("", was) == (question, kept(world.personal))


def test_what_was_left_is_there_at_the_next_look(world: World) -> None:
    """Stops that weren't looked at lose nothing of the stretch."""
    world.open().log.init()
    talk = Talk(world, world.personal)
    assert "" == talk.stop()
    for _ in range(3):
        assert not due(talk)
        _STEPS["mends a line"](talk)
    _STEPS["writes"](talk)
    _STEPS["announces"](talk)
    assert due(talk)
    assert "roamkb: which" in talk.stop()
    assert any("taken by the proxy" in line for line in kept(world.personal))
    assert not due(talk)


@pytest.mark.parametrize("type", [*TYPES, *ALIASES])
def test_whatever_announces_itself_is_heard(world: World, type: str) -> None:
    """By every word for a type, in every form that is one."""
    world.open().log.init()
    talk = Talk(world, world.personal)
    talk.stop()
    for form in ("{}: x", "**{}**: x", "- **{}:** x", "__{}__: x", "{}：x"):
        message = form.format(type.upper()) + " is taken by the proxy on all hosts of CI"
        talk.payload["last_assistant_message"] = "Done"
        assert not due(talk)
        talk.payload["last_assistant_message"] = f"Done\n{message}"
        assert due(talk)
        was = kept(world.personal)
        StoppedSession({**talk.payload, "hook_event_name": "Stop"}, talk.around).handle_stop()
        assert len(was) + 1 == len(kept(world.personal))


def test_a_stop_that_asks_nothing_opens_no_log(world: World) -> None:
    """Through the real hook: what is done there beside is the journal's look at the notes."""
    world.open().log.init()
    talk = Talk(world, world.personal)
    talk.stop()
    _STEPS["mends a line"](talk)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "roamkb", "hook", "stop"],
        input=json.dumps({**talk.payload, "hook_event_name": "Stop", "last_assistant_message": "Done."}),
        env=world.environment(),
        cwd=world.personal,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {} == json.loads(done.stdout)
    assert " roamkb.pipeline.store.transcript_glance\n" in done.stderr
    for name in (
        "roamkb.log.store.project_log",
        "roamkb.app.log.project_log",
        "roamkb.app.log.learn",
        "roamkb.log.state.learning_state",
    ):
        assert f" {name}\n" not in done.stderr, name


def test_a_long_transcript_costs_what_is_new_in_it(world: World) -> None:
    """Of twenty megabytes no more is read than what came since."""
    world.open().log.init()
    talk = Talk(world, world.personal)
    for _ in range(200):
        talk.call("Read", "x" * 100_000, file_path="/x/a.c")
    talk.stop()
    _STEPS["mends a line"](talk)
    size = talk.transcript.stat().st_size
    before = _bytes_read()
    assert not due(talk)
    assert _bytes_read() - before < 200_000 < size / 100
    end = read_transcript(talk.transcript).end
    before = _bytes_read()
    assert () == read_transcript(talk.transcript, start=end).passages
    assert _bytes_read() - before < 100_000


def _bytes_read() -> int:
    path = Path(f"/proc/{os.getpid()}/io")
    if not path.is_file():
        pytest.skip("only Linux counts what a process reads")
    return int(path.read_text().split()[1])
