"""Checks of `doctor` for the notes and the programs that work on them."""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roamkb.context.suggestions import MOST_UNINDEXED
from roamkb.core.errors import NotWritable
from roamkb.core.errors import RoamkbError
from roamkb.core.model import Rule
from roamkb.core.text import count_phrase
from roamkb.install.checks.doctor_org import check_org
from roamkb.install.checks.doctor_report import DoctorCheck
from roamkb.install.checks.doctor_report import build_check
from roamkb.install.checks.doctor_report import join_first
from roamkb.install.checks.doctor_report import run_check
from roamkb.install.checks.emacs_exclusions import EXCLUDING_VARIABLE
from roamkb.install.checks.emacs_exclusions import read_exclusions
from roamkb.install.snippets import STIGNORE_LINES
from roamkb.install.store import machine as checkup
from roamkb.install.store.machine import DoctorContext
from roamkb.install.store.machine import EmacsLock
from roamkb.install.store.machine import LeftoverFiles
from roamkb.journal.names import TOO_LARGE
from roamkb.journal.store.change_traces import find_change_traces
from roamkb.journal.store.journal import Journal
from roamkb.journal.store.syncthing import find_syncthing_folder
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import conflicts
from roamkb.kb.hygiene import duplicate_ids
from roamkb.kb.notes.store.init_files import read_init_files
from roamkb.kb.notes.store.notes import NOT_UTF8
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import NotesContents
from roamkb.kb.search.index.index import Index
from roamkb.org.agent_node import is_agent_node
from roamkb.org.emacs_settings import find_strings
from roamkb.org.emacs_settings import find_words
from roamkb.org.orgparse_check import read_by_orgparse

#: Clocks that a network sets differ by milliseconds; two minutes are a clock that nobody sets.
MAX_CLOCK_LEAD = 120.0

_COPY_MARK = "sync-conflict"
#: What to do about notes that org-roam leaves out by a setting, and agents find.
_SEEN_BY_AGENTS = (
    "what agents shouldn't find either has to lie in a folder whose name begins with a dot, or outside of the notes"
)
_NO_INIT_FILE = "no init file of Emacs was found here"
_EMACS_SETTING = (
    r"""(setq org-roam-file-exclude-regexp '("\\.sync-conflict-" """
    r""""\\(^\\|/\\)\\.st\\(versions\\|folder\\)/" "\\(^\\|/\\)data/"))"""
)


def check_notes(context: DoctorContext, rule: Rule) -> Iterator[DoctorCheck]:
    """Yield the checks of the notes; only the failure where they can't be read."""
    notes = Notes(rule.kb, todo_lines=rule.todo_lines)
    try:
        contents = notes.read_all()
        copies = conflicts(notes, find_nodes=lambda _: contents.node_pairs()).copies
        leftover_files = checkup.find_leftovers(rule.kb, now=context.now.timestamp())
    except RoamkbError as error:
        yield DoctorCheck(name="knowledge base", ok=False, detail=error.message, fix=error.hint)
        return
    yield _check_size(rule, contents)
    check_functions: tuple[tuple[str, Callable[[], DoctorCheck]], ...] = (
        ("writable", lambda: _check_writable(rule.kb)),
        ("readable", lambda: _check_readable(notes, contents)),
        ("seen alike", lambda: _check_same_view(notes, contents, context.home)),
        ("indexable", lambda: _check_indexable(notes, contents)),
        ("other readers", lambda: _check_other_readers(notes, contents)),
        ("index", lambda: _check_index(context, notes)),
        ("journal", lambda: _check_journal(context, rule.kb)),
        ("ids", lambda: _check_ids(notes, contents)),
        ("conflict copies", lambda: _check_conflict_copies(copies)),
        ("lost notes", lambda: _check_lost_notes(copies)),
        ("git conflicts", lambda: _check_git_conflicts(notes, contents)),
        ("names", lambda: _check_names(contents)),
        ("clocks", lambda: _check_clocks(contents, context.now.timestamp())),
        ("locks", lambda: _check_locks(context, leftover_files)),
        ("leftovers", lambda: _check_leftovers(context, rule, leftover_files)),
        ("stignore", lambda: _check_stignore(rule.kb)),
        ("Syncthing", lambda: _check_syncthing(rule.kb, context.home)),
        ("Emacs", lambda: _check_emacs(context.home)),
    )
    for name, run in check_functions:
        yield run_check(name, run)
    yield from check_org(notes, contents, home=context.home)


def _check_size(rule: Rule, contents: NotesContents) -> DoctorCheck:
    notes = count_phrase(len(contents.notes), "note")
    nodes = count_phrase(sum(1 for _ in contents.node_pairs()), "node")
    detail = f"{rule.kb}: {notes}, {nodes}"
    return DoctorCheck(name="knowledge base", ok=True, detail=detail)


def _check_writable(kb: Path) -> DoctorCheck:
    return build_check(
        filter(None, [checkup.write_fault(kb)]),
        fine="notes can be written there",
        fix="searching works; to have notes written, mount it writable, or see whose it is and its mode; "
        "a harness's sandbox has to let it be written",
    )


def _check_index(context: DoctorContext, notes: Notes) -> DoctorCheck:
    """Check how many notes are indexed as they are; a search reads the others first."""
    index = Index(notes, context.state.cache_folder(notes.kb), version=context.version)
    count, unindexed = len(notes.kb_walk.files), index.count_unread_notes()
    is_ready = unindexed <= MOST_UNINDEXED
    return DoctorCheck(
        ok=is_ready,
        detail=f"{count - unindexed} of {count_phrase(count, 'note')} indexed",
        fix="" if is_ready else "`roamkb index` reads the others; until then sessions are told of no note",
    )


def _check_journal(context: DoctorContext, kb: Path) -> DoctorCheck:
    """Record the notes' state once more; check the journal's copies and unexplained changes."""
    folder = context.state.journal_folder(kb)
    if folder is None:
        return DoctorCheck(ok=False, detail="it has no place", fix="keep the state folder out of the notes")
    journal = Journal(kb=kb, folder=folder, clock=context.now.timestamp)
    traces = find_change_traces(journal, home=context.home)
    damaged = 0
    with suppress(NotWritable):
        # in an agent's sandbox only what was looked at before can be told
        journal.take_look(tracer=traces)
        damaged = journal.drop_damaged_copies()
        if damaged:
            journal.take_look(tracer=traces)
    if not journal.is_there:
        return DoctorCheck(ok=False, detail=f"{folder} can't be written", fix="run doctor outside of a sandbox")
    holdings = journal.read_holdings()
    unexplained = [change for change in journal.changes_since(journal.last_shown_moment()) if not change.is_explained]
    faults = [
        *(
            f"{count_phrase(damaged, 'copy', 'copies')} damaged; what is still there was copied again"
            for _ in range(min(damaged, 1))
        ),
        *(f"{path.name} was put aside, damaged" for path in journal.damaged_files),
        *(f"{count_phrase(holdings.waiting, 'file')} can't be read steadily" for _ in range(min(holdings.waiting, 1))),
        *(f"{os.fsdecode(path)}: {why}" for path, why in holdings.unkept if why != TOO_LARGE),
        *(f"{os.fsdecode(change.path)} {change.what}, and nothing explains it" for change in unexplained),
    ]
    return build_check(
        faults,
        fine=(
            f"{count_phrase(holdings.entries, 'file')} can come back, by"
            f" {count_phrase(holdings.contents, 'copy', 'copies')} in {holdings.stored:,} bytes"
        ),
        fix="`roamkb journal show` says what changed, and `roamkb journal restore` brings it back",
    )


def _check_other_readers(notes: Notes, contents: NotesContents) -> DoctorCheck:
    """Check that another org reader finds the same id, title and tags in agent nodes."""
    faults = (
        str(notes.note_path(note))
        for note, node in contents.node_pairs()
        if is_agent_node(note, node)
        and (reading := read_by_orgparse(note.text))
        and (reading.id, reading.title, reading.tags) != (node.id, node.title, frozenset(node.tags))
    )
    return build_check(
        faults,
        fine="orgparse reads the agent nodes as roamkb does",
        fix="look at the head of the note: a line of it may be damaged",
    )


def _check_readable(notes: Notes, contents: NotesContents) -> DoctorCheck:
    faults = {(notes.note_path(note), note.fault) for note in contents.notes}
    unread = [
        entry for entry in contents.skipped if (entry.path, entry.reason) not in faults and not entry.is_elsewhere
    ]
    fixes = {
        "open it in Emacs; C-x RET f utf-8 saves another encoding as UTF-8"
        if entry.reason == NOT_UTF8
        else "see whose it is, its mode and its name; a note is a file that you may read"
        for entry in unread
    }
    return build_check(
        (f"{entry.path} {entry.reason}" for entry in unread),
        fine="every note can be read as UTF-8 text",
        fix="; ".join(sorted(fixes)),
    )


def _check_same_view(notes: Notes, contents: NotesContents, home: Path) -> DoctorCheck:
    """Check that Emacs and agents see the same notes, as far as init files say what org-roam leaves out."""
    exclusions = read_exclusions(home)
    outside = [str(entry.path) for entry in contents.kb_walk.unreadable if entry.is_elsewhere]
    hidden = (file for file in checkup.find_unread(notes.kb) if not exclusions.leaves_out(file))
    unread = [*outside, *hidden]
    unseen = [file.file for file in contents.kb_walk.files if exclusions.leaves_out(file.file)]
    is_all = exclusions.leaves_out(f"{notes.kb.resolve()}/")
    differences: list[str] = []
    fixes: list[str] = []
    if unread:
        differences.append(f"org-roam shows its human what agents never see: {join_first(unread)}")
        fixes.append(
            "what agents should see has to lie in the folder itself, under a name without a leading dot; "
            "org-roam-file-exclude-regexp hides the rest from org-roam, too"
        )
    if is_all or unseen:
        affected_notes = "all notes, before 2.3, since the folder's own path holds it" if is_all else join_first(unseen)
        differences.append(f"org-roam {exclusions.leaving}, and agents see it: {affected_notes}")
        fixes.append(
            _SEEN_BY_AGENTS
            if exclusions.setter
            else f"{_EMACS_SETTING} leaves out folders of that name alone, as roamkb does"
        )
    if exclusions.is_partly_read:
        differences.append(
            f"{EXCLUDING_VARIABLE} in {exclusions.setter} can't be read here to its end: org-roam may leave out more"
        )
        fixes.append("`roamkb install --snippets DIR` has Emacs write down what it computes")
    # what a setting of Emacs's may have put right, or is meant, is no fault
    fine = "org-roam and agents see the same notes, but for conflict copies (see Emacs)"
    return DoctorCheck(ok=not unread, detail=". ".join(differences) or fine, fix="; ".join(fixes))


def _check_indexable(notes: Notes, contents: NotesContents) -> DoctorCheck:
    return build_check(
        (f"{notes.note_path(note)}: {note.fault}" for note in contents.notes if note.fault),
        fine="org-roam takes every note",
        fix="org-roam leaves the whole file out until that is put right",
    )


def _check_ids(notes: Notes, contents: NotesContents) -> DoctorCheck:
    return build_check(
        (
            f"{duplicates.first.id} in {' and '.join(f'{node.path}:{node.line}' for node in duplicates.nodes)}"
            for duplicates in duplicate_ids(notes, contents.without_copies().node_pairs())
        ),
        fine="no two nodes share an id",
        fix="give the copy a new one: delete its :ID: line, then M-x org-id-get-create; "
        "until then org-roam keeps whichever it saw first",
    )


def _check_conflict_copies(copies: Sequence[ConflictCopy]) -> DoctorCheck:
    return build_check(
        (str(copy.path) for copy in copies if copy.same_id),
        fine="none has its original's id",
        fix="`roamkb conflicts` says what differs: merge it, then delete the copy; with the same id "
        "org-roam may take the copy for the note",
    )


def _check_lost_notes(copies: Sequence[ConflictCopy]) -> DoctorCheck:
    lost = (copy for copy in copies if not copy.same_id)
    return build_check(
        (f"{copy.path}{f' {copy.obstacle}' if copy.obstacle else ''}" for copy in lost),
        fine="no conflict copy is a note of its own",
        fix="`roamkb conflicts --adopt` gives each with an id of its own a name; no search finds it now",
    )


def _check_git_conflicts(notes: Notes, contents: NotesContents) -> DoctorCheck:
    root = checkup.find_git_root(notes.kb)
    if root is None:
        return DoctorCheck(ok=True, detail="the notes aren't in a git repository", proved=False)
    return build_check(
        (str(notes.note_path(note)) for note in contents.notes if "\n<<<<<<< " in f"\n{note.text}"),
        fine=f"no merge in {root} left its marks",
        fix="settle the lines between <<<<<<< and >>>>>>>",
    )


def _check_names(contents: NotesContents) -> DoctorCheck:
    return build_check(
        _ambiguous_names([file.file for file in contents.kb_walk.files]),
        fine="every name means one file on every system",
        fix="rename them: a phone, a Mac and Windows tell neither case nor the kind of accents apart",
    )


def _ambiguous_names(files: Iterable[str]) -> Iterator[str]:
    """Yield the names that another system would confuse with each other, or change."""
    names_by_fold: dict[str, list[str]] = defaultdict(list)
    for file in files:
        composed = unicodedata.normalize("NFC", file)
        names_by_fold[composed.casefold()].append(file)
        if composed != file:
            yield f"{file} has its accents apart (not NFC)"
    yield from (f"{' and '.join(group)} differ in case only" for group in names_by_fold.values() if len(group) > 1)


def _check_clocks(contents: NotesContents, now: float) -> DoctorCheck:
    return build_check(
        (file.place for file in contents.kb_walk.files if file.mtime_ns / 1e9 > now + MAX_CLOCK_LEAD),
        fine="no note is dated ahead of this machine's clock",
        fix="set the clock of the machine that saved it, or of this one: who is ahead wins every conflict",
    )


def _check_locks(context: DoctorContext, leftover_files: LeftoverFiles) -> DoctorCheck:
    check = build_check(
        filter(None, (_lock_fault(lock, context) for lock in leftover_files.locks)),
        fine="no note is held by an Emacs elsewhere, or by one that is gone",
        fix="save the note there, or delete the link if it is open nowhere; roamkb won't change it till then",
    )
    caution = _lock_setting(context.home) if check.ok else ""
    if not caution:
        return check
    return DoctorCheck(
        ok=True,
        detail=f"unsaved changes in Emacs may not be seen: {caution}",
        fix="(setq create-lockfiles t lock-file-name-transforms nil); till then only an auto-save file shows them",
        proved=False,
    )


def _lock_setting(home: Path) -> str:
    """Return the setting by which Emacs leaves no lock beside a note; empty where no init file has one."""
    texts = tuple(read_init_files(home))
    for variable, is_off in (
        ("create-lockfiles", lambda words: words == ("nil",)),
        ("lock-file-name-transforms", lambda words: words != ("nil",)),
    ):
        # what Emacs itself wrote comes first
        values = ((path, find_words(lisp, variable)) for path, lisp in texts if variable in lisp)
        path, words = next(((path, found) for path, found in values if found), (None, ()))
        if any(map(is_off, words)):
            return f"{path} sets {variable}"
    return ""


def _lock_fault(lock: EmacsLock, context: DoctorContext) -> str | None:
    if not lock.host:
        return f"{lock.path} names no machine"
    if _host_without_domain(lock.host) != _host_without_domain(context.host):
        return f"{lock.path} is held by an Emacs on {lock.host}, or was left there"
    return None if context.is_emacs(lock.pid) else f"{lock.path} was left by an Emacs that is gone ({lock.pid})"


def _host_without_domain(host: str) -> str:
    """Return a machine's name without its domain, which some programs leave out."""
    return host.partition(".")[0].casefold()


def _check_leftovers(context: DoctorContext, rule: Rule, leftover_files: LeftoverFiles) -> DoctorCheck:
    now = context.now.timestamp()
    trash = context.state.trash_folder(rule.kb)
    other_leftovers = [
        path for folder in (rule.source.parent, trash) for path in checkup.find_leftovers(folder, now=now).leftovers
    ]
    unfinished_trash = checkup.find_unpaired_trash(trash)
    return build_check(
        map(str, (*leftover_files.leftovers, *other_leftovers, *unfinished_trash)),
        fine="no write was cut off",
        fix="a crash left them; no note needs them: look at them and delete them",
    )


def _check_stignore(kb: Path) -> DoctorCheck:
    root = checkup.find_syncthing_root(kb)
    if root is None:
        return DoctorCheck(ok=True, detail="the notes aren't in a folder of Syncthing's", proved=False)
    ignored = checkup.syncthing_patterns(root)
    missing = " ".join(line for line in STIGNORE_LINES if line not in ignored)
    return build_check(
        [f"{root / '.stignore'} lacks {missing}"] if missing else [],
        fine=f"{root / '.stignore'} is complete",
        fix="add them, on every machine: Syncthing doesn't carry that file; "
        "`roamkb install --snippets DIR` writes them out",
    )


def _check_syncthing(kb: Path, home: Path) -> DoctorCheck:
    folder = find_syncthing_folder(kb, home=home)
    if folder is None:
        return DoctorCheck(ok=True, detail="no configuration on this machine names the notes", proved=False)
    kept_copies = "all" if folder.max_conflicts < 0 else str(folder.max_conflicts)
    return build_check(
        [f"the folder {folder.label} keeps no conflict copies ({folder.config})"] if kept_copies == "0" else [],
        fine=f"the folder {folder.label} keeps {kept_copies} conflict copies of a file",
        fix="set maxConflicts to 10 in its advanced settings: with 0 the edit that loses is deleted",
    )


def _check_emacs(home: Path) -> DoctorCheck:
    """Check by its init files, or by what roamkb.el wrote of them, whether org-roam leaves out conflict copies."""
    texts = tuple(read_init_files(home))
    setter, values = next(
        ((path, values) for path, lisp in texts if (values := find_strings(lisp, EXCLUDING_VARIABLE))), (None, ())
    )
    if any(_COPY_MARK in value for value in values):
        return DoctorCheck(ok=True, detail=f"{setter} has org-roam leave out conflict copies")
    if setter is not None:
        reason = f"{setter} sets {EXCLUDING_VARIABLE} without them"
    else:
        reason = f"no init file that can be read here sets {EXCLUDING_VARIABLE}" if texts else _NO_INIT_FILE
    return DoctorCheck(
        ok=True,
        detail=f"org-roam may index conflict copies: {reason}",
        fix=f"{_EMACS_SETTING}; `roamkb install --snippets DIR` writes it out",
        proved=False,
    )
