"""Environment of a process: the only reader of HOME, environment variables and the clock."""

import os
from collections.abc import Callable
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from roamkb.boundary import human_consent
from roamkb.boundary import process_ancestry
from roamkb.boundary.store import call_origin
from roamkb.boundary.store import processes
from roamkb.core import ids
from roamkb.core import node_ids
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import declared_by

#: Who is running, by a variable that only it sets.
_AGENT_VARIABLES = {
    **declared_by("agent_variables"),
    "CURSOR_AGENT": "cursor",
    "OPENCODE": "opencode",
}
#: By which variable a harness tells its commands the session.
_SESSION_VARIABLES = declared("session_variables")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnvironment:
    """Environment of the process, gathered once."""

    home: Path
    #: The home that the password database names, whatever HOME says.
    account_home: Path
    variables: Mapping[str, str]
    #: None where the current folder was deleted.
    cwd: Path | None
    pid: int
    now: Callable[[], datetime]
    new_id: Callable[[datetime], str]
    #: The same for nodes, which no hook waits for; what a test or a waiting call gives holds for both.
    new_node_id: Callable[[datetime], str] | None = None
    #: Whether the password database knows the account; where it doesn't, its home is what HOME says.
    is_account_known: bool = True
    #: The user's own state, cache and data folders; None for the system's usual ones.
    state: Path | None = None
    cache: Path | None = None
    data: Path | None = None
    #: The account's name, by the password database: who answers for what a human says.
    login: str = "someone"

    @property
    def trust_home(self) -> Path | None:
        """The home with the account's list of what is trusted; None where only HOME says which it is."""
        return self.account_home if self.is_account_known else None

    @property
    def agent_name(self) -> str:
        """The agent that is running, as far as the environment names it."""
        running = (name for variable, name in _AGENT_VARIABLES.items() if self.variables.get(variable))
        return next(running, "agent")

    @property
    def session_id(self) -> str:
        """The id of the harness's session that runs this; empty where no variable names it."""
        session_ids = (self.variables.get(variable, "") for variable in _SESSION_VARIABLES)
        return next((session_id for session_id in session_ids if session_id), "")

    @property
    def nearest_harness(self) -> tuple[str, str] | None:
        """The nearest harness of agents among the parent processes: its process id and name."""
        return human_consent.find_harness(processes.parent_commands(self.pid, call_origin.PROC))

    @property
    def agent_evidence(self) -> str:
        """The evidence that an agent runs this process; empty without any."""
        harness = self.nearest_harness
        hidden = "" if harness else call_origin.hidden_ancestry_reason(self.pid, self.variables)
        return human_consent.agent_evidence(self.variables, harness, hidden=hidden)

    @property
    def missing_login_reason(self) -> str:
        """The reason why no human's login to this terminal can be seen; empty where one can."""
        return process_ancestry.missing_login_reason(processes.read_ancestry(self.pid, call_origin.PROC))

    @staticmethod
    def from_process() -> "ProcessEnvironment":
        """Return the environment of this process."""
        home = Path(os.environ.get("HOME") or _account_home(Path("/")))
        return ProcessEnvironment(
            home=home,
            account_home=_account_home(home),
            is_account_known=_account()[1] is not None,
            variables=dict(os.environ),
            cwd=_current_folder(),
            pid=os.getpid(),
            now=datetime.now,
            new_id=_new_id,
            new_node_id=_new_node_id,
            login=_login_name(),
        )


def _new_id(now: datetime) -> str:
    return ids.new_id(now)


def _new_node_id(now: datetime) -> str:
    return node_ids.new_node_id(now)


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _account_home(home: Path) -> Path:
    return _account()[1] or home


def _login_name() -> str:
    return _account()[0]


def _account() -> tuple[str, Path | None]:
    """Return the user's name and home, as the system knows them."""
    try:
        import pwd

        account = pwd.getpwuid(os.getuid())
    except (ImportError, KeyError):
        # a user that the system doesn't know, or a system without users
        return "someone", None
    return account.pw_name, Path(account.pw_dir)
