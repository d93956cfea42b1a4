"""Folders that a container is shown: its processes aren't behind the wall."""

import re
from collections.abc import Iterator

#: A value of `--mount` begins with any of its keys, a value of `--volume` with a folder or a name.
_MOUNT = r"\"?[A-Za-z][A-Za-z-]*="
_SOURCES = frozenset(("source", "src", "device"))
_YES = frozenset(("", "1", "t", "true"))


def writable_folders(value: str) -> Iterator[str]:
    """Yield the folders that a container may write to by a value of `--volume` or `--mount`.

    `SOURCE:TARGET[:OPTIONS]`, as `docker run` documents it, or `type=bind,source=SOURCE,target=TARGET[,readonly]` in
    any order and case; a target alone is a volume of the engine's own, whose driver may be given a device.
    """
    if not re.match(_MOUNT, value):
        source, _, target = value.partition(":")
        options = target.partition(":")[2].split(",")
        if source and target and ("ro" not in options or "rw" in options):
            yield source
        return
    # CSV: a field may be quoted
    fields = [field.strip('"').removeprefix("volume-opt=") for field in value.split(",")]
    settings = [(key.lower(), setting) for key, _, setting in (field.partition("=") for field in fields)]
    if not any(key in ("readonly", "ro") and setting.lower() in _YES for key, setting in settings):
        yield from (setting for key, setting in settings if key in _SOURCES)
