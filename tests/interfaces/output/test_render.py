"""What is said beside a result."""

from pathlib import Path

import pytest

from roamkb.core.model import UnreadableFile
from roamkb.interfaces.output.render import warnings_of


@pytest.mark.parametrize(("count", "last"), [(0, None), (4, "/roam/3.org: a fifo"), (5, "2 more files were skipped")])
def test_of_many_skipped_files_the_first_are_named(count: int, last: str | None) -> None:
    """Each search says it again; the doctor and the JSON name all."""
    lines = warnings_of(UnreadableFile(path=Path(f"/roam/{number}.org"), reason="a fifo") for number in range(count))
    assert len(lines) == min(count, 4)
    assert last is None or lines[-1].startswith(last)
