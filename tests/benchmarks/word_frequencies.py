"""Makes `roamkb/data/word_frequencies.txt` from word frequencies of many languages and summaries of packages.

    pip download --no-deps wordfreq==3.1.1     # and unzip it into FOLDER
    pip install msgpack
    python tests/benchmarks/word_frequencies.py FOLDER SUMMARIES.txt OUT

SUMMARIES has what packages say of themselves in a line each: developers say other words often than newspapers do.
A term has the bits of its share in the language that says it most. Letter pairs of scripts without blanks are
counted within words, and over their borders as if words followed each other by chance.
"""

import argparse
import gzip
import math
from collections import Counter
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roamkb.core.text import fold_text
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words
from roamkb.text.tokenize import terms_of

#: The languages, and the bits of the rarest terms that are kept of each.
_KEPT = dict.fromkeys(("en", "de", "fr", "es", "ja"), 16) | dict.fromkeys(
    ("da", "it", "ko", "nb", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "zh"), 12
)
_UNSPACED = ("ja", "ko", "zh")
#: What a word of the summaries counts beside one of a language: they say little in many words.
_SUMMARIES = 0.25
#: Summaries in which a word has to stand.
_LEAST = 20
#: Bits that say nothing any more.
_MOST_FREQUENT = 7


def main() -> None:
    """Write the table, without its head."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("summaries", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    kept: dict[str, int] = {}
    for language, most in _KEPT.items():
        frequencies = list(_frequencies(given.folder / f"wordfreq/data/{_file(language)}"))
        shares = _pairs(frequencies) if language in _UNSPACED else _terms(frequencies)
        _keep(kept, shares, most)
    summaries = _summaries(given.summaries)
    _keep(kept, {term: _SUMMARIES * share for term, share in summaries.items()}, 16)
    lines: dict[tuple[bool, int], list[str]] = {}
    for term, value in sorted(kept.items()):
        lines.setdefault((not term.isascii(), max(value, _MOST_FREQUENT)), []).append(term)
    text = "".join(f"{value} {' '.join(terms)}\n" for (_, value), terms in sorted(lines.items()))
    given.out.write_text(text, encoding="utf-8")


def _file(language: str) -> str:
    size = "small" if language in ("da", "ko", "tr") else "large"
    return f"{size}_{language}.msgpack.gz"


def _is_of_one_script(pair: str) -> bool:
    """Say whether a pair is asked for at all."""
    return len({("\u3040" <= letter) + ("\u30a0" <= letter) + ("\u3100" <= letter) for letter in pair}) == 1


def _frequencies(path: Path) -> Iterator[tuple[str, float]]:
    import msgpack

    with gzip.open(path) as file:
        buckets: list[Any] = msgpack.load(file, raw=False)
    for centibels, said in enumerate(buckets[1:]):
        yield from ((word, 10 ** (-centibels / 100)) for word in said)


def _terms(frequencies: list[tuple[str, float]]) -> dict[str, float]:
    shares: dict[str, float] = defaultdict(float)
    for text, share in frequencies:
        for word in split_words(text):
            if len(word) > 1 and not UNSPACED.match(word):
                shares[terms_of(word)[0]] += share
    return shares


def _pairs(frequencies: list[tuple[str, float]]) -> dict[str, float]:
    shares: dict[str, float] = defaultdict(float)
    firsts: dict[str, float] = defaultdict(float)
    lasts: dict[str, float] = defaultdict(float)
    for text, share in frequencies:
        if not UNSPACED.fullmatch(text):
            continue
        word = fold_text(text)
        for place in range(len(word) - 1):
            shares[word[place : place + 2]] += share
        firsts[word[0]] += share
        lasts[word[-1]] += share
    whole = sum(firsts.values())
    for last, ends in lasts.items():
        for first, begins in firsts.items():
            if ends * begins / whole > 1e-7:
                shares[last + first] += ends * begins / whole
    total = sum(shares.values())
    return {pair: share / total for pair, share in shares.items() if _is_of_one_script(pair)}


def _summaries(path: Path) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for line in set(path.read_text(encoding="utf-8", errors="replace").splitlines()):
        if line.isascii():
            counts.update(word.lower() for word in split_words(line) if len(word) > 1 and not word.isdigit())
    total = sum(counts.values())
    shares: dict[str, float] = defaultdict(float)
    for word, count in counts.items():
        if count >= _LEAST:
            shares[terms_of(word)[0]] += count / total
    return shares


def _keep(kept: dict[str, int], shares: dict[str, float], most: int) -> None:
    for term, share in shares.items():
        value = round(-math.log2(share)) if share else most + 1
        if value <= most and len(term) > 1 and value < kept.get(term, most + 1):
            kept[term] = value


if __name__ == "__main__":
    main()
