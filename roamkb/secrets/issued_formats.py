"""Credentials with a form of their own, as their issuers give them out: `roamkb/data/secret_formats.tsv`.

No expression is compiled for any of them, since hooks have no time for hundreds: a form is found by one of
its literals, and the letters around that are counted.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

from roamkb.core.data_tables import rows

_ALPHABETS = {
    "digit": "[0-9]*",
    "hex": "[0-9a-f]*",
    "lower": "[0-9a-z]*",
    "upper": "[0-9A-Z]*",
    "base32": "[2-7A-Z]*",
    "alnum": "[0-9A-Za-z]*",
    "url": "[0-9A-Za-z_-]*",
    "base64": "[0-9A-Za-z+/]*",
    "dash": "[0-9A-Za-z-]*",
    "any": r"[^\s\"'`<>]*",
}


class LetterRun:
    """So many letters of one alphabet."""

    # no class here has fields by name alone: making one takes a hook as long as all of its work
    __slots__ = ("alphabet", "count", "is_open")

    def __init__(self, written: str) -> None:
        alphabet, _, count = written.partition(" ")
        self.alphabet = _alphabet(alphabet)
        self.count = int(count.rstrip("+"))
        #: Whether there may be more.
        self.is_open = count.endswith("+")


class CredentialForm:
    """One form of a kind of credentials."""

    __slots__ = ("before", "is_loose", "literal", "parts")

    def __init__(self, written: str) -> None:
        self.parts: list[str | LetterRun] = []
        for n, piece in enumerate(re.split("[{}]", written)):
            if piece:
                self.parts.append(LetterRun(piece) if n % 2 else piece)
        open_parts = [n for n, part in enumerate(self.parts) if isinstance(part, LetterRun) and part.is_open]
        #: Whether letters without end may follow one another twice.
        self.is_loose = len(open_parts) > 1
        # how far before it the form begins is known only where no part without an end stands there
        sure = self.parts[: open_parts[0]] if open_parts else self.parts
        #: What a text is searched for, and how many characters of the form come before.
        self.literal = max((part for part in sure if isinstance(part, str)), key=len)
        before = self.parts[: self.parts.index(self.literal)]
        self.before = sum(len(part) if isinstance(part, str) else part.count for part in before)


class IssuedCredential:
    """A credential that has the form of a kind."""

    __slots__ = ("body", "kind", "span")

    def __init__(self, kind: str, span: tuple[int, int], body: str) -> None:
        self.kind = kind
        self.span = span
        #: What the issuer made up: all but the literals; empty where the form is a literal alone.
        self.body = body


@lru_cache(maxsize=1)
def _written() -> tuple[tuple[str, str, str], ...]:
    """Return of each form a literal that no credential is without, the kind and the form as it is written."""
    found = []
    for kind, forms, _source in rows("secret_formats.tsv"):
        for form in forms.split("|"):
            start = form.partition("{")[0]
            # the table's few that begin with letters are read for it
            found.append((start if len(start) > 1 else _form(form).literal, kind, form))
    return tuple(found)


@lru_cache(maxsize=512)
def _form(written: str) -> CredentialForm:
    return CredentialForm(written)


@lru_cache(maxsize=len(_ALPHABETS))
def _alphabet(name: str) -> re.Pattern[str]:
    return re.compile(_ALPHABETS[name])


def issued(text: str) -> Iterator[IssuedCredential]:
    """Yield what in `text` has the form of a credential, in no order; forms may overlap."""
    for mark, kind, written in _written():
        if mark not in text:
            continue
        form = _form(written)
        at = text.find(form.literal)
        while at != -1:
            start = at - form.before
            one = _met(kind, form, text, start) if start >= 0 else None
            if one is not None:
                yield one
            at = text.find(form.literal, at + 1 if one is None else one.span[1])


def _met(kind: str, form: CredentialForm, text: str, start: int) -> IssuedCredential | None:
    """Return the credential of that form at `start`."""
    if _is_inside(form, text, start):
        return None
    at, body = start, []
    for part in form.parts:
        if isinstance(part, str):
            if not text.startswith(part, at):
                return None
            at += len(part)
            continue
        # one more than wanted says that there are too many
        end = len(text) if part.is_open else at + part.count + 1
        run = cast(re.Match[str], part.alphabet.match(text, at, end)).end() - at
        if run < part.count:
            return None
        taken = run if part.is_open else part.count
        if (
            part is form.parts[-1]
            and not part.is_open
            and (run > taken or text[at + taken : at + taken + 1].isalnum())
        ):
            return None
        body.append(text[at : at + taken])
        at += taken
    return IssuedCredential(kind, (start, at), "".join(body))


def _is_inside(form: CredentialForm, text: str, start: int) -> bool:
    """Say whether a longer word holds what begins at `start`."""
    before = text[max(start - 1, 0) : start]
    if form.is_loose and before in ("-", "_"):
        # each of a row of beginnings would be read to the end of them all
        return True
    first = form.parts[0]
    begins_word = not isinstance(first, str) or first[0].isalnum()
    return begins_word and before.isascii() and before.isalnum()
