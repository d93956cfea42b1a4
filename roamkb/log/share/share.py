"""`share`: a log that several machines have in common by way of a PostgreSQL service; only a human turns it on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_yes
from roamkb.core.data_tables import data_text
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Counts
from roamkb.core.json_form import OrNull
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.request import optional_argument
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs import package_manager
from roamkb.log.share import sync
from roamkb.log.share.store import postgres
from roamkb.log.share.store import progress as share_progress
from roamkb.log.share.store import settings as share_settings
from roamkb.log.share.store.settings import ShareSettings
from roamkb.log.store import share_process
from roamkb.log.store.project_log import Log

#: What a human types, so that it isn't done for another command.
_WORD: Final = "share"
ACTIONS: Final = ("status", "off", "migrate")
_CLASSES: Final = ("personal", "work")
#: Of a role that is made here, so that a stolen one takes none that the others need.
_MOST_CONNECTIONS: Final = 50
#: A name that is the same in SQL, a file and a sentence.
_PLAIN_NAME = lazily(r"[A-Za-z0-9_][\w.-]{0,62}")


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """Parameters of `share`."""

    action: str | None = optional_argument(
        "status (default), off, or migrate, which prints the SQL for the service's administrator.",
        metavar="ACTION",
        values=ACTIONS,
    )
    _: KW_ONLY
    service: str | None = text_option(
        "--service", "Share this log by that section of ~/.pg_service.conf; asks at the terminal.", metavar="NAME"
    )
    kind: str | None = text_option(
        "--class", "What the service is for, personal or work (as it says itself).", metavar="C", values=_CLASSES
    )
    name: str | None = text_option("--name", "What the project is called there (its folder's name).", metavar="P")
    members: Sequence[str] = repeatable_option(
        "--member", "With migrate: a role that shares this project's log.", metavar="ROLE"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareReport:
    """How a log is shared."""

    JSON = (
        "done service class=kind project state heard received waiting=held_back withheld aside aside_file trouble sql"
    )
    #: on, off, status or migrate.
    done: str
    service: OrNull = ""
    kind: OrNull = ""
    project: OrNull = ""
    #: off, new (not heard of the service yet), shared or away.
    state: str = "off"
    #: When the service was last heard of, in seconds since 1970; null if never.
    heard: float | None = None
    #: Lines that came from the service.
    received: int = 0
    #: Lines of others that wait for a transaction of the service.
    held_back: int = 0
    #: Lines of this log that don't travel, by the reason.
    withheld: Counts = ()
    #: Lines put aside, by the reason.
    aside: Counts = ()
    #: The file that has them; null where there are none.
    aside_file: Path | None = None
    #: What is wrong, null if nothing.
    trouble: OrNull = ""
    #: What an administrator runs; null but for migrate.
    sql: OrNull = ""


def share_status(log: Log, *, done: str = "status") -> ShareReport:
    """Return how the log is shared, by what this machine knows; the service isn't asked.

    Raises:
        DiskError: that can't be read.
    """
    settings = share_settings.find_settings(log.shared_settings)
    folder = share_process.share_folder(log)
    records = share_progress.read_aside(folder)
    reasons = [str(record.get("reason")) for record in records]
    aside = tuple((reason, reasons.count(reason)) for reason in dict.fromkeys(reasons))
    aside_file = folder / share_progress.ASIDE_FILE if records else None
    if settings is None:
        return ShareReport(done=done, aside=aside, aside_file=aside_file)
    progress, trouble = share_progress.read_progress(folder), share_process.read_backoff(folder)[2]
    heard = share_process.heard_at(folder)
    return ShareReport(
        done=done,
        service=settings.service,
        kind=settings.kind,
        project=settings.project,
        state="away" if trouble else "shared" if heard else "new",
        heard=heard or None,
        received=progress.received,
        held_back=progress.held_back,
        withheld=tuple(progress.withheld.items()),
        aside=aside,
        aside_file=aside_file,
        trouble=trouble,
    )


def share_by_service(
    log: Log, request: ShareRequest, project: Project, *, service_file: Path, human: HumanAtTerminal | None
) -> ShareSettings:
    """Share the log by a service from now on, once a human at a terminal said so.

    Raises:
        UsageError: no human said yes, or a name won't do. ServiceAway, NotShared: it can't be.
        DiskError, Busy: it wasn't recorded.
    """
    if log.is_vouched_only:
        raise UsageError(
            "only part of this log counts here, by what is trusted; nothing was shared", hint="`roamkb init` adopts it"
        )
    if log.account_home is None:
        raise UsageError("the system doesn't know this account, and HOME is anybody's word; nothing was shared")
    name = require_plain_name(request.name or log.home.name, "--name")
    settings = ShareSettings(
        service=require_plain_name(request.service or "", "--service"),
        service_file=str(service_file),
        kind=request.kind or project.kind.value,
        project=name,
        service_id="",
    )
    facts, section = _ask_service(settings)
    settings = replace(settings, service_id=facts.id, section=section)
    sync.require_shareable(settings, facts, project.kind)
    require_yes(human, _question(log, settings), word=_WORD)
    share_settings.save_settings(log.shared_settings, settings)
    share_process.drop_backoff(share_process.share_folder(log))
    return settings


def _ask_service(settings: ShareSettings) -> "tuple[postgres.ServiceFacts, str]":
    try:
        open_port = postgres.PostgresPort
    except ModuleNotFoundError as error:
        raise UsageError(
            f"share needs the extra roamkb[shared], which isn't installed ({error.name} is missing)",
            hint=package_manager.extra_install_command("shared"),
        ) from error
    with open_port(settings) as port:
        return port.read_facts(), port.section


def _question(log: Log, settings: ShareSettings) -> str:
    lines = log.read_lines()
    counts = f"{count_phrase(len(lines.learnings), 'learning')} and {count_phrase(len(lines.events), 'event')}"
    return "\n".join(
        [
            f"{one_line(str(log.home))}: all of its log, now {counts}, and whatever is added to it from now on,",
            f"can be read by each role of the project {settings.project} of the {settings.kind} service "
            f"{settings.service}.",
            "What was sent can't be taken back. What others send is shown here as unverified.",
        ]
    )


def require_plain_name(text: str, option: str) -> str:
    """Return a name that needs no quoting anywhere.

    Raises:
        UsageError: it does.
    """
    if not _PLAIN_NAME.fullmatch(text):
        raise UsageError(
            f"{option} {one_line(text)} won't do; nothing was done",
            hint="letters, digits, '_', '.' and '-', at most 63 of them",
        )
    return text


def migration_sql(kind: ProjectKind, project: str, members: Sequence[str]) -> str:
    """Return what an administrator's psql runs, so that a service has the tables, and roles their project."""
    lines = [
        data_text("shared_log.sql"),
        f"insert into roamkb.service (class) values ('{kind.value}') on conflict do nothing;",
        "do $class$ begin",
        f"  if (select class from roamkb.service) <> '{kind.value}' then",
        "    raise exception 'this service is for projects of the other class';",
        "  end if;",
        "end $class$;",
    ]
    for role in members:
        is_missing = f"not exists (select from pg_roles where rolname = '{role}')"
        lines += [
            f"select 'create role \"{role}\" login connection limit {_MOST_CONNECTIONS}' where {is_missing} \\gexec",
            f'grant roamkb_agent to "{role}";',
            f"insert into roamkb.member values ('{role}', '{project}') on conflict do nothing;",
        ]
    return "\n".join([*lines, "commit;"])
