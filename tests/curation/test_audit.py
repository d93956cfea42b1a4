"""What the working set makes of a log, and that recall keeps all of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from roamkb.interfaces.output import curation as curation_reports
from tests.conftest import World
from tests.pipeline.gate.test_noise import GOOD
from tests.pipeline.gate.test_noise import NOISE


def put(world: World, *lines: dict[str, object] | str) -> Path:
    """Make a log of the personal project with `lines`."""
    world.run("init")
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines)
    path = world.personal / ".roamkb" / "knowledge.jsonl"
    path.write_text(text)
    return path


def line(key: str, content: str, *, ts: int = 1) -> dict[str, object]:
    """One line of another tool's."""
    return {"key": key, "type": "learned", "content": content, "tags": ["learned"], "ts": ts, "bead": ""}


def kept(world: World) -> list[dict[str, Any]]:
    """What the audit keeps on the disk."""
    path = world.personal / ".roamkb" / "local" / "knowledge.audit.jsonl"
    return [json.loads(one) for one in path.read_text().splitlines()]


def test_every_action_has_the_documents_name(world: World) -> None:
    """With the key and the reason; the counts come last, and the file says the same as the output."""
    (world.personal / "src").mkdir()
    (world.personal / "src" / "a.ts").write_text("export function known() {}\n")
    path = put(
        world,
        line("one", "OAuth redirect URIs must match exactly", ts=1),
        line("two", "OAuth redirect URIs must match, exactly!", ts=2),
        line("same", "Something was found out about caching", ts=3),
        line("same", "Something else was found out", ts=4),
        "{not json",
        line("command", "git add -A && git commit -m wip", ts=5),
        line("stale", "Invoices are rendered in src/gone.ts", ts=6),
        line("partly", "See src/a.ts and src/gone.ts", ts=7),
        line("there", "See src/a.ts", ts=8),
        line("symbol", "`known()` is called twice", ts=9),
        line("unknown", "`unheardOf()` is called twice", ts=10),
        line("about", "We deleted src/old.ts", ts=11),
    )
    before = path.read_bytes()
    ran = world.run("audit")
    told = [json.loads(one) for one in ran.out.splitlines()]
    assert (0, kept(world)) == (ran.status, told)
    by = {(one["action"], one.get("key")): one for one in told}
    assert "knowledge.jsonl" == by["skip_invalid_json", None]["source"]
    assert 5 == by["skip_invalid_json", None]["line"]
    assert "two" == by["dedupe_content", "one"]["kept_key"]
    assert "both kept, the latest first" == by["dedupe_key", "same"]["effect"]
    assert "command" in by["filter_noise", "command"]["reason"]
    stale = by["drop_stale_candidate", "stale"]
    assert ("stale_candidate", "low", ["missing_file_anchor"]) == (
        stale["status"],
        stale["confidence"],
        stale["reasons"],
    )
    assert ["src/gone.ts"] == stale["anchors"]["missing_files"]
    reviews = {key: one["reasons"] for (action, key), one in by.items() if action == "flag_needs_review"}
    assert {
        "partly": ["partial_missing_file_anchor"],
        "unknown": ["missing_symbol_anchor"],
        "about": ["missing_file_anchor"],
    } == reviews
    assert {
        "action": "summary",
        "invalid_json": 1,
        "newer_version": 0,
        "forgotten": 0,
        "filtered_noise": 1,
        "duplicate_key": 1,
        "duplicate_content": 1,
        "stale_candidate": 1,
        "needs_review": 3,
        "active": 10,
        "total": 11,
    } == told[-1]
    assert before == path.read_bytes()


def test_a_second_audit_replaces_the_first(world: World) -> None:
    """What was settled meanwhile is gone from it, and the file is one person's."""
    path = put(world, line("command", "git push"))
    world.run("audit")
    path.write_text(json.dumps(line("good", "Git push rewrites nothing")) + "\n")
    world.run("audit")
    assert ["summary"] == [one["action"] for one in kept(world)]
    audit = world.personal / ".roamkb" / "local" / "knowledge.audit.jsonl"
    assert 0o600 == audit.stat().st_mode & 0o777


def test_the_audit_overwrites_nothing_through_a_link(world: World) -> None:
    """A repository could choose the file."""
    put(world, line("a", "Good"))
    victim = world.home / "victim"
    victim.write_text("mine")
    (world.personal / ".roamkb" / "local" / "knowledge.audit.jsonl").symlink_to(victim)
    assert 0 == world.run("audit").status
    assert "mine" == victim.read_text()
    assert not (world.personal / ".roamkb" / "local" / "knowledge.audit.jsonl").is_symlink()


@pytest.mark.parametrize("contents", [GOOD, tuple(content for content, _ in NOISE)], ids=["good", "noise"])
def test_recall_keeps_all_as_it_was_said(world: World, contents: tuple[str, ...]) -> None:
    """Noise is marked, nothing is dropped; case and Unicode stay."""
    distinct = list(dict.fromkeys(contents))
    put(world, *(line(f"k{n}", content, ts=n) for n, content in enumerate(distinct, start=1)))
    log = world.open().log
    found = [one.standing.learning.content for one in log.recall(limit=1000).learnings]  # type: ignore[union-attr]
    collapsed = {"git rebase fails if branch is checked out in another worktree"} & set(distinct)
    lost = set(distinct) - set(found)
    assert all(content.casefold() in {one.casefold() for one in found} for content in lost), lost - collapsed
    marked = [one for one in log.recall(limit=1000).learnings if "noise" in one.doubts]  # type: ignore[union-attr]
    assert (0 if contents is GOOD else len(found)) == len(marked)


def test_doubts_lower_a_rank_and_are_shown(world: World) -> None:
    """A noisy and a stale one come after the one that is neither, though they are newer.

    One that says the same but for what a shell left behind it is the same, and the clean one stands for both.
    """
    put(
        world,
        line("good", "Invoices are signed with the key of the tenant", ts=1),
        line("again", 'Invoices are signed with the key of the tenant." && bd close bd-1', ts=2),
        line("noisy", 'Invoices are signed with the key of a tenant group." && bd close bd-1', ts=2),
        line("stale", "Invoices are signed with the key of src/tenant.ts", ts=3),
    )
    learnings = world.run("recall", "invoices", "signed", "key", "--json").json["learnings"]
    assert isinstance(learnings, list)
    assert "good" == learnings[0]["key"]
    flags = {one["key"]: list(one["flags"]) for one in learnings}
    assert {"good": [], "noisy": ["noise"], "stale": ["missing_file_anchor"]} == flags
    assert "(missing_file_anchor)" in world.run("recall", "tenant").out


def test_paths_are_looked_up_with_their_case(world: World) -> None:
    """One product lower-cases them first and drops what is there."""
    (world.personal / "src").mkdir()
    (world.personal / "src" / "Foo.ts").write_text("export const camelCase = 1")
    put(
        world,
        line("path", "src/Foo.ts holds the flags", ts=1),
        line("symbol", "`camelCase` is a flag", ts=2),
        line("wrong", "What is in src/foo.ts is old", ts=3),
    )
    world.run("audit")
    assert {"wrong", None} == {one.get("key") for one in kept(world)}


def test_a_line_said_twice_is_one_learning(world: World) -> None:
    """As union merges make them."""
    put(world, line("a", "Said once"), line("a", "Said once"))
    world.run("audit")
    first, summary = kept(world)
    assert ("dedupe_key", "collapsed", 1) == (first["action"], first["effect"], summary["active"])


def test_the_same_words_that_claim_otherwise_are_no_repetition(world: World) -> None:
    """Signs are no words, and yet say the contrary."""
    put(
        world,
        line("one", "Retry while status == 1", ts=1),
        line("two", "Retry while status != 1", ts=2),
        line("three", "retry while status == 1.", ts=3),
    )
    found = world.open().log.audit()
    assert ["one"] == [one.fields["key"] for one in found.actions if one.name == "dedupe_content"]


def test_a_terminal_gets_sentences(world: World) -> None:
    """And a pipe the lines as they are kept."""
    put(world, line("stale", "Invoices are rendered in src/gone.ts"), "{not json")
    printed = curation_reports.audit(world.open().log.audit())
    on_terminal, into_pipe = printed.text(True).splitlines(), printed.text(False).splitlines()
    assert on_terminal[0].startswith("unreadable: knowledge.jsonl:2: ")
    assert on_terminal[1].startswith("stale: stale: ")
    assert "lines 1, answered from 1, unreadable 1" in on_terminal[2]
    assert kept(world) == list(map(json.loads, into_pipe))
