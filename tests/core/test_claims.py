"""Nearly the same words: the same claim, or another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.claims import differ
from roamkb.core.claims import differ_in_number
from roamkb.core.claims import oppose


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # numbers, units, versions
        ("The timeout is 30 seconds", "The timeout is 300 seconds"),
        ("The timeout is 30s", "The timeout is 30 ms"),
        ("Wait thirty seconds before a retry", "Wait forty seconds before a retry"),
        ("Wait three seconds before a retry", "Wait 4 seconds before a retry"),
        ("Needs Python 3.1 to run", "Needs Python 3.10 to run"),
        ("The port is 8080 here", "The port is 8081 here"),
        ("Costs $5 a month", "Costs €5 a month"),
        ("It was -5 degrees", "It was 5 degrees"),
        ("Ports go from 80 to 443", "Ports go from 443 to 80"),
        ("Bei 20 Anfragen je Sekunde", "Bei 30 Anfragen je Sekunde"),
        # negations
        ("The build needs the network", "The build doesn't need the network"),
        ("The build needs the network", "The build doesnt need the network"),
        ("Deploy with a migration", "Deploy without a migration"),
        ("Run it as root", "Never run it as root"),
        ("It fails because LIMIT was unset", "It fails because LIMIT was set"),
        ("LIMIT was not unset there", "LIMIT was unset there"),
        ("Use the cache in tests", "Avoid the cache in tests"),
        ("It runs as a root user", "It runs as a non-root user"),
        ("Deploy on Fridays", "Deploy unless it is Friday"),
        ("The key is rotated", "The key is no longer rotated"),
        ("Restart nginx but not postgres", "Restart postgres but not nginx"),
        ("Der Dienst läuft als root", "Der Dienst läuft nicht als root"),
        ("Es gibt einen Index", "Es gibt keinen Index"),
        ("キャッシュを使う設定", "キャッシュを使わない設定"),
        ("这个选项是必须的", "这个选项不是必须的"),
        # opposites
        ("Enable the cache for static files", "Disable the cache for static files"),
        ("Caching was enabled on staging", "Caching was disabled on staging"),
        ("The service is able to restart", "The service is unable to restart"),
        ("Flush the cache before a deploy", "Flush the cache after a deploy"),
        ("Switch the flag on", "Switch the flag off"),
        ("All hosts are patched", "Some hosts are patched"),
        ("Clients must retry", "Clients may retry"),
        ("Copy it to the server", "Copy it from the server"),
        ("The index is mutable", "The index is immutable"),
        ("Immer vor dem Update sichern", "Immer nach dem Update sichern"),
        ("設定を有効にする", "設定を無効にする"),
        # names and code
        ("Sessions live in postgres", "Sessions live in mysql"),
        ("Ask Alice about the deploy key", "Ask Robert about the deploy key"),
        ("Ask Anna about the deploy key", "Ask Anne about the deploy key"),
        ("Set FOO_BAR before starting", "Set BAZ_QUX before starting"),
        ("Use `tar -x` for archives", "Use `tar -c` for archives"),
        ("Copy with cp -r only", "Copy with cp -R only"),
        ("Restart node-a at night", "Restart node-b at night"),
        ("The API is written in C", "The API is written in C++"),
        ("The API is written in C#", "The API is written in C++"),
        ("Fails if x < y", "Fails if x > y"),
        ("Copy alpha to beta, then delete alpha", "Copy alpha to beta, then delete beta"),
        ("Der Server heißt Merkur", "Der Server heißt Saturn"),
        # what changed places
        ("Start redis before celery", "Start celery before redis"),
        ("Redis replaces memcached here", "Memcached replaces redis here"),
        ("Copy the dump from staging to production", "Copy the dump from production to staging"),
        ("Die API ruft den Worker", "Den Worker ruft die API"),
    ],
)
def test_another_claim(one: str, other: str) -> None:
    """Each side has something that the other has nothing for."""
    assert differ(one, other)
    assert differ(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OAuth redirect URIs must match exactly", "OAuth redirect URI must match exactly"),
        ("Don't run it as root", "Do not run it as root"),
        ("It fails because LIMIT was unset", "It fails because LIMIT was not set"),
        ("An invalid token is not logged", "A token that is not valid is not logged"),
        ("Dont run it as root", "Do not run it as root"),
        ("It can’t be undone", "It cannot be undone"),
        ("It's the server's clock", "It is the server’s clock"),
        ("Flush the cache", "Flush cache."),
        ("- Flush the cache", "Flush the **cache**"),
        ("1. Flush the `cache`", "> flush the =cache="),
        ("Wait 30 seconds", "Wait 30s"),
        ("Wait thirty seconds", "Wait 30 s"),
        ("Keep twenty-five backups", "Keep 25 backups"),
        ("Takes 1,000 rows", "Takes 1000 rows"),
        ("Keep one backup", "Keep 1 backup"),
        ("Use 50% of it", "Use 50 percent of it"),
        ("The databse is rebuilt nightly", "The database is rebuilt nightly"),
        ("Use the file name", "Use the filename"),
        ("The color of the web site", "The colour of the website"),
        ("Organize the imports", "Organise the imports"),
        ("Delete the temporary directory", "Remove the temp folder"),
        ("Retry because the proxy drops idle sockets", "Retry, since the proxy drops idle sockets"),
        ("When the deploy fails, restart the worker", "Restart the worker when the deploy fails"),
        ("Needs alice and bob", "Needs bob and alice"),
        ("Staging is rebuilt nightly", "Staging is rebuilt nightly, as far as we know"),
        ("Der Server braucht einen Neustart", "Die Server brauchen einen Neustart."),
        ("Das ist nicht nötig", "das ist NICHT nötig!"),
        ("日本語の文章です", "日本語の文章です。"),
        ("設定ファイルを読む", "設定ファイルを読む、と思う"),
        ("", ""),
    ],
)
def test_the_same_claim(one: str, other: str) -> None:
    """How it's written, inflected or spelt is no difference."""
    assert not differ(one, other)
    assert not differ(other, one)


@given(st.text(max_size=80), st.text(max_size=80))
def test_neither_text_is_the_first(one: str, other: str) -> None:
    """The answer is the same the other way round."""
    assert differ(one, other) is differ(other, one)


@given(
    st.lists(
        st.sampled_from("not no a the 3 three million -x b foo foos before and `q` 不 的 1,000 one".split())
    )
)
def test_no_text_differs_from_itself(words: list[str]) -> None:
    """Nor from itself with other blanks."""
    assert not differ(" ".join(words), "  ".join(words))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gateway waits 30 seconds", "The gateway waits 300 seconds"),
        ("Retained messages survive a restart", "Retained messages do not survive a restart"),
        ("The export runs before the import", "The export runs after the import"),
        ("Enabling keep-alive helps", "Disabling keep-alive helps"),
        ("The API accepts an empty list", "The API rejects an empty list"),
        ("Higher limits are safer", "Lower limits are safer"),
        ("Restart Redis first", "Restart Kafka first"),
        ("Set `max_age` there", "Set `min_ttl` there"),
        ("Copy the dump from staging to the laptop", "Copy the dump from the laptop to staging"),
    ],
)
def test_who_denies_another(one: str, other: str) -> None:
    """By a number, a negation, a contrary, a name, a piece of code, or the order."""
    assert oppose(one, other)
    assert oppose(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Helm keeps a failed first release around", "Helm leaves a failed first release around"),
        ("The balancer closes idle streams", "The balancer cuts idle streams"),
        ("Their host needs its own certificate", "Their hostname needs its own certificate"),
        ("The job assumes that days have 24 hours", "The job expects that days have 24 hours"),
    ],
)
def test_who_says_it_in_other_words_denies_nothing(one: str, other: str) -> None:
    """Nor is it the same for sure."""
    assert differ(one, other)
    assert not oppose(one, other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Invoices restart at 1 every year", "Invoices restart at 2 each year", True),
        ("The api timeout is 30 seconds", "api timeout is 90 seconds", True),
        ("The timeout is 30 s", "timeout: 90 seconds", True),
        ("The web app listens on 8080", "Web app listens on port 9090", False),
        ("The web app listens on 8080", "The admin app listens on 9090", False),
        ("Step 1", "Step 2", False),
        ("The api timeout is 30 seconds", "The api timeout isn't 90 seconds", False),
        ("The api timeout is 30 seconds", "api timeout is 30 seconds", False),
        ("The api timeout is 30 seconds", "The api timeout is short", False),
    ],
)
def test_who_says_the_same_of_other_numbers(one: str, other: str, expected: bool) -> None:
    """In all their words but articles and what says the same; where both give the unit, one word is enough."""
    assert expected == differ_in_number(one, other) == differ_in_number(other, one)
