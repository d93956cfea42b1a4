"""By what program roamkb was installed, and what to type there to add to it, mend it or take it away."""

import shlex
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

#: What uv and pipx leave in an environment that they made for one program.
_UV = "uv-receipt.toml"
_PIPX = "pipx_metadata.json"
#: Where a package came from, in uv's receipt, if not from an index.
_PLACES = ("directory", "path", "url")
_PACKAGE = "roamkb"


def how_to_add(extra: str, *, environment: Path | None = None) -> str:
    """Return the command that installs an extra beside the roamkb that runs, so that an upgrade keeps it.

    pip takes the extra's needs from what is installed, wherever that came from.
    """
    place = environment or Path(sys.prefix)
    if (place / _UV).is_file():
        return f"uv tool install --force {_wanted_of_uv(place / _UV, extra)}"
    if (place / _PIPX).is_file():
        return f"pipx inject {shlex.quote(place.name)} '{_PACKAGE}[{extra}]'"
    return f"{_installing()} '{_PACKAGE}[{extra}]'"


def how_to_mend(package: str, *, environment: Path | None = None) -> str:
    """Return the command that installs a damaged package once more, and nothing else."""
    place = environment or Path(sys.prefix)
    if (place / _PIPX).is_file():
        return f"pipx runpip {shlex.quote(place.name)} install --force-reinstall --no-deps {package}"
    again = "--force-reinstall" if _has_pip() else "--reinstall"
    return f"{_installing()} {again} --no-deps {package}"


def how_to_remove(*, environment: Path | None = None) -> str:
    """Return the command that takes the program itself away."""
    place = environment or Path(sys.prefix)
    if (place / _UV).is_file():
        return f"uv tool uninstall {_PACKAGE}"
    if (place / _PIPX).is_file():
        return f"pipx uninstall {shlex.quote(place.name)}"
    python = shlex.quote(sys.executable)
    return (
        f"{python} -m pip uninstall {_PACKAGE}"
        if _has_pip()
        else f"uv pip uninstall --python {python} {_PACKAGE}"
    )


def _installing() -> str:
    """Return what installs packages into the environment that runs: uv makes some that have no pip."""
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install" if _has_pip() else f"uv pip install --python {python}"


def _has_pip() -> bool:
    return find_spec("pip") is not None


def _wanted_of_uv(receipt: Path, extra: str) -> str:
    """Return what uv was told to install, with one more extra, in the words that it takes."""
    try:
        told = tomllib.loads(receipt.read_text(encoding="utf-8"))["tool"]["requirements"]
        ours = next(one for one in told if one["name"] == _PACKAGE)
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        ours = {}
    extras = ",".join(dict.fromkeys((*ours.get("extras", ()), extra)))
    if "editable" in ours:
        return "--editable " + shlex.quote(f"{ours['editable']}[{extras}]")
    if "git" in ours:
        return shlex.quote(f"{_PACKAGE}[{extras}] @ git+{ours['git']}")
    place = next((ours[key] for key in _PLACES if key in ours), _PACKAGE)
    return shlex.quote(f"{place}[{extras}]{ours.get('specifier', '')}")
