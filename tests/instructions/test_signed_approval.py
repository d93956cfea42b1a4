"""Lines of rule files that a human approved by touching a key, that one only typed for, and that nobody approved."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from roamkb.log.trust.store import system_programs
from tests.conftest import Ran
from tests.conftest import World
from tests.instructions.test_approve import block
from tests.instructions.test_approve import content
from tests.instructions.test_approve import proposed
from tests.instructions.test_propose import CENTS
from tests.instructions.test_propose import YEARS
from tests.instructions.test_propose import happened
from tests.security_key import KeyRing
from tests.security_key import provider
from tests.trusting import root_of
from tests.trusting import run

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("ssh-keygen")),
    reason="no gcc or ssh-keygen here (Debian: gcc libc6-dev openssh-client)",
)


@pytest.fixture(autouse=True)
def system_root(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which this process, too, looks for root's list."""
    monkeypatch.setattr(system_programs, "SYSTEM_ROOT", root_of(world))
    monkeypatch.setattr(system_programs, "SYSTEM_OWNER", os.getuid())


@pytest.fixture
def ring(world: World, tmp_path_factory: pytest.TempPathFactory) -> KeyRing:
    """A person with hardware to make keys by."""
    return KeyRing(world, provider(tmp_path_factory.getbasetemp()))


def register(ring: KeyRing) -> Path:
    """Register the person's first key."""
    key = ring.make()
    ran, _ = ring.say("trust", "add", "--approver", str(key))
    assert 0 == ran.status, ran.err
    return key


def demand_signed(world: World, entry: str = "signed") -> None:
    """Have the rule demand how a yes is given."""
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(f"{rule.read_text()}\n```roamkb:approval\n{entry}\n```\n")


def approvals(world: World) -> dict[str, Any]:
    """Return what `doctor` says of the lines in rule files."""
    checks = run(world, "doctor", "--json").json["checks"]
    return next(check for check in checks if check["name"] == "approvals")


def brief(world: World) -> str:
    """Return what a session is told at its start."""
    return run(world, "brief").out


def approve(ring: KeyRing, queue: dict[str, Any]) -> Ran:
    """Approve all that waits."""
    return ring.say("approve", "--all", "--digest", queue["digest"])[0]


def test_each_of_several_lines_is_signed_once_and_proved_alone(world: World, ring: KeyRing) -> None:
    """One touch for all of them; where one line of the ledger is lost, the other still has its proof."""
    register(ring)
    ran = approve(ring, proposed(world, CENTS, YEARS))
    assert 0 == ran.status, ran.err
    first, second = happened(world, "approved")
    assert {"signed"} == {first["yes"], second["yes"]}
    assert first["proof"]["signature"] == second["proof"]["signature"]
    assert approvals(world)["ok"]
    ledger = world.personal / ".roamkb" / "ledger.jsonl"
    rest = [line for line in ledger.read_text().splitlines(keepends=True) if first["id"] not in line]
    ledger.write_text("".join(rest))
    told = approvals(world)
    assert (False, 1) == (told["ok"], told["detail"].count("nobody approved it"))
    assert first["text"] in told["detail"]


def test_a_rejection_and_a_rollback_are_signed(world: World, ring: KeyRing) -> None:
    """As each act that the log records."""
    register(ring)
    queue = proposed(world, CENTS, YEARS)
    one, other = queue["proposals"]
    assert 0 == ring.say("reject", one["id"], "--reason", "no")[0].status
    assert 0 == ring.say("approve", other["id"], "--digest", other["digest"])[0].status
    ran, terminal = ring.say("rollback", other["id"], "--reason", "no")
    assert 0 == ran.status, ran.err
    assert "Its four words: " in terminal
    assert ["signed"] * 3 == [event["yes"] for event in happened(world, "rejected", "approved", "rolled_back")]
    assert b"roamkb" not in content(world)


def test_a_line_that_its_human_took_out_again_has_no_proof(world: World, ring: KeyRing) -> None:
    """A program that puts it back finds the old approval in the log, and the rollback behind it."""
    register(ring)
    queue = proposed(world, CENTS)
    (one,) = queue["proposals"]
    assert 0 == ring.say("approve", one["id"], "--digest", one["digest"])[0].status
    assert approvals(world)["ok"]
    with_line = content(world)
    assert 0 == ring.say("rollback", one["id"], "--reason", "it is dangerous")[0].status
    (world.personal / "CLAUDE.md").write_bytes(with_line)
    told = approvals(world)
    assert (False, True) == (told["ok"], "its human rejected it or took it out again" in told["detail"])
    assert "1 line of CLAUDE.md has no human's proof: " in brief(world)


def test_what_is_forgotten_has_a_signed_tombstone(world: World, ring: KeyRing) -> None:
    """Which would count unsigned as well."""
    register(ring)
    proposed(world, CENTS)
    ran, _ = ring.say("forget", "learning-0")
    assert 0 == ran.status, ran.err
    assert ["signed"] == [event["yes"] for event in happened(world, "forgotten")]


def test_a_rule_that_demands_it_takes_no_typed_word(world: World, ring: KeyRing) -> None:
    """Not before there is a key, and not while it isn't here; the file stays as it is."""
    queue = proposed(world, CENTS)
    before = content(world)
    demand_signed(world)
    ran = approve(ring, queue)
    assert (2, before) == (ran.status, content(world))
    assert "demands a signed yes" in ran.err
    key = register(ring)
    away = key.rename(key.with_name("away"))
    public = Path(f"{key}.pub").rename(key.with_name("away.pub"))
    ran = approve(ring, queue)
    assert (2, before) == (ran.status, content(world))
    assert "no approver key signed it" in ran.err
    away.rename(key)
    public.rename(f"{key}.pub")
    ran = approve(ring, queue)
    assert 0 == ran.status, ran.err
    assert ["signed"] == [event["yes"] for event in happened(world, "approved")]


@pytest.mark.parametrize("entry", ["Signed", "signed\ntyped", "", "none"])
def test_a_demand_that_says_neither_closes(world: World, ring: KeyRing, entry: str) -> None:
    """The rule is malformed then, and nothing is written."""
    queue = proposed(world, CENTS)
    before = content(world)
    demand_signed(world, entry)
    ran = approve(ring, queue)
    assert (0 != ran.status, before) == (True, content(world))


def test_a_line_that_nobody_approved_is_named(world: World, ring: KeyRing) -> None:
    """At the start of a session and by `doctor`, with the file and why."""
    proposed(world, CENTS, text=block("obey the agent"), section="")
    assert "1 line of CLAUDE.md has no human's proof: " in brief(world)
    told = approvals(world)
    assert (False, True) == (told["ok"], "nobody approved it" in told["detail"])
    assert ring.world is world


def test_a_typed_line_is_named_where_signed_ones_are_demanded(world: World, ring: KeyRing) -> None:
    """Without the demand it has the proof that was asked for."""
    assert 0 == approve(ring, proposed(world, CENTS)).status
    assert "no human's proof" not in brief(world)
    assert approvals(world)["ok"]
    demand_signed(world)
    assert "no human's proof" in brief(world)
    assert "a typed word alone" in approvals(world)["detail"]


def test_a_forged_signature_is_named(world: World, ring: KeyRing) -> None:
    """The line has an approval that says it is signed, and by no key that counts."""
    register(ring)
    assert 0 == approve(ring, proposed(world, CENTS)).status
    ledger = world.personal / ".roamkb" / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"shown":"', '"shown":"0'))
    told = approvals(world)
    assert "the signature of its approval can't be verified" in told["detail"]
    assert "1 event with a signature that can't be verified" in told["detail"]
