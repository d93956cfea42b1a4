"""Episodes of 27 programs, put through the hooks, and how well what they recorded is found again.

`episodes.txt` has for each what a command printed when it failed (as its program prints it), what was done
(`@did`), the command that worked if it was changed (`@then`), two later outputs of the same cause in another
version, folder or wording (`@same`), and two of another cause that look alike (`@other`). Matching was built on
every second one, from the first on; the others were held out, and asked once more than that about the floor.

python -m tests.remedies.episodes [FILE]
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final

from roamkb.app.hooks.events import HookEventSession
from roamkb.app.hooks.stop import StoppedSession
from roamkb.remedies.remedy import KnownErrors
from roamkb.remedies.remedy import SuggestedRemedies
from tests.conftest import World
from tests.conftest import make_world

DATA: Final = Path(__file__).with_name("episodes.txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One episode, and what is said later."""

    title: str
    command: str
    error: str
    deeds: tuple[str, ...]
    #: The command that worked.
    worked: str
    same: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(slots=True)
class Figures:
    """What a part of the episodes came to, by the names of those that went wrong."""

    episodes: int = 0
    unrecorded: list[str] = field(default_factory=list)
    later: int = 0
    not_first: list[str] = field(default_factory=list)
    not_among_three: list[str] = field(default_factory=list)
    not_offered: list[str] = field(default_factory=list)
    look_alikes: int = 0
    falsely_offered: list[str] = field(default_factory=list)

    @property
    def recorded(self) -> float:
        """The share of episodes that were recorded."""
        return 1 - len(self.unrecorded) / self.episodes

    @property
    def first(self) -> float:
        """The share of later errors of a known cause whose remedy is suggested first."""
        return 1 - len(self.not_first) / self.later

    @property
    def among_three(self) -> float:
        """The share of those whose remedy is among the first three."""
        return 1 - len(self.not_among_three) / self.later

    @property
    def offered(self) -> float:
        """The share of those at which the hook offers it unasked."""
        return 1 - len(self.not_offered) / self.later

    @property
    def false_offers(self) -> float:
        """The share of look-alikes at which the hook offers anything."""
        return len(self.falsely_offered) / self.look_alikes

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.episodes} episodes: recorded {self.recorded:.2f}, right first {self.first:.2f}, among three "
            f"{self.among_three:.2f}, offered {self.offered:.2f}; on look-alikes {self.false_offers:.3f}"
        )


def read_cases(path: Path = DATA) -> list[Case]:
    """Return the episodes of a file."""
    blocks = re.split(r"(?m)^(?=# \S+: )", path.read_text(encoding="utf-8"))
    return [_case(block) for block in blocks if block.strip()]


def _case(block: str) -> Case:
    head, *parts = re.split(r"(?m)^@(same|other)\n", block)
    title, command, *lines = head.rstrip("\n").split("\n")
    said = [(kind, text.strip("\n")) for kind, text in zip(parts[::2], parts[1::2], strict=True)]
    worked = [line.removeprefix("@then ") for line in lines if line.startswith("@then ")]
    return Case(
        title=title.removeprefix("# "),
        command=command.removeprefix("$ "),
        error="\n".join(line for line in lines if not re.match(r"@(?:did|then) ", line)),
        deeds=tuple(line.removeprefix("@did ") for line in lines if line.startswith("@did ")),
        worked=worked[0] if worked else command.removeprefix("$ "),
        same=tuple(text for kind, text in said if kind == "same"),
        other=tuple(text for kind, text in said if kind == "other"),
    )


def measure(world: World, cases: list[Case]) -> tuple[Figures, Figures]:
    """Record every episode in one log through the hook, and return the figures of each half of them."""
    world.open().log.init()
    techniques = [_record(world, number, case) for number, case in enumerate(cases)]
    halves = Figures(), Figures()
    for number, case in enumerate(cases):
        figures, technique = halves[number % 2], techniques[number]
        figures.episodes += 1
        figures.unrecorded += [] if technique else [case.title]
        for error in case.same:
            figures.later += 1
            guesses = _suggested(world, error)
            figures.not_first += [] if guesses[:1] == [technique] else [case.title]
            figures.not_among_three += [] if technique in guesses[:3] else [case.title]
            figures.not_offered += [] if _offered(world, case, error) == technique else [case.title]
        for error in case.other:
            figures.look_alikes += 1
            figures.falsely_offered += [case.title] if _offered(world, case, error) else []
    return halves


def _record(world: World, number: int, case: Case) -> str:
    """Have a session with one episode stop, and return the technique that it recorded."""
    before = _techniques(world)
    transcript = world.home / f"session-{number}.jsonl"
    transcript.write_text("".join(json.dumps(line) + "\n" for line in _lines(world, case)), encoding="utf-8")
    payload = {
        "hook_event_name": "Stop",
        "session_id": f"00000000-0000-4000-8000-{number:012x}",
        "cwd": str(world.personal),
        "transcript_path": str(transcript),
    }
    StoppedSession(payload, world.open().environment).handle_stop()
    new = [technique for technique in _techniques(world) if technique not in before]
    return new[0] if len(new) == 1 else ""


def _lines(world: World, case: Case) -> Iterator[dict[str, object]]:
    """Yield a transcript as Claude Code writes it."""
    yield {"type": "user", "message": {"role": "user", "content": "please look into it"}}
    calls: list[tuple[str, dict[str, object], str, bool]] = [
        ("Bash", {"command": case.command}, f"Exit code 1\n{case.error}", True),
        ("Bash", {"command": "ls -la"}, "total 0", False),
    ]
    for deed in case.deeds:
        if deed.startswith("edit "):
            file, _, added = deed.removeprefix("edit ").partition(": ")
            given = {"file_path": str(world.personal / file), "old_string": "", "new_string": added}
            calls.append(("Edit", dict(given), "The file was updated.", False))
        else:
            calls.append(("Bash", {"command": deed}, "", False))
    calls.append(("Bash", {"command": case.worked}, "done", False))
    for number, (tool, asked, printed, failed) in enumerate(calls):
        id = f"toolu_{number}"
        use = {"type": "tool_use", "id": id, "name": tool, "input": asked}
        result = {"type": "tool_result", "tool_use_id": id, "content": printed, "is_error": failed}
        yield {"type": "assistant", "message": {"role": "assistant", "content": [use]}}
        yield {"type": "user", "message": {"role": "user", "content": [result]}}


def _techniques(world: World) -> list[str]:
    known = world.open().log.remedy("list")
    assert isinstance(known, KnownErrors)
    return [one.technique for error in known.errors for one in error.remedies]


def _suggested(world: World, error: str) -> list[str]:
    found = world.open().log.remedy("suggest", error=error)
    assert isinstance(found, SuggestedRemedies)
    return [one.technique for one in found.remedies]


def _offered(world: World, case: Case, error: str) -> str:
    """Return what the hook offers a later session at an error; empty where it offers nothing."""
    payload = {
        "hook_event_name": "PostToolUseFailure",
        "session_id": "00000000-0000-4000-8000-ffffffffffff",
        "cwd": str(world.personal),
        "transcript_path": str(world.home / "session-0.jsonl"),
        "tool_name": "Bash",
        "tool_input": {"command": case.command},
        "error": f"Exit code 1\n{error}",
    }
    found = HookEventSession(payload, world.open().environment).handle_failure()
    return found.technique if found else ""


def main() -> None:
    """Print the figures."""
    cases = read_cases(Path(sys.argv[1]) if sys.argv[1:] else DATA)
    with tempfile.TemporaryDirectory() as folder:
        for name, figures in zip(("built on", "held out"), measure(make_world(Path(folder)), cases), strict=True):
            print(f"{name}: {figures}")
            for label in ("unrecorded", "not_first", "falsely_offered"):
                print(f"  {label}: {getattr(figures, label)}")


if __name__ == "__main__":
    main()
