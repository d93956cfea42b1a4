"""Methods of the library that take a request's fields as their parameters."""

from collections.abc import Callable
from functools import partial

from roamkb import TYPE_CHECKING
from roamkb.core.startup import dataclasses
from roamkb.core.startup.typing import Any
from roamkb.core.startup.typing import Generic
from roamkb.core.startup.typing import ParamSpec
from roamkb.core.startup.typing import TypeVar
from roamkb.core.startup.typing import overload

if TYPE_CHECKING:
    from inspect import Signature

Parameters = ParamSpec("Parameters")
Owner = TypeVar("Owner")
Request = TypeVar("Request")
Result = TypeVar("Result")


class OperationMethod(Generic[Owner, Parameters, Request, Result]):
    """A method that is called with the fields of its request, or with the request itself.

    `kb.show("Token refresh")` is `KnowledgeBase.show.run(kb, ShowRequest("Token refresh"))`: the request's
    dataclass is the one place that says which parameters there are, of which type, and what they are for.
    """

    def __init__(
        self, load: "Callable[[], tuple[Callable[Parameters, Request], Callable[[Owner, Request], Result]]]"
    ) -> None:
        """Take a loader of the request's class and of the function that carries it out; both load late."""
        self._load = load

    @property
    def request_type(self) -> "Callable[Parameters, Request]":
        """The request's class."""
        return self._load()[0]

    # a class's documentation is a text; here it is one for each object, and read with the verb's module
    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The documentation of the function that carries it out."""
        return self._load()[1].__doc__

    def run(self, instance: Owner, request: Request) -> Result:
        """Carry out a request that was built elsewhere."""
        return self._load()[1](instance, request)

    @overload
    def __get__(self, instance: None, owner: type) -> "OperationMethod[Owner, Parameters, Request, Result]": ...

    @overload
    def __get__(self, instance: Owner, owner: type) -> "Callable[Parameters, Result]": ...

    def __get__(self, instance: Owner | None, owner: type) -> Any:
        return self if instance is None else partial(self, instance)

    def __call__(self, instance: Owner, *arguments: "Parameters.args", **options: "Parameters.kwargs") -> Result:
        """Build the request from its parameters, and carry it out for `instance`."""
        request_type, run = self._load()
        return run(instance, request_type(*arguments, **options))

    @property
    def __signature__(self) -> "Signature":
        """The parameters, for `help` and other readers of signatures."""
        from inspect import Parameter
        from inspect import Signature

        request: Any = self.request_type
        declared = sorted(dataclasses.fields(request), key=lambda field: bool(field.kw_only))
        parameters = [
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY if field.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if field.default is dataclasses.MISSING else field.default,
                annotation=field.type,
            )
            for field in declared
        ]
        return Signature([Parameter("self", Parameter.POSITIONAL_ONLY), *parameters])


def takes_request(
    request_type: "Callable[[], Callable[Parameters, Request]]",
) -> "Callable[[Callable[[Owner, Request], Result]], OperationMethod[Owner, Parameters, Request, Result]]":
    """Decorate a method, so that it takes the fields of the request that `request_type` returns."""
    return lambda run: OperationMethod(lambda: (request_type(), run))
