"""What a review proposes, and that nobody but a human at a terminal can have it done."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran
from tests.conftest import World
from tests.human import at_a_terminal

REASON = "Same fact, told twice"


def put(world: World, *lines: dict[str, object]) -> None:
    """Make a log of the personal project with `lines`."""
    world.run("init")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (world.personal / ".roamkb" / "knowledge.jsonl").write_text(text)


def line(key: str, content: str, *, ts: int = 1, **more: object) -> dict[str, object]:
    """One line of another tool's."""
    return {
        "key": key,
        "type": "learned",
        "content": content,
        "tags": ["learned"],
        "ts": ts,
        "bead": "",
        **more,
    }


def ledger(world: World) -> list[bytes]:
    """The ledger's lines."""
    return (world.personal / ".roamkb" / "ledger.jsonl").read_bytes().splitlines()


def digest(ran: Ran) -> str:
    """The digest of what a dry run showed."""
    told = json.loads(ran.out.splitlines()[0])
    assert isinstance(told["digest"], str)
    return told["digest"]


def timeless(line: bytes | str) -> dict[str, Any]:
    """A ledger line but for the time of its writing."""
    told: dict[str, Any] = json.loads(line)
    return {key: value for key, value in told.items() if key != "ts"}


@pytest.fixture
def twins(world: World) -> World:
    """A log with one fact said three times, and one that is something else."""
    put(
        world,
        line("a", "OAuth redirect URIs must match exactly", ts=10),
        line("b", "OAuth redirect URIs must match exactly.", ts=30),
        line("c", "The OAuth redirect URIs must match exactly", ts=20, confidence=0.9),
        line("d", "Invoice numbers restart at 1 every year", ts=40),
    )
    return world


def test_the_keeper_is_the_surest_and_the_others_point_to_it(twins: World) -> None:
    """One canonical line, and one for each of the others; nothing is written."""
    ran = twins.run("curate", "--dry-run", "--reason", REASON)
    first, *others = (json.loads(line) for line in ran.out.splitlines())
    assert (0, []) == (ran.status, ledger(twins))
    assert ("curated", "canonical", REASON) == (first["event"], first["status"], first["review_reason"])
    assert ["a", "b"] == sorted(first["supersedes"])
    assert {one["of"] for one in others} == set(first["merged_from"])
    for other in others:
        assert ("superseded", first["of"], "c") == (other["event"], other["by_which"], other["superseded_by"])
    assert all(one["digest"] == first["digest"] in ran.err for one in (first, *others))


def test_lines_longer_than_any_learning_are_left_out(world: World) -> None:
    """Two of them took minutes of the processor; what roamkb writes has at most 64 KiB."""
    long = "Run make lint in src/app.py before each commit to 1 repository. " * 20_000
    put(world, line("a", long), line("b", f"{long}again"), line("c", "OAuth redirects match"), line("d", "Tapirs swim"))
    before = os.times()
    ran = world.run("curate", "--dry-run", "--reason", REASON)
    assert (1, "") == (ran.status, ran.out)
    assert "nothing to curate" in ran.err
    assert "left out, as too long to be compared: 2 learnings" in ran.err
    assert os.times().children_user - before.children_user < 10


def test_what_was_shown_is_what_is_appended(twins: World) -> None:
    """Byte for byte, but for the time; and then there is nothing left to do."""
    shown = twins.run("curate", "--dry-run", "--reason", REASON)
    assert shown.out.splitlines()[0] and shown.status == 0
    ran, terminal = at_a_terminal(twins, "curate", "--apply", digest(shown), "--reason", REASON)
    assert 0 == ran.status, ran.err
    assert "keep c instead of" in terminal
    assert [timeless(one) for one in shown.out.splitlines()] == [timeless(one) for one in ledger(twins)]
    assert [*map(str.encode, ran.out.splitlines())] == ledger(twins)
    assert 1 == twins.run("curate").status
    recalled = twins.run("recall", "oauth", "redirect", "--json").json["learnings"]
    assert isinstance(recalled, list)
    assert ("c", "canonical") == (recalled[0]["key"], recalled[0]["status"])


def test_the_reason_the_time_and_the_operator_do_not_change_the_digest(twins: World) -> None:
    """So that a dry run without a reason is one as well."""
    shown = [twins.run("curate", *more) for more in ((), ("--dry-run",), ("--reason", "Another"))]
    assert 1 == len({digest(one) for one in shown})
    ran, _ = at_a_terminal(twins, "curate", "--apply", digest(shown[0])[:12], "--reason", REASON)
    assert 0 == ran.status
    assert {REASON} == {json.loads(one)["review_reason"] for one in ledger(twins)}


def test_a_log_that_moved_on_is_not_what_was_reviewed(twins: World) -> None:
    """Status 4, whatever was added, and nothing is written."""
    name = digest(twins.run("curate"))
    twins.run("learn", "Something else entirely was found out")
    before = ledger(twins)
    ran, terminal = at_a_terminal(twins, "curate", "--apply", name, "--reason", REASON)
    assert (4, before, "") == (ran.status, ledger(twins), terminal)
    forged, _ = at_a_terminal(twins, "curate", "--apply", "0" * 64, "--reason", REASON)
    short, _ = at_a_terminal(twins, "curate", "--apply", name[:5], "--reason", REASON)
    assert (4, 4, before) == (forged.status, short.status, ledger(twins))


def test_a_log_that_moves_while_the_human_thinks_is_not_either(twins: World) -> None:
    """The question may stand there for an hour."""

    def slowly(word: str) -> str:
        twins.run("learn", "Something else entirely was found out")
        return word

    name = digest(twins.run("curate"))
    ran, _ = at_a_terminal(twins, "curate", "--apply", name, "--reason", REASON, answer=slowly)
    assert (4, []) == (ran.status, [one for one in ledger(twins) if b"curated" in one])


def test_a_pipe_is_no_human(twins: World) -> None:
    """Whatever it says: there is no terminal, and nothing is written."""
    name = digest(twins.run("curate"))
    ran = twins.run("curate", "--apply", name, "--reason", REASON, input=f"{name[:6]}\n" * 9)
    assert (2, []) == (ran.status, ledger(twins))
    assert "at a terminal" in ran.err


@pytest.mark.parametrize("typed", ["", "yes", "y", "000000"])
def test_only_the_word_is_a_yes(twins: World, typed: str) -> None:
    """Anything else leaves everything as it is."""
    name = digest(twins.run("curate"))
    ran, _ = at_a_terminal(twins, "curate", "--apply", name, "--reason", REASON, answer=lambda _: typed)
    assert (2, []) == (ran.status, ledger(twins))
    assert "not confirmed" in ran.err


def test_a_job_in_the_background_is_no_human_either(twins: World) -> None:
    """An agent's command may share the terminal of the human who started the agent."""
    name = digest(twins.run("curate"))
    ran, terminal = at_a_terminal(twins, "curate", "--apply", name, "--reason", REASON, in_background=True)
    assert (2, [], "") == (ran.status, ledger(twins), terminal)
    assert "foreground" in ran.err


@pytest.mark.parametrize("reason", [(), ("--reason", " "), ("--reason", "key AKIAABCDEFGHIJKLMNOP")])
def test_a_review_needs_a_reason_that_may_be_kept(twins: World, reason: tuple[str, ...]) -> None:
    """None, none to speak of, or a secret: nothing is asked, nothing is written."""
    name = digest(twins.run("curate"))
    ran, terminal = at_a_terminal(twins, "curate", "--apply", name, *reason)
    assert (2, "", []) == (ran.status, terminal, ledger(twins))


def test_the_library_has_nobody_to_ask(twins: World) -> None:
    """A server or a hook that calls it is told so."""
    from roamkb.core.errors import UsageError

    log = twins.open().log
    with pytest.raises(UsageError, match="only a human"):
        log.curate(apply=log.curate().digest, reason=REASON)
    assert [] == ledger(twins)


def test_decisions_are_never_merged_and_types_never_mixed(world: World) -> None:
    """However much they resemble one another."""
    said = "We keep amounts in cents everywhere in the ledger"
    put(
        world,
        line("a", said, ts=1, type="decision"),
        line("b", said + " code", ts=2, type="decision"),
        line("c", said, ts=3, type="fact"),
    )
    assert 1 == world.run("curate").status


def test_what_contradicts_is_marked_and_asked_about_once(world: World) -> None:
    """Both sides want a look; who looked isn't asked again."""
    put(
        world,
        line(
            "on",
            "Always enable the remote cache of the build server for pull requests from forks of the repository",
            ts=1,
        ),
        line(
            "off",
            "Always disable the remote cache of the build server for pull requests from forks of the repository",
            ts=2,
        ),
    )
    shown = world.run("curate", "--reason", REASON)
    told = [json.loads(one) for one in shown.out.splitlines()]
    assert [("curated", "needs_review", "may_contradict")] * 2 == [
        (one["event"], one["status"], one["because"]) for one in told
    ]
    assert 0 == at_a_terminal(world, "curate", "--apply", digest(shown), "--reason", REASON)[0].status
    assert 1 == world.run("curate").status
    assert "needs_review" == world.run("explain", "on", "--json").json["learning"]["status"]
    world.run("learn", "Pull requests from forks get no cache at all", "--supersedes", "off")
    kept = world.run("explain", "on", "--json").json["learning"]
    assert ("active", "") == (kept["status"], kept["review_reason"])


def test_other_values_of_one_attribute_contradict_however_much_is_said_beside(world: World) -> None:
    """What is offered with a mark is put up for a review as well."""
    put(
        world,
        line("old port", "Redis of the staging cluster runs on port 6380", ts=1),
        line("new port", "Redis of the staging cluster runs on port 6390 since the move to the new rack in May", ts=2),
        line("old way", "Releases go through Jenkins, which takes an hour and needs the VPN", ts=3),
        line("new way", "Releases go through GitHub Actions and no longer through Jenkins", ts=4),
        line("two", "The queue holds 20 jobs at a time", ts=5),
        line("other", "The queue of mails holds 40 letters a minute", ts=6),
    )
    clusters = world.run("curate", "--json").json["clusters"]
    assert isinstance(clusters, list)
    assert [["old port", "new port"], ["old way", "new way"]] == sorted(
        [one["key"] for one in cluster["others"]] for cluster in clusters if cluster["kind"] == "contradiction"
    )


def test_what_names_only_lost_files_wants_a_look(world: World) -> None:
    """And nothing else that names files does."""
    put(
        world,
        line("gone", "Invoices are rendered in src/invoice.ts by one function", ts=1),
        line("there", "Orders are rendered in src/order.ts by another one", ts=2),
        line("told", "We deleted src/old.ts since nobody called it any more", ts=3),
    )
    (world.personal / "src").mkdir()
    (world.personal / "src" / "order.ts").write_text("x")
    shown = world.run("curate", "--json").json
    assert isinstance(shown["clusters"], list)
    assert [["gone"]] == [[one["key"] for one in cluster["others"]] for cluster in shown["clusters"]]
    assert "src/invoice.ts" in shown["clusters"][0]["because"]


def test_what_was_rewritten_makes_its_successor_canonical(world: World) -> None:
    """The old one was superseded by `learn` already: one line is enough."""
    world.run("init")
    world.run("learn", "redirects", "--type", "learned")
    world.run("learn", "OAuth redirect URIs are compared to the letter", "--supersedes", "learned-redirects")
    before = len(ledger(world))
    shown = world.run("curate", "--json").json
    assert isinstance(shown["lines"], list)
    assert isinstance(shown["clusters"], list)
    assert ["replaced"] == [one["kind"] for one in shown["clusters"]]
    assert [["learned-redirects"]] == [one["supersedes"] for one in shown["lines"]]
    name = str(shown["digest"])
    assert 0 == at_a_terminal(world, "curate", "--apply", name, "--reason", REASON)[0].status
    assert (before + 1, 1) == (len(ledger(world)), world.run("curate").status)


def test_applying_stays_within_the_boundary(world: World) -> None:
    """A session at work curates no looser project's log."""
    put(world, line("a", "One and the same thing"), line("b", "One and the same thing.", ts=2))
    name = digest(world.run("curate"))
    project = ("--project", str(world.personal))
    ran, _ = at_a_terminal(world, "curate", "--apply", name, "--reason", REASON, *project, cwd=world.work)
    assert (3, []) == (ran.status, ledger(world))


def test_ids_sort_after_all_that_happened(twins: World) -> None:
    """And whatever happens next comes later still."""
    for _ in range(2):
        twins.run("learn", "Invoice numbers restart at 1 every year", "--session", "s")
    name = digest(twins.run("curate"))
    at_a_terminal(twins, "curate", "--apply", name, "--reason", REASON)
    twins.run("learn", "Invoice numbers restart at 1 every year", "--session", "t")
    ids = [json.loads(one)["id"] for one in ledger(twins)]
    assert sorted(set(ids)) == ids


def test_no_file_but_the_ledger_changes(twins: World) -> None:
    """What was said stays as it was said."""
    folder: Path = twins.personal / ".roamkb"
    before = (folder / "knowledge.jsonl").read_bytes()
    name = digest(twins.run("curate"))
    at_a_terminal(twins, "curate", "--apply", name, "--reason", REASON)
    assert before == (folder / "knowledge.jsonl").read_bytes()
