"""A harness's own memory of a project, as statements worth keeping: read, never written (D16).

It lies in a folder of its own: `MEMORY.md`, an index whose lines point to topic files, and the topic
files. A topic file that says its `type` in a front matter is one statement; what has none is notes, and each
list item or paragraph of it is one.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.harnesses.registry import declared_by
from roamkb.log.jsonl import BadLine
from roamkb.log.jsonl import LearningLine
from roamkb.log.learning import Learning
from roamkb.log.learning import key_of
from roamkb.log.learning import line_id

#: The agent that keeps such a memory.
_AGENT: Final = next(iter(declared_by("memory_places").values()))
#: The index of the others.
INDEX: Final = "MEMORY.md"
TAG: Final = "auto-memory"

#: What their types are among ours, and whose word it is.
_TYPES: Final = {
    "user": ("fact", "user-stated"),
    "feedback": ("learned", "user-stated"),
    "project": ("fact", "observed"),
    "reference": ("fact", "observed"),
}
_UNTYPED: Final = ("learned", "observed")
_FRONT = lazily(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
#: `type` may stand below `metadata:`.
_FIELD = lazily(r"^[ \t]*(name|description|type)[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
#: `- [Title](file.md): what it is about`
_POINTER = lazily(r"\s*[-*+]?\s*\[[^\]]*\]\([^)\s]+\.md\)")
_ITEM = lazily(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")
_NO_STATEMENT = lazily(r"\s*(?:#{1,6}(?:\s|$)|-{3,}\s*$|<!--)")
_NOT_NAME = lazily(r"[^A-Za-z0-9]")
_WILD = lazily(r"\*+|\?|\[[^\]]*\]")


def may_be_under(name: str, entry: str) -> bool:
    """Say whether the project called `name` may lie under `entry`, a work root in gitignore syntax.

    A dash stands for any of several characters, so that this can't be known; denial wins.
    """
    parts = _WILD.split(entry.rstrip("/"))
    pattern = ".*".join(re.escape(_NOT_NAME.sub("-", part)) for part in parts)
    return re.match(f"(?:{pattern})(?:-|$)", name.replace("_", "-").replace(".", "-"), re.I) is not None


def read_memory(file: str, text: str, *, changed: float = 0) -> Iterator[LearningLine | BadLine]:
    """Yield the statements of one file; pointers, headings and rules are none.

    `file` is its path in the folder, `changed` when it was written, in seconds since 1970.
    """
    front = _FRONT.match(text)
    fields = dict(_FIELD.findall(front[1])) if front else {}
    said = _plain(fields.get("type", ""))
    body = text[front.end() :] if front else text
    first = text[: front.end()].count("\n") + 1 if front else 1
    if said and PurePath(file).name != INDEX:
        content = body.strip() or _plain(fields.get("description", ""))
        lead = body[: len(body) - len(body.lstrip())].count("\n")
        if content:
            yield _statement(file, first + lead, content, said, _plain(fields.get("name", "")), changed)
        else:
            yield BadLine(line=1, reason=f"{file}: it says nothing")
        return
    for line, content in _statements(body, first):
        yield _statement(file, line, content, said, "", changed)


def _statement(file: str, line: int, content: str, said: str, name: str, changed: float) -> LearningLine:
    type, provenance = _TYPES.get(said.casefold(), _UNTYPED)
    key = name or key_of(type, content)
    learning = Learning(
        # the time of a file isn't its statements' own, and differs on each machine
        id=line_id(type, key, content, 0),
        key=key,
        type=type,
        content=content,
        source="user" if provenance == "user-stated" else "agent",
        tags=tuple(filter(None, dict.fromkeys((type, TAG, said)))),
        ts=int(changed),
        agent=_AGENT,
        provenance=provenance,
        origin=f"auto_memory:{file}",
    )
    return LearningLine(line=line, learning=learning)


def _statements(body: str, first: int) -> Iterator[tuple[int, str]]:
    """Yield each list item, with what is indented below it, and each paragraph, with its line's number."""
    held: list[str] = []
    start = first
    for number, line in enumerate([*body.split("\n"), ""], start=first):
        line = line.rstrip("\r")
        stands_alone = bool(_NO_STATEMENT.match(line) or _POINTER.match(line))
        if held and (not line.strip() or stands_alone or _ITEM.match(line)):
            yield start, "\n".join(held)
            held = []
        if line.strip() and not stands_alone:
            start = start if held else number
            held.append(line if held else _ITEM.sub("", line, count=1).strip())


def _plain(value: str) -> str:
    """Return a value of the front matter without its quotes."""
    for quote in ("'", '"'):
        if len(value) > 1 and value[0] == value[-1] == quote:
            return value[1:-1]
    return value
