"""A project's log on the disk: two append-only files, an archive, and local state beside them.

One `write()` of one line on an `O_APPEND` descriptor, under a lock that isn't on the file
itself, then fsync; never truncated, never rewritten but by rotation (docs/architecture.md).
The folder may come from somebody else's repository, so no link in it is followed.
"""

import contextlib
import os
import stat
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from datetime import UTC
from datetime import datetime
from itertools import chain
from pathlib import Path

from roamkb.core.errors import DiskError
from roamkb.core.errors import DurabilityDoubts
from roamkb.core.errors import LostLines
from roamkb.core.errors import NoLog
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.digests import blake2b
from roamkb.fs import user_dirs
from roamkb.fs import worktrees
from roamkb.fs.append import ARCHIVE
from roamkb.fs.append import KNOWLEDGE
from roamkb.fs.append import LEDGER
from roamkb.fs.append import read_bytes
from roamkb.fs.append import replace_content
from roamkb.fs.append import stat_signature
from roamkb.fs.files import make_folder
from roamkb.fs.locks import hold_lock
from roamkb.fs.untrusted_files import rename_file
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.proof import event_proof
from roamkb.log.proof.store import proof_check
from roamkb.log.state.adoption import NONE_ADOPTED
from roamkb.log.state.adoption import AdoptedLines
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store import adoptions
from roamkb.log.store import lost_files
from roamkb.log.store import observations
from roamkb.log.store import share_process
from roamkb.log.store import vouched_files
from roamkb.log.store.build_budget import BuildBudget
from roamkb.log.store.cache.state_cache import StateCache
from roamkb.log.store.file_contents import FileVersion
from roamkb.log.store.file_contents import append_known
from roamkb.log.store.file_contents import file_version
from roamkb.log.store.file_contents import read_file_version
from roamkb.log.store.file_stamps import FileStamps
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.log_contents import are_grown
from roamkb.log.trust import vouched_lines
from roamkb.log.trust.store import trust_lists
from roamkb.log.trust.store import vouching
from roamkb.secrets import detector

LOG_FOLDER = ".roamkb"
#: Never committed: locks, observations, and for each machine a folder with its receipts and index.
LOCAL_FOLDER = "local"
OBSERVATIONS_FOLDER = "observations"

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
        self,
        root: Path,
        state: Path,
        *,
        account_home: Path | None = None,
        budget: BuildBudget | None = None,
        must_sign: Callable[[], bool] = lambda: False,
        stays_in_tree: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take the home of the account, whose list of what is trusted counts; None for root's list alone.

        A `budget` is that of a hook, which can't wait until a long log is indexed; `must_sign` says whether the rule
        demands a signed yes of a human, `stays_in_tree` whether nothing of the project may be kept elsewhere.
        """
        self._must_sign = must_sign
        self._stays_in_tree = stays_in_tree
        self.root = root
        self._budget = budget
        #: The checkout that the log lies in, or git's common folder where there is no main checkout.
        self.home = Path(worktrees.shared_folder(str(root)))
        self.folder = self.home / LOG_FOLDER
        self.knowledge = self.folder / KNOWLEDGE
        self.archive = self.folder / ARCHIVE
        self.ledger = self.folder / LEDGER
        #: What git ignores: of all machines that ever had this tree, and of whoever committed some.
        self.ignored = self.folder / LOCAL_FOLDER
        #: No more than the log itself would believe of who can commit: they become learnings at most.
        self.observations = self.ignored / OBSERVATIONS_FOLDER
        self._state = state
        self.account_home = account_home
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
    def cache_folder(self) -> Path:
        """Where this machine keeps what the lines give again.

        No command behind the wall writes there, but at work, where nothing may leave the project's own tree.
        """
        if self._stays_in_tree():
            return self.local_folder
        return self._state / user_dirs.CACHE_FOLDER / user_dirs.LOG_CACHES / self.local_folder.name

    @property
    def is_adopted(self) -> bool:
        """Whether the project has a log that was adopted on this machine."""
        return self._has_local or self._find_adoption_record() is not None

    @property
    def _has_local(self) -> bool:
        # whoever writes to the project can make the folder, and none but roamkb the record
        return stat.S_ISDIR(_file_mode(self.local_folder)) and adoptions.is_recorded(self._state, self._own)

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

    def record_adoption(self, adoption: "adoptions.LogAdoption | None" = None) -> Path:
        """Let the log count on this machine from now on, or what is vouched for; return its local folder.

        Without an `adoption` all of it is this machine's own.

        Raises:
            DiskError: it doesn't count.
        """
        log = adoptions.log_identity(self.folder)
        earlier_folder = self._earlier_local_folder(log)
        adoption = adoption or adoptions.LogAdoption(log=log, adopted=NONE_ADOPTED)
        if not adoption.adopted.received:
            # what a service brought stays what it is, whatever came with the project since
            received = adoptions.received_marks(self._state, self.local_folder.name)
            adoption = replace(adoption, adopted=replace(adoption.adopted, received=received))
        # first, so that at no moment the log counts more than it should
        adoptions.save_adoption(self._state, self.local_folder.name, replace(adoption, log=log))
        if earlier_folder:
            with contextlib.suppress(OSError):
                rename_file(earlier_folder, self.local_folder.name)
        else:
            observations.set_observations_aside(self.ignored)
        folder = make_folder(self.local_folder, mode=0o700)
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
            self._require_lines()
            return self
        proof = self._find_adoption_record()
        if proof is None and self.find_vouchers():
            proof = self._unrecorded
        if proof is None:
            raise NoLog(self.home, is_cloned=self.has_lines)
        # where nothing may be written, what is there can be read all the same
        with contextlib.suppress(RoamkbError):
            self.record_adoption(proof)
        self._require_lines()
        return self

    def require_files(self) -> None:
        """Raise `DiskError` where the learnings' file is gone or no file: the rest looks like a log without any."""
        lost_files.require_files(self.knowledge, self.ledger)

    def _require_lines(self) -> None:
        """Raise `LostLines` where a line is gone that a trusted key or digest stood for."""
        stamp = (self.folder, self.files_stamp())
        if self.is_vouched_only and _LogMemory.checked != stamp:
            self.read_contents()
            _LogMemory.checked = stamp

    def create_machine_key(self) -> None:
        """Create the secret by which this machine names its own folder of the log, unless it has one.

        Raises:
            DiskError: it can't be kept.
        """
        user_dirs.create_machine_key(self._state)

    def find_vouchers(self) -> bool:
        """Say whether a trusted digest or key vouches for lines of the log, which count from then on.

        Raises:
            LostLines: it isn't what was signed. DiskError: it can't be read, or the machine gets no secret.
        """
        entries = self._trusted_entries()
        if self._unrecorded is None and entries and self.has_lines:
            self.create_machine_key()
            found = self._vouched_files.search(None, self._read_data())
            if found.missing:
                raise LostLines(self.home, len(found.missing))
            if found.vouched and self.local_folder.name == self._own:
                self._unrecorded = adoptions.LogAdoption(
                    log=adoptions.log_identity(self.folder),
                    adopted=NONE_ADOPTED,
                    vouched=found.vouched,
                    commits=found.commits,
                )
        return self._unrecorded is not None

    @property
    def _vouched_files(self) -> "vouched_files.VouchedFiles":
        return vouched_files.VouchedFiles(
            folder=self.folder, state=self._state, name=self._own, entries=self._trusted_entries()
        )

    def count_missing(self) -> int:
        """Return how many lines are gone that a trusted key or digest stood for.

        Raises:
            DiskError: the log can't be read.
        """
        try:
            if self.is_vouched_only:
                self.read_contents()
                return 0
        except LostLines as error:
            return error.count
        return len(self.find_missing())

    def find_missing(self) -> "tuple[vouching.MissingLine, ...]":
        """Return the lines that signed commits have and the log has no more; none where it doesn't count by those.

        Raises:
            DiskError: the log can't be read.
        """
        adoption = self._adoption
        if not self.has_lines or (adoption is not None and adoption.vouched is None):
            return ()
        return self._vouched_files.search(adoption, self._read_data()).missing

    def _trusted_entries(self) -> "tuple[trust_lists.TrustedEntry, ...]":
        today = datetime.now(tz=UTC).date()
        entries = trust_lists.read_trust_lists(self.account_home).entries
        return tuple(entry for entry in entries if not entry.is_expired(today))

    @property
    def _seen_lines(self) -> "vouched_lines.VouchedLines | None":
        """All that is seen of the log: what this machine said, and what is vouched for; None for everything."""
        adoption = self._adoption
        if adoption is None or adoption.vouched is None:
            return None
        # what isn't as it was signed counts for nothing
        trusted = () if adoption.missing else {entry.name for entry in self._trusted_entries()}
        return adoption.vouched.limit_to(trusted)

    def seen_part(self, data: bytes, name: str) -> bytes:
        """Return bytes of the file `name` without the lines that nobody vouches for, their places left empty."""
        seen_lines = self._seen_lines
        if seen_lines is None:
            return data
        return seen_lines.part_of(data, jsonl.is_tombstone, is_ledger=name == LEDGER)

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
        if seen_lines is None:
            return [b"" for _ in data]
        return [
            seen_lines.rest_of(page, jsonl.is_tombstone, is_ledger=is_ledger)
            for page, is_ledger in zip(data, (False, False, True), strict=True)
        ]

    @property
    def observed(self) -> Path:
        """The folder of what sessions observed: git brings none to where only vouched lines are seen."""
        return self.local_folder if self.is_vouched_only else self.ignored

    @property
    def is_vouched_only(self) -> bool:
        """Whether only vouched lines are seen: no human adopted the log, nor what else the repository brings."""
        adoption = self._adoption
        return adoption is not None and adoption.vouched is not None

    def add_own_lines(
        self, lines: "vouched_lines.LogLines", *, in_place_of: "vouched_lines.LogLines | None" = None
    ) -> None:
        """Have lines seen that this machine is about to write, also where only vouched ones are.

        Those that they replace, as where something is forgotten, are missed no more.

        Raises:
            DiskError, Busy: they wouldn't be.
        """
        if not self.is_vouched_only:
            return

        def with_own_lines(adoption: adoptions.LogAdoption) -> adoptions.LogAdoption:
            vouched = adoption.vouched or vouched_lines.VouchedLines()
            if in_place_of is not None:
                vouched = vouched.without_lines(in_place_of)
            return replace(adoption, vouched=vouched.with_lines(vouched_lines.OWN, lines))

        adoptions.change_adoption(self._state, self._own, with_own_lines)

    @property
    def proof_check(self) -> "proof_check.ProofCheck":
        """The judge of events that need a signature, by the approver keys and the rule as they are now."""
        return proof_check.ProofCheck(self.account_home, project=self.home.name, must_sign=self._must_sign)

    def yes_to(self, question: str, events: Iterable[LedgerEvent], *, after: str) -> "event_proof.Yes":
        """Return what a human is to say yes to in this project, and what follows from it."""
        return event_proof.Yes(
            project=self.home.name, question=question, after=after, events=tuple(events), must_sign=self._must_sign()
        )

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
        if adoption is not None and adoption.vouched is None:
            # again, since what a service brought meanwhile was put down before its lines were
            adoption = self._adoption or adoption
        adopted = replace(adoption.adopted if adoption else NONE_ADOPTED, proofs=self.proof_check)
        state_cache, last_contents = self._state_cache(adopted), _LogMemory.contents
        # a log may have been adopted since
        is_ours = (
            last_contents is not None
            and last_contents.state_cache == state_cache
            and last_contents.adopted.marks == adopted.marks
            and last_contents.adopted.proofs_digest == adopted.proofs_digest
        )
        if last_contents is None or last_contents.pages != pages or not is_ours:
            is_growth = last_contents is not None and is_ours and are_grown(last_contents.pages, pages)
            contents = (
                last_contents.grow_to(pages, adopted, state_cache)
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
            return self._pages_of(self._vouched_files.seen_part(adoption, self._read_data()))
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

    def _file_stamps(self) -> FileStamps | None:
        """Return the stamps of the files; None before the log is adopted."""
        return FileStamps(self.cache_folder) if self._has_local else None

    def _state_cache(self, adopted: AdoptedLines) -> StateCache | None:
        """Return the cache of the state; None before the log is adopted."""
        return (
            StateCache(self.cache_folder / "standings", adopted=adopted, budget=self._budget)
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
        self.add_own_lines(vouched_lines.LogLines(tuple(learning_lines), tuple(event_lines)))
        doubts = DurabilityDoubts()
        if learning_lines:
            # what isn't durable is there, and so belongs what follows from it
            with doubts.collect():
                append_known(self.knowledge, learning_lines, self._file_stamps())
        if event_lines:
            try:
                append_known(self.ledger, event_lines, self._file_stamps())
            except DiskError as error:
                if not learning_lines:
                    raise
                raise NotDurable(self.knowledge, f"what follows from it isn't there: {error.message}") from error
        doubts.raise_first()
        if learning_lines:
            # what was said is safe by now, and the next to append tries again
            with contextlib.suppress(RoamkbError, OSError):
                self._rotate_to_archive()
        self.sync_soon()

    def append_received(self, learnings: Sequence[bytes], events: Sequence[bytes], *, ids: Iterable[str]) -> None:
        """Append lines that others brought, byte for byte; the lock is held, and none of `ids` is in the log.

        They count as lines that came with the project do (D25), which is put down before they are there.

        Raises:
            DiskError, Busy: some may be there, and those are marked. NotDurable: likewise.
        """
        self._record_identity()
        adoptions.change_adoption(
            self._state, self._own, lambda now: replace(now, adopted=now.adopted.with_received(ids))
        )
        for path, lines in ((self.knowledge, learnings), (self.ledger, events)):
            if lines:
                append_known(path, lines, self._file_stamps())
        if learnings:
            with contextlib.suppress(RoamkbError, OSError):
                self._rotate_to_archive()

    @property
    def shared_settings(self) -> Path:
        """The file that says by which service a human shares the log; there is none where it isn't shared.

        It lies in the account's own state folder, whatever the environment says, and is of this state folder alone:
        whoever sets a variable leads to no other file, nor to this one with another's machine key.
        """
        # an account that the system doesn't know has no place that HOME alone doesn't name
        folder = user_dirs.account_state_dir(str(self.account_home or os.devnull))
        name = blake2b(f"{os.path.realpath(self._state)}\0{self.local_folder.name}".encode(), digest_size=8)
        return Path(folder, user_dirs.SHARED_FOLDER, f"{name.hexdigest()}.json")

    def sync_soon(self, *, patience: float = 0.0) -> None:
        """Have a process of its own exchange lines with the service, if the log is shared.

        Waits up to `patience` seconds until it has heard of the service; where that is away, not at all.
        """
        if self._own and _file_mode(self.shared_settings):
            share_process.sync_soon(self, self._state, patience=patience)

    def _record_identity(self) -> None:
        """Record the log's identity again where it is unknown: a checkout may have made its files anew.

        Without it the log counts as long as its local folder is there.
        """
        with contextlib.suppress(RoamkbError):
            log, adoption = adoptions.log_identity(self.folder), adoptions.find_adoption(self._state, self._own)
            if self._has_local and log and adoption is not None and adoption.log != log:
                adoptions.change_adoption(self._state, self._own, lambda now: replace(now, log=log))

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
            stamps = self._file_stamps()
            archive = read_file_version(self.archive, is_ledger=False, stamps=stamps)
            # line by line: the archive is the part of a log that grows without an end
            archived_lines = set(lines[:moved_count]).intersection(chain((b"",), archive.raw_lines()))
            moved_lines = [line for line in lines[:moved_count] if line not in archived_lines]
            # a log that others wrote may have any number of them
            for start in range(0, len(moved_lines), ROTATED_LINES):
                read_file_version(self.archive, is_ledger=False, stamps=stamps)
                append_known(self.archive, moved_lines[start : start + ROTATED_LINES], stamps)
            return b"\n".join(lines[moved_count:])

        replace_content(self.knowledge, without_oldest)


class _LogMemory:
    """The last log that this process read: a server asks for the same one again and again.

    What is kept is only ever replaced as a whole, since several threads may ask.
    """

    contents: LogContents | None = None
    #: The log that was last found to have all lines of its vouchers, and its stamp.
    checked: tuple[object, ...] = ()


def _file_mode(path: Path) -> int:
    """Return the mode of a path, a link's own; 0 where it is missing or can't be seen."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0
