"""Agents of a project, for harnesses in Python: an agent signs its learnings, all others read them."""

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.app.log.learn import add_learning
from roamkb.app.log.project_log import ProjectLog
from roamkb.app.operation_method import takes_request
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.log import learn as log_learn
from roamkb.log import pin


class Agent:
    """An agent by its name, in a new session of its own unless one is given."""

    def __init__(self, name: str, *, session: str | None = None, kb: KnowledgeBase | None = None) -> None:
        """Work in the project that `kb` stands in; without one, where the process does."""
        self.name = name
        self.kb = KnowledgeBase.open() if kb is None else kb
        around = self.kb.environment
        self.session = session or around.new_id(around.now())

    @property
    def log(self) -> ProjectLog:
        """The project's log; its methods take the agent's name and session where they matter."""
        return self.kb.log

    @takes_request(lambda: log_learn.LearnRequest)
    def learn(self, request: "log_learn.LearnRequest") -> "log_learn.LearnResult":
        """Add one learning to the project's log, and its text to the session's observations.

        Raises:
            NoLog, Refused, UsageError, SecretFound, NotFound, Ambiguous, DiskError: nothing was written.
            NotDurable: it was written, and the disk would not promise to keep it.
        """
        if request.text is None or request.proposals is not None:
            raise UsageError("learn what?", hint="give a text; proposals go through `log.learn`")
        learned = add_learning(self.log, replace(request, agent=self.name, session=self.session))
        try:
            # as a tool's use: no stage makes a second learning of it
            self.log.observe(
                request.text,
                type="tool_use",
                tool="learn",
                outcome="success",
                task=request.task,
                agent=self.name,
                session=self.session,
            )
        except RoamkbError as error:
            # the knowledge is safe; of the session's own record nothing depends
            return replace(learned, warnings=(*learned.warnings, f"not observed: {error.message}"))
        return learned

    @takes_request(lambda: pin.PreferRequest)
    def prefer(self, request: "pin.PreferRequest") -> "pin.MarkedLearning":
        """Put a learning before its equals for this agent alone; with `off`, no longer.

        Raises:
            NoLog, Refused, NotFound, Ambiguous, DiskError: nothing was written.
        """
        return self.log.prefer(request.key, off=request.off, agent=self.name, session=self.session)
