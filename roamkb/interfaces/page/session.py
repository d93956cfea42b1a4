"""The one session of the page: opened by a code that counts once, held by a cookie that ends with the server."""

import hmac
import secrets
from collections.abc import Callable
from typing import Final

#: Seconds in which the code opens the page: who starts a server opens it then.
CODE_SECONDS: Final = 600.0


class PageSession:
    """The code that opens the page, and the cookie that a browser gets for it.

    Every server on `localhost` is sent every cookie of that name, whatever its port; so the name has the port, and
    a cookie is no proof of a human: who holds it is judged as a command is.
    """

    def __init__(self, port: int, clock: Callable[[], float]) -> None:
        """Take the server's port, and a clock that never goes back, in seconds."""
        self._clock = clock
        self._until = clock() + CODE_SECONDS
        self._cookie = ""
        self._is_entered = False
        self._cookie_name = f"roamkb-page-{port}"
        #: 256 bits, as the cookie.
        self.code = secrets.token_urlsafe(32)

    def enter(self, code: str) -> str | None:
        """Return the `Set-Cookie` value for the first who shows the code in time, else None.

        A second showing ends the session: one of the two isn't who was meant.
        """
        if not hmac.compare_digest(code.encode(), self.code.encode()):
            return None
        if self._is_entered or self._clock() > self._until:
            self._cookie = ""
            return None
        self._is_entered = True
        self._cookie = secrets.token_urlsafe(32)
        return f"{self._cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"

    def is_holder(self, cookies: str) -> bool:
        """Say whether a `Cookie` header holds the session's cookie."""
        if not self._cookie:
            return False
        pairs = (pair.strip().partition("=") for pair in cookies.split(";"))
        # several of one name come where another server of this machine set one, too
        given = [value for name, _, value in pairs if name == self._cookie_name]
        return any(hmac.compare_digest(value.encode("latin-1", "replace"), self._cookie.encode()) for value in given)
