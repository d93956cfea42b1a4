"""Addresses of remotes, whatever a stranger's configuration holds."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from roamkb.boundary.store.remote_addresses import RemoteAddresses
from roamkb.fs.git_repository import read_repository_pointers


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times as long eight times as much takes: 8 where it is linear, 64 where it is quadratic."""

    def shortest(size: int) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            work(size)
            times.append(time.process_time() - start)
        return min(times)

    return shortest(8 * size) / max(shortest(size), 1e-6)


@pytest.mark.parametrize(
    "make_url",
    [
        lambda n: "ssh://" + "@" * n + ":x",
        lambda n: "ssh://" + "@:" * n,
        lambda n: "[" + "@" * n,
        lambda n: "@" * n,
        lambda n: "@[" * n + ":x",
        lambda n: "h::" * n + "x",
        lambda n: "https://" + ":" * n + "g/x",
        lambda n: "https://" + "a." * n + "1/x",
        lambda n: "https://a.b" + "/.." * n,
    ],
)
def test_an_address_is_read_in_linear_time(make_url: Callable[[int], str]) -> None:
    """It is a stranger's, and may be as long as the configuration."""
    addresses = RemoteAddresses(())

    def read(size: int) -> None:
        url = make_url(size)
        for _ in range(20):
            list(addresses.find_owners(url))
            list(addresses.find_local_paths(url, "/"))

    assert growth(read, 150) < 24


@pytest.mark.parametrize(
    "make_config",
    [
        lambda n: '[remote "a"]\nurl = ' + "a\\\n" * n,
        lambda n: '[remote "a"]\nurl = ' + '"a\\\n' * n,
        lambda n: "[a]" * n,
        lambda n: '[a "' * n,
        lambda n: "[" + "a " * n,
        lambda n: '[remote "a"]\nurl = ' + '"\\' * n,
        lambda n: '[remote "a"]\nurl = "' + '\\"' * n,
        lambda n: f'[remote "a"]\n{"url = a" * n}\n[url "b"]\n{"insteadOf = a" * n}\n',
        lambda n: "".join(f'[remote "a"]\nurl = {i}\n[url "b"]\ninsteadOf = {n - i}\n' for i in range(n)),
    ],
)
def test_a_configuration_is_read_in_linear_time(make_config: Callable[[int], str], tmp_path: Path) -> None:
    """However its lines are continued, and whatever its sections are."""
    (tmp_path / ".git").mkdir()

    def read(size: int) -> None:
        (tmp_path / ".git/config").write_text(make_config(size))
        read_repository_pointers(str(tmp_path))

    assert growth(read, 2000) < 24


@pytest.mark.parametrize("pattern", ["*a" * 20 + "b", "*" * 50 + "b", "*?" * 20 + "b", "?*a?" * 20 + "*b"])
def test_a_pattern_of_ssh_s_is_matched_in_linear_time(pattern: str, tmp_path: Path) -> None:
    """A host is compared with each."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text(f"Host {pattern}\n HostName x\n")
    for host in ("a" * 30, "a" * 240):
        assert [f"{host}/o", "/o"] == list(RemoteAddresses((tmp_path,)).find_owners(f"{host}:o/x"))

    def read(size: int) -> None:
        for _ in range(20):
            list(RemoteAddresses((tmp_path,)).find_owners(f"{'a' * size}:o/x"))

    assert growth(read, 30) < 24


def test_the_patterns_of_ssh_s_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many remotes there are, of however many hosts."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh/config").write_text("".join(f"Host a{n} b{n}-*\n HostName c{n}\n" for n in range(600)))
    addresses = RemoteAddresses((tmp_path,))
    compiled: list[object] = []
    compile_really = re.compile

    def compile_counted(pattern: str, flags: int = 0) -> object:
        compiled.append(pattern)
        return compile_really(pattern, flags)

    with monkeypatch.context() as patch:
        patch.setattr(re, "compile", compile_counted)
        owners = [list(addresses.find_owners(f"{host}:o/x")) for host in ("b599-x", "A0", "b7-x")]
    assert [["c599/o", "b599-x/o"], ["c0/o", "a0/o"], ["c7/o", "b7-x/o"]] == owners
    assert len(compiled) <= 600 + 20
