"""The local server against its own OpenAPI document: what a generator of requests makes of it breaks nothing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import given
from hypothesis import settings

from roamkb.interfaces.http.knowledge_api import ENTRIES
from roamkb.interfaces.http.operation_routes import OFFERED_ROUTES
from tests.conftest import World
from tests.conftest import make_world
from tests.examples import examples
from tests.interfaces.http.served import Served
from tests.interfaces.http.served import serving

if TYPE_CHECKING:
    from schemathesis import Case

schemathesis = pytest.importorskip("schemathesis")

PATHS = [
    *(("GET" if route.reads else "POST", f"/api/{route.operation.name}") for route in OFFERED_ROUTES),
    *(("POST", f"/api/knowledge/{name}") for name in (*ENTRIES, "task")),
    ("GET", "/api/knowledge/relevant/{task}"),
    ("GET", "/api/knowledge/strategy/{errorType}"),
    ("GET", "/api/knowledge/stats"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A personal project with a log."""
    world = make_world(tmp_path_factory.mktemp("schema") / "home")
    world.run("init")
    world.run("learn", "Deploys are frozen on Fridays")
    return world


@pytest.fixture(scope="module")
def served(world: World) -> Iterator[Served]:
    """One server for all."""
    with serving(world) as served:
        yield served


@pytest.mark.parametrize(("method", "path"), PATHS, ids=lambda value: value)
def test_no_request_breaks_the_server(method: str, path: str, served: Served) -> None:
    """Whatever fits the document, and much that doesn't, is answered with less than 500."""
    schema = schemathesis.openapi.from_dict(served.get("/api/openapi.json").json)
    headers = {"Authorization": f"Bearer {served.token}"}
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]

    for mode in modes:

        @given(case=schema[path][method].as_strategy(generation_mode=mode))
        @settings(
            max_examples=examples(6),
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case: "Case[Any]") -> None:
            answer = case.call(base_url=f"http://127.0.0.1:{served.port}", headers=headers, timeout=None)
            assert answer.status_code < 500, served.errors.read_text()[-3000:]

        check()
