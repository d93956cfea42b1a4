"""The reports as text and as JSON: hygiene, conflicts, doctor, install and uninstall."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import Rule
from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import DoctorReport
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import place
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import ConflictList
from roamkb.kb.hygiene import DuplicateNodes
from roamkb.kb.hygiene import HygieneReport
from roamkb.kb.hygiene import NodeLine
from roamkb.org.report import file_link
from roamkb.org.report import node_link
from roamkb.org.report import quoted

#: Of a conflict copy, that are shown; and letters of each.
_MOST_LINES = 40
_LINE_WIDTH = 240


def hygiene(result: HygieneReport) -> PrintedResult:
    """Return what a human may want to tidy; findings are no failure, so the status is 0."""
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(_as_org(result) if result.org else _as_lines(result)),
        warnings=tuple(f"{shown(str(entry.path))}: {shown(entry.reason)}" for entry in result.skipped),
    )


def conflicts(result: ConflictList) -> PrintedResult:
    """Return the conflict copies; status 1 where there is none, or none that could be adopted."""
    wanted = [copy for copy in result.copies if copy.adopted or not result.adopting]
    return PrintedResult(
        result=result,
        text=lambda terminal: "\n".join(
            line for copy in result.copies for line in _copy_lines(copy, terminal, adopting=result.adopting)
        ),
        status=0 if wanted else 1,
    )


def doctor(result: DoctorReport) -> PrintedResult:
    """Return the checkup; the status says that it was made, not what it found."""

    def text(terminal: bool) -> str:
        return "\n".join(line for check in result.checks for line in _check_lines(check, terminal))

    return PrintedResult(result=result, text=text)


def install(result: InstallReport) -> PrintedResult:
    """Return what `install` did, or would do; status 2 where something of somebody else's is in the way."""
    done = ["a dry run: nothing was changed"] if result.dry_run else []
    lines = [*(line for step in result.steps for line in _step_lines(step)), *_whose(result.rule), *done]
    return PrintedResult(
        result=result,
        text=lambda _: "\n".join(lines),
        status=result.exit_code,
        warnings=tuple(map(shown, result.warnings)),
    )


def uninstall(result: InstallReport) -> PrintedResult:
    """Return what `uninstall` took away, or would; status 2 where it left what isn't its own."""
    return install(result)


def _whose(rule: Rule | None) -> Iterator[str]:
    """Yield what counts as work and as personal from now on: the one thing that must be right."""
    if rule:
        yield f"work: {shown(', '.join(rule.work_roots)) or 'nothing'}"
        yield f"personal, may write: {shown(', '.join(rule.project_parents)) or 'nothing'}"


# lines


def _as_lines(result: HygieneReport) -> Iterator[str]:
    """Yield one line a finding, `PATH:LINE: WHAT`."""
    for spot in result.orphans:
        yield f"{_line_of(spot)}: orphan: {_named(spot)}, no node links to it and it links to none"
    for twins in result.duplicate_ids:
        for spot in twins.nodes[1:]:
            yield f"{_line_of(spot)}: duplicate id: {_named(spot)}, first at {_line_of(twins.first)}"
    for twins in result.duplicate_titles:
        for spot in twins.nodes[1:]:
            yield f"{_line_of(spot)}: duplicate title: {_named(spot)}, first at {_line_of(twins.first)}"
    for link in result.dangling:
        where = place(link.path, link.line)
        yield f"{where}: dangling link: {headline(link.title)} links to {shown(link.id)}, which is no node"
    for spot in result.untitled:
        yield f"{_line_of(spot)}: no title: {shown(spot.id)}"
    for copy in result.conflict_copies:
        yield f"{place(copy.path, 1)}: conflict copy: {_compared(copy)}"


def _named(spot: NodeLine) -> str:
    return f"{headline(spot.title)} ({shown(spot.id)})"


def _line_of(spot: NodeLine) -> str:
    return place(spot.path, spot.line)


def _compared(copy: ConflictCopy) -> str:
    """Return in a clause how a conflict copy stands to its original."""
    if copy.original is None:
        return "its original is gone"
    against = f"of {shown(copy.original.name)}"
    changes = "" if copy.lines_added is None else f", +{copy.lines_added} -{copy.lines_removed} lines"
    own = "" if copy.same_id or copy.id is None else ", with an id of its own"
    return f"{against}{changes}{own}"


def _copy_line(copy: ConflictCopy, *, adopting: bool) -> str:
    if copy.adopted:
        return f"{shown(str(copy.path))}: now {shown(str(copy.adopted))}"
    to_do = f"; {shown(copy.obstacle)}" if copy.obstacle else "; `roamkb conflicts --adopt` gives it a name"
    left = "left as it is: " if adopting else ""
    return f"{shown(str(copy.path))}: {left}{_compared(copy)}{to_do}"


def _copy_lines(copy: ConflictCopy, terminal: bool, *, adopting: bool) -> Iterator[str]:
    """Yield how a copy stands to its original, and the lines that differ, indented."""
    yield _copy_line(copy, adopting=adopting)
    if copy.adopted:
        return
    for line in copy.diff[:_MOST_LINES]:
        said = clipped(shown(line), _LINE_WIDTH)
        colour = {"-": 31, "+": 32, "@": 36}[line[0]]
        yield f"  \x1b[{colour}m{said}\x1b[0m" if terminal else f"  {said}"
    if len(copy.diff) > _MOST_LINES:
        yield f"  and {counted(len(copy.diff) - _MOST_LINES, 'line')} more: --json has all"


def _check_lines(check: DoctorCheck, terminal: bool) -> Iterator[str]:
    mark, colour = ("!!", 31) if not check.ok else ("ok", 32) if check.proved else ("--", 33)
    if terminal:
        mark = f"\x1b[{colour}m{mark}\x1b[0m"
    yield f"{mark} {check.name}: {shown(check.detail)}"
    if check.fix:
        yield f"   {shown(check.fix)}"


def _step_lines(step: InstallStep) -> Iterator[str]:
    where = f" {shown(str(step.path))}" if step.path else ""
    yield f"{step.outcome.value:5} {step.what}:{where} ({shown(step.why)})"
    if step.diff:
        yield step.diff


# an org document


def _as_org(result: HygieneReport) -> Iterator[str]:
    """Yield a document to open in Emacs; what is quoted in it is inert."""
    link = _file_link(result.kb)
    yield "#+title: Hygiene of the knowledge base"
    yield from _section(
        "Agent nodes without a link, either way",
        (f"{link(s.path, s.line)} {node_link(s.id, s.title)}" for s in result.orphans),
    )
    yield from _section("Nodes with the same id", map(_twins_item(link), result.duplicate_ids))
    yield from _section("Nodes with the same title", map(_twins_item(link), result.duplicate_titles))
    yield from _section(
        "Links to no node",
        (f"{link(d.path, d.line)} {quoted(d.title)} links to {quoted(d.id)}" for d in result.dangling),
    )
    yield from _section("Nodes without a title", (link(s.path, s.line) for s in result.untitled))
    yield from _section(
        "Conflict copies", (f"{link(c.path, 1)} {quoted(_compared(c))}" for c in result.conflict_copies)
    )


def _section(heading: str, items: Iterable[str]) -> Iterator[str]:
    found = list(items)
    yield f"* {heading}: {len(found)}"
    # each item begins with a link, so that no title can stand at the start of a line
    yield from (f"- {item}" for item in found)


def _file_link(kb: Path) -> Callable[[Path, int], str]:
    """Return a maker of links to lines of files in `kb`, shown by their relative paths."""

    def link(path: Path, line: int) -> str:
        name = path.relative_to(kb) if path.is_relative_to(kb) else path
        return file_link(str(path), line, str(name))

    return link


def _twins_item(link: Callable[[Path, int], str]) -> Callable[[DuplicateNodes], str]:
    def item(twins: DuplicateNodes) -> str:
        places = " and ".join(link(spot.path, spot.line) for spot in twins.nodes)
        return f"{places} {node_link(twins.first.id, twins.first.title)}"

    return item
