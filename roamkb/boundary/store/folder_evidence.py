"""Evidence on disk about a folder and a session, gathered for `boundary/policy` to judge.

Nothing here decides: it finds the rule, the project's root, and every name, inode,
repository and mount by which a folder might be work. What can't be found out becomes a
doubt, and a doubt makes a project unknown; no exception gets out to the user.

What no fact on this disk tells isn't seen: a copy of work files, a clone whose remote is no path or
was taken out, an overlay or network mount of a work root, a second worktree of a repository that is
kept elsewhere.
"""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from functools import reduce
from itertools import combinations
from pathlib import Path
from posixpath import basename
from posixpath import dirname
from posixpath import isabs
from posixpath import join
from posixpath import lexists
from posixpath import realpath

from roamkb.boundary import process_ancestry
from roamkb.boundary.policy import FolderIdentity
from roamkb.boundary.policy import FolderSurvey
from roamkb.boundary.policy import Inode
from roamkb.boundary.policy import WorkRoot
from roamkb.boundary.policy import find_contained_work
from roamkb.boundary.policy import find_denial
from roamkb.boundary.policy import judge_folder
from roamkb.boundary.policy import strictest_project
from roamkb.boundary.policy import with_evidence
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.store import processes
from roamkb.core.errors import IS_MISSING
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import deepest_common_folder
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import is_within
from roamkb.core.gitignore import literal_path
from roamkb.core.gitignore import may_contain
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import NamedKb
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.fs import git_repository
from roamkb.fs.files import MissingFile
from roamkb.fs.files import error_reason
from roamkb.fs.files import read_file
from roamkb.fs.mounts import Mount
from roamkb.fs.mounts import mount_points_below
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts
from roamkb.harnesses.registry import NAMES
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import declared_by
from roamkb.harnesses.registry import declared_of
from roamkb.harnesses.registry import get_harness

#: Where agents and roamkb look for the rule, below HOME.
RULE_PATH = Path(*declared("rule_files"))

#: The folders in which harnesses say that the session works.
HARNESS_VARIABLES = (
    *declared("project_variables"),
    "QWEN_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "WINDSURF_PROJECT_DIR",
    "KIRO_PROJECT_DIR",
    "TRAE_PROJECT_DIR",
    "CODEBUDDY_PROJECT_DIR",
)

#: Where the parents of a wall run, which can't be looked into from inside of it; `wall/outside` says it.
_OUTSIDE_VARIABLE = "ROAMKB_OUTSIDE"

#: What a harness sets for what it runs in its sandbox, and which harness does.
_SANDBOX_VARIABLES = declared_by("sandbox_marks")

PROC = Path("/proc")
_RULE_LIMIT = 1024 * 1024
#: Folders that are looked through for what an entry with wildcards means: some 20 ms.
_MOST_FOLDERS = 2000
#: Remotes of remotes that are looked at.
_MOST_REMOTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    """The origin of a call; `app` alone reads the environment and makes one."""

    #: The physical current folder, None where it was deleted.
    cwd: Path | None
    #: `$PWD`, which knows by which link one came.
    pwd: str | None = None
    #: `--project`.
    project: Path | None = None
    #: What the harness's variables say, by their names.
    harness: Mapping[str, str] = field(default_factory=dict)
    #: Our own process, None where its parents say nothing (a long-running server).
    pid: int | None = None
    #: Folders of the parents that a long-running server had when it began, or of what else began this, by
    #: what to call them.
    parents: Mapping[str, str] = field(default_factory=dict)
    #: Why it can't be seen who began it, as a clause, where somebody found that out before.
    hidden: str = ""
    proc: Path = PROC


def read_call_origin(
    environment: Mapping[str, str], *, cwd: Path | None, pid: int | None, project: Path | None = None
) -> CallOrigin:
    """Return the origin of a call from its environment."""
    harness = {name: environment[name] for name in HARNESS_VARIABLES if environment.get(name)}
    outside = environment.get(_OUTSIDE_VARIABLE, "").split("\n")
    return CallOrigin(
        cwd=cwd,
        pwd=environment.get("PWD"),
        project=project,
        harness=harness,
        pid=pid,
        parents={
            **dict(_written_down(environment)),
            **{f"outside of the wall ({number})": folder for number, folder in enumerate(outside, 1) if isabs(folder)},
        },
        hidden="" if pid is None else hidden_ancestry_reason(pid, environment),
    )


def hidden_ancestry_reason(pid: int, environment: Mapping[str, str], proc: Path = PROC) -> str:
    """Return why a process's ancestors can't be seen, by its environment too; empty where they can."""
    owners = dict.fromkeys(declared_by("sandbox_marks").values())
    has_session = any(_session_variable(owner, environment)[1] for owner in owners)
    if owner := next(
        (name for mark, name in _SANDBOX_VARIABLES.items() if environment.get(mark) and not has_session), ""
    ):
        title, (variable, _) = get_harness(owner).title, _session_variable(owner, environment)
        return f"it runs in {title}'s sandbox, and {variable} doesn't say for which session"
    return process_ancestry.hidden_reason(processes.read_ancestry(pid, proc), knows_session=has_session)


def _session_variable(name: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable by which a harness tells its commands the session, and its value."""
    variable = "".join(declared_of(name, "session_variables")[:1])
    return variable, environment.get(variable, "")


def _written_down(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the folders that a harness wrote down of the session, each with what to call it."""
    for name in NAMES:
        if not declared_of(name, "session_files") or not _session_variable(name, environment)[1]:
            continue
        harness = get_harness(name)
        for number, folder in enumerate(harness.session_folders(environment), 1):
            yield f"the {harness.title} session" + (f" ({number})" if number > 1 else ""), folder


def load_rule(home: Path, *, account_home: Path, kb_name: str = DEFAULT_KB) -> Rule:
    """Return the rule of `home` for one of its knowledge bases, or raise `BadRule`.

    `HOME` is the caller's to set, so the rule in the home that the password database
    names adds its work roots, and has to allow as well; it is broken only if it's there and
    can't be read. What lies in such a HOME, as its knowledge base does, is that HOME's affair.

    Raises:
        UsageError: it names no knowledge base like that.
    """
    rule = select_kb(_read_rule(home), kb_name)
    if not _is_same_folder(home, account_home) and lexists(account_home / RULE_PATH):
        try:
            rule = _with_account(rule, _read_rule(account_home), home=home, account_home=account_home)
        except OSError as error:
            raise BadRule(rule.source, f"names a KB that can't be looked at: {error_reason(error)}") from None
    rule_on_disk = _RuleOnDisk(rule)
    for folder in rule.all_folders:
        try:
            reason = find_denial(rule_on_disk.identify_path(str(folder)), rule_on_disk.work_roots)
        except OSError as error:
            raise BadRule(rule.source, f"names a KB that can't be looked at: {error_reason(error)}") from None
        if reason:
            raise BadRule(rule.source, f"puts the knowledge base where work is: {reason}")
    return rule


def _with_account(rule: Rule, account_rule: Rule, *, home: Path, account_home: Path) -> Rule:
    """Return the rule of another HOME, with what the account's own denies, and has to allow."""
    roots = dict.fromkeys((*rule.work_roots, *account_rule.work_roots))
    is_apart = (
        all(lies_within(folder, home) for folder in rule.all_folders)
        and not lies_within(account_home, home)
        and not any(_overlap(folder, other) for folder in rule.all_folders for other in account_rule.all_folders)
    )
    account = _account_rule_for(rule.kb, account_rule)
    return replace(rule, work_roots=tuple(roots), account=account, alone_below=home if is_apart else None)


def select_kb(rule: Rule, name: str) -> Rule:
    """Return `rule` for its knowledge base called `name`.

    Raises:
        UsageError: it has none.
    """
    if name == rule.kb_name:
        return rule
    selected = next((other for other in rule.others if other.name == name), None)
    if selected is None:
        names = ", ".join(sorted({rule.kb_name, *(other.name for other in rule.others)}))
        raise UsageError(f"the rule {rule.source} names no knowledge base {one_line(name)}", hint=f"one of {names}")
    deselected = NamedKb(name=rule.kb_name, folder=rule.kb, project_parents=rule.project_parents)
    return replace(
        rule,
        kb=selected.folder,
        project_parents=selected.project_parents,
        kb_name=name,
        others=(deselected, *(other for other in rule.others if other is not selected)),
    )


def _account_rule_for(folder: Path, account_rule: Rule) -> Rule:
    """Return the account's own rule for its knowledge bases that `folder` touches, of which each must allow.

    A HOME may call a folder what it likes; where it touches none of theirs, their default one must allow.
    """
    names = (account_rule.kb_name, *(other.name for other in account_rule.others))
    rules = [select_kb(account_rule, name) for name in names]
    touched = [rule for rule in rules if _overlap(folder, rule.kb)] or [account_rule]
    return reduce(lambda inner, rule: replace(rule, account=inner), touched[1:], touched[0])


def find_rule(home: Path, *, account_home: Path, kb_name: str = DEFAULT_KB) -> Rule | BadRule:
    """Return the rule, or its fault as a value: every project is unknown then."""
    try:
        return load_rule(home, account_home=account_home, kb_name=kb_name)
    except BadRule as fault:
        return fault


def missing_roots(rule: Rule) -> tuple[str, ...]:
    """Return the work roots without wildcards that aren't on this disk."""
    paths = (literal_path(entry) for entry in rule.work_roots)
    return tuple(path for path in paths if path is not None and not lexists(path))


def classify_folder(path: Path, rule: Rule | BadRule) -> Project:
    """Return the judgement on `folder` alone; a file is judged with the folder that holds it."""
    return _RuleOnDisk(rule).judge_path(str(path))


def lies_within(path: Path, top: Path) -> bool:
    """Say whether `path`, which needn't exist, is `top` or lies below it, by whatever name."""
    rule_on_disk = _RuleOnDisk(BadRule(top, "isn't asked"))
    place = rule_on_disk.identify_path(str(path))
    root = WorkRoot(entry=escape_path(str(top)), places=(rule_on_disk.identify_path(str(top)),))
    return find_denial(place, (root,), fold=_folds_case(place.real)) is not None


def lies_in_notes(path: Path, rule: Rule | BadRule) -> bool:
    """Say whether `path` lies in one of the rule's knowledge bases; False where no rule names any."""
    return isinstance(rule, Rule) and any(lies_within(path, folder) for folder in rule.all_folders)


def _overlap(folder: Path, other: Path) -> bool:
    """Say whether two folders are one, or one lies in the other, by whatever name."""
    return lies_within(folder, other) or lies_within(other, folder)


def find_work_below(folder: Path, rule: Rule) -> str | None:
    """Return the reason if a work root lies below `folder`, as a clause; else None."""
    rule_on_disk = _RuleOnDisk(rule)
    try:
        return find_contained_work(rule_on_disk.survey_folder(str(folder)))
    except OSError as error:
        return f"{folder} can't be looked at: {error_reason(error)}"


def real_path_of_new(path: Path) -> Path:
    """Return the real path of a file that is created as `path`: links to its folder followed."""
    # unlike `resolve`, realpath never fails
    return Path(os.path.realpath(path.parent), path.name)


def session_project(session: CallOrigin, rule: Rule | BadRule) -> Project:
    """Return the strictest judgement of all evidence on where this session works.

    `$PWD` counts in full where it names the current folder. Where it doesn't, it is what
    a parent left behind, and like a parent's folder it can only make the project work.
    Only more parents than can be looked at, or what hides them, make it unknown. `$OLDPWD` doesn't count: who
    leaves work for a project of their own, in the same shell, isn't at work any more.
    """
    rule_on_disk = _RuleOnDisk(rule, session.proc)
    return strictest_project((*_judge_named_folders(session, rule_on_disk), *_judge_inherited(session, rule_on_disk)))


def _judge_named_folders(session: CallOrigin, rule_on_disk: "_RuleOnDisk") -> Iterator[Project]:
    """Yield the judgement of every folder that the call or its environment names as its own."""
    cwd = str(session.cwd) if session.cwd is not None else None
    if session.project is not None:
        yield rule_on_disk.judge_path(str(session.project), base=cwd)
    if cwd is None:
        hint = "change into a folder that exists"
        yield Project(kind=ProjectKind.UNKNOWN, root=None, reason="the current folder was deleted", hint=hint)
    else:
        yield rule_on_disk.judge_path(cwd)
    if session.pwd and cwd and session.pwd != cwd and _is_same_folder(session.pwd, cwd):
        yield with_evidence(rule_on_disk.judge_path(session.pwd, base=cwd), "$PWD")
    for name, folder in session.harness.items():
        yield with_evidence(rule_on_disk.judge_path(folder, base=cwd), f"${name}")


def _judge_inherited(session: CallOrigin, rule_on_disk: "_RuleOnDisk") -> Iterator[Project]:
    """Yield the work projects among the folders that the session's parents run in."""
    for label, folder in _left_behind_folders(session):
        project = rule_on_disk.judge_path(folder)
        if project.kind is ProjectKind.WORK:
            yield with_evidence(project, label)
    if session.hidden:
        hint = "run it where its parents can be seen up to a terminal, a login or the harness"
        yield Project(kind=ProjectKind.UNKNOWN, root=None, reason=session.hidden, hint=hint)
    if session.pid is None:
        return
    for parent in processes.parent_processes(session.pid, session.proc):
        match parent:
            case processes.ParentProcess():
                project = rule_on_disk.judge_path(parent.folder)
                if project.kind is ProjectKind.WORK:
                    yield with_evidence(project, f"the parent process {parent.name} ({parent.pid})")
            case processes.TooManyParents():
                reason = f"there are more than {parent.seen} parent processes, and any may be at work"
                hint = "run it from a shell of your own"
                yield Project(kind=ProjectKind.UNKNOWN, root=None, reason=reason, hint=hint)


def _left_behind_folders(session: CallOrigin) -> Iterator[tuple[str, str]]:
    """Yield the folders that the environment names and that the session isn't in, with their labels."""
    if session.pwd and isabs(session.pwd) and session.pwd != str(session.cwd):
        yield "$PWD", session.pwd
    yield from session.parents.items()


class _RuleOnDisk:
    """A rule applied to this disk for the time of one question."""

    def __init__(self, rule: Rule | BadRule, proc: Path = PROC) -> None:
        self.rule = rule
        self.doubt: str | None = None
        self._inodes: dict[str, Inode | None] = {}
        self._places: dict[tuple[str, str], FolderIdentity] = {}
        self._projects: dict[str, Project] = {}
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
            (project, with_evidence(_RuleOnDisk(account).judge_path(path), "the account's own rule"))
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
        marked: dict[str, None] = {}
        tops: dict[str, None] = {}
        for folder in dict.fromkeys((path, identity.real)):
            project_roots = tuple(self._project_roots(folder))
            tops[project_roots[0] if project_roots else folder] = None
            marked.update(dict.fromkeys(project_roots))
        for folder in marked:
            pointers = git_repository.read_repository_pointers(folder)
            places += (
                self.identify_path(_with_physical_dots(pointer), "its repository ") for pointer in pointers.paths
            )
            places += self._remote_identities(pointers)
            doubt = doubt or pointers.doubt
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
            doubt=doubt,
            fold=_folds_case(identity.real),
        )

    def _remote_identities(self, pointers: "git_repository.RepositoryPointers") -> Iterator[FolderIdentity]:
        """Yield the remotes of a repository that are on this disk, and theirs in turn.

        They may make it work and nothing else, so that what can't be found out of them is no doubt.
        """
        pending = [_with_physical_dots(remote_path) for remote_path in pointers.remotes]
        visited: set[str] = set()
        while pending and len(visited) < _MOST_REMOTES:
            remote = pending.pop()
            if remote in visited:
                continue
            visited.add(remote)
            yield self.identify_path(remote, "its remote ")
            with suppress(OSError):
                for folder in (
                    *([remote] if git_repository.is_bare_repository(remote) else ()),
                    *self._project_roots(remote),
                ):
                    remote_pointers = git_repository.read_repository_pointers(folder)
                    yield from (
                        self.identify_path(_with_physical_dots(pointer), "its remote ")
                        for pointer in remote_pointers.paths
                    )
                    pending += (_with_physical_dots(remote_path) for remote_path in remote_pointers.remotes)

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
            doubt=typed_survey.doubt or real_survey.doubt,
        )

    def _project_roots(self, folder: str) -> Iterator[str]:
        """Yield the project roots from `folder` upwards.

        The climb ends at the entry of the rule that the folder lies under, so that a
        version-controlled HOME is nobody's project. All are yielded, not only the
        nearest: a repository inside a work repository's worktree is work as well.
        """
        while True:
            if git_repository.is_project_root(folder):
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


def _read_rule(home: Path) -> Rule:
    """Return the rule that is installed in `home`."""
    source = home / RULE_PATH
    try:
        real = Path(realpath(source, strict=True))
        _require_own_file(source, real, real.stat())
        for folder in dict.fromkeys(
            (*_folders_above_file(source, home), *_folders_above_file(real, Path(realpath(home))))
        ):
            _require_safe_folder(source, folder, folder.stat())
    except FileNotFoundError:
        raise BadRule(source, IS_MISSING) from None
    except (OSError, ValueError) as error:
        reason = error_reason(error) if isinstance(error, OSError) else "it isn't a path"
        raise BadRule(source, f"can't be read: {reason}") from None
    data = read_file(real, limit=_RULE_LIMIT)
    if isinstance(data, UnreadableFile):
        is_missing = isinstance(data, MissingFile)
        raise BadRule(source, IS_MISSING if is_missing else f"can't be read: it {data.reason}")
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise BadRule(source, "isn't valid UTF-8") from None
    rule = parse_rule(text, source=source, home=home)
    require_apart(rule)
    return rule


def require_apart(rule: Rule) -> None:
    """Raise `BadRule` where two of the rule's folders are one, or one lies in the other, by whatever name."""
    names = (rule.kb_name, *(other.name for other in rule.others))
    for (name, folder), (other_name, other) in combinations(zip(names, rule.all_folders, strict=True), 2):
        try:
            is_one = _overlap(folder, other)
        except OSError as error:
            raise BadRule(rule.source, f"names a KB that can't be looked at: {error_reason(error)}") from None
        if is_one:
            raise BadRule(
                rule.source, f"names knowledge bases that aren't apart: {name} is {folder}, {other_name} is {other}"
            )


def _require_own_file(source: Path, real: Path, status: os.stat_result) -> None:
    """Raise where another user could have written the rule."""
    if not stat.S_ISREG(status.st_mode):
        raise BadRule(source, "isn't a file")
    if status.st_uid not in (os.geteuid(), 0):
        raise BadRule(source, f"belongs to another user ({real}, user {status.st_uid})")
    if status.st_mode & 0o022:
        raise BadRule(source, f"can be written by others; `chmod go-w {real}` puts that right")


def _require_safe_folder(source: Path, folder: Path, status: os.stat_result) -> None:
    """Raise where another user could put another file in the rule's place.

    Not for a folder that only its group may write to: under umask 002, the default of
    some systems, that is every folder of a user whose group is theirs alone.
    """
    if status.st_uid not in (os.geteuid(), 0):
        raise BadRule(source, f"lies in another user's folder ({folder}, user {status.st_uid})")
    if status.st_mode & 0o002 and not status.st_mode & stat.S_ISVTX:
        raise BadRule(source, f"lies in a folder that everybody may write to; `chmod o-w {folder}`")


def _folders_above_file(file: Path, home: Path) -> Iterator[Path]:
    """Yield the folder of `file`, and where that is in `home` those above it, up to `home`."""
    for folder in file.parents:
        if folder == file.parent or folder.is_relative_to(home):
            yield folder


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


def _is_same_folder(first: str | Path, second: str | Path) -> bool:
    """Say whether two paths lead to the same folder."""
    try:
        return Path(first).samefile(second)
    except (OSError, ValueError):
        return str(first) == str(second)


def _folds_case(path: str) -> bool:
    """Say whether the file system ignores the case of names."""
    while path != "/" and basename(path).swapcase() == basename(path):
        path = dirname(path)
    return path != "/" and _is_same_folder(path, join(dirname(path), basename(path).swapcase()))


def _with_real_path(entry: str) -> tuple[str, ...]:
    """Return a project parent, and its real path where that differs and it has no wildcards."""
    path = literal_path(entry.removeprefix("!"))
    if path is None or (real := realpath(path)) == path:
        return (entry,)
    return (entry, ("!" if entry.startswith("!") else "") + escape_path(real))
