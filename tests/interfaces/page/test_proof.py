"""A human's yes on the page, by a real Chromium with an authenticator that verifies the person, or doesn't."""

import base64
import json
import os
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from roamkb.log.proof.key_signature import parse_signature
from roamkb.log.state.learning_state import is_signed
from roamkb.log.store.project_log import Log
from roamkb.log.trust.store import system_programs
from tests.conftest import World
from tests.conftest import make_world
from tests.instructions.test_approve import content
from tests.instructions.test_approve import proposed
from tests.instructions.test_propose import CENTS
from tests.instructions.test_propose import RULES
from tests.interfaces.page.chromium import PROGRAM
from tests.interfaces.page.chromium import Chromium
from tests.interfaces.page.chromium import Tab
from tests.interfaces.page.chromium import chromium
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging
from tests.security_key import KeyRing
from tests.trusting import command_of
from tests.trusting import root_of
from tests.trusting import run

pytestmark = pytest.mark.skipif(
    PROGRAM is None or shutil.which("ssh-keygen") is None,
    reason="no Chromium or ssh-keygen here (Debian: chromium openssh-client)",
)

KEY = "learned-oauth-redirect-uris-must-match-exactly"
#: A question stands there, and the page's script is there to answer it.
READY = "location.pathname === '/approve' && document.querySelector('form.signed button:enabled')"
#: The fields of a yes.
FIELDS = ("yes", "credential", "authenticator", "client", "signature")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A person with a log of two learnings, of which one could stand in a rule file."""
    world = make_world(tmp_path_factory.mktemp("proof") / "home")
    proposed(world, CENTS)
    run(world, "learn", "OAuth redirect URIs must match exactly")
    return world


@pytest.fixture(scope="module")
def paged(world: World) -> Iterator[Paged]:
    """A server whose account is that person's."""
    with paging(world, command=command_of(world)) as paged:
        yield paged


@pytest.fixture(autouse=True)
def system_root(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which this process, too, looks for root's list."""
    monkeypatch.setattr(system_programs, "SYSTEM_ROOT", root_of(world))
    monkeypatch.setattr(system_programs, "SYSTEM_OWNER", os.getuid())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser for all tests."""
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def authenticator(tab: Tab) -> str:
    """The person's authenticator, which verifies whoever touches it."""
    return add_authenticator(tab)


@pytest.fixture(scope="module")
def tab(browser: Chromium, paged: Paged) -> Tab:
    """The tab that the one-time address opened."""
    tab = browser.new_tab()
    tab.open(paged.entrance)
    return tab


@pytest.fixture(scope="module")
def registered(world: World, paged: Paged, tab: Tab, authenticator: str) -> str:
    """The page's key, which its person registered at a terminal."""
    assert authenticator
    line = make_key(paged, tab)
    ran, _ = KeyRing(world, Path()).say("trust", "add", "--approver", line)
    assert 0 == ran.status, ran.err
    return line


def add_authenticator(tab: Tab, *, transport: str = "internal") -> str:
    """Give a tab an authenticator that is touched at once, and verifies the person."""
    tab.call("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": transport,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    return str(tab.call("WebAuthn.addVirtualAuthenticator", options=options)["authenticatorId"])


def make_key(paged: Paged, tab: Tab) -> str:
    """Have the page make a key; return it as the command that registers it names it."""
    tab.call("Page.bringToFront")
    tab.open(f"{paged.base}/key")
    tab.wait_until("document.querySelector('form.signed button:enabled')")
    tab.run("document.querySelector('form.signed button').click()")
    tab.wait_until("document.querySelector('code.command') || document.querySelector('.trouble').textContent")
    command = tab.run("document.querySelector('code.command').textContent")
    found = re.fullmatch(r"roamkb trust add --approver '(.+)'", str(command))
    assert found, command
    assert [] == tab.serious_faults()
    return found[1]


def begin_override(paged: Paged, tab: Tab, value: str) -> None:
    """Ask for a confidence on the learning's page, up to the question."""
    tab.call("Page.bringToFront")
    tab.open(f"{paged.base}/learning?id={KEY}")
    script = (
        "const form = document.querySelector('form[data-proof=override]');"
        f"form.elements.confidence.value = {value!r}; form.querySelector('button').click()"
    )
    tab.run(script)
    tab.wait_until(READY)


def grasp_yes(tab: Tab) -> dict[str, str]:
    """Touch the key for the question, and keep what the page would send."""
    tab.run(
        "HTMLFormElement.prototype.submit = function () {"
        " window.kept = Object.fromEntries(new FormData(this)); };"
        "document.querySelector('form.signed button').click()"
    )
    tab.wait_until("window.kept || document.querySelector('.trouble').textContent")
    kept = tab.run("window.kept")
    assert kept, tab.run("document.querySelector('.trouble').textContent")
    return {name: str(kept[name]) for name in FIELDS}


def cookie_of(paged: Paged, tab: Tab) -> str:
    """Return the browser's cookie for a server, as a program can take it."""
    cookies = tab.call("Network.getCookies", urls=[paged.base])["cookies"]
    (value,) = (one["value"] for one in cookies if one["name"] == f"roamkb-page-{paged.served.port}")
    return f"roamkb-page-{paged.served.port}={value}"


def send_yes(paged: Paged, tab: Tab, fields: dict[str, str]) -> str:
    """Send a yes as a program with the browser's cookie would; return what the answer says."""
    held = cookie_of(paged, tab)
    answer = paged.post("yes", fields, cookie=held, under="/proof/")
    if answer.status == 303:
        answer = paged.get(answer.headers["location"], cookie=held)
    return unescape(answer.body.decode())


def ledger(world: World) -> list[dict[str, Any]]:
    """Return the lines of the ledger."""
    path = world.personal / ".roamkb" / "ledger.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def signed_values(world: World) -> list[object]:
    """Return the confidences that count as signed."""
    log = Log(world.personal, world.state, account_home=world.home)
    return [event.fields["value"] for event in log.read_contents().replay_state().events if is_signed(event)]


def encode(data: bytes) -> str:
    """Return bytes as the page sends them."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Return what the page sent."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_without_a_key_a_button_waits_and_the_command_stands_there(world: World, paged: Paged, tab: Tab) -> None:
    """A click is no proof of a human."""
    if "page:" in run(world, "trust").out:
        pytest.skip("the key is registered already")
    tab.open(f"{paged.base}/learning?id={KEY}")
    assert tab.run("document.querySelector('form[data-proof=override] button').disabled") is True
    assert "roamkb override" in str(tab.run("document.querySelector('form[data-proof=override] code').textContent"))


def test_a_touched_key_is_a_yes(world: World, paged: Paged, tab: Tab, registered: str) -> None:
    """The question is that of the terminal, with its four words; what OpenSSH verifies is signed and verified."""
    begin_override(paged, tab, "0.97")
    shown = str(tab.run("document.querySelector('pre').textContent"))
    assert "OAuth redirect URIs must match exactly" in shown
    assert re.search(r"Its four words: [a-z]+( [a-z]+){3}\b", shown)
    tab.run("document.querySelector('form.signed button').click()")
    tab.wait_until("location.pathname === '/learning' && document.querySelector('.outcome')")
    assert 97 in signed_values(world)
    proof = ledger(world)[-1]["proof"]
    signature = parse_signature(base64.b64decode(proof["signature"]))
    assert signature
    assert ("localhost", paged.base, 5) == (signature.application, signature.origin, signature.flags & 5)
    assert registered.startswith(signature.key)
    assert [] == paged.reports


#: What a program does with a touched key's answer to another question, or with another's to this one.
CHANGES: dict[str, dict[str, str]] = {
    "nothing signed": {"signature": ""},
    "no authenticator": {"authenticator": ""},
    "no client": {"client": ""},
    "no credential": {"credential": ""},
    "another credential": {"credential": "AAAA"},
    "no base64": {"signature": "???"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_answer_is_no_yes(world: World, paged: Paged, tab: Tab, registered: str, change: str) -> None:
    """Although a key was touched for the question; and the question is over."""
    before = ledger(world)
    begin_override(paged, tab, "0.11")
    fields = grasp_yes(tab) | CHANGES[change]
    assert "nothing was written" in send_yes(paged, tab, fields)
    assert "isn't asked any more" in send_yes(paged, tab, fields)
    assert (before, True) == (ledger(world), bool(registered))


@pytest.mark.parametrize("flags", [0, 1, 4, 0x45, 0x85])
def test_other_flags_are_no_yes(world: World, paged: Paged, tab: Tab, registered: str, flags: int) -> None:
    """Nobody touched, nobody was verified, or more is there than was signed."""
    before = ledger(world)
    begin_override(paged, tab, "0.12")
    fields = grasp_yes(tab)
    data = bytearray(decode(fields["authenticator"]))
    data[32] = flags
    assert "nothing was written" in send_yes(paged, tab, fields | {"authenticator": encode(bytes(data))})
    assert (before, True) == (ledger(world), bool(registered))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"http://localhost:", b"http://localhost:1"),
        (b"http://localhost:", b"https://localhost:"),
        (b"http://localhost:", b"http://evil.localhost:"),
        (b'"webauthn.get"', b'"webauthn.create"'),
        (b'"crossOrigin":false', b'"crossOrigin":true'),
        (b'"challenge":"U', b'"challenge":"V'),
    ],
)
def test_what_the_browser_says_of_the_page_is_signed(
    world: World, paged: Paged, tab: Tab, registered: str, old: bytes, new: bytes
) -> None:
    """Another port, another origin, another ceremony, another challenge."""
    before = ledger(world)
    begin_override(paged, tab, "0.13")
    fields = grasp_yes(tab)
    client = decode(fields["client"])
    assert old in client
    assert "nothing was written" in send_yes(paged, tab, fields | {"client": encode(client.replace(old, new, 1))})
    assert (before, True) == (ledger(world), bool(registered))


def test_a_yes_to_one_question_is_none_to_another(world: World, paged: Paged, tab: Tab, registered: str) -> None:
    """A signature is over what was shown, in its place in the log."""
    begin_override(paged, tab, "0.14")
    first = grasp_yes(tab)
    begin_override(paged, tab, "0.15")
    name = str(tab.run("document.querySelector('form.signed').elements.yes.value"))
    assert "nothing was written" in send_yes(paged, tab, first | {"yes": name})
    assert not {14, 15} & {*signed_values(world)}
    assert registered


def test_a_page_at_another_port_has_other_yeses(
    world: World, paged: Paged, tab: Tab, browser: Chromium, registered: str, authenticator: str
) -> None:
    """The key is the same for all ports of this machine, and what a page asked for says which it was."""
    begin_override(paged, tab, "0.16")
    with paging(world, command=command_of(world)) as other:
        other_tab = browser.new_tab()
        other_tab.open(other.entrance)
        challenge = str(tab.run("document.querySelector('form.signed').dataset.challenge"))
        credentials = str(tab.run("document.querySelector('form.signed').dataset.credentials"))
        store = tab.call("WebAuthn.getCredentials", authenticatorId=authenticator)["credentials"][0]
        other_key = add_authenticator(other_tab)
        other_tab.call("WebAuthn.addCredential", authenticatorId=other_key, credential=store)
        begin_override(other, other_tab, "0.17")
        other_tab.run(
            f"document.querySelector('form.signed').dataset.challenge = {challenge!r};"
            f"document.querySelector('form.signed').dataset.credentials = {credentials!r}"
        )
        fields = grasp_yes(other_tab)
        name = str(tab.run("document.querySelector('form.signed').elements.yes.value"))
        assert "nothing was written" in send_yes(paged, tab, fields | {"yes": name})
    assert not {16, 17} & {*signed_values(world)}
    assert registered


def test_who_is_not_verified_gives_no_yes(
    world: World, paged: Paged, tab: Tab, registered: str, authenticator: str
) -> None:
    """The browser asks for it, and the key refuses."""
    before = ledger(world)
    begin_override(paged, tab, "0.18")
    tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=False)
    try:
        tab.run("document.querySelector('form.signed button').click()")
        tab.wait_until("document.querySelector('.trouble').textContent")
        assert "NotAllowedError" in str(tab.run("document.querySelector('.trouble').textContent"))
    finally:
        tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=True)
    assert (before, True) == (ledger(world), bool(registered))


def test_a_stolen_cookie_gives_no_yes(world: World, paged: Paged, tab: Tab, registered: str) -> None:
    """It begins acts and reads their questions; the bearer token of programs isn't even heard."""
    before = ledger(world)
    held = cookie_of(paged, tab)
    key = next(iter(Log(world.personal, world.state).read_contents().learnings)).id
    begun = paged.post("override", {"key": key, "confidence": "0.19"}, cookie=held, under="/proof/")
    assert 303 == begun.status
    name = begun.headers["location"].partition("yes=")[2]
    for fields in ({"yes": name}, {"yes": name, "credential": registered.rpartition(":")[2]}):
        assert "nothing was written" in send_yes(paged, tab, fields)
    token = paged.post(
        "override",
        {"key": key, "confidence": "0.19"},
        cookie="",
        under="/proof/",
        Authorization=f"Bearer {paged.served.token}",
    )
    assert (401, before) == (token.status, ledger(world))


def test_a_line_lands_and_goes_by_a_touch(world: World, paged: Paged, tab: Tab, registered: str) -> None:
    """In the rule file as it was shown, and out of it again; everybody can use the pages that ask."""
    for act, fields in (("approve", ""), ("rollback", "form.elements.reason.value = 'Agents read it wrongly';")):
        tab.open(f"{paged.base}/review")
        tab.run(f"{{ const form = document.querySelector('form[data-proof={act}]'); {fields} form.requestSubmit() }}")
        tab.wait_until(READY)
        assert CENTS in str(tab.run("document.querySelector('pre').textContent"))
        for width, theme in ((390, "light"), (1440, "dark")):
            tab.show_as(width=width, theme=theme)
            assert [] == tab.serious_faults()
            assert tab.run("document.documentElement.scrollWidth") <= width
        tab.run("document.querySelector('form.signed button').click()")
        tab.wait_until("location.pathname === '/review' && document.querySelector('.outcome')")
        assert (act == "approve") == (CENTS.encode() in content(world))
        assert ("signed", bool(registered)) == (ledger(world)[-2 if act == "approve" else -1]["yes"], True)
    assert RULES.encode() == content(world)
    assert "none" in str(tab.run("document.querySelector('section.review:last-child').textContent"))


def test_no_is_no(world: World, paged: Paged, tab: Tab, registered: str) -> None:
    """And leads back."""
    before = ledger(world)
    begin_override(paged, tab, "0.20")
    tab.run("document.querySelector('form[action=\"/proof/no\"] button').click()")
    tab.wait_until("location.pathname === '/learning' && document.querySelector('.outcome')")
    assert (before, True) == (ledger(world), bool(registered))


def test_a_further_key_of_the_page_is_signed_for_on_the_page(
    world: World, paged: Paged, browser: Chromium, tab: Tab, registered: str
) -> None:
    """By the touch of the first; no word is typed."""
    assert registered
    line = make_key(paged, tab)
    tab.run("document.querySelector('form[data-proof=trust] button').click()")
    tab.wait_until(READY)
    tab.run("document.querySelector('form.signed button').click()")
    tab.wait_until("location.pathname === '/key' && document.querySelector('.outcome')")
    keys = run(world, "trust", "--json").json["approvers"]
    assert (2, keys[0]["name"]) == (len(keys), keys[1]["signed_by"])
    assert line.startswith(keys[1]["key"])
    assert browser
