"""What the fault tests need of the machine."""

import os
import shutil

import pytest

from tests.faults.promises import taken_name
from tests.faults.sweep import Program


@pytest.fixture(scope="session")
def strace(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip, loudly, where strace is missing or may not trace; fail where nothing may be skipped."""
    why = "" if shutil.which("strace") else "strace isn't installed (Debian: apt-get install strace)"
    if not why:
        folder = tmp_path_factory.mktemp("strace")
        taken_name(folder)
        tracee = Program()
        try:
            tracee.run("create", folder, None)
        except RuntimeError as error:
            why = str(error)
        finally:
            tracee.close()
    if why and os.environ.get("ROAMKB_TEST_ALL") == "1":
        pytest.fail(f"the fault sweep did not run: {why}")
    if why:
        pytest.skip(f"THE FAULT SWEEP DID NOT RUN: {why}")
