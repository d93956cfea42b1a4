"""`roamkb serve`: the local server of one project, until it is interrupted."""

import json
import socket
import sys
from typing import Final

import uvicorn

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.core.timestamps import iso
from roamkb.guard.store.server_ports import PORT
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.http.app import HttpServer
from roamkb.interfaces.http.request_limits import ImpatientProtocol
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import answer_json

HOST: Final = "127.0.0.1"
_LOOPBACK: Final = {"127.0.0.1": socket.AF_INET, "::1": socket.AF_INET6}
#: Requests at a time; more are told to come again.
_MOST: Final = 256
#: Seconds that streams of events get when the server ends.
_FAREWELL: Final = 1


def serve(call: OperationCall) -> int:
    """Serve until interrupted; the address and the token's file are printed first.

    Raises:
        UsageError: the host isn't this machine alone.
        RoamkbError: the port is taken, or the token can't be kept.
    """
    host, port = call.arguments.get("host") or HOST, call.arguments.get("port")
    if host not in _LOOPBACK:
        raise UsageError(
            f"--host {shown(str(host))} could be reached by others",
            hint="127.0.0.1 or ::1; from another machine by `ssh -L`",
        )
    kb = ServedKnowledgeBase.begin(project=call.project)
    bearer = kb.bearer()
    with _listening(str(host), port if isinstance(port, int) else PORT) as sock:
        bound = sock.getsockname()[1]
        kb.keep_port(bound)
        address = f"[{host}]:{bound}" if host == "::1" else f"{host}:{bound}"
        journal = _EntryLogger(kb)
        server = HttpServer(
            kb, authorities=(address, f"localhost:{bound}"), token=bearer.token, told=journal.note
        )
        _greet(kb, f"http://{address}/api/", str(bearer.path), as_json=call.as_json)
        config = uvicorn.Config(
            server.app,
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
            limit_concurrency=_MOST,
            timeout_graceful_shutdown=_FAREWELL,
        )
        uvicorn.Server(config).run(sockets=[sock])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    sock = socket.socket(_LOOPBACK[host], socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_MOST)
    except (OSError, OverflowError) as error:
        sock.close()
        why = error.strerror if isinstance(error, OSError) else "no such port"
        raise RoamkbError(
            f"{host}:{port} can't be listened on: {why}", hint="roamkb serve --port N"
        ) from error
    return sock


def _greet(kb: ServedKnowledgeBase, url: str, token_file: str, *, as_json: bool) -> None:
    """Say where it is, and where its token is: never the token, since terminals are recorded."""
    project = kb.classify()
    root = str(project.root) if project.root else None
    if as_json:
        told = {"kind": project.kind.value, "root": root}
        line = render.dumps(answer_json({"url": url, "token_file": token_file, "project": told}))
    else:
        line = (
            f"{project.kind.value} project {shown(root or '')} at {url} (the token is in {shown(token_file)})"
        )
    print(line, flush=True)


class _EntryLogger:
    """A line of JSON on standard error for each entry written: which, who, when (document 004, NFR-3)."""

    def __init__(self, kb: ServedKnowledgeBase) -> None:
        self._kb = kb

    def note(self, operation: str, agent: str | None, told: Json) -> None:
        """Log one write."""
        time = iso(self._kb.now)
        for id in _ids(told) or [None]:
            line = {"time": time, "operation": operation, "entry": id, "agent": agent or self._kb.agent}
            print(json.dumps(line), file=sys.stderr, flush=True)


def _ids(told: Json) -> list[object]:
    """Return the ids of what was written: the answer's own, else those of what it lists."""
    task = told.get("task")
    if id := told.get("id") or (task.get("id") if isinstance(task, dict) else None):
        return [id]
    rows = [row for value in told.values() if isinstance(value, list) for row in value]
    return [row["id"] for row in rows if isinstance(row, dict) and row.get("id")]
