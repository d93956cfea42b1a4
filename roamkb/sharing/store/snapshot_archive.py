"""Snapshot archives: compressed, each with a manifest of SHA-256s, the latest few of a folder.

They are made whole or not at all, and are read only as a whole: an archive in which a single
byte differs from its manifest is damaged, and nothing is taken from it.
"""

import contextlib
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
from roamkb.fs.locks import make_private_folder

#: So many are kept in a folder; making one more takes the oldest away.
MAX_SNAPSHOTS: Final = 7
#: Bytes of an archive, and of all that it unpacks to: a hundred thousand learnings have some 80 MiB.
_MAX_ARCHIVE_BYTES: Final = 256 * 1024**2
#: Of the manifest alone: a few lines a file.
_MAX_MANIFEST_BYTES = 64 * 1024 * 1024
_MAX_FILES: Final = 200_000
_TOO_LARGE_REASON: Final = f"would unpack to more than {_MAX_ARCHIVE_BYTES:,} bytes"
_OTHERS_HINT: Final = "`roamkb snapshot list` shows the others"
_CHUNK_SIZE: Final = 1024 * 1024
_MANIFEST_SCHEMA: Final = 1
_MANIFEST_NAME: Final = "manifest.json"
_ARCHIVE_NAME = lazily(r"(\d{8}-\d{6})-[0-9a-f]{8}\.zip")
#: The oldest that a zip can say; the manifest has the time.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
#: All that zipfile and json say of bytes that aren't theirs.
_DAMAGE_ERRORS: Final = (
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
    """An archive in a folder of snapshots."""

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


def save_snapshot(
    folder: Path, members: Mapping[str, bytes], *, source: str, id: str, now: datetime
) -> Snapshot | None:
    """Save `members` as a new snapshot in `folder`; None where the latest one equals it.

    Raises:
        DiskError: nothing was kept; it may be more than anybody would read again.
        NotDurable: it was, and the disk would not promise to keep it.
    """
    _check_folder(folder)
    if sum(map(len, members.values())) > _MAX_ARCHIVE_BYTES:
        raise DiskError(folder, f"gets no snapshot of more than {_MAX_ARCHIVE_BYTES:,} bytes; nothing was kept")
    latest = next(iter(_archive_paths(folder)), None)
    if latest and (data := _read_archive(latest)) is not None and _holds_exactly(data, members):
        return None
    make_private_folder(folder)
    when = now.replace(tzinfo=None).isoformat(timespec="seconds")
    data = _pack_archive(members, source=source, when=when)
    path = disk.create_file(folder, f"{id}.zip", data, mode=0o600)
    for surplus in [existing for existing in _archive_paths(folder) if existing != path][MAX_SNAPSHOTS - 1 :]:
        disk.discard_file(surplus)
    return Snapshot(id=id, path=path, what=source, when=when, files=len(members), size=len(data))


def list_archives(folder: Path) -> list[Snapshot]:
    """Return the snapshots in `folder`, the latest first; a damaged one with its fault."""
    _check_folder(folder)
    return [_describe_archive(path) for path in _archive_paths(folder)]


def has_snapshot_of_day(folder: Path, day: datetime) -> bool:
    """Say whether a snapshot of that day is in `folder`."""
    _check_folder(folder)
    return any(path.name.startswith(f"{day:%Y%m%d}-") for path in _archive_paths(folder))


def read_members(snapshot: Snapshot) -> Mapping[str, bytes]:
    """Return the members of the snapshot, by name, every byte compared with its manifest.

    Raises:
        DiskError: it is damaged, or can't be read.
    """
    data = _read_archive(snapshot.path)
    if data is None:
        raise DiskError(snapshot.path, "can't be read")
    try:
        return _unpack_archive(data)[1]
    except _TooLarge as error:
        raise DiskError(snapshot.path, f"{_TOO_LARGE_REASON}; nothing was taken from it", hint=_OTHERS_HINT) from error
    except _DAMAGE_ERRORS as error:
        raise _damage_error(snapshot.path) from error


def replace_members(snapshot: Snapshot, members: Mapping[str, bytes]) -> None:
    """Replace the members of a snapshot, which keeps its name and time.

    Raises:
        DiskError, ChangedOnDisk: it is as it was. NotDurable: it was replaced.
    """
    data = _read_archive(snapshot.path)
    if data is None:
        raise DiskError(snapshot.path, "can't be read")
    packed = _pack_archive(members, source=snapshot.what, when=snapshot.when)
    disk.swap_file(snapshot.path, packed, expected_digest=disk.content_digest(data), lock=contextlib.nullcontext())


def get_snapshot(folder: Path, id: str) -> Snapshot:
    """Return the snapshot called `id`, or raise `NotFound`."""
    for path in _archive_paths(folder):
        if path.stem == id:
            return _describe_archive(path)
    raise NotFound(id, kind="snapshot", hint="`roamkb snapshot list` shows what there is")


def _archive_paths(folder: Path) -> Iterator[Path]:
    """Yield the archives in `folder`, the latest first; other files are ignored."""
    try:
        names = sorted((entry.name for entry in folder.iterdir() if _ARCHIVE_NAME.fullmatch(entry.name)), reverse=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise disk.disk_error(folder, error) from error
    yield from (folder / name for name in names)


def _check_folder(folder: Path) -> None:
    if folder.is_symlink():
        raise DiskError(folder, "is a link; roamkb keeps no snapshot behind one", hint="make it a folder")


def _read_archive(path: Path) -> bytes | None:
    if path.is_symlink():
        return None
    content = disk.read_file(path, limit=_MAX_ARCHIVE_BYTES)
    return None if isinstance(content, UnreadableFile) else content


def _describe_archive(path: Path) -> Snapshot:
    data = _read_archive(path)
    when = datetime.strptime(path.name[:15], "%Y%m%d-%H%M%S").isoformat() if _has_timestamp(path.name) else ""
    if data is None:
        return Snapshot(id=path.stem, path=path, what="", when=when, files=0, size=0, fault="can't be read")
    try:
        source, files = _check_archive(data)
    except _DAMAGE_ERRORS as error:
        fault = _TOO_LARGE_REASON if isinstance(error, _TooLarge) else "is damaged"
        return Snapshot(id=path.stem, path=path, what="", when=when, files=0, size=len(data), fault=fault)
    return Snapshot(id=path.stem, path=path, what=source, when=when, files=files, size=len(data))


def _has_timestamp(name: str) -> bool:
    try:
        datetime.strptime(name[:15], "%Y%m%d-%H%M%S")
    except ValueError:
        return False
    return True


def _damage_error(path: Path) -> DiskError:
    return DiskError(path, "is damaged; nothing was taken from it", hint=_OTHERS_HINT)


# The archive


def _pack_archive(members: Mapping[str, bytes], *, source: str, when: str) -> bytes:
    """Return the archive; the same members and time give the same bytes."""
    manifest = {
        "snapshot": "roamkb",
        "schema": _MANIFEST_SCHEMA,
        "what": source,
        "when": when,
        "files": {name: _manifest_entry(data) for name, data in sorted(members.items())},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_make_info(_MANIFEST_NAME), json.dumps(manifest, indent=1))
        for number, name in enumerate(sorted(members)):
            # numbers: what unpacks archives elsewhere may trip over a name, and over no number
            archive.writestr(_make_info(f"files/{number}"), members[name])
    return out.getvalue()


def _make_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=_NO_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


def _manifest_entry(data: bytes) -> dict[str, object]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


class _TooLarge(ValueError):
    """An archive that would unpack to more bytes than allowed."""


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, dict[str, object]]:
    """Return the manifest; raise one of `_DAMAGE_ERRORS` where it is invalid."""
    parsed = json.loads(b"".join(_inflated_chunks(archive, _MANIFEST_NAME, _MAX_MANIFEST_BYTES)))
    if parsed["snapshot"] != "roamkb" or parsed["schema"] != _MANIFEST_SCHEMA or len(parsed["files"]) > _MAX_FILES:
        raise ValueError("no manifest of ours")
    manifest: dict[str, dict[str, object]] = parsed
    return manifest


def _unpack_archive(data: bytes) -> tuple[dict[str, dict[str, object]], dict[str, bytes]]:
    """Return the manifest and the members; raise one of `_DAMAGE_ERRORS` where they don't agree."""
    members: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = _read_manifest(archive)
        for name, chunks in _open_members(archive, manifest["files"]):
            members[name] = b"".join(chunks)
    return manifest, members


def _check_archive(data: bytes) -> tuple[str, int]:
    """Return an archive's source and number of files, after comparing all and keeping none of it."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = _read_manifest(archive)
        for _, chunks in _open_members(archive, manifest["files"]):
            for _ in chunks:
                pass
    return str(manifest["what"]), len(manifest["files"])


def _open_members(archive: zipfile.ZipFile, files: Mapping[str, object]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each member's name with its bytes in pieces, which raise at their end if they don't match."""
    if len(archive.namelist()) != len(files) + 1:
        raise ValueError("members that the manifest doesn't name")
    sizes = [int(manifest_entry["size"]) for manifest_entry in files.values() if isinstance(manifest_entry, dict)]
    if any(size < 0 for size in sizes) or sum(sizes) > _MAX_ARCHIVE_BYTES:
        raise _TooLarge
    for number, name in enumerate(sorted(files)):
        yield name, _verified_chunks(archive, f"files/{number}", files[name])


def _verified_chunks(archive: zipfile.ZipFile, name: str, manifest_entry: object) -> Iterator[bytes]:
    """Yield a member's bytes, no more than the manifest says, and raise unless they match it."""
    limit = int(manifest_entry["size"]) if isinstance(manifest_entry, dict) else 0
    size, digest = 0, hashlib.sha256()
    for chunk in _inflated_chunks(archive, name, limit):
        size += len(chunk)
        digest.update(chunk)
        yield chunk
    if {"size": size, "sha256": digest.hexdigest()} != manifest_entry:
        raise ValueError("a member isn't what the manifest says")


def _inflated_chunks(archive: zipfile.ZipFile, name: str, limit: int) -> Iterator[bytes]:
    """Yield a member's bytes in pieces, whatever its header claims; raise beyond `limit`."""
    with archive.open(name) as member:
        while chunk := member.read(_CHUNK_SIZE):
            limit -= len(chunk)
            if limit < 0:
                raise ValueError("more bytes than it says")
            yield chunk


def _holds_exactly(data: bytes, members: Mapping[str, bytes]) -> bool:
    """Say whether the archive is whole and holds just those `members`."""
    try:
        return _unpack_archive(data)[1] == members
    except _DAMAGE_ERRORS:
        return False
