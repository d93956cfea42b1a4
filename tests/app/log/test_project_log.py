"""A project's log as the knowledge base's neighbour: what is refused there lands here, and both are asked."""

import json
from pathlib import Path

import pytest

from tests.conftest import World

SECRET = "the key is AKIAABCDEFGHIJKLMNOP"


def said(folder: Path) -> list[str]:
    """What the log of the project at `folder` says."""
    log = folder / ".roamkb" / "knowledge.jsonl"
    return [json.loads(line)["content"] for line in log.read_text().splitlines()]


@pytest.mark.parametrize("place", ["work", "unknown"])
def test_what_the_kb_refuses_goes_to_the_projects_own_log(world: World, place: str) -> None:
    """The refusal names the file, and the fact is there, body and all."""
    folder: Path = getattr(world, place)
    before = world.files()
    assert 0 == world.run("init", cwd=folder).status
    done = world.run("write", "Staging deploys on Tuesdays", "--body", "Since May.", "--json", cwd=folder)
    assert 3 == done.status
    refused = done.json["refused"]
    assert isinstance(refused, dict)
    assert str(folder / ".roamkb" / "knowledge.jsonl") == refused["written_to"]
    assert ["Staging deploys on Tuesdays\n\nSince May."] == said(folder)
    assert before == world.files()


def test_a_body_from_a_pipe_is_not_lost_either(world: World) -> None:
    """Who has a log to keep it in is read to the end."""
    world.run("init", cwd=world.work)
    done = world.run("write", "A title", "--body", "-", input="from the pipe", cwd=world.work)
    assert (3, ["A title\n\nfrom the pipe"]) == (done.status, said(world.work))
    assert "written to" in done.err


def test_a_dry_run_keeps_nothing(world: World) -> None:
    """It is refused all the same."""
    world.run("init", cwd=world.work)
    done = world.run("write", "Staging deploys on Tuesdays", "--dry-run", cwd=world.work)
    assert (3, []) == (done.status, said(world.work))
    assert "written nowhere" in done.err


def test_a_secret_is_refused_even_by_the_log(world: World) -> None:
    """A refusal beats every other answer, and nothing of the text is left."""
    world.run("init", cwd=world.work)
    done = world.run("write", SECRET, cwd=world.work)
    assert (3, []) == (done.status, said(world.work))
    assert "written nowhere" in done.err
    left = (path for path in world.home.rglob("*") if path.is_file())
    assert [] == [path for path in left if b"AKIAABCDEFGHIJKLMNOP" in path.read_bytes()]


def test_the_same_refusal_twice_is_one_learning(world: World) -> None:
    """Who tries again has learned nothing more, so that it is no surer."""
    world.run("init", cwd=world.work)
    for _ in range(2):
        done = world.run("write", "Staging deploys on Tuesdays", "--json", cwd=world.work)
        refused = done.json["refused"]
        assert isinstance(refused, dict)
        assert str(world.work / ".roamkb" / "knowledge.jsonl") == refused["written_to"]
    assert 1 == len(said(world.work))
    (learning,) = world.run("recall", "staging", "--json", cwd=world.work).json["learnings"]
    assert (0.7, 1) == (learning["confidence"], learning["occurrences"])


def test_what_reads_like_a_password_is_kept_nowhere_unasked(world: World) -> None:
    """A log may travel with the employer's repository; who means it says `learn`, and is warned."""
    world.run("init", cwd=world.work)
    done = world.run("write", "The password of the router is Zebra99x", cwd=world.work)
    assert (3, []) == (done.status, said(world.work))
    assert "written nowhere" in done.err
    assert "Zebra" not in done.err
    left = (path for path in world.home.rglob("*") if path.is_file())
    assert [] == [path for path in left if b"Zebra99x" in path.read_bytes()]


def test_work_goes_into_no_looser_projects_log(world: World) -> None:
    """Naming another project doesn't help a session that works at work."""
    world.run("init")
    done = world.run("learn", "Invoices are signed", "--project", str(world.personal), cwd=world.work)
    assert (3, []) == (done.status, said(world.personal))
    assert "not written to the log of personal project" in done.err
    kept = world.run("write", "Invoices are signed", "--project", str(world.personal), cwd=world.work)
    assert (3, []) == (kept.status, said(world.personal))
    assert "written nowhere" in kept.err


def test_recall_asks_the_knowledge_base_as_well(world: World) -> None:
    """Nodes stand among the learnings, each with its path."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly")
    note = world.node("a.org", "id-a", "OAuth redirect in the mobile app", "Custom schemes.")
    alone = world.run("recall", "oauth", "redirect", "--json").json
    both = world.run("recall", "oauth", "redirect", "--kb", "--json").json
    assert (["log"], ["log", "kb"]) == (alone["from"], both["from"])
    learnings = both["learnings"]
    assert isinstance(learnings, list)
    assert {"learned", "node"} == {one["type"] for one in learnings}
    assert [str(note)] == [one["path"] for one in learnings if one["type"] == "node"]
    assert str(note) in world.run("recall", "oauth", "--kb").out


def test_a_project_without_a_log_says_how_to_get_one(world: World) -> None:
    """Status 2, code no_log."""
    done = world.run("learn", "Anything", "--json")
    assert 2 == done.status
    error = done.json["error"]
    assert isinstance(error, dict)
    assert ("no_log", True) == (error["code"], "roamkb init" in str(error["hint"]))


def test_replacing_one_of_two_that_contradict_settles_the_other(world: World) -> None:
    """It needs no review any more once it is verified again, and may be promoted."""
    world.run("init")
    scores = ("--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
    for text in ("The pump must start after 200 ms", "The pump must start after 500 ms"):
        assert 0 == world.run("learn", text, "--type", "gotcha", "--confidence", "0.9").status
    fast, slow = (f"gotcha-the-pump-must-start-after-{ms}-ms" for ms in (200, 500))
    assert "unverified" in world.run("verify", fast, *scores).out
    assert "needs a review" in world.run("promote", fast).out
    world.run("learn", "The pump needs 500 ms only in winter", "--type", "gotcha", "--supersedes", slow)
    assert world.run("verify", fast, *scores).out.startswith("verified")
    promoted = world.run("promote", fast)
    assert (0, True) == (promoted.status, "is a node" in promoted.out)


def test_a_date_before_all_calendars_is_a_message(world: World) -> None:
    """The time of year 1 can't be told in seconds."""
    world.run("init")
    done = world.run("recall", "--as-of", "0001-01-01")
    assert (2, True) == (done.status, "out of the calendar" in done.err)
