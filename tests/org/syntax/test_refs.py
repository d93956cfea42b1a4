"""ROAM_REFS become types and refs."""

import pytest

from roamkb.org.syntax.refs import read_refs


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://x.org/a", [("https", "//x.org/a")]),
        ("HTTPS://X.org/%20", [("HTTPS", "//X.org/%20")]),
        ("@key @k;x", [("cite", "key"), ("cite", "k;x")]),
        ("[cite:@a;@b]", [("cite", "a"), ("cite", "b")]),
        ('"[cite:@a; see @b]"', [("cite", "a"), ("cite", "b")]),
        ("[cite/t:@a]", []),
        ("[[https://x.org][d]]", [("https", "//x.org")]),
        ("<https://x.org>", [("https", "//x.org")]),
        ("foo:bar cite:x plain", []),
        ('"doi:10.1/a b"', [("doi", "10.1/a")]),
        ("", []),
    ],
)
def test_refs_are_read_in_their_order(value: str, expected: list[tuple[str, str]]) -> None:
    """What is no ref is left out."""
    assert [(ref.type, ref.ref) for ref in read_refs(value)] == expected
