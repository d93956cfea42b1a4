"""A client for one HTTP question: bounded in time and size, no redirection followed, TLS verified."""

import http.client
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import unquote
from urllib.parse import urlsplit

from roamkb.core.server_address import ServerAddress
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOutput:
    """A server's answer."""

    status: int = 0
    text: str = ""
    #: Why there is no answer, a clause.
    trouble: str = ""


def post_json(
    address: ServerAddress,
    path: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    environment: Mapping[str, str],
    seconds: float,
    most_bytes: int,
) -> ServerOutput:
    """Send `body` to `path` at `address` and return the answer."""
    deadline = time.monotonic() + seconds
    connection = _make_connection(address, environment, seconds)
    watch = _DeadlineWatch()
    try:
        connection.connect()
        watch.start_timer(connection.sock, deadline - time.monotonic())
        connection.request(
            "POST",
            path,
            body=body,
            headers={"Content-Type": "application/json", "Accept": "application/json", **headers},
        )
        response = connection.getresponse()
        data = response.read(most_bytes + 1)
        is_cut = bool(response.length) and len(data) <= most_bytes
    except (OSError, http.client.HTTPException) as error:
        is_late = watch.has_ended or isinstance(error, TimeoutError)
        return ServerOutput(
            trouble=f"it took more than {seconds:g} s"
            if is_late
            else f"{address.origin_url} {_failure_reason(error, address)}"
        )
    finally:
        watch.cancel_timer()
        connection.close()
    if watch.has_ended:
        return ServerOutput(trouble=f"it took more than {seconds:g} s")
    if len(data) > most_bytes:
        return ServerOutput(trouble=f"it said more than {most_bytes:,} bytes")
    if is_cut:
        return ServerOutput(trouble="its answer broke off")
    return ServerOutput(status=response.status, text=data.decode("utf-8", "replace"))


def _make_connection(
    address: ServerAddress, environment: Mapping[str, str], seconds: float
) -> http.client.HTTPConnection:
    """Return an unopened connection, through the environment's proxy where one applies."""
    if address.scheme == "http":
        # a proxy would read what is in the clear
        return http.client.HTTPConnection(address.host, address.port, timeout=seconds)
    context = ssl.create_default_context()
    proxies = {
        name.lower().removesuffix("_proxy"): value
        for name, value in environment.items()
        if name.lower().endswith("_proxy") and value
    }
    proxy = urlsplit(proxies.get("https", ""))
    if address.is_loopback or not proxy.hostname or _bypasses_proxy(address.host, proxies.get("no", "")):
        return http.client.HTTPSConnection(address.host, address.port, timeout=seconds, context=context)
    tunnel = http.client.HTTPSConnection(proxy.hostname, proxy.port or 80, timeout=seconds, context=context)
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}" if proxy.username else ""
    tunnel_headers = {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    tunnel.set_tunnel(address.host, address.port, headers=tunnel_headers)
    return tunnel


def _bypasses_proxy(host: str, no_proxy: str) -> bool:
    """Say whether `no_proxy` names the host, a domain that it is in, or every host."""
    names = [name.strip().lower().lstrip(".") for name in no_proxy.split(",")]
    return any(name == "*" or host == name or host.endswith(f".{name}") for name in names if name)


class _DeadlineWatch:
    """A timer that ends a connection at its deadline, however slowly the server sends."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self.has_ended = False

    def start_timer(self, connected: socket.socket, seconds: float) -> None:
        self._timer = threading.Timer(max(seconds, 0), self._end_connection, (connected,))
        self._timer.daemon = True
        self._timer.start()

    def _end_connection(self, connected: socket.socket) -> None:
        self.has_ended = True
        # it may be closed by now
        with suppress(OSError):
            # below TLS, which another thread is reading through
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _failure_reason(error: Exception, address: ServerAddress) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"has a certificate that can't be verified ({one_line(error.verify_message)})"
        case ConnectionRefusedError():
            return "doesn't answer: nothing listens there"
        case socket.gaierror():
            return f"isn't known: no host {one_line(address.host)}"
        case http.client.HTTPException():
            return f"broke off or speaks no HTTP ({type(error).__name__})"
        case OSError():
            return f"can't be reached: {one_line(error.strerror or str(error))}"
        case _:
            return one_line(str(error))
