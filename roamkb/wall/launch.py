"""The command `roamkb exec`: a command run behind the wall, with its own status and signals.

Each shell command of an agent's waits for this, so that it imports next to nothing.
"""

# what `signal` wraps; the enumerations around it take long to import
import _signal  # type: ignore[import-not-found]
import os
import sys

from roamkb import TYPE_CHECKING
from roamkb.harnesses.registry import declared
from roamkb.wall import broker
from roamkb.wall import kernel
from roamkb.wall import places as wall_places
from roamkb.wall import programs
from roamkb.wall import protected
from roamkb.wall.outside import OUTSIDE_VARIABLE
from roamkb.wall.outside import folders_outside
from roamkb.wall.plan import BUBBLEWRAP
from roamkb.wall.plan import LANDLOCK
from roamkb.wall.plan import NAMESPACE
from roamkb.wall.plan import SEATBELT
from roamkb.wall.plan import WallPaths
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import read_plan
from roamkb.wall.plan import save_plan

if TYPE_CHECKING:
    from typing import Never

_USAGE_LINE = "usage: roamkb exec -- COMMAND"
#: By which a command of a harness's shell tool is known; hooks and servers are run by `sh`.
_BASH_TOOL_MARK = " && pwd -P >| "
#: As shells have them.
_NOT_EXECUTABLE, _NOT_FOUND, _BY_SIGNAL = 126, 127, 128
#: Seconds after which a command would be gone that got a signal itself, as one of the group.
_SIGNAL_DELAY = 0.5
#: The wait status of a program that ended with 1.
_FAILED_STATUS = 1 << 8
#: Sent to one process only: its child is meant. A terminal sends the rest to all of them.
_FORWARDED_SIGNALS = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGUSR1, _signal.SIGUSR2)
_TERMINAL_SIGNALS = (_signal.SIGINT, _signal.SIGQUIT)


def main(words: list[str], plan_path: str = "") -> int:
    """Run the words after `--`: one is a line for the shell, more are a program and its arguments."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        print(_USAGE_LINE, file=sys.stderr)
        return 2
    # Python's own ways, which a program that it becomes would keep
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)
    is_for_harness = bool(plan_path)
    if not plan_path:
        plan_path = wall_places.default_plan_path()
    plan = _current_plan(plan_path)
    if len(words) == 1:
        line = words[0]
        shell = _choose_shell(line, is_for_harness=is_for_harness)
        if plan and plan.is_free(line):
            return _replace_process([shell, "-c", plan.free[line]])
        words = [shell, "-c", line]
    if plan is None:
        return _replace_process(words)
    try:
        # its human may have removed it
        os.makedirs(plan.state, mode=0o700, exist_ok=True)
    except OSError as error:
        _warn_once(plan, f"leaves {plan.state} open: {error.strerror}")
    paths = plan.paths_for(_current_folder())
    if all(os.statvfs(path).f_flag & os.ST_RDONLY for path in paths.closed):
        # a wall stands already, or there is nothing to be kept
        return _replace_process(words)
    return _run_walled(plan, plan_path, paths, words)


def launch(words: list[str], plan_path: str) -> "Never":
    """Run the words for a harness, and exit at once: to tidy up takes as long as all the rest."""
    os._exit(main(words, plan_path))


def _current_plan(path: str) -> WallPlan | None:
    """Return the plan in force, made anew where it is missing, spoiled or old; None if that fails."""
    old_plan = read_plan(path)
    if old_plan and old_plan.is_fresh():
        return old_plan
    try:
        homes, state, data = (
            (old_plan.homes, old_plan.state, old_plan.data) if old_plan else wall_places.default_folders()
        )
        plan = protected.make_plan(homes, state, data, old_plan)
    except (OSError, ValueError) as error:
        return _warn_once(old_plan, f"can't be planned: {error}")
    save_plan(path, plan)
    return plan


def _warn_once(plan: WallPlan | None, clause: str) -> WallPlan | None:
    """Warn once a session of a fault of the wall, and return the present plan."""
    if wall_places.is_first_warning():
        print(f"roamkb: the wall around the notes {clause}; `roamkb doctor` says more", file=sys.stderr)
    return plan


def _current_folder() -> str:
    """Return the current folder; where it was deleted, one in which no file can be created."""
    try:
        return os.getcwd()
    except OSError:
        return "/proc/self/task"


def _choose_shell(line: str, *, is_for_harness: bool) -> str:
    """Return the shell that would run the line without the wall."""
    if is_for_harness and _BASH_TOOL_MARK not in line:
        return "/bin/sh"
    user_shell = os.environ.get("SHELL", "")
    told = (os.environ.get(variable, "") for variable in declared("shell_variables"))
    named_shells = (*told, user_shell) if is_for_harness else (user_shell,)
    for shell in named_shells:
        if os.path.basename(shell) in ("bash", "zsh", "sh", "dash", "ksh") and os.access(shell, os.X_OK):
            return shell
    names = ("bash", "zsh", "sh") if "bash" in user_shell or not is_for_harness else ("zsh", "bash", "sh")
    shell_paths = (f"{folder}/{name}" for name in names for folder in ("/bin", "/usr/bin", "/usr/local/bin"))
    return next((shell_path for shell_path in shell_paths if os.access(shell_path, os.X_OK)), "/bin/sh")


def _replace_process(words: list[str]) -> int:
    """Replace this process by the command; return only on failure."""
    try:
        os.execvp(words[0], words)
    except FileNotFoundError:
        return _report_unrunnable(words, "no such command", _NOT_FOUND)
    except OSError as error:
        return _report_unrunnable(words, error.strerror, _NOT_EXECUTABLE)


def _report_unrunnable(words: list[str], reason: str | None, status: int) -> int:
    name = words[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    print(f"roamkb exec: {name}: {reason}", file=sys.stderr)
    return status


def _run_walled(plan: WallPlan, plan_path: str, paths: WallPaths, words: list[str]) -> int:
    """Run the command behind the first wall that can be raised."""
    _fill_closed_streams()
    # who ignores it is told of no end, and of no status
    inherited_end = _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    listener = broker.open_listener(plan.brokers)
    os.environ[OUTSIDE_VARIABLE] = folders_outside()
    # until somebody passes them on
    unblocked = _signal.pthread_sigmask(_signal.SIG_BLOCK, _FORWARDED_SIGNALS + _TERMINAL_SIGNALS)
    for method, program in plan.ways:
        wall = _WallMethod(method, program, paths)
        child, ready, status_pipe = _start_child(wall, words, unblocked, inherited_end, listener)
        # closed by the command's start, or by the end of who couldn't raise the wall
        with open(ready, "rb") as pipe:
            fault = pipe.read()
        if not fault:
            status = _serve_child(child, listener, status_pipe)
            if method == BUBBLEWRAP and status == _FAILED_STATUS and not _has_run(status_pipe):
                return _forget_plan(plan_path)
            return _exit_like(status)
        os.close(status_pipe)
        os.waitpid(child, 0)
        _warn_once(plan, f"can't be raised by {method}: {fault.decode('utf-8', 'replace')}")
    _warn_once(plan, "doesn't stand: nothing that could raise it works here")
    _signal.signal(_signal.SIGCHLD, inherited_end)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, unblocked)
    if listener:
        listener.close()
    return _replace_process(words)


def _fill_closed_streams() -> None:
    """Keep others from taking the number of a stream that is closed; for the command it stays closed."""
    while (descriptor := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) < 3:
        pass
    os.close(descriptor)


class _WallMethod:
    """A method to keep paths from being written."""

    def __init__(self, method: str, program: str, paths: WallPaths) -> None:
        self.way = method
        self.program = program
        self.paths = paths

    def raise_wall(self, words: list[str], parent: int, status: int) -> list[str]:
        """Raise the wall around this process, and return the words to run then.

        Raises:
            OSError: it can't be.
        """
        if self.way in (NAMESPACE, LANDLOCK):
            if self.way == NAMESPACE:
                kernel.enter_namespace(self.paths, _current_folder())
            else:
                kernel.enter_landlock(self.paths)
            kernel.die_with_parent(parent)
            return words

        if not os.access(self.program, os.X_OK):
            raise FileNotFoundError(2, f"{self.program} is gone")
        if self.way == SEATBELT:
            return [self.program, "-p", programs.seatbelt_profile(self.paths), *words]
        folders = [""] if "/" in words[0] else os.get_exec_path()
        if not any(os.access(os.path.join(folder, words[0]), os.X_OK) for folder in folders):
            # our status says so, and bubblewrap's wouldn't; it needs no wall
            return words
        os.set_inheritable(status, True)
        return programs.bubblewrap_words(self.program, self.paths, _current_folder(), status) + words


def _start_child(
    wall: _WallMethod,
    words: list[str],
    unblocked: object,
    inherited_end: object,
    listener: broker.BrokerListener | None,
) -> tuple[int, int, int]:
    """Start the process that becomes the command; return it with two pipes: the wall's fault, its status."""
    ready, fault = os.pipe()
    status_pipe, status = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child:
        os.close(fault)
        os.close(status)
        return child, ready, status_pipe
    exit_status = _NOT_EXECUTABLE
    try:
        if wall.way != BUBBLEWRAP:
            # bubblewrap would wait for ever for the end of what it runs
            _signal.signal(_signal.SIGCHLD, inherited_end)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, unblocked)
        if listener:
            os.environ.update(listener.environment)
        try:
            words = wall.raise_wall(words, parent, status)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next wall is tried
            os.write(fault, (str(error) or repr(error)).encode("utf-8", "replace"))
        else:
            exit_status = _replace_process(words)
    finally:
        os._exit(exit_status)


def _serve_child(child: int, listener: broker.BrokerListener | None, status_pipe: int) -> int:
    """Wait for the command, forward signals sent to this process alone, and return its wait status."""
    pending_signals: list[int] = []

    def queue_signal(number: int, _frame: object) -> None:
        pending_signals.append(number)
        _signal.setitimer(_signal.ITIMER_REAL, _SIGNAL_DELAY)

    def send_signals(_number: int, _frame: object) -> None:
        while pending_signals:
            try:
                os.kill(child, pending_signals.pop(0))
            except ProcessLookupError:
                return

    _signal.signal(_signal.SIGALRM, send_signals)
    is_at_terminal = _is_at_terminal()
    for number in _FORWARDED_SIGNALS + _TERMINAL_SIGNALS:
        if _signal.getsignal(number) == _signal.SIG_IGN:
            continue
        is_heard = is_at_terminal and number in _TERMINAL_SIGNALS
        _signal.signal(number, _signal.SIG_IGN if is_heard else queue_signal)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (*_FORWARDED_SIGNALS, *_TERMINAL_SIGNALS, _signal.SIGCHLD))
    # a pipe ends when the command closes it, not when we do
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    kept_descriptors = sorted({status_pipe, listener.socket.fileno() if listener else status_pipe})
    for after, before in zip([2, *kept_descriptors], [*kept_descriptors, 1 << 20], strict=True):
        os.closerange(after + 1, before)
    return broker.serve_requests(listener, child, ())


def _has_run(status_pipe: int) -> bool:
    """Say whether bubblewrap reported the command's end: otherwise it never began."""
    with open(status_pipe, "rb") as pipe:
        return b"exit-code" in pipe.read()


def _forget_plan(plan_path: str) -> int:
    """Delete the plan, so that the next command tests again what works here; this one didn't run."""
    try:
        os.unlink(plan_path)
    except OSError:
        return _NOT_EXECUTABLE
    return _NOT_EXECUTABLE


def _is_at_terminal() -> bool:
    """Say whether a terminal sends its signals to this process and the command alike."""
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


def _exit_like(status: int) -> int:
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
