"""Setup of a knowledge base on this machine, and the way back."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from roamkb.app.maintenance import KnowledgeBaseMaintenance
from roamkb.app.operation_method import takes_request
from roamkb.boundary import human_consent
from roamkb.core.startup.dataclasses import fields
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import as_text_tuple
from roamkb.harnesses.registry import declared_by
from roamkb.install import install as install_verb
from roamkb.install import named_kb_removal
from roamkb.install import plan
from roamkb.install import requests
from roamkb.install import setup as install_setup
from roamkb.install import undo as install_undo
from roamkb.install import uninstall as install_uninstall
from roamkb.install.store import apply
from roamkb.kb import index_admin
from roamkb.kb.graph import link_graph
from roamkb.log import init as log_init
from roamkb.log.store import project_log


class KnowledgeBaseSetup(KnowledgeBaseMaintenance):
    """Operations for somebody who begins, and the ways back."""

    @takes_request(lambda: requests.SetupRequest)
    def setup(self, request: "requests.SetupRequest") -> "plan.InstallReport":
        """Ask at the terminal what `request` leaves open, and set up the rule, hooks, logs and the index.

        Raises:
            UsageError: an answer is missing and nobody is at a terminal; nothing was changed.
            Refused: a session at work would change the rule.
        """
        wishes = self._install_options(request)
        context = self._setup_context()
        if request.undo:
            if not request.dry_run:
                human_consent.require_no_agent(self.environment.agent_evidence)
            return install_undo.undo(wishes, context)
        options = install_setup.SetupOptions(
            wishes=wishes,
            no_work=request.no_work,
            no_hooks=request.no_hooks,
            logs=tuple(map(self._absolute_path, as_text_tuple(request.logs))),
            no_logs=request.no_logs,
        )
        return install_setup.setup(options, context)

    @takes_request(lambda: requests.InstallRequest)
    def install(self, request: "requests.InstallRequest") -> "plan.InstallReport":
        """Install the rule and the requested parts; a second call changes nothing.

        A human at a terminal who answered nothing yet is asked what `setup` asks.
        """
        context = self._setup_context()
        if context.ask and not request.dry_run and install_setup.is_first(context):
            return self.setup(**{field.name: getattr(request, field.name) for field in fields(request)})
        return install_verb.install(self._install_options(request), replace(context, ask=self._ask))

    @takes_request(lambda: requests.UninstallRequest)
    def uninstall(self, request: "requests.UninstallRequest") -> "plan.InstallReport":
        """Remove the installed parts, and name what stays; with `purge`, roamkb's own data as well.

        Raises:
            UsageError: an agent runs it; with the hooks and the wall goes what holds it back.
        """
        if not request.dry_run:
            human_consent.require_no_agent(self.environment.agent_evidence)
        if request.kb_name is not None:
            return named_kb_removal.remove_named_kb(
                request.kb_name,
                dry_run=request.dry_run,
                home=self.environment.home,
                account_home=self.environment.account_home,
                session=self._call_origin,
            )
        options = plan.InstallOptions(
            agents_md=self._optional_absolute_path(request.agents_md),
            snippets=self._optional_absolute_path(request.snippets),
            purge=request.purge,
            dry_run=request.dry_run,
            harnesses=requests.named_harnesses(request, declared_by("options")),
        )
        return install_uninstall.uninstall(options, self._setup_context())

    def _setup_context(self) -> "install_setup.SetupContext":
        now = self.environment.now()
        return install_setup.SetupContext(
            home=self.environment.home,
            account_home=self.environment.account_home,
            data=self._data_folder,
            state=self.state_folders,
            session=self._call_origin,
            rules=apply.shipped_rules(),
            wall=self._wall_setup,
            search_path=self.environment.variables.get("PATH", ""),
            now=now,
            new_id=lambda: self.environment.new_id(now),
            ask=self._asked_human,
            human=self._human,
            begin_log=self._begin_log,
            is_log_adopted=lambda root: self._log_of(root).is_adopted,
            build_index=lambda: index_admin.index(self._open_index(self._open_notes())),
            most_linked_title=self._most_linked_title,
        )

    @property
    def _asked_human(self) -> "Callable[[str], str] | None":
        """What asks the human at the terminal: an agent that has a terminal is asked nothing."""
        variables, harness = self.environment.variables, self.environment.nearest_harness
        return None if human_consent.agent_evidence(variables, harness) else self._ask

    def _log_of(self, root: Path) -> "project_log.Log":
        return project_log.Log(root, self.state_folders.state, account_home=self.environment.trust_home)

    def _begin_log(self, root: Path) -> "log_init.InitialisedLog":
        return log_init.init(
            self._log_of(root),
            home=self.environment.home,
            kbs=self.rule.all_folders,
            led_by=self.environment.agent_evidence,
            ask=self._ask,
        )

    def _most_linked_title(self) -> str:
        """Return the title that most notes link to; without links that of the first note."""
        notes = self._open_notes()
        links = link_graph.find_links(self._open_index(notes), notes.kb).graph
        counts = Counter(dest for _, dest in links.edges)
        return max(links.nodes, key=lambda node: counts[node.id]).title if links.nodes else ""
