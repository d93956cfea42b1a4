"""The queue of lines in the human's editor: what is saved is what is done."""

import pytest

from tests.conftest import World
from tests.curation.test_review import editor
from tests.human import at_a_terminal
from tests.instructions.test_approve import content
from tests.instructions.test_approve import proposed
from tests.instructions.test_propose import CENTS
from tests.instructions.test_propose import DATES
from tests.instructions.test_propose import RULES
from tests.instructions.test_propose import YEARS
from tests.instructions.test_propose import happened
from tests.instructions.test_propose import rules


def setting(*states: str) -> str:
    """A script that sets the headings, in their order."""
    wanted = " ".join(states)
    return (
        f"""awk -v wanted="{wanted}" 'BEGIN {{ split(wanted, to, " ") }} """
        """/^[*] TODO/ { n++; if (to[n]) sub(/TODO/, to[n]) } { print }' "$2" > "$2.new" && """
        """cat "$2.new" > "$2" && rm "$2.new" """
    )


def test_some_land_some_never_and_some_wait(world: World) -> None:
    """One question for all of it; the file is gone afterwards."""
    first, second, _ = proposed(world, CENTS, YEARS, DATES)["proposals"]
    extra = editor(world, setting("APPROVE", "REJECT", "TODO"))
    ran, terminal = at_a_terminal(world, "review", "--edit", "--reason", "Said elsewhere", extra=extra)
    assert 0 == ran.status, ran.err
    assert f"+{first['text']}" in terminal and second["text"] in terminal
    assert [first["id"]] == [event["proposal"] for event in happened(world, "applied")]
    (rejected,) = happened(world, "rejected")
    assert (second["id"], "Said elsewhere") == (rejected["proposal"], rejected["reason"])
    assert first["text"].encode() in content(world)
    assert second["text"].encode() not in content(world)
    assert not (world.log().local_folder / "review.org").exists()
    assert 0 == world.run("review").status


def test_an_untouched_file_does_nothing(world: World) -> None:
    """Nobody is asked; and nothing is opened where nothing waits."""
    proposed(world, CENTS)
    ran, terminal = at_a_terminal(world, "review", "--edit", extra=editor(world, "true"))
    assert (1, "", RULES.encode()) == (ran.status, terminal, content(world))
    assert 0 == at_a_terminal(world, "reject", "k0", "--reason", "no")[0].status
    assert 1 == at_a_terminal(world, "review", "--edit", extra=editor(world, "exit 1"))[0].status


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("exit 1", 2),
        (setting("REJECT"), 2),
        (setting("APPROVE") + "\necho More >> CLAUDE.md", 4),
        (setting("APPROVE") + "\nrm -f CLAUDE.md", 4),
    ],
    ids=["a bad end", "no reason", "the file moved", "the file is gone"],
)
def test_what_does_not_fit_changes_nothing(world: World, script: str, status: int) -> None:
    """No good end, no reason to reject, or another file by now."""
    proposed(world, CENTS)
    ran, terminal = at_a_terminal(world, "review", "--edit", extra=editor(world, script))
    assert (status, "") == (ran.status, terminal), ran.err
    assert [] == happened(world, "approved", "applied", "rejected")


def test_an_editor_that_approves_is_no_human(world: World) -> None:
    """Without a terminal it isn't even run; with one, the word must be typed."""
    proposed(world, CENTS)
    ran_file = world.home / "ran"
    extra = editor(world, f"touch {ran_file}\n{setting('APPROVE')}")
    assert (2, False) == (world.run("review", "--edit", extra=extra).status, ran_file.exists())
    ran, _ = at_a_terminal(world, "review", "--edit", extra=extra, answer=lambda _: "no")
    assert (2, True, RULES.encode()) == (ran.status, ran_file.exists(), content(world))


def test_the_file_shows_what_would_land_and_what_cannot(world: World) -> None:
    """As words: nothing that org or its agenda would act on."""
    proposed(world, "Timestamps such as <2026-01-01> or <%%(diary-date 1 1)> stay ]] raw in [[x]] exports", CENTS)
    rules(world, RULES.replace("## Database", "## Data"))
    kept = world.home / "kept.org"
    at_a_terminal(world, "review", "--edit", extra=editor(world, f'cp "$2" {kept}'))
    text = kept.read_text()
    assert 2 == text.count("* TODO CLAUDE.md, ## Database") == text.count("can't land: CLAUDE.md has no section")
    assert "<%%(" not in text and "[[x]]" not in text
