"""What stands in for `typing` where classes are declared is read as `typing`'s by whoever reads declarations."""

import json
import subprocess
import sys
import time
import typing
from typing import Any

from roamkb.core.startup import typing as light
from tests.conftest import World


class _Pair(light.NamedTuple):
    """Two things."""

    first: int
    second: str = "x"

    @property
    def both(self) -> str:
        """The two in one."""
        return f"{self.first}{self.second}"


def test_a_named_tuple_is_one() -> None:
    """With defaults, methods, a name and a document of its own."""
    pair = _Pair(1)
    assert (1, "x") == pair
    assert ("1x", ("first", "second"), "Two things.") == (pair.both, pair._fields, _Pair.__doc__)
    assert f"{_Pair.__name__}(first=1, second='y')" == repr(pair._replace(second="y"))
    assert (__name__, True) == (_Pair.__module__, isinstance(pair, tuple))


def test_an_annotation_with_a_form_is_given_as_typing_has_it() -> None:
    """By itself, where it may be None, and not where there is no form."""
    hint: Any = light.Annotated[int, "form"]
    assert typing.Annotated[int, "form"] == light.typed_hint(hint)
    assert typing.Annotated[int, "form"] | None == hint | None
    assert int is light.typed_hint(int)
    assert ("form",) == hint.__metadata__


def test_a_prompt_loads_little_of_the_standard_library(world: World) -> None:
    """What takes long to load and no hook needs."""
    prompt = "what do my notes say about zebras?"
    payload = json.dumps({"session_id": "s-1", "cwd": str(world.personal), "prompt": prompt})
    code = (
        "import os, sys; from roamkb.__main__ import run_program\n"
        "os._exit = lambda status: print(*sys.modules, sep='\\n', file=sys.stderr)\n"
        "sys.argv = ['roamkb', 'hook', 'user-prompt-submit']; run_program()"
    )
    world.node("zebra.org", "z", "Zebras are striped", "Zebras have stripes.")
    world.run("init")
    world.run("learn", "Zebras sleep on their feet at noon")
    world.run("search", "zebras")
    # what is younger than two seconds is looked at again
    time.sleep(2.1)
    for _ in range(2):
        world.run("hook", "user-prompt-submit", cwd=world.personal, input=payload)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=world.personal,
        env={**world.environment(), "PWD": str(world.personal)},
        input=payload,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(ran.stderr.split())
    assert "roamkb.kb.search.index.query" in loaded
    unwanted = {"typing", "urllib.parse", "ipaddress", "dataclasses", "inspect"}
    assert set() == loaded & unwanted
