"""What every session of a project starts with: the files that harnesses read by themselves.

An agent that repeats them has learned nothing.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.core.startup.lazy_regex import lazily
from roamkb.fs.files import read_file

#: In the project, and in each folder that a harness asks.
_IN_PROJECT = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "GEMINI.md",
    ".claude/CLAUDE.md",
    ".claude/rules/*.md",
    ".cursorrules",
    ".cursor/rules/*.md*",
    ".github/copilot-instructions.md",
)
_IN_HOME = (".claude/CLAUDE.md", ".claude/rules/*.md", ".codex/AGENTS.md")
_MEMORY = ".claude/projects/{project}/memory/*.md"
_LIMIT = 256 * 1024
_MOST_FILES = 200
_BULLET = lazily(r"\s*(?:(?:[-*+>]|\d{1,2}[.)]|#{1,6})\s+)*")
_OUR_RULE = lazily(r"^```roamkb:kb\s*$", re.MULTILINE)
_FENCED = lazily(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)[^\n]*", re.MULTILINE | re.DOTALL)
_END = lazily(r"(?<=[.!?;])\s+")


def boot_lines(root: Path, home: Path) -> dict[str, str]:
    """Return the lines, sentences and clauses of the project's boot files, each with the file that has it."""
    found: dict[str, str] = {}
    for path, text in _texts(root, home):
        for line in _sentences(text):
            found.setdefault(line, _name(path, root, home))
    return found


def _texts(root: Path, home: Path) -> Iterator[tuple[Path, str]]:
    memory = _MEMORY.format(project=re.sub(r"[^A-Za-z0-9]", "-", str(root)))
    patterns = [(root, name) for name in _IN_PROJECT] + [(home, name) for name in (*_IN_HOME, memory)]
    files = [path for folder, name in patterns for path in sorted(folder.glob(name))]
    for path in files[:_MOST_FILES]:
        data = read_file(path, limit=_LIMIT)
        if not isinstance(data, UnreadableFile):
            text = data.decode("utf-8", "replace")
            # what our rule has for an example says nothing of any project
            yield path, _FENCED.sub("\n", text) if _OUR_RULE.search(text) else text


def _name(path: Path, root: Path, home: Path) -> str:
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    return f"~/{path.relative_to(home)}"


def _sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [_BULLET.sub("", line, count=1).strip() for line in paragraph.splitlines()]
        yield from filter(None, lines)
        joined = " ".join(lines)
        if len(lines) > 1:
            yield joined
        for line in (*lines, joined) if len(lines) > 1 else lines:
            yield from (sentence for sentence in _END.split(line) if sentence and sentence != line)
