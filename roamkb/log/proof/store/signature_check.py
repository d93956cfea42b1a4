"""Checks of signatures by OpenSSH, each made once: what held is remembered beside the list of the keys.

The wall closes that folder, so that a command of an agent's adds nothing to it; what isn't there is checked again.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from typing import Protocol

from roamkb.core.errors import RoamkbError
from roamkb.core.startup.digests import sha256
from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.fs.user_dirs import account_state_dir
from roamkb.log.proof.key_signature import NAMESPACE
from roamkb.log.proof.key_signature import armour
from roamkb.log.proof.key_signature import parse_signature
from roamkb.log.trust.store import trust_lists
from roamkb.log.trust.store.ssh_signatures import is_signed

#: Digests of what was checked and held, a line each.
_HELD_LIST: Final = "verified"
#: Past so many the oldest are checked again.
_MOST_HELD: Final = 2000


class NamedKey(Protocol):
    """A public key with its name."""

    @property
    def name(self) -> str:
        """The fingerprint."""

    @property
    def key(self) -> str:
        """`TYPE BASE64`."""


class SignatureCheck:
    """The checks of one account."""

    def __init__(self, account_home: Path | None) -> None:
        """Remember in the state folder of the account with that home; nowhere without one."""
        self._path = account_home and Path(account_state_dir(str(account_home)), TRUST_FOLDER, _HELD_LIST)

    def find_signer(self, message: bytes, blob: bytes, keys: Iterable[NamedKey]) -> str | None:
        """Return the name of the key whose holder signed a message by touching it; None where that is nobody."""
        signature = parse_signature(blob)
        if signature is None or signature.fault:
            return None
        name = next((key.name for key in keys if key.key == signature.key), None)
        return name if name is not None and self._holds(message, blob, signature.key) else None

    def _holds(self, message: bytes, blob: bytes, key: str) -> bool:
        digest = sha256(b"\0".join((sha256(message).digest(), sha256(blob).digest(), key.encode()))).hexdigest()
        if digest in self._read_held():
            return True
        if not is_signed(message, armour(blob), key, namespace=NAMESPACE):
            return False
        # the next to ask checks it again
        with contextlib.suppress(RoamkbError, OSError):
            if self._path is not None:
                trust_lists.change_list(self._path, lambda lines: [*lines, digest][-_MOST_HELD:])
        return True

    def _read_held(self) -> frozenset[str]:
        if self._path is None:
            return frozenset()
        with contextlib.suppress(RoamkbError, OSError):
            data = trust_lists.read_owned(self._path.parent, (self._path.name,), os.getuid())
            return frozenset(data.decode("ascii", "replace").splitlines())
        return frozenset()
