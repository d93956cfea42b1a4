"""Boot files of a project: those that harnesses read at the start of every session.

An agent that repeats them has learned nothing.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import read_file
from roamkb.harnesses.registry import declared

#: In the project, and in each folder that a harness asks.
_IN_PROJECT = (
    *sorted(declared("boot_files"), key=lambda name: "/" in name),
    ".cursorrules",
    ".cursor/rules/*.md*",
    ".github/copilot-instructions.md",
)
_IN_HOME = sorted(declared("home_boot_files"), key=lambda name: "{project}" in name)
_MOST_BYTES = 256 * 1024
_MOST_FILES = 200
_BULLET = lazily(r"\s*(?:(?:[-*+>]|\d{1,2}[.)]|#{1,6})\s+)*")
_OUR_RULE = lazily(r"^```roamkb:kb\s*$", re.MULTILINE)
_FENCED = lazily(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)[^\n]*", re.MULTILINE | re.DOTALL)
_SENTENCE_END = lazily(r"(?<=[.!?;])\s+")


def boot_lines(root: Path, home: Path) -> dict[str, str]:
    """Return the lines, sentences and clauses of the project's boot files, each with the file that has it."""
    files_by_line: dict[str, str] = {}
    for path, text in _boot_texts(root, home):
        for line in _lines_and_sentences(text):
            files_by_line.setdefault(line, _display_name(path, root, home))
    return files_by_line


def _boot_texts(root: Path, home: Path) -> Iterator[tuple[Path, str]]:
    project = re.sub(r"[^A-Za-z0-9]", "-", str(root))
    own = (name.replace("{project}", project) for name in _IN_HOME)
    patterns = [(root, name) for name in _IN_PROJECT] + [(home, name) for name in own]
    files = [path for folder, name in patterns for path in sorted(folder.glob(name))]
    for path in files[:_MOST_FILES]:
        data = read_file(path, limit=_MOST_BYTES)
        if not isinstance(data, UnreadableFile):
            text = data.decode("utf-8", "replace")
            # what our rule has for an example says nothing of any project
            yield path, _FENCED.sub("\n", text) if _OUR_RULE.search(text) else text


def _display_name(path: Path, root: Path, home: Path) -> str:
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    return f"~/{path.relative_to(home)}"


def _lines_and_sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [_BULLET.sub("", line, count=1).strip() for line in paragraph.splitlines()]
        yield from filter(None, lines)
        joined = " ".join(lines)
        if len(lines) > 1:
            yield joined
        for line in (*lines, joined) if len(lines) > 1 else lines:
            yield from (sentence for sentence in _SENTENCE_END.split(line) if sentence and sentence != line)
