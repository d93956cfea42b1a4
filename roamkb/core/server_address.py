"""Addresses of servers, parsed so that no two readers can take one for different machines."""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import strip_hidden

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST_NAME: Final = lazily(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
#: Paths and queries of interfaces: nothing that needs an escape.
_PATH: Final = lazily(r"[\w./~%:@+-]*", re.ASCII)
_QUERY: Final = lazily(r"[\w.=&%+-]*", re.ASCII)


class BadAddress(ValueError):
    """Text that is no address of a server; the message is a clause that gives the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Location of a server, and the path of its interface."""

    scheme: str
    #: In lower case, without the brackets of IPv6.
    host: str
    port: int
    #: Without a slash at its end.
    path: str = ""
    query: str = ""

    @property
    def origin_url(self) -> str:
        """The server alone, always with its port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether nothing that is sent there leaves the machine."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(text: str) -> ServerAddress:
    """Parse the address in `text`, or raise `BadAddress`."""
    # urlsplit drops line ends and tabs without a word
    if strip_hidden(text) != text or any(map(str.isspace, text)):
        raise BadAddress("holds a blank or an invisible character")
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        raise BadAddress(f"can't be read: {error}") from error
    if parts.scheme not in _DEFAULT_PORTS:
        raise BadAddress("begins with neither https:// nor http://")
    if "@" in parts.netloc:
        raise BadAddress("holds a login; a key is read from the environment alone")
    if not (_HOST_NAME.fullmatch(host) or _is_ipv6(host)):
        raise BadAddress("names no host" if not host else "names a host with a letter that no host has")
    if not _PATH.fullmatch(parts.path) or not _QUERY.fullmatch(parts.query):
        raise BadAddress("has a path with a letter that must be escaped")
    return ServerAddress(
        scheme=parts.scheme,
        host=host,
        port=_DEFAULT_PORTS[parts.scheme] if port is None else port,
        path=parts.path.rstrip("/"),
        query=parts.query,
    )


def _is_ipv6(host: str) -> bool:
    try:
        return ip_address(host).version == 6 and "%" not in host
    except ValueError:
        return False
