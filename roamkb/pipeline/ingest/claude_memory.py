"""Claude Code's own memory of a project, as statements worth keeping: read, never written (D16).

It lies in `~/.claude/projects/PROJECT/memory/`: `MEMORY.md`, an index whose lines point to
topic files, and the topic files. A topic file that says its `type` in a front matter is one
statement; what has none is notes, and each list item or paragraph of it is one.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.learning import Learning
from roamkb.log.learning import key_of
from roamkb.log.learning import line_id

#: The index of the others.
INDEX_FILE: Final = "MEMORY.md"
MEMORY_TAG: Final = "auto-memory"

#: What their types are among ours, and whose word it is.
_TYPE_AND_PROVENANCE: Final = {
    "user": ("fact", "user-stated"),
    "feedback": ("learned", "user-stated"),
    "project": ("fact", "observed"),
    "reference": ("fact", "observed"),
}
_UNTYPED: Final = ("learned", "observed")
_FRONT_MATTER = lazily(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
#: `type` may stand below `metadata:`.
_FIELD = lazily(r"^[ \t]*(name|description|type)[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
#: `- [Title](file.md): what it is about`
_POINTER = lazily(r"\s*[-*+]?\s*\[[^\]]*\]\([^)\s]+\.md\)")
_ITEM = lazily(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")
_NO_STATEMENT = lazily(r"\s*(?:#{1,6}(?:\s|$)|-{3,}\s*$|<!--)")
_NOT_NAME = lazily(r"[^A-Za-z0-9]")
_WILD = lazily(r"\*+|\?|\[[^\]]*\]")


def folder_names(root: PurePath) -> tuple[str, ...]:
    """Return the names that Claude Code may use for the project at `root`: its path with dashes."""
    return tuple(dict.fromkeys((_NOT_NAME.sub("-", str(root)), str(root).replace("/", "-"))))


def project_name(path: PurePath) -> str | None:
    """Return the name of Claude Code's project folder in which `path` lies; None elsewhere."""
    for folder, subfolder, name in zip(path.parts, path.parts[1:], path.parts[2:], strict=False):
        if (folder, subfolder) == (".claude", "projects"):
            return name
    return None


def may_be_under(name: str, entry: str) -> bool:
    """Say whether the project called `name` may lie under `entry`, a work root in gitignore syntax.

    A dash stands for any of several characters, so that this can't be known; denial wins.
    """
    parts = _WILD.split(entry.rstrip("/"))
    pattern = ".*".join(re.escape(_NOT_NAME.sub("-", part)) for part in parts)
    return re.match(f"(?:{pattern})(?:-|$)", name.replace("_", "-").replace(".", "-"), re.I) is not None


def read_memory(file: str, text: str, *, changed: float = 0) -> Iterator[LearningLine | BadLine]:
    """Yield the statements of a memory file; pointers, headings and rules are skipped.

    `file` is its path in the folder, `changed` when it was written, in seconds since 1970.
    """
    front_matter = _FRONT_MATTER.match(text)
    fields = dict(_FIELD.findall(front_matter[1])) if front_matter else {}
    type_name = _without_quotes(fields.get("type", ""))
    body = text[front_matter.end() :] if front_matter else text
    first_line = text[: front_matter.end()].count("\n") + 1 if front_matter else 1
    if type_name and PurePath(file).name != INDEX_FILE:
        content = body.strip() or _without_quotes(fields.get("description", ""))
        lead = body[: len(body) - len(body.lstrip())].count("\n")
        if content:
            yield _statement_line(
                file, first_line + lead, content, type_name, _without_quotes(fields.get("name", "")), changed
            )
        else:
            yield BadLine(line=1, reason=f"{file}: it says nothing")
        return
    for line, content in _numbered_statements(body, first_line):
        yield _statement_line(file, line, content, type_name, "", changed)


def _statement_line(file: str, line: int, content: str, type_name: str, name: str, changed: float) -> LearningLine:
    type, provenance = _TYPE_AND_PROVENANCE.get(type_name.casefold(), _UNTYPED)
    key = name or key_of(type, content)
    learning = Learning(
        # the time of a file isn't its statements' own, and differs on each machine
        id=line_id(type, key, content, 0),
        key=key,
        type=type,
        content=content,
        source="user" if provenance == "user-stated" else "agent",
        tags=tuple(filter(None, dict.fromkeys((type, MEMORY_TAG, type_name)))),
        ts=int(changed),
        agent="claude-code",
        provenance=provenance,
        origin=f"auto_memory:{file}",
    )
    return LearningLine(line=line, learning=learning)


def _numbered_statements(body: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Yield each list item, with the lines indented below it, and each paragraph, with its line number."""
    pending_lines: list[str] = []
    start = first_line
    for number, line in enumerate([*body.split("\n"), ""], start=first_line):
        line = line.rstrip("\r")
        stands_alone = bool(_NO_STATEMENT.match(line) or _POINTER.match(line))
        if pending_lines and (not line.strip() or stands_alone or _ITEM.match(line)):
            yield start, "\n".join(pending_lines)
            pending_lines = []
        if line.strip() and not stands_alone:
            start = start if pending_lines else number
            pending_lines.append(line if pending_lines else _ITEM.sub("", line, count=1).strip())


def _without_quotes(value: str) -> str:
    """Return a value of the front matter without its quotes."""
    for quote in ("'", '"'):
        if len(value) > 1 and value[0] == value[-1] == quote:
            return value[1:-1]
    return value
