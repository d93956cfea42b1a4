"""The words of shell commands, as bash itself would pass them on."""

import subprocess

import pytest
from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.shell.parser import read_commands
from roamkb.shell.parser import read_script
from tests.examples import examples

#: Prints the words of each `note` with a NUL behind each, and one more behind the last.
RUN_EACH = r"""
note() { printf '%s\0' "$@" ''; }
for script; do eval "$script" | command cat; done
"""


def joined(parts: list[str], *, least: int = 0) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(parts), min_size=least, max_size=5).map("".join)


raw = joined(["a", " ", "é", "\\", '"', "$x", "`", "#", "(", ")", ";", "<<E", "|", ">", "\n", "\t", "{"])
pieces = st.one_of(
    joined(["a", "b#", "é", r"\ ", r"\'", r"\#", r"\;", r"\\", "\\\n", "=", "1", "%", "]"], least=1),
    raw.map(lambda text: f"'{text}'"),
    joined(["a", " ", r"\$", r"\`", r"\"", r"\\", r"\n", "'", "\n", "\\\n", "#", ";", "(", "<<E"]).map(
        lambda text: f'"{text}"'
    ),
    joined(["a", " ", r"\n", r"\'", r"\x41", r"\u20ac", r"\\", '"', "$", r"\q", r"\101", r"\e", "\n"]).map(
        lambda text: f"$'{text}'"
    ),
    raw.map(lambda text: f"\"$(cat <<'E F'\n{text}\nE F\n)\""),
    joined(["a", " ", r"\$", r"\`", r"\"", r"\\", "'", "\n", "\\\n", "(", "\t"]).map(
        lambda text: f'"$(cat <<-E\n\t{text}.\n\tE\n)"'
    ),
)
words = st.lists(pieces, min_size=1, max_size=3).map("".join)
redirections = st.sampled_from([" 2>&1", " </dev/null", " 2>/dev/null", " <<<'a b'", " <&-", " >&1"])
commands = st.lists(words.map(lambda word: f" {word}") | redirections, max_size=4).map(
    lambda rest: f"note{''.join(rest)}"
)
#: Shrinking a batch takes minutes, and pytest shows the words that differ.
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
frames = st.sampled_from(
    ["{}", "( {} )", "{{ {}; }}", "if true; then {}\nfi", "case a in (b|a) {} ;; esac", "true # it's\n{}", "x=1 {}",
     "for i in 1; do {}; done", "(( 1 << 2 ))\n{}", "cat >/dev/null <<E; {}\nnote 'no\nE\n", "! {} # (", "true && {}"]
)  # fmt: skip
scripts = st.lists(st.builds(str.format, frames, commands), min_size=1, max_size=3).map("\n".join)


@pytest.mark.slow
@settings(
    max_examples=examples(15),
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=UNSHRUNK,
    # another seed each time would make CI a matter of luck
    derandomize=True,
)
@given(st.lists(scripts, min_size=20, max_size=20))
def test_words_are_those_that_bash_passes_on(batch: list[str]) -> None:
    """In any mixture of quotes, heredocs, redirections and compound commands."""
    ran = subprocess.run(
        ["bash", "-c", RUN_EACH, "bash", *batch],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
    )
    assert b"" == ran.stderr
    passed = "".join(
        "".join(f"{word}\0" for word in [*command.words, ""][command.words.index("note") + 1 :])
        for script in batch
        for command in read_commands(script)
        if "note" in command.words
    )
    assert passed == ran.stdout.decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 'b c' \"d\" e\\ f", [["a", "b c", "d", "e f"]]),
        ("a $b ${c:-'}'} \"${d:-}\" $((1 + (2))) $(e 'f') `g`", [["e", "f"], ["g"], ["a", "$b", "${c:-'}'}", "${d:-}", "$((1 + (2)))", "$(e 'f')", "`g`"]]),
        ("a; b & c && d || e | f |& g\nh", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]]),
        ("if a; then b; fi; { c; }; (d); ! e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("a 2>b >c <d &>e 3>&1 f", [["a", "f"]]),
        ("a\nb 'c", [["a"]]),
        ("a\nb $(c", [["a"]]),
        ("a\nb (c)", [["a"]]),
        ("a() { b; }", [["a"], ["b"]]),
        ('a "$(cat <<-E\n\tb\\\n\tc\\\\\n\td\n\tE\n)"', [["cat"], ["a", "b\tc\\\nd"]]),
        ("\\", [["\\"]]),
        ("", []),
        ("# a", []),
    ],
)  # fmt: skip
def test_a_text_has_these_commands(text: str, expected: list[list[str]]) -> None:
    """Those in a substitution stand before the command that holds it; a faulty line has none."""
    assert expected == [command.words for command in read_commands(text)]


def test_a_command_knows_its_input_and_output() -> None:
    """Of descriptors other than 0 and 1 nothing is kept."""
    first, second = read_commands("cat <<E 3<<F 2>x >y | b <<< c\nd\nE\nf\nF\n")
    assert ("d\n", "y") == (first.stdin, first.output)
    assert ("c\n", first) == (second.stdin, second.piped_from)


def test_redirections_are_kept_with_their_subshells() -> None:
    """Those of groups as well, and whether all could be read."""
    script = read_script("{ a; } >>x 2>&1; (b | c) <y\n> z; $(d >q)")
    assert [
        ([], [(">>", "x"), (">&", "1")]),
        ([], [("<", "y")]),
        ([], [(">", "z")]),
        (["d"], [(">", "q")]),
    ] == [(command.words, command.redirections) for command in script.commands if command.redirections]
    assert [True, True] == [bool(command.scope) for command in script.commands if command.words in (["b"], ["c"])]
    assert [False, True] == [read_script("a 'b").is_whole, script.is_whole]
