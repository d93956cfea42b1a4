"""The endpoints under `/api/knowledge/`, in the words of document 004: entries, not learnings."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Final
from typing import cast

from pydantic import AliasChoices
from pydantic import BaseModel
from pydantic import BeforeValidator
from pydantic import ConfigDict
from pydantic import Field

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.timestamps import iso
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import answer_json
from roamkb.interfaces.output.encode import object_json
from roamkb.log.new_learning import FIX_APPLIED
from roamkb.log.new_learning import NewLearning
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.confidence import started

if TYPE_CHECKING:
    from roamkb.app.server import ServedKnowledgeBase
    from roamkb.log.state.learning_state import LearningState
    from roamkb.remedies.remedy import SuggestedRemedies

#: Where a decision's own words begin and its reasons are told.
_CONTEXT: Final = "\n\nContext: {}"
_FIGURES: Final = "total_entries=total by_type high_confidence promotion_candidates"
_NO_STRATEGY: Final = "No known strategy for this error"


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


_Texts = Annotated[list[str], BeforeValidator(_one_or_many)]


class _KnowledgeEntry(BaseModel):
    """What every kind of entry has; each name may also be spelt as the document's TypeScript does."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_by_name=True)

    file_patterns: _Texts = Field(
        default_factory=list, validation_alias=AliasChoices("file_patterns", "filePattern", "filePatterns")
    )
    action_types: _Texts = Field(
        default_factory=list, validation_alias=AliasChoices("action_types", "actionType", "actionTypes")
    )
    tags: _Texts = Field(default_factory=list)
    task_id: str | None = Field(None, validation_alias=AliasChoices("task_id", "taskId"))
    agent_id: str | None = Field(None, validation_alias=AliasChoices("agent_id", "agentId"))
    execution_id: str | None = Field(None, validation_alias=AliasChoices("execution_id", "executionId"))
    confidence: float | None = Field(None, ge=0, le=1)

    def content_of(self) -> str:
        """Return what is to be remembered."""
        raise NotImplementedError


class Gotcha(_KnowledgeEntry):
    """A pitfall, and what to do about it."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "fix": "Use TEXT for dates in SQLite",
                "file_patterns": ["database/*.sql"],
                "action_types": ["CREATE"],
                "task_id": "task-12",
                "agent_id": "build_agent",
            }
        }
    )
    content: str | None = None
    fix: str | None = None
    fix_applied: bool = Field(False, validation_alias=AliasChoices("fix_applied", "fixApplied"))

    def content_of(self) -> str:
        """Return the pitfall and its fix; one alone is enough."""
        return "\n\nFix: ".join(filter(None, (self.content, self.fix)))


class Pattern(_KnowledgeEntry):
    """A template worth using again."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "description": "Every route answers errors as {error: message}",
                "template": "res.status(400).json({ error: message })",
                "file_patterns": ["src/api/*.ts"],
                "agent_id": "build_agent",
            }
        }
    )
    content: str | None = Field(None, validation_alias=AliasChoices("content", "description"))
    template: str | None = Field(
        None, validation_alias=AliasChoices("template", "codeTemplate", "code_template")
    )

    def content_of(self) -> str:
        """Return the description, and the template as a block of code."""
        fence = "```"
        while self.template and fence in self.template:
            fence += "`"
        code = f"{fence}\n{self.template}\n{fence}" if self.template else None
        return "\n\n".join(filter(None, (self.content, code)))


class Decision(_KnowledgeEntry):
    """What was decided, and why."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "decision": "Amounts are kept in cents",
                "context": "Floats lost a cent in the March invoices",
                "task_id": "task-12",
                "agent_id": "planning_agent",
            }
        }
    )
    content: str | None = Field(None, validation_alias=AliasChoices("content", "decision"))
    context: str | None = None

    def content_of(self) -> str:
        """Return the decision, and its context after it."""
        return (self.content or "") + (_CONTEXT.format(self.context) if self.context else "")


class Task(BaseModel):
    """A task that begins, so that the next one like it is met with what this one teaches."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        validate_by_name=True,
        json_schema_extra={
            "example": {
                "task_id": "task-12",
                "title": "Fix the OAuth redirect",
                "category": "bug_fix",
                "file_patterns": ["src/auth/*.ts"],
            }
        },
    )
    task_id: str = Field(validation_alias=AliasChoices("task_id", "taskId"))
    title: str
    category: str | None = None
    file_patterns: _Texts = Field(
        default_factory=list, validation_alias=AliasChoices("file_patterns", "filePatterns", "filePattern")
    )
    dependencies: _Texts = Field(default_factory=list)
    agent_id: str | None = Field(None, validation_alias=AliasChoices("agent_id", "agentId"))


#: The kinds of entry that can be written, by the last part of the path.
ENTRIES: Final[Mapping[str, type[_KnowledgeEntry]]] = {
    "gotcha": Gotcha,
    "pattern": Pattern,
    "decision": Decision,
}


def write(kb: "ServedKnowledgeBase", type: str, given: _KnowledgeEntry) -> Json:
    """Add one entry to the project's log; return it as the log has it now, and whether it is new."""
    content = given.content_of()
    if not content.strip():
        raise UsageError("there is nothing to learn", hint="give content")
    saying = NewLearning(
        content=content,
        type=type,
        tags=tuple(given.tags),
        task=given.task_id or "",
        files=tuple(given.file_patterns),
        actions=tuple(given.action_types),
    )
    if isinstance(given, Gotcha) and given.fix_applied:
        saying = replace(saying, extra={FIX_APPLIED: True})
    if given.confidence is not None:
        saying = replace(saying, confidence=started(round(given.confidence * 100), saying.provenance))
    outcome, standing = kb.say(saying, agent=given.agent_id, session=given.execution_id)
    return answer_json({**_entry(standing), "outcome": outcome})


def _entry(standing: "LearningState") -> Json:
    """Return a learning with the names of the document's table."""
    learning = standing.learning
    return {
        "id": learning.id,
        "key": learning.key,
        "type": learning.type,
        "content": learning.content,
        "file_patterns": list(learning.files),
        "action_types": list(learning.actions),
        "confidence": as_fraction(standing.confidence),
        "occurrences": standing.occurrences,
        "source_execution_id": learning.session or None,
        "source_task_id": learning.task or learning.bead or None,
        "source_agent_id": learning.agent,
        "tags": list(learning.tags),
        "created_at": iso(learning.ts),
        "updated_at": iso(max([learning.ts, *(step.event.ts for step in standing.history)])),
        "last_used_at": iso(standing.last_used) if standing.last_used else None,
        "superseded_by": standing.superseded_by or None,
    }


def start_task(kb: "ServedKnowledgeBase", given: Task) -> Json:
    """Record that a task begins; return it with those that are like it."""
    report = kb.log.task(
        "start",
        given.task_id,
        title=given.title,
        category=given.category,
        files=tuple(given.file_patterns),
        depends=tuple(given.dependencies),
        agent=given.agent_id,
    )
    return answer_json(report)


def relevant(
    kb: "ServedKnowledgeBase", task: str, *, least: float, limit: int | None, offset: int | None
) -> Json:
    """Return what helps with a task, the best first; nothing where nobody knows it."""
    found = kb.log.relevant(task=task, min_confidence=str(least), limit=limit, offset=offset)
    entries = [{**_entry(one.standing), "relevance": round(one.relevance, 4)} for one in found.learnings]
    return answer_json({"entries": entries, "count": found.count})


def strategy(kb: "ServedKnowledgeBase", error_type: str, message: str) -> Json:
    """Return the best strategy that is known against an error, or a message that there is none."""
    suggested = cast(
        "SuggestedRemedies",
        kb.log.remedy("suggest", error=message or error_type, error_type=error_type),
    )
    # what failed three times in a row is no recommendation
    withdrawn = {remedy.technique for remedy in suggested.withdrawn}
    found = next((remedy for remedy in suggested.remedies if remedy.technique not in withdrawn), None)
    return answer_json(found or {"message": _NO_STRATEGY})


def stats(kb: "ServedKnowledgeBase") -> Json:
    """Return how many entries there are."""
    return answer_json(object_json(kb.log.stats(), _FIGURES))
