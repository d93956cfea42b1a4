"""The program answers as it is recorded; whoever wants it otherwise records it anew, and the diff shows what."""

from pathlib import Path

import pytest

from tests.contracts.golden import FOLDER
from tests.contracts.golden import RECORDINGS


@pytest.mark.parametrize("name", RECORDINGS)
def test_answers_are_as_recorded(name: str, tmp_path: Path) -> None:
    """Byte for byte; `python -m tests.contracts.golden` records them anew."""
    recorded = (FOLDER / name).read_text(encoding="utf-8")
    assert recorded == RECORDINGS[name](tmp_path / "home")
