"""Errors of the program, worded for the user.

One root, `RoamkbError`. A `raise` line holds facts; the class holds the words, the
exit status and the code that `--json` shows (docs/json.md).
"""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

from roamkb.core import model
from roamkb.core.startup.typing import ClassVar
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.core.text import shorten_title


class RoamkbError(Exception):
    """Root of all errors that reach the user as a message, without a traceback."""

    exit_code: ClassVar[int] = 2
    code: ClassVar[str] = "io"
    JSON: ClassVar[str] = "code message hint"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def add_progress(self, progress: str, *, hint: str) -> None:
        """Add what was done before the error, and what wasn't; `hint` names the command that does the rest."""
        # true of the one file, and not of the whole
        cause = self.message.removesuffix("; nothing was changed").removesuffix("; nothing was written")
        self.message, self.hint = f"{cause}; {progress}", "; ".join(filter(None, (self.hint, hint)))
        self.args = (self.message,)


class UsageError(RoamkbError):
    """Arguments of a call that don't fit."""

    code = "usage"


class Unanswered(UsageError):
    """A question at the terminal whose input ended."""


class NoKnowledgeBase(RoamkbError):
    """Absence of the knowledge base: this machine has none, or it isn't mounted."""

    code = "no_kb"

    def __init__(self, kb: Path, why: str) -> None:
        super().__init__(
            f"no knowledge base at {one_line(str(kb))}: {why}",
            hint="go on without it and say so, or mount it; `roamkb install --kb DIR` names another folder, "
            "and with --create-kb begins one there",
        )
        self.kb = kb
        self.why = why


class Interrupted(RoamkbError):
    """Ctrl-C, where what is done by then has to be said."""

    code = "interrupted"
    exit_code = 130

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(f"interrupted; {message}", hint=hint)


class NoLog(RoamkbError):
    """Absence of a log that counts on this machine in the project."""

    code = "no_log"

    def __init__(self, root: Path | None, *, is_cloned: bool = False) -> None:
        if root is None:
            message, hint = "the project's folder can't be found, so no log is", "is --project spelt right?"
        elif is_cloned:
            message = f"the log in {one_line(str(root))} came with the project and wasn't adopted on this machine"
            hint = "`roamkb init` shows what it says, asks, and takes it over"
        else:
            message = f"no log in {one_line(str(root))}: nothing is captured there"
            hint = "`roamkb init` makes one"
        super().__init__(message, hint=hint)
        self.root = root
        self.is_cloned = is_cloned


class LostLines(NoLog):
    """A log without lines that a trusted key or digest vouched for: it isn't what was signed."""

    def __init__(self, root: Path, count: int) -> None:
        RoamkbError.__init__(
            self,
            f"the log in {one_line(str(root))} isn't what was signed: {count_phrase(count, 'line')} of it that a"
            " trusted key or digest vouched for is missing, and nothing of it counts",
            hint="`roamkb trust` lists what is missing: put it back, pull a signed commit that follows, or trust the"
            " digest of the log as it is; `roamkb init` at a terminal takes the log as nobody's word",
        )
        self.root = root
        self.is_cloned = True
        self.count = count


#: Why there is no rule where nobody has made one.
IS_MISSING = "is missing"


class BadRule(RoamkbError):
    """A missing, unreadable or malformed rule; every project is unknown."""

    code = "bad_rule"

    def __init__(self, source: Path, why: str) -> None:
        super().__init__(
            f"the rule {one_line(str(source))} {why}",
            hint="`roamkb setup` (or `make install`) puts it there"
            if why == IS_MISSING
            else "mend it there by hand; or move it away, and `roamkb setup` makes a new one",
        )
        self.source = source
        self.why = why


class SecretFound(RoamkbError):
    """A text that holds what looks like a credential."""

    code = "secret"

    def __init__(self, kind: str, start: str) -> None:
        super().__init__(
            f"the text holds what looks like a secret ({kind}, beginning {start}…); nothing was written",
            hint="write the fact without the secret; keep credentials in a password store",
        )
        self.kind = kind


class NotAsMeant(RoamkbError):
    """A note that would not read back as the text that was to be written."""

    def __init__(self, differences: str) -> None:
        super().__init__(
            f"the note would not read back as it was meant: {differences}",
            hint="nothing was written; please report the words that led to this",
        )


class NearDuplicate(RoamkbError):
    """A text that an existing node nearly repeats."""

    code = "near_duplicate"
    JSON = "code message hint candidates"

    def __init__(self, candidates: "Sequence[model.NodeCandidate]", *, likeness: str = "looks like") -> None:
        names = "; ".join(f"{shorten_title(c.title)} ({one_line(c.id)})" for c in candidates)
        super().__init__(
            f"nothing was written: {likeness} {names}",
            hint="read it with `roamkb show ID`; to replace an agent node use `roamkb supersede ID`; "
            "to write this one all the same add --anyway",
        )
        self.candidates = tuple(candidates)


class NotFound(RoamkbError):
    """A name that nothing has."""

    code = "not_found"

    def __init__(self, name: str, *, kind: str = "node", hint: str = "") -> None:
        super().__init__(
            f"no {kind} {one_line(name)}",
            hint=hint or "give an id, a title, an alias, a ref or a path; `roamkb search WORDS` finds them",
        )


class NoNode(NotFound):
    """A name that no node has; the candidates may have been meant."""

    JSON = "code message hint candidates"

    def __init__(self, name: str, candidates: "Sequence[model.NodeCandidate]" = (), *, hint: str = "") -> None:
        suggested_titles = " or ".join(dict.fromkeys(shorten_title(candidate.title) for candidate in candidates))
        super().__init__(name, hint=hint or (f"did you mean {suggested_titles}?" if suggested_titles else ""))
        self.name = name
        self.candidates = tuple(candidates)


class Ambiguous(RoamkbError):
    """A name that several nodes have, or the beginning of several keys."""

    code = "ambiguous"
    JSON = "code message hint candidates"

    def __init__(
        self,
        name: str,
        candidates: "Sequence[model.NodeCandidate]",
        *,
        hint: str = "",
        called: str = "nodes are called",
    ) -> None:
        """Say of the candidates that they are `called` so."""
        listed = "".join(
            f"\n  {one_line(c.id)}  {shorten_title(c.title)}  ({one_line(str(c.path))})" for c in candidates
        )
        is_told_apart = len({c.id for c in candidates}) == len(candidates)
        own_hint = "give one's id" if is_told_apart else "they share an id: give one's path, and change one of the ids"
        super().__init__(f"{len(candidates)} {called} {one_line(name)}:{listed}", hint=hint or own_hint)
        self.candidates = tuple(candidates)


class DiskError(RoamkbError):
    """A failed disk operation; nothing was half done."""

    code = "io"

    def __init__(self, path: Path, why: str, *, hint: str = "") -> None:
        super().__init__(f"{one_line(str(path))}: {why}", hint=hint)
        self.path = path
        self.why = why


class NotWritable(DiskError):
    """A path that this process may not write, by its mode or from inside of a sandbox."""


class NameTaken(DiskError):
    """An existing file of that name; nothing is ever overwritten."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, "a file of that name is there already; nothing was written", hint="move that one away first"
        )


class Refused(RoamkbError):
    """A refusal of the boundary: the KB, or a looser project's log, is closed to this project."""

    exit_code = 3
    code = "refused"
    JSON = "project.kind project.root project.reason fact written_to hint"

    def __init__(
        self,
        project: "model.Project",
        fact: str,
        *,
        written_to: Path | None = None,
        place: str = "the knowledge base",
        undone: str = "",
    ) -> None:
        """Take `fact` already redacted to one line; `place` is where it was to go.

        What is no writing says in `undone` what wasn't done.
        """
        outcome = f"written to {one_line(str(written_to))} instead" if written_to else "written nowhere"
        refused_action = undone or f"not written to {one_line(place)}"
        super().__init__(
            f"{project.kind.value} project ({one_line(project.reason)}); {refused_action}: {one_line(fact)}"
            + ("" if undone else f" ({outcome})"),
            hint=project.hint,
        )
        self.project = project
        self.fact = fact
        self.written_to = written_to


class ChangedOnDisk(RoamkbError):
    """A file that changed since it was read, or that is held open; nothing was changed."""

    exit_code = 4
    code = "changed"

    def __init__(
        self, path: Path, why: str = "changed on disk since it was read", *, hint: str = "look at it and try again"
    ) -> None:
        super().__init__(f"{one_line(str(path))}: {why}; nothing was changed", hint=hint)
        self.path = path
        self.why = why


class NotDurable(RoamkbError):
    """A file that is there and whole, but that the disk would not promise to keep."""

    exit_code = 5
    code = "not_durable"

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{one_line(str(path))}: written, not known to be durable: {why}",
            hint="the file is there; don't write it again. Check the disk",
        )
        self.path = path


class Busy(RoamkbError):
    """A lock held by another roamkb."""

    exit_code = 75
    code = "busy"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{one_line(str(path))} is held by another roamkb", hint="try again in a moment")
        self.path = path


@contextmanager
def tell_progress(describe: Callable[[], str], *, hint: str) -> Iterator[None]:
    """Add to an error what `describe` says of the steps done until then, and the command that goes on."""
    try:
        yield
    except RoamkbError as error:
        error.add_progress(describe(), hint=hint)
        raise


class DurabilityDoubts:
    """Steps that were done without the disk's promise to keep them: the others are done first, then it is said."""

    def __init__(self) -> None:
        self._first: NotDurable | None = None

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Go on after a step that is done but not durable."""
        try:
            yield
        except NotDurable as error:
            self._first = self._first or error

    def raise_first(self) -> None:
        """Raise the first doubt, if there was one; all steps are done."""
        if self._first is not None:
            raise self._first


def code_place(error: BaseException) -> str:
    """Return the file and line of ours that an error came through last, as `name.py:12`; `?` for none."""
    traceback, place = error.__traceback__, "?"
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if "roamkb" in file:
            place = f"{file.rpartition('/')[2]}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
