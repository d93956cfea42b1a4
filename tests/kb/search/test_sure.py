"""The mark of hits that may be relied on to be about what was asked for."""

import pytest

from tests.conftest import World


@pytest.fixture
def shelf(world: World) -> World:
    """Notes that share something with a question and are about something else."""
    world.node(
        "rebar.org",
        "rebar",
        "Rebar3",
        "*Rebar3* -- инструмент для сборки программ.\n\n- [[https://github.com/erlang/rebar3][GitHub Page]]",
    )
    world.node(
        "srfi.org",
        "srfi",
        "Scheme Requests for Implementation",
        "Proposals.\n\n- [[https://srfi.schemers.org/][Home Page]]",
    )
    world.node(
        "teach.org", "teach", "Machine Teaching", "Features that are of interest (animal shape). Spurious ones too."
    )
    world.node("hack.org", "hack", "Hacking", "To take a thing apart.")
    world.node("sg.org", "sg", "Singapore Society", "History in Singapore.")
    world.node("map.org", "map", "Map Matching", "Map matching compiles small numbers of consecutive scans into one.")
    world.node("git.org", "git", "Git", "An interactive rebase rewrites the history of a branch.")
    world.node("hall.org", "hall", "Stanford", "Автор работал в лаборатории Стэнфордского университета.")
    world.node("bandit.org", "bandit", "Bandits", "Each arm pays a reward. The shape of the curve tells the regret.")
    world.node("guix.org", "guix", "Guix", "- You may compile each package.\n- The kernel is Linux-libre.")
    world.node(
        "lisp.org", "lisp", "Emacs Lisp", "Its source is kept in git.\n\nA cons cell is the base; rebase a list on it."
    )
    world.node(
        "pac.org",
        "pac",
        "PAC Learning",
        "To correct for this, we introduce inductive\nbias, which restricts the space.",
    )
    return world


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("schemer", "Scheme Requests for Implementation"),
        ("reward shaping", "Machine Teaching"),
        ("reward hacking", "Hacking"),
        ("weather in singapore", "Singapore Society"),
        ("compile kernel", "Map Matching"),
        ("reward shaping", "Bandits"),
        ("compile kernel", "Guix"),
        ("git rebase", "Emacs Lisp"),
        ("erlang rebase", "Rebar3"),
        ("github rebase", "Rebar3"),
    ],
)
def test_a_note_with_little_of_a_question_is_not_sure(shelf: World, question: str, title: str) -> None:
    """One word of two, each in a sentence of its own, letters that a word begins with, or the address of a link."""
    marks = {hit.title: hit.sure for hit in shelf.open().search(question, all=True).hits}
    assert marks.get(title) is not True


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("git rebase", "Git"),
        ("matching maps", "Map Matching"),
        ("interactive rebase of a branch", "Git"),
        ("Стэнфордский университет", "Stanford"),
        ("history singapore", "Singapore Society"),
        ("rebar3", "Rebar3"),
        ("inductive bias", "PAC Learning"),
    ],
)
def test_a_note_with_what_was_asked_for_is_sure(shelf: World, question: str, title: str) -> None:
    """In whatever form its words are, in one sentence or beside its name."""
    assert (title, True) == next((hit.title, hit.sure) for hit in shelf.open().search(question).hits)
