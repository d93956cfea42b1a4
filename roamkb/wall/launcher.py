"""The launcher: the one file through which a harness runs each shell command.

It is one word, since a harness runs MCP servers by it without a shell, and starts Python without what a
user's or an environment's settings would add: that takes half of the time.
"""

import os
import sys

from roamkb.wall import protected
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import read_plan
from roamkb.wall.plan import save_plan

#: Linux takes no longer first line, older ones half of it.
_MAX_FIRST_LINE = 127


def launcher_text(plan: str) -> str:
    """Return the program that runs its arguments behind the wall of the plan at `plan`."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    first_line = f"#!{sys.executable} -IS"
    if len(first_line) > _MAX_FIRST_LINE or len(first_line.split()) != 2:
        # as pip does where a path is too long or has blanks: it is a program of both
        quoted = sys.executable.replace("'", "'\"'\"'")
        first_line = f"#!/bin/sh\n'''exec' '{quoted}' -IS \"$0\" \"$@\"\n' '''"
    return (
        f"{first_line}\n"
        "# made by roamkb install: shell commands of agents run behind a wall around the notes\n"
        "import sys\n"
        f"sys.path.append({top!a})\n"
        "from roamkb.wall.launch import launch\n"
        f"launch(sys.argv[1:], {plan!a})\n"
    )


def renew_plan(path: str, home: str, account_home: str, state: str, data: str) -> WallPlan:
    """Make the plan anew and save it, unless it is unchanged; return it.

    Raises:
        OSError: the machine can't be looked at.
    """
    old_plan = read_plan(path)
    plan = protected.make_plan((home, account_home), state, data, old_plan)
    if old_plan is None or old_plan.plan_rows() != plan.plan_rows():
        save_plan(path, plan)
    return plan
