"""Credentials in text: found by their form or by their place, named, never shown.

A form is what an issuer gives to what it hands out (`secrets/issued_formats.py`); a place is a name, an
option, a header or a URL (`secrets/contexts.py`), and how random a value is decides there. What is certain is
refused; what is likely is worth a warning, and a random word by itself no more than that, since ordinary
notes are full of digests (docs/architecture.md).
"""

import re
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import cleaned
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.secrets.contexts import given
from roamkb.secrets.issued_formats import issued
from roamkb.secrets.randomness import compiled
from roamkb.secrets.randomness import is_filled_in
from roamkb.secrets.randomness import is_random

#: Longest redacted line; a title's worth.
_FACT_WIDTH = 120
#: How much of a text that line is made from.
_READ = 1_000


class Secret:
    """Where a credential stands, what it is, and its first four characters."""

    # no dataclass, since hooks import this: their module takes as long as Python to start
    __slots__ = ("is_certain", "is_named", "kind", "span", "start")

    def __init__(
        self, span: tuple[int, int], kind: str, start: str, *, is_named: bool = False, is_certain: bool = True
    ) -> None:
        self.span = span
        self.kind = kind
        self.start = start
        #: Whether only the name before it says so: it may stand elsewhere without.
        self.is_named = is_named
        self.is_certain = is_certain


#: What `masked` and `withheld` leave in place of a credential.
SECRET_MARK = lazily(
    r"\[(?:[A-Za-z0-9.][A-Za-z0-9. ]{0,24} )?"
    r"(?:key|token|secret|password|webhook|hash|login|signature|value|authorization)\]"
)


def find_secret(text: str) -> Secret | None:
    """Return the first credential in `text`, also where invisible characters part it."""
    if found := _certain(text):
        return found[0]
    less = cleaned(text)
    return next(iter(_certain(less)), None) if less != text else None


def refuse_secrets(told: object) -> None:
    """Raise `SecretFound` for the first credential in any text of `told`, however deep it lies.

    What every door calls before it does anything, and every append before it writes anything.
    """
    from roamkb.core.errors import SecretFound

    left = [told]
    while left:
        one = left.pop()
        if isinstance(one, str):
            if secret := find_secret(one):
                raise SecretFound(secret.kind, secret.start)
        elif isinstance(one, Mapping):
            left += [*one.values(), *one]
        elif isinstance(one, Collection):
            left += one


def _certain(text: str) -> list[Secret]:
    return [one for one in _secrets(text) if one.is_certain]


def _secrets(text: str) -> list[Secret]:
    """Return what is certain or likely, in order."""
    return _apart(_found(text))


def _apart(found: Iterable[Secret]) -> list[Secret]:
    """Return `found` in order; of two that overlap the certain one, or the first."""
    kept: list[Secret] = []
    for one in sorted(found, key=lambda one: (one.span[0], not one.is_certain, -one.span[1])):
        while kept and one.span[0] < kept[-1].span[1] and one.is_certain and not kept[-1].is_certain:
            kept.pop()
        if not kept or one.span[0] >= kept[-1].span[1]:
            kept.append(one)
    return kept


#: What follows the beginning of a private key and belongs to it.
_KEY_BODY = (
    r"[A-Za-z0-9+/=]*(?:[A-Z ]{0,20}-----)?(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,})*"
    r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{0,76}(?:\s|\\[nr])*-----END [A-Z0-9 ]{0,40}-----)?"
)


def _found(text: str) -> Iterator[Secret]:
    for form in issued(text):
        if not is_filled_in(form.body):
            start, end = form.span
            if form.kind == "private key" and (body := compiled(_KEY_BODY).match(text, end)):
                end = body.end()
            yield Secret((start, end), form.kind, text[start : start + 4])
    for one in given(text):
        if one.is_likely or one.is_certain:
            start, end = one.span
            # four letters of a short password are half of it
            shown_first = min(4, (end - start) // 4)
            first = text[start : start + shown_first]
            yield Secret(one.span, one.kind, first, is_named=one.is_named, is_certain=one.is_certain)


def masked(text: str) -> str:
    """Return `text` with each certain credential replaced by its kind."""
    return _replaced(text, _certain(text))


def _replaced(text: str, secrets: list[Secret]) -> str:
    pieces, at = [], 0
    for secret in secrets:
        pieces += [text[at : secret.span[0]], f"[{secret.kind}]"]
        at = secret.span[1]
    return "".join([*pieces, text[at:]])


def _without_forms(text: str) -> str:
    """Return `text` without what has the form of a credential, a document's example or not."""
    forms = [Secret(one.span, one.kind, "") for one in issued(text)]
    return _replaced(text, _apart(forms))


def names_a_secret(text: str) -> bool:
    """Say whether `text` reads like "the password is hunter2": a warning, since prose can't be sure."""
    return any(one.is_named for one in _secrets(text))


def withheld(text: str) -> str:
    """Return `text` masked, and without what it calls a password or a token, wherever that stands.

    For records that nobody misses: ordinary prose loses a word now and then.
    """
    found = _secrets(text)
    said = {text[slice(*one.span)].rstrip(".,;)") for one in found if one.is_named}
    text = _replaced(text, [Secret(one.span, "secret", "") if one.is_named else one for one in found])
    # the longest first: one may begin with another
    for value in sorted(said, key=len, reverse=True):
        if len(value) > 3 and not SECRET_MARK.match(value):
            text = text.replace(value, "[secret]")
    return text


_WORD = r"(?<![A-Za-z0-9+/_=.:-])[A-Za-z0-9+_=-][A-Za-z0-9+/_=-]{19,4095}(?![A-Za-z0-9+/_=])"
#: What stands before a digest, a public key, a picture, or a login that is read elsewhere.
_PUBLIC = (
    r"(?i)(?:sha\d{1,3}[-:]|h1:|md5[-:]|ssh-\w+\s|ecdsa-[\w-]+\s|base64,|public\W{0,3}key\W{0,4}|basic )$"
)
#: Digests, ids and dates, which may be part of a name.
_NUMBERED = (
    r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|(?<!\d)\d{4}[-_]?\d\d[-_]?\d\d(?!\d)"
)


def has_high_entropy(text: str) -> bool:
    """Say whether some word of `text` looks random: a warning, never a refusal."""
    for word in compiled(_WORD).finditer(text):
        said = compiled(_NUMBERED).sub("", word[0]).strip("=-_/")
        is_public = said.startswith("AAAA") or compiled(_PUBLIC).search(
            text[max(word.start() - 20, 0) : word.start()]
        )
        if not is_public and is_random(said):
            return True
    return False


#: In this order: each later pattern meets what the earlier ones left. Compiled when they are used: a hook
#: that masks what it records needs none of them.
_PRIVATE: tuple[tuple[str, str], ...] = (
    (
        r"\1 [secret]",
        (
            r"(?i)(?<![\w/.-])(pass(?:word|wd|phrase|code)?|pin|token|secret|credentials?|api[ _-]?key)\b"
            r"(?:\s+(?:is|was|to|uses?)\b|\s*[:=])*\s*[\"'`]?[^\s\"'`\[\]]+"
        ),
    ),
    ("[url]", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://|\\\\)\S+"),
    ("[address]", r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)*"),
    ("[address]", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"),
    ("[address]", r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\w:])"),
    (
        "[path]",
        r"(?:~|\.{1,2})?(?<![\w])(?:/[^\s/:;,\"'`)\]]+){1,}/?|~[/\\]\S*|[A-Za-z]:\\\S+|\\\\\S+",
    ),
    ("[path]", r"\b[\w.-]+(?:/[\w.@-]+)+/?"),
    ("[host]", r"(?<![\w.-])(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]+(?::\d+)?\b"),
    ("[host]", r"\b(?:localhost|[A-Za-z][\w-]*):\d{2,5}\b|\blocalhost\b"),
    ("[host]", r"\b[A-Za-z]+(?:-[A-Za-z0-9]+)*-\d+[a-z]?\b|\b[A-Za-z]{2,}-[A-Za-z]+\d+\b"),
)


def redacted(fact: str) -> str:
    """Return one line that names `fact` without credentials, addresses, hosts and paths."""
    # what is invisible may part a credential, and line ends may; a placeholder may be none
    # what comes later isn't shown, and some of the expressions take their time
    line = _without_forms(masked(shown(_without_forms(masked(cleaned(fact)[: _READ * 8])))))
    line = line if len(line) <= _READ else line[:_READ].rpartition(" ")[0]
    for name, pattern in _PRIVATE:
        line = re.sub(pattern, name, line)
    return clipped(line, _FACT_WIDTH)
