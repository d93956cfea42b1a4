"""What a human lets into the files that every session starts with, and takes out again (D10, D15, D19)."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app import requests
from roamkb.app.log.curation import ProjectCuration
from roamkb.app.operation_method import takes
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.curation.curate import CurationProposal
    from roamkb.instructions.approve import DecidedProposals
    from roamkb.instructions.propose import ProposeResult
    from roamkb.instructions.queue import ReviewQueue
    from roamkb.instructions.rollback import RolledBack


class ProjectInstructions(ProjectCuration):
    """The project's log, and the way from it into rule files."""

    def _propose_lines(self, request: "requests.PromoteRequest", to: str) -> "ProposeResult":
        """Propose learnings as lines of the file `to`; without any, return what could be proposed.

        Raises:
            UsageError, NotFound: no such file in the project, or no such section. Ambiguous, NoLog, Refused.
        """
        from roamkb.instructions import propose as proposing
        from roamkb.instructions.store.instruction_files import find_rule_file
        from roamkb.log.known_learnings import called

        require_name(to, "the file")
        log, hand = self._log(f"a line for {to}"), self._hand(session=request.session)
        # a name without a folder is the project's, wherever the session stands in it
        path = Path(to) if Path(to).is_absolute() else self._nearest(log.root, to)
        self._require_own(path)
        place = proposing.place_in(
            log, find_rule_file(log.root, path), request.section or "", kind=self._place.kind
        )
        state = log.read().state(as_of=self._moment("--as-of", request.as_of))
        found = proposing.rule_candidates(state, place)
        if not request.keys and not request.all:
            return proposing.ProposeResult(
                place=place, candidates=tuple(found), waiting=proposing.waiting(state, place)
            )
        wanted = found if request.all else [called(log, state, key) for key in texts_of(request.keys)]
        return proposing.propose(log, wanted, place, hand, dry_run=request.dry_run)

    def _nearest(self, root: Path, name: str) -> Path:
        """Return the file called `name` from here, or, where there is none, from the project's root."""
        return self._here / name if (self._here / name).exists() else root / name

    def _require_own(self, path: Path) -> None:
        """Raise where a file is of another project that lies in this one."""
        from roamkb.boundary.classify import classify

        place = classify(path.parent, home=self._around.home, account_home=self._around.account_home)
        if path.exists() and place.root is not None and place.root != self._root:
            raise UsageError(
                f"{shown(str(path))} belongs to {shown(str(place.root))}", hint="promote it in that project"
            )

    @takes(lambda: requests.ReviewRequest)
    def review(
        self, request: "requests.ReviewRequest"
    ) -> "CurationProposal | ReviewQueue | DecidedProposals":
        """Return the lines that wait for a human; with `edit` let them decide in an editor.

        With `curate` the editor has what `curate` proposes. With `as_of`, the lines that waited at the end of
        that day, beside the files of today.

        Raises:
            UsageError, SecretFound, ChangedOnDisk: as `approve`, `reject` and `curate`.
        """
        from roamkb.instructions import queue as proposals

        if request.as_of is not None and (request.curate or request.edit):
            raise UsageError("--as-of is for the list", hint="nobody decides about what was")
        if request.curate:
            if request.all or request.edit:
                raise UsageError("--curate goes without --all and --edit")
            return self.review_curation(reason=request.reason, agent=request.agent, session=request.session)
        if not request.edit:
            at = self._moment("--as-of", request.as_of)
            found = proposals.queue(proposals.desk(self._log_to_read(), self._place.kind, as_of=at))
            return found if request.all else replace(found, settled=())
        from roamkb.instructions.review import review_rules

        signature = self._signature(request.reason, agent=request.agent, session=request.session)
        log = self._log("a review")
        return review_rules(log, self._place.kind, signature, human=self._human, editor=self._editor())

    @takes(lambda: requests.ApproveRequest)
    def approve(self, request: "requests.ApproveRequest") -> "DecidedProposals":
        """Put one proposed line, or all, into their files: just the change that `digest` names.

        Raises:
            UsageError: no human said yes at a terminal. ChangedOnDisk: it would be another change by now.
            NotFound, Ambiguous, NoLog, Refused. Nothing was changed in any case.
        """
        from roamkb.instructions.approve import approve

        if request.all == (request.id is not None):
            raise UsageError("approve what?", hint="roamkb approve ID, or --all; `roamkb review` lists them")
        if request.digest is None:
            raise UsageError(
                "approve which change? --digest is missing",
                hint="`roamkb review` shows each change with its digest, and the command that approves it",
            )
        log = self._log("an approval")
        return approve(
            log,
            self._place.kind,
            self._signature(None, agent=None, session=None),
            request.id,
            request.digest,
            human=self._human,
        )

    @takes(lambda: requests.RejectRequest)
    def reject(self, request: "requests.RejectRequest") -> "DecidedProposals":
        """Have a line never proposed again for that file; a human's act, as approving is.

        Raises:
            UsageError, SecretFound, NotFound, Ambiguous, NoLog, Refused: nothing was written.
        """
        from roamkb.instructions.approve import reject

        log = self._log("a rejection")
        return reject(
            log,
            self._place.kind,
            self._signature(request.reason, agent=None, session=None),
            request.id,
            human=self._human,
        )

    @takes(lambda: requests.RollbackRequest)
    def rollback(self, request: "requests.RollbackRequest") -> "RolledBack":
        """Take an approved line out of its file again, and nothing else.

        Raises:
            UsageError: no human said yes at a terminal, or somebody changed the line.
            ChangedOnDisk, SecretFound, NotFound, Ambiguous, NoLog, Refused: nothing was changed.
        """
        from roamkb.instructions.rollback import rollback

        log = self._log("a rollback")
        return rollback(
            log,
            self._place.kind,
            self._signature(request.reason, agent=None, session=None),
            request.id,
            human=self._human,
        )
