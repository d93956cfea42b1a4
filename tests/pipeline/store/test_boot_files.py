"""The files that every session starts with."""

import os
from pathlib import Path

from roamkb.pipeline.store.boot_files import boot_lines


def write(path: Path, text: str) -> None:
    """Write a file, and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_lines_sentences_and_clauses_are_told_without_their_bullets(tmp_path: Path) -> None:
    """A paragraph over two lines as a whole as well."""
    write(tmp_path / "CLAUDE.md", "# Rules\n\n- Use tabs; not blanks.\n\nA sentence goes\non. Another.\n")
    lines = list(boot_lines(tmp_path, tmp_path / "home"))
    expected = {
        "Rules",
        "Use tabs; not blanks.",
        "Use tabs;",
        "not blanks.",
        "A sentence goes on.",
        "Another.",
    }
    assert expected <= set(lines)


def test_project_rules_home_and_memory_are_read(tmp_path: Path) -> None:
    """Where harnesses read them."""
    root, home = tmp_path / "site.x", tmp_path / "home"
    names = ["CLAUDE.md", "AGENTS.md", ".claude/rules/a.md", ".github/copilot-instructions.md"]
    for name in names:
        write(root / name, f"line of {name}")
    folder = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in str(root))
    write(home / ".claude/projects" / folder / "memory/MEMORY.md", "line of memory")
    write(home / ".claude/CLAUDE.md", "line of home")
    assert {*(f"line of {name}" for name in names), "line of memory", "line of home"} == set(boot_lines(root, home))


def test_an_example_in_our_own_rule_says_nothing(tmp_path: Path) -> None:
    """Its sentences do; and so do the commands of others' files. Each line is told with its file."""
    rule = "Search first.\n\n```roamkb:kb\n~/kb\n```\n\n```sh\nroamkb write 'Tabs'\n```\n\nWrite last.\n"
    write(tmp_path / "home" / ".claude/rules/knowledge-base.md", rule)
    write(tmp_path / "site/CLAUDE.md", "```sh\nmake test\n```\n")
    lines = boot_lines(tmp_path / "site", tmp_path / "home")
    assert {"Search first.", "Write last.", "make test"} <= set(lines)
    assert not {line for line in lines if "Tabs" in line or "~/kb" in line}
    assert "~/.claude/rules/knowledge-base.md" == lines["Write last."]
    assert "CLAUDE.md" == lines["make test"]


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    """A folder, a pipe, bytes that are no text."""
    (tmp_path / "CLAUDE.md").mkdir()
    os.mkfifo(tmp_path / "AGENTS.md")
    (tmp_path / "GEMINI.md").write_bytes(b"caf\xe9 rules")
    assert ["caf\ufffd rules"] == list(boot_lines(tmp_path, tmp_path / "none"))
