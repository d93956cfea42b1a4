"""The floor under what is shown unasked, on prompts that people type (`tests/interfaces/prompts.py`)."""

import shutil
from pathlib import Path

from roamkb.actions.offer import offered_learnings
from roamkb.actions.offer import offered_nodes
from roamkb.core.floor import Weights
from roamkb.core.floor import is_worth
from roamkb.core.learning import Learning
from roamkb.core.ledger import replay
from roamkb.storage.index import Index
from roamkb.storage.log_index import LogIndex
from roamkb.storage.nodes import Notes
from tests.conftest import ROOT
from tests.interfaces.prompts import LOG
from tests.interfaces.prompts import PROMPTS


def test_what_is_shown_at_a_prompt_is_nearly_always_to_the_point(tmp_path: Path) -> None:
    """Precision 0.8 at least, over items; most of what would help is shown; nearly nothing where nothing does."""
    shutil.copytree(ROOT / "fixtures" / "kb", tmp_path / "kb")
    notes = Notes(tmp_path / "kb")
    nodes = Index(notes, tmp_path / "cache")
    learnings = [
        Learning(id=f"l-{n}", key=f"k-{n}", type=type, content=text) for n, (type, text) in enumerate(LOG)
    ]
    state = replay(learnings, [])
    log = LogIndex(tmp_path / "log", {one.id: one for one in learnings})
    right = wrong = helped = disturbed = 0
    for prompt, wanted in PROMPTS:
        found = [hit.title for hit in offered_nodes(nodes, notes, prompt, limit=3)]
        found += [one.learning.content for one in offered_learnings(log, state, prompt, limit=3)]
        good = sum(text.startswith(wanted) for text in found) if wanted else 0
        right, wrong = right + good, wrong + len(found) - good
        helped += good > 0
        disturbed += bool(found) and not wanted
    asked = sum(bool(wanted) for _, wanted in PROMPTS)
    assert right / (right + wrong) >= 0.85, (right, wrong)
    assert helped / asked >= 0.9
    assert disturbed <= 3


def test_a_word_alone_is_worth_nothing_and_half_of_the_words_are() -> None:
    """However rare it is, one word of five may mean anything."""
    weights = Weights(terms=dict.fromkeys("abcde", 3.0), rarest=3.0)
    assert not is_worth(weights, name=frozenset("a"), text=frozenset())
    assert is_worth(weights, name=frozenset("ab"), text=frozenset())
    assert not is_worth(weights, name=frozenset(), text=frozenset("abcde"))
