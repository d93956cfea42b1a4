"""A real server with its page, and clients of it: by HTTP, and a browser's tab."""

import http.client
import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from tests.conftest import World
from tests.interfaces.http.served import Answer
from tests.interfaces.http.served import Served
from tests.interfaces.http.served import serving


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """A server with a page."""

    served: Served

    @property
    def entrance(self) -> str:
        """The address that opens the page, once."""
        return str(self.served.greeting["page"])

    @property
    def base(self) -> str:
        """The page's address without a path."""
        return f"http://localhost:{self.served.port}"

    @property
    def reports(self) -> list[str]:
        """What browsers reported of pages that broke their policy."""
        return re.findall(r'^\{"csp_report".*', self.served.errors.read_text(), re.MULTILINE)

    def get(self, path: str, *, cookie: str = "", method: str = "GET", **headers: str | None) -> Answer:
        """Send one request as a browser would, but for the headers given; None leaves one out."""
        return self._send(method, path, b"", {"Cookie": cookie or None, **_header_names(headers)})

    def post(
        self,
        form: str,
        fields: Mapping[str, str] | bytes,
        *,
        cookie: str,
        under: str | None = None,
        **headers: str | None,
    ) -> Answer:
        """Send one form as the page's own would be sent, but for the headers given; None leaves one out."""
        body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
        own: dict[str, str | None] = {
            "Cookie": cookie or None,
            "Origin": self.base,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": str(len(body)),
        }
        return self._send("POST", f"{under or '/do/'}{form}", body, own | _header_names(headers))

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str | None]) -> Answer:
        told = {"Host": f"localhost:{self.served.port}", **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in told.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return Answer(status=answer.status, headers=dict(answer.getheaders()), body=answer.read())
        finally:
            connection.close()

    def enter(self) -> str:
        """Open the page, and return the cookie."""
        answer = self.get(self.entrance.removeprefix(self.base))
        assert (303, "/") == (answer.status, answer.headers["location"])
        return answer.headers["set-cookie"].partition(";")[0]


def _header_names(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def paging(
    world: World,
    folder: Path | None = None,
    *words: str,
    extra: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
) -> Iterator[Paged]:
    """Run `roamkb serve --page` in a project until the block ends."""
    with serving(world, folder, "--page", *words, extra=extra, command=command) as served:
        yield Paged(served=served)
