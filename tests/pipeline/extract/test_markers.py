"""What comments on tasks and closing messages say is worth keeping."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example
from hypothesis import given
from hypothesis import strategies as st

from roamkb.pipeline.extract.markers import CapturedLearning
from roamkb.pipeline.extract.markers import captured_from_command
from roamkb.pipeline.extract.markers import captured_from_message

TYPES = "INVESTIGATION LEARNED DECISION FACT PATTERN DEVIATION MUST-CHECK GOTCHA".split()


class Case(NamedTuple):
    """A command, and what of it is kept: `BEAD type text`, each."""

    name: str
    command: str
    kept: tuple[str, ...]
    #: Whether bash runs the same comments: not where an expansion, a missing program or a condition decides.
    in_bash: bool = True


def kept(name: str, command: str, *said: str, in_bash: bool = True) -> Case:
    return Case(name, command, said, in_bash)


#: The observed failures of the tool whose convention this is, and what they should give.
KNOWN = [
    kept(
        "plain",
        'bd comments add BD-001 "LEARNED: OAuth redirect URI must match exactly"',
        "BD-001 learned OAuth redirect URI must match exactly",
    ),
    kept(
        "redirected and piped",
        'bd comments add BD-3 "DECISION: Chose A over B" 2>&1 | tail -3',
        "BD-3 decision Chose A over B",
    ),
    kept(
        "another type inside",
        'bd comments add BD-5 "FACT: see also INVESTIGATION: notes"',
        "BD-5 fact see also INVESTIGATION: notes",
    ),
    kept(
        "SKIP inside",
        'bd comments add BD-6 "LEARNED: please do not SKIP: this"',
        "BD-6 learned please do not SKIP: this",
    ),
    kept(
        "two by and",
        'bd comments add BD-14 "PATTERN: first" && bd comments add BD-15 "FACT: second"',
        "BD-14 pattern first",
        "BD-15 fact second",
    ),
    kept(
        "two on two lines",
        'bd comments add B-1 "LEARNED: line one" \\\n  && bd comments add B-2 "FACT: two"',
        "B-1 learned line one",
        "B-2 fact two",
    ),
    kept("three lines", 'bd comments add B-1 "LEARNED: one\ntwo\n\nthree"', "B-1 learned one\ntwo\n\nthree"),
    kept("in an echo", 'echo "bd comments add BD-20 LEARNED: no"'),
    kept(
        "escaped quotes",
        'bd comments add B "LEARNED: he said \\"stop\\" and left"',
        'B learned he said "stop" and left',
    ),
    kept(
        "any script",
        'bd comments add B "LEARNED: café — naïve “quotes” … €5 日本語 🦓"',
        "B learned café — naïve “quotes” … €5 日本語 🦓",
    ),
    kept("no quotes", "bd comments add BD-20 LEARNED: no quotes at all", "BD-20 learned no quotes at all"),
    kept("lower case", 'bd comments add B "learned: lower case prefix"', "B learned lower case prefix"),
    kept(
        "an apostrophe",
        """bd comments add B "LEARNED: don't chain rebase && merge" """,
        "B learned don't chain rebase && merge",
    ),
    kept("a dotted id", 'bd comments add zw5.4 "DECISION: x"', "zw5.4 decision x"),
]
QUOTES = [
    kept("single", "bd comments add B 'FACT: $HOME `x` \\n \"q\"'", 'B fact $HOME `x` \\n "q"'),
    kept("an apostrophe in single quotes", "bd comments add B 'FACT: don'\\''t'", "B fact don't"),
    kept("an apostrophe by other quotes", "bd comments add B 'FACT: don'\"'\"'t'", "B fact don't"),
    kept("adjacent pieces", "bd comments add B FACT:\" a\"' b'\\ c", "B fact a b c"),
    kept(
        "ANSI-C",
        r"bd comments add B $'FACT: a\n\tb \'c\' \x41 \u20ac \101 \e[0m \\'",
        "B fact a\n\tb 'c' A € A \x1b[0m \\",
    ),
    kept("ANSI-C bytes", r"bd comments add B $'FACT: caf\xc3\xa9 \303\251'", "B fact café é"),
    kept("ANSI-C ends at NUL", r"bd comments add B $'FACT: a\0b'", "B fact a"),
    kept("locale", 'bd comments add B $"FACT: a"', "B fact a"),
    kept(
        "escapes in double quotes",
        r'bd comments add B "FACT: \$HOME \`x\` \\ \n \q \!"',
        r"B fact $HOME `x` \ \n \q \!",
    ),
    kept("continued in double quotes", 'bd comments add B "FACT: a \\\nb"', "B fact a b"),
    kept("continued between words", "bd comments \\\n add \\\n B \\\n 'FACT: a'", "B fact a"),
    kept("continued in a word", "bd com\\\nments add B 'FACT: a'", "B fact a"),
    kept("escaped unquoted", r"bd comments add B FACT:\ it\'s\ \#1\;", "B fact it's #1;"),
    kept(
        "operators in quotes",
        "bd comments add B 'FACT: a && b || c; d | e > f # g'",
        "B fact a && b || c; d | e > f # g",
    ),
    kept("a hash in a word", "bd comments add B FACT: a#b", "B fact a#b"),
    kept("a comment behind", "bd comments add B FACT: a # and more", "B fact a"),
    kept("parentheses in quotes", "bd comments add B 'FACT: f(x)) {'", "B fact f(x)) {"),
    kept("tabs between words", "bd\tcomments\tadd\tB\t'FACT: a\tb'", "B fact a\tb"),
    kept("blanks at the end", "bd comments add B 'FACT:  a  '", "B fact  a  "),
    kept("carriage returns", "bd comments add B 'FACT: a\r\nFACT: b'", "B fact a", "B fact b"),
    kept("a quoted program", "'bd' \"comments\" add B 'FACT: a'", "B fact a"),
    kept(
        "a variable",
        'bd comments add B "FACT: $HOME is ${HOME:-"no}"}"',
        'B fact $HOME is ${HOME:-"no}"}',
        in_bash=False,
    ),
    kept(
        "a substitution",
        'bd comments add B "FACT: at $(date +"%F )")"',
        'B fact at $(date +"%F )")',
        in_bash=False,
    ),
    kept("backticks", 'bd comments add B "FACT: at `date`"', "B fact at `date`", in_bash=False),
    kept("arithmetic", 'bd comments add B "FACT: $((1 << 2)) bits"', "B fact $((1 << 2)) bits", in_bash=False),
    kept("a single dollar", 'bd comments add B "FACT: 5 $ or $"', "B fact 5 $ or $"),
]
HEREDOCS = [
    kept(
        "in a substitution",
        'bd comments add B "$(cat <<\'EOF\'\nFACT: it\'s "q" $x `y` \\$\n\nb\nEOF\n)"',
        'B fact it\'s "q" $x `y` \\$\n\nb',
    ),
    kept(
        "then more",
        "bd comments add B \"$(cat <<'EOF'\nFACT: a\nEOF\n)\" && bd comments add C 'FACT: b'",
        "B fact a",
        "C fact b",
    ),
    kept(
        "unquoted end",
        'bd comments add B "$(cat <<EOF\nFACT: \\$x \\\\ \\` \\n "q" a\\\nb\nEOF\n)"',
        'B fact $x \\ ` \\n "q" ab',
    ),
    kept("indented", "bd comments add B \"$(cat <<-'EOF'\n\t\tFACT: a\n\t\tb\n\tEOF\n)\"", "B fact a\nb"),
    kept("an end in double quotes", 'bd comments add B "$(cat << "THE END"\nFACT: a\nTHE END\n)"', "B fact a"),
    kept("an end before the parenthesis", "bd comments add B \"$(cat <<'EOF'\nFACT: a\nEOF)\"", "B fact a"),
    kept("with the prefix outside", "bd comments add B \"FACT: $(cat <<'EOF'\na (b\nEOF\n)\"", "B fact a (b"),
    kept("backticks around", "bd comments add B \"`cat <<'EOF'\nFACT: a\nEOF\n`\"", "B fact a"),
    kept(
        "a command in the text",
        "bd comments add B \"$(cat <<'EOF'\nFACT: run\nbd comments add C 'FACT: no'\nEOF\n)\"",
        "B fact run\nbd comments add C 'FACT: no'",
    ),
    kept("-f -", "bd comments add B -f - <<'EOF'\nFACT: a\nb\nEOF\necho done", "B fact a\nb"),
    kept("--file - first", "bd comments add --file - B <<EOF\nFACT: a\nEOF", "B fact a"),
    kept("--file=-", "bd comments add B --file=- <<EOF\nFACT: a\nEOF", "B fact a"),
    kept("--stdin", "bd comments add B --stdin <<EOF\nFACT: a\nEOF", "B fact a"),
    kept("here-string", 'bd comments add B --stdin <<< "FACT: a"', "B fact a"),
    kept("here-string first", "<<< 'FACT: a' bd comments add B --stdin", "B fact a"),
    kept("standard input alone", "bd comments add B <<< 'FACT: a'", "B fact a", in_bash=False),
    kept(
        "and a chain on its line",
        "bd comments add B -f - <<EOF && bd comments add C 'FACT: c'\nFACT: b\nEOF",
        "B fact b",
        "C fact c",
    ),
    kept(
        "two on one line",
        "bd comments add B -f - <<A; bd comments add C -f - <<B\nFACT: a\nA\nFACT: b\nB",
        "B fact a",
        "C fact b",
    ),
    kept("piped from cat", "cat <<'EOF' | bd comments add B --stdin\nFACT: a\nEOF", "B fact a"),
    kept("piped from echo", "true && echo 'FACT: a' | bd comments add B --stdin", "B fact a"),
    kept("piped from printf", "printf '%s\\n' 'FACT: 100%\\n' | bd comments add B -f -", "B fact 100%\\n"),
    kept("piped from several", "{ echo 'FACT: a'; echo b; } | bd comments add B -f -", in_bash=False),
    kept(
        "by a file",
        "cat > note.txt <<'EOF'\nFACT: a\nEOF\nbd comments add B -f note.txt",
        "B fact a",
        in_bash=False,
    ),
    kept("a file that nobody saw", "bd comments add B -f note.txt", in_bash=False),
    kept("for another program", "cat <<EOF > notes.txt\nbd comments add B 'FACT: no'\nEOF"),
    kept("for a shell", "bash <<'EOF'\nbd comments add B 'FACT: a'\nEOF", "B fact a"),
    kept("without its end", "bd comments add B -f - <<EOF\nFACT: a", "B fact a"),
    kept("of another descriptor", "bd comments add B 'FACT: a' 3<<EOF\nFACT: no\nEOF", "B fact a"),
    kept("after arithmetic", "(( x = 1 << 2 ))\nbd comments add B 'FACT: a'", "B fact a"),
]
PLACES = [
    kept("or", "false || bd comments add B 'FACT: a'", "B fact a"),
    kept("semicolon", "cd . ; bd comments add B 'FACT: a'; true", "B fact a"),
    kept("no blanks", "true;bd comments add B 'FACT: a'&&true", "B fact a"),
    kept("background", "bd comments add B 'FACT: a' & wait", "B fact a"),
    kept("a subshell", "(cd . && bd comments add B 'FACT: a')", "B fact a"),
    kept("braces", "{ bd comments add B 'FACT: a'; } >/dev/null", "B fact a"),
    kept("if", "if true; then bd comments add B 'FACT: a'; else true; fi", "B fact a"),
    kept("if not", "if ! bd comments add B 'FACT: a'; then true; fi", "B fact a"),
    kept("for", "for i in 1; do bd comments add B 'FACT: a'; done", "B fact a"),
    kept("a C loop", "for ((i=0; i<1; i++)); do bd comments add B 'FACT: a'; done", "B fact a"),
    kept("while", "while bd comments add B 'FACT: a'; do break; done", "B fact a"),
    kept("case", "case x in a|b) true;; (x) bd comments add B 'FACT: a';; esac", "B fact a"),
    kept(
        "case in a substitution",
        "x=$(case x in x) bd comments add B 'FACT: a';; esac); bd comments add C 'FACT: c'",
        "B fact a",
        "C fact c",
    ),
    kept("a function", "f() { true; }; f\nbd comments add B 'FACT: a'", "B fact a"),
    kept("an array", "a=(bd comments add B 'FACT: no'); bd comments add C 'FACT: c'", "C fact c"),
    kept("a test with a pattern", "[[ ab =~ ^(a|b)+ ]] && bd comments add B 'FACT: a'", "B fact a"),
    kept("a substitution runs", 'out=$(bd comments add B "FACT: a"); echo "$out"', "B fact a"),
    kept("backticks run", 'out=`bd comments add B "FACT: a"`', "B fact a"),
    kept("a process substitution", "cat <(bd comments add B 'FACT: a')", "B fact a"),
    kept("after a heredoc of another", "cat <<EOF\nit's\nEOF\nbd comments add B 'FACT: a'", "B fact a"),
    kept("after a comment", "# it's\nbd comments add B 'FACT: a'", "B fact a"),
    kept("in a comment", "true # bd comments add B 'FACT: no'"),
    kept("in printf", "printf '%s' 'bd comments add B \"FACT: no\"'"),
    kept("in a commit message", "git commit -m 'bd comments add B \"FACT: no\"'", in_bash=False),
    kept("in a search", "grep -rn 'bd comments add B \"LEARNED: x\"' .", in_bash=False),
    kept("an assignment before", "A=x B='y z' bd comments add B 'FACT: a'", "B fact a"),
    kept("env", "env -u X A=b bd comments add B 'FACT: a'", "B fact a"),
    kept("command", "command bd comments add B 'FACT: a'", "B fact a"),
    kept("sudo", "sudo -u me bd comments add B 'FACT: a'", "B fact a", in_bash=False),
    kept("time", "time -p bd comments add B 'FACT: a'", "B fact a"),
    kept("timeout", "timeout -k 1 5 bd comments add B 'FACT: a'", "B fact a"),
    kept("several of them", "X=1 env Y=2 timeout 5 nice -n 1 bd comments add B 'FACT: a'", "B fact a"),
    kept("bash -c", "bash -c 'bd comments add B \"FACT: a\"'", "B fact a"),
    kept("sh -ec", 'sh -ec "cd . && bd comments add B \'FACT: \\"a\\"\'"', 'B fact "a"'),
    kept("sh -lc", "sh -lc 'bd comments add B \"FACT: a\"'", "B fact a", in_bash=False),
    kept("bash with options", "bash -euo pipefail -c 'bd comments add B \"FACT: a\"'", "B fact a"),
    kept("eval", "eval 'bd comments add B \"FACT: a\"'", "B fact a"),
    kept("a script's argument", "bash ./x.sh 'bd comments add B \"FACT: a\"'", in_bash=False),
    kept("a path", "/usr/local/bin/bd comments add B 'FACT: a'", "B fact a", in_bash=False),
    kept("the singular", "bd comment add B 'FACT: a'", "B fact a"),
    kept("the short form", "bd comment B 'FACT: a'", "B fact a"),
    kept("flags before", "bd --json --actor x comments add B 'FACT: a'", "B fact a"),
    kept("flags between", "bd comments --json add --author 'a b' B --db=x 'FACT: a' -q", "B fact a"),
    kept("two dashes", "bd comments add B -- 'FACT: a' --json", "B fact a --json"),
    kept(
        "redirections between",
        "bd 2>/dev/null comments add >&2 B 2>&1 'FACT: a' &>/dev/null </dev/null",
        "B fact a",
    ),
    kept("an id by a variable", 'bd comments add "$ID" "FACT: a"', "- fact a", in_bash=False),
    kept("an id that cannot be", "bd comments add 'B 1' 'FACT: a'"),
    kept("several ids", "bd comments add A-1 B-2 C.3 'FACT: a'", "A-1 fact a", in_bash=False),
    kept("several ids and words", "bd comments add A-1 B-2 FACT: a b", "A-1 fact a b", in_bash=False),
    kept("a closing line", "bd comments add B 'FACT: a is b\nI ran all tests.'", "B fact a is b"),
    kept("a wide colon", "bd comments add B 'FACT：測試需要 Docker'", "B fact 測試需要 Docker"),
    kept("no text", "bd comments add B"),
    kept("another verb", "bd create 'LEARNED: a' && bd comments B"),
    kept("another program", "abd comments add B 'FACT: a'; bd-x comments add B 'FACT: a'", in_bash=False),
    kept(
        "an unclosed quote",
        "bd comments add B 'FACT: a'\nbd comments add C 'FACT: c'; bd comments add D 'FACT: d",
        "B fact a",
    ),
    kept("a stray parenthesis", "bd comments add B FACT: so (they say)\n"),
    kept("a stray end", "bd comments add B FACT: a) b"),
]
PREFIXES = [
    *(kept(f"{word}", f"bd comments add B '{word}: a'", f"B {word.lower()} a") for word in TYPES),
    kept("lesson", "bd comments add B 'LESSON: a'", "B learned a"),
    kept("must_check", "bd comments add B 'MUST_CHECK: a'", "B must-check a"),
    kept(
        "several types",
        "bd comments add B 'LEARNED: a\nmore\nFACT: b\n\nc\nfact: d'",
        "B learned a\nmore",
        "B fact b\n\nc\nfact: d",
    ),
    kept("after white space", "bd comments add B '\n  LEARNED: a'", "B learned a"),
    kept("on its own line", "bd comments add B 'LEARNED:\n  a\n  b'", "B learned   a\n  b"),
    kept(
        "below a summary",
        "bd comments add B 'Done today:\n- LEARNED: a\n- **FACT**: b\n1. **FACT: c**'",
        "B learned a",
        "B fact b",
        "B fact c",
    ),
    kept("bold", "bd comments add B '**LEARNED:** a'", "B learned a"),
    kept("no type", "bd comments add B 'started, see LEARNED: x'"),
    kept("not a type", "bd comments add B 'TODO: a\nNOTE: b\nHTTP: c\nDONE: d'"),
    kept("SKIP at the start", "bd comments add B 'SKIP: nothing to keep\nLEARNED: x'"),
    kept("no blank behind", "bd comments add B 'FACT:a'"),
    kept("a longer word", "bd comments add B 'UNLEARNED: a\nARTEFACT: b'"),
    kept("an empty text", "bd comments add B 'LEARNED: \nFACT:'"),
]
CASES = [*KNOWN, *QUOTES, *HEREDOCS, *PLACES, *PREFIXES]

FAKE_BD = """#!{python} -SE
import json, os, sys
reads = bool({{"-", "--stdin", "--file=-"}} & set(sys.argv))
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], sys.stdin.read() if reads else None]) + "\\n")
"""


def lines(captured: tuple[CapturedLearning, ...]) -> tuple[str, ...]:
    return tuple(f"{one.bead or '-'} {one.type} {one.text}" for one in captured)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_command_adds(case: Case) -> None:
    """Each comment that the shell would add, and nothing else."""
    assert case.kept == lines(captured_from_command(case.command))


@pytest.mark.parametrize("case", [case for case in CASES if case.in_bash], ids=lambda case: case.name)
def test_bash_passes_on_the_same_words(case: Case, tmp_path: Path) -> None:
    """What a program called bd gets from bash says the same as our reading of the command."""
    log, program = tmp_path / "log", tmp_path / "bin" / "bd"
    program.parent.mkdir()
    program.write_text(FAKE_BD.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    log.touch()
    subprocess.run(
        ["bash", "-c", case.command],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
    )
    ran: list[str] = []
    for line in log.read_text().splitlines():
        words, stdin = json.loads(line)
        given = f" <<< {shlex.quote(stdin)}" if stdin is not None else ""
        ran += lines(captured_from_command(shlex.join(["bd", *words]) + given))
    assert sorted(case.kept) == sorted(ran)


def test_the_table_is_large_and_its_names_are_unique() -> None:
    """A name tells one case."""
    assert len(CASES) > 120
    assert len({case.name for case in CASES}) == len(CASES)


def test_an_alias_keeps_the_word_that_was_said() -> None:
    """The log has one name for a type, and the reader can see which word was used."""
    assert (
        CapturedLearning(type="learned", text="a", bead="B", alias="LESSON"),
        CapturedLearning(type="fact", text="b", bead="B"),
    ) == captured_from_command("bd comments add B 'LESSON: a\nFACT: b'")


anything = st.text(st.characters(exclude_characters="\0", exclude_categories=()))
unmarked = anything.filter(
    lambda text: not any(f"{word}:" in text for word in [*TYPES, "INSIGHT", "CHECK", "LEARNING", "LESSON"])
)


@given(unmarked, st.sampled_from(TYPES))
@example(" two blanks ", "FACT")
@example("\r\n'\"$`\\!\u2028\x1b\ud800", "LEARNED")
def test_a_quoted_text_comes_back_byte_for_byte(text: str, word: str) -> None:
    """Whatever it holds, quoted for a shell."""
    said = captured_from_command(f"bd comments add B {shlex.quote(f'{word}: {text}')} 2>&1 | tail -1")
    assert (((word.lower(), text),) if text.strip() else ()) == tuple((one.type, one.text) for one in said)


@given(unmarked)
def test_a_heredoc_comes_back_byte_for_byte(text: str) -> None:
    """But for the line ends that a shell cuts off."""
    body = f"FACT: {text}".rstrip("\n")
    said = captured_from_command(f"bd comments add B \"$(cat <<'EOF-1'\n{body}\nEOF-1\n)\"")
    expected = body.removeprefix("FACT:")[1:]
    assert ((expected,) if expected.strip() else ()) == tuple(one.text for one in said)


PIECES = st.sampled_from(
    ["'", '"', "`", "$(", "${", "$'", "((", "(", ")", "}", "{", "\\", "\n", " ", "|", "&", ";", "<<EOF", "EOF", "<<<", "<(", ">", "#",
     "case", "esac", "in", "bd", "comments", "add", "B", "LEARNED:", "cat", "bash -c", "eval", "-f", "-", "[MEMORY]", "type=", "tags=", ":", "**", "```", "- "]
)  # fmt: skip


@given(st.lists(PIECES | anything, max_size=40), st.sampled_from(["", " "]))
def test_any_text_has_a_result(pieces: list[str], between: str) -> None:
    """No text is refused, and none loops."""
    text = between.join(pieces)
    for one in (*captured_from_command(text), *captured_from_message(text)):
        assert one.text.strip()
        assert one.type


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["$(", "${", "`", "((", "(", "$((", '"$(', "'", '"', "\\", "<<A ", "cat <<A\nA\n", '"${', "<(", "a=(", "bash -c '", "case x in ",
     "eval ", "\\`", "\t", "$'\\", "x=1 ", "env ", "|", "- ", "**", "LEARNED: \n", "[MEMORY] ", "- LEARNED: x\n", "```\n", "\n"],
)  # fmt: skip
def test_hostile_texts_take_no_more_than_their_length(piece: str) -> None:
    """Anything of 128 KiB ends; what grows with the square of it would take hours."""
    text = piece * (2**17 // len(piece))
    assert not captured_from_command(text)
    assert not captured_from_command(f'bd comments add B "LEARNED: {text}')
    assert all(one.text.strip() for one in captured_from_message(text))


@pytest.mark.parametrize("opening", ['eval "$(', 'bash -c "$(', "bash <<< $("])
def test_scripts_in_substitutions_in_scripts_are_not_read_again_and_again(opening: str) -> None:
    """Each would be read at every level that holds it."""
    closing = ')"' if '"' in opening else ")"
    command = f"{opening * 38}bd comments add B 'FACT: {'a' * 2**16}'{closing * 38}"
    assert ["B"] == [one.bead for one in captured_from_command(command)]


MESSAGES = {
    "plain": ("LEARNED: a", ["learned a"]),
    "among prose": ("All done.\n\nFACT: a\nand more\n\nBye.", ["fact a\nand more"]),
    "items": (
        "- LEARNED: a\n- other\n* **FACT:** b\n  more\n1. **GOTCHA**: c",
        ["learned a", "fact b\nmore", "gotcha c"],
    ),
    "nested items": ("- x\n    - LEARNED: a", ["learned a"]),
    "bold": ("**DECISION: a** since b", ["decision a since b"]),
    "next type": ("LEARNED: a\nMUST-CHECK: b", ["learned a", "must-check b"]),
    "on its own line": ("LEARNED:\na\nb", ["learned a\nb"]),
    "fenced": ("```\nLEARNED: no\n```\nFACT: a\n~~~sh\nFACT: no\n```\n~~~\n", ["fact a"]),
    "a fence in an item": ("- ```\n  FACT: no\n  ```\nFACT: a", ["fact a"]),
    "a fence without its end": ("````\nFACT: no\n```\nFACT: no", []),
    "indented code": ("    FACT: no\n\n   FACT: a", ["fact a"]),
    "quoted": ("> FACT: no\nFACT: a\n> b", ["fact a"]),
    "a heading ends it": ("FACT: a\n## b", ["fact a"]),
    "inside a line": ("I learned LEARNED: no", []),
    "lower case": ("fact: no\nFact: no", []),
    "no type": ("TODO: no\nNOTE: no\nSUMMARY: no", []),
    "empty": ("LEARNED:\n\nFACT: \n", []),
    "what was shown": (
        '<untrusted-knowledge source="x">\nLEARNED: no\n</untrusted-knowledge>\nFACT: a',
        ["fact a"],
    ),
    "carriage returns": ("FACT: a\r\nb\r\n\r\nc", ["fact a\nb"]),
    "any script": ("FACT: café — “q” … €5 日本語 🦓", ["fact café — “q” … €5 日本語 🦓"]),
    "an alias": ("INSIGHT: a", ["learned a"]),
    "what the agent did": (
        "GOTCHA: Safari caches 301s\nI also ran the tests.",
        ["gotcha Safari caches 301s"],
    ),
    "behind a full stop": (f"FACT: {'long ' * 20}is a.\nI've pushed it.\nBye", [f"fact {'long ' * 20}is a."]),
    "a reason": ("DECISION: a.\nIt needs no server", ["decision a.\nIt needs no server"]),
    "a sentence that is wrapped": ("FACT: a is so, since\nI see b", ["fact a is so, since\nI see b"]),
    "a line of its own": ("FACT:\nI see that a", ["fact I see that a"]),
    "a name": ("FACT: a\nI/O is slow", ["fact a\nI/O is slow"]),
    "how the run ended": ("FACT: a needs b.\n\nAll 52 tests pass now.", ["fact a needs b."]),
    "how it ended, behind two": (
        "DECISION: a\nFACT: b needs c\nWe've got a green suite.",
        ["decision a", "fact b needs c"],
    ),
    "a second sentence": (
        "GOTCHA: Safari caches 301s.\nUse 302 in the tests of redirects.",
        ["gotcha Safari caches 301s.\nUse 302 in the tests of redirects."],
    ),
    "a wide colon": ("FACT：測試需要 Docker", ["fact 測試需要 Docker"]),
    "memory": ("[MEMORY] type=decision tags=go, sql: a: b\nmore", ["decision a: b go sql"]),
    "memory without tags": ("[MEMORY] type=preference: a", ["preference a"]),
    "memory without a type": ("[MEMORY] tags=x: a\n[MEMORY]: b", ["learned a x", "learned b"]),
    "memory of a lesson": ("[MEMORY] type=lesson: a", ["learned a"]),
    "memory inside a line": ("see [MEMORY] type=fact: no\n[MEMORY] no", []),
    "memory ends a text": ("FACT: a\n[MEMORY] type=fact: b", ["fact a", "fact b"]),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_says(name: str) -> None:
    """Each line that begins with a type, with what belongs to it."""
    message, expected = MESSAGES[name]
    assert expected == [" ".join([one.type, one.text, *one.tags]) for one in captured_from_message(message)]


def test_who_asks_has_learned_nothing_yet() -> None:
    """A type word makes no statement of a question."""
    message = (
        "LEARNED: Does the scheduler need a lock?\n\nFACT: 再構築されますか？\n\nFACT: The scheduler takes a lock."
    )
    assert ["The scheduler takes a lock."] == [one.text for one in captured_from_message(message)]
