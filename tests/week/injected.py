"""What hooks put into the prompts of a made-up week: how often, how much, and how much of it helped.

    python -m tests.week.injected [SEED…] [--stranger]

Every payload goes through the session that hooks open for it, in the week's order; in between, sessions are
consolidated and what is verified becomes nodes, as in the week itself. Each session works on one need, by its
branch and by what is typed; an item that it is shown counts where it says the fact that the need is labelled
with (`tests/week/needs.py`). Characters are those of the text that the agent reads, frame included.
"""

import argparse
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from roamkb.app.hooks.events import HookEventSession
from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.context.brief_text import SessionBrief
from roamkb.interfaces.output.context import brief_text
from roamkb.interfaces.output.context import remedy_text
from roamkb.interfaces.output.context import suggestions_text
from tests.week import material
from tests.week import needs
from tests.week import stranger
from tests.week import stranger_needs
from tests.week.generator import Material
from tests.week.generator import Session
from tests.week.generator import Week
from tests.week.generator import make_week
from tests.week.run import _world

#: Sessions after which somebody looks after the log.
_CURATED = 4
Payload = dict[str, object]


class Needs(Protocol):
    """What people set out to do, and what helps with it: a module such as `needs` or `stranger_needs`."""

    NEEDS: tuple[tuple[str, str, str], ...]
    NOTHING: tuple[str, ...]
    FILES: tuple[tuple[str, str, str, str], ...]
    ERRORS: tuple[tuple[str, str, str, str], ...]
    NEW_ERRORS: tuple[str, ...]
    PROMPTS: dict[str, str]


@dataclass(kw_only=True)
class Tally:
    """What one kind of injection came to."""

    #: How often there was an occasion, how often something that would help was known, and how often it was shown.
    asked: int = 0
    known: int = 0
    helped: int = 0
    shown: int = 0
    items: int = 0
    right: int = 0
    characters: int = 0
    #: Items of a brief that say what its session turned out to need, and their characters.
    needed: int = 0
    needed_characters: int = 0
    longest: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Count what another week came to as well."""
        for name in (
            "asked",
            "known",
            "helped",
            "shown",
            "items",
            "right",
            "characters",
            "needed",
            "needed_characters",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)
        self.wrong += other.wrong

    @property
    def precision(self) -> float:
        """Of what was shown, how much helped."""
        return self.right / self.items if self.items else 1.0

    @property
    def recall(self) -> float:
        """Of the occasions for which something was known, how many were helped."""
        return self.helped / self.known if self.known else 1.0

    @property
    def silence(self) -> float:
        """How often nothing was said."""
        return 1 - self.shown / self.asked if self.asked else 1.0


class Listener:
    """Counts what is shown, and whether it says what was needed."""

    def __init__(self, week: Week, needs: Needs) -> None:
        self.needs = needs
        self.tallies: dict[str, Tally] = defaultdict(Tally)
        self._phrases = {fact.label: fact.phrase for fact in week.wanted}
        #: What the session was shown by now: nothing is said twice.
        self.told: list[str] = []

    def phrase(self, label: str) -> str:
        """Return a regular expression for what says the fact of that label."""
        return self._phrases.get(label, r"(?!)")

    def heard(
        self, kind: str, text: str, items: Iterable[str], *, about: str, phrase: str, known: Iterable[str]
    ) -> None:
        """Count one occasion: the items that were shown, and all that was known."""
        tally, items = self.tallies[kind], list(items)
        right = [one for one in items if re.search(phrase, one, re.IGNORECASE)]
        is_told = any(re.search(phrase, one, re.IGNORECASE) for one in self.told)
        tally.asked += 1
        tally.known += not is_told and any(re.search(phrase, one, re.IGNORECASE) for one in known)
        self.told += items
        tally.helped += not is_told and bool(right)
        tally.shown += bool(items)
        tally.items += len(items)
        tally.right += len(right)
        tally.characters += len(text) if items else 0
        tally.wrong += [f"{about}: {one}" for one in items if one not in right]


def listen(week: Week, folder: Path, *, seed: int = 0, needs: Needs = needs) -> dict[str, Tally]:
    """Take a week through its hooks, and return what each kind of injection came to."""
    pick = random.Random(seed)
    base, project, clock = _world(folder, week)
    (project / ".git").mkdir()
    listener = Listener(week, needs)
    clock.now = week.sessions[0].start - timedelta(days=1)
    for type, text, files, edited in needs.FILES:
        if files == edited:
            _capture(base, project, f"{type.upper()}: {text}", files)
        else:
            base.log.learn(text, type=type, files=[files])
    for _, error, technique, _ in needs.ERRORS:
        base.log.remedy("record", error=error, technique=technique, outcome="success")
    labels = {fact.label for fact in week.wanted}
    wanted = [one for one in needs.NEEDS if one[0] in labels]
    for number, session in enumerate(week.sessions):
        clock.now = session.start
        listener.told.clear()
        need = pick.choice(wanted)
        # every other session says by its branch what it is about
        branch = need[1] if number % 2 else "develop"
        (project / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        for payload in _payloads(session, need, project, pick, needs):
            _hear(listener, base, payload, need[0], is_named=number % 2 == 1)
        if number % _CURATED == _CURATED - 1:
            _curate(base, week)
    return dict(listener.tallies)


def _capture(base: KnowledgeBase, project: Path, message: str, file: str) -> None:
    """Have a session of its own say something once it has changed a file, as its hooks hear it."""
    common = {"session_id": f"capture-{Path(file).stem}", "cwd": str(project)}
    tool = {"tool_name": "Edit", "tool_input": {"file_path": str(project / file)}, "tool_response": {}}
    HookEventSession({**common, "hook_event_name": "PostToolUse", **tool}, base.environment).handle_success()
    stop = {**common, "hook_event_name": "Stop", "last_assistant_message": message}
    HookEventSession(stop, base.environment).record_payload()


def _payloads(
    session: Session, need: tuple[str, str, str], project: Path, pick: random.Random, needs: Needs
) -> Iterator[Payload]:
    """Yield a session's payloads, with its need, some edits and some errors among them."""
    steps = [{**one, "cwd": str(project)} for one in session.steps if isinstance(one, dict)]
    common = {name: steps[0][name] for name in ("session_id", "cwd", "permission_mode")}
    edit = {**common, "hook_event_name": "PreToolUse", "tool_name": "Edit"}
    failure = {**common, "hook_event_name": "PostToolUseFailure", "tool_name": "Bash"}
    more = [
        {**common, "hook_event_name": "UserPromptSubmit", "prompt": need[2], "need": need[0]},
        *(
            {**common, "hook_event_name": "UserPromptSubmit", "prompt": one, "need": ""}
            for one in pick.sample(needs.NOTHING, 4)
        ),
        *({**edit, "tool_input": {"file_path": one}} for one in _edited(steps, pick, needs)),
        *(
            {**failure, "tool_input": {"command": f"run {label}"}, "error": error, "need": label}
            for label, _, _, error in pick.sample(needs.ERRORS, 1)
        ),
        *(
            {**failure, "tool_input": {"command": f"run {error[:12]}"}, "error": error, "need": ""}
            for error in pick.sample(needs.NEW_ERRORS, 2)
        ),
    ]
    for one in more:
        steps.insert(pick.randint(1, len(steps)), one)
    yield from steps


def _edited(steps: list[Payload], pick: random.Random, needs: Needs) -> list[str]:
    given = [one["tool_input"] for one in steps if one.get("tool_name") in ("Edit", "Write")]
    files = {str(one["file_path"]) for one in given if isinstance(one, dict)}
    return [*sorted(files), pick.choice(needs.FILES)[3]]


def _hear(listener: Listener, base: KnowledgeBase, payload: Payload, need: str, *, is_named: bool) -> None:
    session, needs = HookEventSession(payload, replace(base.environment)), listener.needs
    match payload["hook_event_name"]:
        case "SessionStart":
            found = session.start_session()
            if found is not None:
                _hear_brief(listener, base, found, need, is_named=is_named)
        case "UserPromptSubmit":
            prompt = str(payload["prompt"])
            label = str(payload.get("need", needs.PROMPTS.get(prompt, "")))
            # who says a rule again is shown it, if anything
            phrase = "|".join(filter(None, [listener.phrase(label), _said_in(listener, prompt)]))
            offer = session.handle_prompt()
            text = suggestions_text(offer, source="what roamkb knows about this")
            items = [*(one.learning.content for one in offer.learnings), *map(_node_text, offer.nodes)]
            listener.heard("prompt", text, items, about=prompt, phrase=phrase, known=_known(base) if label else ())
        case "PreToolUse":
            given = payload["tool_input"]
            file = str(given["file_path"]) if isinstance(given, dict) else ""
            offer = session.before_change(file)
            texts = [text for _, text, files, _ in needs.FILES if Path(file).match(files.replace("**", "*"))]
            phrase = "|".join(map(re.escape, texts)) or r"(?!)"
            text = suggestions_text(offer, source="what is known of this file")
            items = [one.learning.content for one in offer.learnings]
            listener.heard("edit", text, items, about=file, phrase=phrase, known=texts)
        case "PostToolUseFailure":
            remedy = session.handle_failure()
            label = str(payload.get("need", ""))
            wanted = next((technique for one, _, technique, _ in needs.ERRORS if one == label), "")
            text, items = (remedy_text(remedy), [remedy.technique]) if remedy else ("", [])
            phrase = re.escape(wanted) if wanted else r"(?!)"
            listener.heard("failure", text, items, about=label, phrase=phrase, known=[wanted] if wanted else ())
        case "PostToolUse":
            session.handle_success()
        case "Stop" | "SubagentStop":
            session.record_payload()


def _hear_brief(listener: Listener, base: KnowledgeBase, found: SessionBrief, label: str, *, is_named: bool) -> None:
    items = [*(one.learning.content for one in found.learnings), *map(_node_text, found.nodes)]
    text, phrase = brief_text(found), listener.phrase(label)
    # where nothing says what the work is, nothing is known to be about it
    kind, known = ("brief", _known(base)) if is_named else ("start", [])
    tally = listener.tallies[kind]
    listener.heard(kind, text, items, about=label, phrase=phrase, known=known)
    needed = [one for one in items if re.search(phrase, one, re.IGNORECASE)]
    tally.needed += len(needed)
    tally.needed_characters += sum(map(len, needed))
    tally.characters += 0 if items else len(text)
    tally.longest = max(tally.longest, len(text))


def _node_text(hit: object) -> str:
    lines = " ".join(text for _, text in getattr(hit, "lines", ()))
    return f"{getattr(hit, 'title', '')} {lines}"


def _said_in(listener: Listener, prompt: str) -> str:
    return "|".join(phrase for phrase in listener._phrases.values() if re.search(phrase, prompt, re.IGNORECASE))


def _known(base: KnowledgeBase) -> list[str]:
    log = base.log.log_or_none()
    return [one.learning.content for one in log.read_contents().replay_state().standings.values()] if log else []


def _curate(base: KnowledgeBase, week: Week) -> None:
    """Do what a human or an agent does now and then: consolidate, verify, promote."""
    log = base.log
    for agent in sorted({session.agent for session in week.sessions}):
        log.consolidate("agent", agent)
    for task in sorted({session.task for session in week.sessions}):
        log.consolidate("task", task)
    log.verify(batch=True, judge="heuristic")
    log.promote(all=True)


def main() -> None:
    """Print a line for each kind of injection and seed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("seeds", nargs="*", type=int, default=[1, 2, 3])
    options.add_argument("--payloads", type=int, default=900)
    options.add_argument("--verbose", action="store_true", help="say what was shown and didn't help")
    options.add_argument("--stranger", action="store_true", help="another project, in other words")
    given = options.parse_args()
    said: Material = stranger if given.stranger else material
    asked: Needs = stranger_needs if given.stranger else needs
    print("kind     asked shown items right precision  known helped silence  characters: each  a session")
    total: dict[str, Tally] = defaultdict(Tally)
    sessions = 0
    for seed in given.seeds:
        week = make_week(seed, material=said, sessions=20, payloads=given.payloads, facts=30)
        sessions += len(week.sessions)
        with tempfile.TemporaryDirectory() as folder:
            for kind, one in listen(week, Path(folder), seed=seed, needs=asked).items():
                total[kind].add(one)
    for kind, one in sorted(total.items()):
        print(
            f"{kind:8} {one.asked:5} {one.shown:5} {one.items:5} {one.right:5} {one.precision:9.3f}"
            f" {one.known:6} {one.recall:6.3f} {one.silence:7.3f}"
            f" {one.characters / max(one.shown, 1):17.0f} {one.characters / sessions:10.0f}"
        )
        if kind in ("brief", "start"):
            print(
                f"         needed {one.needed / max(one.items, 1):.3f} of the items, "
                f"{one.needed_characters / max(one.characters, 1):.3f} of the characters; "
                f"{one.characters / one.asked:.0f} characters a brief, {one.longest} at most"
            )
        if given.verbose:
            print("".join(f"       {line}\n" for line in one.wrong), end="")


if __name__ == "__main__":
    main()
