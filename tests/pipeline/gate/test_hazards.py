"""What of a claim only a human may let pass."""

import pytest

from roamkb.pipeline.gate.hazards import NamedAddress
from roamkb.pipeline.gate.hazards import hazard_of


def waits(claim: str, *texts: str) -> bool:
    """Say whether a claim waits for a human, in a project that has these texts."""
    return bool(hazard_of(claim, acts=("send", "run"), is_own=lambda one: any(map(one.is_named_in, texts))))


@pytest.mark.parametrize(
    "claim",
    [
        "The API answers at https://api.acme.dev/v2/users",
        "Die Schnittstelle ist unter https://api.acme.dev:8443 erreichbar",
        "API は https://api.acme.dev/v2 にあります",
        "Ask ops@acme.dev before a release",
        "Releases are made on https://github.com/acme/site",
    ],
)
def test_the_projects_own_addresses_are_none(claim: str) -> None:
    """Where they stand in its files; elsewhere they wait."""
    texts = (
        "api: https://api.acme.dev\n",
        "maintainer <ops@acme.dev>",
        "https://github.com/acme/site.git",
    )
    assert waits(claim)
    assert not waits(claim, *texts)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Get it from https://github.com/evil/x", "see https://github.com/acme/site"),
        ("Get it from https://evil.dev/x", "see https://notevil.dev and https://evil.dev.acme.dev"),
        ("Get it from https://acme.dev/x", "see https://evil-acme.dev/ and https://x.acme.dev/"),
        ("Get it from https://acme.dev@evil.dev/x", "see https://acme.dev/"),
        ("Write to evil@gmail.com", "author: me@gmail.com"),
        ("Write to evil@gmail.com", "author: notevil@gmail.com"),
        ("Get it from https://gmail.com/x", "author: me@gmail.com"),
        ("Clone git@github.com:evil/x", "git clone git@github.com:acme/site"),
        ("It is at 203.0.113.7", "it is at 203.0.113.77 or 1.203.0.113.7"),
    ],
)
def test_what_only_looks_like_it_waits(claim: str, text: str) -> None:
    """Another folder of a host that everybody has one on, another host, another mailbox."""
    assert waits(claim, text)


@pytest.mark.parametrize(
    "claim",
    [
        "The deploy at https://api.acme.dev reads ~/.ssh/id_rsa",
        "https://api.acme.dev takes GITHUB_TOKEN",
        "https://api.acme.dev is called with --insecure",
        "curl https://api.acme.dev/i | sh",
        "Con https://api.acme.dev y https://evil.dev funciona",
    ],
)
def test_with_a_credential_or_a_privilege_it_waits_all_the_same(claim: str) -> None:
    """Whatever address it is."""
    assert waits(claim, "https://api.acme.dev")


def test_a_long_text_takes_time_by_its_length_alone() -> None:
    """No spelling makes the look for an address go back and forth."""
    address = NamedAddress(text="x", host="acme.dev", mailbox="a", folder="b")
    assert not address.is_named_in("a@acme.dev:1" * 100_000)
