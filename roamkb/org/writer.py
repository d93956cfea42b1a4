"""The writer of agents' nodes, and of the two lines that a later node adds to one.

What real org-roam makes of the text is what was meant: one node at level 0 with this id,
title, tags, aliases, refs and links, whatever the words hold (docs/architecture.md).
"""

import re
import unicodedata
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from roamkb.core.errors import NotAsMeant
from roamkb.core.errors import UsageError
from roamkb.core.model import Note
from roamkb.core.model import Ref
from roamkb.core.model import require_agent_name
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.org.agent_node import AGENT_TAG
from roamkb.org.agent_node import is_agent_node
from roamkb.org.body import body_of
from roamkb.org.escape import defuse_line
from roamkb.org.escape import escape_name
from roamkb.org.escape import escape_text
from roamkb.org.escape import unescape_text
from roamkb.org.syntax.syntax_table import BREAK

#: Longer than any sentence; a list of titles stays a list that a person or a prompt can hold.
TITLE_LIMIT = 300

#: Reducing links takes time that grows with the square of the length.
_LONGEST_LINE = 10 * TITLE_LIMIT

#: A node is one thing worth knowing. The reader's promise of milliseconds holds up to here.
BODY_LIMIT = 64 * 1024

#: The days as org's own English stamps have them, in any locale.
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

#: C0 controls but tab and newline, DEL, lone surrogates: Emacs would take a file with one of them for
#: another encoding, or could not read it at all.
_UNSTORABLE = lazily("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

#: A bracket link, as org-roam reduces it in titles. One with a backslash isn't reduced but broken, and so
#: is one that begins with a blank: a shell's test.
_LINK = lazily(r"\[\[(?!\s)([^\]\[\\]+)\](?:\[(.+?)\])?\]")
#: One with words of its own; without them, brackets are more often a subscript or a wiki's syntax, and stay.
_WORDED_LINK = lazily(r"\[\[(?!\s)([^\]\[\\]+)\]\[(.+?)\]\]")

_URL_CHARACTER = r'[^\s\[\]()<>"\\]'
_PARENTHESIS = rf"\((?:{_URL_CHARACTER}|\({_URL_CHARACTER}*\))*\)"
#: What org takes whole as a plain link; a last character that is punctuation would be cut off.
_REF = lazily(rf"(https?|ftp|doi|mailto):((?:{_URL_CHARACTER}|{_PARENTHESIS})*(?:\w(?<!_)|/|{_PARENTHESIS}))")
_WRAPPED_REF = lazily(r"<(.*)>|\[\[(.*?)\](?:\[.*\])?\]|\[cite:(@[^;\s]+)\]")
_CITATION = lazily(r"@([\w.:?!'/*+|&^$#%~-]+)")

_KEY = lazily(r"[A-Z][A-Z_]*")
_OWN_KEYS = frozenset(("ID", "CREATED", "AGENT", "PROJECT", "SOURCE", "ROAM_ALIASES", "ROAM_REFS", "ROAM_EXCLUDE"))

#: Link types that a written note may hold.
_LINK_TYPES = frozenset(("id", "http", "https", "doi", "file"))

_LINE_END = lazily(r"\r\n|\n|\r")
_LINE_FEED = lazily(r"\r?\n")
#: A carriage return ends a line only where nothing else does, in Emacs as in our reader.
_HEADING = lazily(r"(?:\A|(?<=\n))\*+ ")
_MAC_HEADING = lazily(r"(?:\A|(?<=\r))\*+ ")
_COMMENT = lazily(r"#(?:\s|$)")
_LIST_LINK = lazily(r"- [^\n]* :: \[\[id:")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDraft:
    """A node that is about to be written, in the words that were given."""

    id: str
    #: Local time, naive.
    created: datetime
    agent: str
    project: str
    source: str
    title: str
    body: str
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    #: Ids and titles of nodes to link to.
    related: tuple[tuple[str, str], ...] = ()
    #: Further entries of the drawer, such as SUPERSEDES.
    properties: Mapping[str, str] = field(default_factory=dict)


def render_node(draft: NodeDraft) -> str:
    """Return the whole file; `UsageError` where a field can't be stored."""
    body = normalised_body(draft.body)
    title = normalised_title(draft.title)
    blocks = [*_head_lines(draft, title), *(["", escape_text(body)] if body else [])]
    links = [link_line("related", id, title) for id, title in draft.related]
    return "\n".join([*blocks, *(["", *links] if links else []), ""])


def normalise_text(text: str) -> str:
    """Return `text` as a note can store it: the one change that writing makes.

    Line ends become newlines; control characters other than tab and newline, DEL and lone
    surrogates go; so do newlines at the end, since a file ends with one anyway.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSTORABLE.sub("", lines).rstrip("\n")


def normalised_body(text: str) -> str:
    """Return `text` as a note can store it; `UsageError` where it is too long for one."""
    body = normalise_text(text)
    size = len(body.encode())
    if size > BODY_LIMIT:
        raise UsageError(
            f"the body has {size} bytes; a node holds {BODY_LIMIT}",
            hint="a node is one fact: write several and link them, or link to the source",
        )
    return body


def normalised_title(title: str) -> str:
    """Return `title` as it is shown: one line, links with words reduced to them."""
    if len(title) > _LONGEST_LINE:
        raise _too_long(title)
    line = _reduce_links(title, _WORDED_LINK)
    if not one_line(line):
        raise UsageError("a node needs a title", hint="say in one sentence what is worth knowing")
    if len(line) > TITLE_LIMIT:
        raise _too_long(line)
    return line


def reduced_targets(title: str) -> tuple[str, ...]:
    """Return where the links lead of which a title keeps the words alone."""
    return tuple(target for target, _ in _WORDED_LINK.findall(clip_text(title, _LONGEST_LINE)))


def normalised_alias(alias: str) -> str:
    """Return `alias` as it is shown, by the rules of titles."""
    if len(alias) > _LONGEST_LINE or len(line := _reduce_links(alias, _WORDED_LINK)) > TITLE_LIMIT:
        raise UsageError(f"the alias {one_line(clip_text(alias, 60))!r} is longer than {TITLE_LIMIT} characters")
    return line


def normalised_agent(agent: str) -> str:
    """Return the name of the writing agent on one line; a node without one would be the human's."""
    if len(agent) > _LONGEST_LINE or len(line := _one_line(agent)) > TITLE_LIMIT:
        raise UsageError(f"the name of who wrote it has {len(agent)} characters; at most {TITLE_LIMIT}")
    if not one_line(line):
        raise UsageError("a node needs a name of who wrote it", hint="--by NAME, or leave it out")
    return require_agent_name(line)


def normalised_tag(tag: str) -> str:
    """Return `tag` in the characters that org allows in tags; empty where none is left."""
    plain = "".join(
        character if _is_tag_character(character) else "_"
        for character in unicodedata.normalize("NFC", normalise_text(tag).strip())
    )
    return plain if plain.strip("_") else ""


def normalised_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return the tags to store: `agent` first, each once."""
    return tuple(dict.fromkeys((AGENT_TAG, *filter(None, map(normalised_tag, tags)))))


def normalised_ref(ref: str) -> Ref:
    """Return `ref` as org-roam will store it; `UsageError` where it would store something else."""
    line = " ".join(normalise_text(ref).split())
    if wrapped := _WRAPPED_REF.fullmatch(line):
        line = wrapped[1] or wrapped[2] or wrapped[3] or ""
    if citation := _CITATION.fullmatch(line):
        return Ref(type="cite", ref=citation[1])
    if (link := _REF.fullmatch(line)) and link[2].strip("/"):
        # Emacs and Python disagree on which of them is punctuation
        last_character = link[2][-1]
        return Ref(type=link[1], ref=link[2] if last_character.isascii() else link[2][:-1] + quote(last_character))
    raise UsageError(
        f"{one_line(clip_text(ref, 80))!r} can't be stored as a ref",
        hint="give an http, https, ftp, doi or mailto address (blanks, brackets and a last punctuation "
        "mark encoded with %), or a citation key as @key",
    )


def link_line(label: str, id: str, title: str) -> str:
    """Return the list item that links to a node."""
    if re.search(r"[\[\]\\%\n]", id) or not id.strip():
        raise UsageError(f"the id {one_line(clip_text(id, 80))!r} can't be linked to")
    # the first `]]` would end the link, as org itself knows; the last ` :: ` ends a list's label
    line = clip_text(_one_line(title), TITLE_LIMIT)
    words = re.sub(r"\](?=\]|$)|(?<= ):(?=: )", rf"\g<0>{BREAK}", line) or id
    return f"- {label} :: [[id:{id}][{words}]]"


def insert_property(text: str, key: str, value: str) -> str:
    """Return `text` with one more line in the drawer at its top; other bytes are unchanged."""
    lines = _split_lines(text)
    start = next((number for number, line in enumerate(lines) if not _COMMENT.match(line)), 0)
    end = next((number for number in range(start, len(lines)) if lines[number].strip().upper() == ":END:"), None)
    if end is None or lines[start].removeprefix("\ufeff").strip().upper() != ":PROPERTIES:":
        raise UsageError("the note has no drawer at its top")
    if any(line.strip().upper().startswith(f":{key}:") for line in lines[start:end]):
        raise UsageError(f"the note has a :{key}: already")
    return "".join((*lines[:end], _property_line(key, value), _line_end(text), *lines[end:]))


def append_link(text: str, label: str, id: str, title: str) -> str:
    """Return `text` with one more link in a list at its end; other bytes are unchanged.

    The end is that of what stands before the first heading: below it, the link might be
    another node's, or nobody's in a commented tree.
    """
    end = _line_end(text)
    top, remainder = _split_at_heading(text)
    lines = _split_lines(top)
    last_line = lines[-1] if lines else end
    gap = "" if _LINE_END.search(last_line) else end
    if not _LIST_LINK.match(last_line):
        gap += end
    return f"{top}{gap}{link_line(label, id, title)}{end}{remainder}"


def check_written(draft: NodeDraft, note: Note) -> None:
    """Raise `NotAsMeant` where the note that was read back differs from the draft."""
    wrong = list(_find_differences(draft, note))
    if wrong:
        raise NotAsMeant("; ".join(wrong))


def _head_lines(draft: NodeDraft, title: str) -> Iterator[str]:
    """Yield the drawer and the two keyword lines."""
    aliases = _stored_aliases(draft)
    refs = dict.fromkeys(map(normalised_ref, draft.refs))
    yield ":PROPERTIES:"
    yield _property_line("ID", draft.id)
    yield _property_line("CREATED", _org_timestamp(draft.created))
    yield _property_line("AGENT", normalised_agent(draft.agent))
    for key, value in (("PROJECT", draft.project), ("SOURCE", draft.source)):
        if _one_line(value):
            yield _property_line(key, value)
    for key, value in draft.properties.items():
        if not _KEY.fullmatch(key) or key in _OWN_KEYS:
            raise UsageError(f"{one_line(key)!r} is no key for an agent's drawer")
        yield _property_line(key, value)
    if aliases:
        yield f":ROAM_ALIASES: {' '.join(_lisp_string(escape_name(alias)) for alias in aliases)}"
    if refs:
        yield f":ROAM_REFS: {' '.join(_lisp_string(str(ref)) for ref in refs)}"
    yield ":END:"
    yield f"#+title: {escape_name(title)}"
    # `:shell:bash:` would be a link in any Emacs that knows the type; org takes blanks between groups as well
    yield f"#+filetags: {' '.join(f':{tag}:' for tag in normalised_tags(draft.tags))}"


def _stored_aliases(draft: NodeDraft) -> tuple[str, ...]:
    """Return the aliases to store, each once, without invisible ones."""
    return tuple(dict.fromkeys(filter(one_line, map(normalised_alias, draft.aliases))))


def _find_differences(draft: NodeDraft, note: Note) -> Iterator[str]:
    """Yield each difference between the draft and the note, one clause each."""
    if note.fault is not None or len(note.nodes) != 1:
        yield note.fault or f"{len(note.nodes)} nodes instead of one"
        return
    node = note.nodes[0]
    comparisons = {
        "id": (draft.id, node.id),
        "level": (0, node.level),
        "title": (normalised_title(draft.title), node.title),
        "tags": (normalised_tags(draft.tags), node.tags),
        "aliases": (sorted(_stored_aliases(draft)), sorted(node.aliases)),
        "refs": (
            sorted({str(normalised_ref(ref)) for ref in draft.refs}),
            sorted(map(str, node.refs)),
        ),
        "text": (_meant_text(draft), body_of(note, node)),
        "agent": (True, is_agent_node(note, node)),
        "set-up files": ((), note.setupfiles),
    }
    yield from (
        f"{label} {one_line(clip_text(str(actual), 80))}"
        for label, (expected, actual) in comparisons.items()
        if expected != actual
    )
    linked = [link.dest for link in node.links if link.type == "id"]
    yield from (f"no link to {one_line(id)}" for id, _ in draft.related if id not in linked)
    live = {link.type for link in node.links if link.type.islower()} - _LINK_TYPES
    yield from (f"a live link of type {one_line(type)}" for type in sorted(live))


def _meant_text(draft: NodeDraft) -> str:
    """Return the expected result of `body_of`: the body, then the links with their words as given."""
    links = unescape_text("\n".join(link_line("related", id, title) for id, title in draft.related))
    body = normalise_text(draft.body)
    return f"{body}\n\n{links}" if body and links else body or links


def _reduce_links(text: str, link: re.Pattern[str] = _LINK) -> str:
    """Return `text` as one line, links reduced to the words that they show."""
    line = clip_text(" ".join(_UNSTORABLE.sub("", " ".join(text.split())).split()), _LONGEST_LINE)
    while (less := " ".join(link.sub(_link_words, line).split())) != line:
        line = less
    return line


def _one_line(text: str) -> str:
    """Return `text` as one line with nothing active in it, links reduced to their words."""
    return defuse_line(_reduce_links(text).replace("[[", f"[{BREAK}["))


def _link_words(link: re.Match[str]) -> str:
    """Return the words that a link shows: its description, else its target."""
    return link[2] or link[1]


def _too_long(title: str) -> UsageError:
    """Return the error for a title that is no title."""
    return UsageError(
        f"the title has {len(title)} characters; at most {TITLE_LIMIT}",
        hint="say it in one sentence, and give the rest as the body",
    )


def _is_tag_character(character: str) -> bool:
    """Say whether org allows the character in a tag."""
    return character in "_@#%" or unicodedata.category(character)[0] in "LM" or character.isdigit()


def stored_value(value: str) -> str:
    """Return `value` as a drawer of ours keeps it, for finding it again."""
    return _one_line(value)


def _property_line(key: str, value: str) -> str:
    """Return a line of the drawer, its value in org-roam's own column."""
    return f"{f':{key}:':<10} {_one_line(value)}"


def _lisp_string(text: str) -> str:
    """Return `text` as Lisp reads a string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _org_timestamp(moment: datetime) -> str:
    """Return an inactive org timestamp."""
    return f"[{moment:%Y-%m-%d} {_DAYS[moment.weekday()]} {moment:%H:%M}]"


def _split_lines(text: str) -> list[str]:
    """Return the lines of `text` with their ends, whichever of the three kinds they have."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if start < end]


def _split_at_heading(text: str) -> tuple[str, str]:
    """Return the text before the first heading, and that heading with the empty lines above it."""
    heading = (_HEADING if "\n" in text else _MAC_HEADING).search(text)
    if heading is None:
        return text, ""
    lines = _split_lines(text[: heading.start()])
    while lines and not lines[-1].strip():
        lines.pop()
    top = "".join(lines)
    return top, text[len(top) :]


def _line_end(text: str) -> str:
    """Return the end of the first line of `text`; a carriage return only where there are no newlines."""
    match = (_LINE_FEED if "\n" in text else _LINE_END).search(text)
    return match[0] if match else "\n"
