"""What of a claim only a human may let pass, in any language: addresses, places of credentials, privileges.

Whoever plants an instruction wants something done, and that has to name where to, with what, or past which
guard. Those names are the same in every language; the sentence around them is not looked at, but for whether
it tells to act, where it names a credential's place alone.
"""

import re
from collections.abc import Sequence
from typing import Final

from roamkb.core.text import cleaned
from roamkb.core.text import folded
from roamkb.core.tokens import UNSPACED

#: A page, a mail address or a machine that isn't this one.
_ADDRESS: Final = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,15}://(?P<host>[^\s/\"'<>)\]}`]+)"
    r"|(?<![\w.])[\w.+-]+@(?P<mail>[\w-]+(?:\.[\w-]+)+)"
    r"|(?<![\w.])(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?![\w.])",
    re.IGNORECASE,
)
_LOCAL: Final = re.compile(
    r"(?:localhost|127\.|0\.0\.0\.0|\[?::1|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)"
    r"|(?:[\w-]+\.)*(?:example|test|invalid|local|internal|localhost)(?:\.(?:com|org|net))?(?::\d+)?\Z",
    re.IGNORECASE,
)
_CREDENTIALS: Final = re.compile(
    r"~?/?\.(?:ssh|aws|gnupg|kube|docker|netrc|pgpass|npmrc|pypirc|git-credentials|env)\b(?![-\w])"
    r"|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\bauthorized_keys\b|/etc/(?:shadow|sudoers)\b|\bcredentials?\.\w+"
    r"|\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:TOKEN|SECRET|PASSWORD|PASSWD|KEY|CREDENTIALS?)\b",
)
#: The scripts that the lexicon's languages are written in: Latin, Cyrillic, kana, Han and Hangul.
_SCRIPTS: Final = re.compile(
    "[a-z\u00df-\u024f\u0400-\u04ff\u3005-\u3007\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
)
_PRIVILEGES: Final = re.compile(
    r"\bsudo\b|\bchmod\s+(?:-\w+\s+)*(?:0?[0-7]?[0-7]?7[0-7]?7|\S*\+\S*s)\b|\bNOPASSWD\b|\bset[ug]id\b"
    r"|--(?:privileged|dangerously[\w-]*|yolo|no-verify|insecure|no-sandbox|skip-permissions|no-check-certificate"
    r"|trusted-host|allow-root|full-auto)\b|\b(?:bypassPermissions|dangerouslyDisableSandbox|allow-all)\b"
    r"|StrictHostKeyChecking[ =]+no\b|\bverify\s*=\s*False\b|NODE_TLS_REJECT_UNAUTHORIZED|GIT_SSL_NO_VERIFY"
    r"|\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\brm\s+-\w*[rf]\w*\s+[/~]|\beval\s+\"?\$\(",
)


def hazard_of(claim: str, *, acts: Sequence[str] = ()) -> str:
    """Return what a human has to say yes to; empty where the claim names nothing of the kind.

    `acts` are beginnings of words that tell to act; without them every claim is taken for telling so.
    """
    text = " ".join(cleaned(claim).split())
    if found := _PRIVILEGES.search(text):
        return f"it names a privilege: “{found.group()[:60]}”"
    addresses = [one for one in _ADDRESS.finditer(text) if not _LOCAL.match(_host(one))]
    if addresses:
        return f"it names an address: {addresses[0].group()[:60]}"
    credential = _CREDENTIALS.search(text)
    if credential and _tells_to_act(text, acts):
        return f"it names where a credential is: {credential.group()[:60]}"
    return ""


def _host(found: re.Match[str]) -> str:
    host = found["host"] or found["mail"] or found["ip"]
    return host.rpartition("@")[2].rstrip(".,;:")


def _tells_to_act(text: str, acts: Sequence[str]) -> bool:
    """Say whether a text may tell its reader to do something: in a script that no list is in, it may."""
    plain = folded(text)
    words = re.findall(r"[^\W\d_]+", plain)
    if any(_SCRIPTS.match(word) is None for word in words):
        return True
    # Chinese, Japanese and Korean put no blank before a verb
    return not acts or any(
        act in plain if UNSPACED.match(act) else any(word.startswith(act) for word in words) for act in acts
    )
