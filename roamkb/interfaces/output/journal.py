"""The journal's moments, diffs and restores, as text and as JSON."""

import os
from collections.abc import Iterator

from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.timestamps import format_local_iso
from roamkb.interfaces.output.render import PrintedResult
from roamkb.journal.journal import MomentDiff
from roamkb.journal.journal import MomentList
from roamkb.journal.journal import RestoreResult
from roamkb.journal.journal import not_restored_line
from roamkb.journal.journal import step_line
from roamkb.journal.moments import CHANGED_SINCE_LOOK
from roamkb.journal.moments import ChangeKind
from roamkb.journal.moments import EntryChange
from roamkb.journal.moments import Moment
from roamkb.journal.moments import describe_later_edit
from roamkb.journal.moments import describe_maker

#: Of the list, that are shown; --json has all.
_MOST_MOMENTS = 40
#: What to do where nothing is found: a look of one's own is the latest moment by then.
_EARLIER_HINT = "`roamkb journal` lists earlier ones, for --mark"


def journal(result: MomentList | MomentDiff | RestoreResult) -> PrintedResult:
    """Render the journal's answer; status 1 where there is nothing to show or restore."""
    match result:
        case MomentList():
            return _printed_moments(result)
        case MomentDiff():
            return PrintedResult(
                result=result, text=lambda _: "\n".join(_diff_lines(result)), status=0 if result.changes else 1
            )
        case RestoreResult():
            return _printed_restore(result)


def _printed_moments(result: MomentList) -> PrintedResult:
    holdings = result.holdings

    def render_text(terminal: bool) -> str:
        head = [f"{'mark':4} {'when':19} {'what':7}  changed, by whom"] if terminal and result.moments else []
        lines = [*head, *map(_moment_line, result.moments[:_MOST_MOMENTS])]
        if len(result.moments) > _MOST_MOMENTS:
            lines.append(f"and {len(result.moments) - _MOST_MOMENTS} older: --json has all")
        waiting = f"; {holdings.waiting} not read yet" if holdings.waiting else ""
        unkept = f"; {len(holdings.unkept)} known by name alone" if holdings.unkept else ""
        lines.append(
            f"{count_phrase(holdings.entries, 'file')} of {one_line(str(result.kb))}, "
            f"{count_phrase(holdings.contents, 'copy', 'copies')} of {holdings.size:,} bytes in {holdings.stored:,}"
            f"{waiting}{unkept}"
        )
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text, status=0 if result.moments else 1)


def _diff_lines(result: MomentDiff) -> Iterator[str]:
    since = f"{result.mark}, {one_line(result.chosen)}" if result.chosen else str(result.mark)
    if not result.changes:
        yield f"nothing changed since {since}; {_EARLIER_HINT}"
    elif result.chosen:
        yield f"since {since}:"
    for change in result.changes:
        yield _change_line(change)
        yield from (f"  {one_line(line)}" for line in result.diffs.get(change.path, ()))
    open_ends = sum(not change.is_explained for change in result.changes)
    if open_ends:
        yield f"nothing explains {open_ends}; `roamkb journal restore --all --mark {result.mark}` undoes it"


def _printed_restore(result: RestoreResult) -> PrintedResult:
    plan = result.plan
    newer = any(leftover.why == CHANGED_SINCE_LOOK for leftover in plan.left)

    def render_text(_: bool) -> str:
        lines = [*map(step_line, plan.steps), *map(not_restored_line, plan.left)]
        if newer:
            lines.append("what changed since the last look was seen now; `roamkb journal show`, and restore again")
        if result.done:
            undo = f"`roamkb journal restore --all --mark {result.before}` undoes this"
            lines.append(f"{count_phrase(len(plan.steps), 'step')} done, back to {plan.mark}; {undo}")
        elif plan.steps:
            lines.append(f"{count_phrase(len(plan.steps), 'step')} would be done; nothing was changed")
        else:
            chosen = f", {one_line(result.chosen)}" if result.chosen else ""
            lines.append(f"nothing to bring back from {plan.mark}{chosen}; {_EARLIER_HINT}")
        return "\n".join(lines)

    status = 0 if plan.steps else 1
    if any(leftover.has_failed for leftover in plan.left):
        status = RoamkbError.exit_code
    elif newer or result.is_hindered:
        status = ChangedOnDisk.exit_code
    elif not result.is_durable:
        status = NotDurable.exit_code
    return PrintedResult(result=result, text=render_text, status=status)


def _decode_path(path: bytes) -> str:
    return os.fsdecode(path)


def _moment_line(moment: Moment) -> str:
    parts = [f"{moment.id:4} {format_local_iso(moment.at)} {moment.what:7}"]
    if moment.changed:
        unexplained = f", {moment.unexplained} of them unexplained" if moment.unexplained else ""
        parts.append(f"{moment.changed} changed{unexplained}")
    if moment.session:
        parts.append(one_line(str(moment.session)))
    others = [
        one_line(str(session)) for session in moment.during if moment.session is None or session.id != moment.session.id
    ]
    if others:
        parts.append(f"meanwhile {', '.join(others)}")
    return "  ".join(parts)


def _change_line(change: EntryChange) -> str:
    path = one_line(_decode_path(change.path))
    if change.moved_to is not None:
        path += f" to {one_line(_decode_path(change.moved_to))}"
    elif change.what is ChangeKind.MODE and change.was and change.now:
        path += f" from {change.was.mode:04o} to {change.now.mode:04o}"
    elif change.what is ChangeKind.CHANGED and change.was and change.now:
        path += f" ({change.was.size:,} to {change.now.size:,} bytes)"
    since = f", {describe_later_edit(change.edited_since)}" if change.edited_since else ""
    return f"{change.what.value:8} {path} {describe_maker(change.by)}".rstrip() + since
