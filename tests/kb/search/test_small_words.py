"""The small words of a question in another language than English, which say nothing of what is asked."""

import pytest

from tests.conftest import World


@pytest.fixture
def tools(world: World) -> World:
    """Notes on programs, and some with links that are called as questions are."""
    world.node(
        "gnn.org",
        "gnn",
        "Graph Neural Network",
        "- [[https://habr.com/1][Что такое графовые нейронные сети]]\n- Как это работает",
    )
    world.node(
        "free.org",
        "free",
        "Free Software",
        "- [[https://gnu.org/][Что такое свободная программа?]] Кто её автор, как и что.",
    )
    world.node("de.org", "de", "Warum", "Was ist das und wer hat es, wann und warum.")
    world.node("es.org", "es", "Donde", "Que es y para que, cuando y donde.")
    world.node("fr.org", "fr", "Quand", "Quel est le but, pourquoi et quand.")
    for title in ("Zig", "Git", "Unix"):
        world.node(f"{title}.org", title.lower(), title, f"*{title}* -- программа, о которой рассказано мало.")
    return world


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("что такое Zig", "Zig"),
        ("что такое язык Zig?", "Zig"),
        ("как работает Git", "Git"),
        ("кто автор UNIX", "Unix"),
        ("was ist das: Zig", "Zig"),
        ("que es Git", "Git"),
        ("qui est Unix", "Unix"),
    ],
)
def test_a_question_s_small_words_are_not_what_is_asked(tools: World, question: str, title: str) -> None:
    """As in English: the note on what is asked for comes first."""
    assert title == tools.open().search(question).hits[0].title


def test_small_words_alone_are_searched_for(tools: World) -> None:
    """Who asks for nothing else means them."""
    assert {"Graph Neural Network", "Free Software"} == {hit.title for hit in tools.open().search("что такое").hits[:2]}


@pytest.fixture
def letters(world: World) -> World:
    """Notes on languages that are called by a letter, and others in which the letter means nothing."""
    world.node("c.org", "c", "C", "A language that runs near the machine.")
    world.node("tagged.org", "tagged", "Undefined behaviour", "What a compiler may assume.", tags=":c:")
    world.node("said.org", "said", "Zig", "It compiles what is written in C, too.")
    world.node("objc.org", "objc", "Objective-C", "Objective-C, Objective-C and its classes.", tags=":objective-c:")
    world.node("stats.org", "stats", "Returns", "Let $r_t$ be the return, $R$ their sum, and r.t. the rest.")
    world.node("disc.org", "disc", "Drive", "It burns DVD-R, DVD+R, CD-R and CD+R; see D. R. Engler.")
    world.node("game.org", "game", "Scorched 3D", "A game with 3D tanks.")
    return world


def marks(world: World, query: str) -> dict[str, bool]:
    """Return which hits of a search are sure, in their order."""
    return {hit.title: hit.sure for hit in world.open().search(query, all=True).hits}


@pytest.mark.parametrize("query", ["C", "c"])
def test_a_letter_means_what_is_called_by_it(letters: World, query: str) -> None:
    """By its name or a tag; it is found as a word of a text and a part of another name, too, and that isn't sure."""
    found = marks(letters, query)
    assert [("C", True), ("Undefined behaviour", True), ("Objective-C", False), ("Zig", False)] == list(found.items())


@pytest.mark.parametrize("query", ["R", "D", "T"])
def test_a_letter_in_other_names_is_not_sure(letters: World, query: str) -> None:
    """A formula's variable, an initial, the end of a disc's name."""
    found = marks(letters, query)
    assert found
    assert {False} == set(found.values())
