"""Guard of the page: it is answered to one browser of this machine, and to its own pages alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING
from typing import Final

from roamkb.interfaces.http.request_guard import RateLimit
from roamkb.interfaces.http.request_guard import UnwelcomeRequest
from roamkb.interfaces.http.request_guard import read_body
from roamkb.interfaces.http.request_guard import replay_body
from roamkb.interfaces.http.request_guard import require_headers
from roamkb.interfaces.http.request_guard import require_plain_target
from roamkb.interfaces.page.session import PageSession
from roamkb.interfaces.page.templating import render_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from starlette.types import Receive
    from starlette.types import Scope
    from starlette.types import Send

REPORT_PATH: Final = "/csp-report"
ENTER_PATH: Final = "/enter"
STATIC_PATH: Final = "/static/"
#: Bytes of a report; a browser's has about one thousand.
_MOST_REPORT_BYTES: Final = 16 * 1024
_REPORT_TYPES: Final = (b"application/csp-report", b"application/reports+json")

#: Nothing but the page's own script, style and images; no string becomes HTML or script.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; "
    f"report-uri {REPORT_PATH}"
)
#: With every answer.
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageGuard:
    """An ASGI application that passes on the requests of the session's browser only."""

    def __init__(self, app: "ASGIApp", *, authority: str, session: PageSession, clock: Callable[[], float]) -> None:
        """Take the server's name as `Host` must have it, and a clock that never goes back, in seconds."""
        self._app = app
        self._host = authority.encode()
        self._origin = f"http://{authority}".encode()
        self._session = session
        self._allowance = RateLimit(clock)
        #: Of all who have no session: another user of this machine could use up the browser's.
        self._strangers = RateLimit(clock)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer one request, or pass it on."""
        try:
            body = await self._require_welcome(scope, receive)
        except UnwelcomeRequest as unwelcome:
            await _send_refusal(send, unwelcome)
            return
        await self._app(scope, replay_body(body, receive), send)

    async def _require_welcome(self, scope: "Scope", receive: "Receive") -> bytes:
        headers = require_headers(scope)
        self._require_own_sender(headers)
        is_holder = self._is_holder(scope)
        if not (self._allowance if is_holder else self._strangers).take_permit():
            raise UnwelcomeRequest(429, "rate", "too many requests", hint="wait a second")
        if scope["type"] != "http" or scope["method"] not in ("GET", "POST"):
            raise UnwelcomeRequest(405, "method", "the page answers GET only")
        if scope.get("raw_path") != b"/" or scope["path"] != "/":
            require_plain_target(scope)
        elif b"%00" in scope["query_string"]:
            raise UnwelcomeRequest(400, "usage", "the address holds a NUL")
        path: str = scope["path"]
        if path != ENTER_PATH and not path.startswith(STATIC_PATH) and not is_holder:
            raise UnwelcomeRequest(
                401,
                "unauthorized",
                "this browser has no session with this server",
                hint="`roamkb serve --page` opens one; end the old server first (Ctrl-C)",
            )
        return await _require_body(scope, receive, headers)

    def _is_holder(self, scope: "Scope") -> bool:
        cookies = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
        return self._session.is_holder(";".join(cookies))

    def _require_own_sender(self, headers: dict[bytes, bytes]) -> None:
        if headers.get(b"host") != self._host:
            where = f"http://{self._host.decode()}/"
            raise UnwelcomeRequest(403, "host", "the Host header isn't the page's own", hint=f"the page is at {where}")
        if headers.get(b"origin", self._origin) != self._origin:
            raise UnwelcomeRequest(403, "origin", "pages of other origins are not answered")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            hint = "open the address by itself, not by a link of another site"
            raise UnwelcomeRequest(403, "origin", "pages of other sites are not answered", hint=hint)
        if b"sec-purpose" in headers or b"purpose" in headers:
            raise UnwelcomeRequest(403, "prefetch", "nothing is fetched beforehand")


async def _require_body(scope: "Scope", receive: "Receive", headers: dict[bytes, bytes]) -> bytes:
    """Return the body: a report of a browser's, or none."""
    size = headers.get(b"content-length", b"0")
    if scope["method"] == "GET":
        if size != b"0":
            raise UnwelcomeRequest(400, "usage", "a GET has no body")
        return b""
    if scope["path"] != REPORT_PATH or headers.get(b"content-type", b"").partition(b";")[0] not in _REPORT_TYPES:
        raise UnwelcomeRequest(405, "method", "the page changes nothing")
    if not size.isdigit() or len(size) > 9 or int(size) > _MOST_REPORT_BYTES:
        raise UnwelcomeRequest(413, "too_large", f"a report has at most {_MOST_REPORT_BYTES:,} bytes")
    return await read_body(receive, int(size))


async def _send_refusal(send: "Send", unwelcome: UnwelcomeRequest) -> None:
    body = render_page("refusal.html", message=unwelcome.message, hint=unwelcome.hint).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        # what is left of a body that nobody read must not be taken for the next request
        (b"connection", b"close"),
        *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
    ]
    await send({"type": "http.response.start", "status": unwelcome.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
