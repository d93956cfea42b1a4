"""Origin of a call: the folders that its environment, its harness and its parents name."""

from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from posixpath import isabs

from roamkb.boundary import process_ancestry
from roamkb.boundary.store import processes
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.harnesses.registry import NAMES
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import declared_by
from roamkb.harnesses.registry import declared_of
from roamkb.harnesses.registry import get_harness

#: The folders in which harnesses say that the session works.
HARNESS_VARIABLES = (
    *declared("project_variables"),
    "QWEN_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "WINDSURF_PROJECT_DIR",
    "KIRO_PROJECT_DIR",
    "TRAE_PROJECT_DIR",
    "CODEBUDDY_PROJECT_DIR",
)

#: Where the parents of a wall run, which can't be looked into from inside of it; `wall/outside` says it.
_OUTSIDE_VARIABLE = "ROAMKB_OUTSIDE"

#: What a harness sets for what it runs in its sandbox, and which harness does.
_SANDBOX_VARIABLES = declared_by("sandbox_marks")

PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    """The origin of a call; `app` alone reads the environment and makes one."""

    #: The physical current folder, None where it was deleted.
    cwd: Path | None
    #: `$PWD`, which knows by which link one came.
    pwd: str | None = None
    #: `--project`.
    project: Path | None = None
    #: What the harness's variables say, by their names.
    harness: Mapping[str, str] = field(default_factory=dict)
    #: Our own process, None where its parents say nothing (a long-running server).
    pid: int | None = None
    #: Folders of the parents that a long-running server had when it began, or of what else began this, by
    #: what to call them.
    parents: Mapping[str, str] = field(default_factory=dict)
    #: Whether its session was in a work project before.
    was_at_work: bool = False
    #: Why it can't be seen who began it, as a clause, where somebody found that out before.
    hidden: str = ""
    #: The variable that alone says for which session a harness began it; empty where its parents say so.
    named_by: str = ""
    proc: Path = PROC


def read_call_origin(
    environment: Mapping[str, str], *, cwd: Path | None, pid: int | None, project: Path | None = None
) -> CallOrigin:
    """Return the origin of a call from its environment."""
    harness = {name: environment[name] for name in HARNESS_VARIABLES if environment.get(name)}
    outside = environment.get(_OUTSIDE_VARIABLE, "").split("\n")
    hidden, named_by = ("", "") if pid is None else _hidden_session(pid, environment)
    return CallOrigin(
        cwd=cwd,
        pwd=environment.get("PWD"),
        project=project,
        harness=harness,
        pid=pid,
        parents={
            **dict(_written_down(environment)),
            **{f"outside of the wall ({number})": folder for number, folder in enumerate(outside, 1) if isabs(folder)},
        },
        hidden=hidden,
        named_by=named_by,
    )


def hidden_ancestry_reason(pid: int, environment: Mapping[str, str], proc: Path = PROC) -> str:
    """Return why a process's ancestors can't be seen, by its environment too; empty where they can."""
    return _unnamed_sandbox(environment) or process_ancestry.hidden_reason(processes.read_ancestry(pid, proc))


def _hidden_session(pid: int, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return why a process's ancestors can't be seen, or else the variable that alone names its session."""
    if reason := _unnamed_sandbox(environment):
        return reason, ""
    ancestry = processes.read_ancestry(pid, PROC)
    reason, variable = process_ancestry.hidden_reason(ancestry), _sandbox_session(environment)
    if reason and variable and not process_ancestry.hidden_reason(ancestry, knows_session=True):
        return "", variable
    return reason, ""


def _unnamed_sandbox(environment: Mapping[str, str]) -> str:
    """Return the reason that a harness's sandbox doesn't say for which session it is; empty where it does."""
    owner = next((name for mark, name in _SANDBOX_VARIABLES.items() if environment.get(mark)), "")
    if not owner or _sandbox_session(environment):
        return ""
    title, (variable, _) = get_harness(owner).title, _session_variable(owner, environment)
    return f"it runs in {title}'s sandbox, and {variable} doesn't say for which session"


def _sandbox_session(environment: Mapping[str, str]) -> str:
    """Return the variable that names the session of a harness with a sandbox; empty where none does."""
    variables = (_session_variable(owner, environment) for owner in dict.fromkeys(_SANDBOX_VARIABLES.values()))
    return next((variable for variable, session in variables if session), "")


def _session_variable(name: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable by which a harness tells its commands the session, and its value."""
    variable = "".join(declared_of(name, "session_variables")[:1])
    return variable, environment.get(variable, "")


def _written_down(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the folders that a harness wrote down of the session, each with what to call it."""
    for name in NAMES:
        if not declared_of(name, "session_files") or not _session_variable(name, environment)[1]:
            continue
        harness = get_harness(name)
        for number, folder in enumerate(harness.session_folders(environment), 1):
            yield f"the {harness.title} session" + (f" ({number})" if number > 1 else ""), folder
