"""Whatever a log's folder holds is opened by `fs/untrusted_files`, and by what stands on it."""

import ast
from collections.abc import Iterator

import pytest

from tests.contracts.test_folders import PACKAGE

#: Of these every module may be given a path in a log's folder.
_SUBJECTS = (
    "app/hooks",
    "app/log",
    "app/spool.py",
    "boundary/store/kb_paths.py",
    "boundary/store/session_cache.py",
    "context",
    "curation",
    "fs/append.py",
    "instructions",
    "interfaces/hooks",
    "log",
    "pipeline",
    "remedies",
    "sharing",
    "spool",
    "tasks",
    "wall/protected.py",
)
#: What opens, makes, renames or removes by a path, whatever leads there.
_METHODS = frozenset("chmod hardlink_to mkdir open read_bytes read_text rename rmdir symlink_to touch unlink".split())
_METHODS |= {"write_bytes", "write_text"}
_FUNCTIONS = frozenset(
    "chmod link makedirs mkdir mkfifo open remove removedirs rename renames replace rmdir symlink truncate unlink utime".split()
)
#: They open what lies elsewhere: a record of the state folder, an harness's transcript, a tool's own files, the system's.
_ELSEWHERE = {
    "app/hooks/session_project.py": {"read_bytes"},
    "boundary/store/kb_paths.py": {"open", "os.makedirs", "os.replace"},
    "context/store/session_shown.py": {"unlink"},
    "interfaces/hooks/main.py": {"os.open"},
    "log/share/store/settings.py": {"unlink"},
    "log/store/index.py": {"replace"},
    "log/trust/store/system_programs.py": {"read_text"},
    "log/trust/store/trust_lists.py": {"os.open"},
    "pipeline/store/foreign_stores.py": {"open", "sqlite3.connect"},
    "pipeline/store/sources.py": {"os.open"},
    "pipeline/store/transcript_glance.py": {"open"},
    "sharing/store/snapshot_archive.py": {"open"},
    "wall/protected.py": {"os.makedirs"},
}


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for subject in _SUBJECTS:
        path = PACKAGE / subject
        for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
            yield file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def _openings(tree: ast.Module) -> set[str]:
    return {name for call in ast.walk(tree) if isinstance(call, ast.Call) and (name := _opening(call))}


def _opening(call: ast.Call) -> str:
    """Return how a call opens, changes or removes something by its path; empty where it does nothing like that."""
    match call.func:
        case ast.Name(id="open"):
            return "open"
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in _FUNCTIONS:
            is_by_descriptor = any(keyword.arg and keyword.arg.endswith("dir_fd") for keyword in call.keywords)
            is_of_descriptor = name == "utime" and isinstance(call.args[0], ast.Name) and call.args[0].id == "fd"
            return "" if is_by_descriptor or is_of_descriptor else f"os.{name}"
        case ast.Attribute(value=ast.Name(id="sqlite3"), attr="connect"):
            return "sqlite3.connect"
        case ast.Attribute(value=ast.Name(id="os" | "append" | "webbrowser")):
            return ""
        case ast.Attribute(attr="replace") if len(call.args) == 1 and not call.keywords:
            # a path's; of a text there are two, and of a value there are names
            return "replace"
        case ast.Attribute(attr=name) if name in _METHODS:
            return name
    return ""


def test_no_module_opens_local_state_in_a_way_of_its_own() -> None:
    """A command may have put a link or a FIFO there, and SQLite takes what lies beside a database for its journal."""
    openings = {name: opened for name, tree in _modules() if (opened := _openings(tree))}
    assert _ELSEWHERE == openings


@pytest.mark.parametrize(
    ("code", "opened"),
    [
        ("path.write_text('x')", {"write_text"}),
        ("(local / 'x').touch(mode=0o600)", {"touch"}),
        ("open(path, 'w')", {"open"}),
        ("os.open(path, os.O_RDONLY)", {"os.open"}),
        ("os.open(name, flags, dir_fd=fd)", set()),
        ("temporary.replace(path)", {"replace"}),
        ("text.replace('a', 'b')", set()),
        ("sqlite3.connect(path)", {"sqlite3.connect"}),
        ("untrusted_files.replace_file(path, b'')", set()),
    ],
)
def test_an_opening_is_seen(code: str, opened: set[str]) -> None:
    """By its form alone."""
    assert opened == _openings(ast.parse(code))
