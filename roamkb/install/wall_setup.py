"""Setup of the wall: its launcher installed, tried and removed."""

import os
from pathlib import Path

from roamkb.core.startup.dataclasses import dataclass
from roamkb.fs.json_edit import BadJson
from roamkb.harnesses.harness import Harness
from roamkb.harnesses.wall_settings import is_own_launcher
from roamkb.harnesses.wall_settings import shell_prefix
from roamkb.install.plan import AbsentPath
from roamkb.install.plan import InstallStep
from roamkb.install.plan import PutFile
from roamkb.install.plan import RegularFile
from roamkb.install.plan import RemovePath
from roamkb.install.plan import StepOutcome
from roamkb.install.plan import left_alone_step
from roamkb.install.plan import unchanged_step
from roamkb.install.store.apply import read_path_state
from roamkb.install.store.apply import real_path
from roamkb.wall import plan as plans
from roamkb.wall.launcher import launcher_text
from roamkb.wall.launcher import renew_plan
from roamkb.wall.protected import find_wall_methods
from roamkb.wall.protected import gather_plan

LAUNCHER_STEP = "wall"
#: How each wall is called to people, by its name in a plan.
WALL_NAMES = {
    plans.NAMESPACE: "mounts in a namespace of the command's own",
    plans.BUBBLEWRAP: "bubblewrap's mounts",
    plans.LANDLOCK: "Landlock",
    plans.SEATBELT: "sandbox-exec",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WallSetup:
    """The folders of a user's wall, and the homes that it protects."""

    home: Path
    account_home: Path
    state: Path
    data: Path

    @property
    def launcher_path(self) -> Path:
        """The program through which harnesses run commands."""
        return self.data / plans.FOLDER / plans.LAUNCHER

    @property
    def closed_paths(self) -> tuple[str, ...]:
        """The paths that may not be written."""
        homes = [str(self.home), str(self.account_home)]
        return tuple(gather_plan(homes, str(self.state), str(self.data)).closed)

    def renew_plan_file(self) -> plans.WallPlan:
        """Make the wall's plan anew, save it and return it."""
        homes = str(self.home), str(self.account_home)
        return renew_plan(str(self.launcher_path.with_name(plans.PLAN)), *homes, str(self.state), str(self.data))


def wall_fault(wall: WallSetup, settings: Path, harness: Harness) -> str:
    """Return why a harness's shell commands can't be walled here; empty where they can be."""
    (variable,) = harness.prefix_variables
    settings_state = read_path_state(real_path(settings))
    try:
        settled = settings_state.data if isinstance(settings_state, RegularFile) else b""
        prefix = shell_prefix(settled, variable) if settled.strip() else ""
    except BadJson:
        # said where the settings are to be written
        prefix = ""
    if prefix and not is_own_launcher(prefix):
        return f"{settings} has a {variable} of yours, and it stays; without it there would be a wall"
    # it takes what follows a blank and a dash for the program's options
    if " -" in str(wall.launcher_path):
        return f"{harness.title} can't run a program at {wall.launcher_path}: no folder above may be called so"
    if not list(find_wall_methods()):
        return "nothing here can raise one: no user namespaces, no bubblewrap, no Landlock (Linux 5.19)"
    return ""


def no_wall_step(fault: str) -> InstallStep:
    """Return a step that only reports that there is no wall."""
    reason = f"{fault}; shell commands are only judged before they run"
    return InstallStep(what=LAUNCHER_STEP, path=None, outcome=StepOutcome.OFFERED, why=reason)


def launcher_step(wall: WallSetup) -> InstallStep:
    """Return the step that installs the launcher."""
    launcher = wall.launcher_path
    path_state, data = read_path_state(launcher), launcher_text(str(launcher.with_name(plans.PLAN))).encode()
    (wall_method, _), *_ = find_wall_methods()
    reason = f"around shell commands: your notes are read-only there, by {WALL_NAMES[wall_method]}"
    if isinstance(path_state, RegularFile) and path_state.data == data and os.access(launcher, os.X_OK):
        return unchanged_step(LAUNCHER_STEP, launcher, reason)
    if not isinstance(path_state, RegularFile | AbsentPath):
        return left_alone_step(LAUNCHER_STEP, launcher, "isn't a file; move it away and install again")
    change = PutFile(data=data, was=path_state, mode=0o755)
    return InstallStep(what=LAUNCHER_STEP, path=launcher, outcome=StepOutcome.WRITTEN, why=reason, change=change)


def launcher_removals(wall: WallSetup) -> list[InstallStep]:
    """Return the steps that remove the launcher and its plan."""
    steps = []
    for path in (wall.launcher_path.with_name(plans.PLAN), wall.launcher_path):
        path_state = read_path_state(path)
        if isinstance(path_state, RegularFile):
            change = RemovePath(was=path_state, folders=1)
            steps.append(
                InstallStep(
                    what=LAUNCHER_STEP,
                    path=path,
                    outcome=StepOutcome.REMOVED,
                    why="as install made it",
                    change=change,
                    is_loosening=True,
                )
            )
    return steps
