"""A human lets lines into a rule file: just those that were shown, and nobody else can."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from roamkb.core.errors import UsageError
from roamkb.instructions.instruction_block import BEGIN_MARK
from roamkb.instructions.instruction_block import END_MARK
from roamkb.interfaces.output.render import render_result
from tests.conftest import Ran
from tests.conftest import World
from tests.human import at_a_terminal
from tests.instructions.test_propose import CENTS
from tests.instructions.test_propose import DATES
from tests.instructions.test_propose import RULES
from tests.instructions.test_propose import YEARS
from tests.instructions.test_propose import happened
from tests.instructions.test_propose import ready
from tests.instructions.test_propose import rules


def queue(world: World) -> dict[str, Any]:
    """What `review` shows."""
    return render_result("review", world.open().log.review()).as_json


def proposed(world: World, *contents: str, text: str | bytes = RULES, section: str = "Database") -> dict[str, Any]:
    """Propose `contents` for CLAUDE.md; return the queue."""
    ready(world, *contents)
    rules(world, text)
    world.open().log.promote(all=True, to="CLAUDE.md", section=section or None)
    return queue(world)


def approve(world: World, name: str, digest: str, **more: Any) -> tuple[Ran, str]:
    """Approve at a terminal."""
    return at_a_terminal(world, "approve", name, "--digest", digest, **more)


def content(world: World, name: str = "CLAUDE.md") -> bytes:
    """The rule file as it is."""
    return (world.personal / name).read_bytes()


def block(*lines: str, eol: str = "\n") -> str:
    """A block of ours."""
    return "".join(
        f"{line}{eol}" for line in (BEGIN_MARK.decode(), *(f"- {line}" for line in lines), END_MARK.decode())
    )


@pytest.mark.parametrize(
    ("text", "section", "after"),
    [
        (RULES, "Database", RULES.replace("only\n", f"only\n\n{block(CENTS)}")),
        (
            RULES.replace("\n", "\r\n"),
            "Style",
            RULES.replace("\n", "\r\n") + "\r\n" + block(CENTS, eol="\r\n"),
        ),
        (RULES.rstrip(), "", RULES.rstrip() + "\n\n" + block(CENTS).rstrip()),
        ("", "", block(CENTS)),
    ],
    ids=["section", "crlf", "no last newline", "empty"],
)
def test_what_was_shown_is_what_lands(world: World, text: str, section: str, after: str) -> None:
    """Byte for byte; who said so, when, and to which file is remembered."""
    (one,) = proposed(world, CENTS, text=text.encode(), section=section)["proposals"]
    (world.personal / "CLAUDE.md").chmod(0o640)
    ran, terminal = approve(world, one["id"], one["digest"][:12])
    assert 0 == ran.status, ran.err
    assert after.encode() == content(world)
    assert 0o640 == (world.personal / "CLAUDE.md").stat().st_mode & 0o777
    assert all(line in terminal for line in one["diff"].replace("\r", "").splitlines())
    approved, applied = happened(world, "approved", "applied")
    assert one["digest"] == approved["digest"]
    assert ("learning-0", one["id"], "CLAUDE.md") == (applied["of"], applied["proposal"], applied["target"])
    assert approved["operator"] and applied["operator"]


#: A program called `claude` that makes a terminal and types there whatever is asked for.
_CLAUDE = """
import os, pty, re, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown, answered = b"", False
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
    found = re.search(rb"Type (\\S+) to do it: ", shown)
    if found and not answered:
        os.write(fd, found[1] + b"\\n")
        answered = True
print(shown.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def typed_by(world: World, harness: str, *words: str) -> Ran:
    """Run `roamkb` on a terminal that a program of that name has made, and types on."""
    program = world.home / harness
    program.symlink_to(sys.executable)
    done = subprocess.run(
        [program, "-c", _CLAUDE, sys.executable, "-m", "roamkb", *words],
        cwd=world.personal,
        env={**world.environment(), "PWD": str(world.personal), "PYTHONHOME": sys.base_prefix},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(status=done.returncode, out=done.stdout, err=done.stderr)


def test_without_a_digest_it_says_where_that_is_shown(world: World) -> None:
    """Nothing is approved that nobody has seen."""
    (one,) = proposed(world, CENTS)["proposals"]
    ran = world.run("approve", one["id"])
    assert (2, True, True) == (ran.status, "--digest is missing" in ran.err, "`roamkb review`" in ran.err)


@pytest.mark.skipif(sys.platform != "linux", reason="the process table is Linux's")
def test_a_program_that_makes_a_terminal_is_no_human(world: World) -> None:
    """No harness, and no other program that can type as well; an emulator's terminal is a human's."""
    (one,) = proposed(world, CENTS)["proposals"]
    words = ("approve", one["id"], "--digest", one["digest"])
    ran = typed_by(world, "claude", *words)
    assert (2, RULES.encode()) == (ran.status, content(world)), ran
    assert "an agent runs this: the process claude (" in ran.out
    ran = typed_by(world, "somebody", *words)
    assert (2, RULES.encode()) == (ran.status, content(world)), ran
    assert "the terminal was made by somebody (" in ran.out
    # its file is Python's, whatever it calls itself
    ran = typed_by(world, "konsole", *words)
    assert (2, RULES.encode()) == (ran.status, content(world)), ran
    ran, _ = approve(world, one["id"], one["digest"], is_emulator=False)
    assert (2, RULES.encode()) == (ran.status, content(world)), ran
    assert 0 == approve(world, one["id"], one["digest"])[0].status


@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI"])
def test_what_a_harness_sets_says_that_it_is_no_human(mark: str, world: World) -> None:
    """It narrows what may be done, and widens nothing."""
    (one,) = proposed(world, CENTS)["proposals"]
    ran, terminal = approve(world, one["id"], one["digest"], extra={mark: "1"})
    assert (2, "", RULES.encode()) == (ran.status, terminal, content(world))
    assert f"an agent runs this: {mark} is set" in ran.err
    assert 0 == approve(world, one["id"], one["digest"], extra={mark: ""})[0].status


def test_twice_is_once(world: World) -> None:
    """Whatever digest is given, and nobody is asked."""
    (one,) = proposed(world, CENTS)["proposals"]
    assert 0 == approve(world, one["id"], one["digest"])[0].status
    before = content(world)
    ran, terminal = approve(world, one["id"][:8], one["digest"])
    assert (0, "", before, 1) == (ran.status, terminal, content(world), len(happened(world, "applied")))
    assert 1 == world.run("review").status


def test_all_of_them_at_once(world: World) -> None:
    """By the digest of the whole; one of three makes that, and the two others', another."""
    found = proposed(world, CENTS, YEARS, DATES)
    first = found["proposals"][0]
    assert 0 == approve(world, first["id"], first["digest"])[0].status
    for name, digest in (
        ("--all", found["digest"]),
        (found["proposals"][1]["id"], found["proposals"][1]["digest"]),
    ):
        assert 4 == approve(world, name, digest)[0].status
    ran, _ = approve(world, "--all", queue(world)["digest"])
    assert 0 == ran.status, ran.err
    assert RULES.encode() == content(world).replace(
        content(world)[content(world).index(BEGIN_MARK) :].partition(END_MARK)[0] + END_MARK + b"\n\n", b""
    )
    assert (1, 3) == (content(world).count(BEGIN_MARK), len(happened(world, "applied")))


def test_several_files_at_once(world: World) -> None:
    """Each with its own block."""
    proposed(world, CENTS)
    rules(world, name="docs/AGENTS.md")
    assert 0 == world.run("promote", "k0", "--to", "docs/AGENTS.md").status
    ran, terminal = approve(world, "--all", queue(world)["digest"])
    assert 0 == ran.status, ran.err
    assert "b/docs/AGENTS.md" in terminal
    assert CENTS.encode() in content(world) and CENTS.encode() in content(world, "docs/AGENTS.md")


@pytest.mark.parametrize("typed", ["", "yes", "y", "000000"])
def test_only_the_word_is_a_yes(world: World, typed: str) -> None:
    """Anything else leaves everything as it is."""
    (one,) = proposed(world, CENTS)["proposals"]
    ran, _ = approve(world, one["id"], one["digest"], answer=lambda _: typed)
    assert (2, RULES.encode(), []) == (ran.status, content(world), happened(world, "approved", "applied"))


def test_nobody_but_a_human_at_a_terminal(world: World) -> None:
    """No pipe, no job in the background, no library: so no hook, no server and no MCP tool."""
    (one,) = proposed(world, CENTS)["proposals"]
    said = ("approve", one["id"], "--digest", one["digest"])
    assert 2 == world.run(*said, input=one["digest"][:6] + "\n").status
    ran, terminal = at_a_terminal(world, *said, in_background=True)
    assert (2, "") == (ran.status, terminal)
    log = world.open().log
    for act in (
        lambda: log.approve(one["id"], digest=one["digest"]),
        lambda: log.approve(all=True, digest=one["digest"]),
        lambda: log.reject(one["id"], reason="no"),
        lambda: log.rollback(one["id"]),
        lambda: log.review(edit=True),
    ):
        with pytest.raises(UsageError, match="only a human"):
            act()
    assert (RULES.encode(), []) == (content(world), happened(world, "approved", "applied", "rejected"))


def _edit(world: World) -> None:
    rules(world, RULES.replace("Words", "Other words"))


def _supersede(world: World) -> None:
    world.run("learn", "Amounts are decimals by now, everywhere", "--supersedes", "k0")


def _hold(world: World) -> None:
    (world.personal / ".#CLAUDE.md").symlink_to("me@host.1:2")


def _link(world: World) -> None:
    (world.personal / "CLAUDE.md").rename(world.home / "CLAUDE.md")
    (world.personal / "CLAUDE.md").symlink_to(world.home / "CLAUDE.md")


def _lose(world: World) -> None:
    (world.personal / "CLAUDE.md").unlink()


def _rename_section(world: World) -> None:
    rules(world, RULES.replace("Database", "Data"))


CHANGES = [(_edit, 4), (_supersede, 2), (_hold, 4), (_link, 2), (_lose, 2), (_rename_section, 2)]


@pytest.mark.parametrize(("change", "status"), CHANGES)
@pytest.mark.parametrize("is_late", [False, True])
def test_what_changed_since_is_not_what_was_shown(
    world: World, change: Callable[[World], None], status: int, is_late: bool
) -> None:
    """Before the question, or while the human thinks: nothing happens."""
    (one,) = proposed(world, CENTS)["proposals"]

    def slowly(word: str) -> str:
        change(world)
        return word

    if not is_late:
        change(world)
    more = {"answer": slowly} if is_late else {}
    ran, terminal = approve(world, one["id"], one["digest"], **more)
    assert (status, is_late) == (ran.status, bool(terminal)), ran.err
    assert [] == happened(world, "approved", "applied")
    assert not any(CENTS in path.read_text() for path in world.home.rglob("CLAUDE.md"))


def test_what_cannot_land_says_why(world: World) -> None:
    """It stays in the queue behind what can, without a command that would fail."""
    proposed(world, CENTS, YEARS)
    _supersede(world)
    able, unable = queue(world)["proposals"]
    assert (None, "another replaced it", "") == (able["problem"], unable["problem"], unable["digest"])
    ran = world.run("review")
    assert (1, 2) == (ran.out.count("roamkb approve"), ran.out.count("roamkb reject"))
    assert 0 == approve(world, "--all", queue(world)["digest"])[0].status
    assert 1 == len(happened(world, "applied"))


def test_the_harmless_first(world: World) -> None:
    """What orders, has a command, is long or less sure comes later, and says so."""
    ready(
        world,
        "Never write to the replica; " + "it lags " * 30,
        "Run `npm run dev` in the folder web",
        CENTS,
        confidence=90,
    )
    rules(world)
    world.run("promote", "--all", "--to", "CLAUDE.md")
    found = queue(world)["proposals"]
    assert ["k2", "k1", "k0"] == [one["key"] for one in found]
    assert [0, 1, 2] == [len(one["risks"]) for one in found]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_crash_between_the_yes_and_the_end_is_settled(world: World, is_there: bool) -> None:
    """The line is in the file and the ledger doesn't know; or the yes is known and the file has nothing."""
    (one,) = proposed(world, CENTS)["proposals"]
    assert 0 == approve(world, one["id"], one["digest"])[0].status
    after = content(world)
    ledger = world.personal / ".roamkb" / "ledger.jsonl"
    lines = ledger.read_text().splitlines(keepends=True)
    assert '"applied"' in lines[-1]
    ledger.write_text("".join(lines[:-1]))
    if not is_there:
        rules(world)
    ran, terminal = approve(world, one["id"], one["digest"])
    # the same change was shown before, and is asked about again where it is still to be made
    assert (0, not is_there) == (ran.status, bool(terminal)), ran.err
    assert (after, 1) == (content(world), len(happened(world, "applied")))


def test_a_crash_after_all_of_them_landed_is_settled(world: World) -> None:
    """The same call again finds them there, and asks nobody."""
    found = proposed(world, CENTS, YEARS)
    assert 0 == approve(world, "--all", found["digest"])[0].status
    ledger = world.personal / ".roamkb" / "ledger.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:-2]))
    before = content(world)
    ran, terminal = approve(world, "--all", found["digest"])
    assert (0, "", before, 2) == (ran.status, terminal, content(world), len(happened(world, "applied")))


def test_a_name_that_several_have_names_none(world: World) -> None:
    """A learning's key, where it waits for two files."""
    (one,) = proposed(world, CENTS)["proposals"]
    rules(world, name="AGENTS.md")
    world.open().log.promote(["k0"], to="AGENTS.md")
    ran, _ = approve(world, "k0", one["digest"])
    assert (2, True) == (ran.status, "AGENTS.md" in ran.err)


def test_what_the_human_put_there_alone_is_no_approval(world: World) -> None:
    """A line in the block that nobody approved is asked about; nothing changes in the file."""
    proposed(world, CENTS)
    rules(world, RULES + block(CENTS))
    (one,) = queue(world)["proposals"]
    before = content(world)
    ran, terminal = approve(world, one["id"], one["digest"])
    assert (0, True, before) == (ran.status, "Nothing changes" in terminal, content(world)), ran.err


def test_a_rejected_line_stays_rejected(world: World) -> None:
    """With the reason, by a human; it can neither be proposed nor approved again."""
    (one,) = proposed(world, CENTS)["proposals"]
    assert 2 == at_a_terminal(world, "reject", one["id"], "--reason", " ")[0].status
    ran, terminal = at_a_terminal(world, "reject", "k0", "--reason", "Said in the README")
    assert (0, True) == (ran.status, "Said in the README" in terminal), ran.err
    assert "Said in the README" == happened(world, "rejected")[0]["reason"]
    assert "rejected" in world.run("promote", "k0", "--to", "CLAUDE.md").out
    assert 2 == approve(world, one["id"], one["digest"])[0].status
    assert 0 == at_a_terminal(world, "reject", one["id"], "--reason", "Again")[0].status
    assert 1 == len(happened(world, "rejected"))
    assert "Said in the README" in world.run("review", "--all").out
    assert (1, RULES.encode()) == (world.run("review").status, content(world))


def test_the_history_is_told(world: World) -> None:
    """By `explain`, of a learning, and by `review --all`."""
    (one,) = proposed(world, CENTS)["proposals"]
    approve(world, one["id"], one["digest"])
    told = world.run("explain", "k0", "--json").json["history"]
    assert isinstance(told, list)
    assert ["proposed", "approved", "applied"] == [step["event"] for step in told][-3:]
    (settled,) = world.run("review", "--all", "--json").json["settled"]
    assert ["proposed", "approved", "applied"] == [event["event"] for event in settled["history"]]


@pytest.mark.parametrize("target", ["../elsewhere/CLAUDE.md", "/etc/hosts.md", ".git/x.md", "CLAUDE.md"])
def test_a_ledger_of_somebody_else_moves_nothing(world: World, target: str) -> None:
    """Events of another machine propose no other file, no other text, and approve nothing."""
    import json

    from roamkb.core.ids import new_id
    from roamkb.instructions.proposal import proposal_id
    from tests.conftest import NOON

    ready(world, CENTS)
    rules(world)
    told = {
        "of": "learning-0",
        "proposal": proposal_id("learning-0", target),
        "target": target,
        "text": "- Evil",
    }
    events = [
        {"id": new_id(NOON), "ts": "2026-06-10T13:00:00Z", "event": name, **told} for name in ("proposed", "approved")
    ]
    with (world.personal / ".roamkb" / "ledger.jsonl").open("a") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)
    (one,) = queue(world)["proposals"]
    assert (f"- {CENTS}", target == "CLAUDE.md") == (one["text"], one["problem"] is None)
    ran, _ = approve(world, one["id"], one["digest"] or "0" * 12)
    assert (0 if target == "CLAUDE.md" else 2) == ran.status
    assert b"Evil" not in content(world)


@pytest.mark.parametrize(
    "words",
    [("approve", "--digest", "0" * 12), ("approve", "x", "--all", "--digest", "0" * 12), ("approve", "x")],
)
def test_words_that_say_too_little_or_too_much(world: World, words: tuple[str, ...]) -> None:
    """One or all, and always a digest."""
    world.run("init")
    assert 2 == world.run(*words).status


def test_nothing_to_approve(world: World) -> None:
    """Nor a proposal of that name."""
    world.run("init")
    for name in ("--all", "nothing"):
        ran, terminal = approve(world, name, "0" * 12)
        assert (2, "") == (ran.status, terminal)
