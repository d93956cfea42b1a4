"""The command `bundle`: proven learnings in one file for another project; trust doesn't travel (D7)."""

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
from roamkb.core.request import flag_option
from roamkb.core.request import repeatable_option
from roamkb.core.request import text_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.files import MissingFile
from roamkb.fs.files import create_file
from roamkb.fs.files import read_file
from roamkb.log.jsonl import LearningLine
from roamkb.log.learning import Learning
from roamkb.log.learning import canonical_type
from roamkb.log.learning import content_identity
from roamkb.log.new_learning import Author
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from roamkb.log.store.project_log import Log
from roamkb.pipeline.ingest.ingest import IngestResult
from roamkb.pipeline.ingest.ingest import ingest
from roamkb.secrets.detector import find_secret
from roamkb.sharing.bundle_format import MAX_BUNDLE_BYTES
from roamkb.sharing.bundle_format import Bundle
from roamkb.sharing.bundle_format import BundleHeader
from roamkb.sharing.bundle_format import NoBundle
from roamkb.sharing.bundle_format import bundle_line
from roamkb.sharing.bundle_format import learning_rows
from roamkb.sharing.bundle_format import parse_bundle
from roamkb.sharing.bundle_format import render_bundle


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """The options of `bundle`."""

    action: Annotated[str, Argument("create, show or import.", metavar="ACTION", values=("create", "show", "import"))]
    file: Annotated[str, Argument("The bundle.", metavar="FILE", values="files")]
    _: KW_ONLY
    all: bool = flag_option("--all", "create: those as well that nobody verified.")
    type: str | None = text_option("--type", "create: only learnings of this type.", metavar="T", values="types")
    tags: Sequence[str] = repeatable_option(
        "--tag", "create: only learnings with this tag (again for more).", metavar="T", values="tags"
    )
    yes: bool = flag_option("--yes", "import: do it, don't only say what it would do.")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFilter:
    """A selection of learnings: verified ones of a type and with all given tags; empty means any."""

    #: Those that nobody verified as well; what was replaced or invalidated never.
    unverified: bool = False
    type: str = ""
    tags: tuple[str, ...] = ()

    def is_included(self, standing: LearningState) -> bool:
        """Say whether a bundle with this filter includes `standing`."""
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
    """A bundle that was created."""

    JSON = "path *header withheld"
    path: Path
    header: BundleHeader
    #: Keys of learnings that hold what looks like a secret; they stayed at home.
    withheld: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedBundle:
    """A bundle that was read."""

    JSON = "path *bundle.header by_type=types learnings bundle.invalid"
    path: Path
    bundle: Bundle

    @property
    def types(self) -> Annotated[Sequence[tuple[str, int]], dict]:
        """The number of learnings of each type, the most frequent first."""
        return Counter(line.learning.type for line in self.bundle.said).most_common()

    @property
    def project_kinds(self) -> Iterable[ProjectKind | None]:
        """The kinds of project that its header and its lines name."""
        return (self.bundle.header.kind, *(line.learning.kind for line in self.bundle.said))

    @property
    def learnings(self) -> Annotated[Sequence[Learning], learning_rows]:
        """The learnings of its lines."""
        return [line.learning for line in self.bundle.said]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The result of an import, or of its dry run."""

    JSON = "path *header *ingested learnings done"
    path: Path
    header: BundleHeader
    ingested: Annotated[IngestResult, Keys("read new merged skipped")]
    done: bool

    @property
    def learnings(self) -> Annotated[Sequence[Learning], learning_rows]:
        """The new learnings, where they are to be examined first."""
        return self.ingested.preview


def create_bundle(
    log: Log,
    path: Path,
    selection: BundleFilter,
    *,
    kind: ProjectKind,
    now: float,
    check_location: Callable[[Path, ProjectKind], None],
) -> CreatedBundle:
    """Write the selected learnings to the new file `path`; `kind` is that of project and session.

    `check_location` raises where a bundle of such a kind may not lie there.

    Raises:
        NotFound: nothing was chosen. Refused, DiskError: nothing was written.
        NotDurable: it was written, and the disk would not promise to keep it.
    """
    standings = [
        standing
        for standing in log.read_contents().replay_state().standings.values()
        if selection.is_included(standing)
    ]
    lines, withheld = [], []
    for standing in standings:
        line = bundle_line(standing)
        if find_secret(line.decode()):
            withheld.append(standing.learning.key)
        else:
            lines.append(line)
    kinds = (kind, *(standing.learning.kind for standing in standings if standing.learning.kind))
    strictest = min(kinds, key=list(ProjectKind).index)
    check_location(path, strictest)
    if not lines:
        raise _nothing_chosen(selection, withheld)
    data, header = render_bundle(lines, project=log.root.name, kind=strictest, created=now)
    if len(data) > MAX_BUNDLE_BYTES:
        raise UsageError(
            f"that would be {len(data):,} bytes; a bundle has at most {MAX_BUNDLE_BYTES:,}",
            hint="choose by --type and --tag",
        )
    return CreatedBundle(
        path=create_file(path.parent, path.name, data),
        header=header,
        withheld=tuple(withheld),
    )


def _nothing_chosen(selection: BundleFilter, withheld: Sequence[str]) -> NotFound:
    if withheld:
        hint = "what looks like a secret stays at home"
    elif selection.unverified:
        hint = "`roamkb recall` shows what the log has"
    else:
        hint = "verify some first; --all takes those as well that nobody verified"
    return NotFound("to bundle", kind="learning", hint=hint)


def open_bundle(path: Path) -> OpenedBundle:
    """Return the content of the bundle at `path`.

    Raises:
        NotFound: there is no such file. DiskError: it is no bundle, or not as it was made.
    """
    data = read_file(path, limit=MAX_BUNDLE_BYTES)
    if isinstance(data, MissingFile):
        raise NotFound(str(path), kind="bundle", hint="give the path of the file")
    if isinstance(data, UnreadableFile):
        raise DiskError(path, data.reason)
    bundle = parse_bundle(data)
    if isinstance(bundle, NoBundle):
        raise DiskError(path, f"{bundle.reason}; nothing was imported", hint="get it anew from where it was made")
    return OpenedBundle(path=path, bundle=bundle)


def import_bundle(log: Log, opened: OpenedBundle, hand: Author, *, yes: bool = False) -> ImportResult:
    """Take in the learnings of a bundle, unverified; without `yes`, only report them.

    Importing it again changes nothing.

    Raises:
        DiskError, Busy: nothing more was taken in.
        NotDurable: it was, and the disk would not promise to keep it.
    """
    path, header = opened.path, opened.bundle.header
    # however many of its lines say the same, a bundle is one voice
    bundle_author = replace(hand, session=hand.session or f"bundle:{header.sha256[:12]}")
    result = ingest(
        log,
        [*_with_own_ids(log, opened.bundle.said), *opened.bundle.invalid],
        bundle_author,
        files=[path],
        kind=header.kind,
        dry_run=not yes,
        preview=not yes,
    )
    return ImportResult(path=path, header=header, ingested=result, done=yes)


def _with_own_ids(log: Log, lines: Iterable[LearningLine]) -> list[LearningLine]:
    """Return the lines, with a new id for each that claims the id of a different learning.

    A bundle could otherwise put its own words in the place of a verified learning.
    """
    contents = log.read_contents()
    state = contents.replay_state()
    owners = {
        known_or_new.id: (known_or_new.learning.canonical_type, known_or_new.learning.content)
        for known_or_new in state.standings.values()
    }
    # what happened to a line that was lost isn't the stranger's either
    ids_with_events = {event.of for event in contents.events if event.of} - owners.keys()
    own_lines = []
    for known_or_new in lines:
        learning = known_or_new.learning
        type_and_content = canonical_type(learning.type), learning.content
        if learning.id in ids_with_events or owners.setdefault(learning.id, type_and_content) != type_and_content:
            learning = replace(learning, id=content_identity(*type_and_content))
            owners.setdefault(learning.id, type_and_content)
        own_lines.append(replace(known_or_new, learning=learning))
    return own_lines
