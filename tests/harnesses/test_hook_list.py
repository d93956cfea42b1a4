"""The hooks that we want are those that we answer."""

import ast
import re
from pathlib import Path

from roamkb.guard.human_only_commands import find_approval
from roamkb.harnesses.claude_code import HARNESS as CLAUDE_CODE
from roamkb.harnesses.claude_code import deny_rules
from roamkb.harnesses.codex import HARNESS as CODEX
from roamkb.shell.programs import parse_words

_DOOR = Path(__file__).parents[2] / "roamkb" / "interfaces" / "hooks" / "main.py"


def answered() -> set[str]:
    """Return the events that the door for hooks has an answer to."""
    function = next(
        node
        for node in ast.walk(ast.parse(_DOOR.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "_answer_event"
    )
    cases = (node.pattern for node in ast.walk(function) if isinstance(node, ast.match_case))
    values = (node.value for case in cases for node in ast.walk(case) if isinstance(node, ast.MatchValue))
    return {str(value.value) for value in values if isinstance(value, ast.Constant)}


def approval_in(words: list[str]) -> str:
    """Return which approval a command asks for, as the hook reads it."""
    return find_approval(words, parse_words(words)[0], "", " ".join(words))


def test_every_event_that_is_answered_is_asked_for() -> None:
    """And the other way round."""
    assert answered() == {hook.command_word for hook in CLAUDE_CODE.wanted_hooks}
    assert answered() - {"post-tool-use-failure"} == {hook.command_word for hook in CODEX.wanted_hooks}


def test_the_hook_before_a_tool_hears_of_all_that_could_write() -> None:
    """Only tools that never do are left out."""
    (matcher,) = (hook.matcher for hook in CLAUDE_CODE.wanted_hooks if hook.event == "PreToolUse")
    heard = ("Bash", "Edit", "Write", "NotebookEdit", "mcp__files__write_file", "ReadWrite", "Task")
    assert all(re.search(matcher, tool) for tool in heard)
    assert not any(re.search(matcher, tool) for tool in ("Read", "Grep", "Glob", "WebFetch", "TaskUpdate"))


def test_rules_deny_the_notes_and_a_humans_word() -> None:
    """A path from the root has two slashes in a rule: one alone would be from the settings' folder."""
    assert "Edit(~/org/roam/**)" == deny_rules(("~/org/roam/",))[0]
    assert "Edit(//srv/roam/**)" == deny_rules(("/srv/roam",))[0]
    assert "Bash(roamkb curate --apply *)" in deny_rules(("~/org",))


def test_rules_and_the_hook_agree_on_what_only_a_human_says() -> None:
    """What a rule denies the hook denies in any spelling; what lists and shows neither does."""
    rules = [rule[5:-3].split() for rule in deny_rules(("~/org",)) if rule.startswith("Bash(")]
    assert all(approval_in([*words, "x"]) for words in rules)
    assert {
        "approve",
        "curate",
        "forget",
        "journal",
        "override",
        "reject",
        "review",
        "rollback",
        "setup",
        "uninstall",
    } == {words[1] for words in rules}
    assert ["roamkb", "review"] not in rules


def test_an_agent_does_not_write_its_own_settings() -> None:
    """It may show its human what `install --claude` would do."""
    assert "install" == approval_in(["roamkb", "install", "--claude", "--yes"])
    assert "" == approval_in(["roamkb", "install", "--claude"])
