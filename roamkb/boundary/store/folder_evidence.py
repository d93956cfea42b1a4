"""Evidence on disk about a folder, gathered for `boundary/policy` to judge.

Nothing here decides: it finds the project's root, and every name, inode,
repository and mount by which a folder might be work. What can't be found out becomes a
doubt, and a doubt makes a project unknown; no exception gets out to the user.

What no fact on this disk tells isn't seen: a copy of work files, a clone whose remote is elsewhere, of
another owner, or was taken out, an overlay or network mount of a work root, a second worktree of a repository that is
kept elsewhere.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from posixpath import basename
from posixpath import dirname
from posixpath import isabs
from posixpath import join
from posixpath import realpath

from roamkb.boundary.policy import FolderIdentity
from roamkb.boundary.policy import FolderSurvey
from roamkb.boundary.policy import Inode
from roamkb.boundary.policy import WorkRoot
from roamkb.boundary.policy import find_contained_work
from roamkb.boundary.policy import find_denial
from roamkb.boundary.policy import judge_folder
from roamkb.boundary.policy import strictest_project
from roamkb.boundary.policy import with_evidence
from roamkb.boundary.store.call_origin import PROC
from roamkb.boundary.store.remote_addresses import RemoteAddresses
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import deepest_common_folder
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import is_within
from roamkb.core.gitignore import literal_path
from roamkb.core.gitignore import may_contain
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.fs import git_repository
from roamkb.fs.files import error_reason
from roamkb.fs.mounts import Mount
from roamkb.fs.mounts import mount_points_below
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts

#: Folders that are looked through for what an entry with wildcards means: some 20 ms.
_MOST_FOLDERS = 2000

#: Remotes of remotes that are looked at.
_MOST_REMOTES = 64


def classify_folder(path: Path, rule: Rule | BadRule) -> Project:
    """Return the judgement on `folder` alone; a file is judged with the folder that holds it."""
    return RuleOnDisk(rule).judge_path(str(path))


def lies_within(path: Path, top: Path) -> bool:
    """Say whether `path`, which needn't exist, is `top` or lies below it, by whatever name."""
    rule_on_disk = RuleOnDisk(BadRule(top, "isn't asked"))
    place = rule_on_disk.identify_path(str(path))
    root = WorkRoot(entry=escape_path(str(top)), places=(rule_on_disk.identify_path(str(top)),))
    return find_denial(place, (root,), fold=_folds_case(place.real)) is not None


def find_work_below(folder: Path, rule: Rule) -> str | None:
    """Return the reason if a work root lies below `folder`, as a clause; else None."""
    rule_on_disk = RuleOnDisk(rule)
    try:
        return find_contained_work(rule_on_disk.survey_folder(str(folder)))
    except OSError as error:
        return f"{folder} can't be looked at: {error_reason(error)}"


def real_path_of_new(path: Path) -> Path:
    """Return the real path of a file that is created as `path`: links to its folder followed."""
    # unlike `resolve`, realpath never fails
    return Path(os.path.realpath(path.parent), path.name)


class RuleOnDisk:
    """A rule applied to this disk for the time of one question."""

    def __init__(self, rule: Rule | BadRule, proc: Path = PROC) -> None:
        self.rule = rule
        self.doubt: str | None = None
        self._inodes: dict[str, Inode | None] = {}
        self._places: dict[tuple[str, str], FolderIdentity] = {}
        self._projects: dict[str, Project] = {}
        self._addresses = RemoteAddresses(rule.homes if isinstance(rule, Rule) else ())
        self.mounts: tuple[Mount, ...] = ()
        try:
            self.mounts = read_mounts(proc)
        except OSError as error:
            self.doubt = f"the mount table can't be read: {error_reason(error)}"
        self.work_roots: tuple[WorkRoot, ...] = ()
        #: The entries that allow, each by its real path as well.
        self.parents: tuple[str, ...] = ()
        if isinstance(rule, Rule):
            self.work_roots = tuple(self._find_work_root(entry) for entry in rule.work_roots)
            self.parents = tuple(name for entry in rule.project_parents for name in _with_real_path(entry))
        self._stops = (
            *(entry.removeprefix("!") for entry in self.parents),
            *(work.entry for work in self.work_roots),
            *(escape_path(place.real) for work in self.work_roots for place in work.places),
        )

    def judge_path(self, folder: str, *, base: str | None = None) -> Project:
        """Return the judgement of `folder`; a relative one starts at `base`."""
        path = join(base or "/", folder)
        try:
            if base is None and not isabs(folder):
                path = join(Path.cwd(), folder)
            path = _with_physical_dots(path)
            if path not in self._projects:
                self._projects[path] = self._judge_with_account(path)
            return self._projects[path]
        except (OSError, ValueError) as error:
            reason = error_reason(error) if isinstance(error, OSError) else "that isn't a path"
            return judge_folder(self._survey_of_name(path, f"{path!r} can't be resolved: {reason}"), self.rule)

    def _judge_with_account(self, path: str) -> Project:
        """Judge `path` by the rule, and by the account's own where HOME's doesn't suffice."""
        project = judge_folder(self.survey_folder(path), self.rule)
        account = self.rule.account if isinstance(self.rule, Rule) else None
        if account is None or project.kind is not ProjectKind.PERSONAL or self._is_in_own_home(project):
            return project
        return strictest_project(
            (project, with_evidence(RuleOnDisk(account).judge_path(path), "the account's own rule"))
        )

    def _is_in_own_home(self, project: Project) -> bool:
        """Say whether a project lies by all its real names in the HOME whose rule suffices."""
        top = self.rule.alone_below if isinstance(self.rule, Rule) else None
        if top is None or project.root is None:
            return False
        names = self.identify_path(realpath(project.root)).all_names
        return all(is_within(name, realpath(top)) for name in names)

    def identify_path(self, path: str, phrase: str = "") -> FolderIdentity:
        """Return the identity of `path` with all its names; it needn't exist."""
        if (phrase, path) not in self._places:
            real = realpath(path)
            self._places[phrase, path] = FolderIdentity(
                what=phrase,
                path=path,
                real=real,
                others=other_names(real, self.mounts),
                inode=self._read_inode(real),
                above=frozenset(inode for top in _folders_above(real) if (inode := self._read_inode(top))),
            )
        return self._places[phrase, path]

    def survey_folder(self, path: str) -> FolderSurvey:
        """Return the facts on disk about `path`, absolute and without dots."""
        identity = self.identify_path(path)
        if identity.inode is None:
            survey = self._survey_of_name(path, f"{path} doesn't exist")
            return replace(survey, places=(identity,))
        if not stat.S_ISDIR(Path(path).stat().st_mode):
            return self._survey_of_file(identity)
        places, doubt = [identity], self.doubt
        owners: dict[str, None] = {}
        marked: dict[str, None] = {}
        tops: dict[str, None] = {}
        for folder in dict.fromkeys((path, identity.real)):
            repositories = tuple(self._repositories(folder))
            tops[next(filter(git_repository.is_project_root, repositories), folder)] = None
            marked.update(dict.fromkeys(repositories))
        for folder in marked:
            pointers = self._read_pointers(folder)
            places += (
                self.identify_path(_with_physical_dots(pointer), "its repository ") for pointer in pointers.paths
            )
            places += self._remote_identities(pointers, folder)
            owners.update(dict.fromkeys(self._find_owners(pointers)))
            doubt = doubt or self._find_doubt(pointers)
        work_owners, owners_doubt = self._work_owners if owners else ({}, None)
        roots = tuple(self.identify_path(top) for top in tops)
        # a root that holds a mount is rare, and "/" holds them all: nobody is personal there
        mounted = {point: None for root in roots for point in mount_points_below(root.real, self.mounts)}
        if "/" in tops:
            mounted.clear()
        return FolderSurvey(
            root=roots[0].path,
            places=(*roots, *places),
            roots=(*roots, identity),
            mounted=tuple(self.identify_path(point) for point in mounted),
            work_roots=self.work_roots,
            parents=self.parents,
            owners=tuple(owners),
            work_owners=work_owners,
            doubt=doubt or owners_doubt,
            fold=_folds_case(identity.real),
        )

    @cached_property
    def _work_owners(self) -> tuple[dict[str, str], str | None]:
        """The entries of work roots by host and owner of their remotes, and why some can't be known."""
        owners: dict[str, str] = {}
        doubt = None
        folders = [(work.entry, place) for work in self.work_roots for place in work.places if place.inode]
        for entry, place in folders[:_MOST_REMOTES]:
            pointers = self._read_pointers(place.real)
            # of whom nothing can be told would be everybody
            owners |= dict.fromkeys((owner for owner in self._find_owners(pointers) if owner != "/"), entry)
            if pointers.doubt and not pointers.urls:
                doubt = f"of the work root {entry} {pointers.doubt}"
        return owners, doubt

    def _read_pointers(self, folder: str) -> "git_repository.RepositoryPointers":
        return git_repository.read_repository_pointers(
            folder, user_configs=self._addresses.git_configs, homes=self._addresses.homes
        )

    def _find_owners(self, pointers: "git_repository.RepositoryPointers") -> Iterator[str]:
        for url in pointers.urls:
            yield from self._addresses.find_owners(url, commands=(*pointers.commands, *pointers.user_commands))

    def _find_doubt(self, pointers: "git_repository.RepositoryPointers") -> str | None:
        doubts = (self._addresses.find_doubt(url, commands=pointers.commands) for url in pointers.urls)
        return pointers.doubt or next(filter(None, doubts), None)

    def _local_remotes(self, pointers: "git_repository.RepositoryPointers", folder: str) -> Iterator[str]:
        for url in pointers.urls:
            yield from map(_with_physical_dots, self._addresses.find_local_paths(url, folder))

    def _remote_identities(
        self, pointers: "git_repository.RepositoryPointers", folder: str
    ) -> Iterator[FolderIdentity]:
        """Yield the remotes of a repository that are on this disk, and theirs in turn.

        They may make it work and nothing else, so that what can't be found out of them is no doubt.
        """
        pending = [*self._local_remotes(pointers, folder)]
        visited: set[str] = set()
        while pending and len(visited) < _MOST_REMOTES:
            remote = pending.pop()
            if remote in visited:
                continue
            visited.add(remote)
            yield self.identify_path(remote, "its remote ")
            with suppress(OSError):
                for top in self._repositories(remote):
                    remote_pointers = self._read_pointers(top)
                    yield from (
                        self.identify_path(_with_physical_dots(pointer), "its remote ")
                        for pointer in remote_pointers.paths
                    )
                    pending += self._local_remotes(remote_pointers, top)

    def _survey_of_name(self, path: str, doubt: str) -> FolderSurvey:
        """Return the survey of a path by its name alone, which is enough to deny."""
        identity = FolderIdentity(path=path, real=path)
        return FolderSurvey(root=None, places=(identity,), work_roots=self.work_roots, doubt=doubt)

    def _survey_of_file(self, identity: FolderIdentity) -> FolderSurvey:
        """Return the survey of the folder that holds a file, and of the one that really holds it."""
        typed_survey, real_survey = (self.survey_folder(dirname(name)) for name in (identity.path, identity.real))
        return replace(
            typed_survey,
            places=(identity, *typed_survey.places, *real_survey.places),
            roots=(*typed_survey.roots, *real_survey.roots),
            mounted=(*typed_survey.mounted, *real_survey.mounted),
            owners=(*typed_survey.owners, *real_survey.owners),
            work_owners={**typed_survey.work_owners, **real_survey.work_owners},
            doubt=typed_survey.doubt or real_survey.doubt,
        )

    def _repositories(self, folder: str) -> Iterator[str]:
        """Yield the project roots and bare repositories from `folder` upwards.

        The climb ends at the entry of the rule that the folder lies under, so that a
        version-controlled HOME is nobody's project. All are yielded, not only the
        nearest: a repository inside a work repository's worktree is work as well.
        """
        while True:
            if git_repository.is_project_root(folder) or git_repository.is_bare_repository(folder):
                yield folder
            top = dirname(folder)
            if top == folder or any(is_under(folder, entry) and not is_under(top, entry) for entry in self._stops):
                return
            folder = top

    def _find_work_root(self, entry: str) -> WorkRoot:
        """Return an entry of the denylist with the folders on this disk that it matches."""
        path = literal_path(entry)
        try:
            if path is not None:
                return WorkRoot(entry=entry, places=(self.identify_path(path),))
            return self._expand_work_root(entry)
        except OSError as error:
            self.doubt = f"the work root {entry} can't be looked at: {error_reason(error)}"
            return WorkRoot(entry=entry, is_open=True)

    def _expand_work_root(self, entry: str) -> WorkRoot:
        """Return the folders that an entry with wildcards matches, as far as they can be found."""
        places: list[FolderIdentity] = []
        pending = [deepest_common_folder(entry)]
        for _ in range(_MOST_FOLDERS):
            if not pending:
                return WorkRoot(entry=entry, places=tuple(places))
            try:
                with os.scandir(pending.pop()) as folders:
                    for folder in folders:
                        if not folder.is_dir():
                            continue
                        if is_under(folder.path, entry):
                            places.append(self.identify_path(folder.path))
                        elif not folder.is_symlink() and may_contain(folder.path, entry):
                            pending.append(folder.path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                break
        return WorkRoot(entry=entry, places=tuple(places), is_open=True)

    def _read_inode(self, path: str) -> Inode | None:
        """Return the inode of the real `path`, None where it doesn't exist; raises `OSError`."""
        if path not in self._inodes:
            try:
                status = os.lstat(path)
                self._inodes[path] = (status.st_dev, status.st_ino)
            except (FileNotFoundError, NotADirectoryError):
                self._inodes[path] = None
        return self._inodes[path]


def _with_physical_dots(path: str) -> str:
    """Return an absolute path whose `..` were followed as the kernel does, links and all."""
    resolved = "/"
    for part in path.split("/"):
        if part == "..":
            resolved = dirname(realpath(resolved))
        elif part not in ("", "."):
            resolved = join(resolved, part)
    return resolved


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders above `path`, the nearest first."""
    while (top := dirname(path)) != path:
        yield top
        path = top


def is_same_folder(first: str | Path, second: str | Path) -> bool:
    """Say whether two paths lead to the same folder."""
    try:
        return Path(first).samefile(second)
    except (OSError, ValueError):
        return str(first) == str(second)


def _folds_case(path: str) -> bool:
    """Say whether the file system ignores the case of names."""
    while path != "/" and basename(path).swapcase() == basename(path):
        path = dirname(path)
    return path != "/" and is_same_folder(path, join(dirname(path), basename(path).swapcase()))


def _with_real_path(entry: str) -> tuple[str, ...]:
    """Return a project parent, and its real path where that differs and it has no wildcards."""
    path = literal_path(entry.removeprefix("!"))
    if path is None or (real := realpath(path)) == path:
        return (entry,)
    return (entry, ("!" if entry.startswith("!") else "") + escape_path(real))
