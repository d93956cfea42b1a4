"""Results of hygiene, conflicts, doctor, install, setup and uninstall, as text and as JSON."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import Rule
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import DoctorReport
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import StepOutcome
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import format_location
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import ConflictList
from roamkb.kb.hygiene import DuplicateNodes
from roamkb.kb.hygiene import HygieneReport
from roamkb.kb.hygiene import NodeLine
from roamkb.org.report import file_link
from roamkb.org.report import node_link
from roamkb.org.report import quote_for_org

#: Of a conflict copy, that are shown; and letters of each.
_MOST_LINES = 40
_LINE_WIDTH = 240
#: Outcomes of steps that are named after all others, in this order.
_LAST = (StepOutcome.KEPT, StepOutcome.OFFERED)


def hygiene(result: HygieneReport) -> PrintedResult:
    """Render the findings that a human may want to tidy; they are no failure, so the status is 0."""
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(_as_org(result) if result.org else _as_lines(result)),
        warnings=tuple(f"{one_line(str(entry.path))}: {one_line(entry.reason)}" for entry in result.skipped),
    )


def conflicts(result: ConflictList) -> PrintedResult:
    """Render the conflict copies; status 1 where there is none, or none that could be adopted."""
    relevant_copies = [copy for copy in result.copies if copy.adopted or not result.adopting]
    return PrintedResult(
        result=result,
        text=lambda terminal: "\n".join(
            line for copy in result.copies for line in _copy_lines(copy, terminal, adopting=result.adopting)
        ),
        status=0 if relevant_copies else 1,
    )


def doctor(result: DoctorReport) -> PrintedResult:
    """Render the checkup; the status reports that it was made, and its findings only where that was asked."""

    def render_text(terminal: bool) -> str:
        lines = (line for check in result.checks for line in _check_lines(check, terminal))
        return "\n".join((*lines, one_line(result.verdict)))

    return PrintedResult(result=result, text=render_text, status=2 if result.is_strict and result.faults else 0)


def install(result: InstallReport) -> PrintedResult:
    """Render the steps of `install`; status 2 where another's file is in the way."""
    dry_run_lines = ["a dry run: nothing was changed"] if result.dry_run else []
    # what stays and what is left to do is said last, where it is read
    steps = sorted(result.steps, key=lambda step: _LAST.index(step.outcome) if step.outcome in _LAST else -1)
    lines = [
        *(line for step in steps for line in _step_lines(step, is_planned=result.dry_run)),
        *_boundary_lines(result.rule),
        *dry_run_lines,
        *(["", "Try:"] if result.next_commands else []),
        *(f"  {one_line(command)}" for command in result.next_commands or ()),
    ]
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(lines),
        status=result.exit_code,
        warnings=tuple(map(one_line, result.warnings)),
        is_pageable=result.dry_run,
    )


def setup(result: InstallReport) -> PrintedResult:
    """Render the steps of `setup`, and the commands to try next."""
    return install(result)


def uninstall(result: InstallReport) -> PrintedResult:
    """Render the steps of `uninstall`; status 2 where it left files that aren't its own."""
    return install(result)


def _boundary_lines(rule: Rule | None) -> Iterator[str]:
    """Yield the folders of work and personal projects from now on: the one thing that must be right."""
    if rule:
        yield f"work: {one_line(', '.join(rule.work_roots)) or 'nothing'}"
        yield f"personal, may write: {one_line(', '.join(rule.project_parents)) or 'nothing'}"
        for other in rule.others:
            yield f"may write to {other.name} with --kb: {one_line(', '.join(other.project_parents)) or 'nothing'}"


# lines


def _as_lines(result: HygieneReport) -> Iterator[str]:
    """Yield one line a finding, `PATH:LINE: FINDING`."""
    for spot in result.orphans:
        yield f"{_line_of(spot)}: orphan: {_node_name(spot)}, no node links to it and it links to none"
    for what, groups in (
        ("id", result.duplicate_ids),
        ("title", result.duplicate_titles),
        ("ref", result.duplicate_refs),
    ):
        yield from _duplicate_lines(what, groups)
    for link in result.dangling:
        location = format_location(link.path, link.line)
        yield f"{location}: dangling link: {shorten_title(link.title)} links to {one_line(link.id)}, which is no node"
    for spot in result.untitled:
        yield f"{_line_of(spot)}: no title: {one_line(spot.id)}"
    for copy in result.conflict_copies:
        yield f"{format_location(copy.path, 1)}: conflict copy: {_comparison_text(copy)}"
    for text in result.encrypted:
        what = "file" if text.line is None else "heading"
        yield f"{format_location(text.path, text.line or 1)}: encrypted {what}: not read, and no search finds it"


def _duplicate_lines(what: str, groups: Iterable[DuplicateNodes]) -> Iterator[str]:
    for duplicates in groups:
        for spot in duplicates.nodes[1:]:
            yield f"{_line_of(spot)}: duplicate {what}: {_node_name(spot)}, first at {_line_of(duplicates.first)}"


def _node_name(spot: NodeLine) -> str:
    return f"{shorten_title(spot.title)} ({one_line(spot.id)})"


def _line_of(spot: NodeLine) -> str:
    return format_location(spot.path, spot.line)


def _comparison_text(copy: ConflictCopy) -> str:
    """Return in a clause how a conflict copy differs from its original."""
    if copy.original is None:
        return "its original is gone"
    against = f"of {one_line(copy.original.name)}"
    changes = "" if copy.lines_added is None else f", +{copy.lines_added} -{copy.lines_removed} lines"
    own = "" if copy.same_id or copy.id is None else ", with an id of its own"
    return f"{against}{changes}{own}"


def _copy_line(copy: ConflictCopy, *, adopting: bool) -> str:
    if copy.adopted:
        note = one_line(str(copy.adopted))
        # a log's has no id
        added = "was identical to" if copy.id else f"{count_phrase(copy.lines_added or 0, 'line')} added to"
        outcome = f"{added} {note}, and was removed" if copy.removed else f"now {note}"
        return f"{one_line(str(copy.path))}: {outcome}"
    to_do = f"; {one_line(copy.obstacle)}" if copy.obstacle else "; `roamkb conflicts --adopt` gives it a name"
    left_note = "left as it is: " if adopting else ""
    return f"{one_line(str(copy.path))}: {left_note}{_comparison_text(copy)}{to_do}"


def _copy_lines(copy: ConflictCopy, terminal: bool, *, adopting: bool) -> Iterator[str]:
    """Yield a copy's difference from its original, and the differing lines, indented."""
    yield _copy_line(copy, adopting=adopting)
    if copy.adopted:
        return
    for line in copy.diff[:_MOST_LINES]:
        line_text = clip_text(one_line(line), _LINE_WIDTH)
        colour = {"-": 31, "+": 32, "@": 36}[line[0]]
        yield f"  \x1b[{colour}m{line_text}\x1b[0m" if terminal else f"  {line_text}"
    if len(copy.diff) > _MOST_LINES:
        yield f"  and {count_phrase(len(copy.diff) - _MOST_LINES, 'line')} more: --json has all"


def _check_lines(check: DoctorCheck, terminal: bool) -> Iterator[str]:
    mark, colour = ("!!", 31) if not check.ok else ("ok", 32) if check.proved else ("--", 33)
    if terminal:
        mark = f"\x1b[{colour}m{mark}\x1b[0m"
    yield f"{mark} {check.name}: {one_line(check.detail)}"
    if check.fix:
        yield f"   {one_line(check.fix)}"


def _step_lines(step: InstallStep, *, is_planned: bool) -> Iterator[str]:
    """Yield the line of a step, and how it would change its file; what was done is shown by --dry-run before."""
    about = f"{one_line(str(step.path))} ({one_line(step.why)})" if step.path else one_line(step.why)
    yield f"{step.outcome.value:5} {step.what}: {about}"
    if step.diff and (is_planned or step.outcome is StepOutcome.SHOWN):
        yield step.diff


# an org document


def _as_org(result: HygieneReport) -> Iterator[str]:
    """Yield an Org document of the findings; quoted text in it is inert."""
    link = _file_link(result.kb)
    yield "#+title: Hygiene of the knowledge base"
    yield from _section_lines(
        "Agent nodes without a link, either way",
        (f"{link(s.path, s.line)} {node_link(s.id, s.title)}" for s in result.orphans),
    )
    yield from _section_lines("Nodes with the same id", map(_duplicates_item(link), result.duplicate_ids))
    yield from _section_lines("Nodes with the same title", map(_duplicates_item(link), result.duplicate_titles))
    yield from _section_lines("Nodes with the same ref", map(_duplicates_item(link), result.duplicate_refs))
    yield from _section_lines(
        "Links to no node",
        (f"{link(d.path, d.line)} {quote_for_org(d.title)} links to {quote_for_org(d.id)}" for d in result.dangling),
    )
    yield from _section_lines("Nodes without a title", (link(s.path, s.line) for s in result.untitled))
    yield from _section_lines(
        "Conflict copies", (f"{link(c.path, 1)} {quote_for_org(_comparison_text(c))}" for c in result.conflict_copies)
    )
    yield from _section_lines(
        "Encrypted, which no search reads", (link(text.path, text.line or 1) for text in result.encrypted)
    )


def _section_lines(heading: str, items: Iterable[str]) -> Iterator[str]:
    entries = list(items)
    yield f"* {heading}: {len(entries)}"
    # each item begins with a link, so that no title can stand at the start of a line
    yield from (f"- {item}" for item in entries)


def _file_link(kb: Path) -> Callable[[Path, int], str]:
    """Return a maker of links to lines of files in `kb`, shown by their relative paths."""

    def make_link(path: Path, line: int) -> str:
        name = path.relative_to(kb) if path.is_relative_to(kb) else path
        return file_link(str(path), line, str(name))

    return make_link


def _duplicates_item(link: Callable[[Path, int], str]) -> Callable[[DuplicateNodes], str]:
    def make_item(duplicates: DuplicateNodes) -> str:
        places = " and ".join(link(spot.path, spot.line) for spot in duplicates.nodes)
        return f"{places} {node_link(duplicates.first.id, duplicates.first.title)}"

    return make_item
