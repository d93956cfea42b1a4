"""The journal through its doors: hooks that mark and look, and a human who brings back what was."""

import json
import os
import shutil
from pathlib import Path

from tests.conftest import World
from tests.human import at_a_terminal


def hook(
    world: World, event: str, *, session: str = "s-1", cwd: Path | None = None, **payload: object
) -> dict[str, object]:
    """What a hook of a session in the work project answers."""
    folder = cwd or world.work
    told = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **payload}
    return world.run("hook", event, cwd=folder, input=json.dumps(told), extra={"CLAUDECODE": "1"}).json


def began(world: World, **options: Path | str) -> None:
    """Begin a session and its first turn."""
    hook(world, "session-start", source="startup", **options)
    hook(world, "user-prompt-submit", prompt="tidy up, please", **options)


def files(world: World) -> dict[str, tuple[bytes, int]]:
    """Every note with its bytes and its mode."""
    return {name: (data, (world.kb / name).stat().st_mode & 0o7777) for name, data in world.files().items()}


def test_what_an_agent_destroyed_comes_back(world: World) -> None:
    """Killed, moved, truncated, encrypted, another mode: told in one line, brought back as it was."""
    for n in range(6):
        world.node(f"deep/{n}.org", f"id-{n}", f"Note {n}", "words " * 50)
    world.note("secret.org.gpg", "what only its owner reads")
    world.note("data/ab/picture.png", "no note")
    before = files(world)
    began(world)
    (world.kb / "deep/0.org").unlink()
    (world.kb / "deep/1.org").rename(world.kb / "elsewhere.org")
    os.truncate(world.kb / "deep/2.org", 7)
    (world.kb / "deep/3.org").write_bytes(b"\0encrypted\1")
    (world.kb / "deep/4.org").chmod(0o600)
    shutil.rmtree(world.kb / "data")
    (world.kb / "new.org").write_text("of an agent")
    answer = hook(world, "stop")
    assert "9 files of the knowledge base changed" in str(answer["systemMessage"])
    assert "decision" not in answer
    assert {} == hook(world, "stop")
    ran, terminal = at_a_terminal(world, "journal", "restore", "--all")
    assert 0 == ran.status, (ran, terminal)
    assert before == files(world)
