"""Two real Syncthing daemons that keep one folder in step over the loopback interface.

Nothing leaves the machine: discovery, relays, NAT, reports and upgrades are off, and each
listens on 127.0.0.1 alone. Only the two processes started here are ever ended.
"""

import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import time
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

_QUIET = {
    "globalAnnounceEnabled": "false",
    "localAnnounceEnabled": "false",
    "relaysEnabled": "false",
    "natEnabled": "false",
    "urAccepted": "-1",
    "crashReportingEnabled": "false",
    "autoUpgradeIntervalH": "0",
    "startBrowser": "false",
    "reconnectionIntervalS": "1",
    "stunKeepaliveStartS": "0",
    "setLowPriority": "false",
    "announceLANAddresses": "false",
}
#: Written out: a folder made by hand without maxConflicts keeps no conflict copy at all.
_FOLDER = {"pullerPauseS": "1", "maxConflicts": "10"}
_DEVICE = re.compile(r"[A-Z2-7]{7}(-[A-Z2-7]{7}){7}")


class Side:
    """One daemon and its folder, `kb`."""

    def __init__(self, base: Path, name: str) -> None:
        self.kb = base / f"{name}-kb"
        self._home = base / f"{name}-home"
        self._log = base / f"{name}.log"
        self._key = secrets.token_hex(12)
        self._port, self._api = _free_port(), _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.kb.mkdir(parents=True)
        self._home.mkdir()
        self._syncthing("generate", "--no-default-folder", "--skip-port-probing")
        self.device = self._find_device()

    @property
    def config(self) -> Path:
        """Its configuration."""
        return self._home / "config.xml"

    def configure(self, peer: "Side") -> None:
        """Share the folder with `peer` and with nobody else."""
        file = self.config
        tree = ET.parse(file)
        root = tree.getroot()
        for old in root.findall("folder") + root.findall("device"):
            root.remove(old)
        _set(_child(root, "gui"), address=f"127.0.0.1:{self._api}", apikey=self._key)
        _set(_child(root, "options"), listenAddress=f"tcp://127.0.0.1:{self._port}", **_QUIET)
        folder = ET.SubElement(
            root,
            "folder",
            id="kb",
            path=str(self.kb),
            type="sendreceive",
            rescanIntervalS="3600",
            fsWatcherEnabled="true",
            fsWatcherDelayS="1",
        )
        _set(folder, **_FOLDER)
        for side in (self, peer):
            device = ET.SubElement(root, "device", id=side.device, compression="never")
            _set(device, address=f"tcp://127.0.0.1:{side._port}")
            ET.SubElement(folder, "device", id=side.device)
        tree.write(file)

    def start(self) -> None:
        """Start the daemon; it answers a moment later."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["syncthing", "serve", "--home", self._home, "--no-browser", "--no-restart", "--no-upgrade"],
                env=self._environment(),
                stdout=log,
                stderr=log,
            )

    def stop(self) -> None:
        """End the daemon that was started here."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def rest(self, method: str, path: str) -> dict[str, object]:
        """Return what the daemon answers, nothing where it doesn't."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._api}/rest/{path}", method=method, headers={"X-API-Key": self._key}
        )
        with contextlib.suppress(OSError), urllib.request.urlopen(request) as answer:
            return dict(json.loads(answer.read() or b"{}"))
        if self._process is not None and self._process.poll() is not None:
            raise RuntimeError(f"Syncthing ended: {self._log.read_text(errors='replace')[-2000:]}")
        return {}

    def scan(self) -> None:
        """Have the daemon look at its folder now."""
        self.rest("POST", "db/scan?folder=kb")

    def is_up(self) -> bool:
        """Say whether the daemon answers."""
        return bool(self.rest("GET", "system/ping"))

    def is_connected(self) -> bool:
        """Say whether the daemon has its peer."""
        connections = self.rest("GET", "system/connections").get("connections")
        return isinstance(connections, dict) and any(each["connected"] for each in connections.values())

    def is_idle(self) -> bool:
        """Say whether nothing is left to fetch."""
        status = self.rest("GET", "db/status?folder=kb")
        return status.get("state") == "idle" and not status.get("needTotalItems")

    def names(self) -> set[str]:
        """Return the places of all files but the daemon's marker."""
        found = (path.relative_to(self.kb).as_posix() for path in self.kb.rglob("*") if not path.is_dir())
        return {name for name in found if not name.startswith(".stfolder")}

    def contents(self) -> dict[str, bytes]:
        """Return every file with its bytes."""
        return {name: (self.kb / name).read_bytes() for name in sorted(self.names())}

    def _find_device(self) -> str:
        # the second one since Syncthing 2
        for command in (["--device-id"], ["device-id"]):
            found = _DEVICE.search(self._syncthing(*command))
            if found:
                return found[0]
        raise RuntimeError("Syncthing names no device")

    def _syncthing(self, *words: str) -> str:
        run = subprocess.run(
            ["syncthing", *words, "--home", self._home],
            env=self._environment(),
            capture_output=True,
            text=True,
        )
        return run.stdout + run.stderr

    def _environment(self) -> dict[str, str]:
        return os.environ | {"HOME": str(self._home), "STNOUPGRADE": "1", "GOMAXPROCS": "1"}


class Pair:
    """Both sides, `a` and `b`."""

    def __init__(self, base: Path) -> None:
        self.a, self.b = Side(base, "a"), Side(base, "b")
        self.sides = (self.a, self.b)
        self.a.configure(self.b)
        self.b.configure(self.a)

    def start(self) -> None:
        """Return when the two have found each other."""
        for side in self.sides:
            side.start()
        wait_for(lambda: all(side.is_up() for side in self.sides))
        wait_for(self._is_connected)

    def stop(self) -> None:
        """End both daemons."""
        for side in self.sides:
            side.stop()

    def settle(self) -> None:
        """Return when both have the same files and neither wants more."""
        for side in self.sides:
            side.scan()
        wait_for(self._is_settled)

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Hold the link down inside the block; both look at their folders before it is up again."""
        self._each("system/pause")
        wait_for(lambda: not any(side.is_connected() for side in self.sides))
        yield
        for side in self.sides:
            side.scan()
        self._each("system/resume")
        wait_for(self._is_connected)

    def _each(self, command: str) -> None:
        self.a.rest("POST", f"{command}?device={self.b.device}")
        self.b.rest("POST", f"{command}?device={self.a.device}")

    def _is_connected(self) -> bool:
        return all(side.is_connected() for side in self.sides)

    def _is_settled(self) -> bool:
        return all(side.is_idle() for side in self.sides) and self.a.names() == self.b.names()


def wait_for(condition: Callable[[], bool]) -> None:
    """Return when `condition` holds, however slow the machine is."""
    while not condition():
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _child(parent: ET.Element, name: str) -> ET.Element:
    found = parent.find(name)
    return ET.SubElement(parent, name) if found is None else found


def _set(parent: ET.Element, **values: str) -> None:
    for name, value in values.items():
        _child(parent, name).text = value
