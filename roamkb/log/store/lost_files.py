"""Files of a log that are gone or no files, told by what is left of it, and what puts them back."""

import shlex
import stat
from pathlib import Path

from roamkb.core.errors import DiskError


def require_files(knowledge: Path, ledger: Path) -> None:
    """Raise where the learnings' file is missing beside a ledger of events about them, or is no file.

    `init` makes that file, and a rotation empties it: it is never missing by roamkb's doing.

    Raises:
        DiskError: it is gone, or something else is in its place; nothing was looked for in it.
    """
    try:
        mode = knowledge.lstat().st_mode
    except FileNotFoundError:
        if _has_bytes(ledger):
            raise DiskError(
                knowledge,
                f"is gone, and {ledger.name} beside it still tells of its learnings",
                hint=f"{_way_back(knowledge)}; if it is gone for good, an empty file in its place begins anew",
            ) from None
        return
    # of a link its reader says more
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        hint = f"move away what stands there; then {_way_back(knowledge)}"
        raise DiskError(knowledge, "isn't a regular file", hint=hint)


def _has_bytes(path: Path) -> bool:
    try:
        return path.lstat().st_size > 0
    except OSError:
        return False


def _way_back(path: Path) -> str:
    return (
        f"`git checkout -- {shlex.quote(str(path))}` brings it back where git has it, "
        "and `roamkb snapshot restore --yes` what the latest snapshot has"
    )
