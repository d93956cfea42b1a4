"""The local server's answers, by a real one: the document's endpoints, the operations, news, many at once."""

import fcntl
import http.client
import json
import os
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from roamkb.core.errors import RoamkbError
from roamkb.interfaces.http.operation_routes import OFFERED_ROUTES
from roamkb.interfaces.http.operation_routes import OperationRoute
from roamkb.interfaces.output import render
from tests.conftest import World
from tests.conftest import make_world
from tests.interfaces.http.served import Served
from tests.interfaces.http.served import serving

GOTCHA = "gotcha-sqlite-dates-are-kept-as-text"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A project with a log, tasks and a few nodes."""
    world = make_world(tmp_path_factory.mktemp("http") / "home")
    world.node("zebra.org", "01a20143-7a25-1859-bca0-5870cee81ff7", "Zebras", "They are striped.", tags=":animal:")
    world.node("horse.org", "01a20143-7a25-1859-bca0-5870cee81ff8", "Horses", "Not striped, and no zebras.")
    kb = world.open()
    kb.log.init()
    kb.log.learn("SQLite dates are kept as text", type="gotcha", files=["db/*.sql"], task="t-1", confidence="0.8")
    kb.log.learn("Amounts are kept in cents", type="decision", task="t-1")
    kb.log.task("start", "t-1", title="Keep dates in SQLite", files=["db/*.sql"])
    return world


@pytest.fixture(scope="module")
def served(world: World) -> Iterator[Served]:
    """One server for the tests that only ask."""
    with serving(world) as served:
        yield served


#: Calls of operations that only read; receipts aside the project is the same after them.
SHARED: list[tuple[str, dict[str, Any]]] = [
    ("search", {"words": ["zebras"]}),
    ("search", {"words": ["str[a-i]ped"], "regex": True, "lines": True}),
    ("search", {"words": ["nothing-of-that-kind"]}),
    ("search", {"words": []}),
    ("show", {"name": "Zebras"}),
    ("show", {"name": "nobody"}),
    ("links", {"name": "Zebras"}),
    ("links", {"graph": True}),
    ("tags", {}),
    ("nodes", {}),
    ("inventory", {}),
    ("recall", {"words": ["dates"], "type": "gotcha"}),
    ("recall", {"stats": True}),
    ("recall", {"min_confidence": "seven"}),
    ("refine", {}),
    ("curate", {}),
    ("review", {}),
    ("explain", {"key": GOTCHA}),
    ("explain", {"key": "nobody"}),
    ("export", {"all": True}),
    ("relevant", {"task": "t-1", "min_confidence": "0.5"}),
    ("relevant", {}),
    ("stats", {}),
    ("classify", {}),
    ("hygiene", {}),
    ("conflicts", {}),
    ("index", {}),
]


def spelt(name: str, arguments: dict[str, Any]) -> list[str]:
    """Return the words of the command line for a call."""
    route = next(route for route in OFFERED_ROUTES if route.operation.name == name)
    words = [name]
    for parameter in route.operation.parameters:
        value = arguments.get(parameter.name)
        values = value if isinstance(value, list) else [] if value in (None, False) else [value]
        for one in values:
            words += [*filter(None, [parameter.flag]), *([] if one is True else [str(one)])]
    return words


@pytest.mark.parametrize(("name", "arguments"), SHARED, ids=lambda value: str(value))
def test_an_operation_says_the_same_through_every_door(
    name: str, arguments: dict[str, Any], served: Served, world: World
) -> None:
    """The library, the command line and the server give equal JSON, errors and refusals too."""
    query = urlencode(
        {key: str(value).lower() if value is True else value for key, value in arguments.items()}, doseq=True
    )
    answer = served.get(f"/api/{name}?{query}" if query else f"/api/{name}")
    ran = world.run(*spelt(name, arguments), "--json")
    route = next(route for route in OFFERED_ROUTES if route.operation.name == name)
    kb = world.open()
    door = kb.log if route.operation.is_of_log else kb
    try:
        called = render.render_result(name, getattr(door, route.operation.method_name)(**arguments)).as_json
    except RoamkbError as error:
        called = render.error_json(error)
    assert ran.json == answer.json
    if name not in ("explain", "index", "stats"):
        # the library of this test lives at another time and with another cache
        assert json.loads(render.dump_json(called)) == answer.json
    assert (ran.status in (0, 1)) == (200 == answer.status)


def test_the_operations_that_are_listed_are_there(served: Served) -> None:
    """Each in the OpenAPI document, with an example that it takes, and behind the token."""
    told = served.get("/api/openapi.json").json
    assert [{"token": []}] == told["security"]
    for route in OFFERED_ROUTES:
        method = "get" if route.reads else "post"
        assert method in told["paths"][f"/api/{route.operation.name}"]
    learn = told["components"]["schemas"]["Learn"]
    assert "OAuth redirect URIs must match exactly" == learn["example"]["text"]
    assert learn["additionalProperties"] is False


@pytest.mark.parametrize("route", OFFERED_ROUTES, ids=lambda route: route.operation.name)
def test_an_example_of_the_help_fits(route: OperationRoute) -> None:
    """What the document shows can be sent."""
    sent = route.request_model().model_validate(route.example_arguments(), strict=True).model_dump(exclude_unset=True)
    assert route.example_arguments().keys() == sent.keys()


def test_lists_come_in_pages(served: Served) -> None:
    """A part at a time gives the same as all at once."""
    whole = served.get("/api/nodes").json["nodes"]
    pages = [served.get(f"/api/nodes?limit=1&offset={at}").json["nodes"] for at in range(3)]
    assert [[one] for one in whole] + [[]] == pages
    hits = served.get("/api/search?words=zebras").json["hits"]
    assert hits[1:2] == served.get("/api/search?words=zebras&limit=1&offset=1").json["hits"]
    said = served.get("/api/recall?recent=5").json["learnings"]
    assert [one["id"] for one in said[1:]] == [
        one["id"] for one in served.get("/api/recall?recent=5&offset=1").json["learnings"]
    ]


def test_a_task_is_met_with_what_helps(served: Served) -> None:
    """And a task that nobody knows with nothing, which is no error."""
    found = served.get("/api/knowledge/relevant/t-1").json
    assert found["count"] == len(found["entries"]) > 0
    assert GOTCHA == found["entries"][0]["key"]
    assert ["db/*.sql"] == found["entries"][0]["file_patterns"]
    sure = served.get("/api/knowledge/relevant/t-1?minConfidence=0.75").json["entries"]
    assert {0.8} == {one["confidence"] for one in sure}
    assert {"schema": 1, "entries": [], "count": 0} == served.get("/api/knowledge/relevant/nobody").json


def test_the_figures_are_those_of_the_document(served: Served) -> None:
    """Four numbers as JSON, and the same and more for Prometheus."""
    found = served.get("/api/knowledge/stats").json
    assert {"schema", "total_entries", "by_type", "high_confidence", "promotion_candidates"} == set(found)
    assert 2 == found["total_entries"]
    text = served.get("/api/knowledge/metrics")
    assert text.headers["content-type"].startswith("text/plain")
    assert b'roamkb_entries{type="gotcha"} 1.0' in text.body
    assert b"roamkb_high_confidence 1.0" in text.body
    assert b'roamkb_requests_total{operation="stats",status="200"}' in text.body


def test_many_write_at_once_and_nothing_is_lost(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Fifty clients, each with learnings of its own and one that all say; the log has each, and its counts."""
    world = make_world(tmp_path_factory.mktemp("many") / "home")
    world.run("init")
    with serving(world) as served:

        def client(number: int) -> list[int]:
            own = {
                "content": f"Service number{number} listens on port {8000 + number}",
                "agent_id": f"agent-{number}",
            }
            all_say = {
                "fix": "Deploys are frozen on Fridays",
                "agent_id": f"agent-{number}",
                "task_id": f"t{number}",
            }
            return [
                served.post("/api/knowledge/decision", own).status,
                served.get("/api/recall?words=deploys").status,
                served.post("/api/knowledge/gotcha", all_say).status,
            ]

        with ThreadPoolExecutor(50) as pool:
            statuses = list(pool.map(client, range(50)))
        learnings = served.get("/api/export").json["learnings"]
        journal = [json.loads(line) for line in served.errors.read_text().splitlines()]
    assert [[200, 200, 200]] * 50 == statuses
    assert 51 == len(learnings)
    assert 50 == next(one for one in learnings if one["type"] == "gotcha")["occurrences"]
    assert 100 == len(journal)
    assert {"time", "operation", "entry", "agent"} == set(journal[0])
    assert {f"agent-{number}" for number in range(50)} == {line["agent"] for line in journal}
    assert {line["entry"] for line in journal} == {one["id"] for one in learnings}


def test_a_write_that_waits_keeps_no_reader_waiting(tmp_path_factory: pytest.TempPathFactory) -> None:
    """While another process holds the log's lock, writers queue and whoever only asks is answered."""
    world = make_world(tmp_path_factory.mktemp("wait") / "home")
    world.run("init")
    world.run("learn", "Deploys are frozen on Fridays")
    with serving(world) as served, ThreadPoolExecutor(12) as pool:
        with (world.personal / ".roamkb" / "local" / "log.lock").open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            writes = [pool.submit(served.post, "/api/learn", {"text": f"Port {n} is taken"}) for n in range(12)]
            for _ in range(3):
                assert 1 == len(served.get("/api/recall?words=deploys").json["learnings"])
                assert 200 == served.get("/api/knowledge/stats").status
            assert not any(write.done() for write in writes)
        assert {200} == {write.result().status for write in writes}


class Events:
    """A stream of server-sent events, read as a browser would."""

    def __init__(self, served: Served, last: str | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", served.port)
        headers = {"Authorization": f"Bearer {served.token}", **({"Last-Event-ID": last} if last else {})}
        self._connection.request("GET", "/api/events", headers=headers)
        self._answer = self._connection.getresponse()
        assert "text/event-stream" in (self._answer.getheader("Content-Type") or "")
        # the first line is there once the stream has begun
        assert self._answer.readline().startswith(b":")

    def next(self) -> dict[str, Any]:
        """Wait for one event."""
        told: dict[str, Any] = {}
        while "data" not in told:
            name, _, value = self._answer.readline().decode().rstrip("\n").partition(": ")
            told |= {name: value} if name.isalpha() else {}
        return {**told, "data": json.loads(told["data"])}

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def test_news_come_whoever_wrote_them_and_are_resumed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A learning of the command line, one of the server, a reuse; who comes back misses nothing."""
    world = make_world(tmp_path_factory.mktemp("news") / "home")
    world.run("init")
    world.run("learn", "Said before anybody listened")
    with serving(world) as served:
        events = Events(served)
        world.run("learn", "Deploys are frozen on Fridays", "--agent", "cli")
        first = events.next()
        assert ("knowledge:created", "cli") == (first["event"], first["data"]["agent"])
        assert first["id"] == first["data"]["id"]
        written = served.post("/api/knowledge/gotcha", {"fix": "Dates are text", "agent_id": "http"}).json
        assert (written["id"], "http") == ((second := events.next())["id"], second["data"]["agent"])
        events.close()
        served.get("/api/recall?words=dates&session=s1&agent=http")
        used = {"name": written["id"], "outcome": "success", "session": "s1", "agent": "http"}
        assert 200 == served.post("/api/used", used).status
        # by the id that was had last, also of an earlier server's
        resumed = Events(served, last=first["id"])
        assert second == resumed.next()
        third = resumed.next()
        assert ("pattern:reused", written["id"]) == (third["event"], third["data"]["id"])
        assert "success" == third["data"]["outcome"]
        resumed.close()
    with serving(world) as again:
        resumed = Events(again, last=first["id"])
        assert [second, third] == [resumed.next(), resumed.next()]
        resumed.close()


def test_a_work_project_is_refused_as_everywhere(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The refusal is the answer, the log keeps the fact, and the knowledge base is as it was."""
    world = make_world(tmp_path_factory.mktemp("work") / "home")
    world.run("init", cwd=world.work)
    before = world.files()
    with serving(world, world.work) as served:
        answer = served.post("/api/write", {"title": "Invoices are signed with one key"})
        assert 403 == answer.status
        assert "work" == answer.json["refused"]["kind"]
        assert str(world.work / ".roamkb" / "knowledge.jsonl") == answer.json["refused"]["written_to"]
        assert 200 == served.post("/api/learn", {"text": "Invoice numbers restart every year"}).status
        assert "work" == served.greeting["project"]["kind"]
    assert before == world.files()


def test_errors_have_the_status_that_they_mean(world: World, served: Served) -> None:
    """Beside the JSON of the command line."""
    assert 404 == served.get("/api/explain?key=nobody").status
    assert 422 == served.post("/api/learn", {"text": "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345"}).status
    assert 400 == served.post("/api/learn", {"text": "  "}).status
    # the world has no log there
    with serving(world, world.unknown) as other:
        assert 409 == other.get("/api/recall").status
        assert 403 == other.post("/api/write", {"title": "Zebras are striped"}).status
        assert 200 == other.get("/api/knowledge/metrics").status


def test_streams_end_with_the_server(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Somebody who listens for ever keeps nobody from stopping it."""
    world = make_world(tmp_path_factory.mktemp("end") / "home")
    with serving(world) as served:
        events = Events(served)
        served.process.terminate()
        assert served.process.wait() is not None
        events.close()


def test_streams_are_few_however_fast_they_are_asked_for(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whoever comes too late is told so, questions are answered all the while, and places come free again."""
    world = make_world(tmp_path_factory.mktemp("few") / "home")
    world.run("init")
    with serving(world) as served:
        wanted = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        wanted += f"Authorization: Bearer {served.token}\r\n\r\n"
        open_ones = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(40)]
        for one in open_ones:
            one.sendall(wanted.encode())
        statuses = Counter(one.recv(12).decode() for one in open_ones)
        assert {"HTTP/1.1 200": 32, "HTTP/1.1 503": 8} == statuses
        assert 200 == served.get("/api/stats").status
        for one in open_ones:
            one.close()
        while True:
            with socket.create_connection(("127.0.0.1", served.port)) as again:
                again.sendall(wanted.encode())
                if again.recv(12) == b"HTTP/1.1 200":
                    break


@pytest.fixture
def project(tmp_path: Path) -> World:
    """A project of its own with an empty log, for tests that write."""
    world = make_world(tmp_path / "home")
    world.open().log.init()
    return world


def test_proposals_are_learned_as_by_the_command(project: World) -> None:
    """A quote lies in its evidence, in a proposal, in their list, in the body."""
    proposals = [
        {"claim": "Amounts are kept in cents", "aliases": ["euros"], "type": "gotcha", "evidence": {"quote": "cents"}}
    ]
    with serving(project) as served:
        answer = served.post("/api/learn", {"proposals": proposals})
        assert 200 == answer.status, answer.body
        assert "Amounts are kept in cents" in served.get("/api/recall?words=cents").body.decode()


def test_each_write_is_a_line_and_no_look_is(project: World) -> None:
    """Lists, plans and what was refused before it was written change nothing."""
    project.node("zebra.org", "01a20143-7a25-1859-bca0-5870cee81ff7", "Zebras")
    with serving(project) as served:

        def logged(path: str, given: dict[str, object]) -> list[tuple[str, str | None]]:
            before = len(served.errors.read_text().splitlines())
            assert served.post(f"/api/{path}", given).status in (200, 403)
            lines = map(json.loads, served.errors.read_text().splitlines()[before:])
            return [(line["operation"], line["entry"]) for line in lines]

        written = served.post("/api/write", {"title": "Horses are not striped"}).json["id"]
        assert [] == logged("write", {"title": "Donkeys are grey", "dry_run": True})
        assert [] == logged("supersede", {"name": written, "title": "Horses have no stripes", "dry_run": True})
        assert [] == logged("snapshot", {"action": "list"})
        assert [] == logged("template", {"action": "list"})
        assert [] == logged("remedy", {"action": "suggest", "error": "E1: no such table"})
        assert [("trash", written)] == logged("trash", {"name": written})
        assert [] == logged("restore", {})
        assert [("restore", written)] == logged("restore", {"name": written})
        assert [("task", "t-1")] == logged("task", {"action": "start", "id": "t-1", "title": "Count zebras"})
        ((operation, entry),) = logged("learn", {"text": "Zebras are counted at dawn"})
        assert ("learn", True) == (operation, bool(entry))


def test_a_refused_fact_that_went_into_the_log_is_a_line(project: World) -> None:
    """It is written there instead, and a write is a line whatever its status."""
    project.open(project.work).log.init()
    with serving(project, project.work) as served:
        answer = served.post("/api/write", {"title": "Invoices are numbered anew each year"})
        assert 403 == answer.status
        assert answer.json["refused"]["written_to"]
        (line,) = map(json.loads, served.errors.read_text().splitlines())
        assert "write" == line["operation"]


def test_a_parameter_that_stands_twice_is_named(served: Served) -> None:
    """Which of its values was meant can't be told."""
    answer = served.get("/api/recall?words=dates&limit=1&limit=2")
    assert (400, "usage") == (answer.status, answer.json["error"]["code"])
    assert "limit: it stands more than once" in answer.json["error"]["message"]
    assert "project: no parameter" in served.get("/api/events?project=/").json["error"]["message"]


@pytest.mark.parametrize(
    "path",
    ["/api/search?words=x&as_of=0001-01-01T00:00:00-23:59", "/api/recall?as_of=9999-12-31T23:59:59-23:59"],
)
def test_a_moment_out_of_the_calendar_is_wrong_use(served: Served, path: str) -> None:
    """An offset may lead out of what can be written as a local time."""
    answer = served.get(path)
    assert (400, "usage") == (answer.status, answer.json["error"]["code"])


def test_a_file_whose_name_no_disk_holds_concerns_no_learning(served: Served) -> None:
    """Nothing is found, as with any other file that nobody spoke of."""
    assert 200 == served.get(f"/api/recall?file={'x' * 5000}").status


def test_a_task_without_an_id_is_wrong_use(served: Served) -> None:
    """Nothing is written that no command could name."""
    for path, given in (
        ("/api/knowledge/task", {"task_id": "", "title": "Count zebras"}),
        ("/api/task", {"action": "start", "id": "", "title": "Count zebras"}),
        ("/api/task", {"action": "done", "id": ""}),
    ):
        answer = served.post(path, given)
        assert (400, "usage") == (answer.status, answer.json["error"]["code"])


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root may be another user here")
def test_another_user_is_refused_whatever_they_show(served: Served) -> None:
    """Who listened on the port while no server ran was sent the token by those who asked for it."""
    assert 200 == served.get("/api/tags").status
    # a socket is whose it was made by
    os.seteuid(65534)
    try:
        answers = [
            served.get("/api/tags"),
            served.get("/api/openapi.json"),
            served.post("/api/write", {"title": "Gnus"}),
        ]
    finally:
        os.seteuid(0)
    assert [(403, "user")] * 3 == [(answer.status, answer.json["error"]["code"]) for answer in answers]
