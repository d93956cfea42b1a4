"""The port to the service: offer lines, read those since a mark, wait for more (owns psycopg).

Numbers are given before their transaction is committed, so that a reader may see 7 before 6. So a line is read
once every transaction that began before it ended has ended, too, and in the order of transactions (the horizon,
`pg_snapshot_xmin`). A notification only wakes who waits: who misses it reads at the next look.
"""

import contextlib
import os
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Final
from typing import NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo

from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.digests import blake2b
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.log.share.shared_lines import SharedLine
from roamkb.log.share.store.settings import ShareSettings
from roamkb.log.share.store.settings import section_digest

#: Of the tables; forward only (`data/shared_log.sql`).
SCHEMA: Final = 1
#: Rows of one answer: at 64 KiB a line at most 32 MB.
_PAGE_ROWS: Final = 500
_LONGEST_MESSAGE = 200
#: Seconds: a firewall that drops packets never answers.
_CONNECT_SECONDS = 3
#: Of each connection, whatever the service file says.
_PARAMETERS: Final[dict[str, str]] = {
    "connect_timeout": str(_CONNECT_SECONDS),
    "application_name": "roamkb",
    "client_encoding": "UTF8",
    "options": "-c statement_timeout=15s -c lock_timeout=5s -c idle_in_transaction_session_timeout=15s "
    "-c default_transaction_isolation=read\\ committed "
    # of a table without statistics each page would read and sort all that follow it
    "-c enable_sort=off -c enable_bitmapscan=off",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}


class ServiceAway(RoamkbError):
    """A service that can't be reached or doesn't answer; the log itself lacks nothing."""

    code = "service_away"


class Mark(NamedTuple):
    """How far the lines were read: a transaction and a place in it."""

    xid: int = 0
    pos: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRow:
    """One line as the service holds it."""

    xid: int
    pos: int
    id: str
    line: str
    sha256: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFacts:
    """A service, as its tables say it."""

    id: str
    #: Another one once its transactions were numbered anew, by a restore: what was read is read again.
    epoch: str
    #: work or personal.
    kind: str
    #: What this role may read and add to.
    projects: tuple[str, ...]
    #: The number that its next transaction will have at least.
    next_xid: int


class PostgresPort:
    """One connection, for one project's lines."""

    def __init__(self, settings: ShareSettings) -> None:
        """Connect, by the section of the service file alone, as it was agreed to.

        Raises:
            ServiceAway: that failed. UsageError: there is no such section, or another than was agreed to.
            DiskError: it can't be read.
        """
        self._project = settings.project
        # of its own, since a busy project would wake all others for nothing
        self._channel = f"roamkb_{blake2b(settings.project.encode(), digest_size=8).hexdigest()}"
        parameters = settings.parameters
        self.section = section_digest(parameters)
        if settings.section not in ("", self.section):
            raise UsageError(
                f"the section {one_line(settings.service)} of {settings.service_file} isn't what was agreed to",
                hint="if that is meant, share the log again: `roamkb share --service NAME`",
            )
        with _without_variables(Path(settings.service_file).parent), _as_away(settings.service):
            self._connection = psycopg.connect(make_conninfo(**{**parameters, **_PARAMETERS}), autocommit=True)
        self._name = settings.service

    def __enter__(self) -> "PostgresPort":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(psycopg.Error):
            self._connection.close()

    def read_facts(self) -> ServiceFacts:
        """Return what the service says of itself, and listen from now on.

        Raises:
            ServiceAway: it didn't answer, has no such tables, or has those of another version.
        """
        with _as_away(self._name):
            self._connection.execute(f"listen {self._channel}")
            row = self._connection.execute(
                "select id::text, epoch::text, class, (select max(version) from roamkb.step), "
                "pg_snapshot_xmax(pg_current_snapshot())::text::bigint from roamkb.service"
            ).fetchone()
            members = self._connection.execute("select project from roamkb.member order by project").fetchall()
        match row:
            case (str(id), str(epoch), str(kind), int(version), int(next_xid)) if version >= SCHEMA:
                projects = tuple(str(project) for (project,) in members)
                return ServiceFacts(id=id, epoch=epoch, kind=kind, projects=projects, next_xid=next_xid)
            case (_, _, _, int(), int()):
                raise ServiceAway(
                    f"the tables of the service {one_line(self._name)} are older than this roamkb",
                    hint="its administrator runs what `roamkb share migrate` prints",
                )
        raise self._wrong_answer()

    def offer(self, lines: Sequence[SharedLine]) -> list[SharedRow]:
        """Add lines in one transaction, each once; return the rows that have their ids and other bytes.

        Raises:
            ServiceAway: they weren't added, or the answer was lost; to offer them again changes nothing.
        """
        rows = [(self._project, line.row_id, line.text, line.sha256) for line in lines]
        with _as_away(self._name), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(
                "insert into roamkb.event (project, id, line, sha256) values (%s, %s, %s, %s) on conflict do nothing",
                rows,
            )
            # without a word: whoever knows the project's name may listen
            cursor.execute(f"notify {self._channel}")
        ids, digests = [line.row_id for line in lines], [line.sha256 for line in lines]
        return self._read_rows(
            "select xid::text::bigint, pos, e.id::text, line, e.sha256 from roamkb.event e "
            "join unnest(%s::uuid[], %s::bytea[]) as mine(id, sha256) on mine.id = e.id "
            "where project = %s and mine.sha256 <> e.sha256",
            (ids, digests, self._project),
        )

    def since(self, mark: Mark) -> list[SharedRow]:
        """Return the next lines after `mark`, in the one order in which all machines read them.

        Raises:
            ServiceAway: it didn't answer, or answered with other lines.
        """
        rows = self._read_rows(
            "select xid::text::bigint as xid, pos, id::text, line, sha256 from roamkb.event where project = %s "
            "and xid < pg_snapshot_xmin(pg_current_snapshot()) and (xid, pos) > (%s::text::xid8, %s) "
            "order by event.xid, pos limit %s",
            (self._project, str(mark.xid), mark.pos, _PAGE_ROWS),
        )
        marks = [mark, *(Mark(row.xid, row.pos) for row in rows)]
        # whoever went back would ask for the same lines for ever
        if len(rows) > _PAGE_ROWS or any(later <= earlier for earlier, later in pairwise(marks)):
            raise self._wrong_answer()
        return rows

    def count_held_back(self, mark: Mark) -> int:
        """Return how many lines after `mark` are there, which wait for a transaction that began before.

        Also those for which it ended since they were asked for. Somebody may hold one open on purpose.
        """
        with _as_away(self._name):
            row = self._connection.execute(
                "select count(*) from roamkb.event where project = %s and (xid, pos) > (%s::text::xid8, %s)",
                (self._project, str(mark.xid), mark.pos),
            ).fetchone()
        return row[0] if row and isinstance(row[0], int) else 0

    def wait(self, seconds: float) -> bool:
        """Wait until lines came, but no longer; return whether some did.

        Raises:
            ServiceAway: the connection is lost.
        """
        with _as_away(self._name):
            # all that came meanwhile, too: a role may send more than are asked for, and psycopg keeps the rest
            return bool([*self._connection.notifies(timeout=seconds, stop_after=1)])

    def _read_rows(self, query: str, values: Sequence[object]) -> list[SharedRow]:
        with _as_away(self._name):
            return [self._row_of(row) for row in self._connection.execute(query.encode(), values)]

    def _row_of(self, row: tuple[object, ...]) -> SharedRow:
        match row:
            case (int(xid), int(pos), str(id), str(line), bytes(sha256)):
                return SharedRow(xid=xid, pos=pos, id=id, line=line, sha256=sha256)
        raise self._wrong_answer()

    def _wrong_answer(self) -> ServiceAway:
        return ServiceAway(f"the service {one_line(self._name)} can't be used: it answers what it wasn't asked for")


@contextlib.contextmanager
def _without_variables(home: Path) -> Iterator[None]:
    """Have libpq read no variable, which would lead the lines to another service; its files lie in `home`."""
    variables = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith("PG") or name == "HOME"}
    os.environ["HOME"] = str(home)
    try:
        yield
    finally:
        os.environ.pop("HOME", None)
        os.environ.update(variables)


@contextlib.contextmanager
def _as_away(service: str) -> Iterator[None]:
    """Turn what psycopg raises into errors of ours."""
    try:
        yield
    except (psycopg.Error, ValueError, OverflowError) as error:
        # also of what is no number or no text in an answer
        text = clip_text(one_line(str(error)), _LONGEST_MESSAGE)
        raise ServiceAway(
            f"the service {one_line(service)} can't be used: {text}",
            hint="nothing is lost: lines that wait are offered once it answers",
        ) from error
