"""What a model finds in a session's transcript, asked as a command that answers in JSON."""

import json
import sys

import pytest

from tests.conftest import World
from tests.pipeline.test_learn_proposals import SESSION
from tests.pipeline.test_learn_proposals import TALK
from tests.pipeline.test_learn_proposals import session

QUOTE = "the proxy listens on port 8443, since 443 is the old one's"
CLAIM = {"claim": "The proxy listens on port 8443", "type": "fact"}


def model(world: World, answer: str) -> str:
    """Return a model that writes down what it is asked, and answers so."""
    path = world.home / "model.py"
    path.write_text(
        f"import sys\nopen({str(world.home / 'asked')!r}, 'w').write(sys.stdin.read())\nprint({answer!r})\n"
    )
    return f"'{sys.executable}' '{path}'"


def test_what_a_model_finds_passes_the_gate_by_its_quote(world: World) -> None:
    """Without a quote nobody said it; what roamkb showed is not sent."""
    world.run("init")
    session(world, *TALK)
    quoted = {**CLAIM, "evidence": {"quote": QUOTE}}
    bare = {"claim": "The exporter listens on 9100", "type": "fact"}
    answer = json.dumps({"proposals": [quoted, bare, {"claim": 3}]})
    ran = world.run("extract", "--with", model(world, answer), "--session", SESSION, "--json")
    assert 0 == ran.status, ran.err
    found: list[dict[str, object]] = ran.json["proposals"]
    assert ["verified", "unverified", None] == [one.get("verdict") for one in found]
    assert "refused" == found[2]["outcome"]
    asked = json.loads((world.home / "asked").read_text())
    assert "human" == asked["transcript"][0]["by"]
    line = json.loads((world.personal / ".roamkb" / "knowledge.jsonl").read_text().splitlines()[0])
    assert line["extracted"]["prompt"].startswith("extract-3:")


@pytest.mark.parametrize("answer", ["nonsense", "{}", '{"proposals": 3}', ""])
def test_a_model_that_answers_nonsense_teaches_nothing(world: World, answer: str) -> None:
    """It is an error that says so."""
    world.run("init")
    session(world, *TALK)
    ran = world.run("extract", "--with", model(world, answer), "--session", SESSION)
    assert (2, False) == (ran.status, "Traceback" in ran.err)
    assert "" == (world.personal / ".roamkb" / "knowledge.jsonl").read_text()


def test_without_model_or_transcript_or_a_humans_word_nothing_is_asked(world: World) -> None:
    """At work the human is asked at the terminal first."""
    world.run("init")
    asks = model(world, '{"proposals": []}')
    assert 2 == world.run("extract").status
    assert 2 == world.run("extract", "--with", asks, "--session", SESSION).status
    session(world, *TALK)
    world.run("init", cwd=world.work)
    assert 2 == world.run("extract", "--with", asks, "--session", SESSION, cwd=world.work).status
    assert not (world.home / "asked").exists()
