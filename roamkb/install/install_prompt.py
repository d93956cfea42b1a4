"""The question of `install`: which of the listed folders are work."""

from collections.abc import Sequence
from pathlib import Path

from roamkb.core.model import Project
from roamkb.core.text import one_line

#: More would push the question itself off the screen.
_MAX_LISTED = 40


def render_question(projects: Sequence[Project], *, home: Path) -> str:
    """Return the question: the folders, numbered, each with its kind, and how to answer."""
    lines = [
        f"{number:4}  {project.kind.value:8}  {_short_root(project, home)}"
        for number, project in enumerate(projects[:_MAX_LISTED], start=1)
    ]
    if len(projects) > _MAX_LISTED:
        lines.append(f"      … and {len(projects) - _MAX_LISTED} more; name work roots with --work-root")
    return "\n".join(
        [
            "Agents in personal projects may write to the knowledge base, and it goes to all your machines.",
            "These are your projects as the rule sees them:",
            "",
            *lines,
            "",
            "Which of them are work? Numbers with blanks between, or Enter for none:",
        ]
    )


def parse_answer(answer: str, projects: Sequence[Project]) -> tuple[Project, ...] | None:
    """Return the projects that the answer numbers; None where it is invalid."""
    words = answer.replace(",", " ").split()
    if not all(word.isascii() and word.isdigit() and 1 <= int(word) <= len(projects) for word in words):
        return None
    return tuple(projects[int(word) - 1] for word in words)


def _short_root(project: Project, home: Path) -> str:
    root = project.root or Path("?")
    return one_line(f"~/{root.relative_to(home)}" if root.is_relative_to(home) else str(root))
