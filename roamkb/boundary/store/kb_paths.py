"""Names of the knowledge bases, read without classifying a folder: hooks ask at every step.

The rules' own words, right or wrong, and those of the last rule that could be read: a broken rule takes no
wall down. This imports next to nothing.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH103, PTH105, PTH118, PTH123

import json
import os
from collections.abc import Sequence

from roamkb.fs.untrusted_files import read_file
from roamkb.fs.user_dirs import default_state_dir
from roamkb.harnesses.registry import declared

(_RULE_PATH,) = declared("rule_files")
_RULE_LIMIT = 1024 * 1024
#: In the state folder: what the rule called the knowledge bases when it could be read.
KEPT_NAMES_FILE = "kb-names.json"


def user_homes() -> list[str]:
    """Return HOME, and the home that the password database names."""
    import pwd

    return list(dict.fromkeys((os.environ.get("HOME") or "/", pwd.getpwuid(os.getuid()).pw_dir)))


def rule_files(homes: Sequence[str] = ()) -> list[str]:
    """Return the possible rule files: in the given homes, or in the usual ones."""
    return [os.path.join(home, _RULE_PATH) for home in homes or user_homes()]


def all_kb_names(homes: Sequence[str] = (), state: str = "") -> list[str]:
    """Return every name that a rule gives or gave to a knowledge base, and their real paths."""
    rule_names = [name for rule in rule_files(homes) for name in _named_paths(rule)]
    saved = saved_kb_names(state or default_state_dir())
    return list(dict.fromkeys(path for name in (*rule_names, *saved) for path in (name, os.path.realpath(name))))


def kb_folders() -> list[str]:
    """Return the real paths of the knowledge bases of the rule that is there, the default's first."""
    names = next((found for rule in rule_files() if (found := _named_paths(rule))), all_kb_names()[:1])
    return list(dict.fromkeys(map(os.path.realpath, names)))


def _named_paths(rule: str) -> list[str]:
    """Return every path in a rule's blocks of knowledge bases, the default's first.

    Of a good rule or a bad one: `rule_file` is exact, and slow.
    """
    try:
        lines = read_file(rule, _RULE_LIMIT).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    home = rule.removesuffix(_RULE_PATH).rstrip("/")
    default_names: list[str] = []
    other_names: list[str] = []
    names: list[str] | None = None
    for line in map(str.strip, lines):
        if line.startswith(("```", "~~~")):
            is_other = "roamkb:kb/" in line
            names = other_names if is_other else default_names if "roamkb:kb" in line else None
        elif names is not None and line.startswith(("/", "~")):
            # `~` is the home that the rule lies in, whatever this process calls its own
            path = home + line[1:] if line.startswith("~/") else os.path.expanduser(line)
            names.append(os.path.normpath(path))
    return default_names + other_names


def save_kb_names(state: str, names: Sequence[str]) -> None:
    """Save the knowledge bases' names, for the time when the rule can't be read."""
    if saved_kb_names(state) == tuple(names):
        return
    path = os.path.join(state, KEPT_NAMES_FILE)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(list(names), file)
        os.replace(temporary, path)
    except OSError:
        return


def saved_kb_names(state: str) -> tuple[str, ...]:
    """Return the knowledge bases' names from the time when the rule was last read."""
    try:
        with open(os.path.join(state, KEPT_NAMES_FILE), encoding="utf-8") as file:
            names = json.load(file)
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
