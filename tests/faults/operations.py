"""Each operation of the table as a whole call, made to be killed and failed by the sweep of `operation_sweep`.

Run as a program it is served as `program.py` is; imported it says how each operation is called, and in which world.
"""

import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.append import read_bytes
from roamkb.interfaces.output.render import render_result
from roamkb.log.store.project_log import Log
from tests.conftest import World
from tests.conftest import make_world
from tests.faults import program
from tests.instructions.test_propose import CENTS
from tests.instructions.test_propose import DATES
from tests.instructions.test_propose import RULES
from tests.instructions.test_propose import YEARS
from tests.instructions.test_propose import ready
from tests.instructions.test_propose import rules

HUMAN_NOTE = "0a1b2c3d-0000-4000-8000-000000000001"
#: A learning that only the snapshot has.
LOST = "The staging proxy drops websocket frames over 64 kB"
RULE_FILES = ("CLAUDE.md", "docs/AGENTS.md", "docs/STYLE.md")
CONFLICT_COPY = "one.sync-conflict-20260601-101010-ABCDEFG.org"
_SETTINGS = (".claude/settings.json", ".gemini/settings.json", ".claude/rules/knowledge-base.md")
ERROR = "ModuleNotFoundError: No module named 'yaml'"

_MASKS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\[\d{4}-\d\d-\d\d [^]]*\]|\b20\d{12}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCase:
    """One call of an operation."""

    name: str
    call: Callable[[KnowledgeBase], object]
    #: Whether the call made twice gives what it gives once.
    is_settled: bool = True
    #: Whether it takes lines out of the log, by a human's word.
    takes_out: bool = False
    #: What an error must name where some of it is done and some isn't; empty where any advice will do.
    goes_on: str = ""


def shown(name: str, result: object) -> dict[str, Any]:
    """Return a result as its JSON."""
    return render_result(name, result).as_json


def open_with_human(world: World) -> KnowledgeBase:
    """Return the library in the personal project, with a human who says yes to all."""
    return KnowledgeBase(world.open().environment, human=program.Yes())


def world_in(folder: Path) -> World:
    """Return the world of a run."""
    home = folder / "home"
    code = home / "code" / "site"
    return World(home=home, kb=home / "roam", personal=code, work=home / "work" / "acme", unknown=home / "elsewhere")


def lay_out(folder: Path) -> None:
    """Make a world in which each operation has something to do."""
    world = make_world(folder / "home")
    world.node("one.org", HUMAN_NOTE, "Invoices are numbered", "From one, each January.", tags=":billing:")
    world.node("two.org", HUMAN_NOTE.replace("1b2c", "1b2d"), "Backups run at night", f"See [[id:{HUMAN_NOTE}][them]].")
    (world.personal.parent / "new").mkdir()
    world.note(CONFLICT_COPY, (world.kb / "one.org").read_text().replace("1b2c", "1b2e") + "More.\n")
    ready(world, CENTS, YEARS, DATES, LOST, confidence=85)
    kb = open_with_human(world)
    for title in ("Zebras graze at dawn", "Compilers fold constants", "Tea needs hot water"):
        kb.write(title)
    kb.trash("Tea needs hot water")
    for name in (*RULE_FILES, "docs/OLD.md"):
        rules(world, RULES, name=name)
    kb.log.promote(["k0"], to="docs/OLD.md", section="Database")
    (waiting,) = shown("review", kb.log.review())["proposals"]
    kb.log.approve(waiting["id"], digest=waiting["digest"])
    for number, name in enumerate(RULE_FILES):
        kb.log.promote([f"k{number}"], to=name, section="Database")
    kb.log.learn("Use Postgres for the queue of jobs", type="decision", session="s-1")
    kb.log.observe("The index is rebuilt at night by cron", type="fact", session="s-3")
    kb.log.task("start", "T-1", title="Number the invoices", files=("bill/a.py",))
    kb.install(gemini=True, yes=True)
    kb.log.recall(("amounts",), session="s-5")
    kb.log.snapshot()
    log = world.log()
    log.knowledge.write_bytes(b"".join(line for line in log.knowledge.open("rb") if LOST.encode() not in line))
    for path in world.kb.glob("2*.org"):
        path.unlink()
    kb.write("Old facts are replaced")
    (world.personal / "other.jsonl").write_text(
        "".join(
            json.dumps({"key": f"o{number}", "type": "fact", "content": text, "ts": number}) + "\n"
            for number, text in enumerate(("Okapis are shy animals of the forest", "Gnus migrate in the spring"))
        )
    )


def _approve_all(kb: KnowledgeBase) -> object:
    queue = shown("review", kb.log.review())
    return kb.log.approve(all=True, digest=queue["digest"] or "0" * 12)


def _proposal(kb: KnowledgeBase, state: str) -> str:
    queue = shown("review", kb.log.review(all=True))
    listed = [*queue["proposals"], *queue["settled"]]
    found: str = next(each["id"] for each in listed if each["target"] == ("docs/OLD.md" if state else "CLAUDE.md"))
    return found


def _init(kb: KnowledgeBase) -> object:
    around = replace(kb.environment, cwd=kb.environment.home / "code" / "new")
    return KnowledgeBase(around, human=program.Yes()).log.init()


def _restore(kb: KnowledgeBase) -> object:
    restored = kb.restore(last=True)
    if restored.left:
        # it is an answer, with a status of its own
        raise RoamkbError("; ".join(reason for _, reason in restored.left), hint="`roamkb restore` lists what stays")
    return restored


def _bundle(kb: KnowledgeBase) -> object:
    path = kb.environment.home / "code" / "site" / "bundle.jsonl"
    return kb.log.bundle("show" if path.exists() else "create", str(path), all=not path.exists())


def _undo(kb: KnowledgeBase) -> object:
    history = shown("explain", kb.log.explain("k0"))["history"]
    return kb.log.undo(next(step["id"] for step in history if step["event"] == "repeated"))


def _case(
    name: str, call: Callable[[Any], object], *, is_settled: bool = True, takes_out: bool = False, goes_on: str = ""
) -> OperationCase:
    return OperationCase(name=name, call=call, is_settled=is_settled, takes_out=takes_out, goes_on=goes_on)


CASES = (
    _case("search", lambda kb: kb.search(("invoices",))),
    _case("show", lambda kb: kb.show(HUMAN_NOTE)),
    _case("links", lambda kb: kb.links(HUMAN_NOTE)),
    _case("tags", lambda kb: kb.tags()),
    _case("nodes", lambda kb: kb.nodes()),
    _case("write", lambda kb: kb.write("Mirrors are read only", body="At three.", links=(HUMAN_NOTE,))),
    _case(
        "supersede", lambda kb: kb.supersede("Old facts are replaced", "New facts replace what was said before them")
    ),
    _case("trash", lambda kb: kb.trash(all_agent=True, yes=True), goes_on="call it again"),
    _case("restore", _restore),
    _case("daily", lambda kb: kb.daily()),
    _case("inventory", lambda kb: kb.inventory()),
    _case("init", _init),
    _case("learn", lambda kb: kb.log.learn("Celery tasks need acks_late", session="s-9"), is_settled=False),
    _case(
        "observe", lambda kb: kb.log.observe("Deploys wait for mondays", type="fact", session="s-4"), is_settled=False
    ),
    _case("consolidate", lambda kb: kb.log.consolidate("session", "s-3")),
    _case("verify", lambda kb: kb.log.verify(batch=True)),
    _case("promote", lambda kb: kb.log.promote(all=True), goes_on="call it again"),
    _case("recall", lambda kb: kb.log.recall(("invoice",))),
    _case("ingest", lambda kb: kb.log.ingest(file=str(kb.environment.cwd / "other.jsonl"))),
    _case("template", lambda kb: kb.log.template("create", "bills", task_types=("feature",), learnings=("k0",))),
    _case("bundle", _bundle),
    _case("snapshot", lambda kb: kb.log.snapshot("restore", yes=True), goes_on="call it again"),
    _case("forget", lambda kb: kb.log.forget("k1"), takes_out=True),
    _case("audit", lambda kb: kb.log.audit()),
    _case("refine", lambda kb: kb.log.refine()),
    _case("curate", lambda kb: kb.log.curate(dry_run=True)),
    _case("review", lambda kb: kb.log.review()),
    _case("approve", _approve_all, goes_on="`roamkb review`"),
    _case("reject", lambda kb: kb.log.reject(_proposal(kb, ""), reason="Said in the README")),
    _case(
        "rollback",
        lambda kb: kb.log.rollback(_proposal(kb, "applied"), reason="Read wrongly"),
        goes_on="`roamkb rollback",
    ),
    _case("explain", lambda kb: kb.log.explain("k0")),
    _case("pin", lambda kb: kb.log.pin("k0")),
    _case("prefer", lambda kb: kb.log.prefer("k0", agent="me")),
    _case("undo", _undo, is_settled=False),
    _case("override", lambda kb: kb.log.override("k0", "0.9")),
    _case("export", lambda kb: list(kb.log.export().learnings)),
    _case("task", lambda kb: kb.log.task("done", "T-1"), is_settled=False),
    _case("relevant", lambda kb: kb.log.relevant(title="number the invoices")),
    _case("used", lambda kb: kb.log.used("k0", outcome="success", session="s-5"), is_settled=False),
    _case(
        "remedy",
        lambda kb: kb.log.remedy("record", error=ERROR, technique="pip install pyyaml", outcome="success"),
        is_settled=False,
    ),
    _case("stats", lambda kb: kb.log.stats()),
    _case("shown", lambda kb: kb.log.shown()),
    _case("brief", lambda kb: kb.log.brief()),
    _case("inject", lambda kb: kb.log.inject("off")),
    _case("classify", lambda kb: kb.classify()),
    _case("hygiene", lambda kb: kb.hygiene()),
    _case("conflicts", lambda kb: kb.conflicts(CONFLICT_COPY, adopt=True)),
    _case("journal", lambda kb: kb.journal()),
    _case("doctor", lambda kb: kb.doctor()),
    _case("index", lambda kb: kb.index(rebuild=True)),
    _case("install", lambda kb: kb.install(claude=True, yes=True)),
    _case("uninstall", lambda kb: kb.uninstall(gemini=True)),
)


def _careless_approve(kb: KnowledgeBase) -> object:
    """Put the lines where they belong as most programs would: in place, and without a word of what is done."""
    for number, name in enumerate(RULE_FILES):
        path = world_in(kb.environment.home.parent).personal / name
        with path.open("ab", buffering=0) as file:
            file.write(b"- careless line ")
            file.write(b"%d\n" % number)
    return None


#: What the sweep must not let pass.
CARELESS = OperationCase(name="careless", call=_careless_approve)

#: Operations without a sweep of their own, each with the reason.
NOT_SWEPT = {
    "setup": "asks, and is killed midway and taken back in tests/install/test_setup",
    "share": "asks, and changes one file, which is replaced as a whole; the exchange is killed in tests/log/share",
    "trust": "asks, and changes one list, which is replaced as a whole",
    "extract": "what it does with a model's answer is swept in test_log; the rest is the model's",
    "mcp": "a door to the operations above",
    "serve": "a door to the operations above",
    "schema": "prints a constant",
    "help": "prints a constant",
    "completion": "prints a constant",
}


def view(world: World) -> dict[str, object]:
    """Return what a human and an agent see of a world, whatever ids and times its notes have."""
    kb = open_with_human(world)
    contents = world.log().read_contents()
    state = contents.replay_state()
    queue = shown("review", kb.log.review(all=True))
    return {
        "notes": sorted(_MASKS.sub("", path.read_text()) for path in world.kb.glob("*.org")),
        # a copy of what is back, which couldn't be deleted, is no loss
        "trash": _trashed(kb),
        "new log": Log(world.personal.parent / "new", world.state).is_adopted,
        "settings": {name: read_bytes(world.home / name) for name in _SETTINGS},
        "rules": {path.name: path.read_bytes() for path in sorted(world.personal.rglob("*.md"))},
        "proposals": sorted((each["target"], each["state"]) for each in [*queue["proposals"], *queue["settled"]]),
        "learnings": {
            each.learning.content: (
                each.occurrences,
                each.confidence,
                each.status,
                each.verdict,
                sorted(each.flags),
                bool(each.node),
            )
            for each in state.standings.values()
        },
    }


def _trashed(kb: KnowledgeBase) -> list[str]:
    try:
        return sorted(node.title for node in kb.restore().nodes if not node.path.exists())
    except RoamkbError as error:
        # without a rule there is no base
        return [type(error).__name__]


def lines(world: World) -> set[bytes]:
    """Return the lines of the log's learnings, archived ones too."""
    log = world.log()
    return {
        line
        for path in (log.knowledge, log.archive)
        if path.exists()
        for line in path.read_bytes().splitlines()
        if line
    }


def _task(case: OperationCase) -> Callable[[Path], str]:
    def run(folder: Path) -> str:
        case.call(open_with_human(world_in(folder)))
        return case.name

    return run


def _warm_up() -> None:
    """Call each once: what is imported only then would meet the faults as well."""
    with tempfile.TemporaryDirectory() as top:
        lay_out(Path(top))
        for case in CASES:
            # what an earlier one did may leave nothing to do
            with contextlib.suppress(RoamkbError):
                case.call(open_with_human(world_in(Path(top))))


if __name__ == "__main__":
    program.serve({case.name: _task(case) for case in (*CASES, CARELESS)}, _warm_up)
