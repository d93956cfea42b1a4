"""The question to a human whose yes is put into events: typed, or signed where approver keys are known (D27)."""

from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import HumanWithKey
from roamkb.boundary.human_consent import require_human
from roamkb.boundary.human_consent import require_yes
from roamkb.core.data_tables import data_lines
from roamkb.core.errors import UsageError
from roamkb.log.proof.event_proof import Yes
from roamkb.log.proof.store.approver_keys import Approvers
from roamkb.log.proof.store.proof_check import ProofCheck
from roamkb.log.state.learning_state import LedgerEvent

_NO_SIGNATURE: Final = "no approver key signed it; nothing was written"
#: For a digest that a human compares where it is shown twice, at a terminal and on the page.
_LIST: Final = "digest_words.txt"
_WORDS: Final = 4
_WORD_BITS: Final = 11
_DIGEST_BITS: Final = 256


def ask_for_events(check: ProofCheck, human: HumanAtTerminal | None, yes: Yes, *, word: str) -> tuple[LedgerEvent, ...]:
    """Return the events of a yes with how it was given, once a human at a terminal or with a key gave it.

    Raises:
        UsageError: nobody did, or only by a typed word where a signature is demanded.
    """
    human = require_human(human)
    keys = check.approvers.keys
    if yes.must_sign and not keys:
        raise UsageError(
            "your rule demands a signed yes, and no approver key counts on this machine; nothing was written",
            hint="`roamkb trust add --approver FILE` takes a security key for yours",
        )
    is_signing_only = isinstance(human, HumanWithKey) and human.is_signing_only
    question = f"{yes.question}\nIts four words: {four_words(yes.shown)}" if keys else yes.question
    if not is_signing_only:
        require_yes(human, question, word=word)
    signature = ask_key(human, check.approvers, yes.message, shown=question) if keys else b""
    if not signature:
        if yes.must_sign or is_signing_only:
            raise UsageError(_NO_SIGNATURE, hint="`roamkb trust list` shows the keys that count")
        return yes.as_typed()
    events = yes.with_signature(signature)
    if any(check.signer_of(event) is None for event in events):
        raise UsageError(
            "the signature doesn't hold: another key or text, or nobody touched the key; nothing was written",
            hint="`roamkb trust list` shows the keys that count",
        )
    return events


def ask_key(human: HumanAtTerminal | None, approvers: Approvers, message: bytes, *, shown: str) -> bytes:
    """Return the signature of a message by one of the approver keys; empty where the human has none here."""
    if not isinstance(human, HumanWithKey):
        return b""
    return human.sign(message, approvers.keys, shown=shown)


def four_words(digest: str) -> str:
    """Return four words for a SHA-256 in hexadecimal: its first 44 bits."""
    words, number = data_lines(_LIST), int(digest, 16)
    places = (_DIGEST_BITS - _WORD_BITS * place for place in range(1, _WORDS + 1))
    return " ".join(words[number >> place & (1 << _WORD_BITS) - 1] for place in places)
