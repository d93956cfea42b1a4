"""Maintenance of a knowledge base and its installation."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from roamkb import __version__
from roamkb.app.base import KnowledgeBaseContext
from roamkb.app.named_kb import for_named_kb
from roamkb.app.operation_method import takes_request
from roamkb.boundary import classify as boundary_classify
from roamkb.boundary import human_consent
from roamkb.boundary.store import folder_evidence
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import escape_path
from roamkb.core.model import NamedKb
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.fs.user_dirs import default_data_dir
from roamkb.harnesses.registry import declared_by
from roamkb.install import doctor as install_doctor
from roamkb.install import plan
from roamkb.install import requests
from roamkb.install import wall_setup
from roamkb.install.checks import doctor_report
from roamkb.install.checks import doctor_wall
from roamkb.install.store import probe
from roamkb.journal import journal as journal_verb
from roamkb.journal.store import journal as journal_store
from roamkb.kb import conflicts as kb_conflicts
from roamkb.kb import hygiene as kb_hygiene
from roamkb.kb.notes.store import conflict_copies
from roamkb.log.state import promoted_notes
from roamkb.log.store import log_copies
from roamkb.log.store import project_log


class KnowledgeBaseMaintenance(KnowledgeBaseContext):
    """Operations for the human's maintenance: classification, hygiene, installation."""

    @takes_request(lambda: boundary_classify.ClassifyRequest)
    @for_named_kb
    def classify(self, request: "boundary_classify.ClassifyRequest") -> Project:
        """Return the project of `folder` with the reason for its kind; without it, this session's."""
        if request.folder is None:
            return self.current_project
        return boundary_classify.classify(
            self._absolute_path(request.folder),
            home=self.environment.home,
            account_home=self.environment.account_home,
            kb_name=self.kb_name,
        )

    @takes_request(lambda: kb_hygiene.HygieneRequest)
    @for_named_kb
    def hygiene(self, request: "kb_hygiene.HygieneRequest") -> "kb_hygiene.HygieneReport":
        """Return the findings in the knowledge base that its human may want to tidy."""
        return kb_hygiene.hygiene(self._open_notes(), home=self.environment.home, org=request.org)

    @takes_request(lambda: kb_conflicts.ConflictsRequest)
    @for_named_kb
    def conflicts(self, request: "kb_conflicts.ConflictsRequest") -> "kb_conflicts.ConflictList":
        """Return Syncthing's conflict copies of notes and of the project's log; with `adopt`, take them in.

        A copy with an id of its own is properly named; the lines of a log's copy are added to the log.
        """
        log_paths = self._meant_log_copies(request)
        if log_paths:
            return kb_conflicts.ConflictList(copies=self._log_copies(request, log_paths), adopting=request.adopt)
        if not request.adopt:
            notes = self._open_notes()
            find_nodes = self._open_directory(notes).read_by_ids
            found = kb_conflicts.conflicts(notes, file=request.file, folder=self.environment.cwd, find_nodes=find_nodes)
        else:
            permit, notes = self._require_permit(request.file or "conflict copies", undone="nothing was renamed")
            found = kb_conflicts.adopt_copies(
                notes,
                permit,
                lock_file=self.state_folders.lock_file(permit.kb),
                now=self.environment.now(),
                file=request.file,
                folder=self.environment.cwd,
            )
        return found if request.file else replace(found, copies=(*found.copies, *self._log_copies(request)))

    def _meant_log_copies(self, request: "kb_conflicts.ConflictsRequest") -> frozenset[Path]:
        """Return the paths of the copies of the project's log that are `request.file`, or are copies of it."""
        log = None if self.is_named or request.file is None else self.log.log_or_none()
        if log is None or request.file is None:
            return frozenset()
        meant = conflict_copies.meant_places(request.file, (self.environment.cwd or log.folder, log.folder))
        copies = log_copies.find_copies(log, self.current_project.kind)
        return frozenset(
            copy.path
            for copy in copies
            if not meant.isdisjoint((conflict_copies.real_place(copy.path), conflict_copies.real_place(copy.original)))
        )

    def _log_copies(
        self, request: "kb_conflicts.ConflictsRequest", paths: frozenset[Path] | None = None
    ) -> "tuple[kb_conflicts.ConflictCopy, ...]":
        """Return the conflict copies of the project's log, or those at the paths; with `adopt`, taken into it."""
        log = None if self.is_named else self.log.log_or_none()
        if log is None:
            return ()
        kind = self.current_project.kind
        if request.adopt:
            copies = log_copies.merge_copies(self.log.log_to_write("lines of a conflict copy"), kind, paths)
        else:
            copies = (copy for copy in log_copies.find_copies(log, kind) if paths is None or copy.path in paths)
        return tuple(
            kb_conflicts.log_copy(
                copy.path, copy.original, len(copy.lacking), obstacle=copy.obstacle, adopting=request.adopt
            )
            for copy in copies
        )

    @takes_request(lambda: doctor_report.DoctorRequest)
    def doctor(self, request: "doctor_report.DoctorRequest") -> "doctor_report.DoctorReport":
        """Return the faults of this installation, and the cures."""
        import platform

        rule = self.find_rule()
        log = None
        with suppress(RoamkbError):
            log = self.log.unchecked_log()
        doctor_context = install_doctor.DoctorContext(
            rule=rule,
            project=self.current_project,
            home=self.environment.home,
            search_path=self.environment.variables.get("PATH", ""),
            host=platform.node(),
            state=self.state_folders,
            now=self.environment.now(),
            version=__version__,
            log=log,
            account_home=self.environment.trust_home,
        )
        return doctor_report.DoctorReport(
            checks=(
                *install_doctor.doctor(doctor_context).checks,
                *doctor_report.run_checks("wall", doctor_wall.check_wall(doctor_context, self._wall_setup)),
                *doctor_report.run_checks("promoted notes", self._check_promoted_notes(log)),
            ),
            is_strict=request.strict,
        )

    def _check_promoted_notes(self, log: "project_log.Log | None") -> "Iterator[doctor_report.DoctorCheck]":
        """Yield the check of the notes that learnings of the log became, if any did."""
        if log is not None and log.is_adopted and promoted_notes.has_promoted(log.read_contents().replay_state()):
            notices = tuple(self.log.lapsed_note_notices(log))
            fix = "the command replaces it, for other projects too, with what holds now as TITLE"
            fine = "what its learnings became says nothing that was replaced since"
            yield doctor_report.run_check(
                "promoted notes", lambda: doctor_report.build_check(notices, fine=fine, fix=fix)
            )

    @takes_request(lambda: journal_verb.JournalRequest)
    @for_named_kb
    def journal(
        self, request: "journal_verb.JournalRequest"
    ) -> "journal_verb.MomentList | journal_verb.MomentDiff | journal_verb.RestoreResult":
        """Return the journal's moments; `show` the changes since one, `restore` the state of one.

        Raises:
            UsageError: a restore that no human at a terminal said yes to. NotFound: no such mark.
            NoKnowledgeBase: the notes' folder is gone, and nobody said to make it. DiskError, Busy.
        """
        journal_context = self.journal_context(led_by=self.environment.agent_evidence)
        if journal_context is None:
            raise UsageError(
                "the journal has no place",
                hint="the state folder lies in the knowledge base or at work; see XDG_STATE_HOME",
            )
        match request.action:
            case None:
                return journal_verb.list_moments(journal_context)
            case "show":
                return journal_verb.show(
                    journal_context, as_text_tuple(request.names), mark=request.mark, diff=request.diff
                )
            case "restore":
                return journal_verb.restore(
                    journal_context,
                    as_text_tuple(request.names),
                    mark=request.mark,
                    all=request.all,
                    create_kb=request.create_kb,
                    dry_run=request.dry_run,
                )
        raise UsageError(f"the journal can't {request.action}", hint="roamkb journal [show|restore]")

    def journal_context(self, *, led_by: str = "") -> "journal_verb.JournalContext | None":
        """Return the journal with what is around it; None where it has no place."""
        rule = self.rule
        folder = self.state_folders.journal_folder(rule.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or folder_evidence.classify_folder(folder, rule).kind is ProjectKind.WORK:
            return None
        return journal_verb.JournalContext(
            journal=journal_store.Journal(kb=rule.kb, folder=folder, clock=lambda: self.environment.now().timestamp()),
            lock_file=self.state_folders.lock_file(rule.kb),
            folder=self.environment.cwd,
            home=self.environment.home,
            human=self._human,
            agent=led_by,
            other_kbs=() if self.is_named else tuple(other.name for other in rule.others),
        )

    def _install_options(self, request: "requests.InstallRequest") -> "plan.InstallOptions":
        from importlib.util import find_spec

        kb = self._optional_absolute_path(request.kb)
        parents = tuple(map(self._absolute_path, as_text_tuple(request.project_parents)))
        named_kb = None
        if request.kb_name is not None:
            # who may write to one could else allow itself another
            human_consent.require_no_agent(self.environment.agent_evidence)
            if kb is None or not parents:
                raise UsageError(
                    "a further knowledge base has a folder of its own, and projects of its own",
                    hint="roamkb install --kb-name NAME --kb DIR --project-parent DIR",
                )
            named_kb = NamedKb(
                name=request.kb_name, folder=kb, project_parents=tuple(escape_path(str(parent)) for parent in parents)
            )
            kb, parents = None, ()
        return plan.InstallOptions(
            kb=kb,
            work_roots=tuple(map(self._absolute_path, as_text_tuple(request.work_roots))),
            project_parents=parents,
            named_kb=named_kb,
            agents_md=self._optional_absolute_path(request.agents_md),
            snippets=self._optional_absolute_path(request.snippets),
            create_kb=request.create_kb,
            dry_run=request.dry_run,
            harnesses=requests.named_harnesses(request, declared_by("options")),
            yes=request.yes,
            program=self._find_hook_program(),
            has_mcp=find_spec("mcp") is not None,
        )

    @property
    def _data_folder(self) -> Path:
        """The folder of this user's installed data."""
        return self.environment.data or Path(default_data_dir())

    @property
    def _wall_setup(self) -> "wall_setup.WallSetup":
        """The wall that keeps agents' commands out of the notes, for this user."""
        around = self.environment
        return wall_setup.WallSetup(
            home=around.home,
            account_home=around.account_home,
            state=self.state_folders.state,
            data=self._data_folder,
        )

    def _find_hook_program(self) -> Path | None:
        """Return the path of the program that hooks run."""
        search_path = self.environment.variables.get("PATH", "")
        return probe.find_program(self.environment.home, search_path, Path(sys.executable))
