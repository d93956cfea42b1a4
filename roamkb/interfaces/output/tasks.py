"""Tasks, what helps with them, and whether it did, as text and as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.core.text import times
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.confidence import as_fraction
from roamkb.tasks.stats import FORMULA

if TYPE_CHECKING:
    from roamkb.tasks.relevance_score import RelevantLearning
    from roamkb.tasks.relevant import RelevantFound
    from roamkb.tasks.signature import TaskRecord
    from roamkb.tasks.stats import ReuseFigures
    from roamkb.tasks.task import TaskReport
    from roamkb.tasks.used import UsedLearning

_TITLE = 160


def task(result: "TaskReport") -> PrintedResult:
    """Say what became of a task, and which are like it."""

    def text(_: bool) -> str:
        lines = [f"{_task_line(one)} ({one.outcome})" for one in result.tasks]
        if result.task and result.action != "similar":
            lines.append(f"{result.task.outcome}: {_task_line(result.task)}")
        lines += [f"like {_task_line(other)} ({other.outcome}, {how:.2f})" for other, how in result.similar]
        if result.consolidated and result.consolidated.raised:
            lines.append(f"{result.consolidated.raised} of its learnings last")
        if result.rough and result.task:
            count = f"{result.rough} of its learnings are" if result.rough > 1 else "one of its learnings is"
            lines.append(f"{count} terse or badly tagged: roamkb refine {shown(result.task.id)}")
        for one in result.unanswered:
            lines.append(f"did it help? roamkb used {shown(one.learning.key)} --outcome success|failure|…")
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.action in ("start", "done", "failed") or result.similar or result.tasks else 1,
    )


def _task_line(task: "TaskRecord") -> str:
    return " ".join(filter(None, (shown(task.id), headline(task.title))))


def relevant(result: "RelevantFound") -> PrintedResult:
    """Print what helps, best first, and why."""

    def text(_: bool) -> str:
        lines = [line for one in result.learnings for line in _relevant(one)]
        lines += [
            f"[NODE] {headline(hit.title)}\n  {shown(str(hit.path))}:{hit.line}" for hit in result.nodes
        ]
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.learnings or result.nodes else 1,
        warnings=() if result.is_known else (
            f"no task {shown(result.task.id)} was started here; `roamkb task start ID --title T` starts it",
        )
    )  # fmt: skip


def _relevant(one: "RelevantLearning") -> list[str]:
    learning = one.standing.learning
    return [
        f"[{shown(learning.type).upper()}] {clipped(shown(learning.statement), _TITLE)}",
        f"  {one.relevance:.2f} | {', '.join(map(shown, one.why))} | "
        f"{as_fraction(one.standing.confidence):.2f} | {shown(learning.key)}",
    ]


def used(result: "UsedLearning") -> PrintedResult:
    """Say what the outcome did."""
    learning = result.standing.learning

    def text(_: bool) -> str:
        moved = f"{as_fraction(result.before):.2f} -> {as_fraction(result.after):.2f}"
        still = f": {result.still}" if result.still else ""
        return f"{result.outcome}: {shown(learning.key)} ({moved}{still})"

    return PrintedResult(result=result, text=text)


def stats(result: "ReuseFigures") -> PrintedResult:
    """Print how often knowledge was shown, and what came of it."""

    def text(_: bool) -> str:
        rate = "nothing said yet" if result.hit_rate is None else f"{result.hit_rate:.0%}"
        last = (
            "never"
            if result.days_since_use is None
            else f"{counted(round(result.days_since_use), 'day')} ago"
        )
        return "\n".join(
            (
                *_metrics(result),
                f"learnings that stand: {result.total} ({result.high_confidence} sure, "
                f"{result.promotion_candidates} worth a line in a rule file)",
                f"shown: {times(result.shown)}, {result.learnings_shown} of the learnings",
                f"helped when applied: {rate}; last: {last}; never used: {len(result.never_used)}",
                f"tokens saved, by a rough estimate: {result.tokens_saved} ({FORMULA})",
            )
        )

    return PrintedResult(result=result, text=text)


def _metrics(result: "ReuseFigures") -> Iterator[str]:
    """Yield the figures of document 004's success metrics, if they were asked for."""
    if result.strategies is None:
        return
    figures = (
        ("reuse rate: helped of those that were shown", result.reuse_rate),
        ("duplicate rate: repetitions of all that was said", result.duplicate_rate),
        (
            f"mean effectiveness of {counted(result.strategies, 'technique')} against errors",
            result.effectiveness,
        ),
        ("correlation of confidence and success (Pearson)", result.correlation),
    )
    for name, value in figures:
        yield f"{name}: {'nothing said yet' if value is None else f'{value:.2f}'}"
