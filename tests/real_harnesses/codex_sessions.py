"""Sessions of the real Codex whose model says what a script says, and its screen with somebody before it."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from contextlib import suppress
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

#: A tool's name and its input; a patch is text.
Call = tuple[str, Json | str]
#: What the model says at a time.
Turn = str | Call

#: Calls its tools itself; and by a script of its own, as its newer ones do.
PLAIN, SCRIPTED = "gpt-5.5", "gpt-6.1-sol"
FREE = ("--sandbox", "danger-full-access")
WORKSPACE = ("--sandbox", "workspace-write")
READ_ONLY = ("--sandbox", "read-only")

_EVENTS = (
    "SessionStart SubagentStart UserPromptSubmit PreToolUse PostToolUse PreCompact PostCompact Stop"
    " SubagentStop SessionEnd Interrupt PermissionRequest"
).split()
_USAGE = {"input_tokens_details": None, "output_tokens_details": None, "output_tokens": 5}
_SCREEN = (40, 140)
#: What a terminal answers when it is asked who it is, where the cursor is, and which colours it has.
_ASKED = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
_CONTROL = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b.|[\x00-\x20]")


def answer(turn: Turn, number: int, *, model: str, used: int = 10) -> Stream:
    """Return what the model says as the events of the Responses API."""
    call: Json = {"call_id": f"call_{number}"}
    if isinstance(turn, str):
        text = [{"type": "output_text", "text": turn}]
        item: Json = {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": text}
    elif model == SCRIPTED and not turn[0].startswith("collaboration__"):
        said = f"text(await tools.{turn[0]}({json.dumps(turn[1])}));"
        item = {**call, "type": "custom_tool_call", "name": "exec", "input": said}
    elif isinstance(turn[1], str):
        item = {**call, "type": "custom_tool_call", "name": turn[0], "input": turn[1]}
    else:
        space, _, name = turn[0].rpartition("__")
        item = {**call, "type": "function_call", "name": name, "arguments": json.dumps(turn[1])}
        item |= {"namespace": space} if space else {}
    usage = {**_USAGE, "input_tokens": used, "total_tokens": used + 5}
    response = {"id": f"resp_{number}", "usage": usage}
    return Stream(
        events=[
            {"type": "response.created", "response": {"id": response["id"]}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": response},
        ]
    )


class Script:
    """What the model says, turn by turn; a subagent says one thing, and a summary is none's."""

    def __init__(self, turns: Sequence[Turn], *, model: str, subagent: str, used: int) -> None:
        """Take the turns; who has said all of them says that it is done. `used` are the tokens at the end."""
        self._turns = list(turns)
        self._model = model
        self._subagent = subagent
        self._used = used
        self._numbers = count(1)

    def __call__(self, request: Request) -> Stream | Json | None:
        """Answer one request."""
        if not request.path.endswith("/responses"):
            return None
        told = request.body.get("client_metadata", {}).get("x-codex-turn-metadata", "{}")
        about = json.loads(told)
        number = next(self._numbers)
        if about.get("agent_name", "/root") != "/root":
            return answer(self._subagent, number, model=self._model)
        # its screen has a title made of the first prompt, in a session of its own
        is_title = any("task title of at most" in text for text in texts(request.body["input"][-1:]))
        if is_title or about.get("request_kind", "turn") != "turn":
            return answer("Redis was talked about.", number, model=self._model)
        turn = self._turns.pop(0) if self._turns else "Done."
        used = 10 if self._turns else self._used
        return answer(turn, number, model=self._model, used=used)


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
        return self.model.of("/responses")

    @property
    def told(self) -> str:
        """All that the agent was told by the end, as text."""
        return "\n".join(texts(self.requests[-1]["input"]))

    @property
    def results(self) -> list[str]:
        """What the calls of tools gave, in the order of the calls."""
        items = self.requests[-1]["input"]
        return ["\n".join(texts(one["output"])) for one in items if one["type"].endswith("call_output")]


def texts(value: Any) -> Iterator[str]:
    """Yield every text that a model reads, at any depth."""
    match value:
        case str():
            yield value
        case {"text": str(text)}:
            yield text
        case {"content": content}:
            yield from texts(content)
        case {"output": output}:
            yield from texts(output)
        case list():
            for one in value:
                yield from texts(one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codex:
    """Codex on a machine with roamkb."""

    program: str
    machine: Machine
    #: What its hooks are told is written here.
    recorded: Path

    def run(self, *words: str | Path, cwd: Path | None = None) -> str:
        """Run a command of its own, and return what it printed."""
        ran = self.machine.run(self.program, *words, cwd=cwd)
        assert not ran.returncode, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    def say(
        self,
        prompt: str,
        *turns: Turn,
        cwd: Path,
        words: Sequence[str] = WORKSPACE,
        model: str = PLAIN,
        trusted: bool = True,
        subagent: str = "Done.",
        used: int = 10,
    ) -> Session:
        """Run one prompt to its end; hooks run without a human's trust, and are written down, unless told."""
        hook = f"[{{hooks=[{{type='command',command=\"(cat; echo) >>'{self.recorded}'\"}}]}}]"
        recorder = [word for event in _EVENTS for word in ("-c", f"hooks.{event}={hook}")]
        free = ["--dangerously-bypass-hook-trust", *recorder] if trusted else []
        with playing(Script(turns, model=model, subagent=subagent, used=used)) as server:
            ran = self.machine.run(
                *(self.program, "exec", "--skip-git-repo-check", *self._quiet(server.url), *free, *words),
                *("--model", model, prompt),
                cwd=cwd,
            )
        assert not ran.returncode, ran.stdout + ran.stderr
        found = re.search(r"session id: (\S+)", ran.stderr)
        return Session(id=found[1] if found else "", out=ran.stdout, err=ran.stderr, model=server)

    @staticmethod
    def _quiet(url: str) -> list[str]:
        """Return what keeps it from any network but the model's, and from folders of ours in /tmp."""
        provider = f'{{name="script",base_url="{url}/v1",wire_api="responses",requires_openai_auth=false}}'
        settings = (
            f"model_providers.script={provider}",
            'model_provider="script"',
            "analytics.enabled=false",
            "check_for_update_on_startup=false",
            "sandbox_workspace_write.exclude_slash_tmp=true",
        )
        return [word for one in settings for word in ("-c", one)]

    @contextmanager
    def screen(self, cwd: Path, *turns: Turn, trusted: bool = False) -> Iterator[tuple["Screen", Session]]:
        """Give its screen and what becomes of it, with a model that says the turns, until the block ends.

        Where it is `trusted`, nobody is asked about the folder and its hooks, and its commands run.
        """
        trust = f'projects={{"{cwd}"={{trust_level="trusted"}}}}'
        free = ["--dangerously-bypass-hook-trust", "-c", trust, "--ask-for-approval", "never", *FREE]
        with playing(Script(turns, model=SCRIPTED, subagent="", used=10)) as server:
            words = [self.program, "--no-daemon", *self._quiet(server.url), "--model", SCRIPTED]
            words += free if trusted else []
            screen = Screen(words, cwd, self.machine.environment(PWD=str(cwd), TERM="xterm-256color"))
            try:
                yield screen, Session(id="", out="", err="", model=server)
            finally:
                screen.close()

    def payloads(self, session: str) -> list[Json]:
        """What its hooks were told of a session, in order."""
        lines = self.recorded.read_text(encoding="utf-8").splitlines()
        told: list[Json] = [json.loads(line) for line in lines if line]
        return [one for one in told if one["session_id"] == session]


class Screen:
    """A terminal with a program in it: what it shows, and what somebody types."""

    def __init__(self, words: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        """Start the program."""
        self._pid, self._fd = pty.fork()
        if not self._pid:
            os.chdir(cwd)
            os.execvpe(words[0], list(words), dict(environment))
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", *_SCREEN, 0, 0))
        self._shown = b""

    def wait(self, text: str) -> None:
        """Wait until the program has shown `text`, whatever blanks are in it; what it showed so far is done.

        Raises:
            EOFError: it ended before.
        """
        wanted = re.sub(r"\s", "", text).encode()
        while wanted not in _CONTROL.sub(b"", self._shown):
            if not self._read():
                shown = _CONTROL.sub(b" ", self._shown[-4000:]).decode("utf-8", "replace")
                raise EOFError(f"no {text!r} in {re.sub(' +', ' ', shown)}")
        self._shown = b""

    def _read(self) -> bool:
        ready, _, _ = select.select([self._fd], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return False
        for asked, said in _ASKED.items():
            if asked in data:
                os.write(self._fd, said)
        self._shown += data
        return bool(data)

    def type(self, keys: str) -> None:
        """Type, as slowly as somebody would."""
        for key in keys:
            time.sleep(0.2)
            os.write(self._fd, key.encode())

    def close(self) -> None:
        """End the program and all that it started."""
        for which in (signal.SIGTERM, signal.SIGKILL):
            with suppress(OSError):
                os.killpg(self._pid, which)
            time.sleep(0.5)
        with suppress(OSError):
            os.waitpid(self._pid, 0)
        os.close(self._fd)
