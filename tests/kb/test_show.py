"""Show a node by whatever it is called."""

import pytest

from roamkb.core.errors import Ambiguous
from roamkb.core.errors import NotFound
from tests.conftest import World


@pytest.fixture
def kb(world: World) -> World:
    """A note with an alias and a heading node, and two notes of one title."""
    world.note(
        "sub/20240101000000-tokens.org",
        ':PROPERTIES:\n:ID: tok\n:ROAM_ALIASES: "Refresh tokens"\n:END:\n#+title: Token refresh\n\nBody.\n'
        "* Rotation\n:PROPERTIES:\n:ID: rot\n:END:\nWeekly.\n",
    )
    world.node("20240102000000-twin.org", "one", "Twin")
    world.node("20240103000000-twin.org", "two", "Twin")
    return world


@pytest.mark.parametrize(
    "name",
    ["tok", "id:tok", "Token refresh", "token REFRESH", "Refresh tokens", "refresh tokens",
     "sub/20240101000000-tokens.org"],
)  # fmt: skip
def test_a_node_goes_by_many_names(kb: World, name: str) -> None:
    """Id, title, alias and path; case counts only where it must."""
    shown = kb.open().show(name)
    assert "tok" == shown.node.id
    assert kb.kb / "sub/20240101000000-tokens.org" == shown.path
    assert shown.body.startswith("Body.")


def test_an_absolute_path_and_one_from_here(kb: World) -> None:
    """As a shell completes them."""
    path = kb.kb / "sub" / "20240101000000-tokens.org"
    assert "tok" == kb.open().show(str(path)).node.id
    assert "tok" == kb.open(path.parent).show(path.name).node.id


def test_a_heading_node_has_its_own_text(kb: World) -> None:
    """Without heading and drawer."""
    shown = kb.open().show("rot")
    assert ("Rotation", "Weekly.") == (shown.node.title, shown.body)


def test_what_a_search_prints_names_the_node_around_that_line(kb: World) -> None:
    """PATH:LINE can be pasted, with or without the colon behind."""
    path = kb.kb / "sub" / "20240101000000-tokens.org"
    assert "tok" == kb.open().show(f"{path}:7").node.id
    assert "rot" == kb.open().show(f"{path}:12:").node.id
    assert "tok" == kb.open().show(f"{path}:999").node.id


def test_the_beginning_of_an_id_is_enough_where_it_is_one_nodes(kb: World) -> None:
    """Eight characters at least; of several nodes, none."""
    kb.node("a.org", "01939b7a-5f3c-7d2e-9a1b-2c3d4e5f6a7b", "Long id")
    assert "Long id" == kb.open().show("01939b7a").node.title
    kb.node("b.org", "01939b7a-5f3c-7d2e-9a1b-000000000000", "Other id")
    with pytest.raises(Ambiguous):
        kb.open().show("01939b7a")


def test_a_slip_of_the_pen_is_answered_with_what_was_meant(kb: World) -> None:
    """Titles that are spelt nearly so."""
    with pytest.raises(NotFound) as caught:
        kb.open().show("Tokn refresh")
    assert "did you mean Token refresh?" == caught.value.hint


@pytest.mark.parametrize(
    "words",
    [
        ("show", "docker"),
        ("links", "Docker"),
        ("trash", "Docker"),
        ("supersede", "docker", "Containers share the host's kernel"),
        ("write", "Containers share the host's kernel", "--link", "Docker"),
        ("search", "--related", "docker"),
    ],
    ids=lambda words: words[0],
)
def test_a_name_of_no_node_is_answered_with_those_that_hold_its_words(world: World, words: tuple[str, ...]) -> None:
    """By every command that takes a name, as text and as JSON; a text with them is no name. Nothing is written."""
    world.node("a.org", "id-a", "Networks of Docker containers", "Each has a bridge of its own.")
    world.node("b.org", "id-b", "Builds are cached", "Docker looks at each layer's command.")
    world.node("c.org", "id-c", "Sourdough")
    before = world.files()
    ran = world.run(*words)
    assert (2, "") == (ran.status, ran.out)
    assert "no node" in ran.err
    assert "did you mean Networks of Docker containers?" in ran.err
    error = world.run(*words, "--json").json["error"]
    assert isinstance(error, dict)
    assert "not_found" == error["code"]
    assert ["id-a"] == [one["id"] for one in error["candidates"]]
    assert str(world.kb / "a.org") == error["candidates"][0]["path"]
    assert before == world.files()


def test_where_nothing_is_like_it_there_is_no_guess(world: World) -> None:
    """An empty list, and how to search."""
    world.node("c.org", "id-c", "Sourdough")
    ran = world.run("show", "docker", "--json")
    error = ran.json["error"]
    assert isinstance(error, dict)
    assert ([], True) == (error["candidates"], "`roamkb search WORDS`" in error["hint"])


def test_two_nodes_of_one_title_are_listed(kb: World) -> None:
    """Ambiguous, with what tells them apart."""
    with pytest.raises(Ambiguous) as caught:
        kb.open().show("Twin")
    assert ["one", "two"] == [candidate.id for candidate in caught.value.candidates]


def test_one_id_in_two_files_is_ambiguous(kb: World) -> None:
    """A path still names one of them."""
    kb.node("20240104000000-copy.org", "one", "Copy")
    with pytest.raises(Ambiguous):
        kb.open().show("one")
    assert "Copy" == kb.open().show("20240104000000-copy.org").node.title


@pytest.mark.parametrize("name", ["nothing", "", "  ", "../../etc/passwd", "no.org", "\x00"])
def test_what_nobody_is_called_is_not_found(kb: World, name: str) -> None:
    """One clear error, whatever the name."""
    with pytest.raises(NotFound):
        kb.open().show(name)


def test_an_id_in_prose_is_no_node(kb: World) -> None:
    """Only a drawer makes an id."""
    kb.node("20240105000000-talk.org", "talk", "Talk", "#+begin_src org\n:ID: decoy\n#+end_src")
    with pytest.raises(NotFound):
        kb.open().show("decoy")


PLAIN = "Plain words of a walrus.\n\n* Heading\nThe walrus again.\n"
PARTLY = "A walrus above.\n\n* Heading\n:PROPERTIES:\n:ID: part\n:END:\nIn the node.\n* Other\nA walrus below.\n"


@pytest.fixture
def strays(kb: World) -> World:
    """Notes with text that lies in no node, and one that org-roam takes no node of."""
    kb.note("plain.org", PLAIN)
    kb.note("sub/partly.org", PARTLY)
    kb.note("fault.org", ':PROPERTIES:\n:ID: q\n:ROAM_ALIASES: "open\n:END:\n#+title: T\nA walrus.\n')
    kb.note("twice.org", ":PROPERTIES:\n:ID: tok\n:END:\n#+title: Token refresh\nA walrus.\n")
    kb.note("empty.org", "")
    return kb


@pytest.mark.parametrize("words", [["walrus"], ["walrus", "--regex"], ["walrus", "--lines"], ["plain"], ["empty"]])
def test_whatever_a_search_returns_can_be_opened(strays: World, words: list[str]) -> None:
    """By the place that is printed, through the library and the command line."""
    ran = strays.run("search", *words)
    places = [line.split(": ")[0] for line in ran.out.splitlines()]
    assert places
    for hit, place in zip(strays.run("search", *words, "--json").json["hits"], places, strict=True):
        shown = strays.open().show(place)
        assert (hit["id"] or "", hit["path"]) == (shown.node.id, str(shown.path))
        assert hit["text"] in (shown.body, *map(str.strip, shown.body.split("\n")), shown.node.title)
        told = strays.run("show", place, "--json")
        assert (0, hit["id"]) == (told.status, told.json["node"]["id"])


def test_a_file_without_an_id_is_shown_as_it_is(strays: World) -> None:
    """By its path, with or without a line; nothing links to it, and nothing changes it."""
    for name in ("plain.org", str(strays.kb / "plain.org"), "plain.org:4"):
        shown = strays.open().show(name)
        assert ("", "plain", PLAIN.strip()) == (shown.node.id, shown.node.title, shown.body)
    for change in (strays.open().links, strays.open().trash):
        with pytest.raises(NotFound) as caught:
            change("plain.org")
        assert "no :ID:" in caught.value.hint


def test_a_file_that_is_there_and_not_read_says_why(kb: World) -> None:
    """By any of its paths: to say that it doesn't exist would send its human looking."""
    kb.note("copy.sync-conflict-20260101-101010-ABCDEFG.org", "* Old\n")
    kb.note("secret.org.gpg", "no text")
    (kb.kb / "out.org").symlink_to(kb.home)
    with (kb.kb / "huge.org").open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    for name, reason in {
        "copy.sync-conflict-20260101-101010-ABCDEFG.org": "conflict copy",
        "secret.org.gpg": "encrypted",
        "out.org": "out of the knowledge base",
        "huge.org": "larger than",
        "nowhere.org": "give an id",
    }.items():
        for path in (name, str(kb.kb / name)):
            ran = kb.run("show", path)
            assert (2, "") == (ran.status, ran.out)
            assert reason in ran.err, path


def test_a_successor_in_the_trash_is_said_to_be_gone(world: World) -> None:
    """With the command that puts it back; `show` of its id would lead nowhere."""
    first = world.run("write", "The printer wants 203 dpi", "--json").json
    second = world.run("supersede", "The printer wants 203 dpi", "The printer wants 300 dpi", "--json").json
    old, new = (answer["id"] for answer in (first, second))
    assert f"`roamkb show {new}` has what replaced it" in world.run("show", old).err
    assert 0 == world.run("trash", new).status
    told = world.run("show", old).err
    assert f"`roamkb restore {new}`" in told
    assert "roamkb show" not in told
