"""A folder says its subject, and no folder is too full to be read at a glance."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "roamkb"

#: More names than these nobody looks through.
_MOST_MODULES = 16


def _folders() -> dict[str, list[Path]]:
    """Return the modules of each folder of the package."""
    found: dict[str, list[Path]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent != PACKAGE:
            found.setdefault(path.parent.relative_to(PACKAGE).as_posix(), []).append(path)
    return found


def test_no_folder_is_crowded() -> None:
    """It holds at most sixteen modules."""
    sizes = {name: len([path for path in paths if path.stem != "__init__"]) for name, paths in _folders().items()}
    assert len(sizes) > 20
    assert {} == {name: size for name, size in sizes.items() if size > _MOST_MODULES}


def test_each_folder_says_its_subject() -> None:
    """In the docstring of its package, and nothing else is there: its modules are imported when they are used."""
    for name in _folders():
        tree = ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), name
        assert tree.body[1:] == [], name


def test_no_two_classes_share_a_name() -> None:
    """Whoever looks for one by its name finds it, and no other."""
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.relative_to(PACKAGE).as_posix())
    assert len(places) > 300
    assert {} == {name: paths for name, paths in places.items() if len(paths) > 1}
