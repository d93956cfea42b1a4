"""Snapshots: compressed archives, each with a manifest of SHA-256s, the latest few of a folder.

They are made whole or not at all, and are read only as a whole: an archive in which a single
byte differs from its manifest is damaged, and nothing is taken from it.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.json_form import OrNull
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs import files as disk
from roamkb.fs.locks import private_folder

#: So many are kept in a folder; making one more takes the oldest away.
KEPT: Final = 7
#: Bytes of an archive, and of all that it unpacks to: a hundred thousand learnings have some 80 MiB.
_MOST_BYTES: Final = 256 * 1024**2
#: Of the manifest alone: a few lines a file.
_MOST_TOLD = 64 * 1024 * 1024
_MOST_FILES: Final = 200_000
_TOO_LARGE: Final = f"would unpack to more than {_MOST_BYTES:,} bytes"
_OTHERS: Final = "`roamkb snapshot list` shows the others"
_CHUNK: Final = 1024 * 1024
_SCHEMA: Final = 1
_MANIFEST: Final = "manifest.json"
_NAME = lazily(r"(\d{8}-\d{6})-[0-9a-f]{8}\.zip")
#: The oldest that a zip can say; the manifest has the time.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
#: All that zipfile and json say of bytes that aren't theirs.
_DAMAGES: Final = (
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One archive in a folder of snapshots."""

    JSON = "id what when files bytes=size path fault"
    #: Its name without the ending: when it was made, and what tells two of one second apart.
    id: str
    path: Path
    #: "log", "kb", or what else was put into it; empty where it is damaged.
    what: OrNull
    #: Local ISO 8601 without zone.
    when: OrNull
    files: int
    #: Of the archive.
    size: int
    #: Why it can't be read; empty where it can.
    fault: OrNull = ""


def snapshot_id(now: datetime, token: str) -> str:
    """Return the id of a snapshot that is made at `now`; `token` has at least eight hexadecimal digits."""
    return f"{now:%Y%m%d-%H%M%S}-{token[:8]}"


def keep(folder: Path, members: Mapping[str, bytes], *, what: str, id: str, now: datetime) -> Snapshot | None:
    """Put `members` into `folder` as a new snapshot; None where the latest one holds the very same.

    Raises:
        DiskError: nothing was kept; it may be more than anybody would read again.
        NotDurable: it was, and the disk would not promise to keep it.
    """
    _check_folder(folder)
    if sum(map(len, members.values())) > _MOST_BYTES:
        raise DiskError(folder, f"gets no snapshot of more than {_MOST_BYTES:,} bytes; nothing was kept")
    latest = next(iter(_paths(folder)), None)
    if latest and (data := _data(latest)) is not None and _says(data, members):
        return None
    private_folder(folder)
    when = now.replace(tzinfo=None).isoformat(timespec="seconds")
    data = _packed(members, what=what, when=when)
    path = disk.create(folder, f"{id}.zip", data, mode=0o600)
    for old in [one for one in _paths(folder) if one != path][KEPT - 1 :]:
        disk.discard(old)
    return Snapshot(id=id, path=path, what=what, when=when, files=len(members), size=len(data))


def snapshots(folder: Path) -> list[Snapshot]:
    """Return what is kept in `folder`, the latest first; a damaged one with its fault."""
    _check_folder(folder)
    return [_described(path) for path in _paths(folder)]


def has_of_day(folder: Path, day: datetime) -> bool:
    """Say whether a snapshot of that day is in `folder`."""
    _check_folder(folder)
    return any(path.name.startswith(f"{day:%Y%m%d}-") for path in _paths(folder))


def members_of(snapshot: Snapshot) -> Mapping[str, bytes]:
    """Return what the snapshot holds, by name, every byte compared with its manifest.

    Raises:
        DiskError: it is damaged, or can't be read.
    """
    data = _data(snapshot.path)
    if data is None:
        raise DiskError(snapshot.path, "can't be read")
    try:
        return _unpacked(data)[1]
    except _TooLarge as error:
        raise DiskError(snapshot.path, f"{_TOO_LARGE}; nothing was taken from it", hint=_OTHERS) from error
    except _DAMAGES as error:
        raise _damaged(snapshot.path) from error


def get_snapshot(folder: Path, id: str) -> Snapshot:
    """Return the snapshot called `id`, or raise `NotFound`."""
    for path in _paths(folder):
        if path.stem == id:
            return _described(path)
    raise NotFound(id, what="snapshot", hint="`roamkb snapshot list` shows what there is")


def _paths(folder: Path) -> Iterator[Path]:
    """Yield the archives in `folder`, the latest first; what is somebody else's isn't looked at."""
    try:
        names = sorted((one.name for one in folder.iterdir() if _NAME.fullmatch(one.name)), reverse=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk.disk_error(folder, error) from error
    yield from (folder / name for name in names)


def _check_folder(folder: Path) -> None:
    if folder.is_symlink():
        raise DiskError(folder, "is a link; roamkb keeps no snapshot behind one", hint="make it a folder")


def _data(path: Path) -> bytes | None:
    if path.is_symlink():
        return None
    found = disk.read_file(path, limit=_MOST_BYTES)
    return None if isinstance(found, UnreadableFile) else found


def _described(path: Path) -> Snapshot:
    data = _data(path)
    when = datetime.strptime(path.name[:15], "%Y%m%d-%H%M%S").isoformat() if _is_time(path.name) else ""
    if data is None:
        return Snapshot(id=path.stem, path=path, what="", when=when, files=0, size=0, fault="can't be read")
    try:
        what, files = _looked_through(data)
    except _DAMAGES as error:
        fault = _TOO_LARGE if isinstance(error, _TooLarge) else "is damaged"
        return Snapshot(id=path.stem, path=path, what="", when=when, files=0, size=len(data), fault=fault)
    return Snapshot(id=path.stem, path=path, what=what, when=when, files=files, size=len(data))


def _is_time(name: str) -> bool:
    try:
        datetime.strptime(name[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return False
    return True


def _damaged(path: Path) -> DiskError:
    return DiskError(path, "is damaged; nothing was taken from it", hint=_OTHERS)


# The archive


def _packed(members: Mapping[str, bytes], *, what: str, when: str) -> bytes:
    """Return the archive; the same members and time give the same bytes."""
    told = {
        "snapshot": "roamkb",
        "schema": _SCHEMA,
        "what": what,
        "when": when,
        "files": {name: _entry(data) for name, data in sorted(members.items())},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_info(_MANIFEST), json.dumps(told, indent=1))
        for number, name in enumerate(sorted(members)):
            # numbers: what unpacks archives elsewhere may trip over a name, and over no number
            archive.writestr(_info(f"files/{number}"), members[name])
    return out.getvalue()


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_NO_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _entry(data: bytes) -> dict[str, object]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


class _TooLarge(ValueError):
    """What is packed has more bytes than anybody would unpack."""


def _manifest(archive: zipfile.ZipFile) -> dict[str, dict[str, object]]:
    """Return the manifest; raise one of `_DAMAGES` where it isn't one."""
    told = json.loads(b"".join(_inflated(archive, _MANIFEST, _MOST_TOLD)))
    if told["snapshot"] != "roamkb" or told["schema"] != _SCHEMA or len(told["files"]) > _MOST_FILES:
        raise ValueError("no manifest of ours")
    found: dict[str, dict[str, object]] = told
    return found


def _unpacked(data: bytes) -> tuple[dict[str, dict[str, object]], dict[str, bytes]]:
    """Return the manifest and the members; raise one of `_DAMAGES` where they don't agree."""
    members: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        told = _manifest(archive)
        for name, chunks in _members(archive, told["files"]):
            members[name] = b"".join(chunks)
    return told, members


def _looked_through(data: bytes) -> tuple[str, int]:
    """Return what an archive is of and how many files it holds, all of it compared and none of it kept."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        told = _manifest(archive)
        for _, chunks in _members(archive, told["files"]):
            for _ in chunks:
                pass
    return str(told["what"]), len(told["files"])


def _members(archive: zipfile.ZipFile, files: Mapping[str, object]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each member's name and its bytes in pieces; what isn't as the manifest says raises at its end."""
    if len(archive.namelist()) != len(files) + 1:
        raise ValueError("members that the manifest doesn't name")
    sizes = [int(told["size"]) for told in files.values() if isinstance(told, dict)]
    if any(size < 0 for size in sizes) or sum(sizes) > _MOST_BYTES:
        raise _TooLarge
    for number, name in enumerate(sorted(files)):
        yield name, _compared(archive, f"files/{number}", files[name])


def _compared(archive: zipfile.ZipFile, name: str, told: object) -> Iterator[bytes]:
    """Yield a member's bytes, no more than the manifest says, and raise unless they are what it says."""
    limit = int(told["size"]) if isinstance(told, dict) else 0
    size, digest = 0, hashlib.sha256()
    for chunk in _inflated(archive, name, limit):
        size += len(chunk)
        digest.update(chunk)
        yield chunk
    if {"size": size, "sha256": digest.hexdigest()} != told:
        raise ValueError("a member isn't what the manifest says")


def _inflated(archive: zipfile.ZipFile, name: str, limit: int) -> Iterator[bytes]:
    """Yield a member's bytes in pieces, whatever its header claims; more than `limit` are none."""
    with archive.open(name) as member:
        while chunk := member.read(_CHUNK):
            limit -= len(chunk)
            if limit < 0:
                raise ValueError("more bytes than it says")
            yield chunk


def _says(data: bytes, members: Mapping[str, bytes]) -> bool:
    """Say whether the archive is whole and holds just those `members`."""
    try:
        return _unpacked(data)[1] == members
    except _DAMAGES:
        return False
