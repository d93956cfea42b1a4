"""Facts that only the doctor asks for."""

import os
from pathlib import Path

import pytest

from roamkb.install.store.machine import fts5_version
from roamkb.install.store.machine import is_emacs
from roamkb.journal.store.syncthing import find_syncthing_folder


@pytest.mark.parametrize(("name", "found"), [("emacs", True), ("Emacs-29.4", True), ("bash", False)])
def test_an_emacs_is_known_by_its_name(tmp_path: Path, name: str, found: bool) -> None:
    """Its number may be somebody else's by now."""
    (tmp_path / "self").mkdir()
    (tmp_path / "77").mkdir()
    (tmp_path / "77" / "comm").write_text(f"{name}\n")
    assert found == is_emacs(77, proc=tmp_path)
    assert not is_emacs(78, proc=tmp_path)


def test_without_a_process_table_a_process_is_enough(tmp_path: Path) -> None:
    """On a Mac nobody tells what runs under a number."""
    assert is_emacs(os.getpid(), proc=tmp_path)
    # the highest number that Linux gives is 2^22
    assert not is_emacs(2**22 + 1, proc=tmp_path)


def test_a_number_beyond_all_systems_is_no_reason_to_stop(tmp_path: Path) -> None:
    """A lock link can say anything."""
    assert is_emacs(2**63, proc=tmp_path)


def test_this_sqlite_can_search_text() -> None:
    """Every Python that we test with has FTS5."""
    assert (fts5_version() or "").startswith("3.")


def test_the_newest_place_of_syncthings_configuration_is_read_too(tmp_path: Path) -> None:
    """Versions before 1.27 kept it elsewhere; a link to the notes is the notes."""
    (tmp_path / "roam").mkdir()
    (tmp_path / "link").symlink_to("roam")
    config = tmp_path / ".local" / "state" / "syncthing" / "config.xml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f'<configuration><folder id="r" path="{tmp_path}/link"><maxConflicts>x</maxConflicts></folder></configuration>'
    )
    folder = find_syncthing_folder(tmp_path / "roam", home=tmp_path)
    assert folder is not None
    assert ("r", 0, config) == (folder.label, folder.max_conflicts, folder.config)
    assert None is find_syncthing_folder(tmp_path, home=tmp_path)
