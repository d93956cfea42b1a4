"""Callers on whose behalf another process works: a server's clients, and a broker's askers."""

from collections.abc import Iterator
from collections.abc import Mapping

from roamkb.boundary.policy import with_evidence
from roamkb.boundary.store.call_origin import PROC
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.session_evidence import session_project
from roamkb.boundary.store.socket_peers import read_environment
from roamkb.boundary.store.socket_peers import read_peer_origin
from roamkb.core.errors import BadRule
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.wall.broker import ASKER_VARIABLE

#: Walls within walls.
_MAX_WALL_DEPTH = 8
_UNSEEN_ASKER = Project(
    kind=ProjectKind.UNKNOWN,
    root=None,
    reason="it can't be seen which process asks",
    hint="ask from a process of your own on this machine, and stay connected until you have the answer",
)


def judge_asker(session: CallOrigin | None, rule: Rule | BadRule) -> Project:
    """Return the project of the session that another process asks from; None is an unseen session."""
    return _UNSEEN_ASKER if session is None else with_evidence(session_project(session, rule), "who asks")


def asking_sessions(environment: Mapping[str, str]) -> Iterator[CallOrigin | None]:
    """Yield the session of the process that a broker began us for, then of its own asker, and so on.

    Whoever forges it has one process more to answer for.
    """
    for _ in range(_MAX_WALL_DEPTH):
        asker = environment.get(ASKER_VARIABLE, "")
        if not asker:
            return
        try:
            environment = read_environment(int(asker), PROC)
            yield read_peer_origin(int(asker))
        except (OSError, ValueError):
            break
    yield None
