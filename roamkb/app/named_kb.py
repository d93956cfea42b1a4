"""Verbs that run for the knowledge base that their request names, or for each of them."""

from collections.abc import Callable
from functools import wraps

from roamkb.core.model import EVERY_KB
from roamkb.core.startup.typing import Protocol
from roamkb.core.startup.typing import Self
from roamkb.core.startup.typing import TypeVar


class _KbRequest(Protocol):
    """A request with the option `--kb`."""

    @property
    def kb(self) -> str | None: ...


class _SomeKb(Protocol):
    """One of the rule's knowledge bases, from which the others are reached."""

    def of_kb(self, name: str | None) -> Self: ...


Base = TypeVar("Base", bound=_SomeKb)
Request = TypeVar("Request", bound=_KbRequest)
Result = TypeVar("Result")


def for_named_kb(run: Callable[[Base, Request], Result]) -> Callable[[Base, Request], Result]:
    """Decorate a verb, so that it sees nothing but the knowledge base that its request names."""

    @wraps(run)
    def run_there(base: Base, request: Request) -> Result:
        return run(base.of_kb(request.kb), request)

    return run_there


def for_each_kb(
    run_for_all: Callable[[], Callable[[Base, Request], Result]],
) -> Callable[[Callable[[Base, Request], Result]], Callable[[Base, Request], Result]]:
    """Decorate a verb as `for_named_kb` does; `--kb all` is carried out by what `run_for_all` returns."""

    def decorate(run: Callable[[Base, Request], Result]) -> Callable[[Base, Request], Result]:
        run_named = for_named_kb(run)

        @wraps(run)
        def run_there(base: Base, request: Request) -> Result:
            return (run_for_all() if request.kb == EVERY_KB else run_named)(base, request)

        return run_there

    return decorate
