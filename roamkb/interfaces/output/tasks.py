"""Results on tasks, relevant knowledge and its reuse, as text and as JSON."""

from collections.abc import Iterator

from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.core.text import times_phrase
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.confidence import as_fraction
from roamkb.tasks import relevance_score
from roamkb.tasks import relevant as tasks_relevant
from roamkb.tasks import signature
from roamkb.tasks import task as task_verb
from roamkb.tasks import used as tasks_used
from roamkb.tasks.stats import TOKENS_SAVED_FORMULA
from roamkb.tasks.stats import ReuseFigures

_TITLE_WIDTH = 160


def task(result: "task_verb.TaskReport") -> PrintedResult:
    """Render a task's outcome, and similar tasks."""

    def render_text(_: bool) -> str:
        lines = [f"{_task_line(entry)} ({entry.outcome})" for entry in result.tasks]
        if result.task and result.action != "similar":
            lines.append(f"{result.task.outcome}: {_task_line(result.task)}")
        lines += [
            f"like {_task_line(similar_task)} ({similar_task.outcome}, {similarity:.2f})"
            for similar_task, similarity in result.similar
        ]
        if result.consolidated and result.consolidated.raised:
            lines.append(f"{result.consolidated.raised} of its learnings last")
        if result.rough and result.task:
            count = f"{result.rough} of its learnings are" if result.rough > 1 else "one of its learnings is"
            lines.append(f"{count} terse or badly tagged: roamkb refine {one_line(result.task.id)}")
        for entry in result.unanswered:
            lines.append(f"did it help? roamkb used {one_line(entry.learning.key)} --outcome success|failure|…")
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.action in ("start", "done", "failed") or result.similar or result.tasks else 1,
    )


def _task_line(task: "signature.TaskRecord") -> str:
    return " ".join(filter(None, (one_line(task.id), shorten_title(task.title))))


def relevant(result: "tasks_relevant.RelevantFound") -> PrintedResult:
    """Render the helpful learnings, best first, with the reasons."""

    def render_text(_: bool) -> str:
        lines = [line for found_learning in result.learnings for line in _relevant_lines(found_learning)]
        lines += [f"[NODE] {shorten_title(hit.title)}\n  {one_line(str(hit.path))}:{hit.line}" for hit in result.nodes]
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.learnings or result.nodes else 1,
        warnings=() if result.is_known else (
            f"no task {one_line(result.task.id)} was started here; `roamkb task start ID --title T` starts it",
        )
    )  # fmt: skip


def _relevant_lines(found_learning: "relevance_score.RelevantLearning") -> list[str]:
    learning = found_learning.standing.learning
    return [
        f"[{one_line(learning.type).upper()}] {clip_text(one_line(learning.statement), _TITLE_WIDTH)}",
        f"  {found_learning.relevance:.2f} | {', '.join(map(one_line, found_learning.why))} | "
        f"{as_fraction(found_learning.standing.confidence):.2f} | {one_line(learning.key)}",
    ]


def used(result: "tasks_used.UsedLearning") -> PrintedResult:
    """Render the effect of the outcome."""
    learning = result.standing.learning

    def render_text(_: bool) -> str:
        moved = f"{as_fraction(result.before):.2f} -> {as_fraction(result.after):.2f}"
        still = f": {result.still}" if result.still else ""
        return f"{result.outcome}: {one_line(learning.key)} ({moved}{still})"

    return PrintedResult(result=result, text=render_text)


def stats(result: "ReuseFigures") -> PrintedResult:
    """Render how often knowledge was shown, and with what result."""

    def render_text(_: bool) -> str:
        rate = "nothing said yet" if result.hit_rate is None else f"{result.hit_rate:.0%}"
        last_use = (
            "never" if result.days_since_use is None else f"{count_phrase(round(result.days_since_use), 'day')} ago"
        )
        return "\n".join(
            (
                *_metric_lines(result),
                f"learnings that stand: {result.total} ({result.high_confidence} sure, "
                f"{result.promotion_candidates} worth a line in a rule file)",
                f"shown: {times_phrase(result.shown)}, {result.learnings_shown} of the learnings",
                f"helped when applied: {rate}; last: {last_use}; never used: {len(result.never_used)}",
                f"tokens saved, by a rough estimate: {result.tokens_saved} ({TOKENS_SAVED_FORMULA})",
            )
        )

    return PrintedResult(result=result, text=render_text)


def _metric_lines(result: "ReuseFigures") -> Iterator[str]:
    """Yield the figures of document 004's success metrics, if requested."""
    if result.strategies is None:
        return
    figures = (
        ("reuse rate: helped of those that were shown", result.reuse_rate),
        ("duplicate rate: repetitions of all that was said", result.duplicate_rate),
        (
            f"mean effectiveness of {count_phrase(result.strategies, 'technique')} against errors",
            result.effectiveness,
        ),
        ("correlation of confidence and success (Pearson)", result.correlation),
    )
    for name, value in figures:
        yield f"{name}: {'nothing said yet' if value is None else f'{value:.2f}'}"
