"""`roamkb exec -- COMMAND`: run a command behind the wall; its status, signals and descriptors stay its own.

Each shell command of an agent's waits for this, so that it imports next to nothing.
"""

# what `signal` wraps; the enumerations around it take long to import
import _signal  # type: ignore[import-not-found]
import os
import sys

from roamkb.wall import broker
from roamkb.wall.outside import OUTSIDE
from roamkb.wall.outside import folders_outside
from roamkb.wall.plan import BUBBLEWRAP
from roamkb.wall.plan import LANDLOCK
from roamkb.wall.plan import NAMESPACE
from roamkb.wall.plan import SEATBELT
from roamkb.wall.plan import WallPaths
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import keep_plan
from roamkb.wall.plan import read_plan

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Never

_USAGE = "usage: roamkb exec -- COMMAND"
#: By which a command of Claude Code's Bash tool is known; hooks and servers are run by `sh`.
_OF_BASH_TOOL = " && pwd -P >| "
#: As shells have them.
_NOT_EXECUTABLE, _NOT_FOUND, _BY_SIGNAL = 126, 127, 128
#: Seconds after which a command would be gone that got a signal itself, as one of the group.
_DELAY = 0.5
#: The wait status of a program that ended with 1.
_FAILED = 1 << 8
#: Sent to one process only: its child is meant. A terminal sends the rest to all of them.
_PASSED_ON = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2)
_OF_A_TERMINAL = (_signal.SIGINT, _signal.SIGQUIT)


def main(words: list[str], plan_path: str = "") -> int:
    """Run the words after `--`: one is a line for the shell, more are a program and its arguments."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        print(_USAGE, file=sys.stderr)
        return 2
    # Python's own ways, which a program that it becomes would keep
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    is_for_harness = bool(plan_path)
    if not plan_path:
        from roamkb.wall.places import usual_plan

        plan_path = usual_plan()
    plan = _plan(plan_path)
    if len(words) == 1:
        line = words[0]
        shell = _shell(line, is_for_harness=is_for_harness)
        if plan and plan.is_free(line):
            return _become([shell, "-c", plan.free[line]])
        words = [shell, "-c", line]
    if plan is None:
        return _become(words)
    paths = plan.paths_for(_cwd())
    if all(os.statvfs(path).f_flag & os.ST_RDONLY for path in paths.closed):
        # a wall stands already, or there is nothing to be kept
        return _become(words)
    return _walled(plan, plan_path, paths, words)


def launch(words: list[str], plan_path: str) -> "Never":
    """Run them for a harness, and end as they end: to tidy up takes as long as all the rest."""
    os._exit(main(words, plan_path))


def _plan(path: str) -> WallPlan | None:
    """Return the plan that counts, made anew where it is missing, spoiled or old; None if it can't be."""
    known = read_plan(path)
    if known and known.is_fresh():
        return known
    try:
        from roamkb.wall.places import usual_places
        from roamkb.wall.protected import make_plan

        homes, state, data = (known.homes, known.state, known.data) if known else usual_places()
        plan = make_plan(homes, state, data, known)
    except (OSError, ValueError) as error:
        return _warned(known, f"can't be planned: {error}")
    keep_plan(path, plan)
    return plan


def _warned(plan: WallPlan | None, why: str) -> WallPlan | None:
    """Say once a session that something is wrong with the wall, and go on with what is known."""
    from roamkb.wall.places import is_first_warning

    if is_first_warning():
        print(f"roamkb: the wall around the notes {why}; `roamkb doctor` says more", file=sys.stderr)
    return plan


def _cwd() -> str:
    """Return the current folder; where it was deleted, one in which nothing can be made."""
    try:
        return os.getcwd()
    except OSError:
        return "/proc/self/task"


def _shell(line: str, *, is_for_harness: bool) -> str:
    """Return the shell that would run the line without us."""
    if is_for_harness and _OF_BASH_TOOL not in line:
        return "/bin/sh"
    own = os.environ.get("SHELL", "")
    named = (os.environ.get("CLAUDE_CODE_SHELL", ""), own) if is_for_harness else (own,)
    for shell in named:
        if os.path.basename(shell) in ("bash", "zsh", "sh", "dash", "ksh") and os.access(shell, os.X_OK):
            return shell
    names = ("bash", "zsh", "sh") if "bash" in own or not is_for_harness else ("zsh", "bash", "sh")
    places = (f"{folder}/{name}" for name in names for folder in ("/bin", "/usr/bin", "/usr/local/bin"))
    return next((place for place in places if os.access(place, os.X_OK)), "/bin/sh")


def _become(words: list[str]) -> int:
    """Become the command; only a failure returns."""
    try:
        os.execvp(words[0], words)
    except FileNotFoundError:
        return _unrun(words, "no such command", _NOT_FOUND)
    except OSError as error:
        return _unrun(words, error.strerror, _NOT_EXECUTABLE)


def _unrun(words: list[str], why: str | None, status: int) -> int:
    name = words[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    print(f"roamkb exec: {name}: {why}", file=sys.stderr)
    return status


def _walled(plan: WallPlan, plan_path: str, paths: WallPaths, words: list[str]) -> int:
    """Run the command behind the first wall that can be raised."""
    listener = broker.listen(plan.brokers)
    os.environ[OUTSIDE] = folders_outside()
    # until somebody passes them on
    unblocked = _signal.pthread_sigmask(_signal.SIG_BLOCK, _PASSED_ON + _OF_A_TERMINAL)
    for way, program in plan.ways:
        wall = _WallMethod(way, program, paths)
        child, ready, told = _start(wall, words, unblocked, listener)
        # closed by the command's start, or by the end of who couldn't raise the wall
        with open(ready, "rb") as pipe:
            fault = pipe.read()
        if not fault:
            status = _served(child, listener, told)
            if way == BUBBLEWRAP and status == _FAILED and not _has_run(told):
                return _forgotten(plan_path)
            return _end_like(status)
        os.close(told)
        os.waitpid(child, 0)
        _warned(plan, f"can't be raised by {way}: {fault.decode('utf-8', 'replace')}")
    _warned(plan, "doesn't stand: nothing that could raise it works here")
    _signal.pthread_sigmask(_signal.SIG_SETMASK, unblocked)
    if listener:
        listener.close()
    return _become(words)


class _WallMethod:
    """One way to keep paths from being written."""

    def __init__(self, way: str, program: str, paths: WallPaths) -> None:
        self.way = way
        self.program = program
        self.paths = paths

    def raised(self, words: list[str], parent: int, status: int) -> list[str]:
        """Raise it around this process, and return what to run then.

        Raises:
            OSError: it can't be.
        """
        if self.way in (NAMESPACE, LANDLOCK):
            from roamkb.wall import kernel

            if self.way == NAMESPACE:
                kernel.enter_namespace(self.paths, _cwd())
            else:
                kernel.enter_landlock(self.paths)
            kernel.die_with_parent(parent)
            return words
        from roamkb.wall import programs

        if not os.access(self.program, os.X_OK):
            raise FileNotFoundError(2, f"{self.program} is gone")
        if self.way == SEATBELT:
            return [self.program, "-p", programs.seatbelt_profile(self.paths), *words]
        folders = [""] if "/" in words[0] else os.get_exec_path()
        if not any(os.access(os.path.join(folder, words[0]), os.X_OK) for folder in folders):
            # our status says so, and bubblewrap's wouldn't; it needs no wall
            return words
        os.set_inheritable(status, True)
        return programs.bubblewrap_words(self.program, self.paths, _cwd(), status) + words


def _start(
    wall: _WallMethod, words: list[str], unblocked: object, listener: broker.BrokerListener | None
) -> tuple[int, int, int]:
    """Return the process that becomes the command, and two pipes: why there is no wall, how it ended."""
    ready, fault = os.pipe()
    told, status = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child:
        os.close(fault)
        os.close(status)
        return child, ready, told
    end = _NOT_EXECUTABLE
    try:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, unblocked)
        if listener:
            os.environ.update(listener.environment)
        try:
            words = wall.raised(words, parent, status)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next wall is tried
            os.write(fault, (str(error) or repr(error)).encode("utf-8", "replace"))
        else:
            end = _become(words)
    finally:
        os._exit(end)


def _served(child: int, listener: broker.BrokerListener | None, told: int) -> int:
    """Wait for the command, pass on what only we were told, and return its wait status."""
    waiting: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        waiting.append(number)
        _signal.setitimer(_signal.ITIMER_REAL, _DELAY)

    def send(_number: int, _frame: object) -> None:
        while waiting:
            try:
                os.kill(child, waiting.pop(0))
            except ProcessLookupError:
                return

    _signal.signal(_signal.SIGALRM, send)
    is_at_terminal = _is_at_terminal()
    for number in _PASSED_ON + _OF_A_TERMINAL:
        if _signal.getsignal(number) == _signal.SIG_IGN:
            continue
        is_heard = is_at_terminal and number in _OF_A_TERMINAL
        _signal.signal(number, _signal.SIG_IGN if is_heard else pass_on)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _PASSED_ON + _OF_A_TERMINAL)
    # a pipe ends when the command closes it, not when we do
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    kept = sorted({told, listener.socket.fileno() if listener else told})
    for after, before in zip([2, *kept], [*kept, 1 << 20], strict=True):
        os.closerange(after + 1, before)
    return broker.serve(listener, child, ())


def _has_run(told: int) -> bool:
    """Say whether bubblewrap says how the command ended: otherwise it never began."""
    with open(told, "rb") as pipe:
        return b"exit-code" in pipe.read()


def _forgotten(plan_path: str) -> int:
    """Have the next command find out what works here now; this one didn't run, as bubblewrap itself said."""
    try:
        os.unlink(plan_path)
    except OSError:
        return _NOT_EXECUTABLE
    return _NOT_EXECUTABLE


def _is_at_terminal() -> bool:
    """Say whether a terminal sends its signals to us and the command alike."""
    try:
        fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(fd)


def _end_like(status: int) -> int:
    """Return the command's status, or end by the signal that ended it."""
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
    # the core is the command's
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        return _BY_SIGNAL + number
    os.kill(os.getpid(), number)
    return _BY_SIGNAL + number
