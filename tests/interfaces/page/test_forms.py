"""Forms of the page, by a real server: what each changes, and whose forms are refused."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from roamkb.app.server import ServedKnowledgeBase
from roamkb.core.model import ProjectKind
from roamkb.interfaces.page.decisions.forms import own_address
from roamkb.log.state.learning_state import SUPERSEDED
from roamkb.log.state.learning_state import LearningState
from tests.conftest import World
from tests.conftest import adopt
from tests.conftest import learn
from tests.conftest import make_world
from tests.interfaces.http.served import Answer
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging

_COPY = "deploys.sync-conflict-20260610-120000-ABCDEFG.org"
_DURABLE = "Run the migrations with alembic before the tests, or the fixtures fail"
_ATTACK = "<script>window.ran=1</script>"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world for all forms: each test has a note or a learning of its own."""
    world = make_world(tmp_path_factory.mktemp("forms") / "home")
    kb = world.open()
    kb.log.init()
    adopt(world)
    world.node("human.org", "human", "A human's note")
    world.node("deploys.org", "deploys", "How we deploy", "From main.\n\nBy hand.\n\nIn a minute.")
    world.node(_COPY, "deploys", "How we deploy", "From main.\n\nBy systemctl.\n\nIn an hour.")
    world.node("twin.org", "deploys", "How we deploy", "Something else.")
    return world


def _write(world: World, title: str) -> str:
    return world.open().write(title).id


def _learned(world: World, text: str, **said: str) -> str:
    return learn(world.open().log, text, **said).learning.id


def _standing(world: World, id: str) -> LearningState:
    return world.open().log.explain(id).standing


def _outcome(answer: Answer, paged: Paged, cookie: str) -> str:
    """Return what the page says that a form led to."""
    assert 303 == answer.status, answer.body
    shown = paged.get(answer.headers["location"], cookie=cookie)
    assert 200 == shown.status
    told = re.search(rb'<div class="outcome" role="status">(.*?)</div>', shown.body, re.DOTALL)
    assert told
    return unescape(re.sub("<[^>]+>", "", told[1].decode()))


def test_a_note_goes_to_the_trash_and_comes_back(world: World, paged: Paged, cookie: str) -> None:
    """One click each way, and the trash has a list; a human's note isn't moved."""
    before = world.files()
    id = _write(world, f"Zebras are striped {_ATTACK}")
    name = next(iter(world.files().keys() - before.keys()))
    gone = paged.post("trash", {"name": id, "back": "/agents"}, cookie=cookie)
    assert gone.headers["location"].startswith("/agents?done=")
    assert "1 node moved to the trash" in _outcome(gone, paged, cookie)
    assert name not in world.files()
    listed = paged.get("/trash", cookie=cookie).body.decode()
    assert "Zebras are striped &lt;script&gt;" in listed
    assert f'name="name" value="{id}"' in listed
    back = paged.post("restore", {"name": id, "back": "/trash"}, cookie=cookie)
    assert "1 node put back" in _outcome(back, paged, cookie)
    assert name in world.files()
    refused = paged.post("trash", {"name": "human"}, cookie=cookie)
    assert (400, True) == (refused.status, b"human" in refused.body)
    assert "human.org" in world.files()


def test_what_a_form_did_is_said_once(world: World, paged: Paged, cookie: str) -> None:
    """A reload, or coming back to the page, says nothing of it: nothing was done then."""
    answer = paged.post("trash", {"name": _write(world, "Gnus graze"), "back": "/agents"}, cookie=cookie)
    address = answer.headers["location"]
    assert "1 node moved to the trash" in _outcome(answer, paged, cookie)
    again = paged.get(address, cookie=cookie)
    assert (200, False) == (again.status, b'class="outcome"' in again.body)


FOREIGN: list[tuple[int, Mapping[str, str | None]]] = [
    (403, {"Origin": None}),
    (403, {"Origin": "null"}),
    (403, {"Origin": "http://127.0.0.1:PORT"}),
    (403, {"Origin": "http://localhost:1"}),
    (403, {"Sec-Fetch-Site": "cross-site"}),
    (403, {"Sec-Fetch-Site": "none"}),
    (401, {"Cookie": None}),
    (401, {"Cookie": None, "Authorization": "Bearer TOKEN"}),
    (405, {"Content-Type": "text/plain"}),
    (405, {"Content-Type": "application/json"}),
    (400, {"Content-Length": "x"}),
    (413, {"Content-Length": "999999999"}),
    (411, {"Transfer-Encoding": "chunked"}),
]


@pytest.mark.parametrize(("status", "headers"), FOREIGN, ids=str)
def test_a_form_that_is_not_the_page_s_own_is_refused(
    status: int, headers: Mapping[str, str | None], world: World, paged: Paged, cookie: str
) -> None:
    """Another page's, another port's, an agent's with the token of the API: nothing is changed."""
    id = _write(world, f"A note that stays ({len(world.files())} of them)")
    before = world.files()
    filled = {
        name.replace("-", "_"): value
        and value.replace("PORT", str(paged.served.port)).replace("TOKEN", paged.served.token)
        for name, value in headers.items()
    }
    told = None if "Cookie" in filled else cookie
    filled.pop("Cookie", None)
    assert status == paged.post("trash", {"name": id}, cookie=told or "", **filled).status
    assert before == world.files()


def test_a_form_is_no_address_to_be_opened(world: World, paged: Paged, cookie: str) -> None:
    """A GET changes nothing, whatever it asks for."""
    id = _write(world, "A note that a GET leaves")
    before = world.files()
    assert 405 == paged.get(f"/do/trash?name={id}", cookie=cookie).status
    assert before == world.files()


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("trash", b""),
        ("trash", b"name="),
        ("trash", b"name=-"),
        ("trash", b"name=human&name=human"),
        ("trash", b"name=human&all_agent=1"),
        ("trash", b"name=%00"),
        ("trash", b"name=%FF"),
        ("trash", b"no pairs"),
        ("pin", b"off=1"),
        ("used", b"outcome=success"),
        ("used", b"name=x"),
        ("reword", b"type=fact"),
        ("settle", b"keep=x"),
        ("settle", b"keep=no-such&other=none"),
        ("merge", b"first=human.org&second=human.org&title=x"),
        ("merge", b"first=human.org&second=..%2F..%2Fetc%2Fpasswd&title=x"),
        ("merge", b"first=human.org&second=deploys.org"),
        ("approve", b"id=1"),
        ("forget", b"key=1"),
    ],
)
def test_a_form_that_makes_no_sense_is_answered(
    form: str, body: bytes, world: World, paged: Paged, cookie: str
) -> None:
    """By what the command says, and no more: nothing is changed, and there is no traceback."""
    before = world.files()
    answer = paged.post(form, body, cookie=cookie)
    assert answer.status in (400, 404)
    assert b"fault of roamkb" not in answer.body
    assert before == world.files()


def test_from_work_nothing_is_changed(world: World, paged: Paged, cookie: str) -> None:
    """A browser that was begun in a work project writes no more than a command there."""
    note = _write(world, "A note of a personal project")
    learning, other = (_learned(world, f"The archive takes {n} minutes to be copied") for n in ("30", "300"))
    notes, ledger = world.files(), world.log().ledger.read_bytes()
    digest = _digest(paged, cookie)
    began_in = Path.cwd()
    os.chdir(world.work)
    try:
        for form, fields in {
            "trash": {"name": note},
            "merge": {"first": "deploys.org", "second": _COPY, "digest": digest, "title": "Merged"},
            "adopt": {"file": _COPY},
            "ediff": {"first": "deploys.org", "second": _COPY},
            "restore-last": {},
            "pin": {"key": learning},
            "prefer": {"key": learning, "agent": "a"},
            "settle": {"keep": learning, "other": other},
            "reword": {"text": "Copying takes half an hour", "supersedes": learning},
            "verify": {"keys": learning},
            "promote": {"keys": learning},
        }.items():
            answer = paged.post(form, fields, cookie=cookie)
            assert 403 == answer.status, (form, answer.body)
            assert b"work" in answer.body
    finally:
        os.chdir(began_in)
    assert (notes, ledger) == (world.files(), world.log().ledger.read_bytes())


def test_a_browser_works_where_the_page_was_opened(world: World, paged: Paged, cookie: str) -> None:
    """Most are begun in the home folder, which is no project: that only work counts of it, as of a parent's folder."""
    note = _write(world, "A note that goes from any folder")
    began_in = Path.cwd()
    for folder, status in ((world.work, 403), (world.unknown, 303)):
        os.chdir(folder)
        try:
            assert status == paged.post("trash", {"name": note}, cookie=cookie).status
        finally:
            os.chdir(began_in)


def test_a_browser_that_cannot_be_seen_is_unknown(world: World) -> None:
    """Another user's, or one that is gone: its forms are refused."""
    served = ServedKnowledgeBase(world.open().environment)
    assert ProjectKind.PERSONAL is served.current_project.kind
    assert ProjectKind.UNKNOWN is served.for_browser(None, None).current_project.kind
    assert ProjectKind.UNKNOWN is served.for_browser(("127.0.0.1", 1), ("127.0.0.1", 2)).current_project.kind


def test_a_learning_is_pinned_preferred_and_said_better(world: World, paged: Paged, cookie: str) -> None:
    """Each by its own command; what an agent brought about can be taken back."""
    id = _learned(world, f"Invoice numbers restart at 1 every year {_ATTACK}", agent="a")
    page = f"/learning?{urlencode({'id': id})}"
    for form, fields, told in (
        ("pin", {"key": id}, "is pinned"),
        ("pin", {"key": id, "off": "1"}, "is not pinned"),
        ("prefer", {"key": id, "agent": "a"}, "is preferred by a"),
        ("verify", {"keys": id}, "unverified"),
    ):
        assert told in _outcome(paged.post(form, {**fields, "back": page}, cookie=cookie), paged, cookie)
    assert {"a"} == _standing(world, id).preferred_by
    shown = paged.get(page, cookie=cookie).body.decode()
    assert "&lt;script&gt;window.ran" in shown
    assert f"roamkb forget {id}" in shown
    event = re.findall(r'name="event" value="([^"]+)"', shown)[0]
    assert "doesn't count" in _outcome(paged.post("undo", {"event": event}, cookie=cookie), paged, cookie)
    assert set() == _standing(world, id).preferred_by
    unseen = paged.post("used", {"name": id, "outcome": "success"}, cookie=cookie)
    assert (400, True) == (unseen.status, b"wasn&#39;t shown" in unseen.body)
    better = {"text": "Invoice numbers restart each January", "type": "fact", "tags": "billing", "supersedes": id}
    paged.post("reword", better, cookie=cookie)
    assert SUPERSEDED == _standing(world, id).status


@pytest.mark.parametrize("both", [False, True])
def test_of_two_that_contradict_each_other_one_holds_or_both(
    both: bool, world: World, paged: Paged, cookie: str
) -> None:
    """One question on the page; what is replaced stays in the log."""
    what = "nightly" if both else "weekly"
    first, second = (_learned(world, f"The {what} report takes {n} minutes to be made") for n in ("20", "200"))
    assert f'value="{second}"' in paged.get("/learnings", cookie=cookie).body.decode()
    fields = {"keep": second, "other": first}
    if both:
        fields["text"] = f"The {what} report takes 20 minutes here, and 200 where the disk is slow"
    _outcome(paged.post("settle", fields, cookie=cookie), paged, cookie)
    assert SUPERSEDED == _standing(world, first).status
    assert both is (SUPERSEDED == _standing(world, second).status)
    contested = paged.get("/learnings", cookie=cookie).body.decode().partition("<table")[0]
    assert what not in contested


def test_what_waits_is_shown_as_a_difference_with_its_digest(world: World, paged: Paged, cookie: str) -> None:
    """What a person alone decides has its command and a button that waits; a note is written at once."""
    ids = {_learned(world, _DURABLE, type="gotcha", session=f"s{n}", agent=f"a{n}") for n in range(4)}
    assert 1 == len(ids)
    learning = ids.pop()
    world.run("verify", learning, "--judge", "heuristic")
    (world.personal / "CLAUDE.md").write_text("# Site\n")
    world.run("promote", learning, "--to", "CLAUDE.md")
    for number in ("20", "200"):
        _learned(world, f"The monthly export takes {number} minutes to be made")
    proposal = world.open().log.review().proposals[0]  # type: ignore[union-attr]
    html = unescape(paged.get("/review", cookie=cookie).body.decode())
    assert f'<span class="added">+- {_DURABLE}</span>' in html
    assert f"roamkb approve {proposal.proposal.id[:8]} --digest {proposal.digest[:12]}" in html
    assert re.search(
        rf'data-proof="approve" data-digest="{proposal.digest}">\s*(?:<input[^>]*>\s*)*<button[^>]* disabled title=',
        html,
    )
    assert "roamkb reject" in html
    assert re.search(r'data-proof="curate" data-digest="[0-9a-f]{64}"', html)
    told = _outcome(paged.post("promote", {"keys": learning, "back": "/review"}, cookie=cookie), paged, cookie)
    assert "run_the_migrations" in told
    assert _standing(world, learning).node
    assert (world.personal / "CLAUDE.md").read_text() == "# Site\n"


def _digest(paged: Paged, cookie: str) -> str:
    page = paged.get(f"/conflict?{urlencode({'first': 'deploys.org', 'second': _COPY})}", cookie=cookie).body.decode()
    found = re.search(r'name="digest" value="([0-9a-f]+)"', page)
    assert found
    assert 2 == len(re.findall("<fieldset", page))
    return found[1]


def test_versions_are_merged_into_a_new_note(world: World, paged: Paged, cookie: str) -> None:
    """What is chosen at each place, linked to the original; both files are as they were."""
    listed = paged.get("/conflicts", cookie=cookie).body.decode()
    assert urlencode({"second": _COPY}) in unescape(listed)
    assert "twin.org" in listed
    before = world.files()
    fields = {"first": "deploys.org", "second": _COPY, "digest": _digest(paged, cookie), "title": "Deploys, merged"}
    answer = paged.post("merge", fields | {"choice-1": "second", "choice-2": "both"}, cookie=cookie)
    assert "Deploys, merged" in _outcome(answer, paged, cookie)
    assert answer.headers["location"].startswith("/note?id=")
    after = world.files()
    assert before == {name: after[name] for name in before}
    (new,) = after.keys() - before.keys()
    assert "From main.\n\nBy systemctl.\n\nIn a minute.\nIn an hour.\n" in after[new].decode()
    assert "[[id:deploys][How we deploy]]" in after[new].decode()
    assert ":agent:" in after[new].decode()
    # pressed again after Back, or twice at once
    again = paged.post("merge", fields | {"choice-1": "second", "choice-2": "both"}, cookie=cookie)
    assert (400, True) == (again.status, b"was written before" in again.body)
    assert 400 == paged.post("merge", fields | {"choice-1": "mine"}, cookie=cookie).status
    assert 409 == paged.post("merge", fields | {"digest": "0" * 12}, cookie=cookie).status
    assert after == world.files()


def test_two_versions_are_handed_to_the_humans_emacs(world: World, tmp_path: Path) -> None:
    """Whatever their files are called, as two names and nothing that runs; where no Emacs answers, it says what to run."""
    name = 'a" (kill-emacs 7) \\".org'
    world.node(name, "odd", "Odd", "One")
    world.node("odder.org", "odd", "Odd", "Two")
    emacsclient = tmp_path / "emacsclient"
    emacsclient.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/given\ntest ! -e {tmp_path}/deaf\n')
    emacsclient.chmod(0o755)
    before = world.files()
    fields = {"first": name, "second": "odder.org"}
    with paging(world, extra={"PATH": f"{tmp_path}:{os.environ['PATH']}"}) as paged:
        cookie = paged.enter()
        assert "Emacs has both" in _outcome(paged.post("ediff", fields, cookie=cookie), paged, cookie)
        *options, call = (tmp_path / "given").read_text().splitlines()
        (tmp_path / "deaf").touch()
        answer = paged.post("ediff", fields, cookie=cookie)
        assert (400, True) == (answer.status, b"emacsclient -c -n -e" in answer.body)
        assert 404 == paged.post("ediff", {**fields, "second": "none.org"}, cookie=cookie).status
    assert ["-c", "-n", "-e"] == options
    assert before == world.files()
    if shutil.which("emacs"):
        spy = "(fset 'ediff-files (lambda (&rest names) (prin1 (length names)) (princ (car names))))"
        said = subprocess.run(
            ["emacs", "-Q", "--batch", "--eval", f"(progn {spy} {call})"], capture_output=True, check=True
        )
        assert f"2{world.kb / name}" == said.stdout.decode()


def test_a_copy_with_an_id_of_its_own_is_given_a_name(world: World, paged: Paged, cookie: str) -> None:
    """As `conflicts FILE --adopt` does."""
    copy = world.node("own.sync-conflict-20260610-120000-ABCDEFG.org", "own", "A note of its own")
    _outcome(paged.post("adopt", {"file": str(copy), "back": "/conflicts"}, cookie=cookie), paged, cookie)
    assert not copy.exists()
    assert any(name.endswith("a_note_of_its_own.org") or "a_note_of_its_own" in name for name in world.files())


def test_all_changes_of_the_files_are_listed_by_day(world: World, paged: Paged, cookie: str) -> None:
    """As the journal saw them last; what nothing explains is marked."""
    world.open().journal()
    world.node("stray.org", "stray", f"Written by hand {_ATTACK}")
    (world.kb / "<b>.org").write_text("a file that is no note\n")
    world.open().journal()
    listed = paged.get("/changes", cookie=cookie).body.decode()
    assert "2 files changed" in listed
    href = re.search(r'href="(/changes\?since=\d+)"', listed)
    assert href
    since = paged.get(href[1], cookie=cookie).body.decode()
    assert 'href="/note?name=stray.org"' in since
    assert "&lt;b&gt;.org" in since
    assert "added" in since
    assert 404 == paged.get("/changes?since=99999", cookie=cookie).status


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("/agents", True),
        ("/learning?id=x#y", True),
        *((bad, False) for bad in ("", "//evil", "/\\evil", "http://evil", "/do/trash", "/a\r\nSet-Cookie: x", "/ä")),
    ],
)
def test_a_form_leads_to_the_page_s_own_addresses_alone(address: str, own: bool) -> None:
    """Whatever its field says."""
    assert own is (own_address(address, default="/") == address)
