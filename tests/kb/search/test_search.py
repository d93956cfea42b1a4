"""Search on real files."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from roamkb.core.errors import NoKnowledgeBase
from roamkb.core.errors import UsageError
from tests.conftest import World


def titles(world: World, *words: str, **options: object) -> list[str]:
    """The titles that a search finds, in order."""
    return [hit.title for hit in world.open().search(words, **options).hits]  # type: ignore[arg-type]


@pytest.fixture
def zoo(world: World) -> World:
    """A few notes about animals."""
    world.node(
        "20240101000000-zebra.org",
        "z",
        "Zebra",
        "They live on the savanna.\nStripes confuse flies.",
        tags=":animal:",
    )
    world.node("20240102000000-tapir.org", "t", "Tapir", "A zebra it is not.", tags=":animal:agent:")
    world.node("20250101000000-savanna.org", "s", "Savanna", "Grass, and trees here and there.", tags=":place:zebra:")
    world.note(
        "20230101000000-log.org",
        ':PROPERTIES:\n:ID: log\n:ROAM_ALIASES: "Field notes"\n:END:\n#+title: Log\nquokka\n\n'
        "* Monday\n:PROPERTIES:\n:ID: monday\n:END:\nSaw a zebra by the river.\n* Tuesday\nnothing but okapis\n",
    )
    world.note("plain.org", "#+title: No node here\nThe okapi is shy.\n")
    return world


def test_titles_beat_tags_beat_text(zoo: World) -> None:
    """The note about zebras comes first, the one tagged so next, mentions last."""
    assert ["Zebra", "Savanna"] == titles(zoo, "zebra")[:2]
    assert {"Tapir", "Monday"} == set(titles(zoo, "zebra")[2:])


def test_a_word_among_letters_without_blanks_is_that_word(world: World) -> None:
    """It is sure, `-word` leaves it out, and so it is in a tag."""
    world.node("a.org", "a", "配置", "使用Docker部署服务", tags=":検索:Linux版:")
    world.node("b.org", "b", "容器", "使用Podman部署服务", tags=":other:")
    for word in ("Docker", "検索", "Linux"):
        assert [("配置", True)] == [(hit.title, hit.sure) for hit in world.open().search([word]).hits]
    assert ["容器"] == titles(world, "部署 -Docker")


@pytest.fixture
def campus(world: World) -> World:
    """Notes with words of one stem, some more often than the word that is asked for."""
    world.node("bus.org", "b", "Universal bus", "A universal connector, universal in all.")
    world.node("mac.org", "m", "Universal binary", "Universal builds for the universal Mac.")
    world.node("town.org", "t", "Town", "Two universities are in Bonn.")
    world.node("logic.org", "l", "Logic", "Propositional logic; the form of it informs us.", tags=":ci_cd:")
    world.node("gearbox.org", "g", "Gearbox", "It drives the shaft.")
    return world


def test_who_asks_for_one_word_means_that_word_and_its_forms(campus: World) -> None:
    """What only has its stem comes after, is not sure, and is not what `-word` leaves out."""
    hits = campus.open().search("university").hits
    assert ("Town", True) == (hits[0].title, hits[0].sure)
    assert {("Universal binary", False), ("Universal bus", False)} == {(hit.title, hit.sure) for hit in hits[1:]}
    assert ["Town"] == titles(campus, "university", "-universal")
    # where no note has the word, none is sure
    assert {False} == {hit.sure for hit in campus.open().search("universally").hits}
    assert "nothing sure" in campus.run("search", "universally").err
    assert ["Universal bus"] == titles(campus, "universal", "-binaries")
    assert 2 == len(titles(campus, "universal", "-AND"))


def test_a_phrase_is_of_whole_words(campus: World) -> None:
    """Neither the filter nor the line shown takes a part of a word for it."""
    assert [] == titles(campus, '"position"')
    (hit,) = campus.open().search('"form"').hits
    assert ("Logic", True) == (hit.title, hit.sure)
    campus.node("late.org", "x", "Late", "It informs us.\nThe form is signed.")
    assert {"The form is signed."} < {hit.text for hit in campus.open().search('"form"').hits}


def test_in_a_base_of_another_language_a_note_with_the_word_comes_first(world: World) -> None:
    """Groups of letters, by which words of other languages are found, hold no word; grep prints none of them."""
    for number, text in enumerate(
        (
            "Terrassenplatten\nDie Platten liegen im Hof.",
            "Plattform für Vereine\nDie Plattform hat einen Kalender und eine Kasse.",
            "Heizung\nDer Kessel wird im Herbst gewartet.",
            "Steuern\nDie Erklärung geht bis Ende Mai an das Amt.",
            "Auto\nDie Reifen werden im Oktober gewechselt.",
            "State lives in the bucket\nThe infra repo uses terraform with a backend in the account.",
        )
    ):
        title, _, body = text.partition("\n")
        world.node(f"n{number}.org", f"n{number}", title, body)
    hits = world.open().search("terraform").hits
    assert ("State lives in the bucket", True) == (hits[0].title, hits[0].sure)
    assert not any(hit.sure for hit in hits[1:])
    for option in ("--lines", "--files"):
        assert [str(world.kb / "n5.org")] == [
            line.partition(".org")[0] + ".org" for line in world.run("search", option, "terraform").out.splitlines()
        ]


def test_a_tag_is_found_as_it_was_given(campus: World) -> None:
    """A node has `ci_cd` of `ci-cd`, and who gave that asks for that."""
    assert ["Logic"] == titles(campus, "tag:ci-cd") == titles(campus, "logic", tags=["ci-cd"])
    assert [] == titles(campus, "logic", "-tag:ci-cd")
    assert ["Logic"] == titles(campus, "form", regex=True, tags=["ci-cd"])


def test_a_whole_query_in_one_argument_may_begin_with_what_it_leaves_out(campus: World) -> None:
    """No option has a blank in its name."""
    ran = campus.run("search", "-connector universal")
    assert (0, True, False) == (ran.status, "mac.org" in ran.out, "bus.org" in ran.out)


def test_a_hit_says_where_and_why(zoo: World) -> None:
    """Path, line, text and reasons of the best line."""
    (hit,) = zoo.open().search("flies").hits
    assert ("z", "Zebra", zoo.kb / "20240101000000-zebra.org", 8) == (hit.id, hit.title, hit.path, hit.line)
    assert "Stripes confuse flies." == hit.text
    assert ("text",) == hit.why


def test_a_title_hit_shows_the_title_line(zoo: World) -> None:
    """Where nothing but the title matches, that is what is shown."""
    (hit,) = zoo.open().search("tapirs").hits
    assert (4, "Tapir", ("title",)) == (hit.line, hit.text, hit.why)


def test_text_under_a_heading_node_belongs_to_it_alone(zoo: World) -> None:
    """The file isn't found by what its heading node says."""
    assert ["Monday"] == titles(zoo, "river")


def test_text_under_a_plain_heading_belongs_to_the_file(zoo: World) -> None:
    """A heading without an id is text of the node around it."""
    assert ["Log"] == [title for title in titles(zoo, "nothing", "okapis") if title != "No node here"]


def test_a_file_without_any_node_is_found(zoo: World) -> None:
    """A hit in it has no id."""
    hits = {hit.title: hit.id for hit in zoo.open().search("okapi shy").hits}
    assert hits["No node here"] is None


def test_an_alias_finds_its_node(zoo: World) -> None:
    """Another name is as good as the title."""
    (hit,) = zoo.open().search('"field notes"').hits
    assert "log" == hit.id


def test_filters(zoo: World) -> None:
    """Tags, authorship and dates, as options and in the query."""
    assert ["Zebra", "Tapir"] == sorted(titles(zoo, tags=("animal",)), reverse=True)
    assert ["Savanna"] == titles(zoo, "zebra", since="2025")
    assert "Savanna" not in titles(zoo, "zebra", before="2025")
    assert titles(zoo, "zebra", "tag:place") == titles(zoo, "zebra", tags=("place",))
    assert [] == titles(zoo, "zebra", agent=True)
    assert "Zebra" in titles(zoo, "zebra", human=True)
    assert "Tapir" not in titles(zoo, "zebra", "-not")


def test_an_agent_node_is_found_as_such(world: World) -> None:
    """Both marks make it: the tag and the property."""
    written = world.open().write("Zebras are striped")
    assert [written.id] == [hit.id for hit in world.open().search("zebras", agent=True).hits]


def test_what_is_called_just_so_comes_first(world: World) -> None:
    """However often longer titles and their texts say the words."""
    world.node("a.org", "a", "Git", "One line.")
    world.node("b.org", "b", "Understanding Git", "git git git git", tags=":git:")
    world.node("c.org", "c", "Git Scalar", "git " * 50, tags=":git:")
    assert "Git" == titles(world, "git")[0]


def test_a_title_of_three_words_that_a_question_says_comes_first(world: World) -> None:
    """Even where they are common and the question's others are rare; in a long message it is only mentioned."""
    world.node("a.org", "a", "Copper Wire Gauge", "One line.")
    for number in range(30):
        world.node(f"c{number}.org", f"c{number}", f"Note {number}", "copper wire of a gauge")
    world.node("z.org", "z", "Zeppelins", "A zeppelin moors at the quagmire; zeppelins need a quagmire. " * 3)
    asked = "copper wire gauge for zeppelin mooring in a quagmire"
    assert "Copper Wire Gauge" == titles(world, asked)[0]
    chatter = "pump valve rotor hinge crank piston lathe anvil rivet girder truss flange gasket bobbin"
    assert "Zeppelins" == titles(world, f"{asked} {chatter}")[0]


def test_a_superseded_node_comes_after_its_successor(world: World) -> None:
    """And says what it is, wherever its text would have put it."""
    old = world.open().write("Native compilation needs libgccjit", body="native compilation libgccjit " * 3)
    new = world.open().supersede(old.id, "Emacs 28 compiles natively where libgccjit is there", anyway=True)
    hits = world.open().search("native compilation libgccjit").hits
    assert [new.written.id, old.id] == [hit.id for hit in world.open().search("libgccjit").hits]
    assert ["superseded" in hit.why for hit in hits if hit.id == old.id] == [True]


def test_a_line_for_readers_is_shown_before_one_for_programs(world: World) -> None:
    """An exporter's keyword or a drawer is never shown: where no other line matches, the title is."""
    world.note("a.org", ":PROPERTIES:\n:ID: a\n:END:\n#+title: Bloom filter\n#+hugo_slug: bloom_filter\n")
    world.note("b.org", ":PROPERTIES:\n:ID: b\n:END:\n#+title: B\n#+slug: bloom\n\nA bloom of algae, once.\n")
    world.note("c.org", ":PROPERTIES:\n:ID: c\n:END:\n#+title: C\n#+slug: bloom\n")
    shown = {hit.id: hit.text for hit in world.open().search("bloom").hits}
    assert {"a": "Bloom filter", "b": "A bloom of algae, once.", "c": "C"} == shown


def test_where_an_agents_note_was_written_is_not_what_it_says(world: World) -> None:
    """The name of a project doesn't find all that was written from there."""
    note = ":PROPERTIES:\n:ID: {id}\n{key} ~/code/lantern\n:AGENT: codex\n:END:\n#+title: {title}\n#+filetags: :agent:\n\nYes.\n"
    world.note("a.org", note.format(id="a", key=":PROJECT:", title="Backups run at four"))
    world.note("b.org", note.format(id="b", key=":VENUE:", title="The printer wants 203 dpi"))
    world.node("c.org", "c", "Oil lamps", "A lantern hangs at the door.")
    assert {"b", "c"} == {hit.id for hit in world.open().search("lantern").hits}
    assert [] == [hit.id for hit in world.open().search("codex").hits]


@pytest.mark.parametrize(
    ("asked", "sure"),
    [
        ("C#", []),
        (".NET", []),
        ("DDR5", []),
        ("Emacs 30", []),
        ("DDR-266", ["ddr"]),
        ("C++", ["cpp"]),
        ("c++?", ["cpp"]),
        ("Emacs 29", ["emacs"]),
        ("is Emacs good", ["emacs"]),
    ],
)
def test_a_number_or_sign_of_a_word_is_part_of_what_was_asked_for(world: World, asked: str, sure: list[str]) -> None:
    """Without it an answer is about something near, and isn't sure."""
    names = {"cpp": "C++ templates", "c": "Tiny C Compiler", "ddr": "DDR-266 memory", "net": "The net of the trawler"}
    for id, title in {**names, "emacs": "Emacs 29 brings tree-sitter"}.items():
        world.node(f"{id}.org", id, title)
    assert sure == [hit.id for hit in world.open().search(asked).hits if hit.sure]


def test_an_excerpt_is_text(world: World) -> None:
    """A link shows its description, and a picture, a rule or a drawer is no excerpt."""
    world.node("a.org", "a", "Harbour", "[[file:heron.png]]\n- see [[https://example.org/heron][the heron's page]]")
    world.node("b.org", "b", "Weir", "[[file:img/heron.jpg]]")
    world.node("c.org", "c", "Lock", ":LOGBOOK:\n:heron: two\n:END:")
    result = world.open().search("heron")
    assert {"a": (7, "- see the heron's page"), "b": (4, "Weir"), "c": (4, "Lock")} == {
        hit.id: (hit.line, hit.text) for hit in result.hits
    }
    assert {"a": [(7, "- see the heron's page")], "b": [], "c": []} == {hit.id: list(hit.lines) for hit in result.hits}
    assert [":heron: two"] == [hit.text for hit in world.open().search("heron", lines=True).hits if hit.id == "c"]


@pytest.fixture
def harbour(world: World) -> World:
    """Notes about a harbour: what is asked for, and many that share one word with the question."""
    world.node("a.org", "a", "The dredger leaves on Tuesday", "It comes back on Friday, with silt.")
    world.node("b.org", "b", "Silt", "The dredger takes it out of the harbour.")
    for n in range(12):
        world.node(f"n{n:02}.org", f"n{n:02}", f"Berth {n}", f"Ships of line {n} lie here on weekdays, friday too.")
    return world


def test_a_search_ends_where_its_hits_are_far_from_the_best(harbour: World) -> None:
    """What shares one common word is left out, unless it is asked for by a number or by --all."""
    asked = "when does the dredger come back with silt on friday"
    assert ["a", "b"] == [hit.id for hit in harbour.open().search(asked).hits]
    assert 10 == len(harbour.open().search(asked, limit=10).hits)
    assert 14 == len(harbour.open().search(asked, all=True).hits)
    assert ["a", "b"] == [hit.id for hit in harbour.open().search(asked, limit=2).hits]


def test_a_search_shows_eight_hits(harbour: World) -> None:
    """Of those that are equally good; what only filters find is a list and longer."""
    assert 8 == len(harbour.open().search("berth").hits)
    assert 14 == len(harbour.open().search(human=True).hits)
    assert 14 == len(harbour.open().search("e", regex=True).hits)
    with pytest.raises(UsageError, match="no limit"):
        harbour.open().search("berth", all=True, limit=3)


def test_what_holds_every_word_stays_however_low_its_score(world: World) -> None:
    """All words come before some, so the tail can't begin with them."""
    world.node("long.org", "long", "Log", "heron weir " + "one day is as another by the river " * 200)
    world.node("short.org", "short", "Heron", "heron heron heron")
    assert ["long", "short"] == [hit.id for hit in world.open().search("heron weir").hits]


def test_a_hit_says_whether_it_is_sure(harbour: World) -> None:
    """By the words that it shares with the question, and how telling they are."""
    sure = {hit.id: hit.sure for hit in harbour.open().search("when does the dredger leave", all=True).hits}
    assert sure["a"]
    result = harbour.open().search("what is a good time of the day to call my mother on weekdays")
    assert result.hits
    assert not any(hit.sure for hit in result.hits)
    assert result.nothing_sure


@pytest.mark.parametrize(
    "reference",
    [
        "- tags :: [[id:x][Git]], [[id:y][Huge monorepo]]",
        "- [[https://example.org/slow-git-huge-monorepo][Some answers]]",
        "https://example.org/why-git-is-slow/huge-monorepo",
        "| Slow | Git | Huge monorepo |\n|------+-----+---------------|",
    ],
)
def test_an_excerpt_says_something_where_a_line_does(reference: str, world: World) -> None:
    """Before links, addresses and a table's header, however many of the words these hold."""
    world.node("git.org", "git", "Version control", f"{reference}\nGit has trouble handling large repositories")
    (hit,) = world.open().search("git is slow on a huge monorepo").hits
    assert "Git has trouble handling large repositories" == hit.text


@pytest.mark.parametrize("words", [["friday"], ['"on Friday"'], ["tag:boat"]])
def test_what_holds_just_what_was_asked_for_is_sure(words: list[str], harbour: World) -> None:
    """The only word, a phrase, a filter: however common the word is."""
    harbour.node("t.org", "t", "Tug", "Out on Friday.", tags=":boat:")
    result = harbour.open().search(words)
    assert result.hits
    assert all(hit.sure for hit in result.hits)
    assert not result.nothing_sure


def test_one_telling_word_of_several_makes_nothing_sure(world: World) -> None:
    """What is asked for has to be there for its greater part: this note is about another timeout."""
    world.node("lock.org", "lock", "SQLite locks", "Set busy_timeout, or the second writer fails at once.")
    result = world.open().search("kubernetes ingress timeout")
    assert ["lock"] == [hit.id for hit in result.hits]
    assert result.nothing_sure
    world.node("in.org", "in", "Ingress", "The ingress of the cluster has a timeout of a minute.")
    assert ["in"] == [hit.id for hit in world.open().search("kubernetes ingress timeout").hits if hit.sure]


@pytest.mark.parametrize("title", ["Operating Systems", "Game Design", "The C Language", "Machine Learning", "K-means"])
def test_a_note_that_is_called_by_its_title_is_sure(title: str, world: World) -> None:
    """However common its words are: they are all that was asked for, and its name."""
    world.node("a.org", "a", title, "A few words.")
    world.node("b.org", "b", "Other things", f"About {' and '.join(title.split())} and more of the kind.")
    result = world.open().search(title)
    assert [("a", True)] == [(hit.id, hit.sure) for hit in result.hits[:1]]
    assert not result.nothing_sure


def test_an_alias_makes_a_hit_sure(world: World) -> None:
    """As the title does: a note is what it is called by any of its names."""
    world.note("a.org", ":PROPERTIES:\n:ID: a\n:ROAM_ALIASES: k8s\n:END:\n#+title: Kubernetes\nOn EKS.\n")
    (hit,) = world.open().search("what is our k8s setup").hits
    assert hit.sure


@pytest.mark.parametrize("name", ["title", "alias"])
def test_what_a_question_names_in_full_comes_first(name: str, world: World) -> None:
    """Before notes that say more of its words, even all of them."""
    title, aliases = ("Token refresh", "") if name == "title" else ("T 1", ':ROAM_ALIASES: "Token refresh"\n')
    world.note("a.org", f":PROPERTIES:\n:ID: a\n{aliases}:END:\n#+title: {title}\nA minute before the end.\n")
    for n in range(3):
        text = "The refresh of a token fails behind the proxy. " * 3
        world.node(f"b{n}.org", f"b{n}", f"Proxy {n}: a refresh fails, and the token", text)
    assert "a" == world.open().search("why does token refresh fail behind the proxy?").hits[0].id


def test_a_word_that_is_also_a_title_is_not_always_meant(world: World) -> None:
    """A name of one word is one among others of a question, unless it is as heavy as the rest."""
    world.node("git.org", "git", "Git", "The stupid content tracker.")
    world.node("b.org", "b", "Undo the last commit", "In git: reset softly, and the commit is undone.")
    for n in range(5):
        world.node(f"n{n}.org", f"n{n}", f"Note {n}", "Also on git.")
    assert "b" == world.open().search("how do I undo the last commit in git").hits[0].id
    assert "git" == world.open().search("what is git?").hits[0].id


def test_a_replaced_note_is_not_first_by_its_name(world: World) -> None:
    """Its successor answers, although the question has the old title in full."""
    old = world.open().write("The web app listens on 8080")
    new = world.open().supersede(old.id, "Port 9090 is where the web app listens", anyway=True).written
    found = world.open().search("is it so that the web app listens on 8080 today, port or not").hits
    assert [new.id, old.id] == [hit.id for hit in found]


def test_a_heading_is_shown_below_the_titles_above_it(world: World) -> None:
    """`Upgrade` alone tells nobody of what: neither who searches, nor who is offered it."""
    for name in ("Gitea", "Nextcloud", "Paperless"):
        (world.kb / f"{name}.org").write_text(
            f":PROPERTIES:\n:ID: {name}\n:END:\n#+title: {name}\n\n* Upgrade\n:PROPERTIES:\n:ID: {name}-up\n:END:\n"
            f"Dump the database before.\n"
        )
    assert f"{world.kb}/Gitea.org:6: Gitea / Upgrade\n" in world.run("search", "upgrade", "gitea").out
    (best, *_) = json.loads(world.run("search", "upgrade", "gitea", "--json").out)["hits"]
    assert ("Upgrade", "Gitea", True) == (best["title"], best["outline"], best["sure"])
    prompt = {"session_id": "s", "cwd": str(world.personal), "prompt": "how do I upgrade gitea?"}
    offered = world.run("hook", "user-prompt-submit", input=json.dumps(prompt)).out
    assert "[node] Gitea / Upgrade (id:Gitea-up)" in offered and "Nextcloud" not in offered


def test_long_titles_above_a_heading_hide_it_nowhere(world: World) -> None:
    """Who reads the beginning of what stands above it doesn't know what was found."""
    above = "The whole story of how we moved from one place to another place and back again " * 5
    (world.kb / "g.org").write_text(
        f":PROPERTIES:\n:ID: g\n:END:\n#+title: {above}\n\n* Upgrade gitea\n:PROPERTIES:\n:ID: up\n:END:\nDump it.\n"
    )
    assert "… / Upgrade gitea\n" in world.run("search", "upgrade", "gitea").out
    prompt = {"session_id": "s", "cwd": str(world.personal), "prompt": "how do I upgrade gitea?"}
    assert "\\u2026 / Upgrade gitea (id:up)" in world.run("hook", "user-prompt-submit", input=json.dumps(prompt)).out
    (best, *_) = json.loads(world.run("search", "upgrade", "gitea", "--json").out)["hits"]
    assert best["outline"].startswith(above[:300])


def test_a_note_found_by_the_text_of_a_link_says_so(world: World) -> None:
    """Neither its title nor its text holds the word; and what is shown of the link is fit to be shown."""
    world.node("nas.org", "nas", "NAS", "Four disks.")
    world.node("backup.org", "backup", "Backups", "Kept in [[id:nas][\x1b[7m \u202eattic]] of the house.")
    found = world.run("search", "attic").out.splitlines()
    assert [f"{world.kb}/nas.org:4: NAS (linked as [7m attic)"] == [line for line in found if "nas.org" in line]
    (nas,) = [hit for hit in json.loads(world.run("search", "attic", "--json").out)["hits"] if hit["id"] == "nas"]
    assert (True, ["link"]) == (nas["sure"], nas["why"])


def test_the_inventory_marks_no_note_whose_successor_lies_in_the_trash(world: World) -> None:
    """It counts again for a search, so nobody may take it for replaced."""
    old = world.open().write("The web app listens on 8080")
    new = world.open().supersede(old.id, "The web app listens on 9090", anyway=True).written
    assert "8080 :agent: (superseded)\n" in world.run("inventory").out
    world.run("trash", new.id, "--yes")
    listed = world.run("inventory").out
    assert "8080 :agent:\n" in listed and "(superseded)" not in listed


def test_a_link_that_we_wrote_says_nothing_beside_a_path(world: World) -> None:
    """It holds the other note's fact; and what was replaced is marked, in a pipe and in the inventory."""
    old = world.open().write("The web app listens on 8080")
    new = world.open().supersede(old.id, "The web app listens on 9090", anyway=True).written
    said = [line.split(": ", 1)[1] for line in world.run("search", "web", "app", "listens").out.splitlines()]
    assert ["The web app listens on 9090", "The web app listens on 8080 (superseded)"] == said
    listed = world.run("inventory").out.splitlines()
    assert {old.id: True, new.id: False} == {
        node.id: any(node.title in line and line.endswith(" (superseded)") for line in listed)
        for node in world.open().inventory().nodes
    }
    whole = world.run("search", "web", "app", "listens").out
    assert whole == world.run("search", "web", "app", "listens", "--budget", str(len(whole))).out
    assert len(world.run("search", "web", "app", "listens", "--budget", str(len(whole) - 3)).out) < len(whole)
    ran = world.run("search", "web", "app", "listens", "--budget", "10")
    assert (2, "", True) == (ran.status, ran.out, "--budget 10 is less than one hit takes" in ran.err)


def test_conflict_copies_are_not_found(zoo: World) -> None:
    """A word that only a sync-conflict copy contains has no hit, and the copy is counted."""
    zoo.node("20240101000000-zebra.sync-conflict-20240202-020202-ABCDEFG.org", "z", "Zebra", "unicorn")
    result = zoo.open().search("unicorn")
    assert ((), 1) == (result.hits, result.conflict_copies)


def test_one_bad_file_never_stops_the_rest(zoo: World) -> None:
    """It is listed, and the others are found."""
    (zoo.kb / "bad.org").symlink_to("/dev/zero")
    (zoo.kb / "bytes.org").write_bytes(b"#+title: bytes \xff\xfe zebra\n")
    result = zoo.open().search("zebra")
    assert "Zebra" in [hit.title for hit in result.hits]
    assert zoo.kb / "bad.org" in [entry.path for entry in result.skipped]


def test_regex_matches_lines(zoo: World) -> None:
    """Grep's meaning: case counts, each line alone, files in order."""
    result = zoo.open().search("[Zz]ebra", regex=True, lines=True)
    assert [hit.text for hit in result.hits] == [
        "Saw a zebra by the river.", "#+title: Zebra", "A zebra it is not.", "#+filetags: :place:zebra:",
    ]  # fmt: skip
    assert [] == titles(zoo, "zEBRA", regex=True)


def test_a_regex_that_is_none_is_a_usage_error(zoo: World) -> None:
    """With the place where it goes wrong."""
    with pytest.raises(UsageError, match="no regular expression"):
        zoo.open().search("[", regex=True)


def test_a_regex_that_never_ends_is_stopped(zoo: World) -> None:
    """An exponential pattern is an error, never a hang, where RE2 is missing."""
    zoo.node("20240103000000-a.org", "a", "A", "a" * 60 + "b")
    try:
        zoo.open().search("(a+)+$", regex=True)
    except UsageError as error:
        assert "took more than" in error.message


def test_files_are_listed_once(zoo: World) -> None:
    """One hit a file, however many nodes and lines."""
    hits = zoo.open().search("a", regex=True, files=True).hits
    assert len({hit.path for hit in hits}) == len(hits) == 5


def test_the_limit_counts(zoo: World) -> None:
    """At most so many, and less than one is an error."""
    assert 1 == len(titles(zoo, "zebra", limit=1))
    with pytest.raises(UsageError):
        zoo.open().search("zebra", limit=0)


def test_an_empty_search_is_a_usage_error(zoo: World) -> None:
    """Nothing is asked for."""
    with pytest.raises(UsageError):
        zoo.open().search(" ")


def test_without_a_knowledge_base_it_says_so(world: World) -> None:
    """A missing folder is an error of its own, and isn't made."""
    shutil.rmtree(world.kb)
    with pytest.raises(NoKnowledgeBase):
        world.open().search("x")
    assert not world.kb.exists()


RULE_PATTERNS = [
    "zebra",
    "okapi|river",
    r"^#\+title:",
    ":ID:[[:space:]]+monday",
    "[^[:ascii:]]",
    "[[:upper:]]ebra",
    r"\bnot\b",
    "unicorn",
]


@pytest.mark.parametrize("pattern", RULE_PATTERNS)
def test_regex_files_names_the_files_of_the_documented_command(zoo: World, pattern: str) -> None:
    """What the rule tells agents to type into rg finds the same files."""
    from tests.contracts.documented import documented_rg

    if not shutil.which("rg"):
        pytest.skip("ripgrep is missing: apt-get install ripgrep")
    zoo.node("20240101000000-zebra.sync-conflict-20240202-020202-ABCDEFG.org", "z", "Zebra", "zebra unicorn not")
    zoo.note(".hidden/x.org", "zebra unicorn not\n")
    zoo.note("data/x.org", "zebra unicorn not\n")
    zoo.note("metadata/x.org", "zebra é not\n")
    zoo.note(".gitignore", "metadata/\n")
    zoo.note("daily/2024-01-01.org", "zebra\r\nnot\r\n")
    command = documented_rg(zoo.kb, pattern)
    listed = subprocess.run([*command, "--files-with-matches"], capture_output=True, text=True, check=False)
    ours = zoo.open().search(pattern, regex=True, files=True).hits
    assert sorted(Path(line) for line in listed.stdout.splitlines()) == sorted(hit.path for hit in ours)


def test_a_huge_note_or_title_slows_no_search(world: World) -> None:
    """What one note holds is bounded, for every question reads it; the beginning is found, and it is told."""
    for n in range(40):
        world.node(f"n{n}.org", f"0a1b2c3d-0000-4000-8000-{n:012d}", f"Note {n}", "the heron waits by the weir " * 9)
    alone = _searching(world, "heron weir")
    world.node("long.org", "0a1b2c3d-0000-4000-8000-0000000000aa", "Long", "the heron waits by the weir " * 350_000)
    world.node("high.org", "0a1b2c3d-0000-4000-8000-0000000000bb", "High", "the heron waits by the weir\n" * 350_000)
    world.node("wide.org", "0a1b2c3d-0000-4000-8000-0000000000cc", "A heron " * 250_000, "by the weir")
    world.run("index")
    assert _searching(world, "heron weir") < 30 * alone
    ran = world.run("search", "heron")
    assert 0 == ran.status
    assert all(f"/{name}.org:" in ran.out for name in ("long", "high", "wide"))
    assert max(map(len, ran.out.splitlines())) < 3000
    assert "words find its beginning only" in ran.err


def _searching(world: World, words: str) -> float:
    """Return the processor's seconds of a search, once everything is indexed."""
    world.open().search(words.split())
    start = time.process_time()
    for _ in range(3):
        world.open().search(words.split())
    return time.process_time() - start


@pytest.mark.parametrize(
    "words", [["show", "{id}"], ["links", "{id}"], ["nodes"], ["inventory"], ["search", "--related", "{id}"]]
)
def test_a_title_is_shown_on_one_line_of_bounded_length(words: list[str], world: World) -> None:
    """Whoever wrote two million letters there gets a line of them."""
    id = "0a1b2c3d-0000-4000-8000-0000000000cc"
    world.node("wide.org", id, "heron " * 300_000, "by the weir")
    world.node("next.org", "0a1b2c3d-0000-4000-8000-0000000000dd", "Weirs", f"by the weir, a heron; [[id:{id}][it]]")
    ran = world.run(*(word.format(id=id) for word in words))
    assert ran.status in (0, 1)
    assert max(map(len, ran.out.splitlines()), default=0) < 1000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ref:example.org", {"page", "part"}),
        ("ref:https://example.org/x", {"page", "part"}),
        ("ref:@knuth84", {"page"}),
        ("cite:knuth84", {"page", "reader"}),
        ("cite:@knuth84 typography", {"reader"}),
        ("ref:nowhere", set()),
    ],
)
def test_refs_and_citations_are_filters(words: str, expected: set[str], world: World) -> None:
    """What a note is about, and what it cites; the same without the index."""
    about = ":PROPERTIES:\n:ID: {}\n:ROAM_REFS: {}\n:END:\n#+title: {}\n"
    world.note("page.org", about.format("page", "https://example.org/x @knuth84", "The page"))
    world.note("part.org", about.format("part", "https://example.org/x/y", "A part"))
    world.node("reader.org", "reader", "Reader", "On typography [cite:@knuth84], see https://example.org/x.")
    assert expected == {hit.id for hit in world.open().search(words, all=True).hits}
    (world.kb / "page.org").unlink()
    assert expected - {"page"} == {hit.id for hit in world.open().search(words, all=True).hits}


def test_whole_lines_keep_their_indentation(world: World) -> None:
    """What is printed matches the pattern that it was asked for by; so it is in JSON."""
    text = world.node("a.org", "a", "Code", "#+begin_src python\n    print(1)\n#+end_src\n").read_text()
    line = text.split("\n").index("    print(1)") + 1
    for words in (("--regex", "    print\\("), ("--lines", "print")):
        ran = world.run("search", *words)
        assert f"{world.kb / 'a.org'}:{line}:     print(1)\n" == ran.out
        assert ["    print(1)"] == [hit["text"] for hit in world.run("search", *words, "--json").json["hits"]]


def test_a_path_can_be_read_whatever_it_holds(world: World) -> None:
    """By a program, which is told each name as the disk has it."""
    names = ["two  blanks.org", "tab\there.org", "esc\x1b[31m.org", "colon:12: x.org"]
    for number, name in enumerate(names):
        world.node(name, f"n{number}", f"Zebra {number}", "stripes")
    ran = world.run("search", "zebra", "--files", "--null")
    assert sorted(str(world.kb / name) for name in names) == sorted(ran.out.rstrip("\0").split("\0"))
    (first, *_) = world.run("search", "zebra", "--all", "--null").out.split("\n")
    path, _, rest = first.partition("\0")
    assert (True, True) == (Path(path).is_file(), ": Zebra" in rest)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        # a letter twice, left out, swapped, mistaken
        ("zebbra", "“zebbra”; near it: zebra"),
        ("savana", "“savana”; near it: savanna"),
        ("quokak", "“quokak”; near it: quokka"),
        ("strapes", "“strapes”; near it: stripes"),
        ("zebbra river", "“zebbra”; near it: zebra"),
        ("zebbra --limit 3", "“zebbra”; near it: zebra"),
        ("zebbra --all", "“zebbra”; near it: zebra"),
        # in its ending, which the word is not looked up by
        ("classificaton", "“classificaton”; near it: classification"),
        # no word of the notes is near, the word is too short, it is another one's beginning, or a question
        ("xylophone", ""),
        ("riv", ""),
        ("zebra", ""),
        ("zebra stripes confuse flies near savana trees", ""),
    ],
)
def test_a_mistyped_word_is_answered_with_its_neighbours(zoo: World, typed: str, said: str) -> None:
    """As the notes write them, on standard error; what is found and the status stay as they are."""
    zoo.node("taxa.org", "taxa", "Taxa", "Classified by a classification.")
    ran = zoo.run("search", *typed.split())
    assert (0 if ran.out else 1) == ran.status
    near = [line for line in ran.err.splitlines() if "near it" in line]
    assert [f"roamkb: no note has {said}"] * bool(said) == [line.lower() for line in near]


@pytest.mark.parametrize("word", ["x86", "mp3", "ger1000", "is1103"])
def test_a_part_of_a_word_that_is_a_number_or_a_syllable_is_not_found_for_it(world: World, word: str) -> None:
    """No note has it, however many have its number."""
    world.node("one.org", "one", "Epochs", "It is trained for 1000 epochs of 86 steps, and 1103 mp 3 x.")
    assert (1, "") == (world.run("search", word).status, world.run("search", word).out)


def test_what_holds_a_part_of_the_only_word_alone_is_not_sure(world: World) -> None:
    """A logarithm is nothing that anybody who looks for `log4j` may rely on; the word itself is."""
    world.node("one.org", "one", "Logarithms", "The log of a product is the sum of the logs.")
    ran = world.run("search", "log4j", "--json")
    assert [False] == [hit["sure"] for hit in ran.json["hits"]]
    world.node("two.org", "two", "Logging", "Of log4j only version 2 is mended.")
    hits = world.run("search", "log4j", "--json").json["hits"]
    assert [("two", True), ("one", False)] == [(hit["id"], hit["sure"]) for hit in hits]


def test_a_search_says_that_it_read_all_notes_for_want_of_an_index(world: World, tmp_path: Path) -> None:
    """Where none can be kept each search takes as long as the first one; of a few notes it says nothing."""
    (tmp_path / "no_folder").write_text("")
    unkept = {"XDG_STATE_HOME": str(tmp_path / "no_folder")}
    world.note("zebra.org", "zebra\n")
    few = world.run("search", "zebra", extra=unkept)
    assert (0, "") == (few.status, few.err)
    for number in range(500):
        world.note(f"{number}.org", f"note {number}\n")
    many = world.run("search", "zebra", extra=unkept)
    assert (0, few.out) == (many.status, many.out)
    assert "roamkb: no index could be used, so that 501 notes were read; `roamkb doctor` says why\n" == many.err
    assert "" == world.run("search", "zebra").err
