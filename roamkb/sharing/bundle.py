"""`bundle`: what a project proved, in one file for another; trust doesn't travel with it (D7)."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from roamkb.core.errors import DiskError
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.json_form import Keys
from roamkb.core.model import ProjectKind
from roamkb.core.model import UnreadableFile
from roamkb.core.request import Argument
from roamkb.core.request import option
from roamkb.core.request import options
from roamkb.core.request import switch
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.files import MissingFile
from roamkb.fs.files import create
from roamkb.fs.files import read_file
from roamkb.log.jsonl import LearningLine
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import identity
from roamkb.log.new_learning import Author
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.ingest.ingest import IngestResult
from roamkb.pipeline.ingest.ingest import ingest
from roamkb.secrets.detector import find_secret
from roamkb.sharing.bundle_format import MOST_FILE
from roamkb.sharing.bundle_format import Bundle
from roamkb.sharing.bundle_format import BundleHeader
from roamkb.sharing.bundle_format import NoBundle
from roamkb.sharing.bundle_format import bundle_line
from roamkb.sharing.bundle_format import offered
from roamkb.sharing.bundle_format import parse_bundle
from roamkb.sharing.bundle_format import render_bundle


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """What `bundle` takes."""

    action: Annotated[str, Argument("create, show or import.", metavar="ACTION")]
    file: Annotated[str, Argument("The bundle.", metavar="FILE")]
    _: KW_ONLY
    all: bool = switch("--all", "create: those as well that nobody verified.")
    type: str | None = option("--type", "create: only learnings of this type.", metavar="T")
    tags: Sequence[str] = options(
        "--tag", "create: only learnings with this tag (again for more).", metavar="T"
    )
    yes: bool = switch("--yes", "import: do it, don't only say what it would do.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFilter:
    """Which learnings a bundle takes: verified ones of a type and with all of some tags; empty means any."""

    #: Those that nobody verified as well; what was replaced or invalidated never.
    unverified: bool = False
    type: str = ""
    tags: tuple[str, ...] = ()

    def takes(self, standing: LearningState) -> bool:
        """Say whether `standing` is one of them."""
        learning = standing.learning
        tags = set(map(str.casefold, learning.tags))
        return (
            standing.status != SUPERSEDED
            and standing.verdict != "invalidated"
            and (self.unverified or standing.verdict == "verified")
            and (not self.type or learning.canonical_type == self.type)
            and all(tag.casefold() in tags for tag in self.tags)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedBundle:
    """A bundle that was made."""

    JSON = "path *header withheld"
    path: Path
    header: BundleHeader
    #: Keys of learnings that hold what looks like a secret; they stayed at home.
    withheld: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedBundle:
    """A bundle, looked at."""

    JSON = "path *bundle.header by_type=types learnings bundle.invalid"
    path: Path
    bundle: Bundle

    @property
    def types(self) -> Annotated[Sequence[tuple[str, int]], dict]:
        """How many there are of each type, the most frequent first."""
        return Counter(one.learning.type for one in self.bundle.said).most_common()

    @property
    def kinds(self) -> Iterable[ProjectKind | None]:
        """What kinds of project its header and its lines say that it is from."""
        return (self.bundle.header.kind, *(one.learning.kind for one in self.bundle.said))

    @property
    def learnings(self) -> Annotated[Sequence[Learning], offered]:
        """What its lines say."""
        return [said.learning for said in self.bundle.said]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What an import did, or would do."""

    JSON = "path *header *ingested learnings done"
    path: Path
    header: BundleHeader
    ingested: Annotated[IngestResult, Keys("read new merged skipped")]
    done: bool

    @property
    def learnings(self) -> Annotated[Sequence[Learning], offered]:
        """What is new, where it is to be looked at first."""
        return self.ingested.preview


def create_bundle(
    log: Log,
    path: Path,
    chosen: BundleFilter,
    *,
    kind: ProjectKind,
    now: float,
    may_lie: Callable[[Path, ProjectKind], None],
) -> CreatedBundle:
    """Write the `chosen` learnings to the new file `path`; `kind` is what the project and the session are.

    `may_lie` raises where a bundle of such a kind may not lie there.

    Raises:
        NotFound: nothing was chosen. Refused, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    standings = [one for one in log.read().state().standings.values() if chosen.takes(one)]
    lines, withheld = [], []
    for one in standings:
        line = bundle_line(one)
        if find_secret(line.decode()):
            withheld.append(one.learning.key)
        else:
            lines.append(line)
    kinds = (kind, *(one.learning.kind for one in standings if one.learning.kind))
    strictest = min(kinds, key=list(ProjectKind).index)
    may_lie(path, strictest)
    if not lines:
        raise _nothing(chosen, withheld)
    data, header = render_bundle(lines, project=log.root.name, kind=strictest, created=now)
    if len(data) > MOST_FILE:
        raise UsageError(
            f"that would be {len(data):,} bytes; a bundle has at most {MOST_FILE:,}",
            hint="choose by --type and --tag",
        )
    return CreatedBundle(
        path=create(path.parent, path.name, data),
        header=header,
        withheld=tuple(withheld),
    )


def _nothing(chosen: BundleFilter, withheld: Sequence[str]) -> NotFound:
    if withheld:
        hint = "what looks like a secret stays at home"
    elif chosen.unverified:
        hint = "`roamkb recall` shows what the log has"
    else:
        hint = "verify some first; --all takes those as well that nobody verified"
    return NotFound("to bundle", what="learning", hint=hint)


def open_bundle(path: Path) -> OpenedBundle:
    """Return what the bundle at `path` says.

    Raises:
        NotFound: there is no such file. DiskError: it is no bundle, or not as it was made.
    """
    data = read_file(path, limit=MOST_FILE)
    if isinstance(data, MissingFile):
        raise NotFound(str(path), what="bundle", hint="give the path of the file")
    if isinstance(data, UnreadableFile):
        raise DiskError(path, data.reason)
    bundle = parse_bundle(data)
    if isinstance(bundle, NoBundle):
        raise DiskError(
            path, f"{bundle.reason}; nothing was imported", hint="get it anew from where it was made"
        )
    return OpenedBundle(path=path, bundle=bundle)


def import_bundle(log: Log, opened: OpenedBundle, hand: Author, *, yes: bool = False) -> ImportResult:
    """Take in what a bundle says, unverified; without `yes`, say what that would do.

    Importing it again changes nothing.

    Raises:
        DiskError, Busy: nothing more was taken in.
        NotDurable: it was, and the disk would not promise to keep it.
    """
    path, header = opened.path, opened.bundle.header
    # however many of its lines say the same, a bundle is one voice
    voice = replace(hand, session=hand.session or f"bundle:{header.sha256[:12]}")
    done = ingest(
        log,
        [*_own_ids(log, opened.bundle.said), *opened.bundle.invalid],
        voice,
        files=[path],
        kind=header.kind,
        dry_run=not yes,
        preview=not yes,
    )
    return ImportResult(path=path, header=header, ingested=done, done=yes)


def _own_ids(log: Log, said: Iterable[LearningLine]) -> list[LearningLine]:
    """Return the statements, those that claim an id of something else by one made of what they say.

    A bundle could otherwise put its own words in the place of a verified learning.
    """
    contents = log.read()
    state = contents.state()
    owners = {one.id: (one.learning.canonical_type, one.learning.content) for one in state.standings.values()}
    # what happened to a line that was lost isn't the stranger's either
    spoken_of = {event.of for event in contents.events if event.of} - owners.keys()
    found = []
    for one in said:
        learning = one.learning
        told = canonical_type(learning.type), learning.content
        if learning.id in spoken_of or owners.setdefault(learning.id, told) != told:
            learning = replace(learning, id=identity(*told))
            owners.setdefault(learning.id, told)
        found.append(replace(one, learning=learning))
    return found
