"""On which ports of this machine `roamkb serve` has listened; hooks ask, so this imports next to nothing."""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH118, PTH123

import os

from roamkb.fs.untrusted_files import replace_file

#: In the state folder: what callers of a server must show.
TOKEN = "http-token"
#: There as well: a port a line, the last one last.
PORTS = "http-ports"
_MOST = 64
#: What `roamkb serve` takes where nobody says another: nobody registered it, and systems don't give it out.
PORT = 7717


def served_ports(state: str) -> tuple[str, ...]:
    """Return the ports that a server of this user may listen on."""
    return tuple(dict.fromkeys((str(PORT), *_kept(state))))


def keep_port(state: str, port: int) -> None:
    """Remember that a server listens on `port`; behind the wall, where it can write no notes, that can't be kept."""
    kept = [one for one in _kept(state) if one != str(port)]
    try:
        replace_file(os.path.join(state, PORTS), ("\n".join([*kept, str(port)][-_MOST:]) + "\n").encode())
    except OSError:
        return


def _kept(state: str) -> list[str]:
    try:
        with open(os.path.join(state, PORTS), encoding="ascii", errors="replace") as file:
            return [line for line in file.read(4096).split() if line.isdecimal()]
    except OSError:
        return []
