"""Our MCP server in Codex's config.toml, as one block of text."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.harnesses.codex import has_hooks_off
from roamkb.harnesses.codex import untrusted_events
from roamkb.harnesses.toml_server import BadToml
from roamkb.harnesses.toml_server import with_server
from roamkb.harnesses.toml_server import without_server

PROGRAM = '/home/ann "lee"/roamkb'
STATE = '[hooks.state."/home/ann/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b'model = "o"',
        b'model = "o"\n',
        b"# mine\r\n[features]\r\nhooks = true\r\n",
        b'[mcp_servers.other]\ncommand = "x"\n\n\n',
        "'größe' = '✓'\n".encode(),
    ],
)
def test_a_file_is_as_it_was_after_both(data: bytes | None) -> None:
    """Byte for byte; in between Codex finds the server, and all else as before."""
    added = with_server(data, PROGRAM)
    assert added == with_server(added, PROGRAM)
    assert data == without_server(added)
    told = tomllib.loads(added.decode())
    assert {"command": PROGRAM, "args": ["mcp"]} == told["mcp_servers"].pop("roamkb")
    assert tomllib.loads((data or b"").decode()) == {k: v for k, v in told.items() if v}


@given(st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.integers(0, 9)), st.booleans())
def test_any_keys_survive(keys: dict[str, int], ends: bool) -> None:
    """With and without a last line end."""
    data = "\n".join(f"{key} = {value}" for key, value in keys.items()).encode() + (b"\n" if ends else b"")
    assert data == without_server(with_server(data, PROGRAM))


def test_what_codex_writes_between_the_marks_stays() -> None:
    """It appends tables before the last comment, and that is our mark."""
    added = with_server(b'model = "o"\n', "/old/roamkb").decode()
    grown = added.replace("# roamkb:end", f"{STATE}# roamkb:end").encode()
    renewed = with_server(grown, PROGRAM)
    assert STATE in renewed.decode()
    assert PROGRAM == tomllib.loads(renewed.decode())["mcp_servers"]["roamkb"]["command"]
    left = without_server(grown) or b""
    assert {"model": "o", "hooks": tomllib.loads(STATE)["hooks"]} == tomllib.loads(left.decode())


def test_what_somebody_said_about_our_server_goes_with_it_only() -> None:
    """It is kept when the program moves; without the server Codex would refuse the file."""
    added = with_server(b"", "/old/roamkb").decode()
    said = 'startup_timeout_sec = 20\n[mcp_servers.roamkb.tools.search]\napproval_mode = "approve"\n'
    grown = added.replace("# roamkb:end", f"{said}# roamkb:end").encode()
    assert grown.replace(b'"/old/roamkb"', b'"/new/roamkb"') == with_server(grown, "/new/roamkb")
    assert b"" == without_server(grown)


def test_a_server_that_somebody_configured_is_theirs() -> None:
    """It is neither doubled nor taken away."""
    data = b'[mcp_servers.roamkb]\ncommand = "mine"\n'
    assert data == with_server(data, PROGRAM)
    assert data == without_server(data)


@pytest.mark.parametrize(
    "data",
    [
        b"model = ",
        b"mcp_servers = {}\n",
        b"mcp_servers = 1\n",
        b"# roamkb:begin\n",
        b"# roamkb:end\n# roamkb:begin\n",
        b"\xff\n",
        b"a = " + b"[" * 100_000,
    ],
)
def test_what_cannot_be_changed_without_harm_is_refused(data: bytes) -> None:
    """It is left to its human."""
    with pytest.raises(BadToml):
        with_server(data, PROGRAM)


def test_hooks_can_be_turned_off() -> None:
    """Under today's name and the old one."""
    assert has_hooks_off(b"[features]\nhooks = false\n")
    assert has_hooks_off(b"[features]\ncodex_hooks = false\n")
    assert not has_hooks_off(b"[features]\nhooks = true\n")
    assert not has_hooks_off(b"")


#: Written by Codex 0.169 when its human trusted these two.
_TRUSTED = """
[hooks.state."/home/ann/.codex/hooks.json:pre_tool_use:0:0"]
trusted_hash = "sha256:927ca8b1428a2670743233a1332e823b1186eef1c0e16767008138c5bfe6a6a2"

[hooks.state."/home/ann/.codex/hooks.json:session_end:0:0"]
trusted_hash = "sha256:461023c0f936c1e2a526d33c60fbaa5fd83c3a5b8ecbaeeb5a2a1a218e016134"
"""
_PROGRAM = "/var/tmp/harness-codex/m1/home/.local/bin/roamkb"
_HOOKS = {
    event: [{"hooks": [{"type": "command", "command": f"{_PROGRAM} hook {word}", "timeout": 10}]}]
    for event, word in (("PreToolUse", "pre-tool-use"), ("SessionEnd", "session-end"))
}


def test_what_codex_was_told_to_trust_is_trusted() -> None:
    """By the digests that it wrote itself; a hook that is another now, or was turned off, isn't."""
    places = ("/elsewhere", "/home/ann/.codex/hooks.json")
    hooks = json.dumps({"hooks": _HOOKS}).encode()
    assert () == untrusted_events(hooks, _TRUSTED.encode(), places)
    assert ("PreToolUse", "SessionEnd") == untrusted_events(hooks, b"", places)
    assert ("PreToolUse", "SessionEnd") == untrusted_events(hooks, _TRUSTED.encode(), places[:1])
    changed = hooks.replace(b"hook pre", b"hook  pre")
    assert ("PreToolUse",) == untrusted_events(changed, _TRUSTED.encode(), places)
    assert ("SessionEnd",) == untrusted_events(hooks, f"{_TRUSTED}enabled = false\n".encode(), places)
    assert () == untrusted_events(b'{"hooks": {"Stop": [{"hooks": [{"command": "other"}]}]}}', b"", places)
