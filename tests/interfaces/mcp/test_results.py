"""Results within a client's limits."""

import json
import time

from roamkb.core.text import HIDDEN_CHARACTERS
from roamkb.interfaces.mcp.results import answer_call
from roamkb.interfaces.mcp.results import bound_result
from roamkb.interfaces.mcp.tools import find_tool
from tests.conftest import World


def test_what_fits_is_left_as_it_is() -> None:
    """To the last field."""
    told = {"schema": 1, "hits": [{"text": "x" * 20_000}, {"text": "é\u001b"}]}
    assert told == bound_result(told)


def test_a_long_text_is_cut_and_the_result_says_so() -> None:
    """The rest of the result stays."""
    told = bound_result({"schema": 1, "node": {"title": "t", "body": "x" * 100_000}})
    assert {"title": "t", "body": "x" * 40_000} == told["node"]
    assert ["node.body: the last 60000 of 100000 characters"] == told["left_out"]


def test_a_long_list_loses_its_end() -> None:
    """The best comes first, so the last go."""
    told = bound_result(
        {"schema": 1, "hits": [{"text": f"{number} {'y' * 1_000}"} for number in range(200)], "n": [1, 2]}
    )
    hits = told["hits"]
    assert isinstance(hits, list)
    assert hits[0]["text"].startswith("0 ")
    assert [1, 2] == told["n"]
    halved = ["hits: the last 100 of 200", "hits: the last 50 of 100", "hits: the last 25 of 50"]
    assert halved == told["left_out"]
    # more is put into a file, of which Claude Code shows its model the beginning
    assert len(json.dumps(told)) < 50_000


def test_half_a_character_is_replaced() -> None:
    """A file's name may hold one, and no client could read it."""
    assert {"path": "/a\N{REPLACEMENT CHARACTER}"} == bound_result({"path": "/a\udcff"})


def test_what_shows_as_nothing_reaches_no_model(world: World) -> None:
    """One harness shows its model the data, and not the text: in neither is a word that its human wouldn't see."""
    unseen = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    world.node("a.org", "a", f"Zebras{unseen} are \u202estriped", f"They\u200b graze.{unseen} \x9b31m")
    for tool_name, arguments in (
        ("get", {"name": "a.org"}),
        ("search", {"words": "graze"}),
        ("fetch", {"id": "a.org"}),
    ):
        tool = find_tool(tool_name)
        assert tool
        result = answer_call(world.open(), tool, arguments)
        shown = json.dumps(result.structured_data, ensure_ascii=False) + result.text
        assert ("graze" in shown, "") == (True, "".join(HIDDEN_CHARACTERS.findall(shown)).strip("\n"))


def test_a_long_note_says_what_was_left_out_of_its_text(world: World) -> None:
    """From the first line on, without gaps; the data has more."""
    world.node(
        "long.org",
        "0a1b2c3d-0000-4000-8000-000000000001",
        "Long",
        "\n".join(f"line {n} " + "z" * 90 for n in range(300)),
    )
    tool = find_tool("get")
    assert tool
    found = answer_call(world.open(), tool, {"name": "Long"})
    assert len(found.text) < 10_500
    lines = [line.split()[1] for line in found.text.splitlines() if line.startswith("line ")]
    assert [str(number) for number in range(len(lines))] == lines
    assert f"({300 - len(lines)} more lines were left out" in found.text
    assert "left_out" not in found.json


def test_a_full_disk_is_an_answer(world: World) -> None:
    """What storage did not expect is an error of the tool, not of the server."""
    tool = find_tool("write")
    assert tool
    world.kb.chmod(0o500)
    (world.kb / ".stfolder").rmdir()
    found = answer_call(world.open(), tool, {"title": "A fact"})
    assert (True, "no_kb") == (found.is_error, found.json["error"]["code"])  # type: ignore[index]


def test_a_note_of_blanks_holds_up_nobody(world: World) -> None:
    """Who shares the notes may send a line of a million: quadratic work would take a day."""
    world.node("a.org", "a", "Zebras", " " * 1_000_000 + "graze")
    tool = find_tool("get")
    assert tool
    start = time.process_time()
    assert not answer_call(world.open(), tool, {"name": "a.org"}).is_error
    assert time.process_time() - start < 10
