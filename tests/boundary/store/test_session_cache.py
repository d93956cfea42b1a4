"""What a session may do is remembered for a while, for that session, there, and under those rules."""

import os
from pathlib import Path

import pytest

from roamkb.boundary.store.session_cache import find_local_folder
from roamkb.boundary.store.session_cache import find_pass
from roamkb.boundary.store.session_cache import keep_subagent_task
from roamkb.boundary.store.session_cache import save_pass
from roamkb.boundary.store.session_cache import take_subagent_task
from roamkb.boundary.store.session_cache import unasked_subjects
from roamkb.fs.user_dirs import ADOPTIONS_FOLDER
from roamkb.fs.user_dirs import create_machine_key
from roamkb.fs.user_dirs import default_state_dir
from roamkb.fs.user_dirs import local_state_name

_SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a log's local folder and a rule beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    create_machine_key(tmp_path / "state" / "roamkb")
    own(tmp_path / "site").mkdir(parents=True)
    record(tmp_path / "site")
    (tmp_path / "site" / "src").mkdir()
    (tmp_path / "rule.md").write_text("a rule")
    return tmp_path / "site"


def own(root: Path) -> Path:
    """This machine's folder of the log at `root`."""
    return root / ".roamkb" / "local" / local_state_name(str(root), default_state_dir())


def record(root: Path) -> Path:
    """Put down that the log at `root` was adopted, as `init` does; return the record."""
    path = Path(default_state_dir()) / ADOPTIONS_FOLDER / own(root).name
    path.parent.mkdir(exist_ok=True)
    path.write_text("1")
    return path


def found(project: Path, **other: object) -> bool:
    """Whether the pass that was kept is found under these circumstances."""
    asked: dict[str, object] = {"session": _SESSION, "folder": str(project / "src"), "evidence": ["a"]}
    asked |= other
    told = find_pass(
        str(asked["session"]),
        str(asked["folder"]),
        evidence=asked["evidence"],  # type: ignore[arg-type]
        rules=[str(project.parent / "rule.md")],
    )
    return told is not None and told["keeps"] is True


def kept(project: Path, session: str = _SESSION) -> Path:
    """Keep a pass, and return its file."""
    local = own(project)
    save_pass(str(local), session, {"keeps": True}, evidence=["a"], rules=[str(project.parent / "rule.md")])
    return local / "passes" / f"{session}.json"


def test_a_pass_is_found_again_from_below(project: Path) -> None:
    """By the same session, saying the same of where it works."""
    assert not found(project)
    kept(project)
    assert found(project)
    assert not found(project, session="another")
    assert not found(project, evidence=["a", "b"])
    assert not found(project, folder=str(project.parent))


def test_another_rule_ends_it(project: Path) -> None:
    """Written to or replaced, newer or older."""
    kept(project)
    (project.parent / "rule.md").write_text("another rule")
    assert not found(project)


def test_it_ends_after_some_minutes(project: Path) -> None:
    """And one from the future counts as little."""
    path = kept(project)
    now = path.stat().st_mtime
    for seconds in (-700, 700):
        os.utime(path, (now + seconds, now + seconds))
        assert not found(project)


def test_one_that_was_moved_here_is_none(project: Path, tmp_path: Path) -> None:
    """It says whose it is; and no link is followed to it."""
    path = kept(project)
    other = own(tmp_path / "other") / "passes"
    other.mkdir(parents=True)
    record(tmp_path / "other")
    (other / path.name).write_bytes(path.read_bytes())
    assert not found(project, folder=str(tmp_path / "other"))
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".roamkb").symlink_to(project / ".roamkb")
    assert find_local_folder(str(tmp_path / "linked")) is None


def test_a_folder_that_nobody_adopted_is_none(project: Path) -> None:
    """Whoever writes to the project can make it and all that is in it, but not the record beside the user's state."""
    kept(project)
    place = record(project)
    place.unlink()
    assert not found(project)
    assert find_local_folder(str(project)) is None
    place.mkdir()
    assert find_local_folder(str(project)) is None


def test_a_record_that_cannot_be_looked_at_is_none(project: Path) -> None:
    """Where nobody can tell, nothing is believed; a hook goes on without it."""
    kept(project)
    adopted = record(project).parent
    adopted.rename(adopted.with_name("elsewhere"))
    adopted.symlink_to(adopted)
    assert not found(project)
    assert find_local_folder(str(project)) is None


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"known by": 7}', "[" * 5000])
def test_garbage_is_none(project: Path, text: str) -> None:
    """Somebody else looks again."""
    kept(project).write_text(text)
    assert not found(project)


def test_a_name_that_is_no_files_is_kept_nowhere(project: Path) -> None:
    """No session's name leads out of the folder."""
    for session in ("../../x", "", "a/b", "x" * 101):
        kept(project, session)
    assert not (own(project) / "passes").exists()


def test_nothing_is_swept_or_written_where_a_link_leads(project: Path, tmp_path: Path) -> None:
    """A commit can bring one into the folder that git ignores."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "thesis").write_text("years of work")
    os.utime(papers / "thesis", (1, 1))
    local = adopted(project)
    (local / "passes").symlink_to(papers)
    kept(project)
    assert not unasked_subjects(str(local), _SESSION, "a.py")
    assert [papers / "thesis"] == list(papers.iterdir())


def adopted(project: Path) -> Path:
    """Have the log count, and warn of a file; return its local folder."""
    local = own(project)
    (project / ".roamkb" / "knowledge.jsonl").write_text(
        '{"type":"gotcha","files":["a.py","first.py"],"content":"Celery needs acks_late"}\n'
    )
    return local


@pytest.mark.parametrize("change", ["to FIFO", "to link"])
def test_a_log_that_no_reader_would_take_warns_of_nothing(project: Path, change: str) -> None:
    """A repository's own could be endless, or never say anything; a hook would wait for it."""
    local = adopted(project)
    log = project / ".roamkb" / "knowledge.jsonl"
    assert unasked_subjects(str(local), _SESSION, "first.py")
    if change == "to FIFO":
        log.unlink()
        os.mkfifo(log)
    else:
        log.rename(project / "elsewhere")
        log.symlink_to(project / "elsewhere")
    assert not unasked_subjects(str(local), _SESSION, "a.py")


def test_a_file_and_a_name_are_asked_about_once_and_only_where_the_log_may_know_them(project: Path) -> None:
    """By a part of the path that some learning names, or by a name that stands in the log."""
    local = str(adopted(project))
    path = str(project / "src" / "a.py")
    assert [] == unasked_subjects(local, _SESSION, str(project / "src" / "b.py"), ["acks_early"])
    assert [path, "acks_late"] == unasked_subjects(local, _SESSION, path, ["acks_early", "acks_late"])
    assert [] == unasked_subjects(local, _SESSION, path, ["acks_late"])


def test_a_subagent_is_given_its_own_task(project: Path) -> None:
    """In the order of the calls; one that was called for long ago and never started is forgotten."""
    local = own(project)
    keep_subagent_task(str(local), _SESSION, "toolu_1", "denied by the human")
    (kept,) = (local / "passes").glob("*.task")
    os.utime(kept, (0, 0))
    keep_subagent_task(str(local), _SESSION, "toolu_2", "the second")
    keep_subagent_task(str(local), _SESSION, "toolu_3", "the third")
    assert "the second" == take_subagent_task(str(local), _SESSION)
    assert "the third" == take_subagent_task(str(local), _SESSION)
    assert [] == list((local / "passes").glob("*.task"))
    assert "" == take_subagent_task(str(local), _SESSION)
