"""Calls that wait, as files: whole, bounded, and the same when they are read."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.errors import DiskError
from roamkb.core.ids import is_id
from roamkb.spool.call import SpooledCall
from roamkb.spool.call import parse_spooled
from roamkb.spool.call import render_spooled
from roamkb.spool.store.waiting_calls import MAX_CALL_BYTES
from roamkb.spool.store.waiting_calls import open_spool
from roamkb.spool.store.waiting_calls import spool_call

_ID = "01a2048a-0000-7000-8000-c2b0d0d76bff"
_TEXT = st.text(st.characters(exclude_characters="\0"))
_VALUES = st.dictionaries(
    _TEXT, st.none() | _TEXT | st.integers() | st.booleans() | st.lists(_TEXT).map(tuple), max_size=6
)


def _call(title: str = "Zebras are striped") -> SpooledCall:
    return SpooledCall(id=_ID, verb="write", values={"title": title}, folder="/x", project=None, session="s", ts=1.0)


@given(verb=_TEXT, values=_VALUES, folder=_TEXT, project=st.none() | _TEXT, session=_TEXT.filter(bool))
def test_what_is_written_reads_the_same(
    verb: str,
    values: dict[str, str | int | bool | tuple[str, ...] | None],
    folder: str,
    project: str | None,
    session: str,
) -> None:
    """Whatever the texts hold."""
    call = SpooledCall(id=_ID, verb=verb, values=values, folder=f"/{folder}", project=project, session=session, ts=1.5)
    assert call == parse_spooled(render_spooled(call))


@given(st.binary() | st.text().map(str.encode))
def test_anything_else_is_no_call(data: bytes) -> None:
    """And no error either: anything in the project can write such a file."""
    assert parse_spooled(data) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_json_makes_it_fail(told: object) -> None:
    """A call whose fields are of other kinds is none, or one of sound fields."""
    import json

    head = {"v": 1, "id": _ID, "ts": told, "session": "s", "folder": "/x", "verb": "write", "values": {}}
    for name in head:
        call = parse_spooled(json.dumps({**head, "ts": 1.0, name: told}).encode())
        assert call is None or (is_id(call.id) and call.folder.startswith("/") and math.isfinite(call.ts))


def test_what_is_too_large_does_not_wait(tmp_path: Path) -> None:
    """And leaves nothing."""
    local = tmp_path / ".roamkb" / "local" / "own"
    local.mkdir(parents=True)
    with pytest.raises(DiskError, match="can't wait"):
        spool_call(local, _call("x" * MAX_CALL_BYTES))
    assert [] == list((local / "spool").iterdir())


def test_one_process_at_a_time_has_it(tmp_path: Path) -> None:
    """The other finds nothing to do; the folder goes with the last call."""
    local = tmp_path / ".roamkb" / "local" / "own"
    local.mkdir(parents=True)
    spool_call(local, _call())
    with open_spool(local) as one, open_spool(local) as other:
        assert other is None
        assert one is not None
        [name] = one.list_names()
        assert _call() == one.read_call(name)
        one.remove_call(name)
    assert not (local / "spool").exists()
