"""The human at the page, asked as one at a terminal is: the operation waits until a key was touched for it."""

import base64
import binascii
import threading
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.boundary.human_consent import SecurityKey
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.log.proof.key_signature import page_credential
from roamkb.log.proof.key_signature import signature_of_assertion
from roamkb.log.proof.key_signature import signed_bytes

#: Seconds that a question waits: a diff takes minutes to read.
PATIENCE: Final = 600.0
_NO_KEY_HINT: Final = "make a key for this page at /key, or run the command in a terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQuestion:
    """What a human at the page is to say yes to."""

    shown: str
    #: What the browser has the key sign, in its form of base64.
    challenge: str
    #: The keys that may, by the names that the browser has for them.
    credentials: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A browser's answer: which key was touched, and what it signed."""

    credential: str
    authenticator: bytes
    client_data: bytes
    signature: bytes


class PageHuman:
    """Whoever sits before the page: a click proves nothing, so that only a key's signature is a yes."""

    is_signing_only = True

    def __init__(self, origin: str) -> None:
        """Take the page's origin with its port: a signature that another page asked for is none."""
        self._origin = origin
        self.question: PageQuestion | None = None
        #: Set once there is a question, or nothing more to ask.
        self.is_asked = threading.Event()
        self._answer: Assertion | None = None
        self._is_answered = threading.Event()

    def confirm(self, question: str, word: str) -> bool:  # noqa: ARG002 - nobody is asked
        """Raise: nobody types on the page."""
        raise UsageError("a click is no proof of a human; nothing was written", hint=_NO_KEY_HINT)

    def edit(self, path: Path, editor: Sequence[str]) -> bool:  # noqa: ARG002 - nobody is asked
        """Raise: the page opens no editor."""
        raise UsageError("an editor is for the terminal; nothing was written", hint="run the command there")

    def sign(self, message: bytes, keys: Sequence[SecurityKey], *, shown: str) -> bytes:
        """Return the signature of a message by a key that the browser has, once it is touched.

        Raises:
            UsageError: no key is this page's, or none was touched for it in time.
        """
        credentials = {name: key.key for key in keys if (name := page_credential(key.comment))}
        if not credentials:
            raise UsageError("no approver key is for this page; nothing was written", hint=_NO_KEY_HINT)
        self.question = PageQuestion(shown=shown, challenge=encode_url(signed_bytes(message)), credentials=credentials)
        self.is_asked.set()
        if not self._is_answered.wait(PATIENCE) or self._answer is None:
            raise UsageError("it was not confirmed; nothing was written")
        answer = self._answer
        return signature_of_assertion(
            credentials.get(answer.credential, ""),
            answer.authenticator,
            answer.client_data,
            answer.signature,
            origin=self._origin,
        )

    def answer(self, assertion: Assertion | None) -> None:
        """Hand over what the browser answered; None for a no."""
        self._answer = assertion
        self._is_answered.set()


def encode_url(data: bytes) -> str:
    """Return bytes in the base64 of addresses, as browsers have it."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode_url(text: str) -> bytes:
    """Return the bytes of a text in that form; empty where it isn't."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""
