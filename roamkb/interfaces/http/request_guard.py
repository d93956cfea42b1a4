"""Who may speak to the local server, and in what form; everything else is refused before it is read.

A page in a browser can send requests to 127.0.0.1 under a name of its own (DNS rebinding), and any
user of the machine can connect. So the `Host` must be ours to the letter, an `Origin` as well, and
each request shows the token; a body is one JSON object with nothing in it that parsers read differently.
"""

import hmac
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING
from typing import Final
from urllib.parse import unquote_to_bytes

from roamkb.core.startup.lazy_regex import lazily
from roamkb.interfaces.output.encode import answer_json
from roamkb.interfaces.output.render import dumps

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from starlette.types import Message
    from starlette.types import Receive
    from starlette.types import Scope
    from starlette.types import Send

#: Bytes of a request's body: four times the longest learning.
MOST_BODY: Final = 256 * 1024
#: Bytes of its headers, and of its address.
_MOST_HEAD: Final = 16 * 1024
#: Requests in a second over time, and at once; nobody types so fast, and fifty agents may.
RATE: Final = 200.0
BURST: Final = 1000.0
#: Levels of a body; an operation's arguments need two.
_DEEPEST: Final = 4
#: Digits of a number in a body.
_MOST_DIGITS: Final = 18
_PATH: Final = lazily(rb"(?:/(?!\.{1,2}(?:/|\Z))(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2})+)+")
#: Headers that a proxy and a server must not understand differently.
_ONCE: Final = (b"host", b"authorization", b"content-length", b"content-type", b"origin")


class UnwelcomeRequest(Exception):
    """A request that isn't answered with what it asks for."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def json(self) -> str:
        """What is answered, in the form of every error (docs/json.md)."""
        return dumps(answer_json({"error": {"code": self.code, "message": self.message, "hint": self.hint}}))


class RequestGuard:
    """Passes on what is welcome."""

    def __init__(
        self, app: "ASGIApp", *, authorities: tuple[str, ...], token: str, clock: Callable[[], float]
    ) -> None:
        """Take the server's names as `Host` says them, and a clock that never goes back, in seconds."""
        self._app = app
        self._hosts = tuple(name.encode() for name in authorities)
        self._origins = tuple(f"http://{name}".encode() for name in authorities)
        self._token = token.encode()
        self._allowance = _RateLimit(clock)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            body = await self._welcome(scope, receive)
        except UnwelcomeRequest as unwelcome:
            await _refuse(send, unwelcome)
            return
        await self._app(scope, _told(body, receive), send)

    async def _welcome(self, scope: "Scope", receive: "Receive") -> bytes:
        """Return the body of a request that is welcome, or raise `UnwelcomeRequest`."""
        headers = _headers(scope)
        self._check_sender(headers)
        if not self._allowance.take():
            raise UnwelcomeRequest(429, "rate", "too many requests", hint="wait a second")
        if scope["type"] != "http" or scope["method"] not in ("GET", "POST"):
            raise UnwelcomeRequest(405, "method", "only GET and POST are answered")
        _check_target(scope)
        size = _size(headers, scope["method"])
        body = await _body(receive, size)
        if scope["method"] == "POST":
            _check_json(body)
        return body

    def _check_sender(self, headers: dict[bytes, bytes]) -> None:
        if headers.get(b"host") not in self._hosts:
            raise UnwelcomeRequest(403, "host", "the Host header isn't this server's own")
        if headers.get(b"origin", self._origins[0]) not in self._origins:
            raise UnwelcomeRequest(403, "origin", "pages of other origins are not answered")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise UnwelcomeRequest(403, "origin", "pages of other sites are not answered")
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
            raise UnwelcomeRequest(
                401,
                "unauthorized",
                "the Authorization header holds no token of this server",
                hint="Authorization: Bearer TOKEN; `roamkb serve` says which file holds it",
            )


class _RateLimit:
    """So many requests in a second, and some at once."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._left = BURST
        self._at = clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(BURST, self._left + (now - self._at) * RATE)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _headers(scope: "Scope") -> dict[bytes, bytes]:
    """Return the headers, in which nothing that matters stands twice."""
    found: dict[bytes, bytes] = {}
    if sum(len(name) + len(value) for name, value in scope["headers"]) > _MOST_HEAD:
        raise UnwelcomeRequest(431, "too_large", f"headers have at most {_MOST_HEAD:,} bytes")
    for name, value in scope["headers"]:
        if name in found and name in _ONCE:
            raise UnwelcomeRequest(400, "usage", f"two {name.decode('latin-1')} headers")
        found[name] = value
    if b"transfer-encoding" in found:
        raise UnwelcomeRequest(411, "length", "a body needs a Content-Length", hint="don't send it in chunks")
    if b"content-encoding" in found:
        raise UnwelcomeRequest(415, "media_type", "bodies aren't compressed here")
    return found


def _check_target(scope: "Scope") -> None:
    """Raise where the path or the query can be read in two ways."""
    path: bytes = scope.get("raw_path") or b""
    if len(path) + len(scope["query_string"]) > _MOST_HEAD:
        raise UnwelcomeRequest(414, "too_large", "the address is too long", hint="POST what is long")
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


def _size(headers: dict[bytes, bytes], method: str) -> int:
    """Return the bytes of the body that is to come."""
    told = headers.get(b"content-length", b"0")
    if not told.isdigit():
        raise UnwelcomeRequest(400, "usage", "Content-Length is no number")
    if len(told) > 12 or int(told) > MOST_BODY:
        raise UnwelcomeRequest(413, "too_large", f"a body has at most {MOST_BODY:,} bytes")
    if method == "GET":
        if int(told):
            raise UnwelcomeRequest(400, "usage", "a GET has no body", hint="give query parameters")
        return 0
    kind, _, parameter = headers.get(b"content-type", b"").lower().partition(b";")
    if kind.strip() != b"application/json" or parameter.strip() not in (b"", b"charset=utf-8"):
        raise UnwelcomeRequest(415, "media_type", "a body is JSON", hint="Content-Type: application/json")
    return int(told)


async def _body(receive: "Receive", size: int) -> bytes:
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


def _check_json(body: bytes) -> None:
    """Raise where `body` isn't one JSON object that every parser reads the same way."""
    try:
        found = json.loads(
            body.decode(),
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_short,
            object_pairs_hook=_each_once,
        )
        # half a character has a way to be said in JSON, and no UTF-8
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise UnwelcomeRequest(400, "usage", "the body isn't JSON as RFC 8259 has it") from None
    if not isinstance(found, dict):
        raise UnwelcomeRequest(400, "usage", "the body isn't a JSON object", hint="{} gives no arguments")
    if not _is_shallow(found, _DEEPEST):
        raise UnwelcomeRequest(400, "usage", "the body is nested too deeply")
    if "\0" in _texts_in(found):
        raise UnwelcomeRequest(400, "usage", "a text holds a NUL")


def _texts_in(value: object) -> str:
    """Return every text in `value`, keys too."""
    if isinstance(value, dict):
        return "".join(_texts_in(one) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return "".join(map(_texts_in, value))
    return value if isinstance(value, str) else ""


def _no_constant(name: str) -> object:
    raise ValueError(name)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


def _short(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(digits)
    return int(digits)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _is_shallow(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels > 0 and all(_is_shallow(one, levels - 1) for one in inner)


def _told(body: bytes, receive: "Receive") -> "Receive":
    """Return what gives the body that was read, then what the server gives."""
    given = False

    async def receive_again() -> "Message":
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


async def _refuse(send: "Send", unwelcome: UnwelcomeRequest) -> None:
    body = unwelcome.json.encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        # what is left of a body that nobody read must not be taken for the next request
        (b"connection", b"close"),
        *SAFE,
    ]
    if unwelcome.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": unwelcome.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


#: With every answer: what is said here is nobody's page, and kept by no cache.
SAFE: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
