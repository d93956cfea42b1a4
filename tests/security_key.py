"""Security keys made of software, as OpenSSH loads them, and a human who touches one at a terminal."""

import os
import subprocess
from functools import cache
from pathlib import Path

from roamkb.log.proof.key_signature import unarmour
from tests.conftest import Ran
from tests.conftest import World
from tests.trusting import say_at_terminal

_SOURCE = Path(__file__).parent / "log" / "proof" / "software_key.c"


@cache
def provider(folder: Path) -> Path:
    """Return the library of the software key, compiled into a folder."""
    library = folder / "software_key.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, _SOURCE], check=True)
    return library


class KeyRing:
    """A person's security keys, in the home of that person."""

    def __init__(self, world: World, library: Path) -> None:
        """Take the person, and the library that stands for the hardware."""
        self.world = world
        self.library = library
        self.folder = world.home / ".ssh"
        self.folder.mkdir(mode=0o700, exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which OpenSSH finds the hardware."""
        return {"SSH_SK_PROVIDER": str(self.library)}

    def make(self, name: str = "id_ed25519_sk") -> Path:
        """Make a security key; return the file of its handle."""
        path = self.folder / name
        command = ["ssh-keygen", "-q", "-t", "ed25519-sk", "-N", "", "-C", f"{name}@here", "-f", str(path)]
        subprocess.run(command, check=True, env={**os.environ, **self.environment}, capture_output=True)
        return path

    def sign(self, message: bytes, key: Path, *, namespace: str = "roamkb", **variables: str) -> bytes:
        """Return a signature by a key that is touched, or that says what `variables` have it say."""
        signing = subprocess.run(
            ["ssh-keygen", "-Y", "sign", "-f", key, "-n", namespace],
            input=message,
            env={**os.environ, **self.environment, **variables},
            check=True,
            capture_output=True,
        )
        return unarmour(signing.stdout)

    def say(self, *words: str, cwd: Path | None = None, **variables: str) -> tuple[Ran, str]:
        """Run `roamkb` for a human at a terminal, who types what is asked for and touches the key."""
        return say_at_terminal(self.world, *words, cwd=cwd, extra={**self.environment, **variables})
