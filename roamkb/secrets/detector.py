"""Detection of credentials in text, by their form or by their place; they are named, never shown.

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

from roamkb.core import errors
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden
from roamkb.secrets.contexts import PlaceRow
from roamkb.secrets.contexts import credential_values
from roamkb.secrets.contexts import places_in
from roamkb.secrets.issued_formats import FormRow
from roamkb.secrets.issued_formats import find_issued
from roamkb.secrets.issued_formats import forms_in
from roamkb.secrets.randomness import compile_cached
from roamkb.secrets.randomness import is_filled_in
from roamkb.secrets.randomness import is_random

#: Longest redacted line; a title's worth.
_FACT_WIDTH = 120
#: How much of a text that line is made from.
_READ = 1_000


class Secret:
    """A credential: its span, its kind and its first characters."""

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


#: What `mask_secrets` and `withhold_secrets` leave in place of a credential.
SECRET_MARK = lazily(
    r"\[(?:[A-Za-z0-9.][A-Za-z0-9. ]{0,24} )?"
    r"(?:key|token|secret|password|webhook|hash|login|signature|value|authorization)\]"
)


#: What some texts may hold, of all forms and places.
_Rows = tuple[tuple[FormRow, ...] | None, tuple[PlaceRow, ...] | None]
_ALL_ROWS: _Rows = (None, None)


def find_secret(text: str) -> Secret | None:
    """Return the first credential in `text`, also where invisible characters split it."""
    return find_secrets((text,)).get(text)


def find_secrets(texts: Iterable[str]) -> dict[str, Secret]:
    """Return the first credential of each text that has one, as `find_secret` would.

    Many texts take a third of the time: what no credential is without is looked for in all of them at once.
    """
    cleaned_texts = {text: strip_hidden(text) for text in texts}
    # no mark holds a line end, so that what isn't in here is in none of them
    joined = "\n".join({*cleaned_texts, *cleaned_texts.values()})
    rows = tuple(forms_in(joined)), tuple(places_in(joined))
    found = {}
    for text, cleaned_text in cleaned_texts.items():
        certain = _certain_secrets(text, rows)
        if not certain and cleaned_text != text:
            certain = _certain_secrets(cleaned_text, rows)
        if certain:
            found[text] = certain[0]
    return found


def refuse_secrets(texts: object) -> None:
    """Raise `SecretFound` for the first credential in any text of `texts`, however deeply nested.

    What every door calls before it does anything, and every append before it writes anything.
    """
    for secret in find_secrets(texts_within(texts)).values():
        raise errors.SecretFound(secret.kind, secret.start)


def texts_within(texts: object) -> list[str]:
    """Return the texts that a value holds, however deeply nested."""
    pending, found = [texts], []
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, Mapping):
            pending += [*item.values(), *item]
        elif isinstance(item, Collection):
            pending += item
    return found


def _certain_secrets(text: str, rows: _Rows = _ALL_ROWS) -> list[Secret]:
    return [secret for secret in _all_secrets(text, rows) if secret.is_certain]


def _all_secrets(text: str, rows: _Rows = _ALL_ROWS) -> list[Secret]:
    """Return the certain and the likely credentials, in order."""
    return _without_overlaps(_secret_candidates(text, rows))


def _without_overlaps(secrets: Iterable[Secret]) -> list[Secret]:
    """Return the secrets in order; of two that overlap the certain one, or the first."""
    apart: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.span[0], not secret.is_certain, -secret.span[1])):
        while apart and secret.span[0] < apart[-1].span[1] and secret.is_certain and not apart[-1].is_certain:
            apart.pop()
        if not apart or secret.span[0] >= apart[-1].span[1]:
            apart.append(secret)
    return apart


#: What follows the beginning of a private key and belongs to it.
_KEY_BODY = (
    r"[A-Za-z0-9+/=]*(?:[A-Z ]{0,20}-----)?(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,})*"
    r"(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{0,76}(?:\s|\\[nr])*-----END [A-Z0-9 ]{0,40}-----)?"
)


def _secret_candidates(text: str, rows: _Rows) -> Iterator[Secret]:
    forms, places = rows
    for form in find_issued(text, forms):
        if not is_filled_in(form.body):
            start, end = form.span
            if form.kind == "private key" and (body := compile_cached(_KEY_BODY).match(text, end)):
                end = body.end()
            yield Secret((start, end), form.kind, text[start : start + 4])
    for value in credential_values(text, places):
        if value.is_likely or value.is_certain:
            start, end = value.span
            # four letters of a short password are half of it
            shown_first = min(4, (end - start) // 4)
            prefix = text[start : start + shown_first]
            yield Secret(value.span, value.kind, prefix, is_named=value.is_named, is_certain=value.is_certain)


def mask_secrets(text: str) -> str:
    """Return `text` with each certain credential replaced by its kind."""
    return _replace_secrets(text, _certain_secrets(text))


def _replace_secrets(text: str, secrets: list[Secret]) -> str:
    pieces, position = [], 0
    for secret in secrets:
        pieces += [text[position : secret.span[0]], f"[{secret.kind}]"]
        position = secret.span[1]
    return "".join([*pieces, text[position:]])


def _without_forms(text: str) -> str:
    """Return `text` without anything that has the form of a credential, examples included."""
    forms = [Secret(credential.span, credential.kind, "") for credential in find_issued(text)]
    return _replace_secrets(text, _without_overlaps(forms))


def names_a_secret(text: str) -> bool:
    """Say whether `text` reads like "the password is hunter2": a warning, since prose can't be sure."""
    return any(secret.is_named for secret in _all_secrets(text))


def withhold_secrets(text: str) -> str:
    """Return `text` masked, and without the values that it calls passwords or tokens.

    For records that nobody misses: ordinary prose loses a word now and then.
    """
    secrets = _all_secrets(text)
    named_values = {text[slice(*secret.span)].rstrip(".,;)") for secret in secrets if secret.is_named}
    text = _replace_secrets(
        text, [Secret(secret.span, "secret", "") if secret.is_named else secret for secret in secrets]
    )
    # the longest first: one may begin with another
    for value in sorted(named_values, key=len, reverse=True):
        if len(value) > 3 and not SECRET_MARK.match(value):
            text = text.replace(value, "[secret]")
    return text


_WORD = r"(?<![A-Za-z0-9+/_=.:-])[A-Za-z0-9+_=-][A-Za-z0-9+/_=-]{19,4095}(?![A-Za-z0-9+/_=])"
#: What stands before a digest, a public key, a picture, or a login that is read elsewhere.
_PUBLIC = r"(?i)(?:sha\d{1,3}[-:]|h1:|md5[-:]|ssh-\w+\s|ecdsa-[\w-]+\s|base64,|public\W{0,3}key\W{0,4}|basic )$"
#: Digests, ids and dates, which may be part of a name.
_NUMBERED = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|(?<!\d)\d{4}[-_]?\d\d[-_]?\d\d(?!\d)"


def has_high_entropy(text: str) -> bool:
    """Say whether some word of `text` looks random: a warning, never a refusal."""
    for word in compile_cached(_WORD).finditer(text):
        word_body = compile_cached(_NUMBERED).sub("", word[0]).strip("=-_/")
        is_public = word_body.startswith("AAAA") or compile_cached(_PUBLIC).search(
            text[max(word.start() - 20, 0) : word.start()]
        )
        if not is_public and is_random(word_body):
            return True
    return False


#: How hosts end whose last part is no name in code (`users.email`, `sqlite3.OperationalError`), nor a file's; and those
#: that are words as well, behind more than one part.
_HOST_ENDS = (
    "com|org|net|edu|gov|mil|io|dev|ai|eu|local|internal|intranet|lan|corp|localdomain|home|example|cloud|arpa|onion"
    "|ar|au|br|ca|ch|cl|cn|cz|de|dk|es|fi|fr|gr|hu|ie|il|jp|kr|lt|lu|lv|mx|nl|nz|pt|ro|ru|se|sg|sk|tr|tw|ua|uk|us|za"
    "|COM|ORG|NET|DE|EU|UK|FR|NL|CH|AT|LOCAL|INTERNAL|CORP|LAN"
)
_SHORT_HOST_ENDS = "app|at|be|co|in|info|is|it|me|no|pl|tech|test|to|xyz"

#: In this order: each later pattern meets what the earlier ones left. Compiled when they are used: a hook
#: that masks what it records needs none of them.
_PRIVATE: tuple[tuple[str, str], ...] = (
    (
        r"\1 [secret]",
        (
            # where in the sentence it stands nobody knows: `the password of the router is …`
            r"(?i)(?<![\w/.-])(pass(?:word|wd|phrase|code)?|pin|token|secret|credentials?|api[ _-]?key)\b(?!\])"
            r"(?:(?![.;!?](?:\s|\Z))[^\n])+[.;!?]?"
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
    (
        "[host]",
        rf"(?<![\w.-])(?:[A-Za-z0-9-]+\.)+(?:(?:{_HOST_ENDS})(?::\d+)?\b(?![.-]?\w)|[A-Za-z][\w-]*:\d{{2,5}}\b)",
    ),
    ("[host]", rf"(?<![\w.-])(?:[A-Za-z0-9-]+\.){{2,}}(?:{_SHORT_HOST_ENDS})\b(?![.-]?\w)"),
    ("[host]", r"\b(?:localhost|[A-Za-z][\w-]*):\d{2,5}\b|\blocalhost\b"),
    ("[host]", r"\b[A-Za-z]+(?:-[A-Za-z0-9]+)*-\d+[a-z]?\b|\b[A-Za-z]{2,}-[A-Za-z]+\d+\b"),
)


def redact_fact(fact: str) -> str:
    """Return `fact` on one line, without credentials, addresses, hosts and paths."""
    # what is invisible may part a credential, and line ends may; a placeholder may be none
    # what comes later isn't shown, and some of the expressions take their time
    line = _without_forms(mask_secrets(one_line(_without_forms(mask_secrets(strip_hidden(fact)[: _READ * 8])))))
    line = line if len(line) <= _READ else line[:_READ].rpartition(" ")[0]
    for name, pattern in _PRIVATE:
        line = re.sub(pattern, name, line)
    return clip_text(line, _FACT_WIDTH)
