"""A project's log on the disk: two append-only files, an archive, and local state beside them.

One `write()` of one line on an `O_APPEND` descriptor, under a lock that isn't on the file
itself, then fsync; never truncated, never rewritten but by rotation (docs/architecture.md).
The folder may come from somebody else's repository, so no link in it is followed.
"""

import contextlib
import os
import stat
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import UTC
from datetime import datetime
from itertools import chain
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import NameTaken
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import blake2b
from roamkb.fs import git_worktrees
from roamkb.fs import user_dirs
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import append_lines
from roamkb.fs.append import read_bytes
from roamkb.fs.append import read_lines
from roamkb.fs.append import replace_content
from roamkb.fs.append import stat_signature
from roamkb.fs.files import create_file
from roamkb.fs.files import discard_file
from roamkb.fs.files import make_folder
from roamkb.fs.locks import hold_lock
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store import adoptions
from roamkb.log.store import observations
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import append_known
from roamkb.log.store.file_contents import file_version
from roamkb.log.store.file_contents import read_file_version
from roamkb.log.store.file_stamps import FileStamps
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.log_contents import are_grown
from roamkb.log.store.state_cache import StateCache
from roamkb.log.trust import vouched_lines
from roamkb.log.trust.store import trust_lists
from roamkb.log.trust.store import vouching
from roamkb.secrets import detector

LOG_FOLDER = ".roamkb"
#: Never committed: locks, observations, and for each machine a folder with its receipts and index.
LOCAL_FOLDER = "local"
OBSERVATIONS_FOLDER = "observations"

#: Bytes of lines that are compared each time, one by one.
_MOST_COMPARED = 256 * 1024
#: In the local folder of a log of which only vouched lines are seen.
_VOUCHED_MARK = "vouched"

#: Past so many lines the oldest half moves to the archive (document 003).
ROTATE_AT = 5000
ROTATED_LINES = 2500

#: Seconds to wait for the others: each reads the whole log, and a dozen agents may learn at once.
_LOCK_WAIT_SECONDS = 60.0


class Log:
    """The log of the project at `root`, on the machine whose state folder is `state`.

    All worktrees of a repository have the log of its main checkout.
    """

    def __init__(
        self, root: Path, state: Path, *, account_home: Path | None = None, budget: BuildBudget | None = None
    ) -> None:
        """Take the home of the account, whose list of what is trusted counts; None for root's list alone.

        A `budget` is that of a hook, which can't wait until a long log is indexed.
        """
        self.root = root
        self._budget = budget
        #: The checkout that the log lies in, or git's common folder where there is no main checkout.
        self.home = Path(git_worktrees.shared_folder(str(root)))
        self.folder = self.home / LOG_FOLDER
        self.knowledge = self.folder / KNOWLEDGE
        self.archive = self.folder / ARCHIVE
        self.ledger = self.folder / LEDGER
        #: What git ignores: of all machines that ever had this tree, and of whoever committed some.
        self.ignored = self.folder / LOCAL_FOLDER
        #: No more than the log itself would believe of who can commit: they become learnings at most.
        self.observations = self.ignored / OBSERVATIONS_FOLDER
        self._state = state
        self._account_home = account_home
        self._own = ""
        #: How the log counts by what is trusted, until that is recorded or where it can't be.
        self._unrecorded: adoptions.LogAdoption | None = None

    @property
    def local_folder(self) -> Path:
        """This machine's own folder; `init` makes it, and a log without it doesn't count here."""
        # a server may have begun before the machine had its secret
        self._own = self._own or user_dirs.local_state_name(str(self.home), str(self._state))
        return self.ignored / (self._own or "nobody")

    @property
    def is_adopted(self) -> bool:
        """Whether the project has a log that was adopted on this machine."""
        return self._has_local or self._find_adoption_record() is not None

    @property
    def _has_local(self) -> bool:
        local = self.local_folder
        return bool(self._own) and stat.S_ISDIR(_file_mode(local)) and not self._has_lost_record

    @property
    def _has_lost_record(self) -> bool:
        """Whether it was recorded which lines are vouched for, and no more is."""
        has_mark = _file_mode(self.local_folder / _VOUCHED_MARK) != 0
        return has_mark and adoptions.find_adoption(self._state, self._own) is None

    def _find_adoption_record(self) -> "adoptions.LogAdoption | None":
        """Return the record that this log was adopted, here or before it was moved here."""
        log, local = adoptions.log_identity(self.folder), self.local_folder
        # something else may stand in its place
        if not log or not self._own or _file_mode(local):
            return None
        adoption = adoptions.find_adoption(self._state, self._own)
        if adoption is not None and adoption.log == log:
            return adoption
        moved = adoptions.find_moved_log(self._state, log)
        return moved[1] if moved else None

    def _earlier_local_folder(self, log: str) -> Path | None:
        """Return the local folder that the log had before it was moved here."""
        moved = adoptions.find_moved_log(self._state, log)
        folder = self.ignored / moved[0] if moved and moved[0] != self._own else None
        return folder if folder and stat.S_ISDIR(_file_mode(folder)) else None

    def record_adoption(
        self, adopted: AdoptedLines = NONE_ADOPTED, vouched: "vouched_lines.VouchedLines | None" = None
    ) -> Path:
        """Let the log count on this machine from now on, or what is vouched for; return its local folder.

        Raises:
            DiskError: it doesn't count.
        """
        log = adoptions.log_identity(self.folder)
        earlier_folder = self._earlier_local_folder(log)
        adoption = adoptions.LogAdoption(log=log, adopted=adopted, vouched=vouched)
        # first, so that at no moment the log counts more than it should
        adoptions.save_adoption(self._state, self.local_folder.name, adoption)
        if earlier_folder:
            with contextlib.suppress(OSError):
                earlier_folder.rename(self.local_folder)
        else:
            observations.set_observations_aside(self.ignored)
        folder = make_folder(self.local_folder, mode=0o700)
        if vouched is None:
            discard_file(folder / _VOUCHED_MARK)
        else:
            with contextlib.suppress(NameTaken):
                create_file(folder, _VOUCHED_MARK, b"", mode=0o600)
        self._unrecorded = None
        return folder

    @property
    def _adoption(self) -> "adoptions.LogAdoption | None":
        """How the log counts here; None before it is adopted."""
        found = adoptions.find_adoption(self._state, self._own) if self._has_local else self._find_adoption_record()
        return found or self._unrecorded

    @property
    def has_lines(self) -> bool:
        """Whether files of a log are there, whoever made them."""
        return any(stat.S_ISREG(_file_mode(path)) for path in (self.knowledge, self.ledger))

    def check_folders(self) -> None:
        """Raise where a folder of the log, or its local state, is a link, which would redirect writes.

        git ignores that state, and a commit can bring some all the same.
        """
        for folder in chain((self.folder, self.ignored, self.local_folder, self.observations), self._local_links()):
            if stat.S_ISLNK(_file_mode(folder)):
                raise DiskError(
                    folder,
                    "is a link; roamkb follows none in a project's log",
                    hint=f"remove it; what belongs there is {self.home}'s own",
                )

    def _local_links(self) -> Iterator[Path]:
        """Yield the links in the local folder; nothing where it can't be listed."""
        with contextlib.suppress(OSError), os.scandir(self.local_folder) as entries:
            yield from (self.local_folder / entry.name for entry in entries if entry.is_symlink())

    def require_adopted(self) -> "Log":
        """Return the log, or raise `NoLog` where `init` wasn't called here."""
        self.check_folders()
        if self._has_local:
            return self
        proof = self._find_adoption_record()
        if proof is None and self.find_vouchers():
            proof = self._unrecorded
        if proof is None:
            raise NoLog(self.home, is_cloned=self.has_lines)
        # where nothing may be written, what is there can be read all the same
        with contextlib.suppress(RoamkbError):
            self.record_adoption(proof.adopted, proof.vouched)
        return self

    def create_machine_key(self) -> None:
        """Create the secret by which this machine names its own folder of the log, unless it has one.

        Raises:
            DiskError: it can't be kept.
        """
        user_dirs.create_machine_key(self._state)

    def find_vouchers(self) -> bool:
        """Say whether a trusted digest or key vouches for lines of the log, which count from then on.

        Raises:
            DiskError: the log can't be read, or the machine gets no secret.
        """
        entries = self._trusted_entries()
        if self._unrecorded is None and entries and self.has_lines:
            self.create_machine_key()
            lines = self.read_lines()
            vouched = vouching.find_vouched_lines(self.folder, lines, entries, state=self._state)
            if vouched and self.local_folder.name == self._own:
                self._unrecorded = adoptions.LogAdoption(
                    log=adoptions.log_identity(self.folder), adopted=NONE_ADOPTED, vouched=vouched
                )
        return self._unrecorded is not None

    def _trusted_entries(self) -> "tuple[trust_lists.TrustedEntry, ...]":
        today = datetime.now(tz=UTC).date()
        entries = trust_lists.read_trust_lists(self._account_home).entries
        return tuple(entry for entry in entries if not entry.is_expired(today))

    @property
    def _seen_lines(self) -> "vouched_lines.VouchedLines | None":
        """All that is seen of the log: what this machine said, and what is vouched for; None for everything."""
        adoption = self._adoption
        if adoption is None or adoption.vouched is None:
            return None
        return adoption.vouched.limit_to({entry.name for entry in self._trusted_entries()})

    def seen_part(self, data: bytes) -> bytes:
        """Return bytes of the log's files without the lines that nobody vouches for, their places left empty."""
        seen_lines = self._seen_lines
        return data if seen_lines is None else seen_lines.part_of(data, jsonl.is_tombstone)

    def read_lines(self) -> "vouched_lines.LogLines":
        """Return the lines of the files, as a digest covers them."""
        return vouched_lines.split_log(*self._read_data())

    def contents_of(self, lines: "vouched_lines.LogLines") -> LogContents:
        """Return the contents that a log of only those lines would have."""
        return LogContents(pages=self._pages_of([b"\n".join(lines.learnings), b"", b"\n".join(lines.events)]))

    @property
    def vouchers(self) -> tuple[str, ...]:
        """Those by whom lines are seen; none where a human adopted the log, or nobody did."""
        seen_lines = self._seen_lines
        return tuple(vouching.by for vouching in seen_lines.vouchings) if seen_lines else ()

    @property
    def unseen_count(self) -> int:
        """The number of lines that aren't shown."""
        unseen = vouched_lines.split_log(*self._unseen_data())
        return len(unseen.learnings) + len(unseen.events)

    def unseen_contents(self) -> LogContents:
        """Return what the log says and isn't shown: all of one that isn't adopted, else what nobody vouches for."""
        return LogContents(pages=self._pages_of(self._unseen_data()))

    def _unseen_data(self) -> list[bytes]:
        data = self._read_data()
        if self._adoption is None:
            return data
        seen_lines = self._seen_lines
        return [b"" if seen_lines is None else seen_lines.rest_of(page, jsonl.is_tombstone) for page in data]

    @property
    def observed(self) -> Path:
        """The folder of what sessions observed: git brings none to where only vouched lines are seen."""
        return self.local_folder if self.is_vouched_only else self.ignored

    @property
    def is_vouched_only(self) -> bool:
        """Whether only vouched lines are seen: no human adopted the log, nor what else the repository brings."""
        adoption = self._adoption
        return adoption is not None and adoption.vouched is not None

    def add_own_lines(self, lines: Iterable[bytes]) -> None:
        """Have lines seen that this machine is about to write, also where only vouched ones are.

        Raises:
            DiskError, Busy: they wouldn't be.
        """
        if not self.is_vouched_only:
            return

        def with_own_lines(adoption: adoptions.LogAdoption) -> adoptions.LogAdoption:
            vouched = adoption.vouched and adoption.vouched.with_lines(vouched_lines.OWN, lines)
            return replace(adoption, vouched=vouched)

        adoptions.change_adoption(self._state, self._own, with_own_lines)

    def append_lock(self) -> contextlib.AbstractContextManager[None]:
        """Hold the lock for appending; every append and rotation takes it."""
        # one for all that see this tree, by whatever name and from whatever container
        return hold_lock(self.ignored / "log.lock", wait=_LOCK_WAIT_SECONDS)

    def read_contents(self) -> LogContents:
        """Return the contents of the files; parts that this process has read before aren't read again."""
        # the archive after what it is filled from: a line that moves meanwhile is seen twice,
        # which replay drops
        adoption = self._adoption
        if adoption is not None and adoption.log != adoptions.log_identity(self.folder):
            self._record_identity()
        pages = self._read_pages(adoption)
        adopted = adoption.adopted if adoption else NONE_ADOPTED
        state_cache, last_contents = self._state_cache(adopted), _LogMemory.contents
        # a log may have been adopted since
        is_ours = (
            last_contents is not None and last_contents.state_cache == state_cache and last_contents.adopted == adopted
        )
        if last_contents is None or last_contents.pages != pages or not is_ours:
            is_growth = last_contents is not None and is_ours and are_grown(last_contents.pages, pages)
            contents = (
                last_contents.grow_to(pages)
                if last_contents and is_growth
                else LogContents(pages=pages, adopted=adopted, state_cache=state_cache)
            )
            last_contents = _LogMemory.contents = contents
        elif "_today" not in vars(last_contents):
            # who asked first may have spent its budget
            last_contents = _LogMemory.contents = replace(last_contents, state_cache=state_cache)
        return last_contents

    def _read_pages(self, adoption: "adoptions.LogAdoption | None") -> tuple[FileVersion, FileVersion, FileVersion]:
        """Return the three files; of a log that counts by what vouches for it only the vouched lines."""
        if adoption is not None and adoption.vouched is not None:
            return self._pages_of(self._vouched_part(adoption, self._read_data()))
        stamps = self._file_stamps()
        return (
            read_file_version(self.knowledge, is_ledger=False, stamps=stamps),
            read_file_version(self.archive, is_ledger=False, stamps=stamps),
            read_file_version(self.ledger, is_ledger=True, stamps=stamps),
        )

    def _read_data(self) -> list[bytes]:
        return [read_bytes(path) for path in (self.knowledge, self.archive, self.ledger)]

    def _pages_of(self, data: Sequence[bytes]) -> tuple[FileVersion, FileVersion, FileVersion]:
        return (
            file_version(self.knowledge, data[0], is_ledger=False),
            file_version(self.archive, data[1], is_ledger=False),
            file_version(self.ledger, data[2], is_ledger=True),
        )

    def _vouched_part(self, adoption: "adoptions.LogAdoption", data: Sequence[bytes]) -> list[bytes]:
        """Return of each file what is vouched for; look for vouchers again where lines came since."""
        entries = self._trusted_entries()
        vouched = adoption.vouched or vouched_lines.VouchedLines()
        seen_lines = vouched.limit_to({entry.name for entry in entries})
        # the marks of a long log take longer to compare than the log to read
        starts = _seen_starts(adoption.seen_whole, data) if seen_lines == vouched else [0, 0, 0]
        parts = [
            page[:start] + seen_lines.part_of(page[start:], jsonl.is_tombstone)
            for page, start in zip(data, starts, strict=True)
        ]
        if parts == list(data):
            if sum(map(len, data)) - sum(starts) > _MOST_COMPARED and seen_lines == vouched:
                self._record_seen_whole(data)
            return parts
        head = vouching.checked_out_commit(self.folder)
        sizes_and_digests = [(len(page), blake2b(page, digest_size=16).hexdigest()) for page in data]
        looked = blake2b(repr((head, entries, sizes_and_digests)).encode(), digest_size=16).hexdigest()
        if looked == adoption.looked:
            return parts
        with contextlib.suppress(RoamkbError):
            lines = vouched_lines.split_log(*data)
            found = vouching.find_vouched_lines(self.folder, lines, entries, state=self._state)
            seen_lines = seen_lines.plus(found)
            adoptions.change_adoption(
                self._state,
                self._own,
                lambda current: replace(
                    current, vouched=current.vouched and current.vouched.plus(found), looked=looked
                ),
            )
        return [seen_lines.part_of(page, jsonl.is_tombstone) for page in data]

    def _file_stamps(self) -> FileStamps | None:
        """Return the stamps of the files; None before the log is adopted."""
        return FileStamps(self.local_folder) if self._has_local else None

    def _record_seen_whole(self, data: Sequence[bytes]) -> None:
        """Record that all lines of the files are vouched for, as far as they are whole."""
        wholes = [page[: page.rfind(b"\n") + 1] for page in data]
        seen_whole = tuple((len(whole), blake2b(whole, digest_size=16).hexdigest()) for whole in wholes)
        with contextlib.suppress(RoamkbError):
            adoptions.change_adoption(self._state, self._own, lambda now: replace(now, seen_whole=seen_whole))

    def _state_cache(self, adopted: AdoptedLines) -> StateCache | None:
        """Return the cache of the state; None before the log is adopted."""
        return (
            StateCache(self.local_folder / "standings", adopted=adopted, budget=self._budget)
            if self._has_local
            else None
        )

    def files_stamp(self) -> tuple[object, ...]:
        """Return a stamp that changes with any write to the files."""
        return tuple(stat_signature(path) for path in (self.knowledge, self.archive, self.ledger))

    def append_entries(self, learnings: Iterable[Learning] = (), events: Iterable[LedgerEvent] = ()) -> None:
        """Append lines to the files; the lock is held, and the contents were read since.

        What was forgotten isn't written again: replay would drop it, and the text would stay.

        Raises:
            SecretFound, DiskError: nothing was added. NotDurable: it was, and the disk would not promise to
                keep it, or took the learnings and not the events.
        """
        learnings, events = tuple(learnings), tuple(events)
        if learnings:
            # a ledger that can't be read its caller meets
            with contextlib.suppress(DiskError):
                learnings = self.read_contents().without_forgotten(learnings)
        entries: tuple[Learning | LedgerEvent, ...] = (*learnings, *events)
        detector.refuse_secrets([getattr(entry, field.name) for entry in entries for field in fields(entry)])
        self._record_identity()
        learning_lines = [jsonl.learning_line(learning) for learning in learnings]
        event_lines = [jsonl.event_line(event) for event in events]
        self.add_own_lines((*learning_lines, *event_lines))
        durability_error: NotDurable | None = None
        if learning_lines:
            try:
                append_known(self.knowledge, learning_lines, self._file_stamps())
            except NotDurable as error:
                # it is there, and so belongs what follows from it
                durability_error = error
        if event_lines:
            try:
                append_known(self.ledger, event_lines, self._file_stamps())
            except DiskError as error:
                if not learning_lines:
                    raise
                raise NotDurable(self.knowledge, f"what follows from it isn't there: {error.message}") from error
        if durability_error is not None:
            raise durability_error
        if learning_lines:
            # what was said is safe by now, and the next to append tries again
            with contextlib.suppress(RoamkbError, OSError):
                self._rotate_to_archive()

    def _record_identity(self) -> None:
        """Record the log's identity again where it is unknown: a checkout may have made its files anew.

        Without it the log counts as long as its local folder is there.
        """
        with contextlib.suppress(RoamkbError):
            log, adoption = adoptions.log_identity(self.folder), adoptions.find_adoption(self._state, self._own)
            if self._has_local and log and (adoption is None or adoption.log != log):
                known = adoption or adoptions.LogAdoption(log=log, adopted=NONE_ADOPTED)
                adoptions.save_adoption(self._state, self._own, replace(known, log=log))

    def _rotate_to_archive(self) -> None:
        """Move the oldest lines to the archive when there are too many.

        They are durable there before they leave, so that at no moment a line is in neither file.
        """

        def without_oldest(data: bytes) -> bytes:
            too_many = data.count(b"\n") - ROTATE_AT
            if too_many <= 0 or not data.endswith(b"\n"):
                return data
            lines = data.split(b"\n")
            moved_count = -(-too_many // ROTATED_LINES) * ROTATED_LINES
            archived_lines = {b"", *read_lines(self.archive)}
            append_lines(self.archive, [line for line in lines[:moved_count] if line not in archived_lines])
            return b"\n".join(lines[moved_count:])

        replace_content(self.knowledge, without_oldest)


class _LogMemory:
    """The last log that this process read: a server asks for the same one again and again.

    What is kept is only ever replaced as a whole, since several threads may ask.
    """

    contents: LogContents | None = None


def _seen_starts(seen_whole: Sequence[tuple[int, str]], data: Sequence[bytes]) -> list[int]:
    """Return how much of each file's beginning is as it was recorded; nothing where one differs."""
    if len(seen_whole) != len(data):
        return [0] * len(data)
    is_same = all(
        blake2b(memoryview(page)[:size], digest_size=16).hexdigest() == digest
        for page, (size, digest) in zip(data, seen_whole, strict=True)
    )
    return [size if is_same else 0 for size, _ in seen_whole]


def _file_mode(path: Path) -> int:
    """Return the mode of a path, a link's own; 0 where it is missing or can't be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
