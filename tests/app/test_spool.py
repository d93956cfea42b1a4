"""Writes that a sandbox keeps from the notes: they wait in the project, and a hook does them once."""

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.ids import new_id
from roamkb.spool.call import SpooledCall
from roamkb.spool.call import parse_spooled
from roamkb.spool.store.waiting_calls import MAX_CALLS
from roamkb.spool.store.waiting_calls import call_file_name
from roamkb.spool.store.waiting_calls import spool_call
from tests.conftest import Ran
from tests.conftest import World

_SESSION = "01a2048a-0000-7000-8000-c2b0d0d76bff"
_CODEX = {"CODEX_THREAD_ID": _SESSION, "CODEX_SANDBOX_NETWORK_DISABLED": "1"}
#: As Codex has it: the project and the temporary folder can be written, nothing else.
_CALLS = "rename linkat unlinkat fsync".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A session whose commands run in a sandbox, and whose hooks don't."""

    world: World
    #: What the session's commands printed.
    printed: list[str] = field(default_factory=list)
    #: What its harness heard of them.
    commands: list[str] = field(default_factory=list)
    #: More options of the sandbox.
    options: tuple[str, ...] = ()

    def run(self, *words: str, cwd: Path | None = None, input: str = "", **more: str) -> Ran:
        """Run roamkb in the sandbox."""
        world = self.world
        folder = cwd or world.personal
        done = subprocess.run(
            [
                *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(folder), str(folder)),
                *(*self.options, "--"),
                *(sys.executable, "-m", "roamkb", *words),
            ],
            cwd=folder,
            env={**world.environment(), "PWD": str(folder), **_CODEX, **more},
            input=input,
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed.append(done.stdout + done.stderr)
        self.commands.append(shlex.join(["roamkb", *words]))
        return Ran(status=done.returncode, out=done.stdout, err=done.stderr)

    def payload(self, event: str, cwd: Path | None = None, session: str = _SESSION) -> str:
        """What Codex tells a hook."""
        return json.dumps(
            {
                "session_id": session, "turn_id": "t", "cwd": str(cwd or self.world.personal),
                "hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "\n".join(self.commands)},
                "tool_response": "\n".join(self.printed) if event == "PostToolUse" else "", "prompt": "go on with that",
            }
        )  # fmt: skip

    def hook(self, event: str = "PostToolUse", *, cwd: Path | None = None, session: str = _SESSION) -> str:
        """Run a hook outside of the sandbox, and return all that it says."""
        ran = self.world.run("hook", cwd=cwd, input=self.payload(event, cwd, session))
        return "\n".join(_texts(json.loads(ran.out)))

    def drain(self) -> str:
        """Run hooks until nothing waits, since one does only as much as its time allows; return all they say."""
        said = [self.hook()]
        while (self.spool.exists() or self.kept.exists()) and len(said) < MAX_CALLS:
            said.append(self.hook())
        return "\n".join(said)

    @property
    def spool(self) -> Path:
        """Where calls wait."""
        return self.world.log().local_folder / "spool"

    @property
    def kept(self) -> Path:
        """Where those wait that the session is known to have called."""
        return self.world.state / "calls" / self.spool.parent.name


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [value] if isinstance(value, str) else []


@pytest.fixture
def box(world: World) -> Box:
    """A personal project with a log, where a session has begun."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap isn't installed (Debian: apt-get install bubblewrap)")
    assert 0 == world.run("init").status
    made = Box(world=world)
    made.hook("SessionStart")
    return made


def test_a_write_waits_says_so_and_is_done_by_the_next_hook(box: Box) -> None:
    """With the id that was told, once, and all that came on standard input."""
    ran = box.run("write", "Zebras are striped", "--body", "-", "--json", input="All of them.\n")
    told = ran.json
    assert (0, True, "write", None) == (ran.status, told["queued"], told["verb"], told["path"])
    assert {"schema", "queued", "verb", "id", "title", "path", "waits_in", "waits_for"} == told.keys()
    file = Path(str(told["waits_in"]))
    assert 0o600 == file.stat().st_mode & 0o777
    assert "All of them." not in ran.err
    assert {} == box.world.files()
    again = box.run("write", "Zebras are striped", "--body", "-", "--json", input="All of them.\n")
    assert told == again.json
    said = box.hook()
    assert f"write Zebras are striped, which waited, is done: {box.world.kb}" in said
    assert str(told["id"]) in said
    assert not box.spool.exists()
    [data] = box.world.files().values()
    assert b"All of them." in data
    assert b":AGENT:    codex" in data
    assert "which waited" not in box.hook()
    assert 1 == len(box.world.files())


@pytest.mark.parametrize("is_writable", [False, True], ids=["closed", "open"])
def test_who_has_a_process_table_of_its_own_writes_by_the_hook_alone(box: Box, is_writable: bool) -> None:
    """Codex's own sandbox has one: by the session's id a call waits, and nothing else, whatever can be written."""
    kb = str(box.world.kb)
    box = replace(box, options=("--unshare-pid", "--proc", "/proc", *(("--bind", kb, kb) if is_writable else ())))
    assert 3 == box.run("write", "Zebras", CODEX_THREAD_ID="", CODEX_SANDBOX_NETWORK_DISABLED="").status
    ran = box.run("write", "Zebras are striped")
    assert (0, True) == (ran.status, "waits: write Zebras" in ran.out), ran.err
    assert {} == box.world.files()
    assert "which waited, is done" in box.hook()
    assert 1 == len(box.world.files())
    assert 0 == box.run("learn", "Zebras are fed before the gate opens on Fridays").status
    id = str(box.run("search", "zebras", "--json").json["hits"][0]["id"])
    for words in (("supersede", id, "Zebras are striped all over"), ("trash", "--all-agent", "--yes")):
        assert f"waits: {words[0]}" in box.run(*words).out
        assert "which waited, is done" in box.drain()
    assert "waits: restore" in box.run("restore", "--last").out


@contextmanager
def confirmed_by_another(folder: Path) -> Iterator[None]:
    """Have another process carry out what a project's sessions called."""
    folder.mkdir(parents=True, exist_ok=True)
    at = os.open(folder, os.O_RDONLY)
    fcntl.flock(at, fcntl.LOCK_EX)
    yield
    os.close(at)


def test_what_waits_is_listed(box: Box) -> None:
    """By `doctor` and in the brief: how much, since when, what carries it out; nothing is done by that."""
    box.run("write", "Zebras are striped")
    box.run("write", "Lions are not")
    said = r"2 calls of this project wait since \d{4}-\d\d-\d\d \d\d:\d\d; the next hook"
    for place in (box.spool, box.kept):
        assert re.search(f"^-- waiting calls: {said}", box.world.run("doctor").out, re.MULTILINE)
        assert re.search(f"Trouble: {said}", box.world.run("brief").out)
        assert 2 == len(list(place.iterdir()))
        with confirmed_by_another(box.kept):
            box.hook()
    for file in box.kept.iterdir():
        call = json.loads(file.read_bytes())
        file.write_text(json.dumps({**call, "ts": call["ts"] - 90_000}))
    assert "!! waiting calls: 2 calls waited for more than a day" in box.world.run("doctor").out
    box.drain()
    assert "ok waiting calls: none" in box.world.run("doctor").out
    assert "Trouble" not in box.world.run("brief").out


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"])
def test_each_of_these_hooks_carries_out_what_the_session_called(box: Box, event: str) -> None:
    """The hook after the command left it to another; the next says so, and of one that stopped, to the human."""
    assert "waits: write Zebras" in box.run("write", "Zebras are striped").out
    with confirmed_by_another(box.kept):
        assert "which waited" not in box.hook()
    assert not box.spool.exists()
    assert "which waited, is done" in box.hook(event)
    assert 1 == len(box.world.files())
    assert not box.kept.exists()


# Whose call it is


def _put_by_another(box: Box, title: str, **changes: Any) -> Path:
    """Put a call into the project as a command of a work session could, which knows all that is readable."""
    call = SpooledCall(
        id=new_id(datetime.now(UTC)),
        verb="write",
        values={"title": title},
        folder=str(box.world.personal),
        project=None,
        session=_SESSION,
        ts=time.time(),
    )
    return spool_call(box.world.log().local_folder, replace(call, **changes))[0]


@pytest.mark.parametrize("session", [_SESSION, "01a2048a-0000-7000-8000-00000000beef"])
def test_what_no_command_of_the_session_printed_is_never_done(box: Box, session: str) -> None:
    """Though it names the session; when the turn is over it goes, and the human hears of it."""
    box.run("search", "zebras")
    path = _put_by_another(box, "Acme pays Tuesdays", session=session)
    for event in ("PostToolUse", "SessionStart", "UserPromptSubmit"):
        assert "Acme" not in box.hook(event)
    said = box.hook("Stop")
    assert ("no command of this session is known to have called it" in said) == (session == _SESSION)
    assert (session != _SESSION) == path.exists()
    assert {} == box.world.files()


def test_a_call_that_was_changed_is_another(box: Box) -> None:
    """Its number was printed, and tells what it said then."""
    box.run("write", "Zebras are striped")
    [file] = box.spool.iterdir()
    file.write_text(file.read_text().replace("Zebras are striped", "Acme pays Tuesdays"))
    assert "held no call" in box.hook()
    assert {} == box.world.files()


def test_another_session_s_call_is_not_done_though_its_number_is_printed(box: Box) -> None:
    """An agent that reads what lies about would do what others want."""
    path = _put_by_another(box, "Acme pays Tuesdays", session="another")
    box.printed.append(f"waits: ({path.stem}): ")
    box.commands.append("roamkb write 'Acme pays Tuesdays'")
    assert "is not done: no command of this session" in box.hook()
    assert {} == box.world.files()


@pytest.mark.parametrize(
    "command", ["cat README.md", "roamkb search acme", "roamkb write 'Zebras are striped'; cat README.md", "./save.sh"]
)
def test_a_number_in_a_file_that_a_command_reads_is_no_call(box: Box, command: str) -> None:
    """Whoever planted the call planted that line as well: the command itself has to be the call."""
    path = _put_by_another(box, "Acme pays Tuesdays")
    box.printed.append(f"waits: write Acme pays Tuesdays ({path.stem}): this sandbox keeps roamkb from writing")
    box.commands.append(command)
    assert "Acme" not in box.hook()
    assert "no command of this session is known to have called it" in box.hook("Stop")
    assert {} == box.world.files()


@pytest.mark.parametrize(
    "command",
    [
        "cd src && ~/.local/bin/roamkb write 'Zebras are striped'",
        'timeout 9 env A=b roamkb write "Zebras are striped" | tail -1',
        'title="Zebras are striped"; roamkb write "$title"',
        "bash -c 'python3 -m roamkb write \"Zebras are striped\"'",
    ],
)
def test_a_call_is_heard_however_it_is_written(box: Box, command: str) -> None:
    """By any path, behind other programs, with a title that only the shell knows."""
    box.run("write", "Zebras are striped")
    box.commands[:] = [command]
    assert "which waited, is done" in box.hook()


def test_only_what_a_command_printed_counts(box: Box) -> None:
    """No other tool's answer, which may be a page of anybody's."""
    ran = box.run("write", "Zebras are striped")
    told = {
        **json.loads(box.payload("PostToolUse")),
        "tool_name": "mcp__web__fetch",
        "tool_response": ran.out,
    }
    assert "which waited" not in box.world.run("hook", input=json.dumps(told)).out
    assert "which waited, is done" in box.hook()


def test_a_call_whose_output_nobody_saw_is_done_when_it_is_made_again(box: Box) -> None:
    """`roamkb write … > /dev/null`: the agent hears that nothing was done, and why."""
    box.run("write", "Zebras are striped")
    box.printed.clear()
    assert "let what it prints be seen" in box.hook("Stop")
    box.run("write", "Zebras are striped")
    assert "which waited, is done" in box.hook()
    assert 1 == len(box.world.files())


def test_what_replaces_moves_and_brings_back_waits_as_well(box: Box) -> None:
    """Each verb, in its order."""
    world = box.world
    zebra = str(world.run("write", "Zebras are striped", "--json").json["id"])
    kiln = str(world.run("write", "Kilns cool overnight", "--json").json["id"])
    assert "waits: supersede" in box.run("supersede", zebra, "Zebras are striped all over").out
    time.sleep(0.01)
    assert "waits: trash" in box.run("trash", kiln).out
    said = box.drain()
    assert 2 == said.count("which waited, is done")
    assert ["zebras", "zebras"] == [name[15:21] for name in world.files()]
    assert "waits: restore" in box.run("restore", "--last").out
    assert "which waited, is done" in box.hook()
    assert 3 == len(world.files())
    said = "Ferries skip Sundays, so the night shift reads the timetable beforehand"
    key = str(world.run("learn", said, "--category", "bug_fix", "--confidence", "0.9", "--json").json["key"])
    world.run("verify", key, "--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
    other = world.run("learn", "Kilns are lit on Mondays, so the yard is closed then", "--json").json["key"]
    assert "waits: promote" in box.run("promote", key, str(other)).out
    assert "which waited, is done" in box.hook()
    assert 4 == len(world.files())


def test_what_can_be_refused_at_once_is(box: Box) -> None:
    """A secret, a duplicate, a place that may not write, a dry run: nothing waits."""
    world = box.world
    world.run("write", "Zebras are striped")
    secret = box.run("write", "x", "--body", "AKIA" + "IOSFODNN7EXAMPL2")
    assert (2, True) == (secret.status, "secret" in secret.err)
    twin = box.run("write", "Zebras are striped")
    assert (2, True) == (twin.status, "looks like Zebras" in twin.err)
    assert 0 == box.run("write", "Kilns cool", "--dry-run").status
    for folder in (world.work, world.unknown):
        assert 3 == box.run("write", "Kilns cool", cwd=folder).status
    world.run("init", cwd=world.work)
    assert 3 == box.run("write", "Kilns cool", cwd=world.work).status
    assert [] == list(world.home.rglob("spool"))


def test_where_no_hook_would_do_it_the_error_stands(box: Box, world: World) -> None:
    """Without a session, without a hook that was ever here, without a log."""
    assert 2 == box.run("write", "Zebras", CODEX_THREAD_ID="", CODEX_SANDBOX_NETWORK_DISABLED="").status
    shutil.rmtree(world.log().local_folder / "passes")
    ran = box.run("write", "Zebras")
    assert (2, True) == (ran.status, "roamkb's MCP tools run outside of it" in ran.err)
    assert not box.spool.exists()


def test_the_boundary_is_judged_when_it_is_done(box: Box) -> None:
    """The project became work meanwhile: refused, and the agent hears of it."""
    world = box.world
    box.run("write", "Zebras are striped")
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(rule.read_text().replace(f"{world.home}/work\n", f"{world.home}/work\n{world.personal}\n"))
    said = box.hook()
    assert {} == world.files()
    assert "which waited" not in said or "is not done: work project" in said


def _forged(box: Box, **changes: Any) -> None:
    """Put a call into the spool as a command of the session could, from one that waits, and print its number."""
    box.run("write", "Zebras are striped")
    [file] = box.spool.iterdir()
    told = json.loads(file.read_text())
    for name, value in changes.items():
        (told["values"] if name in told["values"] else told)[name] = value
    _renumber(box, file, told)


def _renumber(box: Box, file: Path, told: dict[str, object]) -> None:
    file.unlink()
    call = parse_spooled(json.dumps(told).encode())
    forged = file.with_name(call_file_name(call)) if call else file
    forged.write_text(json.dumps(told))
    box.printed.append(f"waits: ({forged.stem}): ")
    box.commands.append(shlex.join(["roamkb", call.verb, call.subject_text] if call else ["roamkb"]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"verb": "approve"}, "held no call"),
        ({"verb": "install"}, "held no call"),
        ({"verb": "init"}, "held no call"),
        ({"title": 3}, "held no call"),
        ({"title": None}, "held no call"),
        ({"tags": "agent"}, "held no call"),
        ({"values": {"title": "x", "permit": "yes"}}, "held no call"),
        ({"id": "../../x"}, "held no call"),
        ({"folder": "relative"}, "held no call"),
        ({"v": 99}, "held no call"),
        ({"ts": 1.0}, "waited for more than a day"),
        ({"ts": 1e12}, "waited for more than a day"),
        ({"ts": float("nan")}, "held no call"),
        ({"title": "AKIA" + "IOSFODNN7EXAMPL2"}, "is not done: the text holds what looks like a secret"),
        ({"folder": "{work}"}, "is not done: work project"),
        ({"project": "{work}"}, "is not done: work project"),
        ({"folder": "/nowhere"}, "is not done: unknown project"),
        ({"source": "gossip"}, "is not done"),
    ],
)
def test_a_forged_call_does_no_more_than_a_command_could(box: Box, changes: dict[str, object], said: str) -> None:
    """What is none is dropped with a notice; what is one is judged as any."""
    made = {name: str(box.world.work) if value == "{work}" else value for name, value in changes.items()}
    _forged(box, **made)
    assert said in box.hook()
    assert {} == box.world.files()
    assert not box.spool.exists()


@pytest.mark.parametrize("verb", ["write", "supersede"])
def test_a_forged_call_takes_no_other_node_s_id(box: Box, verb: str) -> None:
    """Links to a human's note would lead to an agent's."""
    world = box.world
    id = "27a75a1c-9d8f-41b0-bc4c-a4889e25fe64"
    world.node("20240101000000-oak.org", id, "Oak")
    other = str(world.run("write", "Kilns cool overnight", "--json").json["id"])
    before = world.files()
    _forged(box, id=id)
    if verb == "supersede":
        [file] = box.spool.iterdir()
        told = json.loads(file.read_text())
        _renumber(box, file, {**told, "verb": verb, "values": {"name": other, "title": "Kilns cool by day"}})
    assert "is another node's id" in box.hook()
    assert before == world.files()


def test_no_link_is_followed_and_nothing_else_is_removed(box: Box) -> None:
    """Neither a folder that is a link nor a file, a pipe or a flood of them makes a hook do harm or hang."""
    world = box.world
    box.run("write", "Zebras are striped")
    [call] = box.spool.iterdir()
    aside = world.home / "aside"
    box.spool.rename(aside)
    box.spool.symlink_to(aside)
    assert "is done" not in box.hook()
    assert [call.name] == [path.name for path in aside.iterdir()]
    box.spool.unlink()
    box.spool.mkdir()
    mine = world.home / "settings.json"
    mine.write_text("{}")
    (box.spool / ("0" * 32 + ".json")).symlink_to(mine)
    os.mkfifo(box.spool / ("1" * 32 + ".json"))
    (box.spool / "settings.json").write_text("{}")
    (box.spool / ("2" * 32 + ".json")).write_bytes(b"x" * 1_000_000)
    box.printed.extend(f"({digit * 32}): " for digit in "012")
    said = "".join(box.hook() for _ in range(3))
    assert 3 == said.count("held no call")
    assert mine.exists()
    assert ["settings.json"] == [path.name for path in box.spool.iterdir()]


def test_only_so_many_calls_wait(box: Box) -> None:
    """Who writes more is told of another way."""
    box.spool.mkdir(exist_ok=True)
    for number in range(MAX_CALLS):
        (box.spool / f"{number:032x}.json").write_text("")
    full = box.run("write", "Zebras")
    assert (2, True) == (full.status, "wait already" in full.err)


def test_another_session_leaves_it_alone(box: Box) -> None:
    """A call that its own session may make isn't lost by another's hook."""
    box.run("write", "Zebras are striped")
    ran = box.world.run(
        "hook",
        input=box.payload("PostToolUse", session="another"),
        extra={"CLAUDE_PROJECT_DIR": str(box.world.work)},
    )
    assert "which waited" not in ran.out
    assert "which waited, is done" in box.hook()


@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize("verb", ["write", "supersede", "trash"])
def test_killed_anywhere_it_is_done_once_all_the_same(box: Box, verb: str, call: str) -> None:
    """A hook dies at its first, second, … call of the system; the next one ends it, and does nothing twice."""
    if not shutil.which("strace"):
        pytest.skip("strace isn't installed (Debian: apt-get install strace)")
    world, killed = box.world, 0
    for number in range(1, 40):
        old = str(world.run("write", f"Kiln number {number}", "--anyway", "--json").json["id"])
        words = {"write": [f"Ferry number {number}", "--anyway"], "trash": [old]}
        assert 0 == box.run(verb, *words.get(verb, [old, f"Ferry number {number}", "--anyway"])).status
        before = {name: data for name, data in world.files().items() if name.endswith(".org")}
        died = subprocess.run(
            [
                *("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call},{call.removesuffix('at')}"),
                *("-e", f"inject={call}:signal=KILL:when={number}", sys.executable, "-m", "roamkb", "hook"),
            ],
            cwd=world.personal,
            env={**world.environment(), "PWD": str(world.personal)},
            input=box.payload("PostToolUse").encode(),
            stdout=subprocess.PIPE,
            check=False,
        )
        killed += died.returncode != 0
        box.drain()
        assert not (box.spool.exists() or box.kept.exists())
        # what a killed write leaves beside a note has no note's name
        after = {name: data for name, data in world.files().items() if name.endswith(".org")}
        ferries = [data for data in after.values() if f"Ferry number {number}\n".encode() in data]
        if verb == "trash":
            assert before.keys() - after.keys() == {name for name, data in before.items() if old.encode() in data}
        else:
            new = [data for data in ferries if b"#+title: Ferry" in data]
            assert 1 == len(new), number
        if verb == "supersede":
            assert 1 == sum(
                b":SUPERSEDED_BY:" in data for data in after.values() if f":ID:       {old}".encode() in data
            )
        if died.returncode == 0:
            break
    assert killed or call in ("linkat", "rename", "unlinkat")
    assert died.returncode == 0
