"""The judge of events that claim a signed yes, by the approver keys of this machine.

Each command and hook that reads a log asks it, and most logs hold nothing to judge: what judges is loaded then.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from roamkb.log.proof import event_proof
from roamkb.log.proof.store import approver_keys
from roamkb.log.proof.store import signature_check
from roamkb.log.proof.store.approver_lists import list_stamp
from roamkb.log.state import confidence
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import OVERRIDDEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import is_signed
from roamkb.log.trust.store.system_programs import find_system_program


class ProofCheck:
    """The judge of one project's events."""

    def __init__(
        self, account_home: Path | None, *, project: str, must_sign: Callable[[], bool] = lambda: False
    ) -> None:
        """Take the home of the account whose keys count, the name of the project's folder, and the rule's demand."""
        self._home = account_home
        self._project = project
        self._must_sign = must_sign()
        stamp = list_stamp(account_home)
        #: Stands for the keys and the demand; empty where there are none, with which nothing can be verified.
        # from inside of some namespaces nothing is root's, and what is computed there holds there alone
        self.digest = f"{stamp} {find_system_program('ssh-keygen')} {project}" if stamp else ""
        if self._must_sign:
            self.digest += " signed"

    @cached_property
    def approvers(self) -> "approver_keys.Approvers":
        """The keys that count."""
        return approver_keys.Approvers(self._home)

    def mark_events(self, events: tuple[LedgerEvent, ...]) -> tuple[LedgerEvent, ...]:
        """Return the events, those that lack the signature that they claim or need as such from which nothing follows.

        A tombstone counts whoever wrote it (D26), so that it stays one.
        """
        if not any(map(self._needs_proof, events)):
            return events
        return tuple(
            event_proof.as_unproven(event) if self._needs_proof(event) and self.signer_of(event) is None else event
            for event in events
        )

    def _needs_proof(self, event: LedgerEvent) -> bool:
        if event.event == OVERRIDDEN and self._must_sign:
            # as of adopted lines, what nobody proved may say that something is doubtful, and no more (D25)
            value = event.fields.get("value")
            return is_signed(event) or not isinstance(value, int) or value > confidence.ADOPTED
        return is_signed(event) and event.event != FORGOTTEN

    def signer_of(self, event: LedgerEvent) -> str | None:
        """Return the fingerprint of the key that signed an event of this project; None where none that counts did."""
        signed = event_proof.signed_message(event, project=self._project)
        return signature_check.find_signer(*signed, self.approvers.keys) if signed else None
