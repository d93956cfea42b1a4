"""The way of somebody who begins: questions at a real terminal, options without one, and the way back."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

import pytest

import roamkb
from roamkb.fs.files import TEMPORARY_PREFIX
from roamkb.install.store.discovery import find_notes
from roamkb.install.store.discovery import find_projects
from tests.conftest import ROOT
from tests.conftest import Ran
from tests.conftest import World
from tests.conftest import emulator
from tests.human import converse

SETTINGS = '{\n  "model": "opus"\n}\n'
#: Small notes are read fast, and so many are worth a bar.
MANY = 1_200


@dataclass(frozen=True, kw_only=True)
class Beginner:
    """Somebody with a HOME, who was never here before."""

    home: Path
    #: Where their notes are, or shall begin.
    notes: Path
    project: Path
    work: Path
    #: What they type, for each question.
    answers: tuple[tuple[str, str], ...]

    @property
    def world(self) -> World:
        """What runs the program for them; its folders are theirs."""
        return World(home=self.home, kb=self.notes, personal=self.project, work=self.work, unknown=self.home)

    def run(self, *words: str, cwd: Path | None = None, **extra: str) -> Ran:
        """Run a command without a terminal."""
        return self.world.run(*words, cwd=cwd or self.home, extra=extra)

    def talk(self, *words: str, answers: tuple[tuple[str, str], ...] | None = None) -> tuple[int, str]:
        """Run a command at a terminal and answer its questions; return its status and what was shown."""
        return converse(
            [sys.executable, "-m", "roamkb", *words],
            maker=emulator(self.home.parent, "xterm"),
            cwd=self.home,
            environment={**self.world.environment(), "TERM": "xterm"},
            answers=self.answers if answers is None else answers,
        )


def everything(home: Path) -> dict[str, tuple[object, int]]:
    """Return each path of a HOME with what it holds and its mode."""
    return {
        path.relative_to(home).as_posix(): (
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None,
            path.lstat().st_mode,
        )
        for path in sorted(home.rglob("*"))
    }


def put_notes(folder: Path, *, count: int = 3) -> None:
    """Put notes into a folder; the first is the one that the others link to."""
    folder.mkdir(parents=True)
    for number in range(count):
        head = f":PROPERTIES:\n:ID:       note-{number}\n:END:\n#+title: Заметка {number}\n\n"
        (folder / f"{number}.org").write_text(f"{head}Zebra. [[id:note-0][first]]\n", encoding="utf-8")


def beginner(home: Path, notes: str, *, code: str = "code", found: tuple[tuple[str, str], ...]) -> Beginner:
    """Return somebody with two projects, one of them work, and the settings of a harness."""
    project, work = home / code / "lantern", home / code / "acme"
    for folder in (project, work):
        (folder / ".git").mkdir(parents=True)
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text(SETTINGS)
    is_known = code == "code"
    answers = (
        *found,
        ("are work?", "1"),
        ("May projects that come there later write, too?", "y") if is_known else ("May agents there write", "y"),
        ("Is that right?", "y"),
        ("Add them?", "d"),
        ("Add them?", "y"),
        ("Which get one?", "2" if is_known else "all"),
    )
    return Beginner(home=home, notes=home / notes, project=project, work=work, answers=answers)


def no_notes(home: Path) -> Beginner:
    """Nothing at all: they begin where org-roam would."""
    return beginner(home, "org-roam", found=(("Have you some elsewhere?", ""), ("Enter for ~/org-roam", "")))


def notes_of_the_rule(home: Path) -> Beginner:
    """The folder that the shipped rule names."""
    put_notes(home / "sync/org/roam")
    return beginner(home, "sync/org/roam", found=(("3 notes in ~/sync/org/roam (as the rule says): these?", ""),))


def notes_of_org_roam(home: Path) -> Beginner:
    """org-roam's own default, and another folder beside it."""
    put_notes(home / "org-roam")
    put_notes(home / "notes", count=1)
    return beginner(home, "org-roam", found=(("   2  1 note in ~/notes", "1"),))


def linked_notes(home: Path) -> Beginner:
    """A link to a folder that Syncthing carries."""
    put_notes(home / "Dropbox/zettel")
    (home / "roam").symlink_to("Dropbox/zettel")
    (home / ".config/syncthing").mkdir(parents=True)
    config = '<configuration><folder id="z" path="~/Dropbox/zettel"/></configuration>'
    (home / ".config/syncthing/config.xml").write_text(config)
    return beginner(home, "roam", found=((f"~/roam (leads to {home}/Dropbox/zettel; a usual place): these?", "y"),))


def notes_in_cyrillic(home: Path) -> Beginner:
    """Names with blanks, in another script, that only Emacs knows of; projects that no rule names."""
    put_notes(home / "Мои заметки/все")
    (home / ".config/emacs").mkdir(parents=True)
    setting = '; (setq org-roam-directory "~/old")\n(setq org-roam-directory (file-truename "~/Мои заметки/все/"))\n'
    (home / ".config/emacs/init.el").write_text(setting, encoding="utf-8")
    found = (("3 notes in ~/Мои заметки/все (Emacs's org-roam-directory): these?", ""),)
    return beginner(home, "Мои заметки/все", code="мой код [1]", found=found)


def many_notes(home: Path) -> Beginner:
    """More than a second's work."""
    put_notes(home / "org/roam", count=MANY)
    return beginner(home, "org/roam", found=((f"{MANY} notes in ~/org/roam", ""),))


HOMES = (no_notes, notes_of_the_rule, notes_of_org_roam, linked_notes, notes_in_cyrillic, many_notes)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a HOME with nothing in it, in a folder with a blank in its name."""
    home = tmp_path / "a home"
    home.mkdir()
    return home


@pytest.mark.parametrize("make", HOMES, ids=lambda make: make.__name__)
def test_setup_is_walked_and_taken_back(home: Path, make: object) -> None:
    """All is in place after the last answer, and HOME is as it was, byte for byte, after --undo."""
    assert callable(make)
    person: Beginner = make(home)
    before = everything(home)
    status, shown = person.talk("setup")
    assert 0 == status, shown
    assert '+  "hooks": {' in shown
    assert "hooks:  Claude Code (11 hooks)" in shown
    assert shown.rstrip().endswith("roamkb doctor")
    rule = person.run("classify", str(person.work), "--json").json
    assert ("work", str(person.work)) == (rule["kind"], rule["root"])
    assert "personal" == person.run("classify", str(person.project), "--json").json["kind"]
    assert (person.project / ".roamkb").is_dir()
    title = "knowledge base" if make is no_notes else "Заметка"
    hit = person.run("search", title, "--json", cwd=person.project).json["hits"][0]
    assert Path(hit["path"]).parent == person.notes
    assert "roamkb hook" in (home / ".claude/settings.json").read_text()
    taken = person.run("setup", "--undo")
    assert 0 == taken.status, taken.err
    assert before == everything(home)


def test_without_a_terminal_nothing_is_guessed(home: Path) -> None:
    """It says which answers are missing, with the folder that it found, and does nothing."""
    person = notes_of_org_roam(home)
    before = everything(home)
    refused = person.run("setup")
    assert 2 == refused.status
    assert "--kb DIR; found: 3 in ~/org-roam, 1 in ~/notes" in refused.err
    assert "--no-work" in refused.err
    assert "setup --kb" in refused.err
    assert 2 == person.run("setup", "--no-work").status
    assert 2 == person.run("setup", "--kb", str(home / "nowhere"), "--no-work").status
    assert 2 == person.run("setup", "--undo").status
    assert before == everything(home)


def test_without_a_folder_notes_begin_where_the_page_says(home: Path) -> None:
    """The rule's folder, as for `install`; only a dialogue proposes another one."""
    (row,) = re.findall(r"^\| `--create-kb` \|.*`~/(\S+)/`.*\|$", (ROOT / "docs/install.md").read_text(), re.MULTILINE)
    person = no_notes(home)
    done = person.run("setup", "--create-kb", "--no-work", "--no-hooks", "--no-logs")
    assert 0 == done.status, done.err
    assert 1 == len(list((home / row).glob("*.org")))


def test_a_whole_home_is_no_knowledge_base(home: Path) -> None:
    """It is named as people name it, with what to do."""
    person = notes_of_org_roam(home)
    for words in (("setup", "--no-work"), ("install",), ("setup", "--no-work", "--create-kb")):
        refused = person.run(*words, "--kb", str(home))
        assert (2, True) == (refused.status, "is too much: '~'; name a folder in it" in refused.err), refused.err


def options_of(person: Beginner) -> list[str]:
    """Return the options that answer every question."""
    return [
        *("--kb", str(person.notes), "--work-root", str(person.work), "--claude", "--yes"),
        *("--log", str(person.project), "--snippets", str(person.home / "snippets")),
        *("--agents-md", str(person.home / "AGENTS.md")),
    ]


def test_every_answer_is_an_option_as_well(home: Path) -> None:
    """Options do what answers do, are taken back alike, and a dry run does nothing."""
    person = notes_of_org_roam(home)
    before = everything(home)
    planned = person.run("setup", *options_of(person), "--dry-run", "--json")
    assert (0, True) == (planned.status, planned.json["dry_run"])
    assert before == everything(home)
    done = person.run("setup", *options_of(person), "--json")
    assert {step["path"] for step in planned.json["steps"]} < {step["path"] for step in done.json["steps"]}
    assert ["roamkb search 'Заметка 0'", "cd ~/code/lantern && roamkb brief", "roamkb doctor"] == done.json[
        "next_commands"
    ]
    assert str(person.work) in done.json["work_roots"]
    (log,) = (step for step in done.json["steps"] if step["what"] == "project's log")
    assert "a new log; commit it, and it travels with the project" == log["why"]
    assert 0 == person.run("setup", "--undo").status
    assert before == everything(home)


def test_what_lies_behind_a_link_is_taken_back_as_well(home: Path) -> None:
    """The link stays one; and a folder in which nobody trusted anything is no use of the state."""
    person = notes_of_org_roam(home)
    (home / "shared.md").write_text("mine\n")
    (home / "AGENTS.md").symlink_to("shared.md")
    before = everything(home)
    assert 0 == person.run("setup", *options_of(person)).status
    assert "mine\n" != (home / "shared.md").read_text()
    # as the wall makes it, so that it can be closed
    (person.world.state / "trust").mkdir(mode=0o700, exist_ok=True)
    assert 0 == person.run("setup", "--undo").status
    assert before == everything(home)


def test_a_rule_that_was_there_before_stays(home: Path) -> None:
    """It says what is work; who takes back a log doesn't take that back."""
    person = notes_of_org_roam(home)
    person.run("install", "--kb", str(person.notes), "--work-root", str(person.work))
    rule = (home / ".claude/rules/knowledge-base.md").read_bytes()
    assert 0 == person.run("setup", "--log", str(person.project)).status
    assert 0 == person.run("setup", "--undo").status
    assert rule == (home / ".claude/rules/knowledge-base.md").read_bytes()
    assert not (person.project / ".roamkb").exists()


def test_a_receipt_that_is_none_is_no_traceback(home: Path) -> None:
    """Whoever wrote it."""
    person = notes_of_org_roam(home)
    receipt = person.world.state / "setup.json"
    receipt.parent.mkdir(parents=True)
    entries = {"folders": [], "logs": [], "notes": [], "agents_md": [], "snippets": [], "harnesses": ["nobody's"]}
    for data in (json.dumps({**entries, "notes": ["/a\0b"]}), json.dumps({**entries, "logs": ["."]}), "[" * 9999):
        receipt.write_text(data)
        ran = person.run("setup", "--undo")
        assert (2, True) == (ran.status, "isn't what roamkb wrote" in ran.err), ran.err
    receipt.write_text(json.dumps(entries))
    assert 0 == person.run("setup", "--undo").status


def test_a_second_setup_adds_to_the_first(home: Path) -> None:
    """What is work stays work; one undo takes both back."""
    person = notes_of_org_roam(home)
    before = everything(home)
    person.run("setup", "--kb", str(person.notes), "--work-root", str(person.work))
    again = person.run("setup", "--log", str(person.project), "--json")
    assert 0 == again.status
    assert str(person.work) in again.json["work_roots"]
    assert 0 == person.run("setup", "--undo").status
    assert before == everything(home)


def test_an_undo_takes_nothing_that_was_used(home: Path) -> None:
    """A log with a learning, the notes' first one once edited, settings of others and their order stay."""
    person = no_notes(home)
    notes = ("--kb", str(person.notes), "--create-kb")
    person.run("setup", *notes, "--no-work", "--log", str(person.project), "--claude", "--yes")
    (note,) = person.notes.iterdir()
    note.write_text(f"{note.read_text()}A word of mine.\n")
    assert 0 == person.run("learn", "Invoices restart each January", cwd=person.project).status
    taken = person.run("setup", "--undo")
    assert "you edited it" in taken.out
    assert "keep  project's log" in taken.out
    # what stays in a folder keeps it
    assert "keep  state" in taken.out
    assert f"remove folder: {person.world.state} " not in taken.out
    assert f"remove folder: {person.notes}" not in taken.out
    assert "A word of mine." in note.read_text()
    assert "Invoices restart" in (person.project / ".roamkb/knowledge.jsonl").read_text()
    assert SETTINGS == (home / ".claude/settings.json").read_text()
    assert not (home / ".claude/rules").exists()


def test_a_setup_that_was_killed_is_taken_back(home: Path) -> None:
    """With half of a log, settings that were being written, and no index yet."""
    person = notes_of_org_roam(home)
    before = everything(home)
    person.run("setup", *options_of(person))
    for name in ("ledger.jsonl", ".gitattributes"):
        (person.project / ".roamkb" / name).unlink()
    (home / ".claude/settings.json").write_text(SETTINGS)
    (home / f".claude/{TEMPORARY_PREFIX}0123456789abcdef.tmp").write_text("{")
    assert 0 == person.run("setup", "--undo").status
    assert before == everything(home)


def test_what_comes_later_beside_work_may_not_write(home: Path) -> None:
    """The shipped rule calls the folder personal, and nobody has seen what will be cloned there; what is there stays."""
    person = notes_of_the_rule(home)
    rule = home / ".claude/rules/knowledge-base.md"
    words = ("setup", "--no-hooks", "--no-logs")
    later = "~/code/acme lies in ~/code, where agents may write to your notes. May projects that come there later"
    answers = (("these?", ""), ("are work?", "acme"), (later, ""), ("personal, may write: ~/code/lantern", "y"))
    status, shown = person.talk(*words, answers=answers)
    assert 0 == status, shown
    for name, kind in (("lantern", "personal"), ("acme", "work"), ("acme-web", "unknown")):
        (home / "code" / name).mkdir(exist_ok=True)
        assert kind == person.run("classify", str(home / "code" / name), "--json").json["kind"]
    # asked once: what was said stays said
    before = rule.read_bytes()
    shutil.rmtree(home / "code/acme-web")
    assert 0 == person.talk(*words, answers=(("these?", ""), ("are work?", ""), ("right?", "y")))[0]
    assert before == rule.read_bytes()


def test_no_boundary_counts_that_was_not_confirmed(home: Path) -> None:
    """Who says no is asked again; the third no ends it, with nothing changed."""
    person = notes_of_the_rule(home)
    before = everything(home)
    later = ("later write, too?", "y")
    mistaken = (
        ("these?", ""),
        ("are work?", "2"),
        later,
        ("Is that right? Type y or n:", ""),
        ("Enter is neither:", "n"),
    )
    work, _, *others = person.answers[1:]
    status, shown = person.talk("setup", answers=(*mistaken, work, later, ("may agents write", ""), *others))
    assert 0 == status, shown
    assert 1 == shown.count("what you said just now of work and of who may write is dropped")
    assert "work" == person.run("classify", str(person.work), "--json").json["kind"]
    assert "personal" == person.run("classify", str(person.project), "--json").json["kind"]
    person.run("setup", "--undo")
    again = (mistaken[1], later, ("may agents write", ""), ("Is that right?", "n"))
    status, shown = person.talk("setup", answers=(*mistaken, *again, *again))
    assert (2, True) == (status, "nothing was changed" in shown)
    assert before == everything(home)


def test_notes_are_never_works(home: Path) -> None:
    """Who calls the notes' own folder work is told so."""
    person = notes_of_the_rule(home)
    before = everything(home)
    status, shown = person.talk("setup", answers=(("these?", ""), ("are work?", "~/sync ~/code/acme"), ("later", "")))
    assert (2, True) == (status, "which you call work" in shown)
    assert before == everything(home)


def test_install_at_a_terminal_asks_what_setup_asks(home: Path) -> None:
    """The first time; a second call changes nothing and asks nothing."""
    person = notes_of_org_roam(home)
    before = everything(home)
    answers = (
        ("   2  1 note in ~/notes", "2"),
        ("are work?", ""),
        ("right?", "y"),
        ("Add them?", ""),
        ("get one?", ""),
    )
    status, shown = person.talk("install", answers=answers)
    assert (0, True) == (status, "Try:" in shown)
    after = everything(home)
    assert 0 == person.talk("install", answers=())[0]
    assert after == everything(home)
    person.run("setup", "--undo")
    assert before == everything(home)


def test_an_agent_with_a_terminal_is_asked_nothing(home: Path) -> None:
    """Its answers aren't a human's."""
    person = notes_of_org_roam(home)
    status, shown = converse(
        [sys.executable, "-m", "roamkb", "setup"],
        maker=emulator(home.parent, "xterm"),
        cwd=home,
        environment={**person.world.environment(), "CLAUDECODE": "1"},
        answers=(),
    )
    assert (2, True) == (status, "nobody is at a terminal" in shown)


def test_a_script_never_links_a_rule_to_nothing(home: Path) -> None:
    """It says where notes are, and what to give."""
    person = notes_of_org_roam(home)
    before = everything(home)
    refused = person.run("install")
    assert (2, True) == (refused.status, "3 notes in ~/org-roam" in refused.err)
    assert f"--kb '{home}/org-roam'" in refused.err
    assert before == everything(home)
    assert 0 == person.run("install", "--kb", str(person.notes)).status


def test_a_script_without_notes_chooses_no_rule_for_the_human_who_comes_later(home: Path) -> None:
    """Nobody chose the shipped rule's folder: nothing is linked, and the first one at a terminal is asked."""
    person = no_notes(home)
    before = everything(home)
    refused = person.run("install")
    assert (2, True) == (refused.status, "neither rule nor hooks were written" in refused.err)
    assert "roamkb setup" in refused.err
    assert before == everything(home)
    # as an earlier roamkb left it
    person.run("install", "--create-kb")
    shutil.rmtree(home / "sync")
    assert 0 == person.talk("install")[0]
    assert "work" == person.run("classify", str(person.work), "--json").json["kind"]


def test_uninstall_names_no_notes_that_are_not_there(home: Path) -> None:
    """A folder that was never made isn't kept."""
    person = no_notes(home)
    person.run("install", "--create-kb")
    assert "keep  notes" in person.run("uninstall", "--dry-run").out
    shutil.rmtree(home / "sync")
    assert "keep  notes" not in person.run("uninstall", "--dry-run").out


def test_what_hooks_and_wall_take_from_the_human_is_said_before_they_say_yes(home: Path) -> None:
    """A line each: own notes, sudo where a wall stands, who reads them, and the copies."""
    person = notes_of_the_rule(home)
    _, shown = person.talk(
        "setup", "--no-work", "--no-logs", answers=(person.answers[0], person.answers[3], ("Add", "n"))
    )
    shown = shown[: shown.index("Add them?")].replace("\r", "")
    is_walled = "your notes are read-only there" in shown
    assert is_walled is ("sudo:   doesn't work in agents' commands" in shown)
    assert "notes:  agents can no longer edit, move or delete those that you wrote" in shown
    assert "read:   agents of every project, work ones too, may read your notes" in shown
    assert "copies: of your notes are kept in ~/.local/state/roamkb/journal" in shown
    # what it says about turning that off works as it is printed
    assert "`roamkb inject off`" in shown
    assert 0 == person.run("inject", "off", cwd=person.work).status


def test_what_was_called_work_is_taken_back_in_the_dialogue(home: Path) -> None:
    """By a word that is typed on the terminal, whoever has none keeps the mark; the rule is as it was, byte for byte."""
    person = notes_of_the_rule(home)
    words = ("setup", "--no-hooks", "--no-logs")
    rule = home / ".claude/rules/knowledge-base.md"
    assert 0 == person.run(*words, "--no-work", "--kb", str(person.notes)).status
    before = rule.read_bytes()
    for answer in ("-acme", "none"):
        assert (
            0
            == person.talk(*words, answers=(("these?", ""), ("are work?", "acme"), ("later", "y"), ("right?", "y")))[0]
        )
        assert "work" == person.run("classify", str(person.work), "--json").json["kind"]
        marked = rule.read_bytes()
        taken_back = (("these?", ""), ("`-` before one takes its mark back", answer), ("right?", "y"))
        status, shown = person.talk(*words, answers=(*taken_back, ("~/code/acme: no longer work", "y")))
        assert (2, marked) == (status, rule.read_bytes()), shown
        status, shown = person.talk(*words, answers=(*taken_back, ("Type unmark to do it:", "unmark")))
        assert (0, before) == (status, rule.read_bytes()), shown
        assert "personal" == person.run("classify", str(person.work), "--json").json["kind"]


def test_an_undo_at_a_terminal_asks_once(home: Path) -> None:
    """It names what would go; Enter leaves all as it is. Open sessions are to be started anew, now as after setup."""
    person = notes_of_org_roam(home)
    before = everything(home)
    assert "open sessions: end those of Claude Code" in person.run("setup", *options_of(person)).out
    after = everything(home)
    question = "Take back what setup did (rule, agents block"
    for answer in ("", "n"):
        status, shown = person.talk("setup", "--undo", answers=((question, answer),))
        assert (2, True) == (status, "nothing was taken back" in shown), shown
        assert after == everything(home)
    assert 0 == person.talk("setup", "--undo", "--dry-run", answers=())[0]
    status, shown = person.talk("setup", "--undo", answers=((question, "y"),))
    assert (0, True) == (status, "open sessions: end those of Claude Code" in shown), shown
    assert before == everything(home)


def test_ones_own_logs_count_again_after_a_purge(home: Path) -> None:
    """The key that knew them went with the state, which is said; setup asks for them, and takes them as `init` does."""
    person = notes_of_the_rule(home)
    words = ("setup", "--kb", str(person.notes), "--no-work", "--no-hooks")
    assert 0 == person.run(*words, "--log", str(person.project)).status
    assert 0 == person.run("learn", "Invoices restart each January", cwd=person.project).status
    # named once, by whichever entries of the rule
    assert 0 == person.run("setup", "--project-parent", str(person.project), "--no-hooks").status
    assert 1 == person.run("uninstall", "--dry-run").out.count("(the project's)")
    assert "the project's; without the state a stranger's, until" in person.run("uninstall", "--purge").out
    asked = ("code/lantern (has one, which does not count here yet)", "lantern")
    right = ("Is that right?", "y")
    status, shown = person.talk(*words, answers=(right, asked, ("Take it? [y/N]", "y")))
    assert (0, True) == (status, "counts here from now on: 1 learning" in shown), shown
    assert "Invoices restart" in person.run("recall", "invoices", cwd=person.project).out
    # nothing is left to ask but for the other
    status, shown = person.talk(*words, answers=(right, ("1  ~/code/acme", "")))
    assert (0, False) == (status, "lantern (has" in shown), shown


def test_the_commands_to_try_work_as_they_are_printed(home: Path) -> None:
    """In a shell that doesn't find the program yet, once what stands above them was typed."""
    person = notes_of_the_rule(home)
    program = home / ".local/bin/roamkb"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m roamkb "$@"\n')
    program.chmod(0o755)
    words = ("setup", "--kb", str(person.notes), "--no-work", "--no-hooks", "--log", str(person.project))
    poor = "/usr/bin:/bin"
    shown = person.run(*words, PATH=poor).out
    before, _, commands = shown.partition("\nTry:\n")
    line = next(line for line in before.splitlines() if "this shell doesn't find roamkb" in line).split("`")[1]
    assert 3 == len(commands.splitlines())
    tried = subprocess.run(
        ["/bin/bash", "-ec", f"cd\n{line}\n{commands}"],
        env={**person.world.environment(), "PATH": poor},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (tried.returncode, tried.stderr)
    assert "doesn't find roamkb" not in person.run(*words, PATH=f"{program.parent}:{poor}").out


def test_a_rule_that_was_edited_is_asked_about_before_the_program_goes(home: Path) -> None:
    """Agents would read it for ever; what stays is said in words that need no roamkb."""
    person = notes_of_org_roam(home)
    assert 0 == person.run(*("setup", "--kb", str(person.notes), "--no-work", "--no-hooks", "--no-logs")).status
    rule = home / ".claude/rules/knowledge-base.md"
    rule.write_text(f"{rule.read_text()}\nBe brief.\n")
    for answer in ("", "n", "\x04"):
        status, shown = person.talk("uninstall", answers=(("Remove it, too? [y/N]", answer),))
        assert (2, True) == (status, f"until `rm '{rule}'`" in shown), shown
        assert rule.exists()
    # who may not be asked is told the same
    assert f"until `rm '{rule}'`" in person.run("uninstall").out
    status, shown = person.talk("uninstall", answers=(("you edited this rule", "y"),))
    assert (0, False) == (status, rule.exists()), shown


def test_who_answers_half_is_told_the_whole_command(home: Path) -> None:
    """With what was said already, and nothing is changed."""
    person = notes_of_org_roam(home)
    before = everything(home)
    ran = person.run("setup", "--kb", str(person.notes))
    assert f"roamkb setup --kb '{person.notes}' --work-root DIR" in ran.err
    ran = person.run("setup", "--work-root", str(person.work))
    assert f"roamkb setup --work-root '{person.work}' --kb '{person.notes}'" in ran.err
    assert before == everything(home)


def test_no_agent_takes_the_setup_back(home: Path) -> None:
    """By the rule and the wall that would be gone, it is kept from the notes; it may look what would be."""
    person = notes_of_org_roam(home)
    person.run("setup", "--kb", str(person.notes), "--no-work", "--claude", "--yes")
    before = everything(home)
    ran = person.run("setup", "--undo", CLAUDECODE="1")
    assert (2, True) == (ran.status, "only a human does that" in ran.err)
    assert 0 == person.run("setup", "--undo", "--dry-run", CLAUDECODE="1").status
    for words in (("--claude",), ("--purge",)):
        ran = person.run("uninstall", *words, CLAUDECODE="1")
        assert (2, True) == (ran.status, "only a human does that" in ran.err)
        assert 0 == person.run("uninstall", *words, "--dry-run", CLAUDECODE="1").status
    assert before == everything(home)


def test_work_can_neither_set_up_nor_undo(home: Path) -> None:
    """From a work project both are refused, and nothing is touched."""
    person = notes_of_org_roam(home)
    person.run("setup", "--kb", str(person.notes), "--work-root", str(person.work), "--claude", "--yes")
    before = everything(home)
    inside = replace(person, home=home)
    assert 3 == inside.run("setup", "--undo", cwd=person.work).status
    parents = ("--project-parent", str(person.work.parent), "--project-parent", str(home / "other"))
    assert 3 == inside.run("setup", *parents, cwd=person.work).status
    assert before == everything(home)


def test_projects_that_are_not_found_are_named(home: Path) -> None:
    """Who has them elsewhere is asked at once what is work, and who may write once the rule's own are said to be wrong."""
    person = notes_of_the_rule(home)
    for name in (".claude", "code", "projects"):
        shutil.rmtree(home / name, ignore_errors=True)
    for name in ("lab/site", "job/shop"):
        (home / name).mkdir(parents=True)
    answers = (
        ("these?", ""),
        ("Which folders are work?", "~/job"),
        ("Is that right?", "n"),
        ("Which folders are work?", "~/job"),
        ("may agents write", "~/lab"),
        ("Is that right?", "y"),
    )
    status, shown = person.talk("setup", "--no-hooks", "--no-logs", answers=answers)
    assert 0 == status, shown
    kinds = [person.run("classify", str(home / name), "--json").json["kind"] for name in ("job/shop", "lab/site")]
    assert ["work", "personal"] == kinds


def test_the_rule_names_no_folder_that_nobody_named_and_that_is_not_there(home: Path) -> None:
    """The shipped rule's folders are examples: of them those count that are there, and no write warns of another."""
    person = notes_of_the_rule(home)
    status, shown = person.talk("setup")
    assert 0 == status, shown
    rule = (home / ".claude/rules/knowledge-base.md").read_text()
    named = re.findall(r"^```roamkb:(?:work-roots|project-parents)\n(.*?)```", rule, re.M | re.S)
    entries = "".join(named).split()
    assert entries
    assert [entry for entry in entries if not Path(entry.replace("~", str(home), 1)).exists()] == []
    assert "isn't there" not in person.run("write", "A fact", "--project", str(person.project)).err


def test_a_folder_that_holds_only_work_lets_no_new_project_write(home: Path) -> None:
    """The shipped rule calls all in `~/projects` personal but `work`; of what comes beside it nobody said anything."""
    person = notes_of_the_rule(home)
    (home / "projects/work/shop").mkdir(parents=True)
    (home / "projects/.cache").touch()
    status, shown = person.talk("setup")
    assert 0 == status, shown
    assert "personal, may write: ~/code\n" in shown.replace("\r", "")
    (home / "projects/client-x").mkdir()
    kinds = [
        person.run("classify", str(home / name), "--json").json["kind"]
        for name in ("projects/client-x", "code/lantern")
    ]
    assert ["unknown", "personal"] == kinds
    assert "work" == person.run("classify", str(home / "projects/work/shop"), "--json").json["kind"]


def test_where_no_agent_is_hooks_are_offered_for_later(home: Path) -> None:
    """By the names of those that there could be; where one is, it is asked about instead."""
    person = notes_of_the_rule(home)
    assert "offer hooks" not in person.run("setup", "--no-work", "--no-logs").out
    shutil.rmtree(home / ".claude")
    (home / "bin").mkdir()
    shown = person.run("setup", "--kb", str(person.notes), "--no-work", PATH=str(home / "bin")).out
    assert "offer hooks: no Claude Code" in shown
    assert "`--claude`" in shown


def test_a_log_begins_in_a_folder_that_is_there(home: Path) -> None:
    """A slip of the pen makes no folder."""
    person = notes_of_the_rule(home)
    before = everything(home)
    asked = person.run("setup", "--no-work", "--no-hooks", "--log", str(home / "code/lampp"))
    assert asked.status == 2
    assert "is no folder" in asked.err
    assert before == everything(home)


def test_who_stops_it_at_a_question_hears_that_nothing_was_changed(home: Path) -> None:
    """By Ctrl-C, as anybody would."""
    person = notes_of_the_rule(home)
    before = everything(home)
    status, shown = person.talk("setup", answers=(("these?", "\x03"),))
    assert status == 130
    assert "interrupted; nothing was changed" in shown
    status, shown = person.talk("setup", answers=(("these?", "\x04"),))
    assert status == 2
    assert "wasn't answered; nothing was changed" in shown
    assert before == everything(home)


def test_notes_among_documents_are_found(home: Path) -> None:
    """In folders of the usual name, and of the one that the desktop has."""
    put_notes(home / "Documents/org")
    put_notes(home / "Dokumente/zettel", count=1)
    (home / "Documents/letters").mkdir()
    (home / ".config").mkdir()
    (home / ".config/user-dirs.dirs").write_text('XDG_DOCUMENTS_DIR="$HOME/Dokumente"\n')
    found = {place.path: place.count for place in find_notes(home, kb=home / "none")}
    assert {home / "Documents/org": 3, home / "Dokumente/zettel": 1} == found


def test_the_checkout_that_one_installs_from_is_no_project(home: Path) -> None:
    """Nobody who tries the program is asked about it."""
    (home / "code/lantern").mkdir(parents=True)
    shutil.copytree(Path(roamkb.__file__).parent / "install", home / "roamkb/roamkb/install")
    (home / "roamkb/.git").mkdir()
    assert (home / "code/lantern",) == find_projects(home, parents=[home / "code"], kbs=[])


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap isn't installed")
def test_a_home_that_cannot_be_written_to_is_said_before_anything_is_asked(home: Path) -> None:
    """Nobody answers six questions for nothing."""
    person = notes_of_the_rule(home)
    status, shown = converse(
        ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(home), str(home), sys.executable, "-m", "roamkb", "setup"],
        maker=emulator(home.parent, "xterm"),
        cwd=home,
        environment={**person.world.environment(), "TERM": "xterm"},
        answers=(),
    )
    assert (2, True) == (status, "can't be written to; nothing was changed" in shown), shown
    assert 0 == person.run("setup", "--kb", str(person.notes), "--no-work", "--no-hooks", "--no-logs").status
    checked = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(home), str(home), sys.executable, "-m", "roamkb", "doctor"],
        cwd=home,
        env=person.world.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    # a mode changes nothing there
    assert "state folder: " in checked.stdout
    assert "mount it writable, or leave the sandbox" in checked.stdout
    assert "chmod 700" not in checked.stdout


def test_who_says_yes_beforehand_is_shown_steps_and_no_diff(home: Path) -> None:
    """What would change is shown by --dry-run; a screen of JSON after the fact hides the next commands."""
    person = notes_of_org_roam(home)
    words = ("setup", "--kb", str(person.notes), "--work-root", str(person.work), "--claude", "--yes")
    assert "\n+" in person.run(*words, "--dry-run").out
    done = person.run(*words)
    assert 0 == done.status, done.err
    assert str(home / ".claude/settings.json") in done.out
    assert "\n+" not in done.out
