"""Mutants of what must not break: how many of a sample do the tests beside them kill?

    python -m tests.benchmarks.mutation [AREA...] [--sample 25] [--seed 0] [--jobs 1]

A mutant is the module with one change: `any` for `all`, `==` for `!=`, `<` for `<=`, `and` for `or`, a `not` removed, a
number one more or less, `None` returned, a `raise` dropped. Each runs in a copy of this checkout with the tests of its
own area alone. `equivalent_mutants.tsv` lists those that change nothing which anybody could see, each with the reason;
they are left out of the count. The status is 1 where an area kills less than nine of ten.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
#: By area: what is mutated, and the tests that must notice.
AREAS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "boundary": (
        ("roamkb/boundary/*.py", "roamkb/boundary/store/*_evidence.py", "roamkb/boundary/store/knowledge_bases.py"),
        ("tests/boundary",),
    ),
    "replay": (
        ("roamkb/log/state/*.py",),
        ("tests/log/state", "tests/log/store/cache/test_state_cache.py"),
    ),
    "durable write": (
        ("roamkb/fs/files.py", "roamkb/fs/append.py", "roamkb/fs/locks.py"),
        ("tests/fs/test_files.py", "tests/fs/test_append.py", "tests/fs/test_locks.py"),
    ),
    "org writer": (
        ("roamkb/org/writer.py", "roamkb/org/escape.py"),
        ("tests/org/test_writer.py", "tests/org/test_escape.py"),
    ),
    "secrets": (("roamkb/secrets/*.py",), ("tests/secrets",)),
    "gate": (("roamkb/pipeline/gate/*.py",), ("tests/pipeline/gate",)),
}
WANTED_SHARE = 0.9
#: Seconds after which a mutant that runs on counts as noticed: it loops.
_LOOP_SECONDS = 300
_EQUIVALENT_FILE = Path(__file__).with_name("equivalent_mutants.tsv")
_SWAPPED_CALLS = {"any": "all", "all": "any"}
_SWAPPED_COMPARISONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One change of one module."""

    path: str
    line: int
    #: The place in the order of `_Mutator`.
    number: int
    #: What is there, and what the mutant has instead.
    change: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


class _Mutator(ast.NodeTransformer):
    """Numbers all changes in a module; makes the one that is `chosen`."""

    def __init__(self, chosen: int | None = None) -> None:
        self._chosen = chosen
        self._numbers = count()
        self.found: list[tuple[int, int, str]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave annotations alone: nothing reads them."""
        node.body = [statement for each in node.body for statement in self._statements(each)]
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Leave annotations alone."""
        node.value = node.value and self.visit(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Swap `any` and `all`."""
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _SWAPPED_CALLS:
            mutated = ast.Call(ast.Name(_SWAPPED_CALLS[name], ast.Load()), node.args, node.keywords)
            return self._offer(node, mutated)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Turn a comparison round, or move its edge."""
        self.generic_visit(node)
        swapped = _SWAPPED_COMPARISONS.get(type(node.ops[0]))
        return (
            self._offer(node, ast.Compare(node.left, [swapped(), *node.ops[1:]], node.comparators)) if swapped else node
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Swap `and` and `or`."""
        self.generic_visit(node)
        return self._offer(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Remove a `not`."""
        self.generic_visit(node)
        return self._offer(node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Add one to a number, or take one away."""
        if type(node.value) is not int:
            return node
        return self._offer(self._offer(node, ast.Constant(node.value + 1)), ast.Constant(node.value - 1), shown=node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return None, which is no less false than False."""
        self.generic_visit(node)
        is_empty = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        is_false = isinstance(node.value, ast.Constant) and node.value.value is False
        return node if is_empty or is_false else self._offer(node, ast.Return(ast.Constant(None)))

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """Drop a `raise`; the words of an error are nobody's promise."""
        return self._offer(node, ast.Pass())

    def _statements(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        changed = self.visit(statement)
        yield from changed if isinstance(changed, list) else [changed]

    def _offer(self, node: ast.AST, mutated: ast.AST, *, shown: ast.AST | None = None) -> ast.AST:
        number = next(self._numbers)
        original = shown or node
        line = getattr(original, "lineno", 0)
        self.found.append((number, line, f"{_one_line(original)} → {_one_line(mutated)}"))
        return ast.copy_location(mutated, original) if number == self._chosen else node


def _one_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return every mutant of a module."""
    mutator = _Mutator()
    mutator.visit(ast.parse(source))
    lines = ["", *source.splitlines()]
    return [
        # a number alone says nothing
        Mutant(
            path=path,
            line=line,
            number=number,
            change=f"{change} in {lines[line].strip()}" if change[0].isdigit() else change,
        )
        for number, line, change in mutator.found
    ]


def mutated_source(mutant: Mutant, source: str) -> str:
    """Return the module with the mutant's change."""
    return ast.unparse(ast.fix_missing_locations(_Mutator(mutant.number).visit(ast.parse(source))))


def sample_mutants(area: str, size: int, seed: int) -> list[Mutant]:
    """Return a sample of an area's mutants, the same for the same seed."""
    paths = sorted(
        path.relative_to(ROOT).as_posix()
        for pattern in AREAS[area][0]
        for path in ROOT.glob(pattern)
        if path.name != "__init__.py"
    )
    mutants = [mutant for path in paths for mutant in mutants_of(path, (ROOT / path).read_text())]
    return sorted(random.Random(seed).sample(mutants, min(size, len(mutants))), key=str)


def equivalent_mutants() -> dict[tuple[str, str], str]:
    """Return the reasons why mutants change nothing, by module and change."""
    rows = (line.split("\t") for line in _EQUIVALENT_FILE.read_text().splitlines() if line and line[0] != "#")
    return {(path, change): reason for path, change, reason in rows}


class _Checkout:
    """A copy of what the tests need, in which one mutant after the other is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("roamkb", "tests", "rules", "docs", "fixtures"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)

    def passes(self, tests: Sequence[str]) -> bool:
        """Say whether tests pass here."""
        command = [
            sys.executable,
            "-B",
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            *tests,
        ]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=_environment(self.folder),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(_LOOP_SECONDS) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False

    def survives(self, mutant: Mutant, tests: Sequence[str]) -> bool:
        """Say whether no test notices a mutant."""
        path = self.folder / mutant.path
        source = path.read_text()
        path.write_text(mutated_source(mutant, source))
        try:
            return self.passes(tests)
        finally:
            path.write_text(source)


def _environment(folder: Path) -> dict[str, str]:
    import os

    return {
        **os.environ,
        "PYTHONPATH": str(folder),
        "ROAMKB_TEST_QUICK": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "h"),
    }


def try_area(area: str, free: "SimpleQueue[_Checkout]", *, size: int, seed: int, jobs: int) -> bool:
    """Try an area's sample and print what survived; return whether enough were killed."""
    tests = AREAS[area][1]
    equivalent = equivalent_mutants()
    mutants = sample_mutants(area, size, seed)
    wanted = [mutant for mutant in mutants if (mutant.path, mutant.change) not in equivalent]

    def survives(mutant: Mutant) -> bool:
        checkout = free.get()
        try:
            return checkout.survives(mutant, tests)
        finally:
            free.put(checkout)

    with ThreadPoolExecutor(jobs) as pool:
        survivors = [mutant for mutant, is_alive in zip(wanted, pool.map(survives, wanted), strict=True) if is_alive]
    killed = len(wanted) - len(survivors)
    print(f"{area}: {killed} of {len(wanted)} killed, {len(mutants) - len(wanted)} equivalent", flush=True)
    for mutant in survivors:
        print(f"  survives: {mutant}", flush=True)
    return killed >= WANTED_SHARE * len(wanted)


def main() -> int:
    """Try the samples of the areas; return 1 where too many survive."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("areas", nargs="*", metavar="AREA")
    options.add_argument("--sample", type=int, default=25)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=1)
    given = options.parse_args()
    areas = given.areas or list(AREAS)
    with tempfile.TemporaryDirectory() as top:
        checkouts = [_Checkout(Path(top) / str(number)) for number in range(given.jobs)]
        for area in areas:
            if not checkouts[0].passes(AREAS[area][1]):
                raise SystemExit(f"the tests of {area} fail without a mutant")
        free: SimpleQueue[_Checkout] = SimpleQueue()
        for checkout in checkouts:
            free.put(checkout)
        results = [try_area(area, free, size=given.sample, seed=given.seed, jobs=given.jobs) for area in areas]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
