"""The attention filter: which types of observations are worth a second look (document 002).

One table says of every type of observation and learning what it is: an insight, a decision,
a discovery, or nothing. Everything else that agents do is sensory input, and forgetting it
is a feature.
"""

from collections.abc import Mapping
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import fold_text
from roamkb.log.learning import canonical_type
from roamkb.log.observation import Observation as Observation
from roamkb.secrets.detector import SECRET_MARK
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import names_a_secret
from roamkb.text.porter import stem
from roamkb.text.store.lexicons import lexicon
from roamkb.text.tokenize import UNSPACED
from roamkb.text.tokenize import split_words

INSIGHT: Final = "insight"
DECISION: Final = "decision"
DISCOVERY: Final = "discovery"

#: What a learning of these categories may become lasting for (document 002, stage 3).
DURABLE_CATEGORIES: Final = frozenset(("bug_fix", "architecture", "pattern", "decision", "security", "performance"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """The class of an observation type: its filter, learning type and category."""

    #: insight, decision or discovery; empty for what isn't kept.
    filter: str
    #: The type of the learning that it becomes.
    type: str = ""
    #: Its category; empty where the words have to say.
    category: str = ""
    #: Its category where the words don't say either.
    fallback_category: str = ""


_IGNORED = Attention(filter="")
#: By observation and learning type. A type that isn't here is somebody's own word for an insight.
ATTENTION: Final[Mapping[str, Attention]] = {
    "tool_use": _IGNORED,
    "error": _IGNORED,
    "message": _IGNORED,
    "prompt": _IGNORED,
    "summary": _IGNORED,
    "insight": Attention(filter=INSIGHT, type="learned"),
    "learned": Attention(filter=INSIGHT, type="learned"),
    "gotcha": Attention(filter=INSIGHT, type="gotcha", fallback_category="bug_fix"),
    "must-check": Attention(filter=INSIGHT, type="must-check", fallback_category="pattern"),
    "pattern": Attention(filter=INSIGHT, type="pattern", category="pattern"),
    "preference": Attention(filter=INSIGHT, type="pattern", category="pattern"),
    "decision": Attention(filter=DECISION, type="decision", category="decision"),
    "deviation": Attention(filter=DECISION, type="deviation", fallback_category="decision"),
    "discovery": Attention(filter=DISCOVERY, type="fact"),
    "fact": Attention(filter=DISCOVERY, type="fact"),
    "investigation": Attention(filter=DISCOVERY, type="investigation", category="bug_fix"),
    "bug_fix": Attention(filter=DISCOVERY, type="learned", category="bug_fix"),
    "architecture": Attention(filter=DECISION, type="decision", category="architecture"),
    "security": Attention(filter=INSIGHT, type="learned", category="security"),
    "performance": Attention(filter=INSIGHT, type="learned", category="performance"),
}


def attention_to(type: str) -> Attention:
    """Return the class of observations of `type`."""
    word = canonical_type(type)
    attention = ATTENTION.get(word) or ATTENTION.get(word.replace("-", "_"))
    return attention or Attention(filter=INSIGHT, type=word or "learned")


def _category_stem(word: str) -> str:
    root = stem(word)
    # the stem of authorization as well
    return word if root == "author" else root


def _load_category_stems() -> Mapping[str, frozenset[str]]:
    about: dict[str, frozenset[str]] = {}
    for category, _, names in (line.partition(": ") for line in lexicon("categories")):
        about[category] = about.get(category, frozenset()) | frozenset(map(_category_stem, names.split()))
    return about


#: By the stems of whole words, the first that has most; "prefix" fixes nothing, and an author is no auth.
_CATEGORY_STEMS: Final = _load_category_stems()


def category_of(text: str, type: str) -> str:
    """Return a text's category: by its type, by its words, or by what is usual for the type.

    `insight` where nothing says.
    """
    attention = attention_to(type)
    if attention.category:
        return attention.category
    text_stems = {_category_stem(fold_text(word)) for word in split_words(text)}
    counts = {category: len(text_stems & about) for category, about in _CATEGORY_STEMS.items()}
    best_category = max(counts, key=lambda category: counts[category])
    return best_category if counts[best_category] else attention.fallback_category or INSIGHT


#: Fewer words say nothing that another session could use.
_LEAST_WORDS = 4
_SHORTEST = 12
_MOST_CHARACTERS = 2000


def secret_reason(text: str) -> str:
    """Return the reason why no log may have `text`, a secret; empty where a log may have it."""
    if SECRET_MARK.search(text) or find_secret(text):
        return "it held a secret"
    return "it names a secret" if names_a_secret(text) else ""


def neglect_reason(text: str) -> str:
    """Return the reason why `text` isn't worth a second look; empty where it may be.

    A type word is intent: what is announced is kept all the same, and flagged.
    """
    if reason := secret_reason(text):
        return reason
    # one run of Chinese or Thai is a sentence to its reader
    is_short = len(text.strip()) < _SHORTEST or not UNSPACED.search(text)
    if is_short and sum(1 for _ in split_words(text)) < _LEAST_WORDS:
        return "it says too little"
    if len(text) > _MOST_CHARACTERS:
        return "it is no statement but a document"
    return ""
