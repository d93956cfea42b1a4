"""The reliability sheet names what is there, and the mutants are those of modules that are there."""

from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks.mutation import AREAS
from tests.benchmarks.mutation import equivalent_mutants
from tests.benchmarks.mutation import mutants_of
from tests.benchmarks.mutation import mutated_source
from tests.benchmarks.reliability import ROWS

_ROOT = Path(__file__).parents[2]


def test_each_row_has_a_command_that_is_there() -> None:
    """Each promise has its number, and its command's module and files."""
    assert [*range(1, len(ROWS) + 1)] == [row.number for row in ROWS]
    for row in ROWS:
        assert find_spec(row.words[0])
        assert all((_ROOT / word).exists() for word in row.words if word.startswith("tests/")), row.command


def test_a_mutant_is_one_change_of_its_module() -> None:
    """Of each kind one, and nothing else differs."""
    source = (
        "def wanted(a: int = 3) -> bool:\n    if not a == 1 and any(a):\n        raise ValueError\n    return a < 2\n"
    )
    mutants = mutants_of("m.py", source)
    assert len(mutants) == len({mutated_source(mutant, source) for mutant in mutants}) == 13
    assert {"any(a) → all(a)", "a < 2 → a <= 2", "raise ValueError → pass", "return a < 2 → return None"} <= {
        mutant.change for mutant in mutants
    }


def test_each_equivalent_mutant_is_one_of_an_area() -> None:
    """What is left out of the count is a change of the present code, with a reason."""
    for (path, change), reason in equivalent_mutants().items():
        assert any(
            _ROOT.joinpath(path) in _ROOT.glob(pattern) for patterns, _ in AREAS.values() for pattern in patterns
        )
        assert change in {mutant.change for mutant in mutants_of(path, (_ROOT / path).read_text())}
        assert reason
