"""The command `curate`: review events for the shared log, appended once a human confirms them.

Nothing is rewritten, and no hook or agent gets here: the word comes from a terminal (D19).
"""

import json
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.core.change_plan import TYPED_DIGEST_LENGTH
from roamkb.core.change_plan import matches_digest
from roamkb.core.change_plan import plan_digest
from roamkb.core.change_plan import planned_event_id
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import UsageError
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import flag_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.curation.audit import judge_files
from roamkb.curation.clusters import CurationCluster
from roamkb.curation.clusters import PlannedEvent
from roamkb.curation.clusters import comparable_standings
from roamkb.curation.clusters import find_clusters
from roamkb.fs.append import read_bytes
from roamkb.fs.files import content_digest
from roamkb.log.jsonl import event_line
from roamkb.log.new_learning import Author
from roamkb.log.proof.ask import ask_for_events
from roamkb.log.state.learning_state import TYPED
from roamkb.log.state.learning_state import YES_FIELD
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.file_contents import gc_paused
from roamkb.log.store.project_log import Log
from roamkb.log.verb_context import SignedRequest
from roamkb.log.verb_context import VerbContext
from roamkb.pipeline.gate.references import STALE
from roamkb.pipeline.store.references_on_disk import ProjectReferences
from roamkb.pipeline.store.references_on_disk import references_of_checkouts
from roamkb.secrets.detector import refuse_secrets

#: What the question at the terminal tells of a proposal; the dry run has all of it.
_MAX_SHOWN = 15
_SUMMARY_WIDTH = 160
_CHANGED_MESSAGE = "the proposal isn't that one any more, by what it is built from now"


@dataclass(frozen=True, slots=True)
class CurateRequest:
    """The options of `curate`."""

    _: KW_ONLY
    dry_run: bool = flag_option("--dry-run", "Only show the lines, as without an option.")
    apply: str | None = text_option(
        "--apply", "Append the lines of this proposal; asks at the terminal.", metavar="DIGEST"
    )
    reason: str | None = text_option("--reason", "Why, for the log.", metavar="TEXT")
    agent: AgentOption = None
    session: SessionOption = None
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationSignature:
    """The author, operator and reason of curation events."""

    hand: Author
    #: The human, by the name of the account.
    operator: str
    reason: str = ""


def sign_decision(
    context: VerbContext, reason: str | None = None, request: SignedRequest | None = None
) -> CurationSignature:
    """Return what signs a human's decision about learnings."""
    return CurationSignature(hand=context.author_of(request), operator=context.login, reason=reason or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationProposal:
    """A proposal: clusters, their events, and the digest that names all of it."""

    JSON = "digest is_applied clusters lines"
    digest: str
    #: The digests of the log's files that it was built from.
    files: tuple[str, ...]
    clusters: tuple[CurationCluster, ...]
    #: In the order of the clusters, as they would be appended now.
    events: tuple[LedgerEvent, ...]
    #: How many learnings are too long to be compared.
    left_out: int = 0
    #: Whether they were appended.
    is_applied: bool = False

    @property
    def lines(self) -> list[object]:
        """The events as lines of the ledger."""
        return [json.loads(event_line(event)) for event in self.events]


def propose_curation(
    log: Log, references: ProjectReferences, signature: CurationSignature, *, as_of: float | None = None
) -> CurationProposal:
    """Return what a review of `log` could settle, in its present or an earlier state."""
    # the files first: what is added meanwhile makes a digest that no longer fits, never one that does
    files = _file_digests(log)
    contents = log.read_contents()
    state = contents.replay_state(as_of=as_of)
    with gc_paused():
        # a hundred thousand sets of words, which the collector would go through again and again
        proposed_clusters = tuple(find_clusters(state, _missing_files_by_id(state, references)))
    name = plan_digest(
        files, (_change_text(cluster.number, change) for cluster in proposed_clusters for change in cluster.changes)
    )
    changes = [change for cluster in proposed_clusters for change in cluster.changes]
    events = tuple(
        _make_event(change, signature, digest=name, id=planned_event_id(name, number, after=contents.last_event))
        for number, change in enumerate(changes, start=1)
    )
    left_out = len(state.standings) - len(comparable_standings(state))
    return CurationProposal(digest=name, files=files, clusters=proposed_clusters, events=events, left_out=left_out)


def apply_curation(
    log: Log,
    references: ProjectReferences,
    signature: CurationSignature,
    name: str,
    *,
    human: HumanAtTerminal | None,
    only: Collection[int] | None = None,
) -> CurationProposal:
    """Append the events of the proposal called `name`, of the clusters `only` or of all.

    Raises:
        UsageError, SecretFound: no reason, or no human at a terminal said yes.
        ChangedOnDisk: the proposal would be another one by now. Nothing was written in either case.
    """
    check_reason(signature.reason)
    proposal = propose_curation(log, references, signature)
    _require_same(log, proposal, name)
    proposal = _select_clusters(proposal, only)
    if not proposal.events:
        return proposal
    yes = log.yes_to(
        "\n".join(
            [
                *islice(map(_summary_line, proposal.clusters), _MAX_SHOWN),
                f"{count_phrase(len(proposal.events), 'line')} of {count_phrase(len(proposal.clusters), 'decision')} "
                f"to be appended to {one_line(str(log.ledger))} for good, because: {one_line(signature.reason)}",
            ]
        ),
        proposal.events,
        after=log.read_contents().last_event,
    )
    events = ask_for_events(log.proof_check, human, yes, word=proposal.digest[:TYPED_DIGEST_LENGTH])
    # the human may have thought for long; what takes long is done before the lock is held
    current_proposal = propose_curation(log, references_of_checkouts(log.root), signature)
    _require_same(log, current_proposal, proposal.digest)
    current_proposal = _select_clusters(current_proposal, only)
    with log.append_lock():
        if _file_digests(log) != current_proposal.files:
            raise ChangedOnDisk(log.folder, _CHANGED_MESSAGE)
        log.append_entries(events=events)
    return replace(current_proposal, events=events, is_applied=True)


def _summary_line(cluster: CurationCluster) -> str:
    others = ", ".join(one_line(standing.learning.key) for standing in cluster.others)
    if cluster.keeper:
        return clip_text(f"keep {one_line(cluster.keeper.learning.key)} instead of {others}", _SUMMARY_WIDTH)
    return clip_text(f"mark for review ({one_line(cluster.because)}): {others}", _SUMMARY_WIDTH)


def check_reason(reason: str) -> None:
    """Raise unless there is a reason that can stand in the log."""
    if not one_line(reason):
        raise UsageError("a review needs a reason", hint='--reason "Same fact, told three times"')
    refuse_secrets(reason)


def _require_same(log: Log, proposal: CurationProposal, name: str) -> None:
    if not matches_digest(proposal.digest, name):
        raise ChangedOnDisk(log.folder, _CHANGED_MESSAGE)


def _file_digests(log: Log) -> tuple[str, ...]:
    return tuple(content_digest(read_bytes(path)) for path in (log.knowledge, log.archive, log.ledger))


def _select_clusters(proposal: CurationProposal, only: Collection[int] | None) -> CurationProposal:
    """Return the proposal with the clusters `only`; each event keeps its id."""
    if only is None:
        return proposal
    events = iter(proposal.events)
    kept_events: list[LedgerEvent] = []
    for cluster in proposal.clusters:
        cluster_events = [next(events) for _ in cluster.changes]
        kept_events += cluster_events if cluster.number in only else []
    chosen = tuple(cluster for cluster in proposal.clusters if cluster.number in only)
    return replace(proposal, clusters=chosen, events=tuple(kept_events))


def _missing_files_by_id(state: LogState, references: ProjectReferences) -> Mapping[str, Sequence[str]]:
    """Return the missing files, by the id of each learning that is stale for it."""
    verdicts = (
        (standing.id, judge_files(standing.learning.content, references)) for standing in comparable_standings(state)
    )
    return {id: verdict.missing_files for id, verdict in verdicts if verdict.status == STALE}


def _change_text(number: int, change: PlannedEvent) -> str:
    return repr((number, change.event, change.of, sorted(change.fields.items())))


def _make_event(change: PlannedEvent, signature: CurationSignature, *, digest: str, id: str) -> LedgerEvent:
    hand = signature.hand
    return LedgerEvent(
        id=id,
        ts=hand.ts,
        event=change.event,
        of=change.of,
        by="curate",
        agent=hand.agent,
        session=hand.session,
        machine=hand.machine,
        fields={
            **change.fields,
            "review_reason": signature.reason,
            "digest": digest,
            "operator": signature.operator,
            # what is appended is what was shown; a key's signature is put in its place
            YES_FIELD: TYPED,
        },
    )
