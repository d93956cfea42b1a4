"""What is known to write only where its words say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.copies import outputs_of
from roamkb.core.model import Kind
from tests.core.test_guard import bash


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("pandoc note.org -o ../out.txt", ["../out.txt"]),
        ("pandoc note.org --to=gfm --output=out.md", ["out.md"]),
        ("dd if=note.org of=copy bs=1M", ["copy"]),
        ("dd if=note.org", []),
        ("cp -p note.org /tmp", ["/tmp/note.org"]),
        ("cp -t /tmp a.org b.org", ["/tmp/a.org", "/tmp/b.org"]),
        ("sort -u note.org -o sorted", ["sorted"]),
        ("tar czf /tmp/a.tgz -C /x y", ["/tmp/a.tgz"]),
        ("tar cf - x", []),
        ("zip -r a.zip x", ["a.zip"]),
        ("rsync -a x/ /tmp/y/", ["/tmp/y/"]),
    ],
)
def test_outputs_are_known(line: str, written: list[str]) -> None:
    """Where every option is one that is known to write nothing else."""
    assert written == outputs_of(line.split())


@pytest.mark.parametrize(
    "line",
    [
        "pandoc n.org -F f -o x", "pandoc n.org -t x.lua -o y", "pandoc --from=x.lua n.org -o y", "pandoc n.org --extract-media=. -o y", "pandoc n.org -o $OUT",
        "cp -l n.org x", "cp -s n.org x", "cp --parents n.org /", "cp -b n.org x", "dd if=n.org of=x --help", "sort --compress-program=sh n.org -o x", "tar xf a.tar", "tar cIf rm x y", "tar cf x --remove-files n.org",
        "tar cf host:x n.org", "zip -m x n.org", "zip -T -TT rm x n.org", "rsync -e rm a b", "rsync --remove-source-files a b", "rsync -a a b --log-file=c", "rsync a host:b", "cp *.org /tmp/", "python3 x.py n.org", "mv a b", "tee a",
    ],
)  # fmt: skip
def test_what_is_not_sure_is_not_known(line: str) -> None:
    """Another option, a program that is run, inputs that change, a name that only the shell knows."""
    assert outputs_of(line.split()) is None


@pytest.mark.parametrize("kind", [Kind.WORK, Kind.UNKNOWN])
def test_a_copy_may_be_made_elsewhere_alone(kind: Kind) -> None:
    """A note is read, into the project or to wherever there is no note."""
    assert bash("pandoc ~/sync/org/roam/human.org -o ../out.txt", kind) is None
    assert bash("dd if=~/sync/org/roam/human.org of=elsewhere", kind) is None
    assert bash("cd ~/sync/org/roam && pandoc human.org -o out.txt", kind) is not None
    assert bash("cp ~/sync/org/roam/human.org notes/other.org", kind) is not None
    assert bash("cp -r ~/sync/org/roam ~/sync/org", kind) is not None
    assert bash("cp ~/sync/org/roam/human.org ~/.claude/settings.json", kind) is not None


words = st.sampled_from(
    ["-o", "-r", "-t", "x", "--output=y", "of=z", "if=n", "-", "--", "cf", "-l", "*", "\0", ""]
)


@given(
    st.sampled_from(["cp", "dd", "tar", "zip", "rsync", "pandoc", "split", "sort"]),
    st.lists(words, max_size=6),
)
def test_any_words_have_an_answer(program: str, rest: list[str]) -> None:
    """And no output is one that may be several."""
    written = outputs_of([program, *rest])
    assert written is None or not any(mark in one for one in written for mark in "*\0")
