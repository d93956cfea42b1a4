"""What an agent is asked at a stop, as its harness tells of it."""

import json

import pytest

from tests.conftest import World
from tests.interfaces.hooks.test_main import event

_TALKS = [
    ("What does load_plan do?", "It reads the plan and returns a list of plans.", "And who calls it?", False),
    ("Explain rebase and merge.", "Rebase rewrites the commits; merge keeps both.", "Great, that helps a lot.", False),
    ("Wie spät ist es in Tokio?", "Dort ist es acht Stunden später.", "Danke dir!", False),
    ("go on", "Shall I write the tests as well?", "no thanks", False),
    ("soll ich?", "Soll ich weitermachen?", "nein danke", False),
    ("why?", "The worker restarts by the limit in the unit.", "Why does it not restart earlier?", False),
    ("look", "The worker restarts every 6 hours by its limit.", "No, it restarts because of logrotate.", True),
    ("look", "Der Server läuft auf Port 8088.", "Das ist falsch, er läuft auf 8090.", True),
    ("look", "The release branch is called stable.", "That's wrong.", True),
]


@pytest.mark.parametrize(("question", "answer", "reply", "is_asked"), _TALKS)
def test_small_talk_is_no_work(world: World, question: str, answer: str, reply: str, is_asked: bool) -> None:
    """Without a tool, a file or an error, an agent is asked once its human denies what it said."""
    world.run("init")
    transcript = world.home / "talk.jsonl"
    for said, told in ((question, answer), (reply, "Ok.")):
        with transcript.open("a") as file:
            for role, text in (("user", said), ("assistant", told)):
                message = {"role": role, "content": [{"type": "text", "text": text}]}
                file.write(json.dumps({"type": role, "message": message}) + "\n")
        payload = event(world.personal, "Stop", transcript_path=str(transcript), last_assistant_message=told)
        ran = world.run("hook", "stop", input=json.dumps(payload))
    assert is_asked == ("which 0-3 facts" in ran.out)
