"""What `make` does for a newcomer, run for real in a copy of this checkout."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
#: What the installation is made from; the demo and the tests aren't part of it.
_PARTS = (
    "Makefile",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "roamkb",
    "rules",
    "docs",
    ".ci",
    "fixtures",
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of the checkout, in a path with a blank, that nobody may write to."""
    clone = tmp_path / "a clone"
    clone.mkdir()
    for part in _PARTS:
        copy = shutil.copytree if (_ROOT / part).is_dir() else shutil.copy
        copy(_ROOT / part, clone / part)
    for path in [clone, *clone.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    return clone


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return an empty HOME, in a path with a blank."""
    home = tmp_path / "a home"
    home.mkdir()
    return home


def run(*words: str, cwd: Path, home: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody whose HOME is `home`."""
    foreign = ("XDG_", "MAKE", "MFLAGS", "CLAUDE", "PYTHON", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
    return subprocess.run(
        words,
        cwd=cwd,
        env=kept | {"HOME": str(home), "PIP_CACHE_DIR": cache, "PATH": path or os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def files_below(folder: Path) -> set[str]:
    """Return the paths of a folder's files."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def script(folder: Path, name: str, text: str) -> Path:
    """Return an executable script."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def bare_path(folder: Path) -> str:
    """Return a PATH with the shell's tools and no Python."""
    folder.mkdir(parents=True, exist_ok=True)
    for tool in ("bash", "env", "cat", "mkdir", "dirname", "basename"):
        where = shutil.which(tool)
        assert where is not None
        (folder / tool).symlink_to(where)
    return str(folder)


def test_make_alone_lists_what_it_can_do(home: Path) -> None:
    """A newcomer who types `make` gets help, and nothing happens."""
    done = run("make", cwd=_ROOT, home=home)
    assert done.returncode == 0
    for target in ("demo", "test", "install", "uninstall", "lint", "docs", "bench", "clean"):
        assert f"make {target}" in done.stdout


def test_an_old_python_is_told_what_to_do(home: Path, tmp_path: Path) -> None:
    """Without Python 3.11 the message says which one there is and how to get another."""
    old = script(
        tmp_path / "old",
        "python3",
        '#!/bin/sh\ncase "$*" in *"3, 11"*) exit 1;; *) echo "is Python 3.9";; esac\n',
    )
    done = run(
        str(_ROOT / ".ci/venv"), str(old), str(tmp_path / "v"), cwd=home, home=home,
        path=bare_path(tmp_path / "bin"),
    )  # fmt: skip
    assert done.returncode == 2
    assert "needs Python 3.11 or newer" in done.stderr
    assert "is Python 3.9" in done.stderr
    assert not (tmp_path / "v").exists()


def test_a_newer_python_beside_an_old_one_is_found(home: Path, tmp_path: Path) -> None:
    """`python3` may be old where `python3.12` isn't."""
    tools = bare_path(tmp_path / "bin")
    old = script(tmp_path / "old", "python3", "#!/bin/sh\nexit 1\n")
    script(
        tmp_path / "bin",
        "python3.12",
        '#!/bin/sh\ncase "$*" in *--clear*) echo "made by 3.12";; --version) echo Python 3.12.9;; esac\n',
    )
    done = run(str(_ROOT / ".ci/venv"), str(old), str(tmp_path / "v"), cwd=home, home=home, path=tools)
    assert done.returncode == 0
    assert "made by 3.12" in done.stdout


def test_a_python_without_venv_is_told_what_to_do(home: Path, tmp_path: Path) -> None:
    """Debian packages the venv module on its own."""
    bare = script(
        tmp_path / "bare",
        "python3",
        '#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; *print*) echo 3.11;; esac\n',
    )
    done = run(str(_ROOT / ".ci/venv"), str(bare), str(tmp_path / "v"), cwd=home, home=home)
    assert done.returncode == 2
    assert "apt install python3-venv" in done.stderr
    assert "python3.11-venv" in done.stderr


def test_what_takes_a_minute_can_be_stopped(home: Path) -> None:
    """By Ctrl-C: one line, the shells' status, and nothing that goes on; else its own status counts."""
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    stopped = subprocess.Popen(
        [_ROOT / ".ci/patiently", sys.executable, "-c", program],
        cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert stopped.stdout is not None
    child = int(stopped.stdout.readline())
    stopped.send_signal(signal.SIGINT)
    _, said = stopped.communicate()
    assert (130, True) == (stopped.returncode, said.endswith("goes on from there\n"))
    assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert 3 == run(str(_ROOT / ".ci/patiently"), "bash", "-c", "exit 3", cwd=home, home=home).returncode


def test_who_stops_uninstall_at_its_question_keeps_the_program(home: Path, tmp_path: Path) -> None:
    """Ctrl-C there leaves hooks and rule, which would name a command that is gone."""
    data = tmp_path / "data"
    program = script(data / "venv/bin", "roamkb", "#!/bin/sh\nexit 130\n")
    stopped = run(str(_ROOT / ".ci/uninstall"), sys.executable, str(data), str(tmp_path / "bin"), cwd=home, home=home)
    assert (130, True) == (stopped.returncode, program.exists())


def test_install_again_and_uninstall(clone: Path, home: Path) -> None:
    """The command and the rule come with the first run, the second touches nothing, the last takes them."""
    rule = home / ".claude/rules/knowledge-base.md"
    command = home / ".local/bin/roamkb"
    early = run("make", "install", cwd=clone, home=home)
    assert early.returncode == 2
    assert "neither rule nor hooks were written" in early.stderr
    assert not (home / ".claude").exists()
    run("make", "uninstall", cwd=clone, home=home)
    assert [] == [path for path in home.rglob("*") if path.relative_to(home).parts[0] == ".local"]

    theirs = home / ".claude/rules/mine.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    (home / "sync/org/roam/.stfolder").mkdir(parents=True)

    first = run("make", "install", cwd=clone, home=home)
    assert first.returncode == 0, first.stdout + first.stderr
    assert f"link  command: {command}" in first.stdout
    assert f"link  rule: {rule}" in first.stdout
    assert "this shell doesn't find roamkb" in first.stdout
    assert rule.is_symlink()
    # words and tables are part of the program
    (data,) = (home / ".local/share/roamkb").rglob("site-packages/roamkb/data")
    assert files_below(_ROOT / "roamkb/data") == files_below(data)
    # the clone may go, and the environment be made anew: nothing leads into either
    assert home / ".local/share/roamkb/rules" == rule.resolve().parent
    assert home in command.resolve().parents
    assert run(str(command), "--version", cwd=home, home=home).stdout.startswith("roamkb ")

    for shipped in ("man/man1/roamkb-search.1", "man/man7/roamkb-boundary.7", "zsh/site-functions/_roamkb"):
        assert (home / ".local/share" / shipped).read_text()

    before = {path: path.lstat().st_mtime_ns for path in home.rglob("*") if "__pycache__" not in path.parts}
    second = run("make", "install", cwd=clone, home=home, path=f"{command.parent}:{os.environ['PATH']}")
    assert second.returncode == 0
    assert "link  " not in second.stdout
    assert 4 == second.stdout.count("skip  ")
    assert "this shell doesn't find roamkb" not in second.stdout
    assert before == {path: path.lstat().st_mtime_ns for path in home.rglob("*") if "__pycache__" not in path.parts}

    last = run("make", "uninstall", cwd=clone, home=home)
    assert last.returncode == 0, last.stderr
    left = [path for top in (".claude", ".local") for path in (home / top).rglob("*") if not path.is_dir()]
    assert left == [theirs]
    assert not (home / ".local").exists()


def test_a_purge_after_an_uninstall_still_purges(clone: Path, home: Path) -> None:
    """The command is gone by then; its state and its cache aren't, and the first call says how."""
    (home / "sync/org/roam/.stfolder").mkdir(parents=True)
    assert run("make", "install", cwd=clone, home=home).returncode == 0
    assert run(str(home / ".local/bin/roamkb"), "index", cwd=home, home=home).returncode == 0
    first = run("make", "uninstall", cwd=clone, home=home)
    assert "make uninstall PURGE=1" in first.stdout
    assert (home / ".local/state/roamkb/cache").exists()
    assert not (home / ".claude").exists()
    purged = run("make", "uninstall", "PURGE=1", cwd=clone, home=home)
    assert purged.returncode == 0, purged.stderr
    assert not (home / ".local/state/roamkb/cache").exists()
    assert not (home / ".local/state/roamkb").exists()
    assert "pip uninstall" not in purged.stdout


def test_missing_programs_are_named_with_their_packages(home: Path, tmp_path: Path) -> None:
    """A suite that skips says what it lacks, before it starts."""
    done = run(str(_ROOT / ".ci/programs"), cwd=home, home=home, path=bare_path(tmp_path / "bin"))
    assert done.returncode == 0
    for word in ("emacs and org-roam", "rg", "strace", "syncthing", "elpa-org-roam", "ripgrep"):
        assert word in done.stdout


def test_somebody_elses_command_is_left_alone(home: Path, tmp_path: Path) -> None:
    """What lies at the command's place and isn't ours stays; the status says so."""
    data, bin = home / ".local/share/roamkb", home / ".local/bin"
    script(data / "venv/bin", "python", "#!/bin/sh\nexit 0\n")
    ours = script(data / "venv/bin", "roamkb", "#!/bin/sh\nexit 0\n")
    command = script(bin, "roamkb", "#!/bin/sh\necho theirs\n")
    done = run(str(_ROOT / ".ci/install"), "python3", str(data), str(bin), cwd=home, home=home)
    assert done.returncode == 2
    assert "WARN" in done.stderr
    assert "theirs" in command.read_text()
    assert ours.exists()
