"""What the hook before a tool says of a line, asked as Claude Code asks it in each kind of project."""

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import emulator
from tests.wall.cage import HOME
from tests.wall.cage import PROJECTS
from tests.wall.cage import Cage
from tests.wall.house import PROGRAM
from tests.wall.house import SESSION
from tests.wall.lines import Line

#: Python under the harness's name: roamkb knows a session by who began it.
_CLAUDE = Path("/tmp/claude")
_JUDGE = Path("/tmp/judge.py")
_BEGIN = "import os, subprocess, sys; del os.environ['PYTHONHOME']; sys.exit(subprocess.call(sys.argv[1:]))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The hook's answer to one line in one kind of project."""

    line: Line
    project: str
    #: Why not; empty where the hook lets it pass.
    reason: str

    @property
    def is_denial(self) -> bool:
        """Whether the harness wouldn't run the line."""
        return bool(self.reason)


def ask(cage: Cage, scratch: Path, project: str, lines: Sequence[Line]) -> list[Advice]:
    """Return the hook's answers to lines, in their order.

    Raises:
        RuntimeError: the hook answered otherwise than harnesses allow.
    """
    folder = PROJECTS[project]
    settings = json.loads((cage.home / ".claude/settings.json").read_text())
    shutil.copy(Path(__file__).with_name("judge.py"), scratch / "judge.py")
    asked = Cage(
        cage.home,
        (*cage.bound, (emulator(scratch, "claude"), _CLAUDE), (scratch / "judge.py", _JUDGE)),
    )
    python = str(HOME / PROGRAM / "bin" / "python")
    ended = asked.run(
        *(str(_CLAUDE), "-c", _BEGIN, python, str(_JUDGE), str(HOME / ".local/bin/roamkb"), "pre-tool-use"),
        cwd=folder,
        given="".join(json.dumps(_payload(line, folder)) + "\n" for line in lines).encode(),
        # as Claude Code has it, for its hooks as for its commands
        CLAUDE_CODE_SHELL_PREFIX=str(settings["env"]["CLAUDE_CODE_SHELL_PREFIX"]),
        PYTHONHOME=sys.base_prefix,
        CLAUDE_PROJECT_DIR=str(folder),
    )
    answers = ended.out.decode().splitlines()
    if ended.status != 0 or len(answers) != len(lines):
        raise RuntimeError(f"{len(answers)} answers to {len(lines)} lines: {ended.err.decode()}")
    return [
        Advice(line=line, project=project, reason=_reason(answer)) for line, answer in zip(lines, answers, strict=True)
    ]


def _payload(line: Line, folder: Path) -> dict[str, object]:
    return {
        "session_id": f"{SESSION}-{folder.name}",
        "transcript_path": f"{HOME}/.claude/projects/-x/{SESSION}-{folder.name}.jsonl",
        "cwd": str(folder),
        "permission_mode": "bypassPermissions",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": line.command, "description": "Run it"},
        "tool_use_id": "toolu_00001",
    }


def _reason(answer: str) -> str:
    told = json.loads(answer).get("hookSpecificOutput", {}) if answer.strip() else {}
    if told.get("permissionDecision") != "deny":
        return ""
    return str(told["permissionDecisionReason"])
