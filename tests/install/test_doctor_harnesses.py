"""The doctor proves hooks by running them, and names what would keep one from running."""

import hashlib
import json
import re
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.fs.json_edit import BadJson
from roamkb.fs.locks import StateFolders
from roamkb.harnesses.claude_code import HARNESS as CLAUDE_CODE
from roamkb.harnesses.claude_code import NEW_FILE_TEXT as CLAUDE_MADE
from roamkb.harnesses.claude_code import deny_rules
from roamkb.harnesses.codex import HARNESS as CODEX
from roamkb.harnesses.codex import NEW_FILE_TEXT as CODEX_MADE
from roamkb.harnesses.settings_json import with_hooks
from roamkb.install.checks.doctor_harnesses import check_harnesses
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import run_checks
from roamkb.install.store import probe as harnesses
from roamkb.install.store.machine import DoctorContext
from tests.conftest import NOON
from tests.conftest import World
from tests.interfaces.mcp.mcp_client import connected
from tests.interfaces.page.paged import paging
from tests.programs import command_in
from tests.programs import script

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a hook take as long as a busy machine needs; a user's harness has no such patience."""
    monkeypatch.setattr(harnesses, "_PATIENCE", None)


@pytest.fixture
def patient(world: World) -> DoctorContext:
    """Return a machine with hooks in both harnesses, whose program answers as ours does."""
    program = str(script(world.home / "bin" / "roamkb", "echo '{}'"))
    wall = '{"hookSpecificOutput": {"permissionDecision": "deny"}}'
    script(world.home / "bin" / "roamkb", f"echo '{wall}'")
    for folder in (".claude", ".codex"):
        (world.home / folder).mkdir(exist_ok=True)
    claude = with_hooks(
        None, CLAUDE_CODE.wanted_hooks, program, new_file_text=CLAUDE_MADE, deny=deny_rules(("~/roam",))
    )
    (world.home / ".claude" / "settings.json").write_bytes(claude)
    codex = with_hooks(None, CODEX.wanted_hooks, program, new_file_text=CODEX_MADE)
    (world.home / ".codex" / "hooks.json").write_bytes(codex)
    (world.home / ".codex" / "config.toml").write_text(trusting(world.home / ".codex" / "hooks.json"))
    rule = find_rule(world.home, account_home=world.home)
    assert isinstance(rule, Rule)
    return DoctorContext(
        rule=rule,
        project=Project(kind=ProjectKind.PERSONAL, root=world.personal, reason="it lies there"),
        version="0.1.0",
        home=world.home,
        search_path="/usr/bin:/bin",
        host="desk",
        state=StateFolders(state=world.state, cache=world.home / "cache"),
        now=NOON,
    )


def trusting(hooks: Path) -> str:
    """Return the tables in which Codex 0.169 keeps what its human trusted, all of `hooks`."""
    tables = []
    for event, groups in json.loads(hooks.read_text())["hooks"].items():
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        kept = {"event_name": name, "hooks": [{**groups[0]["hooks"][0], "async": False}]}
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        tables.append(f'[hooks.state."{hooks}:{name}:0:0"]\ntrusted_hash = "sha256:{digest}"\n')
    return "\n".join(tables)


def of(patient: DoctorContext, name: str = "Claude Code") -> DoctorCheck:
    """Return what is said of one harness."""
    (found,) = (check for check in check_harnesses(patient) if check.name == name)
    return found


def change(patient: DoctorContext, change: Change) -> None:
    """Change Claude Code's settings."""
    path = patient.home / ".claude" / "settings.json"
    told = json.loads(path.read_bytes())
    change(told)
    path.write_text(json.dumps(told))


def handler(told: dict[str, Any], event: str) -> dict[str, Any]:
    """Return our handler of an event."""
    found: dict[str, Any] = told["hooks"][event][0]["hooks"][0]
    return found


def test_hooks_that_answer_are_well(patient: DoctorContext) -> None:
    """In both harnesses."""
    assert (True, "11 hooks, each answered") == (of(patient).ok, of(patient).detail)
    assert (True, "10 hooks, each answered") == (of(patient, "Codex").ok, of(patient, "Codex").detail)


@pytest.mark.parametrize(
    ("old", "new", "events"),
    [
        ("", "", ("SessionStart", "PreToolUse", "SessionEnd")),
        ('"timeout": 30', '"timeout": 31', ("SessionStart", "Stop")),
        ("hook stop", "hook  stop", ("Stop",)),
    ],
)
def test_hooks_that_nobody_trusted_are_named(
    patient: DoctorContext, old: str, new: str, events: tuple[str, ...]
) -> None:
    """Nor those that are others now; Codex says nothing of them."""
    path = patient.home / ".codex" / "hooks.json"
    if old:
        path.write_text(path.read_text().replace(old, new))
    else:
        (patient.home / ".codex" / "config.toml").unlink()
    found = of(patient, "Codex")
    assert (False, True) == (found.ok, "/hooks" in found.fix)
    assert all(event in found.detail for event in events)
    assert old == "" or found.detail.endswith(", ".join(events))


def test_our_own_hooks_answer_and_change_nothing(patient: DoctorContext, world: World) -> None:
    """Each is the real program, run in a folder of its own."""
    program = command_in(world.home)
    settings = patient.home / ".claude" / "settings.json"
    wanted = with_hooks(
        None, CLAUDE_CODE.wanted_hooks, str(program), new_file_text=CLAUDE_MADE, deny=deny_rules(("~/roam",))
    )
    settings.write_bytes(wanted)
    before = sorted(path for path in world.home.rglob("*"))
    found = of(patient)
    assert (True, "") == (found.ok, found.fix), found.detail
    assert before == sorted(path for path in world.home.rglob("*"))


def test_a_permission_rule_that_is_gone_is_worth_knowing(patient: DoctorContext) -> None:
    """A human may have taken it out, or the knowledge base has moved since."""
    change(patient, lambda told: told["permissions"]["deny"].remove("Edit(~/roam/**)"))
    assert of(patient).ok
    assert "Edit(~/roam/**)" in of(patient).fix


def test_no_hooks_are_no_fault(patient: DoctorContext) -> None:
    """Recall works by the command as well; what is worth knowing is said."""
    for name in (".claude/settings.json", ".codex/hooks.json"):
        (patient.home / name).unlink()
    assert of(patient).ok
    assert "--claude" in of(patient).fix
    assert "--codex" in of(patient, "Codex").fix
    (patient.home / ".claude" / "settings.json").write_text('{"enabledPlugins": {"roamkb@roamkb": true}}')
    assert (True, "the plugin roamkb@roamkb brings them") == (of(patient).ok, of(patient).detail)
    change(patient, lambda told: told.update(disableAllHooks=True))
    assert "disableAllHooks" in of(patient).detail


def test_a_project_can_turn_hooks_off(patient: DoctorContext) -> None:
    """Claude Code then runs none there, and says nothing; a file that isn't JSON it leaves out."""
    assert patient.project.root
    settings = patient.project.root / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{")
    assert of(patient).ok
    settings.write_text('{"disableAllHooks": true}')
    assert not of(patient).ok
    assert f"{settings} says disableAllHooks" in of(patient).detail


@pytest.mark.parametrize(
    ("do", "said"),
    [
        (lambda told: told.update(disableAllHooks=True), "disableAllHooks"),
        (lambda told: told.update(enabledPlugins={"roamkb@roamkb": True}), "each hook runs twice"),
        (lambda told: told["hooks"].pop("Stop"), "nothing runs at Stop"),
        (
            lambda told: told["hooks"].update(PreTooluse=told["hooks"].pop("PreToolUse")),
            "PreTooluse is no event",
        ),
        (lambda told: told["hooks"].update(Stop=told["hooks"]["SubagentStop"]), "runs `hook subagent-stop`"),
        (lambda told: handler(told, "SessionStart").update(timeout=1), "SessionStart has 1 s, less than 30"),
        (lambda told: handler(told, "SessionEnd").pop("timeout"), "share 1.5 s"),
        (lambda told: told["hooks"]["PreToolUse"][0].update(matcher="Bash|Edit"), "doesn't hear of Write"),
        (lambda told: told["hooks"]["PreToolUse"][0].update(matcher="^Bash$"), "doesn't hear of Edit"),
        (
            lambda told: handler(told, "Stop").update(command="/gone/roamkb hook stop"),
            "/gone/roamkb is missing",
        ),
        (lambda told: handler(told, "Stop").update(command="roamkb hook stop"), "isn't on the PATH"),
    ],
)
def test_what_a_harness_skips_without_a_word_is_said(patient: DoctorContext, do: Change, said: str) -> None:
    """With what to do about it."""
    change(patient, do)
    assert not of(patient).ok
    assert said in of(patient).detail
    assert of(patient).fix
    assert of(patient, "Codex").ok


def test_a_matcher_that_only_javascript_reads_is_not_judged(patient: DoctorContext) -> None:
    """A named group, for one, is spelt differently there."""
    change(patient, lambda told: told["hooks"]["PreToolUse"][0].update(matcher="(?<name>.*)"))
    assert of(patient).ok


@pytest.mark.parametrize(
    ("text", "said"),
    [("echo hello", "answers no JSON"), ("exit 1", "status 1"), ("echo '{}'", "lets a session that may not")],
)
def test_a_program_that_does_not_answer_is_found_out(patient: DoctorContext, text: str, said: str) -> None:
    """It is run; a wall that lets everything through is none."""
    script(patient.home / "bin" / "roamkb", text)
    assert said in of(patient).detail
    assert said in of(patient, "Codex").detail


def test_a_program_that_cannot_be_executed_is_named_once(patient: DoctorContext) -> None:
    """Not once for each hook."""
    (patient.home / "bin" / "roamkb").chmod(0o644)
    assert f"{patient.home}/bin/roamkb can't be executed: its hooks are skipped" == of(patient).detail


@pytest.mark.parametrize(
    ("file", "name"),
    [
        (".claude/settings.json", "Claude Code"),
        (".codex/hooks.json", "Codex"),
        (".codex/config.toml", "Codex"),
    ],
)
def test_a_broken_file_is_a_fault_of_its_own(patient: DoctorContext, file: str, name: str) -> None:
    """The other harness is looked at all the same."""
    Path(patient.home, file).write_text("{ // mine")
    assert not of(patient, name).ok
    assert file in of(patient, name).detail
    assert 1 == sum(not check.ok for check in check_harnesses(patient))


def test_codex_may_have_hooks_turned_off(patient: DoctorContext) -> None:
    """Then nothing of ours is run there."""
    (patient.home / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    assert "turns hooks off" in of(patient, "Codex").detail


@pytest.mark.parametrize(
    ("file", "data", "said"),
    [
        (".gemini/settings.json", b'{\n  // mine\n  "theme":"x"\n}\n', "has comments, which JSON has not (line 2)"),
        (".claude/settings.json", b'{ // mine\n"a": 1}', "has comments, which JSON has not (line 1)"),
        (".claude/settings.json", b'{"a": ', "isn't JSON"),
        (".claude/settings.json", b'{"a": 1, "a": 2}', 'names "a" twice in one object'),
        (".claude/settings.json", b'{"a": "\xff"}', "isn't UTF-8 text"),
        (".claude/settings.json", b'{"a": %s}' % (b"1" * 5000), "has a number of too many digits"),
        (".codex/hooks.json", b"{", "isn't JSON"),
    ],
)
def test_settings_that_are_no_json_are_one_fault(world: World, file: str, data: bytes, said: str) -> None:
    """`doctor` reports the file and leaves it alone; every other check is made."""
    path = world.home / file
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    done = world.run("doctor")
    assert 0 == done.status, done.err
    faults = [line for line in done.out.splitlines() if line.startswith("!!") and str(path) in line]
    assert 1 == len(faults), done.out
    assert said in faults[0]
    assert data == path.read_bytes()


@pytest.mark.parametrize(("target", "said"), [(None, "is a folder"), ("settings.json", "leads in a circle")])
def test_a_folder_or_a_circle_of_links_is_called_so(world: World, target: str | None, said: str) -> None:
    """It holds no JSON that could be wrong."""
    path = world.home / ".claude" / "settings.json"
    path.mkdir() if target is None else path.symlink_to(target)
    (fault,) = (line for line in world.run("doctor").out.splitlines() if line.startswith("!!") and str(path) in line)
    assert said in fault
    assert "JSON" not in fault


def test_settings_that_are_no_json_are_a_fault_at_each_door(world: World) -> None:
    """The page's first view and its checks, HTTP and MCP answer as ever."""
    (world.home / ".claude" / "settings.json").write_text("{ // mine")
    with paging(world) as paged:
        cookie = paged.enter()
        for view in ("/", "/checks"):
            answer = paged.get(view, cookie=cookie)
            assert (200, True) == (answer.status, b"has comments, which JSON has not" in answer.body)
        checks = paged.served.get("/api/doctor").json["checks"]
        assert ["Claude Code"] == [check["name"] for check in checks if "has comments" in check["detail"]]
    with connected(world) as session:
        assert "has comments" in str(session.data("status"))


def test_a_check_that_breaks_off_takes_no_other_with_it() -> None:
    """Its fault names a place in roamkb's code, and what was checked before it stays."""

    def broken() -> Iterator[DoctorCheck]:
        yield DoctorCheck(name="first", ok=True, detail="well")
        raise BadJson("holds nothing")

    first, fault = run_checks("group", broken())
    assert ("first", True) == (first.name, first.ok)
    assert ("group", False) == (fault.name, fault.ok)
    assert "BadJson at " in fault.detail
    assert "report" in fault.fix
