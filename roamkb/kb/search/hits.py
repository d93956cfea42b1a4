"""The passages that a search found, before they are rendered."""

from roamkb.core.model import OUTLINE_STEP
from roamkb.core.model import Successor
from roamkb.core.model import UnreadableFile
from roamkb.core.model import full_title
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.typing import NamedTuple
from roamkb.kb.search.query import TermWeights


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSignals:
    """What a hit owes its score to; each in the measure of its own."""

    #: BM25 of the words, and of the pairs of words that stand side by side.
    words: float
    pairs: float
    #: Nearness in meaning by the table of words, and by a sentence model, 0 to 1.
    meaning: float
    sentence: float
    #: What it gained by the spelling of its words, and by a link from a good hit.
    spelling: float
    link: float
    all_words: bool
    #: Whether the query calls it by its name.
    called: bool


class Evidence(NamedTuple):
    """How far an answer may be relied on to be about what was asked for."""

    #: Of evidence, and the share of the question's that it has; None where it holds what was asked for as it stands.
    bits: float | None
    share: float | None
    is_sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageHit:
    """A passage that matches a query: a node, or the text of a file outside all nodes."""

    #: None for text in a file that holds no node around it.
    id: str | None
    title: str
    #: The titles above a heading, as they are shown; empty for what is no heading.
    outline: str
    aliases: tuple[str, ...]
    #: How a note that links to it calls it, where that says more of the query than its own names; else empty.
    link_text: str
    #: Initials of its title or an alias that the query says; else empty.
    initials: str
    #: Relative to the knowledge base, with `/`.
    file: str
    #: The line that shows the title.
    line: int
    tags: tuple[str, ...]
    #: When it was made, local ISO; empty where nothing says so.
    date: str
    #: The folder of the project that an agent wrote it in; empty for a human's.
    project: str
    #: 1 for the best; 0 where nothing but filters was asked for.
    score: float
    #: What it owes its place to, strongest first.
    why: tuple[str, ...]
    #: Lines that hold a term, best first; empty where only title, alias or tags do.
    lines: tuple[tuple[int, str], ...]
    #: What replaced it, and what replaced that; None where nobody asked for the past.
    replaced_by: tuple[Successor, ...] | None = None
    #: None where it matches no word.
    signals: RankSignals | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called: its title and aliases, their initials, and by a link."""
        return (*self.own_names, *filter(None, (self.initials, self.link_text)))

    @property
    def own_names(self) -> tuple[str, ...]:
        """Its title and its aliases; the titles above it as well where its own says something of the query."""
        above = self.outline if "title" in self.why else ""
        return (OUTLINE_STEP.join(filter(None, (above, self.title))), *self.aliases)

    @property
    def full_title(self) -> str:
        """Its title, behind those above it."""
        return full_title(self.outline, self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWord:
    """A word that no note has, and those of the notes that are spelled nearly so."""

    word: str
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageHits:
    """The answers to a query, best first, the weights of its terms, and the files that could not be read."""

    answers: tuple[PassageHit, ...]
    weights: TermWeights
    skipped: tuple[UnreadableFile, ...]
    conflict_copies: int
    #: How many weaker ones were found as well, at least.
    left_out: int = 0
    #: Words of the query that no note has, where notes have some that are spelled nearly so.
    unknown: tuple[UnknownWord, ...] = ()
    #: How many notes were read for this answer alone, since no index could be kept or used; the answer is the same.
    read_without_index: int = field(default=0, compare=False)
