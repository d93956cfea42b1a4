"""Results on templates, bundles, snapshots and shared logs, as text and as JSON."""

from collections.abc import Iterable
from collections.abc import Iterator

from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.core.timestamps import format_iso
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log import jsonl
from roamkb.log.learning import Learning
from roamkb.log.share import share as log_share
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.log.state.learning_state import LearningState
from roamkb.sharing import bundle as sharing_bundle
from roamkb.sharing import bundle_format
from roamkb.sharing import forget as sharing_forget
from roamkb.sharing import snapshot as sharing_snapshot
from roamkb.sharing import template as sharing_template
from roamkb.sharing import template_model
from roamkb.sharing.store import snapshot_archive

#: A title's worth of a learning.
_TITLE_WIDTH = 120
#: Of a long list a person reads so much.
_LISTED_LINES = 20


def bundle(
    result: "sharing_bundle.CreatedBundle | sharing_bundle.OpenedBundle | sharing_bundle.ImportResult",
) -> PrintedResult:
    """Render a bundle's content, or the result of its creation or import."""
    match result:
        case sharing_bundle.CreatedBundle():
            return _printed_created_bundle(result)
        case sharing_bundle.ImportResult():
            return _printed_import(result)
        case _:
            return _printed_opened_bundle(result)


def _printed_created_bundle(result: "sharing_bundle.CreatedBundle") -> PrintedResult:
    header = result.header
    withheld = [one_line(key) for key in result.withheld]
    return PrintedResult(
        result=result,
        text=lambda _: f"bundled {_counted_noun(header.count, 'learning')} into {one_line(str(result.path))}",
        warnings=tuple(f"left out, it holds what looks like a secret: {key}" for key in withheld),
    )


def _printed_opened_bundle(result: "sharing_bundle.OpenedBundle") -> PrintedResult:
    header, new_learnings = result.bundle.header, result.bundle.said

    def render_text(terminal: bool) -> str:
        types = ", ".join(f"{count} {one_line(type)}" for type, count in result.types)
        lines = [_bundle_headline(header), *([types] if types else [])]
        lines += _title_lines((new_learning.learning for new_learning in new_learnings), terminal)
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text, warnings=_bad_line_warnings(result.bundle.invalid))


def _printed_import(result: "sharing_bundle.ImportResult") -> PrintedResult:
    ingested = result.ingested

    def render_text(terminal: bool) -> str:
        counts = f"{ingested.new} new, {ingested.merged} merged, {ingested.already - ingested.forgotten} known already"
        if ingested.forgotten:
            counts += f", {ingested.forgotten} forgotten and not taken"
        if result.done:
            return f"{_bundle_headline(result.header)}\nimported as unverified: {counts}"
        lines = [_bundle_headline(result.header), *_title_lines(ingested.preview, terminal)]
        return "\n".join([*lines, f"would import as unverified: {counts}; add --yes to do it"])

    return PrintedResult(result=result, text=render_text, warnings=_bad_line_warnings(ingested.invalid))


def _bundle_headline(header: "bundle_format.BundleHeader") -> str:
    day = f", {format_iso(header.created)[:10]}" if header.created else ""
    count_text = _counted_noun(header.count, "learning")
    return f"{count_text} of {header.kind.value} project {one_line(header.project) or '(unnamed)'}{day}"


def _bad_line_warnings(bad_lines: "Iterable[jsonl.BadLine]") -> tuple[str, ...]:
    return tuple(f"line {bad_line.line}: {one_line(bad_line.reason)}" for bad_line in bad_lines)[:_LISTED_LINES]


def template(result: "sharing_template.TemplateList | sharing_template.TemplateShown") -> PrintedResult:
    """List templates, or show one."""
    return (
        PrintedResult(
            result=result,
            text=lambda _: "\n".join(map(_template_line, result.templates)),
            status=0 if result.templates else 1,
        )
        if isinstance(result, sharing_template.TemplateList)
        else _printed_template(result)
    )


def _printed_template(result: "sharing_template.TemplateShown") -> PrintedResult:
    shown_template = result.template

    def render_text(_: bool) -> str:
        learning_lines = _learning_lines(result.learnings)
        if result.done == "used":
            did = (
                f"task {one_line(result.task)} has {_counted_noun(len(result.learnings), 'learning')} of"
                f" {_template_name(shown_template)}"
            )
            return "\n".join([did, *learning_lines])
        did = "" if result.done == "shown" else f"{result.done}: "
        older = [_version_line(version) for version in reversed(shown_template.versions[:-1])]
        return "\n".join([did + _template_line(shown_template), *learning_lines, *older])

    missing = f"{_counted_noun(result.left_out, 'learning')} of it no longer stands, or has no line in this log"
    return PrintedResult(result=result, text=render_text, warnings=(missing,) if result.left_out else ())


def _template_name(shown_template: "template_model.Template") -> str:
    return f"{one_line(shown_template.name)} (version {shown_template.current.version})"


def _template_line(shown_template: "template_model.Template") -> str:
    tried = shown_template.successes + shown_template.failures
    served = (
        f"{shown_template.successes} of {tried} went well ({shown_template.lower_bound:.2f})" if tried else "untried"
    )
    about = [
        f"{_template_name(shown_template)}{' deprecated' if shown_template.is_deprecated else ''}",
        ", ".join(map(one_line, shown_template.current.task_types)),
        _counted_noun(len(shown_template.current.learnings), "learning"),
        served,
    ]
    return " | ".join(filter(None, about))


def _version_line(version: "template_model.TemplateVersion") -> str:
    why = f": {one_line(version.reason)}" if version.reason else ""
    count_text = _counted_noun(len(version.learnings), "learning")
    return f"  before: version {version.version}, {format_iso(version.ts)[:10]}, {count_text}{why}"


def _learning_lines(standings: "Iterable[LearningState]") -> Iterator[str]:
    for learning_state in standings:
        marks = [
            *([learning_state.status] if learning_state.status != ACTIVE else []),
            *([learning_state.verdict] if learning_state.verdict != UNVERIFIED else []),
        ]
        marked = f" ({', '.join(marks)})" if marks else ""
        title = clip_text(one_line(learning_state.learning.statement), _TITLE_WIDTH)
        yield f"  [{one_line(learning_state.learning.type).upper()}] {title}{marked}"


def snapshot(
    result: ("sharing_snapshot.SnapshotsTaken | sharing_snapshot.SnapshotList | sharing_snapshot.RecoverResult"),
) -> PrintedResult:
    """Render the snapshots taken, the list of them, or the losses that one restores."""
    match result:
        case sharing_snapshot.SnapshotsTaken():
            return _printed_taken_snapshots(result)
        case sharing_snapshot.RecoverResult():
            return _printed_recovery(result)
        case _:
            return PrintedResult(
                result=result,
                text=lambda _: "\n".join(map(_snapshot_line, result.snapshots)),
                status=0 if result.snapshots else 1,
            )


def _printed_taken_snapshots(result: "sharing_snapshot.SnapshotsTaken") -> PrintedResult:
    def render_text(_: bool) -> str:
        lines = [f"kept {_snapshot_line(made_snapshot)}" for made_snapshot in result.made]
        lines += [f"no snapshot of the {subject}: {one_line(why)}" for subject, why in result.skipped]
        return "\n".join(lines)

    return PrintedResult(result=result, text=render_text)


def _printed_recovery(result: "sharing_snapshot.RecoverResult") -> PrintedResult:
    is_lost = bool(result.learnings or result.events or result.nodes)

    def render_text(terminal: bool) -> str:
        lines = [f"from {_snapshot_line(used_snapshot)}" for used_snapshot in result.snapshots]
        lines += [
            f"no snapshot of the {subject}: what it lost, if anything, nobody knows" for subject in result.without
        ]
        if not is_lost:
            scope_note = " of what is in the snapshot" if result.without else ""
            return "\n".join([*lines, f"nothing is lost{scope_note}; nothing to put back"])
        lines += _title_lines(result.learnings, terminal)
        lines += [f"  {one_line(str(node.path))}: {shorten_title(node.title)}" for node in result.nodes]
        loss_counts = [
            (len(result.learnings), "learning"),
            (len(result.events), "event"),
            (len(result.nodes), "node"),
        ]
        counts = ", ".join(_counted_noun(count, subject) for count, subject in loss_counts if count)
        did = "put back" if result.done else "would be put back; add --yes to do it"
        return "\n".join([*lines, f"{counts} {did}"])

    return PrintedResult(
        result=result,
        text=render_text,
        warnings=tuple(f"{one_line(str(path))}: another file is there by now" for path in result.taken),
    )


def _snapshot_line(listed_snapshot: "snapshot_archive.Snapshot") -> str:
    about = listed_snapshot.fault or f"{listed_snapshot.what}, {_counted_noun(listed_snapshot.files, 'file')}"
    return f"{one_line(listed_snapshot.id)}  {listed_snapshot.when}  {one_line(about)}, {listed_snapshot.size:,} bytes"


def _title_lines(learnings: "Iterable[Learning]", terminal: bool) -> Iterator[str]:
    """Yield a line for each learning; for a terminal only as many as a person reads."""
    all_learnings = list(learnings)
    most = _LISTED_LINES if terminal else len(all_learnings)
    for learning in all_learnings[:most]:
        yield f"  [{one_line(learning.type).upper()}] {clip_text(one_line(learning.statement), _TITLE_WIDTH)}"
    if len(all_learnings) > most:
        yield f"  ({len(all_learnings) - most} more)"


def _counted_noun(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def forget(result: "sharing_forget.ForgetResult") -> PrintedResult:
    """Render the places of a forgotten learning, and what is left to a human."""
    done = "forgot" if result.done else "would forget"
    lines = [f"{done} {one_line(result.id)}", *(f"  {sharing_forget.place_line(place)}" for place in result.places)]
    lines += [f"not touched: {clause}" for clause in result.left]
    if result.history_command:
        lines.append("git tracks the log, and its history keeps what was committed; these commits touched it:")
        lines.append(f"  {result.history_command}")
        lines.append("  roamkb never rewrites history: if it was pushed, it is known; `git filter-repo` takes it out")
    return PrintedResult(result=result, text=lambda _: "\n".join(lines))


def share(result: "log_share.ShareReport") -> PrintedResult:
    """Render how a log is shared; of `migrate` the SQL alone, to be piped."""
    return PrintedResult(result=result, text=lambda _: result.sql or "\n".join(_share_lines(result)))


def _share_lines(result: "log_share.ShareReport") -> Iterator[str]:
    if result.state == "off":
        yield "this log isn't shared"
    else:
        heard = format_iso(result.heard) if result.heard else ""
        yield f"shared as {result.project} by the {result.kind} service {result.service}"
        yield f"last heard of {heard}" if heard else "not heard of yet"
        yield f"{count_phrase(result.received, 'line')} came from it"
    if result.held_back:
        yield f"{count_phrase(result.held_back, 'line')} wait there until an open transaction ends"
    yield from (f"{count_phrase(count, 'line')} not sent: {one_line(reason)}" for reason, count in result.withheld)
    yield from (f"{count_phrase(count, 'line')} put aside: {one_line(reason)}" for reason, count in result.aside)
    if result.aside_file:
        yield f"aside: {one_line(str(result.aside_file))}"
    if result.trouble:
        yield f"!! {one_line(result.trouble)}"
