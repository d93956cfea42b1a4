"""The judge of events that claim a signed yes, by the approver keys of this machine.

Each command and hook that reads a log asks it, and most logs hold nothing to judge: what judges is loaded then.
"""

from functools import cached_property
from pathlib import Path

from roamkb.log.proof import event_proof
from roamkb.log.proof.store import approver_keys
from roamkb.log.proof.store import signature_check
from roamkb.log.proof.store.approver_lists import list_stamp
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import is_signed
from roamkb.log.trust.store.system_programs import find_system_program


class ProofCheck:
    """The judge of one project's events."""

    def __init__(self, account_home: Path | None, *, project: str) -> None:
        """Take the home of the account whose keys count, and the name of the project's folder."""
        self._home = account_home
        self._project = project
        stamp = list_stamp(account_home)
        #: Stands for the keys that count; empty where there are none, with which nothing can be verified.
        # from inside of some namespaces nothing is root's, and what is computed there holds there alone
        self.digest = f"{stamp} {find_system_program('ssh-keygen')} {project}" if stamp else ""

    @cached_property
    def approvers(self) -> "approver_keys.Approvers":
        """The keys that count."""
        return approver_keys.Approvers(self._home)

    def mark_events(self, events: tuple[LedgerEvent, ...]) -> tuple[LedgerEvent, ...]:
        """Return the events, those whose signature can't be verified as such from which nothing follows.

        A tombstone counts whoever wrote it (D26), so that it stays one.
        """
        if not any(map(is_signed, events)):
            return events
        return tuple(
            event_proof.as_unproven(event)
            if is_signed(event) and event.event != FORGOTTEN and self.signer_of(event) is None
            else event
            for event in events
        )

    def signer_of(self, event: LedgerEvent) -> str | None:
        """Return the fingerprint of the key that signed an event of this project; None where none that counts did."""
        signed = event_proof.signed_message(event, project=self._project)
        return signature_check.find_signer(*signed, self.approvers.keys) if signed else None
