"""Ids that lie outside of the knowledge base, as Emacs remembers them: its `org-id-locations-file`.

org-roam opens a link to such an id, so that it is no dead link. What the file says of the notes themselves may be
long gone; they are looked at.
"""

import contextlib
import os
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import read_file
from roamkb.kb.notes.store.init_files import find_configured_paths

#: Below the user's home, where no setting says otherwise: Emacs' default, the one of the XDG base directories, Doom's.
_LOCATIONS = (
    ".emacs.d/.org-id-locations",
    ".config/emacs/.org-id-locations",
    ".config/emacs/.local/cache/.org-id-locations",
)
#: More than a hundred thousand ids take.
_LONGEST = 64 * 2**20
_STRING = r'"(?:[^"\\]|\\.)*+"'
#: A list of a file and its ids, as `org-id-locations-save` prints it.
_FILE_WITH_IDS = lazily(rf"\(\s*({_STRING})((?:\s+{_STRING})*+)\s*\)")
_TEXT = lazily(_STRING)
_ESCAPE = lazily(r"\\(.)")


def ids_outside(home: Path, kb: Path) -> dict[str, Path]:
    """Return the ids in files outside of `kb` that are there, each with its file; none where Emacs keeps none."""
    files_by_id: dict[str, Path] = {}
    configured = find_configured_paths(home, kb, "org-id-locations-file")
    for place in (*(home / name for name in _LOCATIONS), *configured):
        data = read_file(place, limit=_LONGEST)
        text = "" if isinstance(data, UnreadableFile) else data.decode(errors="replace")
        for written_file, written_ids in _FILE_WITH_IDS.findall(text):
            file = _expand(_plain_text(written_file), home, place.parent)
            if _is_outside(file, kb):
                files_by_id |= dict.fromkeys(map(_plain_text, _TEXT.findall(written_ids)), file)
    return files_by_id


def _is_outside(file: Path, kb: Path) -> bool:
    # no file has a NUL in its name
    with contextlib.suppress(OSError, ValueError):
        return file.is_file() and not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(kb))
    return False


def _plain_text(written: str) -> str:
    return _ESCAPE.sub(r"\1", written[1:-1])


def _expand(name: str, home: Path, folder: Path) -> Path:
    """Return the path of a file; Emacs writes one below home with `~/`, and a relative one from its own file."""
    return home / name[2:] if name.startswith("~/") else folder / name
