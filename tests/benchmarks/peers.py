"""roamkb beside other local memories for agents, by words alone: time to take notes in, cold query, memory.

    python -m venv A && A/bin/pip install agentrecall-db
    python3.12 -m venv B && B/bin/pip install agentcairn
    python tests/benchmarks/peers.py [--size 2000] [--agentrecall A] [--agentcairn B]

Each program gets the same notes in the form that it takes, in a HOME of its own, and is asked
the same question by its own command. The figures are of processes, from start to end, with
the largest memory that one of them took. Versions are printed, since they tell. Neither peer
looks at its notes before it answers. agentcairn fetches a part of its database when it first
runs; basic-memory takes notes in only while a server of its own runs, and isn't measured.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from tests.benchmarks.speed import install  # noqa: E402
from tests.benchmarks.speed import make_notes  # noqa: E402

_QUESTION = "index refreshed"


def main() -> None:
    """Print a line for each program."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=2000)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--agentrecall", type=Path, help="an environment that has agentrecall-db")
    options.add_argument("--agentcairn", type=Path, help="an environment that has agentcairn")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_notes(folder / "ours" / "kb", given.size)
        print(f"{given.size} notes")
        install(folder / "ours", folder / "ours" / "kb")
        python = [sys.executable, "-m", "roamkb"]
        measure("roamkb", folder / "ours", [*python, "index"], [*python, "search", _QUESTION], given.runs)
        if given.agentrecall:
            agentrecall(folder, given.agentrecall.resolve() / "bin", given.runs)
        if given.agentcairn:
            agentcairn(folder, given.agentcairn.resolve() / "bin", given.runs)


def agentrecall(folder: Path, programs: Path, runs: int) -> None:
    """Measure agentrecall-db without embeddings, which takes its memories from one file."""
    home = folder / "agentrecall"
    home.mkdir()
    with (home / "all.jsonl").open("w", encoding="utf-8") as file:
        for path in sorted((folder / "ours" / "kb").rglob("*.org")):
            file.write(json.dumps({"content": path.read_text(encoding="utf-8")}) + "\n")
    program = [str(programs / "agentrecall"), "--db", str(home / "a.db"), "--embeddings", "false"]
    name = f"agentrecall-db {version(programs, 'agentrecall-db')}"
    measure(name, home, [*program, "import", str(home / "all.jsonl")], [*program, "search", _QUESTION], runs)


def agentcairn(folder: Path, programs: Path, runs: int) -> None:
    """Measure agentcairn by its BM25 alone, which takes a vault of Markdown; its own stand-in embeds."""
    home = folder / "agentcairn"
    vault = home / "vault"
    for path in sorted((folder / "ours" / "kb").rglob("*.org")):
        head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
        title = head.partition("#+title: ")[2].partition("\n")[0]
        target = vault / path.parent.name / f"{path.stem}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"---\ntitle: {title}\n---\n\n{body}", encoding="utf-8")
    program = str(programs / "cairn")
    take_in = [program, "reindex", str(vault), "--embedder", "fake"]
    ask = [program, "recall", _QUESTION, "--vault", str(vault), "--embedder", "none", "--no-rerank"]
    measure(f"agentcairn {version(programs, 'agentcairn')}", home, take_in, ask, runs)


def version(programs: Path, package: str) -> str:
    """Return which version of a package an environment has."""
    asked = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([programs / "python", "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


def measure(name: str, home: Path, take_in: list[str], ask: list[str], runs: int) -> None:
    """Print what taking in and asking take."""
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT) if name == "roamkb" else ""}
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        environment.pop(variable, None)
    project = home / "code" / "x"
    project.mkdir(parents=True, exist_ok=True)

    def run(words: list[str]) -> tuple[float, str]:
        started = time.perf_counter()
        done = subprocess.run(words, cwd=project, env=environment, capture_output=True, text=True, check=True)
        return time.perf_counter() - started, done.stdout

    try:
        built, _ = run(take_in)
        _, answer = run(ask)
        asked = statistics.median(run(ask)[0] for _ in range(runs))
    except subprocess.CalledProcessError as error:
        print(f"  {name:24} couldn't be measured: {' '.join(error.stderr.split())[-300:]}")
        return
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"  {name:24} takes in {built:7.1f} s   cold query {1000 * asked:6.0f} ms   "
        f"largest process so far {peak:5.0f} MiB   {len(answer)} characters of answer",
        flush=True,
    )


if __name__ == "__main__":
    main()
