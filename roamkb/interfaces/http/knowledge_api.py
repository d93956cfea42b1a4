"""Endpoints under `/api/knowledge/`, in the terms of document 004: entries, not learnings."""

from collections.abc import Mapping
from typing import Final
from typing import cast

from pydantic import AliasChoices
from pydantic import BaseModel
from pydantic import ConfigDict
from pydantic import Field

from roamkb.app import server
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.timestamps import format_iso
from roamkb.interfaces.http.operation_routes import Texts
from roamkb.interfaces.output.encode import Json
from roamkb.interfaces.output.encode import answer_json
from roamkb.interfaces.output.encode import object_json
from roamkb.log.new_learning import FIX_APPLIED_FIELD
from roamkb.log.new_learning import NewLearning
from roamkb.log.state.confidence import as_fraction
from roamkb.log.state.confidence import start_confidence
from roamkb.log.state.learning_state import LearningState
from roamkb.remedies import remedy as remedy_verb

#: Where a decision's own words begin and its reasons are told.
_CONTEXT_SUFFIX: Final = "\n\nContext: {}"
_FIGURE_KEYS: Final = "total_entries=total by_type high_confidence promotion_candidates"
_NO_STRATEGY: Final = "No known strategy for this error"


class _KnowledgeEntry(BaseModel):
    """Fields of every kind of entry; each name may also be spelt as in the document's TypeScript."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_by_name=True)

    file_patterns: Texts = Field(
        default_factory=list, validation_alias=AliasChoices("file_patterns", "filePattern", "filePatterns")
    )
    action_types: Texts = Field(
        default_factory=list, validation_alias=AliasChoices("action_types", "actionType", "actionTypes")
    )
    tags: Texts = Field(default_factory=list)
    task_id: str | None = Field(None, validation_alias=AliasChoices("task_id", "taskId"))
    agent_id: str | None = Field(None, validation_alias=AliasChoices("agent_id", "agentId"))
    execution_id: str | None = Field(None, validation_alias=AliasChoices("execution_id", "executionId"))
    confidence: float | None = Field(None, ge=0, le=1)

    def entry_content(self) -> str:
        """Return the text to be remembered."""
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

    def entry_content(self) -> str:
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
    template: str | None = Field(None, validation_alias=AliasChoices("template", "codeTemplate", "code_template"))

    def entry_content(self) -> str:
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

    def entry_content(self) -> str:
        """Return the decision, and its context after it."""
        return (self.content or "") + (_CONTEXT_SUFFIX.format(self.context) if self.context else "")


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
    file_patterns: Texts = Field(
        default_factory=list, validation_alias=AliasChoices("file_patterns", "filePatterns", "filePattern")
    )
    dependencies: Texts = Field(default_factory=list)
    agent_id: str | None = Field(None, validation_alias=AliasChoices("agent_id", "agentId"))


#: The kinds of entry that can be written, by the last part of the path.
ENTRIES: Final[Mapping[str, type[_KnowledgeEntry]]] = {
    "gotcha": Gotcha,
    "pattern": Pattern,
    "decision": Decision,
}
#: What each POST takes, by the last part of its path.
POSTED_MODELS: Final[Mapping[str, type[BaseModel]]] = {**ENTRIES, "task": Task}


def write_entry(kb: "server.ServedKnowledgeBase", type: str, entry: _KnowledgeEntry) -> Json:
    """Add one entry to the project's log; return its present state, and whether it is new."""
    content = entry.entry_content()
    if not content.strip():
        raise UsageError("there is nothing to learn", hint="give content")
    new_learning = NewLearning(
        content=content,
        type=type,
        tags=tuple(entry.tags),
        task=entry.task_id or "",
        files=tuple(entry.file_patterns),
        actions=tuple(entry.action_types),
    )
    if isinstance(entry, Gotcha) and entry.fix_applied:
        new_learning = replace(new_learning, extra={FIX_APPLIED_FIELD: True})
    if entry.confidence is not None:
        new_learning = replace(
            new_learning, confidence=start_confidence(round(entry.confidence * 100), new_learning.provenance)
        )
    outcome, learning_state = kb.add_learning(new_learning, agent=entry.agent_id, session=entry.execution_id)
    return answer_json({**_entry_json(learning_state), "outcome": outcome})


def _entry_json(learning_state: "LearningState") -> Json:
    """Return a learning with the names of the document's table."""
    learning = learning_state.learning
    return {
        "id": learning.id,
        "key": learning.key,
        "type": learning.type,
        "content": learning.content,
        "file_patterns": list(learning.files),
        "action_types": list(learning.actions),
        "confidence": as_fraction(learning_state.confidence),
        "occurrences": learning_state.occurrences,
        "source_execution_id": learning.session or None,
        "source_task_id": learning.task or learning.bead or None,
        "source_agent_id": learning.agent,
        "tags": list(learning.tags),
        "created_at": format_iso(learning.ts),
        "updated_at": format_iso(max([learning.ts, *(step.event.ts for step in learning_state.history)])),
        "last_used_at": format_iso(learning_state.last_used) if learning_state.last_used else None,
        "superseded_by": learning_state.superseded_by or None,
    }


def start_task(kb: "server.ServedKnowledgeBase", entry: Task) -> Json:
    """Record that a task begins; return it with similar ones."""
    report = kb.log.task(
        "start",
        entry.task_id,
        title=entry.title,
        category=entry.category,
        files=tuple(entry.file_patterns),
        depends=tuple(entry.dependencies),
        agent=entry.agent_id,
    )
    return answer_json(report)


def relevant_entries(
    kb: "server.ServedKnowledgeBase", task: str, *, min_confidence: float, limit: int | None, offset: int | None
) -> Json:
    """Return the entries that help with a task, the best first; none for an unknown task."""
    relevant_found = kb.log.relevant(task=task, min_confidence=str(min_confidence), limit=limit, offset=offset)
    entries = [
        {**_entry_json(learning.standing), "relevance": round(learning.relevance, 4)}
        for learning in relevant_found.learnings
    ]
    return answer_json({"entries": entries, "count": relevant_found.count})


def best_strategy(kb: "server.ServedKnowledgeBase", error_type: str, message: str) -> Json:
    """Return the best known strategy against an error, or a message that there is none."""
    suggested = cast(
        "remedy_verb.SuggestedRemedies",
        kb.log.remedy("suggest", error=message or error_type, error_type=error_type),
    )
    # what failed three times in a row is no recommendation
    withdrawn = {remedy.technique for remedy in suggested.withdrawn}
    best_remedy = next((remedy for remedy in suggested.remedies if remedy.technique not in withdrawn), None)
    return answer_json(best_remedy or {"message": _NO_STRATEGY})


def entry_figures(kb: "server.ServedKnowledgeBase") -> Json:
    """Return the numbers of entries."""
    return answer_json(object_json(kb.log.stats(), _FIGURE_KEYS))
