"""Where our command is, and whether a hook answers: on real programs."""

from pathlib import Path

import pytest

from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.model import Rule
from roamkb.harnesses.claude_code import HARNESS
from roamkb.install.store.probe import find_program
from roamkb.install.store.probe import is_read_only
from roamkb.install.store.probe import probe
from roamkb.install.store.probe import program_fault
from tests.conftest import World
from tests.programs import command_in
from tests.programs import script


def test_the_command_is_where_make_install_puts_it(tmp_path: Path) -> None:
    """Else on the PATH, else beside this Python; always by its absolute path."""
    beside = script(tmp_path / "venv" / "bin" / "roamkb")
    python = beside.with_name("python3")
    assert beside == find_program(tmp_path, "/nowhere", python)
    found = script(tmp_path / "bin" / "roamkb")
    assert found == find_program(tmp_path, str(found.parent), python)
    usual = script(tmp_path / ".local" / "bin" / "roamkb")
    assert usual == find_program(tmp_path, str(found.parent), python)
    usual.chmod(0o644)
    assert found == find_program(tmp_path, str(found.parent), python)
    assert find_program(tmp_path, "", tmp_path / "python3") is None


def test_a_program_that_no_harness_can_run_is_a_fault(tmp_path: Path) -> None:
    """By its name alone it has to be on the PATH."""
    program = script(tmp_path / "roamkb")
    assert program_fault(program) is None
    assert program_fault(Path("roamkb"), str(tmp_path)) is None
    assert "isn't on the PATH" in (program_fault(Path("roamkb"), "/nowhere") or "")
    program.chmod(0o644)
    assert "executed" in (program_fault(program) or "")
    assert "missing" in (program_fault(tmp_path / "gone") or "")
    assert "executed" in (program_fault(tmp_path) or "")


def test_a_file_may_be_read_only(tmp_path: Path) -> None:
    """Also for root, who could write to it."""
    path = script(tmp_path / "a")
    assert not is_read_only(path)
    path.chmod(0o444)
    assert is_read_only(path)
    assert not is_read_only(tmp_path / "gone")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("echo '{}'", None),
        ("echo hello", "no JSON"),
        ("echo '[]'", "no JSON"),
        ("echo '{}'; exit 2", "status 2"),
        ("cat", None),
    ],
)
def test_a_hook_answers_one_object(tmp_path: Path, text: str, fault: str | None) -> None:
    """Anything else a harness takes for trouble, or for words of ours."""
    program = script(tmp_path / "roamkb", text)
    said = probe((str(program), "hook", "stop"), HARNESS, home=tmp_path, search_path="/usr/bin:/bin", rule=None)
    assert (said is None) == (fault is None)
    assert (fault or "") in (said or "")


def test_a_program_that_is_none_is_a_fault(tmp_path: Path) -> None:
    """The kernel says why."""
    program = tmp_path / "roamkb"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(0o755)
    said = probe((str(program), "hook", "stop"), HARNESS, home=tmp_path, search_path="", rule=None)
    assert "can't be run" in (said or "")


def test_the_wall_is_proved_by_a_write_that_it_has_to_deny(world: World) -> None:
    """The real hook does; one that lets everything through is found out."""
    rule = find_rule(world.home, account_home=world.home)
    assert isinstance(rule, Rule)
    before = world.files()
    real = command_in(world.home)

    def judged(program: Path) -> str | None:
        words = (str(program), "hook", "pre-tool-use")
        return probe(words, HARNESS, home=world.home, search_path="/usr/bin:/bin", rule=rule)

    assert judged(real) is None
    broken = script(world.home / "broken", "echo '{}'")
    assert "may not write" in (judged(broken) or "")
    assert before == world.files()
