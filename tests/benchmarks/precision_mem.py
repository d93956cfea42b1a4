"""PrecisionMemBench: whether the right belief comes out, and nothing beside it, also within a session.

The benchmark (Flynt, "Structured Belief State and the First Precision-Aware Benchmark for LLM Memory
Retrieval", 2026, MIT) has 35 beliefs, 77 single questions and 12 turns of two sessions. A belief becomes a note:
its name the title, its aliases the aliases, its scope, `pinned` and type the tags, what replaced it the property that
`supersede` leaves. A question's scope is a filter by tags. As its own harness does for every system that it
measures, pinned facts and open questions of the scope, which are told without a search, are taken out of the
hits, and a budget leaves room for the pinned first. A turn changes the notes after it was asked.

Its published reports hold what each system returned for each case; they are marked here by the same code.
"""

import json
import re
import sqlite3
import tempfile
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from roamkb.context.word_evidence import rate_evidence
from roamkb.core.startup.dataclasses import replace
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.search import search as kb_search
from roamkb.kb.search.index.index import Index
from roamkb.kb.search.query import parse_query
from roamkb.kb.search.semantic.cache import SentenceModel
from tests.benchmarks.question_sets import bootstrap_interval
from tests.benchmarks.question_sets import mean

_DEPTH = 10
_TODAY = date(2026, 6, 10)
_USER = "test-user"
_CASES = "fixtures/retrieval.cases.json"

Belief = dict[str, Any]
#: Beliefs, words and scopes to ids, best first.
Find = Callable[[Sequence[Belief], str, Sequence[str]], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMarks:
    """How one case was answered, as the benchmark's harness has it."""

    #: None where nothing was expected and nothing came.
    precision: float | None
    #: None where nothing was expected.
    recall: float | None
    is_first_right: bool | None
    is_passed: bool


def is_precision_mem(folder: Path) -> bool:
    """Say whether the benchmark's cases are in `folder`."""
    return (folder / _CASES).is_file()


def print_precision(folder: Path, model: SentenceModel | None) -> None:
    """Print the rows of the benchmark in `folder`; with `model`, of the search that has it, too."""
    beliefs: list[Belief] = _read_json(folder / "fixtures/beliefs.seed.json")
    cases: list[Belief] = _read_json(folder / _CASES)
    sessions: list[Belief] = _read_json(folder / "fixtures/session-retrieval.cases.json")
    print("\n| PrecisionMemBench | n | precision [95 %] | recall [95 %] | first hit right | passed |")
    print("|---|---|---|---|---|---|")
    for name, find in _engines(model).items():
        _print_marks(f"cases, {name}", [ask_case(find, beliefs, case) for case in cases])
    for name, found in _published(folder, "retrieval-report-", "relevantBeliefs"):
        _print_marks(f"cases, {name} (published)", [mark_case(found[case["caseId"], 0], case) for case in cases])
    for name, find in _engines(model).items():
        _print_marks(f"turns, {name}", list(ask_sessions(find, beliefs, sessions)))
    for name, found in _published(folder, "session-retrieval-report-", "retrievedBeliefIds"):
        turns = [(case["caseId"], turn) for case in sessions for turn in case["turns"]]
        marks = [mark_case(found[case, turn["turnIndex"]], turn) for case, turn in turns]
        _print_marks(f"turns, {name} (published)", marks)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _engines(model: SentenceModel | None) -> dict[str, Find]:
    engines: dict[str, Find] = {
        "FTS5 AND, 10": partial(find_by_fts5, joint=" "),
        "FTS5 OR, 10": partial(find_by_fts5, joint=" OR "),
        "roamkb, as shown": partial(find_notes, limit=None),
        "roamkb, 10": partial(find_notes, limit=_DEPTH),
    }
    return engines | ({"with model, as shown": partial(find_notes, limit=None, model=model)} if model else {})


def _published(folder: Path, prefix: str, key: str) -> Iterator[tuple[str, dict[tuple[str, int], list[str]]]]:
    for path in sorted((folder / "test-results/baseline").glob(f"{prefix}*.json")):
        found = {(case["caseId"], case.get("turnIndex", 0)): case[key] for case in _read_json(path)["cases"]}
        yield path.stem.removeprefix(prefix), found


def _print_marks(label: str, marks: Sequence[CaseMarks]) -> None:
    first = [one.is_first_right for one in marks if one.is_first_right is not None]
    columns = [
        [value for one in marks if (value := getattr(one, name)) is not None] for name in ("precision", "recall")
    ]
    figures = " | ".join("{:.2f} [{:.2f}, {:.2f}]".format(mean(one), *bootstrap_interval(one)) for one in columns)
    print(
        f"| {label} | {len(marks)} | {figures} | {mean(first):.2f} | {sum(one.is_passed for one in marks)} |",
        flush=True,
    )


# The cases


def ask_case(find: Find, beliefs: Sequence[Belief], case: Belief) -> CaseMarks:
    """Ask one question, or one turn of a session, and mark what comes."""
    user, scopes = case.get("userId", _USER), case["scope"]
    own = [belief for belief in beliefs if belief["user_id"] == user]
    told = {belief["_id"] for belief in own if _is_told(belief, scopes)}
    text = case["query"] if "query" in case else case["userMessage"]
    found = [key for key in find(own, text, scopes) if key not in told] if text.strip() and own else []
    if "budget" in case:
        pinned = sum(belief["_id"] in told and belief["type"] != "open_question" for belief in own)
        found = found[: max(0, case["budget"]["maxBeliefs"] - pinned)]
    return mark_case(found, case)


def ask_sessions(find: Find, beliefs: Sequence[Belief], sessions: Sequence[Belief]) -> Iterator[CaseMarks]:
    """Ask each turn, with the notes as the turns before left them."""
    now = {belief["_id"]: belief for belief in beliefs}
    for session in sessions:
        for turn in session["turns"]:
            yield ask_case(find, list(now.values()), turn)
            if created := turn.get("createBeliefAtTurn"):
                now[created["_id"]] = created
            if updated := turn.get("updateBeliefAtTurn"):
                old = now[updated["beliefId"]]
                now[old["_id"]] = old | {"aliases": [*old["aliases"], *updated["addAliases"]]}


def _is_told(belief: Belief, scopes: Sequence[str]) -> bool:
    """Say whether a belief is told without a search: pinned, in scope, and neither replaced nor resolved."""
    return bool(
        belief["pinned"]
        and set(belief["scope"]) & set(scopes)
        and not belief["superseded_by"]
        and not belief["resolved_at"]
    )


def mark_case(found: Sequence[str], case: Belief) -> CaseMarks:
    """Return the marks of what was found, best first, for one case or turn."""
    expected = case["expect"].get("relevantBeliefs", {})
    only = expected.get("shouldOnlyInclude")
    unwanted = {*expected.get("mustExclude", ()), *case["expect"].get("noiseCheck", {}).get("mustNotSurface", ())}
    wanted = set(only or ())
    precision = len(wanted & set(found)) / len(found) if found else (0.0 if wanted else None)
    return CaseMarks(
        precision=precision,
        recall=len(wanted & set(found)) / len(wanted) if wanted else None,
        is_first_right=(found[:1] != [] and found[0] in wanted) if wanted else None,
        is_passed=not unwanted & set(found) and (only is None or set(found) == wanted),
    )


# The engines


def find_notes(
    beliefs: Sequence[Belief],
    text: str,
    scopes: Sequence[str],
    *,
    limit: int | None,
    model: SentenceModel | None = None,
) -> list[str]:
    """Return what `search` finds; without a limit, what it shows by default."""
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder)
        (kb / ".stfolder").mkdir()
        for belief in beliefs:
            (kb / f"{belief['_id']}.org").write_text(as_org(belief), encoding="utf-8")
        notes = Notes(kb)
        others = {_tag(scope) for belief in beliefs for scope in belief["scope"]} - set(map(_tag, scopes))
        query = replace(parse_query(text, today=_TODAY), without_tags=tuple(sorted(others)))
        result = kb_search.search(
            Index(notes, None, model=model),
            notes,
            query,
            kb_search.SearchRequest(text, limit=limit),
            rate_evidence=rate_evidence,
        )
    return [hit.id for hit in result.hits if hit.id]


def as_org(belief: Belief) -> str:
    """Return a belief as the note that somebody would have written."""
    aliases = " ".join(f'"{alias}"' for alias in belief["aliases"])
    lines = [":PROPERTIES:", f":ID:       {belief['_id']}"]
    lines += [f":ROAM_ALIASES: {aliases}"] if aliases else []
    lines += [f":SUPERSEDED_BY: {belief['superseded_by']}"] if belief["superseded_by"] else []
    tags = ":".join([*map(_tag, belief["scope"]), belief["type"], *["pinned"] * belief["pinned"]])
    return "\n".join([*lines, ":END:", f"#+title: {_title(belief)}", f"#+filetags: :{tags}:", "", _body(belief), ""])


def _tag(scope: str) -> str:
    return scope.replace(":", "_")


def _title(belief: Belief) -> str:
    return str(belief["canonical_name"]).replace("_", " ")


def _body(belief: Belief) -> str:
    return f"{belief['content']}\n{belief.get('why_it_matters') or ''}"


def find_by_fts5(beliefs: Sequence[Belief], text: str, scopes: Sequence[str], *, joint: str) -> list[str]:
    """Return what FTS5 finds in the beliefs of the scopes, each word quoted, joined by `joint`."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE note USING fts5(title, alias, body, tokenize='porter unicode61')")
    in_scope = [belief for belief in beliefs if set(belief["scope"]) & set(scopes)]
    rows = ((n, _title(one), " ".join(one["aliases"]), _body(one)) for n, one in enumerate(in_scope))
    db.executemany("INSERT INTO note(rowid, title, alias, body) VALUES(?, ?, ?, ?)", rows)
    words = joint.join(f'"{word}"' for word in re.findall(r"\w+", text))
    query = "SELECT rowid FROM note WHERE note MATCH ? ORDER BY bm25(note) LIMIT ?"
    return [in_scope[n]["_id"] for (n,) in db.execute(query, (words, _DEPTH))] if words else []
