"""Checks of this installation, with a fix for each fault; only the journal is changed.

Nothing stops the checkup: what can't be looked at is a fault of that one check.
"""

import shlex
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from roamkb.boundary.store.installed_rule import missing_roots
from roamkb.boundary.store.knowledge_bases import select_kb
from roamkb.context.store.injections import recent_hook_errors
from roamkb.core.errors import BadRule
from roamkb.core.errors import DiskError
from roamkb.core.errors import LostLines
from roamkb.core.gitignore import literal_path
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase
from roamkb.core.text import one_line
from roamkb.fs.append import read_lines
from roamkb.fs.git_index import tracked_files_below
from roamkb.fs.package_manager import installed_version
from roamkb.fs.package_manager import uninstall_command
from roamkb.fs.worktrees import linked_worktrees
from roamkb.install.checks import doctor_proof
from roamkb.install.checks.doctor_harnesses import check_harnesses
from roamkb.install.checks.doctor_notes import MAX_CLOCK_LEAD
from roamkb.install.checks.doctor_notes import check_notes
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import DoctorReport
from roamkb.install.checks.doctor_report import build_check
from roamkb.install.checks.doctor_report import join_first
from roamkb.install.checks.doctor_report import run_check
from roamkb.install.checks.doctor_report import run_checks
from roamkb.install.store import machine as checkup
from roamkb.install.store.machine import DoctorContext
from roamkb.log.jsonl import LearningLine
from roamkb.log.jsonl import read_learnings
from roamkb.log.share import share
from roamkb.log.store import log_copies
from roamkb.log.store.project_log import LOG_FOLDER
from roamkb.log.store.project_log import Log
from roamkb.log.trust.store.trust_lists import read_trust_lists
from roamkb.spool.call import describe_waiting
from roamkb.spool.store.waiting_calls import waiting_calls

_UNSEEN_FIX = (
    "nobody vouches for those, and they aren't shown: `roamkb init` at a terminal takes them as nobody's word, "
    "and `roamkb trust add` trusts a digest or a key"
)

__all__ = ["DoctorContext", "doctor"]


def doctor(context: DoctorContext) -> DoctorReport:
    """Run all checks in order and return their report; it never raises."""
    checks = [
        run_check("versions", lambda: _check_versions(context.version)),
        run_check("command", lambda: _check_command(context)),
        run_check("rule", lambda: _check_rule(context.rule)),
    ]
    if isinstance(context.rule, Rule):
        rule = context.rule
        checks += [
            run_check("work roots", lambda: _check_work_roots(rule)),
            run_check("project parents", lambda: _check_project_parents(rule)),
        ]
    checks += [
        run_check("project", lambda: _check_project(context.project)),
        run_check("state folder", lambda: _check_private_folder(context.state.state)),
        run_check("cache folder", lambda: _check_private_folder(context.state.cache)),
        *check_harnesses(context),
    ]
    if context.log is not None:
        checks += run_checks("project's log", _log_checks(context, context.log))
    if isinstance(context.rule, Rule):
        checks += run_checks("knowledge base", check_notes(context, context.rule))
        for other in context.rule.others:
            checks += run_checks(
                f"{other.name}: knowledge base", _check_named_notes(context, select_kb(context.rule, other.name))
            )
    return DoctorReport(checks=tuple(checks))


def _log_checks(context: DoctorContext, log: Log) -> Iterator[DoctorCheck]:
    """Yield the checks of the project's log, and of what only one that counts has."""
    yield run_check("project's log", lambda: _check_log(log))
    yield run_check("trust", lambda: _check_trust(context))
    yield run_check("approvers", lambda: doctor_proof.check_approvers(context))
    if log.shared_settings.exists():
        yield run_check("shared log", lambda: _check_shared(log))
    if log.is_adopted:
        now = context.now.timestamp()
        yield run_check("log's lines", lambda: _check_log_lines(log, context.project.kind, now))
        yield run_check("approvals", lambda: doctor_proof.check_approvals(context, log))
        yield run_check("hooks", lambda: _check_hooks(log.local_folder, now))
        yield run_check("waiting calls", lambda: _check_waiting_calls(log.local_folder, context.state.state, now))


def _check_versions(version: str) -> DoctorCheck:
    python = ".".join(map(str, sys.version_info[:3]))
    sqlite = checkup.fts5_version()
    detail = f"roamkb {version}, Python {python}, SQLite {sqlite or 'without FTS5'}"
    fix = "" if sqlite else "install a Python whose sqlite3 has FTS5 (those of python.org and Debian do)"
    return DoctorCheck(ok=sqlite is not None, detail=detail, fix=fix)


def _check_command(context: DoctorContext) -> DoctorCheck:
    """Check for a command on the PATH, and for others there or where hooks look for theirs."""
    folder = context.home / ".local" / "bin"
    if not checkup.find_commands("roamkb", context.search_path):
        detail, fix = "no command roamkb on the PATH", "run `make install`"
        if not checkup.is_on_path(folder, context.search_path):
            detail += f", and {folder} isn't on it"
            fix += ', and put export PATH="$HOME/.local/bin:$PATH" into your ~/.profile'
        return DoctorCheck(ok=False, detail=detail, fix=fix)
    return _check_installations(checkup.find_commands("roamkb", f"{context.search_path}:{folder}"))


def _check_installations(programs: tuple[Path, ...]) -> DoctorCheck:
    """Check that programs are of one version, as far as their environments tell."""
    environments = [checkup.environment_of(program) for program in programs]
    versions = [installed_version(environment) for environment in environments]
    first, *others = (
        f"{program} ({version or 'of an unknown version'})" for program, version in zip(programs, versions, strict=True)
    )
    if not others:
        return DoctorCheck(ok=True, detail=f"roamkb is {programs[0]}")
    removals = [
        f"`{uninstall_command(environment=environment)}`"
        for environment, version in zip(environments[1:], versions[1:], strict=True)
        if version
    ]
    return DoctorCheck(
        ok=len({*filter(None, versions)}) < 2,
        detail=f"a shell runs {first}; there is also {join_first(others)}",
        fix="; ".join(["keep the one that you update", *(f"{removal} takes the other away" for removal in removals)]),
        proved=False,
    )


def _check_rule(rule: Rule | BadRule) -> DoctorCheck:
    if isinstance(rule, BadRule):
        hint = f"until then every project is unknown and may not write; {rule.hint}"
        return DoctorCheck(ok=False, detail=rule.message, fix=hint)
    return DoctorCheck(ok=True, detail=f"{rule.source} names {', '.join(map(str, rule.all_folders))}")


def _check_named_notes(context: DoctorContext, rule: Rule) -> Iterator[DoctorCheck]:
    """Yield the checks of a knowledge base with a name, which stands before each check's."""
    yield DoctorCheck(
        name=f"{rule.kb_name}: project parents",
        ok=True,
        detail=join_first(rule.project_parents) or "none: no project may write there",
        proved=False,
    )
    for check in check_notes(replace(context, rule=rule), rule):
        yield replace(check, name=f"{rule.kb_name}: {check.name}")


def _check_work_roots(rule: Rule) -> DoctorCheck:
    if not rule.work_roots:
        return DoctorCheck(ok=True, detail="none: nothing is work", proved=False)
    return build_check(
        (f"{folder} isn't on this machine" for folder in missing_roots(rule)),
        fine=join_first(rule.work_roots),
        fix=f"see that it is spelt right in {rule.source}; leave it if only another machine has it",
    )


def _check_project_parents(rule: Rule) -> DoctorCheck:
    positive_entries = tuple(entry for entry in rule.project_parents if not entry.startswith("!"))
    present_entries = tuple(
        entry for entry in positive_entries if not (path := literal_path(entry)) or checkup.path_exists(Path(path))
    )
    absent_entries = tuple(entry for entry in positive_entries if entry not in present_entries)
    absent = f"; not on this machine: {join_first(absent_entries)}" if absent_entries else ""
    return DoctorCheck(
        ok=bool(present_entries),
        detail=f"{join_first(present_entries)}{absent}"
        if present_entries
        else "none is on this machine, so that no project may write",
        fix="" if present_entries else f"`roamkb install --project-parent DIR` adds one to {rule.source}",
    )


def _check_project(project: Project) -> DoctorCheck:
    """Return a check that reports this session's project; it is never a fault."""
    permission = "may write" if project.kind is ProjectKind.PERSONAL else "may not write"
    detail = f"{project.kind.value}, {permission}: {project.reason}"
    return DoctorCheck(ok=True, detail=detail, fix=project.hint)


def _check_log(log: Log) -> DoctorCheck:
    """Check that the project's log can be used and that git tracks none of its local state."""
    log.check_folders()
    if tracked := tracked_files_below(log.ignored):
        return DoctorCheck(
            ok=False,
            detail=(
                "git tracks local state:"
                f" {join_first([one_line(f'{log.ignored}/{tracked_path}') for tracked_path in tracked])}"
            ),
            fix=(
                "nobody else's is read; `git rm -r --cached .roamkb/local` takes it out of git, and "
                "`git log -- .roamkb/local` says who put it there"
            ),
        )
    if missing := log.count_missing():
        error = LostLines(log.home, missing)
        return DoctorCheck(ok=False, detail=error.message, fix=error.hint)
    if log.is_adopted:
        log.require_files()
        worktrees = linked_worktrees(str(log.home))
        shared = f", shared with {count_phrase(len(worktrees), 'worktree')}" if worktrees else ""
        detail = f"{log.folder} counts on this machine{shared}{_describe_vouchers(log)}"
        counts = ((one_line(str(path)), _count_unshared(log, path)) for path in _own_logs(log, worktrees))
        early = [(path, count) for path, count in counts if count]
        if log.unseen_count or not early:
            fix = _UNSEEN_FIX if log.unseen_count else ""
            return DoctorCheck(ok=True, detail=detail, fix=fix, proved=not fix)
        told = (f"{count_phrase(number, 'learning')} in {path} isn't in the shared log" for path, number in early)
        return DoctorCheck(
            ok=True,
            detail=f"{detail}; {join_first([*told])}",
            fix=f"`roamkb ingest --file {early[0][0]}` takes what was learned there before the log was shared",
            proved=False,
        )
    if log.has_lines:
        fix = "look at its knowledge.jsonl, and `roamkb init` takes it; until then nothing of it is said"
        detail = f"{log.folder} came with the project, and isn't adopted"
        return DoctorCheck(ok=True, detail=detail, fix=fix, proved=False)
    return DoctorCheck(ok=True, detail="none", fix="`roamkb init` makes one", proved=False)


def _describe_vouchers(log: Log) -> str:
    """Return by whom a log counts that no human adopted, and what of it doesn't, as the end of a sentence."""
    vouchers, unseen = [one_line(voucher) for voucher in log.vouchers if voucher], log.unseen_count
    by = f" by {join_first(vouchers)}" if vouchers else ""
    return by + (f", but {count_phrase(unseen, 'line')} of it that came with the project" if unseen else "")


def _check_trust(context: DoctorContext) -> DoctorCheck:
    """Check the lists of digests and keys by which a log counts that came with its project."""
    entries, faults = read_trust_lists(context.account_home)
    trusted = [
        f"{entry.name} ({entry.source}{', expired' if entry.is_expired(context.now.date()) else ''})"
        for entry in entries
    ]
    return build_check(
        map(one_line, faults),
        fine=join_first(list(map(one_line, trusted)))
        or "nobody's: you are asked about each log that came with a project",
        fix="root's list and its folders are root's alone (`chmod go-w`), the user's is written by `roamkb trust`",
    )


def _check_shared(log: Log) -> DoctorCheck:
    """Check what this machine knows of the service that the log is shared by; the service isn't asked."""
    report = share.share_status(log)
    alarms = [f"{count_phrase(count, 'line')} put aside ({one_line(reason)})" for reason, count in report.aside]
    faults = [*([one_line(report.trouble)] if report.trouble else []), *alarms]
    return build_check(
        faults,
        fine=f"as {report.project} by the {report.kind} service {report.service}",
        fix=f"look at {one_line(str(report.aside_file))}" if alarms else "`roamkb share status` says more",
    )


def _own_logs(log: Log, worktrees: Sequence[str]) -> list[Path]:
    """Return where worktrees have a log of their own: from before it was shared, or as git checked it out."""
    return [path for worktree in worktrees if (path := Path(worktree) / LOG_FOLDER / log.knowledge.name).is_file()]


def _count_unshared(log: Log, path: Path) -> int:
    """Return how many learnings of the log at `path` the shared one has neither as they are nor forgotten."""
    contents = log.read_contents()
    known = {learning.content for learning in (*contents.learnings, *contents.archived_learnings)}
    try:
        lines = read_learnings(read_lines(path))
    except DiskError:
        # such as a link, which a branch may bring: nothing that counts was learned there
        return 0
    read = (line.learning for line in lines if isinstance(line, LearningLine))
    return len({own.content for own in read if own.content not in known and not contents.tombstones.covers(own)})


def _check_log_lines(log: Log, kind: ProjectKind, now: float) -> DoctorCheck:
    """Check the log for lines that can't be read, are of a newer version, dated ahead or put aside; report its size."""
    contents = log.read_contents()
    learnings = (*contents.learnings, *contents.archived_learnings)
    faults = [f"{bad.path.name}:{bad.line}: {bad.reason}" for bad in contents.line_faults if not bad.is_newer]
    fixes = ["nothing is lost of the other lines; `git log -p .roamkb` says what the torn one was"] if faults else []
    if newer := sum(bad.is_newer for bad in contents.line_faults):
        faults.append(f"{count_phrase(newer, 'line')} {'is' if newer == 1 else 'are'} of a newer version")
        fixes.append("update roamkb on this machine: newer lines are kept, and newer events don't count until then")
    times = (*(learning.ts for learning in learnings), *(event.ts for event in contents.events))
    if ahead := sum(ts > now + MAX_CLOCK_LEAD for ts in times):
        faults.append(f"{count_phrase(ahead, 'line')} {'is' if ahead == 1 else 'are'} dated ahead of this clock")
        fixes.append("set the clock of the machine that wrote it, or of this one: it counts as the latest until then")
    if copies := [*log_copies.find_copies(log, kind)]:
        faults += [
            f"{one_line(copy.path.name)} has {count_phrase(len(copy.lacking), 'line')} that the log lacks"
            + (f"; {one_line(copy.obstacle)}" if copy.obstacle else "")
            for copy in copies
        ]
        command = f"roamkb conflicts {shlex.quote(str(copies[0].path))} --adopt"
        fixes.append(f"`{command}` adds them as nobody's word and removes the copy; {log_copies.SYNCING_FIX}")
    size = sum(page.size for page in contents.pages)
    counts = f"{count_phrase(len(learnings), 'learning')}, {count_phrase(len(contents.events), 'event')}"
    return build_check(faults, fine=f"{counts} in {size:,} bytes", fix="; ".join(fixes))


def _check_hooks(local: Path, now: float) -> DoctorCheck:
    """Check for recent failures of this project's hooks."""
    return build_check(
        recent_hook_errors(local, now=now),
        fine="none of this project's failed in the last week",
        fix="sessions went on without them; please report a line that names a place in roamkb's code",
    )


def _check_waiting_calls(local: Path, state: Path, now: float) -> DoctorCheck:
    """Check for calls of this project that wait for a hook to carry them out."""
    calls = waiting_calls(local, state)
    if not calls:
        return DoctorCheck(ok=True, detail="none: what agents asked for is done")
    is_stale = any(call.is_stale(now) for call in calls)
    detail, fix = describe_waiting(calls, now=now), "what wasn't done can be called again" if is_stale else ""
    return DoctorCheck(ok=not is_stale, detail=detail, fix=fix, proved=False)


def _check_private_folder(folder: Path) -> DoctorCheck:
    fault = checkup.folder_fault(folder)
    is_mounted_read_only = fault is not None and checkup.is_mounted_read_only(folder)
    advice = "mount it writable, or leave the sandbox" if is_mounted_read_only else "`chmod 700` it, or see who owns it"
    return build_check(
        filter(None, [fault]), fine=str(folder), fix=f"{advice}; roamkb keeps what is private in {folder}"
    )
