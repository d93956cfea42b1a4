"""Emacs's file variables: the `-*-` line and the Local Variables of a file."""

import re

from roamkb.core.startup.lazy_regex import lazily

_MODE_LINE = lazily(r"-\*-(.*?)-\*-")
_BLOCK = lazily(r"^(.*?)Local Variables:[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
#: How far from its end Emacs looks for a file's Local Variables.
_TAIL = 3000

#: Modes that are switched on beside Org, or change nothing that org-roam looks at.
_BESIDE_ORG = frozenset(
    "abbrev auto-fill auto-revert display-fill-column-indicator display-line-numbers flyspell goto-address "
    "hl-line line-number org org-indent org-num outline-minor overwrite read-only text-scale "
    "toggle-truncate-lines variable-pitch view visual-line whitespace word-wrap".split()
)
#: Modes in which org-roam can't move between headings at all.
_CODE = frozenset(
    "asm awk c c++ conf css emacs-lisp fortran java javascript js lisp lisp-interaction makefile pascal perl "
    "prolog python ruby scheme sh shell-script sql tcl".split()
)
#: Modes of text; a mode that's none of these isn't part of Emacs, so a file that asks for it fails.
_TEXT = frozenset(
    "bibtex diff enriched fundamental html html-helper indented-text latex mail mhtml nroff nxml outline "
    "paragraph-indent-text picture prog sgml special tex text xml".split()
)


def file_variables(text: str) -> list[tuple[str, str]]:
    """Return the variables that `text` sets, their names in lower case."""
    return [*_mode_line(text), *_local_variables(text[-_TAIL:])]


def _mode_line(text: str) -> list[tuple[str, str]]:
    end = text.find("\n")
    if text.startswith("#!") and end >= 0:
        end = text.find("\n", end + 1)
    line = _MODE_LINE.search(text, 0, len(text) if end < 0 else end)
    parts = [part.partition(":") for part in line[1].split(";")] if line else []
    return [(name.strip().lower(), value.strip()) for name, colon, value in parts if colon]


def _local_variables(tail: str) -> list[tuple[str, str]]:
    block = _BLOCK.search(tail, tail.rfind("\n\f") + 1)
    if block is None:
        return []
    prefix, suffix = block.groups()
    variables: list[tuple[str, str]] = []
    for line in tail[block.end() + 1 :].split("\n"):
        if not line.startswith(prefix) or not line.rstrip(" \t").endswith(suffix):
            return []
        stripped = line[len(prefix) :].rstrip(" \t").removesuffix(suffix)
        name, colon, value = stripped.partition(":")
        if name.strip().lower() == "end":
            return variables
        if not colon:
            return []
        variables.append((name.strip().lower(), value.strip()))
    return []


def other_mode(text: str) -> str | None:
    """Return the mode, instead of Org, that `text` asks Emacs for."""
    if "ode:" not in text and "ODE:" not in text:
        return None
    modes = [value.lower() for name, value in file_variables(text) if name == "mode"]
    major = [mode for mode in modes if mode == "org" or mode not in _BESIDE_ORG]
    return major[-1] if major and major[-1] != "org" else None


def mode_fault(mode: str, *, has_headings: bool, has_heading_nodes: bool) -> str | None:
    """Return the reason why org-roam fails on a file in `mode`; None where it reads the file's node."""
    is_known = mode in _TEXT or mode in _CODE
    if is_known and not has_heading_nodes and not (has_headings and mode in _CODE):
        return None
    return f"the file asks Emacs for {mode}-mode, not for Org"
