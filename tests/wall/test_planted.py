"""What commands behind the wall put into their project's local state, for roamkb outside of it to run into."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from roamkb.core.startup.digests import sha256
from tests.conftest import World
from tests.walled import Wall
from tests.walled import wall

__all__ = ["wall"]

_SESSION = "0e5b2d3c-1111-4222-8333-444455556666"
_NOTE = "20240101000000-oak.org"


@pytest.fixture
def note(world: World) -> Path:
    """A human's note."""
    return world.node(_NOTE, "27a75a1c-9d8f-41b0-bc4c-a4889e25fe64", "Oak")


@pytest.fixture
def walled_state(world: World, wall: Wall) -> Wall:
    """A wall that closes the state folder as well."""
    world.state.mkdir(parents=True, exist_ok=True)
    closed = wall.launcher[2].replace('"--"]', f'"--ro-bind", {str(world.state)!r}, {str(world.state)!r}, "--"]')
    return replace(wall, launcher=(*wall.launcher[:2], closed, *wall.launcher[3:]))


def _local(world: World) -> Path:
    assert 0 == world.run("init").status
    return world.log().local_folder


def _state(world: World) -> dict[str, tuple[int, bytes]]:
    """Return the modes and contents of the notes' folder."""
    paths = [world.kb, *world.kb.rglob("*")]
    return {str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"") for path in paths}


def _hook(world: World, event: str, **more: object) -> str:
    payload = {"session_id": _SESSION, "cwd": str(world.personal), **more}
    return world.run("hook", event, input=json.dumps(payload)).out


_REMEDY = "roamkb remedy record --error 'ValueError: too many stripes' --technique paint --step x --outcome success"


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_hook_writes_no_suggestion_through_a_link(wall: Wall, note: Path, is_folder: bool) -> None:
    """The file of what was suggested, or its folder, leads to the notes."""
    world, before = wall.world, _state(wall.world)
    local = _local(world)
    name = sha256(_SESSION.encode()).hexdigest()[:32]
    links = (
        f"ln -s {world.kb} offers"
        if is_folder
        else f"mkdir offers; ln -s {note} offers/{name}.json; ln -s {world.kb}/new.org offers/{name}.waits"
    )
    ran = wall.run(f"{_REMEDY} && cd {local} && {links}")
    assert 0 == ran.status, ran.err
    failed = {"tool_name": "Bash", "tool_input": {"command": "x"}, "error": "ValueError: too many stripes"}
    _hook(world, "post-tool-use-failure", hook_event_name="PostToolUseFailure", **failed)
    _hook(world, "session-start", hook_event_name="SessionStart", source="startup")
    assert before == _state(world)


@pytest.mark.parametrize("name", ["imported", "kept-safe", "passes", "asked", "agents", "share", "observations"])
def test_a_session_s_chores_write_through_no_link(wall: Wall, note: Path, name: str) -> None:
    """A file or a folder of the local state leads to a note, or to all of them."""
    world, before = wall.world, _state(wall.world)
    local = _local(world)
    target = note if name in ("imported", "kept-safe") else world.kb
    ran = wall.run(f"roamkb learn 'zebras have stripes' && rm -rf {local}/{name} && ln -s {target} {local}/{name}")
    assert 0 == ran.status, ran.err
    (world.personal / "MEMORY.md").write_text("- zebras are striped\n")
    _hook(world, "session-start", hook_event_name="SessionStart", source="startup")
    _hook(world, "user-prompt-submit", hook_event_name="UserPromptSubmit", prompt="what stripes have zebras?")
    _hook(world, "stop", hook_event_name="Stop")
    _hook(world, "session-end", hook_event_name="SessionEnd", reason="exit")
    assert before == _state(world)


def test_no_index_of_a_hook_s_lies_where_a_command_can_write(wall: Wall, note: Path) -> None:
    """SQLite would take a journal beside it for its own, which names a note to be removed as done with."""
    world = wall.world
    local = _local(world)
    for number in range(3):
        assert 0 == world.run("learn", f"zebra {number} has {number} stripes").status
        _hook(world, "user-prompt-submit", hook_event_name="UserPromptSubmit", prompt=f"stripes of zebra {number}?")
        assert 0 == world.run("recall", "zebra stripes").status
    assert world.log().cache_folder.joinpath("index", "index.db").is_file()
    assert [] == [path for path in local.rglob("*") if path.name.startswith(("index", "stamps", "standings"))]
    assert world.state in world.log().cache_folder.parents


def test_behind_the_wall_a_log_s_index_is_read_and_kept_in_memory(world: World, walled_state: Wall) -> None:
    """What was learned since is found, and the stored index stays as it was."""
    assert 0 == world.run("init").status
    assert 0 == world.run("learn", "zebras have stripes").status
    assert 0 == world.run("recall", "zebras").status
    stored = world.log().cache_folder / "index" / "index.db"
    before = stored.read_bytes()
    ran = walled_state.run("roamkb learn 'giraffes have spots' && roamkb recall giraffes && roamkb recall zebras")
    assert 0 == ran.status, ran.err
    assert ("spots" in ran.out, "stripes" in ran.out, before) == (True, True, stored.read_bytes())


@pytest.mark.parametrize("has_index", [False, True])
def test_behind_the_wall_notes_are_found_as_they_are(
    world: World, walled_state: Wall, note: Path, has_index: bool
) -> None:
    """By the stored index and what changed since; where there is none, by one in memory."""
    if has_index:
        assert 0 == world.run("search", "oak").status
    world.node("20240102000000-elm.org", "37a75a1c-9d8f-41b0-bc4c-a4889e25fe64", "Elm")
    ran = walled_state.run("roamkb search elm && roamkb search oak")
    assert ("Elm" in ran.out, "Oak" in ran.out) == (True, True), ran.err
    assert has_index is (world.state / "cache").exists()


@pytest.mark.parametrize("way", ["info", "git", "file"])
def test_init_excludes_the_log_in_git_s_own_folder_alone(wall: Wall, note: Path, way: str) -> None:
    """The broker does it outside of the wall: a link, or a file that names a folder, leads it nowhere else."""
    world, before = wall.world, _state(wall.world)
    links = {
        "info": f"mkdir .git; ln -s {world.kb} .git/info",
        "git": f"ln -s {world.kb} .git",
        "file": f"echo gitdir: {world.kb} > .git",
    }
    ran = wall.run(f"cd {world.personal} && rm -rf .git && {links[way]} && roamkb init --untracked")
    assert (2, True) == (ran.status, "leave --untracked out" in ran.err), ran
    assert before == _state(world)
