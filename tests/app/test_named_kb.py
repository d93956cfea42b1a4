"""Verbs on one of several knowledge bases: each reaches the one that it names and no other."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from roamkb.app.hooks.session import HookSession
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.boundary.policy import require_permit
from roamkb.context import brief_text
from roamkb.core.errors import Ambiguous
from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.kb.notes.store.notes import Notes
from roamkb.log.learn import LearnResult
from roamkb.pipeline.promote import PromoteResult
from roamkb.sharing.snapshot import RecoverResult
from roamkb.sharing.snapshot import SnapshotList
from roamkb.sharing.snapshot import SnapshotsTaken
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import typed
from tests.pipeline.test_promote import SAID

SYNC_COPY = "20260101000000-copied.sync-conflict-20260102-030405-ABCDEFG.org"
OWN = "0199aaaa-0000-7000-8000-00000000000"


@dataclass(frozen=True, slots=True)
class TwoKbs:
    """A world with the default knowledge base and one called club."""

    world: World
    club: Path

    def open(self, place: str) -> KnowledgeBase:
        """Open the library as a session in that folder of HOME."""
        return self.world.open(self.world.home / place)

    def bytes(self) -> dict[str, dict[str, bytes]]:
        """Every file of both."""
        return {
            name: {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*.org*"))}
            for name, top in (("default", self.world.kb), ("club", self.club))
        }


def agent_note(folder: Path, number: int, title: str) -> None:
    """Put a note of an agent's into `folder`."""
    id = f"{OWN}{number}"
    (folder / f"2026010100000{number}-note_{number}.org").write_text(
        f":PROPERTIES:\n:ID:       {id}\n:AGENT:    claude\n:PROJECT:  ~/code/site\n:SOURCE:   observed\n"
        f":CREATED:  [2026-01-01 Thu 00:00]\n:END:\n#+title: {title}\n#+filetags: :agent:\n\nText of {title}.\n"
    )


@pytest.fixture
def two(world: World) -> TwoKbs:
    """Both with one note of an agent's and one conflict copy, and projects for each."""
    club = world.home / "sync" / "club"
    (club / ".stfolder").mkdir(parents=True)
    for folder in ("code/both", "hall/stage", "work/acme/deep"):
        (world.home / folder).mkdir(parents=True)
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(
        f"{rule.read_text()}\n```roamkb:kb/club\n~/sync/club/\n```\n\n"
        "```roamkb:project-parents/club\n~/hall\n~/code/both\n```\n"
    )
    for number, (kb, title) in enumerate(((world.kb, "Lanterns burn oil"), (club, "The club meets on Mondays")), 1):
        agent_note(kb, number, title)
        agent_note(kb, number + 2, f"{title} in its copy")
        (kb / f"2026010100000{number + 2}-note_{number + 2}.org").rename(kb / SYNC_COPY)
    return TwoKbs(world, club)


def trashed_first(kb: KnowledgeBase, two: TwoKbs, kb_name: str | None) -> object:
    """Restore what was trashed where that is allowed."""
    name = kb_name or "default"
    number = 1 if name == "default" else 2
    allowed = two.open("code/site" if name == "default" else "hall/stage")
    if not list(allowed.of_kb(name).restore().nodes):
        allowed.trash(f"{OWN}{number}", kb=name)
    return kb.restore(f"{OWN}{number}", kb=kb_name)


def own_id(kb_name: str | None) -> str:
    return f"{OWN}{2 if kb_name == 'club' else 1}"


VERBS: dict[str, Callable[[KnowledgeBase, TwoKbs, str | None], object]] = {
    "write": lambda kb, _, name: kb.write("Something that is quite new", kb=name),
    "write --daily": lambda kb, _, name: kb.write("Something of today", daily="today", kb=name),
    "supersede": lambda kb, _, name: kb.supersede(own_id(name), "It says otherwise now", kb=name),
    "trash": lambda kb, _, name: kb.trash(own_id(name), kb=name),
    "trash --all-agent": lambda kb, _, name: kb.trash(all_agent=True, yes=True, kb=name),
    "restore": trashed_first,
    "conflicts --adopt": lambda kb, _, name: kb.conflicts(adopt=True, kb=name),
}
ALLOWED = {
    "code/site": {"default"},
    "code/both": {"default", "club"},
    "hall/stage": {"club"},
    "elsewhere": set(),
    "work/acme/deep": set(),
    "sync/club": set(),
    "roam": set(),
}


@pytest.mark.parametrize("kb_name", [None, "club"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("place", ALLOWED)
def test_each_verb_reaches_what_it_names_alone(two: TwoKbs, place: str, verb: str, kb_name: str | None) -> None:
    """From where it is allowed it changes that one and no byte of the other; from elsewhere it is refused."""
    target = kb_name or "default"
    other = "club" if target == "default" else "default"
    if verb == "write --daily":
        for folder in (two.world.kb, two.club):
            (folder / "daily").mkdir()
            text = f":PROPERTIES:\n:ID: day-{folder.name}\n:END:\n#+title: 2026-06-10\n"
            (folder / "daily" / "2026-06-10.org").write_text(text)
    before = two.bytes()
    if target in ALLOWED[place]:
        VERBS[verb](two.open(place), two, kb_name)
        assert verb == "restore" or before[target] != two.bytes()[target]
        assert before[other] == two.bytes()[other]
        return
    if verb == "restore":
        allowed = two.open("code/site" if target == "default" else "hall/stage")
        allowed.trash(own_id(target), kb=target)
        before = two.bytes()
    with pytest.raises(Refused) as refusal:
        VERBS[verb](two.open(place), two, kb_name)
    assert before == two.bytes()
    if target == "club" and refusal.value.project.kind is ProjectKind.UNKNOWN and place != ".":
        assert "under no project parent of club" in refusal.value.message
    is_hinted = target == "default" and "club" in ALLOWED[place]
    assert is_hinted == ("`--kb club` would be permitted" in refusal.value.hint)


def test_an_unknown_name_is_an_error_of_every_verb(two: TwoKbs) -> None:
    """Whatever the project; nothing is written, and nothing falls back."""
    before = two.bytes()
    for place in ("code/both", "work/acme/deep"):
        for verb in VERBS.values():
            for name in ("clubs", "", "all", "../club", str(two.club)):
                with pytest.raises(UsageError):
                    verb(two.open(place), two, name) if verb is not trashed_first else two.open(place).restore(
                        own_id(None), kb=name
                    )
    assert before == two.bytes()


def test_a_store_takes_no_permit_for_another_folder(two: TwoKbs) -> None:
    """Whoever mixes them up gets an error of the program, and no note."""
    project = Project(kind=ProjectKind.PERSONAL, root=two.world.personal, reason="it is")
    permit = require_permit(project, "a fact", kb=two.world.kb)
    before = two.bytes()
    with pytest.raises(ValueError, match="not for"):
        Notes(two.club).create_note(permit, ["20260101000000-x.org"], ":PROPERTIES:\n:ID: x\n:END:\n#+title: x\n")
    with pytest.raises(ValueError, match="not for"):
        Notes(two.club).recreate_note(permit, "20260101000000-x.org", b"x")
    assert before == two.bytes()


def test_a_named_one_tells_no_folder_of_its_writer(two: TwoKbs) -> None:
    """The project is its last name there; in one's own it is the path."""
    kb = two.open("code/both")
    there = kb.write("The hall has two doors", kb="club").path.read_text()
    here = kb.write("My key fits both").path.read_text()
    assert ":PROJECT:  both\n" in there
    assert str(two.world.home) not in there
    assert "~/" not in there
    assert ":PROJECT:  ~/code/both\n" in here


@pytest.mark.parametrize(
    "body",
    [
        "See [[id:{}]].",
        "See [[id:{}][Lanterns]].",
        "See id:{} there.",
        "See <id:{}>.",
        "#+begin_src org\n[[id:{}]]\n#+end_src",
        "# [[id:{}]]",
        "~id:{}~ and =id:{}=, or (id:{}).",
        "Its id is {}.",
        "See [[ID:{}]].",
        "#+begin_comment\n{}\n#+end_comment",
        "See [[id:{}::*Heading]].",
    ],
)
@pytest.mark.parametrize("spelt", [str, str.upper])
def test_an_id_of_other_notes_enters_no_named_one(two: TwoKbs, body: str, spelt: Callable[[str], str]) -> None:
    """Not in any syntax or case, and not by superseding; an own id and an unknown one may be there."""
    kb = two.open("code/both")
    before = two.bytes()
    text = body.replace("{}", spelt(f"{OWN}1"))
    with pytest.raises(UsageError, match="is a node of default"):
        kb.write("Who sees this", body=text, kb="club")
    with pytest.raises(UsageError, match="is a node of default"):
        kb.supersede(f"{OWN}2", "Who sees this", body=text, kb="club")
    with pytest.raises(UsageError, match="is a node of default"):
        kb.write("Who sees this", body=text, kb="club", dry_run=True)
    assert before == two.bytes()
    kb.write("It is seen", body=body.replace("{}", f"{OWN}2"), kb="club")
    kb.write("It is seen as well, and leads nowhere", body=body.replace("{}", f"{OWN}9"), kb="club", anyway=True)


def test_a_related_node_is_looked_up_in_the_same_one(two: TwoKbs) -> None:
    """The title of a note of one's own is no name there."""
    kb = two.open("code/both")
    for name in ("Lanterns burn oil", f"{OWN}1", str(two.world.kb / "20260101000001-note_1.org")):
        with pytest.raises(NotFound):
            kb.write("Who sees this", links=[name], kb="club")
    assert f"{OWN}2" in kb.write("Who sees that", links=["The club meets on Mondays"], kb="club").path.read_text()


def test_what_can_not_be_compared_is_not_linked(two: TwoKbs) -> None:
    """Where one's own notes aren't mounted, an id may be one of them."""
    two.world.kb.rename(two.world.home / "gone")
    kb = two.open("hall/stage")
    with pytest.raises(UsageError, match="can't be seen"):
        kb.write("Who sees this", body=f"[[id:{OWN}1]]", kb="club")
    assert kb.write("Nothing is linked", kb="club").path.is_relative_to(two.club)


def test_no_word_reaches_another_one_unasked(two: TwoKbs) -> None:
    """Searching, showing and listing know the default alone; a name, and all, say which each hit is of."""
    kb = two.open("elsewhere")
    assert [] == [hit.title for hit in kb.search("Mondays").hits]
    assert {("The club meets on Mondays", "club")} == {
        (hit.title, hit.kb) for hit in kb.search("Mondays", kb="club").hits
    }
    found = kb.search("lanterns mondays", kb="all", all=True).hits
    assert {("Lanterns burn oil", "default"), ("The club meets on Mondays", "club")} == {(h.title, h.kb) for h in found}
    assert 1 == len(kb.search("is:agent", kb="all", limit=1).hits)
    with pytest.raises(NotFound):
        kb.show(f"{OWN}2")
    assert "club" == kb.show(f"{OWN}2", kb="club").kb == kb.show(f"{OWN}2", kb="all").kb
    agent_note(two.club, 1, "Lanterns burn oil")
    for name in ("Lanterns burn oil", f"{OWN}1"):
        with pytest.raises(Ambiguous) as ambiguity:
            kb.show(name, kb="all")
        assert "--kb default or --kb club" == ambiguity.value.hint
    titles = {name: [node.title for node in kb.nodes(kb=name).nodes] for name in (None, "club")}
    assert "The club meets on Mondays" in titles["club"]
    assert ["Lanterns burn oil"] == titles[None]
    assert ["Lanterns burn oil"] == [node.title for node in kb.inventory().nodes]


def test_one_that_is_not_there_hides_no_other(two: TwoKbs) -> None:
    """All are asked; what is missing is named as skipped."""
    two.club.rename(two.world.home / "unmounted")
    result = two.open("elsewhere").search("lanterns", kb="all")
    assert ["Lanterns burn oil"] == [hit.title for hit in result.hits]
    assert [two.club] == [file.path for file in result.skipped]


@pytest.mark.parametrize(("variable", "folder"), [("state", "sync/club"), ("cache", "sync/club"), ("cache", "roam")])
def test_what_is_kept_of_one_lies_in_no_other(two: TwoKbs, variable: str, folder: str) -> None:
    """Who shares a folder would be sent the index of the others."""
    kb = two.open("code/both")
    object.__setattr__(kb.environment, variable, two.world.home / folder / "kept")
    for name in (None, "club"):
        with pytest.raises(DiskError, match="may not lie in"):
            kb.search("lanterns", kb=name)
        with pytest.raises(DiskError, match="may not lie in"):
            kb.write("It goes nowhere", kb=name)
    assert not (two.world.home / folder / "kept").exists()


def test_what_a_hook_found_out_about_one_is_forgotten_for_another(two: TwoKbs) -> None:
    """A hook's session reads the rule once and may know its project from before: of the default one."""
    for place, kind in (("code/site", ProjectKind.UNKNOWN), ("hall/stage", ProjectKind.PERSONAL)):
        payload = {"session_id": "s", "cwd": str(two.world.home / place)}
        session_pass = {"projects": {"session_project": ("personal", place)}}
        session = HookSession(payload, two.open(place).environment, session_pass=session_pass)
        kb = session.knowledge_base
        assert (two.world.kb, ProjectKind.PERSONAL) == (kb.rule.kb, kb.current_project.kind)
        named = kb.of_kb("club")
        assert (two.club, kind) == (named.rule.kb, named.current_project.kind)
        assert named.of_kb("default") is kb
        assert two.club == named.search("mondays").hits[0].path.parent


def test_a_refused_fact_is_kept_by_the_log_as_ever(two: TwoKbs) -> None:
    """Its lines say the project's kind by the default rule, whatever the call named."""
    kb = two.open("hall/stage")
    kb.log.init()
    with pytest.raises(Refused) as refusal:
        kb.write("Only for me")
    assert refusal.value.written_to is not None
    lines: list[dict[str, Any]] = [json.loads(line) for line in refusal.value.written_to.read_text().splitlines()]
    assert ["Only for me"] == [line["content"] for line in lines if "content" in line]
    own = kb.of_kb("club").log.session_project()
    assert ProjectKind.UNKNOWN is own.kind


def test_a_snapshot_of_one_keeps_and_restores_that_one_alone(two: TwoKbs) -> None:
    """Beside the log, or of each with `all`; where a project may not write, that is refused or named as skipped."""
    both, stage, work = (two.open(place) for place in ("code/both", "hall/stage", "work/acme/deep"))
    made = both.log.snapshot(kb="club")
    assert isinstance(made, SnapshotsTaken)
    assert [("kb/club", 1)] == [(snapshot.what, snapshot.files) for snapshot in made.made]
    made = both.log.snapshot(kb="all")
    assert isinstance(made, SnapshotsTaken)
    assert (["kb"], [("kb/club", "nothing changed since the latest")]) == (
        [snapshot.what for snapshot in made.made],
        list(made.skipped),
    )
    for kb, seen in ((both, {"kb", "kb/club"}), (stage, {"kb/club"})):
        listed = kb.log.snapshot("list", kb="all")
        assert isinstance(listed, SnapshotList)
        assert seen == {snapshot.what for snapshot in listed.snapshots}
    taken = stage.log.snapshot(kb="all")
    assert isinstance(taken, SnapshotsTaken)
    assert ["kb/club", "kb"] == [what for what, _ in taken.skipped]
    for action in (None, "list", "restore"):
        with pytest.raises(Refused, match="no snapshot was made"):
            work.log.snapshot(action, kb="club")
        with pytest.raises(Refused):
            stage.log.snapshot(action, kb="default")
        with pytest.raises(UsageError, match="names no knowledge base"):
            both.log.snapshot(action, kb="clubs")
    with pytest.raises(UsageError, match="all"):
        both.log.snapshot("restore", kb="all")

    (two.club / "20260101000002-note_2.org").unlink()
    (two.world.kb / "20260101000001-note_1.org").unlink()
    restored = stage.log.snapshot("restore", kb="club", yes=True)
    assert isinstance(restored, RecoverResult)
    assert ([f"{OWN}2"], True) == ([node.id for node in restored.nodes], restored.done)
    assert (two.club / "20260101000002-note_2.org").is_file()
    assert not (two.world.kb / "20260101000001-note_1.org").exists()


def test_a_broken_rule_keeps_no_log_from_its_snapshot(two: TwoKbs) -> None:
    """A hook asks for all once a day; the log is the project's own."""
    kb = two.open("code/both")
    kb.log.init()
    kb.log.learn("Lanterns need oil")
    rule = two.world.home / ".claude" / "rules" / "knowledge-base.md"
    rule.write_text(rule.read_text() + "\n```roamkb:kb/third\n~/third\n```\n")
    made = kb.log.snapshot(daily=True, kb="all")
    assert isinstance(made, SnapshotsTaken)
    assert (["log"], ["kb"]) == ([snapshot.what for snapshot in made.made], [what for what, _ in made.skipped])


def verified_key(two: TwoKbs, place: str, text: str) -> str:
    """Learn that in the place's own log, and have the ledger say that it went through the gate."""
    kb = two.open(place)
    kb.log.init()
    learned = typed(LearnResult, kb.log.learn(text, confidence="0.9", session="s", agent="claude")).learning
    event: dict[str, object] = {
        "id": new_id(NOON),
        "ts": "2026-06-10T12:00:00.000Z",
        "event": "judged",
        "of": learned.id,
        "by": "verify",
        "verdict": "verified",
        "failed": [],
        "scores": {"accuracy": 0.9, "relevance": 0.8, "specificity": 0.7},
        "judge": "a-judge",
        "confidence": 90,
        "v": 1,
    }
    with (two.world.home / place / ".roamkb" / "ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps(event) + "\n")
    return learned.key


def promote(opened: KnowledgeBase, key: str, **options: Any) -> PromoteResult:
    return typed(PromoteResult, opened.log.promote([key], **options))


def test_a_learning_goes_to_the_named_one_that_its_project_may_write_to(two: TwoKbs) -> None:
    """One of a club's project is promoted to the club and to nothing else; what the default one allows is no matter."""
    stage = two.open("hall/stage")
    key = verified_key(two, "hall/stage", SAID[0])
    before = two.bytes()
    with pytest.raises(Refused) as refusal:
        promote(stage, key)
    assert "`--kb club` would be permitted" in refusal.value.hint
    assert [key] == [
        standing.learning.key for standing in typed(PromoteResult, stage.log.promote(kb="club")).candidates
    ]
    assert () == typed(PromoteResult, stage.log.promote()).candidates
    (node,) = promote(stage, key, kb="club").nodes
    assert node[1].path.is_relative_to(two.club)
    assert before["default"] == two.bytes()["default"]
    text = node[1].path.read_text()
    assert ":PROJECT:  stage\n" in text
    assert str(two.world.home) not in text
    assert "promoted before" in promote(stage, key, kb="club").left[0].reason


@pytest.mark.parametrize("place", ["elsewhere", "work/acme/deep", "code/site"])
def test_no_learning_enters_a_named_one_from_where_it_is_closed(two: TwoKbs, place: str) -> None:
    """Refused with status 3, and no byte of either changes; nor where the log says that it was allowed."""
    kb = two.open(place)
    key = verified_key(two, place, SAID[0])
    knowledge = two.world.home / place / ".roamkb" / "knowledge.jsonl"
    knowledge.write_text(knowledge.read_text().replace('"v":', '"kbs":["club"],"v":'))
    before = two.bytes()
    for options in ({}, {"dry_run": True}):
        with pytest.raises(Refused) as refusal:
            promote(two.open(place), key, kb="club", **options)
        assert 3 == refusal.value.exit_code
    with pytest.raises(UsageError, match="names no knowledge base"):
        promote(kb, key, kb="clubs")
    assert before == two.bytes()


@pytest.mark.parametrize(
    "change", [('"kbs":["club"]', '"kbs":["other"]'), ('"kind":"unknown"', '"kind":"work"'), ('"kbs":["club"],', "")]
)
def test_a_learning_of_elsewhere_stays_out_of_a_named_one(two: TwoKbs, change: tuple[str, str]) -> None:
    """It may have been learned at work, or by somebody whom nobody could see; nothing is guessed."""
    key = verified_key(two, "hall/stage", SAID[0])
    knowledge = two.world.home / "hall" / "stage" / ".roamkb" / "knowledge.jsonl"
    assert change[0] in knowledge.read_text()
    knowledge.write_text(knowledge.read_text().replace(*change))
    before = two.bytes()
    assert "it was learned in a" in promote(two.open("hall/stage"), key, kb="club").left[0].reason
    assert before == two.bytes()


def test_no_file_that_is_read_says_what_was_allowed(two: TwoKbs) -> None:
    """The names of another machine mean folders of its own."""
    stage = two.open("hall/stage")
    stage.log.init()
    source = two.world.home / "hall" / "stage" / "other.jsonl"
    line = {"key": "k", "type": "fact", "content": SAID[1], "kind": "unknown", "kbs": ["club"], "id": "x1", "ts": 1}
    source.write_text(json.dumps(line) + "\n")
    stage.log.ingest(file=str(source))
    knowledge = (two.world.home / "hall" / "stage" / ".roamkb" / "knowledge.jsonl").read_text()
    assert SAID[1] in knowledge
    assert '"kbs"' not in knowledge


def test_a_session_is_told_which_one_it_may_write_to(two: TwoKbs) -> None:
    """An agent that is told that it may only read writes nothing."""
    lines = {place: two.open(place).log.brief() for place in ("hall/stage", "code/both", "code/site", "work/acme/deep")}
    told = {
        place: "write to club with --kb" in brief_text.render_brief(brief, nonce="0" * 8)[0]
        for place, brief in lines.items()
    }
    assert {"hall/stage": True, "code/both": True, "code/site": False, "work/acme/deep": False} == told


def test_a_trashed_node_is_named_with_the_command_that_brings_it_back(two: TwoKbs) -> None:
    """In a named one that takes its name: without it the default one's trash would be asked."""
    kb = two.open("hall/stage")
    kb.trash(f"{OWN}2", kb="club")
    with pytest.raises(NotFound) as missing:
        kb.show(f"{OWN}2", kb="club")
    assert f"roamkb restore {OWN}2 --kb club" in missing.value.hint


def test_what_trash_says_to_run_names_the_same_one(two: TwoKbs) -> None:
    """The list of the trash, the way back of many, and the warning of a link to what went."""
    stage = two.world.home / "hall" / "stage"
    run = partial(two.world.run, cwd=stage)
    (two.club / "own.org").write_text(f":PROPERTIES:\n:ID: own\n:END:\n#+title: Own\n\n[[id:{OWN}2][it]]\n")
    assert "`roamkb restore ID --kb club` puts that back" in run("trash", f"{OWN}2", "--kb", "club").err
    assert "`roamkb restore ID --kb club` does one" in run("restore", "--kb", "club").out
    agent_note(two.club, 6, "Chairs are stacked")
    agent_note(two.club, 7, "Tables are folded")
    swept = run("trash", "--all-agent", "--yes", "--kb", "club")
    assert "`roamkb restore --last --kb club` brings them back" in swept.out
