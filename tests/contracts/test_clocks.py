"""No test fails because a machine is slow: none is ended, and nothing is judged, by the clock on the wall."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
#: Print figures, and belong to no suite.
_FIGURES = _TESTS / "benchmarks"
#: What waits for something, and gives up after the seconds that it is told.
_WAITS = {
    *("run", "call", "check_call", "check_output", "communicate", "wait", "join", "result", "acquire"),
    *(
        "create_connection",
        "HTTPConnection",
        "urlopen",
        "settimeout",
        "get",
        "put",
        "fail_after",
        "move_on_after",
    ),
    *("alarm", "setitimer", "wait_for", "timeout"),
}
#: What tells the time on the wall; the processor's own time is another matter.
_CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}


def _clocks(tree: ast.AST) -> Iterator[int]:
    """Yield the lines in which seconds decide."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _CLOCKS:
            yield node.lineno
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        named = {one.arg: one.value for one in node.keywords}
        if name in _WAITS:
            told = [*node.args[:1], named.get("timeout", node)]
            if any(isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in told):
                yield node.lineno
        if name == "settings":
            checks = ast.unparse(named.get("suppress_health_check", ast.Name("list(HealthCheck)")))
            if "too_slow" not in checks and checks != "list(HealthCheck)":
                yield node.lineno
            if ast.unparse(named.get("deadline", ast.Constant(None))) != "None":
                yield node.lineno


@pytest.mark.parametrize(
    "text",
    [
        "subprocess.run(words, timeout=240)",
        "process.wait(60)",
        "process.communicate(timeout=30.0)",
        "end = time.monotonic() + 30",
        "with anyio.fail_after(60): pass",
        "settings(suppress_health_check=[HealthCheck.function_scoped_fixture])",
        "settings(deadline=200)",
    ],
)
def test_a_clock_is_seen(text: str) -> None:
    """The test below can fail."""
    assert [1] == list(_clocks(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "process.wait()",
        "told.update(timeout=1)",
        "settings(deadline=None)",
        "time.process_time()",
        "kb.get(name)",
    ],
)
def test_what_is_no_clock_is_let_be(text: str) -> None:
    """Waiting for what comes, and the processor's time."""
    assert [] == list(_clocks(ast.parse(text)))


def test_no_test_is_ended_by_a_clock() -> None:
    """Whoever waits waits for what comes; a test that hangs is the runner's to end."""
    files = [path for path in _TESTS.rglob("*.py") if not path.is_relative_to(_FIGURES)]
    found = [
        f"{path.relative_to(_TESTS)}:{line}"
        for path in files
        for line in _clocks(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert [] == found
