"""`review`: the proposal as a file in the human's editor; what is saved is what is applied."""

from collections.abc import Sequence

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_human
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.curation.curate import CurationProposal
from roamkb.curation.curate import CurationSignature
from roamkb.curation.curate import apply
from roamkb.curation.curate import propose
from roamkb.curation.review_org import parse_review
from roamkb.curation.review_org import render_review
from roamkb.fs.private_files import REVIEW
from roamkb.fs.private_files import drop_paper
from roamkb.fs.private_files import put_paper
from roamkb.fs.private_files import read_paper
from roamkb.log.store.project_log import Log
from roamkb.org.report import quoted
from roamkb.pipeline.store.references_on_disk import ProjectReferences


def review(
    log: Log,
    grounds: ProjectReferences,
    signature: CurationSignature,
    *,
    human: HumanAtTerminal | None,
    editor: Sequence[str],
) -> CurationProposal:
    """Let the human decide about each cluster, and append what is approved; nothing where nothing is.

    Raises:
        UsageError, SecretFound: there is no human, no good end of the editor, or no reason.
        ChangedOnDisk: the log changed meanwhile. Nothing was written in any case.
    """
    somebody = require_human(human)
    proposal = propose(log, grounds, signature)
    if not proposal.clusters:
        return proposal
    path = log.local / REVIEW
    text = render_review(proposal.clusters, digest=proposal.digest, reason=signature.reason)
    put_paper(path, text.encode("utf-8", "replace"))
    try:
        if not somebody.edit(path, editor):
            raise UsageError("the editor didn't end well; nothing was written")
        decided = parse_review(read_paper(path).decode("utf-8", "replace"))
    finally:
        drop_paper(path)
    # a reason that came back as it was shown is the one that was given
    is_as_given = decided.reason == quoted(signature.reason) or not decided.reason
    reason = signature.reason if is_as_given else decided.reason
    if not decided.approved:
        return replace(proposal, clusters=(), events=())
    return apply(
        log,
        grounds,
        replace(signature, reason=reason),
        proposal.digest,
        human=human,
        only=decided.approved,
    )
