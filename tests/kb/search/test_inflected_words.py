"""Words of other languages than English, found in all their forms."""

import pytest

from tests.conftest import World


@pytest.fixture
def library(world: World) -> World:
    """Notes in Russian, German, French and Spanish with words in other forms than their first."""
    world.node(
        "lisp.org",
        "lisp",
        "Lisp",
        "Его придумали в лабораториях.\nАвтор работал в лаборатории Стэнфордского университета.",
    )
    world.node("cpu.org", "cpu", "CPU", "Процессор состоит из нескольких микросхем на одной плате.")
    world.node("bus.org", "bus", "USB", "Универсальный разъём для всех устройств.")
    world.node("ops.org", "ops", "Betrieb", "Die Konfiguration von Servern ist nicht einfach und wird dokumentiert.")
    world.node("srv.org", "srv", "Cave", "Les machines sont des serveurs qui sont dans la cave pour une raison.")
    world.node("ser.org", "ser", "Sala", "Los armarios de los servidores y las baterías del centro.")
    world.node("job.org", "job", "Job", "A service is what serves, and the former service is gone.")
    return world


@pytest.mark.parametrize(
    ("word", "title", "text"),
    [
        ("университет", "Lisp", "Автор работал в лаборатории Стэнфордского университета."),
        ("лаборатория", "Lisp", None),
        ("микросхема", "CPU", "Процессор состоит из нескольких микросхем на одной плате."),
        ("Server", "Betrieb", "Die Konfiguration von Servern ist nicht einfach und wird dokumentiert."),
        ("serveur", "Cave", "Les machines sont des serveurs qui sont dans la cave pour une raison."),
        ("servidor", "Sala", "Los armarios de los servidores y las baterías del centro."),
    ],
)
def test_another_form_is_the_word(library: World, word: str, title: str, text: str | None) -> None:
    """It is sure, shown, printed by --lines, not called missing, and left out by a minus; nothing else is."""
    first, *others = library.open().search(word).hits
    assert (title, True, ("text",)) == (first.title, first.sure, first.why)
    assert text in (first.text, None)
    assert not any(hit.sure for hit in others)
    ran = library.run("search", word, "--lines")
    assert (0, "") == (ran.status, ran.err)
    assert ran.out.count("\n") == (2 if text is None else 1)
    assert "no note has" not in library.run("search", word).err
    assert title not in {hit.title for hit in library.open().search(f"-{word}", all=True).hits}
    assert 6 == len(library.open().search(f"-{word}", all=True).hits)


def test_what_shares_a_beginning_is_another_word(library: World) -> None:
    """A longer ending, or a shorter beginning, is none of a form's."""
    assert 7 == len(library.open().search("-универсал", all=True).hits)
    assert not library.open().search("университетский").hits[0].sure
