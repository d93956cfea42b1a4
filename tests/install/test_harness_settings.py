"""Hooks put into harnesses' settings, shown, asked about, and taken out again: on real files."""

import json
from pathlib import Path
from typing import Any

import pytest

from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.core.errors import ChangedOnDisk
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.fs.locks import StateFolders
from roamkb.install.install import InstallContext
from roamkb.install.install import install
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import StepOutcome
from roamkb.install.setup_dialog import AskFunction
from roamkb.install.store.apply import shipped_rules
from roamkb.install.uninstall import uninstall
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import wall_of

SETTINGS = b"""{
    "model": "opus",
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done"}]}
        ]
    }
}
"""
_WHAT = "Claude Code hooks"


@pytest.fixture
def world(world: World) -> World:
    """A machine whose rule was made by `install`."""
    (world.home / ".claude" / "rules" / "knowledge-base.md").unlink()
    roots: dict[str, Any] = {"work_roots": (world.home / "work",), "project_parents": (world.home / "code",)}
    put(world, harnesses=(), kb=world.kb, **roots)
    return world


def put(
    world: World,
    *,
    ask: AskFunction | None = None,
    cwd: Path | None = None,
    program: str | None = "/opt/roamkb",
    **wishes: Any,
) -> InstallReport:
    """Install with `wishes` (Claude Code and `yes` unless told otherwise)."""
    return install(
        InstallOptions(
            **{
                "harnesses": ("claude-code",),
                "yes": ask is None,
                "program": Path(program) if program else None,
                **wishes,
            }
        ),
        context_of(world, cwd=cwd, ask=ask),
    )


def context_of(world: World, *, cwd: Path | None, ask: AskFunction | None = None) -> InstallContext:
    """Return the world's machine, and a session in `cwd`."""
    return InstallContext(
        home=world.home,
        data=world.home / ".local/share/roamkb",
        state=StateFolders(state=world.state, cache=world.home / "cache"),
        account_home=world.home,
        session=CallOrigin(cwd=cwd or world.home),
        rules=shipped_rules(),
        wall=wall_of(world.home),
        now=NOON,
        new_id=lambda: "id",
        ask=ask,
    )


def take(world: World, *, cwd: Path | None = None, **wishes: Any) -> InstallReport:
    """Uninstall with `wishes` (Claude Code unless told otherwise)."""
    return uninstall(InstallOptions(**{"harnesses": ("claude-code",), **wishes}), context_of(world, cwd=cwd))


def of(report: InstallReport, what: str = _WHAT) -> InstallStep:
    """Return the one step that is about `what`."""
    (step,) = (step for step in report.steps if step.what == what)
    return step


def settings(world: World, data: bytes | None = None) -> Path:
    """Return where Claude Code's settings are, with `data` in them."""
    path = world.home / ".claude" / "settings.json"
    if data is not None:
        path.write_bytes(data)
    return path


def test_hooks_and_rules_are_put_in_once(world: World) -> None:
    """What the user has stays; the second run touches nothing, not even a time."""
    path = settings(world, SETTINGS)
    assert StepOutcome.WRITTEN is of(put(world)).outcome
    told = json.loads(path.read_bytes())
    assert "opus" == told["model"]
    assert ["say done", "/opt/roamkb hook stop"] == [group["hooks"][0]["command"] for group in told["hooks"]["Stop"]]
    assert "Edit(~/roam/**)" in told["permissions"]["deny"]
    touched = path.stat().st_mtime_ns
    assert StepOutcome.UNCHANGED is of(put(world)).outcome
    assert touched == path.stat().st_mtime_ns


def test_uninstalling_gives_the_file_as_it_was(world: World) -> None:
    """Byte for byte."""
    path = settings(world, SETTINGS)
    put(world)
    assert StepOutcome.REMOVED is of(take(world)).outcome
    assert SETTINGS == path.read_bytes()


def test_settings_that_were_made_for_the_hooks_go_with_them(world: World) -> None:
    """Where there was no file there is none again."""
    path = settings(world)
    put(world)
    assert path.is_file()
    take(world)
    assert not path.exists()
    assert StepOutcome.UNCHANGED is of(take(world)).outcome


def test_the_rules_are_about_the_knowledge_base_that_counts(world: World) -> None:
    """A rule that isn't roamkb's own stays as it is, and says where the notes are."""
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    text = "\n".join(line for line in rule.read_text().splitlines() if "own copy, kept" not in line)
    rule.write_text(text.replace("~/roam", "~/notes"))
    put(world)
    assert "Edit(~/notes/**)" in json.loads(settings(world).read_bytes())["permissions"]["deny"]


def test_without_a_yes_it_is_only_shown(world: World) -> None:
    """The status says that something is left to do; the diff says what."""
    path = settings(world, SETTINGS)
    report = put(world, yes=False)
    assert StepOutcome.SHOWN is of(report).outcome
    assert 2 == report.exit_code
    assert '+                        "command": "/opt/roamkb hook session-start",' in of(report).diff
    assert SETTINGS == path.read_bytes()
    dry = put(world, yes=False, dry_run=True)
    assert 0 == dry.exit_code
    assert of(report).diff == of(dry).diff
    assert SETTINGS == path.read_bytes()


@pytest.mark.parametrize(("answer", "is_done"), [("y", True), ("Yes", True), ("", False), ("no", False)])
def test_on_a_terminal_the_human_is_asked(world: World, answer: str, is_done: bool) -> None:
    """With all that would change before their eyes; only a yes is one."""
    path = settings(world, SETTINGS)
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    report = put(world, ask=ask)
    (question,) = asked
    assert "hook pre-tool-use" in question
    assert str(path) in question
    assert is_done == (SETTINGS != path.read_bytes())
    assert (0 if is_done else 2) == report.exit_code
    assert "" == of(report).diff, "it was shown before the question"


def test_all_that_is_added_to_one_long_line_is_shown(world: World) -> None:
    """Who says yes says it to all of it."""
    settings(world, b'{"model":"opus"}')
    assert "roamkb curate --apply" in of(put(world, dry_run=True)).diff


def test_a_diff_shows_no_credential_and_no_control_character(world: World) -> None:
    """Settings hold keys, and names that somebody else chose."""
    key = "sk-ant-api03-" + "a1B2" * 24
    settings(world, json.dumps({"env": {"KEY": key, "x": "\x1b]0;a\x07"}}, ensure_ascii=False).encode())
    diff = of(put(world, dry_run=True)).diff
    assert key not in diff
    assert "\x1b" not in diff


@pytest.mark.parametrize(
    "data", [b'{"a": 1, // mine\n}', b"{", b"[]", b'{"hooks": 1}', b"\xff\xfe{\x00}\x00", b'{"a": 1, "a": 2}']
)
def test_malformed_settings_are_reported_and_left_alone(world: World, data: bytes) -> None:
    """The rule is installed all the same."""
    path = settings(world, data)
    report = put(world)
    assert StepOutcome.LEFT_ALONE is of(report).outcome
    assert 2 == report.exit_code
    assert data == path.read_bytes()


def test_a_link_of_a_dotfile_manager_stays_one(world: World) -> None:
    """The file is edited where it is kept."""
    kept = world.home / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_bytes(SETTINGS)
    path = settings(world)
    path.symlink_to("../dotfiles/claude.json")
    put(world)
    assert "../dotfiles/claude.json" == str(path.readlink())
    assert b"hook pre-tool-use" in kept.read_bytes()
    take(world)
    assert SETTINGS == kept.read_bytes()
    assert path.is_symlink()


def test_what_is_no_file_is_left_alone(world: World) -> None:
    """A link to nothing, and a folder."""
    path = settings(world)
    path.symlink_to("nowhere.json")
    assert StepOutcome.LEFT_ALONE is of(put(world)).outcome
    path.unlink()
    path.mkdir()
    assert StepOutcome.LEFT_ALONE is of(put(world)).outcome


def test_what_is_read_only_is_left_alone(world: World) -> None:
    """Whoever made it so had a reason; the mode stays what it is elsewhere."""
    path = settings(world, SETTINGS)
    path.chmod(0o444)
    assert StepOutcome.LEFT_ALONE is of(put(world)).outcome
    assert SETTINGS == path.read_bytes()
    path.chmod(0o600)
    put(world)
    assert 0o600 == path.stat().st_mode & 0o777


def test_a_change_meanwhile_is_not_overwritten(world: World) -> None:
    """The harness itself writes to that file: while the human thinks, for one."""
    path = settings(world, SETTINGS)

    def ask(_: str) -> str:
        path.write_bytes(SETTINGS.replace(b"opus", b"haiku"))
        return "y"

    with pytest.raises(ChangedOnDisk):
        put(world, ask=ask)
    assert SETTINGS.replace(b"opus", b"haiku") == path.read_bytes()


def test_hooks_need_a_program(world: World) -> None:
    """One that nobody can run is skipped without a word, so that it isn't put in."""
    with pytest.raises(UsageError, match="no command roamkb"):
        put(world, program=None)
    assert not settings(world).exists()


def test_at_work_hooks_are_added_and_never_changed_or_taken(world: World) -> None:
    """To add denies more; anything else is the human's."""
    path = settings(world, SETTINGS)
    put(world, cwd=world.work)
    there = path.read_bytes()
    assert SETTINGS != there
    assert "another one" in of(put(world, dry_run=True, program="/tmp/new/roamkb")).why
    with pytest.raises(Refused):
        put(world, cwd=world.work, program="/tmp/evil/roamkb")
    with pytest.raises(Refused):
        take(world, cwd=world.work)
    assert there == path.read_bytes()
    assert StepOutcome.UNCHANGED is of(put(world, cwd=world.work)).outcome


def test_settings_in_the_knowledge_base_are_not_touched_from_elsewhere(world: World) -> None:
    """Where somebody keeps their dotfiles there, only personal sessions write."""
    kept = world.kb / "settings.json"
    kept.write_bytes(SETTINGS)
    settings(world).symlink_to(kept)
    for cwd in (world.work, world.unknown):
        with pytest.raises(Refused):
            put(world, cwd=cwd)
    assert SETTINGS == kept.read_bytes()


def test_codex_gets_hooks_and_a_server(world: World) -> None:
    """In its own two files; the report says that it has to be told to trust them."""
    report = put(world, harnesses=("codex",), has_mcp=True)
    folder = world.home / ".codex"
    assert "trust" in of(report, "Codex hooks").why
    assert b"/opt/roamkb hook pre-tool-use" in (folder / "hooks.json").read_bytes()
    assert b"[mcp_servers.roamkb]" in (folder / "config.toml").read_bytes()
    again = put(world, harnesses=("codex",), has_mcp=True)
    assert {StepOutcome.UNCHANGED} == {step.outcome for step in again.steps if step.what.startswith("Codex")}
    take(world, harnesses=("codex",))
    assert not any(folder.iterdir())


def test_codex_gets_no_server_that_would_not_start(world: World) -> None:
    """Without the library `roamkb mcp` is an error at each start."""
    put(world, harnesses=("codex",))
    assert ["hooks.json"] == [path.name for path in (world.home / ".codex").iterdir()]


def test_a_broken_config_of_codex_is_left_alone(world: World) -> None:
    """Its hooks are put in all the same."""
    config = world.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_bytes(b"model = \n")
    report = put(world, harnesses=("codex",), has_mcp=True)
    assert StepOutcome.LEFT_ALONE is of(report, "Codex MCP server").outcome
    assert StepOutcome.WRITTEN is of(report, "Codex hooks").outcome
    assert b"model = \n" == config.read_bytes()
