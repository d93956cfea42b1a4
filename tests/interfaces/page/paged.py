"""A real server with its page, and clients of it: by HTTP, and a browser's tab."""

import http.client
import re
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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
        told: dict[str, str | None] = {"Host": f"localhost:{self.served.port}", "Cookie": cookie or None}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in told.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return Answer(status=answer.status, headers=dict(answer.getheaders()), body=answer.read())
        finally:
            connection.close()

    def enter(self) -> str:
        """Open the page, and return the cookie."""
        answer = self.get(self.entrance.removeprefix(self.base))
        assert (303, "/") == (answer.status, answer.headers["location"])
        return answer.headers["set-cookie"].partition(";")[0]


@contextmanager
def paging(
    world: World, folder: Path | None = None, *words: str, extra: Mapping[str, str] | None = None
) -> Iterator[Paged]:
    """Run `roamkb serve --page` in a project until the block ends."""
    with serving(world, folder, "--page", *words, extra=extra) as served:
        yield Paged(served=served)
