"""Our reader and real org-roam say the same of hundreds of small notes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.org.syntax.links import TYPES
from tests.emacs import agreement

#: How many notes are made up, beside the tables.
_MADE_UP = 300

_URL = "https://x.org/a"

#: What may stand around a link; `@` is the link.
_AROUND = """\
@|*@*|/a @ b/|=@=|~a @~|+@+|_@_|$@$|$$ @ $$|\\(@\\)|\\[@\\]|\\foo{@}|\\foo[@]{b}|\\alpha{@}|\\alpha[@]|x_{@}|x^{a @ b}\
|x_(@)|x_@|{{{m(@)}}}|{{{m @}}}|@@html:@@@|@@html: @|src_x{@}|src_x[@]{b}|src_x @|call_f(@)|call_f[@](b)|call_f(a)[@]\
|<<@>>|<<t>> @|<2024-01-01 @>|<2024-01-01> @|[2024-01-01]--[2024-01-02 @]|[fn:: @ ]|[fn:a: @]|[fn:a] @|[cite:@k @]\
|[cite:see @k;@l @]|("@")|'@'|@.|@,|a@|日@日|é@|[@]|{@}|<@>|[[@]]|[[id:q][@]]|[[id:q]]@|- @|- @ :: b|- [ ] @|1. @\
|# @|: @|#+x: @|#+x[@]: b|#+caption: @|#+call: f(@)|#+transclude: @|* @|* TODO @ :t:|* COMMENT @|** @ b|@ ||a | @ |\
||- @|%%(@)|CLOCK: @|SCHEDULED: @|#+begin_x @|[fn:1] @|:d: @|----- @|\\begin{a} @|#+title: @|#+filetags: @\
""".replace("||", "\0|").split("|")

#: Blocks that may hold lines.
_BLOCKS = """\
src example export comment quote verse center foo""".split()

_LINKS = [
    *(
        "[[id:t]]",
        "[[id:t][d]]",
        "[[id:t::*h][d *b*]]",
        "[[ id:t ]]",
        "[[foo:bar]]",
        "[[Fuzzy]]",
        "[[#c]]",
        "[[(r)]]",
    ),
    *(
        "[[./a.org::3]]",
        "[[/a]]",
        "[[~/a]]",
        "[[file:a.org::*H]]",
        "[[https://a.b/c%20d][e]]",
        "[[abb:x]]",
        "[[a]",
    ),
    *(
        "https://a.b/c",
        "https://a.b/(c)",
        "https://a.b/c?d=1&e=2.",
        "HTTPS://A.b/",
        "<https://a.b/c d>",
        "<id:t>",
    ),
    *(
        "id:t",
        "doi:10.1/x",
        "mailto:a@b.c",
        "file:a.org",
        "elisp:(f)",
        "https:",
        "https://a.b/日。",
        "foo:bar",
        "[[a][b",
    ),
    *(
        "[cite:@k]",
        "[cite/t:see @k p. 3;@l]",
        "[cite:k]",
        "[[a\\]b]]",
        "[[\\\\]]",
        "[[a|b]]",
        "[[id:a\nb][c\nd]]",
    ),
]

_FILES = {
    "crlf.org": b":PROPERTIES:\r\n:ID: crlf\r\n:END:\r\n#+title: T\r\n[[id:x]]\r\n",
    "cr.org": b":PROPERTIES:\r:ID: cr\r:END:\r#+title: T\r[[id:x]]\r",
    "mixed.org": b":PROPERTIES:\r\n:ID: mixed\r\n:END:\n#+title: T\n",
    "bom.org": b"\xef\xbb\xbf:PROPERTIES:\n:ID: bom\n:END:\n#+title: T\n",
    "latin1.org": b":PROPERTIES:\n:ID: latin1\n:END:\n#+title: caf\xe9\n",
    "utf16.org": ":PROPERTIES:\n:ID: utf16\n:END:\n#+title: é日\n".encode("utf-16"),
    "cookie.org": "# -*- coding: latin-1 -*-\n:PROPERTIES:\n:ID: cookie\n:END:\n#+title: é\n".encode(),
    "text-mode.org": b"# -*- mode: text -*-\n:PROPERTIES:\n:ID: text-mode\n:END:\n#+title: T\n#+filetags: :a:\n",
    "local-mode.org": b"* H\n:PROPERTIES:\n:ID: local-mode\n:END:\n# Local Variables:\n# mode: text\n# End:\n",
    "setup.org": b":PROPERTIES:\n:ID: setup\n:END:\n#+setupfile: s/a.setup\n#+filetags: :own:\n* B x\n[[abb:y]]\n",
    "s/a.setup": b"#+title: from setup\n#+filetags: :s:\n#+todo: A B\n#+link: abb https://a/%s\n#+setupfile: b.setup\n",
    "s/b.setup": b"#+filetags: :t:\n#+setupfile: a.setup\n#+begin_src\n#+filetags: :no:\n#+end_src\n",
    "first.org": b"* A\n:PROPERTIES:\n:ID: first\n:END:\n* B\n[[id:b]]\n** C\n:PROPERTIES:\n:ID: firstc\n:END:\n[[id:c]]\n",
    "untitled.org": b":PROPERTIES:\n:ID: untitled\n:END:\n* \n:PROPERTIES:\n:ID: untitledh\n:END:\n",
    "untitled-tag.org": b":PROPERTIES:\n:ID: untitled-tag\n:END:\n* :t:\n:PROPERTIES:\n:ID: uth\n:END:\n",
    "quote.org": b':PROPERTIES:\n:ID: quote\n:ROAM_ALIASES: "open\n:END:\n#+title: T\n',
    "lone-quote.org": b':PROPERTIES:\n:ID: lone-quote\n:END:\n#+title: T\n\n#+setupfile: "\n',
    "no-file.org": b':PROPERTIES:\n:ID: no-file\n:END:\n#+title: T\n\n#+setupfile: ""\n',
    "half-range.org": b":PROPERTIES:\n:ID: half-range\n:END:\n[2024-01-01]--[x]\n",
}


#: Links in keywords that belong to what stands below them.
_KEYWORDS = [
    "#+results: [[id:y]]\n#+caption: c\n#+TAGS: x",
    "#+results: [[id:y]]\n#+TAGS: x",
    "#+results: [[id:y]]\n#+transclude: x",
    "#+caption: [[id:y]]\n#+TAGS: x",
    "#+name: [[id:y]]\n#+caption: [[id:z]]\n#+TAGS: [[id:w]]",
    "#+results: [[id:y]]\n#+caption: c\n| a |",
    "#+results: [[id:y]]\n#+caption: [[id:z]]\n\nx",
    "#+results[[[id:v]]]: [[id:y]]\n#+caption[[[id:u]]]: [[id:z]]\n#+TAGS: x",
    "#+caption: c\n#+results: [[id:y]]\n#+TRANSCLUDE: [[id:z]]",
]
#: Characters that Emacs and Python don't both take for blanks, with some that both do, and the rest of ASCII.
_EDGES = [
    *(chr(code) for code in range(0x0B, 0x10000) if chr(code).isspace() or chr(code) in "\u200b\u200c\ufeff"),
    *(chr(code) for code in range(0x21, 0x7F)),
    *"é日…“",
]
#: Where such a character, `~`, decides about a link.
_AT_EDGES = """\
a =b [[id:n1]]=~c|a =b=~ [[id:n2]]= c|a~=b [[id:n3]]= c|a =~[[id:n4]]= c|a =b [[id:n5]]~= c|=b~[[id:n6]]=|*b*~=[[id:n7]]=\
|a~_{https://n8.org}|a^~[[id:n9]]|[fn:a~b: [[id:n10]]]|a~https://n11.org|https://n12.org/~b|$a [[id:n13]]$~|a~$[[id:n14]]$\
|src_a~{[[id:n15]]}|~src_a{[[id:n16]]}|:a~b:\n[[id:n17]]\n:END:|#+a~b: [[id:n18]]|<https://n19.org/~b>|{{{a~([[id:n20]])}}}|#+begin_x~y\n[[id:n21]]\n#+end_x~y\
""".split("|")


#: Words around a type of link, `@`, that make it none, and some that leave it one.
_WORDS = ["@ system", "the @:x", *"@ @entity @\u200b: @-x: x@:y @ :x @é: ( @:x ) @:x @:x::y @:".split(" ")]


def _words_of_types() -> str:
    """Return a link for each type in each word, in each of the three forms of a link."""
    words = [word.replace("@", shape(kind)) for kind in TYPES for word in _WORDS for shape in (str, str.upper)]
    return "\n\n".join(f"[[{word}]] [[{word}][d]] <{word}> {word}" for word in words)


def _drawer(identity: str, *lines: str) -> str:
    return "\n".join((":PROPERTIES:", f":ID: {identity}", *lines, ":END:", ""))


def _tables() -> dict[str, bytes]:
    """Return a note for each link in each surrounding, and the files that are peculiar."""
    found = dict(_FILES)
    found["types.org"] = f"{_drawer('types')}#+title: T\n\n{_words_of_types()}\n".encode()
    for place, around in enumerate(_AROUND):
        line = around.replace("\0", "|").replace("@k", "\1").replace("@l", "\2").replace("@@", "\3")
        text = line.replace("@", _URL).replace("\1", "@k").replace("\2", "@l").replace("\3", "@@")
        name = f"around{place}"
        found[f"{name}.org"] = f"{_drawer(name)}#+title: T\n\n{text}\n\nafter [[id:z]]\n".encode()
    for place, lines in enumerate(_KEYWORDS):
        found[f"keyword{place}.org"] = f"{_drawer(f'keyword{place}')}#+title: T\n\n{lines}\n".encode()
    for char in _EDGES:
        name = f"edge{ord(char):x}"
        text = "\n\n".join(_AT_EDGES).replace("~", char)
        found[f"{name}.org"] = f"{_drawer(name)}#+title: T\n\n{text}\n".encode()
    for place, link in enumerate(_LINKS):
        name = f"link{place}"
        block = "".join(f"#+begin_{kind}\n{link}\n#+end_{kind}\n" for kind in _BLOCKS)
        text = f"#+link: abb https://abb/%s\n#+title: T\n\n{link} b\n\n- {link}\n| {link} |\n{block}*{link}* ={link}=\n"
        found[f"{name}.org"] = (_drawer(name, f":X: {link}".replace("\n", " ")) + text).encode()
    return found


_word = st.sampled_from(
    "a b é 日 *b* /i/ =v= $ \\( \\) [ ] { } ( ) < > _x x_y ^{ \\foo{ {{{ }}} @@ src_p{ call_f( [fn:1] [fn:: <2024-01-01> "
    "[1/2] :: | - \u200b , . ~ = + * / # : \" '".split(" ")
)
_link = st.sampled_from(_LINKS)
_inline = st.lists(st.one_of(_word, _link), max_size=8).map(" ".join) | st.lists(
    st.one_of(_word, _link), max_size=6
).map("".join)
_start = st.sampled_from(
    [
        *(
            "",
            "",
            "",
            "- ",
            "  - ",
            "1. ",
            "+ t :: ",
            "| ",
            "# ",
            ": ",
            "#+x: ",
            "#+title: ",
            "#+caption: ",
            "#+name: ",
        ),
        *(
            "#+filetags: :a b:c:",
            "#+call: f(",
            "[fn:1] ",
            "\\begin{a} ",
            "CLOCK: ",
            "  ",
            "\t",
            "#+begin_src ",
            "%%(b)",
        ),
        *(
            "#+begin_quote\n",
            "#+end_quote\n",
            "#+begin_src\n",
            "#+end_src\n",
            ":d:\n",
            ":END:\n",
            "#+end_verse\n",
        ),
        *(
            "\\begin{a}\n",
            "\\end{a}\n",
            "\n\n",
            "|-\n",
            "+--+\n",
            "#+begin: x\n",
            "#+end:\n",
            "#+begin_verse\n",
        ),
    ]
)
_line = st.tuples(_start, _inline).map("".join)
_keyword = st.sampled_from(["", "", "TODO ", "DONE ", "[#A] ", "COMMENT ", "TODO [#b] "])
_tags = st.sampled_from(["", "", " :t:", " :t:é日:", " :a-b:", " ::"])
_planning = st.sampled_from(
    [
        "",
        "",
        "SCHEDULED: <2024-03-10 Sun 9:05>\n",
        "  deadline: [2024-13-45] CLOSED: x\n",
        "\n",
        ":LOGBOOK:\n:END:\n",
    ]
)
_value = st.lists(
    st.sampled_from(["a", '"b c"', '"d\\"e"', "@k", "[cite:@a;@b]", _URL, "<https://q.r>", "foo:x", "nil", "\t"]),
    max_size=4,
).map(" ".join)
_entry = st.tuples(
    st.sampled_from(["ROAM_ALIASES", "ROAM_REFS", "ROAM_REFS+", "roam_aliases+", "X", "Y+", "CATEGORY", "TODO"]),
    _value,
).map(lambda entry: f":{entry[0]}: {entry[1]}")


@st.composite
def _notes(draw: st.DrawFn) -> str:
    """A note with `{id}` where its name belongs."""
    parts = [_drawer("{id}", *draw(st.lists(_entry, max_size=2)))]
    for number in range(draw(st.integers(0, 4))):
        parts += [f"{line}\n" for line in draw(st.lists(_line, max_size=5))]
        stars = "*" * draw(st.integers(1, 3))
        parts.append(f"{stars} {draw(_keyword)}{draw(_inline)}{draw(_tags)}\n".replace("\n", " ").strip() + "\n")
        parts.append(draw(_planning))
        if draw(st.booleans()):
            parts.append(_drawer(f"{{id}}h{number}", *draw(st.lists(_entry, max_size=1))))
    parts += [f"{line}\n" for line in draw(st.lists(_line, max_size=5))]
    return "".join(parts)


def _made_up(count: int) -> list[str]:
    """Return notes that hypothesis makes up, the same ones each time."""
    found: list[str] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_notes())
    def collect(note: str) -> None:
        found.append(note)

    collect()
    return found


def test_real_org_roam_agrees(tmp_path: Path, org_roam: Callable[..., dict[str, Any]]) -> None:
    """Every field of every node, and which files are dropped."""
    folder = tmp_path / "kb"
    files = _tables()
    for place, note in enumerate(_made_up(_MADE_UP)):
        files[f"made{place}.org"] = note.replace("{id}", f"made{place}").encode()
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    tables = org_roam(folder, newer=True)
    notes = agreement.notes_in(folder)

    assert set(tables["files_not_indexed"]) == {note.file for note in notes if note.fault}
    theirs = agreement.their_rows(tables, folder)
    assert len(theirs) > len(files) * 0.9
    assert list(agreement.differences(theirs, agreement.our_rows(notes))) == []
