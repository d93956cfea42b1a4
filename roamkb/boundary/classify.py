"""The command `classify`: a folder's kind, with its reason."""

from pathlib import Path

from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import Project
from roamkb.core.request import KbOption
from roamkb.core.request import optional_argument
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassifyRequest:
    """The options of `classify`."""

    folder: str | None = optional_argument("The folder (the current one).", metavar="DIR", values="folders")
    _: KW_ONLY
    kb: KbOption = None


def classify(folder: Path, *, home: Path, account_home: Path, kb_name: str = DEFAULT_KB) -> Project:
    """Return the kind that the installed rule gives to `folder` alone, whatever the session."""
    return classify_folder(folder, find_rule(home, account_home=account_home, kb_name=kb_name))
