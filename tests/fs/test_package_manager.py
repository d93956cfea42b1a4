"""What to type to add to this installation: as pip, pipx and uv have to be told, and as they note down."""

import subprocess
import sys
from pathlib import Path

import pytest

from roamkb.fs.package_manager import copy_command
from roamkb.fs.package_manager import extra_install_command
from roamkb.fs.package_manager import reinstall_command
from roamkb.fs.package_manager import uninstall_command
from tests.conftest import ROOT

_ADD = "from roamkb.fs.package_manager import *; print(extra_install_command('mcp')); print(reinstall_command('numpy')); print(uninstall_command())"


@pytest.mark.parametrize(
    ("requirement", "command"),
    [
        ('{ name = "roamkb", directory = "/src/roam kb" }', "uv tool install --force '/src/roam kb[mcp]'"),
        ('{ name = "roamkb", editable = "/src" }', "uv tool install --force --editable '/src[mcp]'"),
        ('{ name = "roamkb", path = "/a.whl" }', "uv tool install --force '/a.whl[mcp]'"),
        (
            '{ name = "roamkb", url = "https://x.org/a.whl" }',
            "uv tool install --force 'https://x.org/a.whl[mcp]'",
        ),
        (
            '{ name = "roamkb", git = "https://x.org/a?rev=v1" }',
            "uv tool install --force 'roamkb[mcp] @ git+https://x.org/a?rev=v1'",
        ),
        ('{ name = "roamkb" }', "uv tool install --force 'roamkb[mcp]'"),
        ('{ name = "roamkb", specifier = "==0.1.0" }', "uv tool install --force 'roamkb[mcp]==0.1.0'"),
        ('{ name = "roamkb", extras = ["serve"] }', "uv tool install --force 'roamkb[serve,mcp]'"),
        ('{ name = "roamkb", extras = ["mcp"] }', "uv tool install --force 'roamkb[mcp]'"),
        ('{ name = "other" }, { name = "roamkb" }', "uv tool install --force 'roamkb[mcp]'"),
        ("", "uv tool install --force 'roamkb[mcp]'"),
        ("]", "uv tool install --force 'roamkb[mcp]'"),
    ],
)
def test_uv_is_told_what_its_receipt_says(tmp_path: Path, requirement: str, command: str) -> None:
    """With one more extra, so that its next upgrade keeps it; the environment itself has no pip."""
    (tmp_path / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{requirement}]\n")
    assert command == extra_install_command("mcp", environment=tmp_path)
    assert "uv tool uninstall roamkb" == uninstall_command(environment=tmp_path)


def test_uv_is_told_to_copy_what_its_receipt_says(tmp_path: Path) -> None:
    """With the extras that are there; no index is asked for what came from elsewhere."""
    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text('[tool]\nrequirements = [{ name = "roamkb", path = "/a.whl", extras = ["serve"] }]\n')
    assert "UV_LINK_MODE=copy uv tool install --reinstall '/a.whl[serve]'" == copy_command(environment=tmp_path)
    receipt.write_text('[tool]\nrequirements = [{ name = "roamkb", directory = "/src" }]\n')
    assert "UV_LINK_MODE=copy uv tool install --reinstall /src" == copy_command(environment=tmp_path)


def test_pipx_is_told_the_name_of_its_environment(tmp_path: Path) -> None:
    """`--suffix` gives it another."""
    place = tmp_path / "roamkb-next"
    place.mkdir()
    (place / "pipx_metadata.json").write_text("{}")
    assert "pipx inject roamkb-next 'roamkb[mcp]'" == extra_install_command("mcp", environment=place)
    mend = reinstall_command("numpy", environment=place)
    assert "pipx runpip roamkb-next install --force-reinstall --no-deps numpy" == mend
    assert "pipx uninstall roamkb-next" == uninstall_command(environment=place)


def test_debians_package_is_apts() -> None:
    """It holds no extras, and nothing else may write into it."""
    place = Path("/usr/lib/roamkb")
    assert "sudo apt remove roamkb" == uninstall_command(environment=place)
    assert "sudo apt install --reinstall roamkb" == reinstall_command("numpy", environment=place)
    assert "pipx install './[mcp]'" in extra_install_command("mcp", environment=place)


def test_an_environment_with_pip_is_told_its_own(tmp_path: Path) -> None:
    """As `make install` and `python -m venv` make them."""
    assert f"{sys.executable} -m pip install 'roamkb[mcp]'" == extra_install_command("mcp", environment=tmp_path)
    assert f"{sys.executable} -m pip install --force-reinstall --no-deps numpy" == reinstall_command(
        "numpy", environment=tmp_path
    )


def test_an_environment_without_pip_is_told_uvs(tmp_path: Path) -> None:
    """As `uv venv` makes them."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    python = tmp_path / "v/bin/python"
    done = subprocess.run(
        [python, "-c", _ADD], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert [
        f"uv pip install --python {python} 'roamkb[mcp]'",
        f"uv pip install --python {python} --reinstall --no-deps numpy",
        f"uv pip uninstall --python {python} roamkb",
    ] == done.stdout.splitlines()
