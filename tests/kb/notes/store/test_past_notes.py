"""The reader of notes of a past moment."""

from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.past_notes import PastFolder
from roamkb.kb.notes.store.past_notes import PastNotes


def test_files_that_differed_are_read_as_they_were(tmp_path: Path) -> None:
    """Others, set-up files among them, are read from the disk; what nobody kept is a value."""
    (tmp_path / "same.org").write_text("#+title: same\n")
    (tmp_path / "other.org").write_text("#+title: new\n")
    lost = UnreadableFile(path=tmp_path / "lost.org", reason="gone")
    past = PastFolder(
        versions={"other.org": b"#+title: old\n", "lost.org": lost}, absent=frozenset(), dated={}, until="2026-06-10"
    )
    notes = PastNotes(Notes(tmp_path), past)
    assert b"#+title: same\n" == notes.read_data(str(tmp_path / "same.org"))
    assert "#+title: old\n" == notes.setup_text("other.org")
    assert lost == notes.read_note(notes.changed_files["lost.org"])
    # once: the present is walked for both
    assert ["other.org", "same.org"] == [file.file for file in notes.kb_walk.files]
