"""Signatures by security keys, in the one form that plain `ssh-keygen -Y verify` reads: OpenSSH's SSHSIG.

A key that is touched for `ssh-keygen -Y sign` makes them; a browser's WebAuthn assertion is put into the same form
as OpenSSH's `webauthn-sk-ecdsa-sha2-nistp256@openssh.com`, so that nothing verifies signatures but OpenSSH.
"""

import base64
import binascii
import hashlib
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily

#: What signatures are for, so that one for git or a login is none of ours.
NAMESPACE: Final = "roamkb"
#: Keys that sign when a human touches them, and not otherwise.
ED25519_TYPE: Final = "sk-ssh-ed25519@openssh.com"
ECDSA_TYPE: Final = "sk-ecdsa-sha2-nistp256@openssh.com"
KEY_TYPES: Final = (ED25519_TYPE, ECDSA_TYPE)
#: The machine that the page is on, by the one name for which a browser makes keys without a certificate.
PAGE_HOST: Final = "localhost"
_WEBAUTHN_TYPE: Final = f"webauthn-{ECDSA_TYPE}"
_MAGIC: Final = b"SSHSIG"
_VERSION: Final = 1
_HASHES: Final = (b"sha256", b"sha512")
_OUR_HASH: Final = b"sha512"
_CURVE: Final = b"nistp256"
#: What stands before a point of that curve in a browser's form of a public key (RFC 5480), and the point's bytes.
_SPKI_HEAD: Final = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
_POINT_BYTES: Final = 65
#: What the comment of a browser's key begins with.
_CREDENTIAL_MARK: Final = "page:"
#: What a key says of the person: touched it; gave it a PIN or a finger.
_PRESENT: Final = 1
_VERIFIED: Final = 4
#: Of an assertion: the key's application as a digest, a byte of flags, a counter.
_AUTHENTICATOR_HEAD: Final = 37
_ORIGIN = lazily(rf"http://{PAGE_HOST}:[0-9]{{1,5}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySignature:
    """A signature as it says itself; whether it holds, OpenSSH says."""

    #: The public key, as `TYPE BASE64`.
    key: str
    key_type: str
    signature_type: str
    #: Whom the key was made for: a browser's page, or `ssh:`.
    application: str
    flags: int
    counter: int
    #: The page that asked for it, as the browser wrote it; empty where it was a terminal.
    origin: str

    @property
    def fault(self) -> str:
        """The reason why this proves no human, a clause; empty where it does if OpenSSH verifies it."""
        if self.key_type not in KEY_TYPES:
            return f"{self.key_type or 'that'} is no security key's type"
        if not self.flags & _PRESENT:
            return "nobody touched the key"
        if self.signature_type == self.key_type:
            return ""
        if (self.key_type, self.signature_type) != (ECDSA_TYPE, _WEBAUTHN_TYPE):
            return "key and signature are of different types"
        if not self.flags & _VERIFIED:
            return "the key verified nobody"
        is_ours = self.application == PAGE_HOST and _ORIGIN.fullmatch(self.origin)
        return "" if is_ours else "another page asked for it"


def signed_bytes(message: bytes) -> bytes:
    """Return what a key signs for a message: a browser's challenge is just these bytes."""
    return _MAGIC + _join(NAMESPACE.encode(), b"", _OUR_HASH, hashlib.sha512(message).digest())


def parse_signature(blob: bytes) -> KeySignature | None:
    """Return what a signature says of itself; None where it isn't whole, or has more than it should."""
    fields = _Fields(blob.removeprefix(_MAGIC) if blob.startswith(_MAGIC) else b"")
    if fields.number(4) != _VERSION:
        return None
    key, namespace, reserved, digest, signature = (fields.text() for _ in range(5))
    if not fields.is_used_up or namespace != NAMESPACE.encode() or reserved or digest not in _HASHES:
        return None
    key_fields, parts = _Fields(key), _Fields(signature)
    key_type = key_fields.text()
    if key_type == ECDSA_TYPE.encode():
        key_fields.text()
    key_fields.text()
    application = key_fields.text()
    signature_type, _ = parts.text(), parts.text()
    flags, counter = parts.number(1), parts.number(4)
    origin = b""
    if signature_type == _WEBAUTHN_TYPE.encode():
        origin, _, _ = (parts.text() for _ in range(3))
    if not (key_fields.is_used_up and parts.is_used_up):
        return None
    return KeySignature(
        key=f"{_ascii(key_type)} {base64.b64encode(key).decode()}",
        key_type=_ascii(key_type),
        signature_type=_ascii(signature_type),
        application=_ascii(application),
        flags=flags,
        counter=counter,
        origin=_ascii(origin),
    )


def page_key(point: bytes) -> str:
    """Return the public key of a browser's credential, by its point on the curve, as `TYPE BASE64`."""
    blob = _join(ECDSA_TYPE.encode(), _CURVE, point, PAGE_HOST.encode())
    return f"{ECDSA_TYPE} {base64.b64encode(blob).decode()}"


def public_point(public: bytes) -> bytes:
    """Return the point of a public key in the form that browsers give (SPKI); empty for another curve's."""
    point = public.removeprefix(_SPKI_HEAD)
    return point if len(point) == _POINT_BYTES and len(public) == len(_SPKI_HEAD) + _POINT_BYTES else b""


def credential_comment(credential: str) -> str:
    """Return the comment by which a key on a list says what a browser calls it."""
    return f"{_CREDENTIAL_MARK}{credential}"


def page_credential(comment: str) -> str:
    """Return what a browser calls a key with that comment; empty for a key that isn't the page's."""
    return comment.partition(" ")[0].removeprefix(_CREDENTIAL_MARK) if comment.startswith(_CREDENTIAL_MARK) else ""


def signature_of_assertion(
    key: str, authenticator: bytes, client_data: bytes, signature: bytes, *, origin: str
) -> bytes:
    """Return a browser's assertion as a signature in OpenSSH's form; one that is nothing like it verifies nowhere."""
    numbers = _Fields(_der_numbers(signature))
    parts = _join(_WEBAUTHN_TYPE.encode(), _join(numbers.text(), numbers.text()))
    parts += authenticator[32:_AUTHENTICATOR_HEAD]
    parts += _join(origin.encode(), client_data, authenticator[_AUTHENTICATOR_HEAD:])
    return (
        _MAGIC
        + _VERSION.to_bytes(4, "big")
        + _join(decode_base64(key.partition(" ")[2]), NAMESPACE.encode(), b"", _OUR_HASH, parts)
    )


def armour(blob: bytes) -> bytes:
    """Return a signature as the file that `ssh-keygen` reads."""
    text = base64.b64encode(blob).decode()
    lines = "\n".join(text[start : start + 70] for start in range(0, len(text), 70))
    return f"-----BEGIN SSH SIGNATURE-----\n{lines}\n-----END SSH SIGNATURE-----\n".encode()


def unarmour(text: bytes) -> bytes:
    """Return the signature in a file of `ssh-keygen`; empty where there is none."""
    head, _, rest = text.strip().partition(b"\n")
    body, _, tail = rest.rpartition(b"\n")
    is_whole = (head, tail) == (b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----")
    return decode_base64(body.replace(b"\n", b"").decode("ascii", "replace")) if is_whole else b""


def decode_base64(text: str) -> bytes:
    """Return the bytes of a text; empty where it is no base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _der_numbers(signature: bytes) -> bytes:
    """Return the two numbers of an ECDSA signature in DER, each after its length in four bytes."""
    numbers, rest = b"", signature[2:] if signature[:1] == b"\x30" else b""
    while rest[:1] == b"\x02" and len(rest) > 1:
        size = rest[1]
        numbers += _join(rest[2 : 2 + size])
        rest = rest[2 + size :]
    return numbers


def _join(*texts: bytes) -> bytes:
    return b"".join(len(text).to_bytes(4, "big") + text for text in texts)


def _ascii(data: bytes) -> str:
    return data.decode("ascii", "replace")


class _Fields:
    """The fields of a blob in ssh's form, taken one after the other; past its end they are empty."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._is_short = False

    def number(self, size: int) -> int:
        """Return the next number."""
        return int.from_bytes(self._take(size), "big")

    def text(self) -> bytes:
        """Return the next text, which follows its length."""
        return self._take(self.number(4))

    @property
    def is_used_up(self) -> bool:
        """Whether there was just what was taken."""
        return not self._is_short and not self._data

    def _take(self, size: int) -> bytes:
        self._is_short |= size > len(self._data)
        taken, self._data = self._data[:size], self._data[size:]
        return taken
