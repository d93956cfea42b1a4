"""What the local server refuses, by a real one: each request is hostile in one way and welcome in all others."""

import json
import socket
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest
from starlette.types import Message
from starlette.types import Receive
from starlette.types import Scope
from starlette.types import Send

from roamkb.interfaces.http.request_guard import BURST_REQUESTS
from roamkb.interfaces.http.request_guard import REQUESTS_PER_SECOND
from roamkb.interfaces.http.request_guard import RequestGuard
from tests.conftest import World
from tests.conftest import make_world
from tests.interfaces.http.served import Served
from tests.interfaces.http.served import serving

LEARN = "/api/learn"
SAID = b'{"text": "nothing of this is learned"}'


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world for all requests, none of which may change it."""
    world = make_world(tmp_path_factory.mktemp("guard") / "home")
    world.node("zebra.org", "01a20143-7a25-1859-bca0-5870cee81ff7", "Zebras", "They are striped.")
    world.run("init")
    return world


@pytest.fixture(scope="module")
def served(world: World) -> Iterator[Served]:
    """One server for all requests."""
    with serving(world) as served:
        yield served


def test_the_welcome_request_is_welcome(served: Served) -> None:
    """Otherwise the tables below would prove nothing; a browser of the server's own origin is welcome too."""
    own = f"http://localhost:{served.port}"
    assert 200 == served.get("/api/stats").status
    assert 200 == served.get("/api/stats", Host=f"localhost:{served.port}", Origin=own).status
    assert 200 == served.post("/api/verify", {"batch": True}).status
    assert 200 == served.post("/api/verify", {"batch": True}, Content_Type="application/json; charset=utf-8").status


#: (status, headers) of a request for /api/stats.
SENDERS: list[tuple[int, Mapping[str, str | None]]] = [
    (400, {"Host": None}),
    *(
        (403, {"Host": host})
        for host in (
            "",
            "evil.example",
            "evil.example:PORT",
            "127.0.0.1",
            "localhost",
            "127.0.0.1:1",
            "127.0.0.1:PORT.evil.example",
            "127.0.0.1.evil.example:PORT",
            "localhost.:PORT",
            "LOCALHOST:PORT",
            "0.0.0.0:PORT",
            "[::1]:PORT",
            "127.1:PORT",
            "2130706433:PORT",
            "user@127.0.0.1:PORT",
            "127.0.0.1:0PORT",
            "127.0.0.1:PORT, evil.example",
        )
    ),
    *(
        (403, {"Origin": origin})
        for origin in (
            "null",
            "",
            "http://evil.example",
            "https://127.0.0.1:PORT",
            "http://127.0.0.1",
            "http://127.0.0.1:1",
            "http://localhost:PORT.evil.example",
            "http://127.0.0.1:PORT/",
            "file://",
            "chrome-extension://abcdef",
        )
    ),
    (403, {"Sec-Fetch-Site": "cross-site"}),
    (403, {"Sec-Fetch-Site": "same-site"}),
    (401, {"Authorization": None}),
    *(
        (401, {"Authorization": shown})
        for shown in (
            "",
            "Bearer",
            "Bearer ",
            "Bearer x",
            "Bearer TOKENx",
            "Bearer xTOKEN",
            "Bearer TOKEN TOKEN",
            "Basic TOKEN",
            "TOKEN",
            "Token TOKEN",
            "Bearer null",
            "Bearer ' or ''='",
        )
    ),
    (411, {"Transfer-Encoding": "chunked"}),
    (400, {"Content-Length": "-1"}),
    (400, {"Content-Length": "+0"}),
    (400, {"Content-Length": "5"}),
    (413, {"Content-Length": "99999999999"}),
    (415, {"Content-Encoding": "gzip"}),
]


@pytest.mark.parametrize(("status", "headers"), SENDERS, ids=lambda value: str(value))
def test_a_stranger_is_refused(status: int, headers: Mapping[str, str | None], served: Served) -> None:
    """By name, by origin, without the token, or by a header that proxies read otherwise."""
    filled = {
        name.replace("-", "_"): value and value.replace("PORT", str(served.port)).replace("TOKEN", served.token)
        for name, value in headers.items()
    }
    answer = served.get("/api/stats", **filled)
    assert status == answer.status
    assert b"total_entries" not in answer.body


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"])
def test_a_method_of_another_world_is_refused(method: str, served: Served) -> None:
    """GET and POST are all there is; a browser that asks beforehand (OPTIONS) gets no leave."""
    answer = served.send(method, "/api/stats", Content_Type=None)
    assert answer.status in (400, 404, 405)
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/",
        "/api/stats/",
        "//api/stats",
        "/api//stats",
        "/api/./stats",
        "/api/x/../stats",
        "/api/%2e%2e/api/stats",
        "/api/%2e/stats",
        "/api%2fstats",
        "/api/..%2fstats",
        "/api%5cstats",
        "/api\\stats",
        "/api/stats%00",
        "/api/stats;x=1",
        "/api/stats%0d%0aX: 1",
        "/API/stats",
        "/api/stats.json",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/api/knowledge/relevant/..%2f..%2fetc%2fpasswd",
        "/api/knowledge/relevant/",
        "/api/knowledge/gotcha/1",
        "http://evil.example/api/stats",
        "*",
    ],
)
def test_a_path_that_reads_in_two_ways_leads_nowhere(path: str, served: Served) -> None:
    """Nothing is normalised, so nothing is let in by another name."""
    assert served.send("GET", path.replace(" ", "%20")).status in (400, 404)


#: Operations that no server offers, and parameters that those which it offers don't take.
ABSENT = (
    "override install uninstall init ingest bundle observe hook serve mcp approve reject rollback "
    "apply inject eval shell"
).split()


@pytest.mark.parametrize("name", ABSENT)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_not_offered_is_not_there(name: str, method: str, served: Served) -> None:
    """What a human approves, what changes the machine, and what reads files or runs programs."""
    assert 404 == served.send(method, f"/api/{name}", b"{}" if method == "POST" else b"").status


@pytest.mark.parametrize(
    "query",
    [
        "/api/stats?project=/",
        "/api/recall?project=/home",
        "/api/classify?folder=/",
        "/api/recall?limit=1&limit=2",
        "/api/explain?key=a&key=b",
        "/api/recall?words=x&words=y&offset=0&offset=1",
        "/api/knowledge/relevant/t?minConfidence=0&minConfidence=1",
        "/api/knowledge/strategy/E?message=a&message=b",
        "/api/recall?words=x&limit=1_0",
        "/api/recall?words=x&limit=%2B5",
        "/api/recall?words=x&limit=%D9%A3",
        "/api/recall?words=x&limit=5.0",
        "/api/recall?words=x&offset=99999999999999999999999",
        "/api/knowledge/relevant/t?minConfidence=nan",
        "/api/knowledge/relevant/t?minConfidence=1e309",
        "/api/knowledge/relevant/a%00b",
        "/api/knowledge/relevant/%ff",
        "/api/recall?words=%ff%fe",
        "/api/recall?file=a%00b",
        "/api/recall?words=x&agent=a%00b",
        "/api/recall?as_of=99999-01-01",
        "/api/events?x=1",
        "/api/classify?project=/",
        "/api/curate?apply=abc",
        "/api/curate?dry_run=true",
        "/api/review?edit=true",
        "/api/review?curate=true&reason=x",
        "/api/conflicts?adopt=true",
        "/api/index?rebuild=true",
        "/api/search?words=a&semantic=true",
        "/api/search?words=a&limit=-1",
        "/api/search?words=a&limit=99999999999999999999999",
        "/api/search?words=a&limit=1&limit=x",
        "/api/search?words=%ff",
        "/api/search?words=a%00b",
        "/api/search?Words=a",
        "/api/search?words=",
        "/api/recall?limit=ten",
        "/api/recall?all=perhaps",
        "/api/recall?__proto__=1",
        "/api/show",
        "/api/show?name=-",
        "/api/knowledge/relevant/t?minConfidence=nan",
        "/api/knowledge/relevant/t?minConfidence=2",
        "/api/knowledge/relevant/t?project=/",
        "/api/knowledge/strategy/E?token=x",
        "/api/events?project=/",
    ],
)
def test_a_query_that_is_not_understood_is_refused(query: str, served: Served) -> None:
    """Above all one that would choose the project; nothing is guessed and nothing is left out silently."""
    answer = served.get(query)
    assert 400 == answer.status
    assert "usage" == answer.json["error"]["code"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (LEARN, b""),
        (LEARN, b"null"),
        (LEARN, b"[]"),
        (LEARN, b'"text"'),
        (LEARN, b"{"),
        (LEARN, b"{}{}"),
        (LEARN, b"{'text': 'x'}"),
        (LEARN, b'{"text": "x",}'),
        (LEARN, b'{"text": "x", "text": "y"}'),
        (LEARN, b'{"text": NaN}'),
        (LEARN, b'{"text": "x", "confidence": Infinity}'),
        (LEARN, b'{"text": "x", "confidence": 1e999}'),
        (LEARN, b'{"text": 1}'),
        (LEARN, b'{"text": ["x"]}'),
        (LEARN, b'{"text": {"$gt": ""}}'),
        (LEARN, b'{"text": ""}'),
        (LEARN, b'{"text": "-"}'),
        (LEARN, b'{"text": "x\\u0000y"}'),
        (LEARN, b'{"text": "\\ud800"}'),
        (LEARN, b'{"text": "\xff"}'),
        (LEARN, b'\xef\xbb\xbf{"text": "x"}'),
        (LEARN, '{"text": "x"}'.encode("utf-16")),
        (LEARN, b'{"text": "x", "tags": [1]}'),
        (LEARN, b'{"text": "x", "tags": [["x"]]}'),
        (LEARN, b'{"text": "x", "confidence": 0.5}'),
        (LEARN, b'{"text": "x", "confidence": "2"}'),
        (LEARN, b'{"text": "x", "project": "/"}'),
        (LEARN, b'{"text": "x", "kind": "personal"}'),
        (LEARN, b"[" * 100_000),
        (LEARN, b'{"text": "x", "agent": "\\ud800"}'),
        (LEARN, b'{"text": "x", "agent": "a\\u0000"}'),
        (LEARN, b'{"text": "x", "task": "a\\u0000"}'),
        (LEARN, b'\xef\xbb\xbf{"text": "x"}'),
        (LEARN, '{"text": "x"}'.encode("utf-16")),
        (LEARN, b'{"text": "x"} {"text": "y"}'),
        (LEARN, b'{"text": "x", "__proto__": {}}'),
        ("/api/knowledge/gotcha", b'{"fix": "x", "confidence": NaN}'),
        ("/api/knowledge/gotcha", b'{"fix": "x", "confidence": 1e400}'),
        ("/api/knowledge/task", b'{"task_id": "a\\u0000", "title": "x"}'),
        ("/api/prefer", b'{"key": "x", "agent": "\\ud83d"}'),
        ("/api/undo", b'{"event": "\\ud800"}'),
        (LEARN, b'{"a":' * 20_000 + b"1" + b"}" * 20_000),
        (LEARN, b'{"text": ' + b"9" * 10_000 + b"}"),
        ("/api/verify", b'{"batch": 1}'),
        ("/api/verify", b'{"batch": true, "judge": "touch /tmp/judged"}'),
        ("/api/snapshot", b'{"action": "restore", "yes": true}'),
        ("/api/snapshot", b'{"action": "restore"}'),
        ("/api/trash", b'{"all_agent": true, "yes": true}'),
        ("/api/trash", b'{"name": "x", "yes": true}'),
        ("/api/knowledge/gotcha", b"{}"),
        ("/api/knowledge/gotcha", b'{"content": "x", "confidence": 1.5}'),
        ("/api/knowledge/gotcha", b'{"content": "x", "occurrences": 99}'),
        ("/api/knowledge/gotcha", b'{"content": "x", "id": "mine"}'),
        ("/api/knowledge/task", b'{"title": "x"}'),
    ],
)
def test_a_body_that_is_not_understood_is_refused(path: str, body: bytes, served: Served) -> None:
    """JSON to the letter, the operation's own arguments, and each of its own type."""
    answer = served.send("POST", path, body)
    assert 400 == answer.status
    assert "usage" == answer.json["error"]["code"]


def test_a_long_address_is_told_what_fits(served: Served) -> None:
    """And of nothing that the path refuses: a search is no POST."""
    answer = served.get(f"/api/search?words={'x' * 20_000}")
    assert 414 == answer.status
    error = answer.json["error"]
    assert "16,384 bytes" in error["message"]
    assert "its body" in error["hint"]
    assert 405 == served.post("/api/search", {"words": ["x"]}).status


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/jsonp",
        "application/json, text/plain",
    ],
)
def test_a_body_of_another_type_is_refused(kind: str | None, served: Served) -> None:
    """Types that a page may send without asking beforehand above all."""
    assert 415 == served.send("POST", LEARN, SAID, Content_Type=kind).status


def test_a_large_body_is_refused_before_it_comes(served: Served) -> None:
    """What it says of itself is enough."""
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        raw.sendall(
            f"POST {LEARN} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: 262145\r\n\r\n".encode()
        )
        assert b" 413 " in raw.recv(4096).partition(b"\r\n")[0]
    text = json.dumps({"text": "x" * 262144}).encode()
    assert 413 == served.send("POST", LEARN, text[:262145]).status


@pytest.mark.parametrize(
    "lines",
    [
        "Content-Length: 38\r\nContent-Length: 0",
        "Content-Length: 38, 0",
        "Content-Length: 38\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding : chunked\r\nContent-Length: 38",
        "Content-Length: 38\r\n Transfer-Encoding: chunked",
        "Content-Length: 0x26",
        "Content-Length: 38\r\nHost: evil.example",
        "Content-Length: 38\r\nAuthorization: Bearer x",
        "Content-Length: 38\r\nOrigin: http://evil.example",
        "Content-Length: 38\r\nContent-Type: text/plain",
        "Content-Length: 38\r\nX: y\rz",
        "Content-Length: 38\r\nX: y\0z",
        "Content-Length: 38\r\nX: " + "y" * 100_000,
    ],
)
def test_a_smuggled_request_is_refused(lines: str, served: Served, world: World) -> None:
    """One connection, one answer, no learning: nobody reads the body as a second request."""
    before = (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        head = (
            f"POST {LEARN} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
            f"Content-Type: application/json\r\n{lines}\r\n\r\n"
        )
        hidden = f"GET /api/stats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n\r\n"
        got = b""
        try:
            raw.sendall(head.encode("latin-1") + SAID + hidden.encode())
            while piece := raw.recv(65536):
                got += piece
        except ConnectionError:
            pass
    assert 1 >= got.count(b"HTTP/1.1 ")
    assert got.startswith((b"HTTP/1.1 4", b"")) and b" 200 " not in got.partition(b"\r\n")[0]
    assert before == (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()


def test_half_requests_hold_no_place(tmp_path: Path) -> None:
    """Whoever opens hundreds of connections and says half of something keeps nobody from being answered."""
    with serving(make_world(tmp_path / "home")) as served, ExitStack() as opened:
        head = f"POST {LEARN} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\nContent-Type: application/json\r\n"
        halves = ("", "GET /api/stats HTTP/1.1\r\nHost: x\r\nX-A: b", f"{head}Content-Length: 9\r\n\r\n{{")
        idle = []
        for half in halves * 100:
            raw = opened.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            raw.sendall(half.encode())
            idle.append(raw)
        # what has been said is of no kind that is answered, but answered it is
        assert 503 != served.get("/api/stats").status
        # the first had to go for the later ones, and the last is waited for no longer than the others
        assert [b""] * 6 == [_last_word(raw) for raw in (*idle[:3], *idle[-3:])]


def _last_word(raw: socket.socket) -> bytes:
    """Return what is said on a connection until it ends."""
    try:
        return raw.recv(4096)
    except ConnectionError:
        return b""


def test_a_flood_is_slowed_down() -> None:
    """Past a burst so many a second are passed on, by the clock, and the others are told so."""
    now = 0.0

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    guard = RequestGuard(answer, authorities=("127.0.0.1:1",), token="t", clock=lambda: now)
    headers = [(b"host", b"127.0.0.1:1"), (b"authorization", b"Bearer t")]
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/stats",
        "raw_path": b"/api/stats",
        "headers": headers,
        "query_string": b"",
        "http_version": "1.1",
    }

    async def flooded() -> Counter[int]:
        statuses: Counter[int] = Counter()

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses[message["status"]] += 1

        for _ in range(2000):
            await guard(scope, receive, send)
        return statuses

    assert {200: BURST_REQUESTS, 429: 2000 - BURST_REQUESTS} == anyio.run(flooded)
    now = 1.0
    assert {200: REQUESTS_PER_SECOND, 429: 2000 - REQUESTS_PER_SECOND} == anyio.run(flooded)


def test_nothing_of_all_that_was_learned(world: World) -> None:
    """The log is as empty as it was."""
    assert b"" == (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()
