"""Put the launcher of walled commands in place, try it, and take it away again."""

import os
from pathlib import Path

from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.json_edit import BadJson
from roamkb.guard.hook_tampering import SHELL_PREFIX
from roamkb.harnesses.wall_settings import is_ours
from roamkb.harnesses.wall_settings import shell_prefix
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemovePath
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import left_alone
from roamkb.install.plan import unchanged
from roamkb.install.store.apply import look
from roamkb.install.store.apply import real_path
from roamkb.wall import plan as plans
from roamkb.wall.launcher import launcher_text
from roamkb.wall.launcher import renew_plan
from roamkb.wall.protected import gathered
from roamkb.wall.protected import ways

LAUNCHER = "wall"
#: How each wall is called to people, by its name in a plan.
WALLS = {
    plans.NAMESPACE: "read-only mounts in a namespace of the command's own",
    plans.BUBBLEWRAP: "read-only mounts by bubblewrap",
    plans.LANDLOCK: "Landlock",
    plans.SEATBELT: "sandbox-exec",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WallSetup:
    """Where a user's wall is kept, and what it is for."""

    home: Path
    account_home: Path
    state: Path
    data: Path

    @property
    def launcher(self) -> Path:
        """What harnesses run."""
        return self.data / plans.FOLDER / plans.LAUNCHER

    @property
    def closed(self) -> tuple[str, ...]:
        """What may not be written."""
        homes = [str(self.home), str(self.account_home)]
        return tuple(gathered(homes, str(self.state), str(self.data)).closed)

    def plan(self) -> plans.WallPlan:
        """Make the plan anew, keep it and return it."""
        homes = str(self.home), str(self.account_home)
        return renew_plan(str(self.launcher.with_name(plans.PLAN)), *homes, str(self.state), str(self.data))


def wall_fault(wall: WallSetup, settings: Path) -> str:
    """Return why shell commands of Claude Code's can't be walled here; empty where they can be."""
    found = look(real_path(settings))
    try:
        prefix = shell_prefix(found.data) if isinstance(found, RegularFile) and found.data.strip() else ""
    except BadJson:
        # said where the settings are to be written
        prefix = ""
    if prefix and not is_ours(prefix):
        return f"{settings} has a {SHELL_PREFIX} of yours, and it stays; without it there would be a wall"
    # it takes what follows a blank and a dash for the program's options
    if " -" in str(wall.launcher):
        return f"Claude Code can't run a program at {wall.launcher}: no folder above may be called so"
    if not list(ways()):
        return "nothing here can raise one: no user namespaces, no bubblewrap, no Landlock (Linux 5.19)"
    return ""


def no_wall_step(fault: str) -> InstallStep:
    """Return the step that only says that there is no wall."""
    why = f"{fault}; shell commands are only judged before they run"
    return InstallStep(what=LAUNCHER, path=None, outcome=StepOutcome.OFFERED, why=why)


def launcher_step(wall: WallSetup) -> InstallStep:
    """Return the step that puts the launcher in place."""
    place = wall.launcher
    found, data = look(place), launcher_text(str(place.with_name(plans.PLAN))).encode()
    (way, _), *_ = ways()
    why = f"around shell commands, by {WALLS[way]}"
    if isinstance(found, RegularFile) and found.data == data and os.access(place, os.X_OK):
        return unchanged(LAUNCHER, place, why)
    if not isinstance(found, RegularFile | AbsentPath):
        return left_alone(LAUNCHER, place, "isn't a file; move it away and install again")
    change = PutFile(data=data, was=found, mode=0o755)
    return InstallStep(what=LAUNCHER, path=place, outcome=StepOutcome.WRITTEN, why=why, change=change)


def launcher_removals(wall: WallSetup) -> list[InstallStep]:
    """Return the steps that take the launcher and its plan away."""
    steps = []
    for path in (wall.launcher.with_name(plans.PLAN), wall.launcher):
        found = look(path)
        if isinstance(found, RegularFile):
            change = RemovePath(was=found, folders=1)
            steps.append(
                InstallStep(
                    what=LAUNCHER,
                    path=path,
                    outcome=StepOutcome.REMOVED,
                    why="as install made it",
                    change=change,
                    is_loosening=True,
                )
            )
    return steps
