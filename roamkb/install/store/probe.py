"""Harnesses on this machine: where their settings are, where our command is, and whether a hook answers."""

import json
import os
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.harnesses.harness import Harness

#: A note that a hook has to deny.
_NOTE = "20000101000000-roamkb_doctor.org"
#: Far above what a hook needs on a slow machine.
_PATIENCE = 20.0


def find_program(home: Path, search_path: str, interpreter: Path) -> Path | None:
    """Return the command that hooks are to run, by its absolute path; None where there is none.

    A hook whose program isn't on the harness's PATH is skipped without a word, so that the place
    where `make install` puts it comes first, then the PATH, then this Python's own environment.
    """
    found = which("roamkb", path=search_path)
    places = (home / ".local" / "bin" / "roamkb", Path(found or "/"), interpreter.with_name("roamkb"))
    return next((place for place in places if place.is_absolute() and program_fault(place) is None), None)


def program_fault(program: Path, search_path: str = "") -> str | None:
    """Return why a harness can't run `program`; None where it can."""
    if not program.is_absolute():
        return None if which(str(program), path=search_path) else f"{program} isn't on the PATH"
    if not program.exists():
        return f"{program} is missing"
    if not program.is_file() or not os.access(program, os.X_OK):
        return f"{program} can't be executed"
    return None


def is_read_only(path: Path) -> bool:
    """Say whether somebody took away the right to write to `path`, be it from root as well."""
    try:
        return not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    except OSError:
        return False


def probe(words: Sequence[str], harness: Harness, *, home: Path, search_path: str, rule: Rule | None) -> str | None:
    """Return what is wrong with how a hook answers; None where nothing is.

    It runs in an empty folder that goes afterwards, and gets an empty payload, about which it keeps
    nothing. The hook before a tool gets one that it has to deny: a note written from that folder.
    """
    with TemporaryDirectory() as folder:
        is_wall = "pre-tool-use" in words and rule is not None
        note = str(rule.kb / _NOTE) if rule else ""
        payload = harness.probe_payload(folder, note) if is_wall else {}
        try:
            done = subprocess.run(
                [which(words[0], path=search_path) or words[0], *words[1:]],
                input=json.dumps(payload).encode(),
                capture_output=True,
                timeout=_PATIENCE,
                cwd=folder,
                env={
                    "HOME": str(home),
                    "PATH": search_path,
                    "PWD": folder,
                    # whatever it notes down goes with the folder
                    "XDG_STATE_HOME": folder,
                    "XDG_CACHE_HOME": folder,
                },
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"doesn't answer within {_PATIENCE:.0f} s"
        except OSError as error:
            return f"can't be run: {error.strerror or error}"
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = None
        if done.returncode or not isinstance(answer, dict):
            return f"answers no JSON (status {done.returncode})"
        may_write = rule is None or classify_folder(Path(folder), rule).kind is ProjectKind.PERSONAL
        if is_wall and not may_write and not harness.is_denial(answer):
            return "lets a session that may not write into the knowledge base"
    return None
