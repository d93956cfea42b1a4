"""A harness is named in its adapter and in the registry, nowhere else; and each one does all that is asked.

To add a harness is to write one adapter, to list it in the registry and to give it its two switches.
"""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from roamkb.core.request import request_parameters
from roamkb.harnesses import registry
from roamkb.harnesses.harness import Harness
from roamkb.harnesses.harness import SettingsRequest
from roamkb.harnesses.registry import NAMES
from roamkb.harnesses.registry import all_harnesses
from roamkb.install.requests import InstallRequest
from roamkb.install.requests import UninstallRequest
from roamkb.models.names import parse_model_name
from tests.conftest import World
from tests.harnesses.test_hook_list import answered

_PACKAGE = Path(registry.__file__).parents[1]
_OWN = {f"harnesses/{name.replace('-', '_')}.py" for name in NAMES} | {"harnesses/registry.py"}
#: The files that may name one all the same, and why.
_ALLOWED = {
    "__main__.py": "the help of `roamkb hook` and `roamkb exec`, which no table may be read for",
    "install/requests.py": "the help of the switches that are called after them",
    "pipeline/ingest/ingest.py": "the help of --memory, which only one of them has",
}
#: Files for instructions are called so whatever harness reads them.
_INSTRUCTIONS = r"\b(?:CLAUDE|GEMINI)\.md\b"
_MEMBERS = [name for name in vars(Harness) if not name.startswith("_")]


def test_no_other_file_names_a_harness() -> None:
    """Neither in code nor in a comment: what is known of one stands in its adapter."""
    words = {word for harness in all_harnesses() for word in (*harness.programs, harness.title)}
    pattern = re.compile("|".join(map(re.escape, sorted(words))), re.IGNORECASE)
    naming = {
        path.relative_to(_PACKAGE).as_posix()
        for path in _PACKAGE.rglob("*.py")
        if pattern.search(re.sub(_INSTRUCTIONS, "", path.read_text(encoding="utf-8")))
    }
    assert set() == naming - _OWN - _ALLOWED.keys()
    assert _ALLOWED.keys() <= naming, "an exception that nothing needs"
    assert len(_ALLOWED) <= 3


@pytest.mark.parametrize("name", NAMES)
def test_no_adapter_names_another_harness(name: str) -> None:
    """Which one may set a variable for the sake of another's hooks is the other's affair."""
    text = (_PACKAGE / "harnesses" / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    others = [program for one in all_harnesses() if one.name != name for program in one.programs]
    assert not re.search("|".join(others), text, re.IGNORECASE)


@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_answers_all_that_is_asked(name: str) -> None:
    """And nothing beside: what is not in the interface is asked by nobody."""
    harness = registry.get_harness(name)
    assert name == harness.name
    assert harness.title
    own = {member for member in dir(harness) if not member.startswith("_")}
    assert set(_MEMBERS) == own
    for member in _MEMBERS:
        declared: Any = vars(Harness)[member]
        if "NotImplementedError" in _names_in(declared):
            assert vars(Harness)[member] is not getattr(type(harness), member), member
        if inspect.isfunction(declared):
            asked = list(inspect.signature(declared).parameters)[1:]
            assert asked == list(inspect.signature(getattr(harness, member)).parameters), member


def _names_in(member: object) -> tuple[str, ...]:
    function = member.fget if isinstance(member, property) else member
    return function.__code__.co_names if inspect.isfunction(function) else ()


def test_declared_texts_are_of_known_harnesses() -> None:
    """A row names harnesses of the list alone, and has a text for each that it names."""
    for member, texts_by_name in registry._DECLARED.items():
        assert texts_by_name.keys() <= set(NAMES), member
        for texts in texts_by_name.values():
            assert isinstance(texts, tuple), member
            assert all(isinstance(text, str) and text for text in (texts or ("",))), member


def test_every_member_is_asked_somewhere() -> None:
    """By its name, in the package outside of the adapters."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in _PACKAGE.rglob("*.py")
        if path.relative_to(_PACKAGE).as_posix() not in _OWN - {"harnesses/registry.py"}
        and path.name not in {"harness.py", "adapter.py"}
    )
    asked = r"(?:declared(?:_by|_of)?\([^)]*|harness\.|one\.|file\.|\)\.)[\"']?"
    unasked = [name for name in (*_MEMBERS, *registry._DECLARED) if not re.search(rf"{asked}{name}\b", text)]
    assert [] == unasked


@pytest.mark.parametrize("name", NAMES)
def test_install_and_uninstall_offer_it(world: World, name: str) -> None:
    """By a switch of its own: what is put in is found by `doctor`, and taken out without a trace."""
    harness = registry.get_harness(name)
    (option,) = harness.options
    for verb in (InstallRequest, UninstallRequest):
        assert f"--{option}" in {parameter.flag for parameter in request_parameters(verb)}
    for file in harness.settings_files:
        request = SettingsRequest(program="/opt/roamkb", kbs=("~/roam",))
        made = file.put_in(None, request)
        assert made == file.put_in(made, request)
        assert file.take_out(made, request) is None
    checks = world.run("doctor", "--json").json["checks"]
    assert isinstance(checks, list)
    assert harness.title in {check["name"] for check in checks}


@pytest.mark.parametrize("name", NAMES)
def test_its_hooks_are_answered(name: str) -> None:
    """Under the words that its settings run; no event is asked for twice."""
    hooks = registry.get_harness(name).wanted_hooks
    assert {hook.command_word for hook in hooks} <= answered()
    assert len(hooks) == len({hook.event for hook in hooks}) == len({hook.command_word for hook in hooks})


@pytest.mark.parametrize("name", NAMES)
def test_the_hook_before_a_tool_denies_as_it_asks(world: World, name: str) -> None:
    """The payload and the denial are in the harness's own words."""
    harness = registry.get_harness(name)
    payload = harness.probe_payload(str(world.work), str(world.kb / "a.org"))
    ran = world.run("hook", "pre-tool-use", cwd=world.work, input=json.dumps(payload))
    assert harness.is_denial(ran.json)
    calm = harness.probe_payload(str(world.work), str(world.work / "a.txt"))
    assert not harness.is_denial(world.run("hook", "pre-tool-use", cwd=world.work, input=json.dumps(calm)).json)


@pytest.mark.parametrize("name", NAMES)
def test_a_hook_imports_no_other_adapter(world: World, name: str) -> None:
    """What it costs at every step doesn't grow with the harnesses."""
    harness = registry.get_harness(name)
    (tool, *_) = harness.writers
    event = next(hook.event for hook in harness.wanted_hooks if hook.command_word == "pre-tool-use")
    payload = {
        **harness.probe_payload(str(world.personal), ""),
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": {"command": "ls"},
        **dict.fromkeys(registry.declared_of(name, "payload_fields"), "1"),
    }
    code = (
        "import sys; sys.argv = ['roamkb', 'hook', 'pre-tool-use']\n"
        "from roamkb.__main__ import main; main()\n"
        "print(*(name for name in sys.modules if name.startswith('roamkb.harnesses.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=world.personal,
        env={**world.environment(), "PWD": str(world.personal)},
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
    )
    adapter = f"roamkb.harnesses.{name.replace('-', '_')}"
    assert {"roamkb.harnesses.registry", "roamkb.harnesses.adapter", adapter} == set(
        done.stderr.decode().splitlines()[-1].split()
    )


@pytest.mark.parametrize("name", NAMES)
def test_its_model_can_be_asked_by_name(name: str) -> None:
    """The program answers once: without a terminal, and with what is asked on its input or in its words."""
    harness = registry.get_harness(name)
    for model in registry.declared_of(name, "models"):
        assert name == parse_model_name(model, {}).harness
        words = harness.model_command("PROMPT", {})
        assert words[0] in harness.programs
        assert "PROMPT" in [*words, *harness.model_input("PROMPT", "PAYLOAD").split()]
        assert "PAYLOAD" in harness.model_input("PROMPT", "PAYLOAD")
