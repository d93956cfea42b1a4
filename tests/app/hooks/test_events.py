"""What a session's start looks after, with a clock of its own."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from roamkb.app.hooks.events import HookEventSession
from roamkb.app.hooks.events import HookSuggestions
from roamkb.app.hooks.stop import StoppedSession
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.context.brief_text import SessionBrief
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.state.replay import replay
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.cache import state_cache
from roamkb.pipeline.learn_proposals import ProposalOutcomes
from roamkb.remedies.remedy import SuggestedRemedies
from roamkb.sharing.snapshot import SnapshotList
from tests.conftest import NOON
from tests.conftest import World


def snapshots(world: World) -> int:
    """How many snapshots of the log and of the notes there are."""
    found = world.open().log.snapshot("list")
    assert isinstance(found, SnapshotList)
    return len(found.snapshots)


def start(world: World, *, days: int) -> None:
    """Begin a session so many days after the first."""
    around = replace(world.open().environment, now=lambda: NOON + timedelta(days=days))
    payload = {"session_id": f"s-{days}", "cwd": str(world.personal), "hook_event_name": "SessionStart"}
    HookEventSession(payload, around).start_session()


def test_the_days_snapshot_is_looked_after_once(world: World) -> None:
    """Where nothing is to be kept, all notes would be read at every start otherwise."""
    base = world.open()
    base.log.init()
    start(world, days=0)
    base.log.learn("Redis evicts sessions when maxmemory is reached")
    start(world, days=0)
    assert 0 == snapshots(world)
    start(world, days=1)
    assert 1 == snapshots(world)


_ERROR = "Exit code 1\nsrc/a.c:3:10: fatal error: curl/curl.h: No such file or directory"


class Talk:
    """A session whose transcript grows, as Claude Code writes it."""

    def __init__(self, world: World, project: Path, *, days: int = 0) -> None:
        """Begin it in a project."""
        self.around = replace(world.open(project).environment, now=lambda: NOON + timedelta(days=days))
        session = f"00000000-0000-4000-8000-00000000000{days}"
        self.transcript = world.home / ".claude" / "projects" / "-talks" / f"{session}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.transcript.write_text("")
        self.payload = {
            "session_id": session,
            "cwd": str(project),
            "transcript_path": str(self.transcript),
        }
        self.count = 0

    def call(self, tool: str, printed: str = "", *, failed: bool = False, **given: str) -> None:
        """Add a call of a tool and its result."""
        self.count += 1
        id = f"toolu_{self.count}"
        use = {"type": "tool_use", "id": id, "name": tool, "input": given}
        result = {"type": "tool_result", "tool_use_id": id, "content": printed, "is_error": failed}
        with self.transcript.open("a") as file:
            for role, block in (("assistant", use), ("user", result)):
                line = {"type": role, "message": {"role": role, "content": [block]}}
                file.write(json.dumps(line) + "\n")

    def say(self, role: str, text: str, **more: str) -> None:
        """Add a message."""
        with self.transcript.open("a") as file:
            content = [{"type": "text", "text": text}]
            line = {"type": role, "message": {"role": role, "content": content}, **more}
            file.write(json.dumps(line) + "\n")

    def learn(self, text: str) -> None:
        """Have the agent learn something in passing."""
        base = KnowledgeBase(self.around, project=self.payload["cwd"])
        base.log.learn(text, session=self.payload["session_id"])

    def start(self) -> None:
        """Begin, and do the chores that earlier sessions left."""
        HookEventSession({**self.payload, "hook_event_name": "SessionStart"}, self.around).start_session()

    def ask(self, prompt: str) -> HookSuggestions:
        """Have the human say something; return what is suggested."""
        payload = {**self.payload, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
        suggestions = HookEventSession(payload, self.around).handle_prompt()
        self.say("user", prompt)
        return suggestions

    def finish(self, message: str) -> None:
        """Have the agent say something and stop."""
        self.say("assistant", message)
        self.stop()

    def stop(self) -> str:
        """Have the agent stop, and return what it is asked."""
        return StoppedSession({**self.payload, "hook_event_name": "Stop"}, self.around).handle_stop().question


def attempted(project: Path) -> list[dict[str, Any]]:
    """Return the attempts in a project's ledger."""
    lines = (project / ".roamkb" / "ledger.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == "attempted"]


@pytest.mark.parametrize("kind", ["personal", "work"])
def test_an_episode_is_recorded_in_its_project_whenever_one_looks(world: World, kind: str) -> None:
    """It failed in one stretch of work, and works in a later one; secrets are masked."""
    project = getattr(world, kind)
    world.open(project).log.init()
    secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    talk = Talk(world, project)
    talk.call("Bash", _ERROR, failed=True, command="make")
    talk.stop()
    talk.call("Bash", command=f"GH_TOKEN={secret} apt-get install -y libcurl4-openssl-dev")
    talk.call("Edit", file_path=str(project / "Makefile"), old_string="LIBS =", new_string="LIBS = -lcurl")
    talk.stop()
    talk.call("Bash", "ok", command="make -j4")
    question = talk.stop()
    (line,) = attempted(project)
    assert "success" == line["outcome"]
    assert ["edit Makefile: LIBS = -lcurl", "make -j4"] == line["steps"][1:]
    assert str(line["technique"]).endswith("libcurl4-openssl-dev; edit Makefile: LIBS = -lcurl; make -j4")
    assert f'"mended":"{line["fingerprint"][:8]}"' in question
    assert len(question) <= 400
    files = (path for path in world.home.rglob("*") if path.is_file() and path != talk.transcript)
    assert [] == [path for path in files if secret.encode() in path.read_bytes()]
    talk.call("Bash", "ok", command="make -j4")
    talk.stop()
    assert 1 == len(attempted(project))


def test_an_agents_sentence_takes_the_place_of_the_deeds(world: World) -> None:
    """And stays a learning; the deeds are its steps. A later session is offered it."""
    base = world.open()
    base.log.init()
    talk = Talk(world, world.personal)
    talk.call("Bash", _ERROR, failed=True, command="make")
    talk.call("Bash", command="apt-get install -y libcurl4-openssl-dev")
    talk.call("Bash", "ok", command="make")
    talk.stop()
    (line,) = attempted(world.personal)
    claim = "The headers of libcurl come with libcurl4-openssl-dev"
    told = [{"claim": claim, "mended": line["fingerprint"][:8]}]
    base.log.learn(proposals=json.dumps(told), session=str(talk.payload["session_id"]))
    found = base.log.remedy("suggest", error="x.c:1:10: fatal error: curl/curl.h: No such file or directory")
    assert isinstance(found, SuggestedRemedies)
    (remedy,) = found.remedies
    assert (claim, ("apt-get install -y libcurl4-openssl-dev",), 1) == (
        remedy.technique,
        remedy.steps,
        remedy.successes,
    )
    # what mended nothing that is recorded is a learning all the same
    learned = base.log.learn(proposals=json.dumps([{"claim": "Something else is so", "mended": "ffffffff"}]))
    assert isinstance(learned, ProposalOutcomes)
    assert ("new", True) == (learned.taken[0].outcome, "no mended error ffffffff" in learned.taken[0].why)
    later = Talk(world, world.personal, days=1)
    failed = {**later.payload, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash"}
    for error, is_offered in ((_ERROR, True), (_ERROR.replace("curl/curl.h", "zlib.h"), False)):
        payload = {**failed, "tool_input": {"command": "make all"}, "error": error}
        offered = HookEventSession(payload, later.around).handle_failure()
        assert is_offered == (offered is not None and offered.technique == claim)


def test_only_what_a_human_says_afterwards_contests(world: World) -> None:
    """The words that a learning was made from speak of the same subject, and were said before it."""
    world.open().log.init()
    talk = Talk(world, world.personal)
    talk.stop()
    about = "the staging deploy takes the blue cluster"
    for minutes, count in ((-1, 0), (1, 1)):
        talk.learn(about)
        at = (NOON + timedelta(minutes=minutes)).isoformat()
        talk.say("user", f"No, {about}, I said", timestamp=at)
        talk.stop()
        assert count == (world.personal / ".roamkb/ledger.jsonl").read_text().count("contested")


def mending(project: Path, **more: str) -> list[dict[str, Any]]:
    """Return the payloads of a failure, an edit and a success."""
    payload = {"session_id": "s-1", "cwd": str(project), "tool_name": "Bash", **more}
    make = {**payload, "tool_input": {"command": "make"}}
    edit = {"file_path": str(project / "Makefile"), "old_string": "", "new_string": "x"}
    return [
        {**make, "error": _ERROR},
        {**payload, "tool_name": "Edit", "tool_response": {}, "tool_input": edit},
        {**make, "tool_response": {"stdout": "ok"}},
    ]


def send(world: World, payload: dict[str, Any]) -> None:
    """Have the real hook of a tool answer nothing."""
    name = "post-tool-use-failure" if "error" in payload else "post-tool-use"
    assert {} == world.run("hook", name, input=json.dumps(payload)).json


@pytest.mark.parametrize(
    "transcript", [None, "", '{"type": "user", "message": {"role": "user", "content": "run it"}}\n']
)
def test_without_calls_in_a_transcript_the_tools_hooks_tell(world: World, transcript: str | None) -> None:
    """Through the real hook: a failure, an edit, a success; nothing waits any longer then."""
    world.open().log.init()
    talk = world.home / "talk.jsonl"
    if transcript is not None:
        talk.write_text(transcript)
    more = {} if transcript is None else {"transcript_path": str(talk)}
    for payload in mending(world.personal, **more):
        send(world, payload)
    assert ["edit Makefile: x"] == [line["technique"] for line in attempted(world.personal)]
    assert [] == list((world.personal / ".roamkb").rglob("offers/*"))
    observed = [path.read_text() for path in (world.personal / ".roamkb/local").rglob("*.jsonl")]
    assert 1 == sum(text.count('"tool":"Edit"') + text.count('"tool": "Edit"') for text in observed), observed
    stop = {**mending(world.personal, **more)[0], "hook_event_name": "Stop"}
    assert '"mended":' in StoppedSession(stop, world.open().environment).handle_stop().question


def test_calls_that_a_transcript_holds_after_all_count_once(world: World) -> None:
    """It may lag behind the first of them."""
    world.open().log.init()
    talk = Talk(world, world.personal)
    failure, edit, success = (
        {**payload, "session_id": talk.payload["session_id"]}
        for payload in mending(world.personal, transcript_path=str(talk.transcript))
    )
    send(world, failure)
    talk.call("Bash", _ERROR, failed=True, command="make")
    talk.call("Edit", file_path=str(world.personal / "Makefile"), old_string="", new_string="x")
    send(world, edit)
    talk.call("Bash", "ok", command="make")
    send(world, success)
    talk.stop()
    assert ["edit Makefile: x"] == [line["technique"] for line in attempted(world.personal)]
    assert [] == list((world.personal / ".roamkb").rglob("offers/*"))


def test_hooks_answer_while_a_long_log_is_indexed_in_steps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """They say that it isn't ready, keep what happens, and one of them finds it done; no answer waits for it."""
    monkeypatch.setattr(state_cache, "_LEAST_BUILT_BYTES", 0)
    world.open().log.init()
    log = world.log()
    log.knowledge.write_bytes(
        b"".join(
            learning_line(Learning(id=f"L{n}", key=f"k{n}", type="fact", content=f"fact {n} of lamps", ts=n)) + b"\n"
            for n in range(1000)
        )
    )
    payload = {"session_id": "s-1", "cwd": str(world.personal), "hook_event_name": "SessionStart"}

    def begun() -> SessionBrief:
        session = HookEventSession(payload, world.open().environment)
        session.build_budget = BuildBudget(steps=1)
        assert session.before_change("x.py").suggested_ids == ()
        brief = session.start_session()
        assert brief is not None
        return brief

    briefs = [begun() for _ in range(6)]
    counts = [brief.learning_count for brief in briefs]
    assert counts == sorted(counts, key=lambda count: count or 0)
    assert (None, 1000) == (counts[0], counts[-1])
    assert [count is None for count in counts] == [any("is long" in line for line in one.troubles) for one in briefs]
    assert world.log().read_contents().replay_state() == replay(log.read_contents().learnings, ())
