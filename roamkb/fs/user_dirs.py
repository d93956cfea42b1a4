"""Folder names of a log's local state that only this machine can compute, and the user's own folders.

A repository can commit anything below `.roamkb/local`, and git overwrites there what it ignores. So receipts,
snapshots and the index lie in a folder whose name is made from a secret of the user's state folder and
from the project's place: what came from elsewhere lies somewhere else, and is never read. Hooks ask at every
step, so this imports nothing that takes time.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH117, PTH118

import os
import stat
import sys

from roamkb import TYPE_CHECKING
from roamkb.fs import files
from roamkb.fs import locks

#: The journal in the state folder.
JOURNAL = "journal"
#: The database in the journal of one knowledge base.
JOURNAL_DB = "journal.db"

if TYPE_CHECKING:
    from pathlib import Path

#: In the user's state folder.
MACHINE_KEY = "machine-key"
#: Where the brokers of walled commands listen, in the state folder as well.
BROKERS = "brokers"
#: Calls from a sandbox that their session is known to have made, likewise.
SANDBOX_CALLS = "calls"
#: Where harnesses' sessions were, by digests, likewise.
SESSION_FOLDERS = "sessions"
#: The list of what the user trusts, likewise; a folder, which the wall closes before there is a list.
TRUST_FOLDER = "trust"
#: By which logs count on this machine, likewise; a folder, for the same reason.
ADOPTIONS_FOLDER = "adopted"
#: Which logs a human shares, and by which service; likewise closed by the wall.
SHARED_FOLDER = "shared"
#: What can be made again, likewise: what is believed of notes and logs no command behind the wall may write. The folder
#: above is closed to them, and to close one in the user's cache folder would keep other programs from their own there.
CACHE_FOLDER = "cache"
#: There: the indexes and states of logs, by the names of their local folders.
LOG_CACHES = "logs"
_KEY_BYTES = 32
_NAME_BYTES = 8


def local_state_name(root: str, state: str) -> str:
    """Return the name of this machine's folder for the local state of the project at `root`.

    Empty where the machine has no secret yet, so that no log was ever adopted on it.
    """
    key = _read_key(os.path.join(state, MACHINE_KEY))
    if len(key) < _KEY_BYTES:
        return ""
    try:
        # what hashlib gives, without the time that OpenSSL takes
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(os.fsencode(os.path.realpath(root)), key=key, digest_size=_NAME_BYTES).hexdigest()


def is_adoption_recorded(state: str, name: str) -> bool:
    """Say whether the log whose local folder is called `name` was adopted, or made, on this machine.

    The folder itself is no proof: whoever writes to the project can make it.

    Raises:
        OSError: that can't be known.
    """
    try:
        return bool(name) and stat.S_ISREG(os.stat(os.path.join(state, ADOPTIONS_FOLDER, name)).st_mode)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return False


def _read_key(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, _KEY_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        try:  # noqa: SIM105 - contextlib is an import as well
            os.close(fd)
        except OSError:
            pass


def create_machine_key(state: "Path") -> None:
    """Create the machine's secret key unless it exists.

    Raises:
        DiskError: it can't be kept, or what goes by its name is no secret of ours.
    """
    from contextlib import suppress

    from roamkb.core.errors import DiskError
    from roamkb.core.errors import NameTaken

    path = locks.make_private_folder(state) / MACHINE_KEY
    if not os.path.lexists(path):
        # another init was faster
        with suppress(NameTaken):
            files.create_file(state, MACHINE_KEY, os.urandom(_KEY_BYTES), mode=0o600)
    if len(_read_key(str(path))) < _KEY_BYTES:
        raise DiskError(path, "is no secret of roamkb's", hint="remove it, and call `roamkb init` again")


def default_state_dir() -> str:
    """Return the user's state folder for roamkb as platformdirs names it: importing that takes too long."""
    return _default_dir("XDG_STATE_HOME", "~/.local/state", on_mac="~/Library/Application Support")


def account_state_dir(account_home: str) -> str:
    """Return the usual state folder of the account with that home, whatever the environment says."""
    on_mac = sys.platform == "darwin"
    return os.path.join(account_home, "Library/Application Support" if on_mac else ".local/state", "roamkb")


def default_data_dir() -> str:
    """Return the user's data folder for roamkb, likewise."""
    return _default_dir("XDG_DATA_HOME", "~/.local/share", on_mac="~/Library/Application Support")


def _default_dir(variable: str, elsewhere: str, *, on_mac: str) -> str:
    if os.path.isabs(configured := os.environ.get(variable, "")):
        return os.path.join(configured, "roamkb")
    return os.path.join(os.path.expanduser(on_mac if sys.platform == "darwin" else elsewhere), "roamkb")
