r"""The rule `knowledge-base.md` as data: its marked blocks, nothing else of its prose.

A block is a fence at the beginning of a line whose info string is `roamkb:NAME`:

    ```roamkb:work-roots
    ~/projects/work
    ```

`kb`, `work-roots` and `project-parents` are there exactly once, `todo` and `model-addresses` at most once.
`kb/NAME` and `project-parents/NAME` name a further knowledge base, and are there both or neither.
Blank lines and lines that begin with `#` don't count.

The rule decides what may leave a project, so whatever could be read in two ways is an
error, and an error makes every project unknown:

* A block that is missing, doubled, misspelt, unclosed, indented as code, quoted or
  commented out, because the human sees a work root there and the program would not.
* An entry that isn't absolute once `~/` is expanded (`work/`, `~other/x`, `$HOME/x`),
  holds `.` or `..`, an invisible character, or a comment on its own line's end: it
  would match nothing.
* A pattern that gitignore calls invalid, or that lists folders as a shell or a person
  would (`~/{p,q}`, `~/p; ~/q`), for the same reason. `\\,` means a comma in a name.
* An empty list of work roots. Who has none says so with the one line `none`.
* A negation among the work roots: it would widen what may be written. Among the
  project parents it narrows, and always wins, wherever it stands.
* A project parent that begins with a wildcard: every folder would be personal.
* An address of a model that is more than a server (`https://host`, with a port or not), or that a
  pattern stands in: what is said at work goes to no address that isn't spelt out.
* A name of a knowledge base that isn't `[a-z][a-z0-9-]*`, or that one of the two blocks has alone.

An empty list of project parents is allowed: nothing is personal then. A work root that
ends in `/*` or `/**` means the folder itself as well: who denies all that is in it denies it.
"""

import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from roamkb.core import server_address
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import entry_fault
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import literal_path
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import EVERY_KB
from roamkb.core.model import NamedKb
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden

#: What a person writes who has no work roots; an empty block could be an accident.
NO_WORK_ROOTS = "none"
#: What `--kb` takes beside names.
RESERVED_NAMES = (DEFAULT_KB, EVERY_KB)

_KB_BLOCK = "roamkb:kb"
_WORK_BLOCK = "roamkb:work-roots"
_PARENTS_BLOCK = "roamkb:project-parents"
_TODO_BLOCK = "roamkb:todo"
_ADDRESSES_BLOCK = "roamkb:model-addresses"
_APPROVAL_BLOCK = "roamkb:approval"
#: What that block may say: how a human's yes has to be given.
_APPROVALS = ("typed", "signed")
#: Of what `install` adds; for readers.
_SECTION_HEADING = "## Knowledge base: {}"
_REQUIRED_BLOCKS = (_KB_BLOCK, _WORK_BLOCK, _PARENTS_BLOCK)
#: A block of a further knowledge base: the block's name, and the knowledge base's.
_NAMED_BLOCK = lazily(rf"({_KB_BLOCK}|{_PARENTS_BLOCK})/([a-z][a-z0-9-]{{0,39}})\Z")

_FENCE_LINE = lazily(r"^( {0,3})(`{3,}|~{3,})[ \t]*(.*?)[ \t]*$")
#: Anything that a reader could take for one of our blocks.
_BLOCK_MARK = lazily(r"(?:`{3}|~{3})\s*\{?\W*roamkb\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RuleBlock:
    """One marked block: its entries, and the lines (0-based, end excluded) between its fences."""

    name: str
    start: int
    end: int
    entries: tuple[tuple[int, str], ...]


# one call asks for the same rule several times
@lru_cache(maxsize=4)
def parse_rule(text: str, *, source: Path, home: Path) -> Rule:
    """Return the rule in the blocks of `text`, or raise `BadRule` with the fault and its line."""
    if not home.is_absolute():
        raise BadRule(source, f"can't be expanded: the home {str(home)!r} isn't absolute")
    if not text.strip():
        raise BadRule(source, "is empty")
    blocks = _parse_blocks(text, source)
    for name in _REQUIRED_BLOCKS:
        if name not in blocks:
            raise BadRule(source, f"has no block `{name}`")
    todo, addresses = blocks.get(_TODO_BLOCK), blocks.get(_ADDRESSES_BLOCK)
    approval = blocks.get(_APPROVAL_BLOCK)
    return Rule(
        source=source,
        kb=_parse_kb(blocks[_KB_BLOCK], source, home),
        work_roots=_parse_work_roots(blocks[_WORK_BLOCK], source, home),
        project_parents=_parse_parents(blocks[_PARENTS_BLOCK], source, home),
        todo_lines=tuple(entry for _, entry in todo.entries) if todo else (),
        model_addresses=_parse_origins(addresses, source) if addresses else (),
        must_sign=approval is not None and _parse_approval(approval, source),
        others=tuple(_parse_named(blocks, source, home)),
    )


def render_rule(template: str, *, kb: str, work_roots: Sequence[str], project_parents: Sequence[str]) -> str:
    """Return `template` with these entries in its blocks, and the KB's path in its commands.

    Raises `UsageError` for an entry that `parse_rule` would refuse.
    """
    source = Path("the template")
    blocks = _parse_blocks(template, source)
    for entry_kind, faults in (
        ("the KB's path", [_path_fault(kb)]),
        ("work root", [_entry_fault(entry, _WORK_BLOCK) for entry in work_roots]),
        ("project parent", [_entry_fault(entry, _PARENTS_BLOCK) for entry in project_parents]),
    ):
        for fault in faults:
            if fault:
                raise UsageError(f"{entry_kind} {fault}")
    old_kb = _single_entry(blocks[_KB_BLOCK], source)
    lines = template.split("\n")
    new_entries = {
        _KB_BLOCK: [kb],
        _WORK_BLOCK: list(work_roots) or [NO_WORK_ROOTS],
        _PARENTS_BLOCK: list(project_parents),
    }
    if kb != old_kb:
        block_lines = {number for block in blocks.values() for number in range(block.start, block.end)}
        lines = [
            line if number in block_lines else line.replace(_shell_escape(old_kb), _shell_escape(kb))
            for number, line in enumerate(lines)
        ]
    for block in sorted(blocks.values(), key=lambda block: -block.start):
        if block.name in new_entries and [entry for _, entry in block.entries] != new_entries[block.name]:
            lines[block.start : block.end] = new_entries[block.name]
    return "\n".join(lines)


def with_named_kb(text: str, name: str, *, kb: str, project_parents: Sequence[str]) -> str:
    """Return the rule `text` with a further knowledge base, in place of what it says of one of that name.

    Raises `UsageError` for a name or an entry that `parse_rule` would refuse.
    """
    if not _NAMED_BLOCK.match(f"{_KB_BLOCK}/{name}") or name in RESERVED_NAMES:
        raise UsageError(
            f"{one_line(name)} is no name of a knowledge base",
            hint="a letter a-z, then letters, digits and -, 40 at most; not default or all",
        )
    for fault in (_path_fault(kb), *(_entry_fault(entry, _PARENTS_BLOCK) for entry in project_parents)):
        if fault:
            raise UsageError(f"the entry {fault}")
    text = without_named_kb(text, name)
    return f"{text.rstrip(chr(10))}\n{_named_section(name, kb, project_parents)}"


def without_named_kb(text: str, name: str) -> str:
    """Return the rule `text` without its blocks of the knowledge base `name`, and without the heading of ours."""
    blocks = _parse_blocks(text, Path("the rule")).values()
    own = [block for block in blocks if (named := _NAMED_BLOCK.match(block.name)) and named[2] == name]
    entries = {block.name.partition("/")[0]: [entry for _, entry in block.entries] for block in own}
    section = _named_section(name, "".join(entries.get(_KB_BLOCK, [])), entries.get(_PARENTS_BLOCK, []))
    if section in text:
        return text.replace(section, "", 1)
    # somebody wrote about it, and their words stay
    lines = text.split("\n")
    for block in sorted(own, key=lambda block: -block.start):
        del lines[block.start - 1 : block.end + 1]
    return "\n".join(lines)


def _named_section(name: str, kb: str, project_parents: Sequence[str]) -> str:
    blocks = ((_KB_BLOCK, [kb]), (_PARENTS_BLOCK, project_parents))
    fences = ("\n".join((f"```{kind}/{name}", *entries, "```")) for kind, entries in blocks)
    return "\n" + "\n\n".join((_SECTION_HEADING.format(name), *fences)) + "\n"


def _parse_blocks(text: str, source: Path) -> dict[str, _RuleBlock]:
    """Return the marked blocks by name."""
    blocks: dict[str, _RuleBlock] = {}
    for block in _scan_blocks(text.replace("\r\n", "\n").split("\n"), source):
        named = _NAMED_BLOCK.match(block.name)
        if named and named[2] in RESERVED_NAMES:
            raise BadRule(source, f"calls a knowledge base {named[2]} in line {block.start}, which means another thing")
        if not named and block.name not in (*_REQUIRED_BLOCKS, _TODO_BLOCK, _ADDRESSES_BLOCK, _APPROVAL_BLOCK):
            raise BadRule(source, f"has an unknown block `{block.name}` in line {block.start}")
        if block.name in blocks:
            raise BadRule(source, f"has the block `{block.name}` twice, again in line {block.start}")
        blocks[block.name] = block
    return blocks


def _scan_blocks(lines: Sequence[str], source: Path) -> Iterator[_RuleBlock]:
    """Yield each marked block; other fences are skipped with all that they hold."""
    number = 0
    commented = False
    while number < len(lines):
        line = lines[number]
        number += 1
        fence = None if commented else _FENCE_LINE.match(line)
        if fence is None or (fence[2][0] == "`" and "`" in fence[3]):
            if _BLOCK_MARK.search(line):
                raise BadRule(source, f"marks a block in line {number} that isn't a fence of its own")
            commented = _in_comment(line, commented)
            continue
        start, (indent, ticks, info) = number, (len(fence[1]), fence[2], fence[3])
        while number < len(lines) and not _closes_fence(lines[number], ticks):
            number += 1
            if _BLOCK_MARK.search(lines[number - 1]):
                raise BadRule(source, f"marks a block in line {number}, inside another that begins in line {start}")
        if number == len(lines):
            raise BadRule(source, f"has a block in line {start} that never ends")
        number += 1
        if "roamkb" in info.casefold():
            yield _build_block(info, lines, (start, number - 1), indent)


def _build_block(name: str, lines: Sequence[str], span: tuple[int, int], indent: int) -> _RuleBlock:
    """Return the block between the lines of `span`, without its blank lines and comments."""
    entries = []
    for number in range(*span):
        line = lines[number]
        entry = _strip_trailing_blanks(line[min(indent, len(line) - len(line.lstrip(" "))) :])
        if entry.strip() and not entry.startswith("#"):
            entries.append((number + 1, entry))
    return _RuleBlock(name=name, start=span[0], end=span[1], entries=tuple(entries))


def _closes_fence(line: str, ticks: str) -> bool:
    """Say whether `line` closes a fence that `ticks` opened."""
    fence = _FENCE_LINE.match(line)
    return fence is not None and not fence[3] and fence[2].startswith(ticks)


def _in_comment(line: str, commented: bool) -> bool:
    """Say whether an HTML comment, which agents don't see, is open after `line`."""
    while True:
        position = line.find("-->" if commented else "<!--")
        if position < 0:
            return commented
        line, commented = line[position + (3 if commented else 4) :], not commented


def _strip_trailing_blanks(line: str) -> str:
    """Return `line` without its trailing blanks, unless the first of them is escaped."""
    stripped = line.rstrip()
    dangling = (len(stripped) - len(stripped.rstrip("\\"))) % 2
    return stripped + line[len(stripped) :][:1] if dangling else stripped


def _parse_named(blocks: Mapping[str, _RuleBlock], source: Path, home: Path) -> Iterator[NamedKb]:
    """Yield the further knowledge bases, in the order of their folders' blocks."""
    for block in blocks.values():
        if named := _NAMED_BLOCK.match(block.name):
            (kb_block, parents_block) = (f"{kind}/{named[2]}" for kind in (_KB_BLOCK, _PARENTS_BLOCK))
            for name in (kb_block, parents_block):
                if name not in blocks:
                    raise BadRule(source, f"has the block `{block.name}` without `{name}`")
            if block.name == kb_block:
                parents = _parse_parents(blocks[parents_block], source, home)
                yield NamedKb(name=named[2], folder=_parse_kb(block, source, home), project_parents=parents)


def _parse_kb(block: _RuleBlock, source: Path, home: Path) -> Path:
    """Return a knowledge base's folder."""
    entry = _single_entry(block, source)
    if fault := _path_fault(entry):
        raise BadRule(source, f"names a KB that {fault} (line {block.entries[0][0]})")
    # a doubled slash would begin at the root
    return home / entry[2:].lstrip("/") if entry.startswith("~/") else Path(entry)


def _parse_approval(block: _RuleBlock, source: Path) -> bool:
    """Return whether a human's yes has to be signed."""
    entry = _single_entry(block, source)
    if entry not in _APPROVALS:
        raise BadRule(source, f"asks for a yes that is neither typed nor signed (line {block.entries[0][0]})")
    return entry == "signed"


def _single_entry(block: _RuleBlock, source: Path) -> str:
    """Return the one entry of `block`."""
    if len(block.entries) != 1:
        raise BadRule(source, f"needs exactly one line in its block `{block.name}`")
    return block.entries[0][1]


def _parse_work_roots(block: _RuleBlock, source: Path, home: Path) -> tuple[str, ...]:
    """Return the denied entries, absolute."""
    entries = [entry for _, entry in block.entries]
    if not entries:
        raise BadRule(
            source, f"has an empty block `{_WORK_BLOCK}`; write `{NO_WORK_ROOTS}` there if you have no work roots"
        )
    if entries == [NO_WORK_ROOTS]:
        return ()
    _check_entries(block, source)
    return tuple(dict.fromkeys(part for entry in entries for part in _with_folder_itself(_expand_entry(entry, home))))


def _parse_parents(block: _RuleBlock, source: Path, home: Path) -> tuple[str, ...]:
    """Return the entries under which projects are personal, absolute; negations keep their `!`."""
    _check_entries(block, source)
    return tuple(
        "!" + _expand_entry(entry[1:], home) if entry.startswith("!") else _expand_entry(entry, home)
        for _, entry in block.entries
    )


def _parse_origins(block: _RuleBlock, source: Path) -> tuple[str, ...]:
    """Return the servers of the model addresses, each with its port."""
    if not block.entries:
        return ()

    origins = []
    for number, entry in block.entries:
        try:
            address = server_address.parse_address(entry.removesuffix("/"))
        except server_address.BadAddress as error:
            raise BadRule(source, f"has an address in line {number} that {error}") from error
        if address.path or address.query or "#" in entry:
            raise BadRule(
                source, f"has an address in line {number} that is more than a server: {address.origin_url} is one"
            )
        origins.append(address.origin_url)
    return tuple(dict.fromkeys(origins))


def _check_entries(block: _RuleBlock, source: Path) -> None:
    """Raise for the first faulty entry of `block`."""
    for number, entry in block.entries:
        if fault := _entry_fault(entry, block.name):
            raise BadRule(source, f"has an entry in line {number} that {fault}")


def _expand_entry(entry: str, home: Path) -> str:
    """Return `entry` with `~` expanded, without doubled and trailing slashes."""
    if entry == "~" or entry.startswith("~/"):
        entry = escape_path(str(home)) + entry[1:]
    return re.sub(r"/{2,}", "/", entry).rstrip("/") or "/"


def _with_folder_itself(entry: str) -> tuple[str, ...]:
    """Return a denied entry; one that ends in `/*` or `/**` denies the folder itself, too."""
    top = re.sub(r"(?:/\*{1,2})+$", "", entry) or "/"
    # each folder that `/*` means may be a link to somewhere else
    return (top, entry) if entry.endswith("/*") else (top,)


def _path_fault(path: str) -> str | None:
    """Return the reason why `path` can't be the knowledge base's folder; None if it can."""
    if not path.strip("/~"):
        return f"is too much: {path!r}; name a folder in it"
    if not path.startswith(("/", "~/")):
        return f"is relative: {path!r}; begin it with / or ~/"
    if "$" in path:
        return f"isn't expanded: {path!r}; write the folder itself"
    if any(part in (".", "..") for part in path.split("/")):
        return f"holds . or ..: {path!r}; write the folder itself"
    if strip_hidden(path) != path or "\n" in path or "\t" in path:
        return f"holds an invisible character: {path!r}"
    if path != path.rstrip():
        return f"ends in a blank: {path!r}; rename the folder"
    return None


def _entry_fault(entry: str, block: str) -> str | None:
    """Return the fault of an entry of the work roots or project parents; None without one."""
    bare = entry
    if entry.startswith("!"):
        if block == _WORK_BLOCK:
            return f"is a negation: {entry!r}; a work root can't be taken back"
        bare = entry[1:]
    if bare != "~" and not bare.startswith(("/", "~/")):
        return f"is relative or not expanded: {entry!r}; begin it with / or ~/"
    if re.search(r"(?<!\\)\$", bare):
        return f"isn't expanded: {entry!r}; begin it with / or ~/"
    if re.search(r"(?<!\\)\s#", bare):
        return f"ends in a comment: {entry!r}; put it on a line of its own"
    if strip_hidden(bare) != bare or "\n" in bare or "\t" in bare:
        return f"holds an invisible character: {entry!r}"
    parts = [part for part in bare.split("/") if part]
    if "." in parts or ".." in parts:
        return f"holds . or ..: {entry!r}; write the folder itself"
    if fault := entry_fault(bare) or _two_folders_fault(bare):
        return f"{fault}: {entry!r}"
    if (
        block.partition("/")[0] == _PARENTS_BLOCK
        and bare == entry
        and (not parts or literal_path("/" + parts[0]) is None)
    ):
        return f"makes every folder personal: {entry!r}"
    return None


def _two_folders_fault(entry: str) -> str | None:
    """Return the fault of an entry in which a second folder seems to begin; None without one."""
    begins_another = re.search(r"(?<!\\)[ :|]~?/", entry)
    return "seems to name two folders; write one folder in a line" if begins_another else None


def _shell_escape(path: str) -> str:
    """Return `path` as it is written in a command line; `~` still works."""
    return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", path)
