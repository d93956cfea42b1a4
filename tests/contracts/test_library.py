"""What `import roamkb` gives."""

import subprocess
import sys
from pathlib import Path

import roamkb
from tests.conftest import World


def test_every_public_name_is_there() -> None:
    """Each is what its type-checkers' import says."""
    for name in roamkb.__all__:
        assert getattr(roamkb, name) is not None
    assert issubclass(roamkb.Refused, roamkb.RoamkbError)


def test_importing_the_package_imports_nothing_else() -> None:
    """The command line pays for every module."""
    probe = "import sys; import roamkb; print([name for name in sys.modules if name.startswith('roamkb.')])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()


def test_several_texts_may_be_any_sequence(world: World) -> None:
    """A list, a tuple; and a lone text is one, not its letters."""
    kb = world.open()
    assert ("agent", "a", "b") == kb.write("First thing", tags=["a", "b"]).tags
    assert ("agent", "lone") == kb.write("Another matter", tags="lone").tags


def test_the_types_are_shipped() -> None:
    """py.typed is in the package."""
    assert (Path(roamkb.__file__).parent / "py.typed").exists()
