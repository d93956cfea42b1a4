"""The page's views and forms over HTTP, each by the library's own operations, for the session's browser."""

import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from functools import partial
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.interfaces.http.request_guard import STATUSES
from roamkb.interfaces.page import agents_view
from roamkb.interfaces.page import checks_view
from roamkb.interfaces.page import home_view
from roamkb.interfaces.page import learnings_view
from roamkb.interfaces.page import node_page
from roamkb.interfaces.page import search_view
from roamkb.interfaces.page.decisions import changes_view
from roamkb.interfaces.page.decisions import conflicts_view
from roamkb.interfaces.page.decisions import forms
from roamkb.interfaces.page.decisions import learning_page
from roamkb.interfaces.page.decisions import review_view
from roamkb.interfaces.page.decisions.outcomes import OUTCOME_PARAMETER
from roamkb.interfaces.page.decisions.outcomes import OutcomeShelf
from roamkb.interfaces.page.decisions.outcomes import can_sign
from roamkb.interfaces.page.decisions.outcomes import shown_outcome
from roamkb.interfaces.page.graph import graph_view
from roamkb.interfaces.page.guard import ENTER_PATH
from roamkb.interfaces.page.guard import FORM_PATH
from roamkb.interfaces.page.guard import HEADERS
from roamkb.interfaces.page.guard import PROOF_PATH
from roamkb.interfaces.page.guard import REPORT_PATH
from roamkb.interfaces.page.guard import STATIC_PATH
from roamkb.interfaces.page.guard import PageGuard
from roamkb.interfaces.page.hits import asked_kb
from roamkb.interfaces.page.live import LIVE_PATH
from roamkb.interfaces.page.live import LiveMark
from roamkb.interfaces.page.live import shown_mark
from roamkb.interfaces.page.proof import proof_view
from roamkb.interfaces.page.records import remedies_view
from roamkb.interfaces.page.records import shown_view
from roamkb.interfaces.page.session import PageSession
from roamkb.interfaces.page.templating import FOLDER
from roamkb.interfaces.page.templating import render_page
from roamkb.log.proof.store.approver_keys import has_page_key

#: What is served of the page's own, with its type.
_STATIC: Final = {
    "page.css": "text/css; charset=utf-8",
    **dict.fromkeys(("page.js", "graph.js", "live.js", "proof.js"), "text/javascript; charset=utf-8"),
}
#: Reports of a browser that are printed; a page that breaks its own policy does so again and again.
_MOST_REPORTS: Final = 20
_LONGEST_REPORT: Final = 1000

#: A view: of the knowledge base as who asks may use it, the status and the HTML.
View = Callable[[ServedKnowledgeBase, Request], tuple[int, str]]


class PageServer:
    """The page of one server, as an application of ASGI."""

    def __init__(self, kb: ServedKnowledgeBase, *, port: int) -> None:
        """Make the session, whose one-time address is `entrance`."""
        self._kb = kb
        self._session = PageSession(port, time.monotonic)
        self._outcomes = OutcomeShelf()
        self._live = LiveMark()
        self._reports = 0
        self.address = f"http://localhost:{port}/"
        routes = [
            Route("/", self._endpoint(lambda: home_view.view_home, is_live=True)),
            Route("/search", self._endpoint(lambda: search_view.view_search)),
            Route("/note", self._endpoint(lambda: node_page.view_note)),
            Route("/agents", self._endpoint(lambda: agents_view.view_agents, is_live=True)),
            Route("/graph", self._endpoint(lambda: graph_view.view_graph, is_live=True)),
            Route(graph_view.DRAWING_PATH, self._draw_graph),
            Route("/learnings", self._endpoint(lambda: learnings_view.view_learnings, is_live=True)),
            Route("/remedies", self._endpoint(lambda: remedies_view.view_remedies, is_live=True)),
            Route("/shown", self._endpoint(lambda: shown_view.view_shown)),
            Route("/checks", self._endpoint(lambda: checks_view.view_checks)),
            Route("/changes", self._endpoint(lambda: changes_view.view_changes)),
            Route("/trash", self._endpoint(lambda: agents_view.view_trash)),
            Route("/learning", self._endpoint(lambda: learning_page.view_learning)),
            Route("/review", self._endpoint(lambda: review_view.view_review, is_live=True)),
            Route("/conflicts", self._endpoint(lambda: conflicts_view.view_conflicts)),
            Route("/conflict", self._endpoint(lambda: conflicts_view.view_conflict)),
            Route("/approve", self._endpoint(lambda: self._desk.view_question)),
            Route("/key", self._endpoint(lambda: proof_view.view_key)),
            Route(f"{FORM_PATH}{{name}}", self._do, methods=["POST"]),
            Route(f"{PROOF_PATH}{{name}}", self._prove, methods=["POST"]),
            Route("/image", self._image),
            Route(LIVE_PATH, self._look),
            Route(ENTER_PATH, self._enter),
            Route(f"{STATIC_PATH}{{name}}", _static_file),
            Route(REPORT_PATH, self._report, methods=["POST"]),
        ]
        handlers = {HTTPException: _answer_fault, Exception: _answer_fault}
        self.app: ASGIApp = PageGuard(
            Starlette(routes=routes, exception_handlers=handlers),
            authority=f"localhost:{port}",
            session=self._session,
            clock=time.monotonic,
        )

    @cached_property
    def _desk(self) -> proof_view.ProofDesk:
        return proof_view.ProofDesk(self.address.rstrip("/"))

    @property
    def entrance(self) -> str:
        """The address that opens the page, once."""
        return f"{self.address.rstrip('/')}{ENTER_PATH}?code={self._session.code}"

    def warm_up(self) -> None:
        """Make the first page once while the browser starts: it then finds the index and the notes looked at."""
        threading.Thread(target=self._make_home, daemon=True).start()

    def _make_home(self) -> None:
        # what is wrong is said to who asks
        with suppress(RoamkbError, OSError):
            home_view.view_home(self._kb, None)

    def _endpoint(self, find_view: Callable[[], View], *, is_live: bool = False) -> Callable[[Request], Response]:
        """Return a view as an endpoint, which runs in a thread; one that `is_live` says what it shows the state of.

        A view's module is loaded once somebody asks for it: the first page needs few of them.
        """

        def endpoint(request: Request) -> Response:
            # each request has a thread's context of its own
            shown_outcome.set(self._outcomes.take(request.query_params.get(OUTCOME_PARAMETER, "")))
            shown_mark.set(self._live.read(self._kb) if is_live else "")
            can_sign.set(has_page_key(self._kb.environment.trust_home))
            return _answer_or_explain(lambda: self._make_view(find_view(), request))

        return endpoint

    def _make_view(self, view: View, request: Request) -> Response:
        status, html = view(self._kb_for(request), request)
        return Response(html, status, media_type="text/html", headers=HEADERS)

    async def _do(self, request: Request) -> Response:
        """Carry out a form, and lead to a page that says what it did."""
        action = _find_action(request.path_params["name"])
        return await run_in_threadpool(self._carry_out, request, await request.body(), action)

    async def _prove(self, request: Request) -> Response:
        """Begin an act that takes a human's yes, or answer the question of one."""
        action = self._find_proof(request.path_params["name"])
        return await run_in_threadpool(self._carry_out, request, await request.body(), action)

    def _find_proof(self, name: str) -> "forms.FormAction":
        if name in ("yes", "no"):
            return lambda _, fields: self._desk.answer(fields, is_yes=name == "yes")
        form = proof_view.HUMAN_ACTS.get(name)
        if form is None:
            raise HTTPException(404)
        return lambda kb, fields: self._desk.begin(kb, form, fields)

    def _carry_out(self, request: Request, body: bytes, action: "forms.FormAction") -> Response:
        try:
            fields = forms.parse_form(body)
        except UsageError as error:
            return _explain(error)
        back = forms.own_address(fields.get(forms.BACK_FIELD, ""), default="/")

        def lead_on() -> Response:
            outcome = action(self._kb_for(request), fields)
            address = outcome.href or back
            if outcome.text:
                address = forms.add_parameter(address, OUTCOME_PARAMETER, self._outcomes.add(outcome))
            return RedirectResponse(address, 303, headers=HEADERS)

        return _answer_or_explain(lead_on, back=back)

    def _kb_for(self, request: Request) -> ServedKnowledgeBase:
        """Return the knowledge base, judged by the session that the browser was begun from."""
        return self._kb.for_browser(request.scope.get("client"), request.scope.get("server"))

    def _image(self, request: Request) -> Response:
        try:
            image = self._kb_for(request).of_kb(asked_kb(request)).read_image(request.query_params.get("path", ""))
        except RoamkbError as error:
            return Response(error.message, 404, media_type="text/plain", headers=HEADERS)
        return Response(image.data, media_type=image.type, headers=HEADERS)

    def _look(self, _: Request) -> Response:
        mark = json.dumps({"mark": self._live.read(self._kb)})
        return Response(mark, media_type="application/json", headers=HEADERS)

    def _draw_graph(self, request: Request) -> Response:
        def draw() -> Response:
            drawing = graph_view.draw_graph(self._kb_for(request), request)
            return Response(drawing, media_type="application/json", headers=HEADERS)

        return _answer_or_explain(draw)

    def _enter(self, request: Request) -> Response:
        home = partial(RedirectResponse, "/", 303)
        if self._session.is_holder(request.headers.get("cookie", "")):
            return home(headers=HEADERS)
        cookie = self._session.enter(request.query_params.get("code", ""))
        if cookie is None:
            message = "this address opens nothing, or not any more"
            hint = "end `roamkb serve --page` (Ctrl-C) and begin it again; who has used the code is out as well"
            refusal = render_page("refusal.html", message=message, hint=hint, is_stranger=True)
            return Response(refusal, 403, media_type="text/html", headers=HEADERS)
        return home(headers={**HEADERS, "Set-Cookie": cookie})

    async def _report(self, request: Request) -> Response:
        """Print what a browser says that a page tried against its policy; that is a fault of the page's."""
        self._reports += 1
        if self._reports <= _MOST_REPORTS:
            text = (await request.body()).decode("utf-8", "replace")
            line = {"csp_report": clip_text(one_line(text), _LONGEST_REPORT)}
            print(json.dumps(line), file=sys.stderr, flush=True)
        return Response(status_code=204, headers=HEADERS)


def _static_file(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    data = (FOLDER / "static" / name).read_bytes()
    return Response(data, headers={**HEADERS, "Content-Type": _STATIC[name]})


def _find_action(name: str) -> "forms.FormAction":
    """Return what a form does, by the last part of its address."""
    action = conflicts_view.CONFLICT_FORMS.get(name) or forms.FORMS.get(name)
    if action is None:
        raise HTTPException(404)
    return action


def _answer_or_explain(make_answer: Callable[[], Response], *, back: str = "/") -> Response:
    try:
        return make_answer()
    except RoamkbError as error:
        return _explain(error, back=back)
    except OSError as error:
        return _explain(RoamkbError(f"{error.filename or 'disk'}: {error.strerror}"), status=500, back=back)


def _explain(error: RoamkbError, *, status: int | None = None, back: str = "/") -> Response:
    """Return a page that says what went wrong and what to do, with the way back."""
    html = render_page("refusal.html", message=error.message, hint=error.hint, back=back)
    return Response(html, status or STATUSES.get(error.code, 400), media_type="text/html", headers=HEADERS)


def _answer_fault(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    messages = {404: "there is nothing at that address", 405: "nothing is read at that address, or nothing sent there"}
    message = messages.get(status, "that is a fault of roamkb's; the server's terminal says more")
    refusal = render_page("refusal.html", message=message, hint="")
    return Response(refusal, status, media_type="text/html", headers=HEADERS)
