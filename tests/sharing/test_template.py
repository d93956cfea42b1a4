"""`template`: from a task that was verified to the next one's scope."""

import pytest

from roamkb.core.errors import NotFound
from roamkb.core.errors import RoamkbError
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.ids import new_id
from roamkb.core.ids import next_id
from roamkb.log.recall import RecallResult
from roamkb.log.state.learning_state import LedgerEvent
from roamkb.sharing.template import TemplateList
from roamkb.sharing.template import TemplateShown
from tests.conftest import NOON
from tests.conftest import World
from tests.conftest import learn


@pytest.fixture
def tasks(world: World) -> World:
    """Task bd-1 taught two verified things and one that nobody looked at; bd-2 one unverified."""
    world.open().log.init()
    for text, task, verdict in (
        ("OAuth redirect URIs must match exactly", "bd-1", "verified"),
        ("Sessions last 30 minutes", "bd-1", "verified"),
        ("Nobody looked at this", "bd-1", ""),
        ("Passwords are hashed with argon2", "bd-2", ""),
    ):
        id = learn(world.open().log, text, task=task).learning.id
        if verdict:
            happened(world, "judged", id, verdict=verdict)
    return world


def happened(world: World, name: str, of: str = "", *, task: str = "", **fields: object) -> None:
    """Append an event."""
    log = world.log()
    id = next_id(log.read_contents().last_event, lambda: new_id(NOON))
    log.append_entries(events=[LedgerEvent(id=id, ts=NOON.timestamp(), event=name, of=of, task=task, fields=fields)])


def verified(world: World, key: str) -> None:
    """Have a learning verified."""
    [one] = [one for one in world.log().read_contents().replay_state().standings.values() if one.learning.key == key]
    happened(world, "judged", one.id, verdict="verified")


def did(world: World, action: str, name: str | None = "auth", **options: object) -> TemplateShown:
    """Carry out one action."""
    found = world.open().log.template(action, name, **options)  # type: ignore[arg-type]
    assert isinstance(found, TemplateShown)
    return found


def listed(world: World, **options: object) -> list[str]:
    """The templates' names."""
    found = world.open().log.template("list", **options)  # type: ignore[arg-type]
    assert isinstance(found, TemplateList)
    return [one.name for one in found.templates]


def texts(shown: TemplateShown) -> list[str]:
    """What it holds."""
    return [one.learning.content for one in shown.learnings]


def recalled(world: World, topic: str) -> set[str]:
    """What is known of a task."""
    found = world.open().log.recall(topic=topic)
    assert isinstance(found, RecallResult)
    return {one.standing.learning.content for one in found.learnings}


def ledger(world: World) -> bytes:
    """The ledger as it is."""
    return (world.personal / ".roamkb" / "ledger.jsonl").read_bytes()


def key(world: World, task: str) -> str:
    """The key of a task's learning."""
    state = world.log().read_contents().replay_state()
    return next(one.learning.key for one in state.standings.values() if one.learning.task == task)


def test_it_is_made_of_what_a_task_proved(tasks: World) -> None:
    """Of nothing that nobody verified."""
    made = did(tasks, "create", task_types=["login", "auth"], from_task="bd-1")
    assert ["OAuth redirect URIs must match exactly", "Sessions last 30 minutes"] == texts(made)
    assert ("created", 1, ("login", "auth"), "bd-1") == (
        made.done, made.template.current.version, made.template.current.task_types, made.template.current.from_task,
    )  # fmt: skip


def test_a_task_that_proved_nothing_makes_none(tasks: World) -> None:
    """The hint says what to do; nothing is written."""
    before = ledger(tasks)
    with pytest.raises(NotFound, match="no verified learning of task bd-2") as told:
        did(tasks, "create", task_types=["x"], from_task="bd-2")
    assert "--learning" in told.value.hint
    assert before == ledger(tasks)


def test_a_task_that_failed_makes_none(tasks: World) -> None:
    """Until it went well after all."""
    happened(tasks, "task", task="bd-1", outcome="failed")
    with pytest.raises(UsageError, match="failed"):
        did(tasks, "create", task_types=["x"], from_task="bd-1")
    happened(tasks, "task", task="bd-1", outcome="done")
    assert 2 == len(did(tasks, "create", task_types=["x"], from_task="bd-1").learnings)


def test_learnings_may_be_named(tasks: World) -> None:
    """By key or id, each once; what doesn't stand can't be."""
    named = key(tasks, "bd-2")
    verified(tasks, named)
    made = did(tasks, "create", task_types=["x"], from_task="bd-1", learnings=[named, named])
    assert "Passwords are hashed with argon2" == texts(made)[-1]
    assert 3 == len(made.learnings)
    happened(tasks, "judged", made.learnings[-1].id, verdict="invalidated")
    with pytest.raises(UsageError, match="doesn't stand"):
        did(tasks, "create", "other", task_types=["x"], learnings=[named])
    with pytest.raises(NotFound):
        did(tasks, "create", "other", task_types=["x"], learnings=["nope"])


def test_a_name_is_taken_until_it_is_deprecated(tasks: World) -> None:
    """Then it is free, and the versions count on."""
    did(tasks, "create", task_types=["x"], from_task="bd-1")
    with pytest.raises(UsageError, match="already"):
        did(tasks, "create", task_types=["x"], from_task="bd-1")
    did(tasks, "deprecate", reason="old")
    assert ([], ["auth"]) == (listed(tasks), listed(tasks, all=True))
    for action in ("use", "update", "deprecate"):
        with pytest.raises(NotFound):
            did(tasks, action, **({"task": "t"} if action == "use" else {"task_types": ["y"]}))
    assert did(tasks, "show").template.is_deprecated
    assert 2 == did(tasks, "create", task_types=["x"], from_task="bd-1").template.current.version


def test_an_update_keeps_what_it_does_not_say(tasks: World) -> None:
    """And the older version can be seen."""
    did(tasks, "create", task_types=["login"], from_task="bd-1")
    verified(tasks, key(tasks, "bd-2"))
    did(tasks, "update", learnings=[key(tasks, "bd-2")], reason="passwords")
    shown = did(tasks, "update", task_types=["auth"])
    assert ["Passwords are hashed with argon2"] == texts(shown)
    assert [(1, ("login",), 2), (2, ("login",), 1), (3, ("auth",), 1)] == [
        (one.version, one.task_types, len(one.learnings)) for one in shown.template.versions
    ]


def test_a_new_task_begins_with_it(tasks: World) -> None:
    """Recall of its topic finds what the template holds; using it again changes nothing."""
    did(tasks, "create", task_types=["x"], from_task="bd-1")
    assert set() == recalled(tasks, "bd-9")
    did(tasks, "use", task="bd-9")
    assert {"OAuth redirect URIs must match exactly", "Sessions last 30 minutes"} == recalled(tasks, "bd-9")
    before = ledger(tasks)
    assert 2 == len(did(tasks, "use", task="bd-9").learnings)
    assert before == ledger(tasks)


def test_what_fell_meanwhile_is_not_given(tasks: World) -> None:
    """What replaced a learning is; where nothing stands, it says so."""
    made = did(tasks, "create", task_types=["x"], from_task="bd-1")
    first, second = (one.id for one in made.learnings)
    tasks.open().log.learn("Redirect URIs match by prefix since v2", supersedes=first)
    used = did(tasks, "use", task="bd-9")
    assert (["Redirect URIs match by prefix since v2", "Sessions last 30 minutes"], 1) == (
        texts(used),
        used.left_out,
    )
    happened(tasks, "judged", used.learnings[0].id, verdict="invalidated")
    happened(tasks, "judged", second, verdict="invalidated")
    with pytest.raises(UsageError, match="nothing of template"):
        did(tasks, "use", task="bd-10")


def test_those_that_served_come_first(tasks: World) -> None:
    """By the outcomes of the tasks that used them; by kind of task where asked."""
    for name, kind in (("plain", "a"), ("good", "b"), ("bad", "b")):
        did(tasks, "create", name, task_types=[kind], from_task="bd-1")
    for number in range(3):
        for name, outcome in (("good", "done"), ("bad", "failed")):
            did(tasks, "use", name, task=f"{name}{number}")
            happened(tasks, "task", task=f"{name}{number}", outcome=outcome)
    did(tasks, "use", "bad", task="more")
    happened(tasks, "task", task="more", outcome="done")
    assert ["good", "bad", "plain"] == listed(tasks)
    assert (["good", "bad"], ["plain"], []) == (
        listed(tasks, task_types=["B "]), listed(tasks, task_types=["a"]), listed(tasks, task_types=["c"]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("action", "name", "options"),
    [
        ("make", "auth", {}),
        ("", None, {}),
        ("create", None, {}),
        ("create", "auth", {"from_task": "bd-1"}),
        ("create", "auth", {"task_types": ["x"]}),
        ("create", " ", {"task_types": ["x"], "from_task": "bd-1"}),
        ("create", "n" * 101, {"task_types": ["x"], "from_task": "bd-1"}),
        ("create", "auth", {"task_types": ["x"], "from_task": "bd-1", "task": "t"}),
        ("use", "auth", {}),
        ("list", "auth", {}),
        ("update", "auth", {}),
        ("update", "auth", {"reason": "none"}),
    ],
)
def test_words_that_do_not_go_together(tasks: World, action: str, name: str, options: dict[str, object]) -> None:
    """A hint says which do; nothing is written."""
    before = ledger(tasks)
    with pytest.raises(UsageError) as told:
        tasks.open().log.template(action, name, **options)  # type: ignore[arg-type]
    assert told.value.hint
    assert before == ledger(tasks)


def test_no_secret_becomes_a_name_or_a_reason(tasks: World) -> None:
    """The ledger keeps every line."""
    secret = "AKIAABCDEFGHIJKLMNOP"
    for name, options in ((secret, {}), ("a", {"reason": secret}), ("a", {"task_types": [secret]})):
        with pytest.raises(SecretFound):
            did(tasks, "create", name, **{"task_types": ["x"], "from_task": "bd-1", **options})
    assert secret.encode() not in ledger(tasks)


def test_a_stricter_session_writes_none_into_a_looser_log(tasks: World) -> None:
    """As with every line of it."""
    done = tasks.run(
        "template", "create", "a", "--task-type", "x", "--from-task", "bd-1", "--project", str(tasks.personal),
        cwd=tasks.work,
    )  # fmt: skip
    assert 3 == done.status


def test_without_a_log_there_is_none(world: World) -> None:
    """Nothing is made by the way."""
    with pytest.raises(RoamkbError, match="no log"):
        world.open().log.template("list")


def test_the_command_line_says_what_it_did(tasks: World) -> None:
    """In words and in JSON."""
    made = tasks.run("template", "create", "auth", "--task-type", "login", "--from-task", "bd-1")
    assert "created: auth (version 1) | login | 2 learnings | untried" == made.out.splitlines()[0]
    used = tasks.run("template", "use", "auth", "--task", "bd-9", "--json").json
    assert ("auth", 1, "used", "bd-9", 1) == tuple(
        used[name] for name in ("name", "version", "outcome", "task", "uses")
    )
    assert ["[LEARNED]", "[LEARNED]"] == [
        line.split()[0] for line in tasks.run("template", "show", "auth").out.splitlines()[1:]
    ]
    assert (1, "") == (
        tasks.run("template", "list", "--task-type", "none").status,
        tasks.run("template", "list", "--task-type", "none").out,
    )


def test_what_nobody_verified_makes_no_template(tasks: World) -> None:
    """Named or not: the hint says what to do first."""
    key = learn(tasks.open().log, "Nobody looked at this either").learning.key
    with pytest.raises(UsageError, match="unverified") as raised:
        did(tasks, "create", task_types=["auth"], learnings=[key])
    assert "roamkb verify" in raised.value.hint
