"""What a project has, looked up in real files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from roamkb.pipeline.store import references_on_disk as anchors
from roamkb.pipeline.store.references_on_disk import ProjectReferences


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with some code."""
    root = tmp_path / "site"
    for name, text in {
        "src/Foo.ts": "export function getUser() {}\n",
        "packages/web/hooks/use.ts": "const snake_case = 1\n",
        "dist/bundle.js": "function onlyBuilt() {}\n",
        "node_modules/x/index.js": "function onlyInstalled() {}\n",
        ".lavra/memory/knowledge.jsonl": '{"content":"onlyRemembered()"}\n',
        ".gitignore": "/dist/\n",
        "image.png": "\0 onlyBinary",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("path", "is_there"),
    [
        ("src/Foo.ts", True),
        ("src/foo.ts", False),
        ("hooks/use.ts", True),
        ("web/hooks/use.ts", True),
        ("oks/use.ts", False),
        ("dist/bundle.js", True),
        ("src/gone.ts", False),
        ("x" * 300 + "/a.ts", False),
    ],
)
def test_a_path_is_looked_up_as_written(root: Path, path: str, is_there: bool) -> None:
    """From the root, or as the end of a longer one."""
    assert is_there is ProjectReferences(root).has_file(path)


def test_a_link_leads_nowhere_else(root: Path, tmp_path: Path) -> None:
    """A repository can't ask what lies outside of it."""
    (tmp_path / "secret.txt").write_text("x")
    (root / "out").symlink_to(tmp_path)
    assert not ProjectReferences(root).has_file("out/secret.txt")


def test_symbols_are_looked_for_in_the_projects_own_texts(root: Path) -> None:
    """Not in what is built, installed, binary or remembered; case counts."""
    wanted = [
        "getUser",
        "getuser",
        "api.snake_case",
        "onlyBuilt",
        "onlyInstalled",
        "onlyRemembered",
        "onlyBinary",
    ]
    found = ProjectReferences(root).symbols_among(wanted)
    assert found is not None
    assert {"getUser", "api.snake_case"} == found


def test_whose_time_is_up_calls_nothing_missing(root: Path) -> None:
    """A slow disk is no reason to doubt."""
    ticks: Iterator[float] = iter([0.0, *[100.0] * 100])
    assert ProjectReferences(root, clock=lambda: next(ticks)).symbols_among(["gone"]) is None


def test_a_project_too_large_to_know_has_every_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not looked at isn't missing."""
    monkeypatch.setattr(anchors, "_MOST_FILES", 2)
    grounds = ProjectReferences(root)
    assert grounds.has_file("src/gone.ts")
    assert grounds.symbols_among(["gone"]) is None
