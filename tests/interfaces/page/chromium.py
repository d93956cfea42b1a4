"""A real Chromium without a window, driven over two pipes by its own debugging protocol."""

import base64
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    # a container gives its sandbox no leave and little shared memory; what is opened is this project's own
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",
)


def skip_without_browser() -> None:
    """Skip the test where there is no Chromium, or nothing that judges its pages."""
    missing = "Chromium" if PROGRAM is None else "axe-core" if find_spec("axe_playwright_python") is None else ""
    if missing:
        if os.environ.get("ROAMKB_TEST_ALL") == "1":
            pytest.fail(f"ROAMKB_TEST_ALL=1, but there is no {missing} here")
        pytest.skip(f"{missing} isn't installed")


@cache
def _axe_source() -> str:
    package = find_spec("axe_playwright_python")
    assert package is not None
    assert package.submodule_search_locations
    return (Path(package.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")


class Refused(Exception):
    """A command that the browser didn't carry out."""


class Tab:
    """One tab: what it is told, what it asked the network for, and what its pages said on the console."""

    def __init__(self, browser: "Driver", session: str) -> None:
        self._browser = browser
        self._session = session
        #: The addresses of all requests, in order.
        self.requests: list[str] = []
        #: What a page logged, threw or was refused.
        self.complaints: list[str] = []
        #: What could not be fetched, and why not.
        self.failures: list[str] = []
        self._events: list[str] = []
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def call(self, method: str, **parameters: object) -> Any:
        """Return the result of one command."""
        return self._browser.call(method, self._session, **parameters)

    def hear(self, event: dict[str, Any]) -> None:
        """Take note of an event."""
        name, values = event["method"], event.get("params", {})
        self._events.append(name)
        if name == "Page.lifecycleEvent":
            self._events.append(f"{values['name']} {values['loaderId']}")
        if name == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif name == "Network.loadingFailed":
            self.failures.append(f"{values['type']}: {values['errorText']}")
        elif name == "Log.entryAdded":
            self.complaints.append(f"{values['entry']['text']} {values['entry'].get('url', '')}")
        elif name == "Runtime.exceptionThrown":
            self.complaints.append(str(values["exceptionDetails"]))
        elif name == "Runtime.consoleAPICalled":
            self.complaints.append(str(values["args"]))

    def open(self, address: str) -> None:
        """Open an address, and wait until all of its page is there."""
        self._events.clear()
        answer = self.call("Page.navigate", url=address)
        assert not answer.get("errorText"), f"{address}: {answer['errorText']}"
        # another place of the same page isn't loaded; and a page that was begun before may end its loading meanwhile
        if "loaderId" in answer:
            self.wait_for(f"load {answer['loaderId']}")

    def wait_for(self, name: str) -> None:
        """Wait for an event that may have come already."""
        while name not in self._events:
            self._browser.read()

    def forget_events(self) -> None:
        """Wait from now on for what comes from now on."""
        self._events.clear()

    def run(self, script: str) -> Any:
        """Return the value of a script in the page, past its policy; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_until(self, condition: str) -> None:
        """Wait until a condition holds, in this page or the one that comes after it."""
        while True:
            # while a page goes and another comes there may be none, or half of one
            with suppress(Refused):
                answer = self.call("Runtime.evaluate", expression=f"!!({condition})", returnByValue=True)
                if answer["result"].get("value") is True:
                    return
            time.sleep(0.02)

    def press(self, key: str, *, text: str = "") -> None:
        """Press and let go one key."""
        code = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)
        given = {"key": key, "windowsVirtualKeyCode": code, "text": text or ("\r" if key == "Enter" else "")}
        self.call("Input.dispatchKeyEvent", type="keyDown", **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type a text, a key a letter."""
        for letter in text:
            self.press(letter, text=letter)

    def show_as(self, *, width: int, height: int = 900, theme: str = "light") -> None:
        """Set the size of the page in CSS pixels, and the theme that the system asks for."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def serious_faults(self) -> list[tuple[str, list[tuple[str, Any]]]]:
        """Return what axe-core finds serious or critical in the page: the rule, and the elements that break it.

        Each element comes with what axe measured there, such as its colours.
        """
        # a form's answer is a page whose style may still be on its way
        self.wait_until("document.readyState === 'complete'")
        unstyled = "[...document.querySelectorAll('link[rel=stylesheet]')].filter(link => !link.sheet).length"
        assert 0 == self.run(unstyled), f"a style didn't come: {self.failures}"
        self.run(f"{_axe_source()};0")
        found = self.run("axe.run({resultTypes: ['violations']}).then(r => r.violations)")
        return [
            (fault["id"], [(node["html"], [check["data"] for check in node["any"]]) for node in fault["nodes"]])
            for fault in found
            if fault["impact"] in ("serious", "critical")
        ]

    def picture(self, *, whole: bool = False) -> bytes:
        """Return what is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])


class Driver:
    """Whoever drives a browser by its debugging protocol."""

    def __init__(self) -> None:
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._tabs: dict[str, Tab] = {}

    def _send(self, message: bytes) -> None:
        raise NotImplementedError

    def _receive(self) -> bytes:
        raise NotImplementedError

    def new_tab(self, *, apart: bool = False) -> Tab:
        """Return a new tab; one `apart` has cookies of its own."""
        context = {"browserContextId": self.call("Target.createBrowserContext")["browserContextId"]} if apart else {}
        return self._attach(self.call("Target.createTarget", url="about:blank", **context)["targetId"])

    def find_tab(self, address: str) -> Tab:
        """Return the open tab whose address begins so."""
        targets = self.call("Target.getTargets")["targetInfos"]
        return self._attach(next(target["targetId"] for target in targets if target["url"].startswith(address)))

    def _attach(self, target: str) -> Tab:
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab.__new__(Tab)
        self._tabs[session] = tab
        tab.__init__(self, session)  # type: ignore[misc]
        return tab

    def call(self, method: str, session: str = "", **parameters: object) -> Any:
        """Return the result of one command to the browser, or to a tab's session."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._send(json.dumps(message).encode())
        number = self._number
        while number not in self._answers:
            self.read()
        answer = self._answers.pop(number)
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']}")
        return answer["result"]

    def read(self) -> None:
        """Read one message of the browser's."""
        message = json.loads(self._receive())
        if "id" in message:
            self._answers[message["id"]] = message
        elif tab := self._tabs.get(message.get("sessionId", "")):
            tab.hear(message)


class Chromium(Driver):
    """One browser with one profile; with `is_open` it takes other programs' commands at a port of this machine."""

    def __init__(self, profile: Path, *, is_open: bool = False) -> None:
        assert PROGRAM is not None
        super().__init__()
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()
        # the browser reads its commands from descriptor 3, and answers to 4; either may be the other's number here
        script = f'exec 13<&{their_in} 14>&{their_out}; exec "$@" 3<&13 4>&14 13<&- 14>&-'
        options = [*_OPTIONS, f"--user-data-dir={profile}", *(["--remote-debugging-port=0"] if is_open else [])]
        self._process = subprocess.Popen(
            ["bash", "-c", script, "bash", PROGRAM, *options, "about:blank"],
            pass_fds=(their_in, their_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._out = our_out
        self._in = our_in
        self._unread = b""

    def _send(self, message: bytes) -> None:
        os.write(self._out, message + b"\0")

    def _receive(self) -> bytes:
        while b"\0" not in self._unread:
            data = os.read(self._in, 2**20)
            assert data, "the browser is gone"
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\0")
        return line

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)
        self._process.wait()
        os.close(self._in)


class PortDriver(Driver):
    """Another program of the account's, which drives a browser at its debugging port."""

    def __init__(self, profile: Path) -> None:
        super().__init__()
        place = profile / "DevToolsActivePort"
        while not place.exists() or place.read_text().count("\n") < 1:
            time.sleep(0.02)
        port, path = place.read_text().split("\n")
        self._socket = socket.create_connection(("127.0.0.1", int(port)))
        self._stream = self._socket.makefile("rb")
        hello = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        self._socket.sendall(f"{hello}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n\r\n".encode())
        assert b" 101 " in self._stream.readline()
        while self._stream.readline().strip():
            pass

    def _send(self, message: bytes) -> None:
        # one frame, masked by zeros; its length takes eight bytes
        self._socket.sendall(b"\x81\xff" + len(message).to_bytes(8, "big") + bytes(4) + message)

    def _receive(self) -> bytes:
        first, length = self._stream.read(2)
        assert first == 0x81, "the browser is gone"
        if length > 125:
            length = int.from_bytes(self._stream.read(2 if length == 126 else 8), "big")
        return self._stream.read(length)

    def close(self) -> None:
        """Let go of the browser."""
        self._stream.close()
        self._socket.close()


@contextmanager
def chromium(profile: Path, *, is_open: bool = False) -> Iterator[Chromium]:
    """Run a browser until the block ends; with `is_open` other programs may drive it as well."""
    browser = Chromium(profile, is_open=is_open)
    try:
        yield browser
    finally:
        browser.close()
