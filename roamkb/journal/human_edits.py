"""Signs of a human's edit to a note: lines added, renamed or edited, most of the note kept."""

from collections import Counter

from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import EntryForm
from roamkb.journal.moments import ReadContent


def is_human_like_edit(change: EntryChange, read_content: ReadContent) -> bool:
    """Say whether a change removes so little that a human's edit explains it."""
    old_entry, new_entry = change.was, change.now
    if old_entry is None:
        return True
    if new_entry is None:
        # the files in it are changes of their own
        return old_entry.form is EntryForm.FOLDER
    if old_entry.form is not new_entry.form:
        return False
    if change.what is not ChangeKind.CHANGED:
        return True
    before, after = read_content(old_entry), read_content(new_entry)
    return (
        old_entry.form is EntryForm.FILE
        and before is not None
        and after is not None
        and keeps_most_lines(before, after)
    )


def keeps_most_lines(before: bytes, after: bytes) -> bool:
    """Say whether at least half of a text's lines remain, or half the size of what is no text.

    On notes of all kinds every small edit keeps them, nine of ten cuts of a section, and no encryption.
    """
    if not _is_text(before):
        return 2 * len(after) >= len(before)
    if _is_cut(before, after):
        return False
    lines = _count_lines(before)
    return 2 * (lines & _count_lines(after)).total() >= lines.total()


def _is_cut(before: bytes, after: bytes) -> bool:
    """Say whether a text ends in the middle of one of its lines, where no human would end it."""
    ends = after.endswith(b"\n") or before[len(after) : len(after) + 1] in (b"", b"\r", b"\n")
    return not ends and before.startswith(after)


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _count_lines(data: bytes) -> Counter[bytes]:
    return Counter(filter(None, map(bytes.strip, data.splitlines())))
