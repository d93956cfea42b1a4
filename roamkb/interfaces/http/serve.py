"""`roamkb serve`: the local server of one project, until it is interrupted."""

import json
import socket
import sys
from typing import Final

import uvicorn

from roamkb.app.server import ServedKnowledgeBase
from roamkb.boundary.store.server_ports import PORT
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
from roamkb.core.timestamps import format_iso
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.http.app import HttpServer
from roamkb.interfaces.http.request_limits import ImpatientProtocol
from roamkb.interfaces.output import render
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import answer_json

HOST: Final = "127.0.0.1"
_LOOPBACK: Final = {"127.0.0.1": socket.AF_INET, "::1": socket.AF_INET6}
#: Requests at a time; more are told to come again.
_MAX_REQUESTS: Final = 256
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
    kb = ServedKnowledgeBase.open_for_server(project=call.project)
    access_token = kb.access_token()
    with _open_listening_socket(str(host), port if isinstance(port, int) else PORT) as sock:
        bound = sock.getsockname()[1]
        kb.keep_port(bound)
        address = f"[{host}]:{bound}" if host == "::1" else f"{host}:{bound}"
        journal = _EntryLogger(kb)
        server = HttpServer(
            kb, authorities=(address, f"localhost:{bound}"), token=access_token.token, on_write=journal.log_write
        )
        _print_greeting(kb, f"http://{address}/api/", str(access_token.path), as_json=call.as_json)
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
            limit_concurrency=_MAX_REQUESTS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[sock])
    return 0


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


def _print_greeting(kb: ServedKnowledgeBase, url: str, token_file: str, *, as_json: bool) -> None:
    """Print the server's address and the token's file, never the token: terminals are recorded."""
    project = kb.classify()
    root = str(project.root) if project.root else None
    if as_json:
        project_json = {"kind": project.kind.value, "root": root}
        line = render.dump_json(answer_json({"url": url, "token_file": token_file, "project": project_json}))
    else:
        line = f"{project.kind.value} project {one_line(root or '')} at {url} (the token is in {one_line(token_file)})"
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
