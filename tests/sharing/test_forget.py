"""`forget`: a human takes a line out for good, on this machine and on any that meets it again."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from roamkb.log.learning import label_of
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.store.project_log import Log
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import make_world
from tests.human import at_a_terminal

SECRET = "Anna's bonus is the twelfth part of what Bernd earns each year"
OTHER = "Amounts are kept in cents"
KEY = label_of("fact", SECRET)


def git(folder: Path, *words: str) -> str:
    """Run git, and return what it says."""
    command = ["git", "-c", "user.name=me", "-c", "user.email=me@example.org", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def told(world: World) -> World:
    """A log that has the line, told in an observation, a snapshot, an index and another's event."""
    world.run("init")
    world.run("learn", SECRET, "--type", "fact")
    world.run("learn", OTHER)
    world.run("observe", f"he said: {SECRET}", "--session", "s", "--type", "message")
    world.run("observe", "nothing of it", "--session", "s", "--type", "message")
    world.run("recall", "bonus")
    world.run("snapshot")
    return world


def below(world: World, root: Path | None = None) -> bytes:
    """All bytes of the log and its local state, archives unpacked."""
    held = []
    for path in sorted(((root or world.personal) / ".roamkb").rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                held += [archive.read(name) for name in archive.namelist()]
        elif path.is_file():
            held.append(path.read_bytes())
    return b"\n".join(held)


def forget(world: World, name: str = KEY, *, cwd: Path | None = None) -> dict[str, object]:
    """Forget a line as a human does; return the answer."""
    ran, _ = at_a_terminal(world, "forget", name, "--json", cwd=cwd)
    assert 0 == ran.status, ran.err
    return ran.json


def recalled(world: World, cwd: Path | None = None) -> list[str]:
    """The contents that recall and export tell."""
    rows = world.run("export", "--all", cwd=cwd).out.splitlines()
    return [json.loads(row)["content"] for row in rows]


def test_a_human_takes_a_line_out_of_every_file(told: World) -> None:
    """Nothing of its text or its key is left; what else there is, is."""
    assert SECRET.encode() in below(told)
    answer = forget(told)
    assert answer["forgotten"] is True
    assert {"lines", "records", "snapshot"} <= {place["kind"] for place in answer["places"]}  # type: ignore[attr-defined]
    held = below(told)
    for text in (SECRET, KEY, "twelfth part"):
        assert text.encode() not in held
    assert [OTHER] == recalled(told)
    assert b"nothing of it" in held
    assert [] == told.run("snapshot", "restore", "--json").json["learnings"]


def test_the_question_names_each_place_and_another_word_is_no_yes(told: World) -> None:
    """Nothing is written then."""
    before = below(told)
    ran, shown = at_a_terminal(told, "forget", KEY, answer=lambda _: "yes")
    assert 2 == ran.status
    assert SECRET in shown
    assert "knowledge.jsonl: 1 line" in shown
    assert "observations/s.jsonl: 1 line" in shown
    assert before == below(told)


def test_no_agent_forgets(told: World) -> None:
    """Not through a pipe, and not at a terminal of a session; a dry run only lists."""
    before = below(told)
    assert 2 == told.run("forget", KEY, input="forget\n").status
    ran, _ = at_a_terminal(told, "forget", KEY, extra={"AI_AGENT": "x"})
    assert 2 == ran.status
    listed = told.run("forget", KEY, "--dry-run", "--json")
    assert (0, False) == (listed.status, listed.json["forgotten"])
    assert before == below(told)


def test_it_isnt_written_again(told: World) -> None:
    """An agent that says it again is told so; another tool's file with it is skipped.

    So is the same sentence with another ending, spacing or case.
    """
    forget(told)
    said = (SECRET, f" {SECRET.rstrip('.')} ", f"{SECRET.rstrip('.')}!", SECRET.upper(), SECRET.replace(" ", "\n  "))
    for text in said:
        ran = told.run("learn", text, "--type", "gotcha")
        assert (2, True) == (ran.status, "forgotten" in ran.err), text
    source = told.personal / "other.jsonl"
    lines = [json.dumps({"key": f"x{n}", "type": "fact", "content": text}) for n, text in enumerate(said)]
    source.write_text("\n".join(lines) + "\n")
    taken = told.run("ingest", "--file", str(source))
    assert "(0 skipped, already imported); 5 forgotten and not taken" in taken.out
    source.unlink()
    assert b"twelfth part" not in below(told).lower()


def test_a_bundle_that_brings_it_back_is_told_so(told: World) -> None:
    """It isn't known: it was forgotten, and stays so; the rest is known."""
    bundle = str(told.home / "b.jsonl")
    assert 0 == told.run("bundle", "create", bundle, "--all").status
    forget(told)
    for words, done in ((), "would import"), (("--yes",), "imported"):
        ran = told.run("bundle", "import", bundle, *words)
        assert f"{done} as unverified: 0 new, 0 merged, 1 known already, 1 forgotten and not taken" in ran.out
    assert 1 == told.run("bundle", "import", bundle, "--json").json["skipped"]["forgotten"]


def test_audit_and_explain_say_that_it_was_forgotten(told: World) -> None:
    """With its id, its day and its human; never its words."""
    id = str(forget(told)["id"])
    audited = [json.loads(line) for line in told.run("audit").out.splitlines()]
    tombstone = next(action for action in audited if action["action"] == "forgotten")
    assert (id, 0) == (tombstone["id"], tombstone["hidden_lines"])
    assert tombstone["operator"]
    explained = told.run("explain", id)
    assert explained.status
    assert "forgotten on" in explained.err
    # nothing takes it back
    assert 2 == told.run("undo", tombstone["event"]).status


def test_an_alias_that_repeats_it_is_named_and_none_does_so_again(told: World) -> None:
    """An alias is found and told as the statement is."""
    told.run("learn", "Pay is spoken of in June", "--alias", SECRET)
    assert any("which repeats it" in clause for clause in forget(told)["left"])  # type: ignore[attr-defined]
    ran = told.run("learn", "Pay is spoken of in July", "--alias", SECRET)
    assert (2, True) == (ran.status, "had that statement forgotten" in ran.err)


def test_a_promoted_note_is_named_and_stays(told: World) -> None:
    """What lies in the knowledge base is a note, with its own way out."""
    ledger = told.personal / ".roamkb" / "ledger.jsonl"
    id = str(told.run("forget", KEY, "--dry-run", "--json").json["id"])
    with ledger.open("a") as file:
        event = {"id": "01a", "ts": "2026-06-10T00:00:00Z", "event": "promoted", "of": id, "node": "n-1"}
        file.write(json.dumps(event) + "\n")
    note = told.node("n.org", "n-1", "A note", SECRET)
    assert any("roamkb trash n-1" in clause for clause in forget(told)["left"])  # type: ignore[attr-defined]
    assert SECRET in note.read_text()


def test_a_damaged_snapshot_is_named(told: World) -> None:
    """Nobody can say what it holds, so that a human decides."""
    (archive,) = (told.personal / ".roamkb").rglob("*.zip")
    archive.write_bytes(archive.read_bytes()[:-9])
    before = archive.read_bytes()
    answer = forget(told)
    assert any("damaged" in clause for clause in answer["left"])  # type: ignore[attr-defined]
    assert before == archive.read_bytes()
    assert [OTHER] == recalled(told)


def test_every_other_byte_stays(told: World) -> None:
    """Windows' line ends, torn lines, blanks and lines of other tools among them; a torn part of it goes."""
    knowledge = told.personal / ".roamkb" / "knowledge.jsonl"
    ours, other = knowledge.read_bytes().splitlines()
    crlf = b'{"content":"from Windows","type":"fact"}\r\n'
    torn = b'{"key":"x","content":"never fini'
    odd = b'  {"content" : "odd" , "ts":1.50}  \n\nno json\n'
    own_torn = ours[: len(ours) * 2 // 3]
    knowledge.write_bytes(crlf + ours + b"\r\n" + torn + ours + b"\n" + odd + own_torn + b"\n" + other)
    forget(told)
    assert crlf + torn + b"\n" + odd + other == knowledge.read_bytes()


def test_a_line_without_an_id_is_known_by_its_digest(world: World) -> None:
    """As another tool writes them."""
    world.run("init")
    knowledge = world.personal / ".roamkb" / "knowledge.jsonl"
    line = json.dumps({"key": KEY, "type": "fact", "content": SECRET}).encode() + b"\n"
    knowledge.write_bytes(line)
    forget(world)
    assert b"" == knowledge.read_bytes()
    knowledge.write_bytes(line.replace(b'"fact"', b'"learned"'))
    assert [] == recalled(world)


# Clones and merges, by git itself


@pytest.fixture
def committed(told: World) -> World:
    """The log in git, and a clone of it on another machine that has all of it."""
    git(told.personal, "init", "-q", "-b", "main")
    git(told.personal, "add", "-A")
    git(told.personal, "commit", "-qm", "log")
    other = make_world(told.home.parent / "elsewhere")
    git(other.personal.parent, "clone", "-q", str(told.personal), "clone")
    adopt(other, clone_of(other))
    return other


def clone_of(other: World) -> Path:
    """The clone's folder."""
    return other.personal.parent / "clone"


def lines_of(root: Path, name: str) -> bytes:
    """The bytes of one file of the log."""
    return (root / ".roamkb" / name).read_bytes()


def test_gits_history_is_named_and_left_alone(told: World, committed: World) -> None:
    """The command finds the commit without saying what the line was; no commit is another."""
    del committed
    head = git(told.personal, "rev-parse", "HEAD")
    command = str(forget(told)["history_command"])
    assert "twelfth" not in command
    listed = subprocess.run(command, shell=True, cwd=told.personal, check=True, capture_output=True, text=True).stdout
    assert head[:7] in listed
    assert head == git(told.personal, "rev-parse", "HEAD")


@pytest.mark.parametrize("is_theirs_first", [False, True], ids=["merged-here", "merged-there"])
def test_a_union_merge_that_brings_it_back_shows_nothing(
    told: World, committed: World, *, is_theirs_first: bool
) -> None:
    """Whichever side merges the other: the line may stand there again, and nobody is shown it."""
    root = clone_of(committed)
    # next to the line, so that a union keeps both sides
    committed.run("learn", "Sessions last thirty minutes", cwd=root)
    lines = lines_of(root, "knowledge.jsonl").splitlines(keepends=True)
    (root / ".roamkb" / "knowledge.jsonl").write_bytes(lines[-1] + b"".join(lines[:-1]))
    git(root, "commit", "-qam", "theirs")
    id = str(forget(told)["id"])
    git(told.personal, "commit", "-qam", "ours")
    into, source, world = (root, told.personal, committed) if is_theirs_first else (told.personal, root, told)
    git(into, "pull", "-q", "--no-rebase", "--no-edit", str(source), "main")
    assert SECRET not in recalled(world, into)
    assert "twelfth" not in world.run("recall", "bonus", cwd=into).out
    # a line that a merge brought back for sure
    with (into / ".roamkb" / "knowledge.jsonl").open("ab") as file:
        file.write(lines[0])
    assert SECRET not in recalled(world, into)
    audited = world.run("audit", cwd=into).out.splitlines()
    assert any(json.loads(line).get("hidden_lines") for line in audited)
    forget(world, id, cwd=into)
    assert b"twelfth" not in lines_of(into, "knowledge.jsonl")


def test_a_clone_that_still_has_it_shows_it_no_more(told: World, committed: World) -> None:
    """The ledger alone is enough, adopted or not."""
    root = clone_of(committed)
    assert SECRET in recalled(committed, root)
    forget(told)
    (root / ".roamkb" / "ledger.jsonl").write_bytes(lines_of(told.personal, "ledger.jsonl"))
    assert b"twelfth" in lines_of(root, "knowledge.jsonl")
    assert SECRET not in recalled(committed, root)
    # adopted anew, the tombstone is another's, and counts
    third = make_world(told.home.parent / "third")
    git(third.personal.parent, "clone", "-q", str(root), "clone")
    (clone_of(third) / ".roamkb" / "ledger.jsonl").write_bytes(lines_of(root, "ledger.jsonl"))
    assert not any("twelfth" in statement for statement in adopt(third, clone_of(third)).statements)
    assert SECRET not in recalled(third, clone_of(third))


def test_an_interrupted_run_goes_on(told: World) -> None:
    """The tombstone is there and nothing else: the key still finds the line."""
    log = told.personal / ".roamkb"
    before = {path: path.read_bytes() for path in log.glob("knowledge*.jsonl")}
    forget(told)
    for path, data in before.items():
        path.write_bytes(data)
    assert [OTHER] == recalled(told)
    forget(told)
    assert b"twelfth" not in below(told)
    ledger = (log / "ledger.jsonl").read_bytes()
    assert 1 == ledger.count(f'"{FORGOTTEN}"'.encode())


def test_looking_back_doesnt_bring_it_back(told: World) -> None:
    """Not even to the day on which it was known."""
    root = told.personal
    raw = lines_of(root, "knowledge.jsonl")
    forget(told)
    (root / ".roamkb" / "knowledge.jsonl").write_bytes(raw)
    assert "twelfth" not in told.run("export", "--all", "--as-of", "today").out
    state = Log(root, told.state).require_adopted().read_contents().replay_state(as_of=9e9)
    assert [OTHER] == [standing.learning.content for standing in state.standings.values()]
