"""What bash, zsh and fish offer on a line, asked of the real shells."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import World
from tests.programs import script

SHELLS = ("bash", "zsh", "fish")

#: Takes a line as bash splits it, and prints what it would offer.
_BASH = r"""
source "$1"
read -ra COMP_WORDS <<<"${2//=/ = }"
case $2 in *[\ =]) COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_roamkb
printf '%s\n' "${COMPREPLY[@]}"
"""
#: Lists what a terminal's zsh offers for the line, without its taking anything of it.
_ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit && compinit -u -D; source $1/asked; print READ''Y"
zpty -r -m z out '*READY*'
zpty -n -w z "$2"$'\t'
zpty -r -m z out '*DONE*'
print -r -- "$out"
zpty -d z
"""
_ZSH_ASKED = r"""
bindkey -e
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
    local -a offered; builtin compadd -A offered "$@"; print -rl -- "<"${^offered}">"
}
listed() { zle list-choices; print DONE }
zle -N listed
bindkey '^I' listed
"""


class CompletingShell:
    """A shell that has loaded its script, in a person's personal project."""

    def __init__(self, shell: str, world: World, completion: str) -> None:
        """Put the script, and a `roamkb` that counts its calls, where the shell finds them."""
        if shutil.which(shell) is None:
            pytest.skip(f"no {shell} here")
        self._shell, self._world = shell, world
        self._folder = world.home / "completions"
        self._folder.mkdir()
        self._script = self._folder / "_roamkb"
        self._script.write_text(completion, encoding="utf-8")
        (self._folder / "asked").write_text(_ZSH_ASKED, encoding="utf-8")
        self._calls = self._folder / "calls"
        run = f'echo x >>"{self._calls}"; exec "{sys.executable}" -m roamkb "$@"'
        self._program = script(world.home / "bin" / "roamkb", run)

    @property
    def calls(self) -> int:
        """How often the shell has started roamkb."""
        return len(self._calls.read_text().split()) if self._calls.exists() else 0

    def offers(self, line: str) -> list[str]:
        """Return what it offers at the end of a line, sorted."""
        environment = self._world.environment()
        environment |= {"PATH": f"{self._program.parent}:{environment['PATH']}", "TERM": "xterm"}
        ran = subprocess.run(
            self._command(line),
            cwd=self._world.personal,
            env={**environment, "PWD": str(self._world.personal)},
            capture_output=True,
            check=True,
        )
        lines = ran.stdout.decode().replace("\r", "").splitlines()
        if self._shell == "zsh":
            lines = [one.rpartition("<")[2][:-1] for one in lines if "<" in one and one.endswith(">")]
        return sorted({one.partition("\t")[0] for one in lines} - {""})

    def _command(self, line: str) -> list[str]:
        match self._shell:
            case "bash":
                return ["bash", "--norc", "-c", _BASH, "bash", str(self._script), line]
            case "zsh":
                return ["zsh", "-f", "-c", _ZSH, "zsh", str(self._folder), line]
        quoted = shlex.quote(line)
        return ["fish", "--no-config", "-c", f"source {self._script}; complete -C {quoted}"]


def is_script(path: Path, shell: str) -> bool:
    """Return whether a shell can read a script."""
    return subprocess.run([shell, "-n", str(path)], check=False, capture_output=True).returncode == 0
