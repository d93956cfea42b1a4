"""Vouched lines: all that is seen of a log which came with its project and which no human adopted (D25).

A trusted digest stands for the log's first lines, a trusted key for those in the commits that it signed; what
this machine appends is its own. A line is known by its bytes, wherever a merge or a rotation puts it. Other
lines stay in the files, and aren't seen but for tombstones, which count whoever wrote them.
"""

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from functools import cached_property
from typing import Final
from typing import NamedTuple

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import blake2b
from roamkb.core.startup.digests import sha256
from roamkb.core.startup.lazy_regex import lazily

#: Who vouches for what this machine appended.
OWN: Final = ""
#: Bytes by which a line is known again.
MARK_BYTES: Final = 16
#: So many marks are looked for in the bytes; for more it takes less time to make a set.
_FEW_MARKS: Final = 64
#: The form of a digest's text: how many learnings and events it covers, and their SHA-256.
_DIGEST = lazily(r"roamkb-log-1:(\d{1,9}):(\d{1,9}):([0-9a-f]{64})")


class LogLines(NamedTuple):
    """The lines of a log as they are digested: without their ends, and no empty ones."""

    #: Of the archive, then of the log: rotation changes nothing.
    learnings: tuple[bytes, ...]
    events: tuple[bytes, ...]


@dataclass(frozen=True)
class LineMarks:
    """The marks of lines, one behind the other."""

    data: bytes = b""

    def __len__(self) -> int:
        return len(self.data) // MARK_BYTES

    def find_known(self, marks: Collection[bytes]) -> Collection[bytes]:
        """Return those of `marks` that are among these."""
        return self.as_set if len(marks) > _FEW_MARKS else [mark for mark in marks if self._has_mark(mark)]

    def plus(self, marks: Iterable[bytes]) -> "LineMarks":
        """Return these marks and others."""
        new_marks = dict.fromkeys(marks)
        for known in self.find_known(new_marks):
            new_marks.pop(known, None)
        return LineMarks(self.data + b"".join(new_marks))

    def minus(self, marks: Collection[bytes]) -> "LineMarks":
        """Return these marks without others."""
        return LineMarks(b"".join(mark for mark in split_marks(self.data) if mark not in marks))

    def _has_mark(self, mark: bytes) -> bool:
        offset = self.data.find(mark)
        while offset % MARK_BYTES:
            if offset < 0:
                return False
            offset = self.data.find(mark, offset + 1)
        return True

    @cached_property
    def as_set(self) -> frozenset[bytes]:
        """The marks."""
        return frozenset(split_marks(self.data))


@dataclass(frozen=True, kw_only=True)
class Vouching:
    """The lines that one voucher stands for."""

    #: A digest's text, a key's fingerprint, or `OWN`.
    by: str
    learnings: LineMarks = LineMarks()
    events: LineMarks = LineMarks()

    def __len__(self) -> int:
        return len(self.learnings) + len(self.events)

    def of_file(self, *, is_ledger: bool) -> LineMarks:
        """Return the marks that count in the ledger, or in the log and its archive."""
        return self.events if is_ledger else self.learnings

    def plus(self, learnings: Iterable[bytes], events: Iterable[bytes]) -> "Vouching":
        """Return these lines and others, by their marks."""
        return Vouching(by=self.by, learnings=self.learnings.plus(learnings), events=self.events.plus(events))

    def minus(self, learnings: Collection[bytes], events: Collection[bytes]) -> "Vouching":
        """Return these lines without others, by their marks."""
        return Vouching(by=self.by, learnings=self.learnings.minus(learnings), events=self.events.minus(events))

    def count_missing(self, present: "Vouching") -> int:
        """Return how many of these lines aren't among those of another."""
        learnings = self.learnings.as_set - present.learnings.as_set
        return len(learnings) + len(self.events.as_set - present.events.as_set)


@dataclass(frozen=True, kw_only=True)
class VouchedLines:
    """The lines that vouchers stand for, one vouching for each."""

    vouchings: tuple[Vouching, ...] = ()

    def __bool__(self) -> bool:
        """Say whether there is a line."""
        return any(map(len, self.vouchings))

    def limit_to(self, vouchers: Collection[str]) -> "VouchedLines":
        """Return the lines of this machine and of the vouchers that are still trusted."""
        return VouchedLines(vouchings=tuple(one for one in self.vouchings if one.by == OWN or one.by in vouchers))

    def with_lines(self, by: str, lines: LogLines) -> "VouchedLines":
        """Return these and the lines that `by` stands for."""
        return self._with_marks(by, map(line_mark, lines.learnings), map(line_mark, lines.events))

    def without_lines(self, lines: LogLines) -> "VouchedLines":
        """Return these lines without some."""
        learnings, events = set(map(line_mark, lines.learnings)), set(map(line_mark, lines.events))
        return VouchedLines(vouchings=tuple(one.minus(learnings, events) for one in self.vouchings))

    def plus(self, others: "VouchedLines") -> "VouchedLines":
        """Return both, one vouching for each voucher."""
        both = self
        for one in others.vouchings:
            both = both._with_marks(one.by, split_marks(one.learnings.data), split_marks(one.events.data))
        return both

    def _with_marks(self, by: str, learnings: Iterable[bytes], events: Iterable[bytes]) -> "VouchedLines":
        known = next((vouching for vouching in self.vouchings if vouching.by == by), Vouching(by=by))
        others = tuple(vouching for vouching in self.vouchings if vouching.by != by)
        return VouchedLines(vouchings=(*others, known.plus(learnings, events)))

    def find_incomplete(self, lines: LogLines) -> dict[str, int]:
        """Return the vouchers some of whose lines aren't among `lines`, each with how many.

        What this machine appended is left out: nobody but its own files says that it was there.
        """
        present = Vouching(by=OWN).plus(map(line_mark, lines.learnings), map(line_mark, lines.events))
        counts = {one.by: one.count_missing(present) for one in self.vouchings if one.by != OWN}
        return {by: count for by, count in counts.items() if count}

    def part_of(self, data: bytes, is_also: Callable[[bytes], bool], *, is_ledger: bool) -> bytes:
        """Return a file's bytes with only these lines, and those that `is_also` takes, at their places."""
        lines = self._judge_lines(data, is_also, is_ledger=is_ledger)
        return b"\n".join(line if is_known else b"" for line, is_known in lines)

    def rest_of(self, data: bytes, is_also: Callable[[bytes], bool], *, is_ledger: bool) -> bytes:
        """Return a file's bytes without all those lines."""
        lines = self._judge_lines(data, is_also, is_ledger=is_ledger)
        return b"\n".join(b"" if is_known else line for line, is_known in lines)

    def _judge_lines(
        self, data: bytes, is_also: Callable[[bytes], bool], *, is_ledger: bool
    ) -> Iterator[tuple[bytes, bool]]:
        lines = data.split(b"\n")
        marks = [line_mark(line) if line else b"" for line in lines]
        known = [vouching.of_file(is_ledger=is_ledger).find_known(marks) for vouching in self.vouchings]
        for line, mark in zip(lines, marks, strict=True):
            yield line, bool(mark) and (any(mark in of_one for of_one in known) or is_also(line))


def split_marks(marks: bytes) -> Iterator[bytes]:
    """Yield marks that stand one behind the other."""
    return (marks[offset : offset + MARK_BYTES] for offset in range(0, len(marks), MARK_BYTES))


def line_mark(line: bytes) -> bytes:
    """Return the mark of a line; one that git gave another end is the same line."""
    return blake2b(line.removesuffix(b"\r"), digest_size=MARK_BYTES).digest()


def split_log(knowledge: bytes, archive: bytes, ledger: bytes) -> LogLines:
    """Return the lines of a log's three files."""
    return LogLines(learnings=(*_plain_lines(archive), *_plain_lines(knowledge)), events=_plain_lines(ledger))


def _plain_lines(data: bytes) -> tuple[bytes, ...]:
    return tuple(line for raw in data.split(b"\n") if (line := raw.removesuffix(b"\r")))


def log_digest(lines: LogLines) -> str:
    """Return the digest that stands for just these lines in this order."""
    counts = len(lines.learnings), len(lines.events)
    digest = sha256(b"roamkb log 1\n%d %d\n" % counts)
    for line in (*lines.learnings, *lines.events):
        digest.update(line + b"\n")
    return f"roamkb-log-1:{counts[0]}:{counts[1]}:{digest.hexdigest()}"


def is_digest(text: str) -> bool:
    """Say whether `text` has the form of a log's digest."""
    return _DIGEST.fullmatch(text) is not None


def lines_of_digest(digest: str, lines: LogLines) -> LogLines | None:
    """Return the first lines, which `digest` stands for; None where it stands for others."""
    form = _DIGEST.fullmatch(digest)
    if form is None:
        return None
    first_lines = LogLines(learnings=lines.learnings[: int(form[1])], events=lines.events[: int(form[2])])
    return first_lines if log_digest(first_lines) == digest else None
