"""What a shared log costs: `learn`, what is seen elsewhere when, and a new copy of a long log.

python -m tests.benchmarks.shared_log [--learnings 5000]

The service is a PostgreSQL of this run's own. Times are ratios to what the same costs without a service.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from roamkb.core.model import ProjectKind
from roamkb.log.share.share import migration_sql
from roamkb.log.store.share_process import start_worker
from tests import trusting
from tests.conftest import learn
from tests.postgres import running_server
from tests.sharing_machines import Machine
from tests.sharing_machines import SharedProject


def main() -> None:
    """Run both parts and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learnings", type=int, default=5_000, help="of the log that a new copy takes in")
    wanted = parser.parse_args()
    with running_server() as server, tempfile.TemporaryDirectory() as name:
        server.run_sql(migration_sql(ProjectKind.PERSONAL, "lantern", ["anna"]))
        project = SharedProject(server=server, name="lantern", folder=Path(name))
        report_new_container(project, wanted.learnings)
        report_latencies(project)


def seconds_of(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def report_latencies(project: SharedProject) -> None:
    """Print what `learn` costs with and without a service, and when a line is visible elsewhere."""
    plain, anna = project.machine("plain"), project.machine("anna").turn_on()
    bert, away = project.machine("bert").turn_on(), project.machine("away").turn_on()
    service = away.world.home / ".pg_service.conf"
    service.write_text(service.read_text().replace("host=", "host=/nowhere"))
    times: dict[str, list[float]] = {"plain": [], "online": [], "offline": []}
    for number in range(12):
        for name, machine in (("plain", plain), ("online", anna), ("offline", away)):
            text = f"{name} {number}"
            times[name].append(seconds_of(lambda m=machine, t=text: learn_by_command(m, t)))  # type: ignore[misc]
    base = statistics.median(times["plain"])
    print(f"learn: offline {statistics.median(times['offline']) / base:.2f}, ", end="")
    print(f"online {statistics.median(times['online']) / base:.2f} of unshared")
    cold, warm = [], []
    for number in range(10):
        # as long as nobody is at work any more
        time.sleep(11)
        learn_by_command(anna, f"Cold line {number}")
        cold.append(seconds_of(lambda n=number: wait_until(bert, f"Cold line {n}", by_command=True)))  # type: ignore[misc]
    for machine in (anna, bert):
        start_worker(machine.log, machine.world.state)
    for number in range(20):
        anna.learn(f"Warm line {number}")
        warm.append(seconds_of(lambda n=number: wait_until(bert, f"Warm line {n}")))  # type: ignore[misc]
    for name, found in (("by the next commands", cold), ("with a process at work", warm)):
        print(f"visible elsewhere {name}: p50 {statistics.median(found):.2f} s, p95 {sorted(found)[-1]:.2f} s")


def learn_by_command(machine: Machine, text: str) -> None:
    """Learn one thing as an agent's command does."""
    ran = trusting.run(machine.world, "learn", text, "--type", "fact")
    assert ran.status == 0, ran.err


def wait_until(machine: Machine, text: str, *, by_command: bool = False) -> None:
    """Wait until a machine has a line; `by_command` asks as an agent does."""
    while True:
        if by_command and text in trusting.run(machine.world, "recall", text).out:
            return
        if not by_command and text.encode() in machine.log.knowledge.read_bytes():
            return
        time.sleep(0.005)


def report_new_container(project: SharedProject, learnings: int) -> None:
    """Print how long a new copy takes to have all lines, beside a replay of them."""
    full, new = project.machine("full"), project.machine("new")
    log = full.world.open(now=full.now).log
    for number in range(learnings):
        learn(log, f"Lesson {number} of the long series", type="fact")
    offered = costs_of(full.sync)
    taken = costs_of(new.sync)
    shutil.rmtree(full.log.cache_folder / "standings", ignore_errors=True)
    replayed = costs_of(full.replayed)
    again = costs_of(new.sync)
    print(f"a log of {len(new.lines()):,} lines, in times of its replay ({replayed[1]:.2f} s):")
    for name, costs in (("offered", offered), ("taken in by a new copy", taken), ("once more with nothing new", again)):
        ratios = [cost / base for cost, base in zip(costs, replayed, strict=True)]
        print(f"  {name}: {ratios[0]:.1f} of the processor, {ratios[1]:.1f} by the clock")


def costs_of(call: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the processor and of the clock that a call takes."""
    began = time.process_time()
    elapsed = seconds_of(call)
    return time.process_time() - began, elapsed


if __name__ == "__main__":
    main()
