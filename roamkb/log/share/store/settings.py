"""The settings of shared logs, in the user's state folder: a human makes them, and the wall closes them."""

import json
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.fs.locks import make_private_folder
from roamkb.fs.private_files import read_private_file
from roamkb.fs.private_files import write_private_file


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


def find_settings(path: Path) -> ShareSettings | None:
    """Return the settings of a log; None where it isn't shared.

    Raises:
        DiskError: they can't be read, and nothing is exchanged.
    """
    data = read_private_file(path)
    if not data:
        return None
    try:
        values = json.loads(data)
        settings = ShareSettings(**{field.name: str(values[field.name]) for field in fields(ShareSettings)})
        ProjectKind(settings.kind)
    except (ValueError, TypeError, KeyError) as error:
        hint = "`roamkb share off`, and share the log again"
        raise DiskError(path, "isn't what roamkb wrote", hint=hint) from error
    return settings


def shared_service(path: Path) -> str:
    """Return the service that a log is shared by; empty where it isn't shared."""
    try:
        settings = find_settings(path)
    except DiskError:
        return "that can't be read"
    return settings.service if settings else ""


def save_settings(path: Path, settings: ShareSettings) -> None:
    """Record that a log is shared.

    Raises:
        DiskError, ChangedOnDisk: it is as it was.
    """
    make_private_folder(path.parent)
    values = {field.name: getattr(settings, field.name) for field in fields(ShareSettings)}
    write_private_file(path, json.dumps(values).encode())


def drop_settings(path: Path) -> None:
    """Record that a log isn't shared any more.

    Raises:
        DiskError: it still is.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise DiskError(path, error.strerror or "can't be removed") from error
