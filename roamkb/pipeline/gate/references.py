"""The files and symbols that a learning names, and its status by whether the project has them.

As written: case counts. A path that leads out of the project is no anchor of it.
"""

import posixpath
import re
from collections.abc import Iterator
from collections.abc import Set
from itertools import islice
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.text import code_identifiers
from roamkb.text.store.lexicons import alternatives_pattern

#: So many of each are looked up; more would be a list, not a place.
MOST_FILES: Final = 8
MOST_SYMBOLS: Final = 6

ACTIVE: Final = "active"
NEEDS_REVIEW: Final = "needs_review"
STALE: Final = "stale_candidate"

_PATH = lazily(r"(?<![\w/.@:~$*{}<>\\-])(?:[\w.@+-]{1,100}/){1,20}[\w.@+-]{0,100}\.[A-Za-z]\w{0,7}(?![\w/*{-])")
#: `opencode.ai/docs/x.html` is a page.
_HOST = lazily(r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|edu|gov|app|sh|co|de|uk|eu)/")
_NAME = r"[A-Za-z_$][\w$]{1,80}(?:(?:\.|::|->|#)[A-Za-z_$][\w$]{0,80}){0,5}"
_TICKED = lazily(rf"`({_NAME})(?:\([^`\n]{{0,80}}\))?`")
_CALLED = lazily(rf"(?<![\w$.`])({_NAME})\((?!s\))(?P<closed>\)?)")
_SEPARATORS = lazily(r"\.|::|->|#")
#: A learning about what went away, moved or is yet to come isn't wrong because it isn't there.
_OF_CHANGE = lazily(rf"\b{alternatives_pattern('change')}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAnchors:
    """The files and symbols that a learning names, as written, in its order."""

    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorVerdict:
    """The status of a learning by the files and symbols that it names."""

    #: `ACTIVE`, `NEEDS_REVIEW` or `STALE`.
    status: str
    #: high, medium or low.
    confidence: str
    reason: str
    existing_files: tuple[str, ...] = ()
    missing_files: tuple[str, ...] = ()


def anchors_of(content: str) -> NamedAnchors:
    """Return the first files and symbols that `content` names."""
    symbols = tuple(islice(dict.fromkeys(_named_symbols(content)), MOST_SYMBOLS))
    return NamedAnchors(files=files_of(content), symbols=symbols)


def files_of(content: str) -> tuple[str, ...]:
    """Return the first files that `content` names."""
    # most learnings name none, and to look for paths takes longer
    return tuple(islice(dict.fromkeys(_named_files(content)), MOST_FILES)) if "/" in content else ()


def anchor_verdict(anchors: NamedAnchors, content: str, *, files: Set[str], symbols: Set[str] | None) -> AnchorVerdict:
    """Return the status of a learning whose project has `files` and `symbols`.

    None for `symbols` where nobody looked for them: then they say nothing.
    """
    existing = tuple(file for file in anchors.files if file in files)
    missing = tuple(file for file in anchors.files if file not in files)
    if missing:
        # a name such as src/old/missing.ts says nothing of what became of it
        is_stale = not existing and not _OF_CHANGE.search(_PATH.sub(" ", content))
        reason = "partial_missing_file_anchor" if existing else "missing_file_anchor"
        return AnchorVerdict(
            status=STALE if is_stale else NEEDS_REVIEW,
            confidence="low" if is_stale else "medium",
            reason=reason,
            existing_files=existing,
            missing_files=missing,
        )
    if existing:
        return AnchorVerdict(status=ACTIVE, confidence="high", reason="file_anchor_match", existing_files=existing)
    if not anchors.symbols or symbols is None:
        return AnchorVerdict(status=ACTIVE, confidence="medium", reason="unanchored_memory")
    if not symbols.isdisjoint(anchors.symbols):
        return AnchorVerdict(status=ACTIVE, confidence="medium", reason="symbol_anchor_match")
    return AnchorVerdict(
        status=NEEDS_REVIEW,
        confidence="low",
        reason="missing_symbol_anchor",
    )


def last_part(symbol: str) -> str:
    """Return the last name of a dotted symbol, which code must have where it is used."""
    return _SEPARATORS.split(symbol)[-1]


def _named_files(content: str) -> Iterator[str]:
    for matched in _PATH.finditer(content):
        path = posixpath.normpath(matched[0])
        if not _HOST.match(matched[0]) and not path.startswith(("../", "/")):
            yield path


def _named_symbols(content: str) -> Iterator[str]:
    matches = [(matched.start(), matched[1]) for matched in _TICKED.finditer(content)]
    # `architecture(2 findings)` is no call
    matches += [
        (matched.start(), matched[1])
        for matched in _CALLED.finditer(content)
        if matched["closed"] or code_identifiers.is_code(matched[1])
    ]
    yield from (name for _, name in sorted(matches) if not _PATH.fullmatch(name))
