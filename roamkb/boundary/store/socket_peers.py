"""Processes at the other end of a local connection, found in the kernel's own tables."""

import socket
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from roamkb.boundary.store.call_origin import PROC
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.call_origin import read_call_origin

#: In a row of the kernel's table: number, both ends, state, queues, timer, retries, user, timeout, inode, …
_USER, _INODE = 7, 9
#: A host and a port.
Address = tuple[str, int]


def find_peers(client: Address, server: Address, proc: Path) -> tuple[int, ...]:
    """Return the processes that hold the `client`'s end of a connection; none where that is hidden."""
    sockets = {f"socket:[{row[_INODE]}]" for row in _socket_rows(client, server, proc)}
    return tuple(sorted(_socket_holders(sockets, proc))) if sockets else ()


def find_users(client: Address, server: Address, proc: Path) -> set[int]:
    """Return the numbers of the users who made the `client`'s end of a connection; none where that is hidden."""
    return {int(row[_USER]) for row in _socket_rows(client, server, proc)}


def read_environment(pid: int, proc: Path) -> Mapping[str, str]:
    """Return a process's environment as of the start of its program.

    Raises:
        OSError: it is another user's, or gone.
    """
    data = (proc / str(pid) / "environ").read_bytes().decode(sys.getfilesystemencoding(), "surrogateescape")
    return dict(pair.split("=", 1) for pair in data.split("\0") if "=" in pair)


def read_folder(pid: int, proc: Path) -> Path | None:
    """Return the folder that a process runs in; None where that was deleted, or is another one here.

    A process with mounts of its own may call its work by a personal project's name.

    Raises:
        OSError: it is another user's, or gone.
    """
    link = proc / str(pid) / "cwd"
    folder = link.readlink()
    return folder if folder.is_dir() and folder.samefile(link) else None


def read_peer_origin(pid: int) -> CallOrigin | None:
    """Return the call origin of a process; None where it is another user's, or gone."""
    try:
        return read_call_origin(read_environment(pid, PROC), cwd=read_folder(pid, PROC), pid=pid)
    except OSError:
        return None


def _socket_rows(client: Address, server: Address, proc: Path) -> list[list[str]]:
    """Return the row of the `client`'s end of a connection in the kernel's table of sockets."""
    ends = {(_render_address(client, wide), _render_address(server, wide)) for wide in (False, True)}
    # a socket stands in one of the two, and to read one takes milliseconds
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            rows = map(str.split, (proc / "net" / name).read_text("ascii", "replace").splitlines())
            # of a socket that is closed, neither is told
            if found := [
                row for row in rows if tuple(row[1:3]) in ends and row[_INODE : _INODE + 1] not in ([], ["0"])
            ]:
                return found
    return []


def _render_address(address: Address, wide: bool) -> str:
    """Return an address as the table writes it: words of four bytes, in the processor's order."""
    host = ip_address(address[0])
    packed = host.packed
    if wide and len(packed) == 4:
        packed = socket.inet_pton(socket.AF_INET6, f"::ffff:{host}")
    words = (packed[offset : offset + 4] for offset in range(0, len(packed), 4))
    spelled = (word[::-1] if sys.byteorder == "little" else word for word in words)
    return f"{b''.join(spelled).hex().upper()}:{address[1]:04X}"


def _socket_holders(sockets: set[str], proc: Path) -> Iterator[int]:
    for process in proc.iterdir():
        if not process.name.isdecimal():
            continue
        # one that is gone, or another user's
        with suppress(OSError):
            if any(_is_link_to_socket(file, sockets) for file in (process / "fd").iterdir()):
                yield int(process.name)


def _is_link_to_socket(file: Path, sockets: set[str]) -> bool:
    try:
        return str(file.readlink()) in sockets
    except OSError:
        return False
