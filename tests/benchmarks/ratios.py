"""Ratios of roamkb to programs that run beside it, on one folder of notes.

    python tests/benchmarks/ratios.py [--kb DIR] [--word WORD] [--runs N]

Each figure is a median over several runs, taken in turn with the reference's, so that a
slow minute of the machine is slow for both. Absolute times mean nothing elsewhere.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "emacs")]

TWO_COMMANDS = """
import typer
app = typer.Typer()
@app.command()
def one(word: str) -> None: print(word)
@app.command()
def two(word: str) -> None: print(word)
app()
"""


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kb", type=Path, default=ROOT / "fixtures" / "kb")
    options.add_argument("--word", default="agent")
    options.add_argument("--runs", type=int, default=9)
    given = options.parse_args()
    kb = given.kb.resolve()
    print(f"{len(list(kb.rglob('*.org')))} files in {kb}, medians of {given.runs} runs\n")
    with tempfile.TemporaryDirectory() as scratch:
        _reading(kb, Path(scratch), given.runs)
        _processes(kb, Path(scratch), given.word, given.runs)


def _reading(kb: Path, scratch: Path, runs: int) -> None:
    from roamkb.kb.notes.store.notes import Notes

    def ours() -> None:
        for _ in Notes(kb).read_all().node_pairs():
            pass

    _report("read all nodes", ours, "orgparse alone", lambda: _orgparse(kb), runs)
    if not shutil.which("emacs"):
        print("read all nodes / org-roam-db-sync: emacs is missing (apt-get install emacs-nox elpa-org-roam)")
        return
    seconds = _org_roam_seconds(kb, scratch)
    one = statistics.median(_timed(ours) for _ in range(runs))
    print(f"{'read all nodes':28} {one:7.3f} s   org-roam-db-sync {seconds:9.3f} s   1 / {seconds / one:.1f}")


def _orgparse(kb: Path) -> None:
    import orgparse

    for path in kb.rglob("*.org"):
        try:
            root = orgparse.loads(path.read_text(encoding="utf-8", errors="replace"))
            for node in root.env.nodes:
                _ = node.properties, node.tags, node.heading
        except (ValueError, RuntimeError):
            continue


def _org_roam_seconds(kb: Path, scratch: Path) -> float:
    """Return what Emacs says that its own sync took, start-up left out."""
    lisp = f"""(progn (require 'package) (package-initialize) (require 'org-roam)
      (setq org-roam-directory "{kb}/" org-roam-db-location "{scratch}/roam.db" org-roam-verbose nil
            org-resource-download-policy nil make-backup-files nil auto-save-default nil create-lockfiles nil)
      (let ((start (float-time)) (inhibit-message t)) (org-roam-db-sync 'force)
        (princ (format "%.3f" (- (float-time) start)))))"""
    done = subprocess.run(
        ["emacs", "--batch", "--no-init-file", "--eval", lisp],
        env={"HOME": str(scratch), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def _processes(kb: Path, scratch: Path, word: str, runs: int) -> None:
    from roamkb.boundary.rule_file import render_rule

    home = scratch / "home"
    rule = home / ".claude" / "rules" / "knowledge-base.md"
    project = home / "code" / "x"
    project.mkdir(parents=True)
    rule.parent.mkdir(parents=True)
    template = (ROOT / "rules" / "knowledge-base.md").read_text(encoding="utf-8")
    rule.write_text(render_rule(template, kb=str(kb), work_roots=[], project_parents=[str(home / "code")]))
    rule.chmod(0o644)
    two_commands = scratch / "two_commands.py"
    two_commands.write_text(TWO_COMMANDS)

    def process(*words: str) -> Callable[[], None]:
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}

        def run() -> None:
            subprocess.run(words, cwd=project, env=environment, stdout=subprocess.DEVNULL, check=False)

        return run

    python = sys.executable
    references = {
        "python -c pass": process(python, "-c", "pass"),
        "two-command Typer": process(python, str(two_commands), "one", "x"),
    }
    if ripgrep := shutil.which("rg"):
        references["rg WORD"] = process(ripgrep, word, str(kb))
    for name, words in {
        f"search {word}": ("search", word),
        "classify": ("classify",),
        "write --dry-run": ("write", "A fact that nobody wrote", "--dry-run"),
    }.items():
        for reference, other in references.items():
            _report(name, process(python, "-m", "roamkb", *words), reference, other, runs)


def _report(name: str, one: Callable[[], None], reference: str, other: Callable[[], None], runs: int) -> None:
    one()
    other()
    pairs = [(_timed(one), _timed(other)) for _ in range(runs)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(mine / their for mine, their in pairs)
    print(f"{name:28} {ours:7.3f} s   {reference:18} {theirs:7.3f} s   x {ratio:.2f}")


def _timed(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
