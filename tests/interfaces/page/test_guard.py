"""Whom the page is answered to, by a real server: one session, its own origin, its own forms."""

import gzip
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from roamkb.interfaces.page.guard import HEADERS
from roamkb.interfaces.page.session import CODE_SECONDS
from roamkb.interfaces.page.session import PageSession
from roamkb.interfaces.page.templating import FOLDER
from tests.conftest import World
from tests.conftest import make_world
from tests.interfaces.http.served import serving
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging

ID = "01a20143-7a25-1859-bca0-5870cee81ff7"
PATHS = ["/", "/search?q=zebra", f"/note?id={ID}", "/agents", "/learnings", "/checks", "/image?path=a.png"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world for all requests, none of which may change it."""
    world = make_world(tmp_path_factory.mktemp("page") / "home")
    world.node("zebra.org", ID, "Zebras", "They are striped. [[file:a.png]]")
    (world.kb / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n rest")
    (world.kb / "b.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    (world.kb / "c.png").write_text("<script>alert(1)</script>")
    (world.kb / ".hidden").mkdir()
    (world.kb / ".hidden" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n rest")
    (world.home / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n secret")
    (world.kb / "out.png").symlink_to(world.home / "secret.png")
    return world


@pytest.mark.parametrize("path", PATHS)
def test_who_has_the_cookie_may_read(path: str, paged: Paged, cookie: str) -> None:
    """And each answer has all headers that keep a browser from doing more."""
    answer = paged.get(path, cookie=cookie)
    assert 200 == answer.status
    assert HEADERS == {name: answer.headers[name.lower()] for name in HEADERS}
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("path", PATHS)
def test_the_agents_token_opens_no_page(path: str, paged: Paged, cookie: str) -> None:
    """And the browser's cookie no path of the API."""
    bearer = f"Bearer {paged.served.token}"
    assert 401 == paged.get(path, Authorization=bearer).status
    assert 401 == paged.get(path, cookie=f"{cookie}x", Authorization=bearer).status
    for api in ("/api/classify", "/%61pi/classify", "/api/search?words=zebra"):
        assert 401 == paged.get(api, cookie=cookie).status


STRANGERS: list[tuple[int, Mapping[str, str | None]]] = [
    (400, {"Host": None}),
    *(
        (403, {"Host": host})
        for host in ("", "127.0.0.1:PORT", "localhost", "LOCALHOST:PORT", "[::1]:PORT", "localhost.:PORT", "evil:PORT")
    ),
    *(
        (403, {"Origin": origin})
        for origin in ("null", "http://127.0.0.1:PORT", "https://localhost:PORT", "http://localhost:1", "http://evil")
    ),
    (403, {"Sec-Fetch-Site": "same-site"}),
    (403, {"Sec-Fetch-Site": "cross-site"}),
    (403, {"Sec-Purpose": "prefetch"}),
    (400, {"Content-Length": "5"}),
    (411, {"Transfer-Encoding": "chunked"}),
]


@pytest.mark.parametrize(("status", "headers"), STRANGERS, ids=str)
def test_a_stranger_is_refused_with_the_cookie_too(
    status: int, headers: Mapping[str, str | None], paged: Paged, cookie: str
) -> None:
    """By another name, from another page, even of another port of this machine."""
    port = str(paged.served.port)
    filled: Any = {name.replace("-", "_"): value and value.replace("PORT", port) for name, value in headers.items()}
    answer = paged.get("/", cookie=cookie, **filled)
    assert status == answer.status
    assert b"Agents wrote" not in answer.body


def test_nothing_is_changed(paged: Paged, cookie: str) -> None:
    """GET is all that a view knows; what changes something has addresses of its own (`test_forms`)."""
    for path in (*PATHS, "/enter", "/static/page.css", "/anything"):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            answer = paged.get(path, cookie=cookie, method=method, Content_Length="0", Content_Type="application/json")
            assert 405 == answer.status
    assert 405 == paged.get("/csp-report", cookie=cookie).status
    assert 401 == paged.get("/csp-report", method="POST", Content_Length="0").status


def test_what_is_sent_of_the_page_s_own_is_small(paged: Paged) -> None:
    """No more than 110 KB packed, all of it our own files: scripts and a style, and nothing of anybody else's."""
    names = sorted(path.name for path in (FOLDER / "static").iterdir())
    sent = [paged.get(f"/static/{name}") for name in names]
    assert [200] * len(names) == [answer.status for answer in sent]
    assert {"css", "js"} == {name.rpartition(".")[2] for name in names}
    assert sum(len(gzip.compress(answer.body)) for answer in sent) <= 110 * 1024


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "b.svg", "c.png", ".hidden/a.png", "out.png", "../secret.png", "zebra.org", "none.png"),
        *("/etc/passwd", "a.png%2f..%2f..%2fsecret.png", "..%2Fsecret.png", "%2e%2e/secret.png"),
    ],
)
def test_only_images_of_the_notes_are_served(path: str, paged: Paged, cookie: str) -> None:
    """By their name and their first bytes, inside of the notes' folder and by no link out of it; no SVG."""
    answer = paged.get(f"/image?path={path}", cookie=cookie)
    assert 404 == answer.status
    assert b"secret" not in answer.body.replace(path.encode(), b"").replace(b"secret.png", b"")


def test_an_image_has_the_type_of_its_name(paged: Paged, cookie: str) -> None:
    """Whatever a browser would make of its bytes."""
    answer = paged.get("/image?path=a.png", cookie=cookie)
    assert (200, "image/png") == (answer.status, answer.headers["content-type"])


@pytest.mark.parametrize("path", ["/static/page.py", "/static/../app.py", "/static/%2e%2e/app.py", "/nothing", "/note"])
def test_what_is_not_there_is_said_plainly(path: str, paged: Paged, cookie: str) -> None:
    """In a page that says what to do, with a status that says the same."""
    answer = paged.get(path, cookie=cookie)
    assert answer.status in (400, 404)
    assert b"Traceback" not in answer.body


def test_a_question_that_makes_no_sense_is_answered(paged: Paged, cookie: str) -> None:
    """With what the command line would say."""
    answer = paged.get("/search?q=after:someday", cookie=cookie)
    assert answer.status in (200, 400)
    assert 404 == paged.get("/note?id=no-such-note", cookie=cookie).status


def test_the_address_opens_the_page_once(world: World) -> None:
    """Its browser may use it again; with another one's use of it the session ends, since one of the two is a thief."""
    with paging(world) as paged:
        path = paged.entrance.removeprefix(paged.base)
        assert 403 == paged.get("/enter").status
        assert 403 == paged.get(f"{path}x").status
        assert 403 == paged.get(path, Sec_Fetch_Site="cross-site").status
        answer = paged.get(path, Sec_Fetch_Site="none")
        assert (303, "/") == (answer.status, answer.headers["location"])
        assert re.fullmatch(
            rf"roamkb-page-{paged.served.port}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Strict",
            answer.headers["set-cookie"],
        )
        cookie = answer.headers["set-cookie"].partition(";")[0]
        again = paged.get(path, cookie=cookie)
        assert (303, None) == (again.status, again.headers.get("set-cookie"))
        assert 200 == paged.get("/", cookie=f"other=1; {cookie}").status
        assert 403 == paged.get(path).status
        assert 401 == paged.get("/", cookie=cookie).status
        assert paged.entrance.partition("=")[2] not in paged.served.errors.read_text()


def test_the_code_counts_for_some_minutes() -> None:
    """What stands in a terminal's history opens nothing."""
    now = [0.0]
    session = PageSession(1, lambda: now[0])
    now[0] = CODE_SECONDS + 1
    assert session.enter(session.code) is None
    assert not session.is_holder("roamkb-page-1=")


def test_a_page_opened_from_work_says_so(world: World) -> None:
    """It shows what a command would show there, and its own project is the stricter of the two."""
    with paging(world) as paged:
        cookie = paged.enter()
        assert b"counts as" not in paged.get("/", cookie=cookie).body
        os.chdir(world.work)
        assert b"This browser counts as work" in paged.get("/", cookie=cookie).body
    with paging(world, world.work) as paged:
        cookie = paged.enter()
        assert b"work: <code>" in paged.get("/", cookie=cookie).body
        refused = paged.post("trash", {"name": ID}, cookie=cookie)
        assert (403, True) == (refused.status, b"nothing was moved to the trash" in refused.body)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere ::1 may have no 127.0.0.1 beside it")
def test_no_other_server_can_take_the_page_s_place(world: World) -> None:
    """A browser asks `localhost` at ::1 first, where there is one; so that both addresses are the server's."""
    import socket

    with paging(world) as paged, pytest.raises(OSError):
        socket.create_server(("::1", paged.served.port), family=socket.AF_INET6).close()
    try:
        taken = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no ::1")
    with taken:
        port = str(taken.getsockname()[1])
        ran = world.run("serve", "--page", "--port", port)
    assert 2 == ran.status
    assert "::1" in ran.err


def test_without_the_page_nothing_but_the_api_is_there(world: World) -> None:
    """`serve` alone is as it was."""
    with serving(world) as served:
        assert "page" not in served.greeting
        assert 401 == served.get("/", Authorization=None).status
        assert 404 == served.get("/search").status
        assert served.port


def test_without_the_extra_it_says_how_to_get_it(world: World, tmp_path: Path) -> None:
    """And `serve` alone doesn't need it."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "jinja2.py").write_text("raise ModuleNotFoundError('no jinja2', name='jinja2')\n")
    path = {"PYTHONPATH": f"{blocked}:{world.environment()['PYTHONPATH']}"}
    ran = world.run("serve", "--page", extra=path)
    assert 2 == ran.status
    assert "-m pip install 'roamkb[page]'" in ran.err
    with serving(world, extra=path) as served:
        assert 200 == served.get("/api/classify").status


def test_the_browser_is_opened_at_the_one_time_address(world: World, tmp_path: Path) -> None:
    """The terminal says where the page is, and not how to open it."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part\nmv {opened}.part {opened}\n')
    browser.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "roamkb", "serve", "--page", "--port", "0"],
        cwd=world.personal,
        env={**world.environment(), "BROWSER": str(browser)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        while not opened.exists():
            assert process.poll() is None
            time.sleep(0.01)
        assert re.fullmatch(r"http://localhost:\d+/enter\?code=[\w-]{43}\n", opened.read_text())
        assert "opened in the browser" in lines[1]
        assert "code=" not in "".join(lines)
    finally:
        process.terminate()
        process.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root may be another user here")
def test_another_user_with_the_browsers_cookie_is_refused(world: World) -> None:
    """A browser sends it to every server on this machine, and others may have some."""
    with paging(world) as paged:
        cookie = paged.enter()
        assert 200 == paged.get("/agents", cookie=cookie).status
        os.seteuid(65534)
        try:
            answers = [paged.get("/agents", cookie=cookie), paged.get("/enter?code=x")]
        finally:
            os.seteuid(0)
        assert [403, 403] == [answer.status for answer in answers]
        assert all(b"another user" in answer.body for answer in answers)
