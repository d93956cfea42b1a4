"""No line is lost, whatever is killed or cut off."""

import re
import subprocess
import sys

import pytest

from tests.networks import own_network_command


@pytest.mark.usefixtures("postgres")
def test_no_line_is_lost_by_killed_agents_a_killed_server_and_cut_cables() -> None:
    """Each line that was acknowledged is everywhere, once, and every replay is the same, with clocks a day apart."""
    words = ["--copies", "3", "--agents", "2", "--each", "4", "--kills", "3", "--cuts", "3"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.shared_crowd", *words], capture_output=True, check=False, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # how many times depends on how fast the agents are; once is at the beginning
    assert re.search(r"^24 learnings of 6 agents, killed [1-3] and cut off", ran.stdout, re.MULTILINE), ran.stdout
    assert ("nothing: no network" in ran.stdout) is not bool(own_network_command())
