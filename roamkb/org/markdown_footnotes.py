"""Footnotes for markdown-it-py: `[^1]` in a text, and `[^1]: words` that say what it is.

CommonMark has none, and would read a definition of one word as the address of a link.
"""

from typing import TYPE_CHECKING

from roamkb.core.startup.lazy_regex import lazily

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

_DEFINITION = lazily(r"\[\^([^\]\s\[^]+)\]:[ \t]*")
_REFERENCE = lazily(r"\[\^([^\]\s\[^]+)\]")
#: What an org label may hold.
_LABEL = lazily(r"[A-Za-z0-9_-]+")
#: By how much what follows a definition's first line is indented.
_INDENT = 4
#: Under what the parser's environment has the labels: as they are written, and as org has them.
_KNOWN = "footnotes"


def footnotes(parser: "MarkdownIt") -> None:
    """Have `parser` read footnotes, as tokens `footnote_open`, `footnote_close` and `footnote_ref`."""
    parser.block.ruler.before("reference", "footnote", _definition, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.after("link", "footnote_ref", _reference)


def _definition(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    found = _DEFINITION.match(state.src, begin, state.eMarks[start])
    if found is None or state.is_code_block(start):
        return False
    if silent:
        return True
    known: dict[str, str] = state.env.setdefault(_KNOWN, {})
    label = known.setdefault(found[1], _org_label(found[1], known))
    before = state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType
    opening = state.push("footnote_open", "", 1)
    opening.meta = {"label": label}
    state.blkIndent += _INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start] = found.end(), 0, state.blkIndent
    state.parentType = "footnote"
    state.md.block.tokenize(state, start, end)
    state.blkIndent -= _INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType = before
    state.push("footnote_close", "", -1)
    return True


def _org_label(label: str, known: dict[str, str]) -> str:
    if _LABEL.fullmatch(label) and label not in known.values():
        return label
    return next(f"note-{n}" for n in range(1, len(known) + 2) if f"note-{n}" not in known.values())


def _reference(state: "StateInline", silent: bool) -> bool:
    found = _REFERENCE.match(state.src, state.pos, state.posMax)
    label = state.env.get(_KNOWN, {}).get(found[1]) if found else None
    if found is None or label is None:
        return False
    if not silent:
        state.push("footnote_ref", "", 0).meta = {"label": label}
    state.pos = found.end()
    return True
