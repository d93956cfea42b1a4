"""The same error is the same error on another line, machine and day; and no two errors are one."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.remedies.fingerprint import DIGEST_FORM
from roamkb.remedies.fingerprint import SAME_CURE_SIMILARITY
from roamkb.remedies.fingerprint import fingerprint
from roamkb.remedies.fingerprint import message_nearness
from tests.examples import examples
from tests.remedies.errors_said import SAME

MESSAGES = [(row, message) for row, messages in SAME.items() for message in messages]

#: Rows that are two errors, and whose cures may be one.
RELATED = frozenset(
    frozenset(pair)
    for pair in (
        ("sqlite table", "sqlite shell table"),
        ("postgres relation", "psycopg relation"),
        ("python disk full", "shell full"),
        ("python file", "shell file"),
        ("python file", "c header"),
        ("python permission", "shell permission"),
        ("fetch", "fetch2"),
        ("node module", "passed on: jest module"),
        ("node ENOENT", "shell file"),
        ("node ENOENT", "c header"),
        ("node EACCES", "shell permission"),
        ("c header", "shell file"),
        ("make rule", "make rule needed"),
    )
)


@pytest.mark.parametrize("row", SAME)
def test_what_differs_from_run_to_run_is_folded(row: str) -> None:
    """All messages of a row are one error."""
    assert 1 == len({fingerprint(message).digest for message in SAME[row]})


def test_no_two_errors_meet() -> None:
    """Each of the other pairs has two fingerprints."""
    rows: dict[str, set[str]] = {}
    for row, message in MESSAGES:
        rows.setdefault(fingerprint(message).digest, set()).add(row)
    assert [] == [met for met in rows.values() if len(met) > 1]
    assert len(SAME) > 200


def test_only_what_may_have_the_same_cure_is_near() -> None:
    """Whatever else has similar words is told apart by a class, a code, a number or a word."""
    prints = {row: fingerprint(messages[0]) for row, messages in SAME.items()}
    near = {
        frozenset((one, other))
        for one, other in combinations(prints, 2)
        if message_nearness(prints[one], prints[other]) >= SAME_CURE_SIMILARITY
    }
    assert sorted(map(sorted, RELATED)) == sorted(map(sorted, near))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("requests 404", "requests 500"),
        ("curl 404", "curl 500"),
        ("axios 401", "axios 429"),
        ("rust E0382", "rust E0499"),
        ("node ENOENT", "node EACCES"),
        ("node ECONNREFUSED", "node ETIMEDOUT"),
        ("python KeyError", "python attribute of None"),
        ("sqlite table", "sqlite column"),
        ("sqlite unique", "sqlite not null"),
        ("shell permission", "shell file"),
        ("pytest assert equal", "pytest fixture"),
        ("pytest assert equal", "pytest assert in"),
        ("python subprocess", "python subprocess 128"),
        ("git fast-forward", "git fetch first"),
        ("node null", "node undefined"),
        ("npm ENOENT", "npm E404"),
        ("make error 1", "make error 127"),
        ("typescript name", "typescript type"),
    ],
)
def test_what_is_nearly_the_same_in_letters_is_kept_apart(one: str, other: str) -> None:
    """Neither one error, nor two that are alike."""
    mine, theirs = fingerprint(SAME[one][0]), fingerprint(SAME[other][0])
    assert mine.digest != theirs.digest
    assert 0 == message_nearness(mine, theirs)
    assert 0 == message_nearness(theirs, mine)


@pytest.mark.parametrize(("row", "message"), MESSAGES, ids=[row for row, _ in MESSAGES])
def test_what_surrounds_a_message_is_no_part_of_it(row: str, message: str) -> None:
    """Colours, ends of lines, times, a service's name, and lines before that say nothing."""
    wanted = fingerprint(message).digest
    lines = message.split("\n")
    assert wanted == fingerprint("\r\n".join(lines)).digest
    assert wanted == fingerprint("\n".join(f"\x1b[1;31m{line}\x1b[0m" for line in lines)).digest
    assert wanted == fingerprint("\n".join(f"2026-06-10T12:00:00.123Z {line}" for line in lines)).digest
    assert wanted == fingerprint("\n".join(f"[12:00:09] {line}" for line in lines)).digest
    assert wanted == fingerprint("\n".join(f"web_1  | {line}" for line in lines)).digest
    assert wanted == fingerprint(f"Collecting things\nDone with step 3 of 9\n\n{message}\n\n").digest


@pytest.mark.parametrize(
    ("message", "form"),
    [
        ("ValueError: bad port 8080 of 10.0.0.7:443", "bad port <n> of <address>"),
        ("ValueError: no such day 2026-06-10T12:00:00Z", "no such day <time>"),
        ("ValueError: cannot read /etc/app/x.toml:12", "cannot read <path>"),
        ("ValueError: cannot read C:\\Users\\me\\x.toml", "cannot read <path>"),
        ("ValueError: cannot read src/app/x.py:12:3", "cannot read <path>"),
        ("ValueError: no answer from https://a.example/x?y=1 yet", "no answer from <url> yet"),
        ("ValueError: mail to someone@example.com failed", "mail to <address> failed"),
        ("ValueError: no task 0193a2b4-0000-7000-8000-00000000abcd", "no task <id>"),
        ("ValueError: bad object 7ea27d9b00", "bad object <id>"),
        ("ValueError: <Foo object at 0x7f1c2a3b4d50> is odd", "<Foo object at <n>> is odd"),
        ("ValueError: took 12.5ms, 3 MB and 40%", "took <n>, <n> and <n>"),
        ("ValueError: bad key \"a b\" or ‘c’ or `d`", "bad key <q> or <q> or <q>"),
        ("ValueError: it can't and won't", "it can't and won't"),
        ("ValueError: exit status 137", "exit status 137"),
        ("ValueError: version 1.2.3 and v2.0 of utf8", "version <n> and <n> of utf8"),
        ("TypeError: can only concatenate str (not \"int\") to str", "can only concatenate str (not \"int\") to str"),
    ],
)  # fmt: skip
def test_values_are_folded_and_words_stay(message: str, form: str) -> None:
    """What stands for a value says what kind it was."""
    assert form == fingerprint(message).form


def test_a_class_that_only_the_caller_knows_is_part_of_it() -> None:
    """Said in the text or beside it, it is the same; what the text says counts."""
    said = fingerprint("TypeError: a.foo is not a function")
    assert said.digest == fingerprint("a.foo is not a function", type="TypeError").digest
    assert said.digest == fingerprint("TypeError: a.foo is not a function", type="Error").digest
    assert said.digest != fingerprint("a.foo is not a function").digest


def test_what_else_an_output_tells_is_remembered() -> None:
    """The cause of a chain, and each failure of a run, by the fingerprint that it has alone."""
    chained = fingerprint(SAME["python chained"][0])
    assert (fingerprint("KeyError: 'x'").digest,) == chained.others
    run = fingerprint("E   assert 1 == 2\nE   KeyError: 'a'\nE   fixture 'db' not found\n")
    assert fingerprint("E   assert 3 == 4").digest == run.digest
    assert {fingerprint("KeyError: 'z'").digest, fingerprint("E   fixture 'x' not found").digest} == set(run.others)


@pytest.mark.parametrize(
    "message",
    [
        "ValueError: token ghp_0123456789abcdefghijABCDEFGHIJ012345 is bad",
        "ConnectionError: postgres://app:hunter2secret@db.example.com/x",
        "ValueError: DB_PASSWORD=hunter2secret was not accepted",
        "LoginError: the password is hunter2secret!",
    ],
)
def test_secrets_are_in_no_part_of_it(message: str) -> None:
    """Neither in the folded message nor in the line."""
    print = fingerprint(message)
    assert "hunter2" not in print.form + print.line
    assert "ghp_" not in print.form + print.line


@given(st.integers(min_value=0, max_value=10**9), st.from_regex(r"[a-z]{1,12}", fullmatch=True))
def test_any_number_and_any_name_is_folded(number: int, name: str) -> None:
    """Whatever the line, the value and the file are called."""
    error = f'Traceback (most recent call last):\n  File "/{name}/x.py", line {number}, in {name}\n    x()\n'
    error += f"ValueError: {number} rows of '{name}' in /srv/{name}/{number}.db"
    known = "ValueError: 3 rows of 'users' in /srv/x/1.db"
    assert fingerprint(known).digest == fingerprint(error).digest


_OUTPUT = st.lists(
    st.one_of(st.sampled_from([message for _, message in MESSAGES]), st.text(max_size=80)), max_size=6
).map("\n".join)


@settings(max_examples=examples(300))
@given(st.one_of(st.text(), _OUTPUT))
def test_any_text_has_a_fingerprint(error: str) -> None:
    """Of any length and any characters, always the same, on one line that can be shown."""
    print = fingerprint(error)
    assert DIGEST_FORM.fullmatch(print.digest)
    assert print == fingerprint(error)
    assert len(print.form) <= 240
    assert "\n" not in print.text + print.line
    assert 1.0 == message_nearness(print, print)
    assert print.digest not in print.others
