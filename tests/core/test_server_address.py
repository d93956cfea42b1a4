"""Addresses of servers: what can be read in two ways is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.server_address import BadAddress
from roamkb.core.server_address import parse_address


@pytest.mark.parametrize(
    ("text", "origin", "is_loopback"),
    [
        ("https://api.example.com/v1", "https://api.example.com:443", False),
        ("HTTPS://API.Example.com", "https://api.example.com:443", False),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080", True),
        ("http://127.3.2.1", "http://127.3.2.1:80", True),
        ("http://[::1]:11434", "http://[::1]:11434", True),
        ("http://localhost", "http://localhost:80", True),
        ("http://localhost.example.com", "http://localhost.example.com:80", False),
        ("http://127.0.0.1.nip.io", "http://127.0.0.1.nip.io:80", False),
        ("http://2130706433", "http://2130706433:80", False),
        ("http://127.1", "http://127.1:80", False),
        ("http://0.0.0.0", "http://0.0.0.0:80", False),
        ("http://192.168.1.5:1", "http://192.168.1.5:1", False),
        ("http://[fe80::1]", "http://[fe80::1]:80", False),
    ],
)
def test_an_address_is_a_server_and_a_path(text: str, origin: str, is_loopback: bool) -> None:
    """Only what is this machine for certain counts as it."""
    address = parse_address(text)
    assert (origin, is_loopback) == (address.origin_url, address.is_loopback)
    assert not address.path.endswith("/")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "api.example.com",
        "ftp://x",
        "file:///etc/passwd",
        "https://",
        "https:///v1",
        "https://key@api.example.com",
        "https://user:key@api.example.com",
        "http://127.0.0.1@evil.example",
        "https://good.example\\@evil.example",
        "https://good.example\\.evil.example",
        "https://exa mple.com",
        "https://example.com\n",
        "https://exa\tmple.com",
        "https://example\u200b.com",
        "https://exämple.com",
        "https://example.com:99999",
        "https://example.com:x",
        "https://[::1",
        "https://[::1%25eth0]",
        "https://*.example.com",
        "https://-x",
        "https://x/a b",
        "https://x/\r\nHost:y",
        "https://x/?q=<",
    ],
)
def test_what_could_be_another_machine_is_no_address(text: str) -> None:
    """It says why."""
    with pytest.raises(BadAddress) as caught:
        parse_address(text)
    assert str(caught.value)


@given(st.text() | st.text().map("https://".__add__))
def test_any_text_is_an_address_or_says_why_not(text: str) -> None:
    """And an address says the same of itself."""
    try:
        address = parse_address(text)
    except BadAddress:
        return
    assert address.origin_url == parse_address(address.origin_url).origin_url
