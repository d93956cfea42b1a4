"""An approved line leaves its file again, and nothing else does."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from tests.conftest import Ran
from tests.conftest import World
from tests.human import at_a_terminal
from tests.instructions.test_approve import approve
from tests.instructions.test_approve import content
from tests.instructions.test_approve import proposed
from tests.instructions.test_approve import queue
from tests.instructions.test_propose import CENTS
from tests.instructions.test_propose import RULES
from tests.instructions.test_propose import YEARS
from tests.instructions.test_propose import happened
from tests.instructions.test_propose import rules
from tests.interfaces.page.paged import paging


def applied(world: World, *contents: str, text: str | bytes = RULES, section: str = "Database") -> list[str]:
    """Have `contents` in CLAUDE.md; return the proposals' ids in the order of the learnings."""
    found = proposed(world, *contents, text=text, section=section)
    assert 0 == approve(world, "--all", found["digest"])[0].status
    by_key = {one["key"]: one["id"] for one in found["proposals"]}
    return [by_key[key] for key in sorted(by_key)]


def rollback(world: World, id: str, **more: Any) -> tuple[Ran, str]:
    """Roll back at a terminal."""
    return at_a_terminal(world, "rollback", id, "--reason", "Agents read it wrongly", **more)


@pytest.mark.parametrize(
    ("text", "section"),
    [
        (RULES, "Database"),
        (RULES.replace("\n", "\r\n"), "Style"),
        (RULES.rstrip(), ""),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_the_file_is_as_it_was(world: World, text: str, section: str) -> None:
    """Byte for byte, when the last line goes; who said so and why is remembered."""
    (id,) = applied(world, CENTS, text=text, section=section)
    assert text.encode() != content(world)
    ran, terminal = rollback(world, id)
    assert (0, text.encode()) == (ran.status, content(world)), ran.err
    assert f"-- {CENTS}" in terminal
    (event,) = happened(world, "rolled_back")
    assert ("learning-0", "Agents read it wrongly", True) == (
        event["of"],
        event["reason"],
        bool(event["operator"]),
    )
    assert "took it out" in world.run("promote", "k0", "--to", "CLAUDE.md").out


def test_the_others_stay_and_so_does_what_the_human_wrote(world: World) -> None:
    """Above, below and in the block."""
    first, _ = applied(world, CENTS, YEARS)
    edited = content(world).replace(b"Forward", b"Always forward").replace(b"Tabs.", b"Spaces.\n\nMore.")
    edited = edited.replace(f"- {YEARS}\n".encode(), f"- {YEARS}\nMine.\n".encode())
    rules(world, edited)
    assert 0 == rollback(world, first)[0].status
    assert edited.replace(f"- {CENTS}\n".encode(), b"") == content(world)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (CENTS, CENTS.replace("whole", "entire")),
        (CENTS, "Say it differently altogether"),
        (f"- {CENTS}\n", f"<!-- roamkb:learned end -->\n- {CENTS}\n<!-- roamkb:learned begin -->\n"),
    ],
)
def test_a_line_that_the_human_changed_is_theirs(world: World, old: str, new: str) -> None:
    """Nothing changes, nobody is asked, and it says where to look."""
    (id,) = applied(world, CENTS)
    edited = content(world).replace(old.encode(), new.encode())
    rules(world, edited)
    ran, terminal = rollback(world, id)
    assert (2, "", edited, []) == (ran.status, terminal, content(world), happened(world, "rolled_back"))
    assert "by hand" in ran.err or "move it out" in ran.err


def test_a_crash_before_it_was_remembered_is_settled(world: World) -> None:
    """The line is gone already; it is only remembered, by a human's word."""
    (id,) = applied(world, CENTS)
    rules(world)
    ran, terminal = rollback(world, id)
    assert (0, True, RULES.encode()) == (ran.status, "Nothing changes" in terminal, content(world)), ran.err
    assert 1 == len(happened(world, "rolled_back"))


def test_a_crash_before_the_end_of_the_approval_is_no_hindrance(world: World) -> None:
    """The line is in the file, and the ledger hears of it first."""
    (id,) = applied(world, CENTS)
    ledger = world.personal / ".roamkb" / "ledger.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:-1]))
    assert 0 == rollback(world, id)[0].status
    assert (1, RULES.encode()) == (len(happened(world, "applied")), content(world))


def test_twice_is_once(world: World) -> None:
    """Nobody is asked again."""
    (id,) = applied(world, CENTS)
    assert 0 == rollback(world, id)[0].status
    ran, terminal = rollback(world, id)
    assert (0, "", 1) == (ran.status, terminal, len(happened(world, "rolled_back")))


def test_what_is_in_no_file_cannot_leave_one(world: World) -> None:
    """It waits, or was rejected."""
    (one,) = proposed(world, CENTS)["proposals"]
    assert 2 == rollback(world, one["id"])[0].status
    assert 0 == at_a_terminal(world, "reject", one["id"], "--reason", "no")[0].status
    assert 2 == rollback(world, one["id"])[0].status
    assert [] == queue(world)["proposals"]


def test_a_file_that_moves_while_the_human_thinks(world: World) -> None:
    """Isn't what was shown: status 4, and nothing changes; so where Emacs holds it."""
    (id,) = applied(world, CENTS)
    edited = content(world) + b"More.\n"

    def slowly(word: str) -> str:
        rules(world, edited)
        return word

    assert 4 == rollback(world, id, answer=slowly)[0].status
    (world.personal / ".#CLAUDE.md").symlink_to("me@host.1:2")
    assert 4 == rollback(world, id)[0].status
    assert (edited, []) == (content(world), happened(world, "rolled_back"))


@pytest.mark.parametrize("more", [{"answer": lambda _: "y"}, {"in_background": True}])
def test_only_a_human_can(world: World, more: dict[str, Any]) -> None:
    """And only by the word; a secret is no reason."""
    (id,) = applied(world, CENTS)
    before = content(world)
    assert (2, before) == (rollback(world, id, **more)[0].status, content(world))
    ran, _ = at_a_terminal(world, "rollback", id, "--reason", "key AKIAABCDEFGHIJKLMNOP")
    assert (2, before, []) == (ran.status, content(world), happened(world, "rolled_back"))


def _approvals(world: World) -> dict[str, Any]:
    """What `doctor` says of the lines in rule files."""
    checks = world.run("doctor", "--json").json["checks"]
    return next(check for check in checks if check["name"] == "approvals")


def _supersede(world: World) -> None:
    world.run("learn", "Prices are decimals", "--supersedes", "learning-0")


def _invalidate(world: World) -> None:
    low = ("--accuracy", "0.1", "--relevance", "0.1", "--specificity", "0.1")
    assert 0 == world.run("verify", "learning-0", *low).status


def _forget(world: World) -> None:
    ran, shown = at_a_terminal(world, "forget", "learning-0")
    assert (0, True) == (ran.status, "roamkb rollback " in shown), ran.err


@pytest.mark.parametrize(
    ("lapse", "reason"),
    [
        (_supersede, "another learning replaced its own"),
        (_invalidate, "its learning was found to be wrong"),
        (_forget, "its learning was forgotten"),
    ],
)
def test_a_line_whose_learning_lapsed_is_named_until_it_is_out(
    world: World, lapse: Callable[[World], None], reason: str
) -> None:
    """By the brief, `doctor`, `review` and the page, with the command that takes it out; its human approved it once."""
    first, _ = applied(world, CENTS, YEARS)
    assert (True, 1) == (_approvals(world)["ok"], world.run("review").status)
    lapse(world)
    command = f"roamkb rollback {first[:8]}"
    with paging(world, world.personal) as paged:
        page = unescape(paged.get("/review", cookie=paged.enter()).body.decode())
    part = page.partition("Lines that don’t hold any more")[2].partition("</section>")[0]
    for said in (world.run("brief").out, world.run("review").out, _approvals(world)["detail"], part):
        assert (True, True, True) == (CENTS in said, reason in said, command in said), said
        assert YEARS not in said.partition("what doesn't hold")[2]
    assert ("no human's proof" in world.run("brief").out, _approvals(world)["ok"]) == (False, False)
    (told,) = world.run("review", "--json").json["lapsed"]
    assert (first, "CLAUDE.md", reason) == (told["proposal"], told["target"], told["reason"])
    ran, terminal = rollback(world, first[:8])
    assert (0, True) == (ran.status, f"-- {CENTS}" in terminal), ran.err
    assert (False, True) == (CENTS.encode() in content(world), YEARS.encode() in content(world))
    assert (True, 1) == (_approvals(world)["ok"], world.run("review").status)
    assert "doesn't hold" not in world.run("brief").out
    if lapse is _forget:
        assert CENTS not in (world.personal / ".roamkb" / "ledger.jsonl").read_text()
        assert 2 == rollback(world, first[:8])[0].status
