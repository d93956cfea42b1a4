"""The two lists of what is trusted on this machine: root's, which an image carries, and the user's own.

Each line is a log's digest, or a public key as OpenSSH writes it, perhaps after `until=YYYY-MM-DD`; the rest of
the line is a comment. Neither place depends on a variable of the environment: the user's is in the home that the
password database names, and only `roamkb trust add` writes it.
"""

import contextlib
import os
import stat
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final
from typing import NamedTuple

from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import swap_file
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder
from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.fs.user_dirs import account_state_dir
from roamkb.log.trust.store import system_programs
from roamkb.log.trust.store.ssh_signatures import find_public_key
from roamkb.log.trust.store.ssh_signatures import key_fingerprint
from roamkb.log.trust.store.system_programs import is_owned_alone
from roamkb.log.trust.store.system_programs import is_root_pretended
from roamkb.log.trust.vouched_lines import is_digest

#: Below `system_programs.SYSTEM_ROOT`; each folder on the way is root's alone.
SYSTEM_LIST: Final = ("etc", "roamkb", "trusted")
USER_LIST: Final = "trusted"
_UNTIL: Final = "until="
_MOST_BYTES: Final = 1024 * 1024
_OPEN_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCK_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedEntry:
    """A digest or a key that is trusted on this machine."""

    #: The digest, or the key's fingerprint: who a vouching is by.
    name: str
    #: `TYPE BASE64`; null for a digest.
    key: OrNull
    comment: str
    #: The last day on which the key counts, as ISO 8601 has it; null without one.
    until: OrNull
    source: Path

    def is_expired(self, today: date) -> bool:
        """Say whether it counts no longer."""
        return bool(self.until) and date.fromisoformat(self.until) < today


class TrustLists(NamedTuple):
    """The entries of both lists, and what is wrong with a list, a clause each."""

    entries: tuple[TrustedEntry, ...]
    faults: tuple[str, ...]


def parse_entry(line: str, source: Path) -> TrustedEntry | None:
    """Return the entry of a list's line; None where it is neither a digest nor a key, or its day is none."""
    text, until = line.strip(), ""
    if text.startswith(_UNTIL):
        until, _, text = text.removeprefix(_UNTIL).partition(" ")
        try:
            until = date.fromisoformat(until).isoformat()
        except ValueError:
            return None
    first_word, _, comment = text.strip().partition(" ")
    if is_digest(first_word):
        return TrustedEntry(name=first_word, key="", comment=comment.strip(), until=until, source=source)
    if key := find_public_key(text):
        comment = text.strip().removeprefix(key).strip()
        return TrustedEntry(name=key_fingerprint(key), key=key, comment=comment, until=until, source=source)
    return None


def read_trust_lists(account_home: Path | None) -> TrustLists:
    """Return what is trusted for the account with that home; without one, what root trusts."""
    if is_root_pretended():
        return TrustLists(entries=(), faults=("this runs in a user namespace of its own, where no list counts",))
    entries: list[TrustedEntry] = []
    faults: list[str] = []
    paths: list[tuple[Path, tuple[str, ...], int]] = [
        (system_programs.SYSTEM_ROOT, SYSTEM_LIST, system_programs.SYSTEM_OWNER)
    ]
    if account_home is not None:
        folder = user_list(account_home).parent
        paths.append((folder, (USER_LIST,), os.getuid()))
    for root, parts, owner in paths:
        path = root.joinpath(*parts)
        try:
            data = read_owned(root, parts, owner)
        except FileNotFoundError:
            continue
        except (OSError, DiskError) as error:
            faults.append(error.message if isinstance(error, DiskError) else f"{path}: {error.strerror}")
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
            if entry := parse_entry(line, path):
                entries.append(entry)
            elif line.strip() and not line.lstrip().startswith("#"):
                faults.append(f"{path}:{number}: neither a log's digest nor a public key")
    return TrustLists(entries=tuple(entries), faults=tuple(faults))


def read_owned(root: Path, parts: Sequence[str], owner: int) -> bytes:
    """Return a file's bytes; each folder on the way, and the file, are `owner`'s alone, and no links.

    Raises:
        DiskError: one isn't. OSError: it can't be read.
    """
    path, fd = root, os.open(root, _OPEN_FLAGS | os.O_DIRECTORY)
    try:
        for part in ("", *parts):
            if part:
                path = path / part
                next_fd = os.open(part, _OPEN_FLAGS, dir_fd=fd)
                os.close(fd)
                fd = next_fd
            status = os.fstat(fd)
            if not is_owned_alone(status, owner):
                raise DiskError(path, "doesn't count: somebody else owns it, or may write to it")
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            raise DiskError(path, "doesn't count: it is no list")
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def user_list(account_home: Path) -> Path:
    """Return the path of the user's own list."""
    return Path(account_state_dir(str(account_home)), TRUST_FOLDER, USER_LIST)


def add_entry(account_home: Path, entry: TrustedEntry) -> None:
    """Add an entry to the user's list, in place of an earlier one of its name.

    Raises:
        DiskError, Busy: it wasn't added.
    """
    until = f"{_UNTIL}{entry.until} " if entry.until else ""
    line = f"{until}{entry.key or entry.name} {one_line(entry.comment)}".strip()
    change_list(user_list(account_home), lambda lines: [*_without(lines, entry.name), line])


def remove_entry(account_home: Path, name: str) -> None:
    """Take an entry out of the user's list.

    Raises:
        DiskError, Busy: it is still there.
    """
    change_list(user_list(account_home), lambda lines: list(_without(lines, name)))


def _without(lines: Sequence[str], name: str) -> Iterator[str]:
    for line in lines:
        entry = parse_entry(line, Path())
        if entry is None or entry.name != name:
            yield line


def change_list(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    """Change the lines of a list of the user's.

    Raises:
        DiskError, Busy, UsageError: it is as it was.
    """
    folder = make_private_folder(path.parent)
    with hold_lock(folder / "lock", wait=_LOCK_SECONDS):
        try:
            data = read_owned(folder, (path.name,), os.getuid())
        except FileNotFoundError:
            data = None
        except OSError as error:
            raise UsageError(f"can't read {one_line(str(path))}: {error.strerror}") from error
        lines = change([] if data is None else data.decode("utf-8", "replace").splitlines())
        changed = "".join(f"{line}\n" for line in lines).encode()
        if data is None:
            create_file(folder, path.name, changed, mode=0o600)
        else:
            swap_file(path, changed, expected_digest=content_digest(data), lock=contextlib.nullcontext())
