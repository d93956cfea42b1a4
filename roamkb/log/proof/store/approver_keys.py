"""Approver keys: the security keys whose signature is a human's yes on this machine.

Root's list, where there is one, is all that counts. Otherwise it is the user's own, which only `roamkb trust` writes:
its first key was trusted when it was first used, and each later line is signed by a key before it, together with
all lines before. Whoever can write the file can begin it anew, which shows by the date of its first key.
"""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from roamkb.core.errors import DiskError
from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.log.proof.key_signature import KEY_TYPES
from roamkb.log.proof.key_signature import decode_base64
from roamkb.log.proof.key_signature import page_credential
from roamkb.log.proof.store.approver_lists import SYSTEM_LIST
from roamkb.log.proof.store.approver_lists import user_list
from roamkb.log.proof.store.signature_check import find_signer
from roamkb.log.trust.store import system_programs
from roamkb.log.trust.store import trust_lists
from roamkb.log.trust.store.ssh_signatures import find_public_key
from roamkb.log.trust.store.ssh_signatures import key_fingerprint
from roamkb.log.trust.store.system_programs import is_root_pretended

ADDED: Final = "add"
REMOVED: Final = "remove"
#: Of a first key: nobody signed for it.
_SIGNATURE_FIELD: Final = "signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproverKey:
    """A security key whose signature is a human's yes."""

    #: Its fingerprint, as `ssh-keygen -l` shows it.
    name: str
    #: `TYPE BASE64`.
    key: str
    comment: str = ""
    #: When it was added, as ISO 8601 has it; null where root did.
    added: OrNull = ""
    #: The fingerprint of the key that vouches for it; null where root does, and for the first, trusted on first use.
    signed_by: OrNull = ""
    #: Where `ssh-keygen` finds its private half, or the handle of it; null where nobody said.
    file: OrNull = ""
    source: Path = Path()

    def as_line(self, action: str) -> dict[str, str]:
        """Return the line that adds or removes it, not yet signed."""
        line = {"at": self.added, "do": action, "key": self.key, "comment": self.comment, "file": self.file}
        return {name: value for name, value in line.items() if value}


def parse_key(text: str) -> ApproverKey | None:
    """Return the security key in a line of a public key; None for another kind of key, or none."""
    key = find_public_key(text)
    if key.partition(" ")[0] not in KEY_TYPES:
        return None
    return ApproverKey(name=key_fingerprint(key), key=key, comment=text.strip().removeprefix(key).strip())


class Approvers:
    """The approver keys of one account on this machine, read at once and understood when somebody asks."""

    def __init__(self, account_home: Path | None) -> None:
        """Read the lists of the account with that home; without one, root's alone."""
        self._home = account_home
        self._fault = ""
        self.source, self.is_roots, self._data = Path(), False, b""
        # in a namespace of its own a program sees root's files as another's
        root = system_programs.SYSTEM_ROOT
        owner = root.stat().st_uid if is_root_pretended() else system_programs.SYSTEM_OWNER
        if not self._reads(root, SYSTEM_LIST, owner, is_roots=True) and account_home is not None:
            self._reads(user_list(account_home).parent, (user_list(account_home).name,), os.getuid(), is_roots=False)

    def _reads(self, root: Path, parts: tuple[str, ...], owner: int, *, is_roots: bool) -> bool:
        """Read a list; say whether there is one, readable or not."""
        path = root.joinpath(*parts)
        try:
            self._data = trust_lists.read_owned(root, parts, owner)
        except FileNotFoundError:
            return False
        except (OSError, DiskError) as error:
            self._fault = error.message if isinstance(error, DiskError) else f"{path}: {error.strerror}"
        self.source, self.is_roots = path, is_roots
        return True

    @property
    def keys(self) -> tuple[ApproverKey, ...]:
        """The keys that count."""
        return self._judged[0]

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with a list, a clause each."""
        return self._judged[1]

    @property
    def first_use(self) -> str:
        """When the first key was trusted on first use; empty where root vouches, or there is none."""
        return "" if self.is_roots else next((key.added for key in self.keys if not key.signed_by), "")

    @property
    def is_used_up(self) -> bool:
        """Whether there is a list whose keys were all removed, so that none could sign for another."""
        return bool(self._data) and not self.keys

    @cached_property
    def _judged(self) -> tuple[tuple[ApproverKey, ...], tuple[str, ...]]:
        if self._fault:
            return (), (self._fault,)
        faults: list[str] = []
        judge = self._roots_keys if self.is_roots else self._signed_keys
        return tuple(judge(faults)), tuple(faults)

    def _roots_keys(self, faults: list[str]) -> Iterator[ApproverKey]:
        for number, line in enumerate(self._data.decode("utf-8", "replace").splitlines(), start=1):
            if key := parse_key(line):
                yield replace(key, source=self.source)
            elif line.strip() and not line.startswith("#"):
                faults.append(f"{self.source}:{number}: no security key")

    def _signed_keys(self, faults: list[str]) -> Sequence[ApproverKey]:
        """Return the keys of the user's list up to the first line that nobody before it signed."""
        keys: dict[str, ApproverKey] = {}
        before = b""
        for number, raw in enumerate(self._data.splitlines(keepends=True), start=1):
            fields = _parse_line(raw)
            key = parse_key(fields.get("key", ""))
            signer = self._signer_of(fields, before, keys)
            if key is None or signer is None or fields.get("do") not in (ADDED, REMOVED):
                faults.append(
                    f"{self.source}:{number}: no key that counted before signed it; it and all after don't count"
                )
                break
            keys.pop(key.name, None)
            if fields["do"] == ADDED:
                keys[key.name] = replace(
                    key,
                    comment=fields.get("comment", ""),
                    added=fields.get("at", ""),
                    file=fields.get("file", ""),
                    signed_by=signer,
                    source=self.source,
                )
            before += raw
        return tuple(keys.values())

    def _signer_of(self, fields: Mapping[str, str], before: bytes, keys: Mapping[str, ApproverKey]) -> str | None:
        """Return who signed a line: empty for a list's first, None where nobody did who counts."""
        if not before:
            return "" if fields.get("do") == ADDED else None
        return find_signer(line_message(before, fields), decode_base64(fields.get(_SIGNATURE_FIELD, "")), keys.values())

    def message_for(self, line: Mapping[str, str]) -> bytes:
        """Return what a key signs so that the user's list may go on with a line."""
        return line_message(self._data, line)

    def takes_line(self, line: Mapping[str, str], signature: bytes) -> bool:
        """Say whether a key that counts signed for the user's list to go on with a line."""
        return find_signer(self.message_for(line), signature, self.keys) is not None

    def append_line(self, line: Mapping[str, str], signature: bytes) -> None:
        """Append a line to the user's list as it was read.

        Raises:
            DiskError, Busy, UsageError: it wasn't appended, or it isn't the list that the signature is about.
        """
        signed = {**line, _SIGNATURE_FIELD: base64.b64encode(signature).decode()} if signature else line
        text = json.dumps(signed, ensure_ascii=True, sort_keys=True)

        def with_line(lines: list[str]) -> list[str]:
            if "".join(f"{known}\n" for known in lines).encode() != self._data:
                raise DiskError(self.source, "changed meanwhile; nothing was written")
            return [*lines, text]

        if self._home is None:
            raise UsageError("the system doesn't know this account, so that it has no list; nothing was written")
        trust_lists.change_list(user_list(self._home), with_line)


def has_page_key(account_home: Path | None) -> bool:
    """Say whether one of the keys that count is a browser's, for the page."""
    return any(page_credential(key.comment) for key in Approvers(account_home).keys)


def line_message(before: bytes, fields: Mapping[str, str]) -> bytes:
    """Return what is signed of a line of the user's list: itself, and all before it."""
    line = json.dumps({name: value for name, value in fields.items() if name != _SIGNATURE_FIELD}, sort_keys=True)
    return f"roamkb approver 1\nbefore {hashlib.sha256(before).hexdigest()}\nline {line}\n".encode()


def _parse_line(raw: bytes) -> dict[str, str]:
    try:
        fields = json.loads(raw)
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in fields.items()} if isinstance(fields, dict) else {}
