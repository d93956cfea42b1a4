"""The settings of shared logs, in the user's state folder: a human makes them, and the wall closes them."""

import contextlib
import json
from pathlib import Path
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.model import ProjectKind
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.fs.files import MissingFile
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import read_file
from roamkb.fs.files import swap_file
from roamkb.fs.locks import LOCKS
from roamkb.fs.locks import hold_lock
from roamkb.fs.locks import make_private_folder

_LOCK: Final = "shared.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSettings:
    """One log as a human shares it."""

    #: The section of libpq's service file.
    service: str
    #: That file.
    service_file: str
    #: What the service is for, work or personal, as its tables and the human say it.
    kind: str
    #: What the project is called there.
    project: str
    #: By which its tables are known again.
    service_id: str

    @property
    def project_kind(self) -> ProjectKind:
        """The kind of projects that the service is for."""
        return ProjectKind(self.kind)


def find_settings(path: Path) -> ShareSettings | None:
    """Return the settings of a log; None where it isn't shared.

    Raises:
        DiskError: they can't be read, and nothing is exchanged.
    """
    data = read_file(path)
    if isinstance(data, MissingFile):
        return None
    if isinstance(data, UnreadableFile):
        raise DiskError(path, data.reason)
    try:
        values = json.loads(data)
        settings = ShareSettings(**{field.name: str(values[field.name]) for field in fields(ShareSettings)})
        is_known = settings.project_kind is not ProjectKind.UNKNOWN
    except (ValueError, TypeError, KeyError):
        is_known = False
    if not is_known:
        raise DiskError(path, "isn't what roamkb wrote", hint="`roamkb share off`, and share the log again")
    return settings


def shared_service(path: Path) -> str:
    """Return the service that a log is shared by; empty where it isn't shared, or that can't be read."""
    try:
        settings = find_settings(path)
    except DiskError:
        return "that can't be read"
    return settings.service if settings else ""


def save_settings(path: Path, settings: ShareSettings) -> None:
    """Record that a log is shared.

    Raises:
        DiskError, Busy: it is as it was.
    """
    folder = make_private_folder(path.parent)
    data = json.dumps({field.name: getattr(settings, field.name) for field in fields(ShareSettings)}).encode()
    with hold_lock(folder.parent / LOCKS / _LOCK):
        recorded = read_file(path)
        if isinstance(recorded, MissingFile):
            create_file(folder, path.name, data, mode=0o600)
        elif isinstance(recorded, bytes):
            swap_file(path, data, expected_digest=content_digest(recorded), lock=contextlib.nullcontext())
        else:
            raise DiskError(path, recorded.reason)


def drop_settings(path: Path) -> bool:
    """Record that a log isn't shared any more; return whether it was.

    Raises:
        DiskError: it still is.
    """
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DiskError(path, error.strerror or "can't be removed") from error
    return True
