"""A human's word is asked of a human, as far as anything tells."""

import pytest

from roamkb.boundary.human_consent import agent_evidence
from roamkb.boundary.human_consent import find_harness
from roamkb.boundary.human_consent import require_human
from roamkb.boundary.human_consent import require_no_agent
from roamkb.core.errors import UsageError

_SHELLS = [("3.1", ("bash", "bash", "-c", "roamkb approve x")), ("2.1", ("tmux: server", "tmux"))]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("claude",), "claude"),
        (("node", "node", "/usr/lib/node_modules/bin/claude"), "claude"),
        (("MainThread", "/usr/bin/node", "/opt/gemini.js"), "gemini"),
        (("codex", "/usr/bin/codex", "exec"), "codex"),
        (("python3", "/usr/bin/python3", "/home/w/bin/aider"), "aider"),
        (("claude.exe", "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", "-p"), "claude"),
        (("2.1.197", "/home/u/.local/share/claude/versions/2.1.197", "--bg"), "claude"),
        (("bash", "bash", "-c", "claude"), None),
        (("less", "less", "/home/u/claude/versions/notes/2.1"), None),
        (("vim", "vim", "claude.md"), None),
        (("claudette",), None),
        ((), None),
    ],
)
def test_a_harness_is_known_by_its_name_or_its_script(words: tuple[str, ...], name: str | None) -> None:
    """Not by what is said to another program."""
    found = find_harness([*_SHELLS, ("1.7", words)])
    assert (("1.7", name) if name else None) == found


def test_what_tells_of_an_agent_is_named() -> None:
    """A variable without a value tells nothing."""
    assert "CLAUDECODE is set" == agent_evidence({"CLAUDECODE": "1"}, None)
    assert "AI_AGENT is set" == agent_evidence({"AI_AGENT": "claude-code_2-1-197_agent"}, None)
    assert "" == agent_evidence({"CLAUDECODE": "", "HOME": "/h"}, None)
    evidence = agent_evidence({}, ("7.2", "codex"))
    assert "codex (7.2)" in evidence
    with pytest.raises(UsageError, match="codex"):
        require_no_agent(evidence)
    require_no_agent("")


def test_nobody_is_no_human() -> None:
    """A door without a terminal has nobody to ask."""
    with pytest.raises(UsageError, match="only a human"):
        require_human(None)
