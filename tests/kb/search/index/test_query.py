"""What one query is asked of the index: here, what links say."""

from pathlib import Path

import pytest

from roamkb.kb.search.query import parse_query
from tests.kb.search.index.index_base import TODAY
from tests.kb.search.index.index_base import Base


@pytest.fixture
def base(tmp_path: Path) -> Base:
    """A note on backups that links to two others, among notes on other things."""
    base = Base(tmp_path)
    base.note("1-backup.org", "Backups", "The nightly backup is kept on [[id:2-nas.org][it]] in the cellar.")
    base.note("2-nas.org", "NAS", "Four disks. See [[id:3-fan.org]].", tags=":hardware:")
    base.note("3-fan.org", "Fan", "Loud.")
    base.note("4-cellar.org", "Cellar", "Damp in spring.")
    return base


def found(base: Base, text: str, limit: int | None = 20) -> list[tuple[str, tuple[str, ...]]]:
    """Titles, best first, with what they owe their places to."""
    answers = base.index().find_passages(parse_query(text, today=TODAY), limit=limit).answers
    scores = [answer.score for answer in answers]
    assert scores == sorted(scores, reverse=True)
    return [(answer.title, answer.why) for answer in answers]


def test_what_a_hit_links_to_comes_after_the_hits(base: Base) -> None:
    """It holds none of the words, and says who sent it; what it links to itself is no answer."""
    hits = [("Backups", ("text",)), ("Cellar", ("title",))]
    assert [*hits, ("NAS", ("linked from Backups",))] == found(base, "nightly cellar")
    assert hits == found(base, "nightly cellar", limit=2)
    assert hits == found(base, "nightly cellar", limit=None), "all hits are hits"


def test_a_linked_note_passes_the_filters(base: Base) -> None:
    """Neither a tag nor an excluded word nor a phrase is got around by a link."""
    assert "NAS" in dict(found(base, "nightly"))
    for text in ("nightly -tag:hardware", "nightly -disks", "nightly is:agent", '"nightly backup"'):
        assert "NAS" not in dict(found(base, text))


def test_a_linked_hit_beats_its_equal(base: Base) -> None:
    """Of two notes that say the same, the one that the best hit links to comes first."""
    base.note("0-other.org", "NAS", "Disks are bought in pairs.")
    base.note("2-nas.org", "NAS", "Disks are bought in pairs.")
    linked, plain = ("NAS", ("text", "linked from Backups")), ("NAS", ("text",))
    assert [linked, plain] == found(base, "nightly backup disks bought")[1:3]
    base.note("1-backup.org", "Backups", "The nightly backup is kept in the cellar.")
    assert [plain, plain] == found(base, "nightly backup disks bought")[1:3]


def test_a_title_in_a_reason_is_fit_to_be_shown(base: Base) -> None:
    """It is somebody else's text: no controls, no length that hides the rest."""
    base.note("1-backup.org", f"Back\x1b[31mup\u202e {'s' * 500}", "nightly: [[id:2-nas.org]]")
    ((_, (reason,)),) = [one for one in found(base, "nightly") if one[0] == "NAS"]
    assert reason.startswith("linked from Back[31mup ss")
    assert len(reason) < 100


def test_two_that_link_to_each_other_are_found_once(base: Base) -> None:
    """Neither is added to itself."""
    base.note("2-nas.org", "NAS", "Back to [[id:1-backup.org]] and [[id:2-nas.org]], nightly.")
    assert ["Backups", "NAS"] == sorted(dict(found(base, "nightly")))


def test_the_text_of_a_link_calls_what_it_links_to(base: Base) -> None:
    """The note that is called so comes before those that only say the word, whatever its title and its language."""
    base.note("5-firmware.org", "Firmware", "It starts a computer.")
    for n in range(5):
        base.note(f"6-card-{n}.org", f"Card {n}", f"Карта с этой [[id:5-firmware.org][прошивкой]], прошивка {n}.")
    for question in ("прошивка", "прошивки", "какая прошивка"):
        assert ("Firmware", ("link",)) == found(base, question)[0]
    (best,) = base.index().find_passages(parse_query("прошивка", today=TODAY), limit=1).answers
    assert ("прошивкой", ("Firmware", "прошивкой")) == (best.link_text, best.names)
    base.note("6-card-0.org", "Card 0", "Карта.")
    assert "Firmware" in dict(found(base, "прошивка")), "four others still link to it"
    for n in range(5):
        base.note(f"6-card-{n}.org", f"Card {n}", "На этой прошивке.")
    assert "Firmware" not in dict(found(base, "прошивка")), "a link that was deleted names nothing"


def test_a_link_in_words_about_many_things_is_no_name(base: Base) -> None:
    """Nor does one name what a filter leaves out, or hold a phrase."""
    base.note(
        "1-backup.org", "Backups", "Nightly: [[id:2-nas.org][where the disks of the old cellar ended up]]. The attic."
    )
    assert "link" not in dict(found(base, "cellar")).get("NAS", ())
    base.note("1-backup.org", "Backups", "Nightly, to [[id:2-nas.org][the attic]].")
    assert ("link",) == dict(found(base, "attic"))["NAS"]
    for text in ("attic -tag:hardware", "attic -disks", '"the attic"'):
        assert "NAS" not in dict(found(base, text))


def test_initials_call_a_note(base: Base) -> None:
    """Who asks for the DLQ means the dead letter queue, whatever its note says; a word isn't taken for initials."""
    base.note("5-dlq.org", "Dead letter queue", "Replay it by hand.")
    base.note("6-node.org", "Neural ordinary differential equations", "Solvers.")
    base.note("7-dod.org", "Ministry of Silly Walks", "Tested.")
    base.note("8-other.org", "Queues", "One is a DLQ. A node of the cluster has it.")
    assert [("Dead letter queue", ("title",)), ("Queues", ("text",))] == found(base, "DLQ")
    (best,) = base.index().find_passages(parse_query("dlq replay", today=TODAY), limit=1).answers
    assert ("Dead letter queue", "dlq") == (best.title, best.initials)
    assert ["Queues"] == list(dict(found(base, "node"))), "node is a word"
    assert all("Ministry of Silly Walks" in dict(found(base, initials)) for initials in ("MOSW", "msw"))


def test_a_title_with_a_word_of_nothing_but_a_stroke_is_indexed(base: Base) -> None:
    """The stroke that widens Arabic words stands alone as a dash: one such title took the search from all notes."""
    base.note("5-book.org", "كتاب ـ مقدمة", "A foreword.")
    (base.kb / "6-alias.org").write_text(
        ':PROPERTIES:\n:ID: 6\n:ROAM_ALIASES: "ـ ـ ـ"\n:END:\n#+title: Dashes\n\nA foreword.\n'
    )
    assert ["Dashes", "كتاب ـ مقدمة"] == sorted(dict(found(base, "foreword")))


def test_of_equal_notes_the_same_name_what_they_link_to_whenever_they_were_read(base: Base) -> None:
    """Only so many hits are asked for their links: which, an index that followed the changes says as a new one does."""
    for n in range(30):
        base.note(f"5-{n:02}.org", f"Box {n:02}", f"See [[id:6-{n:02}.org][zebra crossing]].")
        base.note(f"6-{n:02}.org", f"Target {n:02}", "Loud.")
    before = found(base, "zebra crossing", limit=None)
    for n in range(15):
        base.note(f"5-{n:02}.org", f"Box {n:02}", f"Seen: [[id:6-{n:02}.org][zebra crossing]].")
    base.check("zebra crossing")
    assert dict(before) == dict(found(base, "zebra crossing", limit=None))


def test_the_initials_of_an_alias_call_a_note_too(base: Base) -> None:
    """The note is first for them, and says that it is by its alias."""
    base.note("5-retry.org", "Retry box", "By hand.", drawer=':ROAM_ALIASES: "Dead letter queue"\n')
    base.note("6-other.org", "Queues", "One is a DLQ.")
    assert [("Retry box", ("alias",)), ("Queues", ("text",))] == found(base, "DLQ")


def test_a_small_word_is_no_beginning_of_another_word(base: Base) -> None:
    """What is synchronous isn't asynchronous, a therapist isn't the rapist, nor the other way round."""
    base.note("5-call.org", "Calls", "It is a synchronous call to the rapist.")
    for text in ("asynchronous", "therapist"):
        assert not found(base, text)
    base.note("5-call.org", "Calls", "It is an asynchronous call; log in first.")
    assert not found(base, "a synchronous")
    assert "Calls" == found(base, "login")[0][0]


def test_what_notes_write_in_one_word_or_two_is_found_the_other_way(base: Base) -> None:
    """A query with a word that no note has is asked as some note writes it; one whose words notes have isn't."""
    base.note("5-joined.org", "Autocomplete", "A filename is needed.")
    base.note("6-parted.org", "Clock", "The time zone is UTC; an e-mail says so.")
    assert ["Autocomplete"] == list(dict(found(base, "auto complete")))
    assert ["Autocomplete"] == list(dict(found(base, "which file name?")))
    assert ["Clock"] == list(dict(found(base, "timezone"))) == list(dict(found(base, "email")))
    assert not found(base, "zonetime"), "not in that order"
    base.note("7-both.org", "Files", "A file has a name.")
    assert ["Files"] == list(dict(found(base, "file name")))
    base.note("8-own.org", "Europe", "Its timezone.")
    assert ["Europe"] == list(dict(found(base, "timezone")))


def outline(base: Base, file: str, title: str, *headings: tuple[str, str]) -> None:
    """Write a note with headings that are nodes."""
    nodes = "".join(f"* {name}\n:PROPERTIES:\n:ID: {title}-{name}\n:END:\n{text}\n" for name, text in headings)
    (base.kb / file).write_text(f":PROPERTIES:\n:ID: {title}\n:END:\n#+title: {title}\n\n{nodes}")


def test_a_heading_is_found_by_the_titles_above_it(base: Base) -> None:
    """`Gitea` is said by the file alone, `install` by many headings; the one of both is meant, before the file."""
    for name in ("Gitea", "Nextcloud", "Syncthing"):
        outline(base, f"{name}.org", name, ("Installation", "Take the package."), ("Backup", "Nightly."))
    base.note("8-other.org", "Other", "The installation of Gitea took a day, Gitea being slow.")
    for question in ("gitea installation", "install gitea", "how do I install gitea?"):
        answers = base.index().find_passages(parse_query(question, today=TODAY), limit=3).answers
        assert ["Gitea-Installation", "Gitea", "8-other.org"] == [answer.id for answer in answers]
    ids = [hit.id for hit in base.index().find_passages(parse_query("gitea", today=TODAY), limit=20).answers]
    assert ["Gitea", "8-other.org"] == ids, "a heading that only lies below what is asked for is no answer"
    for question in ("gitea installation -package", '"gitea installation"'):
        ids = [hit.id for hit in base.index().find_passages(parse_query(question, today=TODAY), limit=20).answers]
        assert "Gitea-Installation" not in ids


def test_a_heading_below_headings_has_the_titles_of_all(base: Base) -> None:
    """Their words are no hits of their own: what the titles above say in full isn't asked of what is below them."""
    (base.kb / "deep.org").write_text(
        "#+title: Homelab\n* Router\n** Firmware\n:PROPERTIES:\n:ID: fw\n:END:\nOpen, and the router's own.\n"
    )
    for question in ("router firmware", "homelab firmware", "homelab router firmware"):
        assert "Firmware" == found(base, question)[0][0]
    assert ["Homelab"] == [title for title, _ in found(base, "homelab")]


def test_a_title_is_a_name_before_the_text_of_a_link(base: Base) -> None:
    """Who asks for a title means that note, and not one that is called so somewhere else."""
    base.note("1-backup.org", "Backups", "Kept on [[id:2-nas.org][the fan]], the fan, the fan.")
    answers = base.index().find_passages(parse_query("fan", today=TODAY), limit=2).answers
    assert ["Fan", "NAS"] == [answer.title for answer in answers]


@pytest.mark.parametrize("text", ["one way out", "a day off", "who may buy", "keys and a key", "ways out of it"])
def test_a_short_word_is_shown_in_its_line(base: Base, text: str) -> None:
    """Its stem may end in another letter than it does: way, and wai."""
    base.note("5-way.org", "Other", f"Nothing here.\n{text}")
    for word in text.split():
        answers = base.index().find_passages(parse_query(word, today=TODAY), limit=20).answers
        assert [((7, text),)] == [one.lines for one in answers if one.file == "5-way.org"]


def test_a_long_text_does_not_come_first_for_holding_each_word_of_a_question(tmp_path: Path) -> None:
    """Of a few words all are wanted; of a long question a long text holds each by chance."""
    base = Base(tmp_path)
    words = "deadline budget tracker login module release".split()
    chatter = [" ".join(f"filler{line}x{n}" for n in range(20)) for line in range(60)]
    base.note("1.org", "Minutes", "\n".join(f"{line} {word}" for line, word in zip(chatter, words * 10, strict=True)))
    base.note("2.org", "Plan", "The deadline of the budget tracker with its login module")
    for number in range(3, 9):
        base.note(f"{number}.org", f"Other {number}", f"nothing about it, but {chatter[number]}")
    assert ["Plan", "Minutes"] == base.titles(" ".join(words))[:2]
    assert ["Minutes", "Plan"] == base.titles("tracker release")[:2]
