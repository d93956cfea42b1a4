"""Links both ways."""

import pytest

from roamkb.kb.links import NodeLinks
from roamkb.kb.show import ShownNode
from tests.conftest import World
from tests.conftest import typed


@pytest.fixture
def web(world: World) -> World:
    """Three notes that link to each other, to nothing and to the outside."""
    world.node("a.org", "a", "A", "See [[id:b][the B]] and [[id:gone][lost]].\n\nAlso https://example.org/x.")
    world.node("b.org", "b", "B", "Back to [[id:a]].")
    world.note("c.org", ":PROPERTIES:\n:ID: c\n:END:\n#+title: C\n* H\n:PROPERTIES:\n:ID: h\n:END:\n[[id:a][A]]\n")
    return world


def test_forward_back_and_dangling(web: World) -> None:
    """Each end with its title, path and line."""
    links = typed(NodeLinks, web.open().links("A"))
    assert [("b", "B", web.kb / "b.org", 1)] == [(n.id, n.title, n.path, n.line) for n in links.forward]
    assert [("b", web.kb / "b.org", 6), ("h", web.kb / "c.org", 9)] == [(n.id, n.path, n.line) for n in links.back]
    assert [("gone", web.kb / "a.org", 6)] == [(n.id, n.path, n.line) for n in links.dangling]
    assert [("https", "//example.org/x", 8)] == [(n.type, n.dest, n.line) for n in links.external]


def test_one_node_and_the_graph_of_all_exclude_each_other(web: World) -> None:
    """Neither is what was asked for; without either it is asked whose links are meant."""
    both = web.run("links", "A", "--graph")
    assert (2, True) == (both.status, "--graph" in both.err.splitlines()[0] and "not both" in both.err), both.err
    assert (2, True) == (web.run("links").status, "the links of what?" in web.run("links").err)


def test_a_node_without_links(web: World) -> None:
    """Everything is empty."""
    links = typed(NodeLinks, web.open().links("c"))
    assert () == links.forward + links.back + links.dangling + links.external


def test_reflinks_and_citations(world: World) -> None:
    """Refs lead both ways: who links to the page or cites the work, and which note is about what is cited."""
    about = ":PROPERTIES:\n:ID: {id}\n:ROAM_REFS: {refs}\n:END:\n#+title: {title}\n"
    world.note("page.org", about.format(id="page", refs="https://example.org/x @knuth84", title="The page"))
    world.note("other.org", about.format(id="other", refs="https://example.org/x/y", title="Another page"))
    world.node("reader.org", "reader", "Reader", "See https://example.org/x and [cite:@knuth84;@lost99].")
    base = world.open()
    links = typed(NodeLinks, base.links("page"))
    assert [("reader", world.kb / "reader.org", 6)] == [(n.id, n.path, n.line) for n in links.reflinks]
    cited = typed(NodeLinks, base.links("reader")).cited
    assert [("knuth84", "page", "The page"), ("lost99", "", "")] == [(one.key, one.id, one.title) for one in cited]
    assert () == typed(NodeLinks, base.links("other")).reflinks
    out = world.run("links", "reader").out
    assert "=> @knuth84: The page (page)" in out
    assert "=> @lost99: no note is about it" in out
    assert world.run("links", "reader", "--json").json["cited"][1] == {
        "key": "lost99",
        "line": 6,
        "id": None,
        "title": None,
        "work": None,
    }


@pytest.mark.parametrize(
    "name", ["https://example.org/x", "@knuth84", "cite:knuth84", "cite:@knuth84", "[cite:@knuth84]"]
)
def test_a_node_is_found_by_its_ref(name: str, world: World) -> None:
    """As org-roam finds it; a part of a ref is none."""
    world.note("p.org", ":PROPERTIES:\n:ID: p\n:ROAM_REFS: https://example.org/x @knuth84\n:END:\n#+title: P\n")
    assert "p" == typed(ShownNode, world.open().show(name)).node.id
    assert 2 == world.run("show", name[:-1]).status


def test_an_id_that_emacs_finds_elsewhere_leads_out(world: World) -> None:
    """As org-roam opens it; a file that is gone, and what the list says of notes, don't count."""
    outside = world.home / "org" / 'todo "list.org'
    outside.parent.mkdir()
    outside.write_text("* Task\n:PROPERTIES:\n:ID: elsewhere\n:END:\n")
    locations = world.home / ".emacs.d" / ".org-id-locations"
    locations.parent.mkdir()
    name = str(outside).replace('"', '\\"')
    locations.write_text(f'(("{name}" "elsewhere" "two") ("~/gone.org" "gone") ("{world.kb}/a.org" "trashed"))')
    world.node("a.org", "a", "A", "[[id:elsewhere][x]] [[id:gone][y]] [[id:trashed][z]]")
    links = typed(NodeLinks, world.open().links("a"))
    assert ["gone", "trashed"] == [link.id for link in links.dangling]
    assert [("id", "elsewhere")] == [(link.type, link.dest) for link in links.external]
    assert ["gone", "trashed"] == [link["id"] for link in world.run("hygiene", "--json").json["dangling"]]
    for broken in (b"((((", b'(("' + b"x" * 9999, b"\xff\x00", b'(("\x00" "gone"))'):
        locations.write_bytes(broken)
        assert 3 == len(typed(NodeLinks, world.open().links("a")).dangling)


@pytest.mark.parametrize(
    ("name", "lisp"),
    [
        (".emacs.d/init.el", '(setq org-id-locations-file (expand-file-name "var/org/ids.el" user-emacs-directory))'),
        (".emacs.d/roamkb-settings.el", '(setq org-id-locations-file \'"~/.emacs.d/var/org/ids.el")'),
    ],
)
def test_an_id_leads_out_by_the_list_that_emacs_was_told_to_keep(name: str, lisp: str, world: World) -> None:
    """As `org-id-locations-file` says, plainly or as Emacs wrote it down."""
    locations = world.home / ".emacs.d" / "var" / "org" / "ids.el"
    locations.parent.mkdir(parents=True)
    (world.home / "todo.org").write_text("* Task\n:PROPERTIES:\n:ID: elsewhere\n:END:\n")
    locations.write_text('(("~/todo.org" "elsewhere"))')
    world.node("a.org", "a", "A", "[[id:elsewhere][x]]")
    assert ["elsewhere"] == [link["id"] for link in world.run("hygiene", "--json").json["dangling"]]
    (world.home / name).write_text(lisp)
    assert [] == world.run("hygiene", "--json").json["dangling"]
    assert () == typed(NodeLinks, world.open().links("a")).dangling
