"""How long `write` looks for near duplicates, and how many it finds: planted edits among many notes.

    python tests/benchmarks/near.py [TEXTS] [--notes N] [--asked N]

TEXTS is a `corpus.jsonl` in BEIR form, whose texts are cut and joined until there are N notes;
without it the notes are those of `speed.py`. The walk that refreshes the index isn't counted. Each
time, which is the processor's, is also given as a multiple of one search for the same title. Absolute
times mean nothing elsewhere.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from roamkb.kb.notes.store.notes import Notes  # noqa: E402
from roamkb.kb.search.index.index import Index  # noqa: E402
from roamkb.kb.search.index.query import IndexQuery  # noqa: E402
from roamkb.kb.search.query import parse_query  # noqa: E402
from roamkb.kb.write import ALIKE  # noqa: E402
from roamkb.kb.write import _near_nodes  # noqa: E402
from roamkb.text.similarity.jaccard import is_alike  # noqa: E402
from roamkb.text.similarity.jaccard import prepare_text  # noqa: E402
from tests.benchmarks import duplicates  # noqa: E402
from tests.benchmarks import speed  # noqa: E402

_EDITS = (
    duplicates.case,
    duplicates.article,
    duplicates.typo,
    duplicates.trailing_words,
    duplicates.leading_words,
    duplicates.punctuation,
)


class _Still:
    """An index that is fresh."""

    def __init__(self, db: Any) -> None:
        self._db = db

    def view(self, look: Callable[[Any], Any]) -> Any:
        """Return what `look` sees."""
        return look(self._db)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("texts", type=Path, nargs="?")
    options.add_argument("--notes", type=int, default=10_000)
    options.add_argument("--asked", type=int, default=300)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        kb = Path(scratch) / "kb"
        if given.texts:
            _make_notes(kb, given.texts, given.notes)
        else:
            speed.make_notes(kb, given.notes)
        notes = Notes(kb)
        index = Index(notes, Path(scratch) / "cache")
        print(f"{len(notes.kb_walk.files)} notes")
        index.read_view(lambda db: _measure(notes, db, given.asked))


def _make_notes(kb: Path, texts: Path, count: int) -> None:
    dice = random.Random(5)
    known = [text.split() for text in duplicates._texts(texts)]
    (kb / ".stfolder").mkdir(parents=True)
    for number in range(count):
        if number >= len(known):
            one, other = dice.choice(known), dice.choice(known)
            known.append(one[: len(one) // 2] + other[len(other) // 2 :])
        body = " ".join(" ".join(dice.choice(known)) + "." for _ in range(3))
        folder = kb / f"{number // 500:03}"
        folder.mkdir(exist_ok=True)
        title = " ".join(known[number])[:150] or "empty"
        text = f":PROPERTIES:\n:ID:       n{number}\n:END:\n#+title: {title}\n\n{body}\n"
        (folder / f"2024{number:010}-note.org").write_text(text, encoding="utf-8")


def _measure(notes: Notes, db: Any, asked: int) -> None:
    dice = random.Random(6)
    for part in ("title", "body"):
        times: list[float] = []
        searches: list[float] = []
        found = 0
        for title, body, id in _planted(notes, part, asked, dice):
            started = time.process_time()
            near = _near_nodes(notes, _Still(db), title, body, besides=None)  # type: ignore[arg-type]
            times.append(time.process_time() - started)
            found += id in {candidate.id for candidate, _ in near}
            started = time.process_time()
            list(IndexQuery(db, parse_query(title, today=date(2026, 6, 10))).find_answers(20))
            searches.append(time.process_time() - started)
        times.sort()
        searches.sort()
        middle, most = (times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
        print(
            f"  edited {part:6} p50 {1000 * middle:.1f} ms, p95 {1000 * most:.1f} ms "
            f"= {middle / searches[len(searches) // 2]:.2f} x a search for the title; "
            f"found {found} of {len(times)} ({100 * found / len(times):.1f} %)",
            flush=True,
        )


def _planted(notes: Notes, part: str, asked: int, dice: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield a title, a body and the id of the note that one of them was edited from, and is still like."""
    vocabulary = speed.own_words()[:3000]
    while asked:
        file = dice.choice(notes.kb_walk.files)
        lines = file.path.read_text(encoding="utf-8").split("\n")
        title = next(line for line in lines if line.startswith("#+title: ")).removeprefix("#+title: ")
        body = "\n".join(lines[lines.index("", 3) + 1 :]).strip()
        old = title if part == "title" else body
        if len(old.split()) < 5:
            continue
        edited = dice.choice(_EDITS)(old, dice)
        if edited is None or not is_alike(prepare_text(old), prepare_text(edited), limit=ALIKE):
            continue
        id = lines[1].split()[-1]
        other = " ".join(dice.sample(vocabulary, 8))
        yield (edited, f"{other} {other[:40]}", id) if part == "title" else (other, edited, id)
        asked -= 1


if __name__ == "__main__":
    main()
