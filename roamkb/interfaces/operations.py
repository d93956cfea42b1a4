"""Table of the verbs that every interface offers, with their summaries and examples.

The command line, MCP and HTTP are made from this table and from the requests that it names: the parameters
of a verb are the fields of its request, in the verb's own module.
"""

from typing import Annotated

from roamkb.app import knowledge_base
from roamkb.app.log import project_log
from roamkb.core.request import Argument
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.request import count_option
from roamkb.core.request import flag_option
from roamkb.core.request import optional_argument
from roamkb.core.request import request_parameters
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import dataclass
from roamkb.harnesses.registry import declared

_KB = "Knowledge base"
_LOG = "Project's log"
_BOUNDARY = "Boundary and rule"
_MAINTENANCE = "Looking after it"
_INTERFACES = "Agents' doors"

#: What `help` calls each group of commands.
TOPICS = {
    "notes": _KB,
    "log": _LOG,
    "boundary": _BOUNDARY,
    "care": _MAINTENANCE,
    "doors": _INTERFACES,
}
#: What it calls all of them.
EVERY_COMMAND = "all"


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """Parameters of `serve`."""

    port: int | None = count_option("--port", "The port (7717); 0 for a free one.")
    host: str | None = text_option(
        "--host", "127.0.0.1 (default) or ::1; no other is served.", metavar="H", values=("127.0.0.1", "::1")
    )
    page: bool = flag_option("--page", "Also a page for people, opened in the browser (the extra roamkb[page]).")


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """What `completion` takes."""

    shell: Annotated[str, Argument("bash, zsh or fish.", metavar="SHELL", values=("bash", "zsh", "fish"))]


#: What every command takes beside its own parameters.
COMMON_PARAMETERS = (
    VerbParameter(name="as_json", flag="--json", help="One JSON object.", shape=ParameterShape.FLAG),
    VerbParameter(
        name="project",
        flag="--project",
        help="The project (the current folder).",
        metavar="DIR",
        values="folders",
    ),
)
HELP_PARAMETER = VerbParameter(
    name="help", flag="--help", letter="-h", help="Show this message and exit.", shape=ParameterShape.FLAG
)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that a user can call."""

    name: str
    summary: str
    example: str
    panel: str = _KB
    #: The module of `interfaces` whose `serve` carries it out, for what is an interface itself.
    door: str = ""
    #: Of such a one, the name of its request's class, which stands here; empty where it takes nothing.
    request: str = ""
    #: Whether a human at the terminal may be asked.
    asks_human: bool = False

    @property
    def is_of_log(self) -> bool:
        """Whether it is an operation on the project's log, not on the knowledge base."""
        return self.panel == _LOG

    @property
    def method_name(self) -> str:
        """The method of the library that carries it out."""
        return self.name.replace("-", "_")

    @property
    def usage(self) -> str:
        """The words that call it, as a synopsis has them."""
        required = [f"{p.flag} {p.metavar}" for p in self.parameters if p.flag and p.required]
        has_options = any(p.flag and not p.required for p in self.parameters)
        arguments = [(p.placeholder, p.required) for p in self.parameters if not p.flag]
        words = [name if is_required else f"[{name}]" for name, is_required in arguments]
        return " ".join(["roamkb", self.name, *["[OPTION]..."] * has_options, *required, *words])

    @property
    def request_type(self) -> type:
        """The class of its request: of an interface here, else in the verb's module."""
        if self.door:
            own_type: type = globals()[self.request]
            return own_type
        owner = project_log.ProjectLog if self.is_of_log else knowledge_base.KnowledgeBase
        found: type = getattr(owner, self.method_name).request_type
        return found

    @property
    def parameters(self) -> tuple[VerbParameter, ...]:
        """Its parameters, positional arguments first."""
        return request_parameters(self.request_type) if self.request or not self.door else ()


#: Values of what `parameters` names: text, several texts, a number, a switch, or nothing.
Arguments = dict[str, str | int | bool | tuple[str, ...] | None]

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "search",
        "Find nodes by words, phrases and filters, best first.",
        "roamkb search oauth redirect --tag auth",
    ),
    Operation(
        "show",
        "Show one node: its fields and its text.",
        'roamkb show "Token refresh"',
    ),
    Operation(
        "links",
        "Show a node's links, its backlinks, and links to nothing.",
        'roamkb links "Token refresh"',
    ),
    Operation(
        "daily",
        "Show a day's note, and what agents did that day.",
        "roamkb daily yesterday",
    ),
    Operation(
        "tags",
        "List the tags that are in use, the most frequent first.",
        "roamkb tags",
    ),
    Operation(
        "nodes",
        "List every node with all its fields, as org-roam sees them.",
        "roamkb nodes --json",
    ),
    Operation(
        "write",
        "Write one fact as one new agent node, unless the project may not.",
        'roamkb write "OAuth redirect URIs must match exactly" --tag oauth --body "To the letter."',
    ),
    Operation(
        "supersede",
        "Replace an agent node by a new one that the old one points to.",
        'roamkb supersede ID "Redirect URIs are matched by prefix since v2"',
    ),
    Operation(
        "trash",
        "Move agent nodes out of the knowledge base into a trash of your own machine.",
        "roamkb trash ID",
    ),
    Operation(
        "restore",
        "Put a node back from the trash; without ID, list the trash.",
        "roamkb restore ID",
    ),
    Operation(
        "inventory",
        "List every node that agents wrote, newest first.",
        "roamkb inventory",
    ),
    Operation(
        "init",
        "Make a log for this project, or adopt the one that came with it.",
        "roamkb init",
        panel=_LOG,
    ),
    Operation(
        "learn",
        "Add one learning to the project's log, or one more occurrence of what it knows.",
        'roamkb learn "OAuth redirect URIs must match exactly" --type gotcha --file "src/auth/*.ts"',
        panel=_LOG,
    ),
    Operation(
        "extract",
        "Have a language model propose what of a session is worth keeping; the gate decides.",
        f"roamkb extract --with {declared('models')[0]}",
        panel=_LOG,
    ),
    Operation(
        "observe",
        "Record what happened in a session, or learn what an agent said in passing.",
        "roamkb observe --from-command 'bd comments add bd-12 \"LEARNED: …\"'",
        panel=_LOG,
    ),
    Operation(
        "consolidate",
        "Turn a session's observations into learnings, an agent's many into few; lift a task's.",
        "roamkb consolidate session S-12",
        panel=_LOG,
    ),
    Operation(
        "verify",
        "Put learnings through the gate: named checks, and a judge's scores.",
        "roamkb verify --batch",
        panel=_LOG,
    ),
    Operation(
        "promote",
        "Write verified, durable learnings as nodes; without KEY, list what could be.",
        "roamkb promote gotcha-invoice-numbers-restart-at-1-every-year",
        panel=_LOG,
    ),
    Operation(
        "recall",
        "Find what this project's agents learned, best first; without words the latest.",
        "roamkb recall oauth redirect --type gotcha",
        panel=_LOG,
    ),
    Operation(
        "ingest",
        "Take what another tool (Lavra, Oro, beads) keeps for this project into its log, each once.",
        "roamkb ingest --file .beads/memory/knowledge.jsonl --dry-run",
        panel=_LOG,
    ),
    Operation(
        "template",
        "What a kind of task begins with, made of verified learnings.",
        "roamkb template create auth-work --task-type auth --from-task bd-12",
        panel=_LOG,
    ),
    Operation(
        "bundle",
        "Verified learnings in one file for another project: create, show, import.",
        "roamkb bundle create auth.jsonl --tag auth",
        panel=_LOG,
    ),
    Operation(
        "snapshot",
        "Keep what the log, and agents' notes, hold now; list what is kept, put back what is lost.",
        "roamkb snapshot",
        panel=_LOG,
    ),
    Operation(
        "forget",
        "Take a learning out of the log and its local files for good; asks at the terminal.",
        "roamkb forget learned-the-staging-password-is-on-the-wiki",
        panel=_LOG,
    ),
    Operation(
        "share",
        "Share this log with other machines by a PostgreSQL service; say how it is shared, or end that.",
        "roamkb share status",
        panel=_LOG,
    ),
    Operation(
        "trust",
        "List the digests and keys by which a log counts that came with its project; add or remove one.",
        "roamkb trust",
        panel=_LOG,
    ),
    Operation(
        "audit",
        "Say what recall makes of each learning (noise, repetitions, lost files), and why.",
        "roamkb audit",
        panel=_LOG,
    ),
    Operation(
        "refine",
        "List terse, untagged or noisy learnings, each with the command that says it again.",
        "roamkb refine bd-12",
        panel=_LOG,
    ),
    Operation(
        "curate",
        "Propose what a review would append to the ledger; append it once a human says so.",
        'roamkb curate --dry-run --reason "Same fact, told three times"',
        panel=_LOG,
    ),
    Operation(
        "review",
        "List what `promote --to` proposed, as diffs; decide about it, or what `curate` proposes.",
        "roamkb review --edit",
        panel=_LOG,
    ),
    Operation(
        "approve",
        "Put a proposed line, or all, into the rule file; asks at the terminal.",
        "roamkb approve 5e0c4f2b --digest 8f434346648f",
        panel=_LOG,
    ),
    Operation(
        "reject",
        "Never propose a line for that file again; asks at the terminal.",
        'roamkb reject 5e0c4f2b --reason "Said in the README"',
        panel=_LOG,
    ),
    Operation(
        "rollback",
        "Take an approved line out of its rule file again; asks at the terminal.",
        'roamkb rollback 5e0c4f2b --reason "Agents read it wrongly"',
        panel=_LOG,
    ),
    Operation(
        "explain",
        "Show the whole life of a learning, and why it counts what it counts.",
        "roamkb explain learned-oauth-redirect-uris-must-match-exactly",
        panel=_LOG,
    ),
    Operation(
        "pin",
        "Keep a learning from losing rank while nobody uses it.",
        "roamkb pin learned-oauth-redirect-uris-must-match-exactly",
        panel=_LOG,
    ),
    Operation(
        "prefer",
        "Show a learning before its equals to one agent alone: this one, or the one that is named.",
        "roamkb prefer pattern-every-route-answers-errors-as-json --agent build_agent",
        panel=_LOG,
    ),
    Operation(
        "undo",
        "Take back one event that an agent brought about: a repetition, an outcome, an attempt…",
        "roamkb undo 01JXE5QK7M0000000000000000",
        panel=_LOG,
    ),
    Operation(
        "override",
        "Say what a learning's confidence is, whatever happens; asks at the terminal.",
        "roamkb override learned-oauth-redirect-uris-must-match-exactly 0.95",
        panel=_LOG,
    ),
    Operation(
        "export",
        "Print every learning with what it counts today, a JSON object a line.",
        "roamkb export --all",
        panel=_LOG,
    ),
    Operation(
        "task",
        "Start or end a task, or find those that are like it.",
        'roamkb task start bd-12 --title "Fix the OAuth redirect" --file "src/auth/*.ts"',
        panel=_LOG,
    ),
    Operation(
        "relevant",
        "Find what helps with a task: by its files, words, action and what came before.",
        "roamkb relevant --task bd-12",
        panel=_LOG,
    ),
    Operation(
        "used",
        "Say whether a learning that was shown helped.",
        "roamkb used KEY --outcome success",
        panel=_LOG,
    ),
    Operation(
        "remedy",
        "What fixed an error before, by how often it worked: record, suggest, show, list.",
        "roamkb remedy suggest --error \"ModuleNotFoundError: No module named 'yaml'\"",
        panel=_LOG,
    ),
    Operation(
        "stats",
        "Say how often knowledge was shown, and what came of it.",
        "roamkb stats --metrics",
        panel=_LOG,
    ),
    Operation(
        "shown",
        "Say what sessions were shown, what nearly was and why not, and what came of it.",
        "roamkb shown --session 4f1c",
        panel=_LOG,
    ),
    Operation(
        "brief",
        "Say what a session should know at its start; with --task, what helps with that.",
        "roamkb brief --task bd-12",
        panel=_LOG,
    ),
    Operation(
        "inject",
        "Turn off, or on again, what hooks put into prompts here; they go on recording.",
        "roamkb inject off",
        panel=_LOG,
    ),
    Operation(
        "classify",
        "Say whether a folder's project is work, personal or unknown, and why.",
        "roamkb classify ~/code/site",
        panel=_BOUNDARY,
    ),
    Operation(
        "hygiene",
        "List what a human may want to tidy: orphans, duplicates, broken links. Changes nothing.",
        "roamkb hygiene --org > ~/report.org",
        panel=_MAINTENANCE,
    ),
    Operation(
        "conflicts",
        "List Syncthing's conflict copies and how they differ from their originals.",
        "roamkb conflicts",
        panel=_MAINTENANCE,
    ),
    Operation(
        "journal",
        "Show what became of the notes since a session began; bring back what was, once you say so.",
        "roamkb journal show 12 --diff",
        panel=_MAINTENANCE,
        asks_human=True,
    ),
    Operation(
        "doctor",
        "Say what is wrong with this installation, and what to do about it.",
        "roamkb doctor",
        panel=_MAINTENANCE,
    ),
    Operation(
        "index",
        "Look at the search index; it is kept by itself and never needed for an answer.",
        "roamkb index --check",
        panel=_MAINTENANCE,
    ),
    Operation(
        "install",
        "Put the rule where agents read it; describe your own KB and projects in it.",
        "roamkb install --kb ~/org/roam --work-root ~/work --project-parent ~/code",
        panel=_BOUNDARY,
        asks_human=True,
    ),
    Operation(
        "setup",
        "Find your notes and projects, ask what is work, and set everything up; --undo takes it back.",
        "roamkb setup --kb ~/org-roam --no-work --no-hooks --no-logs",
        panel=_BOUNDARY,
        asks_human=True,
    ),
    Operation(
        "uninstall",
        "Take away what install made, and name what stays.",
        "roamkb uninstall",
        panel=_BOUNDARY,
    ),
    Operation(
        "mcp",
        "Serve agents over MCP on standard input and output (the extra roamkb[mcp]).",
        "roamkb mcp",
        panel=_INTERFACES,
        door="mcp.server",
    ),
    Operation(
        "serve",
        "Serve this project's agents over HTTP, on this machine alone (the extra roamkb[serve]).",
        "roamkb serve --port 7717",
        request="ServeRequest",
        panel=_INTERFACES,
        door="http.serve",
    ),
    Operation(
        "schema",
        "Print the JSON Schema of what a command answers with --json, and of what it takes.",
        "roamkb schema search",
        request="SchemaRequest",
        panel=_INTERFACES,
        door="output.schema",
    ),
    Operation(
        "help",
        "Show what one uses most, a topic's commands, or one command with an example.",
        "roamkb help search",
        request="HelpRequest",
        panel=_MAINTENANCE,
        door="cli.help",
    ),
    Operation(
        "completion",
        "Print what completes commands, options and values in bash, zsh or fish.",
        "roamkb completion bash > ~/.local/share/bash-completion/completions/roamkb",
        request="CompletionRequest",
        panel=_MAINTENANCE,
        door="completion.scripts",
    ),
)


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """What `schema` takes."""

    name: str | None = optional_argument(
        "The command; without it all of them.",
        metavar="COMMAND",
        values=tuple(operation.name for operation in OPERATIONS),
    )


@dataclass(frozen=True, slots=True)
class HelpRequest:
    """What `help` takes."""

    topic: str | None = optional_argument(
        f"A command, {', '.join(TOPICS)} or {EVERY_COMMAND}; without it what one uses most.",
        metavar="TOPIC",
        values=(*TOPICS, EVERY_COMMAND, *(operation.name for operation in OPERATIONS), "hook", "exec"),
    )


def find_operation(name: str) -> Operation | None:
    """Return the operation called `name`."""
    return next((operation for operation in OPERATIONS if operation.name == name), None)
