"""What somebody did, and what he found out.

The two tables were written before the rules were, and no rule was made or changed for one of their sentences.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.attention import neglected
from roamkb.core.deeds import claim_of
from roamkb.core.deeds import is_deed

NARRATION = (
    "I rewrote the retry helper and pushed it to the branch",
    "Fixed the off-by-one in the paginator and added a test",
    "Added a unit test for the CSV importer and updated the docs",
    "We merged both branches and resolved the conflicts in routes.py",
    "I've updated the changelog and bumped the version to 3.1",
    "Renamed `parse_line` to `read_line` in all callers",
    "Refactored the mailer into three smaller modules",
    "Ran the whole suite twice, nothing failed",
    "Just finished the migration script for the orders table",
    "Removed unused imports from the payment module",
    "Went through all the call sites and replaced the old client",
    "Cleaned up the fixtures folder and deleted four dead files",
    "I have now implemented the export endpoint as you asked",
    "Successfully deployed the worker to staging",
    "Updated the README with the new install steps",
    "Finally got the Docker build working after three attempts",
    "Tried a few approaches and ended up with a simple loop",
    "After some debugging I changed the timeout in settings.py to 20",
    "Created the users table and wrote the first two queries",
    "Moved the constants out of the class and reran the linter",
    "Completed steps 1 to 3 of the plan",
    "Checked the logs of the last deployment and reported the numbers in the ticket",
    "Ich habe den fehlschlagenden Test in test_rechnung.py behoben und gepusht",
    "Habe die Migration für die Tabelle orders geschrieben",
    "Wir haben den Importer umgebaut und zwei Tests ergänzt",
    "Den Tippfehler im README korrigiert und neu gebaut",
    "Die Tests laufen jetzt alle durch",
    "Ich werde als Nächstes die Dokumentation anpassen",
    "Test für den Parser hinzugefügt und alten Code entfernt",
    "Gerade den Branch aktualisiert und die Konflikte gelöst",
)
FACTS = (
    "I found that the PDF renderer needs a font with Cyrillic glyphs",
    "Fixed-width columns in the bank export are padded with tabs, not blanks",
    "Added latency of the VPN is about 40 ms, so health checks need a longer timeout",
    "We discovered that the search service ignores the locale header",
    "Updated rows keep their old tsvector unless the trigger fires on UPDATE",
    "Removed users stay in the mailing list until the nightly sync runs",
    "Fixed the memory leak by closing the response body in every branch; http clients here never close it themselves",
    "I learned that `git worktree prune` must run before the cleanup job",
    "Switched from moment to date-fns because moment doesn't support tree shaking",
    "Renamed columns break the BI export, which reads them by name",
    "Running migrations in parallel corrupts the schema_version table",
    "We had to pin grpcio to 1.62 because later wheels lack musl builds",
    "Merged cells in the price list make openpyxl return None for all but the first one",
    "Used ULIDs instead of UUIDv4 so that ids sort by time",
    "I noticed that Safari drops the cookie when SameSite is None without Secure",
    "Deleted branches are still built by the preview job for an hour",
    "Generated clients must be rebuilt whenever the OpenAPI file changes",
    "The fix was to set `sslmode=require`, since the pooler refuses plain connections",
    "Tried to mock the clock first, but freezegun doesn't patch asyncio's loop time",
    "Left the batch size at 500, because larger ones exceed the broker's frame limit",
    "Tests of the scheduler pass only when TZ is set to UTC",
    "My SQL linter config has to live in setup.cfg, sqlfluff ignores pyproject here",
    "Ich habe festgestellt, dass der Importer Umlaute in Dateinamen verliert",
    "Behobene Tickets bleiben im Export, bis der Cache geleert wird",
    "Der Webhook muss mit dem rohen Body geprüft werden",
    "Habe gelernt, dass die Testdatenbank vor jedem Lauf neu angelegt werden muss",
    "Die Tests laufen nur durch, wenn LANG auf C.UTF-8 steht",
    "Ich habe den Timeout auf 60 Sekunden gesetzt, weil der Druckdienst sonst abbricht",
    "Wir mussten auf Version 4 bleiben, da der Treiber mit 5 keine Verbindung aufbaut",
    "Gelöschte Kunden dürfen nicht sofort aus dem Index entfernt werden",
)


def test_what_was_done_is_nothing_to_learn() -> None:
    """In English and German; the one that is kept is "Completed steps 1 to 3", which orders could have, too."""
    kept = [text for text in NARRATION if not neglected(text)]
    assert len(kept) <= 1, kept


def test_what_was_found_out_is() -> None:
    """Whoever says so, and whatever its first word is."""
    assert [] == [text for text in FACTS if neglected(text)]


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("I found that Redis needs a password file", "Redis needs a password file"),
        ("We've also noticed that Redis needs one", "Redis needs one"),
        ("I found pgbouncer breaks prepared statements", "pgbouncer breaks prepared statements"),
        ("I found the cache is never invalidated", "the cache is never invalidated"),
        ("Ich habe festgestellt, dass Redis voll ist", "Redis voll ist"),
        ("I found the file", "I found the file"),
        ("I found 3 bugs in the parser", "I found 3 bugs in the parser"),
        ("The parser needs a file", "The parser needs a file"),
    ],
)
def test_who_found_it_out_is_no_part_of_it(sentence: str, claim: str) -> None:
    """What is found and no claim stays as it is."""
    assert claim == claim_of(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I fixed the failing test in test_bookings.py and pushed the branch",
        "My change broke the build",
        "Fixed the tests: renamed the fixture",
        "Then we fixed a typo in `read_line`",
        "In the end I removed it again",
        "I found that I fixed the wrong file",
        "Habe ich gestern im Branch behoben",
        "README überarbeitet",
    ],
)
def test_a_deed_is_one_with_whatever_goes_before_it(sentence: str) -> None:
    """And where both clauses tell one."""
    assert is_deed(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I fixed the failing test by freezing the clock",
        "I pinned the driver, since later versions drop the option",
        "Debugged the timeout: nginx closes idle sockets after 60 s",
        "Replaced the pool with a queue; the driver is not thread safe",
        "Opened in a second tab, the editor loses the draft",
        "We keep the old index for a day",
        "Put feature toggles behind a dependency so tests can override them",
        "Closed connections go back to the pool",
        "I/O is buffered per line",
        "Added a lock to avoid a second run",
        "Gelöschte Zeilen bleiben im Index",
        "Der Index wird nachts gelöscht",
    ],
)
def test_a_deed_with_a_reason_or_a_way_is_more(sentence: str) -> None:
    """And what only begins like one is none."""
    assert not is_deed(sentence)


@given(st.text() | st.text(alphabet="I fixed the a:;,. ich habe behoben"))
def test_any_text_can_be_judged(text: str) -> None:
    """Whoever wrote it; what is left of it was in it."""
    assert is_deed(text) in (True, False)
    assert text.endswith(claim_of(text))
