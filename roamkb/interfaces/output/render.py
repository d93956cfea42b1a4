"""Results as text and as JSON (docs/json.md): hidden characters are stripped from output only.

What is shown is cleaned; what is stored never is.
"""

import json
from collections.abc import Callable
from collections.abc import Iterable
from pathlib import Path

from roamkb.core.errors import Refused
from roamkb.core.errors import RoamkbError
from roamkb.core.model import Hit
from roamkb.core.model import NodeCandidate
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import HIDDEN_CHARACTERS
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.core.text import strip_hidden
from roamkb.interfaces.output import encode
from roamkb.kb.search import search

#: A line of a minified page would fill the screen; JSON has the whole of it.
_LINE_WIDTH = 240
#: What is longer is data, and fills an agent's context.
_LONGEST_WHOLE_LINE = 2000
#: Said before hits that share only common words with the question, as those of nearly any question do.
_NOTHING_SURE = (
    "nothing sure: the hits share too few telling words with this; read one before you rely on it, or search for a name"
)
#: Skipped files that each answer names; `doctor` names all.
_MOST_SKIPPED = 3
_COLOUR = lazily(r"\x1b\[\d+m")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedResult:
    """A result, ready to be printed one way or the other."""

    #: What was found or done: its fields are the keys of the JSON.
    result: object
    #: The text, for a terminal (True) or a pipe (False).
    text: Callable[[bool], str]
    status: int = 0
    #: Said on standard error beside the text.
    warnings: tuple[str, ...] = ()
    #: Said there as well, after the text, to a human at a terminal.
    advice: str = ""
    #: Whether it may be shown in a pager: what was changed is said at once, and waits for no key.
    is_pageable: bool = True

    @property
    def as_json(self) -> "encode.Json":
        """The result as every interface answers with it."""
        return encode.answer_json(self.result)


def dump_json(value: "encode.Json") -> str:
    """Return one JSON object in which no character can act on a terminal; nothing is lost."""
    text = json.dumps(value, ensure_ascii=False)
    return HIDDEN_CHARACTERS.sub(lambda match: json.dumps(match.group())[1:-1], text)


def error_json(error: RoamkbError) -> "encode.Json":
    """Return the JSON object of an error, as docs/json.md specifies it."""
    return encode.answer_json({"refused" if isinstance(error, Refused) else "error": error})


def error_text(error: RoamkbError) -> str:
    """Return the error's text for standard error: the event, then the advice."""
    return error.message + (f"\n  {error.hint}" if error.hint else "")


def render_result(name: str, result: object) -> PrintedResult:
    """Return the result of the operation called `name`, ready to be printed."""
    return find_renderer(name)(result)


def candidate_line(candidate: NodeCandidate) -> str:
    """Return a line that identifies a node."""
    return f"{one_line(str(candidate.path))}: {shorten_title(candidate.title)} ({one_line(candidate.id)})"


def warnings_of(skipped: Iterable[UnreadableFile]) -> tuple[str, ...]:
    """Return a line for each unreadable file that a user can do something about; of many, the number of the rest."""
    lines = [f"{one_line(str(entry.path))}: {one_line(entry.reason)}" for entry in skipped if not entry.is_elsewhere]
    more = len(lines) - _MOST_SKIPPED
    # no line for a line
    if more <= 1:
        return tuple(lines)
    return (*lines[:_MOST_SKIPPED], f"{more} more files were skipped; `roamkb doctor` names them")


def without_colours(text: str) -> str:
    """Return `text` without the colours of `TerminalStyle`; no shown text can look like them."""
    return _COLOUR.sub("", text)


class TerminalStyle:
    """Colours for a terminal, nothing for a pipe."""

    def __init__(self, terminal: bool) -> None:
        """Take whether the output is a terminal."""
        self._terminal = terminal

    def _paint_text(self, code: int, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._terminal and text else text

    def bold(self, text: str) -> str:
        """Emphasize `text`."""
        return self._paint_text(1, text)

    def dim(self, text: str) -> str:
        """Subdue `text` of minor importance."""
        return self._paint_text(2, text)

    def green(self, text: str) -> str:
        """Colour `text` that reports success."""
        return self._paint_text(32, text)

    def cyan(self, text: str) -> str:
        """Colour `text` that is a location."""
        return self._paint_text(36, text)


def _printed_search(result: "search.SearchResult") -> PrintedResult:
    def render_text(terminal: bool) -> str:
        if result.trace is not None:
            return "\n".join(map(_traced_line, result.trace))
        shown_text = _whole_line if result.has_whole_lines else _hit_text
        if result.ends_paths_with_nul:
            lines = ("" if result.only_files else f"{hit.line}: {shown_text(hit)}\n" for hit in result.hits)
            return "".join(f"{hit.path}\0{line}" for hit, line in zip(result.hits, lines, strict=True))
        if result.only_files:
            return "\n".join(one_line(str(hit.path)) for hit in result.hits)
        if not terminal:
            return "\n".join(f"{one_line(str(h.path))}:{h.line}: {shown_text(h)}" for h in result.hits)
        style = TerminalStyle(terminal)
        return "\n".join(
            f"{style.bold(shorten_title(hit.full_title))}  {_sure_mark(hit, style)}{style.dim(_hit_facts(hit))}\n"
            f"  {style.cyan(f'{one_line(str(hit.path))}:{hit.line}')}\n"
            f"  {shown_text(hit)}"
            for hit in result.hits
        )

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.hits else 1,
        advice=f"{count_phrase(result.left_out, 'weaker hit')} more: --all" if result.hits and result.left_out else "",
        warnings=(
            *filter(None, (result.as_of,)),
            *result.hints,
            *(_NOTHING_SURE,) * result.nothing_sure,
            *([f"{count_phrase(result.encrypted, 'encrypted note')} not searched"] if result.encrypted else ()),
            *warnings_of(result.skipped),
        ),
    )


def _traced_line(hit: "search.TracedHit") -> str:
    """Return a candidate's line: its score, its signals, the bits of evidence and what became of it."""
    signals = encode.object_json(hit.signals) if hit.signals else {}
    facts = " ".join(
        f"{name}={value:.2f}" if isinstance(value, float) else name for name, value in signals.items() if value
    )
    bits = "" if hit.bits is None else f" bits={hit.bits:.1f} share={hit.share or 0:.2f}"
    fate = hit.dropped or ("sure" if hit.is_sure else "shown, not sure")
    return f"{hit.score:.2f} {facts}{bits} [{fate}] {format_location(hit.path, hit.line)}: {shorten_title(hit.title)}"


def _sure_mark(hit: Hit, style: TerminalStyle) -> str:
    return style.green("sure") + "  " if hit.sure else ""


def _hit_text(hit: Hit) -> str:
    return clip_text(one_line(hit.text), _LINE_WIDTH) + hit.replaced_mark


def _whole_line(hit: Hit) -> str:
    return clip_text(strip_hidden(hit.text).replace("\n", " "), _LONGEST_WHOLE_LINE) + hit.replaced_mark


def _hit_facts(hit: Hit) -> str:
    return " ".join(filter(None, (hit.date[:10], tags_text(hit.tags), ", ".join(hit.why))))


def tags_text(tags: Iterable[str]) -> str:
    """Return tags as org writes them."""
    joined = ":".join(one_line(tag) for tag in tags)
    return f":{joined}:" if joined else ""


def format_location(path: Path, line: int) -> str:
    """Return a location as grep prints it."""
    return f"{one_line(str(path))}:{line}"


#: The rooms of renderers that few calls need.
_RENDERER_MODULES = {
    name: room
    for room, names in {
        "notes": "show links daily tags index nodes write supersede trash restore inventory classify",
        "maintenance": "hygiene conflicts doctor install setup uninstall",
        "spool": "queued",
        "journal": "journal",
        "sharing": "template bundle snapshot forget share",
        "trust": "trust",
        "log": "init learn extract observe consolidate recall ingest",
        "pipeline": "verify promote",
        "instructions": "review approve reject rollback",
        "tasks": "task relevant used stats",
        "remedies": "remedy",
        "context": "brief inject shown",
        "curation": "audit refine curate explain pin prefer undo override export",
    }.items()
    for name in names.split()
}


def find_renderer(name: str) -> Callable[..., PrintedResult]:
    """Return the renderer of the operation called `name`; its module is imported on demand."""
    if name == "search":
        return _printed_search
    from importlib import import_module

    renderer: Callable[..., PrintedResult] = getattr(
        import_module(f"roamkb.interfaces.output.{_RENDERER_MODULES[name]}"), name
    )
    return renderer
