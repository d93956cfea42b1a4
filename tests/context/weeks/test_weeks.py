"""What the prompt hook brings in weeks that nothing was fitted to, with aliases and without."""

from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import make_world
from tests.context.needs.test_needs import offered
from tests.context.weeks.weeks import HELD_OUT
from tests.context.weeks.weeks import read_week


def outcome(project: str, home: Path, *, with_aliases: bool) -> Counter[str]:
    """Count what becomes of the prompts of a project that knows all its facts."""
    world = make_world(home)
    week = read_week(project, with_aliases=with_aliases)
    log = world.open().log
    log.init()
    for one in week.learnings:
        log.learn(one.content, type=one.type, aliases=one.aliases, session=one.id)
    # long ones are shown shortened
    texts = {one.id: one.content[:60] for one in week.learnings}
    counts: Counter[str] = Counter()
    for number, prompt in enumerate(week.prompts):
        items = offered(world, prompt.text, f"session-{number}")
        right = sum(any(texts[id] in item for id in prompt.needs) for item in items)
        counts.update(items=len(items), right=right, prompts=1)
        if prompt.needs:
            counts.update(needing=1, met=right > 0)
        else:
            counts.update(needless=1, silent=not items)
    return counts


@pytest.mark.slow
@pytest.mark.parametrize(("with_aliases", "met"), [(False, 0.34), (True, 0.53)])
def test_what_is_needed_is_brought_and_little_else(with_aliases: bool, met: float, tmp_path: Path) -> None:
    """Of what is needed .39, and with aliases .60; silent at .94 of what needs nothing, when it was written."""
    both = [outcome(project, tmp_path / project, with_aliases=with_aliases) for project in HELD_OUT]
    total = sum(both, Counter[str]())
    assert total["prompts"] == 360
    assert total["met"] / total["needing"] >= met, both
    assert total["silent"] / total["needless"] >= 0.92, both
    assert total["right"] / total["items"] >= 0.76, both
