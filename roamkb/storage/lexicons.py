"""Words by language, as data: files of `roamkb/data/lexicon`, each of which says what it is for."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from roamkb.core.hazards import parse_lexicon

_FOLDER: Final = Path(__file__).parents[1] / "data" / "lexicon"


@cache
def lexicon(name: str) -> Sequence[str]:
    """Return the words of all languages of the lexicon called `name`, in the file's order."""
    by_language = parse_lexicon((_FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
    return tuple(dict.fromkeys(word for words in by_language.values() for word in words))
