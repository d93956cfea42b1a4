"""Which local state of a log is this machine's own: a folder that only this machine can name.

A repository can commit anything below `.roamkb/local`, and git overwrites there what it ignores. So receipts,
snapshots and the index lie in a folder whose name is made from a secret of the user's state folder and
from the project's place: what came from elsewhere lies somewhere else, and is never read. Hooks ask at every
step, so this imports nothing that takes time.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH117, PTH118

import os
import stat

#: The journal in the state folder.
JOURNAL = "journal"
#: The database in the journal of one knowledge base.
JOURNAL_DB = "journal.db"

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from pathlib import Path

#: In the user's state folder.
KEY = "machine-key"
#: Where the brokers of walled commands listen, in the state folder as well.
BROKERS = "brokers"
#: Calls from a sandbox that their session is known to have made, likewise.
CALLS = "calls"
_BYTES = 32
_NAME_BYTES = 8


def own_name(root: str, state: str) -> str:
    """Return what the local state of the project at `root` is called on this machine.

    Empty where the machine has no secret yet, so that no log was ever adopted on it.
    """
    key = _key(os.path.join(state, KEY))
    if len(key) < _BYTES:
        return ""
    try:
        # what hashlib gives, without the time that OpenSSL takes
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(os.fsencode(os.path.realpath(root)), key=key, digest_size=_NAME_BYTES).hexdigest()


def _key(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, _BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        try:  # noqa: SIM105 - contextlib is an import as well
            os.close(fd)
        except OSError:
            pass


def make_key(state: "Path") -> None:
    """Give this machine its secret, unless it has one.

    Raises:
        DiskError: it can't be kept, or what goes by its name is no secret of ours.
    """
    from contextlib import suppress

    from roamkb.core.errors import DiskError
    from roamkb.core.errors import NameTaken
    from roamkb.fs.files import create
    from roamkb.fs.locks import private_folder

    path = private_folder(state) / KEY
    if not os.path.lexists(path):
        # another init was faster
        with suppress(NameTaken):
            create(state, KEY, os.urandom(_BYTES), mode=0o600)
    if len(_key(str(path))) < _BYTES:
        raise DiskError(path, "is no secret of roamkb's", hint="remove it, and call `roamkb init` again")


def usual_state() -> str:
    """Return the user's state folder for roamkb as platformdirs names it: importing that takes too long."""
    return _usual("XDG_STATE_HOME", "~/.local/state", on_mac="~/Library/Application Support")


def usual_cache() -> str:
    """Return the user's cache folder for roamkb, likewise."""
    return _usual("XDG_CACHE_HOME", "~/.cache", on_mac="~/Library/Caches")


def usual_data() -> str:
    """Return the user's data folder for roamkb, likewise."""
    return _usual("XDG_DATA_HOME", "~/.local/share", on_mac="~/Library/Application Support")


def _usual(variable: str, elsewhere: str, *, on_mac: str) -> str:
    import sys

    if os.path.isabs(told := os.environ.get(variable, "")):
        return os.path.join(told, "roamkb")
    return os.path.join(os.path.expanduser(on_mac if sys.platform == "darwin" else elsewhere), "roamkb")
