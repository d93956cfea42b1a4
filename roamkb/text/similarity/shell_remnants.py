"""Shell remnants behind a statement that was cut out of a command: a quote, a redirection.

The bytes of a learning stay as they were said. What it says is shown, compared and promoted without them.
"""

import re
from collections.abc import Iterator
from itertools import islice

from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.text.store.lexicons import vocabulary

#: What tells that there may be any; most texts have none.
_HINT: Final = lazily(r"2>|/dev/null|&&|\|\||[|;\\]|\n[^\S\n]*+(?:bd|git)\s")
#: What stands before each is counted.
_MOST_QUOTES: Final = 32
_SPAN = lazily(r"`[^`\n]+`")
#: The quote that closed a shell word, and what the shell did next; the quote that opened it was cut off.
_BEHIND_A_QUOTE = lazily(
    r"""(?<!\\)(?P<quote>["'])['"]?\)?[ \t]*(?:(?:2>&1|[12&]?>>?[ \t]*/dev/null)[^\n]*"""
    r"""|\\[ \t]*$|(?:&&|\|\|?|;)[ \t]*(?:\\?$|\\?\n|[a-z_]\w*\b[^\n]*))""",
    re.MULTILINE,
)
_REDIRECTED = lazily(r"(?<=\s)(?:2>&1|2>[ \t]*/dev/null)\s*(?:\|\s*(?:tail|head|cat|tee|grep)\b[^\n`]*)?\Z")
#: What a sentence that names the redirection says before it.
_NAMES_IT: Final = vocabulary("redirection_words")
_CHAINED: Final = lazily(r"\s(?:&&|\|\|)\s*\\?\s*\Z")
_TRAILING = lazily(r"(?<![:\s])\n\s*(?:bd\s+(?:close|update|comments?|create|sync)\b[^\n]*|git\s+push)\s*\Z")


def without_debris(text: str) -> str:
    """Return `text` up to the start of shell remnants; all of it where nothing would be left."""
    if not _HINT.search(text):
        return text
    masked = _SPAN.sub(lambda span: " " * len(span[0]), text)
    start = min(_remnant_starts(masked), default=len(text))
    return text[:start].rstrip() or text


def _remnant_starts(masked: str) -> Iterator[int]:
    for quote_match in islice(_BEHIND_A_QUOTE.finditer(masked), _MOST_QUOTES):
        if _is_unopened(masked[: quote_match.start()], quote_match["quote"]):
            yield quote_match.start()
            break
    if redirected := _REDIRECTED.search(masked):
        last_words = masked[: redirected.start()].split()[-1:]
        is_ended = bool(last_words) and last_words[0].endswith((".", "!", "?", '"', "'"))
        is_piped = "|" in redirected[0] or "/dev/null" in redirected[0]
        if is_ended or (is_piped and last_words and last_words[0].lower() not in _NAMES_IT):
            yield redirected.start()
    for end in (_CHAINED, _TRAILING):
        if tail := end.search(masked):
            yield tail.start()


def _is_unopened(before: str, quote: str) -> bool:
    """Say whether a quote closes without an opening quote in `before`."""
    if quote == '"':
        return len(re.findall(r'(?<!\\)"', before)) % 2 == 0
    # an apostrophe opens nothing
    return not re.search(r"(?<!\w)'", before)
