"""Options of `install` and `uninstall`: folders, files, and a switch for each registered harness."""

from collections.abc import Mapping
from collections.abc import Sequence

from roamkb.core.request import flag_option
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """Options of `install`."""

    _: KW_ONLY
    kb: str | None = text_option("--kb", "Your knowledge base.", metavar="DIR", values="folders")
    work_roots: Sequence[str] = repeatable_option(
        "--work-root", "A folder under which everything is work.", metavar="DIR", values="folders"
    )
    project_parents: Sequence[str] = repeatable_option(
        "--project-parent", "A folder of personal projects.", metavar="DIR", values="folders"
    )
    kb_name: str | None = text_option(
        "--kb-name", "What --kb and --project-parent are of: another knowledge base, of that name.", metavar="NAME"
    )
    agents_md: str | None = text_option(
        "--agents-md", "Keep a block with the rule's gist in this file.", metavar="FILE", values="files"
    )
    create_kb: bool = flag_option("--create-kb", "Make the folder and a first node that documents it.")
    snippets: str | None = text_option(
        "--snippets", "Write the Emacs setting and the .stignore lines here.", metavar="DIR", values="folders"
    )
    claude: bool = flag_option("--claude", "Put hooks, and rules that deny, into Claude Code's settings; asks first.")
    codex: bool = flag_option("--codex", "Put hooks, and the MCP server, into Codex's settings; asks first.")
    gemini: bool = flag_option("--gemini", "Put hooks, and the MCP server, into Gemini CLI's settings; asks first.")
    yes: bool = flag_option("--yes", "Write those settings without asking.")
    dry_run: bool = flag_option("--dry-run", "Say what would be done; do nothing.")


@dataclass(frozen=True, slots=True)
class SetupRequest(InstallRequest):
    """Options of `setup`: each answers a question, which is then not asked."""

    _: KW_ONLY
    no_work: bool = flag_option("--no-work", "Nothing is work but what the rule calls so.")
    no_hooks: bool = flag_option("--no-hooks", "Leave all harnesses' settings as they are.")
    logs: Sequence[str] = repeatable_option(
        "--log", "Begin a log in this project (again for more).", metavar="DIR", values="folders"
    )
    no_logs: bool = flag_option("--no-logs", "Begin no log.")
    undo: bool = flag_option("--undo", "Take back all that setup did, as far as nobody used it since.")


@dataclass(frozen=True, slots=True)
class UninstallRequest:
    """Options of `uninstall`."""

    _: KW_ONLY
    agents_md: str | None = text_option(
        "--agents-md", "Take the block out of this file.", metavar="FILE", values="files"
    )
    snippets: str | None = text_option(
        "--snippets", "Take the Emacs setting and .stignore lines out of here.", metavar="DIR", values="folders"
    )
    claude: bool = flag_option("--claude", "Take the hooks and rules out of Claude Code's settings as well.")
    codex: bool = flag_option("--codex", "Take the hooks and the MCP server out of Codex's settings as well.")
    gemini: bool = flag_option("--gemini", "Take the hooks and the MCP server out of Gemini CLI's settings as well.")
    kb_name: str | None = text_option(
        "--kb-name",
        "Only take the knowledge base of that name out of the rule; its notes stay.",
        metavar="NAME",
        values="kbs",
    )
    purge: bool = flag_option("--purge", "Take roamkb's cache, state and data too; never notes nor projects' logs.")
    dry_run: bool = flag_option("--dry-run", "Say what would be done; do nothing.")


def named_harnesses(request: InstallRequest | UninstallRequest, options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of the harnesses whose switches are on; `options` maps switches to names."""
    return tuple(name for option, name in options.items() if getattr(request, option))
