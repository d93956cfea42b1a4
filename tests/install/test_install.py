"""Putting the rule in place, and taking it away again, on real files."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from roamkb.app.server import ServedKnowledgeBase
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import Refused
from roamkb.core.errors import UsageError
from roamkb.core.model import Rule
from roamkb.fs.locks import StateFolders
from roamkb.install.install import InstallContext
from roamkb.install.install import install
from roamkb.install.plan import InstallOptions
from roamkb.install.plan import InstallReport
from roamkb.install.plan import StepOutcome
from roamkb.install.setup_dialog import AskFunction
from roamkb.install.store.apply import shipped_rules
from roamkb.install.uninstall import uninstall
from roamkb.kb.notes.store.walk import kb_fault
from tests.conftest import World
from tests.conftest import wall_of

NOW = datetime(2026, 6, 10, 14, 29, 1)
ID = "01975b7a-0000-7d10-8f2a-5b6c7d8e9f01"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a HOME with nothing in it but the shipped rule's knowledge base, in a folder with a blank in its name."""
    home = tmp_path / "a home"
    (home / "sync/org/roam/.stfolder").mkdir(parents=True)
    return home


@pytest.fixture
def rules() -> Mapping[Path, bytes]:
    """Return the rules that this checkout ships."""
    return shipped_rules()


def data_of(home: Path) -> Path:
    """Return where what is installed is kept."""
    return home / ".local/share/roamkb"


def state_of(home: Path) -> StateFolders:
    """Return where roamkb keeps what is its own."""
    return StateFolders(state=home / ".local/state/roamkb", cache=home / ".local/state/roamkb/cache")


def copy_of(home: Path) -> Path:
    """Return the copy that the rule is a link to."""
    return data_of(home) / "rules" / "knowledge-base.md"


def put(
    home: Path,
    *,
    ask: AskFunction | None = None,
    rules: Mapping[Path, bytes] | None = None,
    cwd: Path | None = None,
    has_kb: bool = True,
    **wishes: Any,
) -> InstallReport:
    """Install with `wishes` into `home`, from there or from `cwd`; folders that are named are there."""
    if has_kb and "kb" in wishes and not wishes.get("create_kb"):
        (wishes["kb"] / ".stfolder").mkdir(parents=True, exist_ok=True)
    for root in wishes.get("work_roots", ()):
        root.mkdir(parents=True, exist_ok=True)
    return installing(wishes, home=home, ask=ask, rules=rules, cwd=cwd)


def installing(
    wishes: Mapping[str, Any],
    *,
    home: Path,
    ask: AskFunction | None = None,
    rules: Mapping[Path, bytes] | None = None,
    cwd: Path | None = None,
) -> InstallReport:
    """Install with `wishes` into `home`, whatever is there."""
    return install(
        InstallOptions(**wishes),
        context_of(home, ask=ask, rules=rules, cwd=cwd),
    )


def context_of(
    home: Path,
    *,
    ask: AskFunction | None = None,
    rules: Mapping[Path, bytes] | None = None,
    cwd: Path | None = None,
) -> InstallContext:
    """Return a machine with that HOME, and a session in `cwd`."""
    return InstallContext(
        home=home,
        data=data_of(home),
        state=state_of(home),
        account_home=home,
        session=CallOrigin(cwd=cwd or home),
        rules=shipped_rules() if rules is None else rules,
        wall=wall_of(home),
        now=NOW,
        new_id=lambda: ID,
        ask=ask,
    )


def take(home: Path, *, cwd: Path | None = None, **wishes: Any) -> InstallReport:
    """Uninstall with `wishes` from `home`, from there or from `cwd`."""
    return uninstall(InstallOptions(**wishes), context_of(home, cwd=cwd))


def place(home: Path) -> Path:
    """Return where the rule belongs."""
    return home / ".claude" / "rules" / "knowledge-base.md"


def installed(home: Path) -> Rule:
    """Return what the rule in `home` says."""
    return parse_rule(place(home).read_text(), source=place(home), home=home)


def outcomes(report: InstallReport) -> dict[str, StepOutcome]:
    """Return the outcome of each step by what it was about."""
    return {step.what: step.outcome for step in report.steps}


def everything(home: Path) -> dict[str, tuple[object, ...]]:
    """Return each path below `home` with what it holds and when it was touched."""
    return {
        str(path.relative_to(home)): (
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None,
            path.lstat().st_mtime_ns,
        )
        for path in sorted(home.rglob("*"))
    }


# the link


def test_the_rule_is_linked_where_agents_look(home: Path, rules: Mapping[Path, bytes]) -> None:
    """The link leads to the rule that came with this roamkb, and it says what the rule says."""
    report = put(home)
    assert copy_of(home) == place(home).readlink()
    assert outcomes(report)["rule"] is StepOutcome.LINKED
    assert 0 == report.exit_code
    assert home / "sync/org/roam" == installed(home).kb


def test_a_second_run_changes_nothing_and_says_so(home: Path) -> None:
    """Nothing is touched, not even a time."""
    put(home)
    before = everything(home)
    report = put(home)
    assert StepOutcome.UNCHANGED is outcomes(report)["rule"]
    assert before == everything(home)


def test_a_dry_run_shows_the_plan_and_does_nothing(home: Path) -> None:
    """Its steps are those that the real run then takes."""
    agents = home / "AGENTS.md"
    before = everything(home)
    dry = put(home, dry_run=True, create_kb=True, agents_md=agents, snippets=home / "s")
    assert before == everything(home)
    real = put(home, create_kb=True, agents_md=agents, snippets=home / "s")
    assert dry.steps == real.steps


def test_somebody_elses_file_is_reported_and_left_alone(home: Path) -> None:
    """The status says that the rule isn't installed."""
    place(home).parent.mkdir(parents=True)
    place(home).write_text("my own notes on knowledge bases")
    report = put(home)
    assert StepOutcome.LEFT_ALONE is outcomes(report)["rule"]
    assert 2 == report.exit_code
    assert "my own notes on knowledge bases" == place(home).read_text()


def test_somebody_elses_link_is_left_alone(home: Path) -> None:
    """A link into somebody's dotfiles is theirs, with the work roots that it may hold."""
    theirs = home / "dotfiles" / "knowledge-base.md"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    place(home).parent.mkdir(parents=True)
    place(home).symlink_to(theirs)
    report = put(home, kb=home / "kb")
    assert 2 == report.exit_code
    assert theirs == place(home).readlink()


def test_a_folder_in_the_way_is_left_alone(home: Path) -> None:
    """It is no rule, and it isn't ours."""
    place(home).mkdir(parents=True)
    assert 2 == put(home).exit_code
    assert place(home).is_dir()


@pytest.mark.parametrize("target", ["gone/knowledge-base.md", "/gone/roamkb/rules/knowledge-base.md"])
def test_a_link_that_leads_nowhere_is_repaired(home: Path, rules: Mapping[Path, bytes], target: str) -> None:
    """A moved checkout or a rebuilt environment leaves such links behind."""
    place(home).parent.mkdir(parents=True)
    place(home).symlink_to(target)
    assert 0 == put(home).exit_code
    assert copy_of(home) == place(home).readlink()


def test_a_link_to_another_roamkb_is_repaired(home: Path, rules: Mapping[Path, bytes]) -> None:
    """The roamkb that was installed last is the one that counts."""
    other = home / "old" / "roamkb" / "rules" / "knowledge-base.md"
    other.parent.mkdir(parents=True)
    other.write_text("an older text")
    place(home).parent.mkdir(parents=True)
    place(home).symlink_to(other)
    put(home)
    assert copy_of(home) == place(home).readlink()
    assert "an older text" == other.read_text()


def test_every_shipped_rule_is_linked(home: Path, tmp_path: Path) -> None:
    """A second rule in the folder needs no change of the installer."""
    (kb_rule, text), *_ = ((path, data) for path, data in shipped_rules().items())
    other = tmp_path / "other.md"
    other.write_text("# Another rule\n")
    put(home, rules={kb_rule: text, other: other.read_bytes()})
    assert copy_of(home).with_name("other.md") == (place(home).parent / "other.md").readlink()
    assert other.read_bytes() in copy_of(home).with_name("other.md").read_bytes()


def test_the_linked_rule_counts_under_any_umask(home: Path) -> None:
    """What others may write to is no rule, and under umask 002 a group may write to what is made."""
    before = os.umask(0o002)
    try:
        assert put(home).warnings == ()
    finally:
        os.umask(before)
    assert isinstance(find_rule(home, account_home=home), Rule)


def test_the_rule_outlives_the_program_that_brought_it(home: Path, tmp_path: Path) -> None:
    """pipx and uv take their environments away, with all that is in them, at each upgrade of Python."""
    ((_, text),) = shipped_rules().items()
    environment = tmp_path / "venvs/roamkb/lib/python3.11/site-packages/roamkb/rules/knowledge-base.md"
    environment.parent.mkdir(parents=True)
    environment.write_bytes(text)
    put(home, rules={environment: text})
    shutil.rmtree(tmp_path / "venvs")
    assert home / "sync/org/roam" == installed(home).kb
    assert isinstance(find_rule(home, account_home=home), Rule)


def test_a_link_into_an_environment_becomes_one_to_the_copy(home: Path, tmp_path: Path) -> None:
    """As an older roamkb made it, whether the environment is still there or not."""
    ((_, text),) = shipped_rules().items()
    older = tmp_path / "site-packages/roamkb/rules/knowledge-base.md"
    older.parent.mkdir(parents=True)
    for is_there in (True, False):
        older.write_bytes(text + b"older\n") if is_there else older.unlink()
        place(home).parent.mkdir(parents=True, exist_ok=True)
        place(home).unlink(missing_ok=True)
        place(home).symlink_to(older)
        assert StepOutcome.LINKED is outcomes(put(home))["rule"]
        assert copy_of(home) == place(home).readlink()


def test_the_copy_follows_a_newer_roamkb(home: Path) -> None:
    """The next install renews it; the link stays as it is."""
    put(home)
    newer = {path: data + b"\nA new paragraph.\n" for path, data in shipped_rules().items()}
    report = put(home, rules=newer)
    assert (StepOutcome.WRITTEN, StepOutcome.UNCHANGED) == tuple(
        map(outcomes(report).get, ("copy of the rule", "rule"))
    )
    assert "A new paragraph." in place(home).read_text()
    assert installed(home).source == place(home)


def edit_the_copy(home: Path) -> str:
    """Have the human edit the copy, through the link as an editor does; return what it is then."""
    text = place(home).read_text().replace("~/projects/work\n", "~/projects/work\n~/clients\n", 1)
    assert "~/clients" in text
    copy_of(home).write_text(text)
    return text


def test_a_copy_that_was_edited_is_left_alone(home: Path) -> None:
    """Its settings count, whatever a newer roamkb ships; that one is named."""
    put(home)
    text = edit_the_copy(home)
    newer = {path: data + b"\nA new paragraph.\n" for path, data in shipped_rules().items()}
    report = put(home, rules=newer)
    assert text == copy_of(home).read_text()
    assert str(home / "clients") in installed(home).work_roots
    assert report.rule is not None
    assert installed(home).work_roots == report.rule.work_roots
    assert any("you edited it" in step.why for step in report.steps)
    assert 0 == report.exit_code


def test_settings_come_into_what_was_edited(home: Path) -> None:
    """An own copy takes the edits over: no denial gets lost on the way."""
    put(home)
    edit_the_copy(home)
    put(home, work_roots=(home / "job",), kb=home / "kb")
    assert {str(home / "clients"), str(home / "job")} < set(installed(home).work_roots)
    assert home / "kb" == installed(home).kb


def test_somebody_elses_file_in_the_copys_place_is_left_alone(home: Path) -> None:
    """And nothing is linked to it."""
    copy_of(home).parent.mkdir(parents=True)
    copy_of(home).write_text("mine")
    report = put(home)
    assert (2, "mine") == (report.exit_code, copy_of(home).read_text())
    assert not place(home).is_symlink()


def test_no_copy_is_put_into_the_knowledge_base(home: Path) -> None:
    """A data folder that lies there, or is a link into it, is refused."""
    kb = home / "sync/org/roam"
    data_of(home).parent.mkdir(parents=True)
    data_of(home).symlink_to(kb)
    with pytest.raises(DiskError, match="may not lie in the knowledge base"):
        put(home)
    assert [kb / ".stfolder"] == list(kb.iterdir())


def test_a_rule_that_would_not_count_is_warned_of(home: Path) -> None:
    """Installing isn't done while every project is unknown."""
    place(home).parent.mkdir(parents=True)
    place(home).write_text("my own notes on knowledge bases")
    assert any("roamkb:kb" in warning for warning in put(home).warnings)


# the user's own copy


def test_settings_make_an_own_copy(home: Path) -> None:
    """The copy says what was asked for, and everything else that the shipped rule says."""
    (home / "job").mkdir()
    put(home, kb=home / "my notes", work_roots=(home / "job",), project_parents=(home / "src [old]",))
    rule = installed(home)
    assert home / "my notes" == rule.kb
    assert (str(home / "job"),) == rule.work_roots
    assert 1 == len(rule.project_parents)
    assert not place(home).is_symlink()
    assert "~/my\\ notes" in place(home).read_text()
    assert "roamkb search" in place(home).read_text()


def test_an_own_copy_is_written_once(home: Path) -> None:
    """The same wishes again, or none at all, change nothing."""
    wishes: dict[str, Any] = {"kb": home / "kb", "work_roots": (home / "job",)}
    put(home, **wishes)
    before = everything(home)
    assert StepOutcome.UNCHANGED is outcomes(put(home, **wishes))["rule"]
    assert StepOutcome.UNCHANGED is outcomes(put(home))["rule"]
    assert before == everything(home)


def test_an_own_copy_replaces_our_link(home: Path) -> None:
    """The shipped file isn't written through the link."""
    put(home)
    before = shipped_rules()
    put(home, kb=home / "kb")
    assert not place(home).is_symlink()
    assert before == shipped_rules()
    assert home / "kb" == installed(home).kb


def test_a_file_with_the_shipped_text_may_become_an_own_copy(home: Path) -> None:
    """Whoever copied it there loses nothing."""
    place(home).parent.mkdir(parents=True)
    (text,) = shipped_rules().values()
    place(home).write_bytes(text)
    assert outcomes(put(home))["rule"] is StepOutcome.UNCHANGED
    put(home, kb=home / "kb")
    assert installed(home).kb == home / "kb"


def test_one_more_work_root_lifts_no_denial(home: Path) -> None:
    """The shipped rule's root stays where its project parents stay, which would make it personal."""
    (home / "job").mkdir()
    put(home)
    put(home, work_roots=(home / "job",))
    assert (str(home / "projects/work"), str(home / "job")) == installed(home).work_roots


def test_a_person_who_describes_everything_gets_only_that(home: Path) -> None:
    """No denial of a folder that nobody could take for personal."""
    (home / "job").mkdir()
    put(home, work_roots=(home / "job",), project_parents=(home / "src",))
    assert (str(home / "job"),) == installed(home).work_roots


def test_work_roots_of_an_own_copy_are_only_added_to(home: Path) -> None:
    """To lift a denial takes an editor."""
    put(home, work_roots=(home / "job",))
    put(home, work_roots=(home / "second",))
    put(home, kb=home / "kb")
    shipped = str(home / "projects/work")
    assert (shipped, str(home / "job"), str(home / "second")) == installed(home).work_roots


def test_project_parents_of_an_own_copy_are_added_to(home: Path) -> None:
    """As work roots are: one that was named before isn't lost without a word."""
    put(home, project_parents=(home / "code", home / "src"))
    put(home, project_parents=(home / "lab", home / "src"))
    put(home, work_roots=(home / "job",))
    assert tuple(str(home / name) for name in ("code", "src", "lab")) == installed(home).project_parents


def test_an_edited_own_copy_keeps_the_edits(home: Path) -> None:
    """Only the settings change; and from then on it stays the user's."""
    put(home, work_roots=(home / "job",))
    edited = place(home).read_text().replace("# The knowledge base", "# My knowledge base")
    place(home).write_text(edited + "\nMy own last line.\n")
    put(home, kb=home / "kb")
    text = place(home).read_text()
    assert "# My knowledge base" in text
    assert "My own last line." in text
    assert home / "kb" == installed(home).kb
    take(home)
    assert text == place(home).read_text()


def test_an_own_copy_follows_a_newer_rule(home: Path) -> None:
    """Where the user changed nothing, the text is renewed and the settings stay."""
    put(home, work_roots=(home / "job",))
    newer = {path: data + b"\nA new paragraph.\n" for path, data in shipped_rules().items()}
    put(home, rules=newer)
    assert "A new paragraph." in place(home).read_text()
    assert (str(home / "projects/work"), str(home / "job")) == installed(home).work_roots


def test_a_broken_own_copy_is_an_error(home: Path) -> None:
    """Nobody guesses which work roots it held."""
    put(home, work_roots=(home / "job",))
    text = place(home).read_text().replace("```roamkb:work-roots", "```roamkb:workroots")
    place(home).write_text(text)
    with pytest.raises(BadRule):
        put(home, kb=home / "kb")
    assert text == place(home).read_text()


def test_a_setting_that_the_rule_refuses_writes_nothing(home: Path) -> None:
    """An entry that would match nothing is an error at once."""
    before = everything(home)
    with pytest.raises(UsageError):
        put(home, work_roots=(Path("relative"),))
    assert before == everything(home)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_work_root_that_isnt_there_is_an_error(home: Path, dry_run: bool) -> None:
    """A slip in a denylist protects nothing, and all beside it would be personal."""
    (home / "job").mkdir()
    before = everything(home)
    for there in ((home / "job",), ()):
        with pytest.raises(UsageError, match="jbo is no folder"):
            installing({"work_roots": (*there, home / "jbo"), "dry_run": dry_run}, home=home)
    (home / "jbo").touch()
    with pytest.raises(UsageError, match="jbo is no folder"):
        installing({"work_roots": (home / "jbo",), "dry_run": dry_run}, home=home)
    (home / "jbo").unlink()
    assert before == everything(home)
    # the shipped rule's own isn't said by anybody
    put(home)


# the knowledge base


def test_a_new_knowledge_base_begins_with_one_note(home: Path) -> None:
    """It explains the folder, and is the human's: no `agent` tag."""
    report = put(home, kb=home / "kb", create_kb=True)
    (note,) = (home / "kb").iterdir()
    assert "20260610142901-about_this_knowledge_base.org" == note.name
    assert f":ID:       {ID}" in note.read_text()
    assert "[2026-06-10 Wed 14:29]" in note.read_text()
    assert "#+filetags" not in note.read_text()
    assert StepOutcome.WRITTEN is outcomes(report)["first note"]


@pytest.mark.parametrize("name", ["a.org", "daily/2026-01-01.org"])
def test_a_folder_with_notes_gets_no_other(home: Path, name: str) -> None:
    """Whatever is in it, it's somebody's already."""
    (home / "kb" / name).parent.mkdir(parents=True)
    (home / "kb" / name).write_text("here")
    report = put(home, kb=home / "kb", create_kb=True)
    assert StepOutcome.UNCHANGED is outcomes(report)["knowledge base"]
    assert [name.split("/")[0]] == [path.name for path in (home / "kb").iterdir()]


@pytest.mark.parametrize("names", [(), ("readme.txt",), (".hidden",)])
def test_a_folder_without_notes_gets_the_first(home: Path, names: tuple[str, ...]) -> None:
    """Without one every command would take it for a disk that isn't mounted."""
    (home / "kb").mkdir()
    for name in names:
        (home / "kb" / name).write_text("here")
    report = put(home, kb=home / "kb", create_kb=True)
    assert StepOutcome.WRITTEN is outcomes(report)["first note"]
    assert "" == kb_fault(home / "kb")


@pytest.mark.parametrize("state", ["missing", "empty", "a file"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_knowledge_base_that_isnt_there_is_refused(home: Path, state: str, dry_run: bool) -> None:
    """A working installation stays as it is, and it is said what to do."""
    put(home, kb=home / "kb")
    if state == "empty":
        (home / "other").mkdir()
    elif state == "a file":
        (home / "other").write_text("x")
    before = everything(home)
    with pytest.raises(UsageError, match="neither rule nor hooks were written") as caught:
        put(home, kb=home / "other", has_kb=False, dry_run=dry_run)
    assert "--create-kb" in caught.value.hint
    assert before == everything(home)


def test_a_file_isnt_made_a_knowledge_base(home: Path) -> None:
    """It is left as it is."""
    (home / "kb").write_text("a file")
    assert 2 == put(home, kb=home / "kb", create_kb=True).exit_code


def test_a_knowledge_base_is_never_made_at_work(home: Path) -> None:
    """It would be work's, and everything in it."""
    (home / "job").mkdir()
    report = put(home, kb=home / "job/kb", work_roots=(home / "job",), create_kb=True)
    assert 2 == report.exit_code
    assert not (home / "job/kb").exists()


def test_without_the_wish_no_folder_is_made(home: Path) -> None:
    """A missing knowledge base may be an unmounted one; it is said that nothing is there, and no first rule leads to it."""
    shutil.rmtree(home / "sync")
    with pytest.raises(UsageError, match="neither rule nor hooks were written"):
        put(home)
    assert {} == everything(home)
    (home / "sync/org/roam/.stfolder").mkdir(parents=True)
    put(home)
    shutil.rmtree(home / "sync")
    (warning,) = put(home).warnings
    assert "--create-kb" in warning
    assert not (home / "sync").exists()
    (home / "sync/org/roam").mkdir(parents=True)
    (warning,) = put(home).warnings
    assert "--create-kb" in warning


# AGENTS.md


def test_the_block_comes_and_goes_without_a_trace(home: Path) -> None:
    """The file's own bytes, line ends and missing last newline survive."""
    agents = home / "AGENTS.md"
    agents.write_bytes(b"# Mine\r\n\r\nno last line end")
    put(home, agents_md=agents)
    assert b"roamkb search" in agents.read_bytes()
    before = agents.read_bytes()
    put(home, agents_md=agents)
    assert before == agents.read_bytes()
    take(home, agents_md=agents)
    assert b"# Mine\r\n\r\nno last line end" == agents.read_bytes()


def test_the_block_names_the_knowledge_base_of_the_rule(home: Path) -> None:
    """Another folder later changes the block."""
    put(home, agents_md=home / "AGENTS.md")
    put(home, agents_md=home / "AGENTS.md", kb=home / "notes")
    assert "`~/notes`" in (home / "AGENTS.md").read_text()
    assert 1 == (home / "AGENTS.md").read_text().count("roamkb:begin")


def test_broken_marks_are_left_alone(home: Path) -> None:
    """What isn't one whole block is for a human to mend."""
    agents = home / "AGENTS.md"
    agents.write_text("<!-- roamkb:begin -->\nno end\n")
    assert 2 == put(home, agents_md=agents).exit_code
    assert 2 == take(home, agents_md=agents).exit_code
    assert "<!-- roamkb:begin -->\nno end\n" == agents.read_text()


def test_a_linked_file_is_changed_where_it_is(home: Path) -> None:
    """CLAUDE.md is often a link to AGENTS.md; it stays one."""
    (home / "AGENTS.md").write_text("# Mine\n")
    (home / "CLAUDE.md").symlink_to("AGENTS.md")
    put(home, agents_md=home / "CLAUDE.md")
    assert (home / "CLAUDE.md").is_symlink()
    assert "roamkb:begin" in (home / "AGENTS.md").read_text()


def test_a_file_in_no_folder_is_a_slip(home: Path) -> None:
    """Nothing is made for a path that was mistyped."""
    before = everything(home)
    with pytest.raises(UsageError):
        put(home, agents_md=home / "prjoect" / "AGENTS.md")
    assert before == everything(home)


# snippets


def test_snippets_are_offered_and_written_on_demand(home: Path) -> None:
    """Without a folder nothing is written; with one, twice is once."""
    assert StepOutcome.OFFERED is outcomes(put(home))["snippets"]
    put(home, snippets=home / "snippets")
    assert {"roamkb.el", "roamkb.stignore"} == {path.name for path in (home / "snippets").iterdir()}
    before = everything(home)
    put(home, snippets=home / "snippets")
    assert before == everything(home)


def test_somebody_elses_roamkb_el_stays(home: Path) -> None:
    """A file without our words in it isn't ours to renew."""
    (home / "roamkb.el").write_text(";; mine\n")
    assert 2 == put(home, snippets=home).exit_code
    assert 2 == take(home, snippets=home).exit_code
    assert ";; mine\n" == (home / "roamkb.el").read_text()


# uninstalling


@pytest.mark.parametrize("own", [False, True])
def test_uninstall_takes_away_what_install_made(home: Path, own: bool) -> None:
    """What is left is folders, and the knowledge base."""
    wishes: dict[str, Any] = {"kb": home / "kb"} if own else {}
    put(home, create_kb=True, agents_md=home / "AGENTS.md", snippets=home / "s", **wishes)
    take(home, agents_md=home / "AGENTS.md", snippets=home / "s")
    left = [path for path in home.rglob("*") if not path.is_dir()]
    assert [True] == [path.name.endswith("about_this_knowledge_base.org") for path in left]


def test_uninstall_leaves_the_shipped_rule(home: Path) -> None:
    """The link goes, what it led to stays."""
    before = shipped_rules()
    put(home)
    take(home)
    assert before == shipped_rules()
    assert not place(home).is_symlink()


def test_uninstall_takes_the_link_to_a_checkout_that_is_gone(home: Path) -> None:
    """It leads nowhere and was ours."""
    place(home).parent.mkdir(parents=True)
    place(home).symlink_to(home / "src" / "rules" / "knowledge-base.md")
    assert take(home).exit_code == 0
    assert not place(home).is_symlink()


def test_an_edited_copy_stays_and_is_named(home: Path) -> None:
    """With the link that makes it count; a purge takes both."""
    put(home)
    text = edit_the_copy(home)
    report = take(home)
    assert (StepOutcome.LEFT_ALONE, 2) == (outcomes(report)["rule"], report.exit_code)
    assert any("you edited" in step.why and f"rm '{place(home)}' " in step.why for step in report.steps)
    assert text == place(home).read_text()
    take(home, purge=True)
    assert not place(home).is_symlink()
    assert not data_of(home).exists()


def test_an_edited_own_copy_goes_with_a_purge(home: Path) -> None:
    """Its mark says whose it was; what has none is somebody else's and stays."""
    put(home, work_roots=(home / "job",))
    place(home).write_text(place(home).read_text().replace("# The knowledge base", "# Mine"))
    assert 2 == take(home).exit_code
    take(home, purge=True)
    assert not place(home).exists()
    place(home).parent.mkdir(parents=True)
    place(home).write_text("my own notes on knowledge bases")
    take(home, purge=True)
    assert "my own notes on knowledge bases" == place(home).read_text()


def lived_in(world: World) -> None:
    """Have the world hold what weeks of use leave behind."""
    world.run("init")
    world.run("learn", "OAuth redirect URIs must match exactly")
    world.run("init", cwd=world.work)
    world.run("write", "Zebras are striped")
    world.run("write", "Lions sleep for most of the day")
    world.run("trash", "Zebras are striped")
    world.run("snapshot")
    world.run("journal")
    world.run("exec", "--", "true")
    world.run("search", "lions")
    world.run("hook", "pre-tool-use", input=json.dumps({"tool_name": "Read", "cwd": str(world.personal)}))
    ServedKnowledgeBase(world.open().environment).access_token()


def test_uninstall_names_what_it_leaves(world: World) -> None:
    """Notes, logs, the index, the state and the trash; nothing of them goes, and nothing fails."""
    lived_in(world)
    before = {path: path.read_bytes() for path in world.home.rglob("*") if path.is_file() and "rules" not in path.parts}
    ran = world.run("uninstall", cwd=world.home)
    for words in (
        f"keep  notes: {world.kb}",
        f"keep  project's log: {world.personal / '.roamkb'}",
        f"keep  project's log: {world.work / '.roamkb'}",
        f"keep  index: {world.state / 'cache'}",
        f"keep  state: {world.state}",
        "keep  trash",
        "keep  journal",
        "`--purge` takes it",
    ):
        assert words in ran.out, words
    assert before == {path: path.read_bytes() for path in before}


def test_uninstall_names_blocks_and_snippets_that_it_leaves(world: World) -> None:
    """In a project, where agents keep theirs, and where setup wrote them; each with the command that takes it."""
    in_project, own = world.personal / "AGENTS.md", world.home / ".codex" / "AGENTS.md"
    own.parent.mkdir()
    emacs = world.home / ".emacs.d"
    emacs.mkdir()
    for path in (in_project, own):
        path.write_text("# Mine\n")
        world.run("install", "--agents-md", str(path), cwd=world.home)
    world.run("install", "--snippets", str(emacs), cwd=world.home)
    (world.work / "AGENTS.md").write_text("# no block\n")
    ran = world.run("uninstall", "--dry-run", cwd=world.home)
    lines = [line for line in ran.out.splitlines() if "agents block" in line]
    assert [
        f"keep  agents block: {path} (`roamkb uninstall --agents-md {path}` takes it out)" for path in (own, in_project)
    ] == lines, ran.out
    assert f"{emacs / 'roamkb.el'} (`roamkb uninstall --snippets {emacs}` takes it out)" in ran.out
    named = world.run("uninstall", "--agents-md", str(in_project), "--snippets", str(emacs), cwd=world.home)
    assert [f"keep  agents block: {own}"] == [
        line.partition(" (")[0] for line in named.out.splitlines() if line.startswith("keep  ") and "AGENTS" in line
    ]
    assert "keep  Emacs" not in named.out


def test_a_purge_takes_what_is_roamkbs_own(world: World) -> None:
    """Cache, state and data, but no note, those in the trash and the journal included, and no project's log."""
    lived_in(world)
    (world.home / ".claude/rules/knowledge-base.md").unlink()
    notes = world.files()
    logs = {path: path.read_bytes() for path in world.personal.rglob("*") if path.is_file()}
    refused = world.run("uninstall", "--purge", cwd=world.work)
    dry = world.run("uninstall", "--purge", "--dry-run", cwd=world.home)
    assert world.state.is_dir()
    ran = world.run("uninstall", "--purge", cwd=world.home)
    assert (0, dry.out) == (ran.status, ran.out + "a dry run: nothing was changed\n"), refused
    assert not (world.state / "cache").exists()
    assert ["journal", "trash"] == sorted(path.name for path in world.state.iterdir())
    assert "isn't roamkb's" not in ran.out
    assert f"keep  journal: {world.state / 'journal'} (copies of your notes" in ran.out
    assert 1 == len(list((world.state / "trash").glob("*/*.org")))
    assert notes == world.files()
    assert logs == {path: path.read_bytes() for path in logs}
    again = world.run("uninstall", "--purge", cwd=world.home)
    assert "remove" not in again.out


def test_no_purge_follows_a_link_or_takes_a_knowledge_base(world: World) -> None:
    """Whoever linked the state folder somewhere, or put something beside the index, loses nothing."""
    elsewhere = world.home / "elsewhere-state"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine")
    world.state.parent.mkdir(parents=True, exist_ok=True)
    world.state.symlink_to(elsewhere)
    assert 2 == world.run("uninstall", "--purge", cwd=world.home).status
    assert ["mine"] == [path.name for path in elsewhere.iterdir()]
    world.state.unlink()
    cache = world.state / "cache"
    cache.mkdir(parents=True)
    (cache / "0123456789abcdef").symlink_to(elsewhere)
    (cache / "fedcba9876543210").mkdir()
    (cache / "mine").mkdir()
    ran = world.run("uninstall", "--purge", cwd=world.home)
    assert "holds what isn't roamkb's: mine" in ran.out
    assert "mine" == (elsewhere / "mine").read_text()
    assert ["mine"] == [path.name for path in cache.iterdir()]


def test_work_purges_nothing(home: Path, at_work: Path) -> None:
    """Without the state no log counts, and no name of the knowledge base is known."""
    state_of(home).state.mkdir(parents=True)
    (state_of(home).state / "machine-key").write_bytes(b"x" * 32)
    before = everything(home)
    with pytest.raises(Refused):
        take(home, cwd=at_work, purge=True)
    assert before == everything(home)


def test_hooks_that_stay_are_named(home: Path) -> None:
    """They would run a command that is gone, and be skipped without a word."""
    put(home, harnesses=("claude-code",), yes=True, program=Path("/usr/bin/roamkb"))
    report = take(home)
    assert StepOutcome.KEPT is outcomes(report)["Claude Code hooks"]
    assert any("--claude" in step.why for step in report.steps)


def test_uninstall_twice_says_that_nothing_is_there(home: Path) -> None:
    """It's no error."""
    report = take(home)
    assert StepOutcome.UNCHANGED is outcomes(report)["rule"]
    assert 0 == report.exit_code


# the boundary


@pytest.fixture
def at_work(home: Path) -> Path:
    """Return a work project under the shipped rule, which is linked in `home`."""
    put(home)
    for name in ("projects/work/w", "code/site", "elsewhere"):
        (home / name).mkdir(parents=True)
    return home / "projects/work/w"


@pytest.mark.parametrize(
    "wishes",
    [
        {"kb": "other"},
        {"project_parents": ("projects", "code")},
        {"work_roots": ("nope",), "project_parents": ("projects/work",)},
        {"work_roots": ("nope",), "project_parents": ("code",)},
    ],
)
def test_work_can_t_change_the_rule_that_denies_it(
    home: Path, at_work: Path, wishes: dict[str, str | tuple[str, ...]]
) -> None:
    """Neither the KB nor what is personal, nor by leaving out a denial; nothing is touched."""
    whole: dict[str, Any] = {
        name: home / value if isinstance(value, str) else tuple(home / folder for folder in value)
        for name, value in wishes.items()
    }
    before = everything(home)
    for dry_run in (True, False):
        with pytest.raises(Refused, match="work project") as caught:
            installing({**whole, "dry_run": dry_run}, home=home, cwd=at_work)
        assert "knowledge-base.md" in caught.value.hint
    with pytest.raises(Refused):
        take(home, cwd=at_work)
    assert before == everything(home)


def test_work_can_t_change_an_own_copy_either(home: Path, at_work: Path) -> None:
    """The copy's settings are the human's as much as the shipped ones."""
    put(home, work_roots=(home / "job",), project_parents=(home / "code",), cwd=home)
    (home / "job/x").mkdir(parents=True)
    with pytest.raises(Refused):
        put(home, project_parents=(home / "code", home / "job"), cwd=home / "job/x")
    with pytest.raises(Refused):
        take(home, cwd=home / "job/x")
    assert (str(home / "code"),) == installed(home).project_parents


def test_the_addresses_of_models_stay_when_another_setting_changes(home: Path) -> None:
    """They are a human's words in their own copy."""
    put(home, work_roots=(home / "job",), cwd=home)
    text = place(home).read_text()
    place(home).write_text(f"{text}\n```roamkb:model-addresses\nhttps://llm.example\n```\n")
    put(home, work_roots=(home / "job", home / "job2"), cwd=home)
    assert ("https://llm.example:443",) == installed(home).model_addresses
    assert str(home / "job2") in installed(home).work_roots


def test_a_rule_that_doesn_t_count_still_says_what_is_work(home: Path, at_work: Path) -> None:
    """A copy that the group may write to is broken, and to install over it would mend and loosen it."""
    put(home, kb=home / "kb", cwd=home)
    place(home).chmod(0o664)
    with pytest.raises(Refused, match="work project"):
        put(home, project_parents=(home / "projects", home / "code"), kb=home / "other", cwd=at_work)
    with pytest.raises(Refused):
        take(home, cwd=at_work)
    put(home, kb=home / "other", cwd=home)
    assert home / "other" == installed(home).kb


def test_work_may_deny_more_and_install_again(home: Path, at_work: Path) -> None:
    """A second call without a wish, one more work root, and a block in the project's own AGENTS.md."""
    assert 0 == put(home, cwd=at_work).exit_code
    put(home, work_roots=(home / "job",), agents_md=at_work / "AGENTS.md", cwd=at_work)
    assert {str(home / "projects/work"), str(home / "job")} == set(installed(home).work_roots)
    assert (at_work / "AGENTS.md").exists()


@pytest.mark.parametrize("cwd", ["elsewhere", "code/site", "."])
def test_settings_change_from_everywhere_else(home: Path, at_work: Path, cwd: str) -> None:
    """Who installs from the home folder, which is no project, isn't at work."""
    put(home, kb=home / "other", project_parents=(home / "src",), cwd=home / cwd)
    assert home / "other" == installed(home).kb
    take(home, cwd=home / cwd)
    assert not place(home).exists()


@pytest.mark.parametrize("cwd", ["projects/work/w", "elsewhere"])
@pytest.mark.parametrize("by_link", [False, True])
def test_only_a_personal_session_puts_files_into_the_knowledge_base(
    home: Path, at_work: Path, cwd: str, by_link: bool
) -> None:
    """No block, no snippet, and none of them taken away."""
    kb = home / "sync/org/roam"
    if by_link:
        (home / "shortcut").symlink_to(kb)
    way = home / "shortcut" if by_link else kb
    before = everything(kb)
    with pytest.raises(Refused):
        put(home, agents_md=way / "x.org", cwd=home / cwd)
    with pytest.raises(Refused):
        put(home, snippets=way, cwd=home / cwd)
    assert before == everything(kb)
    put(home, agents_md=way / "x.org", snippets=way, cwd=home / "code/site")
    with pytest.raises(Refused):
        take(home, snippets=way, cwd=home / cwd)
    assert (kb / "x.org").exists()
    assert (kb / "roamkb.el").exists()


def test_a_knowledge_base_is_made_from_a_personal_session_once_there_is_a_rule_of_ones_own(
    home: Path, at_work: Path
) -> None:
    """Before that, nobody has said yet what is personal; but work is work at once."""
    with pytest.raises(Refused):
        put(home, create_kb=True, cwd=at_work)
    put(home, create_kb=True, cwd=home)
    put(home, kb=home / "first", create_kb=True, cwd=home)
    with pytest.raises(Refused):
        put(home, kb=home / "second", create_kb=True, cwd=home)
    assert not (home / "second").exists()
    put(home, kb=home / "second", create_kb=True, cwd=home / "code/site")
    assert (home / "second").is_dir()


def test_the_first_install_makes_no_knowledge_base_from_what_it_calls_work(home: Path) -> None:
    """The rule to be is asked where there is none yet."""
    (home / "job/x").mkdir(parents=True)
    wishes: dict[str, Any] = {"kb": home / "kb", "work_roots": (home / "job",), "create_kb": True}
    with pytest.raises(Refused):
        put(home, cwd=home / "job/x", **wishes)
    assert not (home / "kb").exists()
    put(home, **wishes)
    assert (home / "kb").is_dir()


def test_another_home_doesn_t_hide_the_account_s_knowledge_base(home: Path, at_work: Path) -> None:
    """`HOME` is the caller's to set, and the KB of the account's rule is still the human's."""
    with pytest.raises(Refused):
        install(
            InstallOptions(snippets=home / "sync/org/roam"),
            replace(context_of(home.parent / "another", cwd=at_work), account_home=home, wall=wall_of(home)),
        )


def test_the_command_refuses_with_its_own_status(world: World) -> None:
    """From work 3 and nothing changed; from the home folder the same call works."""
    call = ("install", "--project-parent", str(world.home / "code"), "--kb", str(world.home / "kb2"))
    world.run("uninstall", cwd=world.home)
    (world.home / ".claude/rules/knowledge-base.md").unlink(missing_ok=True)
    first = ("install", "--kb", str(world.kb), "--work-root", str(world.home / "work"))
    assert 0 == world.run(*first, cwd=world.home).status
    refused = world.run(*call, cwd=world.work)
    assert (3, True) == (refused.status, "work project" in refused.err)
    assert 3 == world.run("uninstall", cwd=world.work).status
    missing = world.run(*call, cwd=world.home)
    assert (2, True) == (missing.status, "--create-kb" in missing.err)
    (world.home / "kb2/.stfolder").mkdir(parents=True)
    assert 0 == world.run(*call, cwd=world.home).status
