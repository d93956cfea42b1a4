"""What is wrong with an installation: each check with and without its fault."""

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from roamkb.core.errors import BadRule
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.fs.locks import StateFolders
from roamkb.fs.locks import make_private_folder
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.doctor import doctor
from roamkb.install.snippets import STIGNORE_TEXT
from roamkb.install.store.machine import DoctorContext
from tests.conftest import World
from tests.human import at_a_terminal
from tests.programs import script

NOW = datetime(2026, 6, 10, 12, 0, 0)
COPY = "a.sync-conflict-20260610-143000-K7QX2MD.org"


@pytest.fixture
def patient(world: World) -> DoctorContext:
    """Return an installation in which all is well."""
    rule = Rule(
        source=world.home / ".claude" / "rules" / "knowledge-base.md",
        kb=world.kb,
        work_roots=(str(world.home / "work"),),
        project_parents=(str(world.home / "code"), str(world.home / "nowhere")),
    )
    world.node("a.org", "a", "A")
    (world.kb / ".stignore").write_text(STIGNORE_TEXT)
    date(world.kb / "a.org", -60)
    commands = world.home / ".local" / "bin"
    commands.mkdir(parents=True)
    (commands / "roamkb").touch(mode=0o755)
    return DoctorContext(
        rule=rule,
        project=Project(kind=ProjectKind.PERSONAL, root=world.personal, reason="it lies there"),
        version="0.1.0",
        home=world.home,
        search_path=f"/usr/bin:{commands}",
        host="desk.example.org",
        state=StateFolders(state=world.state, cache=world.home / "cache"),
        now=NOW,
        is_emacs=lambda pid: pid == 77,
    )


def date(path: Path, seconds: float) -> None:
    """Date a file so many seconds from now on."""
    when = NOW.timestamp() + seconds
    os.utime(path, (when, when))


def of(patient: DoctorContext, name: str) -> DoctorCheck:
    """Return what the doctor says of one thing."""
    (found,) = (check for check in doctor(patient).checks if check.name == name)
    return found


def config(world: World, folder: str) -> None:
    """Configure Syncthing with one folder."""
    path = world.home / ".config" / "syncthing" / "config.xml"
    path.parent.mkdir(parents=True)
    path.write_text(f"<configuration><apikey>key</apikey>{folder}<defaults><folder/></defaults></configuration>")


def test_all_is_well(patient: DoctorContext) -> None:
    """Nothing is wrong, and nothing was made or changed by looking, but that the journal has looked, too."""
    journal_folder = patient.state.journal_folder(patient.home / "roam")
    assert journal_folder is not None
    make_private_folder(journal_folder)
    before = sorted(patient.home.rglob("*"))
    found = doctor(patient)
    shutil.rmtree(journal_folder)
    journal_folder.mkdir()
    assert () == found.faults
    assert 33 == len(found.checks) == len({check.name for check in found.checks})
    assert before == sorted(patient.home.rglob("*"))


def test_what_is_not_set_up_is_not_called_proved(patient: DoctorContext, world: World) -> None:
    """It is no fault; the text has another mark for it, and JSON another field."""
    unproved = {check.name for check in doctor(patient).checks if not check.proved}
    assert {"Claude Code", "Codex", "git conflicts", "Syncthing", "Emacs"} <= unproved
    assert {"readable", "rule", "journal", "ids"}.isdisjoint(unproved)
    assert all(check.ok for check in doctor(patient).checks if not check.proved)
    told = world.run("doctor").out
    assert "-- Codex: no hooks of roamkb's in its settings" in told
    assert "ok readable: " in told
    checks = world.run("doctor", "--json").json["checks"]
    assert isinstance(checks, list)
    assert {True: {"name", "ok", "detail", "fix", "proved"}} == {
        check["ok"]: set(check) for check in checks if check["ok"]
    }
    assert (True, False) == next((one["ok"], one["proved"]) for one in checks if one["name"] == "Codex")


def test_every_fault_says_what_to_do(patient: DoctorContext) -> None:
    """A checkup that finds everything wrong has a fix for each."""
    broken = replace(patient, rule=BadRule(Path("/r.md"), "is missing"), search_path="")
    assert all(check.fix for check in doctor(broken).faults)
    assert {"rule", "command"} == {check.name for check in doctor(broken).faults}


def test_a_knowledge_base_that_is_not_there_is_one_fault(patient: DoctorContext, world: World) -> None:
    """The notes can't be looked at; everything else still is."""
    assert isinstance(patient.rule, Rule)
    gone = doctor(replace(patient, rule=replace(patient.rule, kb=world.home / "gone")))
    assert ["knowledge base"] == [check.name for check in gone.faults]
    assert "1 note, 1 node" in of(patient, "knowledge base").detail


def test_encrypted_notes_are_counted(patient: DoctorContext, world: World) -> None:
    """Nobody wonders why they aren't found."""
    world.note("b.org.gpg", "x")
    assert "1 file and 0 headings encrypted" in of(patient, "encrypted").detail


def test_a_work_root_that_is_not_there_may_be_misspelt(patient: DoctorContext) -> None:
    """What isn't denied may be written."""
    assert isinstance(patient.rule, Rule)
    odd = replace(patient, rule=replace(patient.rule, work_roots=("/home/me/wrok", "/srv/*/work")))
    assert "/home/me/wrok isn't on this machine" == of(odd, "work roots").detail
    none = replace(patient, rule=replace(patient.rule, work_roots=()))
    assert of(none, "work roots").ok


def test_without_any_project_parent_nobody_may_write(patient: DoctorContext) -> None:
    """One that is there is enough; the others are named, since it may be a slip."""
    assert isinstance(patient.rule, Rule)
    none = replace(patient, rule=replace(patient.rule, project_parents=("/nowhere", "!/nowhere/x")))
    assert not of(none, "project parents").ok
    assert of(patient, "project parents").detail.endswith(
        "/code; not on this machine: " + patient.rule.project_parents[-1]
    )


def test_the_project_is_named_and_no_fault(patient: DoctorContext) -> None:
    """An unknown project gets its hint."""
    unknown = Project(kind=ProjectKind.UNKNOWN, root=None, reason="it lies nowhere", hint="move it")
    found = of(replace(patient, project=unknown), "project")
    assert (True, "unknown, may not write: it lies nowhere", "move it") == (found.ok, found.detail, found.fix)


def installed_in(environment: Path, version: str, command: Path | None = None) -> Path:
    """Return the program of a roamkb that was installed into an environment, linked to `command`."""
    program = script(environment / "bin" / "roamkb")
    (environment / f"lib/python3.11/site-packages/roamkb-{version}.dist-info").mkdir(parents=True)
    if command:
        command.parent.mkdir(parents=True, exist_ok=True)
        command.unlink(missing_ok=True)
        command.symlink_to(program)
    return command or program


def test_two_versions_on_the_path(patient: DoctorContext) -> None:
    """Both are named, and what takes the second away; one of them is enough to be on no PATH but the hooks'."""
    tool = patient.home / ".local/share/uv/tools/roamkb"
    theirs = installed_in(tool, "0.0.9", patient.home / ".local/bin/roamkb")
    (tool / "uv-receipt.toml").touch()
    ours = installed_in(patient.home / "venv", "0.1.0")
    both = replace(patient, search_path=f"{ours.parent}:{ours.parent}:/usr/bin")
    found = of(both, "command")
    assert not found.ok
    assert f"a shell runs {ours} (0.1.0); there is also {theirs} (0.0.9)" == found.detail
    assert "`uv tool uninstall roamkb` takes the other away" in found.fix
    swapped = of(replace(patient, search_path=f"{theirs.parent}:{ours.parent}"), "command")
    assert f"`uv pip uninstall --python {patient.home}/venv/bin/python3 roamkb` takes the other away" in swapped.fix
    # a second name of one program is no second program
    link = patient.home / "bin" / "roamkb"
    link.parent.mkdir()
    link.symlink_to(theirs)
    assert of(replace(patient, search_path=f"{link.parent}:{theirs.parent}"), "command").detail == f"roamkb is {link}"


def test_one_version_in_two_places(patient: DoctorContext) -> None:
    """Is no fault yet, and neither is one of which no version is known; both are said."""
    first, second = (installed_in(patient.home / name, "0.1.0") for name in ("one", "two"))
    unknown = script(patient.home / "shims" / "roamkb")
    found = of(replace(patient, search_path=f"{first.parent}:{second.parent}:{unknown.parent}"), "command")
    assert (True, False) == (found.ok, found.proved)
    assert f"{second} (0.1.0); {unknown} (of an unknown version)" in found.detail


def test_a_command_that_is_not_on_the_path(patient: DoctorContext) -> None:
    """The folder isn't on the path, or there is nothing in it."""
    assert "PATH=" in of(replace(patient, search_path="/usr/bin"), "command").fix
    (patient.home / ".local" / "bin" / "roamkb").unlink()
    assert "make install" in of(patient, "command").fix


@pytest.fixture
def logged(patient: DoctorContext, world: World) -> DoctorContext:
    """Somebody whose project has a log."""
    world.open().log.init()
    return replace(patient, log=world.log())


def test_a_projects_log(patient: DoctorContext, world: World) -> None:
    """None, adopted, or somebody else's so far."""
    assert "project's log" not in {check.name for check in doctor(patient).checks}
    patient = replace(patient, log=world.log())
    assert ("none", True) == (of(patient, "project's log").detail, of(patient, "project's log").ok)
    (world.personal / ".roamkb").mkdir()
    (world.personal / ".roamkb" / "knowledge.jsonl").touch()
    assert "isn't adopted" in of(patient, "project's log").detail
    world.open().log.init()
    assert "counts on this machine" in of(replace(patient, log=world.log()), "project's log").detail


@pytest.mark.parametrize("name", [".roamkb", ".roamkb/local", "own", "own/passes"])
def test_a_link_in_a_log_is_named_with_what_to_do(name: str, logged: DoctorContext, world: World) -> None:
    """Hooks say nothing of such a log, and a brief that is silent says nothing of why."""
    log = world.log()
    path = log.local_folder / name.removeprefix("own").strip("/") if name.startswith("own") else log.root / name
    if path.exists():
        path.rename(world.home / "elsewhere")
    path.symlink_to(world.home / "elsewhere")
    found = of(logged, "project's log")
    assert (False, True, True) == (found.ok, str(path) in found.detail, "remove it" in found.fix)
    assert str(path) in world.run("doctor").out
    payload = {"session_id": "s", "cwd": str(world.personal), "hook_event_name": "SessionStart"}
    assert "the project's log isn't used" in world.run("hook", "session-start", input=json.dumps(payload)).out


def test_local_state_that_git_tracks_is_named(logged: DoctorContext, world: World) -> None:
    """Added by force, here or elsewhere."""
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=world.personal, check=True)
    assert of(logged, "project's log").ok
    (world.personal / ".roamkb" / "local" / "receipts.jsonl").write_text("forged")
    subprocess.run(["git", "add", "-f", ".roamkb"], cwd=world.personal, check=True)
    found = of(logged, "project's log")
    assert not found.ok
    assert "local/receipts.jsonl" in found.detail
    assert "git rm -r --cached .roamkb/local" in found.fix


def test_what_a_syncer_put_aside_of_a_log_is_named_with_what_takes_it_in(world: World) -> None:
    """The lines of another machine that its conflict copies have; nothing once the log has them, or they were forgotten."""
    world.run("init")
    world.run("learn", "Zebras are striped", "--type", "fact")
    folder = world.personal / ".roamkb"
    before = {name: (folder / name).read_bytes() for name in ("knowledge.jsonl", "ledger.jsonl")}
    gnus = world.run("learn", "Gnus graze on the plain", "--json").json["id"]
    world.run("pin", gnus)
    for name, content in before.items():
        copy = folder / f"{name.removesuffix('.jsonl')}.sync-conflict-20261127-101010-ABCDEFG.jsonl"
        (folder / name).rename(copy)
        (folder / name).write_bytes(content)
    (folder / "notes.sync-conflict-20261127-101010-ABCDEFG.jsonl").write_text("no file of the log\n")
    assert 1 == world.run("recall", "gnus").status
    for name in ("knowledge", "ledger"):
        checks = world.run("doctor", "--json").json["checks"]
        (found,) = (check for check in checks if check["name"] == "log's lines")
        assert not found["ok"]
        assert f"{name}.sync-conflict-20261127-101010-ABCDEFG.jsonl has 1 line that the log lacks" in found["detail"]
        (listed,) = (copy for copy in world.run("conflicts", "--json").json["copies"] if name in copy["path"])
        assert (1, str(folder / f"{name}.jsonl")) == (listed["lines_added"], listed["original"])
        # whose last line isn't ended is no reason to glue another to it
        (folder / f"{name}.jsonl").write_bytes(before[f"{name}.jsonl"].rstrip(b"\n"))
        _, *words = shlex.split(found["fix"].split("`")[1])
        assert (
            f"1 line added to {folder / name}.jsonl, and was removed"
            in world.run(*words, cwd=world.home / "code/site").out
        )
        assert not Path(listed["path"]).exists()
    assert "Gnus graze" in world.run("recall", "gnus").out
    assert "ok log's lines: 2 learnings, 1 event in " in world.run("doctor").out
    at_a_terminal(world, "forget", gnus)
    assert "ok log's lines: 1 learning" in world.run("doctor").out


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_log_whose_learnings_are_gone_is_named_with_what_brings_them_back(is_folder: bool, world: World) -> None:
    """By each command, in the brief and by `doctor`; nothing begins anew by itself, and a snapshot is put back."""
    world.run("init")
    id = world.run("learn", "Zebras are striped", "--json").json["id"]
    world.run("pin", id)
    world.run("snapshot")
    knowledge = world.personal / ".roamkb" / "knowledge.jsonl"
    knowledge.rename(world.home / "moved.jsonl")
    said = "is gone, and ledger.jsonl beside it still tells of its learnings"
    if is_folder:
        knowledge.mkdir()
        said = "isn't a regular file"
    for words in (["recall", "zebras"], ["learn", "Gnus graze"], ["init"], ["snapshot"]):
        ran = world.run(*words)
        assert (2, True) == (ran.status, f"{knowledge}: {said}" in ran.err), words
        assert ("git checkout" in ran.err, "roamkb snapshot restore --yes" in ran.err) == (True, True), words
    assert said in world.run("brief").out
    assert "roamkb snapshot restore --yes" in world.run("brief").out
    (found,) = (check for check in world.run("doctor", "--json").json["checks"] if check["name"] == "project's log")
    assert (False, True) == (found["ok"], said in found["detail"])
    if is_folder:
        knowledge.rmdir()
    assert 0 == world.run("snapshot", "restore", "--yes").status
    assert "Zebras are striped" in world.run("recall", "zebras").out
    knowledge.write_bytes(b"")
    assert 0 == world.run("learn", "Gnus graze").status


def test_the_lines_of_a_log_are_looked_at(world: World) -> None:
    """Unreadable ones, those of a newer version, and those from the future; and how large it is."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly", "--type", "fact")
    folder = world.personal / ".roamkb"
    assert "ok log's lines: 1 learning, 0 events in " in world.run("doctor").out
    learned = json.loads((folder / "knowledge.jsonl").read_text())
    newer = {**learned, "id": "n", "content": "zebras are striped", "v": 2}
    pin = {"id": "01939b7a-0000-7000-8000-000000000001", "ts": 5, "event": "pinned", "of": learned["id"]}
    forms = [
        {"id": "a", "confidence": 1, "content": "malformed", "v": "1"},
        {**learned, "id": "f", "ts": 4_000_000_000},
    ]
    with (folder / "knowledge.jsonl").open("a") as log:
        log.write("".join(json.dumps(line) + "\n" for line in (newer, *forms)) + "{torn\n")
    (folder / "ledger.jsonl").write_text(json.dumps({**pin, "v": 2}) + "\n")
    said = world.run("doctor").out
    for fault in ("knowledge.jsonl:5: it isn't JSON", "2 lines are of a newer version", "1 line is dated ahead"):
        assert fault in said
    audit = world.run("audit", "--json").json
    assert (1, 2) == (audit["summary"]["invalid_json"], audit["summary"]["newer_version"])
    learnings = {one["id"]: one for one in world.run("export", "--json").json["learnings"]}
    assert (False, 0.95) == (learnings[learned["id"]]["pinned"], learnings["a"]["confidence"])
    assert "striped" in world.run("recall", "zebras").out
    assert 2 == json.loads(world.run("recall", "zebras", "--raw").out)["v"]


def test_private_folders(patient: DoctorContext) -> None:
    """One that others can read, and one that is a file."""
    patient.state.state.mkdir(mode=0o755, parents=True)
    patient.state.cache.write_text("")
    assert "can be read by others" in of(patient, "state folder").detail
    assert "isn't a folder" in of(patient, "cache folder").detail
    patient.state.state.chmod(0o700)
    assert of(patient, "state folder").ok


def test_files_that_cannot_be_read(patient: DoctorContext, world: World) -> None:
    """Not UTF-8, or not a file; each with its reason."""
    (world.kb / "b.org").write_bytes(b"#+title: caf\xe9\n")
    (world.kb / "c.org").symlink_to("nowhere")
    found = of(patient, "readable")
    assert not found.ok
    assert "b.org not valid UTF-8" in found.detail
    assert "c.org links to nothing" in found.detail


def test_how_far_the_index_is(patient: DoctorContext, world: World) -> None:
    """A few notes are read by the next search; while there are many, hooks tell of none."""
    base = world.open()
    count = base.index().notes
    assert DoctorCheck(name="index", ok=True, detail="1 of 1 note indexed", fix="") == of(patient, "index")
    for n in range(301):
        world.node(f"new-{n}.org", f"new-{n}", f"New {n}")
    behind = of(patient, "index")
    assert (False, f"{count} of {count + 301} notes indexed") == (behind.ok, behind.detail)
    assert "`roamkb index`" in behind.fix
    base.index()
    assert of(patient, "index").ok


def test_files_that_org_roam_drops(patient: DoctorContext, world: World) -> None:
    """A fault of the whole file is told apart from one of reading it."""
    world.note("b.org", ':PROPERTIES:\n:ID: b\n:ROAM_ALIASES: "never ends\n:END:\n')
    assert not of(patient, "indexable").ok
    assert of(patient, "readable").ok


def test_a_file_with_two_faults_has_both(patient: DoctorContext, world: World) -> None:
    """That org-roam drops it doesn't hide that it isn't UTF-8."""
    (world.kb / "b.org").write_bytes(b':PROPERTIES:\n:ID: b\n:ROAM_ALIASES: "caf\xe9\n:END:\n')
    assert not of(patient, "indexable").ok
    assert not of(patient, "readable").ok


def test_two_nodes_with_one_id(patient: DoctorContext, world: World) -> None:
    """Both places are named."""
    world.node("b.org", "a", "B")
    detail = of(patient, "ids").detail
    assert f"{world.kb}/a.org:1 and {world.kb}/b.org:1" in detail


def test_a_conflict_copy_with_its_originals_id(patient: DoctorContext, world: World) -> None:
    """Emacs may take it for the note; it is no lost note."""
    world.node(COPY, "a", "A")
    assert not of(patient, "conflict copies").ok
    assert of(patient, "lost notes").ok


def test_a_conflict_copy_with_an_id_of_its_own(patient: DoctorContext, world: World) -> None:
    """No search finds it."""
    world.node(COPY, "b", "B")
    assert "--adopt" in of(patient, "lost notes").fix
    assert of(patient, "conflict copies").ok


def test_the_marks_of_a_git_merge(patient: DoctorContext, world: World) -> None:
    """In a repository they are an unfinished merge; elsewhere somebody's text."""
    world.node("b.org", "b", "B", "<<<<<<< HEAD\nmine\n=======\nyours\n>>>>>>> other")
    assert of(patient, "git conflicts").ok
    (world.kb / ".git").mkdir()
    assert str(world.kb / "b.org") == of(patient, "git conflicts").detail


@pytest.mark.parametrize("name", ["A.org", "cafe\u0301.org"])
def test_names_that_another_system_mixes_up(patient: DoctorContext, world: World, name: str) -> None:
    """Two that differ in case, one with its accents apart."""
    world.node(name, "x", "X")
    assert name in of(patient, "names").detail


def test_a_note_from_the_future(patient: DoctorContext, world: World) -> None:
    """Its machine's clock is ahead, and so it wins every conflict; a minute is no fault."""
    date(world.kb / "a.org", 60)
    assert of(patient, "clocks").ok
    date(world.kb / "a.org", 180)
    assert not of(patient, "clocks").ok


@pytest.mark.parametrize(
    ("target", "word"),
    [
        ("me@desk.77", None),
        ("me@desk.example.org.77:1700000000", None),
        ("me@desk.78:1700000000", "gone"),
        ("me@laptop.77:1700000000", "on laptop"),
        ("me@example.com@laptop.local.77", "on laptop.local"),
        ("nonsense", "no machine"),
        ("me@desk." + "9" * 5000, "gone"),
    ],
)
def test_lock_links(patient: DoctorContext, world: World, target: str, word: str | None) -> None:
    """An Emacs that runs here is no fault; one elsewhere, or gone, is."""
    if len(target) < 4000:
        (world.kb / ".#a.org").symlink_to(target)
    else:
        (world.kb / ".#a.org").write_text(target)
    found = of(patient, "locks")
    assert found.ok == (word is None)
    assert (word or "") in found.detail


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("(setq create-lockfiles nil)", "create-lockfiles"),
        ("(setq create-lockfiles t)", None),
        ('(setq lock-file-name-transforms \'((".*" "~/.locks/" t)))', "lock-file-name-transforms"),
        ("(setq lock-file-name-transforms nil)", None),
    ],
)
def test_lock_files_that_are_off_are_told(patient: DoctorContext, world: World, setting: str, word: str | None) -> None:
    """Nothing is wrong, but an edit can't see what Emacs hasn't saved."""
    (world.home / ".emacs").write_text(f"{setting}\n")
    found = of(patient, "locks")
    assert (True, word is None) == (found.ok, found.proved)
    assert (word or "") in found.detail


def test_leftovers(patient: DoctorContext, world: World) -> None:
    """Unfinished writes of an hour ago, among the notes, the rules and the trash; not a running one."""
    (world.kb / "sub").mkdir()
    old = [
        world.kb / "sub" / ".syncthing.roamkb-1.tmp",
        world.home / ".claude" / "rules" / ".syncthing.roamkb-2.tmp",
    ]
    new = world.kb / ".syncthing.roamkb-3.tmp"
    for path in (*old, new):
        path.touch()
        date(path, -60 if path == new else -7200)
    trash = patient.state.trash_folder(world.kb)
    trash.mkdir(parents=True)
    for name in ("whole.org", "whole.json", "half.json"):
        (trash / name).touch()
    assert [str(path) for path in (*old, trash / "half.json")] == of(patient, "leftovers").detail.split("; ")


def test_stignore(patient: DoctorContext, world: World) -> None:
    """What is missing is named; other spellings and included files count; no Syncthing, no fault."""
    stignore = world.kb / ".stignore"
    stignore.write_text("// mine\n(?d).#*\n**/#*#\n#include more\n")
    (world.kb / "more").write_text("(?i)(?d)*~\norg-roam.db*\n#include more\n")
    assert f"{stignore} lacks *.tmp" == of(patient, "stignore").detail
    stignore.unlink()
    assert not of(patient, "stignore").ok
    (world.kb / ".stfolder").rmdir()
    assert of(patient, "stignore").ok


def test_stignore_of_a_folder_above(patient: DoctorContext, world: World) -> None:
    """The notes may lie deep in what Syncthing carries."""
    (world.kb / ".stfolder").rmdir()
    (world.home / ".stfolder").mkdir()
    assert str(world.home / ".stignore") in of(patient, "stignore").detail
    (world.home / ".stignore").write_text(STIGNORE_TEXT)
    assert of(patient, "stignore").ok


@pytest.mark.parametrize(
    ("setting", "ok"),
    [
        ("<maxConflicts>10</maxConflicts>", True),
        ("<maxConflicts>-1</maxConflicts>", True),
        ("<maxConflicts>0</maxConflicts>", False),
        ("", False),
    ],
)
def test_syncthing_that_keeps_no_conflict_copies(patient: DoctorContext, world: World, setting: str, ok: bool) -> None:
    """The edit that loses would be deleted; the key in that file is nobody's business."""
    config(world, f'<folder id="roam" label="Roam" path="~/roam">{setting}</folder>')
    found = of(patient, "Syncthing")
    assert ok == found.ok
    assert "the folder Roam keeps" in found.detail
    assert "key" not in found.detail


def test_syncthing_that_carries_something_else(patient: DoctorContext, world: World) -> None:
    """Only the innermost folder around the notes counts."""
    config(
        world,
        '<folder label="All" path="~"/><folder label="Roam" path="~/roam"><maxConflicts>5</maxConflicts></folder>'
        '<folder label="Other" path="~/other"/>',
    )
    assert "the folder Roam keeps 5" in of(patient, "Syncthing").detail


def test_a_broken_configuration_is_a_fault_of_that_check(patient: DoctorContext, world: World) -> None:
    """It doesn't stop the checkup."""
    config(world, "<")
    assert ["Syncthing"] == [check.name for check in doctor(patient).faults]


@pytest.mark.parametrize(
    ("init", "said"),
    [
        (None, "no init file of Emacs was found here"),
        ('(setq org-roam-directory "~/roam")', "no init file that can be read here sets"),
        ('(load "~/roamkb.el")', "no init file that can be read here sets"),
        ('(setq org-roam-file-exclude-regexp "data/")', ".emacs sets org-roam-file-exclude-regexp without"),
        (';; (setq org-roam-file-exclude-regexp "sync-conflict")', "no init file that can be read here sets"),
        ('(setq org-roam-file-exclude-regexp \'("\\\\.sync-conflict-"))', ".emacs has org-roam leave out conflict"),
    ],
)
def test_emacs_is_advised_by_its_init_files(patient: DoctorContext, world: World, init: str | None, said: str) -> None:
    """What they compute can't be seen, so this is no fault."""
    if init is not None:
        (world.home / ".emacs").write_text(init)
    found = of(patient, "Emacs")
    is_set = "leave out" in said
    assert (True, is_set, not is_set) == (found.ok, found.proved, "org-roam-file-exclude-regexp" in found.fix)
    assert said in found.detail


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (Path("roam", ".stignore"), "stignore"),
        (Path(".config", "syncthing", "config.xml"), "Syncthing"),
        (Path("roam", ".#a.org"), None),
    ],
)
def test_what_cannot_be_read_is_a_fault_of_that_check(
    patient: DoctorContext, world: World, place: Path, name: str | None
) -> None:
    """A folder where a file should be stops nothing."""
    path = world.home / place
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    assert [name] * bool(name) == [check.name for check in doctor(patient).faults]


def test_many_faults_are_counted(patient: DoctorContext, world: World) -> None:
    """Five are named, the others are a number."""
    for number in range(8):
        world.node(f"{number}.org", f"n{number}", "N")
        date(world.kb / f"{number}.org", 999)
    assert "and 3 more" in of(patient, "clocks").detail


def test_a_title_that_had_to_be_broken_is_read_alike(patient: DoctorContext, world: World) -> None:
    """Its file has a zero-width space, which no name has."""
    assert 0 == world.run("write", "Docker keeps volumes in data:/var, run git:main", "--tag", "shell").status
    assert of(patient, "other readers").ok


def test_a_head_that_other_programs_read_otherwise_is_named(world: World) -> None:
    """A key in small letters is an id to Emacs and to us, and none to them."""
    written = world.open().write("A fact", tags=("x",))
    fine = next(check for check in world.open().doctor().checks if check.name == "other readers")
    assert fine.ok
    written.path.write_text(written.path.read_text().replace(":ID:", ":id:"))
    found = next(check for check in world.open().doctor().checks if check.name == "other readers")
    assert not found.ok
    assert str(written.path) in found.detail


def test_a_knowledge_base_that_cant_be_written_is_no_fine_one(patient: DoctorContext) -> None:
    """A medium that is mounted read-only, or a folder's mode; reading it goes on."""
    assert isinstance(patient.rule, Rule)
    kb = patient.rule.kb
    assert of(patient, "writable").ok
    if os.geteuid():
        kb.chmod(0o555)
        found, reason = of(patient, "writable"), "is read-only for you"
        kb.chmod(0o755)
    else:
        bound = subprocess.run(["mount", "--bind", "-o", "ro", kb, kb], capture_output=True, text=True)
        if bound.returncode:
            pytest.skip(f"A READ-ONLY MOUNT WAS NOT TESTED: {bound.stderr}")
        try:
            found, reason = of(patient, "writable"), "read-only here"
        finally:
            subprocess.run(["umount", kb], check=True)
    assert (False, True) == (found.ok, reason in found.detail)
    assert "mount it writable" in found.fix


def test_what_org_roam_and_agents_do_not_both_see_is_named(patient: DoctorContext, world: World) -> None:
    """Each leaves out by a rule of its own; which settings Emacs has can't be told from here."""
    assert of(patient, "seen alike").ok
    world.node("metadata/b.org", "b", "Zebras of the register")
    seen = of(patient, "seen alike")
    assert (True, True) == (seen.ok, "agents see it: metadata/b.org" in seen.detail)
    assert "org-roam-file-exclude-regexp" in seen.fix
    for name in (
        ".hidden/c.org",
        ".d.org",
        "data/e.org",
        ".git/f.org",
        "x.sync-conflict-20260101-000000-ABCDEFG.org",
    ):
        world.note(name, ":PROPERTIES:\n:ID: c\n:END:\n#+title: C\n")
    unread = of(patient, "seen alike")
    assert not unread.ok
    assert "agents never see: .d.org; .hidden/c.org. " in unread.detail


@pytest.mark.parametrize(
    ("value", "left_out"),
    [
        ('"drafts/"', "drafts/a.org; old/Drafts/b.org"),
        ('\'("^drafts/" "/b\\\\.org$")', "drafts/a.org; old/Drafts/b.org"),
        ('(list "\\\\(^\\\\|/\\\\)drafts/a" "^metadata/")', "drafts/a.org; metadata/c.org"),
        ('"\\\\`[^/]*/c\\\\(?:\\\\.org\\\\)\\\\\'"', "metadata/c.org"),
        ('"[mn]etad"', "metadata/c.org"),
    ],
)
def test_what_the_person_keeps_out_of_org_roam_is_named(
    patient: DoctorContext, world: World, value: str, left_out: str
) -> None:
    """By the setting in the init file, in the place of org-roam's default; agents find it all the same."""
    (world.home / ".emacs").write_text(f"(setq org-roam-file-exclude-regexp {value})")
    for name in ("drafts/a.org", "old/Drafts/b.org", "metadata/c.org"):
        world.node(name, name[-5], "Zebras")
    seen = of(patient, "seen alike")
    assert (True, f"{world.home}/.emacs, and agents see it: {left_out}") == (
        seen.ok,
        seen.detail.partition(" matches in ")[2],
    )
    assert "a folder whose name begins with a dot" in seen.fix


@pytest.mark.parametrize(
    "value",
    [
        '(append my-list \'("drafts/"))',
        '"drafts[[:space:]]"',
        '"\\\\_<drafts"',
        '(rx "drafts")',
        '"\\\\([a-z/]+\\\\)*drafts$"',
        '"dr.*+afts"',
    ],
)
def test_a_pattern_that_takes_an_emacs_to_read_is_told_of(patient: DoctorContext, world: World, value: str) -> None:
    """Nothing is guessed of it, nor is one tried that would take ages."""
    (world.home / ".emacs").write_text(f"(setq org-roam-file-exclude-regexp {value})")
    world.node("drafts/a.org", "d", "Zebras")
    world.node(f"{'a' * 99}.org", "e", "Okapis")
    seen = of(patient, "seen alike")
    assert (True, False) == (seen.ok, "drafts/a.org" in seen.detail)
    assert ".emacs can't be read here to its end" in seen.detail
    assert "roamkb install --snippets DIR" in seen.fix


def test_what_the_person_hides_from_org_roam_too_is_seen_alike(patient: DoctorContext, world: World) -> None:
    """Neither shows it, so the advice was followed."""
    world.note(".hidden/c.org", ":PROPERTIES:\n:ID: c\n:END:\n#+title: C\n")
    assert not of(patient, "seen alike").ok
    (world.home / ".emacs").write_text('(setq org-roam-file-exclude-regexp \'("^\\\\.hidden/"))')
    assert of(patient, "seen alike").ok


def test_a_folder_under_data_is_no_folder_to_an_older_org_roam(patient: DoctorContext, world: World) -> None:
    """It matches the whole path."""
    folder = world.home / "data" / "notes"
    world.kb.rename(world.home / "away")
    folder.parent.mkdir()
    (world.home / "away").rename(folder)
    rule = replace(patient.rule, kb=folder) if isinstance(patient.rule, Rule) else patient.rule
    assert "all notes, before 2.3" in of(replace(patient, rule=rule), "seen alike").detail


def test_a_folder_that_is_linked_in_is_told_of_once(patient: DoctorContext, world: World) -> None:
    """By the doctor, with its own advice; a search lists it in its JSON and says nothing."""
    outside = world.home / "outside"
    outside.mkdir()
    (world.kb / "linked").symlink_to(outside)
    assert of(patient, "readable").ok
    told = of(patient, "seen alike")
    assert f"{world.kb}/linked" in told.detail
    assert "utf-8" not in told.fix
    assert "" == world.run("search", "walrus").err
    assert [str(world.kb / "linked")] == [
        one["path"] for one in world.run("search", "walrus", "--json").json["skipped"]
    ]


def test_advice_fits_what_is_wrong(patient: DoctorContext, world: World) -> None:
    """Who may not read a note needs no other encoding."""
    (world.kb / "dir.org").mkdir()
    os.mkfifo(world.kb / "pipe.org")
    assert "utf-8" not in of(patient, "readable").fix
    (world.kb / "bad.org").write_bytes(b"\xff\x80")
    assert "C-x RET f utf-8" in of(patient, "readable").fix
