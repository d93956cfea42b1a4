"""The label and the identity of what was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.log.learning import TYPES
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import content_identity
from roamkb.log.learning import disambiguated_key
from roamkb.log.learning import key_of
from roamkb.log.learning import label_of
from roamkb.log.learning import nearest_type

ANY = st.text(st.characters())


@pytest.mark.parametrize(
    ("word", "type"),
    [
        ("lesson", "learned"),
        ("INSIGHT", "learned"),
        ("LEARNED:", "learned"),
        (" Decision ", "decision"),
        ("MUST_CHECK", "must-check"),
        ("must check", "must-check"),
        ("mustcheck", "must-check"),
        ("preference", "preference"),
        ("Straße", "strasse"),
        ("!!", ""),
        ("", ""),
    ],
)
def test_a_type_has_one_name(word: str, type: str) -> None:
    """The set is open, and aliases are resolved."""
    assert type == canonical_type(word)
    assert type == Learning(id="i", key="k", type=word, content="x").canonical_type


@given(ANY)
def test_a_types_name_is_its_own_name(word: str) -> None:
    """Resolving it again changes nothing."""
    assert canonical_type(canonical_type(word)) == canonical_type(word)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("gotcaa", "gotcha"),
        ("GOTCHAS", "gotcha"),
        ("fcat", "fact"),
        ("desicion", "decision"),
        ("invesitgaton", "investigation"),
        ("lesson_learned", "learned"),
        ("must", "must-check"),
        ("learn", "learned"),
        ("gotcha", ""),
        ("Lesson learned", ""),
        ("preference", ""),
        ("question", ""),
        ("runbook", ""),
        ("dev", ""),
        ("x" * 80, ""),
    ],
)
def test_a_slip_in_a_type_is_known_from_a_type_of_ones_own(word: str, meant: str) -> None:
    """One letter, two in a long word, or its beginning."""
    assert meant == nearest_type(word)


def test_the_types_that_come_with_it_are_their_own_names() -> None:
    """No alias hides one."""
    assert TYPES == tuple(map(canonical_type, TYPES))


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("OAuth redirect URI must match exactly", "learned-oauth-redirect-uri-must-match-exactly"),
        ("  (Rebase/merge)  ", "learned-rebase-merge"),
        ("a" * 70, "learned-" + "a" * 60),
        ("a" * 59 + "- b", "learned-" + "a" * 59),
        # sixty bytes, not letters: half of the last one is no letter
        ("é" * 29 + "ab" + "c", "learned-ab"),
        ("caf\u00e9 na\u00efve", "learned-caf-na-ve"),
    ],
)
def test_a_key_is_what_ascii_says_of_the_first_sixty_bytes(content: str, key: str) -> None:
    """As the field's capture hook makes it."""
    assert key == key_of("learned", content)


@pytest.mark.parametrize(
    ("content", "label"),
    [
        ("Käse über Nacht kühlen", "learned-kase-uber-nacht-kuhlen"),
        ("cafe\u0301 na\u00efve", "learned-cafe-naive"),
        ("OAuth redirect", "learned-oauth-redirect"),
        ("é" * 59 + "ab", "learned-" + "e" * 59 + "a"),
        ("テストは全部で10分かかる", "learned-テストは全部で10分かかる"),
        ("Резервная копия делается в 3 часа ночи", "learned-резервная-копия-делается-в-3-часа"),
        ("हिन्दी में टिप्पणी", "learned-हिन्दी-में-टिप्पणी"),
        ("Das Wort 日本語 steht im Titel", "learned-das-wort-steht-im-titel"),
        ("\ud800 が壊れた", "learned-が壊れた"),
    ],
)
def test_what_is_said_here_keeps_the_letters_below_its_accents(content: str, label: str) -> None:
    """As a note's file name does; a script that ASCII hasn't a letter of says it in its own."""
    assert label == label_of("learned", content)
    assert label_of("fact", "\u202e \u200d 🎉") == key_of("fact", "\u202e \u200d 🎉")


def test_where_ascii_says_nothing_a_hash_does() -> None:
    """Two texts of one script have two keys."""
    one, other = key_of("fact", "日本語"), key_of("fact", "日本人")
    assert one != other
    assert one == f"fact-{content_identity('fact', '日本語')[:8]}"


@given(ANY, ANY)
def test_any_text_has_a_key_and_an_identity(type: str, content: str) -> None:
    """Of ASCII after the type, and bounded."""
    key = key_of(type, content)
    assert key.removeprefix(f"{type}-").isascii()
    assert len(key) <= len(type) + 61
    assert disambiguated_key(key, type, content) == f"{key}-{content_identity(type, content)[:8]}"
    assert 64 == len(content_identity(type, content))


@given(ANY, ANY, ANY, ANY)
def test_an_identity_is_of_type_and_content(type: str, content: str, other: str, text: str) -> None:
    """What differs in one of them is something else."""
    if "\0" not in type + other:
        assert ((type, content) == (other, text)) == (content_identity(type, content) == content_identity(other, text))
