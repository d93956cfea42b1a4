"""Probes of a machine's harnesses: settings files, the hook program, and its answer."""

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

#: Below HOME.
CLAUDE_SETTINGS_PATH = Path(".claude", "settings.json")
CODEX_HOOKS_PATH = Path(".codex", "hooks.json")
CODEX_CONFIG_PATH = Path(".codex", "config.toml")

#: Far above what a hook needs on a slow machine.
_PROBE_TIMEOUT = 20.0


def find_program(home: Path, search_path: str, interpreter: Path) -> Path | None:
    """Return the command that hooks are to run, by its absolute path; None where there is none.

    A hook whose program isn't on the harness's PATH is skipped without a word, so that the place
    where `make install` puts it comes first, then the PATH, then this Python's own environment.
    """
    program_on_path = which("roamkb", path=search_path)
    candidates = (home / ".local" / "bin" / "roamkb", Path(program_on_path or "/"), interpreter.with_name("roamkb"))
    return next(
        (candidate for candidate in candidates if candidate.is_absolute() and program_fault(candidate) is None), None
    )


def program_fault(program: Path, search_path: str = "") -> str | None:
    """Return the reason why a harness can't run `program`; None where it can."""
    if not program.is_absolute():
        return None if which(str(program), path=search_path) else f"{program} isn't on the PATH"
    if not program.exists():
        return f"{program} is missing"
    if not program.is_file() or not os.access(program, os.X_OK):
        return f"{program} can't be executed"
    return None


def is_read_only(path: Path) -> bool:
    """Return whether nothing has the right to write to `path`, be it root."""
    try:
        return not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    except OSError:
        return False


def probe_hook(words: Sequence[str], *, home: Path, search_path: str, rule: Rule | None) -> str | None:
    """Return the fault of a hook's answer; None where there is none.

    It runs in an empty folder that goes afterwards, and gets an empty payload, about which it keeps
    nothing. The hook before a tool gets one that it has to deny: a note written from that folder.
    """
    with TemporaryDirectory() as folder:
        is_wall_check = "pre-tool-use" in words and rule is not None
        payload = _forbidden_payload(folder, rule.kb) if is_wall_check and rule else {}
        try:
            process = subprocess.run(
                [which(words[0], path=search_path) or words[0], *words[1:]],
                input=json.dumps(payload).encode(),
                capture_output=True,
                timeout=_PROBE_TIMEOUT,
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
            return f"doesn't answer within {_PROBE_TIMEOUT:.0f} s"
        except OSError as error:
            return f"can't be run: {error.strerror or error}"
        try:
            answer = json.loads(process.stdout)
        except ValueError:
            answer = None
        if process.returncode or not isinstance(answer, dict):
            return f"answers no JSON (status {process.returncode})"
        if is_wall_check and rule and classify_folder(Path(folder), rule).kind is not ProjectKind.PERSONAL:
            decision = answer.get("hookSpecificOutput")
            if not isinstance(decision, dict) or decision.get("permissionDecision") != "deny":
                return "lets a session that may not write into the knowledge base"
    return None


def _forbidden_payload(folder: str, kb: Path) -> dict[str, object]:
    """Return the payload of a call that writes a note from `folder`."""
    return {
        "session_id": "roamkb-doctor",
        "hook_event_name": "PreToolUse",
        "cwd": folder,
        "tool_name": "Write",
        "tool_input": {"file_path": str(kb / "20000101000000-roamkb_doctor.org"), "content": "a probe"},
    }
