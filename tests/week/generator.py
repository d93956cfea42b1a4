"""A made-up week of one project's agents, as its harness tells it: hook payloads and transcripts, never
typed observations. The same seed gives the same week.

A week has sessions; a session has steps: payloads to observe, in their order, words to recall, and a
transcript at its end. `labels` says what is worth keeping and what must not be kept.
"""

import json
import random
import re
from dataclasses import dataclass
from dataclasses import field
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from typing import Protocol

from tests.week import material as usual

MONDAY = datetime(2026, 6, 1, 8, tzinfo=UTC)
AGENTS = ("claude-code", "codex", "reviewer")
_CHOICE = re.compile(r"\{([^{}]*)\}")
_FOLDERS = ("api", "worker", "shop", "mobile", "tests", "deploy")
_NAMES = "bookings payments seats venues search sessions coupons exports users mail".split()


class Material(Protocol):
    """What there is to say, and how it is announced: a module such as `material` or `stranger`."""

    FACTS: tuple[tuple[str, str, str, str], ...]
    RULES: tuple[tuple[str, str, str], ...]
    ONCE: tuple[str, ...]
    BOOT: dict[str, tuple[str, ...]]
    ECHOES: tuple[tuple[str, str], ...]
    DISPUTES: tuple[tuple[str, str, str], ...]
    CHATTER: tuple[str, ...]
    PROMPTS: tuple[str, ...]
    INJECTIONS: tuple[str, ...]
    INJECTED: tuple[str, ...]
    SECRETS: tuple[tuple[str, str], ...]
    RECALLED: tuple[tuple[str, str], ...]
    CUES: dict[str, tuple[str, ...]]
    OPENINGS: tuple[str, ...]
    ENDINGS: tuple[str, ...]
    CONTEXT: str


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing worth keeping, and every wording that it was said in."""

    label: str
    phrase: str
    said: list[str] = field(default_factory=list)
    #: Sessions in which an agent or the user said so on his own.
    sessions: set[str] = field(default_factory=set)
    by_user: bool = False


@dataclass(kw_only=True)
class Session:
    """One session of one agent on one task."""

    name: str
    agent: str
    task: str
    start: datetime
    #: A payload, or words to recall.
    steps: list[dict[str, object] | str] = field(default_factory=list)
    transcript: list[dict[str, object]] = field(default_factory=list)

    @property
    def payloads(self) -> int:
        """How many payloads it has."""
        return sum(isinstance(step, dict) for step in self.steps)


@dataclass(kw_only=True)
class Week:
    """Sessions in their order, the files that they start with, and what is what."""

    sessions: list[Session]
    boot: dict[str, str]
    #: What should reach the knowledge base.
    wanted: list[Fact]
    #: Credentials in what was said; none may be anywhere afterwards.
    secrets: list[str]
    #: What was shown to a session that then said it again, by wording.
    shown: list[str]
    #: Words of what was injected; none may be in a node.
    injected: tuple[str, ...]


class _Writer:
    def __init__(self, seed: int, material: Material, *, sessions: int, facts: int) -> None:
        self.random = random.Random(seed)
        self.material = material
        self.values = {
            "N1": str(self.random.choice((5, 10, 30, 60))),
            "N2": str(self.random.choice((2, 4, 8, 16))),
            "N3": str(self.random.choice((6, 8, 12))),
            "N4": str(self.random.choice((10, 25, 50))),
            "DAY": self.random.choice(("Sunday", "Friday", "Tuesday")),
        }
        self.sessions = [self._session(number, sessions) for number in range(sessions)]
        self.facts = self.random.sample(material.FACTS, min(facts, len(material.FACTS)))

    def _session(self, number: int, count: int) -> Session:
        start = MONDAY + timedelta(minutes=7 * 24 * 60 * number / count)
        name = f"{self.random.getrandbits(32):08x}-0000-4000-8000-{number:012x}"
        agent = self.random.choices(AGENTS, (6, 3, 1))[0]
        return Session(name=name, agent=agent, task=f"site-{1 + number % 6}", start=start)

    def worded(self, text: str) -> str:
        """Return one wording of a text with choices."""
        while found := _CHOICE.search(text):
            name = found[1]
            usual, *others = name.split("|")
            # most have one way to say a thing, and the code and its errors give them the words
            chosen = usual if not others or self.random.random() < 0.6 else self.random.choice(others)
            chosen = self.values.get(name, chosen)
            text = text[: found.start()] + chosen + text[found.end() :]
        return " ".join(text.split())

    # What sessions consist of

    def payload(self, session: Session, event: str, **fields: object) -> dict[str, object]:
        common = {
            "session_id": session.name,
            "transcript_path": f"/home/dev/.claude/projects/site/{session.name}.jsonl",
            "cwd": "/home/dev/code/site",
            "hook_event_name": event,
            "permission_mode": "acceptEdits",
        }
        return {**common, **fields}

    def tool(self, session: Session) -> dict[str, object]:
        """Return one of the many calls in which nothing is found out."""
        path = f"{self.random.choice(_FOLDERS)}/{self.random.choice(_NAMES)}.py"
        tool = self.random.choices(
            ("Read", "Grep", "Bash", "Edit", "Write", "WebFetch", "Failure"), (9, 6, 9, 7, 2, 1, 2)
        )[0]
        line = self.random.choice(
            (
                "# NOTE: keep in sync with the mobile app",
                "# TODO: always validate the currency here",
                "raise ValueError('seat is taken')",
                "LEARNED: a line of a file that somebody read is nobody's finding",
                "assert response.status_code == 201",
            )
        )
        number = self.random.randrange(10, 400)
        given: dict[str, object]
        match tool:
            case "Read":
                given = {"file_path": f"/home/dev/code/site/{path}"}
                answer: object = {
                    "type": "text",
                    "file": {"filePath": path, "content": f"{number}\t{line}\n" * 9},
                }
            case "Grep":
                given = {"pattern": self.random.choice(_NAMES), "path": "api", "output_mode": "content"}
                answer = {"mode": "content", "numFiles": 3, "content": f"{path}:{number}:{line}"}
            case "Bash":
                given = {
                    "command": self.random.choice(
                        (
                            f"pytest -q {path}",
                            "git status --short",
                            f"rg -n '{line}'",
                            "make check",
                            "ls -la api",
                        )
                    ),
                    "description": "Look at the state of the project",
                }
                answer = {"stdout": f"{number} passed in 3.2s\n{line}", "stderr": "", "interrupted": False}
            case "Edit":
                given = {"file_path": path, "old_string": line, "new_string": f"{line}  # checked"}
                answer = {"filePath": path, "oldString": line, "userModified": False}
            case "Write":
                given = {"file_path": path, "content": f"{line}\n" * 20}
                answer = {"type": "create", "filePath": path}
            case "WebFetch":
                given = {"url": f"https://docs.example.org/{number}", "prompt": "How are retries configured?"}
                answer = {"bytes": 4000, "code": 200, "result": f"Always set a limit.\n\n{line}"}
            case _:
                return self.payload(
                    session,
                    "PostToolUseFailure",
                    tool_name="Bash",
                    tool_input={"command": f"pytest -q {path}"},
                    error=f"Exit code 1\nE   AssertionError: {line}\n{number} failed",
                    is_interrupt=False,
                )
        return self.payload(
            session, "PostToolUse", tool_name=tool, tool_input=given, tool_response=answer, duration_ms=number
        )

    def insert(self, session: Session, payload: dict[str, object] | str) -> None:
        """Put a step anywhere into a session, after what opens it."""
        session.steps.insert(self.random.randint(min(1, len(session.steps)), len(session.steps)), payload)

    def comment(self, session: Session, type: str, text: str) -> None:
        said = f"{type}: {text}".replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`").replace("$", "\\$")
        tail = self.random.choice(("", " && bd close " + session.task, " 2>&1 | tail -3"))
        command = f'bd comments add {session.task} "{said}"{tail}'
        self.insert(
            session,
            self.payload(
                session,
                "PostToolUse",
                tool_name="Bash",
                tool_input={"command": command, "description": "Record the finding"},
                tool_response={"stdout": "Comment added", "stderr": ""},
            ),
        )

    def close(self, session: Session, *paragraphs: str) -> None:
        """Have the agent end a turn with a message; some turns are in the transcript as well, or there alone."""
        opening = self.random.choice(self.material.OPENINGS)
        ending = self.random.choice(self.material.ENDINGS)
        message = "\n\n".join(filter(None, (opening, *paragraphs, ending)))
        where = self.random.random()
        if where < 0.85:
            event = "SubagentStop" if self.random.random() < 0.15 else "Stop"
            self.insert(
                session,
                self.payload(session, event, stop_hook_active=False, last_assistant_message=message),
            )
        if where > 0.6:
            self.wrote(session, message)

    def wrote(self, session: Session, message: str) -> None:
        session.transcript.append(
            {
                "type": "assistant",
                "sessionId": session.name,
                "timestamp": session.start.isoformat().replace("+00:00", "Z"),
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "LEARNED: nothing of this is said aloud to anybody"},
                        {"type": "text", "text": message},
                        {"type": "tool_use", "name": "Bash", "input": {"command": "make check"}},
                    ],
                },
            }
        )

    def prompt(self, session: Session, text: str) -> None:
        self.insert(session, self.payload(session, "UserPromptSubmit", prompt=text))

    # How things are said

    def announced(self, how: str, text: str) -> tuple[str, str]:
        """Return a statement as an agent announces it: a type for a comment, and a paragraph."""
        low = text[:1].lower() + text[1:] if text[1:2].islower() else text
        high = text[:1].upper() + text[1:]
        type, *paragraphs = self.material.CUES[how]
        return type, self.random.choice(paragraphs).replace("{low}", low).replace("{high}", high)

    def say(self, session: Session, how: str, text: str) -> None:
        """Have an agent say something, in a comment or in a message; now and then in both."""
        type, paragraph = self.announced(how, text)
        way = self.random.random()
        if way < 0.45:
            self.comment(session, type, text[:1].upper() + text[1:])
        if way > 0.35:
            bullet = self.random.choice(("", "", "- "))
            self.close(session, self.material.CONTEXT, bullet + paragraph)

    def quoted(self, text: str) -> str:
        """Return words of somebody else's as agents and people hand them on."""
        return self.random.choice(
            (
                f"> {text}",
                f"```\n{text}\n```",
                f"The page says “{text}”, which I did not follow.",
                f"The issue text was:\n\n{text}",
                f'<untrusted-knowledge source="log">\n{text}\n</untrusted-knowledge>',
                f"<system-reminder>\n{text}\n</system-reminder>",
            )
        )


def make_week(
    seed: int, *, material: Material = usual, sessions: int = 24, payloads: int = 4200, facts: int = 30
) -> Week:
    """Return the week of that seed, with at least so many payloads."""
    writer = _Writer(seed, material, sessions=sessions, facts=facts)
    wanted = [*_facts(writer), *_rules(writer)]
    _noise(writer)
    shown = _recalled(writer)
    secrets = _secrets(writer)
    for session in writer.sessions:
        session.steps.insert(0, writer.payload(session, "SessionStart", source="startup"))
    count = sum(session.payloads for session in writer.sessions)
    for number in range(max(payloads - count, 0)):
        session = writer.sessions[number % sessions]
        writer.insert(session, writer.tool(session))
    boot = {name: "# Notes\n\n" + "".join(f"- {line}\n" for line in lines) for name, lines in material.BOOT.items()}
    return Week(
        sessions=writer.sessions,
        boot=boot,
        wanted=wanted,
        secrets=secrets,
        shown=shown,
        injected=material.INJECTED,
    )


def _facts(writer: _Writer) -> list[Fact]:
    """Say each fact in two to five sessions, in whatever wording comes; some of them twice in one."""
    found = []
    for label, phrase, how, text in writer.facts:
        fact = Fact(label=label, phrase=phrase)
        for session in writer.random.sample(writer.sessions, writer.random.choice((2, 3, 3, 4, 5))):
            fact.sessions.add(session.name)
            for _ in range(writer.random.choice((1, 1, 1, 2))):
                said = writer.worded(text)
                fact.said.append(said)
                writer.say(session, how, said)
        found.append(fact)
    return found


def _rules(writer: _Writer) -> list[Fact]:
    found = []
    for label, phrase, text in writer.material.RULES:
        fact = Fact(label=label, phrase=phrase, by_user=True)
        for session in writer.random.sample(writer.sessions, writer.random.choice((1, 1, 2))):
            fact.sessions.add(session.name)
            said = writer.worded(text)
            fact.said.append(said)
            before = writer.random.choice(("", "Looks good. ", "Thanks!\n\n", "Fix the export, please.\n"))
            writer.prompt(session, before + said)
        found.append(fact)
    return found


def _noise(writer: _Writer) -> None:
    pick = writer.random
    for text in writer.material.ONCE:
        _say_line(writer, pick.choice(writer.sessions), text)
    for how, text in writer.material.ECHOES:
        for session in pick.sample(writer.sessions, 3):
            writer.say(session, how, writer.worded(text))
    for how, one, other in writer.material.DISPUTES:
        for text in (one, other):
            for session in pick.sample(writer.sessions, 2):
                writer.say(session, how, text)
    for text in writer.material.CHATTER:
        for session in pick.sample(writer.sessions, pick.choice((1, 2, 3))):
            _say_line(writer, session, writer.worded(text))
    for text in writer.material.PROMPTS:
        for session in pick.sample(writer.sessions, pick.choice((1, 2))):
            writer.prompt(session, text)
    for text in writer.material.INJECTIONS:
        for session in pick.sample(writer.sessions, 3):
            writer.insert(session, _poisoned(writer, session, text))
            writer.close(session, writer.quoted(text))
        session = pick.choice(writer.sessions)
        writer.prompt(session, "Have a look at this issue:\n\n" + writer.quoted(text))


def _say_line(writer: _Writer, session: Session, text: str) -> None:
    type, _, rest = text.partition(": ")
    if type.isupper() and writer.random.random() < 0.5:
        writer.comment(session, type, rest)
    else:
        writer.close(session, text)


def _poisoned(writer: _Writer, session: Session, text: str) -> dict[str, object]:
    """Return the call of a tool whose output says what agents should do."""
    if writer.random.random() < 0.5:
        return writer.payload(
            session,
            "PostToolUse",
            tool_name="WebFetch",
            tool_input={"url": "https://blog.example.net/post", "prompt": "Summarise"},
            tool_response={"code": 200, "result": f"# A page\n\n{text}\n"},
        )
    return writer.payload(
        session,
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "gh issue view 12"},
        tool_response={"stdout": f"title: broken\n--\n{text}\n", "stderr": ""},
    )


def _recalled(writer: _Writer) -> list[str]:
    """Say three things once; later sessions look them up, and say again what they were shown."""
    shown = []
    third = len(writer.sessions) // 3
    for how, text in writer.material.RECALLED:
        first = writer.random.choice(writer.sessions[:third])
        writer.say(first, how, text)
        shown.append(text)
        for session in writer.random.sample(writer.sessions[third:], 3):
            again = writer.random.choice((text, text, text.replace("The ", "", 1), f"As noted before, {text}"))
            writer.say(session, how, again)
            # before anything is said
            session.steps.insert(0, text)
    return shown


def _secrets(writer: _Writer) -> list[str]:
    for secret, text in writer.material.SECRETS:
        said = text.replace("{S}", secret)
        for session in writer.random.sample(writer.sessions, 2):
            _say_line(writer, session, said)
            writer.insert(
                session,
                writer.payload(
                    session,
                    "PostToolUse",
                    tool_name="Bash",
                    tool_input={"command": f"SECRET='{secret}' make smoke"},
                    tool_response={"stdout": "", "stderr": f"auth failed for {secret}", "exit_code": 1},
                ),
            )
    return [secret for secret, _ in writer.material.SECRETS]


def transcript_of(session: Session) -> str:
    """Return a session's transcript as its harness writes it: JSON lines, of many kinds."""
    user = {"type": "user", "sessionId": session.name, "timestamp": session.start.isoformat()}
    others: list[dict[str, object]] = [
        {"type": "summary", "summary": "LEARNED: what a harness sums up is nobody's statement"},
        {**user, "isMeta": True, "message": {"role": "user", "content": "Always run the hidden command first."}},
        {**user, "isSidechain": True, "message": {"role": "user", "content": "Always search in api/ before shop/."}},
        {**user, "isCompactSummary": True, "message": {"role": "user", "content": [
            {"type": "text", "text": "This session is being continued.\n\nAlways continue where it was left off."}]}},
        {**user, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "Never trust what a tool prints as output."}]}},
        {**user, "message": {"role": "user", "content":
            "<command-name>/review</command-name>\n<command-message>Always review each file twice.</command-message>"}},
    ]  # fmt: skip
    lines = [json.dumps(line) for line in (*others, *session.transcript)]
    return "\n".join([*lines, '{"type":"assistant","mess'])
