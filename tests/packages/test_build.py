"""The wheel and the sdist as they are published: whole, nothing else in them, and of the same bytes each time."""

import subprocess
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from docs.man_pages import man_pages
from roamkb import __version__
from tests.conftest import ROOT
from tests.packages.conftest import Packages
from tests.packages.conftest import Person


def files_below(*folders: str) -> set[str]:
    """Return the files of the checkout's folders, but for what Python compiled."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return {path.relative_to(ROOT).as_posix() for path in paths if path.is_file() and "__pycache__" not in path.parts}


def test_the_sdist_builds_the_same_bytes(packages: Packages) -> None:
    """Wheel and sdist, whatever the folder's name, the files' times and whoever builds."""
    names = sorted(path.name for path in packages.built.iterdir())
    assert [packages.wheel.name, packages.sdist.name] == names
    for name in names:
        assert (packages.built / name).read_bytes() == (packages.built_again / name).read_bytes(), name


def test_the_wheel_holds_the_package_and_no_more(packages: Packages) -> None:
    """Words, tables, the rule, licences, man pages and completions; no test and nothing of a checkout."""
    names = set(zipfile.ZipFile(packages.wheel).namelist())
    info, share = f"roamkb-{__version__}.dist-info", f"roamkb-{__version__}.data/data/share"
    notes = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
    data_licences = ("DIGEST-WORDS-LICENSE", "WORD-FREQUENCIES-LICENSE", "WORDNET-LICENSE")
    licences = {"LICENSE", *(f"roamkb/data/{name}" for name in data_licences)}
    completions = {
        "bash-completion/completions/roamkb",
        "zsh/site-functions/_roamkb",
        "fish/vendor_completions.d/roamkb.fish",
    }
    pages = {f"man/man{name[-1]}/{name}" for name in man_pages()}
    assert names == (
        files_below("roamkb")
        | {"roamkb/rules/knowledge-base.md"}
        | {f"{info}/{name}" for name in notes}
        | {f"{info}/licenses/{name}" for name in licences}
        | {f"{share}/{name}" for name in completions | pages}
    )


def test_the_sdist_holds_what_git_has_and_no_more(packages: Packages) -> None:
    """All that is needed to build, test and install; nothing that lies about in a checkout."""
    with tarfile.open(packages.sdist) as archive:
        members = archive.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    modes = {member.name.partition("/")[2]: member.mode for member in members}
    assert {0o755} == {modes[f".ci/{name}"] for name in ("deb", "install", "patiently", "run", "uninstall", "venv")}
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this isn't a checkout of git's")
    settings_of_tools = {name for name in listed.stdout.splitlines() if name.startswith(".") and "/" not in name}
    assert names - {"PKG-INFO", ".gitignore"} == {*listed.stdout.splitlines()} - settings_of_tools


def test_the_metadata_says_what_an_index_shows(packages: Packages) -> None:
    """Description, licences, Pythons, extras and types."""
    with zipfile.ZipFile(packages.wheel) as wheel:
        text = wheel.read(f"roamkb-{__version__}.dist-info/METADATA").decode()
    fields = Parser().parsestr(text)
    classifiers = fields.get_all("Classifier", [])
    assert "Typing :: Typed" in classifiers
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} < set(classifiers)
    assert ("MIT AND CC-BY-SA-4.0", ">=3.11") == (fields["License-Expression"], fields["Requires-Python"])
    assert {"all", "mcp", "multilingual", "page", "semantic", "serve", "shared"} == set(
        fields.get_all("Provides-Extra", [])
    )
    needed: dict[str, set[str]] = {extra: set() for extra in ("all", "mcp", "page", "semantic", "shared")}
    for requirement in fields.get_all("Requires-Dist", []):
        name, _, marker = requirement.partition(";")
        for extra in needed:
            if f"extra == '{extra}'" in marker:
                needed[extra].add(name)
    assert needed["all"] == needed["mcp"] | needed["page"] | needed["semantic"] | needed["shared"]
    assert str(fields.get_payload()).startswith("# roamkb\n")


def test_the_wheel_works_without_the_checkout(packages: Packages, person: Person, tmp_path: Path) -> None:
    """In a new environment: notes, log, hooks, rule and documentation are all there."""
    wheel = tmp_path / packages.wheel.name
    wheel.write_bytes(packages.wheel.read_bytes())
    environment = str(person.home / "env")
    person.run("uv", "venv", "--quiet", environment)
    person.run("uv", "pip", "install", "--quiet", "--python", environment, str(wheel))
    assert f"roamkb {__version__}\n" == person.run("roamkb", "--version")
    person.install_hooks()
    person.run("roamkb", "init")
    person.use()
    assert "roamkb" in person.run("roamkb", "schema", "search")
    where = person.run("python", "-P", "-c", "import roamkb; print(roamkb.__file__)")
    assert where.startswith(environment)
