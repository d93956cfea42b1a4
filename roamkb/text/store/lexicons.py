"""Words by language, as data: files of `roamkb/data/lexicon`, each of which says what it is for."""

from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parents[2] / "data" / "lexicon"


@cache
def lexicon(name: str) -> tuple[str, ...]:
    """Return the words, or phrases between bars, of all languages of the lexicon called `name`.

    A line is `LANGUAGE: WORD WORD…` or `LANGUAGE: PHRASE|PHRASE…`; a comment begins with `#`.
    """
    found: dict[str, None] = {}
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words = line.partition(":")[2].strip()
            found |= dict.fromkeys(words.split("|") if "|" in words else words.split())
    return tuple(found)
