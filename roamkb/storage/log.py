"""A project's log on the disk: two append-only files, an archive, and local state beside them.

One `write()` of one line on an `O_APPEND` descriptor, under a lock that isn't on the file
itself, then fsync; never truncated, never rewritten but by rotation (design sections 8 and
13). The folder may come from somebody else's repository, so no link in it is followed.
"""

import contextlib
import gc
import hashlib
import os
import stat
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from roamkb.core.errors import DiskError
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.ids import is_id
from roamkb.core.learning import Learning
from roamkb.core.ledger import Event
from roamkb.core.ledger import State
from roamkb.core.ledger import advanced
from roamkb.core.ledger import replay
from roamkb.formats.events import BadLine
from roamkb.formats.events import Said
from roamkb.formats.events import event_line
from roamkb.formats.events import learning_line
from roamkb.formats.events import read_events
from roamkb.formats.events import read_learnings
from roamkb.storage.belonging import own_name
from roamkb.storage.disk import digest
from roamkb.storage.disk import swap
from roamkb.storage.lines import append_lines
from roamkb.storage.lines import changed
from roamkb.storage.lines import opened
from roamkb.storage.lines import read_bytes
from roamkb.storage.lines import read_lines
from roamkb.storage.state import lock

FOLDER = ".roamkb"
KNOWLEDGE = "knowledge.jsonl"
ARCHIVE = "knowledge.archive.jsonl"
LEDGER = "ledger.jsonl"
#: Never committed: locks, observations, and for each machine a folder with its receipts and index.
LOCAL = "local"
OBSERVATIONS = "observations"

#: Past so many lines the oldest half moves to the archive (document 003).
ROTATE_AT = 5000
ROTATED = 2500

#: Seconds to wait for the others: each reads the whole log, and a dozen agents may learn at once.
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A line of the log that says nothing readable."""

    path: Path
    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What the log's files say, line by line."""

    learnings: tuple[Learning, ...]
    archived: tuple[Learning, ...]
    events: tuple[Event, ...]
    faults: tuple[Fault, ...]
    #: Stands for the files' bytes; empty where something was added since.
    digest: str = ""
    #: What they amounted to before the last lines came, and how many learnings and events there were.
    before: tuple[State, int, int] | None = None

    def state(self, *, as_of: float | None = None) -> State:
        """Return what the lines amount to, today or at a time in seconds since 1970."""
        return self._today if as_of is None else self.until(as_of)._today

    def until(self, as_of: float | None) -> "Contents":
        """Return the lines of that time, in seconds since 1970, and before; one without a time always was."""
        if as_of is None:
            return self
        return Contents(
            learnings=tuple(one for one in self.learnings if one.ts <= as_of),
            archived=tuple(one for one in self.archived if one.ts <= as_of),
            events=tuple(one for one in self.events if one.ts <= as_of),
            faults=self.faults,
        )

    @cached_property
    def _today(self) -> State:
        if self.before is not None:
            state, learnings, events = self.before
            new = self.learnings[learnings:]
            known = advanced(state, new, self.events[events:])
            if known is not None:
                grown = state.digest, tuple(learning.id for learning in new)
                return replace(known, digest=self.digest, grown=grown)
        with uncollected():
            state = replay(self.learnings, self.events, archived=self.archived)
        return replace(state, digest=self.digest)

    def plus(self, learnings: Iterable[Learning] = (), events: Iterable[Event] = ()) -> "Contents":
        """Return the contents with what was added since."""
        return replace(
            self,
            learnings=(*self.learnings, *learnings),
            events=(*self.events, *events),
            digest="",
            before=self.reached,
        )

    @property
    def reached(self) -> tuple[State, int, int] | None:
        """What the lines amount to, if anybody asked yet, for who adds some."""
        # as cached_property keeps it
        state: State | None = vars(self).get("_today")
        return None if state is None else (state, len(self.learnings), len(self.events))

    @property
    def last_event(self) -> str:
        """The latest id of an event, among those that can be followed; empty where there is none."""
        reach = self.reached and self.reached[0].reach
        if reach and is_id(reach[0]):
            return reach[0]
        return max((event.id for event in self.events if is_id(event.id)), default="")


class Log:
    """The log of the project at `root`, on the machine whose state folder is `state`."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.knowledge = self.folder / KNOWLEDGE
        self.archive = self.folder / ARCHIVE
        self.ledger = self.folder / LEDGER
        #: What git ignores: of all machines that ever had this tree, and of whoever committed some.
        self.ignored = self.folder / LOCAL
        #: No more than the log itself would believe of who can commit: they become learnings at most.
        self.observations = self.ignored / OBSERVATIONS
        self._state = state
        self._own = ""

    @property
    def local(self) -> Path:
        """This machine's own folder; `init` makes it, and its being there says that the log counts here."""
        # a server may have begun before the machine had its secret
        self._own = self._own or own_name(str(self.root), str(self._state))
        return self.ignored / (self._own or "nobody")

    @property
    def is_there(self) -> bool:
        """Whether the project has a log that was adopted on this machine."""
        local = self.local
        return bool(self._own) and stat.S_ISDIR(_mode(local))

    @property
    def has_lines(self) -> bool:
        """Whether there are files of a log, whoever made them."""
        return any(stat.S_ISREG(_mode(path)) for path in (self.knowledge, self.ledger))

    def check_folders(self) -> None:
        """Raise where a folder of the log, or its local state, is a link: its owner chooses where we write.

        git ignores that state, and a commit can bring some all the same.
        """
        for folder in chain((self.folder, self.ignored, self.local, self.observations), self._linked()):
            if stat.S_ISLNK(_mode(folder)):
                raise DiskError(
                    folder,
                    "is a link; roamkb follows none in a project's log",
                    hint=f"remove it; what belongs there is {self.root}'s own",
                )

    def _linked(self) -> Iterator[Path]:
        """Yield what is a link in the local folder; nothing where that can't be looked at."""
        with contextlib.suppress(OSError), os.scandir(self.local) as found:
            yield from (self.local / one.name for one in found if one.is_symlink())

    def require(self) -> "Log":
        """Return the log, or raise `NoLog` where `init` wasn't called here."""
        self.check_folders()
        if not self.is_there:
            raise NoLog(self.root, is_cloned=self.has_lines)
        return self

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the leave to append; every append and rotation takes it."""
        # one for all that see this tree, by whatever name and from whatever container
        return lock(self.ignored / "log.lock", wait=_PATIENCE)

    def read(self) -> Contents:
        """Return all that the files say; what this process read before is not read again."""
        with uncollected():
            # the archive after what it is filled from: a line that moves meanwhile is seen twice,
            # which replay drops
            pages = tuple(_page(path) for path in (self.knowledge, self.archive, self.ledger))
        last = _Memory.contents
        if last is None or last[0] != pages:
            grew = last is not None and _have_grown(last[0], pages)
            contents = _more(last[0], last[1], pages) if last and grew else _contents(*pages)
            last = _Memory.contents = pages, contents
        return last[1]

    def stamp(self) -> tuple[object, ...]:
        """Return what is different once anybody has written to the files."""
        return tuple(changed(path) for path in (self.knowledge, self.archive, self.ledger))

    def append(self, learnings: Iterable[Learning] = (), events: Iterable[Event] = ()) -> None:
        """Add lines at the end of the files; the lock is held, and `read` was called since.

        Raises:
            DiskError: nothing was added. NotDurable: it was, and the disk would not promise to
                keep it, or took the learnings and not the events.
        """
        said = [learning_line(learning) for learning in learnings]
        happened = [event_line(event) for event in events]
        doubt: NotDurable | None = None
        if said:
            try:
                append_lines(self.knowledge, said)
            except NotDurable as error:
                # it is there, and so belongs what follows from it
                doubt = error
        if happened:
            try:
                append_lines(self.ledger, happened)
            except DiskError as error:
                if not said:
                    raise
                raise NotDurable(
                    self.knowledge, f"what follows from it isn't there: {error.message}"
                ) from error
        if doubt is not None:
            raise doubt
        if said:
            # what was said is safe by now, and the next to append tries again
            with contextlib.suppress(RoamkbError, OSError):
                self._rotate()

    def _rotate(self) -> None:
        """Move the oldest lines to the archive when there are too many.

        They are durable there before they leave, so that at no moment a line is in neither file.
        """
        with opened(self.knowledge) as file:
            data = file.read()
            too_many = data.count(b"\n") - ROTATE_AT
            if too_many <= 0 or not data.endswith(b"\n"):
                return
            lines = data.split(b"\n")
            leaving = -(-too_many // ROTATED) * ROTATED
            known = {b"", *read_lines(self.archive)}
            append_lines(self.archive, [line for line in lines[:leaving] if line not in known])
            swap(self.knowledge, b"\n".join(lines[leaving:]), was=digest(data), lock=contextlib.nullcontext())
            # a program that knows no lock of ours may have added to the file that is gone
            if late := file.read().removesuffix(b"\n"):
                append_lines(self.knowledge, late.split(b"\n"))


@dataclass(frozen=True, slots=True, eq=False)
class _Page:
    """One of the files as it was read: its bytes, and what they say."""

    path: Path
    data: bytes
    #: A learning or an event a line, as far as lines are readable.
    said: tuple[Said | Event | BadLine, ...]
    lines: int
    hash: hashlib.blake2b
    #: One thing for all pages that grew out of one another.
    strain: object


class _Memory:
    """The last log that this process read: an agents' server asks the same one again and again.

    What is kept is only ever replaced as a whole, since several threads may ask.
    """

    pages: Mapping[Path, _Page] = MappingProxyType({})
    contents: tuple[tuple[_Page, ...], Contents] | None = None


#: Files of one log.
_MOST_PAGES = 3
#: A larger file isn't kept in memory beside what it says.
_MOST_KEPT = 64 * 1024 * 1024


def _page(path: Path) -> _Page:
    """Return what a file says; of one that only grew since it was read, the new lines alone are read."""
    data = read_bytes(path)
    known = _Memory.pages.get(path)
    if known is not None and data == known.data:
        return known
    if known is None or not data.startswith(known.data) or not known.data.endswith(b"\n"):
        known = _Page(path, b"", (), 0, hashlib.blake2b(digest_size=16), object())
    if len(data) > len(known.data):
        read = read_events if path.name == LEDGER else read_learnings
        new = data[len(known.data) :]
        said = (*known.said, *read(new.split(b"\n"), first=known.lines + 1))
        hash = known.hash.copy()
        hash.update(new)
        known = _Page(path, data, said, known.lines + new.count(b"\n"), hash, known.strain)
    if len(data) <= _MOST_KEPT:
        others = [page for page in _Memory.pages.values() if page.path != path]
        _Memory.pages = {page.path: page for page in (*others, known)[-_MOST_PAGES:]}
    return known


def _contents(knowledge: _Page, archive: _Page, ledger: _Page) -> Contents:
    return Contents(
        learnings=_learnings(knowledge),
        archived=_learnings(archive),
        events=_events(ledger),
        faults=tuple(fault for page in (knowledge, archive, ledger) for fault in _faults(page)),
        digest=" ".join(page.hash.hexdigest() for page in (knowledge, archive)),
    )


def _more(before: Sequence[_Page], known: Contents, pages: Sequence[_Page]) -> Contents:
    """Return what `pages` say, where `before` are what they grew from and `known` what those said."""
    knowledge, archive, ledger = pages
    faults = [
        fault for page, old in zip(pages, before, strict=True) for fault in _faults(page, first=len(old.said))
    ]
    order = [page.path for page in pages]
    return Contents(
        learnings=known.learnings + _learnings(knowledge, first=len(before[0].said)),
        archived=known.archived,
        events=known.events + _events(ledger, first=len(before[2].said)),
        faults=tuple(sorted((*known.faults, *faults), key=lambda fault: order.index(fault.path))),
        digest=" ".join(page.hash.hexdigest() for page in (knowledge, archive)),
        before=known.reached or known.before,
    )


def _learnings(page: _Page, *, first: int = 0) -> tuple[Learning, ...]:
    return tuple(found.learning for found in page.said[first:] if isinstance(found, Said))


def _events(page: _Page, *, first: int = 0) -> tuple[Event, ...]:
    return tuple(found for found in page.said[first:] if isinstance(found, Event))


def _faults(page: _Page, *, first: int = 0) -> Iterator[Fault]:
    for found in page.said[first:]:
        if isinstance(found, BadLine):
            yield Fault(path=page.path, line=found.line, reason=found.reason)


def _have_grown(before: Sequence[_Page], now: Sequence[_Page]) -> bool:
    """Say whether the pages say what they said before, and then more; the archive just the same."""
    return before[1] is now[1] and all(
        one.strain is other.strain for one, other in zip(before, now, strict=True)
    )


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Make many small things that stay without Python looking among them for garbage again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _mode(path: Path) -> int:
    """Return the mode of what goes by that name, a link's own; 0 where nothing does or can be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
