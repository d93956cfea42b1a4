"""Lines of ours in a rule file: put in, taken out, and nothing else touched."""

import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st

from roamkb.fs.marked_block import with_block
from roamkb.fs.marked_block import without_block
from roamkb.instructions.instruction_block import BEGIN_MARK
from roamkb.instructions.instruction_block import END_MARK
from roamkb.instructions.instruction_block import BadPlace
from roamkb.instructions.instruction_block import block_lines
from roamkb.instructions.instruction_block import find_section
from roamkb.instructions.instruction_block import insert_lines
from roamkb.instructions.instruction_block import remove_line

FILE = b"# Site\n\nWords.\n\n## Database\n\n- Amounts are cents\n\n### Migrations\n\nForward only.\n\n## Style\nTabs.\n"
LINE = "- Use TEXT for dates in SQLite"
OTHER = "- Invoice numbers restart at 1 every year"
BLOCK = BEGIN_MARK + b"\n" + LINE.encode() + b"\n" + END_MARK + b"\n"

PIECES = st.lists(
    st.sampled_from(
        [b"# A", b"## B", b"B\n---", b"text", b"- item", b"", b"  ", b"```\n# no\n```", b"> # q", b"\xc3\xa9", b"<!-- x -->",
         b"***", b"    code"]
    ),
    max_size=9,
)  # fmt: skip


@given(PIECES, st.sampled_from([b"\n", b"\r\n"]), st.sampled_from(["", "A", "B"]), st.booleans())
def test_in_and_out_again_is_as_it_was(pieces: list[bytes], eol: bytes, section: str, is_closed: bool) -> None:
    """Whatever the file, its line ends and its last line."""
    data = eol.join(pieces).replace(b"\n", eol).replace(b"\r\r", b"\r") + (eol if is_closed else b"")
    try:
        name = find_section(data, section)
        put = insert_lines(data, name, [LINE])
    except BadPlace:
        assume(False)
    both = insert_lines(put, name, [LINE, OTHER])
    assert {LINE, OTHER} == block_lines(both)
    assert 1 == both.count(BEGIN_MARK)
    assert both == insert_lines(both, name, [OTHER, LINE])
    assert put == remove_line(both, OTHER)
    assert data == remove_line(put, LINE)
    old = data.splitlines(keepends=True)
    # the rest is there, in order
    rest = iter(both.splitlines())
    assert all(line.rstrip(b"\r\n") in rest for line in old)


def test_it_stands_under_its_own_section() -> None:
    """Behind its last word, and before what is below it."""
    put = insert_lines(FILE, find_section(FILE, "database"), [LINE])
    assert FILE.replace(b"are cents\n", b"are cents\n\n" + BLOCK) == put
    both = insert_lines(put, "## Database", [OTHER])
    assert put.replace(END_MARK, OTHER.encode() + b"\n" + END_MARK) == both


def test_another_section_has_its_own_block() -> None:
    """One a section."""
    put = insert_lines(insert_lines(FILE, "## Database", [LINE]), "### Migrations", [OTHER])
    assert 2 == put.count(BEGIN_MARK)
    assert FILE == remove_line(remove_line(put, LINE), OTHER)


def test_without_a_section_the_one_block_is_the_place() -> None:
    """Wherever its human moved it; else the end of the file."""
    assert FILE + b"\n" + BLOCK == insert_lines(FILE, "", [LINE])
    moved = b"# Site\n\n" + BLOCK + b"\n## Database\n"
    assert moved.replace(END_MARK, OTHER.encode() + b"\n" + END_MARK) == insert_lines(moved, "", [OTHER])


@pytest.mark.parametrize("name", ["Databases", "## Migrations", "A", "Twice"])
def test_a_section_that_is_not_there_once_is_an_error(name: str) -> None:
    """Of another level, in code, or there twice."""
    data = FILE + b"\n```\n# A\n```\n# Twice\n# Twice\n"
    with pytest.raises(BadPlace, match="section"):
        find_section(data, name)


def test_headings_have_one_name_however_they_are_written() -> None:
    """Underlined, closed by hashes, in other case; the level may be told."""
    data = b"Top\n===\n\n## The *Second*  One ##\n"
    assert "# Top" == find_section(data, "top") == find_section(data, "# Top")
    assert "## The *Second* One" == find_section(data, "the *second* one")
    assert "" == find_section(data, " ")


@pytest.mark.parametrize("tail", [b"```sh\nls\n", b"<!--\nnot said\n", b"<pre>\nx\n", b"~~~\n"])
def test_what_is_left_open_swallows_no_line(tail: bytes) -> None:
    """The line would be code or a comment."""
    with pytest.raises(BadPlace, match="isn't closed"):
        insert_lines(FILE + tail, "", [LINE])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (END_MARK + b"\n", "out of order in line 1"),
        (BEGIN_MARK + b"\n" + BEGIN_MARK + b"\n", "out of order in line 2"),
        (b"x\n" + BEGIN_MARK + b"\n", "no end to the block that begins in line 2"),
        (b"\xff\xfe#\x00", "UTF-16"),
        (b"caf\xe9\n", "UTF-8"),
    ],
)
def test_what_cannot_be_understood_is_left_alone(data: bytes, why: str) -> None:
    """Marks, and encodings."""
    with pytest.raises(BadPlace, match=why):
        insert_lines(data, "", [LINE])
    with pytest.raises(BadPlace, match=why):
        remove_line(data, LINE)


def test_marks_in_code_are_no_marks() -> None:
    """A file may explain them."""
    data = b"```\n" + BEGIN_MARK + b"\n```\n"
    assert data == remove_line(insert_lines(data, "", [LINE]), LINE)


def test_the_human_edits_around_it() -> None:
    """Their words above, below and in the block stay, line for line."""
    put = insert_lines(insert_lines(FILE, "## Database", [LINE]), "## Database", [OTHER])
    edited = (
        put.replace(b"are cents", b"are in cents")
        .replace(END_MARK, b"Mine.\n" + END_MARK)
        .replace(b"Tabs.", b"Spaces.")
    )
    assert edited.replace(LINE.encode() + b"\n", b"") == remove_line(edited, LINE, others=[OTHER])
    assert {OTHER, "Mine."} == block_lines(remove_line(edited, LINE))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"for dates in SQLite", b"for all dates in SQLite", "changed in line 10"),
        (BLOCK, LINE.encode() + b"\n", "out of roamkb's block"),
        (LINE.encode(), b"- Never DATETIME", "another line in roamkb's block"),
    ],
)
def test_a_line_that_its_human_changed_is_theirs(old: bytes, new: bytes, why: str) -> None:
    """Nothing is guessed."""
    data = insert_lines(FILE, "## Database", [LINE]).replace(old, new)
    with pytest.raises(BadPlace, match=why):
        remove_line(data, LINE)


def test_a_line_that_is_gone_is_gone() -> None:
    """By hand, or by a call that was cut off; other lines of ours may be alike."""
    assert FILE == remove_line(FILE, LINE)
    alike = LINE + " 3"
    data = insert_lines(FILE, "", [alike])
    assert data == remove_line(data, LINE, others=[alike])


def test_it_goes_along_with_the_block_of_install() -> None:
    """Either may come first and go first; nothing stands within the other."""
    gist = "## Knowledge\n\nRead the rule."
    installed = with_block(FILE, gist)
    put = insert_lines(installed, "", [LINE])
    assert installed == remove_line(put, LINE)
    assert insert_lines(FILE, "", [LINE]) == without_block(with_block(insert_lines(FILE, "", [LINE]), gist))
    assert insert_lines(FILE, "## Style", [LINE]) in insert_lines(installed, "## Style", [LINE])
    with pytest.raises(BadPlace, match="no section"):
        find_section(installed, "Knowledge")
