"""What an agent should say again, and that the command does it."""

import shlex

from tests.conftest import World


def test_the_rough_ones_are_listed_with_what_is_wrong(world: World) -> None:
    """Terse, untagged or noise, of the tasks that were asked for."""
    world.run("init")
    world.run("learn", "uses jq", "--task", "bd-1")
    world.run("learn", "Redirects of the sandbox tenant are compared to the letter, slash included",
              "--task", "bd-1", "--tag", "oauth")  # fmt: skip
    world.run("learn", "elsewhere", "--task", "bd-2")
    told = world.run("refine", "bd-1", "--json").json["learnings"]
    assert isinstance(told, list)
    assert ["learned-uses-jq"] == [one["key"] for one in told]
    assert {"terse", "no tag beside its type"} == {reason.partition(":")[0] for reason in told[0]["reasons"]}
    everything = world.run("refine", "--json").json["learnings"]
    assert isinstance(everything, list)
    assert 2 == len(everything)
    assert 1 == world.run("refine", "bd-9").status


def test_the_command_replaces_it(world: World) -> None:
    """Once the text is put in; then there is nothing left to refine."""
    world.run("init")
    world.run("learn", "uses jq", "--task", "bd-1")
    command = world.run("refine").out.splitlines()[-1].strip()
    words = shlex.split(command.replace("WHAT IT SHOULD SAY", "The release script reads the manifest through jq 1.7"))
    done = world.run(*words[1:])
    assert (0, True) == (done.status, "in place of learned-uses-jq" in done.out)
    assert 1 == world.run("refine", "bd-1").status


def test_of_several_with_one_key_the_id_tells(world: World) -> None:
    """A key that two share would be ambiguous."""
    world.run("init")
    log = world.personal / ".roamkb" / "knowledge.jsonl"
    log.write_text('{"key":"k","type":"fact","content":"one"}\n{"key":"k","type":"fact","content":"two"}\n')
    told = world.run("refine", "--json").json["learnings"]
    assert isinstance(told, list)
    assert all(one["id"] in one["command"] for one in told)
