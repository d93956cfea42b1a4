"""Results as text and as JSON (docs/json.md). What is shown is cleaned; what is stored never is."""

import json
from collections.abc import Callable
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.core.errors import Refused
from roamkb.core.errors import RoamkbError
from roamkb.core.model import Hit
from roamkb.core.model import NodeCandidate
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import HIDDEN
from roamkb.core.text import clipped
from roamkb.core.text import headline
from roamkb.core.text import shown

if TYPE_CHECKING:
    from roamkb.interfaces.output.encode import Json
    from roamkb.kb.search.search import SearchResult

#: A line of a minified page would fill the screen; JSON has the whole of it.
_LINE_WIDTH = 240
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

    @property
    def json(self) -> "Json":
        """The result as the doors answer with it."""
        from roamkb.interfaces.output.encode import answer_json

        return answer_json(self.result)


def dumps(value: "Json") -> str:
    """Return one JSON object in which no character can act on a terminal; nothing is lost."""
    text = json.dumps(value, ensure_ascii=False)
    return HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], text)


def error_json(error: RoamkbError) -> "Json":
    """Return the error as the contract has it."""
    from roamkb.interfaces.output.encode import answer_json

    return answer_json({"refused" if isinstance(error, Refused) else "error": error})


def error_text(error: RoamkbError) -> str:
    """Return the error for standard error: what happened, then what to do."""
    return error.message + (f"\n  {error.hint}" if error.hint else "")


def render(name: str, result: object) -> PrintedResult:
    """Return the result of the operation called `name`, ready to be printed."""
    return _RENDERERS[name](result)


def candidate_line(candidate: NodeCandidate) -> str:
    """Return what names a node, in a line."""
    return f"{shown(str(candidate.path))}: {headline(candidate.title)} ({shown(candidate.id)})"


def warnings_of(skipped: Iterable[UnreadableFile]) -> tuple[str, ...]:
    """Return for standard error which files could not be read, where something can be done about the file."""
    return tuple(
        f"{shown(str(entry.path))}: {shown(entry.reason)}" for entry in skipped if not entry.is_elsewhere
    )


def without_colours(text: str) -> str:
    """Return `text` without what `TerminalStyle` put into it; of what it shows nothing can look like that."""
    return _COLOUR.sub("", text)


class TerminalStyle:
    """Colours for a terminal, nothing for a pipe."""

    def __init__(self, terminal: bool) -> None:
        """Take whether it is a terminal."""
        self._terminal = terminal

    def _paint(self, code: int, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._terminal and text else text

    def bold(self, text: str) -> str:
        """Make text stand out."""
        return self._paint(1, text)

    def dim(self, text: str) -> str:
        """Make text recede."""
        return self._paint(2, text)

    def green(self, text: str) -> str:
        """Mark text as good news."""
        return self._paint(32, text)

    def cyan(self, text: str) -> str:
        """Where it is."""
        return self._paint(36, text)


def _search(result: "SearchResult") -> PrintedResult:
    def text(terminal: bool) -> str:
        if result.only_files:
            return "\n".join(shown(str(hit.path)) for hit in result.hits)
        if not terminal:
            return "\n".join(f"{shown(str(h.path))}:{h.line}: {_said(h)}" for h in result.hits)
        style = TerminalStyle(terminal)
        return "\n".join(
            f"{style.bold(headline(hit.title))}  {style.dim(_about(hit))}\n"
            f"  {style.cyan(f'{shown(str(hit.path))}:{hit.line}')}\n"
            f"  {_said(hit)}"
            for hit in result.hits
        )

    return PrintedResult(
        result=result, text=text, status=0 if result.hits else 1, warnings=warnings_of(result.skipped)
    )


def _said(hit: Hit) -> str:
    return clipped(shown(hit.text), _LINE_WIDTH) + hit.mark


def _about(hit: Hit) -> str:
    return " ".join(filter(None, (hit.date[:10], tags_text(hit.tags), ", ".join(hit.why))))


def tags_text(tags: Iterable[str]) -> str:
    """Return tags as org writes them."""
    joined = ":".join(shown(tag) for tag in tags)
    return f":{joined}:" if joined else ""


def place(path: Path, line: int) -> str:
    """Return a place as grep does."""
    return f"{shown(str(path))}:{line}"


def _report(name: str, room: str) -> Callable[[object], PrintedResult]:
    """Return a renderer of another room, which few calls need."""

    def render_report(result: object) -> PrintedResult:
        from importlib import import_module

        renderer: Callable[[object], PrintedResult] = getattr(
            import_module(f"roamkb.interfaces.output.{room}"), name
        )
        return renderer(result)

    return render_report


#: Renderers that few calls need, by the room that they are in.
_ROOMS = {
    "notes": "show links tags index nodes write supersede trash restore inventory classify",
    "maintenance": "hygiene conflicts doctor install uninstall",
    "spool": "queued",
    "journal": "journal",
    "sharing": "template bundle snapshot",
    "log": "init learn extract observe consolidate recall ingest",
    "pipeline": "verify promote",
    "instructions": "review approve reject rollback",
    "tasks": "task relevant used stats",
    "remedies": "remedy",
    "context": "brief inject",
    "curation": "audit refine curate explain pin prefer undo override export",
}
_RENDERERS: dict[str, Callable[..., PrintedResult]] = {
    "search": _search,
    **{name: _report(name, room) for room, names in _ROOMS.items() for name in names.split()},
}
