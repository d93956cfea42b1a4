"""Lines of a log as they travel: one whole JSON object that says by itself what it is and whose id it has."""

from functools import cached_property
from functools import lru_cache
from typing import Final

from roamkb.core.errors import SecretFound
from roamkb.core.ids import derived_id
from roamkb.core.ids import is_id
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.digests import sha256
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.state.learning_state import REDACTED
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.secrets import detector

#: Bytes; the service takes no longer ones, and a learning has some hundred.
LONGEST_SHARED: Final = 64 * 1024
#: What a line can't hold and stay one.
_LINE_ENDS: Final = (b"\n", b"\r", b"\0")


@dataclass(frozen=True, kw_only=True)
class SharedLine:
    """A line that may travel."""

    line: bytes
    entry: Learning | LedgerEvent

    @property
    def is_event(self) -> bool:
        """Whether it belongs to the ledger."""
        return isinstance(self.entry, LedgerEvent)

    @property
    def text(self) -> str:
        """The line as text."""
        return self.line.decode()

    @cached_property
    def sha256(self) -> bytes:
        """The digest of its bytes."""
        return sha256(self.line).digest()

    @cached_property
    def row_id(self) -> str:
        """The id of its row: its own, or one made of that; of a line without one, made of its bytes."""
        entry = self.entry
        if isinstance(entry, Learning) and entry.id == content_identity(entry.type, entry.content):
            return derived_id(self.text)
        return entry.id if is_id(entry.id) else derived_id(entry.id)

    @property
    def is_redacted(self) -> bool:
        """Whether `forget` took something out of it, so that it differs from what was shared before."""
        return REDACTED.encode() in self.line


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsharedLine:
    """A line that may not travel."""

    reason: str


def read_shared_line(line: bytes) -> SharedLine | UnsharedLine:
    """Return what a line is, whatever it says."""
    if len(line) > LONGEST_SHARED:
        return UnsharedLine(reason=f"it has more than {LONGEST_SHARED:,} bytes")
    entry = _read_entry(line)
    return entry if isinstance(entry, UnsharedLine) else SharedLine(line=line, entry=entry)


def find_withholding_reason(shared: SharedLine, kind: ProjectKind) -> str:
    """Return why a line may neither be offered nor taken in where projects of `kind` share a log; else nothing."""
    entry = shared.entry
    if isinstance(entry, Learning) and kind is ProjectKind.PERSONAL and entry.kind not in (None, kind):
        return f"it says itself that it was learned in a project that is {entry.kind}"
    try:
        for value in (getattr(entry, field.name) for field in fields(entry)):
            if not isinstance(value, str):
                detector.refuse_secrets(value)
            elif value and not is_id(value):
                _refuse_secret(value)
    except SecretFound:
        return "it holds what looks like a secret"
    return ""


@lru_cache(maxsize=1024)
def _refuse_secret(text: str) -> None:
    """Refuse a text as the detector does; agents, sessions and types stand in thousands of lines."""
    detector.refuse_secrets(text)


def _read_entry(line: bytes) -> Learning | LedgerEvent | UnsharedLine:
    is_plain = line.startswith(b"{") and line.endswith(b"}") and not any(end in line for end in _LINE_ENDS)
    try:
        line.decode()
    except UnicodeDecodeError:
        is_plain = False
    if not is_plain:
        return UnsharedLine(reason="it isn't one JSON object in UTF-8")
    learnings, events = list(read_learnings((line,))), list(read_events((line,)))
    is_learning = len(learnings) == 1 and isinstance(learnings[0], LearningLine)
    is_event = len(events) == 1 and isinstance(events[0], LedgerEvent)
    if is_learning == is_event:
        # of a newer version, or what two readers could take for different things
        return UnsharedLine(reason="it is neither a learning nor an event that this roamkb knows")
    entry = learnings[0] if is_learning else events[0]
    return entry.learning if isinstance(entry, LearningLine) else _require_event(entry)


def _require_event(entry: object) -> LedgerEvent | UnsharedLine:
    return entry if isinstance(entry, LedgerEvent) else UnsharedLine(reason="it is no event")
