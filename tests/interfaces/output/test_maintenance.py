"""The reports as text, JSON and org; what a note says in them stays words."""

import json
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.model import Rule
from roamkb.core.model import UnreadableFile
from roamkb.core.text import HIDDEN_CHARACTERS
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import DoctorReport
from roamkb.install.plan import InstallReport
from roamkb.install.plan import InstallStep
from roamkb.install.plan import StepOutcome
from roamkb.interfaces.output import maintenance as reports
from roamkb.interfaces.output.render import PrintedResult
from roamkb.interfaces.output.render import dump_json
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import ConflictList
from roamkb.kb.hygiene import DuplicateNodes
from roamkb.kb.hygiene import HygieneReport
from roamkb.kb.hygiene import NodeLine
from roamkb.kb.links import DeadLink
from roamkb.org.reader import parse_note
from tests.conftest import World

KB = Path("/home/me/roam")

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egro.dab\u2066",
    "ends with ]",
    "]] [[shell:rm -rf ~][click]] [[",
    "x]] * heading\n* real heading",
    "\n:PROPERTIES:\n:ID: stolen\n:END:",
    "\n#+include: /etc/passwd",
    "<%%(delete-file \"x\")> %%(evil)",
    "src_elisp{(evil)} call_evil() {{{evil}}} <<target>> <<<radio>>>",
    "<2026-06-10 Wed> [cite:@key] [fn:1] elisp:(evil)",
    "\\[[id:x][y]] \\\\]",
    "\ud800 lone",
)  # fmt: skip


def spot(title: str, *, id: str = "i", name: str = "a.org", line: int = 3) -> NodeLine:
    """Return a node at a line of a note."""
    return NodeLine(id=id, title=title, path=KB / name, line=line)


def copy(title: str = "A", **fields: object) -> ConflictCopy:
    """Return a version of `a.org` that a syncer put aside."""
    values = {
        "path": KB / "a.sync-conflict-20260610-143000-K7QX2MD.org",
        "original": KB / "a.org",
        "id": "i",
        "title": title,
        "same_id": True,
        "lines_added": 2,
        "lines_removed": 1,
        "obstacle": "is a version of its original",
        **fields,
    }
    return ConflictCopy(**values)  # type: ignore[arg-type]


def findings(title: str = "A", *, org: bool = False) -> HygieneReport:
    """Return one finding of each kind, all about nodes with `title`."""
    return HygieneReport(
        kb=KB,
        orphans=(spot(title),),
        duplicate_ids=(DuplicateNodes(nodes=(spot(title), spot(title, name="b.org", line=5))),),
        duplicate_titles=(DuplicateNodes(nodes=(spot(title), spot(title, name="c.org", id="j"))),),
        duplicate_refs=(DuplicateNodes(nodes=(spot(title), spot(title, name="c.org", id="j"))),),
        dangling=(DeadLink(id="gone", title=title, path=KB / "d.org", line=7),),
        untitled=(spot("e", name="e.org", line=1),),
        conflict_copies=(copy(title),),
        encrypted=(),
        skipped=(UnreadableFile(path=KB / "f.org", reason="permission denied"),),
        org=org,
    )


def lines(printed: PrintedResult, terminal: bool = False) -> list[str]:
    """Return the lines of the text."""
    return printed.text(terminal).split("\n")


def parsed(printed: PrintedResult) -> dict[str, Any]:
    """Return what a reader of the JSON gets."""
    value: dict[str, Any] = json.loads(dump_json(printed.as_json))
    return value


def test_hygiene_is_one_line_a_finding() -> None:
    """Each begins like grep's; findings are no failure; what was skipped is a warning."""
    printed = reports.hygiene(findings())
    assert [
        "/home/me/roam/a.org:3: orphan: A (i), no node links to it and it links to none",
        "/home/me/roam/b.org:5: duplicate id: A (i), first at /home/me/roam/a.org:3",
        "/home/me/roam/c.org:3: duplicate title: A (j), first at /home/me/roam/a.org:3",
        "/home/me/roam/c.org:3: duplicate ref: A (j), first at /home/me/roam/a.org:3",
        "/home/me/roam/d.org:7: dangling link: A links to gone, which is no node",
        "/home/me/roam/e.org:1: no title: i",
        "/home/me/roam/a.sync-conflict-20260610-143000-K7QX2MD.org:1: conflict copy: of a.org, +2 -1 lines",
    ] == lines(printed)
    assert 0 == printed.status
    assert ("/home/me/roam/f.org: permission denied",) == printed.warnings


def test_hygiene_as_json_keeps_the_contract() -> None:
    """Lists of objects with id, title and path."""
    value = reports.hygiene(findings()).as_json
    assert 1 == value.pop("schema")
    assert [{"path": "/home/me/roam/f.org", "reason": "permission denied"}] == value.pop("skipped")
    names = [
        "orphans",
        "duplicate_ids",
        "duplicate_titles",
        "duplicate_refs",
        "dangling",
        "untitled",
        "conflict_copies",
        "encrypted",
    ]
    assert names == list(value)
    for entries in value.values():
        assert isinstance(entries, list)
        assert all({"id", "title", "path"} <= entry.keys() for entry in entries)
    nodes = parsed(reports.hygiene(findings()))["duplicate_ids"][0]["nodes"]
    assert ["/home/me/roam/a.org", "/home/me/roam/b.org"] == [node["path"] for node in nodes]


def test_a_tidy_knowledge_base_prints_nothing() -> None:
    """And still an org document with every heading."""
    tidy = HygieneReport(
        kb=KB,
        orphans=(),
        duplicate_ids=(),
        duplicate_titles=(),
        duplicate_refs=(),
        dangling=(),
        untitled=(),
        conflict_copies=(),
        encrypted=(),
        skipped=(),
    )
    assert "" == reports.hygiene(tidy).text(False)


def test_hygiene_as_org_links_to_nodes_and_lines() -> None:
    """Each finding begins with a link to its line."""
    text = reports.hygiene(findings(org=True)).text(True)
    assert "- [[file:/home/me/roam/a.org::3][a.org:3]] [[id:i][A]]" in text.split("\n")
    assert "- [[file:/home/me/roam/d.org::7][d.org:7]] A links to gone" in text.split("\n")


@pytest.mark.parametrize("title", HOSTILE)
def test_hygiene_as_org_has_nothing_live_but_its_own_links(title: str) -> None:
    """Our own reader, which agrees with org-roam, finds the same links and headings as for a plain title."""
    plain, hostile = (reports.hygiene(findings(text, org=True)).text(False) for text in ("A", title))
    head = ":PROPERTIES:\n:ID: report\n:END:\n"
    expected, found = (parse_note(head + text, file="report.org") for text in (plain, hostile))
    assert ["report"] == [node.id for node in found.nodes]
    assert [(link.type, link.dest) for link in expected.nodes[0].links] == [
        (link.type, link.dest) for link in found.nodes[0].links
    ]
    assert [line[:5] for line in plain.split("\n")] == [line[:5] for line in hostile.split("\n")]
    for live in ("<%%(", "src_elisp{", "call_evil(", "{{{", "<<", "<2026", "[cite:@", "[fn:1]", "[[shell"):
        assert live not in hostile


@pytest.mark.parametrize("id", ["", "a]b", "a b", "x::y", "\x1bi", "i\u202e"])
def test_an_id_that_cannot_stand_in_a_link_gets_none(id: str) -> None:
    """The title is there, the line can be followed."""
    odd = findings(org=True)
    text = reports.hygiene(
        HygieneReport(
            kb=odd.kb,
            orphans=(spot("A", id=id),),
            duplicate_ids=(),
            duplicate_titles=(),
            duplicate_refs=(),
            dangling=(),
            untitled=(),
            conflict_copies=(),
            encrypted=(),
            skipped=(),
            org=True,
        )
    ).text(False)
    assert "- [[file:/home/me/roam/a.org::3][a.org:3]] A" in text.split("\n")


@pytest.mark.parametrize("title", HOSTILE)
def test_no_report_carries_what_acts_on_a_terminal(title: str) -> None:
    """Neither text nor JSON, in a pipe or on a terminal."""
    check = DoctorCheck(name="names", ok=False, detail=title, fix=title)
    step = InstallStep(what="rule", path=KB / title.replace("/", ""), outcome=StepOutcome.LEFT_ALONE, why=title)
    path = KB / f"{title.replace('/', '')}.sync-conflict-20260610-143000.org"
    every = (
        reports.hygiene(findings(title)),
        reports.conflicts(ConflictList(copies=(copy(title, path=path, obstacle=title),))),
        reports.conflicts(ConflictList(copies=(copy(title, adopted=path),), adopting=True)),
        reports.doctor(DoctorReport(checks=(check,))),
        reports.install(InstallReport(steps=(step,), warnings=(title,))),
    )
    for printed in every:
        one = printed.text(False)
        two = dump_json(printed.as_json)
        assert not HIDDEN_CHARACTERS.search(one)
        assert not HIDDEN_CHARACTERS.search(two)
        assert not any(map(HIDDEN_CHARACTERS.search, printed.warnings))
        assert printed.as_json == json.loads(two)
    assert 1 == len(lines(every[1])) == len(lines(every[2]))
    assert 3 == len(lines(every[3]))


def test_conflicts_say_how_each_copy_stands_and_what_to_do() -> None:
    """A version, a note of its own, one whose original is gone."""
    own = copy(same_id=False, obstacle="")
    gone = copy(original=None, same_id=False, lines_added=None, lines_removed=None, obstacle="has no id", id=None)
    name = "/home/me/roam/a.sync-conflict-20260610-143000-K7QX2MD.org"
    printed = reports.conflicts(ConflictList(copies=(copy(), own, gone)))
    assert [
        f"{name}: of a.org, +2 -1 lines; is a version of its original",
        f"{name}: of a.org, +2 -1 lines, with an id of its own; `roamkb conflicts --adopt` gives it a name",
        f"{name}: its original is gone; has no id",
    ] == lines(printed)
    assert 0 == printed.status


@pytest.mark.parametrize("title", HOSTILE)
def test_conflicts_show_the_lines_that_differ(title: str) -> None:
    """Indented, so that none can be taken for a finding; what acts on a terminal is hidden."""
    one = copy(diff=("@@ -1 +1 @@", "-a", f"+{title}"))
    printed = reports.conflicts(ConflictList(copies=(one,)))
    _, place, old, new = lines(printed)
    assert ("  @@ -1 +1 @@", "  -a", "  +") == (place, old, new[:3])
    assert not HIDDEN_CHARACTERS.search(new)
    assert "\x1b[32m" in printed.text(True)
    assert ["@@ -1 +1 @@", "-a", f"+{title}"] == printed.as_json["copies"][0]["diff"]  # type: ignore[index]


def test_of_many_lines_that_differ_some_are_shown() -> None:
    """And how many there are beside."""
    printed = reports.conflicts(ConflictList(copies=(copy(diff=("@@ -0,0 +1,99 @@", *["+x"] * 99)),)))
    assert 42 == len(lines(printed))
    assert lines(printed)[-1].startswith("  and 60 lines more")


def test_conflicts_as_json_keep_the_contract() -> None:
    """What can't be compared is null, and so is an original that is gone."""
    gone = copy(original=None, lines_added=None, lines_removed=None)
    (value,) = parsed(reports.conflicts(ConflictList(copies=(gone,))))["copies"]
    assert {"path", "original", "same_id", "lines_added", "lines_removed"} <= value.keys()
    assert (None, None, None) == (value["original"], value["lines_added"], value["lines_removed"])


def test_no_conflict_is_nothing_found() -> None:
    """Status 1, as grep's; adopting none out of some is nothing done."""
    assert 1 == reports.conflicts(ConflictList(copies=())).status
    assert 1 == reports.conflicts(ConflictList(copies=(copy(),), adopting=True)).status


def test_adopting_shows_old_and_new_name() -> None:
    """What was left is shown with the reason."""
    done = copy(adopted=KB / "20260610142900-a-9f01.org")
    printed = reports.conflicts(ConflictList(copies=(done, copy()), adopting=True))
    first, second = lines(printed)
    assert first.endswith("K7QX2MD.org: now /home/me/roam/20260610142900-a-9f01.org")
    assert "left as it is: of a.org, +2 -1 lines; is a version" in second
    assert 0 == printed.status


def test_doctor_marks_what_is_wrong_and_says_what_to_do() -> None:
    """Status 1 would mean that nothing was found; colours are for terminals."""
    checks = (
        DoctorCheck(name="rule", ok=True, detail="fine"),
        DoctorCheck(name="clocks", ok=False, detail="ahead", fix="set it"),
        DoctorCheck(name="hooks", ok=True, detail="not set up", proved=False),
    )
    printed = reports.doctor(DoctorReport(checks=checks))
    verdict = "1 fault (clocks); 1 proved to be well, 1 with nothing to look at"
    assert ["ok rule: fine", "!! clocks: ahead", "   set it", "-- hooks: not set up", verdict] == lines(printed)
    assert "\x1b[31m!!\x1b[0m clocks: ahead" == lines(printed, terminal=True)[1]
    assert 0 == printed.status
    assert {
        "schema": 1,
        "checks": [
            {"name": "rule", "ok": True, "detail": "fine", "fix": "", "proved": True},
            {"name": "clocks", "ok": False, "detail": "ahead", "fix": "set it", "proved": True},
            {"name": "hooks", "ok": True, "detail": "not set up", "fix": "", "proved": False},
        ],
    } == printed.as_json


def test_install_lists_its_steps() -> None:
    """What was done, where, and why; a dry run says so."""
    steps = (
        InstallStep(what="rule", path=Path("/r.md"), outcome=StepOutcome.LINKED, why="to /x"),
        InstallStep(what="snippets", path=None, outcome=StepOutcome.OFFERED, why="see there"),
    )
    rule = Rule(source=Path("/r.md"), kb=Path("/kb"), work_roots=(), project_parents=("/code", "/src"))
    printed = reports.install(InstallReport(steps=steps, dry_run=True, warnings=("look",), rule=rule))
    assert [
        "link  rule: /r.md (to /x)",
        "offer snippets: see there",
        "work: nothing",
        "personal, may write: /code, /src",
        "a dry run: nothing was changed",
    ] == lines(printed)
    assert (0, ("look",)) == (printed.status, printed.warnings)
    assert {
        "schema": 1,
        "dry_run": True,
        "steps": [
            {"what": "rule", "path": "/r.md", "outcome": "linked", "why": "to /x", "diff": ""},
            {"what": "snippets", "path": None, "outcome": "offered", "why": "see there", "diff": ""},
        ],
        "warnings": ["look"],
        "work_roots": [],
        "project_parents": ["/code", "/src"],
    } == printed.as_json


def test_what_stands_in_the_way_is_an_error() -> None:
    """Status 2 for install and uninstall alike."""
    report = InstallReport(
        steps=(InstallStep(what="rule", path=Path("/r.md"), outcome=StepOutcome.LEFT_ALONE, why="isn't roamkb's"),)
    )
    assert 2 == reports.install(report).status == reports.uninstall(report).status
    assert ["WARN  rule: /r.md (isn't roamkb's)"] == lines(reports.uninstall(report))


def test_a_checkup_ends_with_one_line(world: World) -> None:
    """It counts faults and proofs; a script asks for a status."""
    well = [line for line in world.run("doctor").out.splitlines() if line]
    assert well[-1].startswith(("nothing is wrong:", "1 fault", "2 faults"))
    world.kb.joinpath("gone.org").symlink_to("nowhere")
    (world.home / ".claude/rules/knowledge-base.md").unlink()
    plain, strict = world.run("doctor"), world.run("doctor", "--strict")
    assert (0, 2) == (plain.status, strict.status)
    assert plain.out == strict.out
    assert "rule" in strict.out.splitlines()[-1]
