"""Modules of the standard library that are loaded in part are as they always are to whoever uses them."""

import subprocess
import sys
from pathlib import Path

import pytest

from roamkb.core.startup.standard_library import file_uri

#: Printed by a process that loaded them in part, and by one that loaded them as usual.
_USES = """
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
print(Path("/a b/ü?").as_uri(), Path("/plain-path/index.db").as_uri())
print(datetime(2026, 1, 2, tzinfo=UTC) + timedelta(days=1), datetime.strptime("2026-05-06", "%Y-%m-%d"))
print(date.fromisoformat("2026-05-06").isocalendar(), timezone(timedelta(hours=1)))
import pickle, sqlite3, urllib.parse, zoneinfo
print(urllib.parse.urlsplit("https://a.example/b?c").query, urllib.parse.quote_from_bytes(b"a b"))
print(pickle.loads(pickle.dumps(datetime(2026, 1, 2))), datetime(2026, 7, 2, tzinfo=zoneinfo.ZoneInfo("UTC")))
db = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES)
print(db.execute("SELECT 1").fetchone())
"""
_LIGHTLY = "from roamkb.core.startup.standard_library import load_lightly; load_lightly()\n"


def _printed(code: str) -> str:
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout


def test_what_is_loaded_in_part_works_as_a_whole() -> None:
    """Dates, pickles, time zones, URLs of paths and their module, which is loaded once somebody asks for it."""
    assert _printed(_USES) == _printed(_LIGHTLY + _USES)


def test_modules_that_nobody_asks_for_are_not_loaded() -> None:
    """Neither `urllib.parse` nor what it loads, and no module stands in for it afterwards."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom roamkb.core.startup.standard_library import file_uri\n"
        "print(file_uri(Path('/a')), {'urllib.parse', 'ipaddress'} & {*sys.modules})"
    )
    assert "file:///a set()\n" == _printed(_LIGHTLY + code)


@pytest.mark.parametrize("path", ["/", "/a b", "/100%", "/what?", "/ü#1", "/\udcff.db", "/a-b_c.d~/index.db"])
def test_the_uri_of_a_file_is_that_of_python(path: str) -> None:
    """Also where something is to be quoted, or is no UTF-8."""
    assert Path(path).as_uri() == file_uri(Path(path))
