"""Operations of many steps, killed or failed between two of them: they tell it, and called again they end well."""

from collections.abc import Iterator

import pytest

from roamkb.interfaces.operations import OPERATIONS
from tests.faults.operation_sweep import OperationSweep
from tests.faults.operation_sweep import operation_sweep
from tests.faults.operations import CARELESS
from tests.faults.operations import CASES
from tests.faults.operations import NOT_SWEPT
from tests.faults.operations import OperationCase
from tests.faults.operations import view
from tests.faults.operations import world_in
from tests.faults.sweep import Fault
from tests.faults.sweep import traced_calls

pytestmark = pytest.mark.usefixtures("strace")

_BY_NAME = {case.name: case for case in CASES}


@pytest.fixture(scope="module")
def sweep() -> Iterator[OperationSweep]:
    """A world in which four faults an operation are tried; `make reliability` tries more, of all operations."""
    with operation_sweep(most=4) as sweep:
        yield sweep


def test_the_sweep_leaves_no_operation_out() -> None:
    """Each in the table is swept, or it is said why not; and nothing else is."""
    assert [*_BY_NAME] == list(dict.fromkeys(case.name for case in CASES))
    assert not _BY_NAME.keys() & NOT_SWEPT.keys()
    assert {operation.name for operation in OPERATIONS} == _BY_NAME.keys() | NOT_SWEPT.keys()
    assert all(NOT_SWEPT.values())


def test_the_sweep_catches_a_careless_operation(sweep: OperationSweep) -> None:
    """One that writes in place and says nothing of what it did."""
    assert sweep.run(CARELESS).broken


@pytest.mark.parametrize(
    "case", [_BY_NAME[name] for name in ("approve", "rollback", "promote", "snapshot")], ids=lambda case: case.name
)
def test_half_done_work_is_told_and_ends_well(case: OperationCase, sweep: OperationSweep) -> None:
    """What is done, what isn't, what to call; and after that call all is as without a fault."""
    result = sweep.run(case)
    print(result)
    assert not result.broken, str(result)
    # how often SQLite writes isn't the same in each run
    assert len(result.duds) < result.runs / 2, str(result)


def test_a_trash_that_is_killed_before_its_note_is_gone_ends_with_one_copy(sweep: OperationSweep) -> None:
    """The copy is in the trash by then: called again it leaves no second one."""
    case = _BY_NAME["trash"]
    base = sweep.once(case, None)
    expected = view(world_in(sweep.folder))
    numbers = [number for name, number, line in traced_calls(base.trace) if name == "unlinkat" and '.org", ' in line]
    run = sweep.once(case, Fault("unlinkat", numbers[0], "KILL"))
    assert run.fired
    assert "" == sweep.check(case, run, expected)


def test_an_approval_that_fails_at_the_third_file_names_all_three(sweep: OperationSweep) -> None:
    """Those that have their lines, and the one that hasn't."""
    base = sweep.once(_BY_NAME["approve"], None)
    third = [number for name, number, line in traced_calls(base.trace) if name == "renameat" and '.md")' in line][2]
    run = sweep.once(_BY_NAME["approve"], Fault("renameat", third, "EACCES"))
    assert (2, True) == (run.status, run.fired)
    assert "; the lines are in docs/STYLE.md, CLAUDE.md, and not yet in docs/AGENTS.md\n" in run.said
    assert "`roamkb review` shows what is left" in run.said
