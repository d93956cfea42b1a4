"""What `doctor` says of the notes, and of what programs do among them."""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from roamkb.context.brief_text import READ_IN_A_MOMENT
from roamkb.core.errors import NotWritable
from roamkb.core.errors import RoamkbError
from roamkb.core.model import Rule
from roamkb.core.text import counted
from roamkb.install.doctor_report import DoctorCheck
from roamkb.install.doctor_report import check
from roamkb.install.doctor_report import listed
from roamkb.install.doctor_report import looked
from roamkb.install.snippets import STIGNORE_LINES
from roamkb.install.store import machine as checkup
from roamkb.install.store.machine import DoctorContext
from roamkb.install.store.machine import EmacsLock
from roamkb.install.store.machine import LeftoverFiles
from roamkb.journal.names import TOO_LARGE
from roamkb.journal.store.change_traces import traces_of
from roamkb.journal.store.journal import Journal
from roamkb.journal.store.syncthing import syncthing_folder
from roamkb.kb.conflicts import ConflictCopy
from roamkb.kb.conflicts import conflicts
from roamkb.kb.hygiene import duplicate_ids
from roamkb.kb.notes.file_names import is_unseen_in_emacs
from roamkb.kb.notes.store.notes import NOT_UTF8
from roamkb.kb.notes.store.notes import Notes
from roamkb.kb.notes.store.notes import NotesContents
from roamkb.kb.search.index.index import Index
from roamkb.org.agent_node import is_agent_node
from roamkb.org.breaks import BREAK
from roamkb.org.orgparse_check import second_reading

#: Clocks that a network sets differ by milliseconds; two minutes are a clock that nobody sets.
AHEAD = 120.0

_EMACS_SETTING = (
    r"""(setq org-roam-file-exclude-regexp '("\\.sync-conflict-" """
    r""""\\(^\\|/\\)\\.st\\(versions\\|folder\\)/" "\\(^\\|/\\)data/"))"""
)


def checks_of_notes(patient: DoctorContext, rule: Rule) -> Iterator[DoctorCheck]:
    """Yield the checks of the notes, if they are there."""
    notes = Notes(rule.kb, todo_lines=rule.todo_lines)
    try:
        contents = notes.read_all()
        copies = conflicts(notes).copies
        droppings = checkup.find_droppings(rule.kb, now=patient.now.timestamp())
    except RoamkbError as error:
        yield DoctorCheck(name="knowledge base", ok=False, detail=error.message, fix=error.hint)
        return
    yield _size(rule, contents)
    looks: tuple[tuple[str, Callable[[], DoctorCheck]], ...] = (
        ("writable", lambda: _writable(rule.kb)),
        ("readable", lambda: _readable(notes, contents)),
        ("seen alike", lambda: _seen_alike(notes, contents)),
        ("indexable", lambda: _indexable(notes, contents)),
        ("other readers", lambda: _other_readers(notes, contents)),
        ("index", lambda: _index(patient, notes)),
        ("journal", lambda: _journal(patient, rule.kb)),
        ("ids", lambda: _ids(notes, contents)),
        ("conflict copies", lambda: _versions_aside(copies)),
        ("lost notes", lambda: _lost_notes(copies)),
        ("git conflicts", lambda: _git_conflicts(notes, contents)),
        ("names", lambda: _names(contents)),
        ("clocks", lambda: _clocks(contents, patient.now.timestamp())),
        ("locks", lambda: _locks(patient, droppings)),
        ("leftovers", lambda: _leftovers(patient, rule, droppings)),
        ("stignore", lambda: _stignore(rule.kb)),
        ("Syncthing", lambda: _syncthing(rule.kb, patient.home)),
        ("Emacs", _emacs),
    )
    for name, look in looks:
        yield looked(name, look)


def _size(rule: Rule, contents: NotesContents) -> DoctorCheck:
    encrypted = len(contents.walk.encrypted)
    unread = f"; {encrypted} encrypted, which roamkb doesn't read" if encrypted else ""
    notes = counted(len(contents.notes), "note")
    nodes = counted(sum(1 for _ in contents.nodes()), "node")
    detail = f"{rule.kb}: {notes}, {nodes}{unread}"
    return DoctorCheck(name="knowledge base", ok=True, detail=detail)


def _writable(kb: Path) -> DoctorCheck:
    return check(
        "writable",
        filter(None, [checkup.write_fault(kb)]),
        fine="notes can be written there",
        fix="searching works; to have notes written, mount it writable, or see whose it is and its mode; "
        "a harness's sandbox has to let it be written",
    )


def _index(patient: DoctorContext, notes: Notes) -> DoctorCheck:
    """Say how many notes the index holds as they are; a search reads the others before it answers."""
    index = Index(notes, patient.state.cache_folder(notes.kb), version=patient.version)
    count, waiting = len(notes.walk.files), index.waiting()
    is_ready = waiting <= READ_IN_A_MOMENT
    return DoctorCheck(
        name="index",
        ok=is_ready,
        detail=f"{count - waiting} of {counted(count, 'note')} indexed",
        fix="" if is_ready else "`roamkb index` reads the others; until then sessions are told of no note",
    )


def _journal(patient: DoctorContext, kb: Path) -> DoctorCheck:
    """Look at the notes once more; say what the journal holds, and what changed that nothing explains."""
    name = "journal"
    folder = patient.state.journal_folder(kb)
    if folder is None:
        return DoctorCheck(
            name=name, ok=False, detail="it has no place", fix="keep the state folder out of the notes"
        )
    journal = Journal(kb=kb, folder=folder, clock=patient.now.timestamp)
    traces = traces_of(journal, home=patient.home)
    damaged = 0
    with suppress(NotWritable):
        # in an agent's sandbox only what was looked at before can be told
        journal.look(tracer=traces)
        damaged = journal.mend()
        if damaged:
            journal.look(tracer=traces)
    if not journal.is_there:
        return DoctorCheck(
            name=name, ok=False, detail=f"{folder} can't be written", fix="run doctor outside of a sandbox"
        )
    held = journal.holdings()
    open_ends = [change for change in journal.changes_since(journal.shown()) if not change.is_explained]
    faults = [
        *(
            f"{counted(damaged, 'copy', 'copies')} damaged; what is still there was copied again"
            for _ in range(min(damaged, 1))
        ),
        *(f"{path.name} was put aside, damaged" for path in journal.damaged),
        *(f"{counted(held.waiting, 'file')} can't be read steadily" for _ in range(min(held.waiting, 1))),
        *(f"{os.fsdecode(path)}: {why}" for path, why in held.unkept if why != TOO_LARGE),
        *(f"{os.fsdecode(change.path)} {change.what}, and nothing explains it" for change in open_ends),
    ]
    return check(
        name,
        faults,
        fine=f"{counted(held.entries, 'file')} can come back, by {counted(held.contents, 'copy', 'copies')} "
        f"in {held.stored:,} bytes",
        fix="`roamkb journal show` says what changed, and `roamkb journal restore` brings it back",
    )


def _unbroken(found: tuple[str, str, frozenset[str]] | None) -> tuple[str, str, frozenset[str]] | None:
    """Return what another reader found, its title without what keeps it from acting in Emacs."""
    return found and (found[0], found[1].replace(BREAK, ""), found[2])


def _other_readers(notes: Notes, contents: NotesContents) -> DoctorCheck:
    """Say whether a reader that isn't ours finds in agent nodes what we find."""
    faults = (
        str(notes.path(note))
        for note, node in contents.nodes()
        if is_agent_node(note, node)
        and _unbroken(second_reading(note.text)) not in (None, (node.id, node.title, frozenset(node.tags)))
    )
    return check(
        "other readers",
        faults,
        fine="orgparse reads the agent nodes as roamkb does",
        fix="look at the head of the note: a line of it may be damaged",
    )


def _readable(notes: Notes, contents: NotesContents) -> DoctorCheck:
    faults = {(notes.path(note), note.fault) for note in contents.notes}
    unread = [
        entry
        for entry in contents.skipped
        if (entry.path, entry.reason) not in faults and not entry.is_elsewhere
    ]
    fixes = {
        "open it in Emacs; C-x RET f utf-8 saves another encoding as UTF-8"
        if entry.reason == NOT_UTF8
        else "see whose it is, its mode and its name; a note is a file that you may read"
        for entry in unread
    }
    return check(
        "readable",
        (f"{entry.path} {entry.reason}" for entry in unread),
        fine="every note can be read as UTF-8 text",
        fix="; ".join(sorted(fixes)),
    )


def _seen_alike(notes: Notes, contents: NotesContents) -> DoctorCheck:
    """Say what the human's Emacs and agents don't both see; org-roam's settings can't be seen from here."""
    outside = [str(entry.path) for entry in contents.walk.unreadable if entry.is_elsewhere]
    unread = [*outside, *checkup.find_unread(notes.kb)]
    unseen = [file.file for file in contents.walk.files if is_unseen_in_emacs(file.file)]
    is_all = is_unseen_in_emacs(f"{notes.kb.resolve()}/")
    found: list[str] = []
    fixes: list[str] = []
    if unread:
        found.append(f"org-roam shows its human what agents never see: {listed(unread)}")
        fixes.append(
            "what agents should see has to lie in the folder itself, under a name without a leading dot; "
            "org-roam-file-exclude-regexp hides the rest from org-roam, too"
        )
    if is_all or unseen:
        which = "all notes, before 2.3, since the folder's own path holds it" if is_all else listed(unseen)
        found.append(f"org-roam by itself leaves out what holds `data/`, and agents see it: {which}")
        fixes.append(f"{_EMACS_SETTING} leaves out folders of that name alone, as roamkb does")
    # what a setting of Emacs's may have put right is no fault
    fine = "org-roam and agents see the same notes, but for conflict copies (see Emacs)"
    return DoctorCheck(
        name="seen alike", ok=not unread, detail=". ".join(found) or fine, fix="; ".join(fixes)
    )


def _indexable(notes: Notes, contents: NotesContents) -> DoctorCheck:
    return check(
        "indexable",
        (f"{notes.path(note)}: {note.fault}" for note in contents.notes if note.fault),
        fine="org-roam takes every note",
        fix="org-roam leaves the whole file out until that is put right",
    )


def _ids(notes: Notes, contents: NotesContents) -> DoctorCheck:
    return check(
        "ids",
        (
            f"{twins.first.id} in {' and '.join(f'{spot.path}:{spot.line}' for spot in twins.nodes)}"
            for twins in duplicate_ids(notes, contents)
        ),
        fine="no two nodes share an id",
        fix="give the copy a new one: delete its :ID: line, then M-x org-id-get-create; "
        "until then org-roam keeps whichever it saw first",
    )


def _versions_aside(copies: Sequence[ConflictCopy]) -> DoctorCheck:
    return check(
        "conflict copies",
        (str(copy.path) for copy in copies if copy.same_id),
        fine="none has its original's id",
        fix="`roamkb conflicts` says what differs: merge it, then delete the copy; with the same id "
        "org-roam may take the copy for the note",
    )


def _lost_notes(copies: Sequence[ConflictCopy]) -> DoctorCheck:
    lost = (copy for copy in copies if not copy.same_id)
    return check(
        "lost notes",
        (f"{copy.path}{f' {copy.obstacle}' if copy.obstacle else ''}" for copy in lost),
        fine="no conflict copy is a note of its own",
        fix="`roamkb conflicts --adopt` gives each with an id of its own a name; no search finds it now",
    )


def _git_conflicts(notes: Notes, contents: NotesContents) -> DoctorCheck:
    root = checkup.git_root(notes.kb)
    if root is None:
        return DoctorCheck(
            name="git conflicts", ok=True, detail="the notes aren't in a git repository", proved=False
        )
    return check(
        "git conflicts",
        (str(notes.path(note)) for note in contents.notes if "\n<<<<<<< " in f"\n{note.text}"),
        fine=f"no merge in {root} left its marks",
        fix="settle the lines between <<<<<<< and >>>>>>>",
    )


def _names(contents: NotesContents) -> DoctorCheck:
    return check(
        "names",
        _troublesome([file.file for file in contents.walk.files]),
        fine="every name means one file on every system",
        fix="rename them: a phone, a Mac and Windows tell neither case nor the kind of accents apart",
    )


def _troublesome(files: Iterable[str]) -> Iterator[str]:
    """Yield the names that another system would take for one another, or change."""
    alike: dict[str, list[str]] = defaultdict(list)
    for file in files:
        composed = unicodedata.normalize("NFC", file)
        alike[composed.casefold()].append(file)
        if composed != file:
            yield f"{file} has its accents apart (not NFC)"
    yield from (f"{' and '.join(group)} differ in case only" for group in alike.values() if len(group) > 1)


def _clocks(contents: NotesContents, now: float) -> DoctorCheck:
    return check(
        "clocks",
        (file.place for file in contents.walk.files if file.mtime_ns / 1e9 > now + AHEAD),
        fine="no note is dated ahead of this machine's clock",
        fix="set the clock of the machine that saved it, or of this one: who is ahead wins every conflict",
    )


def _locks(patient: DoctorContext, droppings: LeftoverFiles) -> DoctorCheck:
    return check(
        "locks",
        filter(None, (_lock_fault(lock, patient) for lock in droppings.locks)),
        fine="no note is held by an Emacs elsewhere, or by one that is gone",
        fix="save the note there, or delete the link if it is open nowhere; roamkb won't change it till then",
    )


def _lock_fault(lock: EmacsLock, patient: DoctorContext) -> str | None:
    if not lock.host:
        return f"{lock.path} names no machine"
    if _bare(lock.host) != _bare(patient.host):
        return f"{lock.path} is held by an Emacs on {lock.host}, or was left there"
    return (
        None if patient.is_emacs(lock.pid) else f"{lock.path} was left by an Emacs that is gone ({lock.pid})"
    )


def _bare(host: str) -> str:
    """Return a machine's name without its domain, which some programs leave out."""
    return host.partition(".")[0].casefold()


def _leftovers(patient: DoctorContext, rule: Rule, droppings: LeftoverFiles) -> DoctorCheck:
    now = patient.now.timestamp()
    trash = patient.state.trash_folder(rule.kb)
    elsewhere = [
        path
        for folder in (rule.source.parent, trash)
        for path in checkup.find_droppings(folder, now=now).leftovers
    ]
    halves = checkup.find_halves(trash)
    return check(
        "leftovers",
        map(str, (*droppings.leftovers, *elsewhere, *halves)),
        fine="no write was cut off",
        fix="a crash left them; no note needs them: look at them and delete them",
    )


def _stignore(kb: Path) -> DoctorCheck:
    root = checkup.syncthing_root(kb)
    if root is None:
        return DoctorCheck(
            name="stignore", ok=True, detail="the notes aren't in a folder of Syncthing's", proved=False
        )
    ignored = checkup.ignored_by_syncthing(root)
    missing = " ".join(line for line in STIGNORE_LINES if line not in ignored)
    return check(
        "stignore",
        [f"{root / '.stignore'} lacks {missing}"] if missing else [],
        fine=f"{root / '.stignore'} is complete",
        fix="add them, on every machine: Syncthing doesn't carry that file; "
        "`roamkb install --snippets DIR` writes them out",
    )


def _syncthing(kb: Path, home: Path) -> DoctorCheck:
    folder = syncthing_folder(kb, home=home)
    if folder is None:
        return DoctorCheck(
            name="Syncthing", ok=True, detail="no configuration on this machine names the notes", proved=False
        )
    kept = "all" if folder.max_conflicts < 0 else str(folder.max_conflicts)
    return check(
        "Syncthing",
        [f"the folder {folder.label} keeps no conflict copies ({folder.config})"] if kept == "0" else [],
        fine=f"the folder {folder.label} keeps {kept} conflict copies of a file",
        fix="set maxConflicts to 10 in its advanced settings: with 0 the edit that loses is deleted",
    )


def _emacs() -> DoctorCheck:
    return DoctorCheck(
        name="Emacs",
        ok=True,
        detail="its settings can't be seen from here; without this one org-roam indexes conflict copies",
        fix=f"{_EMACS_SETTING}; `roamkb install --snippets DIR` writes it out",
        proved=False,
    )
