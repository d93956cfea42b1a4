"""The local server: the operations and the document's endpoints over HTTP, for one project (issue 6).

Writes wait in one line and readers in another, so that nobody who only asks waits for the log's lock.
"""

import inspect
import json
import time
from collections.abc import AsyncIterator
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from contextvars import ContextVar
from functools import partial
from typing import Annotated
from typing import Any
from typing import Final

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import Body
from fastapi import FastAPI
from fastapi import Header
from fastapi import Path
from fastapi import Query
from fastapi import Request
from fastapi import Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp
from starlette.types import Receive
from starlette.types import Scope
from starlette.types import Send

from roamkb import __version__
from roamkb.app.server import ServedKnowledgeBase
from roamkb.boundary.store.socket_peers import Address
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.request import ParameterShape
from roamkb.interfaces.http import knowledge_api as knowledge
from roamkb.interfaces.http.metrics import ServerMetrics
from roamkb.interfaces.http.operation_routes import OperationRoute
from roamkb.interfaces.http.operation_routes import routes
from roamkb.interfaces.http.request_guard import SAFE
from roamkb.interfaces.http.request_guard import RequestGuard
from roamkb.interfaces.http.request_guard import UnwelcomeRequest
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json
from roamkb.log.store.changes import LogChange
from roamkb.log.store.changes import LogChangeFeed

#: What an error is in HTTP, by the code that its JSON carries.
STATUSES: Final[Mapping[str, int]] = {
    "usage": 400,
    "refused": 403,
    "not_found": 404,
    "ambiguous": 409,
    "near_duplicate": 409,
    "changed": 409,
    "no_log": 409,
    "secret": 422,
    # it is written, and who tries again writes it twice
    "not_durable": 202,
    "no_kb": 503,
    "bad_rule": 503,
    "busy": 503,
    "io": 500,
}
#: Threads that read at a time; a write has one of its own.
_READERS: Final = 8
#: Seconds between two looks for news, and between two signs of life.
_PAUSE: Final = 0.5
_ALIVE: Final = 15.0
_STREAMS: Final = 32

#: Hears of every write: the operation, who asked for it, and its answer.
Told = Callable[[str, str | None, Json], None]


#: What is asked for, of the knowledge base as who asks may use it.
Work = Callable[[ServedKnowledgeBase], Json]
#: Both ends of the connection over which is asked.
_CONNECTION: Final = ContextVar[tuple[Address | None, Address | None]]("connection", default=(None, None))


def _connected(app: ASGIApp) -> ASGIApp:
    """Return `app` with both ends of each request's connection known where it is answered."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        _CONNECTION.set((scope.get("client"), scope.get("server")))
        await app(scope, receive, send)

    return answer


class _Relevant(BaseModel):
    """What of a task's knowledge is asked for."""

    model_config = {"extra": "forbid"}
    minConfidence: Annotated[float, Query(ge=0, le=1)] = 0.5
    limit: Annotated[int | None, Query(ge=0, le=1_000_000)] = None
    offset: Annotated[int | None, Query(ge=0, le=1_000_000)] = None


class _Strategy(BaseModel):
    """The error's message."""

    model_config = {"extra": "forbid"}
    message: str = ""


class HttpServer:
    """The server of one knowledge base, as an application of ASGI."""

    def __init__(
        self, kb: ServedKnowledgeBase, *, authorities: tuple[str, ...], token: str, told: Told
    ) -> None:
        """Take the names by which it is reached, as `Host` says them, and who hears of writes."""
        self._kb = kb
        self._told = told
        self._feed: LogChangeFeed = kb.feed()
        self._figures = ServerMetrics(kb)
        self._readers = CapacityLimiter(_READERS)
        self._writers = CapacityLimiter(1)
        self._streams = CapacityLimiter(_STREAMS)
        guard = partial(RequestGuard, authorities=authorities, token=token, clock=time.monotonic)
        self.app: ASGIApp = _connected(guard(self._application()))

    def _application(self) -> FastAPI:
        app = FastAPI(
            title="roamkb",
            version=__version__,
            summary="A knowledge base that coding agents share with their human.",
            openapi_url="/api/openapi.json",
            # their pages load scripts from elsewhere
            docs_url=None,
            redoc_url=None,
            redirect_slashes=False,
        )
        app.add_exception_handler(RequestValidationError, _misfit)
        app.add_exception_handler(HTTPException, _lost)
        app.add_exception_handler(Exception, _lost)
        for route in routes():
            self._add_operation(app, route)
        self._add_knowledge(app)
        app.get("/api/events", tags=["events"], summary=_EVENTS)(self._events)
        app.openapi = partial(_described, app)  # type: ignore[method-assign]
        return app

    # Endpoints

    def _add_operation(self, app: FastAPI, route: OperationRoute) -> None:
        name = route.operation.name
        where: Any = Query() if route.reads else Body()

        several = {one.name for one in route.parameters if one.shape is ParameterShape.TEXTS}

        async def endpoint(request: Request, given: BaseModel) -> Response:
            _require_once(request, besides=several)
            asked = given.model_dump()
            work: Work = partial(route.answer, given=asked)
            if not route.reads:
                work = partial(self._noted, name, asked.get("agent") or asked.get("by"), work)
            return await self._answer(name, work, reads=route.reads)

        _retype(endpoint, request=Request, given=Annotated[route.model(), where])
        app.add_api_route(
            f"/api/{name}",
            endpoint,
            methods=["GET" if route.reads else "POST"],
            summary=route.operation.summary,
            name=name,
            tags=[route.operation.panel],
            responses=_ANSWERS,
        )

    def _add_knowledge(self, app: FastAPI) -> None:
        at: Any = partial(app.add_api_route, tags=["knowledge"], responses=_ANSWERS)
        for kind, model in knowledge.ENTRIES.items():
            at(
                f"/api/knowledge/{kind}",
                self._entry(kind, model),
                methods=["POST"],
                summary=f"Record a {kind}.",
            )
        at("/api/knowledge/task", self._task, methods=["POST"], summary="Record that a task begins.")
        at(
            "/api/knowledge/relevant/{task}",
            self._relevant,
            methods=["GET"],
            summary="What helps with a task.",
        )
        at(
            "/api/knowledge/strategy/{errorType}",
            self._strategy,
            methods=["GET"],
            summary="What fixed it before.",
        )
        at("/api/knowledge/stats", self._stats, methods=["GET"], summary="How many entries there are.")
        at("/api/knowledge/metrics", self._metrics, methods=["GET"], summary="Figures for Prometheus.")

    def _entry(self, kind: str, model: type[BaseModel]) -> Callable[..., Awaitable[Response]]:
        async def endpoint(given: Any) -> Response:
            work = partial(knowledge.write, type=kind, given=given)
            return await self._answer(kind, partial(self._noted, kind, given.agent_id, work), reads=False)

        _retype(endpoint, given=Annotated[model, Body()])
        return endpoint

    async def _task(self, given: Annotated[knowledge.Task, Body()]) -> Response:
        work = partial(knowledge.start_task, given=given)
        return await self._answer("task", partial(self._noted, "task", given.agent_id, work), reads=False)

    async def _relevant(
        self,
        request: Request,
        task: Annotated[str, Path()],
        asked: Annotated[_Relevant, Query()],
    ) -> Response:
        _require_once(request)
        found = partial(
            knowledge.relevant,
            task=task,
            least=asked.minConfidence,
            limit=asked.limit,
            offset=asked.offset,
        )
        return await self._answer("relevant", found, reads=True)

    async def _strategy(
        self, request: Request, errorType: Annotated[str, Path()], asked: Annotated[_Strategy, Query()]
    ) -> Response:
        _require_once(request)
        found = partial(knowledge.strategy, error_type=errorType, message=asked.message)
        return await self._answer("strategy", found, reads=True)

    async def _stats(self) -> Response:
        return await self._answer("stats", knowledge.stats, reads=True)

    async def _metrics(self) -> Response:
        text, kind = await anyio.to_thread.run_sync(self._figures.exposed, limiter=self._readers)
        return Response(text, media_type=kind, headers=_HEADERS)

    async def _answer(self, name: str, work: Work, *, reads: bool) -> Response:
        """Do `work` in a thread, with the leave of who asks; return its JSON, or its error's."""
        start = time.monotonic()
        limiter = self._readers if reads else self._writers
        status, found = await anyio.to_thread.run_sync(self._outcome, work, limiter=limiter)
        self._figures.count(name, status, time.monotonic() - start)
        return Response(render.dumps(found), status, media_type="application/json", headers=_HEADERS)

    def _outcome(self, work: Work) -> tuple[int, Json]:
        """Return the status and the JSON of what `work` gives; nothing found is an answer like any other."""
        try:
            return 200, work(self._kb.asked_by(*_CONNECTION.get()))
        except RoamkbError as error:
            return STATUSES.get(error.code, 400), render.error_json(error)
        except OSError as error:
            trouble = RoamkbError(f"{error.filename or 'disk'}: {error.strerror}")
            return 500, render.error_json(trouble)

    def _noted(self, name: str, agent: str | None, work: Work, kb: ServedKnowledgeBase) -> Json:
        """Do `work`, and tell of it in the same thread: who logs may have to wait for who reads logs."""
        found = work(kb)
        self._told(name, agent, found)
        return found

    # News

    async def _events(
        self, request: Request, last_event_id: Annotated[str | None, Header()] = None
    ) -> Response:
        if request.query_params:
            raise HTTPException(400)
        return _EventStream(
            self._stream(last_event_id),
            media_type="text/event-stream",
            headers=_HEADERS,
            places=self._streams,
        )

    async def _stream(self, last_event_id: str | None) -> AsyncIterator[str]:
        await anyio.to_thread.run_sync(self._feed.refresh, limiter=self._readers)
        place = len(self._feed.news) if last_event_id is None else self._feed.after(last_event_id)
        yield ": what happens in the project's log\n\n"
        said = time.monotonic()
        while True:
            await anyio.to_thread.run_sync(self._feed.refresh, limiter=self._readers)
            fresh = self._feed.news[place:]
            place += len(fresh)
            for one in fresh:
                yield _event(one)
            if fresh:
                said = time.monotonic()
            elif time.monotonic() - said > _ALIVE:
                said = time.monotonic()
                yield ":\n\n"
            await anyio.sleep(_PAUSE)


class _EventStream(StreamingResponse):
    """A stream of events that holds one of a few places from before its first byte to its end."""

    def __init__(self, *args: Any, places: CapacityLimiter, **named: Any) -> None:
        super().__init__(*args, **named)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, or raise where all places are taken."""
        try:
            self._places.acquire_on_behalf_of_nowait(self)
        except anyio.WouldBlock:
            raise HTTPException(503) from None
        # a client that goes before the stream begins never starts it
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.release_on_behalf_of(self)


_HEADERS: Final = {name.decode(): value.decode() for name, value in SAFE}
_EVENTS: Final = "knowledge:created, knowledge:promoted and pattern:reused, as server-sent events"
_ERROR: Final = {
    "schema": 1,
    "error": {"code": "not_found", "message": "no learning gotcha-x", "hint": "`roamkb recall` finds them"},
}
_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "As `roamkb … --json` prints it.", "content": {"application/json": {}}},
    "default": {
        "description": "What went wrong, or a refusal of the boundary.",
        "content": {"application/json": {"example": _ERROR}},
    },
}


def _require_once(request: Request, *, besides: Collection[str] = ()) -> None:
    """Raise where one value was asked for and several were given: which one counts is anybody's guess."""
    given = [name for name, _ in request.query_params.multi_items() if name not in besides]
    if len(given) > len(set(given)):
        raise HTTPException(400)


def _retype(endpoint: Any, **hints: object) -> None:
    """Give `endpoint` a signature that tells FastAPI what it takes."""
    endpoint.__signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)
            for name, hint in hints.items()
        ]
    )


def _event(news: LogChange) -> str:
    return f"id: {news.id}\nevent: {news.name}\ndata: {render.dumps(dict(news.told))}\n\n"


async def _misfit(_: Request, error: Exception) -> Response:
    """Say which argument doesn't fit, without repeating it."""
    faults = error.errors() if isinstance(error, RequestValidationError) else ()
    said = [f"{'.'.join(map(str, fault['loc'][1:])) or 'body'}: {fault['msg']}" for fault in faults]
    usage = UsageError("; ".join(said[:5]), hint="/api/openapi.json says what each path takes")
    return Response(
        render.dumps(render.error_json(usage)), 400, media_type="application/json", headers=_HEADERS
    )


async def _lost(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, message = {
        404: ("not_found", "there is nothing at that path"),
        405: ("method", "that path wants the other of GET and POST"),
        503: ("busy", "too many streams of events are open"),
        500: ("bug", "that is a fault of roamkb's; the server's standard error says more"),
    }.get(status, ("usage", "that can't be read"))
    told = UnwelcomeRequest(status, code, message, hint="/api/openapi.json lists the paths")
    return Response(told.json, status, media_type="application/json", headers=_HEADERS)


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, with the token that every path wants."""
    if not app.openapi_schema:
        told = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schemes = {"token": {"type": "http", "scheme": "bearer", "description": "`roamkb serve` says where."}}
        told.setdefault("components", {})["securitySchemes"] = schemes
        told["security"] = [{"token": []}]
        # misfits are answered like every other mistake
        for path in told["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        app.openapi_schema = json.loads(json.dumps(told))
    return app.openapi_schema
