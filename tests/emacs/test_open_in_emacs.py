"""The page's button "Open in Emacs", before real org-roam: its address opens the note, whatever the id."""

import os
import re
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from roamkb.app.server import ServedKnowledgeBase
from roamkb.interfaces.page.node_page import view_note
from tests.conftest import World

_OPEN = """
(require 'org-roam)
(require 'org-roam-protocol)
(setq org-roam-directory (getenv "ROAM") org-roam-db-location (getenv "DB"))
(org-roam-db-sync)
;; as emacsclient passes it on
(org-protocol-check-filename-for-protocol
 (replace-regexp-in-string "^org-protocol:/+" "org-protocol:/" (getenv "ADDRESS")) nil nil)
(princ (file-name-nondirectory (buffer-file-name (window-buffer))))
"""


@pytest.mark.parametrize("id", ["01975b7a-0000-7d10-8f2a-5b6c7d8e9f01", "a b/c&d=é+%41"])
def test_the_button_opens_the_note(
    id: str, world: World, org_roam: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """An id of org's own, and one that an address has to quote."""
    world.node("other.org", "other", "Another")
    world.node("meant.org", id, "Meant")
    request = Request({"type": "http", "query_string": b"name=meant.org", "headers": []})
    _, html = view_note(ServedKnowledgeBase(world.open().environment), request)
    address = re.search(r'href="(org-protocol:.*?)"', html)
    assert address
    # skips where there is no Emacs with org-roam
    assert {id, "other"} == {node["id"] for node in org_roam(world.kb)["nodes"]}
    environment = {"ROAM": str(world.kb), "DB": str(tmp_path / "db"), "ADDRESS": unescape(address[1])}
    emacs = [os.environ.get("EMACS", "emacs"), "--batch", "--no-init-file", "--eval", f"(progn {_OPEN})"]
    opened = subprocess.run(
        emacs,
        env=os.environ | environment | {"HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "meant.org" == opened.stdout, opened.stderr
