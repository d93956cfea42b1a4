"""Emacs init files, which are read as text: where they say the notes, dailies and bibliographies are."""

from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import Path

from roamkb.core.model import UnreadableFile
from roamkb.fs.files import read_file
from roamkb.org.emacs_settings import find_paths
from roamkb.org.emacs_settings import lisp_of_org

#: What Emacs itself made of its settings, by the snippet that `roamkb install --snippets` writes out: it comes first.
SETTINGS_NAME = "roamkb-settings.el"
#: Files that Emacs reads at its start, below HOME, and folders of them.
_INIT_FILES = (".emacs", ".emacs.el", ".spacemacs")
INIT_FOLDERS = (".emacs.d", ".config/emacs", ".doom.d", ".config/doom", ".spacemacs.d")
#: Where Doom has Emacs keep what it makes.
_CACHE_FOLDERS = (".config/emacs/.local/cache", ".emacs.d/.local/cache")
_INIT_SUBFOLDERS = (".", "lisp", "modules", "config")
#: Of an init file.
_MAX_INIT_BYTES = 2_000_000


def read_init_files(home: Path) -> Iterator[tuple[Path, str]]:
    """Yield each init file below `home` that can be read, with its Emacs Lisp."""
    for path in _init_files(home):
        data = read_file(path, limit=_MAX_INIT_BYTES)
        if not isinstance(data, UnreadableFile):
            text = data.decode(errors="replace")
            yield path, lisp_of_org(text) if path.suffix == ".org" else text


def find_configured_paths(home: Path, kb: Path, *variables: str) -> tuple[Path, ...]:
    """Return the paths that init files give the variables of org-roam and its kin; relative ones start at `kb`."""
    return tuple(
        dict.fromkeys(
            Path(path)
            for _, lisp in read_init_files(home)
            # most files name none, and to take one apart lasts longer
            if any(variable in lisp for variable in variables)
            for path in find_paths(
                lisp, variables, home=str(home), known={"org-roam-directory": f"{kb}/"}, base=str(kb)
            )
        )
    )


def _init_files(home: Path) -> Iterator[Path]:
    yield from (home / name / SETTINGS_NAME for name in (*INIT_FOLDERS, *_CACHE_FOLDERS))
    yield from (home / name for name in _INIT_FILES)
    for folder in (home / name / inner for name in INIT_FOLDERS for inner in _INIT_SUBFOLDERS):
        yield from sorted(path for path in _children(folder) if path.suffix in (".el", ".org"))


def _children(folder: Path) -> Iterable[Path]:
    try:
        return tuple(folder.iterdir())
    except OSError:
        return ()
