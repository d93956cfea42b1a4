"""`curate`: what a review of the shared log would append, and, once a human says so, appending it.

Nothing is rewritten, and no hook or agent gets here: the word comes from a terminal (D19).
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from roamkb.actions.known import NEVER_MERGED
from roamkb.core.anchors import STALE
from roamkb.core.anchors import anchors_of
from roamkb.core.anchors import judged
from roamkb.core.curation import Change
from roamkb.core.curation import Cluster
from roamkb.core.curation import clusters
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.ledger import Event
from roamkb.core.ledger import State
from roamkb.core.proposal import TYPED
from roamkb.core.proposal import digest_of
from roamkb.core.proposal import event_id
from roamkb.core.proposal import is_named
from roamkb.core.saying import Hand
from roamkb.core.secrets import find_secret
from roamkb.core.text import shown
from roamkb.storage.anchors import Grounds
from roamkb.storage.disk import digest
from roamkb.storage.lines import read_bytes
from roamkb.storage.log import Log

#: Asks a human at the terminal to type a word; says whether it was typed.
Confirm = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Who appends, when and why; what of an event the proposal doesn't decide."""

    hand: Hand
    #: The human, by the name of the account.
    operator: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation:
    """A proposal: clusters, the events that they stand for, and the digest that names all of it."""

    digest: str
    clusters: tuple[Cluster, ...]
    #: In the order of the clusters, as they would be appended now.
    events: tuple[Event, ...]
    #: Whether they were appended.
    is_applied: bool = False


def propose(log: Log, grounds: Grounds, signature: Signature) -> Curation:
    """Return what a review of `log` could settle, as it is now."""
    # the files first: what is added meanwhile makes a digest that no longer fits, never one that does
    files = [digest(read_bytes(path)) for path in (log.knowledge, log.archive, log.ledger)]
    contents = log.read()
    state = contents.state()
    found = tuple(clusters(state, _missing(state, grounds), never_merged=NEVER_MERGED))
    name = digest_of(
        files, (_told(cluster.number, change) for cluster in found for change in cluster.changes)
    )
    changes = [change for cluster in found for change in cluster.changes]
    events = tuple(
        _event(change, signature, digest=name, id=event_id(name, number, after=contents.last_event))
        for number, change in enumerate(changes, start=1)
    )
    return Curation(digest=name, clusters=found, events=events)


def apply(
    log: Log,
    grounds: Grounds,
    signature: Signature,
    name: str,
    *,
    confirm: Confirm | None,
    only: Collection[int] | None = None,
) -> Curation:
    """Append the events of the proposal called `name`, of the clusters `only` or of all.

    Raises:
        UsageError, SecretFound: no reason, or no human at a terminal said yes.
        ChangedOnDisk: the proposal would be another one by now. Nothing was written in either case.
    """
    check_reason(signature.reason)
    _require_same(log, propose(log, grounds, signature), name)
    proposal = _chosen(propose(log, grounds, signature), only)
    if not proposal.events:
        return proposal
    require_yes(
        confirm,
        f"{len(proposal.events)} lines are to be appended to {shown(str(log.ledger))}, for good, because: "
        f"{shown(signature.reason)}",
        word=proposal.digest[:TYPED],
    )
    with log.locked():
        now = propose(log, Grounds(log.root), signature)
        _require_same(log, now, proposal.digest)
        now = _chosen(now, only)
        log.append(events=now.events)
    return replace(now, is_applied=True)


def require_yes(confirm: Confirm | None, question: str, *, word: str) -> None:
    """Raise unless a human at a terminal types `word` after reading `question`."""
    if confirm is None:
        raise UsageError(
            "a human must say so at a terminal; nothing was written",
            hint="run it yourself in a terminal: agents, hooks and servers can't",
        )
    if not confirm(question, word):
        raise UsageError("it was not confirmed; nothing was written")


def check_reason(reason: str) -> None:
    """Raise where there is no reason that can stand in the log."""
    if not shown(reason):
        raise UsageError("a review needs a reason", hint='--reason "Same fact, told three times"')
    if secret := find_secret(reason):
        raise SecretFound(secret.kind, secret.start)


def _require_same(log: Log, proposal: Curation, name: str) -> None:
    if not is_named(proposal.digest, name):
        raise ChangedOnDisk(log.folder, "the proposal isn't that one any more, by what it is built from now")


def _chosen(proposal: Curation, only: Collection[int] | None) -> Curation:
    """Return the proposal with the clusters `only`; each event keeps the id that it was shown with."""
    if only is None:
        return proposal
    events = iter(proposal.events)
    kept: list[Event] = []
    for cluster in proposal.clusters:
        own = [next(events) for _ in cluster.changes]
        kept += own if cluster.number in only else []
    chosen = tuple(cluster for cluster in proposal.clusters if cluster.number in only)
    return replace(proposal, clusters=chosen, events=tuple(kept))


def _missing(state: State, grounds: Grounds) -> Mapping[str, Sequence[str]]:
    """Return the files that are gone, by the id of each learning that is stale for it."""
    found = {}
    for standing in state.standings.values():
        content = standing.learning.content
        anchors = anchors_of(content)
        if anchors.files:
            there = frozenset(file for file in anchors.files if grounds.has_file(file))
            verdict = judged(anchors, content, files=there, symbols=None)
            if verdict.status == STALE:
                found[standing.id] = verdict.missing_files
    return found


def _told(number: int, change: Change) -> str:
    return repr((number, change.event, change.of, sorted(change.fields.items())))


def _event(change: Change, signature: Signature, *, digest: str, id: str) -> Event:
    hand = signature.hand
    return Event(
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
