"""Real org-roam in a batch Emacs, as a fixture."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: The rows of each of org-roam's tables, beside `warnings` and `files_not_indexed`.
Tables = dict[str, Any]

#: Emacs's own status where org-roam can't be loaded (org_roam_dump.el).
_NO_ORG_ROAM = 4

_HERE = Path(__file__).parent

# test modules are imported without their folder, and two of them share `agreement`
sys.path.insert(0, str(_HERE))


class NoOrgRoam(Exception):
    """This machine has no Emacs with org-roam."""


def org_roam_nodes(folder: Path, *, plain: bool = False, newer: bool = False, timezone: str = "UTC") -> Tables:
    """Return all that real org-roam indexes of `folder`.

    `plain` keeps Emacs as it starts: it then obeys or refuses file variables and fetches
    set-up files as it would for a human without any settings. `newer` gives links in drawers
    and keyword lines to the node that they stand in, and a file's first heading its own
    position, and joins several lines of a title, as org-roam 2.3 does.
    """
    emacs = shutil.which(os.environ.get("EMACS", "emacs"))
    if emacs is None:
        raise NoOrgRoam("no Emacs here (Debian: emacs-nox elpa-org-roam)")
    # beside the folder: what is inside it would be indexed
    scratch = folder.parent / f".{folder.name}.org-roam"
    home = scratch / "home" / ".emacs.d"
    home.mkdir(parents=True, exist_ok=True)
    out = scratch / "tables.json"
    out.unlink(missing_ok=True)
    environment = os.environ | {
        "HOME": str(home.parent),
        "TZ": timezone,
        "LC_ALL": "C.UTF-8",
        "DUMP_FOLDER": str(folder),
        "DUMP_OUT": str(out),
        "DUMP_DB": str(scratch / "org-roam.db"),
    }
    for name, wanted in (("DUMP_PLAIN", plain), ("DUMP_NEWER", newer)):
        environment.pop(name, None)
        if wanted:
            environment[name] = "1"
    done = subprocess.run(
        [emacs, "--batch", "--no-init-file", "-l", str(_HERE / "org_roam_dump.el")],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == _NO_ORG_ROAM:
        raise NoOrgRoam("Emacs has no org-roam (Debian: elpa-org-roam elpa-emacsql-sqlite)")
    if done.returncode != 0 or not out.exists():
        raise RuntimeError(f"org-roam failed ({done.returncode}): {done.stderr[-2000:]}")
    tables: Tables = json.loads(out.read_text(encoding="utf-8"))
    return tables


@pytest.fixture
def org_roam() -> Callable[..., Tables]:
    """`org_roam_nodes`, which skips where Emacs or org-roam is missing, and fails if all tests must run."""

    def tables(folder: Path, **options: Any) -> Tables:
        try:
            return org_roam_nodes(folder, **options)
        except NoOrgRoam as missing:
            if os.environ.get("ROAMKB_TEST_ALL") == "1":
                pytest.fail(f"ROAMKB_TEST_ALL=1, but {missing}")
            pytest.skip(f"NOT COMPARED WITH REAL ORG-ROAM: {missing}")

    return tables
