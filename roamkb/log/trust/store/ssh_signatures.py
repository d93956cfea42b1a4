"""SSH signatures, as git makes them with `gpg.format=ssh`, verified by the system's ssh-keygen.

Neither git's nor ssh's configuration is read, and no variable of the environment counts.
"""

import base64
import hashlib
import os
import subprocess
from typing import BinaryIO
from typing import Final

from roamkb.core.startup.lazy_regex import lazily
from roamkb.log.proof.key_signature import decode_base64
from roamkb.log.trust.store.system_programs import find_system_program

#: `ssh-ed25519 AAAA…`, without options or a comment.
_PUBLIC_KEY = lazily(r"([a-z0-9@.-]{4,60}) ([A-Za-z0-9+/]{20,4000}={0,2})")
_SIGNATURE = lazily(r"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----")
_MAGIC: Final = b"SSHSIG\0\0\0\1"
#: As git names what it signs.
_NAMESPACE: Final = "git"
_PRINCIPAL: Final = "roamkb"
#: What a pipe holds before anybody reads it.
_MOST_PIPED_BYTES: Final = 8 * 1024
_TIMEOUT_SECONDS: Final = 30


def find_public_key(text: str) -> str:
    """Return the public key in a line of `ssh-keygen`, as `TYPE BASE64`; empty where there is none."""
    key = _PUBLIC_KEY.match(text.strip())
    if key is None or (text.strip()[key.end() :][:1] or " ") not in " \t":
        return ""
    blob = decode_base64(key[2])
    # the type is in the key as well
    return key[0] if blob[4:].startswith(key[1].encode()) and _length(blob) == len(key[1]) else ""


def key_fingerprint(key: str) -> str:
    """Return the SHA-256 of a public key, as `ssh-keygen -l` shows it."""
    digest = hashlib.sha256(decode_base64(key.partition(" ")[2])).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def signing_fingerprint(signature: bytes) -> str:
    """Return the fingerprint of the key that a signature says it is by; empty where it is no SSH signature."""
    armoured = _SIGNATURE.fullmatch(signature.decode("ascii", "replace").strip())
    blob = decode_base64(armoured[1].replace("\n", "")) if armoured else b""
    if not blob.startswith(_MAGIC):
        return ""
    field = blob[len(_MAGIC) :]
    key = field[4 : 4 + _length(field)]
    return f"SHA256:{base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip('=')}"


def is_signed(payload: bytes, signature: bytes, key: str, *, namespace: str = _NAMESPACE) -> bool:
    """Say whether `signature` is one of the public key `key` over `payload`, made for git or that namespace."""
    program = find_system_program("ssh-keygen")
    signers = f'{_PRINCIPAL} namespaces="{namespace}" {key}\n'.encode()
    if not program or max(len(signature), len(signers)) > _MOST_PIPED_BYTES:
        return False
    # pipes, since whoever runs as this user could change a file in between
    with _filled_pipe(signers) as signers_fd, _filled_pipe(signature) as signature_fd:
        files = ["-f", f"/dev/fd/{signers_fd.fileno()}", "-s", f"/dev/fd/{signature_fd.fileno()}"]
        try:
            verification = subprocess.run(
                [program, "-Y", "verify", *files, "-I", _PRINCIPAL, "-n", namespace],
                input=payload,
                capture_output=True,
                check=False,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
                cwd="/",
                pass_fds=(signers_fd.fileno(), signature_fd.fileno()),
                timeout=_TIMEOUT_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
    return verification.returncode == 0


def _filled_pipe(data: bytes) -> BinaryIO:
    """Return the end of a pipe that gives `data` and then ends."""
    reading_fd, writing_fd = os.pipe()
    os.write(writing_fd, data)
    os.close(writing_fd)
    return os.fdopen(reading_fd, "rb")


def _length(blob: bytes) -> int:
    return int.from_bytes(blob[:4], "big")
