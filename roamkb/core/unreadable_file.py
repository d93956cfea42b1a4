"""A file that could not be read; apart from `model`, since hooks that read files need only this."""

from pathlib import Path

from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableFile:
    """A file that could not be read as a note, and why; a value, never a stop."""

    JSON = "path reason"
    path: Path
    reason: str
    #: Whether it is never read, as long as it lies there: `doctor` says so, and no search repeats it.
    is_elsewhere: bool = False
