"""What passed the gate and what was promoted, as text and as JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from roamkb.core.text import clipped
from roamkb.core.text import counted
from roamkb.core.text import headline
from roamkb.core.text import shown
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.confidence import DURABLE
from roamkb.log.state.confidence import as_fraction
from roamkb.pipeline.extract.attention import DURABLE_CATEGORIES
from roamkb.pipeline.gate.checks import NO_SCORE_UNDER
from roamkb.pipeline.gate.checks import VERIFIED_FROM
from roamkb.pipeline.gate.checks import failed

if TYPE_CHECKING:
    from roamkb.instructions.propose import ProposeResult
    from roamkb.log.state.learning_state import LearningState
    from roamkb.pipeline.promote import PromoteResult
    from roamkb.pipeline.verify import JudgedLearning
    from roamkb.pipeline.verify import VerifyResult

#: A title's worth of a learning.
_TITLE = 120
#: Candidates that a wrap-up names; more is a list that nobody reads.
_ASKED = 5
#: What each veto of a judge means.
_VETOED = {
    "refuted": "the judge found what says otherwise",
    "passing": "the judge says that it was true for a moment only",
    "instruction": "the judge says that it tells its reader what to do",
    "secret": "the judge says that it holds a secret, or leads to one",
}
_QUESTION = "Anything worth promoting to the KB?"


def verify(result: "VerifyResult") -> PrintedResult:
    """Say which verdict each learning has, and what stands against it."""

    def text(_: bool) -> str:
        lines = [line for one in result.judged for line in _judged(one)]
        if any(map(_is_unscored, result.judged)):
            lines.append(
                "what nobody scored stays unverified: --judge heuristic, --judge MODEL, or --accuracy …"
            )
        if result.skipped:
            lines.append(f"{result.skipped} {'has' if result.skipped == 1 else 'have'} a verdict already")
        return "\n".join(lines) or "nothing wants judging"

    return PrintedResult(
        result=result,
        text=text,
        warnings=tuple(dict.fromkeys(one.trouble for one in result.judged if one.trouble)),
    )


def _is_unscored(one: "JudgedLearning") -> bool:
    """Say whether nothing but a score is missing."""
    return not one.scores and not one.trouble and not any(failed(one.checks))


def _judged(one: "JudgedLearning") -> list[str]:
    told = " (nobody scored it)" if _is_unscored(one) else ""
    if one.scores:
        below = "" if one.scores.reaches(VERIFIED_FROM) else f", verified from {VERIFIED_FROM:.2f}"
        below += "".join(f", {name} under {NO_SCORE_UNDER:.2f}" for name in one.scores.too_low)
        told = f" (mean {one.scores.mean:.2f}{below})"
    lines = [f"{one.verdict}: {shown(one.standing.learning.key)}{told}"]
    lines += (f"  {veto}: {_VETOED[veto]}" for veto in one.vetoes)
    return lines + [f"  {check.name}: {shown(check.why)}" for check in failed(one.checks)]


def promote(result: "PromoteResult | ProposeResult") -> PrintedResult:
    """Say what became nodes, what stayed and why; or what could be promoted."""
    from roamkb.pipeline.promote import PromoteResult

    if not isinstance(result, PromoteResult):
        from roamkb.interfaces.output.instructions import proposed

        return proposed(result)
    if not result.nodes and not result.left:
        return _candidates(result)

    def text(_terminal: bool) -> str:
        verb = "would be" if result.dry_run else "is"
        lines: list[str] = []
        for _, written in result.nodes:
            lines.append(
                f"{shown(str(written.path))}: {headline(written.title)} ({written.id}), {verb} a node"
            )
            lines += (f"  related: {headline(title)} ({shown(id)})" for id, title in written.related)
        for one in result.left:
            known = "".join(f"; see {headline(node.title)} ({shown(node.id)})" for node in one.known)
            lines.append(f"left: {shown(one.standing.learning.key)}: {shown(one.reason)}{known}")
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=text,
        status=0 if result.nodes else 1,
        warnings=(
            *dict.fromkeys(one for _, new in result.nodes for one in new.warnings),
            *_hindered(result),
        ),
    )


def _hindered(result: "PromoteResult") -> Iterator[str]:
    """Yield why nothing can be promoted, and what is meant by durable."""
    from roamkb.pipeline.promote import PromotionHindrance

    if not (result.candidates or result.nodes or result.left):
        number = counted(sum(result.hindered.values()), "learning")
        counts = ", ".join(f"{count} {reason}" for reason, count in result.hindered.items())
        yield "nothing to promote: " + (f"of {number} {counts}" if counts else "no learning yet")
    if PromotionHindrance.UNVERIFIED in result.hindered:
        yield "`roamkb verify KEY` or `roamkb verify --batch` puts them through the gate"
    if count := result.hindered.get(PromotionHindrance.PASSING):
        are = "isn't" if count == 1 else "aren't"
        yield (
            f"{counted(count, 'verified learning')} left: {are} durable, which is a confidence of "
            f"{as_fraction(DURABLE):.2f} or more and a category of {', '.join(sorted(DURABLE_CATEGORIES))}; "
            "`roamkb promote KEY` says what one lacks"
        )


def _candidates(result: "PromoteResult") -> PrintedResult:
    receipt = f"KB: promoted 0 / consulted {'yes' if result.consulted else 'no'}"

    def text(_: bool) -> str:
        if not result.asks:
            return "\n".join(map(_candidate, result.candidates))
        lines = [_QUESTION, *map(_candidate, result.candidates[:_ASKED])] if result.candidates else []
        more = len(result.candidates) - _ASKED
        if more > 0:
            lines.append(f"  ({more} more: roamkb promote)")
        return "\n".join([*lines, receipt])

    question = {"question": _QUESTION if result.candidates else None, "receipt": receipt}
    return PrintedResult(
        result={
            "candidates": result.candidates,
            "hindered": result.hindered,
            **(question if result.asks else {}),
        },
        text=text,
        status=0 if result.candidates or result.asks else 1,
        warnings=() if result.asks else tuple(_hindered(result)),
    )


def _candidate(standing: "LearningState") -> str:
    title = clipped(shown(standing.learning.statement), _TITLE)
    return f"- {title} [{as_fraction(standing.confidence):.2f}] {shown(standing.learning.key)}"
