"""Completion in the real bash, zsh and fish."""

import pytest

from roamkb.interfaces.completion.scripts import completed_commands
from roamkb.interfaces.completion.scripts import completion_script
from tests.conftest import World
from tests.interfaces.completion.shells import SHELLS
from tests.interfaces.completion.shells import CompletingShell

#: A line, and all that is offered at its end without starting roamkb.
_FIXED: tuple[tuple[str, list[str]], ...] = (
    ("roamkb se", ["search", "serve", "setup"]),
    ("roamkb tags --", ["--help", "--json", "--kb", "--project"]),
    ("roamkb tags -", ["--help", "--json", "--kb", "--project", "-h"]),
    ("roamkb links --gr", ["--graph"]),
    ("roamkb task ", ["done", "failed", "list", "similar", "start"]),
    ("roamkb template --reason why up", ["update"]),
    ("roamkb used some-key --match ", ["exact", "similar", "suggested"]),
    ("roamkb inject o", ["off", "on"]),
    ("roamkb hook sess", ["session-end", "session-start"]),
    ("roamkb classify sr", ["src/"]),
    ("roamkb write --title x", []),
    ("roamkb task start --category x", []),
)


@pytest.fixture
def completing(world: World, request: pytest.FixtureRequest) -> CompletingShell:
    """A shell of the world's person."""
    shell: str = request.param
    (world.personal / "src").mkdir()
    return CompletingShell(shell, world, world.run("completion", shell).out)


every_shell = pytest.mark.parametrize("completing", SHELLS, indirect=True)


@every_shell
@pytest.mark.parametrize(("line", "offered"), _FIXED)
def test_fixed_words_are_completed_without_roamkb(completing: CompletingShell, line: str, offered: list[str]) -> None:
    """Commands, options, choices and folders are in the script."""
    assert [one.rstrip("/") for one in offered] == [one.rstrip("/") for one in completing.offers(line)]
    assert 0 == completing.calls


@every_shell
def test_a_value_after_an_equals_sign_is_completed(completing: CompletingShell) -> None:
    """As after a space; shells differ in whether they say the option again."""
    offered = [one.removeprefix("--source=") for one in completing.offers("roamkb write --source=")]
    assert ["external", "inferred", "observed", "user-stated"] == offered


@every_shell
def test_values_of_the_notes_and_the_log_are_asked_for(completing: CompletingShell, world: World) -> None:
    """Tags, titles, types, keys and tasks, each by one call of roamkb."""
    world.node("a.org", "0a1b2c3d-0000-4000-8000-000000000001", "Zebra's stripes", tags=":africa:")
    world.run("init")
    world.run("learn", "Backups run at night", "--type", "gotcha", "--task", "bd-12")
    world.run("task", "start", "bd-77", "--title", "Count the zebras")
    assert ["africa"] == completing.offers("roamkb search --tag af")
    assert ["gotcha"] == completing.offers("roamkb recall --type got")
    assert ["gotcha-backups-run-at-night"] == completing.offers("roamkb pin ")
    assert ["bd-77"] == completing.offers("roamkb relevant --task bd-7")
    assert ["Zebra's stripes"] == [one.replace("\\", "") for one in completing.offers("roamkb show Ze")]
    assert 5 == completing.calls


@every_shell
def test_the_names_of_further_knowledge_bases_are_completed(completing: CompletingShell, world: World) -> None:
    """As the rule has them; `all` where it may be said, and nothing where there are none."""
    assert [] == completing.offers("roamkb write --kb ")
    rule = world.home / ".claude" / "rules" / "knowledge-base.md"
    (world.home / "club").mkdir()
    blocks = f"```roamkb:kb/club\n{world.home}/club\n```\n\n```roamkb:project-parents/club\n{world.personal}\n```\n"
    rule.write_text(f"{rule.read_text()}\n{blocks}")
    assert ["all", "club"] == completing.offers("roamkb search --kb ")
    assert ["club"] == completing.offers("roamkb show --kb c")
    assert ["club"] == completing.offers("roamkb write --kb ")
    assert ["club"] == completing.offers("roamkb uninstall --kb-name ")


@every_shell
def test_words_of_others_do_nothing_in_a_shell(completing: CompletingShell, world: World) -> None:
    """A title that a shell would run, or a terminal obey, is quoted or left out."""
    world.node("a.org", "0a1b2c3d-0000-4000-8000-000000000001", "Zero $(touch ran) `touch ran`")
    world.node("b.org", "0a1b2c3d-0000-4000-8000-000000000002", "Zero \x1b[2J screens")
    (offered,) = completing.offers("roamkb show Zer")
    assert "Zero $(touch ran) `touch ran`" == offered.replace("\\", "")
    assert not (world.personal / "ran").exists()


@pytest.mark.parametrize("completing", ["bash"], indirect=True)
def test_in_an_opened_quote_nothing_is_offered_that_would_run_or_end_it(
    completing: CompletingShell, world: World
) -> None:
    """There bash inserts a value as it is; what other shells insert they quote themselves."""
    titles = [
        "Zero $(touch ran)",
        "Zero `touch ran`",
        'Zero "; touch ran',
        "Zero !ran",
        "Zero \\",
        "Zero's; touch ran '",
    ]
    for number, title in enumerate([*titles, "Zero is even"]):
        world.node(f"{number}.org", f"0a1b2c3d-0000-4000-8000-00000000000{number}", title)
    assert ["Zero is even", "Zero's; touch ran '"] == completing.offers('roamkb show "Zer')
    assert sorted({*titles, "Zero is even"} - {"Zero's; touch ran '"}) == completing.offers("roamkb show 'Zer")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_each_script(shell: str) -> None:
    """With its help where the shell shows one."""
    text = completion_script(shell)
    for command in completed_commands():
        for option in command.named_options:
            assert option.flag.removeprefix("--" if shell == "fish" else "") in text
            assert shell == "bash" or option.help[:12] in text.replace("\\", "").replace("'''", "'")


def test_another_shell_is_refused(world: World) -> None:
    """With those that there are."""
    ran = world.run("completion", "tcsh")
    assert (2, "") == (ran.status, ran.out)
    assert "bash, zsh, fish" in ran.err


def test_no_value_is_no_error_to_see(world: World) -> None:
    """Where there are neither notes nor a log, or the source isn't one."""
    for words in (["keys"], ["nothing", ""], []):
        ran = world.run("--complete", *words, cwd=world.unknown)
        assert (1, "", "") == (ran.status, ran.out, ran.err)
