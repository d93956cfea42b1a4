"""A yes that is signed by a security key, made and verified by real OpenSSH, and 40 ways to pretend one."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from typing import NamedTuple

import pytest

from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.log.jsonl import read_events as read_event_lines
from roamkb.log.proof.event_proof import PROOF_FIELD
from roamkb.log.proof.event_proof import Yes
from roamkb.log.proof.event_proof import signed_message
from roamkb.log.proof.key_signature import decode_base64
from roamkb.log.proof.key_signature import parse_signature
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import is_signed
from roamkb.log.store.project_log import Log
from roamkb.log.trust.store import system_programs
from tests.conftest import World
from tests.conftest import make_world
from tests.security_key import KeyRing
from tests.security_key import provider
from tests.trusting import root_of
from tests.trusting import run

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("ssh-keygen")),
    reason="no gcc or ssh-keygen here (Debian: gcc libc6-dev openssh-client)",
)

KEY = "learned-oauth-redirect-uris-must-match-exactly"
Fields = dict[str, Any]


class Person(NamedTuple):
    """A person with an approver key, and an event that the person signed."""

    ring: KeyRing
    key: Path
    overridden: Fields


@pytest.fixture(autouse=True)
def system_root(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which this process, too, looks for root's list."""
    monkeypatch.setattr(system_programs, "SYSTEM_ROOT", root_of(world))
    monkeypatch.setattr(system_programs, "SYSTEM_OWNER", os.getuid())


@pytest.fixture
def ring(world: World, tmp_path_factory: pytest.TempPathFactory) -> KeyRing:
    """A person with a log of one learning, and hardware to make keys by."""
    run(world, "init")
    run(world, "learn", "OAuth redirect URIs must match exactly")
    return KeyRing(world, provider(tmp_path_factory.getbasetemp()))


@pytest.fixture
def approver(ring: KeyRing) -> Path:
    """The person's first approver key."""
    key = ring.make()
    ran, _ = ring.say("trust", "add", "--approver", str(key))
    assert 0 == ran.status, ran.err
    return key


@pytest.fixture
def overridden(ring: KeyRing, approver: Path) -> Fields:
    """The line of an event that the person signed."""
    assert approver.exists()
    ran, _ = ring.say("override", KEY, "1.0")
    assert 0 == ran.status, ran.err
    return ledger(ring.world)[-1]


def ledger_path(world: World) -> Path:
    """Return the file of the project's events."""
    return world.personal / ".roamkb" / "ledger.jsonl"


def ledger(world: World) -> list[Fields]:
    """Return the lines of the ledger."""
    return [json.loads(line) for line in ledger_path(world).read_text().splitlines()]


def put(world: World, *lines: Fields) -> None:
    """Put lines in place of the whole ledger, as any program of the account can."""
    ledger_path(world).write_text("".join(json.dumps(line) + "\n" for line in lines))


def events(world: World) -> list[LedgerEvent]:
    """Return the events that count, by the keys of this machine."""
    log = Log(world.personal, world.state, account_home=world.home)
    return list(log.read_contents().replay_state().events)


def signed(world: World) -> list[str]:
    """Return the names of the events that count as signed."""
    return [event.event for event in events(world) if is_signed(event)]


def confidence(world: World) -> object:
    """Return what the learning counts, as `explain` says it."""
    return run(world, "explain", KEY, "--json").json["learning"]["confidence"]


def approvers_path(world: World) -> Path:
    """Return the person's own list of keys."""
    return world.state / TRUST_FOLDER / "approvers"


def test_a_yes_is_typed_without_a_key(ring: KeyRing) -> None:
    """And says so."""
    ran, shown = ring.say("override", KEY, "1.0")
    assert (0, "typed") == (ran.status, ledger(ring.world)[-1]["yes"]), ran.err
    assert "four words" not in shown


def test_a_yes_is_signed_with_a_key(ring: KeyRing, overridden: Fields) -> None:
    """The event has what proves it, and counts; the person saw four words for it."""
    assert "signed" == overridden["yes"]
    assert ["overridden"] == signed(ring.world)
    assert 1.0 == confidence(ring.world)
    _, shown = ring.say("override", KEY, "0.9")
    assert "Its four words: " in shown


def test_the_first_key_is_trusted_on_first_use_and_said(ring: KeyRing, approver: Path) -> None:
    """With its date, in text and in JSON."""
    told = run(ring.world, "trust")
    assert "because it was the first" in told.out
    (key,) = run(ring.world, "trust", "--json").json["approvers"]
    assert (str(approver), None) == (key["file"], key["signed_by"])


def test_a_further_key_is_signed_for_by_one_before(ring: KeyRing, approver: Path) -> None:
    """And counts then as the first does."""
    second = ring.make("second")
    ran, _ = ring.say("trust", "add", "--approver", f"{second}.pub")
    assert 0 == ran.status, ran.err
    keys = run(ring.world, "trust", "--json").json["approvers"]
    assert [None, keys[0]["name"]] == [key["signed_by"] for key in keys]
    approver.unlink()
    Path(f"{approver}.pub").unlink()
    ran, _ = ring.say("override", KEY, "1.0")
    assert (0, ["overridden"]) == (ran.status, signed(ring.world)), ran.err


def test_no_key_is_added_without_the_touch_of_one_before(ring: KeyRing, approver: Path) -> None:
    """A typed word is enough for the first alone."""
    second = ring.make("second")
    approver.unlink()
    before = approvers_path(ring.world).read_bytes()
    ran, _ = ring.say("trust", "add", "--approver", str(second))
    assert (2, before) == (ran.status, approvers_path(ring.world).read_bytes())
    assert "none of your approver keys signed" in ran.err


def test_a_removed_key_proves_nothing(ring: KeyRing, approver: Path, overridden: Fields) -> None:
    """Not what it signed before either; nothing follows from that event any more."""
    second = ring.make("second")
    ring.say("trust", "add", "--approver", str(second))
    assert 1.0 == confidence(ring.world)
    name = run(ring.world, "trust", "--json").json["approvers"][0]["name"]
    ran, _ = ring.say("trust", "remove", "--approver", name)
    assert 0 == ran.status, ran.err
    assert (overridden["id"], UNPROVEN) == (events(ring.world)[-1].id, events(ring.world)[-1].event)
    assert 1.0 != confidence(ring.world)
    assert approver.exists()


def test_a_plain_key_is_no_approver(ring: KeyRing) -> None:
    """Any program can use it, without a touch."""
    plain = ring.folder / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", plain], check=True)
    ran, _ = ring.say("trust", "add", "--approver", str(plain))
    assert (2, False) == (ran.status, approvers_path(ring.world).exists())
    assert "no security key" in ran.err


def test_an_untouched_key_signs_nothing(ring: KeyRing, approver: Path) -> None:
    """Some keys sign without being touched, and say so."""
    before = ledger_path(ring.world).read_bytes() if ledger_path(ring.world).exists() else b""
    ran, _ = ring.say("override", KEY, "1.0", SOFTWARE_KEY_FLAGS="0")
    assert 2 == ran.status
    assert "nobody touched the key" in ran.err
    assert before == (ledger_path(ring.world).read_bytes() if before else b"")
    assert approver.exists()


def test_a_key_that_is_not_here_leaves_the_typed_word(ring: KeyRing, approver: Path) -> None:
    """Which is recorded as that."""
    approver.unlink()
    Path(f"{approver}.pub").unlink()
    ran, _ = ring.say("override", KEY, "1.0")
    assert (0, "typed", []) == (ran.status, ledger(ring.world)[-1]["yes"], signed(ring.world)), ran.err


def changed(line: Fields, **fields: object) -> Fields:
    """Return a line with other fields."""
    return {**line, **fields}


def reproved(line: Fields, **fields: object) -> Fields:
    """Return a line whose proof has other fields."""
    return {**line, PROOF_FIELD: {**line[PROOF_FIELD], **fields}}


#: What a program can do to a signed line that it found: each is another line than the one that was signed.
CHANGED_LINES: dict[str, Callable[[Fields], Fields]] = {
    "another confidence": lambda line: changed(line, value=5),
    "another learning": lambda line: changed(line, of="01890000-0000-7000-8000-000000000001"),
    "another act": lambda line: changed(line, event="pinned"),
    "another person": lambda line: changed(line, operator="mallory"),
    "another session": lambda line: changed(line, session="s-2"),
    "another machine": lambda line: changed(line, machine="elsewhere"),
    "another agent": lambda line: changed(line, agent="evil"),
    "a later copy": lambda line: changed(line, id="ffffffff-ffff-7fff-bfff-ffffffffffff"),
    "an earlier copy": lambda line: changed(line, id="00000000-0000-7000-8000-000000000001"),
    "another clock": lambda line: changed(line, ts="2031-01-01T00:00:00.000Z"),
    "one field more": lambda line: changed(line, forever=True),
    "no proof": lambda line: {name: value for name, value in line.items() if name != PROOF_FIELD},
    "an empty proof": lambda line: changed(line, proof={}),
    "a proof that is a text": lambda line: changed(line, proof="signed"),
    "a proof that is a list": lambda line: changed(line, proof=[line[PROOF_FIELD]]),
    "another project": lambda line: reproved(line, project="other"),
    "another diff": lambda line: reproved(line, shown="0" * 64),
    "another event before": lambda line: reproved(line, after="00000000-0000-7000-8000-000000000000"),
    "an event before that came after": lambda line: reproved(line, after="ffffffff-ffff-7fff-bfff-ffffffffffff"),
    "no event before": lambda line: reproved(line, after=None),
    "no signature": lambda line: reproved(line, signature=""),
    "half a signature": lambda line: reproved(line, signature=line[PROOF_FIELD]["signature"][:80]),
    "a signature and more": lambda line: reproved(line, signature=line[PROOF_FIELD]["signature"] + "AAAA"),
    "no base64": lambda line: reproved(line, signature="?" * 40),
    "a way to another root": lambda line: reproved(line, path=["<" + "00" * 32]),
    "a way of no digests": lambda line: reproved(line, path=["<zz"]),
    "a way of numbers": lambda line: reproved(line, path=[1, 2]),
    "a way without an end": lambda line: reproved(line, path=["<" + "00" * 32] * 65),
    "a way that is a text": lambda line: reproved(line, path="<"),
}


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """A person whom many attacks share, since each puts a ledger of its own into place."""
    with pytest.MonkeyPatch.context() as patch:
        world = make_world(tmp_path_factory.mktemp("person") / "home")
        patch.setattr(system_programs, "SYSTEM_ROOT", root_of(world))
        patch.setattr(system_programs, "SYSTEM_OWNER", os.getuid())
        run(world, "init")
        run(world, "learn", "OAuth redirect URIs must match exactly")
        ring = KeyRing(world, provider(tmp_path_factory.getbasetemp()))
        key = ring.make()
        acts: tuple[tuple[str, ...], ...] = (("trust", "add", "--approver", str(key)), ("override", KEY, "1.0"))
        for act in acts:
            assert 0 == ring.say(*act)[0].status
        return Person(ring, key, ledger(world)[-1])


@pytest.fixture
def shared(person: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    """That person, as this process sees whom root trusts."""
    monkeypatch.setattr(system_programs, "SYSTEM_ROOT", root_of(person.ring.world))
    return person


@pytest.mark.parametrize("attack", CHANGED_LINES)
def test_a_changed_line_is_not_signed(shared: Person, attack: str) -> None:
    """Alone, or beside the one that was signed: at most that one counts, once."""
    ring, _, overridden = shared
    forged = CHANGED_LINES[attack](overridden)
    put(ring.world, forged)
    assert [] == signed(ring.world)
    assert {UNPROVEN} == {event.event for event in events(ring.world)}
    put(ring.world, overridden, forged)
    assert signed(ring.world) in ([], ["overridden"])
    assert all(event.fields.get("value") == overridden["value"] for event in events(ring.world) if is_signed(event))


def test_a_line_said_twice_counts_once(shared: Person) -> None:
    """A replay is the same line."""
    ring, _, overridden = shared
    put(ring.world, overridden, overridden, overridden)
    assert ["overridden"] == signed(ring.world)


def forge(ring: KeyRing, key: Path, *, namespace: str = "roamkb", **variables: str) -> Fields:
    """Return a line that is signed by a key as roamkb would have it, without anybody being asked."""
    log = Log(ring.world.personal, ring.world.state, account_home=ring.world.home)
    (standing,) = log.read_contents().replay_state().standings.values()
    event = LedgerEvent(
        id="01f00000-0000-7000-8000-000000000001", ts=1.0, event="overridden", of=standing.id, fields={"value": 5}
    )
    yes = Yes(project=log.home.name, question="?", after="", events=(event,))
    (made,) = yes.with_signature(ring.sign(yes.message, key, namespace=namespace, **variables))
    return {"id": made.id, "ts": "1970-01-01T00:00:01Z", "event": made.event, "of": made.of, **made.fields}


def test_forging_is_tried_as_it_would_work(shared: Person) -> None:
    """The tests below show nothing unless a touched approver key makes just such a line count."""
    ring, approver, _ = shared
    put(ring.world, forge(ring, approver))
    assert (["overridden"], 0.05) == (signed(ring.world), confidence(ring.world))


#: What a key can say of itself that is no touch by a human for this.
UNFIT: dict[str, tuple[str, dict[str, str]]] = {
    "nobody touched it": ("roamkb", {"SOFTWARE_KEY_FLAGS": "0"}),
    "verified, and not touched": ("roamkb", {"SOFTWARE_KEY_FLAGS": "4"}),
    "a signature for git": ("git", {}),
    "a signature for files": ("file", {}),
}


@pytest.mark.parametrize("attack", UNFIT)
def test_an_unfit_signature_is_not_signed(shared: Person, attack: str) -> None:
    """Although it is by an approver's key."""
    ring, approver, _ = shared
    put(ring.world, forge(ring, approver, namespace=UNFIT[attack][0], **UNFIT[attack][1]))
    assert [] == signed(ring.world)


@pytest.mark.parametrize("counter", ["0", "7", "4294967295"])
def test_the_counter_says_nothing(shared: Person, counter: str) -> None:
    """Keys without one have 0; that a line counts once takes no counter."""
    ring, approver, _ = shared
    put(ring.world, forge(ring, approver, SOFTWARE_KEY_COUNTER=counter))
    assert ["overridden"] == signed(ring.world)
    claimed = ledger(ring.world)[0]
    blob = bytearray(decode_base64(claimed[PROOF_FIELD]["signature"]))
    blob[-1] ^= 1
    put(ring.world, reproved(claimed, signature=base64.b64encode(bytes(blob)).decode()))
    assert [] == signed(ring.world)


@pytest.mark.parametrize("kind", ["ed25519-sk", "ed25519", "ecdsa", "rsa"])
def test_another_key_is_not_signed(shared: Person, kind: str) -> None:
    """One that nobody registered, be it a security key or a plain one."""
    ring, approver, _ = shared
    other = ring.folder / f"other-{kind}"
    command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(other)]
    subprocess.run(command, check=True, env={**os.environ, **ring.environment}, capture_output=True)
    put(ring.world, forge(ring, other))
    assert ([], True) == (signed(ring.world), approver.exists())


def test_a_key_that_a_program_adds_to_the_list_does_not_count(ring: KeyRing, overridden: Fields) -> None:
    """Unless one before signed for it: a forged line ends the list, and is said."""
    other = ring.make("other")
    public = " ".join(Path(f"{other}.pub").read_text().split()[:2])
    path = approvers_path(ring.world)
    whole = path.read_text()
    for line in (
        {"do": "add", "key": public, "at": "2026-01-01"},
        {"do": "add", "key": public, "at": "2026-01-01", "signature": overridden[PROOF_FIELD]["signature"]},
    ):
        path.write_text(whole + json.dumps(line) + "\n")
        put(ring.world, overridden, forge(ring, other))
        assert [overridden["id"]] == [event.id for event in events(ring.world) if is_signed(event)]
        assert "no key that counted before signed it" in run(ring.world, "trust").err


def test_a_list_begun_anew_proves_nothing_of_before(ring: KeyRing, overridden: Fields) -> None:
    """A program can have its own key be the first; what the human signed is unproven then, which shows."""
    other = ring.make("other")
    public = " ".join(Path(f"{other}.pub").read_text().split()[:2])
    approvers_path(ring.world).write_text(json.dumps({"do": "add", "key": public, "at": "2027-02-03"}) + "\n")
    assert [] == signed(ring.world)
    assert "2027-02-03 because it was the first" in run(ring.world, "trust").out
    assert overridden["id"] in {event.id for event in events(ring.world) if event.event == UNPROVEN}


def test_a_list_that_others_may_write_does_not_count(ring: KeyRing, overridden: Fields) -> None:
    """Of another group, or by a link to it."""
    path = approvers_path(ring.world)
    path.chmod(0o666)
    assert [] == signed(ring.world)
    path.chmod(0o600)
    assert ["overridden"] == signed(ring.world)
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))
    assert ([], 100) == (signed(ring.world), overridden["value"])


def roots_list(world: World, *lines: str) -> None:
    """Have root keep the approver keys."""
    path = root_of(world) / "etc" / "roamkb" / "approvers"
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in (path.parent.parent, path.parent):
        folder.chmod(0o755)
    path.write_text("".join(f"{line}\n" for line in lines))
    path.chmod(0o644)


def test_roots_list_wins(ring: KeyRing, overridden: Fields) -> None:
    """What the person trusts counts for nothing where root has a list, and only root changes it."""
    other = ring.make("other")
    roots_list(ring.world, "# of the office", Path(f"{other}.pub").read_text().strip())
    assert [] == signed(ring.world)
    ran, _ = ring.say("trust", "add", "--approver", str(other))
    assert (2, True) == (ran.status, "root's" in ran.err)
    assert [None] == [key["signed_by"] for key in run(ring.world, "trust", "--json").json["approvers"]]
    put(ring.world, overridden, forge(ring, other))
    assert ["01f00000-0000-7000-8000-000000000001"] == [event.id for event in events(ring.world) if is_signed(event)]


def test_no_file_of_the_account_says_that_a_signature_holds(ring: KeyRing, overridden: Fields) -> None:
    """A program of the account that says it was verified before has verified nothing."""
    key = parse_signature(decode_base64(overridden[PROOF_FIELD]["signature"]))
    roots_list(ring.world, key.key if key else "")
    forged = changed(overridden, value=5)
    event = next(read_event_lines([json.dumps(forged).encode()]))
    claimed = signed_message(event, project=ring.world.personal.name) if isinstance(event, LedgerEvent) else None
    assert claimed and key
    digests = (hashlib.sha256(claimed[0]).digest(), hashlib.sha256(claimed[1]).digest(), key.key.encode())
    (ring.world.state / TRUST_FOLDER / "verified").write_text(hashlib.sha256(b"\0".join(digests)).hexdigest() + "\n")
    put(ring.world, forged)
    assert [] == signed(ring.world)


def test_a_yes_given_in_another_project_is_none_here(ring: KeyRing, overridden: Fields) -> None:
    """Although a program copied its line, and the learning that it is about."""
    other = ring.world.personal.with_name("other")
    ring.world.personal.rename(other)
    log = Log(other, ring.world.state, account_home=ring.world.home)
    assert overridden in [json.loads(line) for line in log.ledger.read_text().splitlines()]
    assert [] == [event.event for event in log.read_contents().replay_state().events if is_signed(event)]


def test_a_yes_to_words_is_none_to_others(ring: KeyRing, overridden: Fields) -> None:
    """Whoever edits the line that a human vouched for gets no vouching for what it says then."""
    assert 1.0 == confidence(ring.world)
    knowledge = ledger_path(ring.world).with_name("knowledge.jsonl")
    text = knowledge.read_text()
    knowledge.write_text(text.replace("must match exactly", "may be anything"))
    assert overridden in ledger(ring.world)
    assert 1.0 > float(str(confidence(ring.world)))
    knowledge.write_text(text)
    assert 1.0 == confidence(ring.world)


def test_a_human_sees_all_words_that_the_yes_is_to(ring: KeyRing, approver: Path) -> None:
    """However long they are: what stands behind a cut would be signed unread."""
    last = "and the proxy of the old office is asked first"
    text = f"The release is made by hand, {'after the checks are green and the notes are read twice, ' * 8}{last}"
    key = str(run(ring.world, "learn", text, "--json").json["key"])
    ran, shown = ring.say("override", key, "1.0")
    assert (0, True) == (ran.status, last in " ".join(shown.split())), ran.err


def test_an_override_without_a_signature_raises_nothing_where_one_is_demanded(ring: KeyRing, approver: Path) -> None:
    """Whether it says that it was typed or nothing; that something is doubtful may be said without."""
    ran, _ = ring.say("override", KEY, "0.8")
    assert 0 == ran.status, ran.err
    (line,) = [one for one in ledger(ring.world) if one["event"] == "overridden"]
    typed = {name: value for name, value in line.items() if name != PROOF_FIELD}
    for words in ({"yes": "typed"}, {"yes": ""}):
        put(ring.world, {**typed, **words, "value": 100})
        assert 1.0 == confidence(ring.world)
    rule = ring.world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(f"{rule.read_text()}\n```roamkb:approval\nsigned\n```\n")
    assert 1.0 > float(str(confidence(ring.world)))
    put(ring.world, {**typed, "yes": "typed", "value": 20})
    assert 0.2 == confidence(ring.world)
    put(ring.world, line)
    assert 0.8 == confidence(ring.world)


def test_a_broken_list_of_roots_leaves_no_key(ring: KeyRing, overridden: Fields) -> None:
    """It wins also where it says nothing."""
    roots_list(ring.world, "ssh-ed25519 AAAA")
    assert ([], 100) == (signed(ring.world), overridden["value"])
    assert "no security key" in run(ring.world, "trust").err


def test_a_signature_for_another_list_adds_no_key(ring: KeyRing, approver: Path) -> None:
    """It is about the list as it was, so that a line can't be put in earlier or later."""
    second, third = ring.make("second"), ring.make("third")
    for key in (second, third):
        assert 0 == ring.say("trust", "add", "--approver", str(key))[0].status
    path = approvers_path(ring.world)
    first_line, second_line, third_line = path.read_text().splitlines(keepends=True)
    for lines in ((first_line, third_line), (first_line, third_line, second_line), (second_line, first_line)):
        path.write_text("".join(lines))
        keys = run(ring.world, "trust", "--json").json["approvers"]
        assert 1 >= sum(key["signed_by"] is None for key in keys)
        assert len(keys) == 1
    assert approver.exists()


def test_a_signature_says_what_it_is(shared: Person) -> None:
    """Of which key, that it was touched, and with which counter."""
    ring, approver, _ = shared
    parsed = parse_signature(ring.sign(b"anything", approver, SOFTWARE_KEY_COUNTER="9"))
    assert parsed
    assert (1, 9, "", "ssh:") == (parsed.flags, parsed.counter, parsed.fault, parsed.application)
