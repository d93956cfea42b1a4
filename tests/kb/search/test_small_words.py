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
