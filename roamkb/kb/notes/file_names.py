"""File names: which files are notes or copies, and new notes' names (docs/architecture.md)."""

import re
import unicodedata
from datetime import datetime
from pathlib import PurePosixPath

from roamkb.core.errors import UsageError
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line

#: Syncthing itself takes any name that holds this for a conflict copy.
CONFLICT_MARK = ".sync-conflict-"
#: File systems stop at 255 bytes; syncers and editors put some of their own before and behind.
LONGEST_NAME = 200

#: The device came with Syncthing 0.14.29; the ending is the last one only.
_CONFLICT = lazily(
    r"(?P<stem>.*)\.sync-conflict-\d{8}-\d{6}(?:-[A-Z2-7]{7})?(?P<ending>\.[^.]*)?", re.ASCII | re.DOTALL
)
_ENCRYPTED = (".org.gpg", ".org.age")
#: What some system or syncer refuses in a name; org-roam's slugs hold none of it.
#: Beside NUL, halves of characters but for those by which Python has bytes of a name that are no UTF-8.
_NOWHERE = lazily("[\ud800-\udc7f\udd00-\udfff]")
_UNFIT = lazily('[/\\\\<>:"|?*\x00-\x1f\x7f\ud800-\udfff]')


def require_name(name: str, label: str) -> str:
    """Return a name or path unchanged, or raise where no file system or UTF-8 could hold it."""
    # the pattern takes long to compile, and no ASCII name needs it
    if "\0" in name or (not name.isascii() and _NOWHERE.search(name)):
        raise UsageError(
            f"{label} {one_line(name)} holds {'a NUL' if chr(0) in name else 'half a character'}",
            hint="names and paths are text; give it without",
        )
    return name


def is_note(relative: PurePosixPath | str) -> bool:
    """Say whether a file at `relative` in a knowledge base is a note, by its name alone."""
    *folders, name = str(relative).split("/")
    return is_note_name(name) and all(map(is_note_folder, folders))


def conflict_original(name: str) -> str | None:
    """Return the name of the file that the conflict copy `name` was made from; None if it is unclear."""
    match = _CONFLICT.fullmatch(name)
    return match["stem"] + (match["ending"] or "") if match else None


def is_note_name(name: str) -> bool:
    """Say whether a file called `name`, in a folder that may hold notes, is a note."""
    return name.endswith(".org") and name[0] not in ".#" and CONFLICT_MARK not in name


def is_encrypted_name(name: str) -> bool:
    """Say whether a file called `name` is an encrypted note."""
    return name.endswith(_ENCRYPTED) and not name.startswith((".", "#")) and CONFLICT_MARK not in name


def is_note_folder(name: str) -> bool:
    """Say whether a folder called `name` may hold notes; `data` is org-attach's."""
    return not name.startswith(".") and name != "data" and CONFLICT_MARK not in name


def is_unseen_in_emacs(path: str) -> bool:
    """Say whether org-roam by default ignores `path`: it looks for `data/` anywhere in it."""
    return "data/" in path


def is_seen_in_emacs_alone(relative: str) -> bool:
    """Say whether org-roam takes a hidden file for a note that roamkb doesn't take for one.

    Copies are told of elsewhere: org-roam sees those of conflicts, and Syncthing's old versions.
    """
    is_reported = CONFLICT_MARK in relative or relative.startswith((".stversions/", ".git/"))
    return relative.endswith(".org") and not (is_reported or is_note(relative) or is_unseen_in_emacs(relative))


def is_copied_note(name: str) -> bool:
    """Say whether `name` is a conflict copy of a note, plain or encrypted."""
    if CONFLICT_MARK not in name:
        return False
    original = conflict_original(name)
    if original is None:
        return name.endswith(".org") and not name.startswith((".", "#"))
    return is_note_name(original) or is_encrypted_name(original) or is_copied_note(original)


def note_name(when: datetime, slug: str, id: str, *, tail: bool = False) -> str:
    """Return org-roam's file name for a new note; `tail` adds the end of its id (D3)."""
    return _stamped_name(when, slug, f"-{id[-4:]}.org" if tail else ".org")


def note_names(when: datetime, slug: str, id: str) -> tuple[str, str, str]:
    """Return file names for a new note, best first; each is used only if those before are taken.

    Of 300 notes of one second and title two share their ids' last four characters; the
    last name has twelve.
    """
    return (
        note_name(when, slug, id),
        note_name(when, slug, id, tail=True),
        _stamped_name(when, slug, f"-{id[-12:]}.org"),
    )


def _stamped_name(when: datetime, slug: str, ending: str) -> str:
    stamp = when.strftime("%Y%m%d%H%M%S").zfill(14)
    room = LONGEST_NAME - len(stamp) - len("-") - len(ending.encode())
    return f"{stamp}-{_safe_slug(slug, room)}{ending}"


def _safe_slug(slug: str, room: int) -> str:
    """Return `slug` safe as a part of a file name, in at most `room` bytes of UTF-8."""
    # Syncthing renames what isn't composed
    safe = unicodedata.normalize("NFC", _UNFIT.sub("_", slug))
    # the canonical queries hide what holds these words
    safe = safe.replace("sync-conflict", "sync_conflict")
    return _clip_bytes(safe, room) or "node"


def _clip_bytes(text: str, room: int) -> str:
    """Return the longest start of `text` within `room` bytes that ends after a whole, accented character."""
    encoded = text.encode()
    if len(encoded) <= room:
        return text
    decoded = encoded[:room].decode(errors="ignore")
    end = len(decoded)
    while end and unicodedata.combining(text[end]):
        end -= 1
    return decoded[:end].rstrip("_")
