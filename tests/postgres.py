"""A real PostgreSQL for tests: Debian's, on a Unix socket in a folder of its own, run by an unprivileged user."""

import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.conftest import World
from tests.networks import NetworkHost

#: Where Debian has the programs.
_DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
#: The section of the service file.
SERVICE = "lantern"


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; None where it isn't installed."""
    found = shutil.which("initdb")
    return _DEBIAN[-1] if _DEBIAN else Path(found).parent if found else None


class PostgresServer:
    """A server with a folder of its own, which can be stopped, killed and started again."""

    def __init__(self, folder: Path, *, host: NetworkHost | None = None) -> None:
        """Make a server; one on a host of a network is reached by its address, too."""
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.address = host.address if host else ""
        self._programs = programs() or Path("/nowhere")
        # the server refuses root
        account = pwd.getpwnam("nobody" if os.getuid() == 0 else getpass.getuser())
        os.chown(folder, account.pw_uid, account.pw_gid)
        self._inside = host.inside if host else []
        self._uid: int | None = account.pw_uid if os.getuid() == 0 and not host else None
        self._gid: int | None = account.pw_gid if os.getuid() == 0 and not host else None
        if os.getuid() == 0 and host:
            # who enters a host's namespace has to be root until it is there
            self._inside += ["-S", str(account.pw_uid), "-G", str(account.pw_gid)]
        self._run("initdb", "--no-sync", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", str(self.data))
        with (self.data / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.77.0.0/16 trust\n")
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *words: str) -> None:
        command = [*self._inside, str(self._programs / program), *words]
        # a server inherits them, and whoever reads a pipe of it would wait for its end
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                command,
                check=False,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                user=self._uid,
                group=self._gid,
            )
            said.seek(0)
            assert done.returncode == 0, said.read().decode()

    def start(self) -> None:
        """Start the server, and wait until it answers; what a kill left behind is recovered."""
        options = (
            f"-c listen_addresses='{self.address}' -c unix_socket_directories={self.folder} -c max_connections=100"
        )
        self._run("pg_ctl", "start", "-w", "-D", str(self.data), "-l", str(self.folder / "server.log"), "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server."""
        self._run("pg_ctl", "stop", "-w", "-m", mode, "-D", str(self.data))

    def kill(self) -> None:
        """Kill the server as a power cut would."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        while _is_alive(pid):
            time.sleep(0.01)

    def connect(self, role: str = "postgres") -> psycopg.Connection:
        """Connect as a role; each statement is a transaction."""
        return psycopg.connect(host=str(self.folder), user=role, dbname="roamkb", autocommit=True)

    def run_sql(self, text: str) -> None:
        """Run a script by psql, as an administrator does."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-h", str(self.folder), "-U", "postgres", "-d", "postgres"],
            input=text.encode(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()

    def name_service(self, world: World, *, role: str = "anna", service: str = SERVICE) -> None:
        """Write the service file of a person."""
        path = world.home / ".pg_service.conf"
        path.write_text(f"[{service}]\nhost={self.address or self.folder}\ndbname=roamkb\nuser={role}\n")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def running_server(host: NetworkHost | None = None) -> Iterator[PostgresServer]:
    """Run a server in a temporary folder with a short name, since that of a socket has at most 107 letters."""
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:
        Path(name).chmod(0o755)
        server = PostgresServer(Path(name) / "s", host=host)
        try:
            yield server
        finally:
            server.stop("immediate")
