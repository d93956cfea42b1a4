"""The file that a draft becomes, and the two lines that a later node adds to an old one."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Ref
from roamkb.org.body import body_of
from roamkb.org.escape import escape_name
from roamkb.org.reader import parse_note
from roamkb.org.syntax.links import TYPES
from roamkb.org.syntax.syntax_table import BREAK
from roamkb.org.writer import BODY_LIMIT
from roamkb.org.writer import TITLE_LIMIT
from roamkb.org.writer import NodeDraft
from roamkb.org.writer import append_link
from roamkb.org.writer import check_written
from roamkb.org.writer import insert_property
from roamkb.org.writer import link_line
from roamkb.org.writer import normalise_text
from roamkb.org.writer import normalised_alias
from roamkb.org.writer import normalised_ref
from roamkb.org.writer import normalised_tag
from roamkb.org.writer import normalised_title
from roamkb.org.writer import reduced_targets
from roamkb.org.writer import render_node
from tests.examples import examples

ID = "01939b7a-0000-7000-8000-000000000000"
OTHER = "01939b7a-0000-7000-8000-000000000001"
Z = BREAK


def draft(**fields: Any) -> NodeDraft:
    """A node about redirect URIs, but for `fields`."""
    usual: dict[str, Any] = {
        "id": ID,
        "created": datetime(2026, 6, 10, 14, 29),
        "agent": "claude-code",
        "project": "~/code/site",
        "source": "user-stated",
        "title": "OAuth redirect URIs must match exactly",
        "body": "The body, in org.",
    }
    return NodeDraft(**{**usual, **fields})


def read_back(meant: NodeDraft) -> str:
    """Return the body that our reader gives back."""
    note = parse_note(render_node(meant), file="new.org")
    return body_of(note, note.nodes[0])


WHOLE = f""":PROPERTIES:
:ID:       {ID}
:CREATED:  [2026-06-10 Wed 14:29]
:AGENT:    claude-code
:PROJECT:  ~/code/site
:SOURCE:   user-stated
:SUPERSEDES: {OTHER}
:ROAM_ALIASES: "Exact \\"URIs\\"" "b\\\\c"
:ROAM_REFS: "https://x.org/a" "@key"
:END:
#+title: OAuth redirect URIs must match exactly
#+filetags: :agent: :oauth: :two_words:

The body, in org.

- related :: [[id:{OTHER}][Token refresh]]
"""


def test_a_node_has_the_shape_of_the_design() -> None:
    """Drawer, title, filetags, body and links stand where a human would put them."""
    meant = draft(
        tags=("oauth", "agent", "two words", "oauth", ""),
        aliases=('Exact "URIs"', "b\\c", "b\\c"),
        refs=("https://x.org/a", "@key"),
        related=((OTHER, "Token refresh"),),
        properties={"SUPERSEDES": OTHER},
    )
    assert render_node(meant) == WHOLE
    check_written(meant, parse_note(WHOLE, file="new.org"))


@pytest.mark.parametrize(
    ("body", "related", "end"),
    [
        ("", (), "#+filetags: :agent:\n"),
        ("\n\n\n", (), "#+filetags: :agent:\n"),
        ("", ((OTHER, "x"),), f"#+filetags: :agent:\n\n- related :: [[id:{OTHER}][x]]\n"),
        ("\n\nlate", (), "#+filetags: :agent:\n\n\n\nlate\n"),
        ("end\n\n", (), "#+filetags: :agent:\n\nend\n"),
    ],
)
def test_a_file_ends_with_one_newline(body: str, related: tuple[tuple[str, str], ...], end: str) -> None:
    """What isn't there leaves no empty lines; empty lines before a body are the body's."""
    assert render_node(draft(body=body, related=related)).endswith(end)


@pytest.mark.parametrize(
    ("title", "stored", "reason"),
    [
        ("  a \t b\n\nc ", "a b c", "a title is one line"),
        ("a\r\nb\rc\vd\fe\x85f\u2028g\xa0h", "a b c d e f g h", "every kind of white space"),
        ("a\x00b\x1b$B\x7f\ud800", "ab$B", "characters that no file can hold, or that mean an encoding"),
        ("[[id:x][a]] and [[b][c]]", "a and c", "org-roam shows a link's words"),
        ("[[a][[[b][c]]]]", "c", "until there is no link left"),
        ("m[[2]] isn't m[2]", f"m[{Z}[2]] isn't m[2]", "brackets without words aren't taken for a link"),
        ("[[a\\b][c]]", f"[{Z}[a\\b][c]]", "one with a backslash is none"),
        ("a [[ b", f"a [{Z}[ b", "nor is an open one"),
        (
            "<%%(x)> Local Variables:",
            f"<{Z}%%(x)> Local{Z} Variables:",
            "Lisp and variables, wherever they stand",
        ),
        ("src_sh{x} elisp:x", f"src{Z}_sh{{x}} elisp{Z}:x", "what runs within a line"),
        ("#+title: * :x: TODO", "#+title: * :x: TODO", "what is structure elsewhere"),
        ("日本語 👩‍👩‍👧 é", "日本語 👩‍👩‍👧 é", "the world's letters"),
    ],
)
def test_a_title_is_stored_as_org_roam_will_show_it(title: str, stored: str, reason: str) -> None:
    """One named normalisation; a second time changes nothing, and our reader gives back what it made."""
    plain = normalised_title(title)
    assert escape_name(plain) == stored, reason
    assert normalised_title(plain) == plain
    meant = draft(title=title, aliases=(title,))
    note = parse_note(render_node(meant), file="new.org")
    check_written(meant, note)
    assert (note.title, note.nodes[0].title, note.nodes[0].aliases) == (plain, plain, (plain,))


@pytest.mark.parametrize("title", [f"a{Z}b", f"git{Z}:main", f"git{Z}{Z}:main", f"[{Z}[x]]", f"%%{Z}("])
def test_a_break_in_a_title_comes_back(title: str) -> None:
    """One that was given is told from one that was put there."""
    assert parse_note(render_node(draft(title=title)), file="new.org").title == title


@pytest.mark.parametrize("first", TYPES)
def test_no_two_tags_make_a_link(first: str) -> None:
    """Each type of link is a word, and words are tags: also a file of two such tags holds no link."""
    for second in (*TYPES, "bash", "ulid"):
        meant = draft(tags=(first, second))
        note = parse_note(render_node(meant), file="new.org")
        check_written(meant, note)
        assert note.nodes[0].links == ()


@pytest.mark.parametrize("title", ["Use id:ulid for keys", "user_id:5", "<id:x y>"])
def test_a_name_holds_no_link_to_a_node(title: str) -> None:
    """A title's own words are never meant as one."""
    assert parse_note(render_node(draft(title=title, aliases=(title,))), file="new.org").nodes[0].links == ()


@pytest.mark.parametrize("title", ["", " \n\t", "\x00\x1b", "\u200b\u200e", "\ud800", "\x85"])
def test_a_title_without_words_is_refused(title: str) -> None:
    """A node that nobody can see in a list is of no use."""
    with pytest.raises(UsageError, match="needs a title"):
        render_node(draft(title=title))


def test_an_alias_is_no_longer_than_a_title() -> None:
    """One of just that length is."""
    assert "x" * TITLE_LIMIT == normalised_alias("x" * TITLE_LIMIT)
    for length in (TITLE_LIMIT + 1, 1_000_000):
        with pytest.raises(UsageError, match="the alias"):
            normalised_alias("x" * length)


@pytest.mark.parametrize("length", [TITLE_LIMIT + 1, 1_000_000])
def test_a_title_that_is_a_text_is_refused(length: int) -> None:
    """The rest belongs into the body."""
    assert normalised_title("x" * TITLE_LIMIT)
    with pytest.raises(UsageError, match=f"at most {TITLE_LIMIT}"):
        render_node(draft(title="[" * length))


def test_a_body_of_64_kib_is_the_largest() -> None:
    """The limit counts the bytes that are stored."""
    assert read_back(draft(body="é" * (BODY_LIMIT // 2))) == "é" * (BODY_LIMIT // 2)
    with pytest.raises(UsageError, match="65538 bytes"):
        render_node(draft(body="é" * (BODY_LIMIT // 2 + 1)))


@pytest.mark.parametrize(
    ("tag", "stored"),
    [
        ("oauth", "oauth"),
        ("with space", "with_space"),
        ("a:b", "a_b"),
        ("a-b/c.d", "a_b_c_d"),
        ("e\u0301", "é"),
        ("日本", "日本"),
        ("@x#y%z", "@x#y%z"),
        ("😀x", "_x"),
        ("😀", ""),
        (" \n ", ""),
        ("\x00", ""),
        ("a\nb", "a_b"),
        (":agent:", "_agent_"),
    ],
)
def test_a_tag_keeps_the_characters_that_org_allows(tag: str, stored: str) -> None:
    """A tag works in headings as well as in filetags."""
    assert normalised_tag(tag) == stored
    assert normalised_tag(stored) == stored


@pytest.mark.parametrize(
    ("ref", "stored"),
    [
        ("https://x.org/a", Ref(type="https", ref="//x.org/a")),
        ("  <https://x.org/a>\n", Ref(type="https", ref="//x.org/a")),
        ("[[https://x.org/a][words]]", Ref(type="https", ref="//x.org/a")),
        ("https://en.wikipedia.org/wiki/A_(b)", Ref(type="https", ref="//en.wikipedia.org/wiki/A_(b)")),
        ("https://x.org/中文", Ref(type="https", ref="//x.org/中%E6%96%87")),
        ("doi:10.1000/182", Ref(type="doi", ref="10.1000/182")),
        ("@doe2020", Ref(type="cite", ref="doe2020")),
        ("[cite:@doe2020]", Ref(type="cite", ref="doe2020")),
    ],
)
def test_a_ref_is_what_org_roam_will_store(ref: str, stored: Ref) -> None:
    """Wrappings go, the address stays."""
    assert normalised_ref(ref) == stored
    meant = draft(refs=(ref,))
    check_written(meant, parse_note(render_node(meant), file="new.org"))


@pytest.mark.parametrize(
    "ref",
    [
        "", "x", "elisp:(x)", "file:/etc/passwd", "shell:ls", "javascript:x", "https://", "https://x.org/a b",
        "https://x.org/?q=", "https://x.org/a)", "https://x.org/[a]", 'https://x.org/"', "https://x.org/\\", "@", "@a b",
        "@a;@b", "[cite:@a;@b]", "x https://x.org", "HTTPS://x.org", "https://x.org/a…",
    ],
)  # fmt: skip
def test_a_ref_that_would_be_cut_or_dropped_is_refused(ref: str) -> None:
    """org-roam stores another address, or none, without a word to the human."""
    with pytest.raises(UsageError, match="can't be stored as a ref"):
        render_node(draft(refs=(ref,)))


@pytest.mark.parametrize("key", ["ID", "id", "header-args", "ROAM_EXCLUDE", "ROAM_REFS", "X Y", "X:\n:ID", "", "AGENT"])
def test_a_key_that_is_not_ours_is_refused(key: str) -> None:
    """A drawer holds each key once, and none that acts."""
    with pytest.raises(UsageError, match="is no key"):
        render_node(draft(properties={key: "x"}))


def test_values_of_the_drawer_stay_within_their_line() -> None:
    """A folder can have any name."""
    text = render_node(draft(project="~/x\n:END:\n[[elisp:(x)]]", agent="a\rb"))
    assert f":PROJECT:  ~/x :END: elisp{Z}:(x)\n" in text
    assert ":AGENT:    a b\n" in text


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("array[0]", f"array[0]{Z}"),
        ("a ]] b", f"a ]{Z}] b"),
        ("a :: b", f"a :{Z}: b"),
        ("[[id:x][y]]", "y"),
        ("a\nb", "a b"),
        ("", OTHER),
    ],
)
def test_a_link_survives_its_words(title: str, words: str) -> None:
    """Nothing in a title ends the link or the list's label before its time."""
    assert link_line("related", OTHER, title) == f"- related :: [[id:{OTHER}][{words}]]"
    note = parse_note(render_node(draft(related=((OTHER, title),))), file="new.org")
    assert [(link.type, link.dest) for link in note.nodes[0].links] == [("id", OTHER)]


def test_a_link_shows_no_more_of_a_title_than_ours_may_have() -> None:
    """A human's own title has no limit; the link works by the id."""
    for title, words in (("x" * TITLE_LIMIT, "x" * TITLE_LIMIT), ("y" * 5000, "y" * (TITLE_LIMIT - 1) + "…")):
        assert link_line("related", OTHER, title) == f"- related :: [[id:{OTHER}][{words}]]"
        meant = draft(related=((OTHER, title),))
        check_written(meant, parse_note(render_node(meant), file="new.org"))


@pytest.mark.parametrize("brackets", ["[[a]", "[[", "[[a]["])
def test_brackets_without_end_are_written(brackets: str) -> None:
    """A human's title or a folder's name can be anything; this once took minutes."""
    text = brackets * 25_000 + "a" + "]]" * 25_000
    meant = draft(project=text, related=((OTHER, text),))
    check_written(meant, parse_note(render_node(meant), file="new.org"))


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("", "needs a name of"),
        (" ", "needs a name of"),
        ("\n\t", "needs a name of"),
        ("\x00\x1b", "needs a name of"),
        ("\u200b", "needs a name of"),
        ("x" * (TITLE_LIMIT + 1), f"at most {TITLE_LIMIT}"),
    ],
)
def test_who_wrote_it_has_a_name(agent: str, reason: str) -> None:
    """Without one the node would be taken for the human's; and a name is no text."""
    assert render_node(draft(agent="x" * TITLE_LIMIT))
    with pytest.raises(UsageError, match=reason):
        render_node(draft(agent=agent))


@pytest.mark.parametrize("id", ["", " ", "a]b", "a[b", "a\\b", "a\nb", "a%20b"])
def test_an_id_that_no_link_can_hold_is_refused(id: str) -> None:
    """A human's id can be anything; a link can't."""
    with pytest.raises(UsageError, match="can't be linked to"):
        link_line("related", id, "x")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_property_is_one_more_line_in_the_drawer(end: str) -> None:
    """It ends as the others do, and nothing else changes."""
    text = "# c\n:PROPERTIES:\n:ID: x\n:END:\n#+title: t\n\n:END:\nlast".replace("\n", end)
    more = insert_property(text, "SUPERSEDED_BY", OTHER)
    line = f":SUPERSEDED_BY: {OTHER}{end}"
    assert more == text.replace(f":END:{end}", f"{line}:END:{end}", 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "#+title: x\n:PROPERTIES:\n:END:\n",
        ":PROPERTIES:\nx",
        ":PROPERTIES:\n:SUPERSEDED_BY: y\n:END:\n",
    ],
)
def test_a_property_needs_a_drawer_without_it(text: str) -> None:
    """Each key stands once, and only in a drawer that is one."""
    with pytest.raises(UsageError):
        insert_property(text, "SUPERSEDED_BY", OTHER)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("x\n", "\n- by :: "),
        ("x", "\n\n- by :: "),
        ("x\r\n", "\r\n- by :: "),
        ("x\n- related :: [[id:a][b]]\n", "- by :: "),
        ("x\n- related :: [[id:a][b]]", "\n- by :: "),
        ("x\n- item\n", "\n- by :: "),
    ],
)
def test_a_link_is_one_more_line_at_the_end(text: str, more: str) -> None:
    """It joins the list of links if the note ends with one."""
    end = "\r\n" if "\r" in text else "\n"
    assert append_link(text, "by", OTHER, "t") == f"{text}{more}[[id:{OTHER}][t]]{end}"


@pytest.mark.parametrize(
    ("top", "link", "rest"),
    [
        ("x\n", "\n- by :: ", "* Mine\n:PROPERTIES:\n:ID: m\n:END:\n"),
        ("x\n", "\n- by :: ", "\n\n* Mine\nx\n"),
        ("x\n\n- related :: [[id:a][b]]\n", "- by :: ", "\n** COMMENT Mine\n#+begin_src x\n"),
        ("x\n", "\n- by :: ", " \n* A\n* B"),
        ("#+begin_src x\n", "\n- by :: ", "* A\n#+end_src\n"),
        ("a\r* b\n*\n*c\n\\* d\n", "\n- by :: ", "* A\n"),
        ("x\r\n", "\r\n- by :: ", "\r\n* Mine\r\nx\r\n"),
        ("x\r", "\r- by :: ", "* Mine\r"),
        ("", "\n- by :: ", "* Mine\n"),
    ],
)
def test_a_link_stands_before_the_first_heading(top: str, link: str, rest: str) -> None:
    """What a human wrote below is theirs, and might be a node of its own."""
    end = "\r\n" if "\r\n" in rest else rest[-1] if rest[-1] in "\r\n" else "\n"
    assert append_link(top + rest, "by", OTHER, "t") == f"{top}{link}[[id:{OTHER}][t]]{end}{rest}"


any_text = st.text(alphabet=st.one_of(st.sampled_from(":#*\r\n AEND[]"), st.characters()), max_size=60)


@settings(max_examples=examples(500), deadline=None)
@given(any_text, any_text)
def test_superseding_keeps_every_other_byte(drawer: str, rest: str) -> None:
    """Take the two lines away and the old text is there, whatever its line ends are."""
    text = f":PROPERTIES:\n{drawer}\n:END:\n{rest}"
    marked = insert_property(text, "SUPERSEDED_BY", OTHER) if "SUPERSEDED_BY" not in text else text
    start = next(n for n in range(len(marked) + 1) if marked[n : n + 15] == ":SUPERSEDED_BY:")
    added = len(marked) - len(text)
    assert marked[:start] + marked[start + added :] == text
    linked = append_link(text, "superseded by", OTHER, "t")
    added = len(linked) - len(text)
    assert any(linked[:n] + linked[n + added :] == text for n in range(len(text) + 1))


def test_a_superseded_node_reads_as_before_with_one_link_more() -> None:
    """The old node stays what it was, and points to the new one."""
    text = render_node(draft(body="#+title: x\n* y", related=((ID, "self"),)))
    marked = append_link(insert_property(text, "SUPERSEDED_BY", OTHER), "superseded by", OTHER, "New")
    note = parse_note(marked, file="old.org")
    assert note.nodes[0].properties["SUPERSEDED_BY"] == OTHER
    assert body_of(note, note.nodes[0]) == (
        f"#+title: x\n* y\n\n- related :: [[id:{ID}][self]]\n- superseded by :: [[id:{OTHER}][New]]"
    )


@pytest.mark.parametrize(
    ("was", "becomes", "wrong"),
    [
        (ID, OTHER, "id"),
        ("#+title: OAuth", "#+title: Auth", "title"),
        (":agent:", ":", "tags"),
        (":agent:", ":agent:more:", "tags"),
        ("\n\nThe body", "\n\nA body", "text"),
        ("\n\nThe", "\n\n* H\n:PROPERTIES:\n:ID: x\n:END:\nThe", "2 nodes"),
        (":AGENT:", ":HUMAN:", "agent"),
        (":END:", ':ROAM_ALIASES: "x"\n:END:', "aliases"),
        (":END:", ":ROAM_REFS: @x\n:END:", "refs"),
        ("in org.", "in org. [[shell:ls]]", "live link of type shell"),
        (f"[[id:{OTHER}]", "[[id:x]", "no link to"),
        (":PROPERTIES:", "\n:PROPERTIES:", "0 nodes"),
    ],
)
def test_a_note_that_reads_back_otherwise_is_found_out(was: str, becomes: str, wrong: str) -> None:
    """The check can fail, for each thing that it's about."""
    meant = draft(related=((OTHER, "t"),))
    text = render_node(meant)
    check_written(meant, parse_note(text, file="new.org"))
    with pytest.raises(RoamkbError, match=wrong):
        check_written(meant, parse_note(text.replace(was, becomes, 1), file="new.org"))


@settings(max_examples=examples(1000), deadline=None)
@given(st.text(alphabet=st.one_of(st.sampled_from("\r\n\x00\x1b\t \ud800a"), st.characters()), max_size=30))
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """What was stored can be stored again, and could be sent anywhere."""
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert once.encode().decode() == once


def test_where_the_links_of_a_title_led_is_known() -> None:
    """Those that keep their words alone; a bare link stays, and what has none led nowhere."""
    title = "Read [[https://example.org/a][the page]] and [[id:b][the node]]"
    assert ("https://example.org/a", "id:b") == reduced_targets(title)
    assert () == reduced_targets("Zebras are striped")
