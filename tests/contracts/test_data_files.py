"""Words and tables are data: each file says where it is from, who may use it, and what it is worth."""

import re
from pathlib import Path

import pytest

from roamkb.core.data_tables import data_rows
from roamkb.text.language import is_english
from roamkb.text.store import lexicons
from roamkb.text.store.lexicons import lexicon
from roamkb.text.store.lexicons import vocabulary

_PACKAGE = Path(__file__).parents[2] / "roamkb"
_DATA = _PACKAGE / "data"
#: What programs read as it is, which has its head in `README.md`.
_BARE = ("vectors.bin", "words.txt", "shared_log.sql", "prompts/extract-3.txt", "prompts/judge-1.txt")
_FILES = sorted(
    name
    for path in _DATA.rglob("*")
    if path.is_file() and not (name := path.relative_to(_DATA).as_posix()).startswith("plugins/")
    if name != "README.md" and not name.endswith("-LICENSE")
)
_LISTS = [name for name in _FILES if name not in _BARE]


@pytest.mark.parametrize("name", _LISTS)
def test_each_file_says_its_source_licence_and_evaluation(name: str) -> None:
    """At its top, as comments, each with something behind it."""
    head = re.match(r"(?:#.*\n)+", (_DATA / name).read_text(encoding="utf-8"))
    assert head
    for word in ("Source", "Licence", "Evaluation"):
        assert re.search(rf"^# {word}: \w", head[0], re.MULTILINE), word
    assert "TODO" not in head[0]


def test_what_has_no_head_is_in_the_readme() -> None:
    """A table of numbers, its index, and prompts, which are sent as they are."""
    readme = (_DATA / "README.md").read_text(encoding="utf-8")
    assert {*_BARE} <= {*_FILES}
    for name in _BARE:
        assert f"`{name}`" in readme


@pytest.mark.parametrize("name", _LISTS)
def test_each_file_is_read_by_the_program(name: str) -> None:
    """A list that nothing reads says nothing."""
    place = name.removeprefix("lexicon/")
    wanted = Path(place).stem if place != name else place
    code = "".join(path.read_text(encoding="utf-8") for path in _PACKAGE.rglob("*.py"))
    assert re.search(rf"""["'](?:en/)?{re.escape(wanted)}["']""", code), wanted


@pytest.mark.parametrize("name", [name for name in _LISTS if name.endswith(".tsv")])
def test_the_rows_of_a_table_have_as_many_columns(name: str) -> None:
    """The last ones may be left out in the table of programs alone."""
    assert name == "programs.tsv" or len({len(row) for row in data_rows(name)}) == 1


def test_another_language_is_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words are found among those of all languages, and apart by its name."""
    for language, words in (("en", "not"), ("fi", "ei älä")):
        (tmp_path / language).mkdir()
        (tmp_path / language / "negations.txt").write_text(f"# Negations.\n{words}\n", encoding="utf-8")
    monkeypatch.setattr(lexicons, "_FOLDER", str(tmp_path))
    monkeypatch.setattr(
        lexicons,
        "data_lines",
        lambda name: tuple((tmp_path / name.partition("/")[2]).read_text("utf-8").split("\n")[1:2]),
    )
    for reader in (lexicon, vocabulary, lexicons._list_names):
        reader.cache_clear()
    try:
        assert vocabulary("negations") == {"not", "ei", "ala"}
        assert lexicon("en/negations") == ("not",)
    finally:
        for reader in (lexicon, vocabulary, lexicons._list_names):
            reader.cache_clear()


def test_a_text_in_a_language_that_has_small_words_is_known() -> None:
    """By that file of its language alone."""
    languages = {path.parent.name for path in (_DATA / "lexicon").glob("*/small_words.txt")}
    assert len(languages) > 8
    assert not any(is_english(vocabulary(f"{language}/small_words")) for language in languages)
