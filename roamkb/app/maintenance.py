"""Maintenance of a knowledge base and its installation."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app import requests
from roamkb.app.base import KnowledgeBaseContext
from roamkb.app.operation_method import takes_request
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.text import as_text_tuple

if TYPE_CHECKING:
    from roamkb.install.doctor_report import DoctorReport
    from roamkb.install.plan import InstallReport
    from roamkb.install.wall_setup import WallSetup
    from roamkb.journal.journal import JournalContext
    from roamkb.journal.journal import MomentDiff
    from roamkb.journal.journal import MomentList
    from roamkb.journal.journal import RestoreResult
    from roamkb.kb.conflicts import ConflictList
    from roamkb.kb.hygiene import HygieneReport


class KnowledgeBaseMaintenance(KnowledgeBaseContext):
    """Operations for the human's maintenance: classification, hygiene, installation."""

    @takes_request(lambda: requests.ClassifyRequest)
    def classify(self, request: "requests.ClassifyRequest") -> Project:
        """Return the project of `folder` with the reason for its kind; without it, this session's."""
        from roamkb.boundary.classify import classify

        if request.folder is None:
            return self._current_project
        return classify(
            self._absolute_path(request.folder),
            home=self.environment.home,
            account_home=self.environment.account_home,
        )

    @takes_request(lambda: requests.HygieneRequest)
    def hygiene(self, request: "requests.HygieneRequest") -> "HygieneReport":
        """Return the findings in the knowledge base that its human may want to tidy."""
        from roamkb.kb.hygiene import hygiene

        return hygiene(self._open_notes(), org=request.org)

    @takes_request(lambda: requests.ConflictsRequest)
    def conflicts(self, request: "requests.ConflictsRequest") -> "ConflictList":
        """Return syncers' conflict copies; with `adopt`, properly name those with an id of their own."""
        if not request.adopt:
            from roamkb.kb.conflicts import conflicts

            return conflicts(self._open_notes(), file=request.file, folder=self.environment.cwd)
        permit, notes = self._require_permit(request.file or "conflict copies", undone="nothing was renamed")
        from roamkb.kb.conflicts import adopt_copies as adopt_copies

        return adopt_copies(
            notes,
            permit,
            lock_file=self.state_folders.lock_file(permit.kb),
            now=self.environment.now(),
            file=request.file,
            folder=self.environment.cwd,
        )

    def doctor(self) -> "DoctorReport":
        """Return the faults of this installation, and the cures."""
        import platform

        from roamkb import __version__
        from roamkb.boundary.store.folder_evidence import find_rule
        from roamkb.install.doctor import DoctorContext
        from roamkb.install.doctor import doctor
        from roamkb.install.doctor_report import DoctorReport
        from roamkb.install.doctor_wall import check_wall

        rule = find_rule(self.environment.home, account_home=self.environment.account_home)
        log = None
        with suppress(RoamkbError):
            log = self.log.unchecked_log()
        doctor_context = DoctorContext(
            rule=rule,
            project=self._current_project,
            home=self.environment.home,
            search_path=self.environment.variables.get("PATH", ""),
            host=platform.node(),
            state=self.state_folders,
            now=self.environment.now(),
            version=__version__,
            log=log,
        )
        return DoctorReport(checks=(*doctor(doctor_context).checks, *check_wall(doctor_context, self._wall_setup)))

    @takes_request(lambda: requests.JournalRequest)
    def journal(self, request: "requests.JournalRequest") -> "MomentList | MomentDiff | RestoreResult":
        """Return the journal's moments; `show` the changes since one, `restore` the state of one.

        Raises:
            UsageError: a restore that no human at a terminal said yes to. NotFound: no such mark.
            NoKnowledgeBase: the notes' folder is gone, and nobody said to make it. DiskError, Busy.
        """
        from roamkb.journal import journal

        journal_context = self.journal_context(led_by=self.environment.agent_evidence)
        if journal_context is None:
            raise UsageError(
                "the journal has no place",
                hint="the state folder lies in the knowledge base or at work; see XDG_STATE_HOME",
            )
        match request.action:
            case None:
                return journal.list_moments(journal_context)
            case "show":
                return journal.show(journal_context, as_text_tuple(request.names), mark=request.mark, diff=request.diff)
            case "restore":
                return journal.restore(
                    journal_context,
                    as_text_tuple(request.names),
                    mark=request.mark,
                    all=request.all,
                    create_kb=request.create_kb,
                    dry_run=request.dry_run,
                )
        raise UsageError(f"the journal can't {request.action}", hint="roamkb journal [show|restore]")

    def journal_context(self, *, led_by: str = "") -> "JournalContext | None":
        """Return the journal with what is around it; None where it has no place."""
        from roamkb.boundary.store.folder_evidence import classify_folder
        from roamkb.core.model import ProjectKind
        from roamkb.journal.journal import JournalContext
        from roamkb.journal.store.journal import Journal

        rule = self.rule
        folder = self.state_folders.journal_folder(rule.kb)
        # whoever put the state folder at work has no place for what is personal
        if folder is None or classify_folder(folder, rule).kind is ProjectKind.WORK:
            return None
        return JournalContext(
            journal=Journal(kb=rule.kb, folder=folder, clock=lambda: self.environment.now().timestamp()),
            lock_file=self.state_folders.lock_file(rule.kb),
            folder=self.environment.cwd,
            home=self.environment.home,
            human=self._human,
            agent=led_by,
        )

    @takes_request(lambda: requests.InstallRequest)
    def install(self, request: "requests.InstallRequest") -> "InstallReport":
        """Install the rule and the requested parts; a second call changes nothing."""
        from importlib.util import find_spec

        from roamkb.harnesses.registry import declared_by
        from roamkb.install.install import install
        from roamkb.install.plan import InstallOptions
        from roamkb.install.requests import named_harnesses
        from roamkb.install.store.apply import shipped_rules

        now = self.environment.now()
        options = InstallOptions(
            kb=self._optional_absolute_path(request.kb),
            work_roots=tuple(map(self._absolute_path, as_text_tuple(request.work_roots))),
            project_parents=tuple(map(self._absolute_path, as_text_tuple(request.project_parents))),
            agents_md=self._optional_absolute_path(request.agents_md),
            snippets=self._optional_absolute_path(request.snippets),
            create_kb=request.create_kb,
            dry_run=request.dry_run,
            harnesses=named_harnesses(request, declared_by("options")),
            yes=request.yes,
            program=self._find_hook_program(),
            has_mcp=find_spec("mcp") is not None,
        )
        return install(
            options,
            home=self.environment.home,
            data=self._data_folder,
            account_home=self.environment.account_home,
            session=self._call_origin,
            rules=shipped_rules(),
            wall=self._wall_setup,
            now=now,
            new_id=lambda: self.environment.new_id(now),
            ask=self._ask,
        )

    @takes_request(lambda: requests.UninstallRequest)
    def uninstall(self, request: "requests.UninstallRequest") -> "InstallReport":
        """Remove the installed parts, and name what stays; with `purge`, roamkb's own data as well."""
        from roamkb.harnesses.registry import declared_by
        from roamkb.install.plan import InstallOptions
        from roamkb.install.requests import named_harnesses
        from roamkb.install.store.apply import shipped_rules
        from roamkb.install.uninstall import uninstall

        options = InstallOptions(
            agents_md=self._optional_absolute_path(request.agents_md),
            snippets=self._optional_absolute_path(request.snippets),
            purge=request.purge,
            dry_run=request.dry_run,
            harnesses=named_harnesses(request, declared_by("options")),
        )
        return uninstall(
            options,
            home=self.environment.home,
            data=self._data_folder,
            state=self.state_folders,
            account_home=self.environment.account_home,
            session=self._call_origin,
            rules=shipped_rules(),
            wall=self._wall_setup,
        )

    @property
    def _data_folder(self) -> Path:
        """The folder of this user's installed data."""
        from roamkb.fs.user_dirs import default_data_dir

        return self.environment.data or Path(default_data_dir())

    @property
    def _wall_setup(self) -> "WallSetup":
        """The wall that keeps agents' commands out of the notes, for this user."""
        from roamkb.install.wall_setup import WallSetup

        around = self.environment
        return WallSetup(
            home=around.home,
            account_home=around.account_home,
            state=self.state_folders.state,
            data=self._data_folder,
        )

    def _find_hook_program(self) -> Path | None:
        """Return the path of the program that hooks run."""
        import sys

        from roamkb.install.store.probe import find_program

        search_path = self.environment.variables.get("PATH", "")
        return find_program(self.environment.home, search_path, Path(sys.executable))
