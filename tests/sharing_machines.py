"""Machines whose copies of a project share one log by a real PostgreSQL."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from roamkb.core.model import ProjectKind
from roamkb.log.share import sync
from roamkb.log.share.store.postgres import PostgresPort
from roamkb.log.share.store.progress import read_aside
from roamkb.log.share.store.settings import ShareSettings
from roamkb.log.share.store.settings import save_settings
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.replay import replay
from roamkb.log.store.project_log import Log
from roamkb.log.store.share_process import share_folder
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import learn
from tests.conftest import make_world
from tests.postgres import SERVICE
from tests.postgres import PostgresServer


@dataclass(frozen=True, kw_only=True)
class SharedProject:
    """One project of the service, with machines that have copies of it."""

    server: PostgresServer
    name: str
    folder: Path

    def machine(self, name: str, *, role: str = "anna", now: datetime = NOON) -> "Machine":
        """Make a machine with a copy of the project."""
        home = self.folder / name
        home.mkdir()
        world = make_world(home)
        self.server.name_service(world, role=role)
        adopt(world)
        return Machine(world=world, project=self, now=now)

    def lines(self) -> list[str]:
        """Return the lines that the service has of the project."""
        with self.server.connect() as admin:
            rows = admin.execute("select line from roamkb.event where project = %s order by pos", (self.name,))
            return [line for (line,) in rows]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One machine and its copy of the log."""

    world: World
    project: SharedProject
    now: datetime

    @property
    def log(self) -> Log:
        """Its log."""
        log = Log(self.world.personal, self.world.state, account_home=self.world.home)
        assert log.local_folder.is_dir()
        return log

    def settings(self, *, kind: str = "personal", service_id: str = "") -> ShareSettings:
        """Return the settings as a human would have made them."""
        return ShareSettings(
            service=SERVICE,
            service_file=str(self.world.home / ".pg_service.conf"),
            kind=kind,
            project=self.project.name,
            service_id=service_id,
        )

    def turn_on(self) -> "Machine":
        """Share its log, as its human would have said; return it."""
        with self.port() as port:
            save_settings(self.log.shared_settings, self.settings(service_id=port.read_facts().id))
        return self

    def learn(self, text: str, **said: str) -> str:
        """Learn one thing on this machine, at its own time; return its id."""
        return learn(self.world.open(now=self.now).log, text, **said).learning.id

    def port(self) -> PostgresPort:
        """Connect to the service."""
        return PostgresPort(self.settings())

    def sync(self, *, kind: ProjectKind = ProjectKind.PERSONAL) -> None:
        """Exchange lines as the process at work does."""
        share_folder(self.log).mkdir(exist_ok=True)
        with self.port() as port:
            facts = port.read_facts()
            settings = self.settings(service_id=facts.id)
            sync.require_shareable(settings, facts, kind)
            sync.LogSync(self.log, settings, port, facts).sync()

    def lines(self) -> list[bytes]:
        """Return the lines of the log's files, sorted."""
        lines = self.log.read_lines()
        return sorted((*lines.learnings, *lines.events))

    def standings(self) -> dict[str, LearningState]:
        """Return what counts on this machine, by id."""
        return dict(self.log.read_contents().replay_state().standings)

    def replayed(self) -> object:
        """Return what the lines alone come to, whoever wrote them: the same wherever the same lines are."""
        lines = self.log.contents_of(self.log.read_lines())
        return replay(lines.learnings, lines.events).standings

    def aside(self) -> list[tuple[str, bool]]:
        """Return why lines were put aside, and whether that is an alarm."""
        return [(str(record["reason"]), record["alarm"]) for record in read_aside(share_folder(self.log))]
