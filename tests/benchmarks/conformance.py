"""Measure how far our reader agrees with what real org-roam said of many folders.

    python tests/benchmarks/conformance.py --truth DIR [NAME]…

DIR holds `truth/NAME.json` (and `truth/NAME.new.json`, of the newer org-roam) beside the
folders `corpora/NAME`, or `edge/NAME` for a truth called `edge-NAME`. Not part of the suite.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.emacs import agreement


def main() -> None:
    """Print a table and every difference."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--truth", type=Path, required=True, metavar="DIR")
    options.add_argument("names", nargs="*", metavar="NAME")
    given = options.parse_args()
    names = given.names or sorted(
        path.stem for path in (given.truth / "truth").glob("*.json") if _folder(given.truth, path.stem).is_dir()
    )
    for name in names:
        _compare(given.truth, name)


def _folder(truth: Path, name: str) -> Path:
    edge = name.removeprefix("edge-")
    return truth / "corpora" / name if edge == name else truth / "edge" / edge


def _tables(truth: Path, name: str) -> dict[str, Any] | None:
    path = truth / "truth" / f"{name}.json"
    tables: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return tables


def _compare(truth: Path, name: str) -> None:
    tables = _tables(truth, name)
    if tables is None:
        print(f"{name}: no truth")
        return
    folder = _folder(truth, name)
    start = time.process_time()
    notes = agreement.notes_in(folder)
    seconds = time.process_time() - start
    theirs = agreement.their_rows(tables, folder, newer=_tables(truth, f"{name}.new"))
    found = list(agreement.differences(theirs, agreement.our_rows(notes)))
    _print(name, theirs, found, seconds=seconds, size=sum(len(note.text) for note in notes))


def _print(
    name: str,
    theirs: dict[str, agreement.Row],
    found: list[agreement.Difference],
    *,
    seconds: float,
    size: int,
) -> None:
    missing = sum(1 for each in found if each.field == "node" and each.ours is None)
    extra = sum(1 for each in found if each.field == "node" and each.theirs is None)
    wrong = Counter(each.field for each in found if each.field != "node")
    both = max(len(theirs) - missing, 1)
    print(
        f"{name}: {len(theirs)} nodes, {missing} missing, {extra} extra; {seconds:.3f} s, {size / seconds / 1e6:.1f} M characters/s"
    )
    fields = [f"{field} {100 * (both - wrong[field]) / both:.2f}" for field in agreement.FIELDS if wrong[field]]
    print("  all fields 100 %" if not fields else "  " + ", ".join(fields))
    for each in found:
        print(f"    {each.id} {each.field}: theirs {each.theirs!r}, ours {each.ours!r}")


if __name__ == "__main__":
    main()
