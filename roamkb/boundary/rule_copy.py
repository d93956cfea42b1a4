"""A user's own copy of the rule: its text, and a mark that tells whether they edited it."""

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily

_MARK = lazily(rb"\r?\n<!-- roamkb: own copy, kept by roamkb install, sha256 ([0-9a-f]{64}) -->\r?\n")


@dataclass(frozen=True, slots=True)
class RuleCopy:
    """A copy that `install` wrote for this user."""

    text: bytes
    #: Whether the text is still as roamkb wrote it.
    pristine: bool


def parse_own_copy(data: bytes) -> RuleCopy | None:
    """Return the copy without its mark, or None where there is no mark: then it's somebody else's."""
    mark = _MARK.search(data)
    if mark is None:
        return None
    text = data[: mark.start()] + data[mark.end() :]
    return RuleCopy(text, pristine=_digest(text) == mark[1])


def render_own_copy(copy: RuleCopy) -> bytes:
    """Return the copy with its mark; one that the user edited keeps a mark that says so."""
    shown = _digest(copy.text) if copy.pristine else b"0" * 64
    return copy.text + b"\n<!-- roamkb: own copy, kept by roamkb install, sha256 " + shown + b" -->\n"


def _digest(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode()
