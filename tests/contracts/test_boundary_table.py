"""The boundary, case by case: what a folder or a session is, and why.

Real folders, links, repositories, processes and mounts; the home is a temporary one.
"""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

import pytest

import roamkb
from roamkb.boundary.rule_file import render_rule
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.call_origin import read_call_origin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.installed_rule import RULE_PATH
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.session_evidence import session_project
from roamkb.core.errors import BadRule
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule

HOUSE = Path(roamkb.__file__).parents[1]
TEMPLATE = (HOUSE / "rules" / "knowledge-base.md").read_text()
WORK, UNKNOWN, PERSONAL = ProjectKind.WORK, ProjectKind.UNKNOWN, ProjectKind.PERSONAL

#: What a child process says of its own session.
ASK = """
import os, sys
from pathlib import Path
from roamkb.boundary.store.call_origin import read_call_origin
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.session_evidence import session_project
home = Path(sys.argv[1])
session = read_call_origin(os.environ, cwd=Path.cwd(), pid=os.getpid())
project = session_project(session, find_rule(home, account_home=home))
print(project.kind.value, project.reason, sep="|", flush=True)
"""


@dataclass
class World:
    """A home with the default rule, a knowledge base, and whatever a case adds."""

    home: Path
    account: Path = field(init=False)
    work_roots: Sequence[str] = ("~/projects/work",)
    project_parents: Sequence[str] = ("~/code/", "~/projects/", "~/.emacs.d")
    kb: str = "~/sync/org/roam/"

    def __post_init__(self) -> None:
        self.account = self.home
        for name in ("projects/work", "code", "projects/site", ".emacs.d", "sync/org/roam"):
            self.folder(name)
        self.write_rule()

    @property
    def place(self) -> Path:
        """Where the rule is."""
        return self.home / RULE_PATH

    def write_rule(self, **changes: Sequence[str] | str) -> None:
        """Install the rule with other blocks."""
        for name, value in changes.items():
            setattr(self, name, value)
        text = render_rule(TEMPLATE, kb=self.kb, work_roots=self.work_roots, project_parents=self.project_parents)
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.place.write_text(text)
        self.place.chmod(0o644)

    def folder(self, name: str) -> Path:
        """Make a folder below the home."""
        path = self.home / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def file(self, name: str, text: str) -> Path:
        """Make a file below the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def link(self, name: str, to: str) -> Path:
        """Make a symbolic link to another name below the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self.home / to)
        return path

    def git(self, *words: str, at: str = "") -> None:
        """Run git below the home, with nobody's configuration."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
        command = ["git", *who, "-C", str(self.folder(at)), *words]
        subprocess.run(command, check=True, env=environment, capture_output=True)

    def repository(self, name: str) -> Path:
        """Make a repository with one commit."""
        self.git("init", "--quiet", at=name)
        self.git("commit", "--quiet", "--allow-empty", "--message=first", at=name)
        return self.home / name

    def worktree(self, of: str, at: str) -> Path:
        """Make a linked worktree."""
        self.git("worktree", "add", "--quiet", "--detach", str(self.home / at), at=of)
        return self.home / at

    def submodule(self, of: str, source: str, name: str) -> Path:
        """Add a repository as a submodule of another."""
        self.git("submodule", "--quiet", "add", str(self.home / source), name, at=of)
        return self.home / of / name

    def rule(self) -> Rule | BadRule:
        """Return the rule as the program finds it."""
        return find_rule(self.home, account_home=self.account)

    def kind_of(self, name: str | Path) -> Project:
        """Classify a folder below the home."""
        return classify_folder(self.home / name, self.rule())

    def session(self, cwd: str | None, **evidence: object) -> Project:
        """Judge a session that runs in `cwd`, with `evidence` beside it."""
        folder = None if cwd is None else self.home / cwd
        return session_project(CallOrigin(cwd=folder, **evidence), self.rule())  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home of its own."""
    return World(home=tmp_path.resolve() / "home")


Case = tuple[str, ProjectKind, Callable[[World], Project]]


def folder(name: str, *prepare: Callable[[World], object], **rule: Sequence[str] | str) -> Callable[[World], Project]:
    """Return a case that prepares the world and classifies `name`."""

    def run(world: World) -> Project:
        if rule:
            world.write_rule(**rule)
        for step in prepare:
            step(world)
        return world.kind_of(name)

    return run


def mk(*names: str) -> Callable[[World], object]:
    """Return a step that makes folders."""
    return lambda world: [world.folder(name) for name in names]


def ln(name: str, to: str) -> Callable[[World], object]:
    """Return a step that makes a link."""
    return lambda world: world.link(name, to)


def repo(*names: str) -> Callable[[World], object]:
    """Return a step that makes repositories."""
    return lambda world: [world.repository(name) for name in names]


def worktree(of: str, at: str) -> Callable[[World], object]:
    """Return a step that makes a linked worktree."""
    return lambda world: world.worktree(of, at)


def clone(*words: str) -> Callable[[World], object]:
    """Return a step that clones one repository into another folder, with nothing shared."""
    return lambda world: world.git("clone", "--quiet", "--no-local", *words)


def remote(url: str) -> Callable[[World], object]:
    """Return a step that gives the repository `code/r` a remote; `HOME` in the URL is the home."""

    def step(world: World) -> None:
        world.git("remote", "add", "origin", url.replace("HOME", str(world.home)), at="code/r")

    return step


def text(name: str, content: str) -> Callable[[World], object]:
    """Return a step that makes a file; `HOME` in it is the home."""
    return lambda world: world.file(name, content.replace("HOME", str(world.home)))


PLAIN: list[Case] = [
    ("a work root is work", WORK, folder("projects/work")),
    ("a folder below a work root is work", WORK, folder("projects/work/a/b", mk("projects/work/a/b"))),
    ("a repository below a work root is work", WORK, folder("projects/work/r", repo("projects/work/r"))),
    (
        "work is work although it isn't there: its name says so",
        WORK,
        folder("projects/work/not-cloned-yet"),
    ),
    ("a folder under a parent is personal", PERSONAL, folder("projects/site")),
    ("a parent itself is personal where it holds no work", PERSONAL, folder("code")),
    ("a folder deep under a parent is personal", PERSONAL, folder("code/a/b/c", mk("code/a/b/c"))),
    ("~/.emacs.d is a parent and a project", PERSONAL, folder(".emacs.d", repo(".emacs.d"))),
    ("`workshop` is beside `work`", PERSONAL, folder("projects/workshop", mk("projects/workshop"))),
    ("`work-old` is beside `work`", PERSONAL, folder("projects/work-old", mk("projects/work-old"))),
    ("`code2` isn't under `code`", UNKNOWN, folder("code2/x", mk("code2/x"))),
    (
        "`Work` is beside `work` where the disk says so",
        PERSONAL,
        folder("projects/Work", mk("projects/Work")),
    ),
    ("a folder elsewhere is unknown", UNKNOWN, folder("Documents/x", mk("Documents/x"))),
    ("the home contains a work root", UNKNOWN, folder("")),
    ("~/projects contains a work root", UNKNOWN, folder("projects")),
    ("the top of the disk contains a work root", UNKNOWN, folder("/")),
    ("a folder that doesn't exist can't be resolved", UNKNOWN, folder("code/nope")),
    ("an endless link can't be resolved", UNKNOWN, folder("code/loop", ln("code/loop", "code/loop"))),
    ("a broken link can't be resolved", UNKNOWN, folder("code/gone", ln("code/gone", "nowhere"))),
    ("a path with a NUL can't be resolved", UNKNOWN, folder("code/a\0b")),
    ("a name beyond the system's limit can't be resolved", UNKNOWN, folder("code/" + "x" * 300)),
    ("a work path beyond the system's limit is work", WORK, folder("projects/work/" + "x" * 300)),
    ("`..` out of work is where it leads", PERSONAL, folder("projects/work/../site")),
    ("`..` into work is where it leads", WORK, folder("code/../projects/work")),
    (
        "`..` after a link follows the link first",
        WORK,
        folder("code/l/../b", mk("projects/work/a", "projects/work/b", "code/b"), ln("code/l", "projects/work/a")),
    ),
    ("a file is judged by its folder", PERSONAL, folder("code/x/f.md", text("code/x/f.md", "f"))),
    ("a file at work is work", WORK, folder("projects/work/f.md", text("projects/work/f.md", "f"))),
    (
        "a link to a file at work is work",
        WORK,
        folder("code/f.md", text("projects/work/f.md", "f"), ln("code/f.md", "projects/work/f.md")),
    ),
]

LINKS: list[Case] = [
    ("a link from a parent into work is work", WORK, folder("code/l", ln("code/l", "projects/work"))),
    (
        "a folder below such a link is work",
        WORK,
        folder("code/l/a", mk("projects/work/a"), ln("code/l", "projects/work")),
    ),
    (
        "a link from work to a personal folder is work: it was entered through work",
        WORK,
        folder("projects/work/l", mk("code/x"), ln("projects/work/l", "code/x")),
    ),
    (
        "a link from a parent to nowhere in particular is unknown",
        UNKNOWN,
        folder("code/l", mk("Documents/x"), ln("code/l", "Documents/x")),
    ),
    (
        "a link from elsewhere to a personal folder is unknown",
        UNKNOWN,
        folder("desk/l", mk("code/x"), ln("desk/l", "code/x")),
    ),
    (
        "a link between parents is personal",
        PERSONAL,
        folder("code/l", mk("projects/x"), ln("code/l", "projects/x")),
    ),
    (
        "a work root that is a link denies where it leads",
        WORK,
        folder("code/real/a", mk("code/real/a"), ln("w", "code/real"), work_roots=["~/w"]),
    ),
    (
        "what a linked work root leads to is seen from above",
        UNKNOWN,
        folder("code/site", mk("code/site/real"), ln("w", "code/site/real"), work_roots=["~/w"]),
    ),
    (
        "a parent that is a link allows where it leads",
        PERSONAL,
        folder("disk/src/a", mk("disk/src/a"), ln("src", "disk/src"), project_parents=["~/src"]),
    ),
    (
        "a parent that is a link into work allows nothing",
        WORK,
        folder("src/a", mk("projects/work/a"), ln("src", "projects/work"), project_parents=["~/src"]),
    ),
]

REPOSITORIES: list[Case] = [
    ("a personal repository is personal", PERSONAL, folder("code/r", repo("code/r"))),
    ("a folder in it is personal", PERSONAL, folder("code/r/src", repo("code/r"), mk("code/r/src"))),
    (
        "a worktree of a work repository is work",
        WORK,
        folder("code/wt", repo("projects/work/r"), worktree("projects/work/r", "code/wt")),
    ),
    (
        "a folder in such a worktree is work",
        WORK,
        folder("code/wt/a", repo("projects/work/r"), worktree("projects/work/r", "code/wt"), mk("code/wt/a")),
    ),
    (
        "a repository inside such a worktree is work",
        WORK,
        folder(
            "code/wt/lib",
            repo("projects/work/r"),
            worktree("projects/work/r", "code/wt"),
            repo("code/wt/lib"),
        ),
    ),
    (
        "a worktree of a personal repository is personal",
        PERSONAL,
        folder("code/wt", repo("code/r"), worktree("code/r", "code/wt")),
    ),
    (
        "a worktree that is at work is work, wherever its repository is",
        WORK,
        folder("projects/work/wt", repo("code/r"), worktree("code/r", "projects/work/wt")),
    ),
    (
        "a worktree of a bare work repository is work",
        WORK,
        folder(
            "code/wt",
            repo("code/r"),
            lambda w: w.git("clone", "--quiet", "--bare", str(w.home / "code/r"), "r.git", at="projects/work"),
            worktree("projects/work/r.git", "code/wt"),
        ),
    ),
    (
        "a submodule of a work repository is work",
        WORK,
        folder(
            "projects/work/r/lib",
            repo("projects/work/r", "code/lib"),
            lambda w: w.submodule("projects/work/r", "code/lib", "lib"),
        ),
    ),
    (
        "a submodule in a worktree of a work repository is work",
        WORK,
        folder(
            "code/wt/lib",
            repo("projects/work/r", "code/lib"),
            lambda w: w.submodule("projects/work/r", "code/lib", "lib"),
            lambda w: w.git("commit", "--quiet", "--all", "--message=lib", at="projects/work/r"),
            worktree("projects/work/r", "code/wt"),
            lambda w: w.git("submodule", "--quiet", "update", "--init", at="code/wt"),
        ),
    ),
    (
        "a submodule that was moved out of its work repository is work",
        WORK,
        folder(
            "code/lib",
            mk("projects/work/r/.git/modules/lib"),
            text("code/lib/.git", "gitdir: HOME/projects/work/r/.git/modules/lib\n"),
        ),
    ),
    (
        "a submodule of a personal repository is personal",
        PERSONAL,
        folder("code/r/lib", repo("code/r", "code/lib"), lambda w: w.submodule("code/r", "code/lib", "lib")),
    ),
    (
        "a repository with a work repository as its submodule is work",
        WORK,
        folder(
            "code/r", repo("code/r", "projects/work/lib"), lambda w: w.submodule("code/r", "projects/work/lib", "lib")
        ),
    ),
    (
        "a repository with a personal submodule is personal",
        PERSONAL,
        folder("code/r", repo("code/r", "code/lib"), lambda w: w.submodule("code/r", "code/lib", "lib")),
    ),
    (
        "a worktree whose repository is gone can't be resolved",
        UNKNOWN,
        folder("code/wt", text("code/wt/.git", "gitdir: HOME/code/gone/.git/worktrees/wt\n")),
    ),
    (
        "a worktree whose work repository is gone is work",
        WORK,
        folder("code/wt", text("code/wt/.git", "gitdir: HOME/projects/work/gone/.git/worktrees/wt\n")),
    ),
    (
        "a `.git` file of nonsense can't be resolved",
        UNKNOWN,
        folder("code/x", text("code/x/.git", "what?\n")),
    ),
    ("an empty `.git` file can't be resolved", UNKNOWN, folder("code/x", text("code/x/.git", ""))),
    (
        "a `.git` that is a link into work is work",
        WORK,
        folder("code/x", repo("projects/work/r"), mk("code/x"), ln("code/x/.git", "projects/work/r/.git")),
    ),
    (
        "a repository whose objects are a link into work is work",
        WORK,
        folder(
            "code/x",
            repo("projects/work/r"),
            mk("code/x/.git"),
            ln("code/x/.git/objects", "projects/work/r/.git/objects"),
        ),
    ),
    (
        "a clone that shares a work repository's objects is work",
        WORK,
        folder(
            "code/x",
            repo("projects/work/r"),
            lambda w: w.git("clone", "--quiet", "--shared", "projects/work/r", "code/x"),
        ),
    ),
    (
        "a plain clone of a work repository is work: its origin says so",
        WORK,
        folder("code/x", repo("projects/work/r"), clone("projects/work/r", "code/x")),
    ),
    (
        "a worktree of such a clone is work",
        WORK,
        folder(
            "code/wt",
            repo("projects/work/r"),
            clone("projects/work/r", "code/x"),
            worktree("code/x", "code/wt"),
        ),
    ),
    (
        "a clone of such a clone is work",
        WORK,
        folder("code/y", repo("projects/work/r"), clone("projects/work/r", "code/x"), clone("code/x", "code/y")),
    ),
    (
        "a clone of a bare clone of a work repository is work",
        WORK,
        folder(
            "code/y",
            repo("projects/work/r"),
            clone("--bare", "projects/work/r", "code/x.git"),
            clone("code/x.git", "code/y"),
        ),
    ),
    (
        "a bare clone of a work repository is work itself",
        WORK,
        folder("code/x.git/info", repo("projects/work/r"), clone("--bare", "projects/work/r", "code/x.git")),
    ),
    (
        "so is one that shares its objects, and has no remote",
        WORK,
        folder(
            "code/x.git",
            repo("projects/work/r"),
            lambda w: w.git("clone", "--quiet", "--bare", "--shared", "projects/work/r", "code/x.git"),
            lambda w: w.git("remote", "remove", "origin", at="code/x.git"),
        ),
    ),
    (
        "a clone that looks bare as well is work",
        WORK,
        folder(
            "code/r",
            repo("projects/work/r"),
            clone("projects/work/r", "code/r"),
            mk("code/r/objects"),
            text("code/r/HEAD", ""),
        ),
    ),
    (
        "a bare repository of one's own is personal",
        PERSONAL,
        folder("code/x.git", repo("code/x"), clone("--bare", "code/x", "code/x.git")),
    ),
    (
        "a clone of a worktree of a work repository is work",
        WORK,
        folder(
            "code/y",
            repo("projects/work/r"),
            worktree("projects/work/r", "code/wt"),
            clone("code/wt", "code/y"),
        ),
    ),
    (
        "a clone of a personal repository is personal",
        PERSONAL,
        folder("code/y", repo("code/x"), clone("code/x", "code/y")),
    ),
    (
        "a remote at work is work, though it isn't there",
        WORK,
        folder("code/r", repo("code/r"), remote("HOME/projects/work/gone")),
    ),
    (
        "a remote as a URL of a file is work",
        WORK,
        folder("code/r", repo("code/r"), remote("file://HOME/projects/work/r")),
    ),
    (
        "such a URL may name the host and encode its letters",
        WORK,
        folder("code/r", repo("code/r"), remote("file://localhost/HOME/projects/%77ork/r")),
    ),
    (
        "a relative remote begins at the worktree",
        WORK,
        folder("code/r", repo("code/r"), remote("../../projects/work/r")),
    ),
    (
        "a remote that is a link into work is work",
        WORK,
        folder(
            "code/r",
            repo("code/r"),
            mk("projects/work/r"),
            ln("code/l", "projects/work/r"),
            remote("HOME/code/l"),
        ),
    ),
    (
        "a remote that is pushed to counts",
        WORK,
        folder(
            "code/r",
            repo("code/r"),
            remote("https://example.org/r"),
            lambda w: w.git("config", "remote.origin.pushurl", f"{w.home}/projects/work/r", at="code/r"),
        ),
    ),
    (
        "a remote in quotes, with a comment and on two lines counts",
        WORK,
        folder(
            "code/r",
            repo("code/r"),
            text("code/r/.git/config", '[remote "a]b"] # x\n\tURL = \\\n "HOME/projects/w"ork/r ; y\n'),
        ),
    ),
    (
        "a remote in the old spelling counts",
        WORK,
        folder("code/r", repo("code/r"), text("code/r/.git/config", "[remote.a]url=HOME/projects/work/r\n")),
    ),
    (
        "a remote in an included file counts",
        WORK,
        folder(
            "code/r",
            repo("code/r"),
            text("code/r/.git/more", '[remote "a"]\nurl = HOME/projects/work/r\n[include]\npath = more\n'),
            lambda w: w.git("config", "include.path", "more", at="code/r"),
        ),
    ),
    (
        "a remote by a shorter name for work counts",
        WORK,
        folder(
            "code/r",
            repo("code/r"),
            remote("w:r"),
            lambda w: w.git("config", f"url.{w.home}/projects/work/.insteadOf", "w:", at="code/r"),
        ),
    ),
    (
        "a remote by a name that the user's own configuration rewrites counts",
        WORK,
        folder(
            "code/r",
            repo("code/r"),
            remote("w:r"),
            text(".config/git/config", '[url "HOME/projects/work/"]\n\tinsteadOf = w:\n'),
        ),
    ),
    *(
        (
            f"a remote by way of this machine counts: {url}",
            WORK,
            folder("code/r", repo("code/r"), remote(url), text(".ssh/config", "Host box\n HostName 127.0.0.1\n")),
        )
        for url in (
            "ssh://localhost/HOME/projects/work/r",
            "ssh://me@[::1]:22/~/projects/work/r",
            "ssh://127.1/HOME/projects/work/r",
            "ssh://2130706433/HOME/projects/work/r",
            "ssh://[::ffff:127.0.0.1]/HOME/projects/work/r",
            "me@10.0.0.7:projects/work/r",
            "git://localhost/HOME/projects/work/r",
            "localhost:projects/work/r",
            "me@box:HOME/projects/work/r",
            "~/projects/work/r",
            "file://localhost/HOME/projects/work/r",
        )
    ),
    *(
        (
            f"a remote by another entry counts: {entry!r}",
            WORK,
            folder("code/r", repo("code/r"), text("code/r/.git/config", entry)),
        )
        for entry in (
            '[branch "main"]\nremote = HOME/projects/work/r\n',
            '[branch "main"]\npushRemote = HOME/projects/work/r\n',
            "[remote]\npushDefault = HOME/projects/work/r\n",
            '\ufeff[remote "a"]\nurl = HOME/projects/work/r\n',
            '[core] [remote "a"] url = HOME/projects/work/r\n',
            '[remote "a"]\n# what is this \\\nurl = HOME/projects/work/r\n',
            '[remote "a"]\nfetch = x ; y \\\nurl = HOME/projects/work/r\n',
        )
    ),
    *(
        (
            f"a remote in an old file counts: {name}",
            WORK,
            folder("code/r", repo("code/r"), text(f"code/r/.git/{name}", content)),
        )
        for name, content in (
            ("remotes/a", "URL: HOME/projects/work/r\nPull: main\n"),
            ("branches/a", "HOME/projects/work/r#main\n"),
        )
    ),
    (
        "a remote that is a command can't be told",
        UNKNOWN,
        folder("code/r", repo("code/r"), remote("ext::git-upload-pack HOME/projects/work/r")),
    ),
    (
        "a remote that a helper makes a command can't be told",
        UNKNOWN,
        folder(
            "code/r",
            repo("code/r"),
            text("code/r/.git/config", '[remote "a"]\nvcs = ext\nurl = git-upload-pack HOME/projects/work/r\n'),
        ),
    ),
    (
        "a branch of a remote by its name says nothing",
        PERSONAL,
        folder(
            "code/r",
            repo("code/r"),
            text("code/r/.git/config", '[branch "main"]\nremote = o\n[remote "o"]\nurl = https://h.example/a/r\n'),
        ),
    ),
    (
        "a Mercurial clone of a work repository is work",
        WORK,
        folder("code/r", text("code/r/.hg/hgrc", "[paths]\ndefault = HOME/projects/work/r\n")),
    ),
    (
        "a jj repository whose git has a remote at work is work",
        WORK,
        folder(
            "code/r",
            text("code/r/.jj/repo/store/git_target", "git"),
            text("code/r/.jj/repo/store/git/config", '[remote "origin"]\nurl = HOME/projects/work/r\n'),
        ),
    ),
    (
        "a remote beside work says nothing",
        PERSONAL,
        folder("code/r", repo("code/r"), remote("HOME/projects/workshop")),
    ),
    (
        "a remote elsewhere says nothing",
        PERSONAL,
        folder("code/r", repo("code/r"), remote("HOME/Documents/gone")),
    ),
    *(
        (
            f"a remote on another host says nothing: {url}",
            PERSONAL,
            folder("code/r", repo("code/r"), remote(url)),
        )
        for url in ("git@work.example:HOME/projects/work/r", "https://work.example/HOME/projects/work/r")
    ),
    (
        "a repository whose worktree is at work is work",
        WORK,
        folder(
            "code/x",
            repo("code/x"),
            lambda w: w.git("config", "core.worktree", str(w.home / "projects/work"), at="code/x"),
        ),
    ),
    (
        "a separate git folder at work is work",
        WORK,
        folder(
            "code/x",
            lambda w: w.git("init", "--quiet", "--separate-git-dir", str(w.home / "projects/work/x.git"), at="code/x"),
        ),
    ),
    (
        "a second jj workspace of a work repository is work",
        WORK,
        folder("code/x", mk("projects/work/r/.jj/repo"), text("code/x/.jj/repo", "HOME/projects/work/r/.jj/repo")),
    ),
    (
        "a jj repository on top of a work repository's git is work",
        WORK,
        folder(
            "code/x",
            repo("projects/work/r"),
            text("code/x/.jj/repo/store/git_target", "HOME/projects/work/r/.git"),
        ),
    ),
    (
        "a Mercurial share of a work repository is work",
        WORK,
        folder("code/x", mk("projects/work/r/.hg"), text("code/x/.hg/sharedpath", "HOME/projects/work/r/.hg\n")),
    ),
    (
        "a project whose log is a link into work is work",
        WORK,
        folder("code/x", mk("projects/work/r/.roamkb", "code/x"), ln("code/x/.roamkb", "projects/work/r/.roamkb")),
    ),
    (
        "a version-controlled HOME changes nothing for a project",
        PERSONAL,
        folder("code/x", repo(""), mk("code/x")),
    ),
    (
        "a worktree of work as HOME changes nothing either: the climb stops at the parent",
        PERSONAL,
        folder("code/x", text(".git", "gitdir: HOME/projects/work/dotfiles/.git/worktrees/h\n"), mk("code/x")),
    ),
]

PATTERNS: list[Case] = [
    (
        "a work root with a wildcard denies what it matches",
        WORK,
        folder("code/client-x/a", mk("code/client-x/a"), work_roots=["~/code/client-*"]),
    ),
    (
        "and not what it doesn't match",
        PERSONAL,
        folder("code/clients", mk("code/clients", "code/client-x"), work_roots=["~/code/client-*"]),
    ),
    (
        "a folder that holds a match contains a work root",
        UNKNOWN,
        folder("code", mk("code/client-x"), work_roots=["~/code/client-*"]),
    ),
    (
        "`**` denies at any depth",
        WORK,
        folder("code/a/b/secret/c", mk("code/a/b/secret/c"), work_roots=["~/code/**/secret"]),
    ),
    (
        "a project with a match of `**` deep inside contains a work root",
        UNKNOWN,
        folder("code/a", mk("code/a/b/secret"), work_roots=["~/code/**/secret"]),
    ),
    (
        "a project without a match of `**` is personal",
        PERSONAL,
        folder("code/z", mk("code/a/b/secret", "code/z/y"), work_roots=["~/code/**/secret"]),
    ),
    (
        "a match that is a link denies where it leads",
        WORK,
        folder("code/x", mk("code/x"), ln("clients/x", "code/x"), work_roots=["~/clients/*"]),
    ),
    (
        "all of a work root's content is the work root",
        WORK,
        folder("projects/work", work_roots=["~/projects/work/**"]),
    ),
    (
        "a name is the same composed and decomposed",
        WORK,
        folder("code/Mu\u0308ller/a", mk("code/Mu\u0308ller/a"), work_roots=["~/code/M\u00fcller"]),
    ),
    (
        "a home with wildcards in its name is taken literally",
        PERSONAL,
        lambda w: other_home(w, "h[ab]*?").kind_of("code/x"),
    ),
    (
        "a negated parent allows nothing below it",
        UNKNOWN,
        folder("code/gray/x", mk("code/gray/x"), project_parents=["~/code", "!~/code/gray"]),
    ),
    (
        "a negated parent wins wherever it stands",
        UNKNOWN,
        folder("code/gray/x", mk("code/gray/x"), project_parents=["!~/code/gray", "~/code"]),
    ),
    (
        "a parent with a wildcard allows what it matches",
        PERSONAL,
        folder("oss-a/x", mk("oss-a/x"), project_parents=["~/oss-*"]),
    ),
    ("without parents nothing is personal", UNKNOWN, folder("code", project_parents=[])),
    (
        "who has no work roots says so, and `~/projects` is personal then",
        PERSONAL,
        folder("projects", work_roots=[]),
    ),
]


def other_home(world: World, name: str) -> World:
    """Return a world in a home of another name, with one project."""
    other = World(home=world.home.parent / name)
    other.folder("code/x")
    return other


def session(cwd: str | None, *prepare: Callable[[World], object], **evidence: str) -> Callable[[World], Project]:
    """Return a case for a session in `cwd`; evidence names folders below the home."""

    def run(world: World) -> Project:
        mk("code/x", "projects/work/a", "Documents")(world)
        for step in prepare:
            step(world)
        given: dict[str, object] = {}
        for name, value in evidence.items():
            path = str(world.home / value)
            match name:
                case "pwd":
                    given["pwd"] = path
                case "project":
                    given["project"] = Path(value) if value.startswith("..") else Path(path)
                case _:
                    given["harness"] = {name: path}
        return world.session(cwd, **given)

    return run


SESSIONS: list[Case] = [
    ("a session in a personal folder is personal", PERSONAL, session("code/x")),
    ("a session in a work folder is work", WORK, session("projects/work/a")),
    ("a session in a deleted folder is unknown", UNKNOWN, session(None)),
    ("`--project` doesn't make a deleted folder good", UNKNOWN, session(None, project="code/x")),
    ("`--project` at work is work", WORK, session("code/x", project="projects/work/a")),
    (
        "`--project` doesn't take a work session out of work",
        WORK,
        session("projects/work/a", project="code/x"),
    ),
    ("`--project` doesn't make an unknown session personal", UNKNOWN, session("Documents", project="code/x")),
    (
        "a relative `--project` starts at the current folder",
        WORK,
        session("code/x", project="../../projects/work"),
    ),
    ("`--project` that isn't there is unknown", UNKNOWN, session("code/x", project="code/nope")),
    (
        "$PWD through a work link is work",
        WORK,
        session("code/x", ln("projects/work/l", "code/x"), pwd="projects/work/l"),
    ),
    (
        "$PWD through a link from elsewhere is unknown",
        UNKNOWN,
        session("code/x", ln("desk", "code/x"), pwd="desk"),
    ),
    ("$PWD that is the current folder changes nothing", PERSONAL, session("code/x", pwd="code/x")),
    ("a stale $PWD at work is work", WORK, session("code/x", pwd="projects/work/a")),
    ("a stale $PWD at work that is gone is work", WORK, session("code/x", pwd="projects/work/gone")),
    ("a stale $PWD elsewhere is only where somebody else was", PERSONAL, session("code/x", pwd="Documents")),
    ("$PWD doesn't take a session out of work", WORK, session("projects/work/a", pwd="code/x")),
    ("the harness's folder at work is work", WORK, session("code/x", CLAUDE_PROJECT_DIR="projects/work/a")),
    ("the harness's folder elsewhere is unknown", UNKNOWN, session("code/x", CLAUDE_PROJECT_DIR="Documents")),
    (
        "the harness's folder that is gone is unknown",
        UNKNOWN,
        session("code/x", CLAUDE_PROJECT_DIR="code/nope"),
    ),
    (
        "the harness's personal folder changes nothing",
        PERSONAL,
        session("code/x", CLAUDE_PROJECT_DIR="projects/site"),
    ),
]


def broken(*changes: Callable[[World], object]) -> Callable[[World], Project]:
    """Return a case that breaks the rule and asks for a folder that would be personal."""

    def run(world: World) -> Project:
        world.folder("code/x")
        for change in changes:
            change(world)
        return world.kind_of("code/x")

    return run


def edited(old: str, new: str) -> Callable[[World], Project]:
    """Return a case with a rule in which `old` became `new`."""

    def change(world: World) -> None:
        before = world.place.read_text()
        assert old in before
        world.place.write_text(before.replace(old, new, 1))

    return broken(change)


def _rule_under(world: World, mode: int) -> None:
    world.place.parent.chmod(mode)


RULES: list[Case] = [
    ("no rule", UNKNOWN, broken(lambda w: w.place.unlink())),
    ("an empty rule", UNKNOWN, broken(lambda w: w.place.write_text(""))),
    ("a blank rule", UNKNOWN, broken(lambda w: w.place.write_text(" \n\n"))),
    ("a rule that is a folder", UNKNOWN, broken(lambda w: w.place.unlink(), lambda w: w.place.mkdir())),
    ("a rule that is a pipe", UNKNOWN, broken(lambda w: w.place.unlink(), lambda w: os.mkfifo(w.place))),
    (
        "a rule that links to nothing",
        UNKNOWN,
        broken(lambda w: w.place.unlink(), lambda w: w.place.symlink_to("no")),
    ),
    (
        "a rule that links to itself",
        UNKNOWN,
        broken(lambda w: w.place.unlink(), lambda w: w.place.symlink_to(w.place)),
    ),
    ("a rule that isn't UTF-8", UNKNOWN, broken(lambda w: w.place.write_bytes(TEMPLATE.encode() + b"\xff"))),
    ("a rule in UTF-16", UNKNOWN, broken(lambda w: w.place.write_bytes(TEMPLATE.encode("utf-16")))),
    ("a rule beyond any size", UNKNOWN, broken(lambda w: w.place.write_text(TEMPLATE + "x" * 2_000_000))),
    ("a rule that everybody may write to", UNKNOWN, broken(lambda w: w.place.chmod(0o646))),
    ("a rule that a group may write to", UNKNOWN, broken(lambda w: w.place.chmod(0o664))),
    ("a rule in a folder that everybody may write to", UNKNOWN, broken(lambda w: _rule_under(w, 0o777))),
    ("a rule without blocks", UNKNOWN, broken(lambda w: w.place.write_text("# The knowledge base\n"))),
    ("no KB block", UNKNOWN, edited("```roamkb:kb", "```text")),
    ("no work roots block", UNKNOWN, edited("```roamkb:work-roots", "```text")),
    ("no parents block", UNKNOWN, edited("```roamkb:project-parents", "```text")),
    ("a misspelt block", UNKNOWN, edited("```roamkb:work-roots", "```roamkb:work-root")),
    ("a block in capitals", UNKNOWN, edited("```roamkb:work-roots", "```Roamkb:Work-Roots")),
    ("a block twice", UNKNOWN, edited("```roamkb:kb", "```roamkb:work-roots\n~/w\n```\n\n```roamkb:kb")),
    ("a relative work root", UNKNOWN, edited("~/projects/work\n", "projects/work\n")),
    ("an unexpanded work root", UNKNOWN, edited("~/projects/work\n", "$HOME/projects/work\n")),
    ("somebody else's home", UNKNOWN, edited("~/projects/work\n", "~craig/projects/work\n")),
    ("a comment after a work root", UNKNOWN, edited("~/projects/work\n", "~/projects/work  # the office\n")),
    ("a negated work root", UNKNOWN, edited("~/projects/work\n", "~/projects/work\n!~/projects/work/x\n")),
    ("an empty list of work roots", UNKNOWN, edited("~/projects/work\n", "")),
    ("a relative parent", UNKNOWN, edited("~/code/\n", "code/\n")),
    ("a parent of everything", UNKNOWN, edited("~/code/\n", "/\n")),
    ("a KB under a work root", UNKNOWN, edited("~/sync/org/roam/\n", "~/projects/work/kb\n")),
    (
        "a KB that links into work",
        UNKNOWN,
        broken(lambda w: (w.home / "sync/org/roam").rmdir(), ln("sync/org/roam", "projects/work")),
    ),
]

TABLE = [*PLAIN, *LINKS, *REPOSITORIES, *PATTERNS, *SESSIONS, *RULES]


@pytest.mark.parametrize(("reason", "kind", "case"), TABLE, ids=[case[0].replace("/", "∕") for case in TABLE])
def test_boundary(reason: str, kind: ProjectKind, case: Callable[[World], Project], world: World) -> None:
    """Each case is of the kind that its reason says, and says why in one line."""
    project = case(world)
    assert (kind, reason) == (project.kind, reason), project.reason
    assert project.reason
    assert "\n" not in project.reason
    assert bool(project.hint) is (project.kind is not PERSONAL)


def test_the_table_is_long_enough() -> None:
    """There are at least 60 cases, each with a reason of its own."""
    assert len({reason for reason, _, _ in TABLE}) == len(TABLE) >= 60


def test_the_account_s_own_rule_denies_whatever_home_says(world: World, tmp_path: Path) -> None:
    """Another HOME with a rule of its own doesn't lose the account's work roots."""
    fake = World(home=tmp_path / "fake")
    fake.write_rule(work_roots=[], project_parents=[str(world.home / "projects")])
    assert PERSONAL is fake.kind_of(world.home / "projects/work").kind
    fake.account = world.home
    assert WORK is fake.kind_of(world.home / "projects/work").kind
    world.place.write_text("broken")
    assert UNKNOWN is fake.kind_of(world.home / "projects/site").kind
    world.place.unlink()
    assert PERSONAL is fake.kind_of(world.home / "projects/site").kind


def test_the_account_s_own_rule_must_allow_whatever_home_says(world: World, tmp_path: Path) -> None:
    """Another HOME makes no unknown folder personal; what lies in it, and its own notes, are its affair."""
    world.folder("Documents/x")
    fake = World(home=tmp_path / "fake")
    fake.folder("code/x")
    fake.write_rule(work_roots=["~/none"], project_parents=[str(world.home), "~/code"])
    unknown, personal = world.home / "Documents/x", world.home / "projects/site"
    assert PERSONAL is fake.kind_of(unknown).kind
    fake.account = world.home
    judged = fake.kind_of(unknown)
    assert (UNKNOWN, True) == (judged.kind, judged.reason.startswith("by the account's own rule, "))
    assert PERSONAL is fake.kind_of(personal).kind
    assert PERSONAL is fake.kind_of("code/x").kind
    fake.link("code/l", str(unknown))
    assert UNKNOWN is fake.kind_of("code/l").kind
    # the account's own notes are not
    for kb in (world.home / "sync/org/roam", world.home / "sync", world.home / "sync/org/roam/a"):
        fake.write_rule(kb=str(kb))
        assert UNKNOWN is fake.kind_of("code/x").kind
    fake.write_rule(kb="~/sync/kb")
    fake.folder("sync").joinpath("kb").symlink_to(world.home / "sync/org/roam")
    assert UNKNOWN is fake.kind_of("code/x").kind
    # nor does a HOME in an unknown folder, or around the account's, allow what lies in it
    around = World(home=world.home.parent)
    around.write_rule(work_roots=["~/none"], project_parents=["~/home/Documents"])
    around.account = world.home
    assert UNKNOWN is around.kind_of(unknown).kind


def test_git_variables_change_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_DIR and its like neither take a work folder out nor put a personal one in."""
    world.repository("code/r")
    world.repository("projects/work/r")
    for name in ("GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(world.home / "code/r/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(world.home / "code/r"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "/")
    assert WORK is world.kind_of("projects/work/r").kind
    assert PERSONAL is world.kind_of("code/r").kind


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_rule_of_a_foreign_owner_counts_for_nothing(world: World) -> None:
    """Who owns the rule decides; another user's isn't ours."""
    os.chown(world.place, 12345, 12345)
    project = world.kind_of("projects/site")
    assert (UNKNOWN, True) == (project.kind, "another user" in project.reason)


def test_an_installed_link_is_judged_by_its_target(world: World, tmp_path: Path) -> None:
    """`make install` links the rule into a checkout; the file that's read is the one judged."""
    target = tmp_path / "checkout" / "rules" / "knowledge-base.md"
    target.parent.mkdir(parents=True)
    target.write_text(TEMPLATE)
    target.chmod(0o644)
    world.place.unlink()
    world.place.symlink_to(target)
    assert PERSONAL is world.kind_of("projects/site").kind
    target.chmod(0o666)
    assert UNKNOWN is world.kind_of("projects/site").kind


@pytest.mark.parametrize("missing", [True, False])
def test_a_missing_process_table_is_a_doubt(missing: bool, world: World, tmp_path: Path) -> None:
    """Where a Linux doesn't show its mounts, nobody can tell what a folder is; denial still wins."""
    if sys.platform != "linux":
        pytest.skip("other systems have no mount table in /proc")
    proc = tmp_path / "no-proc" if missing else Path("/proc")
    kind = UNKNOWN if missing else PERSONAL
    assert kind is world.session("projects/site", proc=proc).kind
    assert WORK is world.session("projects/work", proc=proc).kind


def test_variables_of_harnesses_are_found(world: World) -> None:
    """An environment's evidence is taken by name, empty values aren't."""
    found = read_call_origin(
        {"PWD": "/p", "CLAUDE_PROJECT_DIR": "/c", "GEMINI_PROJECT_DIR": "", "OTHER_PROJECT_DIR": "/o"},
        cwd=Path("/p"),
        pid=1,
    )
    assert ("/p", {"CLAUDE_PROJECT_DIR": "/c"}) == (found.pwd, dict(found.harness))


# parents


def asked(world: World, before: str, *, cwd: str, **options: object) -> tuple[str, str]:
    """Return kind and reason that a child says whose parent runs in `cwd` and did `before`."""
    child = [sys.executable, "-c", ASK, str(world.home)]
    parent = (
        "import os, subprocess, sys\n"
        f"os.chdir({str(world.home / cwd)!r})\n"
        f"{before}\n"
        f"subprocess.run({child!r}, cwd={str(world.home / 'projects/site')!r}, check=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(HOUSE)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        **options,  # type: ignore[call-overload]
    )
    kind, _, reason = done.stdout.strip().partition("|")
    return kind, reason


linux = pytest.mark.skipif(sys.platform != "linux", reason="parents are found in /proc, which is Linux's")


@linux
def test_a_parent_at_work_makes_it_work(world: World) -> None:
    """`cd elsewhere && roamkb write` from a shell that runs at work is refused; the shell is named."""
    kind, reason = asked(world, "", cwd="projects/work")
    assert "work" == kind
    assert "the parent process python" in reason


@linux
def test_a_parent_in_a_worktree_of_work_makes_it_work(world: World) -> None:
    """A parent's folder is judged like any other."""
    world.repository("projects/work/r")
    world.worktree("projects/work/r", "code/wt")
    assert "work" == asked(world, "", cwd="code/wt")[0]


@linux
@pytest.mark.parametrize("cwd", ["Documents", "", "code"])
def test_a_parent_elsewhere_doesn_t_count(cwd: str, world: World) -> None:
    """A shell that was started in the home, or anywhere but at work, takes nothing away."""
    world.folder("Documents")
    assert "personal" == asked(world, "", cwd=cwd)[0]


@linux
def test_a_daemon_doesn_t_count(world: World) -> None:
    """tmux's or Emacs's server was started somewhere, once; its sessions aren't there."""
    options = {"start_new_session": True, "stdin": subprocess.DEVNULL}
    assert "personal" == asked(world, "", cwd="projects/work", **options)[0]


@linux
@pytest.mark.skipif(shutil.which("tmux") is None, reason="NOT TESTED: a real tmux; apt install tmux")
def test_tmux_s_server_doesn_t_count(world: World) -> None:
    """A window in a personal folder is personal, though the server was started at work."""
    out = world.home / "out"
    socket = ["tmux", "-f", "/dev/null", "-S", str(world.home.parent / "tmux")]
    ask = shlex.join([sys.executable, "-c", ASK, str(world.home)])
    os.mkfifo(out)
    window = f"{ask} > {shlex.quote(str(out))}"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HOUSE), "TERM": "xterm"}
    start = [*socket, "new-session", "-d", "-c", str(world.home / "projects/site"), window]
    subprocess.run(start, cwd=world.home / "projects/work", env=environment, check=True)
    answer = out.read_text()
    assert "personal" == answer.partition("|")[0], answer


@linux
def test_a_session_over_ssh_isn_t_a_daemon(world: World) -> None:
    """An agent without a terminal that somebody listens to counts."""
    options = {"start_new_session": True, "stdin": subprocess.PIPE}
    assert "work" == asked(world, "", cwd="projects/work", **options)[0]


@linux
def test_a_parent_with_a_terminal_counts(world: World) -> None:
    """A shell that leads a session on a terminal is a session, whatever it reads from."""
    terminal = "import fcntl, pty, termios\nours, theirs = pty.openpty()\nfcntl.ioctl(theirs, termios.TIOCSCTTY, 0)\n"
    options = {"start_new_session": True, "stdin": subprocess.DEVNULL}
    assert "work" == asked(world, terminal, cwd="projects/work", **options)[0]


@linux
def test_a_parent_in_a_deleted_work_folder_counts(world: World) -> None:
    """The folder's name is enough."""
    world.folder("projects/work/gone")
    assert "work" == asked(world, "os.rmdir(os.getcwd())", cwd="projects/work/gone")[0]


# what hides the parents


def told_by(world: World, out: Path) -> tuple[str, str]:
    """Return kind and reason that a process has left in a file, once it has."""
    while not (out.exists() and out.read_text().endswith("\n")):
        time.sleep(0.02)
    kind, _, reason = out.read_text().strip().partition("|")
    return kind, reason


def hidden(world: World, command: str, *, cwd: str = "projects/work") -> tuple[str, str]:
    """Return what a process says of itself that a shell in `cwd` has begun by `command`, ASK in it."""
    out = world.home / "told"
    ask = shlex.join([sys.executable, "-c", ASK, str(world.home)])
    inner = f"cd {shlex.quote(str(world.home / 'projects/site'))} && exec {ask} > {shlex.quote(str(out))}"
    subprocess.run(
        ["sh", "-c", command.replace("ASK", shlex.quote(inner))],
        cwd=world.home / cwd,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(HOUSE), "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return told_by(world, out)


linux_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="NOT TESTED: only root may make a namespace here"
)


@linux
@pytest.mark.parametrize(
    "command",
    [
        "setsid -f sh -c ASK",
        "(sh -c 'sleep 0.5; sh -c \"$0\"' ASK &)",
        "setsid -f sh -c 'true; sh -c \"$0\"; true' ASK",
        "nohup sh -c 'sleep 0.5; sh -c \"$0\"' ASK >/dev/null 2>&1 &",
        "setsid -f script -qc ASK /dev/null >/dev/null",
        'setsid -f env -i PATH="$PATH" PYTHONPATH="$PYTHONPATH" sh -c ASK',
        "CODEX_THREAD_ID=0 setsid -f sh -c ASK",
        "CLAUDE_CODE_SESSION_ID=0 GEMINI_SESSION_ID=0 CODEX_THREAD_ID=01a2048a-0000-7000-8000-c2b0d0d76bff "
        "CODEX_SANDBOX_NETWORK_DISABLED=1 setsid -f sh -c ASK",
    ],
)
def test_who_was_left_behind_at_work_is_not_personal(command: str, world: World) -> None:
    """No parent tells of work any more, and none of anything else; one that still does is believed."""
    kind, reason = hidden(world, command)
    assert kind == "work" or ("unknown", True) == (kind, "left behind" in reason), reason


@linux_root
@pytest.mark.parametrize(
    "command",
    [
        "unshare --pid --fork --mount-proc sh -c ASK",
        "unshare --pid --fork --mount-proc setsid sh -c 'sh -c \"$0\"; true' ASK",
        "unshare --pid --fork --mount-proc unshare --pid --fork sh -c ASK",
        "unshare --user --map-root-user --pid --fork --mount-proc sh -c ASK",
        "unshare --mount sh -c 'mount --bind /proc/self /proc/$$ && sh -c \"$0\"; true' ASK",
    ],
)
def test_who_hides_its_parents_is_unknown(command: str, world: World) -> None:
    """A table of processes of its own begins where somebody wants it to begin."""
    kind, reason = hidden(world, f"cd / && {command}")
    assert "unknown" == kind, reason
    assert "table" in reason, reason


_LAYERED_ROOT = """
layers=$(mktemp -d) && mkdir "$layers/a" "$layers/b" "$layers/root" &&
for folder in /*/; do mkdir -p "$layers/a$folder"; done &&
mount -t overlay overlay -o "lowerdir=$layers/a:$layers/b" "$layers/root" &&
for folder in /*/; do [ "$folder" = /proc/ ] || mount --rbind "$folder" "$layers/root$folder"; done &&
mount -t proc proc "$layers/root/proc" && exec chroot "$layers/root" sh -c "$0"
"""


@linux_root
def test_a_layered_root_that_a_command_made_is_no_containers(world: World) -> None:
    """Anybody can mount one in a namespace of his own, in which there is no user but himself."""
    made = f"unshare --user --map-root-user --mount --pid --fork sh -c {shlex.quote(_LAYERED_ROOT)} ASK"
    kind, reason = hidden(world, f"cd / && {made}")
    assert ("unknown", True) == (kind, "table" in reason), reason


@linux_root
def test_another_table_around_ones_own_is_still_read(world: World) -> None:
    """In a new namespace with the old table, parents are there by other numbers."""
    kind, reason = hidden(world, "unshare --pid --fork sh -c ASK; true")
    assert ("work", True) == (kind, "the parent process" in reason), reason


@linux
@pytest.mark.parametrize("command", ["sh -c ASK", "setsid sh -c ASK; true", "setsid -w sh -c ASK </dev/null"])
def test_a_harness_may_begin_a_session_for_each_command(command: str, world: World) -> None:
    """Without a terminal, as long as its parents are there: that is how agents work."""
    assert "personal" == hidden(world, command, cwd="projects/site")[0]


@linux
@pytest.mark.parametrize("start", ["-w", "-f"])
def test_a_harness_without_a_terminal_is_no_daemon(start: str, world: World) -> None:
    """One that a service began at work, or that was left behind there, works there for one session."""
    kind, reason = hidden(world, f"cp /bin/sh claude && setsid {start} ./claude -c 'sh -c \"$0\"; true' ASK")
    assert ("work", True) == (kind, "the parent process claude" in reason), reason


@linux
@pytest.mark.parametrize("mark", ["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"])
def test_codex_s_sandbox_without_a_session_is_unknown(mark: str, world: World) -> None:
    """It hides the parents by design, and the session's id alone says whose it is."""
    site = world.folder("projects/site")
    for environment, kind in (({mark: "1"}, UNKNOWN), ({mark: "1", "CODEX_THREAD_ID": "x"}, PERSONAL)):
        session = read_call_origin(environment, cwd=site, pid=os.getpid())
        assert kind is session_project(session, world.rule()).kind


# mounts


def _may_mount() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "-m", "true"], capture_output=True).returncode == 0


def in_mounts(world: World, mounts: Sequence[tuple[str, str]], cwd: str) -> str:
    """Return the kind of a session in `cwd` after bind mounts of (from, to)."""
    if not _may_mount():
        if os.environ.get("ROAMKB_TEST_ALL") == "1" and os.geteuid() == 0:
            pytest.fail("bind mounts can't be tested: `unshare -m` fails for root")
        pytest.skip("NOT TESTED: bind mounts; run the suite as root, or allow `unshare -m`")
    steps = [f"mount --bind '{world.home / source}' '{world.folder(target)}'" for source, target in mounts]
    script = " && ".join([*steps, f"cd '{world.home / cwd}'", 'exec "$@"'])
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", ASK, str(world.home)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(HOUSE)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.partition("|")[0]


MOUNTS = [
    ("a bind mount of the work root is work", [("projects/work", "code/m")], "code/m", "work"),
    ("a folder in such a mount is work", [("projects/work", "code/m")], "code/m/a", "work"),
    ("a bind mount of a folder in the work root is work", [("projects/work/a", "code/m")], "code/m", "work"),
    ("a name with a blank is read right", [("projects/work/a", "code/m n")], "code/m n", "work"),
    (
        "a bind mount of a bind mount is work",
        [("projects/work/a", "mid"), ("mid", "code/m")],
        "code/m",
        "work",
    ),
    ("a bind mount over the work root is work", [("code/x", "projects/work/a")], "projects/work/a", "work"),
    ("what is bound into work is work everywhere", [("code/x", "projects/work/a")], "code/x", "work"),
    ("a mount that contains the work root is unknown", [("projects", "code/m")], "code/m", "unknown"),
    ("a project with work mounted in it is unknown", [("projects/work/a", "code/x/m")], "code/x", "unknown"),
    ("a bind mount of a personal folder is personal", [("projects/site", "code/m")], "code/m", "personal"),
    ("a bind mount from elsewhere under a parent is personal", [("disk", "code/m")], "code/m", "personal"),
    ("a bind mount from a parent to elsewhere is unknown", [("code/x", "desk")], "desk", "unknown"),
]


@linux
@pytest.mark.parametrize(("reason", "mounts", "cwd", "kind"), MOUNTS, ids=[case[0] for case in MOUNTS])
def test_bind_mounts(reason: str, mounts: Sequence[tuple[str, str]], cwd: str, kind: str, world: World) -> None:
    """Neither path nor link tells of a bind mount; device, inode and the mount table do."""
    mk("projects/work/a", "code/x", "disk")(world)
    assert (kind, reason) == (in_mounts(world, mounts, cwd), reason)
