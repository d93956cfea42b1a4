"""roamkb's own writes from behind a wall, by real processes: what gets through, and who doesn't."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.wall import broker
from roamkb.wall.broker import FORWARDED_VERBS
from tests.conftest import World
from tests.walled import Wall
from tests.walled import wall

__all__ = ["wall"]

#: Nodes that nobody takes for another.
_TOPICS = ("Zebras are striped", "Kilns cool overnight", "Ferries skip Sundays", "Ledgers close in May")
_ENDED = "the broker outside of this command's wall ended before it answered"
_REFUSES = "the broker outside of this command's wall refuses"


def _until(holds: Callable[[], object], process: "subprocess.Popen[str] | None" = None) -> None:
    """Wait; what never comes true ends the whole run, whose limit knows no slow machine."""
    while not holds():
        assert process is None or process.poll() is None
        time.sleep(0.02)


def _subjects(world: World, verb: str) -> list[str]:
    """Return one thing for each way that the verb can be done to."""
    if verb == "write":
        return [f"'{topic}'" for topic in _TOPICS]
    if verb == "promote":
        world.run("init")
        keys = []
        for topic in _TOPICS:
            said = f"{topic}, so the night shift reads the gauge beforehand"
            learned = world.run("learn", said, "--category", "bug_fix", "--confidence", "0.9", "--json")
            keys.append(str(learned.json["key"]))
            world.run("verify", keys[-1], "--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
        return keys
    ids = [str(world.run("write", topic, "--json").json["id"]) for topic in _TOPICS]
    if verb == "restore":
        for id in ids:
            assert 0 == world.run("trash", id).status
    return [f"{id} '{topic} now'" for id, topic in zip(ids, _TOPICS, strict=True)] if verb == "supersede" else ids


def _by_each_way(world: World, verb: str, subjects: list[str]) -> str:
    """Return the commands that do a verb by each way, each of which says its status."""
    by_itself, piped, scripted, spawned = (f"roamkb {verb} {subject}" for subject in subjects)
    body = " --body -" if verb in ("write", "supersede") else ""
    script = world.home / "script.sh"
    script.write_text(f"set -e\ncd .\n{scripted}\n")
    program = world.home / "spawn.py"
    program.write_text(
        "import shlex, subprocess, sys\n"
        f"sys.exit(subprocess.run(shlex.split({spawned!r}), close_fds=True).returncode)\n"
    )
    return f"""
        {by_itself}; echo "status $?"
        (echo 'From the pipe.' | {piped}{body}; echo "status $?") | cat
        sh {script}; echo "status $?"
        {sys.executable} {program}; echo "status $?"
    """


@pytest.mark.parametrize("verb", FORWARDED_VERBS)
def test_each_verb_reaches_the_notes_by_each_way(wall: Wall, verb: str) -> None:
    """By itself, in a pipe, in a script, from a program; while an ordinary write to the notes fails."""
    world = wall.world
    subjects = _subjects(world, verb)
    before = world.files()
    ran = wall.run(_by_each_way(world, verb, subjects) + f"\necho x > {world.kb}/x.org")
    assert ["status 0"] * 4 == [line for line in ran.out.splitlines() if line.startswith("status")], ran.err
    assert "Read-only file system" in ran.err
    after = world.files()
    assert "x.org" not in after
    changed = {"write": 4, "supersede": 4, "trash": -4, "restore": 4, "promote": 4}
    assert changed[verb] == len(after) - len(before)
    if verb in ("write", "supersede"):
        assert 1 == sum(b"From the pipe." in data for data in after.values())


@pytest.mark.parametrize("kind", ["work", "unknown"])
@pytest.mark.parametrize("verb", FORWARDED_VERBS)
def test_a_project_that_may_not_write_hears_what_it_hears_without_a_wall(wall: Wall, verb: str, kind: str) -> None:
    """The same status and the same words, whatever was asked for; nothing is written."""
    world = wall.world
    subject = _subjects(world, verb)[0].split(" ")[0].strip("'")
    before, folder = world.files(), getattr(world, kind)
    words = [verb, subject, *(["Other"] if verb == "supersede" else [])]
    plain = world.run(*words, cwd=folder)
    walled = wall.run(f"roamkb {' '.join(words)}", cwd=folder)
    assert (plain.status, plain.out, plain.err) == (walled.status, walled.out, walled.err)
    assert plain.status == (2 if verb == "promote" else 3)
    assert before == world.files()


def test_no_command_adopts_a_log_and_a_new_one_is_made_all_the_same(world: World) -> None:
    """The record is closed; `init` goes through the broker, and what it made counts behind the wall as well."""
    world.run("init")
    (world.personal.parent / "new").mkdir()
    roamkb = f"{sys.executable} -m roamkb"
    ran = world.run(
        "exec", "--",
        f"echo x > {world.state}/adopted/x; mv {world.state}/adopted {world.state}/gone; cd ../new; "
        f"{roamkb} init && {roamkb} learn 'Zebras are striped' && {roamkb} recall zebras",
    )  # fmt: skip
    assert (0, True) == (ran.status, "Zebras are striped" in ran.out), ran.err
    records = list((world.state / "adopted").iterdir())
    assert (2, False) == (len(records), (world.state / "adopted" / "x").exists()), ran.err


def test_without_its_environment_a_command_is_told_what_is_in_its_way(wall: Wall) -> None:
    """As under `env -i`: an error like any other of the disk's, and what to do."""
    ran = wall.run("env -i HOME=$HOME PATH=$PATH PYTHONPATH=$PYTHONPATH roamkb write 'Zebras are striped' --json")
    error = ran.json["error"]
    assert isinstance(error, dict)
    assert (2, "io") == (ran.status, error["code"])
    assert "read-only" in error["message"]
    assert "keep the environment they were given" in error["hint"]


def test_closed_streams_and_help_are_as_without_a_wall(wall: Wall) -> None:
    """Each stream is the caller's own, open or not."""
    ran = wall.run("roamkb write 'Zebras are striped' --body - <&-; roamkb write 'Kilns cool' >&-; roamkb write --help")
    assert "standard input is closed" in ran.err
    assert "Usage: roamkb write" in ran.out
    assert 1 == len([name for name in wall.world.files() if "kilns" in name])


# Who may ask


def test_another_process_of_the_same_user_is_refused(wall: Wall) -> None:
    """It is no child of the command's, wherever it runs."""
    with wall.begun("sleep 60") as process:
        _until(lambda: wall.sockets.is_dir() and any(wall.sockets.iterdir()), process)
        [path] = wall.sockets.iterdir()
        ran = wall.world.run("write", "Zebras are striped", "--json", extra={"ROAMKB_BROKER": str(path)})
    error = ran.json["error"]
    assert isinstance(error, dict)
    assert 2 == ran.status
    assert _REFUSES in error["message"]
    assert {} == wall.world.files()


def test_neither_folder_nor_environment_can_be_forged(wall: Wall) -> None:
    """What the session is counts, and what the caller is; the stricter of the two."""
    world = wall.world
    at_work = wall.run(
        f"cd {world.personal} && PWD=$PWD env -u CLAUDE_PROJECT_DIR ROAMKB_ASKED_BY=$$ roamkb write 'Zebras'",
        CLAUDE_PROJECT_DIR=str(world.work),
    )
    assert (3, True) == (at_work.status, "work project" in at_work.err)
    for told in (f"cd {world.work} &&", f"CLAUDE_PROJECT_DIR={world.work}"):
        ran = wall.run(f"{told} roamkb write 'Zebras are striped'")
        assert (3, True) == (ran.status, "work project" in ran.err)
    hidden = wall.run("env -u CODEX_THREAD_ID roamkb write 'Zebras'", CODEX_SANDBOX="seatbelt")
    assert (3, True) == (hidden.status, "unknown project" in hidden.err)
    assert {} == world.files()


def test_a_folder_that_is_another_outside_is_refused(wall: Wall) -> None:
    """A command can mount its work over a personal project, for itself."""
    world = wall.world
    ran = wall.run(
        f"bwrap --dev-bind / / --bind {world.work} {world.personal} -- "
        f"sh -c 'cd {world.personal} && roamkb write Zebras'"
    )
    assert 2 == ran.status
    assert "the folder that it was asked from isn't there outside" in ran.err
    assert {} == world.files()


def test_nothing_of_the_callers_is_imported_outside(wall: Wall) -> None:
    """Neither from its PYTHONPATH nor from its folder, which is the worker's as well."""
    world = wall.world
    evil = world.personal / "evil"
    (evil / "roamkb").mkdir(parents=True)
    told = f"open({str(world.kb / 'evil.org')!r}, 'a').write(__file__)"
    for name in ("json.py", "sitecustomize.py", "roamkb/__init__.py"):
        (evil / name).write_text(f"import os\nif os.access({str(world.kb)!r}, os.W_OK):\n    {told}\n")
    ran = wall.run(
        f"cd {evil}; roamkb write Zebras; PYTHONPATH=$PYTHONPATH:{evil} roamkb write 'Kilns cool'",
        # what a person's own setting says of the current folder holds for theirs, not for the caller's
        PYTHONPATH=f"{world.environment()['PYTHONPATH']}::.",
    )
    assert 0 == ran.status, ran.err
    assert ["kilns", "zebras"] == sorted(name[15:].removesuffix(".org").split("_")[0] for name in world.files())


def test_only_the_verbs_can_be_asked_for_and_only_in_their_form(wall: Wall) -> None:
    """What is malformed is refused with a reason, and the next caller is served."""
    program = wall.world.home / "hostile.py"
    program.write_text(
        """
import os, socket
os.chdir(os.path.dirname(os.environ["ROAMKB_BROKER"]))
def ask(data, *streams):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.basename(os.environ["ROAMKB_BROKER"]))
        socket.send_fds(connection, [data], streams)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while more := connection.recv(4096):
                answer += more
        except ConnectionResetError:
            pass
        print(answer.decode())
def framed(*words):
    data = b"\\0".join(words)
    return len(data).to_bytes(4, "big") + data
ask(framed(b"012", b"approve", b"x"), 0, 1, 2)
ask(framed(b"012", b"exec", b"--", b"sh"), 0, 1, 2)
ask(framed(b"01", b"write", b"x"), 0, 1, 2)
ask(framed(b"012", b"write", b"x"), 0)
ask(framed(b"00", b"write", b"x"), 0, 1)
ask(framed(b"0x", b"write", b"x"), 0)
ask(framed(b"012"), 0, 1, 2)
ask(b"\\xff\\xff\\xff\\xff" + b"x" * 1000, 0)
ask(b"\\0\\0\\0\\0", 0)
ask(b"\\0\\0\\0\\x50write", 0)
ask(b"x")
ask(framed(b"012", b"write", b"x" * 70000), 0, 1, 2, 0)
"""
    )
    ran = wall.run(f"{sys.executable} {program}; roamkb write 'Zebras are striped'")
    answers = [line for line in ran.out.splitlines() if line.startswith("!")]
    assert 12 == len(answers), ran.out
    assert all("only write, supersede" in one for one in answers[:2])
    assert all("malformed" in one or "larger than" in one for one in answers[2:])
    assert ["zebras" in name for name in wall.world.files()] == [True]


def test_who_says_nothing_holds_up_nobody(wall: Wall) -> None:
    """Nor who sends byte by byte: each connection has a process of its own."""
    program = wall.world.home / "slow.py"
    program.write_text(
        """
import os, socket, subprocess
here = os.getcwd()
os.chdir(os.path.dirname(os.environ["ROAMKB_BROKER"]))
held = []
for _ in range(12):
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].connect(os.path.basename(os.environ["ROAMKB_BROKER"]))
    held[-1].send(b"\\0")
raise SystemExit(subprocess.run(["roamkb", "write", "Zebras are striped"], cwd=here).returncode)
"""
    )
    ran = wall.run(f"{sys.executable} {program}")
    assert 0 == ran.status, ran.err
    assert 1 == len(wall.world.files())


def test_many_ask_at_once(wall: Wall) -> None:
    """Each gets its own answer."""
    topics = ("ants", "bells", "coal", "dunes", "eels", "flint", "gorse", "hail")
    ran = wall.run(" & ".join(f"roamkb write {topic}" for topic in topics) + " & wait")
    assert len(topics) == len(ran.out.splitlines()), ran.err
    assert len(topics) == len(wall.world.files())


# When somebody is killed


def _pids(*words: str) -> list[int]:
    """The processes whose command holds all of the words."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                line = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if all(word.encode() in line for word in words):
                found.append(int(process.name))
    return found


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _waiting(wall: Wall, fifo: Path) -> str:
    """Return a command that asks for a write whose text never comes."""
    os.mkfifo(fifo)
    return f"exec 3<>{fifo}; roamkb write 'Zebras of {wall.world.home}' --body - <&3; echo status $?; exit 0"


def test_what_was_asked_for_ends_with_who_asked(wall: Wall) -> None:
    """As a plain command that is killed; nothing is half written."""
    title = f"Zebras of {wall.world.home}"
    with wall.begun(_waiting(wall, wall.world.home / "fifo")) as process:
        # who asks, and the worker outside
        _until(lambda: len(_pids("roamkb", "write\0", title)) == 2, process)
        pids = _pids("roamkb", "write\0", title)
        [asker] = [pid for pid in pids if _is_inside(pid)]
        os.kill(asker, signal.SIGKILL)
        _until(lambda: not _pids("roamkb", "write\0", title))
        out, _ = process.communicate()
    assert "status 137" in out
    assert {} == wall.world.files()


def _is_inside(pid: int) -> bool:
    """Say whether a process was told of a broker, and isn't one that a broker began."""
    return b"ROAMKB_ASKED_BY=" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_a_broker_that_is_killed_is_told_of(wall: Wall) -> None:
    """With an error's status; nothing is half written, and the hint says how to find out."""
    title = f"Zebras of {wall.world.home}"
    with wall.begun(_waiting(wall, wall.world.home / "fifo")) as process:
        _until(lambda: len(_pids("roamkb", "write\0", title)) == 2, process)
        [worker] = [pid for pid in _pids("roamkb", "write\0", title) if not _is_inside(pid)]
        os.kill(_parent(worker), signal.SIGKILL)
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate()
    assert "status 2" in out
    assert _ENDED in err
    assert "roamkb search" in err
    assert {} == wall.world.files()


def test_what_a_command_leaves_behind_gets_nothing(wall: Wall) -> None:
    """It asks once the command has ended; a plain one that was left behind is refused as well."""
    world = wall.world
    told = world.home / "told"
    ran = wall.run(
        f"(while [ -e $ROAMKB_BROKER ]; do sleep 0.05; done; roamkb write Zebras 2>{told}.err; echo $? >{told})"
        " >/dev/null 2>&1 </dev/null &"
    )
    assert 0 == ran.status
    _until(lambda: told.exists() and told.read_text())
    assert told.read_text().strip() in ("2", "3")
    assert Path(f"{told}.err").read_text().startswith("roamkb: ")
    assert {} == world.files()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_launcher_that_is_told_to_end_tells_its_command_and_leaves_no_socket(
    wall: Wall, number: signal.Signals
) -> None:
    """The command's own end is the launcher's status."""
    with wall.begun(f"trap 'echo ended; exit 7' {number.name[3:]}; echo begun; sleep 60 & wait") as process:
        assert process.stdout is not None
        assert "begun\n" == process.stdout.readline()
        for pid in _pids("sleep 60 & wait", str(wall.world.kb)):
            if pid != process.pid:
                os.kill(pid, number)
        os.kill(process.pid, number)
        process.wait()
        # bubblewrap's own process dies of the signal, and the command lives on with the pipe
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode
    assert [] == list(wall.sockets.iterdir())


def test_the_status_is_the_commands(wall: Wall) -> None:
    """What it prints and how it ends goes through."""
    ran = wall.run("echo out; echo err >&2; exit 42")
    assert (42, "out\n", "err\n") == (ran.status, ran.out, ran.err)
    assert [] == list(wall.sockets.iterdir())


# The socket


def test_sockets_of_killed_launchers_are_swept_and_others_stay(wall: Wall) -> None:
    """After a minute, and only where nobody listens."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    wall.sockets.mkdir(parents=True)
    names = (f"{boot}-stale", f"{boot}-fresh", f"{boot}-heard", "00000000-elsewhere")
    held = {name: socket.socket(socket.AF_UNIX) for name in names}
    here = Path.cwd()
    os.chdir(wall.sockets)
    try:
        for name, one in held.items():
            one.bind(name)
    finally:
        os.chdir(here)
    held[f"{boot}-heard"].listen()
    for name in names:
        age = 0 if name.endswith("fresh") else 3600
        os.utime(wall.sockets / name, (time.time() - age, time.time() - age))
    for name in (names[0], names[3]):
        held[name].close()
    assert 0 == wall.run("true").status
    assert set(names[1:]) == {path.name for path in wall.sockets.iterdir()}
    assert 0o700 == wall.sockets.stat().st_mode & 0o777
    for one in held.values():
        one.close()


def test_a_path_too_long_for_a_socket_is_no_hindrance(wall: Wall) -> None:
    """A state folder may lie deeper than 107 bytes."""
    state = wall.world.home / ("deep" * 20) / ("er" * 40)
    ran = wall.run("roamkb write 'Zebras are striped'", XDG_STATE_HOME=str(state))
    assert 0 == ran.status, ran.err
    assert 1 == len(wall.world.files())


def test_where_nothing_can_be_kept_the_command_runs_all_the_same(wall: Wall) -> None:
    """Without a broker; a write is then told what is in its way."""
    (wall.world.home / "file").write_text("")
    ran = wall.run("echo out; roamkb write Zebras", XDG_STATE_HOME=str(wall.world.home / "file"))
    assert (2, "out\n") == (ran.status, ran.out)
    assert "file: isn't a folder" in ran.err


def test_the_launchers_part_imports_next_to_nothing(world: World) -> None:
    """Every shell command of an agent pays for it."""
    program = (
        "import sys; before = set(sys.modules)\n"
        "import os\nfrom roamkb.wall import broker\n"
        "listener = broker.open_listener()\nchild = os.fork()\nif child == 0: os._exit(3)\n"
        "assert os.waitstatus_to_exitcode(broker.serve_requests(listener, child)) == 3\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], env=world.environment(), capture_output=True, text=True, check=True
    )
    ours = {"roamkb", "roamkb.wall", "roamkb.wall.broker", "roamkb.fs", "roamkb.fs.user_dirs"}
    assert ours | {"_socket"} >= set(ran.stdout.split())


def test_a_command_that_ends_as_the_wait_begins_is_noticed(world: World) -> None:
    """Its signal comes too early to interrupt the wait, and what it sets off runs after it."""
    script = """if True:
        import os, signal
        from roamkb.wall import broker

        listener = broker.open_listener()
        child = os.fork()
        if child == 0:
            # the first wait has begun by then
            signal.sigwait({signal.SIGUSR1})
            os._exit(3)

        accept = broker.BrokerListener.accept

        def accept_late(self):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            os.kill(child, signal.SIGUSR1)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            try:
                return accept(self)
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

        broker.BrokerListener.accept = accept_late
        assert os.waitstatus_to_exitcode(broker.serve_requests(listener, child)) == 3
    """
    blocked = f"import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGUSR1}})\n{script}"
    subprocess.run([sys.executable, "-c", blocked], env=world.environment(), check=True)


def test_a_launcher_that_is_stopped_holds_up_no_other(tmp_path: Path) -> None:
    """Whoever looks whether it is still there doesn't wait for its answer."""
    folder = tmp_path / "brokers"
    folder.mkdir()
    stopped = socket.socket(socket.AF_UNIX)
    stopped.bind(str(folder / "stopped"))
    stopped.listen(0)
    waiting = []
    with contextlib.suppress(BlockingIOError):
        while True:
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            waiting[-1].connect(str(folder / "stopped"))
    os.utime(folder / "stopped", (0, 0))
    listener = broker.open_listener(str(folder))
    assert listener
    listener.close()
    assert ["stopped"] == [path.name for path in folder.iterdir()]
    stopped.close()
