"""What the knowledge base is called, found out without classifying anybody: hooks ask at every step.

The rules' own words, right or wrong, and those of the last rule that could be read: a broken rule takes no
wall down. This imports next to nothing.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH103, PTH105, PTH118, PTH123

import json
import os
from collections.abc import Sequence

from roamkb.fs.user_dirs import usual_state

_RULE = os.path.join(".claude", "rules", "knowledge-base.md")
_RULE_LIMIT = 1024 * 1024
#: In the state folder: what the rule called the knowledge base when it could be read.
KEPT = "kb-names.json"


def usual_homes() -> list[str]:
    """Return HOME, and the home that the password database names."""
    import pwd

    return list(dict.fromkeys((os.environ.get("HOME") or "/", pwd.getpwuid(os.getuid()).pw_dir)))


def rule_files(homes: Sequence[str] = ()) -> list[str]:
    """Return where rules may be: in the homes that are named, or in the usual ones."""
    return [os.path.join(home, _RULE) for home in homes or usual_homes()]


def names_of_kb(homes: Sequence[str] = (), state: str = "") -> list[str]:
    """Return every name that a rule gives the knowledge base or gave it, and their real paths."""
    told = [name for rule in rule_files(homes) for name in _told(rule)]
    kept = kept_names(state or usual_state())
    return list(dict.fromkeys(one for name in (*told, *kept) for one in (name, os.path.realpath(name))))


def _told(rule: str) -> list[str]:
    """Return every path in a rule's block, in a good rule or a bad one: `rule_file` is exact, and slow."""
    try:
        with open(rule, encoding="utf-8", errors="replace") as file:
            lines = file.read(_RULE_LIMIT).splitlines()
    except OSError:
        return []
    names: list[str] = []
    is_within = False
    for line in map(str.strip, lines):
        if line.startswith(("```", "~~~")):
            is_within = "roamkb:kb" in line
        elif is_within and line.startswith(("/", "~")):
            names.append(os.path.normpath(os.path.expanduser(line)))
    return names


def keep_names(state: str, names: Sequence[str]) -> None:
    """Remember what the knowledge base is called, for the day when the rule can't be read."""
    if kept_names(state) == tuple(names):
        return
    path = os.path.join(state, KEPT)
    beside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(list(names), file)
        os.replace(beside, path)
    except OSError:
        return


def kept_names(state: str) -> tuple[str, ...]:
    """Return what the knowledge base was called when the rule was last read."""
    try:
        with open(os.path.join(state, KEPT), encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(name for name in told if isinstance(name, str)) if isinstance(told, list) else ()
