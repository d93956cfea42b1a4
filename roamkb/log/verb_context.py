"""What verbs on a project's log know of their call: the log, who signs, and the human who may be asked."""

from roamkb.boundary import human_consent
from roamkb.core import model
from roamkb.core.startup.typing import Protocol
from roamkb.log import new_learning
from roamkb.log.store import project_log


class SignedRequest(Protocol):
    """A request with the options `--agent` and `--session`."""

    @property
    def agent(self) -> str | None:
        """The agent that does it, unless it is the one that is running."""

    @property
    def session(self) -> str | None:
        """The session that it belongs to, unless it is the present one."""


class VerbContext(Protocol):
    """The project's log and its session."""

    @property
    def log_project(self) -> "model.Project":
        """The log's project, classified by its folder alone."""

    @property
    def login(self) -> str:
        """The name of the human's account."""

    @property
    def human_at_terminal(self) -> "human_consent.HumanAtTerminal | None":
        """The human at the terminal, if there is one."""

    def log_to_read(self) -> "project_log.Log":
        """Return the project's log, or raise `NoLog`."""

    def log_to_write(self, fact: str) -> "project_log.Log":
        """Return the log to write `fact` to, or raise `Refused`."""

    def author_of(self, request: SignedRequest | None = None) -> "new_learning.Author":
        """Return what signs new lines: this agent, session and moment, unless the request names others."""

    def parse_moment(self, option: str, text: str | None) -> float | None:
        """Parse `text` into a moment in seconds since 1970; of a day, its end."""
