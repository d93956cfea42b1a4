"""Looking after a knowledge base and its installation: what is wrong, what is installed, what is whose."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app import requests
from roamkb.app.base import KnowledgeBaseContext
from roamkb.app.operation_method import takes
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.text import texts_of

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
    """What a human looks after: what projects are, what may want tidying, what is installed."""

    @takes(lambda: requests.ClassifyRequest)
    def classify(self, request: "requests.ClassifyRequest") -> Project:
        """Return what the project of `folder` is, and why; without it, what this session's is."""
        from roamkb.boundary.classify import classify

        if request.folder is None:
            return self._project
        return classify(
            self._absolute(request.folder),
            home=self.environment.home,
            account_home=self.environment.account_home,
        )

    @takes(lambda: requests.HygieneRequest)
    def hygiene(self, request: "requests.HygieneRequest") -> "HygieneReport":
        """Return what the knowledge base holds that its human may want to tidy."""
        from roamkb.kb.hygiene import hygiene

        return hygiene(self._notes(), org=request.org)

    @takes(lambda: requests.ConflictsRequest)
    def conflicts(self, request: "requests.ConflictsRequest") -> "ConflictList":
        """Return syncers' conflict copies; with `adopt`, those with an id of their own get a proper name."""
        if not request.adopt:
            from roamkb.kb.conflicts import conflicts

            return conflicts(self._notes(), file=request.file, folder=self.environment.cwd)
        permit, notes = self._leave(request.file or "conflict copies", undone="nothing was renamed")
        from roamkb.kb.conflicts import adopt as adopt_copies

        return adopt_copies(
            notes,
            permit,
            lock_file=self.state_folders.lock_file(permit.kb),
            now=self.environment.now(),
            file=request.file,
            folder=self.environment.cwd,
        )

    def doctor(self) -> "DoctorReport":
        """Return what is wrong with this installation, and what to do about it."""
        import platform

        from roamkb import __version__
        from roamkb.boundary.store.folder_evidence import find_rule
        from roamkb.install.doctor import DoctorContext
        from roamkb.install.doctor import doctor
        from roamkb.install.doctor_report import DoctorReport
        from roamkb.install.doctor_wall import checks_of_wall

        rule = find_rule(self.environment.home, account_home=self.environment.account_home)
        log = None
        with suppress(RoamkbError):
            log = self.log.whole()
        patient = DoctorContext(
            rule=rule,
            project=self._project,
            home=self.environment.home,
            search_path=self.environment.variables.get("PATH", ""),
            host=platform.node(),
            state=self.state_folders,
            now=self.environment.now(),
            version=__version__,
            log=log,
        )
        return DoctorReport(checks=(*doctor(patient).checks, *checks_of_wall(patient, self._wall)))

    @takes(lambda: requests.JournalRequest)
    def journal(self, request: "requests.JournalRequest") -> "MomentList | MomentDiff | RestoreResult":
        """Return the journal's moments; `show` what changed since one, `restore` what was there then.

        Raises:
            UsageError: a restore that no human at a terminal said yes to. NotFound: no such mark.
            NoKnowledgeBase: the notes' folder is gone, and nobody said to make it. DiskError, Busy.
        """
        from roamkb.journal import journal

        keeper = self.journal_context(led_by=self.environment.led_by)
        if keeper is None:
            raise UsageError(
                "the journal has no place",
                hint="the state folder lies in the knowledge base or at work; see XDG_STATE_HOME",
            )
        match request.action:
            case None:
                return journal.list_moments(keeper)
            case "show":
                return journal.show(keeper, texts_of(request.names), mark=request.mark, diff=request.diff)
            case "restore":
                return journal.restore(
                    keeper,
                    texts_of(request.names),
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

    @takes(lambda: requests.InstallRequest)
    def install(self, request: "requests.InstallRequest") -> "InstallReport":
        """Put the rule, and what else is wished for, in place; a second call changes nothing."""
        from importlib.util import find_spec

        from roamkb.install.install import install
        from roamkb.install.plan import InstallOptions
        from roamkb.install.store.apply import shipped_rules

        now = self.environment.now()
        wishes = InstallOptions(
            kb=self._place(request.kb),
            work_roots=tuple(map(self._absolute, texts_of(request.work_roots))),
            project_parents=tuple(map(self._absolute, texts_of(request.project_parents))),
            agents_md=self._place(request.agents_md),
            snippets=self._place(request.snippets),
            create_kb=request.create_kb,
            dry_run=request.dry_run,
            claude=request.claude,
            codex=request.codex,
            yes=request.yes,
            program=self._program(),
            has_mcp=find_spec("mcp") is not None,
        )
        return install(
            wishes,
            home=self.environment.home,
            data=self._data,
            account_home=self.environment.account_home,
            session=self._session,
            rules=shipped_rules(),
            wall=self._wall,
            now=now,
            new_id=lambda: self.environment.new_id(now),
            ask=self._ask,
        )

    @takes(lambda: requests.UninstallRequest)
    def uninstall(self, request: "requests.UninstallRequest") -> "InstallReport":
        """Take away what `install` made, and name what stays; with `purge`, what is roamkb's own as well."""
        from roamkb.install.plan import InstallOptions
        from roamkb.install.store.apply import shipped_rules
        from roamkb.install.uninstall import uninstall

        wishes = InstallOptions(
            agents_md=self._place(request.agents_md),
            snippets=self._place(request.snippets),
            purge=request.purge,
            dry_run=request.dry_run,
            claude=request.claude,
            codex=request.codex,
        )
        return uninstall(
            wishes,
            home=self.environment.home,
            data=self._data,
            state=self.state_folders,
            account_home=self.environment.account_home,
            session=self._session,
            rules=shipped_rules(),
            wall=self._wall,
        )

    @property
    def _data(self) -> Path:
        """Where what is installed is kept for this user."""
        from roamkb.fs.user_dirs import usual_data

        return self.environment.data or Path(usual_data())

    @property
    def _wall(self) -> "WallSetup":
        """What keeps agents' commands out of the notes, for this user."""
        from roamkb.install.wall_setup import WallSetup

        around = self.environment
        return WallSetup(
            home=around.home,
            account_home=around.account_home,
            state=self.state_folders.state,
            data=self._data,
        )

    def _program(self) -> Path | None:
        """Return the command that hooks run."""
        import sys

        from roamkb.harnesses.store.probe import find_program

        search_path = self.environment.variables.get("PATH", "")
        return find_program(self.environment.home, search_path, Path(sys.executable))
