"""Agents that learn on copies of one shared project while all is killed and cut off; what is where is counted.

python -m tests.benchmarks.shared_crowd [--copies 10] [--agents 5] [--each 100] [--kills 20] [--cuts 20] [--seed 21]

Each copy is on a host of its own with a clock of its own, the PostgreSQL on another. Agents, the processes that exchange
lines and the server are killed as by a power cut. Hosts are cut off without a word: in both directions, or in one alone.
Where no network of namespaces can be made, nothing is cut off, and the last line says so.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from roamkb.core.model import ProjectKind
from roamkb.log.share.share import migration_sql
from roamkb.log.store.share_process import drop_backoff
from roamkb.log.store.share_process import share_folder
from tests import trusting
from tests.networks import NetworkHost
from tests.networks import joined_hosts
from tests.networks import own_network_command
from tests.postgres import PostgresServer
from tests.postgres import running_server
from tests.sharing_machines import Machine
from tests.sharing_machines import SharedProject

#: Learns as any session of the library does, by a clock of its own; the process at work does the rest.
_AGENT = """
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from roamkb import KnowledgeBase
from roamkb.app import environment
# the account's home is a test's
environment._account = lambda: ("someone", Path.home())
around = environment.ProcessEnvironment.from_process()
skew = timedelta(hours=int(sys.argv[4]))
log = KnowledgeBase(replace(around, now=lambda: around.now() + skew)).log
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    log.learn(f"{sys.argv[1]} is told number {number} of the {sys.argv[1]} series", type="fact")
    print(number, flush=True)
"""
#: Agents at work at a time.
_AT_ONCE = 6
#: Of the copies' clocks, by turns.
_SKEWS_IN_HOURS = (0, 24, -24)
#: Seconds from the last cut to the last line's arrival everywhere, after which it counts as lost.
_LONGEST_HEALING = 600.0


@dataclass(kw_only=True)
class CrowdAgent:
    """One agent, which is started again where it was killed."""

    name: str
    machine: Machine
    host: NetworkHost | None
    skew: int
    said: set[int] = field(default_factory=set)
    process: "subprocess.Popen[str] | None" = None

    def start(self, each: int) -> None:
        """Begin after the last learning that was acknowledged."""
        words = [self.name, str(max(self.said, default=-1) + 1), str(each), str(self.skew)]
        world = self.machine.world
        self.process = subprocess.Popen(
            [*(self.host.inside if self.host else []), sys.executable, "-c", _AGENT, *words],
            cwd=world.personal,
            env={**world.environment(), "PWD": str(world.personal)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def collect(self) -> None:
        """Take what an ended process acknowledged."""
        assert self.process is not None
        out, _ = self.process.communicate()
        assert self.process.returncode in (0, -signal.SIGKILL), f"{self.name} failed by itself"
        self.said |= {int(number) for number in out.split()}
        self.process = None


class CrowdTrouble:
    """What befalls the crowd, by a seed."""

    def __init__(self, server: PostgresServer, hosts: Sequence[NetworkHost], given: argparse.Namespace) -> None:
        self._chance = random.Random(given.seed)
        self._server, self._hosts = server, hosts
        self._kills, self._cuts = given.kills, given.cuts if hosts else 0
        self.killed = {"agents": 0, "exchanging processes": 0, "servers": 0}
        self.cut = {"both": 0, "in": 0, "out": 0}

    def strike(self, running: Sequence[CrowdAgent], share: float) -> None:
        """Kill and cut off what is due by now, when that `share` of the lines is there."""
        time.sleep(self._chance.random())
        for host in self._hosts:
            if self._chance.random() < 0.3:
                host.heal()
        if sum(self.cut.values()) < self._cuts * share:
            direction = self._chance.choice([*self.cut])
            # the server's own cable at times
            host = self._chance.choice(self._hosts)
            host.cut(direction)
            self.cut[direction] += 1
        if sum(self.killed.values()) < self._kills * share:
            self._kill(self._chance.choice(running))

    def _kill(self, victim: CrowdAgent) -> None:
        kind = [*self.killed][sum(self.killed.values()) % len(self.killed)]
        if kind == "servers":
            self._server.kill()
            self._server.start()
        elif kind == "agents" and victim.process:
            victim.process.kill()
        else:
            for pid in exchanging_processes(victim.machine):
                os.kill(pid, signal.SIGKILL)
        self.killed[kind] += 1

    def heal(self) -> None:
        """Join all hosts again."""
        for host in self._hosts:
            host.heal()


def exchanging_processes(machine: Machine) -> list[int]:
    """Return the processes that exchange a machine's lines."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"roamkb.app.share_worker" in words and os.fsencode(machine.world.personal) in words:
            pids.append(int(path.parent.name))
    return pids


def run_crowd(agents: Sequence[CrowdAgent], trouble: CrowdTrouble, *, each: int) -> None:
    """Have each agent's learnings acknowledged, whatever befalls it."""
    while missing := [agent for agent in agents if len(agent.said) < each]:
        running = [agent for agent in missing if agent.process]
        for agent in [agent for agent in missing if not agent.process][: _AT_ONCE - len(running)]:
            agent.start(each)
            running.append(agent)
        there = len(agents[0].machine.log.read_lines().learnings)
        trouble.strike(running, share=min(1.0, there / (each * len(agents)) + 0.1))
        for agent in running:
            if agent.process and agent.process.poll() is not None:
                agent.collect()


def wait_until_equal(machines: Sequence[Machine], hosts: Sequence[NetworkHost]) -> float:
    """Ask for the state on each machine, as a human would, until all have the same lines; return the seconds."""
    began = time.monotonic()
    while time.monotonic() - began < _LONGEST_HEALING:
        lines = [machine.lines() for machine in machines]
        if all(each == lines[0] for each in lines):
            break
        for number, machine in enumerate(machines):
            # what was away too long is asked in up to five minutes
            drop_backoff(share_folder(machine.log))
            inside = hosts[number].inside if hosts else []
            world = machine.world
            subprocess.run(
                [*inside, *trusting.command_of(world, "share", "status")],
                cwd=world.personal,
                env={**world.environment(), "PWD": str(world.personal)},
                capture_output=True,
                check=True,
            )
        time.sleep(0.5)
    return time.monotonic() - began


def fault_of(machine: Machine, first: Machine, wanted: set[str]) -> str:
    """Return what a machine lacks; empty where it has all, once, and replays it as the first does."""
    lines = machine.log.read_lines().learnings
    contents = {standing.learning.content for standing in machine.standings().values()}
    faults = {
        f"{len(wanted - contents)} of {len(wanted)} missing": not wanted <= contents,
        f"{len(lines) - len({*lines})} doubles": len(lines) != len({*lines}) or len(contents) != len(lines),
        "other lines": machine.lines() != first.lines(),
        "another replay": machine.replayed() != first.replayed(),
        f"{len(machine.aside())} put aside": bool(machine.aside()),
    }
    return ", ".join(name for name, holds in faults.items() if holds)


def run(given: argparse.Namespace, folder: Path, hosts: Sequence[NetworkHost]) -> int:
    """Run a crowd on those hosts, if any; print what is where."""
    with running_server(hosts[-1] if hosts else None) as server:
        server.run_sql(migration_sql(ProjectKind.PERSONAL, "lantern", ["anna"]))
        project = SharedProject(server=server, name="lantern", folder=folder)
        machines = [project.machine(f"m{number}").turn_on() for number in range(given.copies)]
        agents = [
            CrowdAgent(
                name=f"{machine.world.home.name}-a{number}",
                machine=machine,
                host=hosts[place] if hosts else None,
                skew=_SKEWS_IN_HOURS[place % len(_SKEWS_IN_HOURS)],
            )
            for number in range(given.agents)
            for place, machine in enumerate(machines)
        ]
        trouble, began = CrowdTrouble(server, hosts, given), time.monotonic()
        run_crowd(agents, trouble, each=given.each)
        learned = time.monotonic() - began
        trouble.heal()
        healed = wait_until_equal(machines, hosts)
        wanted = {f"{agent.name} is told number {n} of the {agent.name} series" for agent in agents for n in agent.said}
        faults = {machine.world.home.name: fault_of(machine, machines[0], wanted) for machine in machines}
        for name, fault in faults.items():
            print(f"{name}: {fault or f'{len(wanted):,} of {len(wanted):,}, none twice, equal replay'}")
        print(f"learned within {learned:.0f} s, the same everywhere {healed:.0f} s after the last cut")
        print(f"killed {trouble.killed}; cut off {trouble.cut if hosts else 'nothing: no network can be made here'}")
        ok = len(wanted) == given.copies * given.agents * given.each and not any(faults.values())
        print(
            f"{len(wanted):,} learnings of {len(agents)} agents, killed {sum(trouble.killed.values())} and cut off "
            f"{sum(trouble.cut.values())} times, "
            + ("are on" if ok else "are NOT whole on")
            + f" each of {len(machines)} copies, none twice"
        )
        return 0 if ok else 1


def main() -> int:
    """Run a crowd in a network of its own, where one can be made."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = {"copies": 10, "agents": 5, "each": 100, "kills": 30, "cuts": 30, "seed": 21}
    for name, default in defaults.items():
        options.add_argument(f"--{name}", type=int, default=default)
    options.add_argument("--joined", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    words = own_network_command("-m", "tests.benchmarks.shared_crowd", *sys.argv[1:], "--joined")
    if words and not given.joined:
        os.execvp(words[0], words)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        hosts = stack.enter_context(joined_hosts(given.copies + 1)) if given.joined else []
        return run(given, Path(name), hosts)


if __name__ == "__main__":
    sys.exit(main())
