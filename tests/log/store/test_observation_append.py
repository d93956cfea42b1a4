"""An observation that was written the quick way is one like all others."""

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.ids import is_id
from roamkb.log.store.observation_append import append_observation
from roamkb.log.store.observations import read_observations
from roamkb.log.store.observations import record_observation
from roamkb.pipeline.extract.attention import Observation

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(text=_TEXT, tool=_TEXT, outcome=st.sampled_from(["", "success", "failure"]))
def test_both_ways_write_the_same(text: str, tool: str, outcome: str) -> None:
    """Apart from id and time."""
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder)
        told = {"type": "tool_use", "text": text, "tool": tool, "outcome": outcome, "session": "s-1"}
        append_observation(folder, {**told, "agent": "codex", "provenance": "observed"})
        (quick,) = read_observations(local, "s-1")
        record_observation(local, replace(quick, session="s-2"))
        (slow,) = read_observations(local, "s-2")
        assert quick == replace(slow, session="s-1")
        assert is_id(quick.id)
        assert isinstance(quick, Observation)
