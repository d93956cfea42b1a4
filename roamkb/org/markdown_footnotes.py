"""Footnotes for markdown-it-py: references like `[^1]`, and their definitions `[^1]: words`.

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
_LABELS_KEY = "footnotes"


def enable_footnotes(parser: "MarkdownIt") -> None:
    """Make `parser` read footnotes as tokens `footnote_open`, `footnote_close` and `footnote_ref`."""
    parser.block.ruler.before("reference", "footnote", _parse_definition, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.after("link", "footnote_ref", _parse_reference)


def _parse_definition(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    begin = state.bMarks[start] + state.tShift[start]
    match = _DEFINITION.match(state.src, begin, state.eMarks[start])
    if match is None or state.is_code_block(start):
        return False
    if silent:
        return True
    org_labels: dict[str, str] = state.env.setdefault(_LABELS_KEY, {})
    label = org_labels.setdefault(match[1], _org_label(match[1], org_labels))
    saved_state = state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType
    opening = state.push("footnote_open", "", 1)
    opening.meta = {"label": label}
    state.blkIndent += _INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start] = match.end(), 0, state.blkIndent
    state.parentType = "footnote"
    state.md.block.tokenize(state, start, end)
    state.blkIndent -= _INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType = saved_state
    state.push("footnote_close", "", -1)
    return True


def _org_label(label: str, org_labels: dict[str, str]) -> str:
    if _LABEL.fullmatch(label) and label not in org_labels.values():
        return label
    return next(
        f"note-{number}" for number in range(1, len(org_labels) + 2) if f"note-{number}" not in org_labels.values()
    )


def _parse_reference(state: "StateInline", silent: bool) -> bool:
    match = _REFERENCE.match(state.src, state.pos, state.posMax)
    label = state.env.get(_LABELS_KEY, {}).get(match[1]) if match else None
    if match is None or label is None:
        return False
    if not silent:
        state.push("footnote_ref", "", 0).meta = {"label": label}
    state.pos = match.end()
    return True
