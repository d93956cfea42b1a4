"""What a screen gets that a pipe doesn't: links, and a pager where it is too small."""

import os
import re
import sys
from pathlib import Path

import pytest

from roamkb.interfaces.cli.screen import with_home_paths
from tests.conftest import World
from tests.conftest import emulator
from tests.human import converse


def with_links(text: str) -> str:
    """Return what a terminal with links shows."""
    return with_home_paths(text, has_links=True, is_short=False)


def test_a_location_can_be_clicked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the file's whole name, encoded; what isn't there or not at home, and what only mentions a path, is left as it is."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("HOME", str(tmp_path))
    note = tmp_path / "о zebras.org"
    note.touch()
    linked = with_links(f"  \x1b[36m{note}:12\x1b[0m\nsee {note}:1\n/not/there.org:3: x\n{note}")
    first, second, third, last = linked.split("\n")
    assert first.startswith("  \x1b[36m\x1b]8;;file://")
    assert f"%D0%BE%20zebras.org\x1b\\{note}:12\x1b]8;;\x1b\\\x1b[0m" in first
    assert (f"see {note}:1", "/not/there.org:3: x") == (second, third)
    assert last.endswith(f"{note}\x1b]8;;\x1b\\")
    odd = tmp_path / os.fsdecode(b"\xff.org")
    odd.touch()
    assert "%FF.org\x1b\\" in with_links(str(odd))
    assert "/bin/sh:1" == with_links("/bin/sh:1")
    monkeypatch.setenv("TERM", "linux")
    assert "\x1b" not in with_links(str(note))


@pytest.mark.parametrize(
    ("extra", "is_short"),
    [({}, True), ({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, True), ({"CLAUDECODE": "1"}, False)],
)
def test_a_human_reads_paths_from_home_on(world: World, extra: dict[str, str], is_short: bool) -> None:
    """At a terminal; an agent there gets whole ones, as a pipe and JSON do, and a link names the whole path."""
    world.node("zebra.org", "z", "Zebra", "zebra")
    whole = str(world.kb / "zebra.org")
    short = f"~/{(world.kb / 'zebra.org').relative_to(world.home)}"
    for words in (["search", "zebra"], ["show", "z"], ["nodes"], ["init"], ["uninstall", "--dry-run"]):
        status, shown = converse(
            [sys.executable, "-m", "roamkb", *words],
            maker=emulator(world.home.parent, "xterm"),
            cwd=world.personal,
            environment={**world.environment(), "TERM": "xterm", "PAGER": "", **extra},
            answers=(),
        )
        visible = re.sub(r"\x1b\]8;;.*?\x1b\\", "", shown)
        assert (0 if words[0] != "uninstall" else 2) == status, shown
        assert is_short == (str(world.home) not in visible), shown
        if words[0] in ("search", "show", "nodes"):
            assert (short if is_short else whole) in visible
            assert whole in world.run(*words).out
    home = Path.home()
    said = with_home_paths(f"{home}:3\nwork: {home}/a, {home}/b", has_links=False, is_short=True)
    assert said == f"{home}:3\nwork: ~/a, ~/b"


def test_a_human_sees_what_the_columns_of_the_journal_are(world: World) -> None:
    """At a terminal; a pipe has the lines alone."""
    world.node("a.org", "a", "Zebra")
    world.run("journal", "mark")
    status, shown = converse(
        [sys.executable, "-m", "roamkb", "journal"],
        maker=emulator(world.home.parent, "xterm"),
        cwd=world.personal,
        environment={**world.environment(), "TERM": "xterm", "PAGER": ""},
        answers=(),
    )
    assert (0, True) == (status, "mark when" in shown), shown
    assert "mark when" not in world.run("journal").out


def on_a_small_screen(world: World, *words: str, rows: int, **extra: str) -> tuple[int, str]:
    """Run a command on a terminal of so many rows, with a pager that says so; return its status and what was shown."""
    pager = world.home / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nexec cat\n")
    pager.chmod(0o755)
    # a terminal's size is set on the terminal, before the program asks for it
    size = f"import fcntl, struct, sys, termios, runpy; fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', {rows}, 200, 0, 0)); "
    program = size + f"sys.argv = {['roamkb', *words]!r}; runpy.run_module('roamkb', run_name='__main__')"
    return converse(
        [sys.executable, "-c", program],
        maker=emulator(world.home.parent, "xterm"),
        cwd=world.personal,
        environment={**world.environment(), "TERM": "xterm", "PAGER": str(pager), **extra},
        answers=(),
    )


@pytest.mark.parametrize(
    ("rows", "extra", "is_paged"),
    [
        (4, {}, True),
        (60, {}, False),
        (4, {"PAGER": ""}, False),
        (4, {"CLAUDECODE": "1"}, False),
        (4, {"TERM": "dumb"}, False),
        (4, {"PAGER": "less '"}, False),
    ],
)
def test_what_is_longer_than_the_screen_is_paged(
    world: World, rows: int, extra: dict[str, str], is_paged: bool
) -> None:
    """For a human alone: an agent would wait for its keys, and a pipe gets all at once."""
    for number in range(3):
        world.node(f"{number}.org", str(number), f"Zebra {number}", "zebra")
    status, shown = on_a_small_screen(world, "search", "zebra", rows=rows, **extra)
    assert 0 == status, shown
    assert is_paged is ("PAGED" in shown)
    assert 3 == shown.count("Zebra ")


def test_a_command_that_changes_something_waits_for_no_key(world: World) -> None:
    """What it did is said at once, what stays last; how a file changes is shown by a dry run alone, in the pager."""
    world.run("install", "--claude", "--yes", cwd=world.home)
    for words, is_dry in ((("--dry-run",), True), ((), False)):
        _, shown = on_a_small_screen(world, "uninstall", "--claude", *words, rows=4)
        assert (is_dry, is_dry) == ("PAGED" in shown, "hook session-start" in shown), shown
        outcomes = [line.split()[0] for line in shown.splitlines() if line.startswith(("remove", "skip", "keep"))]
        assert outcomes == sorted(outcomes, key=lambda outcome: outcome == "keep")
    _, shown = on_a_small_screen(world, "install", "--claude", "--yes", rows=4)
    assert (False, False) == ("PAGED" in shown, "hook session-start" in shown), shown


@pytest.mark.parametrize(
    ("words", "extra", "is_said"),
    [(("zebra",), {}, True), (("zebra", "--all"), {}, False), (("zebra",), {"CLAUDECODE": "1"}, False)],
)
def test_a_human_is_told_of_weaker_hits(
    world: World, words: tuple[str, ...], extra: dict[str, str], is_said: bool
) -> None:
    """A search that wasn't limited shows the best; how to see the rest is said after them, and to no agent."""
    for number in range(12):
        world.node(f"{number}.org", str(number), f"Zebra {number}", "zebra")
    status, shown = converse(
        [sys.executable, "-m", "roamkb", "search", *words],
        maker=emulator(world.home.parent, "xterm"),
        cwd=world.personal,
        environment={**world.environment(), "TERM": "xterm", "PAGER": "", **extra},
        answers=(),
    )
    assert 0 == status, shown
    assert is_said is ("4 weaker hits more: --all" in shown)
    assert "weaker" not in world.run("search", *words).err


def test_a_human_who_writes_is_told_that_agents_may_replace_it(world: World) -> None:
    """In a pipe, where agents write, nothing is said."""
    status, shown = converse(
        [sys.executable, "-m", "roamkb", "write", "Zebras are striped"],
        maker=emulator(world.home.parent, "xterm"),
        cwd=world.personal,
        environment={**world.environment(), "TERM": "xterm"},
        answers=(),
    )
    assert 0 == status, shown
    assert "tagged agent" in shown
    assert "" == world.run("write", "Lions are not").err
