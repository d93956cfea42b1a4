"""A real server in a process of its own, and a client that may say anything."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one request gave."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server, and how to reach it."""

    port: int
    token: str
    token_file: Path
    greeting: Mapping[str, Any]
    process: subprocess.Popen[bytes]
    errors: Path

    def send(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> Answer:
        """Send one request with the headers of a welcome one, but for those given; None leaves one out."""
        told: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json" if method == "POST" else None,
            "Content-Length": str(len(body)) if body or method == "POST" else None,
        }
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in told.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return Answer(status=answer.status, headers=dict(answer.getheaders()), body=answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str | None) -> Answer:
        """GET one path."""
        return self.send("GET", path, b"", **headers)

    def post(self, path: str, given: object, **headers: str | None) -> Answer:
        """POST an object as JSON."""
        return self.send("POST", path, json.dumps(given).encode(), **headers)


@contextmanager
def serving(
    world: World,
    folder: Path | None = None,
    *words: str,
    extra: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
) -> Iterator[Served]:
    """Run `roamkb serve`, or another command's, in a project until the block ends, with the client in the personal one."""
    here = folder or world.personal
    began_in = Path.cwd()
    # the server judges who asks by where they run
    os.chdir(world.personal)
    errors = world.home.parent / "server-errors"
    with errors.open("wb") as log:
        process = subprocess.Popen(
            [*(command or (sys.executable, "-m", "roamkb")), "serve", "--port", "0", "--json", *words],
            cwd=here,
            env={**world.environment(), "PWD": str(here), **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, errors.read_text()
        told = json.loads(line)
        token_file = Path(told["token_file"])
        port = int(told["url"].removesuffix("/api/").rpartition(":")[2])
        yield Served(
            port=port,
            token=token_file.read_text().strip(),
            token_file=token_file,
            greeting=told,
            process=process,
            errors=errors,
        )
    finally:
        os.chdir(began_in)
        process.terminate()
        process.wait()
        process.stdout.close()
