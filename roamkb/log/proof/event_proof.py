"""Proofs in events: what a key signed once for all events of a yes, and what each needs to be checked by itself.

The signed message names the project, the digest of what was shown, the event before, and one digest of all lines of
the yes. Each line has beside the signature only the way from itself to that digest, a Merkle path: lines that are
lost or redacted take the proof from no other. A line's id and time are signed as well, so that a copy is the line.
"""

import base64
import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import sha256
from roamkb.log.jsonl import event_line
from roamkb.log.proof.key_signature import decode_base64
from roamkb.log.state.learning_state import SIGNED
from roamkb.log.state.learning_state import TYPED
from roamkb.log.state.learning_state import UNPROVEN
from roamkb.log.state.learning_state import YES_FIELD
from roamkb.log.state.learning_state import LedgerEvent

#: The field with the signature, and what it is about.
PROOF_FIELD: Final = "proof"
#: The field of such an event with what it would be.
CLAIMED_FIELD: Final = "claims"
#: Another tool's events have no reason to be longer.
_LONGEST_PATH: Final = 64
_LEFT: Final = "<"
_RIGHT: Final = ">"


@dataclass(frozen=True, slots=True, kw_only=True)
class Yes:
    """A yes to be signed: what was shown, where, and the events that follow from it."""

    #: The name of the project's folder.
    project: str
    #: What the human read.
    question: str
    #: The id of the event before; empty for none.
    after: str
    events: tuple[LedgerEvent, ...]
    #: Whether the rule takes no typed word for it.
    must_sign: bool = False

    @property
    def shown(self) -> str:
        """The digest of what was shown."""
        return sha256(self.question.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def message(self) -> bytes:
        """The message that a key signs."""
        return _message(self.project, self.shown, self.after, _levels(self._leaves())[-1][0])

    def _leaves(self) -> list[bytes]:
        return [_leaf(_as_signed(event)) for event in self.events]

    def with_signature(self, blob: bytes) -> tuple[LedgerEvent, ...]:
        """Return the events, each with what proves it."""
        levels = _levels(self._leaves())
        basis = {"project": self.project, "shown": self.shown, "after": self.after}
        signature = base64.b64encode(blob).decode()
        return tuple(
            _with_fields(
                _as_signed(event), {PROOF_FIELD: {**basis, "path": _path(levels, number), "signature": signature}}
            )
            for number, event in enumerate(self.events)
        )

    def as_typed(self) -> tuple[LedgerEvent, ...]:
        """Return the events of a yes that was only typed."""
        return tuple(_with_fields(event, {YES_FIELD: TYPED}) for event in self.events)


def signed_message(event: LedgerEvent, *, project: str) -> tuple[bytes, bytes] | None:
    """Return the message that an event's signature is over, and the signature; None where that is no proof.

    One that was given in a project of another name is none: what it is about may be another text here.
    """
    proof = event.fields.get(PROOF_FIELD)
    if not isinstance(proof, Mapping):
        return None
    shown, after, signature = (proof.get(name) for name in ("shown", "after", "signature"))
    root = _root(_leaf(_without_proof(event)), proof.get("path"))
    if root is None or proof.get("project") != project or not isinstance(shown, str):
        return None
    if not (isinstance(after, str) and isinstance(signature, str)) or event.id <= after:
        return None
    return _message(project, shown, after, root), decode_base64(signature)


def as_unproven(event: LedgerEvent) -> LedgerEvent:
    """Return the event as one from which nothing follows."""
    return replace(event, event=UNPROVEN, fields={**event.fields, CLAIMED_FIELD: event.event})


def _message(project: str, shown: str, after: str, root: bytes) -> bytes:
    rows = (
        "roamkb yes 1",
        f"project {json.dumps(project)}",
        f"shown {shown}",
        f"after {after}",
        f"events {root.hex()}",
    )
    return "".join(f"{row}\n" for row in rows).encode()


def _as_signed(event: LedgerEvent) -> LedgerEvent:
    return _with_fields(event, {YES_FIELD: SIGNED})


def _with_fields(event: LedgerEvent, fields: Mapping[str, object]) -> LedgerEvent:
    return replace(event, fields={**event.fields, **fields})


def _without_proof(event: LedgerEvent) -> LedgerEvent:
    return replace(event, fields={name: value for name, value in event.fields.items() if name != PROOF_FIELD})


def _leaf(event: LedgerEvent) -> bytes:
    """Return the digest of an event as its line has it, in whatever order and of whatever version of the form."""
    fields = json.loads(event_line(event))
    del fields["v"]
    return sha256(b"\0" + json.dumps(fields, sort_keys=True).encode()).digest()


def _pair(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def _levels(leaves: Sequence[bytes]) -> list[Sequence[bytes]]:
    """Return the digests of a Merkle tree, the leaves first, the root last; an odd one goes up as it is."""
    levels = [leaves or [_pair(b"", b"")]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        pairs = [_pair(*below[start : start + 2]) for start in range(0, len(below) - 1, 2)]
        levels.append([*pairs, *below[len(pairs) * 2 :]])
    return levels


def _path(levels: Sequence[Sequence[bytes]], number: int) -> list[str]:
    """Return the digests beside the way from a leaf to the root, each with its side."""
    path: list[str] = []
    for level in levels[:-1]:
        sibling = number ^ 1
        if sibling < len(level):
            path.append(f"{_LEFT if sibling < number else _RIGHT}{level[sibling].hex()}")
        number //= 2
    return path


def _root(leaf: bytes, path: object) -> bytes | None:
    """Return the root that a leaf and its path lead to; None where that is no path."""
    if not isinstance(path, list) or len(path) > _LONGEST_PATH:
        return None
    for step in path:
        try:
            side, digest = step[:1], bytes.fromhex(step[1:])
        except (TypeError, ValueError):
            return None
        if side not in (_LEFT, _RIGHT):
            return None
        leaf = _pair(digest, leaf) if side == _LEFT else _pair(leaf, digest)
    return leaf
