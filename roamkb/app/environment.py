"""What a process finds around it: the only reader of HOME, the environment and the clock."""

import os
from collections.abc import Callable
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from roamkb.core.startup.dataclasses import dataclass

#: Who is running, by a variable that only it sets.
_AGENTS = {
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini-cli",
    "CURSOR_AGENT": "cursor",
    "OPENCODE": "opencode",
}
#: By which variable a harness tells its commands the session.
_SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnvironment:
    """What the process finds around it, gathered once."""

    home: Path
    #: The home that the password database names, whatever HOME says.
    account_home: Path
    variables: Mapping[str, str]
    #: None where the current folder was deleted.
    cwd: Path | None
    pid: int
    now: Callable[[], datetime]
    new_id: Callable[[datetime], str]
    #: The user's own state, cache and data folders; None for the system's usual ones.
    state: Path | None = None
    cache: Path | None = None
    data: Path | None = None
    #: The account's name, by the password database: who answers for what a human says.
    login: str = "someone"

    @property
    def agent(self) -> str:
        """The agent that is running, as far as the environment tells."""
        running = (name for variable, name in _AGENTS.items() if self.variables.get(variable))
        return next(running, "agent")

    @property
    def session(self) -> str:
        """The session of the harness that runs this, as it tells its commands; empty where none does."""
        told = (self.variables.get(variable, "") for variable in _SESSIONS)
        return next((one for one in told if one), "")

    @property
    def harness(self) -> tuple[str, str] | None:
        """The nearest harness of agents among the parent processes: its number and name."""
        from roamkb.boundary.human_consent import find_harness
        from roamkb.boundary.store.folder_evidence import PROC
        from roamkb.boundary.store.processes import commands_of_parents

        return find_harness(commands_of_parents(self.pid, PROC))

    @property
    def led_by(self) -> str:
        """By what an agent is known to run this; empty where nothing says so."""
        from roamkb.boundary.human_consent import agent_at_work
        from roamkb.boundary.store.folder_evidence import hidden_from

        harness = self.harness
        hidden = "" if harness else hidden_from(self.pid, self.variables)
        return agent_at_work(self.variables, harness, hidden=hidden)

    @property
    def no_login(self) -> str:
        """Why it can't be seen that a human logged in to this terminal; empty where it can."""
        from roamkb.boundary.process_ancestry import why_no_login
        from roamkb.boundary.store.folder_evidence import PROC
        from roamkb.boundary.store.processes import lineage_of

        return why_no_login(lineage_of(self.pid, PROC))

    @staticmethod
    def gathered() -> "ProcessEnvironment":
        """Return what is around this process."""
        from roamkb.core.ids import new_id

        home = Path(os.environ.get("HOME") or _account_home(Path("/")))
        return ProcessEnvironment(
            home=home,
            account_home=_account_home(home),
            variables=dict(os.environ),
            cwd=_current_folder(),
            pid=os.getpid(),
            now=datetime.now,
            new_id=new_id,
            login=_login(),
        )


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _account_home(home: Path) -> Path:
    try:
        import pwd

        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except (ImportError, KeyError):
        # a user that the system doesn't know, or a system without users
        return home


def _login() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return "someone"
