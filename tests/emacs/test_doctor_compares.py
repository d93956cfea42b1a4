"""`doctor` compares roamkb's nodes with the person's own org-roam, which it never touches."""

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from roamkb.install.checks.doctor_org import check_org
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.kb.notes.store.notes import Notes
from roamkb.org.writer import NodeDraft
from roamkb.org.writer import render_node

_KB = Path(__file__).parents[2] / "fixtures" / "kb"
_NEWER = "#+title: Two\n#+title: lines\n"


def _compare(kb: Path, home: Path, **options: Any) -> DoctorCheck:
    notes = Notes(kb, **options)
    return next(check for check in check_org(notes, notes.read_all(), home=home) if check.name == "org-roam")


def test_nodes_are_compared_with_real_org_roams(tmp_path: Path, org_roam: Callable[..., dict[str, Any]]) -> None:
    """All of the files that it has seen as they are; a difference is named, and its database stays as it is."""
    kb, home = tmp_path / "kb", tmp_path / "home"
    shutil.copytree(_KB, kb)
    next(kb.glob("*.sync-conflict-*")).unlink()
    # org-roam has the breaks of an agent's names, and prints a tab as a number
    draft = NodeDraft(
        id="tests",
        created=datetime(2026, 6, 10),
        agent="a",
        project="",
        source="observed",
        title="In bash [[ -n $x ]]\u200b holds",
        aliases=("shell:bash test",),
        body="",
    )
    (kb / "tests.org").write_text(render_node(draft))
    (kb / "tab.org").write_text(":PROPERTIES:\n:ID: tab\n:END:\n#+title: a\tb\n")
    (kb / "two.org").write_text(f":PROPERTIES:\n:ID: two\n:END:\n{_NEWER}")
    (kb / "doing.org").write_text('* DOING "Tea" \\ more\n:PROPERTIES:\n:ID: doing\n:END:\n')
    # org-roam takes it for org-attach's folder
    (kb / "metadata").mkdir()
    (kb / "metadata" / "left.org").write_text(":PROPERTIES:\n:ID: left\n:END:\n#+title: Left out\n")
    org_roam(kb)
    database = home / "own" / "roam.db"
    database.parent.mkdir(parents=True)
    shutil.copy(tmp_path / ".kb.org-roam" / "org-roam.db", database)
    (home / ".emacs").write_text('(setq org-roam-db-location (expand-file-name "own/roam.db" (getenv "HOME")))')
    before = database.read_bytes()

    found = _compare(kb, home)
    count, total = found.detail.removeprefix("agrees: ").partition(" nodes")[0].split(" of ")
    assert (found.ok, count, int(total) > 40) == (True, total, True)
    assert "with org-roam 2.2 (" in found.detail
    assert "roamkb follows 2.3 for titles" in found.detail
    assert "; not there, and found by agents: metadata/left.org (" in found.detail
    assert "changed since it looked" not in found.detail

    (kb / "two.org").write_text(f":PROPERTIES:\n:ID: two\n:END:\n{_NEWER}More.\n")
    (kb / "new.org").write_text(":PROPERTIES:\n:ID: new\n:END:\n#+title: New\n")
    changed = _compare(kb, home).detail
    assert "; 1 note changed since it looked; not there, and found by agents: metadata/left.org; new.org (" in changed
    # another setting of the person's
    assert 'Tea" \\ more (doing): title, todo' in _compare(kb, home, todo_lines=("TODO DOING | DONE",)).detail
    assert before == database.read_bytes()
    assert [database] == list(database.parent.iterdir())
