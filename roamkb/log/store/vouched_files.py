"""The files of a log that counts by its vouchers alone: the lines that are seen, as long as no signed one is gone.

Whoever may push unsigned commits can take lines out, such as the one by which a human contested a learning, and what
is left would say something else than what was signed. So nothing counts of a log that lacks a line of a trusted
voucher. Rotation keeps each line, what `forget` takes out has its tombstone, and a signed commit that follows may
take out what its signer wants.
"""

import contextlib
from collections.abc import Collection
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.core.errors import LostLines
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import blake2b
from roamkb.log import jsonl
from roamkb.log.store import adoptions
from roamkb.log.store.adoptions import LogAdoption
from roamkb.log.trust.store import vouching
from roamkb.log.trust.store.trust_lists import TrustedEntry
from roamkb.log.trust.store.vouching import FoundVouchers
from roamkb.log.trust.vouched_lines import VouchedLines
from roamkb.log.trust.vouched_lines import is_digest
from roamkb.log.trust.vouched_lines import split_log

#: Bytes of lines that are compared each time, one by one.
_MOST_COMPARED: Final = 256 * 1024
#: The log, the archive, the ledger.
_IS_LEDGER: Final = (False, False, True)


@dataclass(frozen=True, kw_only=True)
class VouchedFiles:
    """The files of one log, and what is trusted on this machine."""

    folder: Path
    state: Path
    #: Of the log's local folder, and so of its record.
    name: str
    entries: tuple[TrustedEntry, ...]

    def seen_part(self, adoption: LogAdoption, data: Sequence[bytes]) -> list[bytes]:
        """Return of each file what is vouched for; look for vouchers again where the log isn't as it was.

        Raises:
            LostLines: a line is gone that a trusted key or digest stood for.
        """
        vouched = adoption.vouched or VouchedLines()
        seen_lines = self._trusted_part(vouched)
        # the marks of a long log take longer to compare than the log to read
        starts = _seen_starts(adoption.seen_whole, data) if seen_lines == vouched else [0, 0, 0]
        parts = _parts_of(seen_lines, data, starts)
        # what was recorded as whole has all of them
        lost = {} if any(starts) else seen_lines.find_incomplete(split_log(*data))
        is_settled = parts == list(data) and not lost and not adoption.missing
        head = _digest(vouching.checked_out_commit(self.folder), self.entries)
        looked = f"{head} {_digest(*data)}"
        if adoption.looked == looked or (is_settled and adoption.looked.startswith(f"{head} ")):
            if missing := adoption.missing or sum(lost.values()):
                raise LostLines(self.folder.parent, missing)
            if is_settled and seen_lines == vouched:
                self._record_whole(data, starts)
            return parts
        return self._look_again(adoption, data, lost, looked)

    def search(self, adoption: LogAdoption | None, data: Sequence[bytes]) -> FoundVouchers:
        """Return what vouches for the log now, and what is missing; nothing is recorded.

        Raises:
            DiskError: nothing can be kept in the state folder.
        """
        earlier = adoption.commits if adoption else ()
        lines = split_log(*data)
        return vouching.find_vouched_lines(self.folder, lines, self.entries, state=self.state, earlier=earlier)

    def _look_again(
        self, adoption: LogAdoption, data: Sequence[bytes], lost: dict[str, int], looked: str
    ) -> list[bytes]:
        found = self.search(adoption, data)
        is_signed_on = bool(found.commits) and found.descends and not found.missing
        recorded = {one.by for one in adoption.vouched.vouchings} if adoption.vouched else set()
        is_trusted_anew = any(is_digest(one.by) and one.by not in recorded for one in found.vouched.vouchings)
        excused = {by for by in lost if (is_trusted_anew if is_digest(by) else is_signed_on)}
        missing = len(found.missing) or sum(count for by, count in lost.items() if by not in excused)

        def with_found(current: LogAdoption) -> LogAdoption:
            if missing:
                return replace(current, looked=looked, missing=missing)
            vouched = _without(current.vouched or VouchedLines(), excused).plus(found.vouched)
            kept = () if found.descends else current.commits
            commits = tuple(dict.fromkeys((*kept, *(found.commits or current.commits))))
            return replace(current, vouched=vouched, commits=commits, looked=looked, missing=0, seen_whole=())

        with contextlib.suppress(RoamkbError):
            adoptions.change_adoption(self.state, self.name, with_found)
        if missing:
            raise LostLines(self.folder.parent, missing)
        return _parts_of(self._trusted_part(with_found(adoption).vouched or VouchedLines()), data)

    def _trusted_part(self, vouched: VouchedLines) -> VouchedLines:
        return vouched.limit_to({entry.name for entry in self.entries})

    def _record_whole(self, data: Sequence[bytes], starts: Sequence[int]) -> None:
        """Record that all lines of long files are vouched for."""
        is_long = sum(map(len, data)) - sum(starts) > _MOST_COMPARED
        # a line without its end may be the beginning of another
        if is_long and all(not page or page.endswith(b"\n") for page in data):
            seen_whole = tuple((len(page), _digest(page)) for page in data)
            with contextlib.suppress(RoamkbError):
                adoptions.change_adoption(self.state, self.name, lambda now: replace(now, seen_whole=seen_whole))


def _without(vouched: VouchedLines, vouchers: Collection[str]) -> VouchedLines:
    return VouchedLines(vouchings=tuple(one for one in vouched.vouchings if one.by not in vouchers))


def _parts_of(vouched: VouchedLines, data: Sequence[bytes], starts: Sequence[int] = (0, 0, 0)) -> list[bytes]:
    return [
        page[:start] + vouched.part_of(page[start:], jsonl.is_tombstone, is_ledger=is_ledger)
        for page, start, is_ledger in zip(data, starts, _IS_LEDGER, strict=True)
    ]


def _seen_starts(seen_whole: Sequence[tuple[int, str]], data: Sequence[bytes]) -> list[int]:
    """Return how much of each file's beginning is as it was recorded; nothing where one differs."""
    if len(seen_whole) != len(data):
        return [0] * len(data)
    is_same = all(
        _digest(memoryview(page)[:size]) == digest for page, (size, digest) in zip(data, seen_whole, strict=True)
    )
    return [size if is_same else 0 for size, _ in seen_whole]


def _digest(*values: object) -> str:
    """Return a digest of bytes and other values."""
    digest = blake2b(digest_size=16)
    for value in values:
        data = value if isinstance(value, bytes | memoryview) else repr(value).encode()
        digest.update(b"%d:" % len(data) + data if len(values) > 1 else data)
    return digest.hexdigest()
