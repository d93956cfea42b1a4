"""What the disk says of a folder and of a session, gathered for `boundary/policy` to judge.

Nothing here decides: it finds the rule, the project's root, and every name, inode,
repository and mount by which a folder might be work. What can't be found out becomes a
doubt, and a doubt makes a project unknown; no exception gets out to the user.

What no fact on this disk tells isn't seen: a copy of work files, a clone whose remote is no path or
was taken out, an overlay or network mount of a work root, a second worktree of a repository that is
kept elsewhere.
"""

import os
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from posixpath import basename
from posixpath import dirname
from posixpath import isabs
from posixpath import join
from posixpath import lexists
from posixpath import realpath

from roamkb.boundary.policy import FolderIdentity
from roamkb.boundary.policy import FolderSurvey
from roamkb.boundary.policy import Inode
from roamkb.boundary.policy import WorkRoot
from roamkb.boundary.policy import contains_work
from roamkb.boundary.policy import denial
from roamkb.boundary.policy import judge
from roamkb.boundary.policy import seen_by
from roamkb.boundary.policy import strictest
from roamkb.boundary.process_ancestry import why_hidden
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.store.codex_session import folders_of_session
from roamkb.boundary.store.processes import ParentProcess
from roamkb.boundary.store.processes import TooManyParents
from roamkb.boundary.store.processes import lineage_of
from roamkb.boundary.store.processes import parents_of
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import anchor
from roamkb.core.gitignore import is_under
from roamkb.core.gitignore import is_within
from roamkb.core.gitignore import literal
from roamkb.core.gitignore import literal_path
from roamkb.core.gitignore import may_contain
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.files import MissingFile
from roamkb.fs.files import read_file
from roamkb.fs.files import why
from roamkb.fs.git_repository import RepositoryPointers
from roamkb.fs.git_repository import is_bare
from roamkb.fs.git_repository import is_marked
from roamkb.fs.git_repository import ties_of
from roamkb.fs.mounts import Mount
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import points_below
from roamkb.fs.mounts import read_mounts

#: Where agents and roamkb look for the rule, below HOME.
RULE_PLACE = Path(".claude", "rules", "knowledge-base.md")

#: The folders in which harnesses say that the session works.
HARNESS_VARIABLES = (
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "CODEX_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "WINDSURF_PROJECT_DIR",
    "KIRO_PROJECT_DIR",
    "TRAE_PROJECT_DIR",
    "CODEBUDDY_PROJECT_DIR",
)

#: Where the parents of a wall run, which can't be looked into from inside of it; `wall/outside` says it.
_OUTSIDE = "ROAMKB_OUTSIDE"

#: What Codex sets for what it runs in its sandbox.
_SANDBOXED = ("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED")

PROC = Path("/proc")
_RULE_LIMIT = 1024 * 1024
#: Folders that are looked through for what an entry with wildcards means: some 20 ms.
_MOST_FOLDERS = 2000
#: Remotes of remotes that are looked at.
_MOST_REMOTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOrigin:
    """Where a call comes from; `app` alone reads the environment and makes one."""

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


def session_of(
    environment: Mapping[str, str], *, cwd: Path | None, pid: int | None, project: Path | None = None
) -> CallOrigin:
    """Return the evidence that an environment holds."""
    harness = {name: environment[name] for name in HARNESS_VARIABLES if environment.get(name)}
    began = enumerate(folders_of_session(environment), 1)
    outside = environment.get(_OUTSIDE, "").split("\n")
    return CallOrigin(
        cwd=cwd,
        pwd=environment.get("PWD"),
        project=project,
        harness=harness,
        pid=pid,
        parents={
            **{f"the Codex session ({n})" if n > 1 else "the Codex session": folder for n, folder in began},
            **{f"outside of the wall ({n})": folder for n, folder in enumerate(outside, 1) if isabs(folder)},
        },
        hidden="" if pid is None else hidden_from(pid, environment),
    )


def hidden_from(pid: int, environment: Mapping[str, str], proc: Path = PROC) -> str:
    """Return why it can't be seen who began a process with that environment; empty where it can."""
    is_told = bool(environment.get("CODEX_THREAD_ID"))
    if not is_told and any(environment.get(mark) for mark in _SANDBOXED):
        return "it runs in Codex's sandbox, and CODEX_THREAD_ID doesn't say for which session"
    return why_hidden(lineage_of(pid, proc), knows_session=is_told)


def load_rule(home: Path, *, account_home: Path) -> Rule:
    """Return the rule of `home`, or raise `BadRule`.

    `HOME` is the caller's to set, so the rule in the home that the password database
    names adds its work roots, and has to allow as well; it is broken only if it's there and
    can't be read. What lies in such a HOME, as its knowledge base does, is that HOME's affair.
    """
    rule = _read_rule(home)
    if not _is_same(home, account_home) and lexists(account_home / RULE_PLACE):
        other = _read_rule(account_home)
        roots = dict.fromkeys((*rule.work_roots, *other.work_roots))
        is_apart = lies_within(rule.kb, home) and not any(
            lies_within(inner, outer)
            for inner, outer in ((account_home, home), (rule.kb, other.kb), (other.kb, rule.kb))
        )
        rule = replace(rule, work_roots=tuple(roots), account=other, alone_below=home if is_apart else None)
    ground = _RuleOnDisk(rule)
    try:
        reason = denial(ground.place(str(rule.kb)), ground.work_roots)
    except OSError as error:
        raise BadRule(rule.source, f"names a KB that can't be looked at: {why(error)}") from None
    if reason:
        raise BadRule(rule.source, f"puts the knowledge base where work is: {reason}")
    return rule


def find_rule(home: Path, *, account_home: Path) -> Rule | BadRule:
    """Return the rule, or what is wrong with it as a value: every project is unknown then."""
    try:
        return load_rule(home, account_home=account_home)
    except BadRule as fault:
        return fault


def missing_roots(rule: Rule) -> tuple[str, ...]:
    """Return the work roots without wildcards that aren't on this disk."""
    paths = (literal_path(entry) for entry in rule.work_roots)
    return tuple(path for path in paths if path is not None and not lexists(path))


def classify_folder(folder: Path, rule: Rule | BadRule) -> Project:
    """Return what `folder` alone is; a file is judged with the folder that holds it."""
    return _RuleOnDisk(rule).project(str(folder))


def lies_within(path: Path, top: Path) -> bool:
    """Say whether `path`, which needn't exist, is `top` or lies below it, by whatever name."""
    ground = _RuleOnDisk(BadRule(top, "isn't asked"))
    place = ground.place(str(path))
    root = WorkRoot(entry=literal(str(top)), places=(ground.place(str(top)),))
    return denial(place, (root,), fold=_folds(place.real)) is not None


def work_below(folder: Path, rule: Rule) -> str | None:
    """Return which work root lies below `folder`, as a clause; None where none does."""
    ground = _RuleOnDisk(rule)
    try:
        return contains_work(ground.survey(str(folder)))
    except OSError as error:
        return f"{folder} can't be looked at: {why(error)}"


def place_of_new(path: Path) -> Path:
    """Return where a file that is created as `path` ends up: links to its folder followed."""
    # unlike `resolve`, realpath never fails
    return Path(os.path.realpath(path.parent), path.name)


def session_project(session: CallOrigin, rule: Rule | BadRule) -> Project:
    """Return the strictest judgement of all that says where this session works.

    `$PWD` counts in full where it names the current folder. Where it doesn't, it is what
    a parent left behind, and like a parent's folder it can only make the project work.
    Only more parents than can be looked at, or what hides them, make it unknown. `$OLDPWD` doesn't count: who
    leaves work for a project of their own, in the same shell, isn't at work any more.
    """
    ground = _RuleOnDisk(rule, session.proc)
    return strictest((*_named(session, ground), *_inherited(session, ground)))


def _named(session: CallOrigin, ground: "_RuleOnDisk") -> Iterator[Project]:
    """Yield the judgement of every folder that somebody says the session works in."""
    cwd = str(session.cwd) if session.cwd is not None else None
    if session.project is not None:
        yield ground.project(str(session.project), base=cwd)
    if cwd is None:
        hint = "change into a folder that exists"
        yield Project(kind=ProjectKind.UNKNOWN, root=None, reason="the current folder was deleted", hint=hint)
    else:
        yield ground.project(cwd)
    if session.pwd and cwd and session.pwd != cwd and _is_same(session.pwd, cwd):
        yield seen_by(ground.project(session.pwd, base=cwd), "$PWD")
    for name, folder in session.harness.items():
        yield seen_by(ground.project(folder, base=cwd), f"${name}")


def _inherited(session: CallOrigin, ground: "_RuleOnDisk") -> Iterator[Project]:
    """Yield the work projects among the folders that the session's parents run in."""
    for label, folder in _left_behind(session):
        project = ground.project(folder)
        if project.kind is ProjectKind.WORK:
            yield seen_by(project, label)
    if session.hidden:
        hint = "run it where its parents can be seen up to a terminal, a login or the harness"
        yield Project(kind=ProjectKind.UNKNOWN, root=None, reason=session.hidden, hint=hint)
    if session.pid is None:
        return
    for parent in parents_of(session.pid, session.proc):
        match parent:
            case ParentProcess():
                project = ground.project(parent.folder)
                if project.kind is ProjectKind.WORK:
                    yield seen_by(project, f"the parent process {parent.name} ({parent.pid})")
            case TooManyParents():
                reason = f"there are more than {parent.seen} parent processes, and any may be at work"
                hint = "run it from a shell of your own"
                yield Project(kind=ProjectKind.UNKNOWN, root=None, reason=reason, hint=hint)


def _left_behind(session: CallOrigin) -> Iterator[tuple[str, str]]:
    """Yield what the environment says of folders that the session isn't in, by its names."""
    if session.pwd and isabs(session.pwd) and session.pwd != str(session.cwd):
        yield "$PWD", session.pwd
    yield from session.parents.items()


class _RuleOnDisk:
    """A rule laid over this disk for the time of one question."""

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
            self.doubt = f"the mount table can't be read: {why(error)}"
        self.work_roots: tuple[WorkRoot, ...] = ()
        #: The entries that allow, each by its real path as well.
        self.parents: tuple[str, ...] = ()
        if isinstance(rule, Rule):
            self.work_roots = tuple(self._work_root(entry) for entry in rule.work_roots)
            self.parents = tuple(name for entry in rule.project_parents for name in _by_both_names(entry))
        self._stops = (
            *(entry.removeprefix("!") for entry in self.parents),
            *(work.entry for work in self.work_roots),
            *(literal(place.real) for work in self.work_roots for place in work.places),
        )

    def project(self, folder: str, *, base: str | None = None) -> Project:
        """Return the judgement of `folder`; a relative one starts at `base`."""
        path = join(base or "/", folder)
        try:
            if base is None and not isabs(folder):
                path = join(Path.cwd(), folder)
            path = _with_physical_dots(path)
            if path not in self._projects:
                self._projects[path] = self._judged(path)
            return self._projects[path]
        except (OSError, ValueError) as error:
            reason = why(error) if isinstance(error, OSError) else "that isn't a path"
            return judge(self._survey_of_name(path, f"{path!r} can't be resolved: {reason}"), self.rule)

    def _judged(self, path: str) -> Project:
        """Return what the rule says of `path`, and the account's own where HOME's doesn't do alone."""
        judged = judge(self.survey(path), self.rule)
        account = self.rule.account if isinstance(self.rule, Rule) else None
        if account is None or judged.kind is not ProjectKind.PERSONAL or self._is_alone(judged):
            return judged
        return strictest((judged, seen_by(_RuleOnDisk(account).project(path), "the account's own rule")))

    def _is_alone(self, judged: Project) -> bool:
        """Say whether a project lies by all its real names in the HOME whose rule may allow alone."""
        top = self.rule.alone_below if isinstance(self.rule, Rule) else None
        if top is None or judged.root is None:
            return False
        names = self.place(realpath(judged.root)).names
        return all(is_within(name, realpath(top)) for name in names)

    def place(self, path: str, what: str = "") -> FolderIdentity:
        """Return `path` by every name that it goes by; it needn't exist."""
        if (what, path) not in self._places:
            real = realpath(path)
            self._places[what, path] = FolderIdentity(
                what=what,
                path=path,
                real=real,
                others=other_names(real, self.mounts),
                inode=self._inode(real),
                above=frozenset(inode for top in _above(real) if (inode := self._inode(top))),
            )
        return self._places[what, path]

    def survey(self, path: str) -> FolderSurvey:
        """Return all that the disk says of `path`, absolute and without dots."""
        here = self.place(path)
        if here.inode is None:
            survey = self._survey_of_name(path, f"{path} doesn't exist")
            return replace(survey, places=(here,))
        if not stat.S_ISDIR(Path(path).stat().st_mode):
            return self._survey_of_file(here)
        places, doubt = [here], self.doubt
        marked: dict[str, None] = {}
        tops: dict[str, None] = {}
        for folder in dict.fromkeys((path, here.real)):
            found = tuple(self._marked(folder))
            tops[found[0] if found else folder] = None
            marked.update(dict.fromkeys(found))
        for folder in marked:
            ties = ties_of(folder)
            places += (self.place(_with_physical_dots(tie), "its repository ") for tie in ties.paths)
            places += self._remotes(ties)
            doubt = doubt or ties.doubt
        roots = tuple(self.place(top) for top in tops)
        # a root that holds a mount is rare, and "/" holds them all: nobody is personal there
        mounted = {point: None for root in roots for point in points_below(root.real, self.mounts)}
        if "/" in tops:
            mounted.clear()
        return FolderSurvey(
            root=roots[0].path,
            places=(*roots, *places),
            roots=(*roots, here),
            mounted=tuple(self.place(point) for point in mounted),
            work_roots=self.work_roots,
            parents=self.parents,
            doubt=doubt,
            fold=_folds(here.real),
        )

    def _remotes(self, ties: RepositoryPointers) -> Iterator[FolderIdentity]:
        """Yield where a repository's remotes are on this disk, and what those belong to, and so on.

        They may make it work and nothing else, so that what can't be found out of them is no doubt.
        """
        waiting = [_with_physical_dots(one) for one in ties.remotes]
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_REMOTES:
            remote = waiting.pop()
            if remote in seen:
                continue
            seen.add(remote)
            yield self.place(remote, "its remote ")
            with suppress(OSError):
                for folder in (*([remote] if is_bare(remote) else ()), *self._marked(remote)):
                    theirs = ties_of(folder)
                    yield from (self.place(_with_physical_dots(tie), "its remote ") for tie in theirs.paths)
                    waiting += (_with_physical_dots(one) for one in theirs.remotes)

    def _survey_of_name(self, path: str, doubt: str) -> FolderSurvey:
        """Return what a path says by its name alone, which is enough to deny."""
        here = FolderIdentity(path=path, real=path)
        return FolderSurvey(root=None, places=(here,), work_roots=self.work_roots, doubt=doubt)

    def _survey_of_file(self, here: FolderIdentity) -> FolderSurvey:
        """Return what is known of the folder that holds a file, and of the one that holds it really."""
        typed, real = (self.survey(dirname(name)) for name in (here.path, here.real))
        return replace(
            typed,
            places=(here, *typed.places, *real.places),
            roots=(*typed.roots, *real.roots),
            mounted=(*typed.mounted, *real.mounted),
            doubt=typed.doubt or real.doubt,
        )

    def _marked(self, folder: str) -> Iterator[str]:
        """Yield the folders from `folder` upwards where a project begins.

        The climb ends at the entry of the rule that the folder lies under, so that a
        version-controlled HOME is nobody's project. All are yielded, not only the
        nearest: a repository inside a work repository's worktree is work as well.
        """
        while True:
            if is_marked(folder):
                yield folder
            top = dirname(folder)
            if top == folder or any(
                is_under(folder, entry) and not is_under(top, entry) for entry in self._stops
            ):
                return
            folder = top

    def _work_root(self, entry: str) -> WorkRoot:
        """Return what an entry of the denylist means on this disk."""
        path = literal_path(entry)
        try:
            if path is not None:
                return WorkRoot(entry=entry, places=(self.place(path),))
            return self._wild_work_root(entry)
        except OSError as error:
            self.doubt = f"the work root {entry} can't be looked at: {why(error)}"
            return WorkRoot(entry=entry, is_open=True)

    def _wild_work_root(self, entry: str) -> WorkRoot:
        """Return the folders that an entry with wildcards means, as far as they can be found."""
        places: list[FolderIdentity] = []
        waiting = [anchor(entry)]
        for _ in range(_MOST_FOLDERS):
            if not waiting:
                return WorkRoot(entry=entry, places=tuple(places))
            try:
                with os.scandir(waiting.pop()) as folders:
                    for folder in folders:
                        if not folder.is_dir():
                            continue
                        if is_under(folder.path, entry):
                            places.append(self.place(folder.path))
                        elif not folder.is_symlink() and may_contain(folder.path, entry):
                            waiting.append(folder.path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                break
        return WorkRoot(entry=entry, places=tuple(places), is_open=True)

    def _inode(self, path: str) -> Inode | None:
        """Return what the real `path` is whatever its name, None where there is nothing; raises `OSError`."""
        if path not in self._inodes:
            try:
                status = os.lstat(path)
                self._inodes[path] = (status.st_dev, status.st_ino)
            except (FileNotFoundError, NotADirectoryError):
                self._inodes[path] = None
        return self._inodes[path]


def _read_rule(home: Path) -> Rule:
    """Return the rule that is installed in `home`."""
    source = home / RULE_PLACE
    try:
        real = Path(realpath(source, strict=True))
        _check_owner(source, real, real.stat())
        for folder in dict.fromkeys((*_folders_to(source, home), *_folders_to(real, Path(realpath(home))))):
            _check_folder(source, folder, folder.stat())
    except FileNotFoundError:
        raise BadRule(source, "is missing") from None
    except (OSError, ValueError) as error:
        reason = why(error) if isinstance(error, OSError) else "it isn't a path"
        raise BadRule(source, f"can't be read: {reason}") from None
    data = read_file(real, limit=_RULE_LIMIT)
    if isinstance(data, UnreadableFile):
        gone = isinstance(data, MissingFile)
        raise BadRule(source, "is missing" if gone else f"can't be read: it {data.reason}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRule(source, "isn't valid UTF-8") from None
    return parse_rule(text, source=source, home=home)


def _check_owner(source: Path, real: Path, status: os.stat_result) -> None:
    """Raise where somebody else could have written the rule."""
    if not stat.S_ISREG(status.st_mode):
        raise BadRule(source, "isn't a file")
    if status.st_uid not in (os.geteuid(), 0):
        raise BadRule(source, f"belongs to another user ({real}, user {status.st_uid})")
    if status.st_mode & 0o022:
        raise BadRule(source, f"can be written by others; `chmod go-w {real}` puts that right")


def _check_folder(source: Path, folder: Path, status: os.stat_result) -> None:
    """Raise where somebody else could put another file in the rule's place.

    Not for a folder that only its group may write to: under umask 002, the default of
    some systems, that is every folder of a user whose group is theirs alone.
    """
    if status.st_uid not in (os.geteuid(), 0):
        raise BadRule(source, f"lies in another user's folder ({folder}, user {status.st_uid})")
    if status.st_mode & 0o002 and not status.st_mode & stat.S_ISVTX:
        raise BadRule(source, f"lies in a folder that everybody may write to; `chmod o-w {folder}`")


def _folders_to(file: Path, home: Path) -> Iterator[Path]:
    """Yield the folder of `file`, and where that is in `home` those above it, up to `home`."""
    for folder in file.parents:
        if folder == file.parent or folder.is_relative_to(home):
            yield folder


def _with_physical_dots(path: str) -> str:
    """Return an absolute path whose `..` were followed as the kernel does, links and all."""
    done = "/"
    for part in path.split("/"):
        if part == "..":
            done = dirname(realpath(done))
        elif part not in ("", "."):
            done = join(done, part)
    return done


def _above(path: str) -> Iterator[str]:
    """Yield the folders above `path`, the nearest first."""
    while (top := dirname(path)) != path:
        yield top
        path = top


def _is_same(one: str | Path, other: str | Path) -> bool:
    """Say whether two paths lead to the same folder."""
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return str(one) == str(other)


def _folds(path: str) -> bool:
    """Say whether the file system takes a name in letters of another case for the same."""
    while path != "/" and basename(path).swapcase() == basename(path):
        path = dirname(path)
    return path != "/" and _is_same(path, join(dirname(path), basename(path).swapcase()))


def _by_both_names(entry: str) -> tuple[str, ...]:
    """Return a project parent, and its real path where that differs and it has no wildcards."""
    path = literal_path(entry.removeprefix("!"))
    if path is None or (real := realpath(path)) == path:
        return (entry,)
    return (entry, ("!" if entry.startswith("!") else "") + literal(real))
