"""Results of the gate and of promotion, as text and as JSON."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title
from roamkb.instructions import propose
from roamkb.interfaces.output import instructions
from roamkb.interfaces.output.render import PrintedResult
from roamkb.log.state.confidence import DURABLE
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.learning_state import LearningState
from roamkb.pipeline import promote as pipeline_promote
from roamkb.pipeline import verify as pipeline_verify
from roamkb.pipeline.extract.attention import DURABLE_CATEGORIES
from roamkb.pipeline.gate.checks import NO_SCORE_UNDER
from roamkb.pipeline.gate.checks import VERIFIED_FROM
from roamkb.pipeline.gate.checks import failed_checks

#: A title's worth of a learning.
_TITLE_WIDTH = 120
#: What each veto of a judge means.
_VETO_MEANINGS = {
    "refuted": "the judge found what says otherwise",
    "passing": "the judge says that it was true for a moment only",
    "instruction": "the judge says that it tells its reader what to do",
    "secret": "the judge says that it holds a secret, or leads to one",
}
_WRAP_UP_QUESTION = "Anything worth promoting to the KB?"


def verify(result: "pipeline_verify.VerifyResult") -> PrintedResult:
    """Render each learning's verdict, and the objections against the learning."""

    def render_text(_: bool) -> str:
        lines = [line for judged in result.judged for line in _judged_lines(judged)]
        if any(map(_is_unscored, result.judged)):
            lines.append(_UNSCORED_HINT)
        if result.skipped:
            lines.append(f"{result.skipped} {'has' if result.skipped == 1 else 'have'} a verdict already")
        return "\n".join(lines) or "nothing wants judging"

    return PrintedResult(
        result=result,
        text=render_text,
        warnings=tuple(dict.fromkeys(judged.trouble for judged in result.judged if judged.trouble)),
    )


_UNSCORED_HINT = (
    "no evidence: no transcript of its session bears it out, and no other session or use agrees; score it yourself by "
    "--accuracy, --relevance and --specificity, from 0 to 1, or have a model score it by --judge MODEL; `roamkb write` "
    "makes a note of what you know yourself, without any of it"
)


def _is_unscored(judged: "pipeline_verify.JudgedLearning") -> bool:
    """Return whether nothing but a score is missing."""
    return not judged.scores and not judged.trouble and not any(failed_checks(judged.checks))


def _judged_lines(judged: "pipeline_verify.JudgedLearning") -> list[str]:
    score_note = " (no evidence)" if _is_unscored(judged) else ""
    if judged.scores:
        below = "" if judged.scores.mean_reaches(VERIFIED_FROM) else f", verified from {VERIFIED_FROM:.2f}"
        below += "".join(f", {name} under {NO_SCORE_UNDER:.2f}" for name in judged.scores.too_low)
        score_note = f" (mean {judged.scores.mean:.2f}{below})"
    lines = [f"{judged.verdict}: {one_line(judged.standing.learning.key)}{score_note}"]
    lines += (f"  {veto}: {_VETO_MEANINGS[veto]}" for veto in judged.vetoes)
    return lines + [f"  {check.name}: {one_line(check.why)}" for check in failed_checks(judged.checks)]


def promote(
    result: "pipeline_promote.PromoteResult | propose.ProposeResult",
) -> "Annotated[PrintedResult, pipeline_promote.PromoteResult, propose.ProposeResult, CandidatesAnswer, WrapUpAnswer]":
    """Render the new nodes, the learnings left with reasons, or the candidates."""
    if not isinstance(result, pipeline_promote.PromoteResult):
        return instructions.printed_proposals(result)
    if not result.nodes and not result.left:
        return _printed_candidates(result)

    def render_text(_terminal: bool) -> str:
        verb = "would be" if result.dry_run else "is"
        lines: list[str] = []
        for _, written in result.nodes:
            lines.append(f"{one_line(str(written.path))}: {shorten_title(written.title)} ({written.id}), {verb} a node")
            lines += (f"  related: {shorten_title(title)} ({one_line(id)})" for id, title in written.related)
        for not_promoted in result.left:
            known_nodes = "".join(
                f"; see {shorten_title(node.title)} ({one_line(node.id)})" for node in not_promoted.known
            )
            lines.append(
                f"left: {one_line(not_promoted.standing.learning.key)}: {one_line(not_promoted.reason)}{known_nodes}"
            )
        return "\n".join(lines)

    return PrintedResult(
        result=result,
        text=render_text,
        status=0 if result.nodes else 1,
        warnings=(
            *dict.fromkeys(warning for _, new in result.nodes for warning in new.warnings),
            *_hindrance_lines(result),
        ),
    )


def _hindrance_lines(result: "pipeline_promote.PromoteResult") -> Iterator[str]:
    """Yield the reasons why nothing can be promoted, and the meaning of durable."""
    if not (result.candidates or result.nodes or result.left):
        number = count_phrase(sum(result.hindered.values()), "learning")
        counts = ", ".join(f"{count} {reason}" for reason, count in result.hindered.items())
        yield "nothing to promote: " + (f"of {number} {counts}" if counts else "no learning yet")
    if pipeline_promote.PromotionHindrance.UNVERIFIED in result.hindered:
        yield "`roamkb verify KEY` or `roamkb verify --batch` puts them through the gate"
    if count := result.hindered.get(pipeline_promote.PromotionHindrance.PASSING):
        are = "isn't" if count == 1 else "aren't"
        yield (
            f"{count_phrase(count, 'verified learning')} {are} durable: that takes a confidence of "
            f"{as_fraction(DURABLE):.2f} or more and a category of {', '.join(sorted(DURABLE_CATEGORIES))}; "
            "`roamkb promote KEY` says what one lacks"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatesAnswer:
    """Answer of `promote` without a key."""

    candidates: "Sequence[LearningState]"
    hindered: "Mapping[pipeline_promote.PromotionHindrance, int]"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrapUpAnswer:
    """Answer of `promote --ask`."""

    JSON = "*answer question receipt"
    answer: CandidatesAnswer
    question: str | None
    receipt: str


def _printed_candidates(result: "pipeline_promote.PromoteResult") -> PrintedResult:
    receipt = f"KB: promoted 0 / consulted {'yes' if result.consulted else 'no'}"

    def render_text(_: bool) -> str:
        if not result.asks:
            return "\n".join(map(_candidate_line, result.candidates))
        lines = (
            [_WRAP_UP_QUESTION, *map(_candidate_line, result.candidates[: pipeline_promote.ASKED_CANDIDATES])]
            if result.candidates
            else []
        )
        more = len(result.candidates) - pipeline_promote.ASKED_CANDIDATES
        if more > 0:
            lines.append(f"  ({more} more: roamkb promote)")
        return "\n".join([*lines, receipt])

    candidates = CandidatesAnswer(candidates=result.candidates, hindered=result.hindered)
    question = _WRAP_UP_QUESTION if result.candidates else None
    return PrintedResult(
        result=WrapUpAnswer(answer=candidates, question=question, receipt=receipt) if result.asks else candidates,
        text=render_text,
        status=0 if result.candidates or result.asks else 1,
        warnings=() if result.asks else tuple(_hindrance_lines(result)),
    )


def _candidate_line(learning_state: "LearningState") -> str:
    title = clip_text(one_line(learning_state.learning.statement), _TITLE_WIDTH)
    return f"- {title} [{as_fraction(learning_state.confidence):.2f}] {one_line(learning_state.learning.key)}"
