"""What a line becomes so that org shows it and does nothing else, and that it all comes back."""

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.org.escape import LANGUAGES
from roamkb.org.escape import defuse_line
from roamkb.org.escape import escape_text
from roamkb.org.escape import unescape_text
from roamkb.org.syntax.syntax_table import BREAK
from tests.examples import examples

#: The zero-width space, made visible.
Z = BREAK

CHANGED = [
    ("a heading would end the node", "* x", " * x"),
    ("a deeper one too", "** x", " ** x"),
    ("an inline task is a heading", "*************** x", " *************** x"),
    ("Markdown bullets keep their nesting", "* a\n  * b", " * a\n   * b"),
    ("a keyword names the file anew", "#+title: x", ": #+title: x"),
    ("in capitals as well", "#+FILETAGS: :x:", ": #+FILETAGS: :x:"),
    ("and in a list", "- a\n  #+title: x", "- a\n  : #+title: x"),
    ("a set-up file is another file", "#+setupfile: x.org", ": #+setupfile: x.org"),
    ("a call runs", "#+call: f()", ": #+call: f()"),
    ("formulas run", "#+tblfm: $1='(x)", ": #+tblfm: $1='(x)"),
    ("a drawer hides", ":LOGBOOK:\nx\n:END:", ": :LOGBOOK:\nx\n: :END:"),
    ("a second id", ":ID: x", ": :ID: x"),
    ("a property that appends", ":header-args+: x", ": :header-args+: x"),
    ("a clock sums up", "CLOCK: [2026-01-01 Thu]", ": CLOCK: [2026-01-01 Thu]"),
    ("an environment swallows the lines below", "\\begin{x}", ": \\begin{x}"),
    ("an unclosed block is no block", "#+begin_src sh", ": #+begin_src sh"),
    ("nor is an end without beginning", "#+end_src", ": #+end_src"),
    ("raw HTML", "#+begin_export html\nx\n#+end_export", ": #+begin_export html\nx\n: #+end_export"),
    ("a line of the agenda is Lisp", "%%(x)", f"%%{Z}(x)"),
    ("with a sign in front too", "&%%(x)", f"&%%{Z}(x)"),
    ("a date may be Lisp", "a <%%(x)>", f"a <{Z}%%(x)>"),
    ("an active date", "<2026-01-01 Thu>", f"<{Z}2026-01-01 Thu>"),
    ("Emacs's own variables", "# Local Variables:", f"# Local{Z} Variables:"),
    ("in any case", "LOCAL VARIABLES:", f"LOCAL{Z} VARIABLES:"),
    ("file variables", "-*- mode: x -*-", f"-{Z}*- mode: x -{Z}*-"),
    ("inline code", "a src_sh{ls} b", f"a src{Z}_sh{{ls}} b"),
    ("with arguments", "src_sh[:x y]{ls}", f"src{Z}_sh[:x y]{{ls}}"),
    ("an inline call", "call_f(x=1)", f"call{Z}_f(x=1)"),
    ("a macro", "{{{time(x)}}}", f"{{{{{Z}{{time(x)}}}}}}"),
    ("a snippet of HTML", "@@html:<b>@@", f"@{Z}@html:<b>@@"),
    ("a link that is Lisp", "[[elisp:(x)]]", f"[{Z}[elisp{Z}:(x)]]"),
    ("hidden by per cent", "[[%65lisp:(x)]]", f"[{Z}[%65lisp:(x)]]"),
    ("behind a break that was there", f"{Z}[[shell:ls]]", f"{Z}[{Z}[shell{Z}:ls]]"),
    ("without brackets", "shell:ls", f"shell{Z}:ls"),
    ("between angles, a blank after it", "<shell: ls>", f"<shell{Z}: ls>"),
    ("after a letter that is no letter to Emacs", "日man:ls", f"日man{Z}:ls"),
    ("a program opens it", "file+sys:x", f"file+sys{Z}:x"),
    ("an absolute file", "[[file:/etc/x.org]]", f"[{Z}[file{Z}:/etc/x.org]]"),
    ("a file on another machine", "[[/ssh:host:/x.org]]", f"[{Z}[/ssh{Z}:host:/x.org]]"),
    ("a file outside", "[[file:../x.org]]", f"[{Z}[file{Z}:../x.org]]"),
    ("a file that is no note", "[[file:x.el]]", f"[{Z}[file{Z}:x.el]]"),
    ("a shell's test is no link", "if [[ -f x ]]", f"if [{Z}[ -f x ]]"),
    ("a radio target makes links of words", "<<<x>>>", f"<{Z}<<x>>>"),
    ("a cell's formula may be Lisp", "| ='(x) |:=1 |", f"| {Z}='(x) |{Z}:=1 |"),
    ("source is never evaluated", "#+begin_src sh\nx\n#+end_src", "#+begin_src sh :eval never\nx\n#+end_src"),
    (
        "header arguments run, so they stand above",
        "#+begin_src sh :var x=(f)\nx\n#+end_src",
        ": #+begin_src sh :var x=(f)\n#+begin_src sh :eval never\nx\n#+end_src",
    ),
    (
        "Emacs calls LANGUAGE-mode to colour a block",
        "#+begin_src server\nx\n#+end_src",
        ": #+begin_src server\n#+begin_src text :eval never\nx\n#+end_src",
    ),
    (
        "without a language the arguments would be one",
        "#+begin_src\nx\n#+end_src",
        ": #+begin_src\n#+begin_src text :eval never\nx\n#+end_src",
    ),
    (
        "headings count in blocks as well",
        "#+begin_example\n* x\n  #+y\n,* z\n#+end_example",
        "#+begin_example\n,* x\n  ,#+y\n,,* z\n#+end_example",
    ),
    (
        "what the agenda finds in blocks",
        "#+begin_src sh\n%%(x) <%%(y)>\n#+end_src",
        f"#+begin_src sh :eval never\n%%{Z}(x) <{Z}%%(y)>\n#+end_src",
    ),
    (
        "a quote's inside is text",
        "#+begin_quote\n#+title: x\n* y\n#+end_quote",
        "#+begin_quote\n: #+title: x\n * y\n#+end_quote",
    ),
    (
        "the first end closes a quote",
        "#+begin_quote\n#+begin_quote\n#+end_quote\n#+end_quote",
        "#+begin_quote\n: #+begin_quote\n#+end_quote\n: #+end_quote",
    ),
    (
        "a block can't reach out of a quote",
        "#+begin_quote\n#+begin_src sh\n#+end_quote\n#+end_src",
        "#+begin_quote\n: #+begin_src sh\n#+end_quote\n: #+end_src",
    ),
    (
        "a footnote may end within a block, so none is live below it",
        "[fn:1] x\n#+begin_src sh\n\n\ncall_f()\n#+end_src",
        f"[fn:1] x\n: #+begin_src sh\n\n\ncall{Z}_f()\n: #+end_src",
    ),
    (
        "a verse has no fixed-width lines",
        "#+begin_verse\n: call_f()\n#+end_verse",
        f"#+begin_verse\n: call{Z}_f()\n#+end_verse",
    ),
    (
        "in code what Emacs looks for there as well",
        "~<%%(x)>~ =<2026-01-01 Thu>= ~a Local Variables:~",
        f"~<{Z}%%(x)>~ =<{Z}2026-01-01 Thu>= ~a Local{Z} Variables:~",
    ),
    ("code that the line above ended is none", "=a\nb ~c= shell:ls~", f"=a\nb ~c= shell{Z}:ls~"),
    ("nor is what a link ended", "[[id:x][a ~b]] shell:ls~", f"[[id:x][a ~b]] shell{Z}:ls~"),
    ("or bold", "*a ~b* shell:ls~", f"*a ~b* shell{Z}:ls~"),
    ("or a cell", "| ~a | shell:ls~ |", f"| ~a | shell{Z}:ls~ |"),
    ("or a formula", "$a ~b$ shell:ls~", f"$a ~b$ shell{Z}:ls~"),
    ("where its break keeps bold together", "*a ~x -*- y~ b*", f"*a ~x -{Z}*- y~ b*"),
    ("a link in code that would end behind it", "~[[a][~ [[id:x]]", f"~[{Z}[a][~ [[id:x]]"),
    ("an angle, too", "~<man:~ <https://x.org>", f"~<man{Z}:~ <https://x.org>"),
    ("a break in code is no mark", f"~data{Z}:x~", f"~data{Z}{Z}:x~"),
    ("a caption is prose", "#+caption: src_sh{ls}\n| a |", f"#+caption: src{Z}_sh{{ls}}\n| a |"),
    ("one in fixed width stays there", ": #+name: x", ": : #+name: x"),
    ("what looks escaped is escaped once more", ": #+title: x", ": : #+title: x"),
    ("stars with a blank as well", " * x", "  * x"),
    ("and breaks", f"%%{Z}(x)", f"%%{Z}{Z}(x)"),
    (
        "and blocks that are never evaluated",
        "#+begin_src sh :eval never\n#+end_src",
        ": #+begin_src sh :eval never\n#+begin_src sh :eval never\n#+end_src",
    ),
]

#: A break that was given divides what would be one word.
CHANGED += [
    ("a type behind a break", f"a{Z}file:/etc/passwd a{Z}{Z}shell:ls", f"a{Z}file{Z}:/etc/passwd a{Z}{Z}shell{Z}:ls"),
    ("a type that ends the word before it", f"she{Z}ll:x sh{Z}help:x", f"she{Z}ll:x sh{Z}help{Z}:x"),
    ("a type before what is no blank to Emacs", "shell:\u2028x shell:\xa0x", f"shell{Z}:\u2028x shell{Z}:\xa0x"),
    ("what is one letter less to Python", "\u212ashell:x", f"\u212ashell{Z}:x"),
    ("code before what is no blank to Emacs", "=src_sh{ls}=\u2028x", f"=src{Z}_sh{{ls}}=\u2028x"),
    ("TeX that reads", "$\\input{/etc/hostname}$ \\include{x}", f"$\\{Z}input{{/etc/hostname}}$ \\{Z}include{{x}}"),
    ("TeX that writes", "\\[\\openout1=x\\] \\write18{ls}", f"\\[\\{Z}openout1=x\\] \\{Z}write18{{ls}}"),
    ("a name in disguise", "$\\^^69nput{x}$", f"$\\^{Z}^69nput{{x}}$"),
    ("code before a backslash ends", "~a~\\ [[shell:ls]] b~", f"~a~\\ [{Z}[shell{Z}:ls]] b~"),
]

UNTOUCHED = [
    (
        "an example after a block that has ended",
        "#+begin_quote\nx\n#+end_quote\n#+begin_example\n[[shell:ls]]\n#+end_example",
    ),
    ("words", "Redirect URIs must match *exactly*, /also/ =in= ~code~ and +not+ _so_."),
    ("a list", "- a\n  - [ ] b\n- c :: d\n1. e\n   2) f"),
    ("a table", "| a | b |\n|---+---|\n| 1 | 2 |"),
    ("bold at the start", "*bold* x"),
    ("a star and a tab", "*\tx"),
    ("a link to a node", "[[id:01939b7a-0000-7000-8000-000000000000][words]]"),
    ("links to pages", "[[https://x.org/a?b#c][d]] http://y.org <https://z.org> doi:10.1000/1"),
    ("a page called Help", "https://en.wikipedia.org/wiki/Help:Contents"),
    ("notes beside this one", "[[file:a b/é.org::*X][y]] [[./x.org]] [[file:./x.org]]"),
    ("footnotes and citations", "a[fn:1] [cite:@key]\n\n[fn:1] b"),
    ("an inactive date", "[2026-01-01 Thu 10:00]"),
    ("fixed-width lines keep code whole", ": if [[ -f x ]]; then call_f(); fi"),
    (
        "example blocks too",
        "#+begin_example\nif [[ -f x ]]; call_f() {{{x}}} elisp:x -*- a -*-\n#+end_example",
    ),
    ("C++ and words with colons", "std::vector error:42 note:this profile:x metadata:y"),
    ("names that begin alike", "src_dir call_me(later) call_ src_"[:7]),
    ("a comment", "# a comment"),
    ("a rule", "-----"),
    ("a smiley", ":) :-("),
    ("a ruby assignment", "a ||= b | =c"),
    ("commands", "run ~docker run -v data:/var~, =deploy.sh:12= or ~if [[ -f x ]]; then call_f(); fi~"),
    ("macros and HTML in code", "/see ~{{{x}}}~/ and - =@@html:x@@= [[https://x.org][~man:x~]]"),
    ("code in a list and a table", "- ~shell:ls~ :: =elisp:x=\n\n| ~shell:ls~ |"),
    ("code in code's marks", "~x=~ =a:b= ~[[a]]~ =[[1, 2], [3]]= ~[[a][b]]~"),
    ("names, captions and results", "#+name: x\n#+CAPTION: A /table/ of ~sh:x~\n| a |\n\n#+RESULTS:\n: 3"),
    ("nothing", ""),
    ("empty lines", "\n\n"),
    ("formulas", "$\\alpha_{i}^2 \\in X$ \\(\\frac{1}{2}\\) \\[\\inputs \\readable\\] ~\\input{x}~"),
    ("per cent signs", "100%% (of it) %(x)"),
]

#: Everything that is a mark, makes one necessary, or stands in between.
PIECES = """#+begin_src #+BEGIN_SRC·sh #+begin_src·sh·:eval·never #+begin_src·text·:eval·never #+begin_src··python
#+end_src #+end_SRC· #+begin_quote #+end_quote #+begin_example #+begin_example·-n #+end_example #+begin_verse
#+end_verse #+begin_center #+end_center :·#+begin_src :·:·#+begin_src·sh·:x #+title:·x :· : * *·x **·y ·*·z ,*·x
,,#+x , :ID:·x :END: :·:END: CLOCK:· <%%(x)> %%(y) &%%( Local·Variables: local·variables: [[id:x]] [[ [[elisp:(x)]]
elisp:x ~elisp:x~ =src_x{y}= ~ = ~x y= * *x y* ~[[x][~ ~<man:~ #+caption:·x #+name:·elisp:x :·#+name:·x <file:x·y> file+sys:x src_sh{x} call_x(1) {{{m}}} @@html:x@@ -*- |·a |= |·:=c [fn:1] [fn: <<<r>>>
<2024-01-01> \\begin{x} é text""".split()
text_of_pieces = st.lists(
    st.one_of(
        st.sampled_from([piece.replace("·", " ") for piece in PIECES]),
        st.sampled_from((Z, Z + Z, " ", "\t", ",", "\u017f", "\u212a")),
        st.text(alphabet=st.characters(exclude_characters="\r"), max_size=4),
    ),
    max_size=9,
)
texts = st.tuples(text_of_pieces, st.lists(st.sampled_from(("\n", "\n", "", " ")), min_size=9, max_size=9)).map(
    lambda both: "".join(piece + end for piece, end in zip(both[0], both[1], strict=False))
)


@pytest.mark.parametrize(("reason", "text", "inert"), CHANGED)
def test_what_is_live_is_made_inert(reason: str, text: str, inert: str) -> None:
    """Each construct that acts gets its mark, and loses it again."""
    assert escape_text(text) == inert, reason
    assert unescape_text(inert) == text, reason


@pytest.mark.parametrize(("reason", "text"), UNTOUCHED)
def test_what_is_harmless_stays_as_it_is(reason: str, text: str) -> None:
    """Org that a note may hold is stored as it was given."""
    assert escape_text(text) == text, reason
    assert unescape_text(text) == text, reason


@pytest.mark.parametrize("text", ["~docker run -v data{}:/var~", "=if [{}[ -f x ]]=", "a ~src{}_sh{{ls}}~"])
def test_an_older_note_has_its_code_back(text: str) -> None:
    """Breaks stood in verbatim text as well, and are no part of what was said."""
    assert unescape_text(text.format(Z)) == text.format("")


@settings(max_examples=examples(1500), deadline=None)
@given(texts)
def test_every_text_comes_back(text: str) -> None:
    """Escaping loses nothing, also of what looks escaped already."""
    assert unescape_text(escape_text(text)) == text


@settings(max_examples=examples(300), deadline=None)
@given(texts)
def test_escaping_twice_can_be_undone_twice(text: str) -> None:
    """What was escaped is a text like any other."""
    assert unescape_text(unescape_text(escape_text(escape_text(text)))) == text


@settings(max_examples=examples(300), deadline=None)
@given(texts)
def test_unescaping_takes_any_text(text: str) -> None:
    """A note that was edited by hand can always be shown: marks go, nothing comes."""
    assert len(unescape_text(text)) <= len(text)


@settings(max_examples=examples(300), deadline=None)
@given(texts.map(lambda text: text.replace("\n", " ")))
def test_defusing_a_second_time_changes_nothing(line: str) -> None:
    """A title that was stored can be stored again."""
    assert defuse_line(defuse_line(line)) == defuse_line(line)


@pytest.mark.parametrize(
    "unit",
    [
        "#+begin_src sh\n", "#+begin_quote\n", "#+end_src\n", ": ", ":a", "* ", "[[", "[[file:a/", "src_", "call_", "{{{",
        "@@a", "<", "%%", "|", "| ", ",", " ", "\t", BREAK, "\n", "[fn:1]\n", "elisp", "https://", "a.", "\\", "-*",
        "~sh:x~ ", "~sh:x~\n", "~[[a][", "*a ~x -*- y~ b*\n", "=~", "~\n", "~<man:", "*~sh:x ", "~a\n=sh:", "[[id:x][~sh:x~ ",
    ],
)  # fmt: skip
def test_hostile_text_ends(unit: str) -> None:
    """64 KiB of anything are escaped and read back; what is quadratic would take minutes."""
    text = unit * (65536 // len(unit))
    assert unescape_text(escape_text(text)) == text
    assert unescape_text(escape_text(f"a{text}b")) == f"a{text}b"


def test_no_language_names_a_mode_that_switches_something_on() -> None:
    """Languages are words of the trade; the functions that Emacs makes of them colour text."""
    assert not LANGUAGES & {
        "org",
        "server",
        "artist",
        "ditaa",
        "desktop-save",
        "global-auto-revert",
        "fundamental",
    }
