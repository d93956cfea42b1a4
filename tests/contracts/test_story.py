"""Document 004's story: an error, its recovery, what was learned, and a similar task that is met with both."""

import json
from collections.abc import Iterator

import pytest

from tests.conftest import World
from tests.interfaces.http.served import Served
from tests.interfaces.http.served import serving

ERROR = "TypeError: Cannot read properties of undefined (reading 'x')"
AGAIN = "TypeError: Cannot read properties of undefined (reading 'name')\n    at /srv/app/src/cart.ts:91:12"
FIX = "Always check for null before accessing nested properties"
MORE = (
    "Optional chaining returns undefined, and a sum of it is NaN",
    "Nested properties of a cart are missing until it is loaded",
    "Null checks belong where the properties are read, not where they are shown",
    "Accessing a list by an index out of its bounds gives undefined",
    "Properties that an API leaves out are undefined, those it empties are null",
)
TITLE, LATER = "Check nested properties of the user", "Check nested properties of the cart"
FILES = ("src/user.ts", "src/cart.ts")


def test_it_goes_through_the_command_line(world: World) -> None:
    """Two sessions of two agents."""
    world.run("init")
    world.run("task", "start", "task-1", "--title", TITLE, "--file", FILES[0], "--category", "bug_fix")
    recovery = ("--technique", "Add null check", "--step", "if (obj) { … }", "--outcome", "success")
    assert 0 == world.run("remedy", "record", "--error", ERROR, *recovery, "--agent", "build_agent").status
    said = ("--type", "gotcha", "--file", "*.ts", "--action", "UPDATE", "--task", "task-1")
    learned = world.run("learn", FIX, *said, "--agent", "build_agent", "--json").json
    assert float(str(learned["confidence"])) > 0.5
    for one in MORE:
        world.run("learn", one, *said)
    world.run("task", "done", "task-1")

    begun = world.run("task", "start", "task-2", "--title", LATER, "--file", FILES[1])
    assert f"like task-1 {TITLE} (done, " in begun.out
    found = world.run("relevant", "--task", "task-2", "--agent", "qa_agent", "--json").json
    keys = [entry["key"] for entry in found["entries"]]
    assert learned["key"] in keys
    assert len(keys) >= 5
    assert "1/1 worked" in world.run("remedy", "suggest", "--error", AGAIN).out
    used = world.run("used", str(learned["key"]), "--outcome", "success", "--match", "similar", "--json").json
    assert float(str(used["confidence"])) > float(str(used["confidence_before"]))
    figures = world.run("stats", "--metrics", "--json").json
    assert (1.0, {"success": 1}) == (figures["mean_effectiveness"], figures["outcomes"])


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    """A server of a project with a log."""
    world.run("init")
    with serving(world) as served:
        yield served


def test_it_goes_through_the_server(served: Served) -> None:
    """In the document's own words and paths."""
    task = {"task_id": "task-1", "title": TITLE, "category": "bug_fix", "file_patterns": [FILES[0]]}
    assert 200 == served.post("/api/knowledge/task", task).status
    recovery = {"technique": "Add null check", "steps": ["if (obj) { … }"], "outcome": "success"}
    tried = {"action": "record", "error": ERROR, "agent": "build_agent", "task": "task-1", **recovery}
    assert 200 == served.post("/api/remedy", tried).status
    gotcha = {"filePattern": "*.ts", "actionType": "UPDATE", "taskId": "task-1", "agentId": "build_agent"}
    learned = served.post("/api/knowledge/gotcha", {"fix": FIX, **gotcha}).json
    assert learned["confidence"] > 0.5
    for one in MORE:
        assert 200 == served.post("/api/knowledge/gotcha", {"fix": one, **gotcha}).status

    later = {"task_id": "task-2", "title": LATER, "file_patterns": [FILES[1]]}
    served.post("/api/knowledge/task", later)
    found = served.get("/api/knowledge/relevant/task-2").json
    assert learned["id"] in [entry["id"] for entry in found["entries"]]
    assert found["count"] >= 5
    message = AGAIN.partition("\n")[0].replace(" ", "%20").partition(":")[2]
    strategy = served.get(f"/api/knowledge/strategy/TypeError?message={message}").json
    assert ("Add null check", 1, 0) == tuple(strategy[name] for name in ("technique", "successes", "failures"))
    used = {"name": learned["id"], "outcome": "success", "task": "task-2", "match": "similar"}
    assert served.post("/api/used", used).json["confidence"] > learned["confidence"]
    assert {"gotcha": 6} == served.get("/api/knowledge/stats").json["by_type"]
    assert json.loads(served.get("/api/stats?metrics=true").body)["mean_effectiveness"] == 1.0
