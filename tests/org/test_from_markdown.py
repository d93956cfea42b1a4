"""Markdown as the body of an org node."""

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.org.escape import escape_text
from roamkb.org.escape import unescape_text
from roamkb.org.from_markdown import org_from_markdown
from roamkb.org.syntax.syntax_table import BREAK
from tests.examples import examples

Z = BREAK

CASES = [
    ("a heading is a bold line: the node has none", "# Title\n\ntext", "*Title*\n\ntext"),
    ("whatever its level", "### A `b` *c*", "*A ~b~ /c/*"),
    ("underlined too", "Title\n=====", "*Title*"),
    ("bold in bold is plain", "# A **b**", "A *b*"),
    ("emphasis", "*a* **b** ~~c~~ `d`", "/a/ *b* +c+ ~d~"),
    ("nested", "***a***", "/*a*/"),
    ("a letter beside a mark is set apart", "a*b*c `d`s", f"a{Z}/b/{Z}c ~d~{Z}s"),
    ("punctuation needs no help", "(*a*), `b`.", "(/a/), ~b~."),
    ("a mark within marks", "**a*b**", "*a*b*"),
    ("code with a tilde", "`a~b`", "=a~b="),
    ("with both", "`a~=b` `export PATH=~/bin:$PATH`", "~a~=b~ ~export PATH=~/bin:$PATH~"),
    ("with both at words' ends", "`a~ =b= c`", f"a~ =b{Z}= c"),
    ("with blanks around", "`` `a` ``", "~`a`~"),
    ("lines stay lines", "a\nb", "a\nb"),
    ("a hard break", "a  \nb", "a\\\\\nb"),
    ("none within a mark", "*a  \nb*", "/a b/"),
    ("a list", "* a\n* b", "- a\n- b"),
    ("a nested one", "- a\n  - b\n    - c\n- d", "- a\n  - b\n    - c\n- d"),
    ("numbers", "1. a\n2. b", "1. a\n2. b"),
    ("that begin elsewhere", "3) a\n4) b", "3. [@3] a\n4. b"),
    ("tasks", "- [ ] a\n- [x] b", "- [ ] a\n- [X] b"),
    ("a loose list", "- a\n\n  b\n- c", "- a\n\n  b\n\n- c"),
    ("an empty item", "-\n- b", "-\n- b"),
    (
        "code in a list",
        "- a\n\n  ```sh\n  x\n\n  y\n  ```",
        "- a\n\n  #+begin_src sh\n  x\n\n  y\n  #+end_src",
    ),
    ("code first in an item", "- ```sh\n  x\n  ```", "-\n  #+begin_src sh\n  x\n  #+end_src"),
    ("a language by another name", "```py\nx\n```", "#+begin_src python\nx\n#+end_src"),
    ("in capitals, with attributes", "```{.Python} :x y\n1\n```", "#+begin_src python\n1\n#+end_src"),
    ("a language that Emacs might run", "```server\nx\n```", "#+begin_example\nx\n#+end_example"),
    ("none", "```\n* x\n```", "#+begin_example\n* x\n#+end_example"),
    ("indented code", "    x\n     y", "#+begin_example\nx\n y\n#+end_example"),
    ("no code", "```sh\n```", "#+begin_src sh\n#+end_src"),
    ("code that would end its block", "```sh\n#+end_src\n```", "#+begin_example\n#+end_src\n#+end_example"),
    ("or both kinds", "```\n#+end_src\n #+END_EXAMPLE\n\n```", ": #+end_src\n:  #+END_EXAMPLE\n:"),
    ("or be cut by a footnote", "```sh\n[fn:1] x\n```", ": [fn:1] x"),
    ("a quote", "> a\n> b", "#+begin_quote\na\nb\n#+end_quote"),
    ("a quote in a quote", "> a\n> > b", "#+begin_quote\na\n\n> b\n#+end_quote"),
    ("and in that", "> > a\n> > > b\n> > - c", "#+begin_quote\n> a\n>\n> > b\n>\n> - c\n#+end_quote"),
    ("with code", "> > ```sh\n> > x: y\n> > ```\n> a", "#+begin_quote\n: > x: y\n\na\n#+end_quote"),
    (
        "code that would end its quote",
        "> ```\n> #+end_quote\n> ```",
        "#+begin_quote\n: #+end_quote\n#+end_quote",
    ),
    ("a rule", "---", "-----"),
    ("a table", "|a|b|\n|-|-|\n|1|`2`|", "| a | b   |\n|---+-----|\n| 1 | ~2~ |"),
    (
        "as wide as it is shown",
        "|日本|a|\n|-|-|\n|b|e\u0301|",
        "| 日本 | a |\n|------+---|\n| b    | e\u0301 |",
    ),
    ("a bar in a cell", "|a|\n|-|\n|x\\|y|", "| a         |\n|-----------|\n| x\\vert{}y |"),
    ("a page", "[a *b*](https://x.org/c_(d))", "[[https://x.org/c_(d)][a /b/]]"),
    ("brackets in words and address", "[a[0]](https://x.org/[y])", f"[[https://x.org/%5By%5D][a[0]{Z}]]"),
    ("an address alone", "<https://x.org>", "[[https://x.org]]"),
    ("a node", "[a](id:01939b7a)", "[[id:01939b7a][a]]"),
    ("a node whose id org-roam reads as it stands", "[a](<id:human 2>)", "[[id:human 2][a]]"),
    ("a note beside this one", "[a](b/c%20d.org)", "[[file:b/c d.org][a]]"),
    ("a file that is no note", "[a](b.md) [c](../d.org) [e](.f.org)", "a (b.md) c (../d.org) e (.f.org)"),
    ("what would run", "[a](elisp:(x))", "a (elisp:(x))"),
    ("what no link may be", "[a](javascript:x)", "[a](javascript:x)"),
    ("an address to write to", "<a@b.org>", "a@b.org (mailto:a@b.org)"),
    ("an image", "![a](https://x.org/y.png)", "[[https://x.org/y.png][a]]"),
    ("an image here", "![a](y.png)", "a (y.png)"),
    ("an image in a link", "[![a](b.png)](https://x.org)", "[[https://x.org][a]]"),
    ("a badge", "[![*CI* b](https://y.org/b.svg)](https://x.org)", f"[[https://x.org][*CI{Z}* b]]"),
    (
        "an image without words in a link",
        "[**![](https://y.org/b.svg)**](https://x.org)",
        "[[https://x.org]]",
    ),
    ("a footnote", "a[^1] b\n\n[^1]: word\n\nc", "a[fn:1] b\n\nc\n\n[fn:1] word"),
    ("at a line's start", "[^1] a\n\n[^1]: *b* c", f"{Z}[fn:1] a\n\n[fn:1] /b/ c"),
    (
        "of several blocks",
        "a[^x]\n\n[^x]: b\n    c\n\n        d\n\n    - e",
        "a[fn:x]\n\n[fn:x] b\nc\n\n: d\n\n- e",
    ),
    (
        "with a name that org can't have",
        "a[^é] b[^note-1]\n\n[^é]: c\n[^note-1]: d",
        "a[fn:note-1] b[fn:note-2]\n\n[fn:note-1] c\n\n[fn:note-2] d",
    ),
    ("that nothing defines", "a[^1] [^2](x.org)", "a[^1] [[file:x.org][^2]]"),
    (
        "in a table and a quote",
        "|[^1]|\n|-|\n\n> [^1]: b",
        "| [fn:1] |\n|--------|\n\n#+begin_quote\n#+end_quote\n\n[fn:1] b",
    ),
    ("HTML is text", "<b>x</b>\n\n<div>\n* y\n</div>", f"<b>x</b>\n\n<div>\n{Z}* y\n</div>"),
    (
        "text that org would take for structure",
        "\\# a\n\\- b\n1\\. c\n\\| d",
        f"{Z}# a\n{Z}- b\n{Z}1. c\n{Z}| d",
    ),
    ("keywords and drawers", "#+title: x\n:ID: y", f"{Z}#+title: x\n{Z}:ID: y"),
    ("org's own links still link", "[[id:x][y]]", "[[id:x][y]]"),
    ("paths", "Edit /etc/hosts and /tmp/ before", f"Edit /etc/hosts and /tmp{Z}/ before"),
    ("one that org wouldn't mark", "Edit /etc/hosts and /tmp/x, a*b, c = d", "Edit /etc/hosts and /tmp/x, a*b, c = d"),
    ("marks of org's", "/x/ +y+ =z= ~w~", f"/x{Z}/ +y{Z}+ =z{Z}= ~w{Z}~"),
    ("that would end in a marked stretch", "**“x”**y **a**", f"*{Z}*{Z}“x”**y *a*"),
    ("within one", "*a/ b* [/c/](https://x.org)", f"/a{Z}/ b/ [[https://x.org][/c{Z}/]]"),
    ("across lines and in a cell", "=a\nb=\n\n|/c/|\n|-|", f"=a\nb{Z}=\n\n| /c{Z}/ |\n|-----|"),
    ("a name with an underscore", "foo_bar __x__ x^2", "foo_bar *x* x^2"),
    (
        "org's entities, targets, scripts and footnotes",
        "\\alpha <<b>> c^{2} [fn:1]",
        f"\\{Z}alpha <{Z}<b>> c^{Z}{{2}} [{Z}fn:1]",
    ),
    ("backslashes that would end a line", "a\\\\\\\\\nb", f"a\\\\{Z}\nb"),
    ("formulas", "$x$ costs \\(y\\) $5", "$x$ costs (y) $5"),
    ("a task without words", "- [x]", "- [X]"),
    ("entities", "&amp; &copy; \\*", "& © *"),
    ("nothing", "", ""),
]

PIECES = (
    "# ", "- ", "1. ", "> ", "```", "```sh\n", "~~~", "    ", "|", "|-|", "---", "===", "*", "**", "_", "`", "~~", "[", "](",
    ")", "![", "<", ">", "\\", "&amp;", "https://x.org", "elisp:x", "id:x", "a.org", "#+end_src", "#+end_example", "[fn:1]",
    "#+end_quote", "* x", ":ID: x", "[^1]", "[^1]: ", "[^b c]", "> > ", "[![a](https://x.org/b)](https://y.org)", "\n", "\n", "\n\n", "  \n", "a", "b c", "é", "\t", "[x] ",
)  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=16).map("".join)


@pytest.mark.parametrize(("reason", "markdown", "org"), CASES)
def test_markdown_becomes_org(reason: str, markdown: str, org: str) -> None:
    """What a Markdown reader would see, an org reader sees."""
    assert org_from_markdown(markdown) == org, reason


@settings(max_examples=examples(200), deadline=None)
@given(texts)
def test_any_markdown_becomes_a_body_that_comes_back(text: str) -> None:
    """No text fails, none has headings, and each is stored without loss."""
    org = org_from_markdown(text)
    assert unescape_text(escape_text(org)) == org
    assert not any(line.startswith(("* ", "** ")) for line in escape_text(org).split("\n"))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from(("#+end_src", "#+end_example", "#+end_quote", "x", "", "* y", "[fn:1]")), max_size=6))
def test_code_stays_within_its_block(lines: list[str]) -> None:
    """Every line of code is in one block or fixed-width, so the paragraph below is a paragraph."""
    code = "\n".join(lines)
    body = escape_text(
        org_from_markdown(f"> ```sh\n> {code.replace(chr(10), chr(10) + '> ')}\n> ```\n>\n> below\n\nafter")
    )
    assert body.endswith("\nbelow\n#+end_quote\n\nafter")
    assert body.startswith("#+begin_quote\n")


def test_one_long_cell_fills_no_thousand_lines() -> None:
    """A table is padded as long as that makes it little longer."""
    table = f"|a|\n|-|\n|{'x' * 10_000}|\n" + "|y|\n" * 1000
    assert len(org_from_markdown(table)) < 2 * len(table)


@pytest.mark.parametrize(
    "unit",
    [
        "- ",
        "> ",
        "*",
        "`",
        "[",
        "![",
        "# a\n",
        "- a\n",
        "|a",
        "<",
        "a\n\n",
        "**a** ",
        "1. a\n",
        "[^1]: ",
        "[^1]:a\n",
        "[^1]",
        "> ",
    ],
)
def test_long_markdown_ends(unit: str) -> None:
    """16 KiB of any mark."""
    assert org_from_markdown(unit * (16384 // len(unit)))
