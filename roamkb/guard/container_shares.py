"""Folders that a container is shown: its processes aren't behind the wall."""

import re

_MOUNT = r"(?:type|src|source|dst|destination|target)="


def writable_folder(value: str) -> str:
    """Return the folder that a container may write to by a value of `--volume` or `--mount`; empty for none.

    `SOURCE:TARGET[:OPTIONS]`, as `docker run` documents it, or `type=bind,source=SOURCE,target=TARGET[,readonly]`; a
    target alone is a volume of the engine's own.
    """
    if re.match(_MOUNT, value):
        options = dict(part.partition("=")[::2] for part in value.split(","))
        is_closed = any(options.get(name, "false") in ("", "true", "1") for name in ("readonly", "ro"))
        source = options.get("source") or options.get("src") or ""
    else:
        source, _, target = value.partition(":")
        is_closed = not target or "ro" in target.partition(":")[2].split(",")
    return "" if is_closed else source
