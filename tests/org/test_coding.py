"""Bytes are read as Emacs reads them, line ends above all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.org.coding import decode_note


@pytest.mark.parametrize(
    ("data", "text", "clean"),
    [
        (b"", "", True),
        ("é日\n".encode(), "é日\n", True),
        (b"\xef\xbb\xbfa\n", "a\n", True),
        (b"a\r\nb\r\n", "a\nb\n", True),
        (b"a\rb\r", "a\nb\n", True),
        (b"a\r\nb\n", "a\r\nb\n", True),
        (b"a\r\nb\rc\r\n", "a\nb\rc\n", True),
        (b"a\x0bb\x0cc\xc2\x85d\xe2\x80\xa8e\n", "a\x0bb\x0cc\x85d\u2028e\n", True),
        (b"a\r\nb\0\r\n", "a\r\nb\0\r\n", False),
        (b"caf\xe9\n", "café\n", False),
        ("é日".encode() + b"\xff\n", "é日\ufffd\n", False),
        ("é\r\n".encode("utf-16"), "é\n", False),
        ("日\n".encode("iso2022_jp"), "日\n", False),
        ("# -*- coding: latin-1 -*-\né\n".encode(), "# -*- coding: latin-1 -*-\nÃ©\n", False),
        ("# -*- coding: utf-8 -*-\né\n".encode(), "# -*- coding: utf-8 -*-\né\n", True),
        (b"# -*- coding: utf-8-unix -*-\r\n", "# -*- coding: utf-8-unix -*-\r\n", True),
        (b"# -*- coding: utf-8-dos -*-\n\r\n", "# -*- coding: utf-8-dos -*-\n\n", True),
        (b"# -*- coding: unicode_escape -*-\n\\n", "# -*- coding: unicode_escape -*-\n\\n", True),
    ],
)
def test_bytes_become_the_text_that_emacs_shows(data: bytes, text: str, clean: bool) -> None:
    """Mixed line ends stay, those of one kind don't; a coding that is no UTF-8 is said so."""
    assert decode_note(data) == (text, clean)


def test_a_coding_in_local_variables_counts() -> None:
    """Emacs obeys the end of a file as well as its first line."""
    text, clean = decode_note("é\n# Local Variables:\n# coding: latin-1\n# End:\n".encode())
    assert text.startswith("Ã©")
    assert not clean


def test_a_stray_escape_garbles_no_other_line() -> None:
    """One ESC $ B must not take the rest of a note with it."""
    assert decode_note(b"a\nx\x1b$B yz\nb\n")[0].split("\n")[2] == "b"


@given(st.binary())
def test_any_bytes_become_text(data: bytes) -> None:
    """Decoding is total, and clean text encodes to what was read but for mark and line ends."""
    text, clean = decode_note(data)
    if clean and b"\r" not in data:
        assert text.encode() == data.removeprefix(b"\xef\xbb\xbf")
