"""What a shared log keeps and costs: many agents, killed at random, on several copies of one project.

python -m tests.benchmarks.shared_log [--copies 10] [--agents 5] [--each 100] [--kills 20]

The service is a PostgreSQL of this run's own. Times are ratios to what the same costs without a service.
"""

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from roamkb.core.model import ProjectKind
from roamkb.log.share.share import migration_sql
from roamkb.log.share.store.settings import save_settings
from roamkb.log.store.share_process import share_folder
from roamkb.log.store.share_process import start_worker
from tests import trusting
from tests.postgres import PostgresServer
from tests.postgres import running_server
from tests.sharing_machines import Machine
from tests.sharing_machines import SharedProject

#: Learns as any session of the library does; the process at work does the rest.
_AGENT = """
import sys
from pathlib import Path
from roamkb import KnowledgeBase
from roamkb.app import environment
# the account's home is a test's
environment._account = lambda: ("someone", Path.home())
log = KnowledgeBase.open().log
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    log.learn(f"{sys.argv[1]} is told number {number} of the {sys.argv[1]} series", type="fact")
    print(number, flush=True)
"""
#: Agents at work at a time.
_AT_ONCE = 6


def main() -> None:
    """Run all parts and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("copies", 10), ("agents", 5), ("each", 100), ("kills", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    wanted = parser.parse_args()
    with running_server() as server, tempfile.TemporaryDirectory() as name:
        server.run_sql(migration_sql(ProjectKind.PERSONAL, "lantern", ["anna"]))
        project = SharedProject(server=server, name="lantern", folder=Path(name))
        report_latencies(project)
        machines = [turn_on(project.machine(f"m{number}")) for number in range(wanted.copies)]
        report_crowd(machines, server, agents=wanted.agents, each=wanted.each, kills=wanted.kills)
        report_new_container(project, machines[0])


def turn_on(machine: Machine) -> Machine:
    """Share a machine's log, as its human would have said."""
    with machine.port() as port:
        facts = port.read_facts()
    save_settings(machine.log.shared_settings, machine.settings(service_id=facts.id))
    return machine


def seconds_of(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def report_latencies(project: SharedProject) -> None:
    """Print what `learn` costs with and without a service, and when a line is visible elsewhere."""
    plain, anna = project.machine("plain"), turn_on(project.machine("anna"))
    bert, away = turn_on(project.machine("bert")), turn_on(project.machine("away"))
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


def report_crowd(machines: list[Machine], server: PostgresServer, *, agents: int, each: int, kills: int) -> None:
    """Have agents learn while they, the processes at work and the server are killed; print what is where."""
    chance = random.Random(21)
    said: dict[str, set[int]] = {f"m{m}-a{a}": set() for m in range(len(machines)) for a in range(agents)}
    running: dict[str, subprocess.Popen[str]] = {}
    began, killed = time.perf_counter(), 0
    while running or any(len(numbers) < each for numbers in said.values()):
        for agent in (agent for agent, numbers in said.items() if len(numbers) < each and agent not in running):
            if len(running) < _AT_ONCE:
                running[agent] = start_agent(machines[int(agent[1:].partition("-")[0])], agent, said[agent], each)
        time.sleep(chance.random() * 2)
        if killed < kills:
            killed += 1
            chance.choice([*running.values()]).kill()
            if killed % 5 == 0:
                server.kill()
                server.start()
        for agent in [agent for agent, process in running.items() if process.poll() is not None]:
            out, _ = running.pop(agent).communicate()
            said[agent] |= {int(number) for number in out.split()}
    print(
        f"crowd: {len(said)} agents on {len(machines)} copies, {killed} killed, {killed // 5} times the server: ",
        end="",
    )
    print(f"{time.perf_counter() - began:.0f} s")
    for _ in range(2):
        for machine in machines:
            machine.sync()
    wanted = {f"{agent} is told number {n} of the {agent} series" for agent, numbers in said.items() for n in numbers}
    for machine in machines:
        lines = machine.log.read_lines().learnings
        contents = [standing.learning.content for standing in machine.standings().values()]
        ok = wanted <= {*contents} and len(lines) == len({*lines})
        same = machine.lines() == machines[0].lines() and machine.replayed() == machines[0].replayed()
        print(f"  {machine.world.home.name}: {len(wanted & {*contents})} of {len(wanted)}, ", end="")
        print(f"{len(lines) - len({*lines})} doubles, equal replay: {same}, {'ok' if ok and same else 'NOT OK'}")


def start_agent(machine: Machine, agent: str, said: set[int], each: int) -> "subprocess.Popen[str]":
    """Start an agent where it was killed."""
    words = [agent, str(max(said, default=-1) + 1), str(each)]
    environment = {**machine.world.environment(), "PWD": str(machine.world.personal)}
    return subprocess.Popen(
        [sys.executable, "-c", _AGENT, *words],
        cwd=machine.world.personal,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def report_new_container(project: SharedProject, full: Machine) -> None:
    """Print how long a new copy takes to have all lines, beside a replay of them."""
    new = project.machine("new")
    taken = seconds_of(new.sync)
    shutil.rmtree(full.log.local_folder / "standings", ignore_errors=True)
    replayed = seconds_of(full.replayed)
    print(f"a new copy: {len(new.lines())} lines in {taken / replayed:.1f} times a replay")
    again = seconds_of(new.sync)
    print(
        f"  and once more with nothing new: {again / replayed:.1f} times; {share_folder(new.log).name} is all it keeps"
    )


if __name__ == "__main__":
    main()
