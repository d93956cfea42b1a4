"""Digests are the ones that `hashlib` makes, and OpenSSL stays away."""

import hashlib
import subprocess
import sys

import pytest

from roamkb.core.startup import digests


def test_digests_are_those_of_hashlib() -> None:
    """Names of folders and ids are made of them, and have to stay."""
    assert hashlib.sha256(b"text").hexdigest() == digests.sha256(b"text").hexdigest()
    keyed = hashlib.blake2b(b"text", key=b"key", digest_size=16)
    assert keyed.hexdigest() == digests.blake2b(b"text", key=b"key", digest_size=16).hexdigest()


@pytest.mark.parametrize("name", ["sha256", "blake2b"])
def test_openssl_is_not_loaded(name: str) -> None:
    """A digest doesn't load what it can do without."""
    script = (
        f"import sys; from roamkb.core.startup.digests import {name}; {name}(b''); sys.exit('_hashlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_digest_that_is_unknown_is_no_name_here() -> None:
    """As of any other module."""
    with pytest.raises(AttributeError):
        digests.md5  # noqa: B018
