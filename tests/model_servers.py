"""Servers on the loopback that answer as those of language models do, or as broken ones."""

import json
import threading
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Server:
    """A running server, and what it was asked, in order."""

    url: str
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[Json] = field(default_factory=list)

    @property
    def host(self) -> str:
        """Its address without the scheme, as OLLAMA_HOST has it."""
        return self.url.removeprefix("http://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is sent back; pieces go out one by one, with a pause after each."""

    pieces: tuple[bytes, ...]
    status: int = 200
    kind: str = "application/json"
    #: What the header says; None for the truth.
    length: int | None = None
    location: str = ""
    pause: float = 0.0


def whole(value: object, *, status: int = 200, kind: str = "application/json") -> Reply:
    """Return a reply in one piece: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return Reply(pieces=(text.encode(),), status=status, kind=kind)


def ollama(text: str, **more: object) -> Json:
    """Return what `/api/chat` answers at once."""
    said = {"role": "assistant", "content": text}
    told = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 9}
    return {"model": "small", "created_at": "2026-10-26T17:15:24.097767Z", "message": said, **told, **more}


def ollama_lines(text: str) -> str:
    """Return the same as streamed lines."""
    at = "2026-10-26T17:15:24.097767Z"
    head = {"model": "small", "created_at": at}
    lines: list[Json] = [
        {**head, "message": {"role": "assistant", "content": piece}, "done": False} for piece in _pieces(text)
    ]
    lines.append({**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
    return "".join(json.dumps(line) + "\n" for line in lines)


def openai(text: str | None, *, reason: str = "stop", **more: object) -> Json:
    """Return what `/chat/completions` answers at once."""
    said = {"role": "assistant", "content": text, "refusal": None, **more}
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": reason}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def openai_events(text: str) -> str:
    """Return the same as server-sent events."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m"}
    deltas: list[tuple[Json, str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in _pieces(text)]
    deltas.append(({}, "stop"))
    events = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} for delta, reason in deltas]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


@contextmanager
def serving(reply: Callable[[Json], Reply] | Reply) -> Iterator[Server]:
    """Serve `reply` on a free port of 127.0.0.1 until the block ends."""
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(data)
            made.paths.append(self.path)
            made.headers.append(dict(self.headers.items()))
            made.bodies.append(body)
            told = reply(body) if callable(reply) else reply
            self.send_response(told.status)
            self.send_header("Content-Type", told.kind)
            length = sum(map(len, told.pieces)) if told.length is None else told.length
            self.send_header("Content-Length", str(length))
            if told.location:
                self.send_header("Location", told.location)
            self.end_headers()
            for piece in told.pieces:
                try:
                    self.wfile.write(piece)
                except OSError:
                    break
                if stopped.wait(told.pause):
                    break
            self.close_connection = True

        do_GET = do_POST

        def log_message(self, format: str, *words: object) -> None:
            """Say nothing: what was asked is kept."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Server(url=f"http://127.0.0.1:{server.server_port}")
    # how long it takes to stop
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def slowly(text: str, *, pause: float) -> Reply:
    """Return a reply of which a letter comes now and then."""
    return Reply(pieces=tuple(bytes([one]) for one in text.encode()), pause=pause)


def never() -> Reply:
    """Return a reply whose body never comes."""
    return Reply(pieces=(b"",), length=10, pause=3600)
