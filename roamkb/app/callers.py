"""Who asks where another process does the work: a server's callers, and what a broker began us for."""

from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.boundary.policy import seen_by
from roamkb.boundary.store.folder_evidence import PROC
from roamkb.boundary.store.folder_evidence import CallOrigin
from roamkb.boundary.store.folder_evidence import session_project
from roamkb.boundary.store.socket_peers import environment_of
from roamkb.boundary.store.socket_peers import session_of_peer
from roamkb.core.errors import BadRule
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.wall.broker import ASKED_BY

#: Walls within walls.
_DEEPEST = 8
_NOBODY = Project(
    kind=ProjectKind.UNKNOWN,
    root=None,
    reason="it can't be seen which process asks",
    hint="ask from a process of your own on this machine, and stay connected until you have the answer",
)


def judged_asker(session: CallOrigin | None, rule: Rule | BadRule) -> Project:
    """Return what `rule` makes of the session that another process asks from; None is one that isn't seen."""
    return _NOBODY if session is None else seen_by(session_project(session, rule), "who asks")


def sessions_of_askers(environment: Mapping[str, str]) -> Iterator[CallOrigin | None]:
    """Yield the session of the process that a broker began us for, of the one that had asked that, and so on.

    Whoever forges it has one process more to answer for.
    """
    for _ in range(_DEEPEST):
        asker = environment.get(ASKED_BY, "")
        if not asker:
            return
        try:
            environment = environment_of(int(asker), PROC)
            yield session_of_peer(int(asker))
        except (OSError, ValueError):
            break
    yield None
