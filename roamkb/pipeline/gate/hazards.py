"""Hazards that only a human may let pass, in any language: addresses, credential places, privileges.

Whoever plants an instruction wants something done, and that has to name where to, with what, or past which
guard. Those names are the same in every language; the sentence around them is not looked at, but for whether
it tells to act, where it names a credential's place alone.
"""

import re
from collections.abc import Callable
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.core.text import strip_hidden
from roamkb.text.tokenize import UNSPACED
from roamkb.text.unsafe_text import hazard_pattern

#: A page, a mail address or a machine that isn't this one.
_ADDRESS_PATTERN: Final = lazily(
    r"\b[a-z][a-z0-9+.-]{1,15}://(?P<host>[^\s/\"'<>)\]}`]+)"
    r"|(?<![\w.])[\w.+-]+@(?P<mail>[\w-]+(?:\.[\w-]+)+)"
    r"|(?<![\w.])(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?![\w.])",
    re.IGNORECASE,
)
_LOCAL_HOST: Final = lazily(
    r"(?:localhost|127\.|0\.0\.0\.0|\[?::1|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)"
    r"|(?:[\w-]+\.)*(?:example|test|invalid|local|internal|localhost)(?:\.(?:com|org|net))?(?::\d+)?\Z",
    re.IGNORECASE,
)
_FOLDER_PATTERN: Final = lazily(r"(?::\d+)?[:/]+(?P<name>[\w~%+-]+(?:\.[\w~%+-]+)*)")
#: The scripts that the lexicon's languages are written in: Latin, Cyrillic, kana, Han and Hangul.
_SCRIPTS: Final = lazily("[a-z\u00df-\u024f\u0400-\u04ff\u3005-\u3007\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_CREDENTIALS: Final = lazily(hazard_pattern("credential"))
_PRIVILEGES: Final = lazily(hazard_pattern("privilege", "unsafe"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAddress:
    """An address in a claim: its host, and the mailbox or folder that says whose it is."""

    text: str
    #: Without a port; of a mail address what stands behind the @.
    host: str
    #: What stands before the @ of a mail address, or of a repository's; else empty.
    mailbox: str = ""
    #: The first part of its path: on some hosts everybody has one.
    folder: str = ""

    def is_named_in(self, text: str) -> bool:
        """Say whether a text has the same address: its host alone, or with the same folder.

        A host that stands behind an @ is nobody's own: of a mail address all of it must be there.
        """
        return self.host.casefold() in text.casefold() and self._address_pattern.search(text) is not None

    @property
    def _address_pattern(self) -> re.Pattern[str]:
        host, folder = re.escape(self.host), re.escape(self.folder)
        begin = rf"(?<![\w.+-]){re.escape(self.mailbox)}@" if self.mailbox else r"(?<![\w@-])(?<!\w\.)"
        bare = r"(?![\w-]|\.\w|:\d|/+[\w.~%+-]|:[a-z])"
        ends = [bare, rf"[:/]+{folder}(?![\w~%+-]|\.\w)"] if folder else [bare]
        return re.compile(rf"{begin}{host}(?::\d+)?(?:{'|'.join(ends)})", re.IGNORECASE)


def hazard_of(claim: str, *, acts: Sequence[str] = (), is_own: Callable[[NamedAddress], bool] = lambda _: False) -> str:
    """Return the hazard that a human has to approve; empty where the claim names none.

    `acts` are beginnings of words that tell to act; without them every claim is taken for telling so. An
    address that `is_own` to the project is none by itself.
    """
    text = " ".join(strip_hidden(claim).split())
    if privilege := _PRIVILEGES.search(text):
        return f"it names a privilege: “{privilege.group()[:60]}”"
    addresses = [
        _parse_address(candidate)
        for candidate in _ADDRESS_PATTERN.finditer(text)
        if not _LOCAL_HOST.match(_matched_host(candidate))
    ]
    if foreign_address := next((candidate for candidate in addresses if not is_own(candidate)), None):
        return f"it names an address: {foreign_address.text}"
    credential = _CREDENTIALS.search(text)
    if credential and (addresses or _tells_to_act(text, acts)):
        return f"it names where a credential is: {credential.group()[:60]}"
    return ""


def _matched_host(matched: re.Match[str]) -> str:
    host = matched["host"] or matched["mail"] or matched["ip"]
    return host.rpartition("@")[2].rstrip(".,;:")


def _parse_address(matched: re.Match[str]) -> NamedAddress:
    folder = _FOLDER_PATTERN.match(matched.string, matched.end())
    return NamedAddress(
        text=matched.group()[:60],
        host=re.sub(r":\d*\Z", "", _matched_host(matched)),
        mailbox=matched.group().rpartition("@")[0] if matched["mail"] else "",
        folder=folder["name"].removesuffix(".git") if folder else "",
    )


def _tells_to_act(text: str, acts: Sequence[str]) -> bool:
    """Say whether a text may tell its reader to act; in a script without a word list it may."""
    plain = fold_text(text)
    words = re.findall(r"[^\W\d_]+", plain)
    if any(_SCRIPTS.match(word) is None for word in words):
        return True
    # Chinese, Japanese and Korean put no blank before a verb
    return not acts or any(
        act in plain if UNSPACED.match(act) else any(word.startswith(act) for word in words) for act in acts
    )
