"""The judgement on folders and projects, and the only maker of write permits.

`boundary/store/folder_evidence` gathers what the disk says of a folder; here it is judged, in the order
of docs/boundary.md: denial, doubt, leave, and unknown for everything else. Nothing here
asks the disk, and no leave is inferred from names, remotes or content.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

from roamkb.core.errors import BadRule
from roamkb.core.errors import NotWritable
from roamkb.core.errors import Refused
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import is_within
from roamkb.core.gitignore import literal_path
from roamkb.core.gitignore import may_contain
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import InitVar
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.secrets import detector

#: Device and inode: what a folder is, whatever its name.
Inode = tuple[int, int]

_PERMIT_SEAL = object()

_KINDS_BY_STRICTNESS = (ProjectKind.WORK, ProjectKind.UNKNOWN, ProjectKind.PERSONAL)

#: A secret belongs in no tree.
_SECRET_HINT = "write the fact without the secret, in the project's own tree; keep credentials in a password store"
_WORK_HINT = "keep it in the project's own tree; nothing from a work root enters the knowledge base"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderIdentity:
    """A folder with all its names."""

    #: How a sentence about it begins: "", or "its repository ".
    what: str = ""
    #: As it was typed or found.
    path: str
    real: str
    #: What other mounts call it.
    others: tuple[str, ...] = ()
    #: None where there is no such folder.
    inode: Inode | None = None
    #: Of all folders above it.
    above: frozenset[Inode] = frozenset()

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every path that leads to it."""
        return (self.path, self.real, *self.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRoot:
    """An entry of the denylist with the folders on this disk that it matches."""

    entry: str
    #: Several where the entry has wildcards; those are also judged by the entry itself.
    places: tuple[FolderIdentity, ...] = ()
    #: There may be places that weren't found: the folders are too many, or can't be read.
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSurvey:
    """The facts on disk about one folder, before it is judged."""

    #: None where it couldn't be found.
    root: str | None
    #: What must not be work: the folder, its roots, the repositories that they belong to.
    places: tuple[FolderIdentity, ...]
    #: The root, as typed and as it really is: what must not contain a work root.
    roots: tuple[FolderIdentity, ...] = ()
    #: What is mounted below the root.
    mounted: tuple[FolderIdentity, ...] = ()
    work_roots: tuple[WorkRoot, ...] = ()
    #: The rule's entries, and where those without wildcards really are.
    parents: tuple[str, ...] = ()
    #: Host and owner of the remotes elsewhere, `HOST/OWNER`: its own, and by theirs the work roots. `/OWNER` is of a
    #: host that can't be told, and `/` of one of whom nothing can.
    owners: tuple[str, ...] = ()
    work_owners: Mapping[str, str] = field(default_factory=dict)
    #: Why the root could not be resolved to the end.
    doubt: str | None = None
    #: The file system doesn't tell `Work` from `work`.
    fold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePermit:
    """A permit to write into `kb`, made for a personal project by `require_permit` alone."""

    project: Project
    kb: Path
    #: What is to be said with each write, such as a work root that may be spelt wrong.
    warnings: tuple[str, ...] = ()
    seal: InitVar[object]

    def __post_init__(self, seal: object) -> None:
        if seal is not _PERMIT_SEAL:
            raise TypeError("a WritePermit comes from roamkb.boundary.policy.require_permit")

    def require_for(self, kb: Path) -> None:
        """Raise `ValueError` where the permit is for another knowledge base than that in the folder `kb`."""
        if self.kb != kb:
            raise ValueError(f"the permit is for {self.kb}, not for {kb}")

    def require_direct(self, kb: Path) -> None:
        """Raise where the permit is for another knowledge base, or only for a call that waits for a hook."""
        self.require_for(kb)
        if variable := self.project.named_by:
            why = f"only {variable} says for which session this runs, which any command can set"
            raise NotWritable(kb, why, hint="roamkb's MCP tools and hooks, which the harness runs itself, can write")


def require_permit(
    project: Project,
    fact: str,
    *,
    kb: Path,
    written_to: Path | None = None,
    undone: str = "",
    warnings: tuple[str, ...] = (),
    kb_name: str = DEFAULT_KB,
) -> WritePermit:
    """Return a permit to write to `kb`, or raise `Refused`; there is no third outcome.

    The refusal names `fact` in one redacted line, and `written_to` where it went instead, or what
    was left `undone`.
    """
    if project.kind is not ProjectKind.PERSONAL:
        place = "the knowledge base" if kb_name == DEFAULT_KB else f"the knowledge base {kb_name}"
        raise _refusal(project, fact, written_to=written_to, undone=undone, place=place)
    return WritePermit(project=project, kb=kb, warnings=warnings, seal=_PERMIT_SEAL)


def _refusal(
    project: Project,
    fact: str,
    *,
    place: str,
    written_to: Path | None = None,
    undone: str = "",
) -> Refused:
    """Return the refusal that names `fact` in one redacted line."""
    if detector.find_secret(fact):
        project = replace(project, hint=_SECRET_HINT)
    return Refused(project, detector.redact_fact(fact), written_to=written_to, undone=undone, place=place)


def require_as_strict(session: Project, place: Project, fact: str) -> None:
    """Raise `Refused` where `session` is of a stricter kind than the project whose log is to have `fact`."""
    if not is_as_strict(session.kind, place.kind):
        raise _refusal(session, fact, place=f"the log of {place.kind.value} project {place.root}")


def is_as_strict(session: ProjectKind, place: ProjectKind) -> bool:
    """Return whether what a session of one kind does may be recorded in the log of a project of the other."""
    return _KINDS_BY_STRICTNESS.index(session) >= _KINDS_BY_STRICTNESS.index(place)


def require_own_tree(source: Project, place: Project, *, is_inside: bool, fact: str) -> None:
    """Raise `Refused` where content of the work project `source` would enter another project's log.

    `is_inside` says whether the two share a tree.
    """
    if source.kind is ProjectKind.WORK and not (place.kind is ProjectKind.WORK and is_inside):
        raise _refusal(source, fact, place=f"the log of {place.kind.value} project {place.root}")


def require_no_work(kinds: Iterable[ProjectKind | None], place: Project, *, fact: str) -> None:
    """Raise `Refused` where one of `kinds`, as a file's own lines say, is work, and `place` isn't.

    A copy or a hard link lies anywhere, and its folder says nothing of where it was written.
    """
    if place.kind is not ProjectKind.WORK and ProjectKind.WORK in kinds:
        reason = "it says itself that it was learned at work"
        source = Project(kind=ProjectKind.WORK, root=None, reason=reason, hint=_WORK_HINT)
        raise _refusal(source, fact, place=f"the log of {place.kind.value} project {place.root}")


def require_in_tree(project: Project, kind: ProjectKind, *, is_inside: bool, fact: str, place: Path) -> None:
    """Raise `Refused` where `fact` is to leave the tree of a project that isn't personal, or holds work.

    `kind` is the strictest of all that the fact is made of; `place` is where it is to go.
    """
    if is_inside or (project.kind is ProjectKind.PERSONAL and kind is not ProjectKind.WORK):
        return

    if project.kind is ProjectKind.PERSONAL:
        reason = "some of it was learned at work"
        project = Project(kind=kind, root=project.root, reason=reason, hint="keep it in the project's own tree")
    raise _refusal(project, fact, place=str(place))


def is_loosened(rule: Rule, old_rule: Rule) -> bool:
    """Say whether `rule` changes more than adding denials; the rest is for a human to change."""
    is_same = (rule.kb, rule.project_parents, rule.others) == (old_rule.kb, old_rule.project_parents, old_rule.others)
    return (
        not is_same
        or not set(old_rule.work_roots) <= set(rule.work_roots)
        or not set(rule.model_addresses) <= set(old_rule.model_addresses)
        or (old_rule.must_sign and not rule.must_sign)
    )


def strictest_project(projects: Iterable[Project]) -> Project:
    """Return the strictest of several judgements, the first of equals; one by a variable alone is stricter."""
    return min(projects, key=lambda project: (_KINDS_BY_STRICTNESS.index(project.kind), not project.named_by))


def judge_folder(survey: FolderSurvey, rule: Rule | BadRule) -> Project:
    """Return the judgement of `rule` on the surveyed folder."""
    root = Path(survey.root) if survey.root is not None else None
    for place in survey.places:
        if reason := find_denial(place, survey.work_roots, fold=survey.fold):
            return Project(kind=ProjectKind.WORK, root=root, reason=reason, hint=_WORK_HINT)
    if isinstance(rule, BadRule):
        return Project(kind=ProjectKind.UNKNOWN, root=root, reason=rule.message, hint=rule.hint)
    if survey.doubt is not None or root is None:
        reason = survey.doubt or "its root couldn't be found"
        return Project(kind=ProjectKind.UNKNOWN, root=root, reason=reason, hint="put that right and try again")
    if reason := find_contained_work(survey):
        hint = "work in one project below it, where no work root can be seen"
        return Project(kind=ProjectKind.UNKNOWN, root=root, reason=reason, hint=hint)
    return _judge_allowance(survey, rule, root)


def find_denial(place: FolderIdentity, work_roots: Sequence[WorkRoot], *, fold: bool = False) -> str | None:
    """Return why `place` is work: it is, or lies under, one of the work roots."""
    for work in work_roots:
        for name in place.all_names:
            if _is_work(name, work, fold):
                name_phrase = " is" if name == place.path else f" is really {name},"
                return f"{place.what}{place.path}{name_phrase} under the work root {work.entry}"
        # the same folder by a name that nobody told us of: a bind mount, letters of another case
        if any(top.inode in (place.inode, *place.above) for top in work.places if top.inode):
            return f"{place.what}{place.path} is under the work root {work.entry}, by another name"
    return None


def _is_work(name: str, work: WorkRoot, fold: bool) -> bool:
    """Say whether `name` is or lies under a folder of `work`."""
    return is_under(name, work.entry, fold=fold) or any(
        is_within(name, top, fold=fold) for identity in work.places for top in identity.all_names
    )


def find_contained_work(survey: FolderSurvey) -> str | None:
    """Return the reason if the project's root contains a work root; else None."""
    for work in survey.work_roots:
        for place in survey.roots:
            if _contains_work_root(place, work, survey.fold):
                return f"{place.path} contains the work root {work.entry}"
    for place in survey.mounted:
        if find_denial(place, survey.work_roots, fold=survey.fold) or any(
            _contains_work_root(place, work, survey.fold) for work in survey.work_roots
        ):
            return f"{place.path} is a mount that shows a work root"
    return None


def _contains_work_root(place: FolderIdentity, work: WorkRoot, fold: bool) -> bool:
    """Say whether a folder of `work` lies below `place`."""
    if work.is_open and any(may_contain(name, work.entry, fold=fold) for name in place.all_names):
        return True
    return any(
        (place.inode is not None and place.inode in work_place.above)
        or any(is_within(inner, outer, fold=fold) for outer in place.all_names for inner in work_place.all_names)
        for work_place in work.places
    )


def _judge_allowance(survey: FolderSurvey, rule: Rule, root: Path) -> Project:
    """Return personal where everything lies under a project parent, else unknown."""
    whose = "" if rule.kb_name == DEFAULT_KB else f" of {rule.kb_name}"
    hint = (
        f"ask your human: if it is personal, only they add its folder to the project parents{whose} in {rule.source}, "
        "by `roamkb setup` at a terminal"
    )
    entry = ""
    for place in survey.roots:
        for name in (place.path, place.real):
            parent_entry = _allowing_parent(name, survey.parents)
            if parent_entry is None:
                name_phrase = "" if name == place.path else f" is really {name} and"
                reason = f"{place.path}{name_phrase} lies under no project parent{whose}"
                return Project(kind=ProjectKind.UNKNOWN, root=root, reason=reason, hint=hint)
            entry = entry or parent_entry
    shared = _find_shared_owner(survey)
    # who names the folder itself has said which it is
    if shared and not any(literal_path(parent) in survey.roots[0].all_names for parent in survey.parents):
        hint += f" (`roamkb install --project-parent {root}`); if it is work, they mark it in `roamkb setup`"
        return Project(kind=ProjectKind.UNKNOWN, root=root, reason=shared, hint=hint)
    return Project(kind=ProjectKind.PERSONAL, root=root, reason=f"{root} lies under the project parent {entry}")


def _find_shared_owner(survey: FolderSurvey) -> str | None:
    """Return the reason if a remote is, or may be, of the same owner as that of a work root; else None."""
    works = survey.work_owners
    hosts: dict[str, str] = {}
    owners: dict[str, str] = {}
    for work, entry in works.items():
        host, _, owner = work.partition("/")
        hosts.setdefault(host, entry)
        owners.setdefault(owner, entry)
    for own in survey.owners:
        host, _, owner = own.partition("/")
        if host and own in works:
            return f"its remote {own} is of the same owner as that of the work root {works[own]}"
        # who names no owner has the whole host
        if host and (whole := works.get(f"{host}/") if owner else hosts.get(host)):
            return f"its remote {own} is on the host of that of the work root {whole}, and one of them names no owner"
    for own in survey.owners:
        host, _, owner = own.partition("/")
        if maybe := works.get(f"/{owner}") if host and owner else owners.get(owner) if not host else None:
            named = f", which names {owner}," if owner else ""
            return f"the host of its remote{named} can't be told; it may be that of the work root {maybe}"
    return None


def _allowing_parent(name: str, parents: Sequence[str]) -> str | None:
    """Return the entry that allows `name`; a negation wins over every allowance."""
    if any(is_under(name, entry[1:]) for entry in parents if entry.startswith("!")):
        return None
    return next((entry for entry in parents if not entry.startswith("!") and is_under(name, entry)), None)


def with_evidence(project: Project, label: str) -> Project:
    """Return `project` with the evidence that led to it named in its reason."""
    return replace(project, reason=f"by {label}, {project.reason}")
