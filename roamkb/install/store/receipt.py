"""The receipt of `setup`: what it made that wasn't there before, so that it can be taken back.

It lies in the state folder. What it names is removed only if it is still as setup made it, so that a receipt
that somebody else wrote removes nothing of value.
"""

import json
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar

from roamkb.core.errors import DiskError
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.files import MissingFile
from roamkb.fs.files import content_digest
from roamkb.fs.files import create_file
from roamkb.fs.files import read_file
from roamkb.fs.files import swap_file
from roamkb.fs.locks import SETUP_RECEIPT
from roamkb.fs.locks import make_private_folder
from roamkb.harnesses.registry import NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupReceipt:
    """What setup made, all calls together."""

    #: Folders, the innermost first.
    folders: tuple[Path, ...] = ()
    #: Roots of the projects whose log it began.
    logs: tuple[Path, ...] = ()
    #: The first note of a knowledge base.
    notes: tuple[Path, ...] = ()
    #: Files with a block of the rule's gist, and folders with snippets.
    agents_md: tuple[Path, ...] = ()
    snippets: tuple[Path, ...] = ()
    #: Names of the harnesses whose settings it changed.
    harnesses: tuple[str, ...] = ()
    #: Whether a rule was there before the first call, which then isn't setup's to take away.
    had_rule: bool = False

    def merge(self, later: "SetupReceipt") -> "SetupReceipt":
        """Return what both made."""
        return SetupReceipt(
            folders=tuple(sorted({*self.folders, *later.folders}, key=lambda path: -len(path.parts))),
            logs=_united(self.logs, later.logs),
            notes=_united(self.notes, later.notes),
            agents_md=_united(self.agents_md, later.agents_md),
            snippets=_united(self.snippets, later.snippets),
            harnesses=_united(self.harnesses, later.harnesses),
            had_rule=self.had_rule,
        )


#: The fields that hold paths.
_PATHS = ("folders", "logs", "notes", "agents_md", "snippets")
Entry = TypeVar("Entry")


def _united(entries: Iterable[Entry], later: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(dict.fromkeys((*entries, *later)))


def read_receipt(state: Path) -> SetupReceipt | None:
    """Return the receipt; None where setup made nothing here.

    Raises:
        DiskError: it can't be read.
    """
    path = state / SETUP_RECEIPT
    data = read_file(path)
    if isinstance(data, MissingFile):
        return None
    if isinstance(data, UnreadableFile):
        raise DiskError(path, data.reason)
    try:
        entries = json.loads(data)
        paths = {name: tuple(map(Path, entries[name])) for name in _PATHS}
        if any("\0" in str(path) or not path.is_absolute() for named in paths.values() for path in named):
            raise ValueError("no path of setup's")
        harnesses = tuple(name for name in map(str, entries["harnesses"]) if name in NAMES)
        return SetupReceipt(**paths, harnesses=harnesses, had_rule=bool(entries.get("had_rule")))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DiskError(
            path, "isn't what roamkb wrote", hint="remove it; `roamkb uninstall` takes the rule and hooks away"
        ) from error


def save_receipt(state: Path, receipt: SetupReceipt) -> None:
    """Add `receipt` to the one that is there.

    Raises:
        DiskError: it can't be kept.
    """
    known = read_receipt(state)
    receipt = known.merge(receipt) if known else receipt
    if receipt == known:
        return
    paths = {name: list(map(str, getattr(receipt, name))) for name in _PATHS}
    others = {"harnesses": receipt.harnesses, "had_rule": receipt.had_rule}
    data = json.dumps({**paths, **others}, ensure_ascii=False, indent=1).encode() + b"\n"
    make_private_folder(state)
    path = state / SETUP_RECEIPT
    held = read_file(path)
    if isinstance(held, bytes):
        swap_file(path, data, expected_digest=content_digest(held), lock=nullcontext())
    else:
        create_file(state, SETUP_RECEIPT, data, mode=0o600)
