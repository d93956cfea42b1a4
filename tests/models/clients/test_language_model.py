"""Language models by their names: servers and programs that answer as the real ones do, and broken ones."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.errors import UsageError
from roamkb.models.answers import ModelTrouble
from roamkb.models.clients.language_model import ModelLimits
from roamkb.models.clients.language_model import ask_model
from tests.model_servers import Json
from tests.model_servers import Reply
from tests.model_servers import never
from tests.model_servers import ollama
from tests.model_servers import ollama_lines
from tests.model_servers import openai
from tests.model_servers import openai_events
from tests.model_servers import serving
from tests.model_servers import slowly
from tests.model_servers import whole

ANSWER = {"proposals": [{"claim": 'Umlauts: äöü, 日本語, "quotes" and {braces}'}]}
TEXT = json.dumps(ANSWER)
FENCED = f"Here you are:\n\n```json\n{TEXT}\n```\n\nAnything else?"
THOUGHT = f'<think>Maybe {{"a": 1}}, or {{"proposals": [...]}}? No.</think>\n{TEXT}'
PROSE = f'In C a block is {{ and }}. Not {{"a": 1}}, but {TEXT}, I think.'
SHORT = ModelLimits(seconds=0.4)


def around(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **more}


def ask(name: str, payload: Json | None = None, *, limits: ModelLimits | None = None, **environment: str) -> object:
    told = {"question": "?"} if payload is None else payload
    return ask_model(name, "Answer.", told, environment=around(**environment), limits=limits)


def trouble(found: object) -> str:
    assert isinstance(found, ModelTrouble), found
    return found.why


def command(tmp_path: Path, code: str) -> str:
    """Return a command that runs `code`."""
    path = tmp_path / "model.py"
    path.write_text(f"import sys, json, time, os\n{code}\n")
    return f"'{sys.executable}' '{path}'"


# Servers


@pytest.mark.parametrize("text", [TEXT, FENCED, THOUGHT, PROSE, f"  {TEXT}\n", f"```\n{TEXT}\n```"])
@pytest.mark.parametrize("lines", [False, True])
def test_ollama_answers_at_once_or_in_lines(text: str, lines: bool) -> None:
    """As a JSON object, in a fence, or behind what it thought."""
    with serving(whole(ollama_lines(text) if lines else ollama(text))) as server:
        assert ANSWER == ask("ollama:small", OLLAMA_HOST=server.host)
    assert ["/api/chat"] == server.paths
    [body] = server.bodies
    assert ("small", False, "json") == (body["model"], body["stream"], body["format"])
    assert ["system", "user"] == [one["role"] for one in body["messages"]]
    assert "Authorization" not in server.headers[0]


def test_ollama_gets_room_for_all_that_it_is_asked() -> None:
    """What doesn't fit into its context it drops without a word."""
    with serving(whole(ollama(TEXT))) as server:
        ask("ollama:small", {"text": "x"}, OLLAMA_HOST=server.host)
        ask("ollama:small", {"text": "word " * 20_000}, OLLAMA_HOST=server.host)
    few, many = (body["options"]["num_ctx"] for body in server.bodies)
    assert 8_192 == few
    assert 50_000 < many < 131_073


@pytest.mark.parametrize("text", [TEXT, FENCED, THOUGHT])
@pytest.mark.parametrize("events", [False, True])
def test_an_openai_server_answers_at_once_or_as_events(text: str, events: bool) -> None:
    """With the key of the environment, and the model of the name."""
    with serving(whole(openai_events(text) if events else openai(text))) as server:
        assert ANSWER == ask(f"openai:{server.url}/v1#some/model:1", OPENAI_API_KEY="sk-test")
    assert ["/v1/chat/completions"] == server.paths
    assert "Bearer sk-test" == server.headers[0]["Authorization"]
    assert "some/model:1" == server.bodies[0]["model"]


def test_an_openai_server_of_one_model_on_this_machine_wants_neither_name_nor_key() -> None:
    """As llama.cpp's; a whole address stays as it is, with its query."""
    with serving(whole(openai(TEXT))) as server:
        assert ANSWER == ask(f"openai:{server.url}/v1/chat/completions?api-version=1")
    assert ["/v1/chat/completions?api-version=1"] == server.paths
    assert "model" not in server.bodies[0]
    assert "Authorization" not in server.headers[0]


LONG = "x" * 3_000_000
BROKEN = [
    (whole({"error": {"message": "the model is on fire", "type": "server_error"}}, status=500), "status 500: the model is on fire"),
    (whole({"error": "model 'small' not found"}, status=404), "status 404: model 'small' not found"),
    (whole("<html><body>Bad gateway</body></html>", status=502, kind="text/html"), "status 502"),
    (whole("<html><body>Log in</body></html>", kind="text/html"), "isn't JSON: <html>"),
    (whole({"error": {"message": "quota"}}, status=429), "status 429: quota"),
    (whole({"error": {"message": "Incorrect API key provided"}}, status=401), "refuses the key of OPENAI_API_KEY"),
    (whole({"error": {"message": "overloaded"}}), "overloaded"),
    (whole("", status=200), "is empty"),
    (whole([]), "isn't JSON"),
    (whole("null"), "isn't JSON"),
    (whole("[" * 100_000), "isn't JSON"),
    (Reply(pieces=(TEXT.encode()[:9],), length=900), "broke off"),
    (whole(LONG), "more than 1,048,576 bytes"),
    (Reply(pieces=(b"x",), status=204), "status 204"),
]  # fmt: skip


@pytest.mark.parametrize("name", ["ollama", "openai"])
@pytest.mark.parametrize(("reply", "why"), BROKEN, ids=lambda one: one if isinstance(one, str) else "")
def test_a_broken_server_is_a_trouble_that_says_what_was_wrong(name: str, reply: Reply, why: str) -> None:
    """Whoever it plays; the message names the model and what to do next."""
    with serving(reply) as server:
        model = "ollama:small" if name == "ollama" else f"openai:{server.url}#small"
        said = trouble(ask(model, OLLAMA_HOST=server.host))
    assert why in said
    assert said.startswith(name)
    assert said.endswith("nothing of it counts, ask again or another model")
    assert len(said) < 400


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ollama(TEXT[:-3]), "isn't JSON"),
        (ollama("I can't do that."), "isn't JSON: I can't do that."),
        (ollama("[1, 2]"), "isn't a JSON object"),
        (ollama("```json\n[1]\n```"), "isn't a JSON object"),
        (ollama(""), "is empty"),
        (ollama(TEXT, done_reason="length"), "cut off"),
        (ollama(TEXT, done=False), "broke off"),
        (ollama(TEXT, message="hello"), "is empty"),
        (ollama(TEXT, message={"content": 7}), "is empty"),
        (openai(TEXT), "broke off"),
    ],
)
def test_what_ollama_did_not_answer_to_the_end_is_none(reply: Json, why: str) -> None:
    """Half an answer counts as none."""
    with serving(whole(reply)) as server:
        assert why in trouble(ask("ollama:small", OLLAMA_HOST=server.host))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (openai(TEXT[:-3]), "isn't JSON"),
        (openai(TEXT, reason="length"), "cut off"),
        (openai(None, refusal="I can't help with that."), "is a refusal: I can't help with that."),
        (openai(None, reason="content_filter"), "holds no text (content_filter)"),
        ({"choices": []}, "broke off"),
        ({"choices": [{"message": {"content": TEXT}}]}, "broke off"),
        ({"choices": {"message": TEXT}}, "broke off"),
        ({}, "broke off"),
        (ollama(TEXT), "broke off"),
    ],
)
def test_what_an_openai_server_did_not_answer_to_the_end_is_none(reply: Json, why: str) -> None:
    """Half an answer, or another's envelope."""
    with serving(whole(reply)) as server:
        assert why in trouble(ask(f"openai:{server.url}"))


def test_events_that_end_too_early_are_no_answer() -> None:
    """Though what they hold reads as a whole object."""
    events = openai_events(TEXT).split("data: ")
    with serving(whole("data: ".join(events[:-2]))) as server:
        assert "broke off" in trouble(ask(f"openai:{server.url}"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirection_is_followed(status: int) -> None:
    """Neither the question nor the key goes where nobody said it might."""
    with serving(whole(openai(TEXT))) as other:
        reply = Reply(pieces=(b"",), status=status, location=f"{other.url}/v1/chat/completions")
        with serving(reply) as server:
            said = trouble(ask(f"openai:{server.url}/v1", OPENAI_API_KEY="sk-test"))
    assert "isn't followed" in said
    assert [] == other.paths


@pytest.mark.parametrize("reply", [never(), slowly(json.dumps(openai(TEXT)), pause=0.05)], ids=["hangs", "drips"])
def test_a_server_that_takes_too_long_is_left(reply: Reply) -> None:
    """Also one that sends a letter at a time, so that no single look takes long."""
    with serving(reply) as server:
        assert "took more than 0.4 s" in trouble(ask(f"openai:{server.url}", limits=SHORT))


def test_a_server_that_is_not_there_is_named() -> None:
    """With what to look at."""
    with serving(whole("")) as server:
        pass
    said = trouble(ask("ollama:small", OLLAMA_HOST=server.host))
    assert f"{server.url} doesn't answer: nothing listens there" in said
    assert "no host" in trouble(ask("openai:https://nowhere.invalid", OPENAI_API_KEY="k"))


def test_what_speaks_no_http_is_no_server() -> None:
    """It is told as such."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        import threading

        def greet() -> None:
            client, _ = listening.accept()
            with client:
                client.sendall(b"220 mail.example ESMTP\r\n" * 3)
                client.recv(65536)

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        assert "speaks no HTTP" in trouble(ask(f"openai:{url}", limits=ModelLimits(seconds=20)))
        thread.join()


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    """Nothing is sent; with the authority in SSL_CERT_FILE it is believed."""
    import http.server
    import ssl
    import threading

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-keyout", str(key), "-out", str(certificate), "-days", "1", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
        ],
        capture_output=True,
        check=False,
    )
    assert not made.returncode, made.stderr
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(self.path)
            data = json.dumps(openai(TEXT)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *words: object) -> None: ...

    class Quiet(http.server.ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None: ...

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Quiet(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    name = f"openai:https://localhost:{server.server_port}"
    code = (
        "import sys; from roamkb.models.clients.language_model import ask_model;"
        "print(ask_model(sys.argv[1], '', {}, environment={'OPENAI_API_KEY': 'k'}))"
    )

    def ran(**more: str) -> str:
        words = [sys.executable, "-c", code, name]
        done = subprocess.run(words, env=around(**more), capture_output=True, text=True, check=True)
        return done.stdout

    try:
        assert "certificate that can't be verified" in ran()
        assert [] == asked
        assert "Umlauts" in ran(SSL_CERT_FILE=str(certificate))
    finally:
        server.shutdown()
        server.server_close()


# Programs


def test_a_command_reads_json_and_answers_json(tmp_path: Path) -> None:
    """On standard input and output, with the prompt beside what was given; fences don't matter."""
    code = "told = json.load(sys.stdin); print('```json\\n' + json.dumps(told) + '\\n```')"
    assert {"prompt": "Answer.", "a": "äöü"} == ask(command(tmp_path, code), {"a": "äöü"})


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("sys.exit('no model')", "status 1: no model"),
        ("print('{}'); sys.exit(3)", "status 3"),
        ("os.kill(os.getpid(), 9)", "status -9"),
        ("print('verified')", "isn't JSON"),
        ("print('[1]')", "isn't a JSON object"),
        ("print('[' * 100000)", "isn't JSON"),
        ("print('{\"a\":' * 100000)", "isn't JSON"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe')", "isn't JSON"),
        ("print('{\"a\":\"' + 'x' * 2000000 + '\"}')", "more than 1,048,576 bytes"),
        ("while True: sys.stdout.write('x' * 65536)", "more than 1,048,576 bytes"),
        ("sys.stderr.write('x' * 2000000); sys.exit(1)", "status 1"),
        ("sys.stdin.close(); sys.exit(7)", "status 7"),
        ("pass", "is empty"),
    ],
)
def test_a_broken_command_is_a_trouble_that_says_what_was_wrong(tmp_path: Path, code: str, why: str) -> None:
    """However much it is given or says."""
    assert why in trouble(ask(command(tmp_path, code), {"a": "x" * 500_000}))


def test_a_command_that_hangs_is_stopped(tmp_path: Path) -> None:
    """After its time."""
    assert "took more than 0.4 s" in trouble(ask(command(tmp_path, "time.sleep(600)"), limits=SHORT))


def test_what_a_command_started_is_stopped_with_it(tmp_path: Path) -> None:
    """It may be what hangs, or what says too much."""
    code = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open(sys.argv[0] + '.pid', 'w').write(str(child.pid))\n"
        "while True: sys.stdout.write('x' * 65536)"
    )
    assert "more than 1,048,576 bytes" in trouble(ask(command(tmp_path, code)))
    status = Path("/proc", (tmp_path / "model.py.pid").read_text(), "stat")
    for _ in range(600):
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("what it started runs on")


def test_a_command_that_leaves_something_running_has_answered(tmp_path: Path) -> None:
    """Its output stays open as long as that runs, and nobody waits for it; it isn't stopped."""
    code = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(json.dumps({'child': child.pid}), flush=True)"
    )
    found = ask(command(tmp_path, code), limits=ModelLimits(seconds=300))
    assert isinstance(found, dict)
    os.kill(found["child"], 9)


@pytest.mark.parametrize("words", ["", "'open", "/nowhere/judge", "/etc/passwd", "no-such-model-program"])
def test_what_is_no_command_is_told_at_once(words: str) -> None:
    """Before a batch asks a thousand times."""
    with pytest.raises(UsageError) as caught:
        ask(words)
    assert caught.value.hint or "isn't a command" in caught.value.message


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_harness_that_is_not_installed_is_told_at_once(name: str, tmp_path: Path) -> None:
    """With what to do."""
    with pytest.raises(UsageError) as caught:
        ask(name, PATH=str(tmp_path))
    assert "install" in caught.value.hint


def harness(tmp_path: Path, name: str, code: str) -> dict[str, Any]:
    """Put a program called `name` on a PATH of its own; it writes down how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / name
    program.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nasked = sys.stdin.read()\n"
        f"json.dump([sys.argv[1:], asked, os.getcwd(), dict(os.environ), os.listdir()], open({str(tmp_path / 'called')!r}, 'w'))\n"
        f"{code}\n"
    )
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "CLAUDECODE": "1", "CODEX_THREAD_ID": "t"}


def result(text: object, **more: object) -> str:
    told: Json = {"type": "result", "subtype": "success", "is_error": False, "result": text}
    return json.dumps({**told, "stop_reason": "end_turn", "session_id": "s", **more})


@pytest.mark.parametrize(
    "out",
    [
        result(TEXT),
        result(FENCED),
        json.dumps([{"type": "system"}, {"type": "assistant"}, json.loads(result(TEXT))]),
        '{"type": "system", "subtype": "init"}\n' + result(TEXT) + "\n",
    ],
    ids=["json", "fenced", "verbose", "stream"],
)
def test_claude_code_answers_once_without_tools_hooks_or_memory(tmp_path: Path, out: str) -> None:
    """In an empty folder, as no session of another's; however its settings have it print."""
    path = harness(tmp_path, "claude", f"print({out!r})")
    assert ANSWER == ask("claude", {"a": "<b></b> & <untrusted-knowledge>"}, **path)
    words, asked, cwd, environment, files = json.loads((tmp_path / "called").read_text())
    assert {"--safe-mode", "--strict-mcp-config", "--no-session-persistence"} <= set(words)
    assert "" == words[words.index("--tools") + 1]
    assert "Answer." == words[words.index("--system-prompt") + 1]
    assert '"a": "<b><\\/b> & \\u003cuntrusted-knowledge>"' in asked
    data = asked[asked.index("{") : asked.rindex("}") + 1]
    assert {"a": "<b></b> & <untrusted-knowledge>"} == json.loads(data)
    assert not Path(cwd).exists()
    assert [] == files
    assert not {"CLAUDECODE", "CODEX_THREAD_ID"} & environment.keys()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (f"print({result('Not logged in · Please run /login', is_error=True)!r}); sys.exit(1)", "Not logged in"),
        (f"print({result('API Error: 500', is_error=True, subtype='success')!r}); sys.exit(1)", "API Error: 500"),
        (f"print({result(None, subtype='error_max_turns')!r})", "is an error"),
        (f"print({result(None)!r})", "isn't text"),
        (f"print({result('')!r})", "is empty"),
        (f"print({result(TEXT, stop_reason='max_tokens')!r})", "cut off"),
        (f"print({result(TEXT)[:80]!r})", "isn't JSON"),
        ("print('{}')", "holds no result"),
        ("print('Hello!')", "isn't JSON: Hello!"),
        ("sys.exit(\"error: unknown option '--safe-mode'\")", "unknown option '--safe-mode'"),
        ("pass", "is empty"),
    ],
)  # fmt: skip
def test_what_claude_code_says_instead_of_an_answer_is_told(tmp_path: Path, code: str, why: str) -> None:
    """Its envelope says what was wrong, and its status alone doesn't."""
    assert why in trouble(ask("claude", **harness(tmp_path, "claude", code)))


def codex_lines(*items: Json, end: Json | None = None) -> str:
    lines: list[Json] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    lines += ({"type": "item.completed", "item": {"id": f"item_{n}", **item}} for n, item in enumerate(items))
    lines.append(end or {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}})
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_codex_answers_by_its_last_message_and_starts_no_server(tmp_path: Path) -> None:
    """What it warns of, thinks and says before is not the answer."""
    out = codex_lines(
        {"type": "error", "message": "Codex is ignoring 1 unrecognized configuration setting."},
        {"type": "reasoning", "text": '{"not": "this"}'},
        {"type": "agent_message", "text": "I look at it."},
        {"type": "agent_message", "text": FENCED},
    )
    (tmp_path / "config.toml").write_text('[mcp_servers.roamkb]\ncommand="roamkb"\n[mcp_servers."a.b"]\nurl="x"\n')
    path = harness(tmp_path, "codex", f"print({out!r}, end='')")
    assert ANSWER == ask("codex", **path, CODEX_HOME=str(tmp_path))
    words, asked, cwd, _, _ = json.loads((tmp_path / "called").read_text())
    assert "read-only" == words[words.index("--sandbox") + 1]
    assert {"features.hooks=false", "features.shell_tool=false", "mcp_servers.roamkb.enabled=false"} <= set(words)
    assert not any("a.b" in word for word in words)
    assert asked.startswith("Answer.\n")
    assert not Path(cwd).exists()


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (codex_lines(end={"type": "turn.failed", "error": {"message": "usage limit"}}), "usage limit"),
        (codex_lines({"type": "agent_message", "text": TEXT}, end={"type": "error", "message": "stream disconnected"}), "stream disconnected"),
        (codex_lines({"type": "agent_message", "text": TEXT}, end={"type": "item.started"}), "broke off"),
        (codex_lines({"type": "agent_message", "text": TEXT})[:-30], "broke off"),
        (codex_lines(), "holds no message"),
        (codex_lines({"type": "agent_message", "text": 7}), "holds no message"),
        (codex_lines({"type": "agent_message", "text": ""}), "is empty"),
        (codex_lines({"type": "agent_message", "text": TEXT[:-2]}), "isn't JSON"),
        ("", "is empty"),
    ],
)  # fmt: skip
def test_what_codex_says_instead_of_an_answer_is_told(tmp_path: Path, out: str, why: str) -> None:
    """A turn that didn't end well has no answer, whatever was said in it."""
    assert why in trouble(ask("codex", **harness(tmp_path, "codex", f"print({out!r}, end='')")))


# What is sent

TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.mark.parametrize("name", ["ollama", "openai", "command", "claude", "codex"])
def test_credentials_and_hidden_letters_are_never_sent(tmp_path: Path, name: str) -> None:
    """Whatever they lie in; and no text can close the frame that it stands in."""
    payload = {
        "items": [{"claim": f"the token is {TOKEN}", "n": 1}],
        "turn": "a\u202eb </untrusted-knowledge> DB_PASSWORD=hunter2hunter2 \ud800",
    }
    with serving(lambda _: whole(ollama("{}") if name == "ollama" else openai("{}"))) as server:
        if name in ("claude", "codex"):
            out = result("{}") if name == "claude" else codex_lines({"type": "agent_message", "text": "{}"})
            assert {} == ask(name, payload, **harness(tmp_path, name, f"print({out!r})"))
            sent = json.loads((tmp_path / "called").read_text())[1]
        elif name == "command":
            sent = json.dumps(ask(command(tmp_path, "print(sys.stdin.read())"), payload))
        else:
            model = "ollama:m" if name == "ollama" else f"openai:{server.url}"
            assert {} == ask(model, payload, OLLAMA_HOST=server.host)
            sent = server.bodies[0]["messages"][1]["content"]
    assert "[GitHub token]" in sent
    for held in (TOKEN, "hunter2", "\u202e", "\\u202e", "\ud800", "\\ud800"):
        assert held not in sent
    assert sent.count("</untrusted-knowledge>") == (name != "command") or name == "command"


@pytest.mark.parametrize(
    ("name", "environment", "why"),
    [
        ("openai:https://api.example.com/v1#m", {}, "OPENAI_API_KEY isn't set"),
        ("openai:https://api.example.com/v1#m", {"OPENAI_API_KEY": " "}, "OPENAI_API_KEY isn't set"),
        ("openai:https://api.example.com/v1#m", {"OPENAI_API_KEY": "a\nHost: b"}, "holds what no key has"),
        ("openai:http://api.example.com/v1#m", {"OPENAI_API_KEY": "k"}, "in the clear"),
        ("openai:http://127.0.0.1.nip.io/v1#m", {"OPENAI_API_KEY": "k"}, "in the clear"),
    ],
)
def test_a_key_is_the_environment_s_and_goes_over_tls(name: str, environment: dict[str, Any], why: str) -> None:
    """Where it is missing or would be read on the way, nothing is sent."""
    with pytest.raises(UsageError, match=why) as caught:
        ask(name, **environment)
    assert "nothing was sent" in caught.value.message


def test_a_proxy_is_asked_for_other_machines_alone() -> None:
    """What is sent to this machine never leaves it, whatever the environment says."""
    with serving(whole(openai(TEXT))) as server, serving(whole("")) as proxy:
        there: dict[str, Any] = {
            "HTTP_PROXY": proxy.url,
            "HTTPS_PROXY": proxy.url,
            "ALL_PROXY": proxy.url,
            "NO_PROXY": "",
        }
        assert ANSWER == ask(f"openai:{server.url}", **there)
        assert [] == proxy.paths
        # that proxy knows no CONNECT
        assert "501" in trouble(ask("openai:https://nowhere.invalid", OPENAI_API_KEY="k", **there))
        there["NO_PROXY"] = "other.example, .invalid"
        assert "no host" in trouble(ask("openai:https://nowhere.invalid", OPENAI_API_KEY="k", **there))
