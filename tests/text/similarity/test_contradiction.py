"""Nearly the same words: the same claim, or another one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.text.similarity.contradiction import deny_each_other
from roamkb.text.similarity.contradiction import differ_in_claim
from roamkb.text.similarity.contradiction import differ_in_number
from roamkb.text.similarity.synonyms import form_of


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
        # signs
        ("Retry when n > 5", "Retry when n = 5"),
        ("the regex is ^a+$", "the regex is ^a*$"),
        ("set x = !ready before", "set x = ready before"),
        ("pass &conf there", "pass *conf there"),
        ("A+ rated bolts", "A- rated bolts"),
        ("it keeps $HOME/data", "it keeps HOME/data"),
        ("it is in /tmp/data", "it is in tmp/data"),
        ("at 50% of it", "at 50 of it"),
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
        ("Rebase your branch before merging it into main", "Merge the branch into main before rebasing it"),
        ("Restart nginx when the certificate changes", "Change the certificate when nginx restarts"),
        ("If the cache is cold, the API is slow", "The cache is cold if the API is slow"),
        ("Deploy before migrating", "Before deploying, migrate"),
        (
            "Staging uses Postgres and production uses MySQL",
            "Production uses Postgres and staging uses MySQL",
        ),
        ("Nginx calls gunicorn", "Nginx is called by gunicorn"),
        ("Give Alice Bob's key", "Give Bob Alice's key"),
        ("Start the broker, then the consumers", "Start the consumers, then the broker"),
        ("Only admins can delete projects", "Admins can only delete projects"),
        ("Admins can delete projects", "Only admins can delete projects"),
        ("The API gateway is in front of the CDN", "The CDN is in front of the API gateway"),
        ("Store drafts instead of versions", "Store versions instead of drafts"),
        ("Sort by price then by name", "Sort by name then by price"),
        ("Shifts start at 6 and breaks start at 14", "Shifts start at 14 and breaks start at 6"),
        ("Send errors to Sentry and metrics to Datadog", "Send metrics to Sentry and errors to Datadog"),
        ("Emails go out when the order ships", "The order ships when emails go out"),
        ("Der Admin sperrt den Kunden", "Der Kunde sperrt den Admin"),
        # a small word that is a thing where it stands
        ("Client A pays in euros", "Client B pays in euros"),
        ("Option A needs a license", "Option B needs a license"),
        ("The service runs in zone a", "The service runs in zone b"),
        ("Phase I ends in March", "Phase II ends in March"),
        ("The user table is partitioned by month", "The order table is partitioned by month"),
        ("The cluster needs an even number of nodes", "The cluster needs an odd number of nodes"),
        ("Send the digest to readers in the EU", "Send the digest to readers in the US"),
        ("May is a short month for billing", "June is a short month for billing"),
        ("The lock is taken by the reader", "The lock is taken for the reader"),
        # words that only look alike
        ("The price includes shipping", "The prize includes shipping"),
        ("The county code is required", "The country code is required"),
        ("The plan is stored there", "The plane is stored there"),
        ("The production table is partitioned", "The product table is partitioned"),
        ("Customer fields are validated", "Custom fields are validated"),
        ("Wait 24*3 hours for it", "Wait 24*3 regards for it"),
    ],
)
def test_another_claim(one: str, other: str) -> None:
    """Each side has something that the other has nothing for."""
    assert differ_in_claim(one, other)
    assert differ_in_claim(other, one)


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
        ("Needs libxml2, zlib and openssl", "Needs openssl, zlib, and libxml2"),
        ("The API and the worker share a volume", "The worker and the API share a volume"),
        ("The gateway calls the billing service", "The billing service is called by the gateway"),
        (
            "Emails are sent asynchronously by the queue worker",
            "The queue worker sends emails asynchronously",
        ),
        ("Use the streaming parser for large files", "For large files the streaming parser is used"),
        ("Rotate the signing keys monthly", "The signing keys are rotated monthly"),
        ("The owner of the repository approves it", "The repository owner approves it"),
        ("Foreign keys are off in SQLite", "SQLite foreign keys are off"),
        ("It is stale after a switch of branches until", "It is stale after a branch switch until"),
        (
            "Tasks need acks_late, otherwise a worker loses them",
            "Tasks need acks_late, else a worker loses them",
        ),
        ("Use YAML for config and JSON for data", "Use JSON for data and YAML for config"),
        ("Der Import läuft am Montag", "Am Montag läuft der Import"),
        ("The analyser ignores vendored code", "The analyzer ignores vendored code"),
        ("Client A pays in euros", "client a pays in euros"),
        ("Client A pays in euros", "Client A Pays In Euros"),
        ("The importer requires Python", "The importer needs Python"),
        ("Eine Sicherung wird vor dem Deploy angelegt", "Vor dem Deploy wird eine Sicherung angelegt"),
        ("日本語の文書はUTF-8で保存する", "日本語の文書は UTF-8 で保存する。"),
        ("Staging is rebuilt nightly", "Staging is rebuilt nightly, as far as we know"),
        ("Der Server braucht einen Neustart", "Die Server brauchen einen Neustart."),
        ("Das ist nicht nötig", "das ist NICHT nötig!"),
        ("日本語の文章です", "日本語の文章です。"),
        ("設定ファイルを読む", "設定ファイルを読む、と思う"),
        ("", ""),
        # marks of a text's look
        ("* Use =make x= here", "Use `make x` here"),
        ("see https://example.org/z", "see <https://example.org/z>"),
        ("Use *bold* and **strong** words", "Use bold and strong words"),
        ("# It works - mostly", "It works, mostly"),
        ("re-run it either/or", "re run it either or"),
    ],
)
def test_the_same_claim(one: str, other: str) -> None:
    """How it's written, inflected or spelt is no difference."""
    assert not differ_in_claim(one, other)
    assert not differ_in_claim(other, one)


#: Things, some of them spelt as small words are elsewhere.
_THINGS = st.sampled_from(
    "order user even odd note tip hint client server production product customer custom policy police stage "
    "stale price prize queue worker".split()
)
_SMALL_THINGS = st.sampled_from("like will may going able needs about per via just rather so".split())


@given(_THINGS, _THINGS | _SMALL_THINGS)
def test_whatever_two_things_are_called_one_is_not_the_other(one: str, other: str) -> None:
    """No list of small words lets one thing stand for another."""
    is_one = form_of(one) == form_of(other)
    assert is_one or differ_in_claim(f"The {one} table is checked first", f"The {other} table is checked first")


@given(_THINGS, _THINGS, st.sampled_from(("before", "replaces", "than", "when", "calls", "to")))
def test_whatever_two_things_are_called_their_exchange_is_another_claim(one: str, other: str, between: str) -> None:
    """Who comes first, and who does it to whom."""
    first, second = f"The {one} table", f"the {other} table"
    is_one = form_of(one) == form_of(other)
    assert is_one or differ_in_claim(f"{first} {between} {second}", f"The {other} table {between} the {one} table")


@given(st.text(max_size=80), st.text(max_size=80))
def test_neither_text_is_the_first(one: str, other: str) -> None:
    """The answer is the same the other way round."""
    assert differ_in_claim(one, other) is differ_in_claim(other, one)


@given(st.lists(st.sampled_from("not no a the 3 three million -x b foo foos before and `q` 不 的 1,000 one".split())))
def test_no_text_differs_from_itself(words: list[str]) -> None:
    """Nor from itself with other blanks."""
    assert not differ_in_claim(" ".join(words), "  ".join(words))


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
    assert deny_each_other(one, other)
    assert deny_each_other(other, one)


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
    assert differ_in_claim(one, other)
    assert not deny_each_other(one, other)


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
