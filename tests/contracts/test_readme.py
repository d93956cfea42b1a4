"""README.md is true: its transcripts are run, and its links lead somewhere."""

import json
import re
import subprocess
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation

_ROOT = Path(__file__).parents[2]
_README = (_ROOT / "README.md").read_text()
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: What differs from run to run, and what stands for it.
_FOLDED = (
    (re.compile(r"\b\d{14}-"), "TIME-"),
    (re.compile(r"\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d\]"), "[TIME]"),
    (re.compile(r"^  \d{4}-\d\d-\d\d \|", re.MULTILINE), "  DAY |"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command of a transcript, and what it answers."""

    command: str
    answer: str
    status: int


def exchanges() -> Iterator[Exchange]:
    """Yield what the console blocks show, in order."""
    for block in re.findall(r"^```console\n(.*?)^```$", _README, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            status = 0
            if lines and (found := re.fullmatch(r"\[(\d+)\]", lines[-1])):
                status = int(found[1])
                lines.pop()
            yield Exchange("\n".join(command), "\n".join(lines).strip("\n"), status)


def folded(text: str) -> str:
    """Return `text` without ids, times and trailing blanks."""
    for pattern, instead in _FOLDED:
        text = pattern.sub(instead, text)
    return text.strip("\n")


def renamed(text: str, ids: Mapping[str, str]) -> str:
    """Return `text` with the README's ids replaced by those of this run."""
    return _UUID.sub(lambda found: ids.get(found.group(), found.group()), text)


def test_the_transcripts_are_what_roamkb_says(
    example_home: Path, run_line: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """All blocks run one after the other in one HOME; `cd` counts, and a new node's id is carried along."""
    folder = ""
    ids: dict[str, str] = {}
    count = 0
    for exchange in exchanges():
        count += 1
        line = renamed(exchange.command, ids)
        if moved := re.fullmatch(r"cd ~/?(.*)", line):
            folder = moved[1]
            continue
        done = run_line(line, folder)
        answer = done.stdout.replace(str(example_home), "~")
        ids |= dict(zip(_UUID.findall(exchange.answer), _UUID.findall(answer), strict=False))
        said = renamed(exchange.answer, ids)
        assert (folded(answer), done.returncode) == (folded(said), exchange.status), exchange.command
    assert count > 10


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_command_is_in_the_readme(operation: Operation) -> None:
    """With a line of its own in the table of commands, or more."""
    assert re.search(rf"`(?:roamkb )?{operation.name}\b", _README)


def fields(shape: str) -> Iterator[tuple[str, ...]]:
    """Yield the path of each key that a shape such as `{a, b:[{c}]}` names; what is elided is none."""
    path: list[str] = []
    key = ""
    for token in re.findall(r"[{}]|…[^,}\]]*|\w+", shape):
        if token == "{":
            path.append(key)
        elif token == "}":
            path.pop()
        elif not token.startswith("…"):
            key = token
            yield (*path[1:], key)


def has(value: object, path: tuple[str, ...]) -> bool:
    """Say whether a JSON value has a key; an empty list has whatever its items would have."""
    if isinstance(value, list):
        return not value or has(value[0], path)
    return not path or (isinstance(value, dict) and path[0] in value and has(value[path[0]], path[1:]))


@pytest.mark.parametrize(
    ("name", "line", "folder"),
    [
        ("search", "search oauth", "code/lantern"),
        ("nodes", "nodes", "code/lantern"),
        ("show", "show Backups", "code/lantern"),
        ("links", "links Backups", "code/lantern"),
        ("write", "write 'A new fact'", "code/lantern"),
        ("supersede", "supersede 'The label printer wants 203 dpi images' 'Another printer'", "code/lantern"),
        ("trash", "trash 'The label printer wants 203 dpi images'", "code/lantern"),
        ("inventory", "inventory", "code/lantern"),
        ("classify", "classify", "code/lantern"),
        ("hygiene", "hygiene", ""),
        ("conflicts", "conflicts", ""),
        ("doctor", "doctor", ""),
        ("install", "install --dry-run", ""),
        ("refused", "write 'A fact'", "projects/work/billing"),
        ("error", "write 'OAuth redirect URIs must match exactly'", "code/lantern"),
    ],
)
def test_json_has_the_fields_that_the_readme_names(
    name: str, line: str, folder: str, run_line: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """Each shape, with every key down to the last."""
    block = next(b for b in re.findall(r"```text\n(.*?)```", _README, re.DOTALL) if b.startswith("search"))
    (shape,) = re.findall(rf"^{name} +(\{{.*(?:\n +.*)*)", block, re.MULTILINE)
    shape = re.split(r"(?<=\}) {3,}\w", shape)[0]
    answer = json.loads(run_line(f"roamkb {line} --json", folder).stdout)
    assert answer["schema"] == 1
    assert [path for path in fields(shape) if not has(answer, path)] == []


def test_links_within_the_checkout_lead_somewhere() -> None:
    """A file that is named is there."""
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", _README):
        assert (_ROOT / target).exists(), target


def test_every_make_target_that_is_named_is_there() -> None:
    """What the README tells people to type works."""
    makefile = (_ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^ {4})make ([a-z]+)", _README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
