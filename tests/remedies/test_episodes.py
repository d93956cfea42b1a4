"""A command fails, something is done, the same command works: that is an episode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.transcript import CommandFailure
from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.remedies.episodes import ErrorEpisode
from roamkb.remedies.episodes import find_episodes
from roamkb.remedies.episodes import is_same_command
from roamkb.shell.parser import read_commands

_ERROR = "src/a.c:3:10: fatal error: curl/curl.h: No such file or directory"


def ran(command: str, printed: str = "", *, failed: bool = False, speaker: Speaker = Speaker.TOOL) -> TranscriptPassage:
    """Return a command of a shell."""
    return TranscriptPassage(
        speaker=speaker, text=printed, tool="Bash", command=command, has_failed=failed, is_shell=True
    )


def edited(file: str, added: str = "", removed: str = "") -> TranscriptPassage:
    """Return a change of a file of the project."""
    return TranscriptPassage(
        speaker=Speaker.TOOL, text="", tool="Edit", edits=(f"/p/{file}",), added=added, removed=removed
    )


def episodes(*passages: TranscriptPassage) -> tuple[ErrorEpisode, ...]:
    """Return the episodes in these."""
    return find_episodes((), passages, parse_shell=read_commands, root="/p")[1]


def techniques(*passages: TranscriptPassage) -> list[str]:
    """Return what fixed something in these."""
    return [one.technique for one in episodes(*passages)]


def test_what_was_done_in_between_is_the_technique() -> None:
    """Edits with what they added where that is short, and commands; not what only read, or failed as well."""
    assert ['edit pyproject.toml: asyncio_mode = "auto"; pip install -e .'] == techniques(
        ran("pytest", _ERROR, failed=True),
        ran("cat pyproject.toml"),
        ran("grep -rn asyncio ."),
        edited("pyproject.toml", added='[tool.pytest]\nasyncio_mode = "auto"', removed="[tool.pytest]"),
        ran("apt install nothing", "E: Unable to locate package nothing", failed=True),
        ran("pip install -e ."),
        ran("pytest"),
    )


@pytest.mark.parametrize(
    ("command", "error", "file", "added", "is_related"),
    [
        ("make", _ERROR, "README.md", "Read it first.", False),
        ("pytest -x", "lamp/drv.py:4: OSError: device x busy", "docs/style.css", "color: red", False),
        # in a stack trace, in the command, after the program, by a test's name
        ("pytest", 'File "/p/lamp/drv.py", line 4, in f\nOSError: device x busy', "lamp/drv.py", "y", True),
        ("./run.sh --config web.toml", "Error: bad port", "web.toml", "port = 1", True),
        ("make", _ERROR, "Makefile", "x", True),
        ("docker build .", "failed to solve: exit code: 1", "Dockerfile.dev", "RUN y", True),
        ("pytest", "FAILED tests/test_tax_rate.py::test_sum - assert 3 == 4", "src/tax_rate.py", "y", True),
        # what the error is about, in the change
        ("pytest", "E   AttributeError: 'Lamp' object has no attribute 'dimLevel'", "x.py", "dim_level = 0", True),
        ("go vet", "ERROR: 'é' isn't known", "z.go", "+ b", False),
    ],
)
def test_a_change_fixed_what_it_concerns(command: str, error: str, file: str, added: str, is_related: bool) -> None:
    """A file that the failure names, the program's own, or a change of what the error is about; no other."""
    assert [f"edit {file}: {added}"] * is_related == techniques(
        ran(command, error, failed=True), edited(file, added=added), ran(command)
    )


def test_an_unrelated_change_is_no_part_of_the_technique() -> None:
    """Of two changes the one that concerns the error is kept."""
    assert ["edit src/a.c: int x;"] == techniques(
        ran("make", _ERROR, failed=True), edited("NOTES", added="later"), edited("src/a.c", added="int x;"), ran("make")
    )


def test_the_command_may_be_what_changed() -> None:
    """Then that is what fixed it."""
    assert ["NODE_OPTIONS=--openssl-legacy-provider npm run build"] == techniques(
        ran("npm run build", _ERROR, failed=True), ran("NODE_OPTIONS=--openssl-legacy-provider npm run build")
    )


@pytest.mark.parametrize(
    "passages",
    [
        (ran("make", _ERROR, failed=True), ran("make")),
        (ran("make", _ERROR, failed=True), ran("ls"), ran("make")),
        (ran("make", _ERROR, failed=True), edited("a.c"), ran("which make")),
        (ran("make", _ERROR, failed=True), edited("a.c"), ran("make", _ERROR, failed=True)),
        (ran("make", "", failed=True), edited("a.c"), ran("make")),
        (
            ran("ls x", "ls: cannot access 'x': No such file or directory", failed=True),
            edited("x"),
            ran("ls x"),
        ),
        (ran("make", _ERROR, failed=True, speaker=Speaker.RECALLED), edited("a.c"), ran("make")),
        (ran("make"), edited("a.c"), ran("make")),
    ],
)
def test_what_is_no_episode(passages: tuple[TranscriptPassage, ...]) -> None:
    """Nothing was done, nothing works, nothing was said, or nobody did more than look."""
    assert () == episodes(*passages)


def test_an_error_that_gave_way_to_another_was_fixed_by_what_was_done_until_then() -> None:
    """Once the command works, each has its own deeds; the same error again is still the same."""
    found = episodes(
        ran("make", _ERROR, failed=True),
        edited("Makefile"),
        ran("make", _ERROR, failed=True),
        ran("sudo apt-get install -y libcurl4-openssl-dev"),
        ran("make", "a.c:9:5: error: 'x' undeclared (first use in this function)", failed=True),
        edited("a.c", added="int x;"),
        ran("make"),
    )
    assert [
        "edit Makefile; sudo apt-get install -y libcurl4-openssl-dev",
        "edit a.c: int x;",
    ] == [one.technique for one in found]


def test_a_pipe_hides_the_status_and_its_output_tells() -> None:
    """As agents write it: the last lines are enough."""
    assert ["edit a.c"] == techniques(
        ran("make 2>&1 | tail -20", _ERROR), edited("a.c"), ran("make 2>&1 | tail -20", "ok")
    )


def test_no_credential_is_kept() -> None:
    """Neither of a command, nor of what it printed, nor of an edit."""
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    passages = [
        ran(f"deploy --key {secret}", f"Error: {secret} is bad", failed=True),
        edited(".env", added=f"KEY={secret}"),
        ran(f"login {secret}"),
    ]
    left, _ = find_episodes((), passages, parse_shell=read_commands)
    assert left
    assert secret not in repr(left)
    _, found = find_episodes(left, [ran(f"deploy --key {secret} -v")], parse_shell=read_commands)
    assert found
    assert secret not in repr(found)


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("pytest", "pytest -v"),
        ("pytest", "pytest tests/test_x.py -k foo"),
        ("python -m pytest tests", "uv run python -m pytest tests"),
        ("cd app && npm test", "npm test"),
        ("make test 2>&1 | tail -20", "make test"),
        ("make test; echo status $?", "make test"),
        ("cargo test", "RUST_BACKTRACE=1 cargo test"),
        ("npm install", "npm install --legacy-peer-deps"),
        ("pip install x && pytest tests", "pytest tests -q"),
        ("pip install psycopg2", "pip install psycopg2-binary"),
        ("pip install httpx", ".venv/bin/pip install httpx"),
        ("go test ./...", "go test ./... -run TestX -v"),
        ("kubectl apply -f a.yaml", "kubectl apply -f a.yaml -n x"),
        ("ffmpeg -i in.wav -c:a libfdk_aac out.m4a", "ffmpeg -i in.wav -c:a aac out.m4a"),
    ],
)
def test_small_differences_are_the_same_command(failed: str, worked: str) -> None:
    """An option, a place, a variable, another program in front."""
    assert is_same_command(failed, worked, read_commands)


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        ("pytest tests/a.py", "pytest tests/b.py"),
        ("make", "which make"),
        ("pytest", "pip install pytest"),
        ("npm test", "npm run build"),
        ("docker ps", "docker images"),
        ("python a.py", "python b.py"),
        ("python -c 'x'", "python -c 'y'"),
        ("git push", "git pull"),
        ("go test ./a", "go test ./b"),
        ("psql -d a -c 'select 1'", "psql -d a -c 'select 2'"),
        ("kubectl apply -f a.yaml", "kubectl apply -f b.yaml"),
        ("gcc -o a a.c", "gcc -o b b.c"),
        ("cat a.txt", "cat"),
        ("cd a", "cd b"),
        ("", "make"),
    ],
)
def test_another_command_is_another(failed: str, worked: str) -> None:
    """Another subcommand, file, script or program."""
    assert not is_same_command(failed, worked, read_commands)


_PASSAGES = st.lists(
    st.one_of(
        st.builds(
            ran,
            st.sampled_from(["make", "make -j4", "cd x && make", "pip install a", "ls", "'", "make | tail"]),
            st.sampled_from(["", _ERROR, "error: x is not y"]),
            failed=st.booleans(),
        ),
        st.builds(edited, st.sampled_from(["a.c", "b.c"]), st.sampled_from(["", "x", "x\ny"])),
        st.just(TranscriptPassage(speaker=Speaker.AGENT, text="I see.")),
    ),
    max_size=30,
)


@given(_PASSAGES, st.integers(0, 30))
def test_it_makes_no_difference_how_often_one_looks(passages: list[TranscriptPassage], at: int) -> None:
    """Read in two goes, the same is found and the same is left."""
    whole = find_episodes((), passages, parse_shell=read_commands)
    left, first = find_episodes((), passages[:at], parse_shell=read_commands)
    rest, then = find_episodes(left, passages[at:], parse_shell=read_commands)
    assert whole == (rest, first + then)


@pytest.mark.slow
def test_what_is_kept_is_bounded() -> None:
    """However long a session fails, and however much it prints."""
    passages = [ran(f"tool{n} " + "x" * 9_000, f"error: {n} " + "y" * 99_000, failed=True) for n in range(50)]
    passages += [ran(f"install {n} " + "z" * 9_000) for n in range(99)]
    left, _ = find_episodes((), passages, parse_shell=read_commands)
    assert len(repr(left)) < 100_000
    assert all(isinstance(one, CommandFailure) for one in left)
