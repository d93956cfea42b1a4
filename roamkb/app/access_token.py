"""The token that a caller of the local server shows: a file that only its owner can read."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from roamkb.boundary.store.server_ports import TOKEN
from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.append import open_regular_file
from roamkb.fs.append import read_bytes
from roamkb.fs.files import create_file
from roamkb.fs.locks import make_private_folder

#: 256 bits in base64, as `token_urlsafe` spells them.
_TOKEN_FORM = lazily(rb"[A-Za-z0-9_-]{43}\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """The token, and the file in which its owner finds it."""

    path: Path
    token: str


def open_access_token(folder: Path) -> AccessToken:
    """Return the token in `folder`, made there on the first call.

    Raises:
        DiskError: it can't be read or made, or somebody else could know it.
    """
    path = make_private_folder(folder) / TOKEN
    if data := read_bytes(path):
        return AccessToken(path=path, token=_require_private_token(path, data))
    # another server was faster, or the file is empty, which the look below says
    with contextlib.suppress(NameTaken):
        create_file(folder, TOKEN, f"{secrets.token_urlsafe(32)}\n".encode(), mode=0o600)
    return AccessToken(path=path, token=_require_private_token(path, read_bytes(path)))


def _require_private_token(path: Path, data: bytes) -> str:
    hint = f"delete {path}; the next start makes another"
    with open_regular_file(path) as file:
        status = os.fstat(file.fileno())
    if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.getuid():
        raise DiskError(path, "can be read by others, so its token is no secret", hint=hint)
    if not _TOKEN_FORM.fullmatch(data):
        raise DiskError(path, "holds no token of roamkb's", hint=hint)
    return data.decode().strip()
