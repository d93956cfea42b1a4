"""What later releases of Python don't load either: half of what the standard library costs a hook.

`datetime` was a module in Python until 3.12, run as a whole before the one in C replaces it. `pathlib` loaded
`urllib.parse`, and that `ipaddress`, until 3.13: for URLs of files, which few processes ask for. Only for
processes of roamkb's own: another program's modules aren't ours to choose.
"""

import sys

from roamkb import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Types of modules, which need no import.
_Module = type(sys)
#: What stands in a URL as it is, as in the paths of most databases.
_PLAIN_BYTES = b"/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~"


def load_lightly() -> None:
    """Load `datetime` and `pathlib` without what is never used of them."""
    if sys.version_info < (3, 12) and "datetime" not in sys.modules:
        try:
            sys.modules["datetime"] = __import__("_datetime")
        except ImportError:
            # a Python without modules in C
            return
    if sys.version_info < (3, 13) and not {"pathlib", "urllib.parse"} & sys.modules.keys():
        stand_in = _Module("urllib.parse")
        vars(stand_in)["quote_from_bytes"] = _quote_from_bytes
        sys.modules["urllib.parse"] = stand_in
        try:
            __import__("pathlib")
        finally:
            del sys.modules["urllib.parse"]


def file_uri(path: "Path") -> str:
    """Return `path.as_uri()`, which Python loads `urllib.parse` for, whatever there is to quote."""
    name = str(path)
    return path.as_uri() if name.encode("utf-8", "replace").translate(None, _PLAIN_BYTES) else f"file://{name}"


def _quote_from_bytes(path: bytes, safe: str = "/") -> str:
    from urllib.parse import quote_from_bytes

    return quote_from_bytes(path, safe)
