"""What a session's transcript says of a claim."""

import time

import pytest

from roamkb.harnesses.transcript import Speaker
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.learning import Learning
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.log.state.replay import replay
from roamkb.pipeline.gate.transcript_evidence import ClaimAttestation
from roamkb.pipeline.gate.transcript_evidence import are_related
from roamkb.pipeline.gate.transcript_evidence import recorded_attestation
from roamkb.pipeline.gate.transcript_evidence import weigh_claim
from roamkb.text.code_identifiers import names_of


def human(text: str) -> TranscriptPassage:
    """Return what a human says."""
    return TranscriptPassage(speaker=Speaker.HUMAN, text=text)


def agent(text: str) -> TranscriptPassage:
    """Return what an agent says."""
    return TranscriptPassage(speaker=Speaker.AGENT, text=text)


def ran(command: str, text: str = "", *, failed: bool = False, by: Speaker = Speaker.TOOL) -> TranscriptPassage:
    """Return a command and what it printed."""
    return TranscriptPassage(speaker=by, text=text, tool="Bash", command=command, has_failed=failed)


def edited(removed: str, added: str) -> TranscriptPassage:
    """Return an edit of one file."""
    return TranscriptPassage(
        speaker=Speaker.TOOL, text="", tool="Edit", edits=("/x/a.toml",), removed=removed, added=added
    )


_CLAIM = "The release workflow needs fetch-depth: 0, since goreleaser reads all tags"
_QUOTE = "it needs `fetch-depth: 0` because goreleaser reads all tags"


def test_a_humans_quote_is_enough() -> None:
    """Whatever tools printed; blanks of the quote don't count."""
    found = weigh_claim(
        "CI runs Go 1.25.6 everywhere",
        "we use  Go\n1.25.6 everywhere",
        [human("no: we use Go 1.25.6 everywhere")],
    )
    assert ("human", True, "") == (found.speaker, found.is_good, found.why_not)


def test_an_agents_quote_needs_a_tool_that_bears_it_out_before() -> None:
    """What was printed afterwards, or on a page, doesn't."""
    said = agent(f"So {_QUOTE}.")
    printed = ran("cat release.yml", "  fetch-depth: 0\n")
    assert weigh_claim(_CLAIM, _QUOTE, [printed, said]).is_good
    assert "nothing that a tool printed bears it out" == weigh_claim(_CLAIM, _QUOTE, [said, printed]).why_not
    page = ran("curl https://x.example", "fetch-depth: 0", by=Speaker.PAGE)
    assert not weigh_claim(_CLAIM, _QUOTE, [page, said]).is_good


@pytest.mark.parametrize("by", [Speaker.PAGE, Speaker.RECALLED, Speaker.TOOL])
def test_what_only_a_tool_says_never_counts(by: Speaker) -> None:
    """Who repeats a page, or what roamkb showed, makes it no finding of his own."""
    shown = ran("x", f"Note: {_QUOTE}", by=by)
    found = weigh_claim(_CLAIM, _QUOTE, [shown])
    assert (by.value, False) == (found.speaker, found.is_good)
    if by is not Speaker.TOOL:
        assert not weigh_claim(_CLAIM, _QUOTE, [shown, agent(f"It says: {_QUOTE}")]).is_good


def test_a_quote_that_nobody_said_or_that_is_too_short_is_none() -> None:
    """Two letters stand in every text."""
    for quote in ("it needs fetch-depth 7", "it"):
        found = weigh_claim(_CLAIM, quote, [agent(_QUOTE)])
        assert "the session's transcript doesn't have the quote" == found.why_not


def test_a_quote_about_something_else_bears_nothing_out() -> None:
    """A human's yes to one thing is none to another."""
    found = weigh_claim("Deploys need approval by the owner", "please fix the flaky colour test", [
        human("please fix the flaky colour test")
    ])  # fmt: skip
    assert "the quote is about something else" == found.why_not


def test_a_number_or_file_that_nobody_has_is_named() -> None:
    """A claim may say no more than its session, or the project, knows."""
    said = [ran("ls", "port 8443"), agent("the proxy listens on port 8443")]
    assert weigh_claim("The proxy listens on port 8443", "the proxy listens on port 8443", said).is_good
    wrong = weigh_claim("The proxy listens on port 9443", "the proxy listens on port", said)
    assert ("9443",) == wrong.missing
    there = weigh_claim("conf/proxy.yml sets port 8443", "listens on port 8443", said, is_there=lambda name: True)
    assert there.is_good


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("本番環境では pnpm 9 だけを使う", "本番環境では pnpm 9 だけを使います"),
        ("Auf Staging gilt nur die Konfiguration aus app.toml", "gilt nur die Konfiguration aus app.toml"),
        ("En producción sólo se usa la cola de Redis", "En producción sólo se usa la cola de Redis"),
        ("生产环境只用 Redis 队列", "生产环境只用 Redis 队列"),
    ],
)
def test_every_language_is_weighed_alike(claim: str, quote: str) -> None:
    """Nothing here knows one."""
    assert weigh_claim(claim, quote, [human(f"{quote}。")]).is_good
    assert weigh_claim(claim, quote, [ran("cat app.toml", f"pnpm 9 app.toml\n{claim}"), agent(quote)]).is_good


def test_a_repeated_failure_takes_back_what_was_said_about_it() -> None:
    """The same command fails as before, after its cause was named."""
    failing = ran("make test", "E: no module yaml_x\nFAILED 3 tests", failed=True)
    said = agent("the cause is that yaml_x isn't on the path; fixed")
    mended = edited("path = []", 'path = ["yaml_x"]')
    later = ran("make test", "E: no module yaml_x\nFAILED 5 tests", failed=True)
    claim = "Tests fail where yaml_x isn't on the path"
    quote = "the cause is that yaml_x isn't on the path"
    assert weigh_claim(claim, quote, [failing, said]).is_good
    assert "failed again" in weigh_claim(claim, quote, [failing, said, mended, later]).taken_back
    assert "failed again" in weigh_claim(claim, quote, [failing, mended, said, later]).taken_back
    # what only describes the failure, or is about something else, isn't refuted by it
    assert weigh_claim(claim, quote, [failing, said, later]).is_good
    other = agent("the runner of this project prints a line per module")
    beside = "The runner prints a line per module"
    assert weigh_claim(
        beside, other.text, [ran("make x", "runner: a line per module"), failing, other, mended, later]
    ).is_good
    fixed = ran("make test", "8 passed")
    assert weigh_claim(claim, quote, [failing, said, fixed]).is_good


def test_an_edit_that_is_undone_takes_back_what_was_said_about_it() -> None:
    """Back to what stood there before."""
    steps = [
        edited("pool_size = 5", "pool_size = 50"),
        agent("pool_size must be 50 here"),
        edited("pool_size = 50", "pool_size = 5"),
    ]
    claim, quote = "pool_size must be 50", "pool_size must be 50 here"
    assert weigh_claim(claim, quote, steps[:2]).is_good
    assert "undone" in weigh_claim(claim, quote, steps).taken_back
    # lines that were only put in for a look, and cleaned up again, took nothing back
    probe = [edited("", "print(pool_size)"), steps[1], edited("print(pool_size)", "")]
    assert "" == weigh_claim(claim, quote, probe).taken_back


def test_a_call_of_learn_is_its_own_quote() -> None:
    """Borne out by what was printed before."""
    assert weigh_claim("The proxy listens on 8443", "", [ran("ss -l", "*:8443")], said_now=True).is_good
    assert ClaimAttestation(speaker="") == weigh_claim("The proxy listens on 8443", "", [ran("ss -l", "*:8443")])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("GitHub runs specstory-cli/.github/x.yml only", ("GitHub", "specstory-cli/.github/x.yml")),
        ("`GITHUB_TOKEN` is enough for v2", ("GITHUB_TOKEN", "v2")),
        ("Go 1.25.6; the flag is --local-time-zone", ("1.25.6", "--local-time-zone")),
        ("ビルドは utf-8 の config.toml を読む", ("utf-8", "config.toml")),
        ("`load(path, now)` and `store(), dry()` of release 2.x", ("load",)),
        ("Session '<name>' fails for `task#NNN`, `{id}`", ()),
        ("read/write, client-side, e.g. and/or at 5", ()),
        ("No fim vê-se o verso; поле-б, с опцией --dry", ("--dry",)),
    ],
)
def test_names_are_what_is_written_letter_by_letter(text: str, names: tuple[str, ...]) -> None:
    """Code, paths, options, versions; prose with a stroke in it is none."""
    assert names == names_of(text)


def test_texts_are_related_by_a_name_or_by_words() -> None:
    """Or can't be told apart for want of a common script."""
    assert are_related("Set fetch-depth: 0", "why fetch-depth?")
    assert are_related("the queue drops jobs", "does the queue drop all jobs")
    assert not are_related("the queue drops jobs", "please rename the button")
    assert are_related("キューはジョブを捨てる", "the queue drops jobs")
    # letters by themselves are no words
    assert not are_related("x and y grow with each release", "x and y shrink on holidays")


def test_a_quote_has_ten_letters() -> None:
    """Fewer stand in any text."""
    said = [human("we use abcde fghij here")]
    assert "human" == weigh_claim("The abcde fghij holds", "abcde fghij", said).speaker
    assert "" == weigh_claim("The abcde fghij holds", "abcde fghi", said).speaker


def test_only_a_humans_question_is_one() -> None:
    """What an agent asks itself may be answered by what it found."""
    quote = "does CI run Go 1.25.6 everywhere?"
    assert weigh_claim("CI runs Go 1.25.6 everywhere", quote, [human(quote)]).is_question
    assert not weigh_claim("CI runs Go 1.25.6 everywhere", quote, [agent(quote)]).is_question


@pytest.mark.parametrize(
    ("said", "quote", "is_good"),
    [
        ("Should the capstan be greased with 4 pumps? Look it up.", "the capstan be greased with 4 pumps", False),
        ("Grease it? The capstan is greased with 4 pumps.", "The capstan is greased with 4 pumps", True),
        ("It is not true that the fuel cock opens to the left.", "the fuel cock opens to the left", False),
        ("I never said that the fuel cock opens to the left.", "the fuel cock opens to the left", False),
        ("Don't assume that the fuel cock opens to the left.", "the fuel cock opens to the left", False),
        ("Es stimmt nicht dass the fuel cock opens to the left.", "the fuel cock opens to the left", False),
        ("No, the fuel cock opens to the left.", "the fuel cock opens to the left", True),
        ("Not there. The fuel cock opens to the left.", "The fuel cock opens to the left", True),
    ],
)
def test_a_part_of_a_sentence_says_no_more_than_the_whole(said: str, quote: str, is_good: bool) -> None:
    """Without its "should" or its "not true that" it would be the human's word."""
    weighed = weigh_claim(quote, quote, [human(said)])
    assert (is_good, is_good) == (weighed.is_good, not weighed.why_not)


@pytest.mark.parametrize(
    ("said", "claim", "why"),
    [
        ("The mango service does not use Redis.", "The mango service uses Redis", "isn't so"),
        (
            "Der Kirschdienst schreibt keine Logs nach /var/log.",
            "Der Kirschdienst schreibt Logs nach /var/log",
            "n't so",
        ),
        ("Es stimmt nicht, dass der Feigendienst Kafka braucht.", "Der Feigendienst braucht Kafka", "isn't so"),
        ("Le service cerise ne tourne pas sur ARM.", "Le service cerise tourne sur ARM", "isn't so"),
        ("みかんサービスはRedisを使わない。", "みかんサービスはRedisを使う", "isn't so"),
        ("Please check whether the work queue limit is 5001.", "The work queue limit is 5001", "question"),
        (
            "Find out if the token cache expires after 90 seconds",
            "The token cache expires after 90 seconds",
            "question",
        ),
        (
            "Ich weiß nicht, ob der Pflaumendienst auf Port 6061 lauscht.",
            "Der Pflaumendienst lauscht auf 6061",
            "quest",
        ),
        ("インデックスが毎晩再構築されるのか調べてください。", "インデックスは毎晩再構築される", "question"),
        ('The log says "The sms gateway batches 26", but why?', "The sms gateway batches 26", "a paste"),
        ("Bob wrote:\n> The sms gateway batches 26 messages.\nTrue?", "The sms gateway batches 26 messages", "a paste"),
        ("<ide_selection>\nThe sms gateway batches 26.\n</ide_selection> hm", "The sms gateway batches 26", "a paste"),
        ("You can't deploy on Fridays.", "Deploys are forbidden on Fridays", ""),
        ("The mango service uses Redis, not Postgres.", "The mango service uses Redis", ""),
        (
            "If you touch the schema, run make migrate twice.",
            "After a change of the schema make migrate runs twice",
            "",
        ),
        ("I'm not sure why, but the linter needs Python 3.12", "The linter needs Python 3.12", ""),
        ("Nein, der Dienst läuft auf Port 8089.", "Der Dienst läuft auf Port 8089", ""),
        ("Don't use pip here, use uv.", "This project uses uv instead of pip", ""),
        ("Use pnpm unless the lockfile is npm's.", "Use pnpm here", ""),
        ("Use pnpm unless the lockfile is npm's.", "Use pnpm, except where the lockfile is npm's", ""),
        ("Use pnpm unless the lockfile is npm's.", "Use pnpm if the lockfile isn't npm's", ""),
        ("Use pnpm unless the lockfile is npm's.", "Use pnpm if the lockfile is npm's", "isn't so"),
        ("Use pnpm unless the lockfile is npm's.", "Use pnpm unless the lockfile isn't npm's", "isn't so"),
        ("Use pnpm unless the lockfile is npm's.", "Don't use pnpm", "isn't so"),
        ("Don't use pnpm unless the lockfile is pnpm's.", "Use pnpm unless the lockfile is pnpm's", "isn't so"),
        ("Don't use pnpm unless the lockfile is pnpm's.", "Don't use pnpm", ""),
        ("The linter needs Python 3.12 unless it runs in CI.", "The linter needs Python 3.12", ""),
        ("Unless told otherwise, the linter needs Python 3.12.", "The linter needs Python 3.12", ""),
        ("Alle Dienste nutzen Redis, außer dem Mailer.", "Alle Dienste nutzen Redis", ""),
        ("Alle Dienste nutzen Redis, außer dem Mailer.", "Alle Dienste nutzen kein Redis", "isn't so"),
        ("Never deploy the shop without a backup.", "deploy the shop without a backup", "isn't so"),
        ("Never deploy the shop without a backup.", "Never deploy the shop without a backup", ""),
        ("Never deploy the shop without a backup.", "The shop isn't deployed if there is no backup", ""),
        ("Deploy the shop without a backup.", "Never deploy the shop without a backup", "isn't so"),
        ("No, deploy the shop without a backup.", "Deploy the shop without a backup", ""),
        ("Der Shop wird nie ohne Backup ausgerollt.", "Der Shop wird ohne Backup ausgerollt", "isn't so"),
        ("No se despliega nunca sin copia la tienda.", "Se despliega sin copia la tienda", "isn't so"),
        ("No se despliega nunca sin copia la tienda.", "Nunca se despliega sin copia la tienda", ""),
        ("Магазин никогда не выкатывают без бэкапа.", "Магазин выкатывают без бэкапа", "isn't so"),
    ],
)
def test_a_whole_sentence_bears_out_what_it_says(said: str, claim: str, why: str) -> None:
    """Not what it denies, asks or quotes; and what it says in other words, it says."""
    quote = claim if claim in said else said.rstrip(".。")
    weighed = weigh_claim(claim, quote, [human(said)])
    assert (not why, True) == (weighed.is_good, why in weighed.why_not), weighed.why_not


_TOLD = {
    "the vault copy goes to Bergen": (
        ("Never forget that {}.", ""),
        ("Don't forget: {}.", ""),
        ("It is not a myth that {}.", ""),
        ("I don't doubt that {}.", ""),
        ("As I said, {}.", ""),
        ("Please note that {}.", ""),
        ("It is a myth that {}.", "isn't so"),
        ("That {} is a myth.", "isn't so"),
        ("I doubt that {}.", "isn't so"),
        ("It's wrong that {}.", "isn't so"),
        ("Somebody said {} but I doubt it.", "isn't so"),
        ("Somebody said that {}.", "only repeats"),
        ("Apparently {}.", "only repeats"),
        ("Bob told me that {}.", "only repeats"),
        ("According to Bob {}.", "only repeats"),
        ("That {} is a lie and a myth.", "isn't so"),
        ("Suppose {}.", "only repeats"),
        ("Let's assume that {} for a moment.", "only repeats"),
    ),
    "deploy on Fridays": (
        ("We used to {}.", "only repeats"),
        ("Formerly we would {}.", "only repeats"),
        ("The robot is used to {}.", ""),
    ),
    "der Sicherungslauf beginnt nachts": (
        ("Vergiss nie, dass {}.", ""),
        ("Denk daran: {}.", ""),
        ("Es ist ein Mythos, dass {}.", "isn't so"),
        ("Ich bezweifle, dass {}.", "isn't so"),
        ("Jemand sagte, {}, aber ich bezweifle das.", "only repeats"),
        ("Angenommen, {}.", "only repeats"),
        ("Angeblich: {}.", "only repeats"),
        ("Bob hat gesagt, {}.", "only repeats"),
        ("Jemand hat behauptet, {}.", "only repeats"),
        ("Früher galt: {}.", "only repeats"),
    ),
    "le service cerise tourne sur ARM": (
        ("N'oublie jamais que {}.", ""),
        ("C'est un mythe que {}.", "isn't so"),
        ("Quelqu'un a dit que {} mais j'en doute.", "isn't so"),
        ("On dit que {}.", "only repeats"),
        ("Supposons que {}.", "only repeats"),
        ("Autrefois {}.", "only repeats"),
    ),
    "el servicio cereza usa Redis": (
        ("Nunca olvides que {}.", ""),
        ("Es un mito que {}.", "isn't so"),
        ("Alguien dijo que {} pero lo dudo.", "isn't so"),
        ("Alguien dijo que {}.", "only repeats"),
        ("Oí que {}.", "only repeats"),
        ("Supongamos que {}.", "only repeats"),
        ("Antes {}.", "only repeats"),
    ),
    "みかんサービスはRedisを使う": (
        ("{}ことを忘れないで。", ""),
        ("{}というのは嘘だ。", "isn't so"),
        ("{}というのは嘘ではない。", ""),
        ("誰かが{}と言ったが、疑わしい。", "only repeats"),
        ("仮に{}としよう。", "only repeats"),
        ("{}らしい。", "only repeats"),
        ("以前は{}ことになっていた。", "only repeats"),
    ),
}


@pytest.mark.parametrize(
    ("frame", "claim", "why"), [(frame, claim, why) for claim, frames in _TOLD.items() for frame, why in frames]
)
def test_what_is_said_of_a_claim_counts(frame: str, claim: str, why: str) -> None:
    """A human who says that it is forgotten, false, told or supposed doesn't say it; who denies that, does."""
    weighed = weigh_claim(claim[0].upper() + claim[1:], claim, [human(frame.format(claim))])
    assert (not why, True) == (weighed.is_good, why in weighed.why_not), weighed.why_not


@pytest.mark.parametrize(
    ("said", "then", "stands"),
    [
        ("The vault copy goes to Bergen.", "No. The vault copy does not go to Bergen.", False),
        ("Der Lauf beginnt nachts um 3 Uhr.", "Moment, der Lauf beginnt nachts um 5 Uhr.", False),
        ("The vault copy goes to Bergen.", "Does the vault copy not go to Bergen?", True),
        ("The vault copy goes to Bergen.", "The other copy does not leave the house.", True),
        ("The vault copy goes to Bergen.", "Never forget that the vault copy goes to Bergen.", True),
        ("The vault copy goes to Bergen.", "It's a myth that the vault copy goes to Bergen.", False),
        ("The vault copy goes to Bergen.", "Somebody said the vault copy does not go to Bergen.", True),
        ("The cache is not shared.", "Never forget that the cache is not shared.", True),
        ("The vault copy does not go to Bergen.", "I was wrong: the vault copy goes to Bergen.", True),
    ],
)
def test_a_humans_last_word_on_a_claim_counts(said: str, then: str, stands: bool) -> None:
    """However late it is proposed."""
    claim = (then.split(": ")[-1] if "was wrong" in then else said).rstrip(".")
    assert stands is weigh_claim(claim, claim, [human(said), human(then)]).is_good


@pytest.mark.parametrize(
    ("reply", "stands"),
    [
        ("No, that is not true. The minifier keeps all comments.", False),
        ("Nein. Der minifier behält comments.", False),
        ("Good. Now see to it that the minifier does not drop comments.", True),
        ("No, wait with lunch.", True),
        ("Don't run the minifier on the comments now, please.", True),
        ("No, don't run the minifier on comments now.", True),
        ("No, the minifier never drops comments.", False),
        ("No, the minifier keeps the comments, don't change the config", False),
        ("No, don't touch the config, the minifier keeps comments", False),
        ("No, please don't run tests. The minifier keeps comments", False),
        ("No, you have not understood the minifier, it keeps comments", False),
        ("Nein, das stimmt nicht, der minifier behält comments", False),
        ("Non, ce n'est pas vrai, le minifier garde les comments", False),
        ("That's not true. The minifier keeps comments.", False),
    ],
)
def test_an_agents_statement_falls_with_the_humans_no(reply: str, stands: bool) -> None:
    """To what it says; a line that was announced is proposed by nobody who could take it back."""
    printed, said = (
        ran("cat minifier.py", "MAX_DEPTH = 64 minifier"),
        agent("The minifier drops comments deeper than 64"),
    )
    weighed = weigh_claim(said.text, "", [printed, said, human(reply)])
    assert (stands, stands) == (weighed.is_good, not weighed.taken_back)


@pytest.mark.parametrize(
    ("said", "quote", "claim", "is_good"),
    [
        (
            "The port of the fig service wasn't right, the port of the fig service is 8089",
            "the port of the fig service is 8089",
            "The fig service has the port 8089",
            True,
        ),
        (
            "Der Port des Feigendienstes war nicht richtig, der Feigendienst läuft auf Port 8089",
            "der Feigendienst läuft auf Port 8089",
            "Der Feigendienst läuft auf Port 8089",
            True,
        ),
        (
            "No!\nThe fig macro is hygienic\nMuch code depends on it",
            "No!\nThe fig macro is hygienic\nMuch code depends on it",
            "The fig macro is hygienic, and much code depends on it",
            True,
        ),
        (
            "We use Redis for figs, no wait, we don't use Redis for figs any more",
            "We use Redis for figs",
            "Figs use Redis",
            False,
        ),
        (
            "Redis isn't used by the plum service, the fig service or us",
            "the fig service or us",
            "Redis is used by the fig service",
            False,
        ),
        (
            "The fig cache is never cleared on deploy, so your sentence, the fig cache is cleared on deploy, has to go",
            "the fig cache is cleared on deploy",
            "The fig cache is cleared on deploy",
            False,
        ),
        (
            "Der Feigencache wird beim Deploy nie geleert, der Satz, der Feigencache wird beim Deploy geleert, ist alt",
            "der Feigencache wird beim Deploy geleert",
            "Der Feigencache wird beim Deploy geleert",
            False,
        ),
        (
            "缓存在部署时不会清空，「缓存在部署时清空」是旧文档里的句子。",
            "缓存在部署时清空",
            "缓存在部署时清空",
            False,
        ),
    ],
)
def test_what_stands_before_a_quote_denies_something_else(said: str, quote: str, claim: str, is_good: bool) -> None:
    """Unless the claim has words from there, as of a list; and what follows takes it back."""
    weighed = weigh_claim(claim, quote, [human(said)])
    assert is_good is weighed.is_good, weighed.why_not


@pytest.mark.parametrize(
    ("said", "quote", "is_good"),
    [
        ("Please don't, for whatever reason, use the fig cache", "use the fig cache", False),
        (
            "You shouldn't, even when the fig build is red, skip its hooks",
            "even when the fig build is red, skip",
            False,
        ),
        ("Never, and I mean never, clear the fig cache", "clear the fig cache", False),
        ("Never do this: clear the fig cache by hand", "clear the fig cache by hand", False),
        ("It is not so, as the wiki says, that figs are cached", "figs are cached", False),
        ("Es ist nicht so, wie im Wiki steht, dass Feigen gecacht werden", "Feigen gecacht werden", False),
        ("The figs are cached, except that they aren't any more", "The figs are cached", False),
        ("The fig limit is 5, or so they claim; it isn't", "The fig limit is 5", False),
        ("The fig limit is 5, which is wrong", "The fig limit is 5", False),
        ("The fig limit is 5, not true", "The fig limit is 5", False),
        ("The fig limit is 5, no", "The fig limit is 5", False),
        ("Кэш инжира включён, это не так", "Кэш инжира включён", False),
        ("Don't use plums, figs or cherries", "use figs or cherries", False),
        ("Don't cache figs. Clear the cache often", "cache figs. Clear the cache often", False),
        ("Never do these:\n- cache figs\n- clear the fig cache", "clear the fig cache", False),
        ("Never do these:\n1. cache figs\n2. clear the fig cache", "clear the fig cache", False),
        ("Never do these:\na) cache figs\nb) clear the fig cache", "clear the fig cache", False),
        ("Rules:\n1. Never cache figs.\n2. clear the fig cache", "clear the fig cache", True),
        ("Rules:\n- never cache figs\n- clear the fig cache", "clear the fig cache", True),
        ("No, that's fine, cache the figs here", "cache the figs here", True),
        ("Nein, passt schon, der Feigencache ist aktiv", "der Feigencache ist aktiv", True),
        ("Non, pardon, le cache des figues est actif", "le cache des figues est actif", True),
        ("Нет, погоди, кэш инжира включён", "кэш инжира включён", True),
        ("It isn't the database, the fig cache is slow", "the fig cache is slow", True),
        ("Don't worry. Well, as I said, the fig cache is slow", "the fig cache is slow", True),
        ("The fig limit is 5, not more", "The fig limit is 5", True),
        ("The fig host is fig-02, not fig-01", "The fig host is fig-02", True),
        ("The fig host is fig-02, never a fig host is fig-02", "The fig host is fig-02", False),
        ("Please don't, for whatever reason, use the fig cache", "Don't use the fig cache", True),
        ("Never do this: clear the fig cache by hand", "Never clear the fig cache by hand", True),
        ("Don't forget to clear the fig cache by hand", "Don't forget to clear the fig cache by hand", True),
    ],
)
def test_a_denial_reaches_over_an_insertion_a_colon_and_a_list(said: str, quote: str, is_good: bool) -> None:
    """And back from a clause without a subject of its own; not over a full stop, nor from a "no" by itself."""
    weighed = weigh_claim(quote, quote if quote in said else said, [human(said)])
    assert is_good is weighed.is_good, weighed.why_not


@pytest.mark.parametrize(
    ("said", "claim", "is_good"),
    [
        ("The fig build runs without the network.", "The fig build runs with the network", False),
        ("The fig build runs without the network.", "The fig build never runs with the network", True),
        ("I want services with a future, and no lock-in.", "They want services of a future without lock-in", True),
        ("Nobody reviews changes of the fig build.", "Everybody reviews changes of the fig build", False),
        ("Le réticule est lié au vecteur de la caméra.", "Le réticule suit le vecteur de la caméra", True),
        (
            "La tourelle suit la caméra, sa vitesse est limitée.",
            "La tourelle, dont la vitesse est limitée, suit la caméra",
            True,
        ),
    ],
)
def test_a_word_denies_once_and_in_its_own_language(said: str, claim: str, is_good: bool) -> None:
    """ "Without" is both a negation and the contrary of "with"; "lié" is no lie, and "dont" no "don't"."""
    weighed = weigh_claim(claim, said, [human(said)])
    assert is_good is weighed.is_good, weighed.why_not


@pytest.mark.parametrize(
    ("said", "is_good"),
    [("Rules:\n" + "- clear the fig cache\n" * 20_000, True), ("no, not, " * 20_000 + "clear the fig cache", False)],
    ids=["list", "denials"],
)
def test_a_long_message_is_weighed_in_no_time(said: str, is_good: bool) -> None:
    """What stands over each item of a list, or behind each denial, isn't looked for from each of them."""
    quote = "clear the fig cache"
    start = time.process_time()
    assert weigh_claim(quote, quote, [human(said)]).is_good is is_good
    assert time.process_time() - start < 10


def test_who_denies_something_says_that_it_is_not_so() -> None:
    """A claim that denies the same is his."""
    said = [human("Don't ever run the migration on the replica, it locks.")]
    quote = "run the migration on the replica"
    assert not weigh_claim("Run each migration on the nightly replica copy", quote, said).is_good
    assert weigh_claim("The migration must not run on the replica", quote, said).is_good
    assert not weigh_claim("The migration may run on the replica", quote, said).is_good


def test_a_claim_about_a_myth_or_the_past_is_the_humans() -> None:
    """What it says of itself, nobody else has to."""
    for said in (
        "It is a myth that Bergen holds the vault copy",
        "We used to deploy on Fridays",
        "Bob said so: no Redis",
    ):
        assert weigh_claim(said, said, [human(f"{said}.")]).is_good


def test_one_shared_word_makes_no_subject() -> None:
    """Of several; two do."""
    claim = "Deploys of the storefront run from the main branch at nine each morning"
    assert not are_related(claim, "The cheese of the storefront tastes of old wooden barrels and smoke")
    assert are_related(claim, "The cheese of the storefront branch tastes of old wooden barrels and smoke")


def test_a_long_answer_is_about_what_was_said_beside_it() -> None:
    """In words of its own."""
    asked = agent("Should deploys of the storefront run from the main branch each morning?")
    answer = "yes, never touch anything else before noon"
    claim = "Deploys of the storefront run from the main branch each morning"
    assert weigh_claim(claim, answer, [asked, human(answer)]).is_related is True
    assert weigh_claim(claim, answer, [human(answer)]).is_related is False


def test_a_command_that_fails_again_and_again_refutes_nothing_by_itself() -> None:
    """Something that the claim is about must have been changed between."""
    call = "make FOO_LIMIT=3"
    failed = ran(call, "error: too many", failed=True)
    said = agent("FOO_LIMIT is read by the makefile")
    change = edited("FOO_LIMIT = 2", "FOO_LIMIT = 3")
    claim = "FOO_LIMIT is read by the makefile"
    assert "" == weigh_claim(claim, said.text, [failed, said, failed, failed]).taken_back
    assert "failed again" in weigh_claim(claim, said.text, [failed, said, change, failed]).taken_back


@pytest.mark.parametrize(("letters", "is_whole"), [(60, True), (61, False)])
def test_a_long_command_that_failed_again_is_cut(letters: int, is_whole: bool) -> None:
    """At sixty letters."""
    command = "make test ".ljust(letters, "x")
    failed, change = ran(command, "FAILED yaml_x", failed=True), edited("a", "yaml_x")
    said = agent("the cause is that yaml_x isn't on the path")
    taken_back = weigh_claim("yaml_x isn't on the path", said.text, [failed, said, change, failed]).taken_back
    assert is_whole is (f"“{command}”" in taken_back)
    assert "failed again" in taken_back


def test_the_attestation_on_record_is_that_of_a_verdict() -> None:
    """The latest; what else an event calls evidence is none."""
    said = Learning(id="L", key="k", type="fact", content="x", ts=1)
    events = [
        LedgerEvent(id=f"e{n}", ts=float(n), event=name, of="L", fields={"evidence": evidence})
        for n, (name, evidence) in enumerate(
            (
                ("judged", {"speaker": "agent", "is_good": False}),
                ("judged", {"speaker": "human", "is_good": True}),
                ("pinned", {"speaker": "tool", "is_good": False}),
            )
        )
    ]
    found = recorded_attestation(replay([said], events).standings["L"])
    assert found is not None and ("human", True) == (found.speaker, found.is_borne_out)
    assert recorded_attestation(replay([said], events[2:]).standings["L"]) is None
