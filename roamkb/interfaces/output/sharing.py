"""What templates, bundles and snapshots hold and did, as text and as JSON (docs/json.md)."""

from collections.abc import Iterable
from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import clipped
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.core.timestamps import iso
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.learning_state import ACTIVE
from roamkb.log.state.learning_state import UNVERIFIED
from roamkb.log.state.learning_state import LearningState

if TYPE_CHECKING:
    from roamkb.log.jsonl import BadLine
    from roamkb.log.learning import Learning
    from roamkb.sharing.bundle import CreatedBundle
    from roamkb.sharing.bundle import ImportResult
    from roamkb.sharing.bundle import OpenedBundle
    from roamkb.sharing.bundle_format import BundleHeader
    from roamkb.sharing.snapshot import RecoverResult
    from roamkb.sharing.snapshot import SnapshotList
    from roamkb.sharing.snapshot import SnapshotsTaken
    from roamkb.sharing.store.snapshot_archive import Snapshot
    from roamkb.sharing.template import TemplateList
    from roamkb.sharing.template import TemplateShown
    from roamkb.sharing.template_model import Template
    from roamkb.sharing.template_model import TemplateVersion

#: A title's worth of a learning.
_TITLE = 120
#: Of a long list a person reads so much.
_LISTED = 20


def bundle(result: "CreatedBundle | OpenedBundle | ImportResult") -> PrintedResult:
    """Say what a bundle is, or what became of it."""
    from roamkb.sharing.bundle import CreatedBundle
    from roamkb.sharing.bundle import ImportResult

    match result:
        case CreatedBundle():
            return _bundled(result)
        case ImportResult():
            return _imported(result)
        case _:
            return _opened(result)


def _bundled(result: "CreatedBundle") -> PrintedResult:
    header = result.header
    withheld = [shown(key) for key in result.withheld]
    return PrintedResult(
        result=result,
        text=lambda _: f"bundled {_several(header.count, 'learning')} into {shown(str(result.path))}",
        warnings=tuple(f"left out, it holds what looks like a secret: {key}" for key in withheld),
    )


def _opened(result: "OpenedBundle") -> PrintedResult:
    header, said = result.bundle.header, result.bundle.said

    def text(terminal: bool) -> str:
        types = ", ".join(f"{count} {shown(type)}" for type, count in result.types)
        lines = [_headline(header), *([types] if types else [])]
        lines += _titles((one.learning for one in said), terminal)
        return "\n".join(lines)

    return PrintedResult(result=result, text=text, warnings=_complaints(result.bundle.invalid))


def _imported(result: "ImportResult") -> PrintedResult:
    found = result.ingested

    def text(terminal: bool) -> str:
        counts = f"{found.new} new, {found.merged} merged, {found.already} known already"
        if result.done:
            return f"{_headline(result.header)}\nimported as unverified: {counts}"
        lines = [_headline(result.header), *_titles(found.preview, terminal)]
        return "\n".join([*lines, f"would import as unverified: {counts}; add --yes to do it"])

    return PrintedResult(result=result, text=text, warnings=_complaints(found.invalid))


def _headline(header: "BundleHeader") -> str:
    day = f", {iso(header.created)[:10]}" if header.created else ""
    what = _several(header.count, "learning")
    return f"{what} of {header.kind.value} project {shown(header.project) or '(unnamed)'}{day}"


def _complaints(bad: "Iterable[BadLine]") -> tuple[str, ...]:
    return tuple(f"line {one.line}: {shown(one.reason)}" for one in bad)[:_LISTED]


def template(result: "TemplateList | TemplateShown") -> PrintedResult:
    """List templates, or show one."""
    from roamkb.sharing.template import TemplateList

    return _templates(result) if isinstance(result, TemplateList) else _template(result)


def _templates(result: "TemplateList") -> PrintedResult:
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(map(_template_line, result.templates)),
        status=0 if result.templates else 1,
    )


def _template(result: "TemplateShown") -> PrintedResult:
    one = result.template

    def text(_: bool) -> str:
        given = _learnings(result.learnings)
        if result.done == "used":
            did = (
                f"task {shown(result.task)} has {_several(len(result.learnings), 'learning')} of {_name(one)}"
            )
            return "\n".join([did, *given])
        did = "" if result.done == "shown" else f"{result.done}: "
        older = [_version_line(version) for version in reversed(one.versions[:-1])]
        return "\n".join([did + _template_line(one), *given, *older])

    missing = f"{_several(result.left_out, 'learning')} of it no longer stands, or has no line in this log"
    return PrintedResult(result=result, text=text, warnings=(missing,) if result.left_out else ())


def _name(one: "Template") -> str:
    return f"{shown(one.name)} (version {one.current.version})"


def _template_line(one: "Template") -> str:
    tried = one.successes + one.failures
    served = f"{one.successes} of {tried} went well ({one.lower_bound:.2f})" if tried else "untried"
    about = [
        f"{_name(one)}{' deprecated' if one.is_deprecated else ''}",
        ", ".join(map(shown, one.current.task_types)),
        _several(len(one.current.learnings), "learning"),
        served,
    ]
    return " | ".join(filter(None, about))


def _version_line(version: "TemplateVersion") -> str:
    why = f": {shown(version.reason)}" if version.reason else ""
    what = _several(len(version.learnings), "learning")
    return f"  before: version {version.version}, {iso(version.ts)[:10]}, {what}{why}"


def _learnings(standings: "Iterable[LearningState]") -> Iterator[str]:
    for one in standings:
        marks = [
            *([one.status] if one.status != ACTIVE else []),
            *([one.verdict] if one.verdict != UNVERIFIED else []),
        ]
        marked = f" ({', '.join(marks)})" if marks else ""
        title = clipped(shown(one.learning.statement), _TITLE)
        yield f"  [{shown(one.learning.type).upper()}] {title}{marked}"


def snapshot(result: "SnapshotsTaken | SnapshotList | RecoverResult") -> PrintedResult:
    """Say what was kept, what is kept, or what was lost."""
    from roamkb.sharing.snapshot import RecoverResult
    from roamkb.sharing.snapshot import SnapshotsTaken

    match result:
        case SnapshotsTaken():
            return _taken(result)
        case RecoverResult():
            return _recovered(result)
        case _:
            return PrintedResult(
                result=result,
                text=lambda _: "\n".join(map(_snapshot_line, result.snapshots)),
                status=0 if result.snapshots else 1,
            )


def _taken(result: "SnapshotsTaken") -> PrintedResult:
    def text(_: bool) -> str:
        lines = [f"kept {_snapshot_line(one)}" for one in result.made]
        lines += [f"no snapshot of the {what}: {shown(why)}" for what, why in result.skipped]
        return "\n".join(lines)

    return PrintedResult(result=result, text=text)


def _recovered(result: "RecoverResult") -> PrintedResult:
    is_lost = bool(result.learnings or result.events or result.nodes)

    def text(terminal: bool) -> str:
        lines = [f"from {_snapshot_line(one)}" for one in result.snapshots]
        lines += [
            f"no snapshot of the {what}: what it lost, if anything, nobody knows" for what in result.without
        ]
        if not is_lost:
            of = " of what is in the snapshot" if result.without else ""
            return "\n".join([*lines, f"nothing is lost{of}; nothing to put back"])
        lines += _titles(result.learnings, terminal)
        lines += [f"  {shown(str(node.path))}: {headline(node.title)}" for node in result.nodes]
        found = [
            (len(result.learnings), "learning"),
            (len(result.events), "event"),
            (len(result.nodes), "node"),
        ]
        counts = ", ".join(_several(count, what) for count, what in found if count)
        did = "put back" if result.done else "would be put back; add --yes to do it"
        return "\n".join([*lines, f"{counts} {did}"])

    return PrintedResult(
        result=result,
        text=text,
        warnings=tuple(f"{shown(str(path))}: another file is there by now" for path in result.taken),
    )


def _snapshot_line(one: "Snapshot") -> str:
    about = one.fault or f"{one.what}, {_several(one.files, 'file')}"
    return f"{shown(one.id)}  {one.when}  {shown(about)}, {one.size:,} bytes"


def _titles(learnings: "Iterable[Learning]", terminal: bool) -> Iterator[str]:
    """Yield a line for each, for a terminal only so many as a person reads."""
    found = list(learnings)
    most = _LISTED if terminal else len(found)
    for one in found[:most]:
        yield f"  [{shown(one.type).upper()}] {clipped(shown(one.statement), _TITLE)}"
    if len(found) > most:
        yield f"  ({len(found) - most} more)"


def _several(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
