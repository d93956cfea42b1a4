"""Run a made-up week through the whole pipeline, into a real knowledge base, and say how good it was.

    python -m tests.week.run 1 2 3

What reaches the knowledge base is matched to the labels by the phrase that every wording of a fact
holds, or where a node's words are at least 0.85 alike to one of its wordings. A node that matches no
label, or one that another node has matched, counts as wrong.
"""

import argparse
import json
import re
import tempfile
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path

from roamkb.app.environment import ProcessEnvironment
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log.project_log import ProjectLog
from roamkb.boundary.rule_file import render_rule
from roamkb.core.ids import new_id
from roamkb.pipeline.promote import PromoteResult
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_similarity
from tests.conftest import typed
from tests.week import material
from tests.week import stranger
from tests.week.generator import Fact
from tests.week.generator import Material
from tests.week.generator import Week
from tests.week.generator import make_week
from tests.week.generator import transcript_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a week."""

    payloads: int
    observations: int
    #: Observations that say something, before consolidation.
    statements: int
    created: int
    repeated: int
    agent: int
    durable: int
    verified: int
    nodes: list[str]
    right: list[str]
    wrong: list[str]
    missed: dict[str, str]
    wanted: int
    leaks: list[str]
    injected: list[str]
    relearned: list[str]

    @property
    def precision(self) -> float:
        """Of what reached the knowledge base, how much should have."""
        return len(self.right) / len(self.nodes) if self.nodes else 0.0

    @property
    def recall(self) -> float:
        """Of what should have reached it, how much did."""
        return len(self.right) / self.wanted


class Clock:
    """The time that the sessions live in."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 1, 8, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time, a little later with each call."""
        self.now += timedelta(milliseconds=20)
        return self.now


def _world(folder: Path, week: Week) -> tuple[KnowledgeBase, Path, Clock]:
    home = folder / "home"
    project, kb = home / "code" / "site", home / "roam"
    for path in (project, kb / ".stfolder", home / ".claude" / "rules"):
        path.mkdir(parents=True)
    template = (ROOT / "rules" / "knowledge-base.md").read_text()
    rule = home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(
        render_rule(template, kb=str(kb), work_roots=[str(home / "work")], project_parents=[str(home / "code")])
    )
    memory = home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory"
    memory.mkdir(parents=True)
    for name, text in week.boot.items():
        path = memory / name if name == "MEMORY.md" else project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    clock = Clock()
    around = ProcessEnvironment(
        home=home,
        account_home=home,
        variables={"HOME": str(home)},
        cwd=project,
        pid=1,
        now=clock,
        new_id=new_id,
        state=folder / "state",
        cache=folder / "cache",
    )
    base = KnowledgeBase(around)
    base.log.init()
    return base, project, clock


def run(week: Week, folder: Path) -> Outcome:
    """Take a week through every stage, as harness and human would."""
    base, project, clock = _world(folder, week)
    log = base.log
    observed = created = repeated = 0
    for session in week.sessions:
        clock.now = session.start
        for step in session.steps:
            if isinstance(step, str):
                log.recall(step, session=session.name, agent=session.agent, limit=3)
            else:
                text = json.dumps(step)
                observed += log.observe(text, from_payload=True, agent=session.agent, task=session.task).recorded
        observed += log.observe(
            transcript_of(session),
            from_transcript=True,
            agent=session.agent,
            session=session.name,
            task=session.task,
        ).recorded
        for done in log.consolidate("session", session.name):
            created, repeated = created + done.created, repeated + done.repeated
    statements = _statements(project)
    kept = 0
    for agent in sorted({session.agent for session in week.sessions}):
        done = log.consolidate("agent", agent)[0]
        kept += done.processed - done.superseded
    tasks = sorted({session.task for session in week.sessions})
    durable = sum(log.consolidate("task", task)[0].raised for task in tasks)
    judged = log.verify(batch=True, judge="heuristic").judged
    for task in tasks:
        log.consolidate("task", task)
    promoted = typed(PromoteResult, log.promote(all=True))
    nodes = [f"{written.title}\n{standing.learning.content}" for standing, written in promoted.nodes]
    right, wrong = matched(nodes, week.wanted)
    return Outcome(
        payloads=sum(session.payloads for session in week.sessions),
        observations=observed,
        statements=statements,
        created=created,
        repeated=repeated,
        agent=kept,
        durable=durable,
        verified=sum(one.verdict == "verified" for one in judged),
        nodes=nodes,
        right=right,
        wrong=wrong,
        missed=_missed(log, week, right),
        wanted=len(week.wanted),
        leaks=_leaks(folder, week),
        injected=[node for node in nodes if any(words in node.casefold() for words in week.injected)],
        relearned=[node for node in nodes if any(_alike(node, text) for text in week.shown)],
    )


def _statements(project: Path) -> int:
    lines = [
        json.loads(line)
        for path in (project / ".roamkb" / "local").glob("observations/*.jsonl")
        for line in path.read_text().splitlines()
    ]
    return sum(line["type"] not in ("tool_use", "error") for line in lines)


def _alike(node: str, text: str) -> bool:
    content = node.partition("\n")[2]
    return text_similarity(prepare_text(content), prepare_text(text)) >= 0.85


def matched(nodes: list[str], wanted: list[Fact]) -> tuple[list[str], list[str]]:
    """Return the labels that some node says, and the nodes that say none, or one once more."""
    right: list[str] = []
    wrong = []
    for node in nodes:
        label = next(
            (
                fact.label
                for fact in wanted
                if re.search(fact.phrase, node, re.IGNORECASE) or any(_alike(node, said) for said in fact.said)
            ),
            "",
        )
        if label and label not in right:
            right.append(label)
        else:
            wrong.append(node.partition("\n")[2])
    return right, wrong


def _missed(log: ProjectLog, week: Week, right: list[str]) -> dict[str, str]:
    """Return what of the wanted facts isn't there, and how the log has them."""
    standings = log.log_to_read().read_contents().replay_state().standings.values()
    return {
        fact.label: " || ".join(
            f"{one.learning.type} {one.learning.category} {one.confidence} x{one.occurrences} {one.status}"
            f" {one.verdict} {[why for step in one.history for why in step.event.text_list_field('failed')]}:"
            f" {one.learning.content}"
            for one in standings
            if re.search(fact.phrase, one.learning.content, re.IGNORECASE) and one.learning.type != "summary"
        )
        for fact in week.wanted
        if fact.label not in right
    }


def _leaks(folder: Path, week: Week) -> list[str]:
    """Return the files that hold one of the credentials, whatever they are."""
    return [
        f"{path.relative_to(folder)}: {secret[:4]}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for secret in week.secrets
        if secret.encode() in path.read_bytes()
    ]


def main() -> None:
    """Print a line a seed, and below it what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", type=int, default=[1, 2, 3])
    parser.add_argument("--verbose", action="store_true", help="say what was missed and what was wrong")
    parser.add_argument("--stranger", action="store_true", help="another project, in other words")
    args = parser.parse_args()
    said: Material = stranger if args.stranger else material
    print("seed payloads observed statements created repeated agent durable verified nodes  precision recall")
    for seed in args.seeds:
        with tempfile.TemporaryDirectory() as folder:
            found = run(make_week(seed, material=said), Path(folder))
        print(
            f"{seed:4} {found.payloads:8} {found.observations:8} {found.statements:10} {found.created:7}"
            f" {found.repeated:8} {found.agent:5} {found.durable:7} {found.verified:8} {len(found.nodes):5}"
            f"  {found.precision:9.3f} {found.recall:6.3f}  leaks {len(found.leaks)}, injected"
            f" {len(found.injected)}, relearned {len(found.relearned)},"
            f" {found.payloads / max(len(found.nodes), 1):.0f}:1"
        )
        if args.verbose:
            for kind in ("wrong", "leaks", "injected", "relearned"):
                for text in getattr(found, kind):
                    print(f"  {kind}: {text}")
            for label, text in found.missed.items():
                print(f"  missed {label}: {text}")


if __name__ == "__main__":
    main()
