"""Question sets for the retrieval benchmarks: documents, questions and judgements as their authors publish them.

A set is a folder in BEIR form: `corpus.jsonl` (`_id`, `title`, `text`), `queries.jsonl` (`_id`, `text`), `qrels/SPLIT.tsv`
(query, document, gain); or one tier of OrgMemBench: `benchmark_v0.0.jsonl` and `corpus/EVENT/ARTEFACT.md`.
Nothing is fetched, and nothing of them is kept here: whoever runs a benchmark names the folders.
"""

import csv
import hashlib
import json
import random
import re
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ROUNDS = 1000
_ORG_MEM = "benchmark_v0.0.jsonl"
_ORG_MEM_HEAD = re.compile(r"\A<!-- artefact_metadata\n.*?-->\n", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One text that can be found."""

    id: str
    title: str
    text: str
    #: The conversation that it is part of; empty where the set has none.
    group: str = ""
    #: Numbers of the documents that it links to.
    links: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question and what answers it, with gains."""

    id: str
    text: str
    group: str
    category: str
    answers: dict[str, float]


def read_documents(folder: Path) -> list[Document]:
    """Return the texts of a set."""
    if (folder / _ORG_MEM).is_file():
        paths = sorted((folder / "corpus").rglob("*.md"))
        texts = (_ORG_MEM_HEAD.sub("", path.read_text(encoding="utf-8")) for path in paths)
        return [Document(id=path.stem, title="", text=text) for path, text in zip(paths, texts, strict=True)]
    rows = _json_lines(folder / "corpus.jsonl")
    return [
        Document(id=row["_id"], title=row.get("title") or "", text=row["text"], group=_group_of(row)) for row in rows
    ]


def read_questions(folder: Path, split: str) -> list[Asked]:
    """Return the questions of a set that have answers."""
    if (folder / _ORG_MEM).is_file():
        return [
            Asked(
                id=row["id"],
                text=row["text"],
                group="",
                category=row["category"],
                answers=dict.fromkeys(row["evidence_artefact_ids"], 1.0),
            )
            for row in _json_lines(folder / _ORG_MEM)
            if row["evidence_artefact_ids"]
        ]
    answers: dict[str, dict[str, float]] = {}
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as file:
        for query, document, gain in list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]:
            if float(gain) > 0:
                answers.setdefault(query, {})[document] = float(gain)
    return [
        Asked(
            id=row["_id"],
            text=row["text"],
            group=_group_of(row),
            category=str((row.get("metadata") or {}).get("category", "")),
            answers=answers[row["_id"]],
        )
        for row in _json_lines(folder / "queries.jsonl")
        if row["_id"] in answers
    ]


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _group_of(row: dict[str, Any]) -> str:
    return str((row.get("metadata") or {}).get("group", ""))


def sample_questions(questions: Sequence[Asked], limit: int) -> list[Asked]:
    """Return `limit` of the questions, always the same ones; all for 0."""
    return sorted(questions, key=question_hash)[: limit or None]


def question_hash(question: Asked) -> bytes:
    """Return a digest that orders questions by chance, but always alike."""
    return hashlib.sha1(question.id.encode()).digest()


def folder_digest(folder: Path) -> str:
    """Return the first 12 digits of the SHA-256 of a set's texts and questions, by which a run can be told."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".jsonl", ".json", ".tsv", ".md")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean by the bootstrap (Efron, 1979); of paired differences as of values."""
    if not values:
        return 0.0, 0.0
    dice = random.Random(7)
    means = sorted(mean(dice.choices(values, k=len(values))) for _ in range(_ROUNDS))
    return means[round(0.025 * _ROUNDS)], means[round(0.975 * _ROUNDS) - 1]
