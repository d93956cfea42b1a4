"""A person's HOME as the lines find it: notes and names that lead to them, roamkb as it is installed, projects."""

import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from tests.conftest import ROOT
from tests.wall.cage import HOME
from tests.wall.cage import PROJECTS
from tests.wall.cage import WORK
from tests.wall.cage import Cage

KB = Path("sync", "org", "roam")
#: Other names of the notes: links to a folder on the way, and one file with two names.
LINKS = {Path("notes"): KB, Path("org"): Path("sync", "org")}
SECOND_NAME = Path("Desktop", "paper.org")
_SECOND_NAME_OF = KB / "20241227111111-reading_list.org"
#: The session whose commands are run.
SESSION = "0e5b2d3c-1111-4222-8333-444455556666"
PROGRAM = Path(".local", "share", "roamkb", "venv")

_PROJECT = {
    "README.md": "# Billing\n\nIt bills. The code is in src, and the build in the Makefile.\n",
    "src/app.py": "import sys\n\n\ndef main():\n    print('billed', len(sys.argv) - 1)\n\n\nmain()\n",
    "src/main.js": "console.log('billed', process.argv.length - 2)\n",
    "data.csv": "name,amount\nana,3\nbo,5\n",
    "Makefile": "test:\n\t@echo tested $(KB)\n",
    "package.json": '{"name": "billing", "version": "1.0.0", "scripts": {"test": "echo tested"}}\n',
    "run.sh": '#!/bin/sh\necho "ran with $*"\n',
    "notes.txt": "call ana\npay bo\n",
}
#: What published examples of commands are about, in a folder of each project.
_SAMPLES = """
mkdir -p samples/dir/one/two samples/searchdir/one samples/source_dir samples/foo samples/path/to
cd samples
for name in file input foo bar test a b abc original lines chars cut example words unsorted local in1 in2; do
  printf '%s\n' "$name one" 'Hello World' 'foo:bar:baz' '3 cats,2 dogs' '10 10.0.0.1' 'alpha	beta' >$name.txt
done
cp file.txt dir/one/two; cp file.txt foo.txt searchdir; cp a.txt searchdir/one; cp a.txt b.txt source_dir
cp file.txt foo/bar; cp file.txt path/to/file; cp file.txt path/to/file.txt; cp file.txt path/to/foo
printf 'int main(void) { return 0; }\n' | tee main.c >file.c
printf '#!/bin/sh\necho ran\n' >myscript.sh; chmod +x myscript.sh
tar -cf foo.tar dir; tar -czf foo.tgz dir; cp foo.tar tarred_directory.tar; gzip -nk test.txt bar.txt
printf '{"name": "ana", "tags": ["a", "b"]}\n' | tee person.json >file.json
"""
_COMMAND = """#!{home}/.local/share/roamkb/venv/bin/python
import sys
from roamkb.__main__ import main
sys.exit(main())
"""
_SETTINGS = '{\n  "model": "opus",\n  "permissions": {"allow": ["Bash(ls:*)"]}\n}\n'


def build_house(scratch: Path) -> Cage:
    """Make a HOME in `scratch`, in a cage from the first command on, and return it.

    Raises:
        RuntimeError: a command that makes it failed.
    """
    home = scratch / "home"
    for folder in (home / KB.parent, home / SECOND_NAME.parent, home / ".claude", home / ".codex"):
        folder.mkdir(parents=True)
    shutil.copytree(ROOT / "fixtures" / "kb", home / KB)
    (home / KB / ".stfolder").mkdir()
    for name, target in LINKS.items():
        (home / name).symlink_to(target)
    os.link(home / _SECOND_NAME_OF, home / SECOND_NAME)
    (home / ".claude" / "settings.json").write_text(_SETTINGS)
    (home / ".codex" / "config.toml").write_text('model = "o"\n')
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ana\n\temail = ana@example.org\n[init]\n\tdefaultBranch = main\n"
    )
    cage = Cage(home, _accounts(scratch))
    _install(cage)
    for project in PROJECTS.values():
        _start_project(cage, project)
    _told(cage, "roamkb", "install", "--yes", "--kb", str(HOME / KB), "--work-root", str(HOME / "projects/work"),
          "--project-parent", str(HOME / "code"), "--claude", "--codex")  # fmt: skip
    tell(cage, "session-start", source="startup")
    tell(cage, "user-prompt-submit", prompt="tidy up, please")
    # the first command behind the wall plans it
    _told(cage, "roamkb", "exec", "--", "true")
    return cage


def tell(cage: Cage, event: str, *, session: str = SESSION, cwd: Path = WORK, **told: str) -> None:
    """Have roamkb's hook hear of an event of a session; of one at work the journal keeps what was before."""
    payload = {"session_id": session, "cwd": str(cwd), **told}
    cage.run("roamkb", "hook", event, cwd=cwd, given=json.dumps(payload).encode())


def _accounts(scratch: Path) -> tuple[tuple[Path, Path], ...]:
    """Return files that make the cage's user known by name."""
    users, groups = scratch / "passwd", scratch / "group"
    users.write_text(f"root:x:0:0:root:/root:/bin/bash\nhuman:x:1000:1000:Ana:{HOME}:/bin/bash\n")
    groups.write_text("root:x:0:\nhuman:x:1000:\n")
    return (users, Path("/etc/passwd")), (groups, Path("/etc/group"))


def _install(cage: Cage) -> None:
    """Put this checkout into an environment in HOME, as `make install` does, without the network."""
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    _told(cage, str(base), "-m", "venv", "--without-pip", str(HOME / PROGRAM))
    home = cage.home
    packages = next((home / PROGRAM / "lib").glob("python3*")) / "site-packages"
    shutil.copytree(ROOT / "roamkb", packages / "roamkb", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "rules", packages / "roamkb" / "rules")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = home / PROGRAM / "bin" / "roamkb"
    command.write_text(_COMMAND.format(home=HOME))
    command.chmod(0o755)
    link = home / ".local" / "bin" / "roamkb"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(HOME / PROGRAM / "bin" / "roamkb")
    _told(cage, str(HOME / PROGRAM / "bin" / "python"), "-m", "compileall", "-q", str(HOME / PROGRAM / "lib"))


def _start_project(cage: Cage, project: Path) -> None:
    for name, text in _PROJECT.items():
        path = cage.home / project.relative_to(HOME) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if name.endswith(".sh") else 0o644)
    script = (
        "git init -q && git add README.md src && git commit -qm 'Start to bill' && git add . && git commit -qm Bill"
    )
    _told(cage, "bash", "-c", f"{script}{_SAMPLES}", cwd=project)


def _told(cage: Cage, *command: str, cwd: Path = HOME, given: bytes = b"") -> None:
    ended = cage.run(*command, cwd=cwd, given=given)
    if ended.status != 0:
        raise RuntimeError(f"{' '.join(command)}: {ended.out.decode()}{ended.err.decode()}")
