"""`roamkb serve`: where it listens, what it prints, and what it leaves to others."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import World
from tests.interfaces.http.served import Served
from tests.interfaces.http.served import serving


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "localhost", "example.org", "127.0.0.2", " "])
def test_no_other_host_is_served(host: str, world: World) -> None:
    """Not even the names that mean this machine today."""
    ran = world.run("serve", "--host", host, "--port", "0", "--json")
    assert 2 == ran.status
    assert "usage" == ran.json["error"]["code"]


def test_the_token_is_in_a_file_and_not_on_the_screen(world: World) -> None:
    """The path is printed; the file is its owner's alone, and the next start takes the same."""
    with serving(world) as served:
        assert served.token not in str(served.greeting)
        assert 0o600 == stat.S_IMODE(served.token_file.stat().st_mode)
        assert {"kind": "personal", "root": str(world.personal)} == served.greeting["project"]
        token = served.token
    assert token not in served.errors.read_text()
    with serving(world) as again:
        assert token == again.token
        assert 200 == again.get("/api/classify").status


def test_only_this_machine_is_listened_to(world: World) -> None:
    """The socket is bound to 127.0.0.1, so that other addresses of the machine are refused."""
    with serving(world) as served, pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", served.port)).close()


def test_the_project_is_chosen_at_the_start(world: World) -> None:
    """By `--project`, which can only make it stricter."""
    with serving(world, world.personal, "--project", str(world.work)) as served:
        assert "work" == served.get("/api/classify").json["kind"]
        assert 403 == served.post("/api/write", {"title": "Zebras are striped"}).status


def test_it_ends_without_a_fault_when_it_is_interrupted(world: World) -> None:
    """Ctrl-C and SIGTERM are how one stops it."""
    with serving(world) as served:
        served.process.terminate()
        served.process.wait()
    assert "Traceback" not in served.errors.read_text()


def test_a_port_that_is_taken_is_an_error_in_one_line(world: World) -> None:
    """With what to do about it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = world.run("serve", "--port", str(taken.getsockname()[1]))
    assert 2 == ran.status
    assert "can't be listened on" in ran.err
    assert "--port" in ran.err
    assert 2 == world.run("serve", "--port", "70000").status


def test_without_the_extra_it_says_how_to_get_it(world: World, tmp_path: Path) -> None:
    """And nothing else of roamkb needs it."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    for name in ("fastapi", "uvicorn", "prometheus_client"):
        (blocked / f"{name}.py").write_text(f"raise ModuleNotFoundError('no {name}', name='{name}')\n")
    path = {"PYTHONPATH": f"{blocked}:{world.environment()['PYTHONPATH']}"}
    ran = world.run("serve", extra=path)
    assert 2 == ran.status
    assert "-m pip install 'roamkb[serve]'" in ran.err
    assert 0 == world.run("classify", extra=path).status
    assert "serve" in world.run("help", "all", extra=path).out


def test_the_command_line_does_not_load_it() -> None:
    """`roamkb search` stays as fast as it was."""
    probe = (
        "import sys; from roamkb.interfaces.cli.main import run; run(['classify']); "
        "print([name for name in ('fastapi', 'uvicorn', 'pydantic', 'anyio') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.splitlines()[-1]


#: Asks a server to write, with the token that everything of the user may read.
_ASK = """
import http.client, json, sys
port, token_file = sys.argv[1:]
token = open(token_file).read().strip()
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
connection.request("POST", "/api/write", json.dumps({"title": "Zebras are striped"}), headers)
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"""


def asked(world: World, served: Served, cwd: Path, *command: str, **environment: str) -> str:
    """What a process in `cwd` is answered that asks the server to write."""
    done = subprocess.run(
        [*command, sys.executable, "-c", _ASK, str(served.port), str(served.token_file)],
        cwd=cwd,
        env={**world.environment(), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


linux = pytest.mark.skipif(sys.platform != "linux", reason="who asks is found in /proc, which is Linux's")


@linux
def test_a_request_is_judged_by_who_asks(world: World) -> None:
    """With the token and all: a server in a personal project is no way out of work."""
    with serving(world) as served:
        for place, kind in ((world.work, "work"), (world.unknown, "unknown")):
            said = asked(world, served, place)
            assert said.startswith("403 ")
            assert f'"kind": "{kind}"' in said
            assert "who asks" in said
        assert {} == world.files()
        # as a shell would have been that went elsewhere
        assert "403 " == asked(world, served, world.personal, CLAUDE_PROJECT_DIR=str(world.work))[:4]
        assert "403 " == asked(world, served, world.personal, PWD=str(world.work))[:4]
        assert "200 " == asked(world, served, world.personal)[:4]
    assert any(name.endswith(".org") for name in world.files())


@linux
def test_the_parents_of_who_asks_count(world: World) -> None:
    """`cd` in a session at work doesn't take it out of there."""
    go = f'cd {world.personal} && "$@"; true'
    with serving(world) as served:
        assert "403 " == asked(world, served, world.work, "sh", "-c", f"sh -c '{go}' sh \"$@\"; true", "sh")[:4]
        assert "403 " == asked(world, served, world.personal, "env", f"--chdir={world.work}")[:4]
        assert "200 " == asked(world, served, world.unknown, "env", f"--chdir={world.personal}")[:4]


@linux
def test_who_does_not_wait_for_the_answer_is_unknown(world: World) -> None:
    """A process that is gone when its words are read can't be judged."""
    body = b'{"title": "Zebras are striped"}'
    with serving(world) as served:
        head = (
            f"POST /api/write HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {served.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", served.port)) as connection:
            connection.sendall(head.encode() + body)
        assert 200 == served.get("/api/classify").status
        served.process.terminate()
        served.process.wait()
    assert {} == world.files()


@linux
def test_reading_is_for_every_project(world: World) -> None:
    """As everywhere."""
    world.node("a.org", "0192d0f4-0000-7000-8000-000000000001", "Zebras are striped")
    with serving(world) as served:
        os.chdir(world.work)
        assert 1 == len(served.get("/api/search?words=zebras").json["hits"])
        assert "work" == served.get("/api/classify").json["kind"]
