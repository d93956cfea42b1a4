"""What the name of a language model means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.errors import UsageError
from roamkb.models.names import ModelKind
from roamkb.models.names import parse_model_name


@pytest.mark.parametrize(
    ("name", "kind", "model", "label"),
    [
        ("claude", ModelKind.HARNESS, "", "claude"),
        ("codex", ModelKind.HARNESS, "", "codex"),
        ("ollama:llama3.2:3b", ModelKind.OLLAMA, "llama3.2:3b", "ollama:llama3.2:3b"),
        ("openai:http://127.0.0.1:8080/v1/", ModelKind.OPENAI, "", "openai:http://127.0.0.1:8080/v1"),
        ("openai:https://h/v1#o/m:1", ModelKind.OPENAI, "o/m:1", "openai:https://h:443/v1#o/m:1"),
        ("openai:https://h/v1?api-version=2", ModelKind.OPENAI, "", "openai:https://h:443/v1"),
        ("/usr/bin/claude", ModelKind.COMMAND, "", "/usr/bin/claude"),
        ("claude --print", ModelKind.COMMAND, "", "claude --print"),
        ("./judge 'a b'", ModelKind.COMMAND, "", "./judge 'a b'"),
        ("ollama run x", ModelKind.COMMAND, "", "ollama run x"),
    ],
)
def test_a_name_means_one_way_to_ask(name: str, kind: ModelKind, model: str, label: str) -> None:
    """And what events call it."""
    found = parse_model_name(name, {})
    assert (kind, model, label) == (found.kind, found.model, found.label)
    assert (found.address is None) is (kind not in (ModelKind.OLLAMA, ModelKind.OPENAI))
    assert bool(found.words) is (kind is ModelKind.COMMAND)


@pytest.mark.parametrize(
    ("host", "origin", "path"),
    [
        ("", "http://127.0.0.1:11434", ""),
        ("127.0.0.1", "http://127.0.0.1:11434", ""),
        ("0.0.0.0:1234", "http://127.0.0.1:1234", ""),
        (":1234", "http://127.0.0.1:1234", ""),
        ("gpu.lan", "http://gpu.lan:11434", ""),
        ("[::1]", "http://[::1]:11434", ""),
        ("[::]:1", "http://[::1]:1", ""),
        ("http://gpu.lan", "http://gpu.lan:80", ""),
        ("https://gpu.lan/ollama/", "https://gpu.lan:443", "/ollama"),
    ],
)
def test_ollama_is_where_its_own_variable_says(host: str, origin: str, path: str) -> None:
    """By the reading of its own client; all addresses of a server are this machine to its client."""
    address = parse_model_name("ollama:m", {"OLLAMA_HOST": host}).address
    assert address
    assert (origin, path) == (address.origin_url, address.path)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("", ""),
        ("   ", ""),
        ("'open", ""),
        ("ollama", ""),
        ("ollama:", ""),
        ("ollama:a\nb", ""),
        ("ollama:m", "user:pw@gpu.lan"),
        ("ollama:m", "ftp://gpu.lan"),
        ("openai", ""),
        ("openai:", ""),
        ("openai:gpt-5", ""),
        ("openai:https://sk-abc@api.example.com/v1", ""),
        ("openai:https://h/v1#a\u202eb", ""),
    ],
)
def test_what_names_no_model_says_so(name: str, host: str) -> None:
    """And shows no login."""
    with pytest.raises(UsageError) as caught:
        parse_model_name(name, {"OLLAMA_HOST": host})
    assert "pw@" not in caught.value.message


@given(st.text())
def test_a_label_is_one_short_line(name: str) -> None:
    """Whatever was typed."""
    try:
        label = parse_model_name(name, {}).label
    except UsageError:
        return
    assert len(label) <= max(200, len(name) + 20)
    assert "\n" not in label
