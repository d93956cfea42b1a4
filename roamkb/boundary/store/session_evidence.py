"""Evidence of where a session works: each folder that its call, its environment or a parent names."""

from collections.abc import Iterator
from posixpath import isabs

from roamkb.boundary.policy import strictest_project
from roamkb.boundary.policy import with_evidence
from roamkb.boundary.store import processes
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.folder_evidence import RuleOnDisk
from roamkb.boundary.store.folder_evidence import is_same_folder
from roamkb.core.errors import BadRule
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace

#: Of a session that was there once.
EARLIER_WORK = Project(
    kind=ProjectKind.WORK,
    root=None,
    reason="its session was in a work project before",
    hint="begin another session in the project itself",
)


def session_project(session: CallOrigin, rule: Rule | BadRule) -> Project:
    """Return the strictest judgement of all evidence on where this session works.

    `$PWD` counts in full where it names the current folder. Where it doesn't, it is what
    a parent left behind, and like a parent's folder it can only make the project work.
    Only more parents than can be looked at, or what hides them, make it unknown. `$OLDPWD` doesn't count: who
    leaves work for a project of their own, in the same shell, isn't at work any more.
    """
    rule_on_disk = RuleOnDisk(rule, session.proc)
    evidence = (*_judge_named_folders(session, rule_on_disk), *_judge_inherited(session, rule_on_disk))
    return replace(strictest_project(evidence), named_by=session.named_by)


def _judge_named_folders(session: CallOrigin, rule_on_disk: "RuleOnDisk") -> Iterator[Project]:
    """Yield the judgement of every folder that the call or its environment names as its own."""
    cwd = str(session.cwd) if session.cwd is not None else None
    if session.project is not None:
        yield rule_on_disk.judge_path(str(session.project), base=cwd)
    if cwd is None:
        hint = "change into a folder that exists"
        yield Project(kind=ProjectKind.UNKNOWN, root=None, reason="the current folder was deleted", hint=hint)
    else:
        yield rule_on_disk.judge_path(cwd)
    if session.pwd and cwd and session.pwd != cwd and is_same_folder(session.pwd, cwd):
        yield with_evidence(rule_on_disk.judge_path(session.pwd, base=cwd), "$PWD")
    for name, folder in session.harness.items():
        yield with_evidence(rule_on_disk.judge_path(folder, base=cwd), f"${name}")


def _judge_inherited(session: CallOrigin, rule_on_disk: "RuleOnDisk") -> Iterator[Project]:
    """Yield the work projects among the folders that the session's parents run in."""
    for label, folder in _left_behind_folders(session):
        project = rule_on_disk.judge_path(folder)
        if project.kind is ProjectKind.WORK:
            yield with_evidence(project, label)
    if session.was_at_work:
        yield EARLIER_WORK
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
