"""Whose word counts: what is typed on the terminal, after the question, and nothing else."""

import subprocess
import sys

import pytest

from tests.conftest import World
from tests.human import at_a_terminal

KEY = "learned-oauth-redirect-uris-must-match-exactly"


@pytest.fixture
def log(world: World) -> World:
    """A log with one learning."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly")
    return world


def confidence(world: World) -> object:
    """What the learning counts."""
    learnings = world.run("export", "--json").json["learnings"]
    assert isinstance(learnings, list)
    return learnings[0]["confidence"]


def test_what_was_typed_before_the_question_is_no_answer(log: World) -> None:
    """Keys that lay in the buffer were meant for something else."""
    ran, _ = at_a_terminal(log, "override", KEY, "0.95", early="0.95\n0.95\n", answer=lambda _: "no")
    assert (2, 0.7) == (ran.status, confidence(log))
    ran, _ = at_a_terminal(log, "override", KEY, "0.95", early="no\n")
    assert (0, 0.95) == (ran.status, confidence(log))


def test_a_process_without_a_terminal_has_no_human(log: World) -> None:
    """In a session of its own, whatever its standard input, output and error are."""
    done = subprocess.run(
        [sys.executable, "-m", "roamkb", "override", KEY, "0.95"],
        cwd=log.personal,
        env=log.environment(),
        input=b"0.95\n",
        capture_output=True,
        start_new_session=True,
        check=False,
    )
    assert (2, 0.7) == (done.returncode, confidence(log))
    assert b"there is none" in done.stderr


def test_the_question_acts_on_no_terminal(world: World) -> None:
    """What a learning holds is shown cleaned."""
    world.run("init")
    log = world.personal / ".roamkb" / "knowledge.jsonl"
    log.write_text('{"key":"k","type":"fact","content":"red \\u001b[31m and \\u202e reversed"}\n')
    ran, terminal = at_a_terminal(world, "override", "k", "0.95")
    assert 0 == ran.status, ran.err
    assert "\x1b" not in terminal
    assert "\u202e" not in terminal


def test_only_the_logs_own_operations_know_a_human() -> None:
    """A search imports nothing of it."""
    probe = "import sys; import roamkb.interfaces.cli.main; print('roamkb.interfaces.cli.terminal' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()
