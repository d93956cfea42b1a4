"""Human consent, which no agent, hook or server can give (D19).

Who stands at a terminal is asked there, on the device itself; a door without one has nobody to ask. A program
can make a terminal of its own and type there, so that nobody is asked where an agent started us, where it
can't be seen who did, or where no login made the terminal (`boundary/process_ancestry`). A program that takes
a login's name isn't seen: it could as well write the files itself.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from posixpath import basename
from typing import Final
from typing import Protocol
from typing import runtime_checkable

from roamkb.core.errors import UsageError
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import declared_by
from roamkb.harnesses.registry import declared_of


class HumanAtTerminal(Protocol):
    """A human at a terminal, who can confirm a question and edit a file."""

    def confirm(self, question: str, word: str) -> bool:
        """Say whether the human typed `word` after reading `question`."""
        ...

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Open a file in the human's editor; say whether the editor ended well."""
        ...


class SecurityKey(Protocol):
    """A public key whose private half signs when somebody touches the hardware."""

    @property
    def key(self) -> str:
        """`TYPE BASE64`."""

    @property
    def file(self) -> str:
        """The file of its handle; empty where nobody knows one."""

    @property
    def comment(self) -> str:
        """What was written beside it."""


@runtime_checkable
class HumanWithKey(HumanAtTerminal, Protocol):
    """A human who can prove a yes by touching a security key."""

    #: Whether nothing else counts: a click on a page says nothing of who clicked.
    is_signing_only: bool

    def sign(self, message: bytes, keys: Sequence[SecurityKey], *, shown: str) -> bytes:
        """Return the signature of a message by one of some keys; empty where none of them is here.

        `shown` is what the human has read, or reads now.
        """
        ...


#: What harnesses set for the commands that their agents run.
_AGENT_VARIABLES: Final = (
    # any agent's, by an agreement of several harnesses
    "AI_AGENT",
    *declared("marks"),
    "QWEN_CODE",
    "CURSOR_AGENT",
    "CLINE_ACTIVE",
    "OPENCODE",
)
#: The harnesses themselves, as processes and as the scripts that an interpreter runs.
_HARNESSES: Final = frozenset(
    (*declared("programs"), *"qwen opencode cursor-agent aider droid copilot kiro-cli".split())
)
#: Where an installer puts a program, which is then called by its number.
_VERSIONS_FOLDER: Final = declared_by("version_folders")
#: Words of a command that may name the program: an interpreter, an option, its script.
_LEADING_WORDS = 3


def find_harness(ancestors: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, str] | None:
    """Return the number and name of the nearest harness among the processes above; None without one.

    `parents` has for each its number, then its name and the words of its command.
    """
    for number, words in ancestors:
        for word in words[:_LEADING_WORDS]:
            name = _versioned(word) or basename(word).removesuffix(".js").removesuffix(".exe")
            if name in _HARNESSES:
                return number, name
    return None


def _versioned(word: str) -> str:
    """Return which harness's program a path is, called by its version's number; empty for none."""
    for end, name in _VERSIONS_FOLDER.items():
        folder, found, version = word.rpartition(end)
        if folder and found and version[:1].isdigit() and "/" not in version:
            return declared_of(name, "programs")[0]
    return ""


def agent_evidence(environment: Mapping[str, str], harness: tuple[str, str] | None, *, hidden: str = "") -> str:
    """Return the evidence that an agent runs this, as a clause; empty without any.

    `hidden` says why it can't be seen who began it, if so: an agent is taken for it.
    """
    if mark := next((mark for mark in _AGENT_VARIABLES if environment.get(mark)), ""):
        return f"{mark} is set"
    return f"the process {harness[1]} ({harness[0]}) began it" if harness else hidden


def require_no_agent(evidence: str) -> None:
    """Raise where `evidence`, as `agent_evidence` gives it, says that an agent runs this."""
    if evidence:
        raise UsageError(
            f"only a human does that, and an agent runs this: {evidence}; nothing was written",
            hint="run it in a terminal of your own, which no agent began",
        )


def require_human(human: HumanAtTerminal | None) -> HumanAtTerminal:
    """Return the human, or raise where there is none to ask."""
    if human is None:
        raise UsageError(
            "only a human at a terminal can do that; nothing was written",
            hint="run it yourself in a terminal: agents, hooks and servers can't",
        )
    return human


def require_yes(human: HumanAtTerminal | None, question: str, *, word: str) -> None:
    """Raise unless a human at a terminal types `word` after reading `question`."""
    if not require_human(human).confirm(question, word):
        raise UsageError("it was not confirmed; nothing was written")
