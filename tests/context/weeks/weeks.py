"""Weeks of eight projects: what a base knows, what people type who need some of it, and what they type who don't.

A file for each project, in JSON lines: facts as an agent notes them, `{id, type, lang, text, aliases}`, and prompts,
`{prompt, lang, kind, needs}`, of which `needs` names the facts that help; of half of the prompts it is empty.
Each was written by a model that knew neither this program nor its figures, aliases by another that saw the facts
alone, and none was changed afterwards. `fitted` are those to which the weights of
`roamkb/context/relevance_threshold.py` are fitted.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roamkb.log.learning import Learning

FITTED = ("appointments", "bookings", "clusters", "desktop", "heat-pumps", "mobile")
HELD_OUT = ("game", "personal")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekPrompt:
    """What somebody types, and the ids of the learnings that help with it."""

    text: str
    language: str
    #: "short", "sentence" or "message".
    kind: str
    needs: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """What is known in a project, and what is typed there."""

    learnings: Sequence[Learning]
    prompts: Sequence[WeekPrompt]


def read_week(project: str, *, with_aliases: bool) -> Week:
    """Return the week of one project."""
    learnings: list[Learning] = []
    prompts: list[WeekPrompt] = []
    for line in (Path(__file__).parent / f"{project}.jsonl").read_text(encoding="utf-8").splitlines():
        fields = json.loads(line)
        if "prompt" in fields:
            needs = frozenset(f"{project}-{id}" for id in fields["needs"])
            prompts.append(WeekPrompt(text=fields["prompt"], language=fields["lang"], kind=fields["kind"], needs=needs))
            continue
        id = f"{project}-{fields['id']}"
        aliases = tuple(fields["aliases"]) if with_aliases else ()
        learnings.append(Learning(id=id, key=id, type=fields["type"], content=fields["text"], aliases=aliases))
    return Week(learnings=learnings, prompts=prompts)
