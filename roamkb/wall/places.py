"""Paths of the wall's own files; imports are few."""

import os

from roamkb.fs.user_dirs import default_data_dir
from roamkb.fs.user_dirs import default_state_dir
from roamkb.harnesses.registry import declared
from roamkb.wall.plan import FOLDER
from roamkb.wall.plan import LAUNCHER
from roamkb.wall.plan import PLAN
from roamkb.wall.plan import read_plan

#: In the state folder: an empty file for each session that was warned.
_WARNED_FOLDER = "wall-warned"


def default_plan_path() -> str:
    """Return the path of the plan."""
    return os.path.join(default_data_dir(), FOLDER, PLAN)


def default_launcher_path() -> str:
    """Return the path of the launcher, where `install` puts it."""
    return os.path.join(default_data_dir(), FOLDER, LAUNCHER)


def is_wall_in_use() -> bool:
    """Say whether the harness runs this session's shell commands behind a wall that can be raised here."""
    if default_launcher_path() not in map(os.environ.get, declared("prefix_variables")):
        return False
    plan = read_plan(default_plan_path())
    return plan is not None and bool(plan.ways) and os.access(default_launcher_path(), os.X_OK)


def default_folders() -> tuple[list[str], str, str]:
    """Return the homes, the state folder and the data folder that the environment names."""
    from roamkb.boundary.store.kb_paths import user_homes

    return user_homes(), default_state_dir(), default_data_dir()


def is_first_warning() -> bool:
    """Say whether this session hasn't been warned yet; true where that can't be recorded."""
    told = (os.environ.get(variable, "") for variable in declared("session_variables"))
    session = next(filter(None, told), "") or str(os.getsid(0))
    name = "".join(letter for letter in session if letter.isalnum())[:64]
    folder = os.path.join(default_state_dir(), _WARNED_FOLDER)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True
