"""Requests of a walled command for roamkb's own writes, which its launcher outside judges and runs.

Inside of a wall nothing can write to the notes, `roamkb write` included. So the launcher of a walled command
stays outside and listens on a socket; the verbs below send it their words and their standard streams, and it
runs the same `roamkb VERB` with its own environment in the caller's folder. That call judges the boundary by
the launcher's session and by the caller's, and the stricter counts.

The socket has a name, in the state folder, which is its owner's alone: an abstract one could be reached by
every user, and not from a network namespace of the command's. Each connection gets a process of its own, so
that nobody waits for a caller who is slow. Where there is no process table nobody can tell who asks, and
there is no broker. The launcher may cost next to nothing, so this imports next to nothing.
"""

# pathlib alone takes as long to import as Python to start

# what `signal` wraps; the enumerations around it take long to import
import _signal  # type: ignore[import-not-found]
import os
import sys
import time

from roamkb import TYPE_CHECKING
from roamkb import lazy_module

if TYPE_CHECKING:
    import _socket
    import select
    from collections.abc import Sequence
    from typing import Never

    from roamkb.fs import user_dirs
else:
    _socket = lazy_module("_socket")
    select = lazy_module("select")
    user_dirs = lazy_module("roamkb.fs.user_dirs")

#: What tells a command's children where to ask.
BROKER_VARIABLE = "ROAMKB_BROKER"
#: What tells the call outside which process asked. Whoever sets it is only judged by one process more.
ASKER_VARIABLE = "ROAMKB_ASKED_BY"
#: What may be asked for: nothing that needs a human's word.
FORWARDED_VERBS = ("write", "supersede", "trash", "restore", "promote")
#: With it, what changes no note and is closed all the same: the record that a new log is this machine's own.
BROKERED_VERBS = (*FORWARDED_VERBS, "init")

_PROC = "/proc"
#: Linux takes longer command lines than this, but a body belongs on standard input then.
_MAX_REQUEST_BYTES = 4 * 1024 * 1024
#: Requests that are looked after at once; the others wait.
_MAX_REQUESTS = 32
#: Seconds of one wait for a connection.
_LONGEST_WAIT = 1
#: Seconds that a caller has to say what it wants.
_REQUEST_TIMEOUT = 10
#: The longest name of a socket, with its end.
_MAX_SOCKET_NAME = 107
#: More parents than any process has.
_MAX_PARENTS = 512
#: Seconds after which a socket without a listener was left behind: in this boot, and in another.
_STALE, _STALE_ELSEWHERE = 60, 86_400
_INTERRUPTED_STATUS = 130
#: What only the launcher may have been told.
_FORWARDED_SIGNALS = (_signal.SIGTERM, _signal.SIGHUP, _signal.SIGINT)
_DONE, _REFUSED = b"=", b"!"


class UnansweredRequest(Exception):
    """A request that the broker took and left undone, or without a reported result."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class _RefusedRequest(Exception):
    """The reason why a request isn't carried out."""


class BrokerListener:
    """A socket on which a command's children send requests."""

    def __init__(self, socket: "_socket.socket", path: str) -> None:
        self.socket = socket
        self.path = path

    @property
    def environment(self) -> dict[str, str]:
        """The variables to add to the command's environment."""
        return {BROKER_VARIABLE: self.path}

    def accept(self) -> int:
        """Wait for a connection and return its descriptor.

        Raises:
            OSError: there is none, or no more.
        """
        # without `socket`, which takes long to import
        descriptor: int = self.socket._accept()[0]  # type: ignore[attr-defined]  # noqa: SLF001
        return descriptor

    def shut_down(self) -> None:
        """Stop waiting for connections."""
        self.socket.shutdown(_socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket and remove its file."""
        self.socket.close()
        _remove_socket(self.path)


# Outside of the wall


def open_listener(folder: str = "") -> BrokerListener | None:
    """Return a listener for a command's children; None where they can't be identified.

    The socket lies in `folder`, or in the usual state folder.
    """
    if not folder:
        folder = os.path.join(user_dirs.default_state_dir(), user_dirs.BROKERS)
    try:
        boot = _read_text(f"{_PROC}/sys/kernel/random/boot_id")[:8]
        _make_private_folder(folder)
        _remove_stale_sockets(folder, boot)
        path = os.path.join(folder, f"{boot}-{os.urandom(8).hex()}")
        socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        with _SocketAddress(path) as address:
            socket.bind(address)
        socket.listen(_MAX_REQUESTS)
        # a signal just before the wait interrupts nothing: the end of a command would be missed for good.
        # By the kernel: Python's own timeout tries a socket that was shut down again and again until it is over
        socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVTIMEO, _pack_timeval(_LONGEST_WAIT))
    except OSError:
        return None
    return BrokerListener(socket, path)


def serve_requests(  # noqa: C901 - its signal handlers share its state
    listener: BrokerListener | None, child: int, forwarded_signals: "Sequence[int]" = _FORWARDED_SIGNALS
) -> int:
    """Answer requests until `child` has ended, and return its wait status; signals go on to it."""
    # each is written on one side of the signal alone
    begun, reaped, ended = 0, 0, None

    def forward_signal(number: int, _frame: object) -> None:
        if ended is None:
            os.kill(child, number)

    def reap_children(*_: object) -> None:
        nonlocal reaped, ended
        while ended is None:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                # this runs within itself, and the outer one has it
                return
            if pid == 0:
                return
            if pid == child:
                ended = status
                if listener is not None:
                    listener.shut_down()
            else:
                reaped += 1

    for number in forwarded_signals:
        _signal.signal(number, forward_signal)
    if listener is None:
        return os.waitpid(child, 0)[1]
    # by the signal, and not by `select`, which takes as long to import as all of this
    _signal.signal(_signal.SIGCHLD, reap_children)
    try:
        # it may have ended before
        reap_children()
        while ended is None:
            if begun - reaped >= _MAX_REQUESTS:
                _wait_briefly()
            elif _take_connection(listener, child):
                begun += 1
            else:
                # the signal may be blocked, or have come too early
                reap_children()
        return ended
    finally:
        listener.close()


def _wait_briefly() -> None:
    time.sleep(0.01)


def _take_connection(listener: BrokerListener, child: int) -> bool:
    """Wait for a connection and serve it in a new process; say whether there was one."""
    try:
        descriptor = listener.accept()
    except OSError:
        # whoever asked is gone, or the command has ended
        return False
    try:
        if os.fork() == 0:
            _attend_connection(descriptor, child)
    except OSError:
        # no more processes: who asks hears nothing, and says so
        return False
    finally:
        os.close(descriptor)
    return True


def _attend_connection(descriptor: int, child: int) -> "Never":
    """Serve one connection, and exit."""
    try:
        while descriptor < 3:
            # a launcher's own streams may be closed
            descriptor = os.dup(descriptor)
        _detach_from_launcher()
        connection = _socket.socket(fileno=descriptor)
        try:
            answer = _DONE + str(_carry_out_request(connection, child)).encode()
        except _RefusedRequest as refusal:
            answer = _REFUSED + str(refusal).encode(errors="replace")
        connection.sendall(answer)
    except OSError:
        # whoever asked is gone
        os._exit(1)
    finally:
        # nothing of the launcher's goes on here
        os._exit(0)


def _detach_from_launcher() -> None:
    """Give up the launcher's signals, terminal and streams."""
    for number in (*_FORWARDED_SIGNALS, _signal.SIGCHLD, _signal.SIGALRM):
        _signal.signal(number, _signal.SIG_DFL)
    # without a terminal of its own, what runs here can't be answered by a human
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _carry_out_request(connection: "_socket.socket", child: int) -> int:
    """Run the requested command; return its exit status.

    Raises:
        _RefusedRequest: nothing was done.
    """
    asker = _identify_asker(connection, child)
    _signal.alarm(_REQUEST_TIMEOUT)
    streams, words = _receive_request(connection)
    _signal.alarm(0)
    if words[0] not in BROKERED_VERBS:
        raise _RefusedRequest(f"it doesn't run `roamkb {words[0][:40]}`, only {', '.join(BROKERED_VERBS)}")
    folder = f"{_PROC}/{asker}/cwd"
    try:
        os.chdir(os.readlink(folder))
        is_same = os.path.samestat(os.stat("."), os.stat(folder))
    except OSError:
        is_same = False
    if not is_same:
        raise _RefusedRequest("the folder that it was asked from isn't there outside of the command's wall")
    worker = os.fork()
    if worker == 0:
        _run_verb(streams, words, asker)
    for stream in streams.values():
        os.close(stream)
    return _await_worker(worker, connection)


def _identify_asker(connection: "_socket.socket", child: int) -> int:
    """Return the process that sent the request.

    Raises:
        _RefusedRequest: it isn't `child` nor descends from it, or isn't this user's.
    """
    if sys.platform != "linux":
        raise _RefusedRequest("who asks can't be told on this system")
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    asker, user = (int.from_bytes(credentials[offset : offset + 4], sys.byteorder) for offset in (0, 4))
    pid = asker
    for _ in range(_MAX_PARENTS):
        if pid == child and user == os.getuid():
            return asker
        try:
            # the name may hold brackets and blanks; after it stand the state and the parent
            pid = int(_read_text(f"{_PROC}/{pid}/stat").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    raise _RefusedRequest("who asks isn't the command that this was made for, nor began by it")


def _receive_request(connection: "_socket.socket") -> tuple[dict[int, int], list[str]]:
    """Return the standard streams that came with a request, and its words.

    Raises:
        _RefusedRequest: it is none.
    """
    cloexec = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
    data, ancillary_data, flags, _ = connection.recvmsg(65536, _socket.CMSG_SPACE(3 * 4), cloexec)
    if flags & _socket.MSG_CTRUNC or len(data) < 4:
        raise _RefusedRequest("the request is malformed")
    size = int.from_bytes(data[:4], "big")
    if not 0 < size <= _MAX_REQUEST_BYTES:
        raise _RefusedRequest(f"the request is larger than {_MAX_REQUEST_BYTES:,} bytes, or empty")
    while len(data) < 4 + size:
        more = connection.recv(min(65536, 4 + size - len(data)))
        if not more:
            raise _RefusedRequest("the request is malformed")
        data += more
    received = b"".join(bytes(rights) for level, kind, rights in ancillary_data if kind == _socket.SCM_RIGHTS)
    descriptors = [
        int.from_bytes(received[offset : offset + 4], sys.byteorder) for offset in range(0, len(received), 4)
    ]
    names, *words = data[4 : 4 + size].split(b"\0")
    streams = [int(name) for name in names.decode("ascii", "replace") if name in "012"]
    if len(streams) != len(descriptors) or len(set(streams)) != len(names) or not words:
        raise _RefusedRequest("the request is malformed")
    return dict(zip(streams, descriptors, strict=True)), list(map(os.fsdecode, words))


def _run_verb(streams: dict[int, int], words: list[str], asker: int) -> "Never":
    """Become `roamkb WORDS…` with the caller's streams, and with nothing else of the caller's."""
    try:
        for stream in (0, 1, 2):
            if stream in streams:
                os.dup2(streams[stream], stream)
            else:
                os.close(stream)
        os.closerange(3, 1 << 20)
        # the caller's folder is no place to import from: not by -m, and not by a path that isn't absolute
        environment = {**os.environ, ASKER_VARIABLE: str(asker)}
        if path := environment.pop("PYTHONPATH", ""):
            environment["PYTHONPATH"] = ":".join(folder for folder in path.split(":") if os.path.isabs(folder))
        os.execve(sys.executable, [sys.executable, "-P", "-m", "roamkb", *words], environment)
    finally:
        os._exit(127)


def _await_worker(worker: int, connection: "_socket.socket") -> int:
    """Return the exit status of `worker`, which is ended when its caller disconnects."""
    # readable once the worker has ended
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    _signal.set_wakeup_fd(wake)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    waits = select.poll()
    waits.register(woken, select.POLLIN)
    waits.register(connection.fileno(), select.POLLIN)
    while True:
        pid, status = os.waitpid(worker, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        for descriptor, _ in waits.poll():
            if descriptor == woken:
                os.read(woken, 4096)
            else:
                # it says nothing more, so this is its end
                waits.unregister(descriptor)
                os.kill(worker, _signal.SIGTERM)


# Inside


def forward_call(words: "Sequence[str]") -> int | None:
    """Send `roamkb WORDS…` to the broker; return its exit status, None where there is no broker.

    Raises:
        UnansweredRequest: it wouldn't, or what it did isn't known.
    """
    # before the connection takes the number of one that is closed
    streams = [stream for stream in (0, 1, 2) if _is_open(stream)]
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        with _SocketAddress(os.environ[BROKER_VARIABLE]) as address:
            connection.connect(address)
    except (OSError, KeyError, ValueError):
        return None
    request = b"\0".join((b"".join(b"%d" % stream for stream in streams), *map(os.fsencode, words)))
    if len(request) > _MAX_REQUEST_BYTES:
        raise UnansweredRequest(f"the call is longer than {_MAX_REQUEST_BYTES:,} bytes", "give the text with --body -")
    rights = b"".join(stream.to_bytes(4, sys.byteorder) for stream in streams)
    try:
        answer = _exchange_request(connection, len(request).to_bytes(4, "big") + request, rights)
    except KeyboardInterrupt:
        return _INTERRUPTED_STATUS
    if answer[:1] == _DONE and answer[1:].isdigit():
        return int(answer[1:])
    if answer[:1] == _REFUSED:
        raise UnansweredRequest(
            f"the broker outside of this command's wall refuses: {answer[1:].decode(errors='replace')}",
            "call `roamkb` from the command itself, not from what it leaves behind",
        )
    raise UnansweredRequest(
        "the broker outside of this command's wall ended before it answered",
        "`roamkb search` shows whether it was done; if not, call it again as a command of its own",
    )


def _exchange_request(connection: "_socket.socket", request: bytes, rights: bytes) -> bytes:
    """Send a request and return the answer; empty where the broker ends."""
    ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)] if rights else []
    answer = b""
    try:
        sent = connection.sendmsg([request], ancillary)
        connection.sendall(request[sent:])
    except BrokenPipeError:
        # it didn't want to hear more, and may have said why
        pass
    except OSError:
        return answer
    try:
        while len(answer) < 65536 and (more := connection.recv(4096)):
            answer += more
    except OSError:
        return answer
    return answer


# Files and numbers


class _SocketAddress:
    """The address of a socket at a path of any length."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._folder = -1

    def __enter__(self) -> str:
        if len(os.fsencode(self._path)) <= _MAX_SOCKET_NAME:
            return self._path
        self._folder = os.open(os.path.dirname(self._path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"{_PROC}/self/fd/{self._folder}/{os.path.basename(self._path)}"

    def __exit__(self, *_: object) -> None:
        if self._folder >= 0:
            os.close(self._folder)


def _make_private_folder(folder: str) -> None:
    """Create a folder for its owner alone.

    Raises:
        OSError: it can't be, or somebody else has one there.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.lstat(folder)
    if status.st_uid != os.getuid() or status.st_mode & 0o170000 != 0o040000:
        raise PermissionError(f"{folder} isn't ours")
    if status.st_mode & 0o077:
        os.chmod(folder, 0o700)


def _remove_stale_sockets(folder: str, boot: str) -> None:
    """Remove the sockets of launchers that were killed."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        limit = _STALE if name.startswith(boot) else _STALE_ELSEWHERE
        if _file_age(path) > limit and not _is_served(path):
            _remove_socket(path)


def _pack_timeval(seconds: int) -> bytes:
    """Return the kernel's `struct timeval`, without `struct`, which is an import as well."""
    long = 8 if sys.maxsize > 1 << 32 else 4
    return seconds.to_bytes(long, sys.byteorder) + bytes(long)


def _file_age(path: str) -> float:
    try:
        return time.time() - os.lstat(path).st_mtime
    except OSError:
        return 0


def _is_served(path: str) -> bool:
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    # one that is stopped would be waited for
    connection.setblocking(False)
    try:
        with _SocketAddress(path) as address:
            connection.connect(address)
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    finally:
        connection.close()
    return True


def _remove_socket(path: str) -> None:
    try:  # noqa: SIM105 - contextlib is an import as well
        os.unlink(path)
    except OSError:
        # another swept it
        pass


def _read_text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _is_open(stream: int) -> bool:
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True
