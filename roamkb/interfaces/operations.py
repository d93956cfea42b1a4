"""What every door offers, once: the operations, their parameters, and the words for them.

The command line, and later MCP and HTTP, are made from this table, so that a name means
the same everywhere. A parameter's name is the keyword of the method of `KnowledgeBase`
that the operation calls; a contract test compares the two.
"""

from dataclasses import dataclass
from enum import Enum
from enum import auto


class ParameterShape(Enum):
    """What a parameter takes."""

    TEXT = auto()
    #: Repeatable option, or all the words that are left.
    TEXTS = auto()
    COUNT = auto()
    FLAG = auto()
    #: A list of JSON objects; on the command line, as one JSON text.
    OBJECTS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationParameter:
    """One parameter of an operation."""

    name: str
    help: str
    shape: ParameterShape = ParameterShape.TEXT
    #: Its option names; none for a positional argument.
    flags: tuple[str, ...] = ()
    required: bool = False
    metavar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that a user can ask for."""

    name: str
    summary: str
    example: str
    parameters: tuple[OperationParameter, ...] = ()
    panel: str = "Knowledge base"
    #: Whether it is one of the project's log, not of the knowledge base.
    is_of_log: bool = False
    #: The module of `interfaces` whose `serve` carries it out, for what is a door itself.
    door: str = ""
    #: Whether a human at the terminal may be asked.
    asks_human: bool = False

    @property
    def method(self) -> str:
        """The method of the library that carries it out."""
        return self.name.replace("-", "_")


#: Values of what `parameters` names: text, several texts, a number, a switch, or nothing.
Arguments = dict[str, str | int | bool | tuple[str, ...] | None]


def _argument(
    name: str, help: str, *, required: bool = True, metavar: str | None = None
) -> OperationParameter:
    return OperationParameter(name=name, help=help, required=required, metavar=metavar)


def _rest(name: str, help: str, *, metavar: str) -> OperationParameter:
    return OperationParameter(name=name, help=help, shape=ParameterShape.TEXTS, metavar=metavar)


def _option(flag: str, help: str, *, metavar: str | None = None) -> OperationParameter:
    name = flag.lstrip("-").replace("-", "_")
    return OperationParameter(name=name, help=help, flags=(flag,), metavar=metavar)


def _options(flag: str, name: str, help: str, *, metavar: str | None = None) -> OperationParameter:
    return OperationParameter(
        name=name, help=help, flags=(flag,), shape=ParameterShape.TEXTS, metavar=metavar
    )


def _switch(flag: str, help: str) -> OperationParameter:
    name = flag.lstrip("-").replace("-", "_")
    return OperationParameter(name=name, help=help, flags=(flag,), shape=ParameterShape.FLAG)


def _count(flag: str, help: str) -> OperationParameter:
    return OperationParameter(
        name=flag.lstrip("-"), help=help, flags=(flag,), shape=ParameterShape.COUNT, metavar="N"
    )


_NODE = _argument("name", "Id, title, alias or path of the node.", metavar="ID|TITLE|PATH")

_WHO = (
    _option("--agent", "Who does it (the agent that is running).", metavar="A"),
    _option("--session", "The session that it belongs to.", metavar="S"),
)
_AS_OF = _option("--as-of", "As the log stood at the end of that day.", metavar="D")
_LOG = "Project's log"

_CONTENT = (
    _option(
        "--body", "The text, in org (headings become plain lines); - reads standard input.", metavar="TEXT|-"
    ),
    _switch("--markdown", "The body is Markdown; it is converted to org."),
    _options("--tag", "tags", "A tag beside :agent:.", metavar="T"),
    _options("--alias", "aliases", "Another name of the node.", metavar="A"),
    _options("--ref", "refs", "What it is about: a URL or @citekey.", metavar="R"),
    _options("--link", "links", "A related node, by id, title, alias or path.", metavar="ID"),
    _option(
        "--source",
        "Where the fact comes from: user-stated, observed (default), inferred, external.",
        metavar="S",
    ),
    _option("--by", "Who writes (the agent that is running).", metavar="AGENT"),
    _switch("--anyway", "Write it although a node like it is there."),
    _switch("--dry-run", "Show the file; write nothing."),
)

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="search",
        summary="Find nodes by words, phrases and filters, best first.",
        example="roamkb search oauth redirect --tag auth",
        parameters=(
            _rest("words", 'Words, "a phrase", -word, tag:T, is:agent, is:human, before:D, after:D, id:ID.',
                  metavar="WORDS..."),
            _options("--tag", "tags", "Only nodes with this tag (again for more).", metavar="T"),
            _switch("--agent", "Only nodes that agents wrote."),
            _switch("--human", "Only the human's notes."),
            _option("--since", "Only nodes dated since 2026-06-10, 2026, 7d (undated: never).", metavar="D"),
            _option("--before", "Only nodes dated before this day (undated: never).", metavar="D"),
            _count("--limit", "At most so many hits (20; --regex, --lines and --files: all)."),
            _switch("--regex", "The words are one regular expression; case counts, (?i) ignores it."),
            _switch("--lines", "Every matching line, not the best of each node."),
            _switch("--files", "Only the paths of the files."),
            _option("--related", "Nodes about the same as this one, not yet linked with it.", metavar="ID"),
            _count("--budget", "At most so many characters of PATH:LINE: TEXT."),
            _switch("--semantic", "Order the best by a sentence model, too (the extra [semantic])."),
        ),
    ),
    Operation(
        name="show",
        summary="Show one node: its fields and its text.",
        example='roamkb show "Token refresh"',
        parameters=(_NODE,),
    ),
    Operation(
        name="links",
        summary="Show a node's links, its backlinks, and links to nothing.",
        example='roamkb links "Token refresh"',
        parameters=(
            _argument("name", _NODE.help, required=False, metavar="ID|TITLE|PATH"),
            _switch("--graph", "All nodes and links, as Graphviz draws them."),
        ),
    ),
    Operation(
        name="tags",
        summary="List the tags that are in use, the most frequent first.",
        example="roamkb tags",
    ),
    Operation(
        name="nodes",
        summary="List every node with all its fields, as org-roam sees them.",
        example="roamkb nodes --json",
    ),
    Operation(
        name="write",
        summary="Write one fact as one new agent node, unless the project may not.",
        example='roamkb write "OAuth redirect URIs must match exactly" --tag oauth --body "To the letter."',
        parameters=(_argument("title", "The fact in one line.", metavar="TITLE"), *_CONTENT),
    ),
    Operation(
        name="supersede",
        summary="Replace an agent node by a new one that the old one points to.",
        example='roamkb supersede ID "Redirect URIs are matched by prefix since v2"',
        parameters=(
            _argument("name", "The agent node to replace.", metavar="ID"),
            _argument("title", "The fact in one line.", metavar="TITLE"),
            *_CONTENT,
        ),
    ),
    Operation(
        name="trash",
        summary="Move agent nodes out of the knowledge base into a trash of your own machine.",
        example="roamkb trash ID",
        parameters=(
            _argument("name", "The agent node.", required=False, metavar="ID"),
            _switch("--all-agent", "All agent nodes that the filters let through."),
            _option("--since", "With --all-agent: made on or after this day.", metavar="D"),
            OperationParameter(name="from_project", help="With --all-agent: written from this project.",
                      flags=("--from",), metavar="PROJECT"),
            _switch("--yes", "With --all-agent: do it, don't only list them."),
        ),
    ),
    Operation(
        name="restore",
        summary="Put a node back from the trash; without ID, list the trash.",
        example="roamkb restore ID",
        parameters=(
            _argument("name", "The trashed node's id.", required=False, metavar="ID"),
            _switch("--last", "All that the last `trash` moved, one node or many."),
        ),
    ),
    Operation(
        name="inventory",
        summary="List every node that agents wrote, newest first.",
        example="roamkb inventory",
    ),
    Operation(
        name="init",
        summary="Make a log for this project, or adopt the one that came with it.",
        example="roamkb init",
        parameters=(
            _switch("--untracked", "Keep the log out of git on this machine."),
            _switch("--yes", "Take the log that came with the project without being asked."),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="learn",
        summary="Add one learning to the project's log, or one more occurrence of what it knows.",
        example='roamkb learn "OAuth redirect URIs must match exactly" --type gotcha --file "src/auth/*.ts"',
        parameters=(
            _argument("text", "The statement; - reads standard input.", required=False, metavar="TEXT|-"),
            OperationParameter(
                name="proposals",
                help="Claims with their evidence, instead of TEXT: a list of {claim, type, files, task, "
                "evidence: {quote, source}, supersedes, withdraws, mended}; - reads standard input.",
                shape=ParameterShape.OBJECTS,
                flags=("--proposals",),
                metavar="JSON|-",
            ),
            _option("--type", "learned, decision, fact, pattern, investigation, gotcha, must-check…",
                    metavar="T"),
            _options("--tag", "tags", "A tag beside the ones that its words give it.", metavar="T"),
            _option("--task", "The task or bead that it was learned in.", metavar="ID"),
            _option("--category", "What it is about: security, performance, bug_fix…", metavar="C"),
            _options("--file", "files", "Files that it is about, in gitignore syntax.", metavar="GLOB"),
            _options("--action", "actions", "What one does when it matters: CREATE, UPDATE…", metavar="A"),
            _option("--provenance", "user-stated, observed (default), inferred, external.", metavar="P"),
            _option("--confidence", "0.00 to 1.00, instead of what the provenance says.", metavar="C"),
            _option("--supersedes", "The learning that this one replaces, by key or id.", metavar="KEY"),
            _switch("--anyway", "Take a type that looks like a slip of the pen."),
            _switch("--fix-applied", "It tells a fix that was applied and worked: 0.10 surer."),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="extract",
        summary="Have a language model propose what of a session is worth keeping; the gate decides.",
        example="roamkb extract --with claude",
        parameters=(
            OperationParameter(
                name="model",
                help="claude, codex, ollama:MODEL, openai:URL#MODEL, or a command that answers in JSON.",
                flags=("--with",),
                metavar="MODEL",
            ),
            _option("--session", "The session whose transcript is read (the project's latest).", metavar="S"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="observe",
        summary="Record what happened in a session, or learn what an agent said in passing.",
        example="roamkb observe --from-command 'bd comments add bd-12 \"LEARNED: …\"'",
        parameters=(
            _argument("text", "What happened; - reads standard input.", metavar="TEXT|-"),
            _option("--type", "insight (default), decision, discovery, tool_use, …", metavar="T"),
            _option("--tool", "The tool that it happened with.", metavar="T"),
            _option("--outcome", "success or failure.", metavar="O"),
            _switch("--from-command", "Learn from a shell command that an agent ran: `bd comments add …`."),
            _switch("--from-message", "Learn from an agent's message: lines such as `LEARNED: …`."),
            _switch("--from-payload", "Record what a hook's JSON payload tells."),
            _switch("--from-transcript", "Record what a transcript's JSON lines tell."),
            _option("--task", "The task that it happened in.", metavar="ID"),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="consolidate",
        summary="Turn a session's observations into learnings, an agent's many into few; lift a task's.",
        example="roamkb consolidate session S-12",
        parameters=(
            _argument("stage", "session, agent or task.", metavar="session|agent|task"),
            _argument("name", "Its id; without one all open sessions.", required=False, metavar="ID"),
            _option("--agent", "Who does it (the agent that is running).", metavar="A"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="verify",
        summary="Put learnings through the gate: named checks, and a judge's scores.",
        example="roamkb verify --batch --judge heuristic",
        parameters=(
            _rest("keys", "The learnings, by key or id.", metavar="KEY..."),
            _switch("--batch", "All that have no verdict yet, or stand otherwise since."),
            _option("--task", "With --batch: only those of this task.", metavar="ID"),
            _option("--judge", "heuristic, claude, codex, ollama:MODEL, openai:URL#MODEL, or a command.",
                    metavar="MODEL"),
            _option("--accuracy", "Your own score, 0 to 1.", metavar="N"),
            _option("--relevance", "Your own score, 0 to 1.", metavar="N"),
            _option("--specificity", "Your own score, 0 to 1.", metavar="N"),
            _option("--by", "Who judges (the agent that is running).", metavar="WHO"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="promote",
        summary="Write verified, durable learnings as nodes; without KEY, list what could be.",
        example="roamkb promote gotcha-invoice-numbers-restart-at-1-every-year",
        parameters=(
            _rest("keys", "The learnings, by key or id.", metavar="KEY..."),
            _switch("--all", "Every candidate."),
            _switch("--ask", "Put the wrap-up's question, with the candidates."),
            _switch("--dry-run", "Show what would be written; write nothing."),
            _option("--to", "Propose them as lines of this file, such as CLAUDE.md, for a human to approve.",
                    metavar="FILE"),
            _option("--section", "With --to: the heading that they belong under (the end of the file).",
                    metavar="HEADING"),
            _option("--session", "The session that wraps up.", metavar="S"),
            _AS_OF,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="recall",
        summary="Find what this project's agents learned, best first; without words the latest.",
        example="roamkb recall oauth redirect --type gotcha",
        parameters=(
            _rest("words", "Words, as for search.", metavar="WORDS..."),
            _option("--type", "Only learnings of this type.", metavar="T"),
            _switch("--kb", "The knowledge base as well."),
            _switch("--all", "The archive as well."),
            OperationParameter(name="recent", help="The latest N instead of the best.", flags=("--recent",),
                      shape=ParameterShape.COUNT, metavar="N"),
            _switch("--stats", "How much there is, by type and tag."),
            _option("--topic", "Only learnings of this task or bead.", metavar="ID"),
            _option("--file", "Only learnings that concern this file.", metavar="PATH"),
            _option("--action", "Only learnings for this action.", metavar="A"),
            _options("--tag", "tags", "Only learnings with this tag (again for more).", metavar="T"),
            _option("--scope", "Only learnings of this scope: session, agent, task, project.", metavar="S"),
            _option("--min-confidence", "Only learnings at least so sure, 0.00 to 1.00.", metavar="C"),
            _count("--limit", "At most so many (20)."),
            _count("--offset", "Leave out the first so many."),
            _option("--id", "The whole of one learning, by key or id.", metavar="KEY"),
            _AS_OF,
            _switch("--raw", "The log's own lines."),
            _switch("--framed", "In the frame that marks it as data for a prompt."),
            *_WHO,
            _option("--task", "The task that it is for.", metavar="ID"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="ingest",
        summary="Take what another tool (Lavra, Oro, beads) keeps for this project into its log, each once.",
        example="roamkb ingest --file .beads/memory/knowledge.jsonl --dry-run",
        parameters=(
            _argument("folder", "With --memory: another folder than Claude Code's own.", required=False,
                      metavar="DIR"),
            _option("--file", "The knowledge.jsonl to read, where it isn't where those tools keep it.",
                    metavar="F"),
            _switch("--memory", "Read Claude Code's memory of this project; without --yes only show it."),
            _switch("--dry-run", "Count what would come in; write nothing."),
            _switch("--yes", "With --memory: take it in."),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="template",
        summary="What a kind of task begins with, made of verified learnings.",
        example="roamkb template create auth-work --task-type auth --from-task bd-12",
        parameters=(
            _argument("action", "create, list, show, use, update or deprecate.", metavar="ACTION"),
            _argument("name", "The template's name.", required=False, metavar="NAME"),
            _options("--task-type", "task_types", "A kind of task that it is for.", metavar="T"),
            _option("--from-task", "create, update: of this task's verified learnings.", metavar="ID"),
            _options("--learning", "learnings", "create, update: of this learning, by key or id.",
                     metavar="KEY"),
            _option("--task", "use: the task whose scope it is put into.", metavar="ID"),
            _option("--reason", "update, deprecate: why.", metavar="TEXT"),
            _switch("--all", "list: the deprecated as well."),
            _AS_OF,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="bundle",
        summary="Verified learnings in one file for another project: create, show, import.",
        example="roamkb bundle create auth.jsonl --tag auth",
        parameters=(
            _argument("action", "create, show or import.", metavar="ACTION"),
            _argument("file", "The bundle.", metavar="FILE"),
            _switch("--all", "create: those as well that nobody verified."),
            _option("--type", "create: only learnings of this type.", metavar="T"),
            _options("--tag", "tags", "create: only learnings with this tag (again for more).", metavar="T"),
            _switch("--yes", "import: do it, don't only say what it would do."),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="snapshot",
        summary="Keep what the log, and agents' notes, hold now; list what is kept, put back what is lost.",
        example="roamkb snapshot",
        parameters=(
            _argument("action", "list or restore; without it, make one.", required=False, metavar="ACTION"),
            _argument("name", "restore: the snapshot's id (the latest).", required=False, metavar="ID"),
            _switch("--daily", "Make none where there is one of today."),
            _switch("--yes", "restore: do it, don't only say what is lost."),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="audit",
        summary="Say what recall makes of each learning (noise, repetitions, lost files), and why.",
        example="roamkb audit",
        parameters=(_AS_OF,),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="refine",
        summary="List terse, untagged or noisy learnings, each with the command that says it again.",
        example="roamkb refine bd-12",
        parameters=(_rest("tasks", "Tasks or beads (all).", metavar="TASK..."),),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="curate",
        summary="Propose what a review would append to the ledger; append it once a human says so.",
        example='roamkb curate --dry-run --reason "Same fact, told three times"',
        parameters=(
            _switch("--dry-run", "Only show the lines, as without an option."),
            _option("--apply", "Append the lines of this proposal; asks at the terminal.", metavar="DIGEST"),
            _option("--reason", "Why, for the log.", metavar="TEXT"),
            *_WHO,
            _AS_OF,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="review",
        summary="List what `promote --to` proposed, as diffs; decide about it, or what `curate` proposes.",
        example="roamkb review --edit",
        parameters=(
            _switch("--curate", "Decide in your editor about what `curate` proposes; asks at the terminal."),
            _switch("--all", "What was decided before as well."),
            _switch("--edit", "Decide in your editor about the lines that wait; asks at the terminal."),
            _option("--reason", "Why, for the log; the file has a line for it.", metavar="TEXT"),
            *_WHO,
            _AS_OF,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="approve",
        summary="Put a proposed line, or all, into the rule file; asks at the terminal.",
        example="roamkb approve 5e0c4f2b --digest 8f434346648f",
        parameters=(
            _argument("id", "The proposal, as `review` shows it.", required=False, metavar="ID"),
            _switch("--all", "All that wait and can land."),
            _option("--digest", "The change that `review` showed; by now it may be another.",
                    metavar="DIGEST"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="reject",
        summary="Never propose a line for that file again; asks at the terminal.",
        example='roamkb reject 5e0c4f2b --reason "Said in the README"',
        parameters=(
            _argument("id", "The proposal, as `review` shows it.", metavar="ID"),
            OperationParameter(name="reason", help="Why, for the log.", flags=("--reason",), required=True,
                      metavar="TEXT"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="rollback",
        summary="Take an approved line out of its rule file again; asks at the terminal.",
        example='roamkb rollback 5e0c4f2b --reason "Agents read it wrongly"',
        parameters=(
            _argument("id", "The proposal, as `review --all` shows it.", metavar="ID"),
            _option("--reason", "Why, for the log.", metavar="TEXT"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="explain",
        summary="Show the whole life of a learning, and why it counts what it counts.",
        example="roamkb explain learned-oauth-redirect-uris-must-match-exactly",
        parameters=(_argument("key", "The learning, by key or id.", metavar="KEY"), _AS_OF),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="pin",
        summary="Keep a learning from losing rank while nobody uses it.",
        example="roamkb pin learned-oauth-redirect-uris-must-match-exactly",
        parameters=(
            _argument("key", "The learning, by key or id.", metavar="KEY"),
            _switch("--off", "No longer."),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="prefer",
        summary="Show a learning before its equals to one agent alone: this one, or the one that is named.",
        example="roamkb prefer pattern-every-route-answers-errors-as-json --agent build_agent",
        parameters=(
            _argument("key", "The learning, by key or id.", metavar="KEY"),
            _switch("--off", "No longer."),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="undo",
        summary="Take back one event that an agent brought about: a repetition, an outcome, an attempt…",
        example="roamkb undo 01JXE5QK7M0000000000000000",
        parameters=(
            _argument("event", "Its id, as `explain KEY` shows it; of an undoing, to have it count again.",
                      metavar="EVENT"),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="override",
        summary="Say what a learning's confidence is, whatever happens; asks at the terminal.",
        example="roamkb override learned-oauth-redirect-uris-must-match-exactly 0.95",
        parameters=(
            _argument("key", "The learning, by key or id.", metavar="KEY"),
            _argument("confidence", "0.00 to 1.00.", metavar="CONFIDENCE"),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="export",
        summary="Print every learning with what it counts today, a JSON object a line.",
        example="roamkb export --all",
        parameters=(_switch("--all", "The archive as well."), _AS_OF),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="task",
        summary="Start or end a task, or find those that are like it.",
        example='roamkb task start bd-12 --title "Fix the OAuth redirect" --file "src/auth/*.ts"',
        parameters=(
            _argument("action", "start, done, failed, similar or list.",
                      metavar="start|done|failed|similar|list"),
            _argument("id", "The task.", required=False, metavar="ID"),
            _option("--title", "What is to be done.", metavar="TEXT"),
            _option("--category", "What kind of work it is.", metavar="C"),
            _options("--file", "files", "Files that it touches, in gitignore syntax.", metavar="GLOB"),
            _options("--depends", "depends", "What it builds on.", metavar="ID"),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="relevant",
        summary="Find what helps with a task: by its files, words, action and what came before.",
        example="roamkb relevant --task bd-12",
        parameters=(
            _option("--task", "A task that was started.", metavar="ID"),
            _option("--title", "What is to be done.", metavar="TEXT"),
            _options("--file", "files", "Files that it touches, in gitignore syntax.", metavar="GLOB"),
            _option("--category", "What kind of work it is.", metavar="C"),
            _options("--action", "actions", "What is done there: CREATE, UPDATE…", metavar="A"),
            _option("--min-confidence", "Only learnings at least so sure (0.5).", metavar="C"),
            _count("--limit", "At most so many (20)."),
            _count("--offset", "Leave out the first so many."),
            _switch("--kb", "Nodes of the knowledge base as well."),
            _AS_OF,
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="used",
        summary="Say whether a learning that was shown helped.",
        example="roamkb used KEY --outcome success",
        parameters=(
            _argument("name", "The learning, by key or id.", metavar="KEY"),
            OperationParameter(
                name="outcome",
                help="success, failure, partial, not_applied, prevented, or validated: "
                "another agent than the one that learned it found it true.",
                flags=("--outcome",), required=True, metavar="O"),
            _option("--task", "The task that it was for.", metavar="ID"),
            _option("--match", "How it was found: exact, similar or suggested.", metavar="M"),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="remedy",
        summary="What fixed an error before, by how often it worked: record, suggest, show, list.",
        example="roamkb remedy suggest --error \"ModuleNotFoundError: No module named 'yaml'\"",
        parameters=(
            _argument("action", "record, suggest, show or list.", metavar="ACTION"),
            _argument("name", "show: an error's fingerprint, or a technique.", required=False,
                      metavar="FINGERPRINT|TECHNIQUE"),
            _option("--error", "The error, or a program's whole output; - reads standard input.",
                    metavar="TEXT|-"),
            _option("--technique", "record: what was done, or could be.", metavar="TEXT"),
            _options("--step", "steps", "record: one step of it (again for more, in order).", metavar="S"),
            _option("--outcome", "record: success, failure or partial; without it nobody tried it yet.",
                    metavar="O"),
            _option("--error-type", "The error's class, where the text doesn't say it.", metavar="T"),
            _option("--category", "What the task is about; decides between equals.", metavar="C"),
            _option("--file", "The file that it was met in; only its type counts.", metavar="F"),
            _option("--pattern", "record: for errors that have this in a line, * and ? being wild.",
                    metavar="GLOB"),
            _option("--regex", "record: for errors that match this (the extra roamkb[serve]).",
                    metavar="RE2"),
            _option("--task", "record: the task that it happened in.", metavar="ID"),
            _count("--limit", "suggest, list: at most so many (5; list: all)."),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="stats",
        summary="Say how often knowledge was shown, and what came of it.",
        example="roamkb stats --metrics",
        parameters=(
            _switch("--metrics", "The figures by which it is judged whether all this helps."),
            _AS_OF,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="brief",
        summary="Say what a session should know at its start; with --task, what helps with that.",
        example="roamkb brief --task bd-12",
        parameters=(
            _option("--task", "What helps with this task, from a confidence of 0.70.", metavar="ID"),
            _switch("--subagent", "What helps a subagent: patterns alone."),
            *_WHO,
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="inject",
        summary="Turn off, or on again, what hooks put into prompts here; they go on recording.",
        example="roamkb inject off",
        parameters=(
            _argument("action", "on or off (without it: which it is).", required=False, metavar="on|off"),
        ),
        panel=_LOG,
        is_of_log=True,
    ),
    Operation(
        name="classify",
        summary="Say whether a folder's project is work, personal or unknown, and why.",
        example="roamkb classify ~/code/site",
        parameters=(_argument("folder", "The folder (the current one).", required=False, metavar="DIR"),),
        panel="Boundary and rule",
    ),
    Operation(
        name="hygiene",
        summary="List what a human may want to tidy: orphans, duplicates, broken links. Changes nothing.",
        example="roamkb hygiene --org > ~/report.org",
        parameters=(_switch("--org", "As an org file to open in Emacs."),),
        panel="Looking after it",
    ),
    Operation(
        name="conflicts",
        summary="List syncers' conflict copies and how they differ from their originals.",
        example="roamkb conflicts",
        parameters=(
            _argument("file", "Only copies of this file.", required=False, metavar="FILE"),
            _switch("--adopt", "Name copies that have an id of their own; a human's only if FILE says so."),
        ),
        panel="Looking after it",
    ),
    Operation(
        name="journal",
        summary="Show what became of the notes since a session began; bring back what was, once you say so.",
        example="roamkb journal show 12 --diff",
        parameters=(
            _argument("action", "show or restore; without it, list the marks and looks.", required=False,
                      metavar="ACTION"),
            _rest("names", "show: a mark or a session, then notes. restore: the notes, or folders of them.",
                  metavar="[MARK|SESSION] [PATH]..."),
            _option("--mark", "As it was then (the mark of the session in which something changed last "
                    "that nothing explains).", metavar="MARK|SESSION"),
            _switch("--all", "restore: all that changed and nothing explains."),
            _switch("--diff", "show: the texts' differences as well."),
            _switch("--create-kb", "restore: make the notes' folder again where it is gone."),
            _switch("--dry-run", "restore: say what would be done; do nothing."),
        ),
        panel="Looking after it",
        asks_human=True,
    ),
    Operation(
        name="doctor",
        summary="Say what is wrong with this installation, and what to do about it.",
        example="roamkb doctor",
        panel="Looking after it",
    ),
    Operation(
        name="index",
        summary="Look at the search index; it is kept by itself and never needed for an answer.",
        example="roamkb index --check",
        parameters=(
            _switch("--rebuild", "Build it again."),
            _switch("--check", "Compare it with one made just now."),
            _switch("--stats", "Only say how large it is, as without an option."),
        ),
        panel="Looking after it",
    ),
    Operation(
        name="install",
        summary="Put the rule where agents read it; describe your own KB and projects in it.",
        example="roamkb install --kb ~/org/roam --work-root ~/work --project-parent ~/code",
        parameters=(
            _option("--kb", "Your knowledge base.", metavar="DIR"),
            _options("--work-root", "work_roots", "A folder under which everything is work.", metavar="DIR"),
            _options("--project-parent", "project_parents", "A folder of personal projects.", metavar="DIR"),
            _option("--agents-md", "Keep a block with the rule's gist in this file.", metavar="FILE"),
            _switch("--create-kb", "Make the folder and a first node that documents it."),
            _option("--snippets", "Write the Emacs setting and the .stignore lines here.", metavar="DIR"),
            _switch("--claude", "Put hooks, and rules that deny, into Claude Code's settings; asks first."),
            _switch("--codex", "Put hooks, and the MCP server, into Codex's settings; asks first."),
            _switch("--yes", "Write those settings without asking."),
            _switch("--dry-run", "Say what would be done; do nothing."),
        ),
        panel="Boundary and rule",
    ),
    Operation(
        name="uninstall",
        summary="Take away what install made, and name what stays.",
        example="roamkb uninstall",
        parameters=(
            _option("--agents-md", "Take the block out of this file.", metavar="FILE"),
            _option("--snippets", "Take the Emacs setting and .stignore lines out of here.", metavar="DIR"),
            _switch("--claude", "Take the hooks and rules out of Claude Code's settings as well."),
            _switch("--codex", "Take the hooks and the MCP server out of Codex's settings as well."),
            _switch("--purge", "Take roamkb's cache, state and data too; never notes nor projects' logs."),
            _switch("--dry-run", "Say what would be done; do nothing."),
        ),
        panel="Boundary and rule",
    ),
    Operation(
        name="mcp",
        summary="Serve agents over MCP on standard input and output (the extra roamkb[mcp]).",
        example="roamkb mcp",
        panel="Agents' doors",
        door="mcp.server",
    ),
    Operation(
        name="serve",
        summary="Serve this project's agents over HTTP, on this machine alone (the extra roamkb[serve]).",
        example="roamkb serve --port 7717",
        parameters=(
            _count("--port", "The port (7717); 0 for a free one."),
            _option("--host", "127.0.0.1 (default) or ::1; no other is served.", metavar="H"),
        ),
        panel="Agents' doors",
        door="http.serve",
    ),
)  # fmt: skip


def find_operation(name: str) -> Operation | None:
    """Return the operation called `name`."""
    return next((operation for operation in OPERATIONS if operation.name == name), None)
