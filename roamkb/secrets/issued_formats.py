"""Credentials with a form of their own, as issuers give them out: `data/secret_formats.tsv`.

No expression is compiled for any of them, since hooks have no time for hundreds: a form is found by one of
its literals, and the letters around that are counted.
"""

import re
from collections.abc import Iterable
from collections.abc import Iterator
from functools import lru_cache

from roamkb.core.data_tables import data_rows
from roamkb.core.startup.typing import cast

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
    """A run of letters of one alphabet, with its length."""

    # no class here has fields by name alone: making one takes a hook as long as all of its work
    __slots__ = ("alphabet", "count", "is_open")

    def __init__(self, written: str) -> None:
        alphabet, _, count = written.partition(" ")
        self.alphabet = _alphabet_pattern(alphabet)
        self.count = int(count.rstrip("+"))
        #: Whether there may be more.
        self.is_open = count.endswith("+")


class CredentialForm:
    """A form of one kind of credentials."""

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


#: A literal that every credential of a form holds, its kind, and the form as it is written.
FormRow = tuple[str, str, str]


@lru_cache(maxsize=1)
def _form_rows() -> tuple[FormRow, ...]:
    table_rows = []
    for kind, forms, _source in data_rows("secret_formats.tsv"):
        for form in forms.split("|"):
            start = form.partition("{")[0]
            # the table's few that begin with letters are read for it
            table_rows.append((start if len(start) > 1 else _parse_form(form).literal, kind, form))
    return tuple(table_rows)


@lru_cache(maxsize=512)
def _parse_form(written: str) -> CredentialForm:
    return CredentialForm(written)


@lru_cache(maxsize=len(_ALPHABETS))
def _alphabet_pattern(name: str) -> re.Pattern[str]:
    return re.compile(_ALPHABETS[name])


def forms_in(text: str, forms: Iterable[FormRow] | None = None) -> Iterator[FormRow]:
    """Yield those of the forms, of all if none are given, that may be found in `text` or in a part of it."""
    return (form for form in (_form_rows() if forms is None else forms) if form[0] in text)


def find_issued(text: str, forms: Iterable[FormRow] | None = None) -> Iterator[IssuedCredential]:
    """Yield the credentials in `text` by their forms, in no order; forms may overlap."""
    for _, kind, written in forms_in(text, forms):
        form = _parse_form(written)
        position = text.find(form.literal)
        while position != -1:
            start = position - form.before
            credential = _credential_at(kind, form, text, start) if start >= 0 else None
            if credential is not None:
                yield credential
            position = text.find(form.literal, position + 1 if credential is None else credential.span[1])


def _credential_at(kind: str, form: CredentialForm, text: str, start: int) -> IssuedCredential | None:
    """Return the credential of that form at `start`, if there is one."""
    if _is_inside(form, text, start):
        return None
    position, body = start, []
    for part in form.parts:
        if isinstance(part, str):
            if not text.startswith(part, position):
                return None
            position += len(part)
            continue
        # one more than wanted says that there are too many
        end = len(text) if part.is_open else position + part.count + 1
        run = cast(re.Match[str], part.alphabet.match(text, position, end)).end() - position
        if run < part.count:
            return None
        length = run if part.is_open else part.count
        if (
            part is form.parts[-1]
            and not part.is_open
            and (run > length or text[position + length : position + length + 1].isalnum())
        ):
            return None
        body.append(text[position : position + length])
        position += length
    return IssuedCredential(kind, (start, position), "".join(body))


def _is_inside(form: CredentialForm, text: str, start: int) -> bool:
    """Say whether the text at `start` is the middle of a longer word."""
    before = text[max(start - 1, 0) : start]
    if form.is_loose and before in ("-", "_"):
        # each of a row of beginnings would be read to the end of them all
        return True
    first = form.parts[0]
    begins_word = not isinstance(first, str) or first[0].isalnum()
    return begins_word and before.isascii() and before.isalnum()
