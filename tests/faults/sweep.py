"""Kill or fail a program at every system call that it makes in one folder, and look what is left.

strace puts the faults in. Learned the hard way: it counts `when=` for each process and
name apart, it injects only into what it traces, and it says nothing when a fault never
fires, so that a run without a sign of its fault counts as a failure here.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from queue import SimpleQueue

from tests.examples import IS_THOROUGH

#: What a file or folder can be touched by, and the errors that each can give.
ERRNOS = {
    "openat": ("EACCES", "ENOSPC", "EMFILE", "EROFS", "EIO", "EOPNOTSUPP"),
    "read": ("EIO",),
    "write": ("ENOSPC", "EIO", "EDQUOT"),
    "newfstatat": ("EIO",),
    "fstat": ("EIO",),
    "statx": ("EIO",),
    "fsync": ("EIO", "ENOSPC"),
    "close": ("EIO",),
    "link": ("EPERM", "ENOSPC", "EIO"),
    "linkat": ("EPERM", "EACCES", "ENOSPC", "EIO", "EXDEV", "EMLINK"),
    "rename": ("EACCES", "ENOSPC", "EIO"),
    "renameat": ("EACCES", "ENOSPC", "EIO"),
    "renameat2": ("EACCES", "ENOSPC", "EIO", "EINVAL"),
    "unlink": ("EACCES", "EIO", "EROFS"),
    "unlinkat": ("EACCES", "EIO", "EROFS"),
    "mkdir": ("EACCES", "ENOSPC", "EROFS"),
    "mkdirat": ("EACCES", "ENOSPC", "EROFS"),
    "chmod": ("EPERM", "EIO"),
    "fchmod": ("EPERM", "EIO"),
    "fchown": ("EPERM", "EIO"),
    "flock": ("ENOLCK",),
    "getdents64": ("EIO",),
}
#: What SQLite does beside, where a database is swept.
OF_SQLITE = {
    "pread64": ("EIO",),
    "pwrite64": ("ENOSPC", "EIO"),
    "fdatasync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO", "ENOSPC"),
}
#: Killed at one of these, a program leaves what it leaves when killed at the next that changes something.
READING = ("read", "pread64", "newfstatat", "fstat", "statx", "flock", "getdents64")
#: What the program calls until strace fails it: from then on no call goes by unseen.
KNOCK = "sched_get_priority_max"

_PROGRAM = Path(__file__).with_name("program.py")
_CALL = re.compile(r"\d* *(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+|\?)")
_CWD = re.compile(r'AT_FDCWD<[^>]*>, (?="/)')


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong in one run: `error` is an errno's name, or KILL."""

    call: str
    nth: int
    error: str
    #: From the Nth call on, like a disk that stays full, or only once.
    lasting: bool = False

    def __str__(self) -> str:
        return f"{self.error}@{self.call}#{self.nth}{'+' if self.lasting else ''}"

    @property
    def inject(self) -> str:
        """The fault in strace's words."""
        what = "signal=KILL" if self.error == "KILL" else f"error={self.error}"
        return f"{self.call}:{what}:when={self.nth}{'+' if self.lasting else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run left behind."""

    folder: Path
    fault: Fault | None
    #: Exit status; negative for the signal that ended it.
    status: int
    said: str
    trace: str

    @property
    def acknowledged(self) -> bool:
        """Whether the program said that it is done."""
        return self.said.startswith("ACK ")

    @property
    def fired(self) -> bool:
        """Whether the fault happened at all."""
        if self.fault is None:
            return True
        if self.fault.error == "KILL":
            return self.status == -signal.SIGKILL
        return "(INJECTED)" in self.trace


@dataclass(slots=True)
class Result:
    """What a sweep found."""

    points: int = 0
    runs: int = 0
    broken: list[str] = field(default_factory=list)
    duds: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        found = "".join(f"\n  {line}" for line in self.broken + self.duds)
        return f"{self.points} calls, {self.runs} runs, {len(self.broken)} broken, {len(self.duds)} duds{found}"


#: Looks at a run and names what is wrong with it; empty when the promise holds.
Check = Callable[[Run], str]


class Program:
    """The program under test, started once; each run is a fork of it."""

    def __init__(self, script: Path = _PROGRAM) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-B", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=os.environ | {"PYTHONHASHSEED": "0", "TZ": "UTC"},
        )

    def run(
        self,
        task: str,
        folder: Path,
        fault: Fault | None,
        standing: tuple[Fault, ...] = (),
        calls: Iterable[str] = ERRNOS,
    ) -> Run:
        """Run `task` under strace, with `fault` and with what is `standing` in every run."""
        faults = (*standing, *([fault] if fault else []))
        traced = {each.call for each in faults} if fault else calls
        trace = folder / "trace"
        pid = self._ask(f"{task} {folder}")
        command = [
            "strace",
            "-y",
            "-qq",
            "-o",
            str(trace),
            "-p",
            str(pid),
            "-e",
            f"trace={','.join((KNOCK, *traced))}",
        ]
        command += ["-e", f"inject={KNOCK}:error=ENOSYS"]
        for each in faults:
            command += ["-e", f"inject={each.inject}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
            said = strace.communicate()[1]
        if strace.returncode:
            os.kill(pid, signal.SIGKILL)
            raise RuntimeError(f"strace can't trace here: {said}")
        status = os.waitstatus_to_exitcode(int(self._answer()))
        return Run(
            folder=folder,
            fault=fault,
            status=status,
            said=(folder / "said").read_text(),
            trace="".join(line for line in trace.open() if KNOCK not in line),
        )

    def close(self) -> None:
        """End the program."""
        self._process.communicate()

    def _ask(self, line: str) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One task, how its folder is laid out, and what must hold after any fault in it."""

    task: str
    set_up: Callable[[Path], None]
    check: Check
    #: Faults of the machine that it runs on, such as a file system without hard links.
    standing: tuple[Fault, ...] = ()
    #: What is only derived may be lost to a power cut.
    is_lasting: bool = True
    #: Of a task of many steps that reads as others do, which are swept whole: only calls that write.
    only_writing: bool = False
    #: What is failed, and how.
    errnos: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: ERRNOS)

    def run(self, folder: Path, *, most: int | None = None) -> Result:
        """Run the task once for each call and fault; `most` stops at so many broken runs."""
        with programs(2) as free:
            program = free.get()
            base = self.once(program, folder / "base", None)
            free.put(program)
            wrong = self.check(base) or (unsynced(base) if self.is_lasting else "")
            result = Result(runs=1, broken=[f"without a fault: {wrong}"] if wrong else [])
            points = self.points(base)
            result.points = len(points)

            def attempt(fault: Fault) -> None:
                if most is not None and len(result.broken) >= most:
                    return
                program = free.get()
                try:
                    self._try(program, folder / str(fault), fault, result)
                finally:
                    free.put(program)

            with ThreadPoolExecutor(2) as pool:
                list(pool.map(attempt, chosen_faults(points, self.errnos)))
        return result

    def _try(self, program: Program, folder: Path, fault: Fault, result: Result) -> None:
        result.runs += 1
        run = self.once(program, folder, fault)
        if not run.fired:
            result.duds.append(f"DUD {fault}: status {run.status}")
            return
        wrong = self.check(run)
        if wrong:
            result.broken.append(f"{fault}: {wrong} (status {run.status}, said {run.said[-200:]!r})")
        shutil.rmtree(folder)

    def once(self, program: Program, folder: Path, fault: Fault | None) -> Run:
        """Run the task in a fresh `folder`."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.set_up(folder)
        return program.run(self.task, folder, fault, self.standing, self.errnos)

    def points(self, base: Run) -> list[tuple[str, int]]:
        """Return each call that names the folder, with its number among the calls of its name."""
        standing = {fault.call for fault in self.standing}
        points = []
        for name, number, line in traced_calls(base.trace):
            if self.only_writing and (name in (*READING, "close") or "O_RDONLY" in line):
                continue
            # strace keeps one fault a name
            if names_folder(line, base.folder) and name not in standing:
                points.append((name, number))
        return points


def traced_calls(trace: str) -> Iterator[tuple[str, int, str]]:
    """Yield each call of a trace: its name, its number among those of its name, its line."""
    seen: Counter[str] = Counter()
    for line in trace.splitlines():
        if call := _CALL.match(line):
            seen[call["name"]] += 1
            yield call["name"], seen[call["name"]], line


def names_folder(line: str, folder: Path) -> bool:
    """Say whether a traced call touches the knowledge base or the state in `folder`."""
    return str(folder / "kb") in line or str(folder / "state") in line


def faults_at(points: list[tuple[str, int]], errnos: Mapping[str, tuple[str, ...]] = ERRNOS) -> Iterator[Fault]:
    """Yield every fault for each of `points`."""
    for call, nth in points:
        if call not in READING:
            yield Fault(call, nth, "KILL")
        for error in errnos[call]:
            yield Fault(call, nth, error)
            yield Fault(call, nth, error, lasting=True)


def chosen_faults(points: list[tuple[str, int]], errnos: Mapping[str, tuple[str, ...]]) -> list[Fault]:
    """Return the faults that are tried: all of them by `make reliability`, else each kill and some of the errors."""
    faults = list(faults_at(points, errnos))
    if IS_THOROUGH:
        return faults
    kills = [fault for fault in faults if fault.error == "KILL"]
    errors = [fault for fault in faults if fault.error != "KILL"]
    return kills + errors[:: max(1, len(errors) // _SOME_ERRORS)]


@contextlib.contextmanager
def programs(count: int, script: Path = _PROGRAM) -> Iterator[SimpleQueue[Program]]:
    """Give some started programs, free to be taken and put back."""
    started = [Program(script) for _ in range(count)]
    free: SimpleQueue[Program] = SimpleQueue()
    for program in started:
        free.put(program)
    try:
        yield free
    finally:
        for program in started:
            program.close()


#: Of a task's hundreds of errors, spread over its calls.
_SOME_ERRORS = 60
#: What is told from the files again where its checksum doesn't hold, as after a power cut.
_DERIVED = re.compile(r"(^|/)stamps\.json|/state/cache(/|$)")
#: Entries of the trash: one that comes back after a restore is dropped by the next.
_TRASHED = "/state/trash/"


def unsynced(run: Run) -> str:
    """Name what a power cut after the run could take, by the order of its calls; empty for nothing.

    A file must be synced after its last write and before it gets a name that counts, and a
    folder after the last change of its names.
    """
    dirty_files: set[str] = set()
    dirty_folders: set[str] = set()
    for line in run.trace.splitlines():
        call = _CALL.match(_CWD.sub("", line))
        if call is None or call["result"].startswith("-") or not names_folder(line, run.folder):
            continue
        name = call["name"]
        # a descriptor is printed with its path: 4</kb/#123>(deleted), 3</kb>
        paths = re.findall(r"\d+<([^>]*)>", call["arguments"])
        names = re.findall(r'"([^"]*)"', call["arguments"])
        if any(map(_DERIVED.search, (*paths, *names, "/".join((*paths[:1], *names[-1:]))))):
            continue
        if name == "write":
            dirty_files.add(paths[0])
        elif name == "fsync":
            dirty_files.discard(paths[0])
            dirty_folders.discard(paths[0])
        elif name.startswith(("link", "rename")):
            if dirty_files:
                return f"{name} of a file that isn't synced"
            dirty_folders.add(_folder_of(names[-1], paths))
        elif name.startswith("unlink") and paths and _TRASHED in f"{paths[0]}/":
            continue
        elif name.startswith("mkdir") or (name.startswith("unlink") and paths and names[-1].endswith(".org")):
            # by a descriptor: what was taken from the trash may come back
            dirty_folders.add(_folder_of(names[-1], paths))
        elif name == "openat" and "O_CREAT" in line and names[-1].endswith(".org"):
            return "a note has its name before its content"
    if dirty_files or dirty_folders:
        return f"done, and not synced: {sorted(dirty_files | dirty_folders)}"
    return ""


def _folder_of(name: str, folders: list[str]) -> str:
    return str(Path(name).parent) if name.startswith("/") else folders[-1]
