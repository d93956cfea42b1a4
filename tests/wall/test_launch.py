"""Commands behind the wall: what they can't write, and all else that is as without it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from roamkb.wall.plan import BUBBLEWRAP
from roamkb.wall.plan import LANDLOCK
from roamkb.wall.plan import NAMESPACE
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import read_plan
from roamkb.wall.plan import save_plan
from tests.conftest import Ran
from tests.conftest import World
from tests.programs import script

_NOTE = "20240101000000-oak.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walled:
    """A person's machine whose agents' commands run behind one kind of wall."""

    world: World
    way: str

    @property
    def note(self) -> Path:
        """A human's note."""
        return self.world.kb / _NOTE

    @property
    def plan_file(self) -> Path:
        """Where the plan is kept."""
        return self.world.home / ".local/share/roamkb/wall/plan"

    def words(self, *command: str) -> list[str]:
        """What runs a command behind the wall."""
        return [sys.executable, "-m", "roamkb", "exec", "--", *command]

    def environment(self, **more: str) -> dict[str, str]:
        """What the launcher finds around it."""
        return {**self.world.environment(), "SHELL": "/bin/bash", **more}

    def run(self, *command: str, cwd: Path | None = None, given: str = "", **more: str) -> Ran:
        """Run a shell's line, or a program with its arguments."""
        done = subprocess.run(
            self.words(*command),
            cwd=cwd or self.world.personal,
            env=self.environment(**more),
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        return Ran(status=done.returncode, out=done.stdout, err=done.stderr)

    def begun(self, *command: str, **options: object) -> "subprocess.Popen[str]":
        """Begin a command, in a group of its own as Claude Code does."""
        return subprocess.Popen(
            self.words(*command),
            cwd=self.world.personal,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def known(self) -> list[tuple[str, str]]:
        """Return the ways that the plan knows."""
        plan = read_plan(str(self.plan_file))
        return plan.ways if plan else []

    def only(self, *ways: tuple[str, str]) -> WallPlan:
        """Have the plan know these ways alone."""
        plan = read_plan(str(self.plan_file))
        assert plan
        plan.ways = list(ways)
        save_plan(str(self.plan_file), plan)
        return plan


@pytest.fixture(params=[NAMESPACE, BUBBLEWRAP, LANDLOCK])
def walled(request: pytest.FixtureRequest, world: World) -> Walled:
    """A machine with a note, for each kind of wall that the kernel has."""
    world.node(_NOTE, "27a75a1c-9d8f-41b0-bc4c-a4889e25fe64", "Oak")
    (world.home / ".claude" / "settings.json").write_text("{}\n")
    made = Walled(world=world, way=request.param)
    assert 0 == made.run("true").status
    plan = read_plan(str(made.plan_file))
    assert plan
    ways = [way for way in plan.ways if way[0] == made.way]
    if not ways:
        if made.way == BUBBLEWRAP and os.environ.get("ROAMKB_TEST_ALL") == "1" and not shutil.which("bwrap"):
            pytest.fail("ROAMKB_TEST_ALL=1, but bubblewrap isn't installed")
        pytest.skip(f"this machine's kernel lets nobody here raise a wall by {made.way}")
    made.only(*ways)
    return made


# What can't be done

#: Each ends in failure, and the notes stay as they are; `N` is the note, `K` its folder.
_WRITES = (
    "echo x >> $N",
    "echo x > $N",
    ": > $N",
    "echo x > $K/new.org",
    "mkdir $K/sub",
    "touch $K/new.org",
    "truncate -s 0 $N",
    "rm -f $N",
    "rm -rf $K",
    "mv $N ~/elsewhere/",
    "mv $K ~/elsewhere/",
    "mv ~/elsewhere $K/",
    "cp /etc/hostname $N",
    "ln $N ~/code/site/hard.org && echo x >> ~/code/site/hard.org",
    "ln -s /etc/hostname $K/link.org",
    "sed -i s/Oak/Elm/ $N",
    "dd if=/dev/zero of=$N bs=1 count=1 conv=notrunc",
    "cd $K && echo x >> ./$(basename $N)",
    "echo x >> /proc/self/root$N",
    "cd $K && echo x >> /proc/self/cwd/$(basename $N)",
    "ln -s $K ~/code/site/notes && echo x >> ~/code/site/notes/$(basename $N)",
    'python3 -c \'import sys; open(sys.argv[1], "r+").write("x")\' $N',
    "python3 -c 'import mmap, os, sys; f = os.open(sys.argv[1], os.O_RDWR); mmap.mmap(f, 1)[0] = 65' $N",
    "exec 3<> $N && echo x >&3",
    "exec 3< $N && echo x > /proc/self/fd/3",
    "for f in $(find ~ -name '*-oak.org'); do echo x >> $f || exit 1; done",
    "find ~ -name '*-oak.org' | xargs -I{} sh -c 'echo x >> {}'",
    "(setsid sh -c 'sleep 0.1; echo x >> $N' &) ; sleep 0.4; exec grep -q ^x $N",
    "unshare -Urm sh -c 'umount $K; mount -o remount,rw,bind $K; echo x >> $N'",
    "umount $K && echo x >> $N",
    "mount -o remount,rw,bind $K && echo x >> $N",
    "mount --bind ~/elsewhere $K",
    "echo x >> /proc/$OUTER/root$N",
    "echo x >> /proc/$OUTER/cwd/../../roam/$(basename $N)",
    "nsenter -t $OUTER -m sh -c 'echo x >> $N'",
    "nsenter -t $OUTER -U -m sh -c 'echo x >> $N'",
    "echo x >> ~/.claude/rules/knowledge-base.md",
    "mv ~/.claude ~/claude2",
    "rm -rf ~/.claude/rules",
    "echo '{}' > ~/.claude/settings.json",
    "rm ~/.claude/settings.json",
    "mv ~/.claude/settings.json ~/elsewhere/",
    "echo x > ~/.local/share/roamkb/wall/plan",
    "rm -r ~/.local/share/roamkb/wall",
    # a launcher's socket, which the client of another session could take for its own
    "rm ~/.local/state/roamkb/brokers/*",
    "touch ~/.local/state/roamkb/brokers/x",
    # what a session is known to have called
    "mkdir -p ~/.local/state/roamkb/calls/x",
    # what `restore` and `forget` believe
    "mkdir -p ~/.local/state/roamkb/trash/x",
    "mkdir -p ~/.local/state/roamkb/snapshots/x",
    "echo '{}' > ~/.local/state/roamkb/setup.json",
    # what a prompt is told of the notes
    "mkdir -p ~/.local/state/roamkb/cache/x",
    "mv ~/.local/state/roamkb ~/elsewhere/",
)


@pytest.mark.parametrize("line", _WRITES)
def test_no_command_writes_what_is_closed(walled: Walled, line: str) -> None:
    """Whatever it is written in, and whoever of its children does it."""
    before, rule, settings, plan = _kept(walled)
    outer = str(os.getpid())
    ran = walled.run(line, N=str(walled.note), K=str(walled.world.kb), OUTER=outer)
    assert (before, rule, settings, plan) == _kept(walled), ran.err
    assert ran.status, ran.out


def _kept(walled: Walled) -> tuple[object, ...]:
    claude = walled.world.home / ".claude"
    rule, settings = claude / "rules" / "knowledge-base.md", claude / "settings.json"
    return walled.world.files(), rule.read_bytes(), settings.read_bytes(), walled.plan_file.read_bytes()


_CHANGES_ABOUT = (
    "chmod 600 $N",
    "touch -d 2020-01-01 $N",
    "chown 1234 $N",
    "setfattr -n user.x -v y $N",
    'python3 -c \'import os, sys; os.setxattr(sys.argv[1], "user.x", b"y")\' $N',
)


@pytest.mark.parametrize("line", _CHANGES_ABOUT)
def test_read_only_mounts_keep_what_is_said_about_a_note_too(walled: Walled, line: str) -> None:
    """Landlock doesn't: it knows no right to change a mode or a time, and no content is lost."""
    if walled.way == LANDLOCK:
        pytest.skip("Landlock has no right for metadata, as docs/boundary.md says")
    before = walled.note.stat()
    assert walled.run(line, N=str(walled.note)).status
    after = walled.note.stat()
    assert (before.st_mode, before.st_mtime, before.st_uid) == (after.st_mode, after.st_mtime, after.st_uid)
    assert [] == os.listxattr(walled.note)


def test_no_parent_of_the_notes_is_moved(walled: Walled) -> None:
    """A bind mount alone would move with it, and leave room for a folder of the agent's."""
    deep = walled.world.home / "sync" / "org" / "roam"
    deep.parent.mkdir(parents=True)
    walled.world.kb.rename(deep)
    rule = walled.world.home / ".claude/rules/knowledge-base.md"
    rule.write_text(rule.read_text().replace(str(walled.world.kb), str(deep)))
    walled.run("true")
    walled.only((walled.way, "/usr/bin/bwrap" if walled.way == BUBBLEWRAP else ""))
    for line in (
        "mv ~/sync ~/gone",
        "mv ~/sync/org ~/sync/gone",
        "mv ~/sync/org ~/elsewhere/",
        "rm -rf ~/sync",
    ):
        assert walled.run(line).status
        assert (deep / _NOTE).is_file(), line


def _closed_by_links(walled: Walled) -> None:
    """Move the settings to where a human keeps their dotfiles, and have a link lead there."""
    kept = walled.world.home / "dotfiles" / "settings.json"
    kept.parent.mkdir()
    settings = walled.world.home / ".claude" / "settings.json"
    settings.rename(kept)
    settings.symlink_to("../dotfiles/settings.json")
    walled.world.kb.rename(kept.with_name("roam"))
    walled.world.kb.symlink_to(kept.with_name("roam"))


@pytest.mark.parametrize(
    "line",
    [
        "rm ~/.claude/settings.json && echo '{}' > ~/.claude/settings.json",
        "echo '{}' > ~/new && mv ~/new ~/.claude/settings.json",
        "ln -sf /dev/null ~/.claude/settings.json",
        "mv ~/roam ~/roam2",
        "rm ~/roam && mkdir ~/roam",
        "echo x >> ~/.claude/settings.json",
        "echo x > ~/roam/x.org",
    ],
)
def test_a_link_that_leads_to_what_is_closed_stays(walled: Walled, line: str) -> None:
    """Else a command would put settings or notes of its own in the place of a human's who has links there."""
    if walled.way == BUBBLEWRAP:
        pytest.skip("bubblewrap mounts nothing over a link, as docs/boundary.md says")
    _closed_by_links(walled)
    home, note = walled.world.home, walled.note.read_bytes()
    assert 0 == walled.run("true").status
    walled.only(*[way for way in walled.known() if way[0] == walled.way])
    assert walled.run(f"{line} || exit 1").status
    assert "{}\n" == (home / ".claude" / "settings.json").read_text()
    assert (home / ".claude" / "settings.json").readlink() == Path("../dotfiles/settings.json")
    assert (home / "roam").is_symlink()
    assert (note, [_NOTE]) == (walled.note.read_bytes(), [p.name for p in walled.world.kb.glob("*.org")])


def test_a_link_among_the_notes_stays_and_what_lies_elsewhere_is_open(walled: Walled) -> None:
    """A project's own file that a human linked into their notes is the project's: work on it goes on."""
    world = walled.world
    todo = world.personal / "todo.org"
    todo.write_text("* TODO paint\n")
    outer, inner = world.kb / "todo.org", world.kb / "alias.org"
    outer.symlink_to(todo)
    inner.symlink_to(_NOTE)
    before = walled.note.read_bytes()
    for line in (
        "ln -sf /etc/hostname $K/todo.org",
        "rm $K/alias.org",
        "mv $K/todo.org ~/elsewhere/ && test ! -e $K/todo.org",
        "echo x >> $K/alias.org",
    ):
        assert walled.run(line, K=str(world.kb)).status, line
    assert 0 == walled.run("echo '* DONE' >> $K/todo.org", K=str(world.kb)).status
    assert "* TODO paint\n* DONE\n" == todo.read_text()
    assert (todo, Path(_NOTE), before) == (outer.readlink(), inner.readlink(), walled.note.read_bytes())


def test_a_process_outside_can_t_be_made_to_write(walled: Walled) -> None:
    """A debugger could; neither mounts nor Landlock let one attach across the wall."""
    attach = (
        "import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True);"
        "sys.exit(0 if libc.ptrace(16, int(sys.argv[1]), None, None) == 0 else 1)"
    )
    with subprocess.Popen(["sleep", "60"]) as outer:
        try:
            assert 1 == walled.run("python3", "-c", attach, str(outer.pid)).status
        finally:
            outer.kill()


def test_inside_there_are_no_rights_to_gain(walled: Walled) -> None:
    """A set-user-id program would run with root's rights outside of the user's namespace."""
    assert "NoNewPrivs:\t1" in walled.run("grep NoNewPrivs /proc/self/status").out


# The Python that hooks begin with


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePython:
    """A Python in a home as uv keeps one, and roamkb's environment that was made of it."""

    base: Path
    program: Path


@pytest.fixture
def home_python(walled: Walled) -> HomePython:
    """Such a Python, which the wall is planned by."""
    place = walled.world.home / ".local/share/uv"
    base, link = place / "python" / "cpython-3.1.2-linux", place / "python" / "cpython-3.1-linux"
    program = Path(sys.executable).resolve()
    library = Path(os.__file__).parent
    (base / "bin").mkdir(parents=True)
    shutil.copy2(program, base / "bin")
    (base / "lib").mkdir()
    for path in program.parents[1].glob("lib/libpython*"):
        shutil.copy2(path, base / "lib")
    unneeded = shutil.ignore_patterns("site-packages", "__pycache__", "test", "idlelib", "config-*", "ensurepip")
    shutil.copytree(library, base / "lib" / library.name, ignore=unneeded, symlinks=True)
    (base / "lib" / library.name / "site-packages").mkdir()
    link.symlink_to(base.name)
    tool = place / "tools" / "roamkb"
    made: list[str | Path] = [link / "bin" / program.name, "-m", "venv", "--without-pip", tool]
    subprocess.run(made, env=walled.environment(), check=True)
    inner = tool / "bin" / "python"
    walled.plan_file.unlink()
    ran = subprocess.run([inner, "-m", "roamkb", "exec", "--", "true"], env=walled.environment(), check=False)
    assert 0 == ran.returncode
    walled.only(*[way for way in walled.known() if way[0] == walled.way])
    return HomePython(base=base, program=inner)


#: `B` is the base, `L` its library's folder.
_PYTHON_WRITES = (
    "echo 'raise SystemExit(3)' > $B/lib/$L/json/__init__.py",
    "echo 'raise SystemExit(3)' > $B/lib/$L/json/decoder/__init__.py || mkdir $B/lib/$L/_json",
    "rm -r $B/lib/$L/json",
    "mkdir $B/lib/$L/site",
    "echo x > $B/lib/python3$(echo $L | cut -d. -f2).zip",
    "echo x > $B/lib/$L/lib-dynload/_json.so",
    "cp /bin/sh $B/bin/python3",
    "rm $B/bin/$L && cp /bin/sh $B/bin/$L",
    "echo evil > $B/bin/pybuilddir.txt",
    "mv $B $B-old",
    "echo x >> ~/.local/share/uv/tools/roamkb/pyvenv.cfg",
)


def test_the_python_that_hooks_begin_with_can_t_be_changed(walled: Walled, home_python: HomePython) -> None:
    """Hooks run outside of the wall; what is installed into the base for others is theirs to change."""
    base, library = home_python.base, Path(os.__file__).parent.name

    def say(line: str) -> int:
        done = subprocess.run(
            [home_python.program, "-m", "roamkb", "exec", "--", line],
            env=walled.environment(B=str(base), L=library),
            cwd=walled.world.personal,
            capture_output=True,
            check=False,
        )
        return done.returncode

    def kept() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes()
            for path in sorted(base.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }

    before = kept()
    for line in _PYTHON_WRITES:
        assert say(line), line
    if walled.way != BUBBLEWRAP:
        # it mounts nothing over a link, as the README says
        assert say("ln -sfn /tmp ~/.local/share/uv/python/cpython-3.1-linux")
        assert say("mv ~/.local/share/uv/python ~/elsewhere/")
    assert before == kept()
    assert 0 == say("mkdir $B/lib/$L/site-packages/black && echo x > $B/lib/$L/site-packages/black/a.py")


# What goes on as without it

_BENIGN = (
    "cat $N",
    "grep -rl Oak $K",
    "find $K -name '*.org' | wc -l",
    "echo x > new && mv new newer && ln newer other && rm newer other",
    "git init -q r && cd r && echo a > a && git add a && git -c user.name=n -c user.email=e commit -qm m && git log --oneline | wc -l && rm -rf ../r",
    "mkdir -p d/e && cp -r d f && rm -r d f",
    "sed -i s/a/b/ file && cat file",
    "mktemp -p . | xargs rm",
    "echo x > /dev/null && echo y | tee /dev/stderr",
    'python3 -c \'import tempfile; tempfile.NamedTemporaryFile(dir=".").write(b"x")\'',
    "echo x > ~/elsewhere/x && rm ~/elsewhere/x",
    "ps -o pid= -p $$ | wc -l",
    "id -u; umask; pwd; ulimit -n",
    "cat < /dev/tty; echo $?",
    "sleep 0.1 & wait; echo done",
    "kill -0 $OUTER; echo $?",
)


@pytest.mark.parametrize("line", _BENIGN)
def test_an_ordinary_command_gives_what_it_gives_without(walled: Walled, line: str) -> None:
    """Its output, its errors and its status."""
    (walled.world.personal / "file").write_text("a\n")
    more = {"N": str(walled.note), "K": str(walled.world.kb), "OUTER": str(os.getpid())}
    plain = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=walled.world.personal,
        env=walled.environment(**more),
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    (walled.world.personal / "file").write_text("a\n")
    ran = walled.run(line, N=more["N"], K=more["K"], OUTER=more["OUTER"])
    assert (plain.returncode, plain.stdout, plain.stderr) == (ran.status, ran.out, ran.err)


def test_in_a_home_itself_entries_come_and_go(walled: Walled) -> None:
    """But by Landlock, which can't allow a folder without all that is below it."""
    ran = walled.run("touch ~/.newrc && mkdir ~/new && touch ~/new/f && rm -r ~/new ~/.newrc")
    assert (walled.way == LANDLOCK) == bool(ran.status), ran.err


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("exit 3", 3),
        ("true", 0),
        ("kill -TERM $$", -15),
        ("kill -KILL $$", -9),
        ("exit 130", 130),
        ("no-such-thing", 127),
    ],
)
def test_a_status_is_the_command_s(walled: Walled, line: str, status: int) -> None:
    """Also the signal that ended it; bubblewrap's own process makes a number of that."""
    expected = 128 - status if status < 0 and walled.way == BUBBLEWRAP else status
    assert expected == walled.run(line).status


#: What a launcher is begun by: it may have closed its streams, and block or ignore the end of a child.
_BEGUN = """
import os, signal, sys
if sys.argv[1] == "block":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
elif sys.argv[1] == "ignore":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
else:
    os.closerange(0, int(sys.argv[1]))
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("how", ["block", "ignore", "1", "3"])
@pytest.mark.parametrize(("line", "status"), [("sleep 0.2; exit 7", 7), ("exit 0", 0)])
def test_a_status_is_the_command_s_however_the_launcher_is_begun(
    walled: Walled, how: str, line: str, status: int
) -> None:
    """Its streams may be closed, and the signal of its end blocked or ignored; the command inherits that."""
    begun = [sys.executable, "-c", _BEGUN, how]
    ran = subprocess.run([*begun, *walled.words(line)], env=walled.environment(), check=False)
    assert status == ran.returncode
    state = "print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN, os.path.exists('/proc/self/fd/0'))"
    look = f"import os, signal; {state}"
    ran_to = [
        subprocess.run([*begun, *words], env=walled.environment(), capture_output=True, check=False).stdout
        for words in ([sys.executable, "-c", look], walled.words(sys.executable, "-c", look))
    ]
    # bubblewrap would wait for ever where it hears of no end
    assert ran_to[0] == ran_to[1] or (walled.way, how) == (BUBBLEWRAP, "ignore")


def test_several_arguments_are_a_program_and_its_own(walled: Walled) -> None:
    """Whatever is in them, and no shell between."""
    show = "import os, sys; sys.stdout.buffer.write(b'|'.join(map(os.fsencode, sys.argv[1:])))"
    odd = ["a b", "$HOME", "", "--", "x\ny", "\udcff\udcfe", "'\"", "-c"]
    done = subprocess.run(
        walled.words("python3", "-c", show, *odd),
        env=walled.environment(),
        capture_output=True,
        check=False,
    )
    assert b"|".join(map(os.fsencode, odd)) == done.stdout
    assert (127, "") == (walled.run("no-such-program", "x").status, walled.run("no-such-program", "x").out)


def test_a_line_may_be_long_and_of_any_bytes(walled: Walled) -> None:
    """As long as the system takes one."""
    line = "printf %s \udcff | od -An -tx1 # " + "x" * 100_000
    done = subprocess.run(walled.words(line), env=walled.environment(), capture_output=True, check=False)
    assert (0, b" ff\n") == (done.returncode, done.stdout)


def test_pipes_and_descriptors_are_the_command_s_own(walled: Walled) -> None:
    """They end when it ends them, though a process outside stays."""
    assert "a\nb\n" == walled.run("sort", given="b\na\n").out
    if walled.way == BUBBLEWRAP:
        pytest.skip("bubblewrap's own process keeps them open as long as the command runs")
    read, write = os.pipe()
    with subprocess.Popen(
        walled.words(f"echo x >&{write}; exec {write}>&-; exec >&- 2>&-; read x; true"),
        env=walled.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[write],
    ) as process:
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            assert b"x\n" == pipe.read()
        assert process.stdout
        assert b"" == process.stdout.read()
        assert process.poll() is None
    assert 0 == process.returncode


def test_a_broken_pipe_ends_the_command(walled: Walled) -> None:
    """Python ignores that signal, and what it becomes would, too."""
    ran = walled.run("bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}")
    assert ("y\n141\n", "") == (ran.out, ran.err)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("to_group", [True, False])
def test_a_signal_reaches_the_command(walled: Walled, number: signal.Signals, to_group: bool) -> None:
    """It may handle it; the status is its own."""
    if walled.way == BUBBLEWRAP:
        pytest.skip("bubblewrap's own process dies of the signal first, as docs/boundary.md says")
    trap = "import signal, sys, time; signal.signal(int(sys.argv[1]), lambda *_: sys.exit(7)); print('on', flush=True); time.sleep(60)"
    process = walled.begun("python3", "-c", trap, str(int(number)))
    assert process.stdout
    assert "on\n" == process.stdout.readline()
    (os.killpg if to_group else os.kill)(process.pid, number)
    process.communicate()
    assert 7 == process.returncode


def test_the_command_dies_with_its_launcher(walled: Walled) -> None:
    """To who started it, the two are one process: killed is killed."""
    if walled.way == BUBBLEWRAP:
        pytest.skip("bubblewrap would have to take the command with it when the group is told to end, too")
    process = walled.begun("python3", "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    assert process.stdout
    inner = int(process.stdout.readline())
    process.kill()
    process.communicate()
    while Path(f"/proc/{inner}").exists() and "State:\tZ" not in Path(f"/proc/{inner}/status").read_text():
        time.sleep(0.01)


def test_what_it_leaves_behind_goes_on_behind_the_wall(walled: Walled) -> None:
    """A server in the background is no child any more, and still can't write."""
    mark, leave = walled.world.personal / "mark", walled.world.personal / "leave"
    waiting = f"while [ ! -e {leave} ]; do sleep 0.05; done"
    line = f"({waiting}; echo x >> {walled.note}; echo $? > {mark}) > /dev/null 2>&1 &"
    before = walled.note.read_bytes()
    assert 0 == walled.run(line).status
    assert not mark.exists()
    leave.touch()
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.05)
    assert "0\n" != mark.read_text()
    assert before == walled.note.read_bytes()


def test_a_wall_in_a_wall_is_one(walled: Walled) -> None:
    """It stands already, and nothing is raised twice."""
    inner = " ".join(walled.words("'echo in; echo x >> $N'"))
    before = walled.note.read_bytes()
    ran = walled.run(inner, N=str(walled.note))
    assert (1, "in\n") == (ran.status, ran.out)
    assert before == walled.note.read_bytes()


def test_from_a_folder_that_is_closed_or_gone_nothing_is_written(walled: Walled) -> None:
    """The folder that a process is in would stay the one below the mount."""
    before = walled.world.files()
    assert walled.run("echo x >> " + _NOTE, cwd=walled.world.kb).status
    gone = walled.world.kb / "gone"
    gone.mkdir()
    code = (
        "import os, subprocess, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]);"
        "sys.exit(subprocess.call(sys.argv[2:]))"
    )
    line = walled.words(f"echo x >> ../{_NOTE}; echo x > ../new.org")
    done = subprocess.run(
        [sys.executable, "-c", code, str(gone), *line],
        cwd=walled.world.personal,
        env=walled.environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode
    assert before == walled.world.files()


def test_a_parent_that_works_elsewhere_is_told_of(walled: Walled) -> None:
    """From inside nobody can look into it, and a session at work stays one."""
    world = walled.world
    judged = world.personal
    line = f"cd {judged} && {sys.executable} -m roamkb classify --json; cd {judged} && env -u PWD -u OLDPWD {sys.executable} -m roamkb write Elm"
    ran = walled.run(line, cwd=world.work)
    assert 3 == ran.status
    assert 1 == len(world.files())


def test_roamkb_s_own_writes_go_through_and_nothing_else(walled: Walled) -> None:
    """By the broker outside, which judges who asks."""
    ran = walled.run(f"{sys.executable} -m roamkb write 'Elms lose their leaves' --json; echo x > {walled.world.kb}/y")
    assert Path(json.loads(ran.out)["path"]).is_file()
    assert 1 == ran.status


# The plan


def test_a_plan_is_made_anew_when_it_is_gone_spoiled_or_old(walled: Walled) -> None:
    """What it names is what the rule says now."""
    line = f"echo x >> {walled.note}"
    for text in (
        None,
        b"",
        b"roamkb wall 2\0end",
        b"roamkb wall 2\0closed\0/nowhere\0\0en",
        b"\xff\0\0\0end",
    ):
        walled.plan_file.unlink()
        if text is not None:
            walled.plan_file.write_bytes(text)
        if text == b"roamkb wall 2\0end":
            # well formed, and says nothing of what it was made from
            continue
        assert walled.run(line).status, text
        assert read_plan(str(walled.plan_file))
    other = walled.world.home / "other"
    other.mkdir()
    rule = walled.world.home / ".claude/rules/knowledge-base.md"
    rule.write_text(rule.read_text().replace(str(walled.world.kb), str(other)))
    assert walled.run(f"touch {other}/x").status


def test_a_plan_that_can_t_be_kept_leaves_nothing_behind(walled: Walled) -> None:
    """Each command makes one anew then, and would leave a file of its own."""
    walled.plan_file.unlink()
    walled.plan_file.mkdir()
    assert walled.run("echo x > $N", N=str(walled.note)).status
    assert [walled.plan_file] == list(walled.plan_file.parent.iterdir())


def test_a_fifo_in_the_place_of_a_harness_s_file_holds_no_command(walled: Walled) -> None:
    """A command could leave one behind, and all later ones would wait for a writer."""
    for folder in (".gemini", ".codex"):
        (walled.world.home / folder).mkdir()
    assert 0 == walled.run("mkfifo ~/.gemini/GEMINI.md ~/.codex/hooks.json").status
    with walled.begun("true") as later:
        assert 0 == later.wait()


def test_a_rule_that_can_t_be_read_takes_no_wall_down(walled: Walled) -> None:
    """The names count that the last good rule gave the notes."""
    rule = walled.world.home / ".claude/rules/knowledge-base.md"
    rule.write_text("nothing\n")
    assert walled.run(f"echo x >> {walled.note}").status


def test_a_bubblewrap_that_fails_is_not_asked_again(walled: Walled) -> None:
    """The system forbids it since: the command doesn't run, and the next one finds what works."""
    failing = script(walled.world.home / "bwrap", "echo bwrap: no namespaces >&2; exit 1")
    walled.only((BUBBLEWRAP, str(failing)))
    ran = walled.run("echo in")
    assert (126, "", "bwrap: no namespaces\n") == (ran.status, ran.out, ran.err)
    ran = walled.run(f"echo in; echo x >> {walled.note}")
    assert (1, "in\n") == (ran.status, ran.out)
    plan = read_plan(str(walled.plan_file))
    assert plan
    assert str(failing) not in [program for _, program in plan.ways]


def test_where_one_wall_fails_the_next_is_raised_and_said_once(walled: Walled) -> None:
    """A bubblewrap that was taken away."""
    if walled.way == BUBBLEWRAP:
        pytest.skip("it is what fails here")
    failing = walled.world.home / "bwrap"
    ways = [(BUBBLEWRAP, str(failing)), (walled.way, "")]
    walled.only(*ways)
    errors = []
    for _ in range(2):
        ran = walled.run(f"echo in; echo x >> {walled.note}", CLAUDE_CODE_SESSION_ID="s1")
        assert (1, "in\n") == (ran.status, ran.out)
        errors.append(ran.err)
    assert ["roamkb:" in one for one in errors] == [True, False]


def test_without_any_wall_commands_run_and_it_is_said_once_a_session(walled: Walled) -> None:
    """A broken wall stops no work; `doctor` and the brief say it as well."""
    walled.only()
    runs = [walled.run("echo in", CLAUDE_CODE_SESSION_ID="s2") for _ in range(2)]
    assert ["in\n", "in\n"] == [ran.out for ran in runs]
    assert [True, False] == ["doesn't stand" in ran.err for ran in runs]
