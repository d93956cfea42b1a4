"""Collections whose members are read once somebody asks: most of a state, into which few look."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from collections.abc import Set

from roamkb.core.startup.typing import Generic
from roamkb.core.startup.typing import TypeVar
from roamkb.core.startup.typing import overload

T = TypeVar("T")


class LazySequence(Sequence[T], Generic[T]):
    """A sequence whose members are made or read as they are asked for."""

    __slots__ = ()

    def _loaded(self) -> Sequence[T]:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._loaded()[index]

    def __iter__(self) -> Iterator[T]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


class DeferredList(LazySequence[T], Generic[T]):
    """A list that `read_members` gives when it is looked into for the first time."""

    __slots__ = ("_members", "_read_members")

    def __init__(self, read_members: Callable[[], list[T]]) -> None:
        self._read_members = read_members
        self._members: list[T] | None = None

    def append(self, member: T) -> None:
        """Add a member at the end."""
        self._loaded().append(member)

    def _loaded(self) -> list[T]:
        if self._members is None:
            self._members = self._read_members()
        return self._members


class DeferredSet(Set[T], Generic[T]):
    """A set that `read_members` gives when it is looked into for the first time."""

    __slots__ = ("_members", "_read_members")

    def __init__(self, read_members: Callable[[], set[T]]) -> None:
        self._read_members = read_members
        self._members: set[T] | None = None

    def add(self, member: T) -> None:
        """Add a member."""
        self._loaded().add(member)

    def __contains__(self, member: object) -> bool:
        return member in self._loaded()

    def __iter__(self) -> Iterator[T]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def _loaded(self) -> set[T]:
        if self._members is None:
            self._members = self._read_members()
        return self._members
