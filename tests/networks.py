"""Networks of machines in namespaces of their own, whose router can drop what it should carry.

A packet that is dropped is answered by nothing, as behind a firewall or a cut cable: who waits for it isn't told.
Run by `own_network_command`, this process is the router, and nothing of the system's own network is touched.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

_FORWARDING = Path("/proc/sys/net/ipv4/ip_forward")
#: Who isn't root becomes nobody else, and keeps what the namespace allows.
_UNSHARE = (
    ("unshare", "--net") if os.getuid() == 0 else ("unshare", "--user", "--map-current-user", "--net", "--keep-caps")
)


def own_network_command(*words: str) -> list[str]:
    """Return the command that runs a Python program as the router of a network of its own; empty where none can be made."""
    trial = (
        f"echo 1 > {_FORWARDING} && ip link add near type veth peer name far && ip rule add from 10.77.0.9 blackhole"
    )
    try:
        tried = subprocess.run([*_UNSHARE, "sh", "-c", trial], capture_output=True, check=False)
    except FileNotFoundError:
        return []
    return [] if tried.returncode else [*_UNSHARE, sys.executable, *words]


def _ip(*words: str, inside: Sequence[str] = ()) -> None:
    subprocess.run([*inside, "ip", *words], check=True, capture_output=True)


@dataclass(frozen=True, kw_only=True)
class NetworkHost:
    """A machine of the network; its namespace lives as long as a process that holds it."""

    number: int
    pid: int
    _dropped: set[str] = field(default_factory=set)

    @property
    def address(self) -> str:
        """Its address."""
        return f"10.77.{self.number}.2"

    @property
    def inside(self) -> list[str]:
        """The words by which a command runs on it."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net"]

    def cut(self, direction: str = "both") -> None:
        """Drop what is sent to it (`in`), by it (`out`), or both, from now on."""
        for name in {"in", "out"} - self._dropped if direction == "both" else {direction} - self._dropped:
            _ip(*self._rule(name, "add"))
            self._dropped.add(name)

    def heal(self) -> None:
        """Carry its packets again."""
        for name in [*self._dropped]:
            _ip(*self._rule(name, "del"))
            self._dropped.discard(name)

    def _rule(self, name: str, act: str) -> list[str]:
        return ["rule", act, "to" if name == "in" else "from", self.address, "blackhole"]


@contextmanager
def joined_hosts(count: int) -> Iterator[list[NetworkHost]]:
    """Join so many hosts by this process's own network; they end with it."""
    _FORWARDING.write_text("1")
    # they hear of the end of this process by the end of their input
    holders = [
        subprocess.Popen(
            ["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(count)
    ]
    try:
        hosts = []
        for number, holder in enumerate(holders):
            assert holder.stdout is not None
            holder.stdout.read(1)
            hosts.append(NetworkHost(number=number, pid=holder.pid))
            _join(hosts[-1])
        yield hosts
    finally:
        for holder in holders:
            holder.communicate()


def _join(host: NetworkHost) -> None:
    near, gateway = f"host{host.number}", f"10.77.{host.number}.1"
    _ip("link", "add", near, "type", "veth", "peer", "name", "eth9", "netns", str(host.pid))
    _ip("addr", "add", f"{gateway}/24", "dev", near)
    _ip("link", "set", near, "up")
    for words in (
        ("link", "set", "lo", "up"),
        ("addr", "add", f"{host.address}/24", "dev", "eth9"),
        ("link", "set", "eth9", "up"),
        ("route", "add", "default", "via", gateway),
    ):
        _ip(*words, inside=host.inside)
