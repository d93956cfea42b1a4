"""A note as HTML: what it means is shown, and nothing in it acts."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.model import Node
from roamkb.org.html.document import MOST_TEXT
from roamkb.org.html.document import render_node
from roamkb.org.html.markup import NodeTarget
from roamkb.org.reader import parse_note
from tests.examples import examples
from tests.org.hostile import notes
from tests.org.html.safe_html import SafeHtml


@dataclass(frozen=True)
class Targets:
    """A knowledge base in which all is there but what is called `gone`."""

    def find_node(self, id: str) -> NodeTarget | None:
        return None if id == "gone" else NodeTarget(href="/note?id=1", title=f"Node {id}")

    def find_file(self, path: str) -> str | None:
        return "/note?name=1" if path.endswith(".org") else None

    def find_image(self, path: str, *, is_attachment: bool) -> str | None:
        return None if "gone" in path else f"/image?{'a' if is_attachment else 'f'}"

    def find_cited(self, key: str) -> str | None:
        return "/note?id=2" if key == "known" else None


def _whole(text: str) -> Node:
    return Node(id="", file="a.org", line=1, pos=1, level=0, title="", end_line=text.count("\n") + 1)


def _html(text: str, **options: object) -> str:
    html = render_node(text, _whole(text), Targets(), **options).html  # type: ignore[arg-type]
    assert [] == SafeHtml(html).faults, html
    return html.replace("\n", "")


@pytest.mark.parametrize(
    ("org", "html"),
    [
        ("a *b /c/* =d= ~<e>~ +f+ _g_", "<p>a <strong>b <em>c</em></strong> <code>d</code> <code>&lt;e&gt;</code>"),
        ("snake_case x^{2} y_{i}", "<p>snake_case x<sup>2</sup> y<sub>i</sub></p>"),
        ("[[id:x]] [[id:x][y]]", '<p><a href="/note?id=1">Node x</a> <a href="/note?id=1">y</a></p>'),
        ("[[id:gone][y]]", '<p><span class="dead" title="no note has this id">y</span></p>'),
        ("[[https://x.org/?a&b][y]]", 'href="https://x.org/?a&amp;b" rel="noreferrer noopener">y</a>'),
        ("[[file:a.org][y]] [[./b.txt]]", '<a href="/note?name=1">y</a> <span class="local" title="file:./b.txt">'),
        ("[[file:a.png]]", '<figure class="image"><img src="/image?f" alt="a.png" loading="lazy"></figure>'),
        ("[[attachment:a.png]] x", '<img src="/image?a" alt="a.png" loading="lazy"> x</p>'),
        ("[[file:gone.png]]", '<span class="local" title="file:gone.png">gone.png</span>'),
        ("#+caption: C\n[[file:a.png]]", "<figcaption>C</figcaption></figure>"),
        ("[cite:@known p. 3; @x]", '<cite>[cite:<a href="/note?id=2">@known</a> p. 3; @x]</cite>'),
        ("$x<y$ \\(z\\)", '<code class="latex">$x&lt;y$</code> <code class="latex">\\(z\\)</code>'),
        ("- [X] a\n- [ ] b", '<span class="box" role="img" aria-label="done">☑</span> <p>a</p></li>'),
        ("3. a\n4. b", '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'),
        ("- t :: d\n- u :: e", "<dl><dt>t</dt><dd><p>d</p></dd><dt>u</dt><dd><p>e</p></dd></dl>"),
        ("- a\n  - b\n\n    c\n- d", "<ul><li><p>a</p><ul><li><p>b</p><p>c</p></li></ul></li><li><p>d</p></li></ul>"),
        ("| a | b |\n|---+---|\n| c | |", "<tr><th>a</th><th>b</th></tr><tr><td>c</td><td></td></tr></table>"),
        ("#+begin_quote\na\n\n- b\n#+end_quote", "<blockquote><p>a</p><ul><li><p>b</p></li></ul></blockquote>"),
        ("#+begin_verse\n a\n  *b*\n#+end_verse", '<p class="verse"> a  <strong>b</strong></p>'),
        (": a\n: b <i>", ">a" + "b &lt;i&gt;</pre>"),
        ("a[fn:1]\n\n[fn:1] note", '<div class="footnote" id="fn-1">'),
        ("* TODO [#A] H :t:", '<h2><span class="todo">TODO</span> <span class="priority">A</span> H'),
        ("* a\n*** b\n** c\n* d", "<h2>a</h2><h3>b</h3><h3>c</h3><h2>d</h2>"),
        ("* a\nSCHEDULED: <2024-01-01 Mon>\nb", '<p class="times">SCHEDULED: <time>&lt;2024-01-01 Mon&gt;</time></p>'),
        ("* a\n:LOGBOOK:\nb\n:END:", '<details class="drawer"><summary>LOGBOOK</summary><p>b</p></details>'),
        (":PROPERTIES:\n:ID: a\n:K: <v>\n:END:", "<dt>K</dt><dd>&lt;v&gt;</dd></dl></details>"),
        ("-----", "<hr>"),
        ("#+begin_never\na", "<p>#+begin_nevera</p>"),
    ],
)
def test_elements_are_shown_as_they_are_meant(org: str, html: str) -> None:
    """Whatever Emacs would show as more than words."""
    assert html in _html(org)


@pytest.mark.parametrize(
    "org",
    [
        "<script>alert(1)</script>",
        "#+begin_export html\n<script>alert(1)</script>\n#+end_export",
        "@@html:<script>alert(1)</script>@@",
        "#+html: <script>alert(1)</script>",
        "[[javascript:alert(1)][<script>]]",
        "[[https://x.org/\"onclick='alert(1)][<script>]]",
        "* <script> :<script>:",
        "- <script> :: <script>",
        "| <script> |",
        '#+begin_src "><script>\n<script>\n#+end_src',
        "#+begin_<script>\n<script>\n#+end_<script>",
        ":<script>:\n<script>\n:END:",
        "[fn:<script>] <script>",
        '[[file:<script>.png]] [[file:"><script>.org]]',
        "\\begin{script}\n<script>\n\\end{script}",
        "{{{<script>}}} <<<script>>> $<script>$",
    ],
)
def test_html_in_a_note_is_text(org: str) -> None:
    """In each place that a renderer could forget."""
    html = _html(org)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "https:javascript:alert(1)",
        "https:\\\\x.org",
        "https://x.org\u202e/moc",
        "http:x",
        "elisp:(delete)",
        "shell:rm",
        "mailto:a@b.org",
        "//x.org/a",
        "/etc/passwd",
    ],
)
def test_other_addresses_lead_nowhere(address: str) -> None:
    """A link with another scheme, or one that two readers could take for different places, is text."""
    for org in (f"[[{address}][y]]", f"[[{address}]]", f"<{address}>", address):
        assert [] == [href for href in SafeHtml(_html(org)).hrefs if not href.startswith("/note?")]


def test_words_that_name_another_address_are_followed_by_the_link_s_own() -> None:
    """An agent's note may be written by who wants one to go elsewhere."""
    assert '<span class="address">(https://evil.org)</span>' in _html("[[https://evil.org][https://bank.org]]")
    assert "address" not in _html("[[https://bank.org][the bank]] https://bank.org")


def test_hidden_characters_are_not_shown() -> None:
    """What reverses or hides a text does nothing here."""
    assert "<p>abc</p>" in _html("a\u202eb\u200bc")


def test_a_heading_s_node_is_its_subtree() -> None:
    """Its own heading is the page's title, and those below begin at the second level."""
    text = "top\n* a\n** TODO b\n:PROPERTIES:\n:ID: b\n:END:\nmine\n*** c\nbelow\n* d\nother\n"
    (node,) = parse_note(text, file="a.org").nodes
    html = render_node(text, node, Targets()).html.replace("\n", "")
    assert "<p>mine</p><h2>c</h2><p>below</p>" in html
    assert "other" not in html
    assert "top" not in html


def test_a_drawer_with_an_id_alone_is_not_shown() -> None:
    """Each heading that is a node has one."""
    assert "details" not in _html("* a\n:PROPERTIES:\n:ID: b\n:END:\nc")


def test_a_line_is_marked() -> None:
    """The element that holds it, or the heading, gets the anchor to which a hit leads."""
    text = "a\n\n- b\n- c\n  d\n* e\nf\n"
    assert '<p id="here">a</p>' in _html(text, line=1)
    assert '<p id="here">cd</p>' in _html(text, line=5).replace("  ", "")
    assert '<h2 id="here">e</h2>' in _html(text, line=6)
    assert "here" not in _html(text, line=99)


def test_of_a_very_long_note_the_beginning_is_shown() -> None:
    """And that there is more is said."""
    text = "word\n\n" * (MOST_TEXT // 5)
    rendered = render_node(text, _whole(text), Targets())
    assert rendered.is_cut
    assert len(rendered.html) < 4 * MOST_TEXT


_PIECES = st.sampled_from(
    [
        *"*/_+=~$^|-<>\"'&[]{}()@\\:#,.; \n\t",
        *("[[", "]]", "][", "id:x", "https://x.org/", "javascript:", "file:a.png", "<script>", "</p>", "<!--", "&lt;"),
        *("#+begin_src ", "#+end_src\n", "#+begin_quote\n", "#+end_quote\n", "#+begin_export html\n", "#+caption: "),
        *("\n- ", "\n  - [X] ", "\n1. ", " :: ", "\n| a | ", "\n|--+--|\n", "\n* ", "\n** TODO ", "[fn:1]", "[fn::"),
        *(":a:\n", ":END:\n", ":PROPERTIES:\n", "[cite:@k", "<2024-01-01 Mon>", "@@html:", "{{{m(", "\\begin{a}\n"),
        *("word", "é", "\u202e", "\u200b", "日本", "\0", "\r"),
    ]
)


@settings(max_examples=examples(300))
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_whatever_a_note_holds_is_inert(text: str) -> None:
    """Only known tags, closed in order; only known attributes; only addresses of the page and of the web."""
    html = render_node(text, _whole(text), Targets()).html
    assert [] == SafeHtml(html).faults


def test_hostile_notes_are_shown_in_time() -> None:
    """Each family, deep and long; none makes the renderer fail, or forget a tag."""
    for text in notes(2000):
        html = render_node(text, _whole(text), Targets()).html
        assert [] == SafeHtml(html).faults, text[:80]
