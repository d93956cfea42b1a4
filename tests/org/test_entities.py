"""Org's names for characters."""

from roamkb.org.entities import ENTITIES


def test_entities_are_names() -> None:
    """Letters and digits, as a macro's name could be."""
    assert {"alpha", "there4", "frac12"} < ENTITIES
    assert all(name.isalnum() for name in ENTITIES)
