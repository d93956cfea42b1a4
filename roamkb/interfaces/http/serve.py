"""`roamkb serve`: the local server of one project, until it is interrupted."""

import errno
import json
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp
from starlette.types import Receive
from starlette.types import Scope
from starlette.types import Send

from roamkb.app.server import ServedKnowledgeBase
from roamkb.boundary.store.server_ports import PORT
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.core.timestamps import format_iso
from roamkb.fs import package_manager
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.http import app as http_app
from roamkb.interfaces.http.request_limits import ImpatientProtocol
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import answer_json
from roamkb.interfaces.page import app as page_app
from roamkb.interfaces.page import browser as page_browser

HOST: Final = "127.0.0.1"
_LOOPBACK: Final = {"127.0.0.1": socket.AF_INET, "::1": socket.AF_INET6}
#: Requests at a time; more are told to come again.
_MAX_REQUESTS: Final = 256
#: Tries for a port that is free at both addresses.
_PORT_ATTEMPTS: Final = 8
#: Of a machine without IPv6, or without 127.0.0.1.
_NO_ADDRESS: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
#: Seconds that streams of events get when the server ends.
_SHUTDOWN_SECONDS: Final = 1


def serve(call: OperationCall) -> int:
    """Serve until interrupted; the address and the token's file are printed first.

    Raises:
        UsageError: the host isn't this machine alone.
        RoamkbError: the port is taken, or the token can't be kept.
    """
    host, port = call.arguments.get("host") or HOST, call.arguments.get("port")
    if host not in _LOOPBACK:
        raise UsageError(
            f"--host {one_line(str(host))} could be reached by others",
            hint="127.0.0.1 or ::1; from another machine by `ssh -L`",
        )
    has_page = bool(call.arguments.get("page"))
    if has_page:
        _require_page_extra()
    kb = ServedKnowledgeBase.open_for_server(project=call.project)
    access_token = kb.access_token()
    with ExitStack() as sockets:
        listening = _open_sockets(str(host), port if isinstance(port, int) else PORT, both=has_page)
        for sock in listening:
            sockets.enter_context(sock)
        bound = listening[0].getsockname()[1]
        kb.keep_port(bound)
        kb.follow_shared_log()
        address = f"[{host}]:{bound}" if host == "::1" else f"{host}:{bound}"
        journal = _EntryLogger(kb)

        def make_api() -> ASGIApp:
            authorities = (address, f"localhost:{bound}")
            return http_app.HttpServer(
                kb, authorities=authorities, token=access_token.token, on_write=journal.log_write
            ).app

        page = page_app.PageServer(kb, port=bound) if has_page else None
        greeting = _Greeting(
            url=f"http://{address}/api/", token_file=str(access_token.path), entrance=page.entrance if page else ""
        )
        _print_greeting(kb, greeting, as_json=call.as_json)
        if page:
            page.warm_up()
            if not call.as_json:
                page_browser.show_page(page.entrance, page.address)
        config = uvicorn.Config(
            _with_page(make_api, page.app) if page else make_api(),
            http=ImpatientProtocol,
            ws="none",
            lifespan="off",
            # the loop that is everywhere; of logs only faults
            loop="asyncio",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MAX_REQUESTS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        uvicorn.Server(config).run(sockets=listening)
    return 0


def _require_page_extra() -> None:
    try:
        page_app.PageServer  # noqa: B018 - its module is imported by this
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("roamkb"):
            raise
        raise UsageError(
            f"serve --page needs the extra roamkb[page], which isn't installed ({error.name} is missing)",
            hint=package_manager.extra_install_command("page"),
        ) from error


def _with_page(make_api: Callable[[], ASGIApp], page: ASGIApp) -> ASGIApp:
    """Return the application that answers below `/api/` by the API, and all else by `page`; each has its own guard.

    The API is made once it is asked for: what it needs takes half a second to load, and a page needs none of it.
    """
    guard = threading.Lock()
    made: list[ASGIApp] = []

    def get_api() -> ASGIApp:
        with guard:
            if not made:
                made.append(make_api())
        return made[0]

    async def answer_request(scope: Scope, receive: Receive, send: Send) -> None:
        is_api = scope["type"] != "http" or scope["path"].startswith("/api/")
        answer = (made[0] if made else await run_in_threadpool(get_api)) if is_api else page
        await answer(scope, receive, send)

    return answer_request


def _open_sockets(host: str, port: int, *, both: bool) -> list[socket.socket]:
    """Return the listening socket of `host`; with `both` also that of the other loopback address, on the same port.

    A browser that is sent to `localhost` takes the first of the two that answers, so that another's must not.
    """
    for _ in range(_PORT_ATTEMPTS):
        first = _open_listening_socket(host, port)
        bound = first.getsockname()[1]
        if not both:
            return [first]
        other = next(name for name in _LOOPBACK if name != host)
        try:
            return [first, _open_listening_socket(other, bound)]
        except RoamkbError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _NO_ADDRESS:
                # nobody else can listen there either
                return [first]
            first.close()
            if port:
                raise
    raise RoamkbError("no free port is free at both 127.0.0.1 and ::1", hint="roamkb serve --page --port N")


def _open_listening_socket(host: str, port: int) -> socket.socket:
    sock = socket.socket(_LOOPBACK[host], socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_MAX_REQUESTS)
    except (OSError, OverflowError) as error:
        sock.close()
        why = error.strerror if isinstance(error, OSError) else "no such port"
        raise RoamkbError(f"{host}:{port} can't be listened on: {why}", hint="roamkb serve --port N") from error
    return sock


@dataclass(frozen=True, slots=True, kw_only=True)
class _Greeting:
    """What a server says when it begins."""

    url: str
    token_file: str
    #: The address that opens the page, once; empty without a page.
    entrance: str = ""


def _print_greeting(kb: ServedKnowledgeBase, greeting: _Greeting, *, as_json: bool) -> None:
    """Print the server's address and the token's file, never the token: terminals are recorded."""
    project = kb.classify()
    root = str(project.root) if project.root else None
    if as_json:
        project_json = {"kind": project.kind.value, "root": root}
        fields: Json = {"url": greeting.url, "token_file": greeting.token_file, "project": project_json}
        if greeting.entrance:
            fields["page"] = greeting.entrance
        line = render.dump_json(answer_json(fields))
    else:
        token = f"(the token is in {one_line(greeting.token_file)})"
        line = f"{project.kind.value} project {one_line(root or '')} at {greeting.url} {token}"
    print(line, flush=True)


class _EntryLogger:
    """A logger on standard error: a line of JSON for each entry written (document 004, NFR-3)."""

    def __init__(self, kb: ServedKnowledgeBase) -> None:
        self._kb = kb

    def log_write(self, operation: str, agent: str | None, answer: Json) -> None:
        """Log one write."""
        time = format_iso(self._kb.current_time)
        for id in _written_ids(answer) or [None]:
            line = {"time": time, "operation": operation, "entry": id, "agent": agent or self._kb.server_agent}
            print(json.dumps(line), file=sys.stderr, flush=True)


def _written_ids(answer: Json) -> list[object]:
    """Return the ids of the written entries: the answer's own, else those of its lists."""
    task = answer.get("task")
    if id := answer.get("id") or (task.get("id") if isinstance(task, dict) else None):
        return [id]
    rows = [row for value in answer.values() if isinstance(value, list) for row in value]
    return [row["id"] for row in rows if isinstance(row, dict) and row.get("id")]
