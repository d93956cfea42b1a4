"""What is found on a machine whose files say anything."""

from pathlib import Path

import pytest

from roamkb.install.store.discovery import find_notes


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (".emacs", b'(setq org-roam-directory "/a\0b")'),
        (".emacs", b'(setq org-roam-directory "/%s")' % (b"a" * 3000)),
        (".config/syncthing/config.xml", b'<?xml version="1.0" encoding="nowhere"?><a/>'),
        (".config/syncthing/config.xml", b'<?xml version="1.0" encoding="utf-7"?><a/>'),
    ],
)
def test_a_file_that_names_nonsense_names_no_notes(tmp_path: Path, name: str, data: bytes) -> None:
    """The others are found all the same."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.org").write_text(":PROPERTIES:\n:ID:       a\n:END:\n#+title: A\n")
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    assert [tmp_path / "notes"] == [found.path for found in find_notes(tmp_path, kb=tmp_path / "none")]
