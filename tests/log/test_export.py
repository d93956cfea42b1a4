"""Everything, for other programs."""

import json

from tests.conftest import World


def test_every_learning_is_one_object(world: World) -> None:
    """With what it counts; the text is a line of JSON each, the same objects."""
    world.run("init")
    assert 1 == world.run("export").status
    world.run("learn", "OAuth redirect URIs must match — exactly\u202e", "--tag", "oauth", "--session", "s")
    world.run("learn", "Invoice numbers restart at 1 every year", "--type", "fact")
    told = world.run("export", "--json").json
    learnings = told["learnings"]
    assert isinstance(learnings, list)
    assert (1, 2) == (told["schema"], len(learnings))
    text = world.run("export").out
    assert learnings == [json.loads(line) for line in text.splitlines()]
    assert "OAuth redirect URIs must match — exactly" == learnings[0]["content"]
    assert "\u202e" not in text
    assert ("s", 0.7, "active", False) == tuple(
        learnings[0][name] for name in ("session", "confidence", "status", "pinned")
    )


def test_what_was_rotated_away_is_still_known(world: World) -> None:
    """What a curator archived comes along when asked for."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly")
    folder = world.personal / ".roamkb"
    (folder / "knowledge.jsonl").rename(folder / "knowledge.archive.jsonl")
    assert (0, 0) == (world.run("export").status, world.run("export", "--all").status)
    archive = folder / "knowledge.archive.jsonl"
    archive.write_text(archive.read_text().replace("{", '{"status":"archived",', 1))
    assert (1, 0) == (world.run("export").status, world.run("export", "--all").status)
