"""What sessions were shown, and what nearly was: by hooks and the command line."""

import json
import re
import time
from typing import Any

import pytest

from tests.conftest import World

_PROMPT = "why does celery lose tasks when a worker is killed?"


def prompt(world: World, text: str, session: str = "s1") -> str:
    """Return what the hook at a prompt puts beside it."""
    payload = {"session_id": session, "cwd": str(world.personal), "prompt": text}
    ran = world.run("hook", "user-prompt-submit", input=json.dumps(payload))
    return str(ran.json.get("hookSpecificOutput", {}).get("additionalContext", ""))


def occasions(world: World, *words: str) -> list[dict[str, Any]]:
    """Return what `shown` lists."""
    return list(world.run("shown", "--json", *words).json["occasions"])


@pytest.fixture
def told(world: World) -> World:
    """A project that knows a few things."""
    world.run("init")
    world.run("learn", "Celery tasks need acks_late, otherwise a killed worker loses them", "--type", "gotcha")
    world.run("learn", "The celery dashboard is called Flower", "--type", "fact")
    world.node("a.org", "node-a", "Celery and Redis", "Celery keeps its tasks in Redis; a killed worker may lose them.")
    world.run("index")
    return world


def test_a_prompt_is_listed_with_what_was_shown_and_what_was_not(told: World) -> None:
    """By the digest of the prompt, never by its words; what is dropped has its bits and a reason."""
    assert "acks_late" in prompt(told, _PROMPT)
    (occasion,) = occasions(told)
    assert ("prompt", "s1") == (occasion["by"], occasion["session"])
    assert len(occasion["prompt"]) == 16
    names = [item["name"] for item in occasion["shown"]]
    said = {item["text"] for item in occasion["shown"] if item["kind"] == "learning"}
    assert "Celery tasks need acks_late, otherwise a killed worker loses them" in said
    assert any("acks" in name for name in names)
    assert all(item["outcome"] is None for item in occasion["shown"])
    assert {"learning"} <= {item["kind"] for item in (*occasion["shown"], *occasion["near"])} <= {"learning", "node"}
    for miss in occasion["near"]:
        assert miss["dropped"]
        assert miss["dropped"] != "too little evidence" or miss["bits"] < miss["least_bits"]
    local = told.log().local_folder
    assert "killed" not in (local / "suggestions.jsonl").read_text()


def test_what_was_shown_before_says_so(told: World) -> None:
    """The second prompt on the same matter is answered with nothing, and `shown` says why."""
    prompt(told, _PROMPT)
    assert "" == prompt(told, _PROMPT)
    latest, _ = occasions(told)
    assert [] == latest["shown"]
    assert "shown before" in {miss["dropped"] for miss in latest["near"]}
    assert "not shown: " in told.run("shown").out


def test_a_reader_is_spared_what_was_far_below(told: World) -> None:
    """The nearest few that weren't shown, and how many more there were; JSON has all."""
    for number in range(6):
        told.run(
            "learn", f"The celery worker of queue {number} needs a pool of {number + 2} processes", "--type", "fact"
        )
    prompt(told, "celery and its workers")
    (occasion,) = occasions(told)
    assert len(occasion["near"]) > 3
    text = told.run("shown").out
    assert 3 == text.count("not shown: ")
    assert f"and {len(occasion['near']) - 3} more that were weighed" in text


def test_what_came_of_it_stands_beside_it(told: World) -> None:
    """An outcome is the receipt's."""
    prompt(told, _PROMPT)
    (shown,) = [item for item in occasions(told)[0]["shown"] if "acks" in str(item["name"])]
    assert told.run("used", shown["name"], "--outcome", "success", "--session", "s1").status == 0
    (again,) = [item for item in occasions(told)[0]["shown"] if "acks" in str(item["name"])]
    assert "success" == again["outcome"]
    assert "(success)" in told.run("shown").out


def test_sessions_are_told_apart_and_the_latest_comes_first(told: World) -> None:
    """With a limit, the rest is counted."""
    for session in ("s1", "s2", "s3"):
        prompt(told, _PROMPT, session)
    assert ["s3", "s2", "s1"] == [occasion["session"] for occasion in occasions(told)]
    assert ["s2"] == [occasion["session"] for occasion in occasions(told, "--session", "s2")]
    ran = told.run("shown", "--limit", "1", "--json")
    assert (1, 2) == (len(ran.json["occasions"]), ran.json["more"])
    assert told.run("shown", "--limit", "0").status == 2
    assert told.run("shown", "--session", "nobody").status == 1


def test_a_torn_line_hides_no_other(told: World) -> None:
    """What a crash left is passed over."""
    prompt(told, _PROMPT)
    path = told.log().local_folder / "suggestions.jsonl"
    path.write_bytes(b'{"ts": 1, "sess' + b"\n" + path.read_bytes() + b'[1]\n{"ts": "x"}\n\xff\n')
    receipts = path.with_name("receipts.jsonl")
    line = receipts.read_bytes()
    for ts in (b"1e300", b"NaN", b'"x"'):
        receipts.write_bytes(line + re.sub(rb'"ts": [\d.]+', b'"ts": ' + ts, line))
        assert occasions(told)[0]["prompt"]


def test_it_answers_where_the_notes_are_not_at_hand(told: World) -> None:
    """What was shown lies in the log."""
    prompt(told, _PROMPT)
    told.kb.rename(told.kb.with_name("unmounted"))
    assert occasions(told)


def test_the_record_does_not_grow_without_end(told: World) -> None:
    """A full file becomes the old one."""
    prompt(told, _PROMPT)
    path = told.log().local_folder / "suggestions.jsonl"
    line = path.read_bytes()
    path.write_bytes(line * (1024 * 1024 // len(line) + 2))
    prompt(told, _PROMPT, "s9")
    assert path.stat().st_size < 10_000
    assert "s9" == occasions(told)[0]["session"]
    assert path.with_name("suggestions.old.jsonl").exists()


def test_a_node_that_is_gone_is_listed_by_its_id(told: World) -> None:
    """And one that is there by its title."""
    prompt(told, _PROMPT)
    occasion = occasions(told)[0]
    nodes = [item for item in (*occasion["shown"], *occasion["near"]) if item["id"] == "node-a"]
    assert [item["name"] for item in nodes] in ([], ["Celery and Redis"])
    (told.kb / "a.org").unlink()
    after = occasions(told)[0]
    assert all(item["name"] is None for item in (*after["shown"], *after["near"]) if item["id"] == "node-a")


def test_a_hook_can_be_traced(told: World) -> None:
    """Its answer is the same; standard error says what was weighed."""
    payload = json.dumps({"session_id": "s1", "cwd": str(told.personal), "prompt": _PROMPT})
    ran = told.run("hook", "user-prompt-submit", "--trace", input=payload)
    assert "acks_late" in ran.json["hookSpecificOutput"]["additionalContext"]
    assert "shown: " in ran.err
    assert "prompt " in ran.err
    payload = json.dumps({"session_id": "s1", "cwd": str(told.personal), "tool_name": "Read"})
    time.sleep(1)
    assert "nothing was shown" in told.run("hook", "pre-tool-use", "--trace", input=payload).err
    elsewhere = json.dumps({"session_id": "s1", "cwd": str(told.unknown), "prompt": _PROMPT})
    ran = told.run("hook", "user-prompt-submit", "--trace", input=elsewhere, cwd=told.unknown)
    assert "no trace: " in ran.err


def test_a_search_can_be_traced(told: World) -> None:
    """Each candidate with its signals; what the search shows isn't dropped, and the rest has a reason."""
    for number in range(60):
        told.node(f"n{number}.org", f"n-{number}", f"Worker {number}", "a worker of the queue " + "and so on " * number)
    shown = told.run("search", "celery killed worker tasks", "--json").json["hits"]
    ran = told.run("search", "celery killed worker tasks", "--trace", "--json")
    assert shown == ran.json["hits"]
    trace = ran.json["trace"]
    assert {hit["id"] for hit in shown} == {one["id"] for one in trace if one["dropped"] is None}
    assert {one["dropped"] for one in trace} > {None}
    (best, *_) = trace
    assert best["id"] == "node-a"
    assert best["words"] > 0
    assert best["sure"]
    assert "[sure]" in told.run("search", "celery killed worker tasks", "--trace").out.splitlines()[0]
    assert told.run("search", "--regex", "x", "--trace").status == 2
    assert told.run("search", "celery", "--trace", "--budget", "100").status == 2


def test_a_recall_can_be_traced(told: World) -> None:
    """With what the learning's state makes of the match, and why the rest isn't shown."""
    for number in range(30):
        told.run("learn", f"The worker {number} of celery needs {number + 3} tasks", "--type", "fact")
    ran = told.run("recall", "celery worker tasks", "--trace", "--limit", "3", "--json")
    shown = {one["id"] for one in ran.json["learnings"]}
    assert len(shown) == 3
    assert shown == {one["id"] for one in ran.json["trace"] if one["dropped"] is None}
    assert "over the limit" in {one["dropped"] for one in ran.json["trace"]}
    assert "[shown]" in told.run("recall", "celery worker tasks", "--trace").out
    assert told.run("recall", "celery worker tasks", "--trace", "--framed").status == 2
    assert told.run("recall", "celery worker tasks", "--trace", "--offset", "1").status == 2
    assert told.run("recall", "--type", "fact", "--trace").status == 2


def test_a_remedy_that_was_offered_is_listed(told: World) -> None:
    """By what it does; an error that nothing is known of leaves no line."""
    error = "ModuleNotFoundError: No module named 'yaml'"
    told.run("remedy", "record", "--error", error, "--technique", "pip install pyyaml", "--outcome", "success")
    for said in (error, "quite another failure"):
        payload = {"session_id": "s3", "cwd": str(told.personal), "tool_name": "Bash", "tool_input": {"command": "x"}}
        told.run("hook", "post-tool-use-failure", input=json.dumps(payload | {"error": said}))
    (occasion,) = occasions(told, "--session", "s3")
    assert ("error", ["pip install pyyaml"]) == (occasion["by"], [item["name"] for item in occasion["shown"]])


def test_a_password_is_told_to_who_asks_alone(told: World) -> None:
    """A note that reads as if it told one goes into no prompt unasked, and `shown` says why; a search finds it."""
    told.node("b.org", "node-b", "Router of the attic", "The password of the attic router is Zebra99x.")
    assert "Zebra" not in prompt(told, "the router in the attic?")
    (occasion,) = occasions(told)
    assert ["reads as if it told a password or a key"] == [
        miss["dropped"] for miss in occasion["near"] if miss["id"] == "node-b"
    ]
    assert "Zebra99x" in told.run("search", "attic router").out
