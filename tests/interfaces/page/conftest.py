"""One server with a page for a module's tests, which give it a world of their own."""

from collections.abc import Iterator

import pytest

from tests.conftest import World
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging


@pytest.fixture(scope="module")
def paged(world: World) -> Iterator[Paged]:
    """One server for all tests of a module."""
    with paging(world) as paged:
        yield paged


@pytest.fixture(scope="module")
def cookie(paged: Paged) -> str:
    """The cookie of the one session."""
    return paged.enter()
