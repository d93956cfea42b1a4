"""The search for who vouches for a log that came with its project: trusted digests, and commits by trusted keys.

A signature is over a commit's tree, so that who signs vouches for all lines of the log in that tree, whoever
committed them before: a merge brings in what was merged. Nothing is asked of git's configuration, and each object
is checked (`git_objects`).
"""

import os
from collections import deque
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
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


def find_vouched_lines(folder: Path, lines: LogLines, entries: Sequence[TrustedEntry], *, state: Path) -> VouchedLines:
    """Return the lines of the log in `folder` that the trusted entries stand for.

    Raises:
        DiskError: nothing can be kept in the state folder.
    """
    vouched = VouchedLines()
    for entry in entries:
        if not entry.key and (covered := lines_of_digest(entry.name, lines)):
            vouched = vouched.with_lines(entry.name, (*covered.learnings, *covered.events))
    keys = {entry.name: entry.key for entry in entries if entry.key}
    if keys and (place := find_git_folder(folder.parent)):
        top, git = place
        parts = Path(os.path.relpath(folder, top)).parts
        with GitObjects(git, state) as objects:
            for signer, tree in _signed_trees(objects, head_commit(git), keys):
                signed = _lines_of_tree(objects, tree, parts)
                # who takes a line out, as one that says that another is outdated, changes what the others say
                if set(signed.learnings) <= set(lines.learnings) and set(signed.events) <= set(lines.events):
                    vouched = vouched.with_lines(signer, (*signed.learnings, *signed.events))
    return vouched


def _signed_trees(objects: GitObjects, head: str, keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield signer and tree of the nearest commits that are signed by one of `keys`, by fingerprint."""
    pending, known, forgeries = deque([head]), {head}, 0
    for _ in range(_MOST_COMMITS):
        if not pending or forgeries >= _MOST_FORGERIES:
            return
        commit = objects.read_commit(pending.popleft())
        if commit is None:
            continue
        signer = signing_fingerprint(commit.signature)
        if signer in keys and is_signed(commit.payload, commit.signature, keys[signer]):
            # what was before it is in its tree, as far as the signer wants it to be
            yield signer, commit.tree
            continue
        forgeries += signer in keys
        pending.extend(parent for parent in commit.parents if parent not in known)
        known.update(commit.parents)


def _lines_of_tree(objects: GitObjects, tree: str, parts: tuple[str, ...]) -> LogLines:
    knowledge, archive, ledger = (
        objects.read_path(tree, (*parts, name)) or b"" for name in (KNOWLEDGE, ARCHIVE, LEDGER)
    )
    return split_log(knowledge, archive, ledger)
