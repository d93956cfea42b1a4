"""How often a prompt is offered what it needs, and how often something for nothing; and the weights behind it.

    python -m tests.benchmarks.relevance_odds [--fit]

Prompts and learnings are those of `tests/context/weeks`, each project's by itself and those that nothing was fitted
to together, and of `tests/context/needs`; without aliases and with them. Of prompts that need something: the share
that is offered some of it. Of those that need nothing: the share that is offered nothing. Of all that is
offered to both: the share that is needed. `--fit` prints the weights of `roamkb/context/relevance_threshold.py`: a
logistic regression on the prompts that may be fitted to, by Newton's method, with a ridge of 2 on standardized signals.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from roamkb.context.relevance_threshold import AnswerSignals
from roamkb.context.relevance_threshold import asked_text
from roamkb.context.relevance_threshold import signals_of
from roamkb.context.suggestions import answer_of
from roamkb.context.suggestions import suggest_learnings
from roamkb.context.suggestions import suggest_nodes
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search.hits import PassageHit
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import TermWeights
from roamkb.kb.search.query import parse_words
from roamkb.log.learning import Learning
from roamkb.log.state.replay import replay
from roamkb.log.store.index import LogIndex
from tests.context.needs.needs import LANGUAGES
from tests.context.needs.needs import is_held_out
from tests.context.needs.needs import read_needs
from tests.context.weeks.weeks import FITTED
from tests.context.weeks.weeks import HELD_OUT
from tests.context.weeks.weeks import Week
from tests.context.weeks.weeks import WeekPrompt
from tests.context.weeks.weeks import read_week

_ANSWERS = 8
#: Learnings of small bases.
_SMALL = (2, 10)
_SHOWN = 3
_RIDGE = 2.0
_NEWTON_STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What is known, by learnings and notes, and what is typed there."""

    name: str
    learnings: Sequence[Learning]
    prompts: Sequence[WeekPrompt]
    #: (id, title, body).
    notes: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of the prompts of a base."""

    needing: int
    met: int
    needless: int
    silent: int
    offered: int
    right: int

    def __str__(self) -> str:
        """Say the shares."""
        met, silent = self.met / self.needing, self.silent / self.needless
        return f"met {met:.2f}  right {self.right / max(1, self.offered):.2f}  silent {silent:.3f}"


def weeks(projects: Sequence[str], *, with_aliases: bool) -> Iterator[Base]:
    """Yield the base of each project."""
    mark = " with aliases" if with_aliases else ""
    for project in projects:
        week = read_week(project, with_aliases=with_aliases)
        yield Base(name=project + mark, learnings=week.learnings, prompts=week.prompts)


def joined_week(projects: Sequence[str], *, with_aliases: bool) -> Base:
    """Return one base of what several projects know."""
    all_weeks: list[Week] = [read_week(project, with_aliases=with_aliases) for project in projects]
    return Base(
        name=f"{len(projects)} projects in one" + (" with aliases" if with_aliases else ""),
        learnings=[learning for week in all_weeks for learning in week.learnings],
        prompts=[prompt for week in all_weeks for prompt in week.prompts],
    )


def small_bases(projects: Sequence[str], size: int, *, with_aliases: bool) -> Iterator[Base]:
    """Yield bases of `size` learnings of each project: what is typed there needs one of them, of another, or none."""
    for project in projects:
        week = read_week(project, with_aliases=with_aliases)
        for start in range(0, len(week.learnings), size):
            learnings = week.learnings[start : start + size]
            ids = {one.id for one in learnings}
            needing = [prompt for prompt in week.prompts if not prompt.needs.isdisjoint(ids)]
            others = [prompt for prompt in week.prompts if prompt.needs.isdisjoint(ids)]
            needless = [replace(prompt, needs=frozenset()) for prompt in others[start :: max(1, 70 // size)]]
            mark = " with aliases" if with_aliases else ""
            yield Base(name=f"{size} of {project}{mark}", learnings=learnings, prompts=[*needing, *needless])


def needs_bases(*, held_out: bool) -> Iterator[Base]:
    """Yield the base of each language of `tests/context/needs`, with one half of the prompts."""
    for language in LANGUAGES:
        needs = read_needs(language)
        prompts = [
            WeekPrompt(text=prompt, language=language, kind="", needs=frozenset({fact.id}))
            for fact in needs.facts
            if fact.is_held_out is held_out
            for prompt in fact.prompts
        ]
        prompts += [
            WeekPrompt(text=prompt, language=language, kind="", needs=frozenset())
            for prompt in needs.noise
            if is_held_out(prompt) is held_out
        ]
        learnings = [
            Learning(id=fact.id, key=fact.id, type="learned", content=fact.text)
            for fact in needs.facts
            if not fact.is_note
        ]
        parts = ((fact.id, *fact.text.partition(" | ")) for fact in needs.facts if fact.is_note)
        yield Base(
            name=f"needs, {language}",
            learnings=learnings,
            prompts=prompts,
            notes=[(id, title, body) for id, title, _, body in parts],
        )


class Searched:
    """The indexes of a base."""

    def __init__(self, base: Base, folder: Path) -> None:
        """Make them in `folder`."""
        self.base = base
        self.state = replay(base.learnings, [])
        self.log = LogIndex(folder / "log", {one.id: one for one in base.learnings})
        kb = folder / "kb"
        (kb / ".stfolder").mkdir(parents=True)
        for id, title, body in base.notes:
            (kb / f"{id}.org").write_text(f":PROPERTIES:\n:ID:       {id}\n:END:\n#+title: {title}\n\n{body}\n")
        self.notes = Notes(kb)
        self.index = Index(self.notes, folder / "cache")

    def answers(self, text: str) -> Iterator[tuple[Sequence[PassageHit], TermWeights]]:
        """Yield the answers that are weighed, of each kind."""
        query = parse_words(asked_text(text).text)
        if not query.terms:
            return
        if self.base.learnings:
            yield self.log.find_weighed(query, limit=_ANSWERS)
        if self.base.notes:
            passages = self.index.find_passages(query, limit=_ANSWERS)
            yield passages.answers, passages.weights

    def offered(self, text: str) -> list[str]:
        """Return the ids of what a prompt is offered."""
        learnings = suggest_learnings(self.log, self.state, text, limit=_SHOWN).items
        nodes = suggest_nodes(self.index, self.notes, text, limit=_SHOWN).items if self.base.notes else ()
        return [*(one.id for one in learnings), *(str(hit.id) for hit in nodes)]


def figures(searched: Searched, prompts: Iterable[WeekPrompt]) -> Figures:
    """Count what becomes of the prompts."""
    outcomes = [(prompt, searched.offered(prompt.text)) for prompt in prompts]
    needing = [(prompt, items) for prompt, items in outcomes if prompt.needs]
    needless = [items for prompt, items in outcomes if not prompt.needs]
    return Figures(
        needing=len(needing),
        met=sum(not prompt.needs.isdisjoint(items) for prompt, items in needing),
        needless=len(needless),
        silent=sum(not items for items in needless),
        offered=sum(len(items) for _, items in outcomes),
        right=sum(len(prompt.needs.intersection(items)) for prompt, items in needing),
    )


def print_figures() -> None:
    """Print a line for each base."""
    for title, projects in (("fitted to", FITTED), ("held out", HELD_OUT)):
        print(title)
        bases = [
            *weeks(projects, with_aliases=False),
            *weeks(projects, with_aliases=True),
            joined_week(projects, with_aliases=False),
            joined_week(projects, with_aliases=True),
            *needs_bases(held_out=projects is HELD_OUT),
        ]
        for base in bases:
            with tempfile.TemporaryDirectory() as folder:
                searched = Searched(base, Path(folder))
                print(f"  {base.name:32} {figures(searched, base.prompts)}")
                for language in sorted({prompt.language for prompt in base.prompts}):
                    prompts = [prompt for prompt in base.prompts if prompt.language == language]
                    if len(prompts) < len(base.prompts) and "in one" not in base.name:
                        print(f"    {language}{'':28} {figures(searched, prompts)}", flush=True)


# The fit


def fitted_rows() -> Iterator[tuple[AnswerSignals, bool]]:
    """Yield the signals of each answer to each prompt that may be fitted to, and whether it is needed."""
    bases = [
        *(base for aliases in (False, True) for base in weeks(FITTED, with_aliases=aliases)),
        *(joined_week(FITTED, with_aliases=aliases) for aliases in (False, True)),
        *(base for size in _SMALL for base in small_bases(FITTED, size, with_aliases=size == _SMALL[0])),
        *needs_bases(held_out=False),
    ]
    for base in bases:
        with tempfile.TemporaryDirectory() as folder:
            searched = Searched(base, Path(folder))
            for prompt in base.prompts:
                for passages, weights in searched.answers(prompt.text):
                    all_signals = signals_of(
                        asked_text(prompt.text), weights, [answer_of(passage) for passage in passages]
                    )
                    for passage, signals in zip(passages, all_signals, strict=True):
                        yield signals, (passage.id or passage.file) in prompt.needs
        print(f"{base.name}", file=sys.stderr, flush=True)


def fit(rows: Sequence[tuple[AnswerSignals, bool]]) -> tuple[float, Sequence[float]]:
    """Return what no signal tells and what a unit of each tells, in bits."""
    columns = list(zip(*(signals for signals, _ in rows), strict=True))
    means = [sum(column) / len(rows) for column in columns]
    spreads = [
        math.sqrt(sum((value - mean) ** 2 for value in column) / len(rows)) or 1.0
        for column, mean in zip(columns, means, strict=True)
    ]
    standardized = [
        [1.0, *((value - mean) / spread for value, mean, spread in zip(signals, means, spreads, strict=True))]
        for signals, _ in rows
    ]
    weights = [0.0] * len(standardized[0])
    size = range(len(weights))
    for _ in range(_NEWTON_STEPS):
        gradient = [-_RIDGE * weight if place else 0.0 for place, weight in enumerate(weights)]
        hessian = [[_RIDGE if row == column and row else 0.0 for column in size] for row in size]
        for values, (_, needed) in zip(standardized, rows, strict=True):
            odds = sum(map(float.__mul__, weights, values))
            share = 1 / (1 + math.exp(-odds))
            for row in size:
                gradient[row] += (needed - share) * values[row]
                for column in size:
                    hessian[row][column] += share * (1 - share) * values[row] * values[column]
        weights = [weight + step for weight, step in zip(weights, _solved(hessian, gradient), strict=True)]
    units = [weight / spread / math.log(2) for weight, spread in zip(weights[1:], spreads, strict=True)]
    return weights[0] / math.log(2) - sum(map(float.__mul__, units, means)), units


def _solved(matrix: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Return the solution of a system of linear equations, by Gauss and Jordan."""
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for place in range(len(rows)):
        pivot = max(range(place, len(rows)), key=lambda row: abs(rows[row][place]))
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for other in range(len(rows)):
            if other != place:
                factor = rows[other][place]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[place], strict=True)]
    return [row[-1] for row in rows]


def main() -> None:
    """Print the figures, or the weights."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--fit", action="store_true", help="print the weights of the signals")
    if not options.parse_args().fit:
        print_figures()
        return
    start, units = fit(list(fitted_rows()))
    print(f"no signal: {start:.2f}")
    for name, unit in zip(AnswerSignals._fields, units, strict=True):
        print(f"{name}: {unit:.3f}")


if __name__ == "__main__":
    main()
