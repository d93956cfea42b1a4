"""Names that say that a secret follows: words for a password, token or key, and what gives them another meaning."""

import re
from collections.abc import Iterator

from roamkb.core.startup.typing import Final
from roamkb.secrets.randomness import compile_cached
from roamkb.text.store.lexicons import alternatives_pattern
from roamkb.text.store.lexicons import lexicon

#: One of these is in every text that `secret_names` finds something in: how words for a secret begin.
NAME_MARKS: Final = tuple(
    dict.fromkeys(
        [re.split(r"\W", word, maxsplit=1)[0] for word in lexicon("password_words")]
        + ["secret", "token", "key", "auth", "credential"]
    )
)
_NAME = (
    rf"(?i)(?P<password>{alternatives_pattern('password_words')})"
    r"|(?P<whole>secret|token|credential)"
    rf"|(?P<key>{alternatives_pattern('key_words')}[ _.-]?keys?(?![a-z])|(?<=_)key(?![a-z]))"
    r"|(?P<auth>auth)"
)
#: What is no secret by that name: `public_key`, `next_token`, `pad_token`.
_HARMLESS_BEFORE = rf"(?i){alternatives_pattern('harmless_before')}[ _.-]?$"
#: What a name goes on with that means something about the secret: `password_file`, `tokenUrl`, `secretName`.
_HARMLESS_AFTER = rf"(?i)[_-]?(?:\w*[_-])?{alternatives_pattern('harmless_after')}"
#: Glued before a lone `pass`: `storepass`; elsewhere that is another word, as in `bypass`.
_GLUED = rf"(?i){alternatives_pattern('glued')}$"
_MORE = r"[A-Za-z0-9_-]{0,40}"


def secret_names(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Yield each word for a secret in `text`, and where the name that holds it ends.

    Of the word's groups `password`, `whole`, `key` and `auth` the one that is set says its sort.
    """
    for name in compile_cached(_NAME).finditer(text):
        end = _end_of_name(text, name)
        if end >= 0:
            yield name, end


def _end_of_name(text: str, name: re.Match[str]) -> int:
    """Return the end of the name that holds a word for a secret; -1 where it means another thing."""
    start, end = name.span()
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before == "/" or _goes_on(text, end):
        return -1
    if name["key"] is None and name["password"] in ("pass", "passe") and before.islower():
        if not compile_cached(_GLUED).search(text[max(start - 10, 0) : start]):
            return -1
    elif name["auth"] and before.islower():
        return -1
    if name["password"] is None and compile_cached(_HARMLESS_BEFORE).search(text[max(start - 20, 0) : start]):
        return -1
    more = compile_cached(_MORE).match(text, end) if after else None
    if more and compile_cached(_HARMLESS_AFTER).match(more[0]):
        return -1
    return more.end() if more else end


def _goes_on(text: str, end: int) -> bool:
    """Say whether the word continues as another one: `secretary`, `tokenizer`, `authorization`."""
    last_letter, after = text[end - 1], text[end : end + 1]
    if after in ("s", "S") and not text[end + 1 : end + 2].isalpha():
        return False
    return (last_letter.islower() and after.islower()) or (last_letter.isupper() and after.isupper())


def begin_of_name(text: str, start: int) -> int:
    """Return where the name begins that holds what is at `start`."""
    while start and (text[start - 1].isalnum() or text[start - 1] in "_-."):
        start -= 1
    return start
