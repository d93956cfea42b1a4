"""What is offered to who didn't ask."""

from tests.conftest import World


def offered(world: World, prompt: str) -> list[str]:
    """Return what a prompt is answered with."""
    learnings, _ = world.open().log.offered(prompt, besides=frozenset())
    return [one.learning.content for one in learnings]


def test_what_was_done_and_what_was_so_for_a_day_is_for_who_asks(world: World) -> None:
    """An explicit learning stays what it is; nobody is interrupted with it."""
    log = world.open().log
    log.init()
    lasting = "The bookings fixture of test_bookings needs a venue with seats"
    log.learn("I fixed the failing bookings fixture in test_bookings and pushed it")
    log.learn("The bookings fixture of test_bookings is currently broken on develop")
    log.learn(lasting)
    prompt = "why does the bookings fixture in test_bookings fail?"
    assert [lasting] == offered(world, prompt)
    assert 3 == len(log.recall(prompt).learnings)
    done = log.learn("I renamed the venues helper in seats.py and pushed the branch").learning
    assert [] == offered(world, "where is the venues helper of seats.py?")
    log.pin(done.key)
    assert [done.content] == offered(world, "where is the venues helper of seats.py?")


def test_a_session_is_told_what_lasts(world: World) -> None:
    """Before it says what it is about."""
    log = world.open().log
    log.init()
    log.learn("I fixed the failing bookings fixture and pushed it")
    log.learn("The bookings fixture needs a venue with seats")
    assert ["The bookings fixture needs a venue with seats"] == [
        one.learning.content for one in log.brief().learnings
    ]


def test_what_contradicts_another_is_not_among_the_surest(world: World) -> None:
    """A session that says nothing of its work is told what nobody doubts."""
    log = world.open().log
    log.init()
    for agent in ("one", "two"):
        log.learn("The payment gateway gives up after 30 seconds", agent=agent)
        log.learn("The payment gateway gives up after 300 seconds", agent=agent)
        log.learn("Redis evicts sessions before carts", agent=agent)
    assert ["Redis evicts sessions before carts"] == [one.learning.content for one in log.brief().learnings]


def test_nothing_is_told_twice_in_other_words(world: World) -> None:
    """Neither beside the other, nor where one was shown before."""
    log = world.open().log
    log.init()
    known = log.learn("Celery tasks need acks_late, otherwise a killed worker loses them").learning
    log.learn("Celery tasks need acks_late, else a killed worker loses them", type="fact")
    prompt = "Celery loses tasks when a worker is killed, is it acks_late?"
    assert 1 == len(offered(world, prompt))
    assert ((), ()) == world.open().log.offered(prompt, besides=frozenset([known.id]))
