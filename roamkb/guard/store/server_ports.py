"""Ports of this machine on which `roamkb serve` has listened; hooks read them, so imports are few."""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH105, PTH118, PTH123

import os

#: In the state folder: what callers of a server must show.
TOKEN_FILE = "http-token"
#: There as well: a port a line, the last one last.
PORTS_FILE = "http-ports"
_MAX_PORTS = 64
#: What `roamkb serve` takes where nobody says another: nobody registered it, and systems don't give it out.
DEFAULT_PORT = 7717


def served_ports(state: str) -> tuple[str, ...]:
    """Return the ports that a server of this user may listen on."""
    return tuple(dict.fromkeys((str(DEFAULT_PORT), *_saved_ports(state))))


def save_port(state: str, port: int) -> None:
    """Record that a server listens on `port`; the folder must exist."""
    path = os.path.join(state, PORTS_FILE)
    other_ports = [saved_port for saved_port in _saved_ports(state) if saved_port != str(port)]
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="ascii") as file:
        file.write("\n".join([*other_ports, str(port)][-_MAX_PORTS:]) + "\n")
    os.replace(temporary, path)


def _saved_ports(state: str) -> list[str]:
    try:
        with open(os.path.join(state, PORTS_FILE), encoding="ascii", errors="replace") as file:
            return [line for line in file.read(4096).split() if line.isdecimal()]
    except OSError:
        return []
