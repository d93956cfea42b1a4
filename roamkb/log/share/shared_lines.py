"""Lines of a log as they travel: one whole JSON object that says by itself what it is and whose id it has."""

from collections.abc import Iterator
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from roamkb.core.ids import derived_id
from roamkb.core.ids import is_id
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.digests import sha256
from roamkb.log.jsonl import parse_line
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
    is_plain = line.startswith(b"{") and line.endswith(b"}") and not any(end in line for end in _LINE_ENDS)
    try:
        line.decode()
    except UnicodeDecodeError:
        is_plain = False
    if not is_plain:
        return UnsharedLine(reason="it isn't one JSON object in UTF-8")
    entry = parse_line(line)
    if entry is None:
        # of a newer version, or what two readers could take for different things
        return UnsharedLine(reason="it is neither a learning nor an event that this roamkb knows")
    return SharedLine(line=line, entry=entry)


def find_withholding_reasons(lines: Sequence[SharedLine], kind: ProjectKind) -> Iterator[str]:
    """Yield for each line why it may neither be offered nor taken in where projects of `kind` share a log, or nothing.

    All are searched for secrets at once, which is what takes time.
    """
    texts = [detector.texts_within([getattr(line.entry, field.name) for field in fields(line.entry)]) for line in lines]
    secrets = detector.find_secrets(text for text in set(chain(*texts)) if not is_id(text))
    for shared, said in zip(lines, texts, strict=True):
        entry = shared.entry
        if isinstance(entry, Learning) and kind is ProjectKind.PERSONAL and entry.kind not in (None, kind):
            yield f"it says itself that it was learned in a project that is {entry.kind}"
        else:
            yield "" if secrets.keys().isdisjoint(said) else "it holds what looks like a secret"
