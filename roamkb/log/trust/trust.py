"""`trust`: digests and keys by which a log counts that came with its project; only a human adds or removes one."""

from collections.abc import Iterator
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import require_yes
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import OrNull
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import remaining_arguments
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.log import jsonl
from roamkb.log.init import statement_previews
from roamkb.log.proof.store import approver_keys
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.store.project_log import Log
from roamkb.log.trust.store import trust_lists
from roamkb.log.trust.store.trust_lists import TrustedEntry
from roamkb.log.trust.store.vouching import MissingLine
from roamkb.log.trust.vouched_lines import OWN
from roamkb.log.trust.vouched_lines import lines_of_digest
from roamkb.log.trust.vouched_lines import log_digest

#: What a human types, so that it isn't done for another command.
_WORD: Final = "trust"
_ACTIONS: Final = ("list", "add", "remove")
#: Of missing lines, and of each one's characters.
_MOST_PREVIEWS: Final = 10
_LONGEST_PREVIEW: Final = 120


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """Parameters of `trust`."""

    action: str | None = optional_argument("list (default), add or remove.", metavar="ACTION", values=_ACTIONS)
    names: tuple[str, ...] = remaining_arguments(
        "A log's digest, or a public SSH key (`TYPE BASE64 COMMENT`); to remove one, its fingerprint will do.",
        metavar="KEY|DIGEST",
    )
    until: str | None = text_option("--until", "The last day on which it counts (YYYY-MM-DD).", metavar="D")
    approver: bool = flag_option("--approver", "A security key, or its file, whose touch is your yes.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustReport:
    """What is trusted on this machine, and what of this project's log counts by it."""

    JSON = "done trusted=entries faults digest vouchers unseen missing missing_lines approvers first_use"
    #: listed, added or removed.
    done: str
    entries: tuple[TrustedEntry, ...]
    #: What is wrong with a list, a clause each.
    faults: tuple[str, ...]
    #: Of the log of this project as it is now; null where there is none.
    digest: OrNull
    #: Those by whom lines of this project's log are seen.
    vouchers: tuple[str, ...]
    #: The lines of it that aren't.
    unseen: int
    #: The lines of a trusted key or digest that are gone, so that nothing of it counts.
    missing: int
    #: Of those that signed commits have, the first, each with its commit.
    missing_lines: tuple[str, ...]
    #: The keys whose signature is a human's yes.
    approvers: "tuple[approver_keys.ApproverKey, ...]" = ()
    #: When the first of them was trusted, because it was the first; null where root vouches for all, or without any.
    first_use: OrNull = ""


def list_trust(log: Log | None, account_home: Path | None, *, done: str = "listed") -> TrustReport:
    """Return what is trusted, and what that means for `log`.

    Raises:
        DiskError: the log can't be read.
    """
    lists = trust_lists.read_trust_lists(account_home)
    missing = log.count_missing() if log else 0
    approvers = approver_keys.Approvers(account_home)
    return TrustReport(
        done=done,
        entries=lists.entries,
        faults=(*lists.faults, *approvers.faults),
        approvers=approvers.keys,
        first_use=approvers.first_use,
        digest=log_digest(log.read_lines()) if log and log.has_lines else "",
        vouchers=tuple(voucher for voucher in log.vouchers if voucher != OWN) if log else (),
        unseen=log.unseen_count if log else 0,
        missing=missing,
        missing_lines=tuple(_missing_previews(log.find_missing())) if log and missing else (),
    )


def _missing_previews(lines: Sequence[MissingLine]) -> Iterator[str]:
    for missing in lines[:_MOST_PREVIEWS]:
        text = one_line(missing.line.decode("utf-8", "replace"))
        for event in jsonl.read_events((missing.line,)) if missing.is_event else ():
            if isinstance(event, LedgerEvent):
                text = one_line(f"{event.event} {event.of}")
        for parsed in () if missing.is_event else jsonl.read_learnings((missing.line,)):
            if isinstance(parsed, jsonl.LearningLine):
                text = one_line(f"{parsed.learning.key}: {parsed.learning.content}")
        yield f"{missing.commit[:12]}: {clip_text(text, _LONGEST_PREVIEW)}"
    if len(lines) > _MOST_PREVIEWS:
        yield f"and {len(lines) - _MOST_PREVIEWS:,} more"


def add_trust(
    log: Log | None, account_home: Path | None, text: str, *, until: str | None, human: HumanAtTerminal | None
) -> TrustReport:
    """Trust a digest or a key on this machine, once a human at a terminal said so.

    Raises:
        UsageError: it is neither, or no human said yes. DiskError, Busy: it wasn't added.
    """
    home = require_account(account_home)
    path = trust_lists.user_list(home)
    entry = trust_lists.parse_entry(f"until={_parse_day(until)} {text}" if until else text, path)
    if entry is None:
        raise UsageError(
            "that is neither a log's digest nor a public SSH key; nothing was written",
            hint="`roamkb trust list` shows the digest of this project's log; of a key, give the line in its .pub file",
        )
    require_yes(human, _question(entry, log), word=_WORD)
    trust_lists.add_entry(home, entry)
    return list_trust(log, account_home, done="added")


def remove_trust(
    log: Log | None, account_home: Path | None, text: str, *, human: HumanAtTerminal | None
) -> TrustReport:
    """Trust a digest or a key no longer: what it alone vouched for isn't seen any more.

    Raises:
        UsageError: root trusts it, or no human said yes. NotFound, DiskError, Busy: it wasn't removed.
    """
    home = require_account(account_home)
    path = trust_lists.user_list(home)
    named = trust_lists.parse_entry(text, path)
    name = named.name if named else text.strip()
    sources = [entry.source for entry in trust_lists.read_trust_lists(account_home).entries if entry.name == name]
    if not sources:
        raise NotFound(name, kind="trusted digest or key", hint="`roamkb trust list` shows them")
    if path not in sources:
        raise UsageError(
            f"{one_line(name)} is on root's list {one_line(str(sources[0]))}; nothing was written",
            hint="take it out of that file as root",
        )
    question = f"{one_line(name)} is trusted no longer, and lines for which nobody else vouches aren't shown any more."
    require_yes(human, question, word=_WORD)
    trust_lists.remove_entry(home, name)
    return list_trust(log, account_home, done="removed")


def require_account(account_home: Path | None) -> Path:
    """Return the account's home, or raise where the system doesn't know it."""
    if account_home is None:
        raise UsageError(
            "the system doesn't know this account, and HOME is anybody's word; nothing was written",
            hint="have root put it into /etc/roamkb/trusted",
        )
    return account_home


def _parse_day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise UsageError(f"{one_line(text)} is no day like 2027-01-31; nothing was written") from error


def _question(entry: TrustedEntry, log: Log | None) -> str:
    """Return what a human is asked; of a digest that this project's log has, with what it says."""
    until = f" until {entry.until}" if entry.until else ""
    if entry.key:
        who = f"{entry.key.partition(' ')[0]} {one_line(entry.comment)}".strip()
        return (
            f"{entry.name} ({who}): on this machine a project's log counts{until} as its signed commits have it,\n"
            "also what others committed before, with its verdicts and confidences, and nobody is asked."
        )
    covered = lines_of_digest(entry.name, log.read_lines()) if log else None
    if log is None or covered is None:
        about = ["The log of this project isn't the one: look at it where it is."]
    else:
        previews = statement_previews(log.contents_of(covered).replay_state().standings.values())
        counts = f"{count_phrase(len(covered.learnings), 'learning')}, {count_phrase(len(covered.events), 'event')}"
        about = [f"Here that is {counts}:", *(f"  {statement}" for statement in previews)]
    return "\n".join(
        [
            entry.name,
            f"A project's log that begins with these lines counts on this machine{until}, with its verdicts and",
            "confidences, and nobody is asked.",
            *about,
        ]
    )
