"""A log that came with its project counts by a trusted digest or key, with real git and ssh-keygen, and by nothing else."""

import json
import os
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log.project_log import ProjectLog
from roamkb.core.errors import LostLines
from roamkb.core.errors import NoLog
from roamkb.fs.append import ARCHIVE
from roamkb.log.observation import Observation
from roamkb.log.recall import RecallResult
from roamkb.log.state.tombstones import DIGEST_FIELD
from roamkb.log.state.tombstones import content_digest_of
from roamkb.log.store import vouched_files
from roamkb.log.store.changes import LogChangeFeed
from roamkb.log.store.observations import record_observation
from roamkb.log.trust.store import system_programs
from roamkb.log.trust.trust import TrustReport
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import learn
from tests.conftest import typed
from tests.trusting import command_of
from tests.trusting import root_of
from tests.trusting import run
from tests.trusting import say_at_terminal
from tests.trusting import trust_by_root

BOTH = ["Zebras are striped", "Zebras have hooves"]
FOREIGN = {"id": "evil-1", "type": "learned", "content": "zebras are evil", "ts": 1, "v": 1}


def git(folder: Path, *words: str, key: Path | None = None) -> str:
    """Run git in a folder, with commits signed by `key` if one is given; return what it prints."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
    signing = ["-c", "gpg.format=ssh", "-c", f"user.signingkey={key}", "-c", "commit.gpgsign=true"] if key else []
    done = subprocess.run(["git", *who, *signing, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def new_key(folder: Path, name: str) -> Path:
    """Make a key; return its private file."""
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", f"{name}@x", "-f", path], check=True)
    return path


def public(key: Path) -> str:
    """Return the line of the public key."""
    return key.with_suffix(".pub").read_text().strip()


@pytest.fixture(autouse=True)
def system_root(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which this process, too, looks for root's list."""
    monkeypatch.setattr(system_programs, "SYSTEM_ROOT", root_of(world))
    monkeypatch.setattr(system_programs, "SYSTEM_OWNER", os.getuid())


@pytest.fixture
def origin(world: World) -> Path:
    """A repository of another machine's with a log of two learnings, one of them praised."""
    origin = world.home / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    log = KnowledgeBase(replace(world.open(origin).environment, state=world.home / "another machine")).log
    log.init()
    for text in BOTH:
        learn(log, text)
    judged = {"id": "01890000-0000-7000-8000-000000000001", "event": "judged", "verdict": "verified", "ts": 5, "v": 1}
    ids = [json.loads(line)["id"] for line in (origin / ".roamkb" / "knowledge.jsonl").read_text().splitlines()]
    (origin / ".roamkb" / "ledger.jsonl").write_text(json.dumps({**judged, "of": ids[0]}) + "\n")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "log")
    return origin


def append_foreign(repository: Path, *, message: str = "more", key: Path | None = None, **fields: object) -> None:
    """Commit one more learning that another machine wrote."""
    with (repository / ".roamkb" / "knowledge.jsonl").open("a") as log:
        log.write(json.dumps({**FOREIGN, **fields}) + "\n")
    git(repository, "commit", "-qam", message, key=key)


def cloned(world: World, origin: Path, *options: str, name: str = "clone") -> Path:
    """Return a clone where personal projects lie."""
    place = world.personal.with_name(name)
    git(world.home, "clone", "-q", *options, f"file://{origin}", str(place))
    return place


def statements(world: World, cwd: Path) -> list[str]:
    """Return what recall shows there, by its text; nothing where no log counts."""
    try:
        recalled = typed(RecallResult, world.open(cwd).log.recall("zebras"))
    except NoLog:
        return []
    return sorted(found.standing.learning.content for found in recalled.learnings)


def report(world: World, folder: Path) -> TrustReport:
    """Return what `trust` says there."""
    return typed(TrustReport, world.open(folder).log.trust())


def digest_of(world: World, folder: Path) -> str:
    """Return the digest of the log there."""
    return report(world, folder).digest


@pytest.mark.parametrize("options", [(), ("--depth", "1"), ("--shared",)])
def test_a_clone_is_recalled_by_a_trusted_digest_and_not_without(
    options: tuple[str, ...], world: World, origin: Path
) -> None:
    """Without any human's step, with its verdicts; before, not one line is shown."""
    clone = cloned(world, origin, *options)
    assert [] == statements(world, clone)
    trust_by_root(world, f"{digest_of(world, origin)} the image's")
    ran = run(world, "recall", "zebras striped", "--json", cwd=clone)
    assert 0 == ran.status
    assert BOTH == statements(world, clone)
    assert "verified" == ran.json["learnings"][0]["verdict"]


def test_a_submodule_is_recalled_by_a_trusted_digest(world: World, origin: Path) -> None:
    """It is on its own, and so is its log."""
    outer = world.personal.with_name("outer")
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "--quiet", "add", f"file://{origin}", "inner")
    assert [] == statements(world, outer / "inner")
    trust_by_root(world, digest_of(world, origin))
    assert BOTH == statements(world, outer / "inner")
    assert [] == statements(world, outer)


def test_lines_behind_the_digest_stay_unseen_until_they_are_trusted_too(world: World, origin: Path) -> None:
    """Whether they are there from the start or a pull brings them; ours are seen, wherever a merge puts them."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    append_foreign(origin)
    late = cloned(world, origin, name="late")
    assert BOTH == statements(world, clone) == statements(world, late)
    learn(world.open(clone).log, "Zebras sleep standing")
    git(clone, "commit", "-qam", "ours")
    git(clone, "pull", "-q", "--no-rebase", "--no-edit")
    assert "evil" in (clone / ".roamkb" / "knowledge.jsonl").read_text()
    ours = [*BOTH, "Zebras sleep standing"]
    assert sorted(ours) == statements(world, clone)
    assert 1 == report(world, clone).unseen
    trust_by_root(world, digest_of(world, origin), digest_of(world, clone))
    assert sorted([*ours, "zebras are evil"]) == statements(world, clone)


@pytest.mark.parametrize("is_long", [False, True])
def test_a_changed_line_is_not_the_one_that_was_trusted(
    is_long: bool, world: World, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id is the same, its words aren't; also where the lines of a long log were compared before."""
    monkeypatch.setattr(vouched_files, "_MOST_COMPARED", 0 if is_long else 10**9)
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    assert BOTH == statements(world, clone) == statements(world, clone)
    log = clone / ".roamkb" / "knowledge.jsonl"
    before = log.read_text()
    log.write_text(before + json.dumps(FOREIGN) + "\n")
    assert BOTH == statements(world, clone)
    log.write_text(before.replace("are striped", "are evil"))
    assert [] == statements(world, clone)
    assert 1 == report(world, clone).missing
    tampered = cloned(world, clone, name="tampered")
    (tampered / ".roamkb" / "knowledge.jsonl").write_text(log.read_text())
    assert [] == statements(world, tampered)


def test_commits_by_a_trusted_key_vouch_for_the_log_in_their_tree(world: World, origin: Path, tmp_path: Path) -> None:
    """Not those of another key or of none; the next signed one takes in what was committed before it."""
    ours, theirs = new_key(tmp_path, "ours"), new_key(tmp_path, "theirs")
    trust_by_root(world, public(ours))
    clone = cloned(world, origin)
    assert [] == statements(world, clone)
    git(origin, "commit", "-q", "--allow-empty", "-m", "theirs", key=theirs)
    git(clone, "pull", "-q")
    assert [] == statements(world, clone)
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=ours)
    git(clone, "pull", "-q")
    assert BOTH == statements(world, clone)
    append_foreign(origin, key=theirs)
    git(clone, "pull", "-q")
    assert BOTH == statements(world, clone) == statements(world, cloned(world, origin, name="second"))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed again", key=ours)
    git(clone, "pull", "-q")
    assert [*BOTH, "zebras are evil"] == statements(world, clone)
    assert [*BOTH, "zebras are evil"] == statements(world, cloned(world, origin, "--depth", "1", name="third"))


def test_who_signs_a_merge_vouches_for_what_was_merged(world: World, origin: Path, tmp_path: Path) -> None:
    """The signature is over the tree, which has it; a signed side branch vouches for its own lines alone."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    git(origin, "switch", "-qc", "side")
    append_foreign(origin)
    git(origin, "switch", "-q", "main")
    append_foreign(origin, id="other", content="zebras are late", key=key)
    git(origin, "merge", "-q", "--no-edit", "side")
    unsigned = cloned(world, origin, name="unsigned")
    assert [*BOTH, "zebras are late"] == statements(world, unsigned)
    git(origin, "commit", "-q", "--amend", "--no-edit", key=key)
    assert [*BOTH, "zebras are evil", "zebras are late"] == statements(world, cloned(world, origin))


def test_a_key_counts_until_its_day_and_until_it_is_removed(world: World, origin: Path, tmp_path: Path) -> None:
    """By today's date, not by the commit's, which its author sets; then its lines aren't seen, and ours are."""
    key = new_key(tmp_path, "ours")
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    clone = cloned(world, origin)
    trust_by_root(world, f"until=2020-01-01 {public(key)}")
    assert [] == statements(world, clone)
    trust_by_root(world, f"until=2999-01-01 {public(key)}")
    assert BOTH == statements(world, clone)
    learn(world.open(clone).log, "Zebras sleep standing")
    trust_by_root(world)
    assert ["Zebras sleep standing"] == statements(world, clone)


def test_a_line_that_was_taken_out_again_takes_the_signature_with_it(
    world: World, origin: Path, tmp_path: Path
) -> None:
    """What says that another is outdated can't be left out of what was signed."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    (origin / ".roamkb" / "ledger.jsonl").write_text("")
    git(origin, "commit", "-qam", "unsigned")
    assert [] == statements(world, cloned(world, origin))


def verdicts(world: World, folder: Path) -> list[str]:
    """Return the verdicts of what is shown there, in alphabetical order."""
    standings = world.log(folder).require_adopted().read_contents().replay_state().standings.values()
    return sorted(standing.verdict for standing in standings)


@pytest.mark.parametrize("how", ["emptied", "replaced", "moved", "a learning"])
def test_what_was_signed_is_not_taken_out_by_an_unsigned_pull(
    how: str, world: World, origin: Path, tmp_path: Path
) -> None:
    """The clone shows no learning without its verdict; it counts again once the line is back, or was signed away."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    clone = cloned(world, origin)
    assert ["unverified", "verified"] == verdicts(world, clone)
    knowledge, ledger = (origin / ".roamkb" / name for name in ("knowledge.jsonl", "ledger.jsonl"))
    event = ledger.read_text()
    if how == "a learning":
        knowledge.write_text(knowledge.read_text().partition("\n")[2])
    else:
        ledger.write_text(event.replace("verified", "unsure") if how == "replaced" else "")
    if how == "moved":
        knowledge.write_text(knowledge.read_text() + event)
    git(origin, "commit", "-qam", "unsigned")
    git(clone, "pull", "-q")
    assert [] == statements(world, clone) == statements(world, clone)
    with pytest.raises(LostLines):
        learn(world.open(clone).log, "Zebras sleep standing")
    told = report(world, clone)
    assert (1, ()) == (told.missing, told.vouchers)
    (line,) = told.missing_lines
    assert (BOTH[0] if how == "a learning" else "judged ") in line
    if how == "emptied":
        ran = run(world, "recall", "zebras", cwd=clone)
        assert (2, True) == (ran.status, "1 line of it" in ran.err and "roamkb trust" in ran.err)
        payload = json.dumps({"session_id": "s", "cwd": str(clone), "hook_event_name": "SessionStart"})
        done = subprocess.run(
            command_of(world, "hook", "session-start"),
            cwd=clone, env=world.environment(), input=payload, text=True, capture_output=True, check=True,
        )  # fmt: skip
        assert "isn't what was signed" in done.stdout
        git(clone, "checkout", "-q", "HEAD~1", "--", ".roamkb")
        assert ["unverified", "verified"] == verdicts(world, clone)
        git(clone, "checkout", "-q", "HEAD", "--", ".roamkb")
        assert [] == statements(world, clone)
        adopt(world, clone)
        assert ["unverified", "unverified"] == verdicts(world, clone)
    else:
        git(origin, "commit", "-q", "--allow-empty", "-m", "signed away", key=key)
        git(clone, "pull", "-q")
        assert (BOTH[1:] if how == "a learning" else BOTH) == statements(world, clone)
        assert 0 == report(world, clone).missing


def test_a_signed_verdict_does_not_come_and_go_in_one_pull(world: World, origin: Path, tmp_path: Path) -> None:
    """The files are as they were, and the history has what they should have; so has one that was left behind."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    clone = cloned(world, origin)
    assert BOTH == statements(world, clone)
    ledger = origin / ".roamkb" / "ledger.jsonl"
    before = ledger.read_text()
    ledger.write_text(before + before.replace("verified", "invalidated").replace("0001", "0002"))
    git(origin, "commit", "-qam", "signed verdict", key=key)
    ahead = cloned(world, origin, name="ahead")
    assert ["invalidated", "unverified"] == verdicts(world, ahead)
    ledger.write_text(before)
    git(origin, "commit", "-qam", "unsigned")
    git(clone, "pull", "-q")
    assert [] == statements(world, clone)
    git(ahead, "reset", "-q", "--hard", "HEAD~1")
    assert [] == statements(world, ahead)
    assert ["judged"] == [line.split()[1] for line in report(world, ahead).missing_lines]
    git(ahead, "reset", "-q", "--hard", "ORIG_HEAD")
    assert ["invalidated", "unverified"] == verdicts(world, ahead)


@pytest.mark.parametrize("by", ["key", "digest"])
def test_rotation_and_forgetting_take_nothing_out(by: str, world: World, origin: Path, tmp_path: Path) -> None:
    """Whether it was done here or a pull brings it; a digest's clone can't tell what another forgot, and says so."""
    key = new_key(tmp_path, "ours")
    knowledge, ledger = (origin / ".roamkb" / name for name in ("knowledge.jsonl", "ledger.jsonl"))
    (id, *_) = [json.loads(line)["id"] for line in knowledge.read_text().splitlines()]
    noted = {"id": "01890000-0000-7000-8000-000000000002", "event": "flagged", "of": "x", "v": 1, "ts": 6}
    ledger.write_text(ledger.read_text() + json.dumps({**noted, "reason": BOTH[0]}) + "\n")
    git(origin, "commit", "-qam", "signed", key=key)
    trust_by_root(world, public(key) if by == "key" else digest_of(world, origin))
    clone, other = cloned(world, origin), cloned(world, origin, name="other")
    assert BOTH == statements(world, clone) == statements(world, other)
    first, _, rest = knowledge.read_text().partition("\n")
    (origin / ".roamkb" / ARCHIVE).write_text(first + "\n")
    knowledge.write_text(rest)
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "rotated")
    git(clone, "pull", "-q")
    git(other, "pull", "-q")
    assert BOTH == statements(world, clone) == statements(world, other)
    kb = world.open(other)
    ProjectLog(kb.environment, kb, folder=None, human=Yes()).forget(id)
    assert BOTH[1:] == statements(world, other)
    git(other, "commit", "-qam", "forgotten")
    git(clone, "pull", "-q", str(other))
    assert (BOTH[1:] if by == "key" else []) == statements(world, clone)
    if by == "key":
        events = world.log(clone).read_contents().events
        assert ["[forgotten]"] == [event.fields["reason"] for event in events if event.id == noted["id"]]
        assert BOTH[1:] == statements(world, cloned(world, other, name="fresh"))
    else:
        trust_by_root(world, digest_of(world, origin), digest_of(world, other))
        assert BOTH[1:] == statements(world, clone)


def test_a_record_of_an_earlier_form_is_made_anew(world: World, origin: Path) -> None:
    """It told learnings and events not apart; what this machine appended stays seen, and its vouchers count as before."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    learn(world.open(clone).log, "Zebras sleep standing")
    (path,) = (world.state / "adopted").iterdir()
    head, summary, marks = path.read_bytes().split(b"\n", 2)
    vouchers = [[name, learnings + events] for name, learnings, events in json.loads(summary)["vouchers"]]
    summary = json.dumps({"vouchers": vouchers, "looked": "", "seen_whole": []}).encode()
    path.write_bytes(b"\n".join((b"2" + head[1:], summary, marks)))
    assert sorted([*BOTH, "Zebras sleep standing"]) == statements(world, clone)
    assert path.read_bytes().startswith(b"3 ")


def test_a_human_takes_the_rest_as_nobodys_word(world: World, origin: Path) -> None:
    """It is unverified and at most half sure; what was vouched for stays as it was."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    assert BOTH == statements(world, clone)
    append_foreign(origin, confidence=90)
    git(clone, "pull", "-q")
    assert ("[LEARNED] zebras are evil",) == adopt(world, clone).statements
    standings = world.log(clone).read_contents().replay_state().standings.values()
    assert {"Zebras are striped": "verified", "Zebras have hooves": "unverified", "zebras are evil": "unverified"} == {
        entry.learning.content: entry.verdict for entry in standings
    }
    assert [50] == [entry.confidence for entry in standings if entry.learning.id == "evil-1"]


def test_a_tombstone_counts_whoever_wrote_it(world: World, origin: Path) -> None:
    """It only takes away; a line that says more than that isn't seen."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    (id, *_) = [json.loads(line)["id"] for line in (origin / ".roamkb" / "knowledge.jsonl").read_text().splitlines()]
    forgotten = {"id": "01890000-0000-7000-8000-000000000009", "event": "forgotten", "of": id}
    forgotten |= {DIGEST_FIELD: content_digest_of(BOTH[0])}
    praise = {"id": "01890000-0000-7000-8000-000000000010", "event": "overridden", "of": id, "value": 100}
    ledger = clone / ".roamkb" / "ledger.jsonl"
    before = ledger.read_text()
    assert BOTH == statements(world, clone)
    ledger.write_text(before + json.dumps(forgotten) + json.dumps(praise) + "\n")
    assert BOTH == statements(world, clone)
    ledger.write_text(before + json.dumps(forgotten) + "\n" + json.dumps(praise) + "\n")
    assert BOTH[1:] == statements(world, clone)
    assert 1 == report(world, clone).unseen


def test_a_line_that_calls_itself_a_tombstone_says_nothing(world: World, origin: Path) -> None:
    """Among the learnings it would be a statement, and with the id of a vouched event it would stand in its place."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    tombstone = {"id": "01890000-0000-7000-8000-000000000009", "event": "forgotten", "of": "nothing"}
    with (clone / ".roamkb" / "knowledge.jsonl").open("a") as log:
        log.write(json.dumps({**FOREIGN, **tombstone}) + "\n")
    with (clone / ".roamkb" / "ledger.jsonl").open("a") as ledger:
        ledger.write(
            json.dumps({**tombstone, "id": "01890000-0000-7000-8000-000000000001", "by": "[forgotten]"}) + "\n"
        )
    assert BOTH == statements(world, clone)
    assert ["unverified", "verified"] == sorted(
        entry.verdict for entry in world.log(clone).read_contents().replay_state().standings.values()
    )


# Who may trust


def test_only_a_human_at_a_terminal_adds_and_removes(world: World, origin: Path) -> None:
    """Who sees what it means, in their own list; then it counts as root's does."""
    digest = digest_of(world, origin)
    clone = cloned(world, origin)
    for extra in ({}, {"CLAUDECODE": "1"}):
        ran = run(world, "trust", "add", digest, cwd=clone, extra=extra)
        assert (2, True) == (ran.status, "only a human" in ran.err or "terminal" in ran.err)
    ran, _ = say_at_terminal(world, "trust", "add", digest, cwd=clone, is_emulator=False)
    assert 2 == ran.status
    assert [] == statements(world, clone)
    ran, shown = say_at_terminal(world, "trust", "add", digest, "of the CI", cwd=clone)
    assert (0, True) == (ran.status, "Zebras are striped" in shown), ran.err
    path = world.state / "trust" / "trusted"
    assert (0o600, f"{digest} of the CI\n") == (path.stat().st_mode & 0o777, path.read_text())
    assert BOTH == statements(world, clone)
    assert 2 == run(world, "trust", "remove", digest, cwd=clone).status
    ran, _ = say_at_terminal(world, "trust", "remove", digest, cwd=clone)
    assert (0, "") == (ran.status, path.read_text())
    assert [] == statements(world, clone)


def test_what_root_trusts_only_root_removes(world: World, origin: Path) -> None:
    """And what isn't trusted can't be removed, nor what is neither digest nor key be added."""
    digest = digest_of(world, origin)
    trust_by_root(world, digest)
    ran, shown = say_at_terminal(world, "trust", "remove", digest)
    assert (2, True, "") == (ran.status, "root's list" in ran.err, shown)
    for words in (("remove", "SHA256:none"), ("add", "ssh-ed25519 nonsense"), ("add",), ("list", "x"), ("frob", "x")):
        ran = run(world, "trust", *words)
        assert 2 == ran.status, words


def test_init_without_a_terminal_adopts_nothing_foreign(world: World, origin: Path) -> None:
    """Also with --yes, and by whomever; where a digest vouches it has nothing to ask."""
    clone = cloned(world, origin)
    for words in (("init",), ("init", "--yes")):
        ran = run(world, *words, cwd=clone)
        assert (2, True) == (ran.status, "only a human" in ran.err)
        assert [] == statements(world, clone)
    trust_by_root(world, digest_of(world, origin))
    assert 0 == run(world, "init", "--yes", cwd=clone).status
    assert BOTH == statements(world, clone)
    append_foreign(origin)
    git(clone, "pull", "-q")
    assert 0 == run(world, "init", "--yes", cwd=clone).status
    assert BOTH == statements(world, clone)


def test_a_home_that_only_a_variable_names_has_no_list(world: World, origin: Path) -> None:
    """As in a container without an entry for its user."""
    digest = digest_of(world, origin)
    clone = cloned(world, origin)
    folder = world.state / "trust"
    folder.mkdir(mode=0o700, parents=True)
    (folder / "trusted").write_text(digest + "\n")
    around = replace(world.open(clone).environment, is_account_known=False)
    with pytest.raises(NoLog):
        KnowledgeBase(around).log.recall("zebras")
    assert BOTH == statements(world, clone)


# Forgeries


@pytest.mark.parametrize("fault", ["writable", "folder writable", "link", "folder link", "no list"])
def test_a_list_that_others_could_write_counts_for_nothing(fault: str, world: World, origin: Path) -> None:
    """Nor one behind a link; `doctor` says so."""
    path = trust_by_root(world, digest_of(world, origin))
    if fault == "writable":
        path.chmod(0o666)
    elif fault == "folder writable":
        path.parent.chmod(0o777)
    elif fault == "link":
        path.rename(path.with_name("other"))
        path.symlink_to("other")
    elif fault == "folder link":
        path.parent.rename(path.parent.with_name("other"))
        path.parent.symlink_to("other")
    else:
        path.unlink()
        path.mkdir()
    assert [] == statements(world, cloned(world, origin))
    assert report(world, world.personal).faults


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_list_of_somebody_elses_is_not_roots(world: World, origin: Path) -> None:
    """Nor is one in another's folder."""
    path = trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    for place in (path, path.parent):
        os.chown(place, 1234, 1234)
        assert [] == statements(world, clone)
        os.chown(place, 0, 0)


def test_no_variable_and_no_file_of_the_project_widens_trust(world: World, origin: Path, tmp_path: Path) -> None:
    """Git's configuration and variables, homes of one's own, and programs of git's and ssh's names."""
    ours, theirs = new_key(tmp_path, "ours"), new_key(tmp_path, "theirs")
    trust_by_root(world, public(ours))
    git(origin, "commit", "-q", "--allow-empty", "-m", "theirs", key=theirs)
    clone = cloned(world, origin)
    forged = tmp_path / "forged"
    for folder in (forged / ".local/state/roamkb/trust", forged / "roamkb/trust", forged / "bin", forged / "etc"):
        folder.mkdir(parents=True, mode=0o700)
    for place in (".local/state/roamkb/trust/trusted", "roamkb/trust/trusted"):
        (forged / place).write_text(digest_of(world, origin) + "\n")
    for program in ("git", "ssh-keygen"):
        (forged / "bin" / program).write_text(f"#!/bin/sh\ntouch {forged}/ran\nexit 0\n")
        (forged / "bin" / program).chmod(0o755)
    allowed = forged / "allowed"
    allowed.write_text(f"* {public(theirs)}\n")
    git(clone, "config", "gpg.ssh.program", str(forged / "bin" / "ssh-keygen"))
    git(clone, "config", "gpg.ssh.allowedSignersFile", str(allowed))
    git(clone, "config", "core.fsmonitor", str(forged / "bin" / "git"))
    git(clone, "config", "core.sshCommand", str(forged / "bin" / "git"))
    for extra in (
        {"HOME": str(forged)},
        {"XDG_STATE_HOME": str(forged), "XDG_CONFIG_HOME": str(forged)},
        {"PATH": f"{forged / 'bin'}:{os.environ['PATH']}"},
        {"GIT_DIR": str(origin / ".git"), "GIT_CONFIG_GLOBAL": str(allowed), "GIT_EXEC_PATH": str(forged / "bin")},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gpg.ssh.allowedSignersFile", "GIT_CONFIG_VALUE_0": str(allowed)},
    ):
        ran = run(world, "recall", "zebras", cwd=clone, extra=extra)
        assert (2, "") == (ran.status, ran.out), extra
    assert not (forged / "ran").exists()


@pytest.mark.parametrize("how", ["blob", "replace", "copied signature"])
def test_objects_that_are_not_what_their_names_say_count_for_nothing(
    how: str, world: World, origin: Path, tmp_path: Path
) -> None:
    """Whoever writes to .git can put other bytes there; a signature on another commit is none."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    clone = cloned(world, origin)
    log = clone / ".roamkb" / "knowledge.jsonl"
    true_id = git(clone, "rev-parse", "HEAD:.roamkb/knowledge.jsonl")
    log.write_text(log.read_text() + json.dumps(FOREIGN) + "\n")
    forged_id = git(clone, "hash-object", "-w", str(log))
    if how == "blob":
        packs = list((clone / ".git/objects/pack").iterdir())
        content = {path: path.read_bytes() for path in packs if path.suffix == ".pack"}
        for path in packs:
            path.unlink()
        for data in content.values():
            subprocess.run(["git", "unpack-objects", "-q"], cwd=clone, input=data, check=True)
        objects = clone / ".git" / "objects"
        target = objects / true_id[:2] / true_id[2:]
        target.chmod(0o644)
        target.write_bytes((objects / forged_id[:2] / forged_id[2:]).read_bytes())
    elif how == "replace":
        git(clone, "replace", true_id, forged_id)
    else:
        git(clone, "add", "-A")
        tree, signed = git(clone, "write-tree"), git(clone, "cat-file", "commit", "HEAD")
        forged = f"tree {tree}\n{signed.partition(chr(10))[2]}\n"
        done = subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=clone, input=forged, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        git(clone, "reset", "-q", "--soft", done.stdout.strip())
    assert "zebras are evil" not in statements(world, clone)


def test_a_lost_record_shows_nothing_more(world: World, origin: Path) -> None:
    """Who removes it is left with what is vouched for."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    append_foreign(origin)
    git(clone, "pull", "-q")
    assert BOTH == statements(world, clone)
    for path in (world.state / "adopted").iterdir():
        path.unlink()
    assert BOTH == statements(world, clone)
    for path in (world.state / "adopted").iterdir():
        path.unlink()
    trust_by_root(world)
    assert [] == statements(world, clone)


def test_what_else_git_brings_is_not_taken_in_by_itself(world: World, origin: Path) -> None:
    """No hook imports another tool's file where nobody adopted it; a server's feed tells what is seen."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    feed = LogChangeFeed(world.log(clone))
    append_foreign(origin)
    git(clone, "pull", "-q")
    feed.collect_changes()
    assert BOTH == sorted(str(change.details["content"]) for change in feed.news if "content" in change.details)
    folder = clone / ".beads" / "memory"
    folder.mkdir(parents=True)
    (folder / "knowledge.jsonl").write_text(json.dumps({**FOREIGN, "key": "learned-x"}) + "\n")
    payload = json.dumps({"session_id": "s", "cwd": str(clone), "hook_event_name": "SessionStart"})
    done = subprocess.run(
        command_of(world, "hook", "session-start"),
        cwd=clone, env=world.environment(), input=payload, text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert "zebras are evil" not in done.stdout
    assert BOTH == statements(world, clone)


def test_local_state_that_git_brings_is_no_word_of_ours(world: World, origin: Path) -> None:
    """Observations that are pulled aren't made learnings of."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    assert BOTH == statements(world, clone)
    said = Observation(id="o", ts=1.0, type="insight", text="The relay host keeps evil zebras of its own", session="s")
    record_observation(clone / ".roamkb" / "local", said)
    world.open(clone).log.consolidate("session", "s")
    assert BOTH == statements(world, clone)
    record_observation(world.log(clone).local_folder, said)
    world.open(clone).log.consolidate("session", "s")
    assert BOTH != statements(world, clone)


def test_what_is_taken_out_or_put_back_stays_seen_and_unseen(world: World, origin: Path) -> None:
    """A snapshot keeps no line that isn't shown."""
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    append_foreign(origin)
    git(clone, "pull", "-q")
    learn(world.open(clone).log, "Zebras sleep standing")
    world.open(clone).log.snapshot()
    log = clone / ".roamkb" / "knowledge.jsonl"
    before = log.read_text()
    (kept,) = (world.log(clone).local_folder / "snapshots").iterdir()
    with zipfile.ZipFile(kept) as archive:
        assert not any(b"evil" in archive.read(name) for name in archive.namelist())
    log.write_text(
        "".join(
            line
            for line in before.splitlines(keepends=True)
            if not {"sleep", "evil"} & {*line.replace('"', " ").split()}
        )
    )
    world.open(clone).log.snapshot("restore", yes=True)
    assert "evil" not in log.read_text()
    assert sorted([*BOTH, "Zebras sleep standing"]) == statements(world, clone)
    log.write_text(before)
    assert "zebras are evil" not in statements(world, clone)


class Yes:
    """A human who types what is asked for."""

    def confirm(self, question: str, word: str) -> bool:
        """Agree."""
        return bool(question and word)

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Change nothing."""
        return bool(path and editor)


def test_what_forgetting_rewrites_is_still_seen(world: World, origin: Path) -> None:
    """An event that repeated the text says `[forgotten]` now, and is the same event."""
    (id, *_) = [json.loads(line)["id"] for line in (origin / ".roamkb" / "knowledge.jsonl").read_text().splitlines()]
    noted = {"id": "01890000-0000-7000-8000-000000000002", "event": "flagged", "of": "x", "v": 1, "ts": 6}
    with (origin / ".roamkb" / "ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps({**noted, "reason": BOTH[0]}) + "\n")
    trust_by_root(world, digest_of(world, origin))
    clone = cloned(world, origin)
    (clone / ".roamkb" / "ledger.jsonl").write_bytes((origin / ".roamkb" / "ledger.jsonl").read_bytes())
    assert BOTH == statements(world, clone)
    kb = world.open(clone)
    ProjectLog(kb.environment, kb, folder=None, human=Yes()).forget(id)
    assert BOTH[1:] == statements(world, clone)
    events = world.log(clone).read_contents().events
    assert ["[forgotten]"] == [event.fields["reason"] for event in events if event.id == noted["id"]]
    assert 0 == report(world, clone).unseen


def test_forged_signatures_are_looked_at_a_few_times(world: World, origin: Path, tmp_path: Path) -> None:
    """Each takes a program, and every hook would wait for all that a hostile repository has."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    head, _, message = git(origin, "cat-file", "commit", "HEAD").partition("\n\n")
    commit = git(origin, "rev-parse", "HEAD")
    assert BOTH == statements(world, cloned(world, origin))
    for number in range(25):
        lines = [line for line in head.splitlines() if not line.startswith("parent ")]
        forged = "\n".join([lines[0], f"parent {commit}", *lines[1:], "", f"{message} {number}\n"])
        (tmp_path / "forged").write_text(forged)
        commit = git(origin, "hash-object", "-w", "-t", "commit", str(tmp_path / "forged"))
    git(origin, "update-ref", "HEAD", commit)
    assert [] == statements(world, cloned(world, origin, name="flood"))


def test_a_commit_whose_log_cannot_be_read_vouches_for_nothing(world: World, origin: Path, tmp_path: Path) -> None:
    """Whoever hands over a repository may leave out the ledger that was signed, with a human's verdicts in it."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    clone = cloned(world, origin)
    id = git(clone, "rev-parse", "HEAD:.roamkb/ledger.jsonl")
    objects = clone / ".git" / "objects"
    for pack in [path for path in (objects / "pack").iterdir() if path.suffix == ".pack"]:
        data = pack.read_bytes()
        pack.unlink()
        subprocess.run(["git", "unpack-objects", "-q"], cwd=clone, input=data, check=True)
    (objects / id[:2] / id[2:]).unlink()
    (clone / ".roamkb" / "ledger.jsonl").write_text("")
    assert [] == statements(world, clone)


def test_a_merge_brings_back_nothing_that_a_later_signed_commit_took_out(
    world: World, origin: Path, tmp_path: Path
) -> None:
    """The earlier one is found by the way of the other branch, and doesn't count beside the one that follows it."""
    key = new_key(tmp_path, "ours")
    trust_by_root(world, public(key))
    git(origin, "commit", "-q", "--allow-empty", "-m", "signed", key=key)
    trunk = git(origin, "rev-parse", "--abbrev-ref", "HEAD")
    knowledge = origin / ".roamkb" / "knowledge.jsonl"
    whole = knowledge.read_text()
    git(origin, "branch", "other")
    knowledge.write_text(whole.partition("\n")[2])
    git(origin, "commit", "-qam", "taken out", key=key)
    git(origin, "checkout", "-q", "other")
    git(origin, "commit", "-q", "--allow-empty", "-m", "unsigned")
    git(origin, "checkout", "-q", trunk)
    git(origin, "merge", "-q", "--no-ff", "--no-commit", "other")
    knowledge.write_text(whole)
    git(origin, "commit", "-qam", "merged, unsigned")
    assert BOTH[1:] == statements(world, cloned(world, origin))
