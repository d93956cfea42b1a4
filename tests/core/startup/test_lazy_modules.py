"""Packages whose modules are imported once they are used: a real package on disk, and the mechanism of `roamkb`."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest

from roamkb import lazy_module

_PACKAGE = "from roamkb import lazy_submodules\nlazy_submodules(__name__)\n"
_SIDE = """\
_load = "a name that a stand-in might have itself"
COUNT = 1

def count() -> int:
    return COUNT
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `lazyhouse`, with a module, a package of its own, and a module that can't be imported."""
    folder = tmp_path / "lazyhouse"
    for package in (folder, folder / "inner"):
        package.mkdir()
        (package / "__init__.py").write_text(_PACKAGE)
        (package / "side.py").write_text(_SIDE)
    (folder / "broken.py").write_text("import lazyhouse_needs_this\n")
    (folder / "slow.py").write_text("import time\ntime.sleep(0.2)\nREADY = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "lazyhouse"]:
        del sys.modules[name]


def _bound(statement: str) -> ModuleType:
    """Return what `statement` binds to `it`."""
    scope: dict[str, ModuleType] = {}
    exec(statement, scope)
    return scope["it"]


def test_a_module_is_imported_once_it_is_used(house: Path) -> None:
    """Neither the import statement nor a second one loads it; a name in it does."""
    side = _bound("from lazyhouse import side as it")
    again = _bound("from lazyhouse import side as it")
    assert "lazyhouse.side" not in sys.modules
    assert 1 == side.count()
    assert 1 == again.count()
    assert "lazyhouse.side" in sys.modules


def test_names_of_a_module_are_imported_at_once(house: Path) -> None:
    """Only modules are lazy, and the package has the real one then."""
    count = _bound("from lazyhouse.side import count as it")
    assert sys.modules["lazyhouse.side"].count is count
    assert _bound("from lazyhouse import side as it") is sys.modules["lazyhouse.side"]


def test_a_package_in_a_package_is_lazy_too(house: Path) -> None:
    """Down to its modules."""
    inner = _bound("from lazyhouse import inner as it")
    assert "lazyhouse.inner" not in sys.modules
    assert 1 == inner.side.count()


def test_the_name_of_no_module_is_an_import_error(house: Path) -> None:
    """As from any package, at the import statement."""
    with pytest.raises(ImportError, match="nothing"):
        _bound("from lazyhouse import nothing as it")
    assert not hasattr(import_module("lazyhouse"), "nothing")


def test_a_module_that_cannot_be_imported_says_why(house: Path) -> None:
    """At each use, with the error of the import."""
    broken = _bound("from lazyhouse import broken as it")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="lazyhouse_needs_this"):
            _ = broken.anything


def test_a_name_that_a_module_lacks_is_an_attribute_error(house: Path) -> None:
    """With the module's own message, before and after it was loaded."""
    side = _bound("from lazyhouse import side as it")
    for _ in range(2):
        with pytest.raises(AttributeError, match=r"module 'lazyhouse\.side' has no attribute 'nothing'"):
            _ = side.nothing


def test_names_of_a_module_are_not_those_of_its_stand_in(house: Path) -> None:
    """A stand-in has no method that a module's own function could be taken for."""
    assert "a name that a stand-in might have itself" == _bound("from lazyhouse import side as it")._load


def test_a_name_that_is_set_is_set_in_the_module(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it was loaded and afterwards; and set in the module it is seen by who has the stand-in."""
    side = _bound("from lazyhouse import side as it")
    with monkeypatch.context() as patch:
        patch.setattr(side, "COUNT", 2)
        assert 2 == side.count()
    assert 1 == side.count()
    monkeypatch.setattr(import_module("lazyhouse.side"), "COUNT", 3)
    assert (3, 3) == (side.COUNT, side.count())
    side.MORE = 4  # type: ignore[attr-defined]
    assert sys.modules["lazyhouse.side"].MORE == 4
    del side.MORE
    assert not hasattr(sys.modules["lazyhouse.side"], "MORE")


def test_threads_wait_until_a_module_is_whole(house: Path) -> None:
    """Each that asks while one of them imports it."""
    slow = _bound("from lazyhouse import slow as it")
    seen: list[bool] = []
    threads = [Thread(target=lambda: seen.append(slow.READY)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [True] * 8 == seen


def test_a_module_is_lazy_by_its_whole_name(house: Path) -> None:
    """Its package is not loaded either."""
    side = lazy_module("lazyhouse.inner.side")
    assert "lazyhouse" not in sys.modules
    assert 1 == side.count()


def test_our_own_modules_are_found_where_their_names_say() -> None:
    """With what Python's own finders say of them, so that a traceback, a reload and a debugger see no difference."""
    from importlib.machinery import PathFinder

    import roamkb

    finder = next(finder for finder in sys.meta_path if finder.__module__ == "roamkb")
    for name, folder in (("roamkb.core", ""), ("roamkb.core.text", "/core")):
        path = [str(Path(roamkb.__file__).parent) + folder]
        ours, pythons = finder.find_spec(name, path), PathFinder.find_spec(name, path)
        assert ours and pythons
        for field in ("name", "origin", "cached", "submodule_search_locations", "has_location"):
            assert getattr(pythons, field) == getattr(ours, field)
    assert finder.find_spec("roamkb.core.nowhere", path) is None
    assert finder.find_spec("json.decoder", path) is None
