"""Query strings that nobody means: made from a seed, and put to one small index.

python -m tests.faults.queries [--count 100000] [--seed 0]
"""

import argparse
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.errors import UsageError
from roamkb.kb.search.index.query import IndexQuery
from roamkb.kb.search.query import narrow_query
from roamkb.kb.search.query import parse_query
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base

_WORDS = "zebra stripe savanna Zebra's getUserName parse_http_header the not how 2026 42 x é naïve Ünïcödé".split()
#: What FTS5, SQL, shells, regular expressions and our own language mean something by.
_SIGNS = (
    *"AND OR NOT NEAR NEAR( NEAR(a,b,3) title: {title: alias} : ^ * + - -- ( ) [ ] { } , ; % _ ? ?1 @x $y".split(),
    *"\" \"\" ' '' ` \\ \\0 | & && || < > << = == ~ ! !! # / // . .. … words MATCH rowid NULL nan inf -0".split(),
    *'tag: tag:: tag:a:b -tag:animal tag:"a is: is:agent -is:human is:both id: id:x -id:x before: after:0'.split(),
    *'before:9999-99 before:0000 since:99999999d after:3m after:-1 until:2026 TAG:ZEBRA -- -- - -" -"a b'.split(),
    *"'; DROP TABLE note; /* */ ${x} $(x) %s %00 \\u0000 [[id:x][y]] #+title: :END: * ** TODO <%%(x)>".split(),
)
_LETTERS = (
    "\0\t\n\r\x0b\x0c\x1b\x1f\x7f\x85\xa0\xad\u0300\u0301\u200b\u200d\u200e\u202e\u2028\u2029\ufeff\ufffd\ufffe\uffff",
    "\ud800\udfff\udc80\udcff",
    "äßſıİÅÉñøŁďĦΣσςЖиЁ",
    "縞馬がいる日本語한국어สวัสดีชาวโลกမြန်မာ",
    "אבגدرعहिन्दी",
    "🦓👩‍👩‍👧‍👦🇩🇪⇒≠∀∞𝔷𝕫\U000e0001\U0010ffff",
    "'\"`()[]{}*+-:^~&|!?.,;<>=/\\%$#@_",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
)


def random_query(dice: random.Random) -> str:
    """Return a query of some pieces, seldom a very long one."""
    pieces = [_piece(dice) for _ in range(dice.choice((0, 1, 1, 2, 2, 3, 4, 6, 9)))]
    if dice.random() < 0.002:
        pieces *= dice.randint(50, 2000)
    return dice.choice(("", " ", " ", " ", "\n", '"')).join(pieces)


def _piece(dice: random.Random) -> str:
    kind = dice.random()
    if kind < 0.45:
        return dice.choice(_WORDS)
    if kind < 0.65:
        return dice.choice(_SIGNS)
    if kind < 0.72:
        return dice.choice(_SIGNS) + dice.choice(_WORDS) + dice.choice(_SIGNS)
    if kind < 0.76:
        return f'"{dice.choice(_WORDS)} {_letters(dice)}"'
    if kind < 0.8:
        return dice.choice(("tag:", "-tag:", "id:", "is:", "before:", "after:", "since:", "-")) + _letters(dice)
    return _letters(dice)


def _letters(dice: random.Random) -> str:
    letters = dice.choice(_LETTERS)
    length = 3000 if dice.random() < 0.002 else dice.randint(1, 12)
    return "".join(dice.choices(letters, k=length))


def ask_all(base: Base, *, seed: int, count: int) -> int:
    """Put `count` queries to the base's index; return how many found something. Nothing is raised but what is a bug."""
    dice = random.Random(seed)

    def look(db: sqlite3.Connection) -> int:
        return sum(map(any, _answers(db, dice, count)))

    return base.index().read_view(look)


def _answers(db: sqlite3.Connection, dice: random.Random, count: int) -> Iterator[list[object]]:
    for _ in range(count):
        text = random_query(dice)
        try:
            query = parse_query(text, today=TODAY)
            if dice.random() < 0.1:
                # what the command's options add
                query = narrow_query(query, tags=(_piece(dice),), since=_letters(dice), before=_letters(dice))
        except UsageError:
            continue
        try:
            yield list(IndexQuery(db, query).find_answers(dice.choice((0, 1, 20, 20, None))))
        except BaseException as error:
            error.add_note(f"the query was {text[:2000]!r}")
            raise


def main() -> None:
    """Ask, and say how often there was an answer."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Base(Path(folder)).animals()
        found = ask_all(base, seed=given.seed, count=given.count)
        print(f"{given.count} queries, {found} with an answer")


if __name__ == "__main__":
    main()
