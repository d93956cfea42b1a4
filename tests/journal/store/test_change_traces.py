"""Whom the journal believes: programs that really run and roamkb's own record, and no trace that a command leaves."""

import contextlib
import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.hooks.test_journal import changes
from tests.app.hooks.test_journal import hook
from tests.conftest import World
from tests.human import at_a_terminal

TEXT = "".join(f"line {number} of the note\n" for number in range(20))
NEEDS_EMACS = pytest.mark.skipif(shutil.which("emacs") is None, reason="no Emacs here (Debian: emacs-nox)")
NEEDS_VIM = pytest.mark.skipif(shutil.which("vim") is None, reason="no vim here (Debian: vim)")


@pytest.fixture
def notes(world: World) -> World:
    """A human's notes and an agent's."""
    for name in "abcdefghijklmno":
        world.node(f"{name}.org", f"id-{name}", f"Note {name}", TEXT)
    # to be made an agent's before the journal begins, as roamkb itself makes them
    assert 0 == world.run("write", "Zebras are striped", "--body", TEXT, "--anyway").status
    return world


def begin(world: World) -> None:
    """Begin a session and its first turn."""
    hook(world, "session-start", source="startup")
    turn(world)


def turn(world: World, *, hears: str = "") -> str:
    """Begin a turn; return what the human is told of what happened before."""
    return told(world, "user-prompt-submit", hears=hears, prompt="go on with it, please")


def stop(world: World, *, hears: str = "") -> str:
    """End a turn; return what the human is told of it."""
    return told(world, "stop", hears=hears)


def told(world: World, event: str, *, hears: str, **payload: Any) -> str:
    """Return what the human is told; a hook that had no time to look leaves it to the next."""
    lines = []
    for _ in range(5 if hears else 1):
        lines.append(str(hook(world, event, **payload).get("systemMessage", "")))
        if hears and hears in lines[-1]:
            break
    return lines[-1]


def shell(world: World, line: str) -> None:
    """Run a line of shell among the notes."""
    subprocess.run(["sh", "-ec", line], cwd=world.kb, env=world.environment(), check=True)


@contextlib.contextmanager
def emacs(world: World, *, types_on: bool) -> Iterator[None]:
    """Have a human's Emacs edit and save a note, and stay open; `types_on` has it hold unsaved changes then."""
    more = '(insert "unsaved\\n")' if types_on else ""
    code = f"""(progn (setq make-backup-files t create-lockfiles t backup-enable-predicate (lambda (_) t))
      (find-file "a.org") (goto-char (point-max)) (insert "by its human\\n") (save-buffer) {more}
      (princ "saved\\n") (read-string ""))"""
    process = subprocess.Popen(
        ["emacs", "-Q", "--batch", "--eval", code],
        cwd=world.kb,
        env=world.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    assert process.stdout
    try:
        assert b"saved\n" == process.stdout.readline()
        yield
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def vim(world: World) -> Iterator[None]:
    """Have a human's vim edit and save a note, and stay open."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(world.kb)
        os.execvpe("vim", ["vim", "-u", "NONE", "-N", "a.org"], {**world.environment(), "TERM": "xterm"})
    try:
        os.write(terminal, b"Goby its human\x1b:w\r")
        while b"by its human" not in (world.kb / "a.org").read_bytes():
            if select.select([terminal], [], [], 0.05)[0]:
                os.read(terminal, 4096)
        yield
    finally:
        os.write(terminal, b"\x1b:q!\r")
        with contextlib.suppress(OSError):
            while os.read(terminal, 4096):
                pass
        os.waitpid(pid, 0)
        os.close(terminal)


@NEEDS_EMACS
@pytest.mark.parametrize("types_on", [True, False], ids=["locked again", "backup alone"])
def test_what_a_humans_emacs_saves_is_explained(notes: World, types_on: bool) -> None:
    """While it runs: by its lock, or by the backup of what the note was."""
    begin(notes)
    with emacs(notes, types_on=types_on):
        assert not stop(notes)
    assert {"changed a.org": "Emacs"} == changes(notes, "1")


@NEEDS_VIM
def test_what_a_humans_vim_saves_is_explained(notes: World) -> None:
    """Its swap file says which file it wrote, and is as young."""
    begin(notes)
    with vim(notes):
        assert not stop(notes)
    assert {"changed a.org": "vim"} == changes(notes, "1")


@NEEDS_EMACS
def test_what_is_written_under_an_open_emacs_is_not_emacss(notes: World) -> None:
    """Its lock says that it holds changes, and not that it has saved any since."""
    begin(notes)
    with emacs(notes, types_on=True):
        shell(notes, "sleep 0.1; sed -i s/line/LINE/ a.org")
        assert "a.org changed" in stop(notes, hears="a.org changed")


@NEEDS_EMACS
def test_an_emacs_that_an_agent_began_explains_nothing(notes: World) -> None:
    """It leaves what a human's leaves."""
    begin(notes)
    with emacs(_marked(notes), types_on=True):
        assert "a.org changed" in stop(notes, hears="a.org changed")


class _Marked(World):
    """A world whose programs an agent begins."""

    def environment(self) -> dict[str, str]:
        """The environment of what an agent's shell begins."""
        return {**super().environment(), "CLAUDECODE": "1"}


def _marked(world: World) -> World:
    return _Marked(home=world.home, kb=world.kb, personal=world.personal, work=world.work, unknown=world.unknown)


@pytest.mark.parametrize(
    "line",
    [
        "sed -i s/line/LINE/ *zebras*.org",
        "ln -f b.org a.org",
        "sed -i s/line/LINE/ a.org; touch -d '1 hour ago' a.org",
        "cp -p b.org x; sed -i s/line/LINE/ x; touch -r a.org x; mv x a.org",
        "ln -s me@desk.1:1 .#a.org; sed -i s/line/LINE/ a.org",
        'sed -i s/line/LINE/ a.org; ln -s "me@$(uname -n).$$:1" .#a.org',
        "sed -i s/line/LINE/ a.org; touch '#a.org#'",
        "sed -i s/line/LINE/ a.org; touch .a.org.swp",
        "sed -i s/line/LINE/ a.org; touch .syncthing.a.org.tmp",
        "sed -i~ s/line/LINE/ a.org",
        "mkdir .stversions; mv a.org .stversions/a~20260101-000000.org",
    ],
)
def test_a_commands_traces_explain_nothing(notes: World, line: str) -> None:
    """An agent's note is no excuse, nor are times, names and files that any command makes."""
    begin(notes)
    shell(notes, line)
    assert "nothing explains it" in stop(notes, hears="nothing explains it")
    assert "unknown" in changes(notes, "1").values()
    planned = notes.run("journal", "restore", "--all", "--mark", "1", "--dry-run", "--json").json
    assert planned["steps"]


def test_what_roamkb_does_is_on_its_record(notes: World) -> None:
    """A new node, one that is superseded, one that goes and one that comes back."""
    begin(notes)
    done = notes.run("supersede", "Zebras are striped", "Zebras are black and white", "--json").json
    assert 0 == notes.run("write", "Lions are not striped").status
    assert 0 == notes.run("trash", "Lions are not striped").status
    assert not stop(notes)
    assert {"roamkb"} == set(changes(notes, "1").values())
    turn(notes)
    assert 0 == notes.run("trash", str(done["id"])).status
    assert not stop(notes)
    turn(notes)
    assert 0 == notes.run("restore", str(done["id"])).status
    assert not stop(notes)


def test_what_was_done_to_a_note_besides_is_not_roamkbs(notes: World) -> None:
    """Roamkb's deed must lead from what the note was to what it is."""
    begin(notes)
    shell(notes, "sed -i s/line/LINE/ *zebras*.org")
    assert 0 == notes.run("supersede", "Zebras are striped", "Zebras are black and white").status
    assert "nothing explains it" in stop(notes, hears="nothing explains it")
    turn(notes)
    shell(notes, "rm *black*.org")
    assert "vanished" in stop(notes, hears="vanished")


def test_without_its_record_roamkbs_changes_are_unknown(notes: World) -> None:
    """It may be deleted: then nothing is believed."""
    begin(notes)
    assert 0 == notes.run("write", "Lions are not striped").status
    (record,) = notes.state.glob("journal/*/own-writes")
    assert b"lions" not in record.read_bytes()
    record.unlink()
    assert "nothing explains it" in stop(notes, hears="nothing explains it")


HUMAN = {
    "appends": "echo more >> a.org",
    "renames": "mv a.org better.org",
    "adds": "echo new > new.org",
    "chmods": "chmod 600 a.org",
    "replaces a word": "sed -i 's/5 of the/five of the/' a.org",
    "changes a few": "sed -i 's/7/seven/' a.org b.org c.org d.org",
}
DAMAGE = {
    "removes": "rm a.org",
    "moves away": "mv a.org ..",
    "empties": ": > a.org",
    "truncates": "truncate -s 100 a.org",
    "encrypts": "head -c 900 /dev/urandom > a.org",
    "replaces all": "cp b.org x; sed -i 's/^/x/' x; mv x a.org",
    "edits all": "sed -i s/line.7/LINE/ *.org",
    "renames all": "for f in *.org; do mv $f x-$f; done",
    "links": "ln -sf /etc/passwd a.org",
}


@pytest.mark.parametrize("line", HUMAN.values(), ids=HUMAN)
def test_what_a_hand_does_between_turns_is_told_to_nobody(notes: World, line: str) -> None:
    """No agent is at work, and little is gone."""
    begin(notes)
    stop(notes)
    shell(notes, line)
    assert "" == turn(notes)


@pytest.mark.parametrize("line", DAMAGE.values(), ids=DAMAGE)
def test_damage_between_turns_is_told(notes: World, line: str) -> None:
    """A job that an agent left behind may do it when nobody is at work."""
    begin(notes)
    stop(notes)
    shell(notes, line)
    assert "nothing explains it" in turn(notes, hears="nothing explains it")


def test_what_an_agent_left_running_is_at_work_still(notes: World) -> None:
    """A small change by a command of the session, which outlived the turn, is told; the next one isn't."""
    begin(notes)
    command = "read go; sed -i 's/5 of the/five of the/' a.org"
    left = subprocess.Popen(
        ["setsid", "sh", "-c", command],
        cwd=notes.kb,
        env={**notes.environment(), "CLAUDE_CODE_SESSION_ID": "s-1"},
        stdin=subprocess.PIPE,
    )
    assert left.stdin
    while b"read go" not in Path(f"/proc/{left.pid}/cmdline").read_bytes():
        time.sleep(0.01)
    stop(notes)
    left.stdin.write(b"\n")
    left.stdin.close()
    left.wait()
    assert "a.org changed" in turn(notes, hears="a.org changed")
    stop(notes)
    shell(notes, "echo more >> b.org")
    assert "" == turn(notes)


@NEEDS_EMACS
def test_a_humans_edit_since_is_not_thrown_away(notes: World) -> None:
    """`--all` leaves it and says whose it is; by its name it goes, and the plan says so, too."""
    begin(notes)
    shell(notes, "sed -i s/line/LINE/ a.org b.org")
    assert "2 files" in stop(notes, hears="2 files")
    turn(notes)
    with emacs(notes, types_on=False):
        stop(notes)
    told = notes.run("journal", "show", "--mark", "1").out
    assert re.search(r"^changed  a\.org \(.*\), edited since by Emacs$", told, re.MULTILINE)
    planned = notes.run("journal", "restore", "--all", "--mark", "1", "--dry-run")
    assert "replace b.org" in planned.out
    assert "left    a.org: edited since by Emacs; name it to restore it all the same" in planned.out
    named = notes.run("journal", "restore", "a.org", "--mark", "1", "--dry-run").out
    assert re.search(r"replace a\.org \(.* it was edited since by Emacs, and that goes as well", named)
    steps = notes.run("journal", "restore", "a.org", "--mark", "1", "--dry-run", "--json").json["steps"]
    assert ["Emacs"] == [step["edited_since"] for step in steps]
    ran, _ = at_a_terminal(notes, "journal", "restore", "--all", "--mark", "1")
    assert 0 == ran.status, ran
    assert b"by its human" in notes.files()["a.org"]
    assert b"LINE" not in notes.files()["b.org"]
