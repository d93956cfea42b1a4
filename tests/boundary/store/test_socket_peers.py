"""Who is at the other end of a connection."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from roamkb.boundary.store.socket_peers import find_peers
from roamkb.boundary.store.socket_peers import find_users
from roamkb.boundary.store.socket_peers import read_environment
from roamkb.boundary.store.socket_peers import read_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tables are Linux's")
PROC = Path("/proc")

_CONNECT = """
import socket, sys
family, host, port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with socket.socket(family) as ours:
    ours.connect((host, port))
    print(*ours.getsockname()[:2], flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("family", "server", "client"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        # a socket for both kinds of address, as many programs have
        (socket.AF_INET6, "127.0.0.1", "::ffff:127.0.0.1"),
    ],
)
def test_the_process_at_the_other_end_is_found(family: int, server: str, client: str, tmp_path: Path) -> None:
    """By both addresses, since ports come again."""
    with socket.create_server((server, 0), family=socket.AF_INET6 if ":" in server else socket.AF_INET) as us:
        port = us.getsockname()[1]
        with subprocess.Popen(
            [sys.executable, "-c", _CONNECT, str(int(family)), client, str(port)],
            cwd=tmp_path,
            env={"A": "b=c"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            connection, (host, theirs, *_) = us.accept()
            with connection:
                assert (process.pid,) == find_peers((host, theirs), (server, port), PROC)
                assert () == find_peers((host, theirs), (server, port + 1), PROC)
                assert () == find_peers((host, theirs), (server, port), tmp_path)
                assert "b=c" == read_environment(process.pid, PROC)["A"]
                assert tmp_path == read_folder(process.pid, PROC)
                tmp_path.rmdir()
                assert read_folder(process.pid, PROC) is None
                process.communicate()
                assert () == find_peers((host, theirs), (server, port), PROC)


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root may mount here")
def test_a_folder_that_is_another_one_here_is_none(tmp_path: Path) -> None:
    """A process that mounts its work over a personal project, for itself, isn't in that project."""
    work, personal = tmp_path / "work", tmp_path / "personal"
    work.mkdir()
    personal.mkdir()
    script = f"mount --bind {work} {personal} && cd {personal} && echo ready && exec cat"
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert b"ready\n" == process.stdout.readline()
        assert read_folder(process.pid, PROC) is None
        process.communicate()


def test_all_that_hold_a_socket_are_found() -> None:
    """A child has its parent's, and either may have written."""
    with socket.create_server(("127.0.0.1", 0)) as us, socket.create_connection(us.getsockname()) as ours:
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(ours.fileno(),))
        try:
            found = find_peers(ours.getsockname(), us.getsockname(), PROC)
        finally:
            child.communicate()
        assert {os.getpid(), child.pid} == set(found)


def test_the_user_at_the_other_end_is_found() -> None:
    """Nobody where it is closed already."""
    with socket.create_server(("127.0.0.1", 0)) as us:
        with socket.create_connection(us.getsockname()) as ours:
            ends = ours.getsockname(), us.getsockname()
            assert {os.geteuid()} == find_users(*ends, PROC)
        assert set() == find_users(*ends, PROC)
