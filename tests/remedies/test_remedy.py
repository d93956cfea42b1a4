"""`remedy` remembers what fixed an error, and says so when it comes again."""

import json
import re
import sys
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.app.log.project_log import ProjectLog
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotFound
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.interfaces.cli.fast_args import parse_words
from roamkb.remedies.effectiveness import RemedyTier
from roamkb.remedies.remedy import KnownErrors
from roamkb.remedies.remedy import SuggestedRemedies
from tests.conftest import NOON
from tests.conftest import World
from tests.examples import examples

LOCKED = "sqlite3.OperationalError: database is locked"
TRACEBACK = """Traceback (most recent call last):
  File "/srv/app/jobs.py", line 41, in run
    db.execute("insert into jobs values (1)")
sqlite3.OperationalError: database is locked
"""


@pytest.fixture
def log(world: World) -> ProjectLog:
    """The personal project's log, adopted."""
    log = world.open().log
    log.init()
    return log


def ledger(world: World) -> list[dict[str, object]]:
    """Return the lines of the personal project's ledger."""
    path = world.personal / ".roamkb" / "ledger.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def listed(value: object) -> list[dict[str, object]]:
    """Return a list of objects, as JSON has it."""
    assert isinstance(value, list)
    return value


def suggested(log: ProjectLog, error: str = LOCKED, **options: str | int) -> SuggestedRemedies:
    """Return what is offered against an error."""
    found = log.remedy("suggest", error=error, **options)  # type: ignore[arg-type]
    assert isinstance(found, SuggestedRemedies)
    return found


def known(log: ProjectLog, *words: str, limit: int | None = None) -> KnownErrors:
    """Return what `remedy show` or `remedy list` gives."""
    found = log.remedy(*words, limit=limit)
    assert isinstance(found, KnownErrors)
    return found


def test_an_error_its_recovery_and_the_same_error_again(world: World) -> None:
    """The document's story, through the command line, from one session to the next."""
    assert 0 == world.run("init").status
    words = (
        "--technique",
        "Set a busy timeout",
        "--step",
        "PRAGMA busy_timeout=5000",
        "--step",
        "retry once",
    )
    for outcome in ("success", "success", "failure"):
        done = world.run("remedy", "record", "--error", "-", *words, "--outcome", outcome, input=TRACEBACK)
        assert (0, "") == (done.status, done.err)
    other = 'Traceback (most recent call last):\n  File "/home/x/y.py", line 7, in <module>\n' + LOCKED
    last = world.run("remedy", "record", "--error", other, *words, "--outcome", "success")
    assert last.out.splitlines()[1:] == [
        "3/4 worked (0.30 at least)  Set a busy timeout",
        "  1. PRAGMA busy_timeout=5000",
        "  2. retry once",
    ]
    world.run("remedy", "record", "--error", LOCKED, "--technique", "Switch to WAL mode")
    for _ in range(3):
        done = world.run(
            "remedy", "record", "--error", LOCKED, "--technique", "Restart the worker", "--outcome", "failure"
        )
    assert "escalate: 3 failed attempts with the same technique" in done.out
    found = world.run("remedy", "suggest", "--error", "Error: in prepare, database is locked")
    assert (0, "") == (found.status, found.err)
    similar = "(a guess, 1.00 near: OperationalError: database is locked)"
    assert found.out.splitlines() == [
        f"3/4 worked (0.30 at least)  Set a busy timeout {similar}",
        "  1. PRAGMA busy_timeout=5000",
        "  2. retry once",
        f"untried  Switch to WAL mode {similar}",
        "escalate: 3 failed attempts with the same technique, do something else: Restart the worker "
        "(a similar error: OperationalError: database is locked)",
    ]
    nothing = world.run("remedy", "suggest", "--error", "sqlite3.OperationalError: no such table: jobs")
    assert (1, "", "") == (nothing.status, nothing.out, nothing.err)


def test_json_is_as_the_contract_has_it(world: World) -> None:
    """With the fields that were added since."""
    world.run("init")
    world.run("remedy", "record", "--error", LOCKED, "--technique", "Set a timeout", "--outcome", "success")
    found = world.run("remedy", "suggest", "--error", TRACEBACK, "--json").json
    (one,) = listed(found["remedies"])
    assert {"schema", "fingerprint", "error", "line", "remedies", "escalate", "more"} == set(found)
    assert {"technique", "steps", "successes", "failures", "rate", "lower_bound", "last_used", "tried"} < set(one)
    assert (1, 0, 1.0, 0.2065, True) == (
        one["successes"],
        one["failures"],
        one["rate"],
        one["lower_bound"],
        one["tried"],
    )
    for _ in range(3):
        world.run("remedy", "record", "--error", LOCKED, "--technique", "Restart the worker", "--outcome", "failure")
    (escalate,) = listed(world.run("remedy", "suggest", "--error", LOCKED, "--json").json["escalate"])
    assert {
        "technique": "Restart the worker",
        "failures_in_a_row": 3,
        "why": "same",
        "message": "3 failed attempts with the same technique",
    } == escalate
    shown = world.run("remedy", "show", str(found["fingerprint"]), "--json").json
    (error,) = listed(shown["errors"])
    assert [3, 1] == sorted((len(listed(each["attempts"])) for each in listed(error["remedies"])), reverse=True)
    every = listed(world.run("remedy", "list", "--json").json["errors"])
    assert [found["fingerprint"]] == [each["fingerprint"] for each in every]


def test_a_failure_without_anything_to_offer_still_escalates(log: ProjectLog) -> None:
    """Nothing is offered, and what not to do is said."""
    for _ in range(3):
        log.remedy("record", error=LOCKED, technique="Restart the worker", outcome="failure")
    found = suggested(log)
    assert () == found.remedies
    assert ["Restart the worker"] == [one.technique for one in found.withdrawn]
    log.remedy("record", error=LOCKED, technique="Restart the worker", outcome="success")
    assert ["Restart the worker"] == [one.technique for one in suggested(log).remedies]


def test_what_is_kept_of_an_attempt(world: World, log: ProjectLog) -> None:
    """The error folded and redacted, the rest as it was said."""
    log.remedy(
        "record",
        error="ValueError: cannot read /home/me/x.toml with ghp_0123456789abcdefghijABCDEFGHIJ012345",
        technique="  Give it\nits own file ",
        steps=["first\n  second", " "],
        outcome="Success",
        category="config",
        file="src/App.PY",
        pattern="*cannot read*",
        task="t-1",
        agent="build",
        session="s-1",
    )
    (line,) = ledger(world)
    told = {key: value for key, value in line.items() if key not in ("id", "ts", "machine", "fingerprint")}
    assert told == {
        "event": "attempted",
        "of": "",
        "by": "remedy",
        "agent": "build",
        "session": "s-1",
        "task": "t-1",
        "error_type": "ValueError",
        "error": "cannot read <path> with [GitHub token]",
        "line": "ValueError: cannot read [path] with [GitHub token]",
        "marks": ["8 `github` `x.toml` VALUEERROR cannot read token"],
        "technique": "Give it\nits own file",
        "steps": ["first\n  second"],
        "outcome": "success",
        "context": {"agent": "build", "category": "config", "file_type": "py"},
        "pattern": "*cannot read*",
        "v": 1,
    }


def test_another_machine_offers_what_this_one_learned(world: World, log: ProjectLog) -> None:
    """By the same files, later, whoever asks."""
    log.remedy("record", error=LOCKED, technique="Set a busy timeout", outcome="success", agent="build")
    later = world.open(now=NOON + timedelta(days=40)).log
    assert ["Set a busy timeout"] == [one.technique for one in suggested(later, agent="qa").remedies]


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        ("ERROR: upstream pool 7 is Exhausted", True),
        ("all is well\nthe pool was exhausted, says the log\nbye", True),
        ("the pool is empty", False),
    ],
)
def test_a_pattern_means_other_errors_too(log: ProjectLog, error: str, is_one: bool) -> None:
    """Where a line of theirs has it, whatever its case."""
    log.remedy(
        "record",
        error="PoolError: the pool is exhausted",
        technique="Close what you open",
        outcome="success",
        pattern="*pool*exhausted*",
    )
    found = suggested(log, error).remedies
    assert is_one == any(one.tier is RemedyTier.PATTERN for one in found)


def test_a_pattern_that_misses_its_own_error_is_warned_of(world: World) -> None:
    """It is recorded all the same: the next error may have it."""
    world.run("init")
    words = ("remedy", "record", "--error", LOCKED, "--technique", "Wait")
    done = world.run(*words, "--pattern", "*timeout*")
    assert (0, "roamkb: the pattern doesn't match the error that it is recorded with\n") == (
        done.status,
        done.err,
    )
    assert "" == world.run(*words, "--pattern", "*LOCKED*").err


def test_regular_expressions_are_re2s(log: ProjectLog) -> None:
    """Linear in the text, so that what another machine recorded can't hang this one."""
    pytest.importorskip("re2")
    log.remedy("record", error=LOCKED, technique="Wait", outcome="success", regex=r"(?i)\block(ed)?\b")
    evil = "a" * 5_000
    log.remedy("record", error=evil, technique="Give up", outcome="success", regex=r"(a+)+$")
    assert ["Wait"] == [one.technique for one in suggested(log, "FileError: the LOCK is held").remedies]
    assert ["Give up"] == [one.technique for one in suggested(log, evil + "b\n" + "c" + evil).remedies]
    for regex in (r"a(?=b)", "a(b", r"(a)\1"):
        with pytest.raises(UsageError, match="no regular expression of RE2"):
            log.remedy("record", error=LOCKED, technique="Wait", regex=regex)


def test_without_re2_no_regular_expression_is_run(
    world: World, log: ProjectLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is taken, with a hint at the extra; those of other machines are passed over, and it is said."""
    log.remedy("record", error="KeyError: 'a'", technique="Wait", outcome="success")
    path = world.personal / ".roamkb" / "ledger.jsonl"
    (line,) = ledger(world)
    path.write_text(json.dumps({**line, "regex": "(a+)+$"}) + "\n")
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(UsageError) as caught:
        log.remedy("record", error=LOCKED, technique="Wait", regex="lock(ed)?")
    assert "roamkb[serve]" in caught.value.hint
    assert 1 == len(ledger(world))
    found = suggested(log, "a" * 200 + "b")
    assert () == found.remedies
    assert found.warnings[0].startswith("1 regular expressions of errors weren't tried")


@pytest.mark.parametrize("where", ["technique", "steps", "pattern", "category", "error_type", "task"])
def test_a_secret_in_what_was_done_is_refused(world: World, log: ProjectLog, where: str) -> None:
    """It can be said without; what an error holds is masked instead."""
    secret = "use ghp_0123456789abcdefghijABCDEFGHIJ012345"
    said = {"technique": "Renew the token", where: [secret] if where == "steps" else secret}
    with pytest.raises(SecretFound):
        log.remedy("record", error=LOCKED, **said)  # type: ignore[arg-type]
    assert [] == ledger(world)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("record", "--error", "KeyError: 'a'"), "what was done about it?"),
        (("record", "--error", " \n", "--technique", "x"), "there is no error"),
        (("record", "--technique", "x"), "that isn't how"),
        (("record", "a", "--error", "b", "--technique", "x"), "that isn't how"),
        (("record", "--error", "b", "--technique", "x", "--outcome", "maybe"), "no outcome maybe"),
        (("record", "--error", "b", "--technique", "x", "--limit", "3"), "that isn't how"),
        (("record", "--error", "b", "--technique", "x", "--pattern", "*a*"), "means nearly every error"),
        (("record", "--error", "b", "--technique", "x", "--pattern", "abcd", "--regex", "b"), "not both"),
        (("record", "--error", "b", "--technique", "x " * 40_000), "it has at most"),
        (("suggest",), "that isn't how"),
        (("suggest", "--error", "b", "--technique", "x"), "that isn't how"),
        (("suggest", "--error", "b", "--limit", "0"), "--limit takes"),
        (("show",), "that isn't how"),
        (("show", "x", "--error", "b"), "that isn't how"),
        (("list", "x"), "that isn't how"),
        (("forget", "x"), "that isn't how"),
    ],
)
def test_what_makes_no_sense_is_wrong_use(world: World, log: ProjectLog, words: tuple[str, ...], message: str) -> None:
    """With a hint, and nothing is written."""
    call = parse_words(["remedy", *words])
    assert call
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        log.remedy(**call.arguments)  # type: ignore[arg-type]
    assert caught.value.hint or "--" in message or "not both" in message
    assert [] == ledger(world)


def test_nothing_is_captured_without_a_log(world: World) -> None:
    """Nor is anything found."""
    log = world.open().log
    for action, technique in (("record", "x"), ("suggest", None)):
        with pytest.raises(NoLog):
            log.remedy(action, error=LOCKED, technique=technique)
    assert not (world.personal / ".roamkb").exists()


def test_work_goes_into_no_looser_projects_log(world: World, log: ProjectLog) -> None:
    """A stricter session is refused before anything is written; it may ask."""
    log.remedy("record", error=LOCKED, technique="Set a busy timeout", outcome="success")
    before = ledger(world)
    here = ("--project", str(world.personal))
    done = world.run("remedy", "record", "--error", "AcmeError: x", "--technique", "Ask Acme", *here, cwd=world.work)
    assert 3 == done.status
    found = world.run("remedy", "suggest", "--error", LOCKED, *here, cwd=world.work)
    assert 0 == found.status
    assert before == ledger(world)


def test_work_keeps_its_own(world: World) -> None:
    """In its own tree, as `learn` does."""
    log = world.open(world.work).log
    log.init()
    log.remedy("record", error=LOCKED, technique="Set a busy timeout", outcome="success")
    assert ["Set a busy timeout"] == [one.technique for one in suggested(log).remedies]


def test_one_error_or_one_technique_is_shown(log: ProjectLog) -> None:
    """By a fingerprint's beginning, or by what was done, in other words too."""
    for met in (LOCKED, "KeyError: 'a'"):
        log.remedy("record", error=met, technique="Restart the worker", outcome="failure")
    log.remedy("record", error=LOCKED, technique="Set a busy timeout", outcome="success")
    print = suggested(log).fingerprint
    for name in (print.digest, print.digest[:6].upper()):
        (error,) = known(log, "show", name).errors
        assert ["Set a busy timeout", "Restart the worker"] == [one.technique for one in error.remedies]
    found = known(log, "show", "restart the workers.")
    assert ["OperationalError", "KeyError"] == [one.fingerprint.name for one in found.errors]
    assert [["Restart the worker"]] * 2 == [[one.technique for one in each.remedies] for each in found.errors]
    for name in ("0" * 16, "00", "Delete the journal"):
        with pytest.raises(NotFound):
            known(log, "show", name)


def test_the_list_has_a_limit(log: ProjectLog) -> None:
    """The errors that were met last, and how many there are beyond them."""
    assert () == known(log, "list").errors
    for number in range(4):
        log.remedy("record", error=f"Fault{number}Error: odd", technique="Look", outcome="success")
    found = known(log, "list", limit=3)
    assert ["Fault3Error", "Fault2Error", "Fault1Error"] == [one.fingerprint.name for one in found.errors]
    assert 1 == found.more
    offered = suggested(log, "Fault1Error: odd", limit=1)
    assert (1, 0) == (len(offered.remedies), offered.more)


def test_of_many_techniques_the_best_are_offered(log: ProjectLog) -> None:
    """Five, or as many as are asked for; how many more there are is said."""
    for technique in ("vacuum", "reindex", "restart", "wait", "retry", "reboot", "delete"):
        log.remedy("record", error=LOCKED, technique=technique, outcome="success")
    assert (5, 2) == (len(suggested(log).remedies), suggested(log).more)
    assert (7, 0) == (len(suggested(log, limit=9).remedies), suggested(log, limit=9).more)


def test_what_others_recorded_can_do_nothing_in_a_terminal(world: World) -> None:
    """Techniques and steps are text from the log, like any other."""
    world.run("init")
    hostile = "wait\x1b[2J\u202e\nroamkb: all is well"
    world.run("remedy", "record", "--error", LOCKED, "--technique", hostile, "--step", hostile)
    for words in (("suggest", "--error", LOCKED), ("list",), ("show", hostile)):
        done = world.run("remedy", *words)
        assert 0 == done.status
        assert not {"\x1b", "\u202e"} & set(done.out)
        assert "\nroamkb:" not in done.out
        assert "\x1b" not in world.run("remedy", *words, "--json").out


def test_bytes_of_an_old_page_are_no_reason_to_lose_the_error(world: World) -> None:
    """What a program prints isn't always UTF-8."""
    world.run("init")
    words = ("remedy", "record", "--error", "-", "--technique", "Wait", "--outcome", "success")
    assert 0 == world.run(*words, input=b"caf\xe9\n" + LOCKED.encode()).status
    assert 0 == world.run("remedy", "suggest", "--error", LOCKED).status


@settings(max_examples=examples(40), deadline=None)
@given(error=st.text(min_size=1), technique=st.text(min_size=1), steps=st.lists(st.text(), max_size=3))
def test_whatever_is_said_is_kept(world: World, error: str, technique: str, steps: list[str]) -> None:
    """Any text is an error that can be asked for again, or wrong use; nothing between."""
    log = world.open().log
    log.init()
    try:
        done = log.remedy("record", error=error, technique=technique, steps=steps, outcome="success")
    except (UsageError, SecretFound):
        return
    assert isinstance(done, SuggestedRemedies)
    assert done.recorded
    assert technique.strip() == done.recorded.technique
    assert done.fingerprint.digest == suggested(log, error).fingerprint.digest
    assert suggested(log, error, limit=1000).remedies


def test_a_path_is_no_part_of_a_file_type(world: World, log: ProjectLog) -> None:
    """Only what follows the last dot is kept of `--file`."""
    for file in ("Makefile", "/home/me/.env", "a/b.of-another-kind", "a/b.tar.GZ"):
        log.remedy("record", error=LOCKED, technique="Wait", file=file)
    kept = [json.dumps(line["context"]) for line in ledger(world)]
    assert ['{"agent": "agent"}'] * 3 + ['{"agent": "agent", "file_type": "gz"}'] == kept


def test_what_was_for_another_library_is_a_guess(world: World) -> None:
    """Its error reads the same but for a name; the same error's remedy is sure, and comes first."""
    log = world.open().log
    log.init()
    for name in ("libssl-dev", "libpq-dev"):
        log.remedy(
            "record", error=f"E: Unable to locate package {name}", technique=f"add the source of {name}",
            outcome="success",
        )  # fmt: skip
    suggested = log.remedy("suggest", error="E: Unable to locate package libssl-dev")
    assert isinstance(suggested, SuggestedRemedies)
    assert [("add the source of libssl-dev", True), ("add the source of libpq-dev", False)] == [
        (known.technique, known.is_sure) for known in suggested.remedies
    ]
    ran = world.run("remedy", "suggest", "--error", "E: Unable to locate package libssl-dev")
    assert [False, True] == ["a guess" in line for line in ran.out.splitlines()]


def test_an_error_keeps_the_names_of_its_code(world: World) -> None:
    """A module, a class and a column have the form of a host, and end as none does."""
    world.run("init")
    error = "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) no such column: users.email on db7.acme.com"
    world.run("remedy", "record", "--error", error, "--technique", "Migrate the table", "--outcome", "success")
    listed = world.run("remedy", "list").out
    assert "(sqlite3.OperationalError) no such column: users.email on [host]" in listed
