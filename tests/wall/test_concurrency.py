"""Two sessions and a human's Emacs at the notes at once, behind each wall: nothing is lost."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.wall.cage import HOME
from tests.wall.cage import UNKNOWN
from tests.wall.cage import WORK
from tests.wall.cage import can_cage
from tests.wall.house import KB
from tests.wall.house import tell
from tests.wall.trial import Proof
from tests.wall.trial import Wall
from tests.wall.trial import bring_back
from tests.wall.trial import run_behind

_NOTE = KB / "20250308142536-http_caching.org"
_SAVES = 20
#: What a human does meanwhile: each save is a change of its own, with Emacs's lock and its ways to write a file.
_EMACS = f"""
(progn
  (find-file "{HOME / _NOTE}")
  (dotimes (n {_SAVES})
    (goto-char (point-max))
    (insert (format "\\nsaved by a human: %d\\n" (1+ n)))
    (save-buffer)
    (sleep-for 0.05)))
"""
#: Each goes on until Emacs has ended, and once more.
_HARM = {
    WORK: "for f in ~/sync/org/roam/*.org; do echo gone > $f; done; rm -rf ~/sync; mv ~/sync ~/elsewhere",
    UNKNOWN: "find ~ -name '*.org' | xargs sed -i s/e/E/; truncate -s0 ~/notes/*.org; ln -sfn /tmp ~/sync/org/roam/daily",
}


@pytest.mark.skipif(not can_cage() or shutil.which("emacs") is None, reason="needs bubblewrap and emacs")
@pytest.mark.parametrize("wall", [wall for wall in Wall if wall is not Wall.NONE])
def test_a_human_saves_while_two_sessions_destroy(tmp_path: Path, wall: Wall) -> None:
    """Each save is on the disk, and every other note is as it was, whatever two agents run meanwhile."""
    proof = Proof(tmp_path)
    if wall not in proof.walls:
        pytest.skip(f"this machine has no wall by {wall.value}")
    with proof.copy(wall) as copy, ThreadPoolExecutor(3) as pool:
        notes = copy.cage.home / KB
        before = {path: path.read_bytes() for path in notes.rglob("*.org")}
        human = pool.submit(copy.cage.run, "emacs", "-Q", "--batch", "--eval", _EMACS)

        def session(project: Path) -> None:
            """Begin a session, do harm while the human saves, and once more, and end the turn."""
            tell(copy.cage, "session-start", session=project.name, cwd=project, source="startup")
            tell(copy.cage, "user-prompt-submit", session=project.name, cwd=project, prompt="tidy up, please")
            is_last = False
            while not is_last:
                is_last = human.done()
                run_behind(copy.cage, wall, _HARM[project], cwd=project)
            tell(copy.cage, "stop", session=project.name, cwd=project)

        sessions = [pool.submit(session, project) for project in _HARM]
        ended = human.result()
        assert 0 == ended.status, ended.err.decode()
        for told in sessions:
            told.result()
        # in a process table of its own its Emacs can't be told from an agent's: its human knows what it saved
        harmed = {path for path in before if not path.is_file() or path.read_bytes() != before[path]}
        named = sorted(str(HOME / path.relative_to(copy.cage.home)) for path in harmed - {copy.cage.home / _NOTE})
        if named:
            bring_back(copy.cage, tmp_path, *named)
        after = {path: path.read_bytes() for path in notes.rglob("*.org")}
        saved = before[notes.parent.parent.parent / _NOTE]
        saved += b"".join(b"\nsaved by a human: %d\n" % n for n in range(1, _SAVES + 1))
        assert before | {copy.cage.home / _NOTE: saved} == after
        assert (notes / "daily").is_dir() and not (notes / "daily").is_symlink()
