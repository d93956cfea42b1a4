"""Whatever is typed is a search."""

from pathlib import Path

import pytest

from tests.faults.queries import ask_all
from tests.kb.search.index.index_base import Base


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_no_query_of_twenty_thousand_is_an_error(tmp_path: Path, seed: int) -> None:
    """Operators, quotes, half characters, filters that make no sense, and all of it many times over."""
    assert ask_all(Base(tmp_path).animals(), seed=seed, count=5000) > 500
