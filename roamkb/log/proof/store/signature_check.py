"""Checks of signatures by OpenSSH, each made once by a process.

No file remembers what held: any program of the account could say so in it.
"""

from collections.abc import Iterable

from roamkb.log.proof.key_signature import NAMESPACE
from roamkb.log.proof.key_signature import armour
from roamkb.log.proof.key_signature import parse_signature
from roamkb.log.proof.store import approver_keys
from roamkb.log.trust.store.ssh_signatures import is_signed

#: What held: message, signature and key.
_held: set[tuple[bytes, bytes, str]] = set()


def find_signer(message: bytes, blob: bytes, keys: "Iterable[approver_keys.ApproverKey]") -> str | None:
    """Return the name of the key whose holder signed a message by touching it; None where that is nobody."""
    signature = parse_signature(blob)
    if signature is None or signature.fault:
        return None
    name = next((key.name for key in keys if key.key == signature.key), None)
    return name if name is not None and _holds(message, blob, signature.key) else None


def _holds(message: bytes, blob: bytes, key: str) -> bool:
    # all lines of one yes have the same message
    if (message, blob, key) not in _held:
        if not is_signed(message, armour(blob), key, namespace=NAMESPACE):
            return False
        _held.add((message, blob, key))
    return True
