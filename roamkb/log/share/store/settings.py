"""The settings of shared logs, in the user's state folder: a human makes them, and the wall closes them."""

import json
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.digests import sha256
from roamkb.core.text import one_line
from roamkb.core.unreadable_file import UnreadableFile
from roamkb.fs.append import read_bytes
from roamkb.fs.files import MissingFile
from roamkb.fs.files import read_file
from roamkb.fs.files import write_private_file
from roamkb.fs.locks import make_private_folder

_MOST_SERVICE_BYTES = 1024 * 1024


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
    #: The digest of the section as the human agreed to it, without its password; empty before.
    section: str = ""

    @property
    def parameters(self) -> dict[str, str]:
        """What the section says.

        Raises:
            UsageError: there is none. DiskError: the file can't be read.
        """
        return read_section(Path(self.service_file), self.service)


def read_section(path: Path, service: str) -> dict[str, str]:
    """Return the parameters of a section of libpq's service file, read as libpq does.

    Raises:
        UsageError: there is no such section, or one that leads elsewhere. DiskError: it can't be read.
    """
    content = read_file(path, limit=_MOST_SERVICE_BYTES)
    if isinstance(content, UnreadableFile):
        raise DiskError(path, content.reason)
    lines = [] if isinstance(content, MissingFile) else content.decode("utf-8", "replace").splitlines()
    parameters: dict[str, str] = {}
    is_inside = was_inside = False
    for line in map(str.strip, lines):
        if line.startswith("["):
            # the first of that name counts
            is_inside = line == f"[{service}]" and not was_inside
            was_inside = was_inside or is_inside
        elif is_inside and line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals or name in ("service", "conninfo"):
                raise UsageError(f"the section {one_line(service)} of {path} says {one_line(name)}, which won't do")
            parameters.setdefault(name, value)
    if not was_inside:
        raise UsageError(
            f"{path} has no section {one_line(service)}",
            hint="put a section of that name into it; docs/log-and-pipeline.md shows one",
        )
    return parameters


def section_digest(parameters: dict[str, str]) -> str:
    """Return a digest by which a section is known again; its password may change."""
    said = sorted((name, value) for name, value in parameters.items() if name != "password")
    return sha256(json.dumps(said).encode()).hexdigest()


def find_settings(path: Path) -> ShareSettings | None:
    """Return the settings of a log; None where it isn't shared.

    Raises:
        DiskError: they can't be read, and nothing is exchanged.
    """
    data = read_bytes(path)
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
