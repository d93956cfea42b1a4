"""Debian's package: lintian accepts it, and dpkg installs, upgrades and removes it on this very system.

What dpkg writes goes to a layer in memory that is above the system's root in a mount namespace of its own, and is
gone when that ends.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from roamkb import __version__
from tests.conftest import ROOT
from tests.packages.conftest import build_once

_LAYER = """\
set -eu
mount -t tmpfs layer "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay layer -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
mount -t tmpfs home "$1/root/root"
"""
_IN_LAYER = """\
cp "$2" "$1/root/root/roamkb.deb"
printf '%s' "$3" >"$1/root/root/script"
exec chroot "$1/root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -eu /root/script
"""
_LIFE = """\
exec 2>&1
cd /root
dpkg --no-triggers -r roamkb >/dev/null
dpkg-deb -R roamkb.deb old && rm old/DEBIAN/postinst
sed -i 's/^Version: .*/Version: 0.0.9/' old/DEBIAN/control
dpkg-deb -Znone -b old old.deb >/dev/null
dpkg --no-triggers -i old.deb
mkdir -p work code/site
roamkb install --claude --yes --kb ~/roam --create-kb --work-root ~/work --project-parent ~/code >/dev/null
cd code/site
roamkb init
hook=$(sed -n 's/.*"command": "\\(.* session-start\\)".*/\\1/p' ~/.claude/settings.json)
wall=~/.local/share/roamkb/wall/shell
echo "== upgraded"
dpkg --no-triggers -i ~/roamkb.deb
command -v roamkb
roamkb --version
roamkb write 'The port is 8080'
roamkb search port
roamkb search -h
roamkb search --nosuch || :
echo '{"session_id": "s", "cwd": "'"$PWD"'"}' | sh -c "$hook"
"$wall" 'echo "behind the wall"; touch ~/roam/x.org' || :
find /usr/lib/roamkb -name '*.pyc' | sed 's/.*cpython/compiled/' | sort -u
man -w roamkb roamkb-log.5
roamkb mcp || :
echo "== removed"
dpkg --no-triggers -r roamkb
sh -c "$hook" || :
"$wall" 'echo "behind the wall"' || :
dpkg --no-triggers --purge roamkb
find /usr /etc /var/lib -xdev -path '*roamkb*' | sed 's/^/left: /'
"""


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the package of this checkout, built once for all processes of the tests."""
    if not shutil.which("dpkg-deb"):
        pytest.skip("no dpkg here: this is for Debian and what comes of it")
    folder = build_once(tmp_path_factory, "debian package", _build_package)
    (path,) = folder.glob(f"roamkb_{__version__}_*.deb")
    return path


def _build_package(folder: Path) -> None:
    subprocess.run([ROOT / ".ci/deb", sys.executable, folder], check=True, capture_output=True)


def test_lintian_accepts_it(package: Path) -> None:
    """There is no error, no warning, and no override of what it doesn't say."""
    if not shutil.which("lintian"):
        if os.environ.get("ROAMKB_TEST_ALL") == "1":
            pytest.fail("ROAMKB_TEST_ALL=1, but lintian isn't installed")
        pytest.skip("no lintian here")
    ran = subprocess.run(["lintian", package], capture_output=True, text=True, check=False)
    assert (0, "") == (ran.returncode, ran.stdout)


def test_installed_upgraded_and_removed(package: Path, tmp_path: Path) -> None:
    """Hooks and the wall go on after an upgrade, say what is wrong after a removal, and nothing else stays."""
    layer = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
    if os.geteuid() != 0:
        pytest.skip("dpkg needs root")
    tried = subprocess.run([*layer, _LAYER, "sh", tmp_path], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no layer can be laid above the root of this system: {tried.stderr.strip()}")
    ran = subprocess.run(
        [*layer, _LAYER + _IN_LAYER, "sh", tmp_path, package, _LIFE], capture_output=True, text=True, check=False
    )
    assert 0 == ran.returncode, ran.stdout + ran.stderr
    _, upgraded, removed = re.split("^== .*\n", ran.stdout, flags=re.MULTILINE)
    for said in (
        f"/usr/bin/roamkb\nroamkb {__version__}\n", "^Usage: roamkb search", "No such option: --nosuch", "roam.*port_is_8080.org:.*: The port is 8080", "personal project",
        "^behind the wall\ntouch: .*: Read-only file system", "^compiled-3..*.pyc$", "/usr/share/man/man1/roamkb.1.gz",
        "/usr/share/man/man5/roamkb-log.5.gz", r"sudo apt remove roamkb && pipx install './\[mcp\]'",
    ):  # fmt: skip
        assert re.search(said, upgraded, re.MULTILINE), (said, upgraded)
    for said in ("uninstall --claude", "roamkb: not found", "is gone, so that no command runs"):
        assert said in removed
    assert "behind the wall" not in removed
    assert "left: " not in removed
    assert not list(tmp_path.iterdir())
