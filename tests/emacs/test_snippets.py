"""What we ship for Emacs and Syncthing, and the example knowledge base, before real org-roam."""

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from roamkb.install.snippets import EMACS_SETTING
from roamkb.install.snippets import FIRST_TITLE
from roamkb.install.snippets import STIGNORE_TEXT
from roamkb.install.snippets import first_node
from roamkb.kb.notes.store.init_files import find_configured_paths

_KB = Path(__file__).parents[2] / "fixtures" / "kb"
_COPY = "20241002101500-sqlite_in_wal_mode.sync-conflict-20260411-081203-K7QX2MD.org"

OrgRoam = Callable[..., dict[str, Any]]


def test_the_example_is_indexed_without_a_warning(tmp_path: Path, org_roam: OrgRoam) -> None:
    """All but the conflict copy, which has the id of its original."""
    kb = tmp_path / "kb"
    shutil.copytree(_KB, kb)
    assert ["sqlite_in_wal_mode" in str(warning) for warning in org_roam(kb)["warnings"]] == [True]
    (kb / _COPY).unlink()
    tables = org_roam(kb)
    assert tables["warnings"] == []
    assert tables["files_not_indexed"] == []
    assert len(tables["nodes"]) > 40


def test_the_first_note_is_a_node_of_the_humans(tmp_path: Path, org_roam: OrgRoam) -> None:
    """It has its id, its title, and no tag."""
    kb = tmp_path / "kb"
    kb.mkdir()
    note = first_node("01975b7a-0000-7d10-8f2a-5b6c7d8e9f01", datetime(2026, 6, 10, 14, 29))
    (kb / "20260610142900-about.org").write_text(note)
    tables = org_roam(kb)
    assert [node["title"] for node in tables["nodes"]] == [FIRST_TITLE]
    assert [node["id"] for node in tables["nodes"]] == ["01975b7a-0000-7d10-8f2a-5b6c7d8e9f01"]
    assert tables["tags"] == []
    assert tables["warnings"] == []


_ASK = """
(load (expand-file-name "roamkb.el"))
(setq org-roam-directory (expand-file-name "kb") org-roam-db-location (expand-file-name "db"))
(require 'org-roam)
(org-roam-db-sync)
(princ (format "files=%S\\n" (mapcar (lambda (f) (file-relative-name f "kb")) (org-roam-list-files))))
(with-temp-file "kb/new.org"
  (insert ":PROPERTIES:\\n:ID:       new\\n:END:\\n#+title: New\\n"))
(roamkb-sync)
(princ (format "new=%S\\n" (caar (org-roam-db-query [:select title :from nodes :where (= id "new")]))))
(with-temp-file "other.org" (insert "* Mine"))
(princ (format "revert=%S other=%S all=%S timer=%S\\n"
               (with-current-buffer (find-file-noselect "kb/new.org") auto-revert-mode)
               (with-current-buffer (find-file-noselect "other.org") (bound-and-true-p auto-revert-mode))
               (bound-and-true-p global-auto-revert-mode)
               (timerp roamkb-sync-timer)))
(setq org-cite-global-bibliography (list (concat "~/" "refs \\"a\\"" ".bib")) org-roam-dailies-directory (concat "d" "/"))
(roamkb-write-settings)
(princ (format "locks=%S\\n" (and (string-match "^(setq create-lockfiles '\\\\(.*\\\\))$" (roamkb-settings-text))
                                (match-string 1 (roamkb-settings-text)))))
(setq create-lockfiles nil)
(princ (format "unlocked=%S\\n" (and (string-match-p "^(setq create-lockfiles 'nil)$" (roamkb-settings-text)) t)))
(setq byte-compile-error-on-warn t)
(princ (format "compiles=%S\\n" (byte-compile-file "roamkb.el")))
"""


def test_the_emacs_setting_does_what_it_says(tmp_path: Path, org_roam: OrgRoam) -> None:
    """Conflict copies and old versions stay out, a new note comes in, and nothing is left to warn of."""
    kb = tmp_path / "kb"
    shutil.copytree(_KB, kb)
    org_roam(kb)  # skips where there is no org-roam
    for folder in (".stversions", "data"):
        (kb / folder).mkdir()
        shutil.copy(kb / "20230218080005-sourdough.org", kb / folder / "old.org")
    (tmp_path / "roamkb.el").write_text(EMACS_SETTING)
    (tmp_path / "ask.el").write_text(_ASK)
    (tmp_path / ".emacs.d").mkdir()
    done = subprocess.run(
        [os.environ.get("EMACS", "emacs"), "--batch", "--no-init-file", "-f", "package-activate-all",
         "-l", "ask.el"],
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    answers = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert "sync-conflict" not in answers["files"]
    assert "old.org" not in answers["files"]
    assert "sourdough" in answers["files"]
    assert '"New"' == answers["new"]
    assert answers["revert"] == "t other=nil all=nil timer=t", "what else is open is its owner's to follow"
    assert answers["compiles"] == "t"
    assert ('"t"', "t") == (answers["locks"], answers["unlocked"])
    # what Emacs computed is known to roamkb
    assert (tmp_path / 'refs "a".bib',) == find_configured_paths(tmp_path, kb, "org-cite-global-bibliography")
    assert (kb / "d",) == find_configured_paths(tmp_path, kb, "org-roam-dailies-directory")
    assert (kb,) == find_configured_paths(tmp_path, kb, "org-roam-directory")
    assert "Warning" not in done.stderr


def test_the_stignore_lines_hide_no_note() -> None:
    """Each is a pattern in Syncthing's own words, and none takes an org file."""
    lines = [line for line in STIGNORE_TEXT.splitlines() if not line.startswith("//")]
    assert ".#*" in lines
    assert not any(line.endswith(".org") or line.startswith("#include") for line in lines)
