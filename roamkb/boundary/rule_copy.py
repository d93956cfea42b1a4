"""A user's own copy of the rule: its text, and a mark that tells whether they edited it."""

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily

_COPY_MARK = lazily(rb"\r?\n<!-- roamkb: own copy, kept by roamkb install, sha256 ([0-9a-f]{64}) -->\r?\n")


@dataclass(frozen=True, slots=True)
class RuleCopy:
    """A copy of the rule that `install` wrote for this user."""

    text: bytes
    #: Whether the text is still as roamkb wrote it.
    pristine: bool


def parse_own_copy(data: bytes) -> RuleCopy | None:
    """Return the copy without its mark; None without a mark, which means a file of somebody else."""
    mark = _COPY_MARK.search(data)
    if mark is None:
        return None
    text = data[: mark.start()] + data[mark.end() :]
    return RuleCopy(text, pristine=_text_digest(text) == mark[1])


def render_own_copy(copy: RuleCopy) -> bytes:
    """Return the copy with its mark; one that the user edited keeps a mark that says so."""
    digest = _text_digest(copy.text) if copy.pristine else b"0" * 64
    return copy.text + b"\n<!-- roamkb: own copy, kept by roamkb install, sha256 " + digest + b" -->\n"


def _text_digest(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode()
