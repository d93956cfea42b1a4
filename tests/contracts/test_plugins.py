"""The plugins that come with roamkb are in the form that harnesses ask for, and what they say can be typed."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from roamkb import __version__
from roamkb.harnesses.claude_code import HARNESS as CLAUDE_CODE
from roamkb.harnesses.codex import HARNESS as CODEX
from roamkb.harnesses.hook_list import Hook
from roamkb.interfaces.cli.fast_args import parse_words

_PLUGINS = Path(__file__).parents[2] / "roamkb" / "data" / "plugins"
_HARNESSES = ("claude", "codex")
_SKILLS = ("roamkb-learn", "roamkb-recall", "roamkb-wrap-up")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
#: What a manifest may have, and of which type; only the name is required.
_MANIFEST: dict[str, dict[str, type]] = {
    "claude": dict.fromkeys(("name", "version", "description", "homepage", "repository", "license"), str)
    | {"author": dict, "keywords": list},
    "codex": dict.fromkeys(("name", "version", "description", "skills", "mcpServers"), str) | {"interface": dict},
}


def manifest(harness: str) -> dict[str, Any]:
    """Return a plugin's manifest."""
    return read(_PLUGINS / harness / f".{harness}-plugin" / "plugin.json")


def read(path: Path) -> dict[str, Any]:
    """Return the object in a file."""
    told = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(told, dict)
    return told


def skill(harness: str, name: str) -> tuple[dict[str, str], str]:
    """Return a skill's front matter, which is plain lines here, and its text."""
    text = (_PLUGINS / harness / "skills" / name / "SKILL.md").read_text(encoding="utf-8")
    _, head, body = text.split("---\n", 2)
    return dict(line.split(": ", 1) for line in head.splitlines()), body


@pytest.mark.parametrize("harness", _HARNESSES)
def test_a_manifest_has_what_is_asked_for_and_nothing_unknown(harness: str) -> None:
    """Its version is ours; nothing else lies in its folder, and every path leads somewhere."""
    told = manifest(harness)
    assert told.keys() <= _MANIFEST[harness].keys()
    assert all(isinstance(value, _MANIFEST[harness][key]) for key, value in told.items())
    assert _NAME.fullmatch(told["name"])
    assert __version__ == told["version"]
    folder = _PLUGINS / harness
    assert ["plugin.json"] == [path.name for path in (folder / f".{harness}-plugin").iterdir()]
    for key in ("skills", "mcpServers"):
        assert (folder / told.get(key, ".")).exists()
        assert told.get(key, "./").startswith("./")


def test_the_marketplace_lists_the_plugin() -> None:
    """So that it can be added from a checkout."""
    told = read(_PLUGINS / ".claude-plugin" / "marketplace.json")
    (plugin,) = told["plugins"]
    assert {"name", "description", "owner", "plugins"} == told.keys()
    assert told["owner"]["name"]
    assert manifest("claude")["name"] == plugin["name"]
    assert __version__ == plugin["version"]
    assert (_PLUGINS / plugin["source"] / ".claude-plugin" / "plugin.json").is_file()


def test_codex_finds_its_own_plugin_first() -> None:
    """Where there is no marketplace of its own, Codex 0.169 takes Claude Code's, and installs that plugin."""
    told = read(_PLUGINS / ".agents" / "plugins" / "marketplace.json")
    (plugin,) = told["plugins"]
    assert manifest("codex")["name"] == plugin["name"]
    assert "local" == plugin["source"]["source"]
    assert (_PLUGINS / plugin["source"]["path"] / ".codex-plugin" / "plugin.json").is_file()


@pytest.mark.parametrize(("harness", "hooks"), [("claude", CLAUDE_CODE.wanted_hooks), ("codex", CODEX.wanted_hooks)])
def test_a_plugins_hooks_are_those_of_the_installer(harness: str, hooks: tuple[Hook, ...]) -> None:
    """But for the program, which a plugin finds on the PATH."""
    told = read(_PLUGINS / harness / "hooks" / "hooks.json")
    assert {"description", "hooks"} == told.keys()
    assert [hook.event for hook in hooks] == list(told["hooks"])
    for hook in hooks:
        (group,) = told["hooks"][hook.event]
        handler = {"type": "command", "command": f"roamkb hook {hook.command_word}", "timeout": hook.timeout}
        assert {"hooks": [handler], **({"matcher": hook.matcher} if hook.matcher else {})} == group


@pytest.mark.parametrize("harness", _HARNESSES)
def test_a_plugins_server_is_a_command_of_ours(harness: str) -> None:
    """It is called `roamkb`, as its tools' names then say."""
    server = read(_PLUGINS / harness / ".mcp.json")["mcpServers"]["roamkb"]
    assert "roamkb" == server["command"]
    assert parse_words(server["args"])


@pytest.mark.parametrize("name", _SKILLS)
def test_a_skill_is_in_the_standards_form(name: str) -> None:
    """Named as its folder, described in what an agent would look for, short, and the same in both plugins."""
    head, body = skill("claude", name)
    assert (head, body) == skill("codex", name)
    assert {"name", "description"} == head.keys()
    assert name == head["name"]
    assert _NAME.fullmatch(name)
    assert len(name) <= 64
    assert 100 < len(head["description"]) <= 1024
    assert "Use it when" in head["description"]
    # in YAML either would end a plain value
    assert not re.search(r": | #|^[\W\d]", head["description"])
    assert len(body.splitlines()) < 100


@pytest.mark.parametrize("harness", _HARNESSES)
def test_a_plugin_has_those_skills_and_no_others(harness: str) -> None:
    """Each folder is one."""
    assert list(_SKILLS) == sorted(path.name for path in (_PLUGINS / harness / "skills").iterdir())


@pytest.mark.parametrize("name", _SKILLS)
def test_every_command_in_a_skill_can_be_typed(name: str) -> None:
    """In a block or in the text, with its options."""
    _, body = skill("claude", name)
    lines = re.findall(r"^ *(roamkb [^\n]*)$", body, re.MULTILINE) + re.findall(r"`(roamkb [^`]*)`", body)
    assert len(lines) > 2
    for line in lines:
        _, *words = shlex.split(line)
        assert parse_words(words), line
