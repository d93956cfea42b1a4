"""Guard of the page: it is answered to one browser of this machine, and to its own pages alone."""

from collections.abc import Callable
from typing import TYPE_CHECKING
from typing import Final

from roamkb.interfaces.http.request_guard import LocalGuard
from roamkb.interfaces.http.request_guard import RateLimit
from roamkb.interfaces.http.request_guard import UnwelcomeRequest
from roamkb.interfaces.http.request_guard import declared_size
from roamkb.interfaces.http.request_guard import read_body
from roamkb.interfaces.http.request_guard import require_plain_target
from roamkb.interfaces.http.request_guard import send_refusal
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
#: Below it lies what changes something, a form each.
FORM_PATH: Final = "/do/"
#: Below it lies what takes a human's yes, and the answers to its questions.
PROOF_PATH: Final = "/proof/"
_FORM_TYPE: Final = b"application/x-www-form-urlencoded"
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
    # with "no-referrer" a browser says of no form whose page has it
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class PageGuard(LocalGuard):
    """A guard that passes on the requests of the session's browser."""

    def __init__(self, app: "ASGIApp", *, authority: str, session: PageSession, clock: Callable[[], float]) -> None:
        """Take the session beside what `LocalGuard` takes."""
        super().__init__(app, authorities=(authority,), clock=clock)
        self._session = session
        #: Of all who have no session: another user of this machine could use up the browser's.
        self._strangers = RateLimit(clock)

    async def _require_welcome(self, scope: "Scope", headers: dict[bytes, bytes], receive: "Receive") -> bytes:
        if b"sec-purpose" in headers or b"purpose" in headers:
            raise UnwelcomeRequest(403, "prefetch", "nothing is fetched beforehand")
        is_holder = self._is_holder(scope)
        self._require_permit(scope, self._allowance if is_holder else self._strangers)
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

    async def _refuse(self, send: "Send", unwelcome: UnwelcomeRequest) -> None:
        html = render_page("refusal.html", message=unwelcome.message, hint=unwelcome.hint, is_stranger=True)
        own_headers = ((name.lower().encode(), value.encode()) for name, value in HEADERS.items())
        await send_refusal(send, unwelcome.status, html, ((b"content-type", b"text/html; charset=utf-8"), *own_headers))

    def _is_holder(self, scope: "Scope") -> bool:
        cookies = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
        return self._session.is_holder(";".join(cookies))


async def _require_body(scope: "Scope", receive: "Receive", headers: dict[bytes, bytes]) -> bytes:
    """Return the body: a browser's report, a form's fields, or none."""
    if scope["method"] == "GET":
        if declared_size(headers):
            raise UnwelcomeRequest(400, "usage", "a GET has no body")
        return b""
    path, kind = scope["path"], headers.get(b"content-type", b"").partition(b";")[0]
    if path == REPORT_PATH and kind in _REPORT_TYPES:
        return await read_body(receive, declared_size(headers, most=_MOST_REPORT_BYTES))
    if not path.startswith((FORM_PATH, PROOF_PATH)) or kind != _FORM_TYPE:
        raise UnwelcomeRequest(405, "method", "nothing is sent to that address", hint="use the page's own buttons")
    # a browser says of every form whose page has it, and what it says was compared before
    if b"origin" not in headers or headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin":
        raise UnwelcomeRequest(403, "origin", "the form isn't this page's own", hint="use the page's own buttons")
    return await read_body(receive, declared_size(headers))
