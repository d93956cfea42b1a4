"""What of all that happens in a session is worth a second look (document 002, the attention filter).

One table says of every type of observation and learning what it is: an insight, a decision,
a discovery, or nothing. Everything else that agents do is sensory input, and forgetting it
is a feature.
"""

from collections.abc import Mapping
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import folded
from roamkb.log.learning import canonical_type
from roamkb.log.observation import Observation as Observation
from roamkb.secrets.detector import SECRET_MARK
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import names_a_secret
from roamkb.text.porter import stem
from roamkb.text.store.lexicons import lexicon
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import words

INSIGHT: Final = "insight"
DECISION: Final = "decision"
DISCOVERY: Final = "discovery"

#: What a learning of these categories may become lasting for (document 002, stage 3).
DURABLE_CATEGORIES: Final = frozenset(
    ("bug_fix", "architecture", "pattern", "decision", "security", "performance")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """What an observation of some type is."""

    #: insight, decision or discovery; empty for what isn't kept.
    filter: str
    #: The type of the learning that it becomes.
    type: str = ""
    #: Its category; empty where the words have to say.
    category: str = ""
    #: Its category where the words don't say either.
    otherwise: str = ""


_NOTHING = Attention(filter="")
#: By observation and learning type. A type that isn't here is somebody's own word for an insight.
ATTENTION: Final[Mapping[str, Attention]] = {
    "tool_use": _NOTHING,
    "error": _NOTHING,
    "message": _NOTHING,
    "prompt": _NOTHING,
    "summary": _NOTHING,
    "insight": Attention(filter=INSIGHT, type="learned"),
    "learned": Attention(filter=INSIGHT, type="learned"),
    "gotcha": Attention(filter=INSIGHT, type="gotcha", otherwise="bug_fix"),
    "must-check": Attention(filter=INSIGHT, type="must-check", otherwise="pattern"),
    "pattern": Attention(filter=INSIGHT, type="pattern", category="pattern"),
    "preference": Attention(filter=INSIGHT, type="pattern", category="pattern"),
    "decision": Attention(filter=DECISION, type="decision", category="decision"),
    "deviation": Attention(filter=DECISION, type="deviation", otherwise="decision"),
    "discovery": Attention(filter=DISCOVERY, type="fact"),
    "fact": Attention(filter=DISCOVERY, type="fact"),
    "investigation": Attention(filter=DISCOVERY, type="investigation", category="bug_fix"),
    "bug_fix": Attention(filter=DISCOVERY, type="learned", category="bug_fix"),
    "architecture": Attention(filter=DECISION, type="decision", category="architecture"),
    "security": Attention(filter=INSIGHT, type="learned", category="security"),
    "performance": Attention(filter=INSIGHT, type="learned", category="performance"),
}


def attention_to(type: str) -> Attention:
    """Return what observations of `type` are."""
    word = canonical_type(type)
    known = ATTENTION.get(word) or ATTENTION.get(word.replace("-", "_"))
    return known or Attention(filter=INSIGHT, type=word or "learned")


def _root(word: str) -> str:
    root = stem(word)
    # the stem of authorization as well
    return word if root == "author" else root


def _categories() -> Mapping[str, frozenset[str]]:
    about: dict[str, frozenset[str]] = {}
    for category, _, names in (line.partition(": ") for line in lexicon("categories")):
        about[category] = about.get(category, frozenset()) | frozenset(map(_root, names.split()))
    return about


#: By the stems of whole words, the first that has most; "prefix" fixes nothing, and an author is no auth.
_CATEGORIES: Final = _categories()


def category_of(text: str, type: str) -> str:
    """Return what `text` is about: by its type, by its words, or as such statements are for the most part.

    `insight` where nothing says.
    """
    known = attention_to(type)
    if known.category:
        return known.category
    said = {_root(folded(word)) for word in words(text)}
    counts = {category: len(said & about) for category, about in _CATEGORIES.items()}
    best = max(counts, key=lambda category: counts[category])
    return best if counts[best] else known.otherwise or INSIGHT


#: Fewer words say nothing that another session could use.
_LEAST_WORDS = 4
_SHORTEST = 12
_MOST_CHARACTERS = 2000


def refused(text: str) -> str:
    """Return why no log may have `text`, whoever wants it kept; empty where one may."""
    if SECRET_MARK.search(text) or find_secret(text):
        return "it held a secret"
    return "it names a secret" if names_a_secret(text) else ""


def neglected(text: str) -> str:
    """Return why `text` isn't worth a second look; empty where it may be.

    A type word is intent: what is announced is kept all the same, and flagged.
    """
    if reason := refused(text):
        return reason
    # one run of Chinese or Thai is a sentence to its reader
    is_short = len(text.strip()) < _SHORTEST or not UNSPACED.search(text)
    if is_short and sum(1 for _ in words(text)) < _LEAST_WORDS:
        return "it says too little"
    if len(text) > _MOST_CHARACTERS:
        return "it is no statement but a document"
    return ""
