"""`classify`: what a folder is, and why."""

from pathlib import Path

from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.folder_evidence import find_rule
from roamkb.core.model import Project
from roamkb.core.request import argument
from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassifyRequest:
    """What `classify` takes."""

    folder: str | None = argument("The folder (the current one).", metavar="DIR")


def classify(folder: Path, *, home: Path, account_home: Path) -> Project:
    """Return what the installed rule says of `folder` alone, whoever asks and from where."""
    return classify_folder(folder, find_rule(home, account_home=account_home))
