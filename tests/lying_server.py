"""A relay before a real PostgreSQL that passes on other answers than the server gave."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

from tests.postgres import PostgresServer

#: Takes the kind of a message of the server and the whole of it; returns what is passed on.
Lie = Callable[[bytes, bytes], bytes]
_SOCKET = ".s.PGSQL.5432"


@contextlib.contextmanager
def lying_server(folder: Path, server: PostgresServer, lie: Lie) -> Iterator[None]:
    """Listen on a socket in `folder` as the server does in its own, and tell lies."""
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / _SOCKET))
        listener.listen()
        threading.Thread(target=_accept, args=(listener, server.folder / _SOCKET, lie), daemon=True).start()
        yield


def _accept(listener: socket.socket, target: Path, lie: Lie) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        upstream = socket.socket(socket.AF_UNIX)
        upstream.connect(str(target))
        threading.Thread(target=_pass_on, args=(client, upstream), daemon=True).start()
        threading.Thread(target=_answer, args=(upstream, client, lie), daemon=True).start()


def _pass_on(client: socket.socket, upstream: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := client.recv(65536):
            upstream.sendall(data)
    upstream.close()


def _answer(upstream: socket.socket, client: socket.socket, lie: Lie) -> None:
    with contextlib.suppress(OSError), upstream.makefile("rb") as stream:
        while head := stream.read(5):
            body = stream.read(struct.unpack("!i", head[1:])[0] - 4)
            client.sendall(lie(head[:1], head + body))
    client.close()


def data_row(values: list[bytes]) -> bytes:
    """Return a row of an answer, as the protocol has it."""
    body = struct.pack("!h", len(values)) + b"".join(struct.pack("!i", len(value)) + value for value in values)
    return b"D" + struct.pack("!i", len(body) + 4) + body


def values_of(message: bytes) -> list[bytes]:
    """Return the values of a row; a null as no bytes."""
    values, place = [], 7
    for _ in range(struct.unpack("!h", message[5:7])[0]):
        size = max(struct.unpack("!i", message[place : place + 4])[0], 0)
        values.append(message[place + 4 : place + 4 + size])
        place += 4 + size
    return values
