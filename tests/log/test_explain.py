"""A learning's life, told."""

from tests.conftest import World


def test_every_step_tells_what_it_did_to_the_number(world: World) -> None:
    """From the start on, with who did it; the constants are shown."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly", "--provenance", "inferred", "--session", "a")
    world.run("learn", "OAuth redirect URIs must match exactly", "--session", "b", "--agent", "codex")
    world.run("learn", "OAuth redirect URIs must match exactly", "--session", "b", "--agent", "codex")
    key = "learned-oauth-redirect-uris-must-match-exactly"
    told = world.run("explain", key, "--json").json
    assert {"confidence": 0.5, "why": "it is inferred"} == told["start"]
    history = told["history"]
    assert isinstance(history, list)
    assert [("repeated", 0.05, 0.55, "codex"), ("repeated", 0.0, 0.55, "codex")] == [
        (one["event"], one["effect"], one["after"], one["agent"]) for one in history
    ]
    learning, constants = told["learning"], told["constants"]
    assert isinstance(learning, dict)
    assert isinstance(constants, dict)
    assert (0.55, 3, 0.8, 3) == (
        learning["confidence"],
        learning["occurrences"],
        constants["durable"],
        constants["promoted_from"],
    )
    text = world.run("explain", key).out
    assert "0.50, since it is inferred" in text
    assert "repeated by learn codex b: +0.05 to 0.55" in text
    assert "no effect on it" in text
    listed = text.partition("constants:\n")[2].splitlines()
    assert [f"  {name.replace('_', ' ')}" for name in list(constants)[:-1]] == [
        line.rpartition(" ")[0].rstrip() for line in listed
    ]


def test_the_start_says_where_it_comes_from(world: World) -> None:
    """A number of the line's own, or nothing at all."""
    world.run("init")
    log = world.personal / ".roamkb" / "knowledge.jsonl"
    log.write_text(
        '{"key":"said","type":"fact","content":"one","confidence":0.6}\n'
        '{"key":"much","type":"fact","content":"two","confidence":1.0}\n'
        '{"key":"none","type":"fact","content":"three"}\n'
    )
    why = {key: world.run("explain", key, "--json").json["start"] for key in ("said", "much", "none")}
    assert {
        "said": {"confidence": 0.6, "why": "its line says 0.60"},
        "much": {"confidence": 0.95, "why": "its line says 1.00, kept within the bounds"},
        "none": {"confidence": 0.7, "why": "its line says nothing of where it comes from"},
    } == why


def test_an_unknown_or_shared_key_is_said_to_be(world: World) -> None:
    """Status 2, with the code."""
    world.run("init")
    log = world.personal / ".roamkb" / "knowledge.jsonl"
    log.write_text('{"key":"k","type":"fact","content":"one"}\n{"key":"k","type":"fact","content":"two"}\n')
    for key, code in (("nothing", "not_found"), ("k", "ambiguous")):
        for words in (("explain", key), ("pin", key)):
            done = world.run(*words, "--json")
            error = done.json["error"]
            assert isinstance(error, dict)
            assert (2, code) == (done.status, error["code"])


def test_what_lowers_its_rank_is_told(world: World) -> None:
    """Flags that no event made."""
    world.run("init")
    world.run("learn", "Invoices are rendered in src/gone.ts by hand")
    assert (
        "missing_file_anchor: src/gone.ts"
        in world.run("explain", "learned-invoices-are-rendered-in-src-gone-ts-by-hand").out
    )


def test_the_beginning_of_a_key_is_enough_behind_its_type(world: World) -> None:
    """As long as one key begins so; a type alone names nothing."""
    world.run("init")
    world.run("learn", "Rendering of feeds needs lxml 5, not 4", "--type", "gotcha")
    (key,) = (one["key"] for one in world.run("recall", "lxml", "--json").json["learnings"])
    assert key in world.run("explain", key[: len("gotcha-rend")]).out
    for short in ("gotcha", "gotcha-", "gotcha-ren"):
        assert "no learning" in world.run("explain", short).err
