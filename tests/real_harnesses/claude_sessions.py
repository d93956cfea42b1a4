"""Sessions of the real Claude Code whose model says what a script says."""

import json
import uuid
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from tests.real_harnesses.model import Json
from tests.real_harnesses.model import Model
from tests.real_harnesses.model import Request
from tests.real_harnesses.model import Stream
from tests.real_harnesses.model import playing
from tests.real_harnesses.world import Machine

#: A tool's name and its input.
Call = tuple[str, Json]
#: What the model says at a time: sentences and calls.
Turn = Sequence[str | Call]

#: Everything that Claude Code has an event for and that we read or might.
_EVENTS = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStart SubagentStop"
    " PreCompact PostCompact Stop SessionEnd"
).split()
#: No account, no other network, no questions, and root may do what it likes in here.
QUIET = {
    "ANTHROPIC_API_KEY": "sk-none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",
}
FREE = "--dangerously-skip-permissions"


def message(turn: Turn, numbers: Iterator[int]) -> Stream:
    """Return what the model says as the events of the Messages API."""
    head = {"id": f"msg_{next(numbers)}", "type": "message", "role": "assistant", "model": "claude-script"}
    usage = {"input_tokens": 9, "output_tokens": 9}
    empty: Json = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[Json] = [{"type": "message_start", "message": {**head, **empty}}]
    for index, one in enumerate(turn):
        if isinstance(one, str):
            block: Json = {"type": "text", "text": ""}
            delta: Json = {"type": "text_delta", "text": one}
        else:
            block = {"type": "tool_use", "id": f"toolu_{next(numbers):05}", "name": one[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(one[1])}
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    reason = "end_turn" if all(isinstance(one, str) for one in turn) else "tool_use"
    stop = {"stop_reason": reason, "stop_sequence": None}
    return Stream(events=[*events, {"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}])


class Script:
    """What the model says, turn by turn; a subagent is known by a word of its prompt."""

    def __init__(self, turns: Sequence[Turn], subagents: Mapping[str, Sequence[Turn]]) -> None:
        """Take the turns; who has said all of them says that it is done."""
        self._turns = iter(turns)
        self._subagents = {word: iter(said) for word, said in subagents.items()}
        self._numbers = count(1)

    def __call__(self, request: Request) -> Stream | Json | None:
        """Answer one request."""
        if request.path.endswith("/count_tokens"):
            return {"input_tokens": 9}
        if not request.path.endswith("/messages"):
            return None
        opening = json.dumps(request.body["messages"][0])
        said = next((told for word, told in self._subagents.items() if word in opening), self._turns)
        return message(next(said, ["Done."]), self._numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What became of one run."""

    id: str
    out: str
    err: str
    model: Model

    @property
    def requests(self) -> list[Json]:
        """What the model was sent."""
        return self.model.of("/messages")

    @property
    def told(self) -> str:
        """All that the agent was told by the end, as text."""
        return "\n".join(texts(self.requests[-1]["messages"]))

    @property
    def results(self) -> list[str]:
        """What the calls of tools gave, in the order of the calls."""
        blocks = [
            block
            for one in self.requests[-1]["messages"]
            if isinstance(one["content"], list)
            for block in one["content"]
        ]
        given = {
            block["tool_use_id"]: "\n".join(texts(block["content"]))
            for block in blocks
            if block["type"] == "tool_result"
        }
        return [given[block["id"]] for block in blocks if block["type"] == "tool_use"]


def texts(value: Any) -> Iterator[str]:
    """Yield every text that a model reads, at any depth."""
    match value:
        case str():
            yield value
        case {"text": str(text)}:
            yield text
        case {"content": content}:
            yield from texts(content)
        case {"input": given}:
            yield json.dumps(given)
        case list():
            for one in value:
                yield from texts(one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claude:
    """Claude Code on a machine with roamkb."""

    program: str
    machine: Machine
    #: What its hooks are told is written here.
    recorded: Path

    def run(self, *words: str | Path, cwd: Path, more: Mapping[str, str] | None = None) -> str:
        """Run a command of its own, and return what it printed."""
        ran = self.machine.run(self.program, *words, cwd=cwd, more={**QUIET, **(more or {})})
        assert not ran.returncode, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def say(
        self,
        prompt: str,
        *turns: Turn,
        cwd: Path,
        words: Sequence[str | Path] = (FREE,),
        subagents: Mapping[str, Sequence[Turn]] | None = None,
        more: Mapping[str, str] | None = None,
        session: str = "",
    ) -> Session:
        """Run one prompt to its end, in a new session or in one that goes on; hooks are written down."""
        id = session or str(uuid.uuid4())
        which = ("--resume", id) if session else ("--session-id", id)
        with playing(Script(turns, subagents or {})) as model:
            ran = self.machine.run(
                *(self.program, "--print", prompt, *which, "--settings", self._recorder(), *words),
                cwd=cwd,
                more={**QUIET, "ANTHROPIC_BASE_URL": model.url, **(more or {})},
            )
        assert not ran.returncode, ran.stdout + ran.stderr
        return Session(id=id, out=ran.stdout, err=ran.stderr, model=model)

    def _recorder(self) -> str:
        hook = {"type": "command", "command": f"(cat; echo) >>'{self.recorded}'"}
        return json.dumps({"hooks": {event: [{"hooks": [hook]}] for event in _EVENTS}})

    def payloads(self, session: str) -> list[Json]:
        """What its hooks were told of a session, in order."""
        lines = self.recorded.read_text(encoding="utf-8").splitlines()
        told: list[Json] = [json.loads(line) for line in lines if line]
        return [one for one in told if one["session_id"] == session]
