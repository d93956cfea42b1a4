"""What is wrong with this installation, and what to do about it; nothing is changed but the journal.

Nothing stops the checkup: what can't be looked at is a fault of that one check.
"""

import sys
from pathlib import Path

from roamkb.boundary.store.folder_evidence import missing_roots
from roamkb.context.store.injections import troubles
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import literal_path
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.text import shown
from roamkb.fs.git_index import tracked_below
from roamkb.install.doctor_harnesses import checks_of_harnesses
from roamkb.install.doctor_notes import checks_of_notes
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import DoctorReport
from roamkb.install.doctor_report import check
from roamkb.install.doctor_report import listed
from roamkb.install.doctor_report import looked
from roamkb.install.store import machine as checkup
from roamkb.install.store.machine import DoctorContext
from roamkb.log.store.project_log import Log
from roamkb.spool.call import told_waiting
from roamkb.spool.store.waiting_calls import waiting_calls

__all__ = ["DoctorContext", "doctor"]


def doctor(patient: DoctorContext) -> DoctorReport:
    """Return what was looked at, in order; it never raises."""
    checks = [
        looked("versions", lambda: _versions(patient.version)),
        looked("command", lambda: _command(patient)),
        looked("rule", lambda: _rule(patient.rule)),
    ]
    if isinstance(patient.rule, Rule):
        rule = patient.rule
        checks += [
            looked("work roots", lambda: _work_roots(rule)),
            looked("project parents", lambda: _project_parents(rule)),
        ]
    checks += [
        looked("project", lambda: _project(patient.project)),
        looked("state folder", lambda: _private("state folder", patient.state.state)),
        looked("cache folder", lambda: _private("cache folder", patient.state.cache)),
        *checks_of_harnesses(patient),
    ]
    if patient.log is not None:
        log = patient.log
        checks.append(looked("project's log", lambda: _log(log)))
        if log.is_there:
            now = patient.now.timestamp()
            checks.append(looked("hooks", lambda: _hooks(log.local, now)))
            checks.append(
                looked("waiting calls", lambda: _waiting_calls(log.local, patient.state.state, now))
            )
    if isinstance(patient.rule, Rule):
        checks += checks_of_notes(patient, patient.rule)
    return DoctorReport(checks=tuple(checks))


def _versions(version: str) -> DoctorCheck:
    python = ".".join(map(str, sys.version_info[:3]))
    sqlite = checkup.fts5_version()
    detail = f"roamkb {version}, Python {python}, SQLite {sqlite or 'without FTS5'}"
    fix = "" if sqlite else "install a Python whose sqlite3 has FTS5 (those of python.org and Debian do)"
    return DoctorCheck(name="versions", ok=sqlite is not None, detail=detail, fix=fix)


def _command(patient: DoctorContext) -> DoctorCheck:
    folder = patient.home / ".local" / "bin"
    found = checkup.command_place("roamkb", patient.search_path)
    if found:
        return DoctorCheck(name="command", ok=True, detail=f"roamkb is {found}")
    detail, fix = "no command roamkb on the PATH", "run `make install`"
    if not checkup.is_on_path(folder, patient.search_path):
        detail += f", and {folder} isn't on it"
        fix += ', and put export PATH="$HOME/.local/bin:$PATH" into your ~/.profile'
    return DoctorCheck(name="command", ok=False, detail=detail, fix=fix)


def _rule(rule: Rule | BadRule) -> DoctorCheck:
    if isinstance(rule, BadRule):
        hint = "until then every project is unknown and may not write; `make install` puts the rule there"
        return DoctorCheck(name="rule", ok=False, detail=rule.message, fix=hint)
    return DoctorCheck(name="rule", ok=True, detail=f"{rule.source} names {rule.kb}")


def _work_roots(rule: Rule) -> DoctorCheck:
    if not rule.work_roots:
        return DoctorCheck(name="work roots", ok=True, detail="none: nothing is work", proved=False)
    return check(
        "work roots",
        (f"{folder} isn't on this machine" for folder in missing_roots(rule)),
        fine=listed(rule.work_roots),
        fix=f"see that it is spelt right in {rule.source}; leave it if only another machine has it",
    )


def _project_parents(rule: Rule) -> DoctorCheck:
    given = tuple(entry for entry in rule.project_parents if not entry.startswith("!"))
    here = tuple(entry for entry in given if not (path := literal_path(entry)) or checkup.exists(Path(path)))
    return DoctorCheck(
        name="project parents",
        ok=bool(here),
        detail=listed(here) if here else "none is on this machine, so that no project may write",
        fix="" if here else f"`roamkb install --project-parent DIR` adds one to {rule.source}",
    )


def _project(project: Project) -> DoctorCheck:
    """Return what this session's project is: worth knowing, and no fault either way."""
    what = "may write" if project.kind is ProjectKind.PERSONAL else "may not write"
    detail = f"{project.kind.value}, {what}: {project.reason}"
    return DoctorCheck(name="project", ok=True, detail=detail, fix=project.hint)


def _log(log: Log) -> DoctorCheck:
    """Return what keeps the project's log from being used, and what git should not have of it."""
    name = "project's log"
    log.check_folders()
    if tracked := tracked_below(log.ignored):
        return DoctorCheck(
            name=name,
            ok=False,
            detail=f"git tracks local state: {listed([shown(f'{log.ignored}/{one}') for one in tracked])}",
            fix="nobody else's is read; `git rm -r --cached .roamkb/local` takes it out of git, and "
            "`git log -- .roamkb/local` says who put it there",
        )
    if log.is_there:
        return DoctorCheck(name=name, ok=True, detail=f"{log.folder} counts on this machine")
    if log.has_lines:
        fix = "look at its knowledge.jsonl, and `roamkb init` takes it; until then nothing of it is said"
        said = f"{log.folder} came with the project, and isn't adopted"
        return DoctorCheck(name=name, ok=True, detail=said, fix=fix, proved=False)
    return DoctorCheck(name=name, ok=True, detail="none", fix="`roamkb init` makes one", proved=False)


def _hooks(local: Path, now: float) -> DoctorCheck:
    """Return what lately went wrong with the hooks of this project."""
    return check(
        "hooks",
        troubles(local, now=now),
        fine="none of this project's failed in the last week",
        fix="sessions went on without them; please report it, the line names the place in roamkb's code",
    )


def _waiting_calls(local: Path, state: Path, now: float) -> DoctorCheck:
    """Return which calls of this project wait for a hook to carry them out."""
    name, calls = "waiting calls", waiting_calls(local, state)
    if not calls:
        return DoctorCheck(name=name, ok=True, detail="none: what agents asked for is done")
    is_stale = any(call.is_stale(now) for call in calls)
    said, fix = told_waiting(calls, now=now), "what wasn't done can be called again" if is_stale else ""
    return DoctorCheck(name=name, ok=not is_stale, detail=said, fix=fix, proved=False)


def _private(name: str, folder: Path) -> DoctorCheck:
    fault = checkup.folder_fault(folder)
    return check(
        name,
        filter(None, [fault]),
        fine=str(folder),
        fix=f"`chmod 700` it, or see who owns it; roamkb keeps what is private in {folder}",
    )
