"""What a human's hand does to notes between two looks: it adds, renames, edits, and leaves most of a note."""

from collections import Counter

from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import Content
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm


def is_like_a_hands(change: EntryChange, content: Content) -> bool:
    """Say whether a change takes so little away that a human's edit explains it; `content` reads an entry."""
    was, now = change.was, change.now
    if was is None:
        return True
    if now is None:
        # the files in it are changes of their own
        return was.form is EntryForm.FOLDER
    if was.form is not now.form:
        return False
    if change.what is not ChangeKind.CHANGED:
        return True
    before, after = content(was), content(now)
    return (
        was.form is EntryForm.FILE and before is not None and after is not None and keeps_most(before, after)
    )


def keeps_most(before: bytes, after: bytes) -> bool:
    """Say whether at least half of a text's lines are still there, or half the size of what is no text.

    On notes of all kinds every small edit keeps them, nine of ten cuts of a section, and no encryption.
    """
    if not _is_text(before):
        return 2 * len(after) >= len(before)
    if _is_cut(before, after):
        return False
    lines = _lines(before)
    return 2 * (lines & _lines(after)).total() >= lines.total()


def _is_cut(before: bytes, after: bytes) -> bool:
    """Say whether a text ends in the middle of one of its lines, where nobody's hand would end it."""
    ends = after.endswith(b"\n") or before[len(after) : len(after) + 1] in (b"", b"\r", b"\n")
    return not ends and before.startswith(after)


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _lines(data: bytes) -> Counter[bytes]:
    return Counter(filter(None, map(bytes.strip, data.splitlines())))
