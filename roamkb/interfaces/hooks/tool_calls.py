"""A harness's tool call put before `guard/tool_calls`: what it is about, and what the disk says of it.

A session makes hundreds of calls, and to find out what its project is takes ten times as long as Python takes
to start. So that is asked only where a call would write to notes. This imports next to nothing.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH100, PTH109, PTH117, PTH118, PTH120

import os
from collections.abc import Callable

from roamkb.boundary.store.kb_paths import names_of_kb
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts
from roamkb.fs.user_dirs import usual_data
from roamkb.fs.user_dirs import usual_state
from roamkb.guard.store.server_ports import TOKEN
from roamkb.guard.store.server_ports import served_ports
from roamkb.guard.tool_calls import judge_tool

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from roamkb.app.hooks.session_project import SessionProject
    from roamkb.guard.policy import Denial

    Payload = dict[str, Any]


def find_denial(payload: "Payload", project: "Callable[[], SessionProject]") -> "Denial | None":
    """Return why the tool isn't to be called; `project` is made once it is asked about."""
    from roamkb.guard.policy import GuardContext

    state = usual_state()
    kb = names_of_kb()
    mounts = read_mounts("/proc")
    tool, given = str(payload.get("tool_name", "")), payload.get("tool_input")
    ground = GuardContext(
        kb=tuple(dict.fromkeys((*kb, *(other for one in kb for other in other_names(one, mounts))))),
        kind=lambda: project().kind,
        cwd=cwd(payload),
        home=os.environ.get("HOME") or "/",
        is_agent_note=lambda path: project().is_agent_note(path),
        # a name with a NUL is none
        resolve=lambda path: path if "\0" in path else os.path.realpath(path),
        variables=os.environ,
        ports=served_ports(state),
        token=os.path.join(state, TOKEN),
        guarded=_own_places(state),
        wall_stands=lambda: tool == "Bash" and _is_walled(),
    )
    return judge_tool(tool, given if isinstance(given, dict) else {}, ground)


def _is_walled() -> bool:
    from roamkb.wall.places import is_before_commands

    return is_before_commands()


def _own_places(state: str) -> tuple[str, ...]:
    """Return where this program keeps its own, and where it lies; a checkout is its developer's."""
    program = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    own = (state, usual_data())
    return (*own, program) if f"{os.sep}site-packages{os.sep}" in program else own


def edited(payload: "Payload") -> str:
    """Return the real path of the file that an editor's call is about."""
    given = payload.get("tool_input")
    told = (given.get("file_path") or given.get("notebook_path")) if isinstance(given, dict) else None
    if not isinstance(told, str) or not told or "\0" in told:
        return ""
    return os.path.realpath(os.path.join(cwd(payload), os.path.expanduser(told)))


def cwd(payload: "Payload") -> str:
    """Return the folder that a payload names, else the process's own."""
    told = payload.get("cwd")
    return told if isinstance(told, str) and os.path.isabs(told) else os.getcwd()
