"""The launcher: the one file through which a harness runs each shell command.

It is one word, since a harness runs MCP servers by it without a shell, and starts Python without what a
user's or an environment's settings would add: that takes half of the time. It outlives roamkb's upgrades, a
change of its environment's Python among them.
"""

import os
import sys

from roamkb.wall import protected
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import read_plan
from roamkb.wall.plan import save_plan

#: Said of a roamkb that was uninstalled; without its wall nothing is run.
_GONE = "is gone, so that no command runs: install it again, or take this file out of your harness's settings:"


def launcher_text(plan: str) -> str:
    """Return the program that runs its arguments behind the wall of the plan at `plan`.

    It begins as a shell's, which says what is wrong where Python is gone; Python reads that part as a text.
    """
    quoted = sys.executable.replace("'", "'\"'\"'")
    return (
        "#!/bin/sh\n"
        "# made by roamkb install: shell commands of agents run behind a wall around the notes\n"
        f"''':'; _roamkb='{quoted}'\n"
        f'[ -x "$_roamkb" ] || {{ echo "roamkb at $_roamkb {_GONE} $0" >&2; exit 127; }}\n'
        'exec "$_roamkb" -IS "$0" "$@"\n'
        "' '''\n"
        "import sys\n"
        f"sys.path.append({_import_folder()})\n"
        "try:\n"
        "    from roamkb.wall.launch import launch\n"
        "except ImportError:\n"
        f'    print("roamkb at", sys.executable, "{_GONE}", sys.argv[0], file=sys.stderr)\n'
        "    sys.exit(127)\n"
        f"launch(sys.argv[1:], {plan!a})\n"
    )


def _import_folder() -> str:
    """Return the expression for the folder to import roamkb from; an environment's changes with its Python."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    version = "/lib/python%d.%d/site-packages"
    environment = top.removesuffix(version % sys.version_info[:2])
    return f"{environment!a} + {version!a} % sys.version_info[:2]" if environment != top else ascii(top)


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
