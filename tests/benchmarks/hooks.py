"""What each hook costs, as a multiple of Python's start: `python -m tests.benchmarks.hooks [RUNS]`.

Whole processes, taken in turns, so that a busy machine is as busy for all; the median and the best of each.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from roamkb.formats.rule import render_rule

_ROOT = Path(__file__).parents[2]
_SESSION = "11111111-2222-4333-8444-555555555555"
#: (name, event, project, payload).
_CASES = (
    ("session-start", "session-start", "site", {"source": "startup"}),
    ("prompt that fits", "user-prompt-submit", "site", {"prompt": "redis evicts sessions, is it maxmemory?"}),
    ("prompt that doesn't", "user-prompt-submit", "site", {"prompt": "go on"}),
    ("pre: read", "pre-tool-use", "site", {"tool_name": "Read", "tool_input": {"file_path": "x"}}),
    ("pre: command", "pre-tool-use", "site", {"tool_name": "Bash", "tool_input": {"command": "make test"}}),
    ("pre: edit", "pre-tool-use", "site", {"tool_name": "Edit", "tool_input": {"file_path": "README.md"}}),
    ("pre: command at work", "pre-tool-use", "work", {"tool_name": "Bash", "tool_input": {"command": "make"}}),
    ("pre: ~ at work, judged", "pre-tool-use", "work", {"tool_name": "Bash", "tool_input": {"command": "ls ~"}}),
    ("post: command", "post-tool-use", "site", {"tool_name": "Bash", "tool_input": {"command": "make"},
                                                "tool_response": {"stdout": "ok"}}),
    ("post: no log", "post-tool-use", "work", {"tool_name": "Bash", "tool_input": {"command": "make"}}),
    ("failure", "post-tool-use-failure", "site", {"tool_name": "Bash", "tool_input": {"command": "make"},
                                                  "error": "make: *** No rule to make target 'x'."}),
    ("stop", "stop", "site", {"stop_hook_active": False, "last_assistant_message": "Done."}),
    ("pre-compact", "pre-compact", "site", {"trigger": "auto"}),
    ("session-end", "session-end", "site", {"reason": "exit"}),
)  # fmt: skip


def main(runs: int) -> None:
    """Print a line for each hook."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        projects = {"site": home / "code" / "site", "work": home / "work" / "acme"}
        for place in (home / "roam" / ".stfolder", *projects.values()):
            place.mkdir(parents=True)
        rule = home / ".claude" / "rules" / "knowledge-base.md"
        rule.parent.mkdir(parents=True)
        template = (_ROOT / "rules" / "knowledge-base.md").read_text()
        parents = {"work_roots": [str(home / "work")], "project_parents": [str(home / "code")]}
        rule.write_text(render_rule(template, kb=str(home / "roam"), **parents))
        rule.chmod(0o644)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(_ROOT)}
        command = [sys.executable, "-m", "roamkb"]

        def timed(words: list[str], cwd: Path, payload: object = None) -> float:
            began = time.perf_counter()
            subprocess.run(
                words,
                cwd=cwd,
                env={**environment, "PWD": str(cwd)},
                input=json.dumps(payload).encode(),
                stdout=subprocess.DEVNULL,
                check=True,
            )
            return time.perf_counter() - began

        site = projects["site"]
        timed([*command, "init"], site)
        timed([*command, "learn", "Redis evicts sessions when maxmemory is reached"], site)
        took: dict[str, list[float]] = {"python": []}
        for _ in range(runs):
            took["python"].append(timed([sys.executable, "-c", "pass"], site))
            for name, event, place, more in _CASES:
                cwd = projects[place]
                told = "".join(part.capitalize() for part in event.split("-"))
                payload = {"session_id": _SESSION, "cwd": str(cwd), "hook_event_name": told, **more}
                took.setdefault(name, []).append(timed([*command, "hook", event], cwd, payload))
        bare = took["python"]
        print(f"{'':24} {'median':>10} {'ratio':>6} {'best':>10} {'ratio':>6}")
        for name, times in took.items():
            middle, best = statistics.median(times), min(times)
            print(
                f"{name:24} {middle * 1e3:7.1f} ms {middle / statistics.median(bare):6.1f} "
                f"{best * 1e3:7.1f} ms {best / min(bare):6.1f}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
