"""All worktrees of a repository share the log of its main checkout: through the command line and the hooks."""

import json
from pathlib import Path

import pytest

from tests.app.log.killed_learners import add_worktrees
from tests.app.log.killed_learners import git
from tests.app.log.killed_learners import learn_while_killed
from tests.app.log.killed_learners import make_repository
from tests.conftest import World
from tests.fs.test_worktrees import jj_repository
from tests.fs.test_worktrees import jj_workspace


@pytest.fixture
def other(world: World) -> Path:
    """Return a linked worktree of the personal project, which is a repository with a log."""
    make_repository(world)
    other = world.personal.parent / "site-other"
    git(world.personal, "worktree", "add", "-q", str(other))
    return other


def contents(world: World, folder: Path, words: str) -> list[str]:
    """Return what recall finds in a folder."""
    ran = world.run("recall", words, "--json", cwd=folder)
    assert ran.status in (0, 1), ran.err
    return [learning["content"] for learning in ran.json["learnings"]]


def test_what_is_learned_in_a_worktree_is_the_projects(world: World, other: Path) -> None:
    """Without `init` there, and it stays when the worktree goes, however it goes."""
    fact = "the staging proxy drops websocket frames over 64 kB"
    assert world.run("learn", fact, cwd=other).status == 0
    assert [fact] == contents(world, world.personal, "websocket")
    assert [fact] == contents(world, other, "websocket")
    # git's own copy in the worktree is as it was committed
    assert b"" == (other / ".roamkb" / "knowledge.jsonl").read_bytes()
    git(world.personal, "worktree", "remove", "--force", str(other))
    assert [fact] == contents(world, world.personal, "websocket")


def test_init_says_what_shares_it(world: World, other: Path) -> None:
    """From either side, and makes nothing in the worktree."""
    for folder in (world.personal, other):
        ran = world.run("init", "--json", cwd=folder)
        assert str(world.personal) == ran.json["root"]
        assert [str(other)] == ran.json["worktrees"]
    assert f"shared with the worktree {other}" in world.run("init", cwd=other).out
    assert not (other / ".roamkb" / "local").exists()


def test_a_worktree_can_make_the_log(world: World) -> None:
    """It lies in the main checkout, which had none."""
    git(world.personal, "init", "-q", "-b", "main")
    git(world.personal, "commit", "-q", "--allow-empty", "-m", "first")
    other = world.personal.parent / "other"
    git(world.personal, "worktree", "add", "-q", str(other))
    assert world.run("recall", "x", cwd=other).status == 2
    assert str(world.personal / ".roamkb") == world.run("init", "--json", cwd=other).json["log"]
    assert world.run("learn", "the cache is cold on mondays", cwd=other).status == 0
    assert ["the cache is cold on mondays"] == contents(world, world.personal, "cache")
    assert not (other / ".roamkb").exists()


def test_a_bare_repository_has_one_log_for_its_worktrees(world: World) -> None:
    """In its own folder, since there is no checkout to lie in."""
    git(world.personal, "init", "-q", "-b", "main")
    git(world.personal, "commit", "-q", "--allow-empty", "-m", "first")
    bare = world.personal.parent / "bare" / ".git"
    git(world.personal, "clone", "-q", "--bare", str(world.personal), str(bare))
    trees = [bare.parent / name for name in ("one", "two")]
    for tree in trees:
        git(bare, "worktree", "add", "-q", "-b", tree.name, str(tree))
    assert world.run("init", cwd=trees[0]).status == 0
    assert world.run("learn", "the linter wants python 3.12", cwd=trees[0]).status == 0
    assert ["the linter wants python 3.12"] == contents(world, trees[1], "linter")
    git(bare, "worktree", "remove", "--force", str(trees[0]))
    assert ["the linter wants python 3.12"] == contents(world, trees[1], "linter")


def test_hooks_in_a_worktree_know_the_projects_log(world: World, other: Path) -> None:
    """The start, a must-check before one of its files is changed, and what is captured."""
    said = "must-check: the schema of orders.sql is generated, never edit orders.sql by hand"
    assert world.run("learn", said, "--type", "must-check", "--file", "orders.sql").status == 0
    session = {"session_id": "s1", "cwd": str(other)}

    def hook(event: str, **payload: object) -> str:
        ran = world.run("hook", event, cwd=other, input=json.dumps({**session, **payload}))
        assert ran.err == ""
        return ran.out

    assert "1 learning" in hook("session-start", source="startup")
    edit = {"file_path": str(other / "orders.sql"), "old_string": "a", "new_string": "b"}
    assert "never edit" in hook("pre-tool-use", tool_name="Edit", tool_input=edit)
    failed = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "no rule to make target invoices"}
    hook("post-tool-use-failure", **failed)
    observed = [path.read_text() for path in world.log().observations.iterdir() if path.is_file()]
    (line,) = [line for text in observed for line in text.splitlines() if "invoices" in line]
    assert "site-other" == json.loads(line)["worktree"]
    world.run("recall", "orders", cwd=other)
    shown = [json.loads(line) for line in (world.log().local_folder / "receipts.jsonl").read_text().splitlines()]
    assert {"site-other"} == {receipt["worktree"] for receipt in shown}


def test_a_worktree_at_work_writes_nothing_into_a_personal_log(world: World, other: Path) -> None:
    """The boundary is judged by the session as well as by the log's own place."""
    place = world.work / "tree"
    git(world.personal, "worktree", "add", "-q", "-b", "tree", str(place))
    before = (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()
    ran = world.run("learn", "the customer's name is Acme", cwd=place)
    assert ran.status == 3
    assert before == (world.personal / ".roamkb" / "knowledge.jsonl").read_bytes()


def test_a_forged_pointer_reaches_no_log(world: World, other: Path) -> None:
    """A folder that came in an archive says it is a worktree of the personal project."""
    world.run("learn", "the deploy key lies in the safe of the office")
    hostile = world.personal.parent / "hostile"
    hostile.mkdir()
    (hostile / ".git").write_text((other / ".git").read_text())
    assert world.run("recall", "deploy", cwd=hostile).status == 2
    assert world.run("learn", "poison", cwd=hostile).status != 0
    assert [] == contents(world, world.personal, "poison")


def test_no_log_at_work_is_read_from_a_personal_checkout(world: World, other: Path) -> None:
    """Neither by a link in the other branch, nor unasked at a prompt."""
    assert world.run("init", cwd=world.work).status == 0
    assert world.run("learn", "the invoice ledger shards by tenant", cwd=world.work).status == 0
    (world.personal / "sub").symlink_to(world.work)
    (other / "sub" / ".roamkb").mkdir(parents=True)
    ran = world.run("recall", "invoice ledger", cwd=other / "sub")
    assert "tenant" not in ran.out
    world.run("learn", "poison", cwd=other / "sub")
    assert b"poison" not in (world.work / ".roamkb" / "knowledge.jsonl").read_bytes()
    payload = {"session_id": "s1", "cwd": str(other / "sub"), "prompt": "how does the invoice ledger shard by tenant?"}
    assert "tenant" not in world.run("hook", "user-prompt-submit", cwd=other / "sub", input=json.dumps(payload)).out


@pytest.mark.parametrize("is_in_main", [True, False])
def test_a_file_of_another_branch_refutes_nothing(world: World, other: Path, is_in_main: bool) -> None:
    """A learning about it is judged alike in every checkout; a file that none has counts against it."""
    has, lacks = (world.personal, other) if is_in_main else (other, world.personal)
    (has / "src" / "pay").mkdir(parents=True)
    (has / "src" / "pay" / "tokens.py").write_text("SECONDS = 60\n")
    scores = ("--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
    for path, verdict in (("pay/tokens.py", "verified"), ("pay/coins.py", "unverified")):
        said = world.run("learn", f"Payments in {path} are cached for 60 seconds", "--json", cwd=has).json
        judged = world.run("verify", said["id"], *scores, "--json", cwd=lacks).json["judged"]
        assert [verdict] == [learning["verdict"] for learning in judged], judged
    events = [json.loads(line) for line in (world.personal / ".roamkb" / "ledger.jsonl").read_text().splitlines()]
    expected = ["site-other" if is_in_main else None] * 2
    assert expected == [event.get("worktree") for event in events if event["event"] == "judged"]


def test_doctor_tells_what_a_worktree_learned_before_the_log_was_shared(world: World, other: Path) -> None:
    """With the command that takes it over; after that, and of lines that the shared log has too, it says nothing."""
    known, own = "the cache is cold on mondays", "the proxy of the staging cluster drops idle sockets"
    world.run("learn", known)
    line = json.loads((world.personal / ".roamkb" / "knowledge.jsonl").read_text())
    early = other / ".roamkb" / "knowledge.jsonl"

    def advice() -> str:
        checks = world.run("doctor", "--json").json["checks"]
        return next(f"{check['detail']} {check['fix']}" for check in checks if check["name"] == "project's log")

    early.write_text(json.dumps(line) + "\n")
    assert "ingest" not in advice()
    early.write_text("".join(json.dumps({**line, "content": text, "id": text}) + "\n" for text in (known, own)))
    assert f"1 learning in {early} isn't in the shared log" in advice()
    assert f"`roamkb ingest --file {early}`" in advice()
    assert 0 == world.run("ingest", "--file", str(early)).status
    assert [own] == contents(world, world.personal, "proxy sockets")
    assert "ingest" not in advice()


def test_nothing_acknowledged_is_lost_by_killed_learners(world: World, other: Path) -> None:
    """Several worktrees, each with processes that are killed at random, and all that was said is in the one log."""
    assert 48 == learn_while_killed(world, [other, *add_worktrees(world, 3)], each=12)


def test_what_is_learned_in_a_jj_workspace_is_the_projects(world: World) -> None:
    """Without `init` there, also for hooks; it stays when the workspace goes, and `init` names the workspace."""
    place = world.personal.parent / "second"
    jj_repository(world.personal, ("default", "../.."), ("second", "../../../second"))
    jj_workspace(place, "../../site/.jj/repo")
    assert str(place) in world.run("init", "--json").json["worktrees"]
    fact = "the staging proxy drops websocket frames over 64 kB"
    assert world.run("learn", fact, "--type", "must-check", "--file", "proxy.conf", cwd=place).status == 0
    assert [fact] == contents(world, world.personal, "websocket")
    payload = {
        "session_id": "s1",
        "cwd": str(place),
        "tool_name": "Edit",
        "tool_input": {"file_path": str(place / "proxy.conf"), "old_string": "a", "new_string": "b"},
    }
    assert "websocket" in world.run("hook", "pre-tool-use", cwd=place, input=json.dumps(payload)).out
    assert not (place / ".roamkb").exists()


def test_a_jj_workspace_that_the_repository_doesnt_list_has_its_own_log(world: World) -> None:
    """A hostile archive may name any project's repository; it sees and writes nothing there, and `init` says so."""
    assert world.run("init").status == 0
    assert world.run("learn", "the vault is opened by the blue key").status == 0
    jj_repository(world.personal, ("default", "../.."))
    hostile = world.personal.parent / "hostile"
    jj_workspace(hostile, "../../site/.jj/repo")
    assert world.run("recall", "vault", cwd=hostile).status == 2
    ran = world.run("init", cwd=hostile)
    assert "doesn't list this folder" in ran.err
    assert [] == contents(world, hostile, "vault")
    assert world.run("learn", "the hostile archive was here", cwd=hostile).status == 0
    assert [] == contents(world, world.personal, "hostile")


def test_a_jj_workspace_at_work_writes_nothing_into_a_personal_log(world: World) -> None:
    """What may be written is judged by both ends."""
    assert world.run("init").status == 0
    place = world.work / "second"
    jj_repository(world.personal, ("default", "../.."), ("second", str(place)))
    jj_workspace(place, str(world.personal / ".jj" / "repo"))
    assert world.run("learn", "the client's tariff is secret", cwd=place).status == 3
    assert [] == contents(world, world.personal, "tariff")
