"""One learning as a line of a project's `knowledge.jsonl` has it (docs/log-and-pipeline.md).

The log is append-only, so a learning never changes; what happens to it afterwards is in
the ledger, and `log/state/learning_state` folds the two into what counts today.
"""

import unicodedata
from collections.abc import Iterable
from collections.abc import Mapping
from functools import lru_cache

from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.startup.typing import Final
from roamkb.core.text import one_line
from roamkb.core.text import storable_text
from roamkb.core.timestamps import TimeOrNull
from roamkb.text import fuzzy
from roamkb.text.similarity.shell_remnants import without_debris

MUST_CHECK: Final = "must-check"

#: The types that come with the product; any other word is one as well.
TYPES: Final = (
    "learned",
    "decision",
    "fact",
    "pattern",
    "investigation",
    "deviation",
    "gotcha",
    "must-check",
)
#: Other words for them, as people and other tools say it.
ALIASES: Final[Mapping[str, str]] = {
    "lesson": "learned",
    "insight": "learned",
    "learning": "learned",
    "learnt": "learned",
    "lesson-learned": "learned",
    "must_check": "must-check",
    "mustcheck": "must-check",
}
#: The type of an agent's account of what it learned, and how the origin of one that roamkb made begins.
SUMMARY: Final = "summary"
SUMMARY_ORIGIN: Final = "agent:"
#: A decision is an act of its own day, however much it resembles another.
NEVER_MERGED: Final = frozenset({"decision"})
#: Key of a line: the names of the knowledge bases for which its project was personal, if not for the default one.
KBS_FIELD: Final = "kbs"
#: Letters of a content that a key shows, as Lavra's capture has it.
_SLUG_LENGTH = 60
_HASH_LENGTH = 8
#: Characters of a key that is listed; who names it may leave out the rest.
SHORT_KEY: Final = 32
#: Between the beginning of a key and the end of its id; no key has it.
KEY_CUT: Final = "~"
_ID_END: Final = 4
#: In words of so many letters two slips are none of another word's making, and so many say which is begun.
_LONG_WORD = 8
_LEAST_TYPE_START = 4
#: No type that comes with the product is nearly as long.
_LONGEST_SLIP = 30
#: How the origin begins of a learning that was announced in passing.
OBSERVATION_PREFIX: Final = "observation:"
#: Aliases of one learning, and letters of each.
MOST_ALIASES: Final = 8
LONGEST_ALIAS: Final = 200
_NOT_SLUG = lazily(r"[^a-z0-9]+")
_NOT_TYPE = lazily(r"[^\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """A typed statement worth keeping."""

    #: Its own id, or for a line without one `content_identity`.
    id: str
    #: A label for people; several learnings may share it (D4).
    key: str
    #: As the line says it; `canonical_type` tells what it means.
    type: str
    #: Byte for byte as it was said.
    content: str
    source: str = "user"
    tags: tuple[str, ...] = ()
    #: Seconds since 1970, UTC; 0 where the line doesn't say.
    ts: TimeOrNull = 0
    bead: str = ""
    agent: str = ""
    session: str = ""
    task: str = ""
    category: str = ""
    #: Files that it is about, in gitignore syntax.
    files: tuple[str, ...] = ()
    #: What somebody who lacks it would type when it is needed, in other words than its own.
    aliases: tuple[str, ...] = ()
    #: What one does when it matters: CREATE, UPDATE, DELETE…
    actions: tuple[str, ...] = ()
    #: user-stated, observed, inferred or external; empty where the line doesn't say.
    provenance: str = ""
    #: Where it was imported from, `knowledge_import:<key>`.
    origin: str = ""
    #: What the project was that it was learned in; None where the line doesn't say.
    kind: ProjectKind | None = None
    #: In hundredths, as first said; None where the line doesn't say.
    confidence: int | None = None
    #: Whether it was in the log before this machine adopted that (`log/state/adoption`); no line says so.
    is_adopted: bool = False
    #: Keys of the line that we don't know, and those that few lines have.
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def statement(self) -> str:
        """Its content without the debris of a shell: to be shown, compared and promoted."""
        return without_debris(self.content)

    @property
    def topic(self) -> str:
        """Its task, or else its bead."""
        return self.task or self.bead

    @property
    def is_observed(self) -> bool:
        """Whether it was announced in passing: taken from a session's messages, not told by a caller."""
        return self.origin.startswith(OBSERVATION_PREFIX)

    def may_enter(self, kb_name: str) -> bool:
        """Say whether its project was personal for that knowledge base as it was learned; "" is the default one."""
        if self.kind is ProjectKind.PERSONAL:
            return True
        names = self.extra.get(KBS_FIELD)
        # another machine's names may mean other folders
        is_own = self.kind is ProjectKind.UNKNOWN and not (self.is_adopted or self.origin)
        return is_own and isinstance(names, list) and kb_name in names

    @property
    def canonical_type(self) -> str:
        """Its type, aliases resolved."""
        return canonical_type(self.type)

    @property
    def is_summary(self) -> bool:
        """Whether it only counts what an agent learned: nobody is told it unasked, nor beside learnings."""
        return self.type == SUMMARY and self.origin.startswith(SUMMARY_ORIGIN)


def fitting_aliases(aliases: Iterable[str]) -> tuple[str, ...]:
    """Return aliases as they are kept, whoever gave them: on one line, once each, none too long, and a few."""
    cleaned = dict.fromkeys(one_line(storable_text(alias)) for alias in aliases)
    return tuple(alias for alias in cleaned if 0 < len(alias) <= LONGEST_ALIAS)[:MOST_ALIASES]


@lru_cache(maxsize=256)
def canonical_type(word: str) -> str:
    """Return the type that `word` stands for: lower case, aliases resolved, else the word itself."""
    plain = _NOT_TYPE.sub("-", word.strip().strip(":").casefold()).strip("-")
    return ALIASES.get(plain, plain)


def nearest_type(word: str) -> str:
    """Return the known type that `word` misspells or begins; empty where it is a type, or close to none."""
    plain = canonical_type(word)
    names = (*TYPES, *ALIASES)
    if plain in names or len(plain) > _LONGEST_SLIP:
        return ""
    slips = {name: fuzzy.edit_distance(plain, name) for name in names}
    nearest = min(names, key=lambda name: slips[name])
    if slips[nearest] <= (1 if len(nearest) < _LONG_WORD else 2):
        return canonical_type(nearest)
    completed = next((name for name in names if len(plain) >= _LEAST_TYPE_START and name.startswith(plain)), "")
    return canonical_type(completed)


def content_identity(type: str, content: str) -> str:
    """Return the SHA-256 of type and content, the id of a line without an id (docs/log-and-pipeline.md)."""
    return sha256(f"{type}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()


def line_id(type: str, key: str, content: str, ts: float) -> str:
    """Return the id of a line of another tool's: the same on every machine that reads it."""
    hashed_text = "\0".join((canonical_type(type), key, str(float(ts)), content))
    half = sha256(hashed_text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{half[:8]}-{half[8:12]}-{half[12:16]}-{half[16:20]}-{half[20:]}"


def key_of(type: str, content: str) -> str:
    """Return the label of a learning as Lavra makes it: the type, and a slug of the content.

    Where nothing is left of the content, a hash of it follows instead.
    """
    return f"{type}-{_content_slug(content) or content_identity(type, content)[:_HASH_LENGTH]}"


def label_of(type: str, content: str) -> str:
    """Return the label of a new learning: as `key_of`, with accents removed first.

    Where ASCII has fewer than half of the letters, as in Japanese, they stand as they are.
    """
    letters = unicodedata.normalize("NFD", content)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    ascii_slug, own_slug = _content_slug(plain), _own_slug(content)
    slug = ascii_slug if 2 * _count_letters(ascii_slug) >= _count_letters(own_slug) else own_slug
    return f"{type}-{slug or content_identity(type, content)[:_HASH_LENGTH]}"


def _own_slug(content: str) -> str:
    """Return the slug of a content in its own script: letters with their marks, and digits."""
    composed = unicodedata.normalize("NFC", content).casefold()
    start = composed.encode("utf-8", "replace")[:_SLUG_LENGTH].decode("utf-8", "ignore")
    kept = (sign if sign.isalnum() or unicodedata.category(sign).startswith("M") else " " for sign in start)
    return "-".join("".join(kept).split())


def _count_letters(slug: str) -> int:
    return len(slug) - slug.count("-")


def _content_slug(content: str) -> str:
    ascii_start = content.encode("utf-8", "surrogatepass")[:_SLUG_LENGTH].decode("ascii", "replace")
    return _NOT_SLUG.sub("-", ascii_start.lower()).strip("-")


def disambiguated_key(key: str, type: str, content: str) -> str:
    """Return `key` with a hash of the content, to differ from the same key of another content."""
    return f"{key}-{content_identity(type, content)[:_HASH_LENGTH]}"


def short_key(learning: Learning) -> str:
    """Return a learning's key, or its beginning and the end of the id, which no other's is likely to be."""
    key = learning.key
    return key if len(key) <= SHORT_KEY else f"{key[: SHORT_KEY - _ID_END - 1]}{KEY_CUT}{learning.id[-_ID_END:]}"
