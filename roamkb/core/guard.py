"""What an agent's tool call would do to the knowledge base, and whether it may: the boundary's second wall.

`formats/tool_calls.judge_tool` is the door: it reads the call and asks here.
"""

import posixpath
import re
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from roamkb.core.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the hook found on the disk."""

    #: Every name of the knowledge base: as typed, its real path, what other mounts call it; all absolute.
    #: Where the rule is broken, the last good one's.
    kb: tuple[str, ...]
    #: What the session's project is.
    kind: Kind
    #: Where the command runs.
    cwd: str
    home: str
    #: Whether a path is an agent node's file, or is not there yet.
    is_agent_note: Callable[[str], bool]
    #: The real path of a path, links followed as far as it exists.
    resolve: Callable[[str], str]
    #: What the agent's shell knows already: its environment.
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """Why a tool call is not to be made."""

    #: One sentence for the agent.
    reason: str
    #: What to do instead, one sentence.
    hint: str


#: Below the home folder: what makes the rule and its hooks count.
PROTECTED = (
    ".claude/rules/knowledge-base.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
)
_QUOTING = str.maketrans("", "", "'\"\\")
_TOKEN = re.compile(r"[^\s'\"=:;|&<>(),]+")
_OURS = re.compile(r"roamkb|knowledge-base|\.claude|\.codex|settings\.|hooks\.json|config\.toml")
#: What may lead anywhere: home, upwards, a glob from the root.
_FAR = re.compile(r"~|\$\{?HOME|\$\(|`|\.\.|/\S*[*?\[{]|\$'")
#: Of a command, that is looked up on the disk before anything else is done.
_MOST_TOKENS = 64


def may_concern(text: str, ground: Ground) -> bool:
    """Say whether a command is worth reading: cheap, and true wherever in doubt."""
    plain = text.translate(_QUOTING).replace("\n", "") if "\\\n" in text else text.translate(_QUOTING)
    home = ground.home.rstrip("/") + "/"
    names = {part for folder in ground.kb for part in folder.removeprefix(home).strip("/").split("/") if part}
    if _OURS.search(plain) or _FAR.search(text) or any(name in plain for name in names):
        return True
    if any(value and f"${name}" in plain.replace("{", "") for name, value in ground.variables.items()):
        return True
    folders = tuple({one.rstrip("/") for one in ground.kb})
    cwd = ground.resolve(ground.cwd).rstrip("/")
    if any(_is_near(place, one) for one in folders for place in (cwd, ground.cwd.rstrip("/"))):
        return True
    tokens = dict.fromkeys(_TOKEN.findall(text, 0, 4096))
    if len(tokens) > _MOST_TOKENS:
        return True
    real = (ground.resolve(posixpath.join(ground.cwd, one)) for one in tokens if not one.startswith("-"))
    return any(_is_near(one, folder) for one in real for folder in folders)


def _is_near(place: str, folder: str) -> bool:
    return f"{place}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{place}/")


def refusal(ground: Ground, what: str) -> Denial:
    """Return the denial of a write into the knowledge base."""
    if ground.kind is Kind.PERSONAL:
        return Denial(
            reason=f"{what}, a note that is the human's: agents never edit, move or delete those",
            hint="write a fact of your own with `roamkb write` and link to it; "
            "correct your own with `roamkb supersede`",
        )
    return Denial(
        reason=f"{ground.kind.value} project: {what}, and nothing from here is written to the knowledge base",
        hint="report the fact to your human, and keep it in the project's own tree; to read, use "
        "`roamkb search`, or rg, cat and the like by themselves; `roamkb write` is for personal projects",
    )


def rule_denial() -> Denial:
    """Return the denial of a change to the rule or to what enforces it."""
    return Denial(
        reason="that would change the rule, or the settings that make it count: only your human does that",
        hint="tell your human what you would change there, and why",
    )


def approval_denial(verb: str) -> Denial:
    """Return the denial of an approval that an agent would give itself."""
    return Denial(
        reason=f"`roamkb {verb}` is a human's word: an agent doesn't give it",
        hint="show your human the command, for them to run at their own terminal",
    )


def is_spared(path: str, ground: Ground) -> bool:
    """Say whether a path in the knowledge base may be a human's note, or hold some."""
    if any(mark in path for mark in "*?[\0$`"):
        return True
    _, dot, ending = posixpath.basename(path).rpartition(".")
    if dot and ending not in ("org", "gpg", "age", "org_archive"):
        return False
    return not ground.is_agent_note(path)


def paths_of_patch(patch: str) -> list[str]:
    """Return the paths that a patch in Codex's form changes."""
    return re.findall(
        r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *([^\r\n]+?) *\r?$", patch, re.MULTILINE
    )
