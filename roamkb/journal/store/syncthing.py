"""Answers of the human's own Syncthing on whether another machine wrote a file's present version.

The times that a syncer sets are set by `touch`, `cp -p` and `mv` as well. So it is asked, over the loopback
interface, with the key of its configuration: only where that is an address of this machine's, and the
kernel's tables say that a Syncthing of this user's answers there.
"""

import http.client
import json
import os
import time
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from os.path import realpath
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from xml.etree import ElementTree

from roamkb.boundary.store.call_origin import PROC
from roamkb.boundary.store.socket_peers import find_peers
from roamkb.core.errors import DiskError
from roamkb.core.errors import RoamkbError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.files import MissingFile
from roamkb.fs.files import read_file
from roamkb.journal.moments import FolderEntry

#: Where Syncthing keeps its configuration, from HOME on, the newest place first.
_CONFIG_PATHS = (
    ".local/state/syncthing/config.xml",
    ".config/syncthing/config.xml",
    "Library/Application Support/Syncthing/config.xml",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncthingFolder:
    """A folder in Syncthing's configuration on this machine."""

    id: str
    label: str
    path: Path
    max_conflicts: int
    config: Path


def find_syncthing_folder(kb: Path, *, home: Path) -> SyncthingFolder | None:
    """Return the innermost configured folder of Syncthing that holds `kb`; None without one."""
    real = Path(realpath(kb))
    holding = [folder for folder in configured_folders(home) if real.is_relative_to(realpath(folder.path))]
    return max(holding, key=lambda folder: len(realpath(folder.path)), default=None)


def configured_folders(home: Path) -> Iterator[SyncthingFolder]:
    """Yield the folders that Syncthing's configuration names.

    Raises:
        DiskError: it can't be read.
    """
    for config_path in _CONFIG_PATHS:
        yield from _folders_of(home / config_path, home)


def _folders_of(config: Path, home: Path) -> Iterator[SyncthingFolder]:
    data = read_file(config)
    if isinstance(data, MissingFile):
        return
    if isinstance(data, UnreadableFile):
        raise DiskError(data.path, data.reason)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        # the last two where it names an encoding that isn't known
        raise DiskError(config, f"isn't Syncthing's configuration: {error}") from error
    for folder in root.findall("folder"):
        path = folder.get("path", "")
        if path:
            yield SyncthingFolder(
                id=folder.get("id", ""),
                label=folder.get("label") or folder.get("id") or path,
                path=home / path[2:] if path.startswith("~/") else Path(path),
                # Syncthing takes a missing one for 0
                max_conflicts=_parse_count(folder.findtext("maxConflicts", "")),
                config=config,
            )


def _parse_count(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


#: Seconds that one question may take; it answers in milliseconds.
_REQUEST_TIMEOUT: Final = 1.0
_POLL_PAUSE: Final = 0.02
#: Of its answers, far above any.
_MAX_ANSWER_BYTES: Final = 1024 * 1024
#: By which hosts a configuration names this machine.
_LOCAL_HOSTS: Final = frozenset(("", "127.0.0.1", "localhost", "::1", "[::1]", "0.0.0.0", "::", "[::]"))
#: Characters of a device's name by which versions name it.
_SHORT_ID_LENGTH: Final = 7
#: Seconds: times have nanoseconds, numbers of this size don't.
_TIME_TOLERANCE: Final = 0.001


class Syncthing:
    """A Syncthing that carries the notes; one that doesn't answer once isn't asked again."""

    def __init__(self, port: int, key: str, folder: str, *, prefix: str) -> None:
        self._port = port
        self._key = key
        self._folder = folder
        self._prefix = prefix
        self._answers = True
        self._is_known = False

    def is_from_elsewhere(self, entry: FolderEntry, *, is_there: bool) -> bool:
        """Say whether another machine wrote the file's present version, or removed it."""
        file_info = self._file_info(self._prefix + os.fsdecode(entry.path)).get("local")
        if not isinstance(file_info, dict) or file_info.get("modifiedBy") in (None, "", self._own_id):
            return False
        if not is_there:
            return file_info.get("deleted") is True
        if file_info.get("deleted") or file_info.get("size") != entry.size:
            return False
        try:
            modified = datetime.fromisoformat(str(file_info.get("modified"))).timestamp()
        except ValueError:
            return False
        return abs(modified - entry.mtime / 1e9) < _TIME_TOLERANCE

    @cached_property
    def _own_id(self) -> str:
        return str(self._get_json("/rest/system/status").get("myID", ""))[:_SHORT_ID_LENGTH]

    def _file_info(self, name: str) -> Mapping[str, object]:
        if not self._own_id:
            return {}
        query = urlencode({"folder": self._folder, "file": name}, errors="surrogateescape")
        return self._get_json(f"/rest/db/file?{query}")

    def _get_json(self, path: str) -> Mapping[str, object]:
        if not self._answers:
            return {}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_REQUEST_TIMEOUT)
        try:
            connection.connect()
            self._is_known = self._is_known or _is_own_syncthing(connection)
            if not self._is_known:
                self._answers = False
                return {}
            connection.request("GET", path, headers={"X-API-Key": self._key})
            answer = connection.getresponse()
            data = answer.read(_MAX_ANSWER_BYTES)
            if answer.status != http.HTTPStatus.OK:
                # a file that it doesn't know
                return {}
            parsed = json.loads(data)
        except (OSError, http.client.HTTPException, ValueError, RecursionError):
            self._answers = False
            return {}
        finally:
            connection.close()
        return parsed if isinstance(parsed, dict) else {}


def _is_own_syncthing(connection: http.client.HTTPConnection) -> bool:
    """Say whether a Syncthing of this user's holds the other end: any program may listen there."""
    own_address, peer_address = connection.sock.getsockname()[:2], connection.sock.getpeername()[:2]
    deadline = time.monotonic() + _REQUEST_TIMEOUT
    while not (holders := find_peers(peer_address, own_address, PROC)) and time.monotonic() < deadline:
        # nobody holds it before it is accepted
        time.sleep(_POLL_PAUSE)
    for pid in holders:
        with suppress(OSError):
            if "syncthing" in (PROC / str(pid) / "comm").read_text(errors="replace"):
                return True
    return False


def find_syncthing(kb: Path, *, home: Path) -> Syncthing | None:
    """Return the Syncthing of this machine that carries the notes; None where none can be asked."""
    try:
        folder = find_syncthing_folder(kb, home=home)
    except RoamkbError:
        return None
    gui = _gui_settings(folder) if folder else None
    if folder is None or gui is None or gui.get("tls") == "true":
        return None
    host, _, port = gui.findtext("address", "").rpartition(":")
    key = gui.findtext("apikey", "")
    if host not in _LOCAL_HOSTS or not port.isdecimal() or not key or not key.isascii():
        return None
    relative_folder = os.path.relpath(os.path.realpath(kb), os.path.realpath(folder.path))
    return Syncthing(int(port[:5]), key, folder.id, prefix="" if relative_folder == "." else f"{relative_folder}/")


def _gui_settings(folder: SyncthingFolder) -> ElementTree.Element | None:
    data = read_file(folder.config)
    return ElementTree.fromstring(data).find("gui") if isinstance(data, bytes) else None
