"""A review in the human's editor: what is saved is what is applied."""

import json
from pathlib import Path

import pytest

from tests.conftest import World
from tests.curation.test_curate import ledger
from tests.curation.test_curate import line
from tests.curation.test_curate import put
from tests.human import at_a_terminal


@pytest.fixture
def twins(world: World) -> World:
    """A log with two facts said twice each."""
    put(
        world,
        line("a", "OAuth redirect URIs must match exactly", ts=1),
        line("b", "OAuth redirect URIs must match exactly.", ts=2),
        line("c", "Invoice numbers restart at 1 every year", ts=3),
        line("d", "Invoice numbers restart at 1 every year.", ts=4),
    )
    return world


def editor(world: World, script: str) -> dict[str, str]:
    """An environment whose editor does `script` with the file `$1`."""
    path = world.home / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"EDITOR": f"{path} --wait"}


#: Editors get `--wait FILE`.
APPROVE_SECOND = """awk '/^[*] TODO/ { n++; if (n == 2) sub(/TODO/, "APPROVE") } { print }' "$2" > "$2.new" && cat "$2.new" > "$2" && rm "$2.new" """


def test_only_what_was_approved_is_appended(twins: World) -> None:
    """The other heading stays as it is, and can be approved later."""
    shown = [json.loads(one) for one in twins.run("curate", "--reason", "Monthly").out.splitlines()]
    extra = editor(twins, APPROVE_SECOND)
    ran, terminal = at_a_terminal(twins, "review", "--curate", "--reason", "Monthly", extra=extra)
    assert 0 == ran.status, ran.err
    written = [json.loads(one) for one in ledger(twins)]
    assert [one["id"] for one in shown[2:]] == [one["id"] for one in written]
    assert {"Monthly"} == {one["review_reason"] for one in written}
    assert "2 lines of 1 decision to be appended" in terminal
    assert 2 == len(twins.run("curate").out.splitlines())
    assert not (twins.log().local_folder / "review.org").exists()


def test_an_untouched_file_does_nothing(twins: World) -> None:
    """Nobody is asked either."""
    ran, terminal = at_a_terminal(twins, "review", "--curate", "--reason", "x", extra=editor(twins, "true"))
    assert (1, "", []) == (ran.status, terminal, ledger(twins))
    assert "nothing was approved" in ran.err


def test_the_reason_may_be_said_in_the_file(twins: World) -> None:
    """Without any, nothing is written."""
    ran, _ = at_a_terminal(twins, "review", "--curate", extra=editor(twins, APPROVE_SECOND))
    assert (2, []) == (ran.status, ledger(twins))
    script = f"{APPROVE_SECOND}\nsed -i 's/^#+reason:.*/#+reason: Told in the file/' \"$2\""
    ran, _ = at_a_terminal(twins, "review", "--curate", extra=editor(twins, script))
    assert 0 == ran.status, ran.err
    assert "Told in the file" == json.loads(ledger(twins)[0])["review_reason"]


def test_an_editor_that_approves_is_no_human(twins: World) -> None:
    """Without a terminal it isn't even run; with one, the word must be typed."""
    ran_file: Path = twins.home / "ran"
    extra = editor(twins, f"touch {ran_file}\n{APPROVE_SECOND}")
    assert 2 == twins.run("review", "--curate", "--reason", "x", extra=extra).status
    assert not ran_file.exists()
    ran, _ = at_a_terminal(twins, "review", "--curate", "--reason", "x", extra=extra, answer=lambda _: "no")
    assert (2, True, []) == (ran.status, ran_file.exists(), ledger(twins))


@pytest.mark.parametrize("script", ["exit 1", None])
def test_an_editor_that_fails_decides_nothing(twins: World, script: str | None) -> None:
    """It ended badly, or isn't there."""
    extra = editor(twins, script) if script else {"EDITOR": "/nowhere/editor"}
    ran, _ = at_a_terminal(twins, "review", "--curate", "--reason", "x", extra=extra)
    assert (2, []) == (ran.status, ledger(twins))
    assert not (twins.log().local_folder / "review.org").exists()


def test_the_log_may_move_while_the_editor_is_open(twins: World) -> None:
    """Then what was approved isn't what is there: status 4."""
    added = json.dumps(line("e", "Something else was found out"))
    log = twins.personal / ".roamkb" / "knowledge.jsonl"
    extra = editor(twins, f"{APPROVE_SECOND}\necho '{added}' >> {log}")
    ran, _ = at_a_terminal(twins, "review", "--curate", "--reason", "x", extra=extra)
    assert (4, []) == (ran.status, ledger(twins))


def test_review_of_nothing_finds_nothing(world: World) -> None:
    """No lines wait, and nothing wants curating; both at once is a mistake."""
    world.run("init")
    assert 1 == world.run("review").status
    assert 2 == world.run("review", "--curate", "--edit").status
    assert 1 == at_a_terminal(world, "review", "--curate")[0].status
