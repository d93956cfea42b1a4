"""One event of a session, as hooks recorded it."""

from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One raw event of a session."""

    id: str
    #: Seconds since 1970, UTC.
    ts: float
    #: tool_use, error, message, prompt; or a type that says what the text is.
    type: str
    #: Free of credentials: they are masked before anything is stored.
    text: str
    tool: str = ""
    #: success, failure, or empty.
    outcome: str = ""
    session: str = ""
    agent: str = ""
    task: str = ""
    provenance: str = "observed"
    #: Whether a type word stood before it: somebody wants it kept.
    announced: bool = False
    #: Git's name of the worktree that the session works in; empty for the main checkout.
    worktree: str = ""
    #: Files that a tool changed, as it named them.
    files: tuple[str, ...] = ()
