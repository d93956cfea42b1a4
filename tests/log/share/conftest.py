"""A PostgreSQL for all tests of shared logs, and a project of its own for each."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamkb.core.model import ProjectKind
from roamkb.log.share.share import migration_sql
from tests.postgres import PostgresServer
from tests.postgres import programs
from tests.postgres import running_server
from tests.sharing_machines import SharedProject


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Run one server for all tests of this process."""
    if programs() is None:
        if os.environ.get("ROAMKB_TEST_ALL") == "1":
            pytest.fail("ROAMKB_TEST_ALL=1, but there's no PostgreSQL here")
        pytest.skip("needs PostgreSQL (Debian: postgresql)")
    with running_server() as server:
        # twice: a step is done once
        for _ in range(2):
            server.run_sql(migration_sql(ProjectKind.PERSONAL, "nothing", ["anna", "bert", "mallory"]))
        yield server


@pytest.fixture
def shared(postgres: PostgresServer, tmp_path: Path, request: pytest.FixtureRequest) -> SharedProject:
    """Give a test a project that nobody else shares."""
    name = f"p{abs(hash(request.node.nodeid)):x}"[:20]
    with postgres.connect() as admin:
        for role in ("anna", "bert", "mallory"):
            admin.execute("insert into roamkb.member values (%s, %s) on conflict do nothing", (role, name))
    return SharedProject(server=postgres, name=name, folder=tmp_path)
