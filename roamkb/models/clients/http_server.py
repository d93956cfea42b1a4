"""One question to a server over HTTP: bounded in time and size, no redirection followed, TLS verified."""

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
from roamkb.core.text import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOutput:
    """What a server answered."""

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
    """Send `body` to `path` at `address` and return what came back."""
    end = time.monotonic() + seconds
    connection = _connection(address, environment, seconds)
    watch = _DeadlineWatch()
    try:
        connection.connect()
        watch.start(connection.sock, end - time.monotonic())
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
        late = watch.has_ended or isinstance(error, TimeoutError)
        return ServerOutput(
            trouble=f"it took more than {seconds:g} s" if late else f"{address.origin} {_why(error, address)}"
        )
    finally:
        watch.cancel()
        connection.close()
    if watch.has_ended:
        return ServerOutput(trouble=f"it took more than {seconds:g} s")
    if len(data) > most_bytes:
        return ServerOutput(trouble=f"it said more than {most_bytes:,} bytes")
    if is_cut:
        return ServerOutput(trouble="its answer broke off")
    return ServerOutput(status=response.status, text=data.decode("utf-8", "replace"))


def _connection(
    address: ServerAddress, environment: Mapping[str, str], seconds: float
) -> http.client.HTTPConnection:
    """Return a connection that isn't open yet; through the environment's proxy where one is meant for it."""
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
    if address.is_loopback or not proxy.hostname or _goes_past(address.host, proxies.get("no", "")):
        return http.client.HTTPSConnection(address.host, address.port, timeout=seconds, context=context)
    tunnel = http.client.HTTPSConnection(proxy.hostname, proxy.port or 80, timeout=seconds, context=context)
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}" if proxy.username else ""
    told = {"Proxy-Authorization": f"Basic {b64encode(login.encode()).decode()}"} if login else {}
    tunnel.set_tunnel(address.host, address.port, headers=told)
    return tunnel


def _goes_past(host: str, no_proxy: str) -> bool:
    """Say whether `no_proxy` names the host, a domain that it is in, or every host."""
    names = [name.strip().lower().lstrip(".") for name in no_proxy.split(",")]
    return any(name == "*" or host == name or host.endswith(f".{name}") for name in names if name)


class _DeadlineWatch:
    """Ends a connection when its time is up, however little by little the server sends."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self.has_ended = False

    def start(self, connected: socket.socket, seconds: float) -> None:
        self._timer = threading.Timer(max(seconds, 0), self._end, (connected,))
        self._timer.daemon = True
        self._timer.start()

    def _end(self, connected: socket.socket) -> None:
        self.has_ended = True
        # it may be closed by now
        with suppress(OSError):
            # below TLS, which another thread is reading through
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _why(error: Exception, address: ServerAddress) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return f"has a certificate that can't be verified ({shown(error.verify_message)})"
        case ConnectionRefusedError():
            return "doesn't answer: nothing listens there"
        case socket.gaierror():
            return f"isn't known: no host {shown(address.host)}"
        case http.client.HTTPException():
            return f"broke off or speaks no HTTP ({type(error).__name__})"
        case OSError():
            return f"can't be reached: {shown(error.strerror or str(error))}"
        case _:
            return shown(str(error))
