"""`curate`: what a review of the shared log would append, and, once a human says so, appending it.

Nothing is rewritten, and no hook or agent gets here: the word comes from a terminal (D19).
"""

import json
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import islice

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_yes
from roamkb.core.change_plan import TYPED
from roamkb.core.change_plan import digest_of
from roamkb.core.change_plan import event_id
from roamkb.core.change_plan import is_named
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import UsageError
from roamkb.core.request import AgentOption
from roamkb.core.request import AsOfOption
from roamkb.core.request import SessionOption
from roamkb.core.request import option
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import shown
from roamkb.curation.audit import files_verdict
from roamkb.curation.clusters import CurationCluster
from roamkb.curation.clusters import PlannedEvent
from roamkb.curation.clusters import clusters
from roamkb.fs.append import read_bytes
from roamkb.fs.files import digest
from roamkb.log.jsonl import event_line
from roamkb.log.new_learning import Author
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.learning_state import LogState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.gate.references import STALE
from roamkb.pipeline.store.references_on_disk import ProjectReferences
from roamkb.secrets.detector import refuse_secrets

#: What the question at the terminal tells of a proposal; the dry run has all of it.
_SHOWN = 15
_WIDTH = 160
_OTHER = "the proposal isn't that one any more, by what it is built from now"


@dataclass(frozen=True, slots=True)
class CurateRequest:
    """What `curate` takes."""

    _: KW_ONLY
    dry_run: bool = switch("--dry-run", "Only show the lines, as without an option.")
    apply: str | None = option(
        "--apply", "Append the lines of this proposal; asks at the terminal.", metavar="DIGEST"
    )
    reason: str | None = option("--reason", "Why, for the log.", metavar="TEXT")
    agent: AgentOption = None
    session: SessionOption = None
    as_of: AsOfOption = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationSignature:
    """Who appends, when and why; what of an event the proposal doesn't decide."""

    hand: Author
    #: The human, by the name of the account.
    operator: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationProposal:
    """A proposal: clusters, the events that they stand for, and the digest that names all of it."""

    JSON = "digest is_applied clusters lines"
    digest: str
    #: The digests of the log's files that it was built from.
    files: tuple[str, ...]
    clusters: tuple[CurationCluster, ...]
    #: In the order of the clusters, as they would be appended now.
    events: tuple[LedgerEvent, ...]
    #: Whether they were appended.
    is_applied: bool = False

    @property
    def lines(self) -> list[object]:
        """The events as the ledger has them."""
        return [json.loads(event_line(event)) for event in self.events]


def propose(
    log: Log, grounds: ProjectReferences, signature: CurationSignature, *, as_of: float | None = None
) -> CurationProposal:
    """Return what a review of `log` could settle, as it is now, or as it was."""
    # the files first: what is added meanwhile makes a digest that no longer fits, never one that does
    files = _files(log)
    contents = log.read()
    state = contents.state(as_of=as_of)
    found = tuple(clusters(state, _missing(state, grounds)))
    name = digest_of(
        files, (_told(cluster.number, change) for cluster in found for change in cluster.changes)
    )
    changes = [change for cluster in found for change in cluster.changes]
    events = tuple(
        _event(change, signature, digest=name, id=event_id(name, number, after=contents.last_event))
        for number, change in enumerate(changes, start=1)
    )
    return CurationProposal(digest=name, files=files, clusters=found, events=events)


def apply(
    log: Log,
    grounds: ProjectReferences,
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
    proposal = propose(log, grounds, signature)
    _require_same(log, proposal, name)
    proposal = _chosen(proposal, only)
    if not proposal.events:
        return proposal
    require_yes(
        human,
        "\n".join(
            [
                *islice(map(_summary, proposal.clusters), _SHOWN),
                f"{counted(len(proposal.events), 'line')} of {counted(len(proposal.clusters), 'decision')} "
                f"to be appended to {shown(str(log.ledger))} for good, because: {shown(signature.reason)}",
            ]
        ),
        word=proposal.digest[:TYPED],
    )
    # the human may have thought for long; what takes long is done before the lock is held
    now = propose(log, ProjectReferences(log.root), signature)
    _require_same(log, now, proposal.digest)
    now = _chosen(now, only)
    with log.locked():
        if _files(log) != now.files:
            raise ChangedOnDisk(log.folder, _OTHER)
        log.append(events=now.events)
    return replace(now, is_applied=True)


def _summary(cluster: CurationCluster) -> str:
    others = ", ".join(shown(one.learning.key) for one in cluster.others)
    if cluster.keeper:
        return clipped(f"keep {shown(cluster.keeper.learning.key)} instead of {others}", _WIDTH)
    return clipped(f"mark for review ({shown(cluster.because)}): {others}", _WIDTH)


def check_reason(reason: str) -> None:
    """Raise where there is no reason that can stand in the log."""
    if not shown(reason):
        raise UsageError("a review needs a reason", hint='--reason "Same fact, told three times"')
    refuse_secrets(reason)


def _require_same(log: Log, proposal: CurationProposal, name: str) -> None:
    if not is_named(proposal.digest, name):
        raise ChangedOnDisk(log.folder, _OTHER)


def _files(log: Log) -> tuple[str, ...]:
    return tuple(digest(read_bytes(path)) for path in (log.knowledge, log.archive, log.ledger))


def _chosen(proposal: CurationProposal, only: Collection[int] | None) -> CurationProposal:
    """Return the proposal with the clusters `only`; each event keeps the id that it was shown with."""
    if only is None:
        return proposal
    events = iter(proposal.events)
    kept: list[LedgerEvent] = []
    for cluster in proposal.clusters:
        own = [next(events) for _ in cluster.changes]
        kept += own if cluster.number in only else []
    chosen = tuple(cluster for cluster in proposal.clusters if cluster.number in only)
    return replace(proposal, clusters=chosen, events=tuple(kept))


def _missing(state: LogState, grounds: ProjectReferences) -> Mapping[str, Sequence[str]]:
    """Return the files that are gone, by the id of each learning that is stale for it."""
    verdicts = ((one.id, files_verdict(one.learning.content, grounds)) for one in state.standings.values())
    return {id: verdict.missing_files for id, verdict in verdicts if verdict.status == STALE}


def _told(number: int, change: PlannedEvent) -> str:
    return repr((number, change.event, change.of, sorted(change.fields.items())))


def _event(change: PlannedEvent, signature: CurationSignature, *, digest: str, id: str) -> LedgerEvent:
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
        },
    )
