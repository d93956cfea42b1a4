"""Where the wall's own files are; next to nothing is imported."""

import os

from roamkb.fs.user_dirs import usual_data
from roamkb.fs.user_dirs import usual_state
from roamkb.guard.hook_tampering import SHELL_PREFIX
from roamkb.wall.plan import FOLDER
from roamkb.wall.plan import LAUNCHER
from roamkb.wall.plan import PLAN
from roamkb.wall.plan import read_plan

#: In the state folder: an empty file for each session that was warned.
_WARNED = "wall-warned"


def usual_plan() -> str:
    """Return where the plan is kept."""
    return os.path.join(usual_data(), FOLDER, PLAN)


def usual_launcher() -> str:
    """Return what harnesses run, where `install` made it."""
    return os.path.join(usual_data(), FOLDER, LAUNCHER)


def is_before_commands() -> bool:
    """Say whether Claude Code runs this session's shell commands behind a wall that can be raised here."""
    if os.environ.get(SHELL_PREFIX) != usual_launcher():
        return False
    plan = read_plan(usual_plan())
    return plan is not None and bool(plan.ways) and os.access(usual_launcher(), os.X_OK)


def usual_places() -> tuple[list[str], str, str]:
    """Return the homes, the state folder and the data folder that the environment names."""
    from roamkb.boundary.store.kb_paths import usual_homes

    return usual_homes(), usual_state(), usual_data()


def is_first_warning() -> bool:
    """Say whether this session hasn't been warned; where that can't be kept, it is said again."""
    session = (
        os.environ.get("CLAUDE_CODE_SESSION_ID") or os.environ.get("CODEX_THREAD_ID") or str(os.getsid(0))
    )
    name = "".join(letter for letter in session if letter.isalnum())[:64]
    folder = os.path.join(usual_state(), _WARNED)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True
