"""A server on this machine that plays the model: it writes down what it is sent, and answers by a script."""

import json
import threading
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a harness sent: `path` without its query, `body` empty where it sent no JSON."""

    method: str
    path: str
    body: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """An answer as server-sent events; each is named by its `type`."""

    events: Iterable[Json]


#: What is answered to a request: events, JSON, or None for 404.
Play = Callable[[Request], Stream | Json | None]


@dataclass(slots=True)
class Model:
    """A running server, and all that it was sent, in order."""

    url: str
    requests: list[Request] = field(default_factory=list)

    def of(self, path: str) -> list[Json]:
        """What was sent to paths that end with `path`."""
        return [one.body for one in self.requests if one.path.endswith(path)]


@contextmanager
def playing(play: Play) -> Iterator[Model]:
    """Serve `play` on a free port of 127.0.0.1 until the block ends; it may be called in several threads."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        do_POST = do_HEAD = do_GET

        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                body = json.loads(data) if data else {}
            except ValueError:
                body = {}
            request = Request(method=self.command, path=self.path.partition("?")[0], body=body)
            with lock:
                model.requests.append(request)
            told = play(request)
            if isinstance(told, Stream):
                lines = (f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in told.events)
                self._send(200, "text/event-stream", "".join(lines).encode())
            else:
                self._send(404 if told is None else 200, "application/json", json.dumps(told or {}).encode())

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, format: str, *words: object) -> None:
            """Say nothing: what was sent is kept."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = Model(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
