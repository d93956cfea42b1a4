"""Places for credentials: beside a name, in a URL, a header or an option."""

import re
from base64 import b64decode
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from functools import lru_cache
from functools import partial

from roamkb.core.data_tables import data_rows
from roamkb.core.startup.typing import Final
from roamkb.secrets import table_cells
from roamkb.secrets.randomness import NOTHING
from roamkb.secrets.randomness import PASSWORD
from roamkb.secrets.randomness import RANDOM
from roamkb.secrets.randomness import WORDY
from roamkb.secrets.randomness import compile_cached
from roamkb.secrets.randomness import is_random
from roamkb.secrets.randomness import secret_weight
from roamkb.secrets.secret_names import NAME_MARKS
from roamkb.secrets.secret_names import begin_of_name
from roamkb.secrets.secret_names import secret_names


class CredentialValue:
    """A value that stands in a place for credentials."""

    __slots__ = ("is_certain", "is_likely", "is_named", "kind", "span")

    def __init__(
        self, kind: str, span: tuple[int, int], weight: int, limits: tuple[int, int], *, is_named: bool = True
    ) -> None:
        """Take from which weights on (`secrets/randomness.py`) it is certain here, and likely."""
        self.kind = kind
        self.span = span
        #: Whether it is refused, or worth a warning at the least.
        self.is_certain = weight >= limits[0]
        self.is_likely = weight >= limits[1]
        #: Whether only what stands before it says so: it may stand elsewhere without.
        self.is_named = is_named


#: Of a place: what every text with such a value holds one of, whether in any case, and what finds the values.
PlaceRow = tuple[tuple[str, ...], bool, Callable[[str], Iterator[CredentialValue]]]
#: More than any value weighs.
_NEVER: Final = RANDOM + 1

_GLUE = (
    r"[\"'`\])*\\]{0,4}(?:"
    # a typed name, and what it is set to
    r"(?P<typed>[ \t]{0,4}:[ \t]{0,4}&?[A-Za-z][\w<>&?|\[\]]{0,20}[ \t]{0,4}=(?!=)[ \t]{0,4})"
    r"|(?P<set>[ \t]{0,20}(?::?:=|=>|->|={1,3}|[:：=]|(?<=[ \t])—)[ \t]{0,20}\*{0,2}[ \t]{0,4})"
    r"|(?P<pair>(?<=[\"'`])[ \t]{0,4},[ \t]{0,4}(?=[\"'`])|(?<=[\"'])[ \t]{1,8}value=)"
    r"|(?P<element>(?<!>)>(?=[^<>\s]{1,300}</))"
    r"|(?P<value>[ \t]{0,4}[{,]?\s{0,16}[\"']?(?:default|value)[\"']?[ \t]{0,4}[:=][ \t]{0,4})"
    # a particle where no blanks part words
    r"|(?P<particle>[ \t]?(?:は|是|为|為|는|은)[ \t]{0,3})"
    r"|(?P<said>[ \t]{1,3}(?:[^\W\d]{1,14}[ \t]){0,6}?(?:is|was|ist|lautet|est|es|é|è|är|er|to|at|[^\W\d]{1,14}:)"
    r"[ \t]{1,3})"
    r"|(?P<blank>[ \t]{1,20}(?:by[ \t])?))"
)
#: What ends a bare value: a mark, or a letter of the scripts that part no words.
_NOT_BARE = r"\s\"'`<>|;&,(){}\[\]\u3000-\u9fff\uac00-\ud7af\uff00-\uffef"
_VALUE = (
    r"\\?[bBrRuUfF@$]?(?:\"(?P<q1>[^\"\n]{1,300})\"|'(?P<q2>[^'\n]{1,300})'|`(?P<q3>[^`\n]{1,300})`|「(?P<q4>[^「」\n]{1,300})」"
    rf"|(?P<bare>[^{_NOT_BARE}]{{1,512}}))"
)


def places_in(text: str, places: Iterable[PlaceRow] | None = None) -> Iterator[PlaceRow]:
    """Yield those of the places, of all if none are given, that `text` or a part of it may have."""
    lower = text.lower()
    for place in _place_rows() if places is None else places:
        searched = lower if place[1] else text
        for mark in place[0]:
            if mark in searched:
                yield place
                break


def credential_values(text: str, places: Iterable[PlaceRow] | None = None) -> Iterator[CredentialValue]:
    """Yield the values in places for credentials, in no order, placeholders included."""
    for _, _, find_values in places_in(text, places):
        yield from find_values(text)


@lru_cache(maxsize=1)
def _place_rows() -> tuple[PlaceRow, ...]:
    return (
        (NAME_MARKS, True, _named_values),
        (("|",), False, _table_values),
        *((tuple(marks.split("|")), True, partial(_in_place, row)) for marks, row in data_rows("secret_places.tsv")),
        *(
            (_GIVING if "< " in follows else tuple(programs.split(" ")), False, partial(_in_options, programs, follows))
            for programs, follows in data_rows("secret_options.tsv")
        ),
        (("://",), True, _in_urls),
        (("basic ", "auth"), True, _encoded_logins),
    )


def _named_values(text: str) -> Iterator[CredentialValue]:
    for name, end_of_name in secret_names(text):
        glue = compile_cached(_GLUE).match(text, end_of_name)
        value = compile_cached(_VALUE).match(text, glue.end()) if glue else None
        if glue is None or value is None:
            continue
        if text[end_of_name] == "]" and not (glue["set"] or glue["pair"]):
            # what `mask_secrets` left, and no name
            continue
        group = value.lastgroup or "bare"
        span = value.span(group)
        if group == "bare":
            if text[span[1] : span[1] + 1] in ("(", "[", "{"):
                # a call or an element, which says where the value is
                continue
            span = span[0], span[0] + len(value[group].rstrip(".,:!?*"))
        begins = begin_of_name(text, name.start())
        limits = _weight_limits(text, name, glue, begins, end_of_name, is_quoted=group != "bare")
        is_variable = text[begins:end_of_name].isupper() or text[max(begins - 1, 0) : begins] == ";"
        kind = "password" if is_variable else "secret value"
        yield CredentialValue(kind, span, secret_weight(text[slice(*span)]), limits)


def _weight_limits(
    text: str, name: re.Match[str], glue: re.Match[str], begins: int, ends: int, *, is_quoted: bool
) -> tuple[int, int]:
    """Return the weights from which a value after that name is certainly, and likely, a secret."""
    full_name = text[begins:ends]
    if name["auth"]:
        return RANDOM, RANDOM
    if glue["said"] or glue["particle"]:
        return RANDOM, WORDY if name["password"] else PASSWORD if not is_quoted else WORDY
    if glue["blank"]:
        if full_name.startswith("--") or text[max(begins - 60, 0) : begins].rstrip().rpartition(" ")[0].endswith(
            "login"
        ):
            return PASSWORD, WORDY
        # PASSWORD 'x' of SQL, `requirepass x` of a file
        return (PASSWORD if is_quoted and name["password"] else RANDOM), WORDY if name["password"] else PASSWORD
    if full_name.isupper() or full_name.startswith("-") or not glue["set"]:
        return PASSWORD, WORDY
    if name["password"]:
        return PASSWORD, WORDY
    return RANDOM, WORDY if not glue["set"].startswith("=") or is_quoted else PASSWORD


def _table_values(text: str) -> Iterator[CredentialValue]:
    """Yield the values in tables of org and Markdown, behind a name for a secret or in the column that it heads."""
    for name, span in table_cells.values_in_tables(text):
        value = text[slice(*span)]
        limits = (PASSWORD, WORDY) if name["password"] else (RANDOM, PASSWORD)
        yield CredentialValue("secret value", span, secret_weight(value), limits)


#: What every text has in which a command is given a password to read.
_GIVING: Final = ("echo ", "printf ", "<<<")
_OPTION_VALUE: Final = (
    r"[\"']?(?P<v>(?<=[\"'])[^\s\"'`<>/\\-][^\s\"'`]{3,255}?(?=(?:\\n)?[\"'])"
    r"|[^\s\"'`|;&<>/-][^\s\"'`|;&<>]{3,255})"
)
_OPTION_WORDS: Final = {
    "-… ": r"(?:-\S+[ ]+){0,8}?",
    "… ": r"(?:[^\s|;&]+[ ]+){0,24}?",
    "NAME": r"[\"']?[^\s\"'|;&:,%]{1,120}",
    "VALUE": _OPTION_VALUE,
}
#: Before and behind what a command is given to read.
_ECHOED: Final = r"\b(?:echo|printf)[ ]+(?:-[A-Za-z]+[ ]+)*(?:[\"']?%s(?:\\n)?[\"']?[ ]+)?"
_PIPED: Final = r"(?:\\n[^|\n]{0,120})?[\"']?(?:[ ]*[;)][^|\n]{0,120})?[ ]*\|&?[ ]*(?:[^|\n]{0,120}?[ ])??"


def _in_options(programs: str, follows: str, text: str) -> Iterator[CredentialValue]:
    for pattern in _option_patterns(programs, follows):
        yield from _in_place(pattern, text)


@lru_cache(maxsize=64)
def _option_patterns(programs: str, follows: str) -> tuple[str, ...]:
    """Return a row of `secret_options.tsv` as expressions with the group `v` for the password."""
    asking, _, given = follows.partition("< ")
    command = rf"(?<![\w./-])(?:/[\w./-]*bin/)?(?:{'|'.join(map(re.escape, programs.split(' ')))})"
    if not given:
        return (f"{command}[ ]+{_words_pattern(asking)}",)
    command += f"[ ]+{_words_pattern(asking.rstrip())}" if asking else r"(?![\w.-])"
    value = _words_pattern(given)
    return f"{_ECHOED}{value}{_PIPED}{command}", rf"{command}[^|;&\n]{{0,120}}?<<<[ ]*{value}"


def _words_pattern(words: str) -> str:
    return re.sub(
        r"-… |… |-…(?P<short>\w)|(?P<option>-\w|--[\w-]+) |NAME|VALUE|.",
        lambda word: _OPTION_WORDS.get(word[0]) or _option_word_pattern(word),
        words,
    )


def _option_word_pattern(word: re.Match[str]) -> str:
    if word["short"]:
        # no two parts of which may take the same letters
        return rf"-[^\W{word['short']}]*{word['short']}\w*"
    if word["option"]:
        return word["option"] + (r"[ =]" if word["option"].startswith("--") else r"[ ]*")
    return "[ ]+" if word[0] == " " else re.escape(word[0])


def _in_place(place: str, text: str) -> Iterator[CredentialValue]:
    for match in compile_cached(place).finditer(text):
        group = match.lastgroup or "v"
        value = match[group].rstrip(").,;")
        start = match.start(group)
        kind = "authorization" if "bearer" in place or "authorization" in place else "password"
        limits = (PASSWORD, WORDY) if group == "v" else (_NEVER, PASSWORD)
        yield CredentialValue(kind, (start, start + len(value)), secret_weight(value), limits)


_URL = (
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<user>[^\s:/@\"'`<>]{0,128})(?::(?P<v>[^\s/@\"'`<>]{1,256}))?"
    r"@(?P<host>[^\s/:?#\"'`<>]{1,255})"
)
_OF_THIS_MACHINE = r"(?i)localhost$|127\.|\[?::1|0\.0\.0\.0|host\.docker\.internal"


def _in_urls(text: str) -> Iterator[CredentialValue]:
    """Yield the logins in URLs, but for well-known defaults on one's own machine."""
    position = text.find("://")
    while position != -1:
        # the scheme is short, and each place is looked at once
        match = compile_cached(_URL).match(text, _scheme_start(text, position))
        if match is not None:
            name, password = match["user"], match["v"]
            if password is None:
                if is_random(name):
                    yield CredentialValue(
                        "URL with a login", match.span(), PASSWORD, (_NEVER, PASSWORD), is_named=False
                    )
            else:
                yield _login_value(match, name, password)
        position = text.find("://", position + 3)


def _scheme_start(text: str, position: int) -> int:
    start = position
    while start and position - start < 20 and (text[start - 1].isalnum() or text[start - 1] in "+.-"):
        start -= 1
    while start < position and not text[start].isalpha():
        start += 1
    return start


def _login_value(match: re.Match[str], name: str, password: str) -> CredentialValue:
    heavy = secret_weight(password)
    is_here = compile_cached(_OF_THIS_MACHINE).match(match["host"]) is not None
    is_word = password.isalpha() and password.islower()
    if heavy == NOTHING and not is_here and is_word and password != name and not _is_usual(password):
        # a poor one is one all the same
        heavy = WORDY
    elif heavy == WORDY and not is_here:
        heavy = PASSWORD
    return CredentialValue("URL with a login", match.span(), heavy, (PASSWORD, WORDY), is_named=False)


def _is_usual(password: str) -> bool:
    return secret_weight(f"{password}1") == NOTHING or password in (
        "user",
        "pass",
        "pw",
        "test",
        "demo",
        "dev",
        "app",
    )


_ENCODED = r"(?i)(?:\bbasic[ \t]{1,3}|auth[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?)(?P<v>[A-Za-z0-9+/]{12,4096}={0,2})"


def _encoded_logins(text: str) -> Iterator[CredentialValue]:
    """Yield the logins that are written in base64, as HTTP and registries expect them."""
    for match in compile_cached(_ENCODED).finditer(text):
        try:
            name, colon, password = b64decode(match["v"]).decode().partition(":")
        except ValueError:
            continue
        if colon and name.isprintable() and password.isprintable():
            heavy = secret_weight(password)
            yield CredentialValue("authorization", match.span("v"), heavy, (WORDY, WORDY))
