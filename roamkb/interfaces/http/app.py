"""The local server: the operations and the document's endpoints over HTTP, for one project (issue 6).

Writes wait in one line and readers in another, so that nobody who only asks waits for the log's lock.
"""

import inspect
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Collection
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
from roamkb.core.text import one_line
from roamkb.core.write_count import count_writes
from roamkb.interfaces.http import knowledge_api as knowledge
from roamkb.interfaces.http.metrics import ServerMetrics
from roamkb.interfaces.http.operation_routes import OFFERED_ROUTES
from roamkb.interfaces.http.operation_routes import OperationRoute
from roamkb.interfaces.http.request_guard import SAFE_HEADERS
from roamkb.interfaces.http.request_guard import STATUSES
from roamkb.interfaces.http.request_guard import RequestGuard
from roamkb.interfaces.http.request_guard import UnwelcomeRequest
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json
from roamkb.log.store.changes import LogChangeFeed

#: Threads that read at a time; a write has one of its own.
_READER_THREADS: Final = 8
#: Seconds between two looks for news, and between two signs of life.
_POLL_SECONDS: Final = 0.5
_KEEP_ALIVE_SECONDS: Final = 15.0
_MAX_STREAMS: Final = 32

#: Hears of every write: the operation, who asked for it, and its answer.
WriteListener = Callable[[str, str | None, Json], None]


#: What is asked for, of the knowledge base as who asks may use it.
Work = Callable[[ServedKnowledgeBase], Json]
#: Both ends of the connection over which is asked.
_CONNECTION: Final = ContextVar[tuple[Address | None, Address | None]]("connection", default=(None, None))


def _with_connection(app: ASGIApp) -> ASGIApp:
    """Return `app` with both ends of each request's connection stored for its answer."""

    async def answer_request(scope: Scope, receive: Receive, send: Send) -> None:
        _CONNECTION.set((scope.get("client"), scope.get("server")))
        await app(scope, receive, send)

    return answer_request


class _Relevant(BaseModel):
    """Query of a task's relevant knowledge."""

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
        self, kb: ServedKnowledgeBase, *, authorities: tuple[str, ...], token: str, on_write: WriteListener
    ) -> None:
        """Take the names that a `Host` header may have, and the listener to writes."""
        self._kb = kb
        self._told = on_write
        self._feed: LogChangeFeed = kb.log_change_feed()
        self._figures = ServerMetrics(kb)
        self._readers = CapacityLimiter(_READER_THREADS)
        self._writers = CapacityLimiter(1)
        self._streams = CapacityLimiter(_MAX_STREAMS)
        guard = partial(RequestGuard, authorities=authorities, token=token, clock=time.monotonic)
        self.app: ASGIApp = _with_connection(guard(self._build_application()))

    def _build_application(self) -> FastAPI:
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
        app.add_exception_handler(RequestValidationError, _answer_misfit)
        app.add_exception_handler(HTTPException, _answer_http_error)
        app.add_exception_handler(Exception, _answer_http_error)
        for route in OFFERED_ROUTES:
            self._add_operation(app, route)
        self._add_knowledge(app)
        app.get("/api/events", tags=["events"], summary=_EVENTS_SUMMARY)(self._events)
        app.openapi = partial(_openapi_document, app)  # type: ignore[method-assign]
        return app

    # Endpoints

    def _add_operation(self, app: FastAPI, route: OperationRoute) -> None:
        name = route.operation.name
        source: Any = Query() if route.reads else Body()

        list_parameters = {parameter.name for parameter in route.parameters if parameter.shape is ParameterShape.TEXTS}

        async def endpoint(request: Request, given: BaseModel) -> Response:
            _require_single_values(request, besides=list_parameters)
            request_values = given.model_dump()
            work: Work = partial(route.answer_request, request_values=request_values)
            if not route.reads:
                work = partial(
                    self._do_and_announce, name, request_values.get("agent") or request_values.get("by"), work
                )
            return await self._answer_work(name, work, reads=route.reads)

        _set_signature(endpoint, request=Request, given=Annotated[route.request_model(), source])
        app.add_api_route(
            f"/api/{name}",
            endpoint,
            methods=["GET" if route.reads else "POST"],
            summary=route.operation.summary,
            name=name,
            tags=[route.operation.panel],
            responses=_RESPONSES,
        )

    def _add_knowledge(self, app: FastAPI) -> None:
        add_route: Any = partial(app.add_api_route, tags=["knowledge"], responses=_RESPONSES)
        for kind, model in knowledge.ENTRIES.items():
            add_route(
                f"/api/knowledge/{kind}",
                self._entry_endpoint(kind, model),
                methods=["POST"],
                summary=f"Record a {kind}.",
            )
        add_route("/api/knowledge/task", self._task, methods=["POST"], summary="Record that a task begins.")
        add_route(
            "/api/knowledge/relevant/{task}",
            self._relevant,
            methods=["GET"],
            summary="What helps with a task.",
        )
        add_route(
            "/api/knowledge/strategy/{errorType}",
            self._strategy,
            methods=["GET"],
            summary="What fixed it before.",
        )
        add_route("/api/knowledge/stats", self._stats, methods=["GET"], summary="How many entries there are.")
        add_route("/api/knowledge/metrics", self._metrics, methods=["GET"], summary="Figures for Prometheus.")

    def _entry_endpoint(self, kind: str, model: type[BaseModel]) -> Callable[..., Awaitable[Response]]:
        async def endpoint(given: Any) -> Response:
            work = partial(knowledge.write_entry, type=kind, entry=given)
            return await self._answer_work(
                kind, partial(self._do_and_announce, kind, given.agent_id, work), reads=False
            )

        _set_signature(endpoint, given=Annotated[model, Body()])
        return endpoint

    async def _task(self, entry: Annotated[knowledge.Task, Body()]) -> Response:
        work = partial(knowledge.start_task, entry=entry)
        return await self._answer_work(
            "task", partial(self._do_and_announce, "task", entry.agent_id, work), reads=False
        )

    async def _relevant(
        self,
        request: Request,
        task: Annotated[str, Path()],
        query: Annotated[_Relevant, Query()],
    ) -> Response:
        _require_single_values(request)
        work = partial(
            knowledge.relevant_entries,
            task=task,
            min_confidence=query.minConfidence,
            limit=query.limit,
            offset=query.offset,
        )
        return await self._answer_work("relevant", work, reads=True)

    async def _strategy(
        self, request: Request, errorType: Annotated[str, Path()], query: Annotated[_Strategy, Query()]
    ) -> Response:
        _require_single_values(request)
        work = partial(knowledge.best_strategy, error_type=errorType, message=query.message)
        return await self._answer_work("strategy", work, reads=True)

    async def _stats(self) -> Response:
        return await self._answer_work("stats", knowledge.entry_figures, reads=True)

    async def _metrics(self) -> Response:
        text, kind = await anyio.to_thread.run_sync(self._figures.render_metrics, limiter=self._readers)
        return Response(text, media_type=kind, headers=_RESPONSE_HEADERS)

    async def _answer_work(self, name: str, work: Work, *, reads: bool) -> Response:
        """Do `work` in a thread, judged by the caller's session; return its JSON, or its error's."""
        start = time.monotonic()
        limiter = self._readers if reads else self._writers
        status, answer = await anyio.to_thread.run_sync(self._work_outcome, work, limiter=limiter)
        self._figures.count_answer(name, status, time.monotonic() - start)
        return Response(render.dump_json(answer), status, media_type="application/json", headers=_RESPONSE_HEADERS)

    def _work_outcome(self, work: Work) -> tuple[int, Json]:
        """Return the status and the JSON of `work`; an empty result is an answer like any other."""
        try:
            return 200, work(self._kb.for_connection(*_CONNECTION.get()))
        except RoamkbError as error:
            return STATUSES.get(error.code, 400), render.error_json(error)
        except OSError as error:
            trouble = RoamkbError(f"{error.filename or 'disk'}: {error.strerror}")
            return 500, render.error_json(trouble)

    def _do_and_announce(self, name: str, agent: str | None, work: Work, kb: ServedKnowledgeBase) -> Json:
        """Do `work`, and announce what it wrote in the same thread: a writer of logs may have to wait for a reader.

        What only lists or plans isn't announced, and what was written before an error is.
        """
        answer: Json = {}
        with count_writes() as writes:
            try:
                answer = work(kb)
            finally:
                if writes.total:
                    self._told(name, agent, answer)
        return answer

    # News

    async def _events(self, request: Request, last_event_id: Annotated[str | None, Header()] = None) -> Response:
        for name in request.query_params:
            raise _query_misfit(name, "no parameter is taken here")
        return _EventStream(
            self._stream_events(last_event_id),
            media_type="text/event-stream",
            headers=_RESPONSE_HEADERS,
            places=self._streams,
        )

    async def _stream_events(self, last_event_id: str | None) -> AsyncIterator[str]:
        await anyio.to_thread.run_sync(self._feed.collect_changes, limiter=self._readers)
        position = len(self._feed.news) if last_event_id is None else self._feed.index_after(last_event_id)
        yield ": what happens in the project's log\n\n"
        last_sent = time.monotonic()
        while True:
            await anyio.to_thread.run_sync(self._feed.collect_changes, limiter=self._readers)
            new_changes = self._feed.news[position:]
            position += len(new_changes)
            for change in new_changes:
                yield f"id: {change.id}\nevent: {change.name}\ndata: {render.dump_json(dict(change.details))}\n\n"
            if new_changes:
                last_sent = time.monotonic()
            elif time.monotonic() - last_sent > _KEEP_ALIVE_SECONDS:
                last_sent = time.monotonic()
                yield ":\n\n"
            await anyio.sleep(_POLL_SECONDS)


class _EventStream(StreamingResponse):
    """A stream of events that holds one of a few places from before its first byte to its end."""

    def __init__(self, *args: Any, places: CapacityLimiter, **options: Any) -> None:
        super().__init__(*args, **options)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or raise where all places are taken."""
        try:
            self._places.acquire_on_behalf_of_nowait(self)
        except anyio.WouldBlock:
            raise HTTPException(503) from None
        # a client that goes before the stream begins never starts it
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._places.release_on_behalf_of(self)


_RESPONSE_HEADERS: Final = {name.decode(): value.decode() for name, value in SAFE_HEADERS}
_EVENTS_SUMMARY: Final = "knowledge:created, knowledge:promoted and pattern:reused, as server-sent events"
_ERROR_EXAMPLE: Final = {
    "schema": 1,
    "error": {"code": "not_found", "message": "no learning gotcha-x", "hint": "`roamkb recall` finds them"},
}
_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "As `roamkb … --json` prints it.", "content": {"application/json": {}}},
    "default": {
        "description": "What went wrong, or a refusal of the boundary.",
        "content": {"application/json": {"example": _ERROR_EXAMPLE}},
    },
}


def _require_single_values(request: Request, *, besides: Collection[str] = ()) -> None:
    """Raise where a parameter for one value was given several: it is ambiguous which one counts."""
    counts = Counter(name for name, _ in request.query_params.multi_items() if name not in besides)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise _query_misfit(repeated[0], "it stands more than once, and takes one value")


def _query_misfit(name: str, why: str) -> RequestValidationError:
    return RequestValidationError([{"loc": ("query", one_line(name)), "msg": why}])


def _set_signature(endpoint: Any, **hints: object) -> None:
    """Give `endpoint` a signature that declares its parameters to FastAPI."""
    endpoint.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint) for name, hint in hints.items()]
    )


async def _answer_misfit(_: Request, error: Exception) -> Response:
    """Answer with the names of the arguments that don't fit, without repeating their values."""
    faults = error.errors() if isinstance(error, RequestValidationError) else ()
    fault_lines = [f"{'.'.join(map(str, fault['loc'][1:])) or 'body'}: {fault['msg']}" for fault in faults]
    usage = UsageError("; ".join(fault_lines[:5]), hint="/api/openapi.json says what each path takes")
    return Response(
        render.dump_json(render.error_json(usage)), 400, media_type="application/json", headers=_RESPONSE_HEADERS
    )


async def _answer_http_error(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, message = {
        404: ("not_found", "there is nothing at that path"),
        405: ("method", "that path wants the other of GET and POST"),
        503: ("busy", "too many streams of events are open"),
        500: ("bug", "that is a fault of roamkb's; the server's standard error says more"),
    }.get(status, ("usage", "that can't be read"))
    refusal = UnwelcomeRequest(status, code, message, hint="/api/openapi.json lists the paths")
    return Response(refusal.error_json, status, media_type="application/json", headers=_RESPONSE_HEADERS)


def _openapi_document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, with the token that every path requires."""
    if not app.openapi_schema:
        document = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        schemes = {"token": {"type": "http", "scheme": "bearer", "description": "`roamkb serve` says where."}}
        document.setdefault("components", {})["securitySchemes"] = schemes
        document["security"] = [{"token": []}]
        # misfits are answered like every other mistake
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        app.openapi_schema = json.loads(json.dumps(document))
    return app.openapi_schema
