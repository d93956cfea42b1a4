"""Adapter from a harness's tool call to `guard/tool_calls`: its paths, and their state on the disk.

A session makes hundreds of calls, and to find out what its project is takes ten times as long as Python takes
to start. So that is asked only where a call would write to notes. This imports next to nothing.
"""

# pathlib alone takes as long to import as Python to start
# ruff: noqa: PTH100, PTH109, PTH117, PTH118, PTH120

import json
import os
import re
from collections.abc import Callable

from roamkb import lazy_module
from roamkb.boundary.store.kb_paths import all_kb_names
from roamkb.boundary.store.server_ports import TOKEN
from roamkb.boundary.store.server_ports import served_ports
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts
from roamkb.fs.user_dirs import default_data_dir
from roamkb.fs.user_dirs import default_state_dir
from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.tool_calls import judge_tool

#: The parts of an editor's input that are text of the file, or of a patch.
_EDIT_FIELDS = ("old_string", "new_string", "content", "new_source", "edits", "command")
#: Of a change: characters that are looked at, and names in them.
_EDIT_LENGTH = 100_000
_MOST_NAMES = 100
#: A name of several words, as code joins them: `acks_late`, `beforeSend`, `BeforeSend`; what begins with an
#: underscore is private to its file.
#: A word is found first, since a longer expression would look at each run of letters from each of its places.
_WORD = r"(?<![\w./-])[A-Za-z]\w{2,80}(?![\w/])"
_JOINED_NAME = r"[A-Za-z]+\d*(?:_[A-Za-z\d]+)+|[A-Za-z]+[a-z\d][A-Z]\w*"

#: As in `typing`, which takes half as long to import as Python to start; type checkers know the name.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from roamkb.app.hooks import session_project
    from roamkb.wall import places

    Payload = dict[str, Any]
else:
    places = lazy_module("roamkb.wall.places")
    session_project = lazy_module("roamkb.app.hooks.session_project")


def find_denial(payload: "Payload", project: "Callable[[], session_project.SessionProject]") -> "Denial | None":
    """Return why the tool may not be called; `project` is made only when it is needed."""
    state = default_state_dir()
    kb = all_kb_names()
    mounts = read_mounts("/proc")
    tool, tool_input = str(payload.get("tool_name", "")), payload.get("tool_input")
    guard_context = GuardContext(
        kb=tuple(dict.fromkeys((*kb, *(alias_path for kb_path in kb for alias_path in other_names(kb_path, mounts))))),
        kind=lambda: project().project_kind,
        cwd=call_folder(payload),
        home=os.environ.get("HOME") or "/",
        is_agent_note=lambda path: project().is_agent_note(path),
        is_in_default_kb=lambda path: project().is_in_default_kb(path),
        # a name with a NUL is none
        resolve=lambda path: path if "\0" in path else os.path.realpath(path),
        variables=os.environ,
        ports=served_ports(state),
        token=os.path.join(state, TOKEN),
        guarded=_own_folders(state),
        wall_stands=lambda: tool == "Bash" and _is_walled(),
    )
    return judge_tool(tool, tool_input if isinstance(tool_input, dict) else {}, guard_context)


def _is_walled() -> bool:
    return places.is_wall_in_use()


def _own_folders(state: str) -> tuple[str, ...]:
    """Return the folders of this program's data and code; a checkout is its developer's."""
    program = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    own = (state, default_data_dir())
    return (*own, program) if f"{os.sep}site-packages{os.sep}" in program else own


def edited_file(payload: "Payload") -> str:
    """Return the real path of the file that an editor's call changes."""
    tool_input = payload.get("tool_input")
    file_path = (
        (tool_input.get("file_path") or tool_input.get("notebook_path")) if isinstance(tool_input, dict) else None
    )
    if not isinstance(file_path, str) or not file_path or "\0" in file_path:
        return ""
    return os.path.realpath(os.path.join(call_folder(payload), os.path.expanduser(file_path)))


def edited_names(payload: "Payload") -> list[str]:
    """Return the names of code in what a call changes: those that are joined of several words."""
    tool_input = payload.get("tool_input")
    fields = tool_input if isinstance(tool_input, dict) else {}
    text = json.dumps([fields.get(name) for name in _EDIT_FIELDS])[:_EDIT_LENGTH]
    # a name may follow an escape
    words = dict.fromkeys(re.findall(_WORD, text.replace("\\n", " ").replace("\\t", " ")))
    return [word for word in words if word not in _EDIT_FIELDS and re.fullmatch(_JOINED_NAME, word)][:_MOST_NAMES]


def call_folder(payload: "Payload") -> str:
    """Return the folder that a payload names, else the process's own."""
    folder = payload.get("cwd")
    return folder if isinstance(folder, str) and os.path.isabs(folder) else os.getcwd()
