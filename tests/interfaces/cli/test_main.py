"""The command line as its users meet it: real processes, statuses, one clear line for what goes wrong."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roamkb.interfaces.hooks import main as hooks
from roamkb.interfaces.output import render
from tests.conftest import World

_HOOKS = Path(hooks.__file__).read_text()
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def test_search_is_grep_like_in_a_pipe(world: World) -> None:
    """PATH:LINE: TEXT and nothing else."""
    path = world.node("20240102030405-zebras.org", "z", "Animals", "zebras are striped")
    ran = world.run("search", "zebra")
    assert (0, f"{path}:6: zebras are striped\n", "") == (ran.status, ran.out, ran.err)


def test_where_nothing_is_sure_that_is_said_first(world: World) -> None:
    """One line on standard error, before the hits; the status is that of any hits, and JSON has it in each."""
    world.node("20240102030405-zebras.org", "z", "Animals", "zebras look good in the morning")
    asked = ["search", "what", "is", "a", "good", "way", "to", "bake", "bread"]
    ran = world.run(*asked)
    assert 0 == ran.status
    assert ran.out.endswith(": zebras look good in the morning\n")
    (line,) = ran.err.splitlines()
    assert line.startswith("roamkb: nothing sure: ")
    hits = world.run(*asked, "--json").json["hits"]
    assert isinstance(hits, list)
    assert [False] == [hit["sure"] for hit in hits]


def test_a_slip_in_a_query_is_told(world: World) -> None:
    """A filter with a value that it doesn't take finds nothing; what may be one is a hint beside the hits."""
    world.node("zebra.org", "id-z", "Zebras", "zebras are striped")
    for slip in ("is:agents", "before:soon", "-id:z"):
        ran = world.run("search", "zebras", slip)
        assert (2, "") == (ran.status, ran.out), slip
        assert slip in ran.err
    assert 0 == world.run("search", "zebras", "is:human").status
    ran = world.run("search", "zebras", "tags:striped", "are")
    assert 0 == ran.status
    assert "tags:striped is no filter" in ran.err


def test_a_sure_hit_is_marked_on_a_terminal(world: World) -> None:
    """Beside its title; a hit that isn't sure has no mark."""
    world.node("a.org", "a", "Zebras are striped", "good in the morning")
    marks = [
        render.without_colours(render.render_result("search", world.open().search(words)).text(True)).splitlines()[0]
        for words in ("are zebras striped", "what is a good way to bake bread")
    ]
    assert ["Zebras are striped  sure  title", "Zebras are striped  text"] == marks


def test_nothing_found_is_status_1(world: World) -> None:
    """As grep has it, and silently."""
    world.node("a.org", "a", "A")
    ran = world.run("search", "nothing-like-it")
    assert (1, "", "") == (ran.status, ran.out, ran.err)


def test_search_json(world: World) -> None:
    """One object with the fields of the contract."""
    world.node("a.org", "a", "Zebra", tags=":animal:")
    hit = {"id": "a", "title": "Zebra", "path": str(world.kb / "a.org"), "line": 4, "tags": ["animal"]}
    value = world.run("search", "zebra", "--json").json
    assert {"schema", "query", "hits", "skipped", "conflict_copies"} <= value.keys()
    hits = value["hits"]
    assert isinstance(hits, list)
    (found,) = hits
    assert hit.items() <= found.items()
    assert {"score", "text", "why"} <= found.keys()


def test_write_json(world: World) -> None:
    """Id, path, title, tags, project and warnings."""
    value = world.run("write", "A fact", "--json", "--body", "-", input="from the pipe\n").json
    assert {"schema", "id", "path", "title", "tags", "project", "warnings"} == value.keys()
    assert {"kind": "personal", "root": str(world.personal)} == value["project"]
    assert UUID.fullmatch(str(value["id"]))
    assert "from the pipe\n" in Path(str(value["path"])).read_text()


@pytest.mark.parametrize("place", ["work", "unknown"])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_refusal_to_the_letter(world: World, place: str, dry: tuple[str, ...]) -> None:
    """Status 3, the kind, the reason, a redacted line, and where it was or wasn't written."""
    before = world.files()
    folder: Path = getattr(world, place)
    fact = "the db host is db-prod-01.acme.internal, mail ops@acme.com"
    text = world.run("write", fact, *dry, cwd=folder)
    assert (3, "") == (text.status, text.out)
    assert text.err.startswith(f"roamkb: {place} project (")
    assert "the db host is [host], mail [address]" in text.err
    assert "written nowhere" in text.err
    refused = world.run("write", fact, "--json", *dry, cwd=folder).json["refused"]
    assert isinstance(refused, dict)
    assert {"kind", "root", "reason", "fact", "written_to"} <= refused.keys()
    assert (place, str(folder), None) == (refused["kind"], refused["root"], refused["written_to"])
    assert before == world.files()


def test_nothing_of_a_refused_text_is_left_anywhere(world: World) -> None:
    """No file below HOME, and no temporary file, holds the canary."""
    canary = "xylophonecanary"
    spare = world.home / "tmp"
    spare.mkdir()
    for command in (["write", canary], ["supersede", "x", canary], ["write", "t", "--body", canary]):
        assert 3 == world.run(*command, cwd=world.work, extra={"TMPDIR": str(spare)}).status
    held = [p for p in world.home.rglob("*") if p.is_file() and canary.encode() in p.read_bytes()]
    assert [] == held


def test_a_work_project_may_search(world: World) -> None:
    """Reading is for all; only writing is bounded."""
    world.node("a.org", "a", "Zebra")
    assert 0 == world.run("search", "zebra", cwd=world.work).status
    assert 0 == world.run("search", "zebra", cwd=world.unknown).status


def test_classify_answers_0_whatever_it_finds(world: World) -> None:
    """With kind, root and reason."""
    for folder, kind in ((world.personal, "personal"), (world.work, "work"), (world.unknown, "unknown")):
        ran = world.run("classify", str(folder), "--json", cwd=world.home)
        assert (0, kind) == (ran.status, ran.json["kind"])
        assert {"schema", "kind", "root", "reason"} <= ran.json.keys()


def error(ran_out: str) -> dict[str, object]:
    """The error object of a call with --json."""
    value: dict[str, dict[str, object]] = json.loads(ran_out)
    return value["error"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["show", "nothing"], "not_found"),
        (["show", "Twin"], "ambiguous"),
        (["write", ""], "usage"),
        (["write", "t", "--source", "gossip"], "usage"),
        (["write", "A", "--link", "nothing"], "not_found"),
        (["write", "Twin"], "near_duplicate"),
        (["write", "x", "--body", "AKIA" + "IOSFODNN7EXAMPL2"], "secret"),
        (["search"], "usage"),
        (["search", "--since", "someday", "x"], "usage"),
        (["search", "--nope"], "usage"),
        (["nosuch"], "usage"),
        (["trash", "one"], "usage"),
        (["restore", "one"], "not_found"),
    ],
)
def test_an_error_has_a_code_a_message_and_a_hint(world: World, words: list[str], code: str) -> None:
    """Status 2; as JSON on standard output, in words on standard error; never a traceback."""
    world.node("a.org", "one", "Twin")
    world.node("b.org", "two", "Twin")
    as_json = world.run(*words, "--json")
    assert (2, code) == (as_json.status, error(as_json.out)["code"])
    assert error(as_json.out)["message"]
    text = world.run(*words)
    assert (2, "") == (text.status, text.out)
    assert text.err.startswith("roamkb: ")
    assert "Traceback" not in text.err


def test_wrong_use_names_the_option_or_argument(world: World) -> None:
    """As it is typed, not as the program calls it."""
    assert "'--limit'" in world.run("search", "x", "--limit", "many").err
    assert "'ID|TITLE|PATH'" in world.run("show").err
    assert "--body" in world.run("write", "x", "--bdy", "text").err


def test_candidates_come_with_the_error(world: World) -> None:
    """What is ambiguous or a near duplicate is named by id, title and path."""
    world.node("a.org", "one", "Twin")
    world.node("b.org", "two", "Twin")
    expected = [
        {"id": "one", "title": "Twin", "path": str(world.kb / "a.org")},
        {"id": "two", "title": "Twin", "path": str(world.kb / "b.org")},
    ]
    for words in (["show", "Twin"], ["write", "Twin"]):
        assert expected == error(world.run(*words, "--json").out)["candidates"]


def test_without_a_rule_there_is_one_clear_error(world: World) -> None:
    """Searching says bad_rule; writing is refused as unknown."""
    (world.home / ".claude/rules/knowledge-base.md").unlink()
    assert "bad_rule" == error(world.run("search", "x", "--json").out)["code"]
    ran = world.run("write", "x")
    assert 3 == ran.status
    assert "unknown project" in ran.err


@pytest.mark.parametrize("state", ["missing", "a file", "empty"])
def test_without_a_knowledge_base_it_says_so(world: World, state: str) -> None:
    """no_kb, and nothing is made."""
    (world.kb / ".stfolder").rmdir()
    if state != "empty":
        world.kb.rmdir()
    if state == "a file":
        world.kb.write_text("not a folder")
    for words in (["search", "x"], ["write", "x"], ["nodes"]):
        ran = world.run(*words, "--json")
        assert (2, "no_kb") == (ran.status, error(ran.out)["code"])
    assert state != "missing" or not world.kb.exists()


def test_a_closed_pipe_is_no_error(world: World) -> None:
    """`roamkb nodes | head -1` ends quietly."""
    for n in range(300):
        world.node(f"{n:04}.org", f"id{n}", f"Title {n} " + "x" * 200)
    command = f"{sys.executable} -m roamkb nodes | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        cwd=world.personal, env={**world.environment(), "PWD": str(world.personal)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "0" == done.stdout.splitlines()[-1]
    assert "" == done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words", ["help all", "help", "help search", "search -h", "--version", "schema", "hook -h", "exec -h", "nodes"]
)
def test_a_reader_that_is_gone_is_no_error(world: World, words: str, unbuffered: str) -> None:
    """Whatever is printed, and however Python buffers it."""
    world.node("a.org", "a", "Zebra")
    done = shell(world, f"export PYTHONUNBUFFERED={unbuffered}; R {words} | :; echo ${{PIPESTATUS[0]}}")
    assert ("0\n", "") == (done.stdout, done.stderr)


def shell(world: World, command: str, *, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which R is roamkb."""
    folder = cwd or world.personal
    return subprocess.run(
        ["bash", "-c", f'R() {{ "{sys.executable}" -m roamkb "$@"; }}; {command}'],
        cwd=folder,
        env={**world.environment(), "PWD": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", ["search zebra", "search zebra --json", "--help", "--version", "show a"])
@pytest.mark.parametrize("end", [">&-", "2>&- >&-", ">/dev/full", "<&-"])
def test_streams_that_are_closed_or_full_are_no_traceback(world: World, words: str, end: str) -> None:
    """The status tells; what can't be said isn't."""
    world.node("a.org", "a", "Zebra")
    done = shell(world, f"R {words} {end}")
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if end == "<&-" else 2)
    assert ("can't print" in done.stderr) == (end in (">&-", ">/dev/full"))


@pytest.mark.parametrize("end", ["| true", ">&-", ">/dev/full 2>&1"])
def test_a_refusal_that_nobody_reads_is_one_all_the_same(world: World, end: str) -> None:
    """Status 3, whoever listens, and the fact isn't in a traceback."""
    done = shell(world, f"R write canary --json {end}; echo ${{PIPESTATUS[0]}} >&2", cwd=world.work)
    assert "3" == done.stderr.splitlines()[-1]
    assert "canary" not in done.stderr


def test_a_project_that_is_not_there_is_named(world: World) -> None:
    """By every command, with the status that it has; a refusal says so itself."""
    world.node("a.org", "a", "Zebra")
    for words in (["search", "zebra"], ["search", "zebra", "--json"], ["show", "a"], ["nodes"], ["links", "a"]):
        ran = world.run(*words, "--project", "/nope")
        assert "/nope is no folder" in ran.err, words
        assert world.run(*words).status == ran.status
    refused = world.run("write", "x", "--project", "/nope")
    assert (3, 1) == (refused.status, refused.err.count("/nope"))


def test_words_of_one_title_are_put_together(world: World) -> None:
    """Every command that takes one text says what to quote; one with two doesn't guess."""
    for name in ("show", "links", "write", "trash", "restore", "learn"):
        assert "did you mean 'Reinforcement Learning', in quotes?" in world.run(name, "Reinforcement", "Learning").err
    asked = world.run("show", "--json", "Reinforcement", "Learning")
    assert (2, True) == (asked.status, "in quotes" in str(asked.json["error"]))
    assert "in quotes" not in world.run("supersede", "a", "b", "c").err


def test_what_other_programs_call_a_command_is_understood(world: World) -> None:
    """By its meaning, not by its letters."""
    for name, meant in (("find", "search"), ("ls", "nodes"), ("rm", "trash"), ("version", "--version")):
        ran = world.run(name, "x")
        assert (2, True) == (ran.status, f"Did you mean '{meant}'?" in ran.err)
    assert "did you mean search?" in world.run("help", "find").err
    assert "'index'" not in world.run("find").err
    # a slip of the fingers is one still
    assert "'search'" in world.run("serach", "x").err


def test_an_empty_trash_is_said_to_be_empty(world: World) -> None:
    """On standard error, in a pipe as well."""
    ran = world.run("restore")
    assert (1, "", True) == (ran.status, ran.out, "the trash is empty" in ran.err)


def test_a_refusal_beats_what_else_is_wrong_with_a_write(world: World) -> None:
    """Standard input isn't read and a bad source isn't told before."""
    assert 3 == world.run("write", "x", "--source", "bogus", cwd=world.work).status
    assert 3 == world.run("write", "x", "--body", "-", cwd=world.work, input=b"\xff").status
    assert 3 == shell(world, "R write x --body - <&-", cwd=world.work).returncode
    assert 2 == shell(world, "R write x --body - <&-").returncode


def test_ids_cannot_act_on_the_terminal_either(world: World) -> None:
    """In errors, warnings and lists."""
    for n in (1, 2):
        world.note(
            f"{n}.org",
            f":PROPERTIES:\n:ID: id{n}\x1b]0;pwned\x07\n:AGENT: x\n:END:\n#+title: walrus\n#+filetags: :agent:\n",
        )
    for words in (
        ["show", "walrus"],
        ["write", "walrus"],
        ["write", "walrus", "--anyway", "--dry-run"],
        ["trash", "--all-agent"],
        ["trash", "id1\x1b]0;pwned\x07"],
        ["restore"],
        ["links", "id2\x1b]0;pwned\x07"],
    ):
        ran = world.run(*words)
        assert not set(ran.out + ran.err) & {"\x1b", "\x07"}, words


def test_ctrl_c_ends_quietly(world: World) -> None:
    """Status 130, no traceback, nothing written."""
    before = world.files()
    process = subprocess.Popen(
        [sys.executable, "-m", "roamkb", "write", "t", "--body", "-"],
        cwd=world.personal, env={**world.environment(), "PWD": str(world.personal)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # whoever runs the suite in the background has it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while Path(f"/proc/{process.pid}/wchan").read_text() not in ("pipe_read", "anon_pipe_read"):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (130, b"", b"") == (process.returncode, out, err)
    assert before == world.files()


def test_ctrl_c_ends_quietly_while_modules_are_loaded(world: World) -> None:
    """About half of the time of a search is that."""
    program = (
        "import sys, os, signal\n"
        "from roamkb.__main__ import run_program\n"
        "class Early:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'roamkb.interfaces.cli.main': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Early())\n"
        "sys.argv = ['roamkb', 'search', 'zebra']\n"
        "sys.exit(run_program())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=world.personal, env=world.environment(), capture_output=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert (130, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_standard_input_that_is_no_text_is_a_usage_error(world: World) -> None:
    """Bytes that aren't UTF-8 are refused, not guessed at."""
    ran = world.run("write", "t", "--body", "-", input=b"\xff\xfe\x00")
    assert 2 == ran.status
    assert "UTF-8" in ran.err


def test_arguments_that_are_no_text_are_survived(world: World) -> None:
    """Bytes that aren't UTF-8 reach us as lone surrogates; no traceback."""
    refused: tuple[list[str | bytes], ...] = (
        ["search", b"\xff\xfe"],
        ["show", b"\xff"],
        ["write", b"caf\xe9 fact"],
        ["search", b"\xff", "--json"],
    )
    for words in refused:
        done = subprocess.run(
            [sys.executable, "-m", "roamkb", *words],
            cwd=world.personal, env={**world.environment(), "PWD": str(world.personal)},
            capture_output=True, check=False,
        )  # fmt: skip
        assert b"Traceback" not in done.stderr
        assert 2 == done.returncode


def test_a_c_locale_loses_no_letter(world: World) -> None:
    """What cron or a bare container runs has one."""
    done = subprocess.run(
        [sys.executable, "-m", "roamkb", "write", "Café über naïve test", "--dry-run"],
        cwd=world.personal,
        env={
            **world.environment(),
            "PWD": str(world.personal),
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        },
        capture_output=True,
        check=True,
    )
    assert "#+title: Café über naïve test" in done.stdout.decode()


def test_what_a_note_holds_cannot_act_on_the_terminal(world: World) -> None:
    """Escape sequences and bidi characters are gone from text, escaped in JSON."""
    world.node("a.org", "a", "Zebra \x1b[31mred\u202e", "zebra \x1b]0;owned\x07 \u2066x")
    for words in (["search", "zebra"], ["show", "a"], ["nodes"], ["search", "zebra", "--json"]):
        out = world.run(*words).out
        assert not set(out) & {"\x1b", "\x07", "\u202e", "\u2066"}
    node = world.run("show", "a", "--json").json["node"]
    assert isinstance(node, dict)
    assert "Zebra \x1b[31mred\u202e" == node["title"]


def test_a_read_only_folder_is_one_clear_line(world: World) -> None:
    """Permission denied (or, as root, a read-only mount), nothing written, status 2."""
    if os.geteuid() == 0:
        done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("root without leave to mount: run as another user")
        script = f"mount --bind {world.kb} {world.kb} && mount -o remount,ro,bind {world.kb} && exec {sys.executable} -m roamkb write fact"
        done = subprocess.run(
            ["unshare", "-m", "bash", "-c", script],
            cwd=world.personal, env={**world.environment(), "PWD": str(world.personal)},
            capture_output=True, check=False,
        )  # fmt: skip
        status, err = done.returncode, done.stderr.decode()
    else:
        world.kb.chmod(0o555)
        ran = world.run("write", "fact")
        world.kb.chmod(0o755)
        status, err = ran.status, ran.err
    assert 2 == status
    assert "read-only" in err or "permission denied" in err
    assert {} == world.files()


def test_every_help_has_an_example(world: World) -> None:
    """And fits its command."""
    from roamkb.interfaces.operations import OPERATIONS

    overview = world.run("help", "all").out
    for operation in OPERATIONS:
        assert f"  {operation.name} " in overview
        ran = world.run(operation.name, "--help")
        assert (0, True) == (ran.status, f"Example: roamkb {operation.name}" in ran.out)


def test_the_first_screen_is_short_and_leads_on(world: World) -> None:
    """A dozen commands in groups, however it is asked for; each topic has its commands, each command `-h`."""
    first, *others = (world.run(*words).out for words in ((), ("--help",), ("-h",), ("help",)))
    assert {first} == set(others)
    shown = re.findall(r"^  ([a-z]+)  +[A-Z]", first, re.M)
    assert 12 == len(shown)
    assert "Exit status: 0" in first
    assert 40 > len(first.splitlines())
    assert max(map(len, first.splitlines())) < 120
    assert "  consolidate " in world.run("help", "log").out
    assert "  consolidate " not in world.run("help", "notes").out
    helped = world.run("search", "--help").out
    assert helped == world.run("help", "search").out
    # a word to leave out has more than this letter
    assert helped == world.run("search", "zebra", "-h").out
    assert "Usage: roamkb hook" in world.run("help", "hook").out


def test_a_text_that_looks_like_an_option_is_told_how_to_be_given(world: World) -> None:
    """No option has a blank in it."""
    ran = world.run("write", "- zebras have stripes")
    assert (2, True) == (ran.status, "a text that begins with - goes behind --" in ran.err)
    assert 0 == world.run("write", "--", "- zebras have stripes").status
    assert "behind --" not in world.run("write", "-z", "zebras").err


def test_the_first_screen_fits_a_narrow_one(world: World) -> None:
    """No word is lost, and what is broken goes on below its column."""
    whole = world.run("help").out
    narrow = world.run("help", extra={"COLUMNS": "44"}).out
    assert whole.split() == narrow.split()
    assert max(map(len, narrow.splitlines())) <= 44
    assert "\n          what is work, and set" in narrow
    assert whole == world.run("help", extra={"COLUMNS": "8"}).out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("serch", "zebra"), "Did you mean 'search'"),
        (("help", "serch"), "did you mean search?"),
        (("completion", "bsh"), "did you mean bash?"),
        (("snapshot", "restor"), "did you mean restore?"),
        (("search", "zebra", "--taag", "x"), "--tag"),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(world: World, words: tuple[str, ...], meant: str) -> None:
    """Of a command, an option or a value."""
    world.run("init")
    ran = world.run(*words)
    assert (2, True) == (ran.status, meant in ran.err)
    assert "did you mean" not in world.run("help", "qqqqqq").err


@pytest.mark.parametrize("words", [("--help",), ("stop", "-h")])
def test_the_hooks_help_names_each_event(world: World, words: tuple[str, ...]) -> None:
    """It answers JSON to harnesses, and words to people."""
    ran = world.run("hook", *words)
    assert 0 == ran.status
    answered = re.findall(r'"([a-z]+(?:-[a-z]+)*)"', "".join(re.findall(r"^        case (.*):$", _HOOKS, re.M)))
    assert len(answered) == 11
    assert [] == [event for event in answered if event not in ran.out]


def test_the_version_is_shown(world: World) -> None:
    """As packages know it, both by the quick way and by the command line's own."""
    from importlib.metadata import version

    from roamkb import __version__

    assert __version__ == version("roamkb")
    assert f"roamkb {__version__}\n" == world.run("--version").out == world.run("--version", "tags").out


def test_heavy_libraries_are_loaded_only_where_they_are_used(world: World) -> None:
    """A search imports none of those that only other commands need."""
    world.node("a.org", "a", "Zebra")
    probe = (
        "import sys; from roamkb.interfaces.cli.main import run; run(['search', 'zebra']);"
        "heavy = {'typer', 'pathspec', 'ulid', 'orgparse', 'rich', 'markdown_it', 'mcp', 'fastapi'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=world.personal, env={**world.environment(), "PWD": str(world.personal)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "[]" == done.stdout.splitlines()[-1]


def test_a_long_first_search_counts_its_notes_on_a_terminal(world: World) -> None:
    """And leaves nothing of it behind; a pipe sees none of it."""
    for n in range(2500):
        world.node(f"{n:05}.org", f"id{n}", f"Note {n}", "Some words about a thing. " * 10)
    line = f"{sys.executable} -m roamkb search thing --limit 1"
    done = subprocess.run(
        ["script", "-qec", line, "/dev/null"],
        cwd=world.personal,
        env={**world.environment(), "PWD": str(world.personal), "TERM": "xterm"},
        capture_output=True,
        text=True,
        check=True,
    )
    counted, _, rest = done.stdout.rpartition("\x1b[K")
    assert not counted or re.search(r"reading notes \[#* *\] \d+ of 2500, \d+:\d\d left", counted)
    assert "reading notes" not in rest
    assert re.search(r"\.org:6\n +Some words", rest.replace("\r", ""))
    assert "" == world.run("search", "thing", "--limit", "1").err


def on_a_screen(world: World, *words: str, **environment: str) -> str:
    """Return what `roamkb` shows where its standard output is a terminal."""
    ours, theirs = os.openpty()
    kept = {name: value for name, value in world.environment().items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "roamkb", *words],
        cwd=world.personal,
        env={**kept, "PWD": str(world.personal), "TERM": "xterm", **environment},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
    )
    os.close(theirs)
    shown = b""
    # the terminal hangs up once the program is gone
    with contextlib.suppress(OSError):
        while piece := os.read(ours, 4096):
            shown += piece
    os.close(ours)
    assert 0 == process.wait()
    return shown.decode()


@pytest.mark.parametrize("words", [("search", "zebra"), ("show", "a"), ("doctor",), ("conflicts",)])
@pytest.mark.parametrize("wish", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_without_colours_a_terminal_shows_the_same_lines(
    world: World, words: tuple[str, ...], wish: dict[str, str]
) -> None:
    """NO_COLOR is about colours alone."""
    world.node("a.org", "a", "Zebra", "zebra one\nzebra two", tags=":x:")
    world.node("a.sync-conflict-20260411-081203-K7QX2MD.org", "a", "Zebra", "zebra one", tags=":x:")
    coloured, plain = on_a_screen(world, *words), on_a_screen(world, *words, **wish)
    assert "\x1b[" not in plain
    assert re.sub(r"\x1b\[\d+m|\x1b]8;;[^\x1b]*\x1b\\", "", coloured) == plain
    assert "conflicts" in words or coloured != plain
