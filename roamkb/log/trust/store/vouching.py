"""The search for who vouches for a log that came with its project: trusted digests, and commits by trusted keys.

A signature is over a commit's tree, so that who signs vouches for all lines of the log in that tree, whoever
committed them before: a merge brings in what was merged. Nothing is asked of git's configuration, and each object
is checked (`git_objects`).
"""

import os
from collections import deque
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from typing import NamedTuple

from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.log import jsonl
from roamkb.log.jsonl import LearningLine
from roamkb.log.redaction import RedactedBytes
from roamkb.log.redaction import redaction_of
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.trust.store.git_objects import GitObjects
from roamkb.log.trust.store.git_objects import find_git_folder
from roamkb.log.trust.store.git_objects import head_commit
from roamkb.log.trust.store.ssh_signatures import is_signed
from roamkb.log.trust.store.ssh_signatures import signing_fingerprint
from roamkb.log.trust.store.trust_lists import TrustedEntry
from roamkb.log.trust.vouched_lines import LogLines
from roamkb.log.trust.vouched_lines import VouchedLines
from roamkb.log.trust.vouched_lines import lines_of_digest
from roamkb.log.trust.vouched_lines import split_log

#: Back from the checked-out commit, on all branches that were merged into it.
_MOST_COMMITS: Final = 2_000
#: Signatures that call themselves a trusted key's and aren't, each of which a program looks at; then no more.
_MOST_FORGERIES: Final = 20


def checked_out_commit(folder: Path) -> str:
    """Return the id of the commit that brought the log in `folder`; empty outside of a repository."""
    place = find_git_folder(folder.parent)
    return head_commit(place[1]) if place else ""


class MissingLine(NamedTuple):
    """A line that a signed commit has and the log has no more."""

    commit: str
    line: bytes
    is_event: bool


class FoundVouchers(NamedTuple):
    """The vouchers of a log, and what of the signed lines isn't there any more."""

    vouched: VouchedLines
    #: Of the nearest signed commits, all of whose lines are there.
    commits: tuple[str, ...] = ()
    #: Whether those descend from the signed commits that counted earlier.
    descends: bool = True
    #: Of a signed commit that is checked out, or that counted earlier and was left behind.
    missing: tuple[MissingLine, ...] = ()


class _SignedTree(NamedTuple):
    signer: str
    lines: LogLines
    missing: tuple[MissingLine, ...]


def find_vouched_lines(
    folder: Path, lines: LogLines, entries: Sequence[TrustedEntry], *, state: Path, earlier: Collection[str] = ()
) -> FoundVouchers:
    """Return the lines of the log in `folder` that the trusted entries stand for.

    `earlier` names signed commits that counted before.

    Raises:
        DiskError: nothing can be kept in the state folder.
    """
    vouched = VouchedLines()
    for entry in entries:
        if not entry.key and (covered := lines_of_digest(entry.name, lines)):
            vouched = vouched.with_lines(entry.name, covered)
    keys = {entry.name: entry.key for entry in entries if entry.key}
    place = find_git_folder(folder.parent) if keys else None
    if place is None:
        return FoundVouchers(vouched)
    top, git = place
    parts = Path(os.path.relpath(folder, top)).parts
    with GitObjects(git, state) as objects:
        signed = {
            id: compared
            for id, signer, tree in _latest(objects, [*_signed_commits(objects, head_commit(git), keys)])
            if (compared := _compare_tree(objects, id, signer, tree, parts, lines))
        }
        descends = _is_below(objects, signed, earlier)
        missing = [line for tree in signed.values() for line in tree.missing]
        for id in () if descends else earlier:
            commit = objects.read_commit(id)
            left = _compare_tree(objects, id, "", commit.tree, parts, lines) if commit else None
            missing += left.missing if left else ()
    for tree in signed.values():
        # who takes a line out, as one that says that another is outdated, changes what the others say
        if not tree.missing:
            vouched = vouched.with_lines(tree.signer, tree.lines)
    commits = tuple(id for id, tree in signed.items() if not tree.missing)
    return FoundVouchers(vouched, commits, descends=descends, missing=tuple(missing))


def _signed_commits(objects: GitObjects, head: str, keys: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield id, signer and tree of the nearest commits that are signed by one of `keys`, by fingerprint."""
    pending, known, forgeries = deque([head]), {head}, 0
    for _ in range(_MOST_COMMITS):
        if not pending or forgeries >= _MOST_FORGERIES:
            return
        id = pending.popleft()
        commit = objects.read_commit(id)
        if commit is None:
            continue
        signer = signing_fingerprint(commit.signature)
        if signer in keys and is_signed(commit.payload, commit.signature, keys[signer]):
            # what was before it is in its tree, as far as the signer wants it to be
            yield id, signer, commit.tree
            continue
        forgeries += signer in keys
        pending.extend(parent for parent in commit.parents if parent not in known)
        known.update(commit.parents)


def _latest(objects: GitObjects, found: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return the commits, by id, signer and tree, without those that another of them descends from.

    What a later signed commit took out no merge with an earlier one brings back.
    """
    below: set[str] = set()
    for id, _, _ in found if len(found) > 1 else ():
        commit = objects.read_commit(id)
        pending = deque(commit.parents if commit else ())
        for _ in range(_MOST_COMMITS):
            if not pending:
                break
            parent = pending.popleft()
            if parent not in below:
                below.add(parent)
                older = objects.read_commit(parent)
                pending.extend(older.parents if older else ())
    return [each for each in found if each[0] not in below]


def _is_below(objects: GitObjects, commits: Iterable[str], ancestors: Collection[str]) -> bool:
    """Say whether each of `ancestors` is one of some commits, or one that these descend from."""
    known, wanted = set(commits), set(ancestors)
    pending = deque(known)
    for _ in range(_MOST_COMMITS):
        if wanted <= known or not pending:
            break
        commit = objects.read_commit(pending.popleft())
        parents = set(commit.parents if commit else ()) - known
        pending.extend(parents)
        known |= parents
    return wanted <= known


def _compare_tree(
    objects: GitObjects, id: str, signer: str, tree: str, parts: tuple[str, ...], lines: LogLines
) -> _SignedTree | None:
    """Return what the log has of the lines in a commit's tree, and which are missing; None where it can't be read.

    What a tombstone covers was forgotten and isn't missing, and an event that told of it is another line since.
    """
    knowledge, archive, ledger = (objects.read_path(tree, (*parts, name)) for name in (KNOWLEDGE, ARCHIVE, LEDGER))
    if knowledge is None or archive is None or ledger is None:
        # whoever hands over a repository may leave out what was signed
        return None
    signed = split_log(knowledge, archive, ledger)
    learnings, events = set(lines.learnings), set(lines.events)
    if not (learnings.issuperset(signed.learnings) and events.issuperset(signed.events)):
        signed = _without_forgotten(signed, lines)
    gone = [MissingLine(id, line, is_event=False) for line in signed.learnings if line not in learnings]
    gone += [MissingLine(id, line, is_event=True) for line in signed.events if line not in events]
    return _SignedTree(signer, signed, tuple(gone))


def _without_forgotten(signed: LogLines, lines: LogLines) -> LogLines:
    """Return signed lines as `forget` leaves them, by the tombstones that the log has by now."""
    tombstones = jsonl.read_tombstones(lines.events)
    if not tombstones:
        return signed
    learnings = [line.learning for line in jsonl.read_learnings(signed.learnings) if isinstance(line, LearningLine)]
    events = [event for event in jsonl.read_events(signed.events) if isinstance(event, LedgerEvent)]
    redaction = redaction_of(tombstones, learnings, events)
    present = {*lines.learnings, *lines.events}
    # a line that is still there is the one that was signed
    return LogLines(
        learnings=tuple(_redact(signed.learnings, present, redaction.redact_learnings)),
        events=tuple(_redact(signed.events, present, redaction.redact_ledger)),
    )


def _redact(
    lines: Iterable[bytes], present: Collection[bytes], redact: Callable[[bytes], RedactedBytes]
) -> Iterator[bytes]:
    redacted = (line if line in present else redact(line).data for line in lines)
    return (line for line in redacted if line)
