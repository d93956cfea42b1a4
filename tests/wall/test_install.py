"""The wall as `install` puts it in place, `doctor` proves it and a session hears of it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roamkb.harnesses.claude_code import SHELL_PREFIX
from roamkb.harnesses.wall_settings import with_wall
from roamkb.harnesses.wall_settings import without_wall
from roamkb.wall.launcher import launcher_text
from roamkb.wall.plan import WallPaths
from roamkb.wall.plan import read_plan
from roamkb.wall.plan import save_plan
from roamkb.wall.programs import seatbelt_profile
from tests.conftest import World
from tests.programs import command_in
from tests.programs import script

_SETTINGS = ".claude/settings.json"


@pytest.fixture
def installed(world: World) -> World:
    """A person's machine with hooks and the wall for Claude Code."""
    command_in(world.home)
    # the rule is the test's own
    assert world.run("install", "--claude", "--yes", cwd=world.home).status == 2
    return world


def launcher(world: World) -> Path:
    """Return what Claude Code runs its shell commands by."""
    settings = json.loads((world.home / _SETTINGS).read_text())
    return Path(settings["env"][SHELL_PREFIX])


def checked(world: World, name: str) -> dict[str, object]:
    """Return what `doctor` says about one thing."""
    checks = world.run("doctor", "--json").json["checks"]
    assert isinstance(checks, list)
    (found,) = [check for check in checks if check["name"] == name]
    assert isinstance(found, dict)
    return found


def say(world: World, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the launcher as Claude Code does."""
    return subprocess.run(
        [launcher(world), *words],
        cwd=world.personal,
        env={**world.environment(), "SHELL": "/bin/bash", **more},
        capture_output=True,
        text=True,
        check=False,
    )


def test_install_says_which_wall_it_is_and_commands_run_by_it(installed: World) -> None:
    """A second run changes nothing; uninstall leaves nothing."""
    again = installed.run("install", "--claude", "--yes", cwd=installed.home)
    assert re.search(
        r"^skip  wall: \S+/wall/shell \(around shell commands: your notes are read-only there, by .+\)$",
        again.out,
        re.MULTILINE,
    )
    ran = say(installed, f"echo in; echo x > {installed.kb}/x && pwd -P >| /dev/null")
    assert (1, "in\n") == (ran.returncode, ran.stdout)
    assert {} == installed.files()
    place = launcher(installed)
    assert checked(installed, "wall")["ok"]
    gone = installed.run("uninstall", "--claude", cwd=installed.home)
    assert "remove wall" in gone.out
    assert not place.parent.exists()
    assert not (installed.home / _SETTINGS).exists()


def test_without_a_yes_nothing_of_the_wall_is_written(world: World) -> None:
    """Neither the settings nor the program that they would name; both are shown."""
    command_in(world.home)
    ran = world.run("install", "--claude", cwd=world.home)
    assert "show  Claude Code hooks" in ran.out
    assert not (world.home / _SETTINGS).exists()
    assert not (world.home / ".local/share/roamkb/wall").exists()
    assert re.search(r"^show  wall: \S+/wall/shell \(not written", ran.out, re.MULTILINE)


def test_a_prefix_of_the_user_s_own_stays(world: World) -> None:
    """And it is said that there is no wall then."""
    command_in(world.home)
    settings = world.home / _SETTINGS
    settings.write_text(json.dumps({"env": {SHELL_PREFIX: "/opt/audit"}}))
    said = world.run("install", "--claude", "--yes", cwd=world.home).out
    assert f"offer wall: {settings} has a {SHELL_PREFIX} of yours, and it stays" in said
    assert "/opt/audit" == json.loads(settings.read_text())["env"][SHELL_PREFIX]
    assert not (world.home / ".local/share/roamkb/wall/shell").exists()
    world.run("uninstall", "--claude", cwd=world.home)
    assert {"env": {SHELL_PREFIX: "/opt/audit"}} == json.loads(settings.read_text())


def test_doctor_finds_a_wall_that_can_be_written_through(installed: World) -> None:
    """It tries, and leaves nothing in the notes."""
    place = launcher(installed)
    place.write_text('#!/bin/sh\nexec "$@"\n')
    found = checked(installed, "wall")
    assert (False, "a command behind it could write to the notes") == (found["ok"], found["detail"])
    assert {} == installed.files()
    place.unlink()
    assert "can't be run" in str(checked(installed, "wall")["detail"])


def test_a_session_hears_of_a_wall_that_is_off(installed: World) -> None:
    """A project's settings may have taken it away; one line says so, and none where it stands."""
    payload = {
        "session_id": "s1",
        "hook_event_name": "SessionStart",
        "cwd": str(installed.personal),
        "source": "startup",
    }
    said = []
    for prefix in (str(launcher(installed)), "", "/tmp/other"):
        extra = {"CLAUDE_PROJECT_DIR": str(installed.personal), **({SHELL_PREFIX: prefix} if prefix else {})}
        said.append(installed.run("hook", "session-start", input=json.dumps(payload), extra=extra).out)
    assert [0, 1, 1] == [text.count("the wall around the notes is off in this session") for text in said]


def test_what_is_too_long_to_be_judged_is_left_to_the_wall_where_it_stands(installed: World) -> None:
    """Only where the hook finds the wall around it: elsewhere nothing else would stop it."""
    command = f"cat {installed.kb}/a.org; {'a; ' * 6_000}"
    payload = {
        "session_id": "s1",
        "hook_event_name": "PreToolUse",
        "cwd": str(installed.personal),
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    for prefix, denied in ((str(launcher(installed)), False), ("", True), ("/tmp/other/wall/shell", True)):
        extra = {"CLAUDE_PROJECT_DIR": str(installed.personal), SHELL_PREFIX: prefix}
        said = installed.run("hook", "pre-tool-use", input=json.dumps(payload), extra=extra).out
        assert denied == ("more commands than can be judged in time" in said)


def test_own_hooks_and_the_user_s_go_through_and_a_project_s_do_not(installed: World) -> None:
    """By what the user's own settings say, which nothing behind the wall can change."""
    settings = installed.home / _SETTINGS
    told = json.loads(settings.read_text())
    theirs = f"echo out > {installed.kb}/theirs"
    told["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": theirs}]})
    settings.write_text(json.dumps(told))
    assert 0 == say(installed, theirs).returncode
    assert (installed.kb / "theirs").exists()
    assert say(installed, f"{theirs} ").returncode
    own = told["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    assert "{}" == say(installed, own).stdout.strip()
    assert "{}" == say(installed, "roamkb hook session-start").stdout.strip()


def test_the_launcher_costs_little_more_than_python_s_start(installed: World) -> None:
    """In CPU, beside a bare Python of the same machine, all included; twice the promise, as machines differ."""

    def cost(*words: str | Path) -> float:
        before = os.times()
        for _ in range(20):
            subprocess.run(words, cwd=installed.personal, env=installed.environment(), check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    true = shutil.which("true") or "true"
    say(installed, true)
    bare = cost(sys.executable, "-c", "pass")
    assert cost(launcher(installed), true, "x") - cost(true) < 2.6 * bare


def test_the_launcher_starts_a_python_of_any_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With blanks in it, or longer than a first line may be."""
    folder = tmp_path / ("a place " + "x" * 150)
    folder.mkdir()
    python = folder / "python'3"
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    file = tmp_path / "shell"
    file.write_text(launcher_text(str(tmp_path / "plan")))
    file.chmod(0o755)
    done = subprocess.run(
        [file], env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, check=False
    )
    assert (2, b"usage: roamkb exec -- COMMAND\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "a": 1\n}\n',
        '{"env": {"A": "b"}, "z": 1}',
        '{"sandbox": {"enabled": true}}',
        '{"sandbox": {"enabled": true, "filesystem": {"denyWrite": ["/x"]}}}',
        '{"sandbox": {"enabled": true, "filesystem": {"allowWrite": ["/x"]}}}',
        '{"sandbox": {"enabled": false}}',
    ],
)
def test_settings_are_as_before_when_the_wall_is_taken_out(text: str) -> None:
    """Byte for byte; the harness's own sandbox gets what is closed where it is on."""
    launcher = "/home/u/.local/share/roamkb/wall/shell"
    put = with_wall(text.encode(), launcher, ("/home/u/roam", "/home/u/.claude/rules"), SHELL_PREFIX)
    told = json.loads(put)
    assert launcher == told["env"][SHELL_PREFIX]
    denied = told.get("sandbox", {}).get("filesystem", {}).get("denyWrite", [])
    assert ("/home/u/roam" in denied) == ('"enabled": true' in text)
    assert put == with_wall(put, launcher, ("/home/u/roam", "/home/u/.claude/rules"), SHELL_PREFIX)
    assert text == without_wall(put, ("/home/u/roam", "/home/u/.claude/rules"), SHELL_PREFIX).decode()


def test_the_profile_for_macos_denies_each_way_to_write() -> None:
    """Below what is closed, and to move what lies above; a name is quoted as Scheme does."""
    assert (
        "(version 1)\n"
        "(allow default)\n"
        '(deny file-write* file-link\n  (subpath "/u/a \\"b\\\\c")\n  (subpath "/u/roam"))\n'
        '(allow file-write* file-link\n  (subpath "/u/roam/open"))\n'
        '(deny file-write-unlink\n  (literal "/u/sync"))\n'
    ) == seatbelt_profile(WallPaths(["/u/roam", '/u/a "b\\c'], ["/u/roam/open"], ["/u/sync"]))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("", "its own sandbox (workspace-write)"),
        ('sandbox_mode = "read-only"\n', "its own sandbox (read-only)"),
        ('sandbox_mode = "danger-full-access"\n', "none: sandbox_mode is danger-full-access"),
        ('profile = "p"\n[profiles.p]\nsandbox_mode = "danger-full-access"\n', "none: sandbox_mode"),
        ('[sandbox_workspace_write]\nwritable_roots = ["~/roam"]\n', "none: writable_roots names ~/roam"),
        ("sandbox_mode = ", "config.toml can't be read"),
    ],
)
def test_doctor_says_what_keeps_codex_out(world: World, config: str, said: str) -> None:
    """Its own sandbox does, unless it is off or lets the notes be written."""
    command_in(world.home)
    world.run("install", "--codex", "--yes", cwd=world.home)
    (world.home / ".codex" / "config.toml").write_text(config)
    found = checked(world, "wall for Codex")
    assert said in str(found["detail"])
    assert found["ok"] == said.startswith("its own")


def test_what_a_hook_of_roamkb_s_leads_to_can_t_be_put_in_place_by_a_command(installed: World) -> None:
    """Hooks run outside of the wall: a program that a command put there would do what the command can't."""
    settings = json.loads((installed.home / _SETTINGS).read_text())
    hook = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    program = Path(hook.split()[0])
    forged = f"#!/bin/sh\necho x > {installed.kb}/forged.org\n"
    program.unlink()
    program.write_text(forged)
    program.chmod(0o755)
    say(installed, hook)
    assert {} == installed.files()


def test_the_program_of_a_user_s_own_hook_can_t_be_changed_by_a_command(installed: World) -> None:
    """It runs outside of the wall; one that lies in the project stays behind it."""
    script = installed.home / "hooks" / "said.sh"
    script.parent.mkdir()
    script.write_text("echo said\n")
    settings = json.loads((installed.home / _SETTINGS).read_text())
    own = 'sh "$HOME/hooks/said.sh" >> ~/said.txt'
    projects = 'sh "$CLAUDE_PROJECT_DIR"/hook.sh'
    settings["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": line} for line in (own, projects)]})
    (installed.home / _SETTINGS).write_text(json.dumps(settings))
    (installed.home / "said.txt").write_text("")
    for line in ("echo x >> ~/hooks/said.sh", "rm ~/hooks/said.sh", "mv ~/hooks ~/hooks2"):
        assert say(installed, f"{line} && pwd -P >| /dev/null").returncode
    assert 0 == say(installed, "echo first >> ~/said.txt && pwd -P >| /dev/null").returncode
    assert 0 == say(installed, own).returncode
    assert "first\nsaid\n" == (installed.home / "said.txt").read_text()
    (installed.personal / "hook.sh").write_text(f"echo x > {installed.kb}/hook.org\n")
    assert say(installed, projects, CLAUDE_PROJECT_DIR=str(installed.personal)).returncode
    assert {} == installed.files()


def test_doctor_tries_all_that_is_closed_and_changes_nothing(installed: World) -> None:
    """A plan that leaves something out is found, whichever it is; what was tried is as it was."""
    assert checked(installed, "wall")["ok"]
    plan_file = launcher(installed).with_name("plan")
    plan = read_plan(str(plan_file))
    assert plan
    closed = [Path(path) for path in plan.closed if Path(path).exists()]
    before = [(path.stat().st_mtime_ns, path.stat().st_size) for path in closed]
    place = launcher(installed)
    made = place.read_text()
    for path in closed:
        less = read_plan(str(plan_file))
        assert less
        less.closed.remove(str(path))
        other = installed.home / "other-plan"
        assert save_plan(str(other), less)
        place.write_text(made.replace(str(plan_file), str(other)))
        found = checked(installed, "wall")
        named = "the notes" if path == installed.kb else str(path)
        assert (False, f"a command behind it could write to {named}") == (found["ok"], found["detail"])
        assert not list(path.glob(".roamkb-doctor*"))
    place.write_text(made)
    after = [(path.stat().st_mtime_ns, path.stat().st_size) for path in closed if not path.is_dir()]
    assert [one for one, path in zip(before, closed, strict=True) if not path.is_dir()] == after


def test_doctor_finds_a_closed_file_that_has_another_name(installed: World) -> None:
    """What can be written by that name is written behind any wall."""
    note = installed.node("20240101000000-oak.org", "27a75a1c-9d8f-41b0-bc4c-a4889e25fe64", "Oak")
    other = installed.home / "backup.org"
    other.hardlink_to(note)
    found = checked(installed, "wall")
    assert (False, True) == (found["ok"], f"{note} has another name" in str(found["detail"]))
    other.unlink()
    assert checked(installed, "wall")["ok"]


def test_a_hook_goes_through_only_by_programs_that_no_command_can_put_in_place(installed: World) -> None:
    """One of a home is closed; one that a command puts before it in PATH, or into the project, stays walled."""
    home, place = installed.home, installed.home / "tools"
    place.mkdir()
    first = home / "first"
    first.mkdir()
    tool = script(place / "said", f"echo x > {installed.kb}/said.org")
    script(installed.personal / "check.sh", f"echo x > {installed.kb}/check.org")
    settings = json.loads((home / _SETTINGS).read_text())
    lines = ["said now", "./check.sh", "sh check.sh"]
    settings["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": line} for line in lines]})
    (home / _SETTINGS).write_text(json.dumps(settings))
    path = f"{first}:{place}:{os.environ['PATH']}"
    for line in ("true", f"echo x >> {tool}", f"mv {place} {place}2"):
        assert bool(say(installed, f"{line} && pwd -P >| /dev/null", PATH=path).returncode) == (line != "true")
    assert 0 == say(installed, "said now", PATH=path).returncode
    assert ["said.org"] == list(installed.files())
    planted = f"cp {tool} {first}/said && sed -i s/said.org/planted.org/ {first}/said && pwd -P >| /dev/null"
    assert 0 == say(installed, planted, PATH=path).returncode
    assert say(installed, "said now", PATH=path).returncode
    for line in lines[1:]:
        assert say(installed, line, PATH=path).returncode
    assert ["said.org"] == list(installed.files())
