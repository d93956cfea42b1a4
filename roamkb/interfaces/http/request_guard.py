"""Guard of the local server: checks of sender and form; all else is refused before it is read.

A page in a browser can send requests to 127.0.0.1 under a name of its own (DNS rebinding), and any
user of the machine can connect. So the `Host` must be ours to the letter, an `Origin` as well, and
each request shows the token; a body is one JSON object with nothing in it that parsers read differently.
"""

import hmac
import json
import math
import os
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.concurrency import run_in_threadpool

from roamkb.boundary.store.call_origin import PROC
from roamkb.boundary.store.socket_peers import find_users
from roamkb.core.startup.lazy_regex import lazily
from roamkb.interfaces.output.encode import answer_json
from roamkb.interfaces.output.render import dump_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from starlette.types import Message
    from starlette.types import Receive
    from starlette.types import Scope
    from starlette.types import Send

#: What an error is in HTTP, by the code that its JSON carries.
STATUSES: Final[Mapping[str, int]] = {
    "usage": 400,
    "refused": 403,
    "not_found": 404,
    "ambiguous": 409,
    "near_duplicate": 409,
    "changed": 409,
    "no_log": 409,
    "secret": 422,
    # it is written, and who tries again writes it twice
    "not_durable": 202,
    "no_kb": 503,
    "bad_rule": 503,
    "busy": 503,
    "io": 500,
}
#: Bytes of a request's body: four times the longest learning.
MAX_BODY_BYTES: Final = 256 * 1024
#: Bytes of its headers, and of its address.
_MAX_HEAD_BYTES: Final = 16 * 1024
#: Requests in a second over time, and at once; nobody types so fast, and fifty agents may.
REQUESTS_PER_SECOND: Final = 200.0
BURST_REQUESTS: Final = 1000.0
#: The number of the user who may read everything anyway.
_ROOT: Final = 0
#: Levels of a body, its texts counted: the deepest is a proposal's quote, in its evidence, in a list of them.
_MAX_DEPTH: Final = 5
#: Digits of a number in a body.
_MAX_DIGITS: Final = 18
_PATH: Final = lazily(rb"(?:/(?!\.{1,2}(?:/|\Z))(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2})+)+")
#: Headers that a proxy and a server must not understand differently.
_SINGLE_HEADERS: Final = (b"host", b"authorization", b"content-length", b"content-type", b"origin")


class UnwelcomeRequest(Exception):
    """A request that is refused."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def error_json(self) -> str:
        """The answer's body, in the form of every error (docs/json.md)."""
        return dump_json(answer_json({"error": {"code": self.code, "message": self.message, "hint": self.hint}}))


class LocalGuard:
    """An ASGI application that passes on welcome requests only; what is welcome beside its own, each guard says."""

    def __init__(self, app: "ASGIApp", *, authorities: tuple[str, ...], clock: Callable[[], float]) -> None:
        """Take the server's names as `Host` says them, and a clock that never goes back, in seconds."""
        self._app = app
        self._hosts = tuple(name.encode() for name in authorities)
        self._origins = tuple(f"http://{name}".encode() for name in authorities)
        self._allowance = RateLimit(clock)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            headers = require_headers(scope)
            self._require_own_page(headers)
            body = await self._require_welcome(scope, headers, receive)
            await run_in_threadpool(_require_own_user, scope)
        except UnwelcomeRequest as unwelcome:
            await self._refuse(send, unwelcome)
            return
        await self._app(scope, replay_body(body, receive), send)

    async def _require_welcome(self, scope: "Scope", headers: dict[bytes, bytes], receive: "Receive") -> bytes:
        """Return the body of a welcome request, or raise `UnwelcomeRequest`."""
        raise NotImplementedError

    async def _refuse(self, send: "Send", unwelcome: UnwelcomeRequest) -> None:
        """Answer a request that isn't welcome."""
        raise NotImplementedError

    def _require_own_page(self, headers: dict[bytes, bytes]) -> None:
        """Raise where another page sent the request, or named this server otherwise than it is called."""
        if headers.get(b"host") not in self._hosts:
            hint = f"it is at {self._origins[0].decode()}/"
            raise UnwelcomeRequest(403, "host", "the Host header isn't this server's own", hint=hint)
        if headers.get(b"origin", self._origins[0]) not in self._origins:
            raise UnwelcomeRequest(403, "origin", "pages of other origins are not answered")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            hint = "open the address by itself, not by a link of another site"
            raise UnwelcomeRequest(403, "origin", "pages of other sites are not answered", hint=hint)

    def _require_permit(self, scope: "Scope", allowance: "RateLimit") -> None:
        """Raise where there were too many requests, or this is another than GET and POST."""
        if not allowance.take_permit():
            raise UnwelcomeRequest(429, "rate", "too many requests", hint="wait a second")
        if scope["type"] != "http" or scope["method"] not in ("GET", "POST"):
            raise UnwelcomeRequest(405, "method", "only GET and POST are answered")


class RequestGuard(LocalGuard):
    """A guard that passes on the requests of those who have the token."""

    def __init__(self, app: "ASGIApp", *, authorities: tuple[str, ...], token: str, clock: Callable[[], float]) -> None:
        """Take the token beside what `LocalGuard` takes."""
        super().__init__(app, authorities=authorities, clock=clock)
        self._token = token.encode()

    async def _require_welcome(self, scope: "Scope", headers: dict[bytes, bytes], receive: "Receive") -> bytes:
        self._require_token(headers)
        self._require_permit(scope, self._allowance)
        require_plain_target(scope)
        size = _require_body_size(headers, scope["method"])
        body = await read_body(receive, size)
        if scope["method"] == "POST":
            _require_json_object(body)
        return body

    async def _refuse(self, send: "Send", unwelcome: UnwelcomeRequest) -> None:
        challenge = ((b"www-authenticate", b"Bearer"),) if unwelcome.status == 401 else ()
        headers = ((b"content-type", b"application/json"), *SAFE_HEADERS, *challenge)
        await send_refusal(send, unwelcome.status, unwelcome.error_json, headers)

    def _require_token(self, headers: dict[bytes, bytes]) -> None:
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
            raise UnwelcomeRequest(
                401,
                "unauthorized",
                "the Authorization header holds no token of this server",
                hint="Authorization: Bearer TOKEN; `roamkb serve` says which file holds it",
            )


class RateLimit:
    """A limit on requests in a second, with a burst."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = BURST_REQUESTS
        self._at = clock()

    def take_permit(self) -> bool:
        """Return whether one more request may come now, and count it."""
        now = self._clock()
        self._left = min(BURST_REQUESTS, self._left + (now - self._at) * REQUESTS_PER_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def require_headers(scope: "Scope") -> dict[bytes, bytes]:
    """Return the headers, in which no header that matters stands twice; raise `UnwelcomeRequest` for others."""
    headers: dict[bytes, bytes] = {}
    if sum(len(name) + len(value) for name, value in scope["headers"]) > _MAX_HEAD_BYTES:
        raise UnwelcomeRequest(431, "too_large", f"headers have at most {_MAX_HEAD_BYTES:,} bytes")
    for name, value in scope["headers"]:
        if name in headers and name in _SINGLE_HEADERS:
            raise UnwelcomeRequest(400, "usage", f"two {name.decode('latin-1')} headers")
        headers[name] = value
    if b"transfer-encoding" in headers:
        raise UnwelcomeRequest(411, "length", "a body needs a Content-Length", hint="don't send it in chunks")
    if b"content-encoding" in headers:
        raise UnwelcomeRequest(415, "media_type", "bodies aren't compressed here")
    return headers


def require_plain_target(scope: "Scope") -> None:
    """Raise `UnwelcomeRequest` where the path or the query can be read in two ways."""
    path: bytes = scope.get("raw_path") or b""
    if len(path) + len(scope["query_string"]) > _MAX_HEAD_BYTES:
        message = f"a path and its query have at most {_MAX_HEAD_BYTES:,} bytes"
        raise UnwelcomeRequest(414, "too_large", message, hint="give less; what a POST takes stands in its body")
    plain = unquote_to_bytes(path)
    if not _PATH.fullmatch(path) or plain.count(b"/") != path.count(b"/") or b"\\" in plain:
        raise UnwelcomeRequest(404, "not_found", "there is nothing at that path")
    if any(part in (b".", b"..") for part in plain.split(b"/")):
        raise UnwelcomeRequest(404, "not_found", "there is nothing at that path")
    for text in (plain, unquote_to_bytes(scope["query_string"])):
        try:
            text.decode()
        except UnicodeDecodeError:
            raise UnwelcomeRequest(400, "usage", "the address isn't UTF-8 text") from None
        if b"\0" in text:
            raise UnwelcomeRequest(400, "usage", "the address holds a NUL")


def _require_own_user(scope: "Scope") -> None:
    """Raise where the connection is another user's, who has got hold of what lets one in; not every system tells."""
    client, server = scope.get("client"), scope.get("server")
    if client and server and find_users(client, server, PROC) - {os.geteuid(), _ROOT}:
        raise UnwelcomeRequest(403, "user", "the connection is another user's", hint="ask as the user who serves")


def _require_body_size(headers: dict[bytes, bytes], method: str) -> int:
    """Return the size of the body to come, in bytes."""
    size = declared_size(headers)
    if method == "GET":
        if size:
            raise UnwelcomeRequest(400, "usage", "a GET has no body", hint="give query parameters")
        return 0
    kind, _, parameter = headers.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != b"application/json" or parameter.strip() not in (b"", b"charset=utf-8"):
        raise UnwelcomeRequest(415, "media_type", "a body is JSON", hint="Content-Type: application/json")
    return size


def declared_size(headers: dict[bytes, bytes], *, most: int = MAX_BODY_BYTES) -> int:
    """Return the size of a body in bytes, as its headers say; raise `UnwelcomeRequest` above `most`."""
    declared = headers.get(b"content-length", b"0")
    if not declared.isdigit():
        raise UnwelcomeRequest(400, "usage", "Content-Length is no number")
    if len(declared) > 12 or int(declared) > most:
        raise UnwelcomeRequest(413, "too_large", f"a body has at most {most:,} bytes")
    return int(declared)


async def read_body(receive: "Receive", size: int) -> bytes:
    """Return a body of `size` bytes; raise `UnwelcomeRequest` for one of another size."""
    body = b""
    more = size > 0
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UnwelcomeRequest(400, "usage", "the body was cut off")
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > size:
            raise UnwelcomeRequest(400, "usage", "the body is longer than it says")
    return body


def _require_json_object(body: bytes) -> None:
    """Raise where `body` isn't one JSON object that every parser reads the same way."""
    try:
        document = json.loads(
            body.decode(),
            parse_constant=_reject_constant,
            parse_float=_parse_finite_float,
            parse_int=_parse_short_int,
            object_pairs_hook=_require_unique_keys,
        )
        # half a character has a way to be said in JSON, and no UTF-8
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise UnwelcomeRequest(400, "usage", "the body isn't JSON as RFC 8259 has it") from None
    if not isinstance(document, dict):
        raise UnwelcomeRequest(400, "usage", "the body isn't a JSON object", hint="{} gives no arguments")
    if not _is_shallow(document, _MAX_DEPTH):
        raise UnwelcomeRequest(400, "usage", "the body is nested too deeply")
    if "\0" in _texts_in(document):
        raise UnwelcomeRequest(400, "usage", "a text holds a NUL")


def _texts_in(value: object) -> str:
    """Return every text in `value`, keys too, joined."""
    if isinstance(value, dict):
        return "".join(_texts_in(member) for pair in value.items() for member in pair)
    if isinstance(value, list):
        return "".join(map(_texts_in, value))
    return value if isinstance(value, str) else ""


def _reject_constant(name: str) -> object:
    raise ValueError(name)


def _parse_finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def _parse_short_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError(digits)
    return int(digits)


def _require_unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key stands twice")
    return mapping


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(member, levels - 1) for member in inner)


def replay_body(body: bytes, receive: "Receive") -> "Receive":
    """Return a receiver that gives the body that was read, then the server's messages."""
    was_given = False

    async def receive_again() -> "Message":
        nonlocal was_given
        if was_given:
            return await receive()
        was_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


async def send_refusal(send: "Send", status: int, text: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Send an answer to a request whose body nobody may have read."""
    body = text.encode()
    framing = [
        (b"content-length", str(len(body)).encode()),
        # what is left of a body that nobody read must not be taken for the next request
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *framing]})
    await send({"type": "http.response.body", "body": body})


#: With every answer: what is said here is nobody's page, and kept by no cache.
SAFE_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
