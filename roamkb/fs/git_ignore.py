"""Whether git ignores a file: by the ignore files themselves, since git would run what a repository says."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.gitignore import last_match
from roamkb.core.model import UnreadableFile
from roamkb.fs.files import read_file

_IGNORE = ".gitignore"
_EXCLUDE = Path("info") / "exclude"


def ignored_by(path: Path, root: Path, *, home: Path) -> Path | None:
    """Return the ignore file by which git leaves out `path`, in the repository at `root`; None if it doesn't.

    A folder that is ignored takes all that it holds with it (gitignore(5)).
    """
    parts = path.relative_to(root).parts
    for end in range(1, len(parts) + 1):
        name = "/".join(parts[:end]) + ("/" if end < len(parts) else "")
        decided: Path | None = None
        for file, base in _files(root, parts[: end - 1], home):
            found = last_match(_patterns(file), name[len(base) :])
            if found is not None:
                decided = file if found else None
        if decided:
            return decided
    return None


def _files(root: Path, folders: tuple[str, ...], home: Path) -> Iterator[tuple[Path, str]]:
    """Yield each ignore file with the folder that its patterns start from, the weakest first."""
    yield home / ".config" / "git" / "ignore", ""
    yield git_folder(root) / _EXCLUDE, ""
    base = ""
    yield root / _IGNORE, base
    for folder in folders:
        base += f"{folder}/"
        yield root / base / _IGNORE, base


def git_folder(root: Path) -> Path:
    """Return where the repository at `root` keeps its own files; a worktree shares another's."""
    git = root / ".git"
    if git.is_file():
        text = read_file(git, limit=4096)
        if not isinstance(text, UnreadableFile) and text.startswith(b"gitdir:"):
            own = root / text.partition(b":")[2].decode("utf-8", "replace").strip()
            common = read_file(own / "commondir", limit=4096)
            if isinstance(common, UnreadableFile):
                return own
            return own / common.decode("utf-8", "replace").strip()
    return git


def _patterns(file: Path) -> tuple[str, ...]:
    data = read_file(file)
    if isinstance(data, UnreadableFile):
        return ()
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    # not `splitlines`, which knows more ends of lines than git
    return tuple(line.removesuffix("\r") for line in text.split("\n"))
