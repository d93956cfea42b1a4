"""roamkb in the real Codex, whose model is a script: `python -m tests.real_harnesses.codex [CODEX]`.

Without an argument the `codex` on the PATH is asked; it needs no account. Written with 0.169.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.contracts.test_harnesses import CODEX_WORDS
from tests.real_harnesses.codex_sessions import FREE
from tests.real_harnesses.codex_sessions import PLAIN
from tests.real_harnesses.codex_sessions import READ_ONLY
from tests.real_harnesses.codex_sessions import SCRIPTED
from tests.real_harnesses.codex_sessions import WORKSPACE
from tests.real_harnesses.codex_sessions import Call
from tests.real_harnesses.codex_sessions import Codex
from tests.real_harnesses.codex_sessions import Script
from tests.real_harnesses.codex_sessions import Turn
from tests.real_harnesses.model import Json
from tests.real_harnesses.model import playing
from tests.real_harnesses.world import ROOT
from tests.real_harnesses.world import machine

PLUGINS = ROOT / "roamkb" / "data" / "plugins"
#: A word that stands for all that is said at work.
_CANARY = "quetzalcoatlus"


@pytest.fixture(scope="session")
def codex(pytestconfig: pytest.Config) -> Iterator[Codex]:
    """Codex with hooks and a server as `install --codex` makes them, and shells that find roamkb."""
    program: str = pytestconfig.getoption("--codex")
    with machine("--codex") as made:
        (made.home / ".profile").write_text('PATH="$HOME/.local/bin:$PATH"\n')
        yield Codex(program=program, machine=made, recorded=made.folder / "payloads.jsonl")


def observed(project: Path, session: str) -> list[Json]:
    """What was recorded of a session in the project."""
    files = sorted((project / ".roamkb" / "local" / "observations").glob("*.jsonl"))
    told = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    return [one for one in told if one["session"] == session]


def shell(command: str, **more: object) -> Call:
    """Return the call that runs a command."""
    return "exec_command", {"cmd": command, **more}


def patch(path: Path | str, *lines: str, verb: str = "Add") -> Call:
    """Return the call that adds or updates a file."""
    return "apply_patch", "\n".join(("*** Begin Patch", f"*** {verb} File: {path}", *lines, "*** End Patch", ""))


# Trust


def test_hooks_run_once_a_human_trusts_them_and_the_doctor_knows(codex: Codex) -> None:
    """`codex exec` skips them without a word; its screen asks, and what was said is in its own settings."""
    made = codex.machine
    before = codex.say("tidy up", cwd=made.personal, trusted=False)
    assert "roamkb brief" not in before.told
    assert "hook" not in before.err
    doctor = made.run("roamkb", "doctor", cwd=made.personal).stdout
    assert "!! Codex: skipped without a word, since nobody has trusted them as they are now" in doctor
    with codex.screen(made.personal) as (screen, _):
        screen.wait("Trust this folder?")
        screen.type("\r")
        screen.wait("hooks are new or changed")
        screen.type("2\r")
        screen.wait("for shortcuts")
    assert "ok Codex: 10 hooks, each answered" in made.run("roamkb", "doctor", cwd=made.personal).stdout
    after = codex.say("tidy up", cwd=made.personal, trusted=False)
    assert "This is a personal project" in after.told
    assert "clamping" not in after.err
    assert 2 == made.roamkb("install", "--codex", "--yes").count("all is there already")
    assert "trusted_hash" in (made.home / ".codex" / "config.toml").read_text("utf-8")


# What a session is told, and what is heard of it


@pytest.mark.parametrize("model", [PLAIN, SCRIPTED])
def test_a_session_is_briefed_helped_and_recorded(codex: Codex, model: str) -> None:
    """A file is warned of once, a failure is known for one and helped; what came of it is counted."""
    home, roamkb = codex.machine.personal, codex.machine.roamkb
    name = f"lib{model.replace('.', '').replace('-', '')}"
    error = f"ModuleNotFoundError: No module named '{name}'"
    roamkb("learn", f"Redis evicts {name} sessions when maxmemory is reached", "--confidence", "0.9")
    roamkb("learn", f"The {name} runner skips names with a digit", "--type", "gotcha", "--file", f"db/{name}.sql")
    roamkb("remedy", "record", "--error", error, "--technique", f"Put {name} on the path", "--outcome", "success")
    (home / f"{name}.d").write_text(f"import {name}\n")
    session = codex.say(
        "the redirect uri of oauth does not match exactly, why?",
        patch(f"db/{name}.sql", "+select 1;"),
        patch(f"db/{name}.sql", "@@", "-select 1;", "+select 3;", verb="Update"),
        shell(f"python3 {name}.d"),
        shell(f"touch {name}.py"),
        shell(f"python3 {name}.d"),
        f"It does.\n\nLEARNED: The {name} build needs make 4 for its grouped targets",
        cwd=home,
        model=model,
    )
    assert "This is a personal project" in session.told
    assert 1 == session.told.count("] OAuth redirect URIs must match exactly")
    assert 1 == session.told.count('source="what is known of this file"')
    assert f"Put {name} on the path (worked 1 of 1 time)" in session.told
    assert roamkb("remedy", "suggest", "--error", error).startswith("2/2 worked")
    happened = [(one["type"], one["text"]) for one in observed(home, session.id)]
    assert [kind for kind, text in happened if f"python3 {name}.d" in text] == ["error", "tool_use"]
    assert ("message", "session-end other") in happened
    codex.say("something else", cwd=home)
    assert "grouped targets" in roamkb("recall", name, "build", "grouped")


def test_a_compaction_and_a_subagent_are_known(codex: Codex) -> None:
    """What a session had is told again after the one; what helps is told to the other, and it is heard."""
    home = codex.machine.personal
    codex.machine.roamkb("learn", "The crane API counts in feet", "--type", "gotcha", "--confidence", "0.9")
    session = codex.say(
        "ask somebody about the crane",
        ("collaboration__spawn_agent", {"message": "look at the crane API", "task_name": "look", "fork_turns": "none"}),
        ("collaboration__wait_agent", {"timeout_ms": 20000}),
        shell("true"),
        cwd=home,
        model=SCRIPTED,
        words=(*WORKSPACE, "-c", "model_auto_compact_token_limit=100000"),
        subagent="FACT: The crane API answers on port 7001",
        used=300_000,
    )
    inner = next(one for one in session.requests if "what roamkb knows about this" in json.dumps(one))
    assert "counts in feet" in json.dumps(inner)
    events = [one["hook_event_name"] for one in codex.payloads(session.id)]
    assert {"SubagentStart", "SubagentStop", "PreCompact", "PostCompact"} <= set(events)
    assert 2 == events.count("SessionStart")
    assert 1 == session.told.count("This is a personal project")
    codex.say("something else", cwd=home)
    assert "port 7001" in codex.machine.roamkb("recall", "crane", "port")


def test_the_wrap_up_is_asked_of_nobody(codex: Codex) -> None:
    """What a program waits for isn't changed."""
    home, roamkb = codex.machine.personal, codex.machine.roamkb
    said = "SQLite in WAL mode needs its -shm file beside the database, so copies lose commits"
    key = json.loads(roamkb("learn", said, "--category", "bug_fix", "--confidence", "0.9", "--json"))["key"]
    roamkb("verify", key, "--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
    session = codex.say("does it build?", "It builds.", cwd=home)
    assert (1, "It builds.") == (len(session.requests), session.out.strip())


def test_somebody_before_its_screen_has_the_agent_asked_what_its_work_showed(codex: Codex) -> None:
    """Once, after an edit that is more than slight; what it quotes stands in Codex's own record."""
    home = codex.machine.personal
    (home / "proxy.toml").write_text("port = 8080\n")
    said = "The health check of the proxy fails since it listens on port 8443 there"
    proposals = [{"claim": "The proxy's health check is on port 8443", "type": "fact", "files": ["proxy.toml"],
                  "evidence": {"quote": "it listens on port 8443 there"}}]  # fmt: skip
    answer = f"roamkb learn --proposals '{json.dumps(proposals).replace(chr(39), chr(8217))}' --json"
    lines = ("@@", "-port = 8080", "+port = 8443", "+host = 'proxy'", "+scheme = 'https'", "+retries = 3")
    turns: tuple[Turn, ...] = (
        shell("echo 'proxy: LISTEN *:8443'; cat proxy.toml"),
        patch("proxy.toml", *lines, verb="Update"),
        f"{said}.",
        shell(answer),
        "All kept.",
        "Nothing more.",
    )
    with codex.screen(home, *turns, trusted=True) as (screen, session):
        screen.wait("for shortcuts")
        screen.type("the health check fails, why?\r")
        screen.wait("All kept.")
        screen.type("and now?\r")
        screen.wait("Nothing more.")
    assert 1 == session.told.count("roamkb: which 0-3 facts")
    result = session.results[-1]
    printed = json.loads(result[result.index("{") :])["output"]
    [kept] = json.loads(printed)["proposals"]
    assert ("new", "verified", 0.8) == (kept["outcome"], kept["verdict"], kept["confidence"])


# The boundary


def _human_note(codex: Codex) -> Path:
    return next(codex.machine.kb.glob("*-time_zones.org"))


@pytest.mark.parametrize("model", [PLAIN, SCRIPTED])
@pytest.mark.parametrize("kind", ["personal", "work", "unknown"])
def test_no_tool_writes_where_it_may_not_and_all_may_read(codex: Codex, kind: str, model: str) -> None:
    """Without any sandbox; the reason is what the tool gave."""
    made, note = codex.machine, _human_note(codex)
    before = {path: path.read_bytes() for path in made.kb.rglob("*") if path.is_file()}
    reads = [
        shell(f"head -6 {note}"),
        shell(f"rg -l UTC {made.kb} | head -1"),
        shell("roamkb search time zones --limit 1"),
        shell("head -6 *-time_zones.org", workdir=str(made.kb)),
    ]
    writes: list[Turn] = [
        shell(f"echo x >> {note}"),
        shell(f"echo x | tee -a ./{note.name}", workdir=str(made.kb)),
        shell(f"sed -i s/a/b/ {note}"),
        shell(f"cd {note.parent} && rm {note.name}"),
        shell(f"apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: {note}\n*** End Patch\nEOF"),
        patch(note, "@@", "-#+title: Time zones", "+x", verb="Update"),
    ]
    new = made.kb / "new.org"
    elsewhere: list[Turn] = [
        shell(f"echo x > {new}"),
        shell("echo x > new.org", workdir=str(made.kb)),
        shell(f"open('{new}', 'w').write('x')", shell="/usr/bin/python3"),
        patch(new, "+x"),
        shell("bash", tty=True, yield_time_ms=500),
    ]
    denied = [*writes, *([] if kind == "personal" else elsewhere)]
    session = codex.say("as you like", *reads, *denied, cwd=made.projects[kind], model=model, words=FREE)
    read, refused = session.results[: len(reads)], session.results[len(reads) :]
    assert [] == [one for one in read if "blocked" in one or (".org" not in one and "ime zones" not in one)]
    # who runs a call among the notes works in no project of their own meanwhile
    reasons = ("a note that is the human's", "roamkb: unknown") if kind == "personal" else (f"roamkb: {kind}",)
    assert len(denied) == len(refused)
    assert [] == [one for one in refused if not any(reason in one for reason in reasons)]
    assert before == {path: path.read_bytes() for path in made.kb.rglob("*") if path.is_file()}


def test_a_humans_word_is_refused_by_the_command_itself(codex: Codex) -> None:
    """Where no hook sees it, and where the environment says nothing."""
    made = codex.machine
    (made.personal / "later.sh").write_text("env -i HOME=$HOME PATH=$PATH roamkb approve x --digest 00\n")
    for words in (FREE, WORKSPACE):
        session = codex.say("as you like", shell("sh later.sh"), cwd=made.personal, words=words)
        # without its variables nobody sees whose it is, and in the sandbox not even by its parents
        assert re.search("only a human does that|where its parents can be seen", session.results[0])


def test_what_is_said_at_work_stays_there(codex: Codex) -> None:
    """In no file of HOME, cache, state or temp but the project's own, and what Codex keeps itself.

    Not even where a call runs in a personal project, in a sandbox that shows no parent process.
    """
    made = codex.machine
    (made.work / "secret.txt").write_text(f"the {_CANARY} is fed at noon\n")
    made.roamkb("learn", f"The {_CANARY} needs a permit", "--type", "gotcha", cwd=made.work)
    home = str(made.personal)
    open_to = [str(made.kb), str(made.home / ".local" / "state"), str(made.home / ".cache"), home]
    roots = f"sandbox_workspace_write.writable_roots={json.dumps(open_to)}"
    for words in (FREE, (*WORKSPACE, "-c", roots), ("--ephemeral", *WORKSPACE, "-c", roots)):
        session = codex.say(
            f"Remember that the {_CANARY} is fed on Fridays. Does the {_CANARY} need a permit?",
            shell(f"cat secret.txt; roamkb learn 'One {_CANARY} eats ten fish a day'"),
            shell(f"roamkb write 'The {_CANARY} flies'"),
            shell(f"roamkb write 'The {_CANARY} swims'; roamkb learn 'The {_CANARY} dives'", workdir=home),
            shell(f"cd {home} && roamkb write 'The {_CANARY} walks'; echo {_CANARY}; false"),
            shell(f"echo {_CANARY}; false", workdir=home),
            ("mcp__roamkb__write", {"title": f"The {_CANARY} runs"}),
            f"It does.\n\nLEARNED: The {_CANARY} sleeps on Mondays after lunch",
            cwd=made.work,
            words=words,
        )
        assert "This is a work project" in session.told
        first, inside, outside = session.results[1:4]
        assert "not written to the knowledge base" in first
        for one in (inside, outside):
            assert "not written to the knowledge base" in one or "keeps no record" in one
        assert '"kind":"work"' in session.results[5]
    own = (made.work, made.home / ".codex", codex.recorded)
    assert [] == [path for path in made.holding(_CANARY) if not any(path.is_relative_to(one) for one in own)]


# The sandbox


def test_the_sandbox_lets_all_look_up_and_says_how_to_write(codex: Codex) -> None:
    """Without a cache, below the project's root, in a sandbox for reading: always by the server's tool.

    Where the sandbox has the project's log in it, the command does as well, by the next hook.
    """
    made = codex.machine
    (made.personal / "src").mkdir(exist_ok=True)
    (made.personal / "no-cache.sh").write_text("export XDG_CACHE_HOME=/nowhere\nroamkb search sqlite wal\n")
    told = []
    for place, words in (("", WORKSPACE), ("src", WORKSPACE), ("", READ_ONLY)):
        session = codex.say(
            "as you like",
            shell(f"sh {made.personal}/no-cache.sh"),
            shell("roamkb learn 'The crane is oiled on Thursdays'"),
            shell(f"roamkb write 'Cranes are oiled weekly, says {place or words[1]}'"),
            ("mcp__roamkb__write", {"title": f"Cranes are oiled in {place or words[1]}"}),
            cwd=made.personal / place,
            words=words,
        )
        searched, learned, refused, written = session.results
        assert "sqlite_in_wal_mode" in searched
        waits = words == WORKSPACE and not place
        assert ("waits: write Cranes" if waits else "roamkb's MCP tools run outside of it") in refused
        assert waits == ("which waited, is done" in session.told)
        assert f"{made.kb}/" in written
        told.append(learned)
    assert "learned-the-crane-is-oiled" in told[0]
    assert all(f"{made.personal}/.roamkb/" in one and "read-only" in one for one in told[1:])


def test_what_the_sandbox_keeps_from_the_notes_is_done_by_the_next_hook(codex: Codex) -> None:
    """Each verb, in its order, once; a work project is refused at once, and nothing waits there."""
    made = codex.machine
    said = "Cranes without a permit stand still, so the permit office is asked on Mondays"
    key = json.loads(made.roamkb("learn", said, "--category", "bug_fix", "--confidence", "0.9", "--json"))["key"]
    made.roamkb("verify", key, "--accuracy", "0.9", "--relevance", "0.9", "--specificity", "0.9")
    session = codex.say(
        "as you like",
        shell(
            "echo 'By the book.' | roamkb write 'Sirens are tried' --body -; roamkb write 'Ladders are counted' --json"
        ),
        shell("roamkb supersede 'Ladders are counted' 'Ladders are counted twice a year'"),
        shell("roamkb trash 'Sirens are tried'"),
        shell("roamkb restore --last"),
        shell(f"roamkb promote {key}"),
        "Done.",
        cwd=made.personal,
        words=WORKSPACE,
    )
    assert '"queued": true' in session.results[0].replace("\\", "")
    assert [] == [one for one in session.results[1:5] if "waits: " not in one]
    assert 6 == session.told.count("which waited, is done")
    titles = made.roamkb("inventory")
    assert all(title in titles for title in ("Sirens are tried", "Ladders are counted twice", "Cranes without"))
    assert "By the book." in made.roamkb("show", "Sirens are tried")
    at_work = codex.say("", shell("roamkb write 'Invoices are late'"), cwd=made.work, words=WORKSPACE)
    assert "not written to the knowledge base" in at_work.results[0]
    assert [] == [path for path in made.folder.rglob("spool") if ".roamkb" in path.parts]


# Plugin, server, block


def test_every_tool_of_the_server_is_called(codex: Codex) -> None:
    """As `install --codex` put it there; at work it refuses to write."""
    made = codex.machine
    made.roamkb("learn", "Cursor pagination beats offsets on the bookings table")
    key = "learned-cursor-pagination-beats-offsets-on-the-bookings-table"
    calls: list[Call] = [
        ("search", {"words": ["oauth", "redirect"]}),
        ("fetch", {"id": "27a75a1c-9d8f-41b0-bc4c-a4889e25fe64"}),
        ("get", {"name": "SQLite in WAL mode"}),
        ("links", {"name": "SQLite in WAL mode"}),
        ("recall", {"words": ["cursor", "pagination"]}),
        ("relevant", {"title": "paginate the bookings"}),
        ("learn", {"text": "Bookings are deleted softly, so count only the live ones"}),
        ("record_outcome", {"name": key, "outcome": "success"}),
        ("record_remedy", {"error": "KeyError: 'zzz'", "technique": "Use get", "outcome": "success"}),
        ("suggest_remedy", {"error": "KeyError: 'zzz'"}),
        ("verify", {"keys": [key], "accuracy": 0.9, "relevance": 0.9, "specificity": 0.9}),
        ("review_list", {}),
        ("status", {}),
        ("write", {"title": "Live bookings are the ones that count"}),
    ]
    asked: list[Call] = [(f"mcp__roamkb__{name}", given) for name, given in calls]
    # it may be a while until it is there
    wait = shell("sleep 5")
    for model in (PLAIN, SCRIPTED):
        asked[-1] = ("mcp__roamkb__write", {"title": f"Live bookings are the ones that count ({model})"})
        session = codex.say("use the server", wait, *asked, cwd=made.personal, model=model)
        assert 1 + len(asked) == len(session.results)
        bad = [one for one in session.results if '"error":{"code"' in one.replace("\\", "")]
        assert [] == bad
        assert "deferred tool namespaces:\n- mcp__roamkb" in session.told.replace("Deferred", "deferred")
    refused = codex.say("use the server", wait, asked[-1], cwd=made.work).results[-1]
    assert '"kind":"work"' in refused
    assert "Live bookings" in made.roamkb("inventory")


def test_the_plugin_is_found_and_all_of_it_works(codex: Codex) -> None:
    """Its hooks run, its skills are listed, its server answers: without what `install --codex` put there."""
    made, note = codex.machine, _human_note(codex)
    settings = made.home / ".codex"
    aside = settings.rename(made.home / "aside")
    try:
        codex.run("plugin", "marketplace", "add", PLUGINS)
        assert "Added plugin" in codex.run("plugin", "add", "roamkb@roamkb")
        session = codex.say(
            "use the plugin",
            shell(f"echo x >> {note}"),
            ("mcp__roamkb__search", {"words": ["time zones"]}),
            cwd=made.personal,
        )
    finally:
        shutil.rmtree(settings)
        aside.rename(settings)
    assert all(f"roamkb:roamkb-{name}:" in session.told for name in ("recall", "learn", "wrap-up"))
    assert "This is a personal project" in session.told
    assert "a note that is the human's" in session.results[0]
    assert "Time zones" in session.results[1]


def test_the_block_is_read(codex: Codex) -> None:
    """What `install --agents-md` puts into a project's AGENTS.md."""
    made = codex.machine
    made.roamkb("install", "--yes", "--agents-md", str(made.personal / "AGENTS.md"))
    block = (made.personal / "AGENTS.md").read_text("utf-8")
    told = codex.say("tidy up", cwd=made.personal).told
    assert all(line in told for line in block.splitlines() if line.strip() and not line.startswith("<!--"))


# As a model that roamkb asks


def test_it_judges_without_hooks_servers_or_a_shell(codex: Codex) -> None:
    """Once for all learnings; the settings that say where its model is are the human's own."""
    made = codex.machine
    learned = made.roamkb("learn", "The kiosk printer needs 203 dpi, or labels are cut", "--json")
    scores = {"accuracy": 0.9, "relevance": 0.8, "specificity": 0.7, "vetoes": []}
    answer = json.dumps({"items": [{"number": 1, **scores}]})
    settings = made.home / ".codex" / "config.toml"
    was = settings.read_text("utf-8")
    path = f"{Path(codex.program).parent}:{made.environment()['PATH']}"
    kept = sorted((made.home / ".codex").rglob("rollout-*.jsonl"))
    with playing(Script([answer], model=PLAIN, subagent="", used=10)) as model:
        head = f'model = "{PLAIN}"\nmodel_provider = "script"\ncheck_for_update_on_startup = false\n'
        provider = (
            f'\n[model_providers.script]\nname = "script"\nbase_url = "{model.url}/v1"\n'
            'wire_api = "responses"\nrequires_openai_auth = false\n\n[analytics]\nenabled = false\n'
        )
        settings.write_text(head + was + provider, encoding="utf-8")
        try:
            ran = made.run(
                *("roamkb", "verify", json.loads(learned)["key"], "--judge", "codex", "--json"),
                cwd=made.personal,
                more={"PATH": path},
            )
        finally:
            settings.write_text(was, encoding="utf-8")
    assert not ran.returncode, ran.stdout + ran.stderr
    [judged] = json.loads(ran.stdout)["judged"]
    assert ("verified", "codex") == (judged["verdict"], judged["judge"])
    [request] = model.of("/responses")
    tools = json.dumps(request.get("tools", []))
    assert not any(name in tools for name in ("exec_command", '"shell"', "mcp__roamkb"))
    said = json.dumps(request["input"])
    assert "The kiosk printer" in said
    assert "roamkb brief" not in said
    assert kept == sorted((made.home / ".codex").rglob("rollout-*.jsonl"))


# What the harness tells


def test_the_payloads_are_those_that_the_suite_knows(codex: Codex) -> None:
    """Event by event and field by field, of all sessions here."""
    told = [json.loads(line) for line in codex.recorded.read_text("utf-8").splitlines() if line]
    inner = {"agent_id", "agent_type"}
    for one in told:
        words = CODEX_WORDS[one["hook_event_name"]]
        assert words <= one.keys() <= words | inner, one
    assert CODEX_WORDS.keys() == {one["hook_event_name"] for one in told}
    tools = {one["tool_name"] for one in told if "tool_name" in one}
    assert tools <= {"Bash", "apply_patch"} | {name for name in tools if "__" in name or "agent" in name}


# From the command line


class Options:
    """What the command line says, told to pytest."""

    @staticmethod
    def pytest_addoption(parser: pytest.Parser) -> None:
        """Take it."""
        parser.addoption("--codex", help="the program")


def main(words: Sequence[str]) -> int:
    """Run everything here, or what pytest's options choose; 2 where there is no Codex."""
    is_named = bool(words) and not words[0].startswith("-")
    name, options = (words[0], words[1:]) if is_named else ("codex", words)
    program = shutil.which(name)
    if program is None:
        print(f"no Codex here: {name} can't be run; nothing was checked")
        return 2
    options = ["--codex", str(Path(program).absolute()), *options]
    return pytest.main([__file__, "-p", "no:cacheprovider", *options], plugins=[Options()])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
