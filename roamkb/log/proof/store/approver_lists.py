"""Places of the lists of approver keys, and a stamp of both, which is all that most readers of a log need."""

from pathlib import Path

from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.typing import Final
from roamkb.fs.files import read_file
from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.fs.user_dirs import account_state_dir
from roamkb.log.trust.store import system_programs

#: Below `system_programs.SYSTEM_ROOT`: plain lines of public keys.
SYSTEM_LIST: Final = ("etc", "roamkb", "approvers")
_USER_LIST: Final = "approvers"
LONGEST_LIST: Final = 1024 * 1024


def user_list(account_home: Path) -> Path:
    """Return the path of the user's own list."""
    return Path(account_state_dir(str(account_home)), TRUST_FOLDER, _USER_LIST)


def list_stamp(account_home: Path | None) -> str:
    """Return a stamp that changes with either list; empty where there is none."""
    paths = [system_programs.SYSTEM_ROOT.joinpath(*SYSTEM_LIST)]
    if account_home is not None:
        paths.append(user_list(account_home))
    stamps: list[str] = []
    for path in paths:
        try:
            status = path.lstat()
        except OSError:
            continue
        # a later look judges whether it counts, and by what; that it may be read is all that matters here
        data = read_file(path, limit=LONGEST_LIST)
        content = blake2b(data, digest_size=16).hexdigest() if isinstance(data, bytes) else data.reason
        stamps.append(f"{status.st_mode:o}:{status.st_uid}:{content}")
    return " ".join(stamps)
