"""Another program of the account's, at the debugging port of the person's own browser: what it can't have signed."""

import base64
import json
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import World
from tests.conftest import make_world
from tests.interfaces.page import test_proof
from tests.interfaces.page.chromium import Chromium
from tests.interfaces.page.chromium import PortDriver
from tests.interfaces.page.chromium import Tab
from tests.interfaces.page.chromium import chromium
from tests.interfaces.page.paged import Paged
from tests.interfaces.page.paged import paging
from tests.interfaces.page.test_proof import KEY
from tests.interfaces.page.test_proof import READY
from tests.interfaces.page.test_proof import add_authenticator
from tests.interfaces.page.test_proof import begin_override
from tests.interfaces.page.test_proof import decode
from tests.interfaces.page.test_proof import grasp_yes
from tests.interfaces.page.test_proof import ledger
from tests.interfaces.page.test_proof import make_key
from tests.interfaces.page.test_proof import send_yes
from tests.interfaces.page.test_proof import signed_values
from tests.trusting import command_of
from tests.trusting import run

pytestmark = test_proof.pytestmark
system_root = test_proof.system_root
authenticator = test_proof.authenticator
registered = test_proof.registered

#: Has a key of that name asked for, and gives what the page's form would hold then; else why there is nothing.
_SIGN = """(async (credential, userVerification) => {
  const stop = new AbortController(), form = document.querySelector('form.signed');
  setTimeout(() => stop.abort(), 1500);
  const publicKey = {challenge: decode(form.dataset.challenge), rpId: 'localhost', userVerification,
    allowCredentials: [{type: 'public-key', id: decode(credential)}]};
  try {
    const made = await navigator.credentials.get({publicKey, signal: stop.signal});
    return {yes: form.elements.yes.value, credential, signature: encode(made.response.signature),
      authenticator: encode(made.response.authenticatorData), client: encode(made.response.clientDataJSON)};
  } catch (error) { return error.name }
})"""
#: An attack: what a program sends once the question stands there; a word where it got nothing to send.
Attack = Callable[[Tab, str], dict[str, str] | str]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A person with a log of one learning."""
    world = make_world(tmp_path_factory.mktemp("port") / "home")
    run(world, "init")
    run(world, "learn", "OAuth redirect URIs must match exactly")
    return world


@pytest.fixture(scope="module")
def paged(world: World) -> Iterator[Paged]:
    """A server whose account is that person's."""
    with paging(world, command=command_of(world)) as paged:
        yield paged


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The browser's folder, which says at which port it listens."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def browser(profile: Path) -> Iterator[Chromium]:
    """The person's browser, which other programs may drive."""
    with chromium(profile, is_open=True) as browser:
        yield browser


@pytest.fixture(scope="module")
def tab(browser: Chromium, paged: Paged) -> Tab:
    """The tab that the person reads."""
    tab = browser.new_tab()
    tab.open(paged.entrance)
    return tab


@pytest.fixture(scope="module")
def driven(profile: Path, paged: Paged, tab: Tab, registered: str) -> Iterator[Tab]:
    """The same tab as the program drives it."""
    assert tab
    assert registered
    driver = PortDriver(profile)
    yield driver.find_tab(paged.base)
    driver.close()


def name_of(line: str) -> str:
    """Return what a browser calls a key, from the line that registers it."""
    return line.rpartition("page:")[2].split()[0]


def sign(driven: Tab, name: str, verification: str = "required") -> dict[str, str] | str:
    """Ask for a key by what the program chooses."""
    answer: dict[str, str] | str = driven.run(f"{_SIGN}({name!r}, {verification!r})")
    return answer


def with_own_key(driven: Tab, *, named: str = "") -> dict[str, str] | str:
    """Sign by an authenticator of the program's own, whose key has its own name or that of another."""
    own = add_authenticator(driven, transport="usb")
    try:
        name = str(driven.run("create().then(made => made.credential)"))
        if named:
            (key,) = driven.call("WebAuthn.getCredentials", authenticatorId=own)["credentials"]
            key["credentialId"] = base64.b64encode(decode(named)).decode()
            driven.call("WebAuthn.clearCredentials", authenticatorId=own)
            driven.call("WebAuthn.addCredential", authenticatorId=own, credential=key)
        return sign(driven, named or name)
    finally:
        driven.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=own)


#: While nobody touches the person's key.
ATTACKS: dict[str, Attack] = {
    "asks for the key": sign,
    "asks for the key without the person": lambda driven, name: sign(driven, name, "discouraged"),
    "signs by its own key": lambda driven, _: with_own_key(driven),
    "signs by its own key of the other's name": lambda driven, name: with_own_key(driven, named=name),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_who_drives_the_browser_has_nothing_signed(
    world: World, paged: Paged, tab: Tab, driven: Tab, registered: str, authenticator: str, attack: str
) -> None:
    """Where nobody touches the person's key there is no yes, and nothing to make one of."""
    before = ledger(world)
    begin_override(paged, tab, "0.21")
    switch = "WebAuthn.setAutomaticPresenceSimulation"
    tab.call(switch, authenticatorId=authenticator, enabled=False)
    try:
        made = ATTACKS[attack](driven, name_of(registered))
    finally:
        tab.call(switch, authenticatorId=authenticator, enabled=True)
    if isinstance(made, dict):
        assert "nothing was written" in send_yes(paged, driven, made)
    else:
        assert "AbortError" == made
    assert before == ledger(world)


def test_a_touch_that_verified_nobody_is_no_yes(
    world: World, paged: Paged, tab: Tab, driven: Tab, registered: str, authenticator: str
) -> None:
    """A program that drives the browser can ask for less than the page asks for."""
    before = ledger(world)
    begin_override(paged, tab, "0.22")
    tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=False)
    try:
        made = sign(driven, name_of(registered), "discouraged")
    finally:
        tab.call("WebAuthn.setUserVerified", authenticatorId=authenticator, isUserVerified=True)
    assert isinstance(made, dict)
    assert "nothing was written" in send_yes(paged, driven, made)
    assert before == ledger(world)


def test_a_yes_that_it_saw_is_one_once(world: World, paged: Paged, tab: Tab, driven: Tab, registered: str) -> None:
    """To its own question, and to no other."""
    begin_override(paged, tab, "0.23")
    grasp_yes(tab)
    seen = {name: str(value) for name, value in driven.run("window.kept").items()}
    assert "nothing was written" not in send_yes(paged, driven, seen)
    assert 23 == signed_values(world)[-1]
    before = ledger(world)
    assert "isn't asked any more" in send_yes(paged, driven, seen)
    begin_override(paged, tab, "0.24")
    other = str(driven.run("document.querySelector('form.signed').elements.yes.value"))
    assert "nothing was written" in send_yes(paged, driven, seen | {"yes": other})
    assert (before, True) == (ledger(world), bool(registered))


def test_its_own_key_is_registered_by_nobody(world: World, paged: Paged, driven: Tab, registered: str) -> None:
    """The page takes a further key by the touch of one that counts."""
    assert registered
    own = add_authenticator(driven, transport="usb")
    try:
        line = make_key(paged, driven)
        driven.run("document.querySelector('form[data-proof=trust] button').click()")
        driven.wait_until(READY)
        made = sign(driven, name_of(line))
    finally:
        driven.call("WebAuthn.removeVirtualAuthenticator", authenticatorId=own)
    assert isinstance(made, dict)
    assert "nothing was written" in send_yes(paged, driven, made)
    assert 1 == len(run(world, "trust", "--json").json["approvers"])


def test_what_is_signed_stands_in_the_servers_terminal(
    world: World, paged: Paged, tab: Tab, driven: Tab, registered: str
) -> None:
    """A program can show one text for another, and the touch counts for what was signed; the server shows just that."""
    begin_override(paged, tab, "0.25")
    challenge, yes = driven.run(
        "fetch('/proof/override', {method: 'POST', body: new URLSearchParams({confidence: '0.99',"
        f"key: {KEY!r}, back: '/'}})}}).then(async answer => {{"
        "const page = new DOMParser().parseFromString(trustedTypes.createPolicy('x', {createHTML: s => s})"
        ".createHTML(await answer.text()), 'text/html'), form = page.querySelector('form.signed');"
        "return [form.dataset.challenge, form.elements.yes.value] })"
    )
    driven.run(
        f"{{ const form = document.querySelector('form.signed'); form.dataset.challenge = {challenge!r};"
        f"form.elements.yes.value = {yes!r} }}"
    )
    assert "25" in str(tab.run("document.querySelector('pre').textContent"))
    tab.run("document.querySelector('form.signed button').click()")
    tab.wait_until("document.querySelector('.outcome')")
    assert (99, True) == (signed_values(world)[-1], bool(registered))
    asked = [
        json.loads(line)["page_asks"] for line in paged.served.errors.read_text().splitlines() if "page_asks" in line
    ]
    assert any("99" in line for line in asked[-1])
    assert asked[-1][-1].startswith("Its four words: ")
