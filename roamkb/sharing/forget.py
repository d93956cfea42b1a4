"""`forget`: takes a learning out of the log for good, and what repeats its text in the log's local state.

The one exception to the rule that no line is ever changed: a secret, or what is private, mustn't stay. The tombstone
comes first, so that from then on nothing shows the line, on this machine or on any other; then each file is
rewritten beside and swapped. Git's history is the human's: it is named, and never rewritten.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated
from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.core.errors import NotFound
from roamkb.core.json_form import OrNull
from roamkb.core.request import Argument
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_events
from roamkb.log.jsonl import read_learnings
from roamkb.log.known_learnings import get_learning
from roamkb.log.learning import Learning
from roamkb.log.learning import content_identity
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import EventFactory
from roamkb.log.proof.ask import ask_for_events
from roamkb.log.redaction import Redaction
from roamkb.log.redaction import redaction_of
from roamkb.log.share.store.settings import shared_service
from roamkb.log.state.learning_state import FORGOTTEN
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.tombstones import DIGEST_FIELD
from roamkb.log.state.tombstones import Tombstones
from roamkb.log.state.tombstones import content_digest_of
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.project_log import Log
from roamkb.sharing.store import redacted_files
from roamkb.sharing.store.redacted_files import RedactedPlace

#: What a human types, so that it isn't done for another command.
_WORD: Final = "forget"
#: What neither a shell nor a regular expression takes for anything else.
_PLAIN_ID = lazily(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Parameters of `forget`."""

    key: Annotated[str, Argument("The learning, by key or id.", metavar="KEY", values="keys")]
    _: KW_ONLY
    dry_run: bool = flag_option("--dry-run", "Only list the places that hold it; asks nobody.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetResult:
    """A forgotten learning: the places that held it, and what a human has to look after."""

    JSON = "id places left history_command? forgotten=done"
    id: str
    #: In the order in which they are redacted.
    places: tuple[RedactedPlace, ...]
    #: What isn't touched, a clause each.
    left: tuple[str, ...]
    #: What shows whether git's history holds the line; null where git doesn't track the log.
    history_command: OrNull
    done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ForgetPlan:
    """All that is known of a line before anything is written."""

    result: ForgetResult
    #: The covered lines of the log, the archive and the snapshots.
    learnings: tuple[Learning, ...]
    redaction: Redaction


def forget(
    log: Log, name: str, author: Author, *, operator: str, human: HumanAtTerminal | None, dry_run: bool = False
) -> ForgetResult:
    """Take a learning out of the log for good, once a human at a terminal said so; again, it goes on.

    Raises:
        UsageError: no human said yes. NotFound, Ambiguous: nothing was written.
        DiskError, ChangedOnDisk, NotDurable: what was done so far counts, and the next run goes on.
    """
    plan = _plan(log, name)
    if dry_run:
        return plan.result
    contents = log.read_contents()
    yes = log.yes_to(_question(plan), _missing_tombstones(contents, plan, author, operator), after=contents.last_event)
    signed = ask_for_events(log.proof_check, human, yes, word=_WORD)
    with log.append_lock():
        # what the human saw is what is meant, by its id
        plan = _plan(log, plan.result.id)
        # another line of that id may have come meanwhile
        missing = _missing_tombstones(log.read_contents(), plan, author, operator)
        known = {(event.of, event.text_field(DIGEST_FIELD)): event for event in signed}
        wanted = [known.get((event.of, event.text_field(DIGEST_FIELD)), event) for event in missing]
        if wanted:
            log.append_entries(events=wanted)
        for place in plan.result.places:
            redacted_files.redact_place(log, place, plan.redaction)
    return replace(plan.result, done=True)


def _plan(log: Log, name: str) -> _ForgetPlan:
    contents = log.read_contents()
    id, known = _find_learning(log, contents, name)
    raw_learnings = [*_raw_learnings(log, contents)]
    tombstones = _tombstones_for(id, contents.tombstones, known, raw_learnings)
    learnings = tuple(learning for learning in raw_learnings if tombstones.covers(learning))
    raw_events = contents.pages[2].told.events
    redaction = redaction_of(tombstones, learnings, chain(raw_events, _snapshot_events(log)))
    events = tuple(event for event in raw_events if tombstones.covers_event(event))
    tracked = redacted_files.is_log_tracked(log)
    result = ForgetResult(
        id=id,
        places=tuple(redacted_files.find_places(log, redaction)),
        left=tuple(_left_places(log, contents, redaction, events)),
        history_command=_history_command(id, learnings, log.folder) if tracked else "",
        done=False,
    )
    return _ForgetPlan(result=result, learnings=learnings, redaction=redaction)


def _find_learning(log: Log, contents: LogContents, name: str) -> tuple[str, Learning | None]:
    """Return the id of the learning, and the learning as it counts; None for one that was forgotten before."""
    pages = contents.pages
    hidden = [
        learning
        for learning in (*pages[0].told.learnings, *pages[1].told.learnings)
        if name in (learning.id, learning.key) and contents.tombstones.covers(learning)
    ]
    try:
        standing = get_learning(log, contents.replay_state(), name)
    except NotFound:
        if hidden:
            return hidden[0].id, hidden[0]
        if name in contents.tombstones.ids:
            return name, None
        raise
    return standing.id, standing.learning


def _tombstones_for(id: str, earlier: Tombstones, known: Learning | None, learnings: list[Learning]) -> Tombstones:
    """Return what covers the learning, and the lines of other ids that say just the same."""
    # which of earlier digests is the id's doesn't matter: what was forgotten is to go
    digests = frozenset({content_digest_of(known.content)}) if known else earlier.digests
    covering = Tombstones(ids=frozenset({id}), digests=digests)
    covered = [learning for learning in learnings if covering.covers(learning)]
    return Tombstones(
        ids=covering.ids | {learning.id for learning in covered},
        digests=digests | {content_digest_of(learning.content) for learning in covered},
    )


def _raw_learnings(log: Log, contents: LogContents) -> Iterator[Learning]:
    """Yield the learnings of all lines, forgotten ones too, of the log, the archive and the snapshots."""
    yield from contents.pages[0].told.learnings
    yield from contents.pages[1].told.learnings
    for name, data in redacted_files.snapshot_lines(log):
        if name != log.ledger.name:
            parsed = read_learnings(data.split(b"\n"))
            yield from (line.learning for line in parsed if isinstance(line, LearningLine))


def _snapshot_events(log: Log) -> Iterator[LedgerEvent]:
    for name, data in redacted_files.snapshot_lines(log):
        if name == log.ledger.name:
            yield from (event for event in read_events(data.split(b"\n")) if isinstance(event, LedgerEvent))


def _missing_tombstones(contents: LogContents, plan: _ForgetPlan, author: Author, operator: str) -> list[LedgerEvent]:
    """Return the tombstones that the ledger lacks."""
    known, wanted = contents.tombstones, plan.redaction.tombstones
    pairs = {(learning.id, content_digest_of(learning.content)) for learning in plan.learnings}
    missing = sorted(pair for pair in pairs if pair[0] not in known.ids or pair[1] not in known.digests)
    if not pairs and plan.result.id not in known.ids:
        missing = [(plan.result.id, digest) for digest in sorted(wanted.digests)]
    stamps = EventFactory(author, after=contents.last_event, command="forget")
    return [stamps.new_event(FORGOTTEN, id, **{DIGEST_FIELD: digest}, operator=operator) for id, digest in missing]


def _left_places(
    log: Log, contents: LogContents, redaction: Redaction, events: tuple[LedgerEvent, ...]
) -> Iterator[str]:
    """Yield what holds the text and isn't touched, each with what a human can do."""
    promoted = (event for event in events if event.event == "promoted")
    for node, kb in dict.fromkeys((event.text_field("node"), event.text_field("kb")) for event in promoted):
        if node:
            place = f" --kb {one_line(kb)}" if kb else ""
            yield f"the note {one_line(node)} that it became: `roamkb trash {one_line(node)}{place}`"
    landed = (event for event in events if event.event in ("approved", "applied") and event.text_field("target"))
    for target, name in dict.fromkeys((event.text_field("target"), event.text_field("proposal")) for event in landed):
        way_out = f"`roamkb rollback {one_line(name)[:8]}` or an editor takes it out"
        yield f"a line of {one_line(target)}, if it is still there: {way_out}"
    for standing in contents.replay_state().standings.values():
        texts = (standing.learning.content, *standing.learning.aliases)
        if not redaction.tombstones.covers(standing.learning) and any(map(redaction.tells, texts)):
            yield f"{one_line(standing.learning.key)}, which repeats it: `roamkb forget {one_line(standing.id)}`"
    for path in redacted_files.damaged_snapshots(log):
        yield f"{one_line(str(path))}, which is damaged, so that nobody sees what it holds: delete it"
    if service := shared_service(log.shared_settings):
        yield (
            f"what the service {service} was sent: an agent's role can take nothing back, and its administrator can "
            "delete the row; the tombstone goes there, too, and hides the line on each machine"
        )
    for path in redacted_files.worktree_copies(log, redaction):
        yield f"{one_line(str(path))}, which git put there: update that worktree"


def _history_command(id: str, learnings: tuple[Learning, ...], folder: Path) -> str:
    """Return the command that lists the commits which added the line or took it out; it doesn't name the text."""
    has_own_id = any(id == learning.id != content_identity(learning.type, learning.content) for learning in learnings)
    only = f""" -G '"id": *"{id}"'""" if has_own_id and _PLAIN_ID.fullmatch(id) else ""
    return f"git log --all --oneline{only} -- {folder.name}"


def _question(plan: _ForgetPlan) -> str:
    statements = dict.fromkeys(clip_text(one_line(learning.statement), 300) for learning in plan.learnings)
    lines = [f"{one_line(plan.result.id)}: {statement}" for statement in statements] or [one_line(plan.result.id)]
    lines += ["is taken out for good, and no undo brings it back, of:"]
    lines += [f"  {place_line(place)}" for place in plan.result.places]
    lines += [f"not touched: {clause}" for clause in plan.result.left]
    return "\n".join(lines)


def place_line(place: RedactedPlace) -> str:
    """Return a place as one line of text."""
    whole = "removed; it is made anew" if place.kind == redacted_files.CACHE else "removed"
    count = f"{place.lines} line{'' if place.lines == 1 else 's'}"
    return f"{one_line(str(place.path))}: {count if place.lines else whole}"
