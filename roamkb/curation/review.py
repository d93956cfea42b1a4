"""The command `review`: the proposal as a file in the human's editor, applied as saved."""

from collections.abc import Sequence

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.curation.curate import CurationProposal
from roamkb.curation.curate import CurationSignature
from roamkb.curation.curate import apply_curation
from roamkb.curation.curate import propose_curation
from roamkb.curation.review_org import ReviewDecisions
from roamkb.curation.review_org import parse_review
from roamkb.curation.review_org import render_review
from roamkb.fs.append import read_bytes
from roamkb.fs.files import discard_file
from roamkb.fs.files import write_private_file
from roamkb.log.store.project_log import Log
from roamkb.org.report import quote_for_org
from roamkb.pipeline.store.references_on_disk import ProjectReferences

#: In the log's local folder, while a human edits it.
_REVIEW_FILE = "review.org"


def review(
    log: Log,
    references: ProjectReferences,
    signature: CurationSignature,
    *,
    human: HumanAtTerminal | None,
    editor: Sequence[str],
) -> CurationProposal:
    """Let the human decide on each cluster, and append the approved events.

    Raises:
        UsageError, SecretFound: there is no human, no good end of the editor, or no reason.
        ChangedOnDisk: the log changed meanwhile. Nothing was written in any case.
    """
    present_human = require_human(human)
    proposal = propose_curation(log, references, signature)
    if not proposal.clusters:
        return proposal
    text = render_review(proposal.clusters, digest=proposal.digest, reason=signature.reason)
    decided = ask_in_editor(log, text, signature.reason, human=present_human, editor=editor)
    if not decided.approved:
        return replace(proposal, clusters=(), events=())
    return apply_curation(
        log,
        references,
        replace(signature, reason=decided.reason),
        proposal.digest,
        human=human,
        only=decided.approved,
    )


def ask_in_editor(
    log: Log, text: str, given_reason: str, *, human: HumanAtTerminal, editor: Sequence[str]
) -> ReviewDecisions:
    """Return the decisions of a human who edits `text`, with the given reason where they left it.

    Raises:
        UsageError: the editor did not end well; nothing was written.
    """
    path = log.local_folder / _REVIEW_FILE
    write_private_file(path, text.encode("utf-8", "replace"))
    try:
        if not human.edit(path, editor):
            raise UsageError("the editor didn't end well; nothing was written")
        decided = parse_review(read_bytes(path).decode("utf-8", "replace"))
    finally:
        discard_file(path)
    is_as_given = decided.reason == quote_for_org(given_reason) or not decided.reason
    return replace(decided, reason=given_reason) if is_as_given else decided
