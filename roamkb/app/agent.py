"""One agent of a project, for harnesses in Python: what it learns is known to all, and signed by it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from roamkb.app import KnowledgeBase
from roamkb.app.log.remedies import ProjectRemedies
from roamkb.core.errors import RoamkbError

if TYPE_CHECKING:
    from roamkb.log.learn import LearnResult
    from roamkb.log.pin import MarkedLearning


class Agent:
    """An agent by its name, in one session of its own unless it is told another."""

    def __init__(self, name: str, *, session: str | None = None, kb: KnowledgeBase | None = None) -> None:
        """Work in the project that `kb` stands in; without one, where the process does."""
        self.name = name
        self.kb = KnowledgeBase.open() if kb is None else kb
        around = self.kb._around
        self.session = session or around.new_id(around.now())

    @property
    def log(self) -> ProjectRemedies:
        """The project's log; its methods take the agent's name and session where they matter."""
        return self.kb.log

    def learn(
        self,
        text: str,
        *,
        type: str | None = None,
        tags: Sequence[str] = (),
        task: str | None = None,
        category: str | None = None,
        files: Sequence[str] = (),
        actions: Sequence[str] = (),
        provenance: str | None = None,
        confidence: str | None = None,
        supersedes: str | None = None,
        anyway: bool = False,
    ) -> "LearnResult":
        """Add one learning to the project's log, and what was learned to the session's observations.

        Raises:
            NoLog, Refused, UsageError, SecretFound, NotFound, Ambiguous, DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        learned = self.log.say(
            text,
            type=type,
            tags=tags,
            task=task,
            category=category,
            files=files,
            actions=actions,
            provenance=provenance,
            confidence=confidence,
            supersedes=supersedes,
            anyway=anyway,
            agent=self.name,
            session=self.session,
        )
        try:
            # as a tool's use: no stage makes a second learning of it
            self.log.observe(
                text,
                type="tool_use",
                tool="learn",
                outcome="success",
                task=task,
                agent=self.name,
                session=self.session,
            )
        except RoamkbError as error:
            # the knowledge is safe; of the session's own record nothing depends
            return replace(learned, warnings=(*learned.warnings, f"not observed: {error.message}"))
        return learned

    def prefer(self, key: str, *, off: bool = False) -> "MarkedLearning":
        """Put a learning before its equals for this agent alone; with `off`, no longer.

        Raises:
            NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
        """
        return self.log.prefer(key, off=off, agent=self.name, session=self.session)
