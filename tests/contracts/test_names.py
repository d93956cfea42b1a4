"""A name or a path that no file system could have is a mistake of the caller's, whatever it is given to."""

from collections.abc import Iterator

import pytest

from roamkb.core.errors import RoamkbError
from roamkb.core.errors import UsageError
from roamkb.core.request import ParameterShape
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.output import render
from tests.conftest import World
from tests.conftest import make_world

KEY = "fact-zebras-are-striped"
#: What each operation needs beside the parameter in question.
NEEDED: dict[str, Arguments] = {
    "show": {"name": "Zebra"},
    "write": {"title": "A new thing", "dry_run": True},
    "supersede": {"name": "id-1", "title": "Another", "dry_run": True},
    "learn": {"text": "Lions roar"},
    "observe": {"text": "Something happened"},
    "consolidate": {"stage": "agent", "name": "a"},
    "promote": {"keys": (KEY,)},
    "template": {"action": "create", "name": "n", "task_types": ("t",), "from_task": "t-1"},
    "bundle": {"action": "create", "file": "b.jsonl"},
    "snapshot": {"action": "list"},
    "task": {"action": "start", "id": "t-9", "title": "Do it"},
    "used": {"name": KEY, "outcome": "success"},
    "remedy": {"action": "record", "error": "KeyError: 'x'", "technique": "do it"},
    "relevant": {"title": "zebra"},
    "override": {"key": KEY, "confidence": "0.5"},
    "forget": {"key": KEY, "dry_run": True},
    "share": {"action": "migrate"},
    "trust": {"action": "add", "names": ("x",)},
    "pin": {"key": KEY},
    "prefer": {"key": KEY},
    "undo": {"event": "01JXE5QK7M0000000000000000"},
    "explain": {"key": KEY},
    "rollback": {"id": "x"},
    "review": {"curate": True},
    "approve": {"id": "x", "digest": "d"},
    "reject": {"id": "x", "reason": "r"},
    "install": {"dry_run": True},
    "setup": {"dry_run": True, "no_work": True},
    "uninstall": {"dry_run": True},
}
#: Parameters that name something that is kept, or a place on the disk.
NAMES = "file folder to agents_md snippets kb work_roots project_parents logs agent session task depends".split()
#: Where the same word stands for something else.
BESIDES = {("search", "agent"), ("conflicts", "file"), ("consolidate", "agent")}


def cases(*, names: bool) -> Iterator[tuple[str, str, str]]:
    """Yield operation, parameter and bad value: of names, or of all other texts."""
    for operation in OPERATIONS:
        for parameter in operation.parameters:
            is_text = parameter.shape in (ParameterShape.TEXT, ParameterShape.TEXTS) and not operation.door
            is_name = parameter.name in NAMES and (operation.name, parameter.name) not in BESIDES
            if is_text and names is is_name:
                yield from ((operation.name, parameter.name, bad) for bad in ("a\0b", "a\ud800b"))


def call(world: World, name: str, parameter: str, bad: str) -> None:
    """Call an operation, and print what it gives as every door would."""
    operation = next(one for one in OPERATIONS if one.name == name)
    several = next(one.shape for one in operation.parameters if one.name == parameter) is ParameterShape.TEXTS
    given: Arguments = {**NEEDED.get(name, {}), parameter: (bad,) if several else bad}
    if (name, parameter) == ("ingest", "folder"):
        given["memory"] = True
    kb = world.open()
    door = kb.log if operation.is_of_log else kb
    printed = render.render_result(name, getattr(door, operation.method_name)(**given))
    printed.text(False).encode()
    render.dump_json(printed.as_json).encode()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world with a note, a log and a learning in it; what is refused changes nothing."""
    world = make_world(tmp_path_factory.mktemp("names") / "home")
    world.node("n.org", "id-1", "Zebra")
    kb = world.open()
    kb.log.init()
    kb.log.learn("Zebras are striped", type="fact", task="t-1")
    return world


@pytest.mark.parametrize(("operation", "parameter", "bad"), list(cases(names=True)))
def test_a_name_that_nothing_could_have_is_refused(operation: str, parameter: str, bad: str, busy: World) -> None:
    """With a hint, and before anything is done."""
    before = busy.log().knowledge.read_bytes(), busy.log().ledger.read_bytes()
    with pytest.raises(UsageError) as refused:
        call(busy, operation, parameter, bad)
    assert refused.value.hint
    assert before == (busy.log().knowledge.read_bytes(), busy.log().ledger.read_bytes())


@pytest.mark.parametrize(("operation", "parameter", "bad"), list(cases(names=False)))
def test_any_other_text_ends_in_an_answer_or_an_error_of_ours(
    operation: str, parameter: str, bad: str, busy: World
) -> None:
    """No traceback, and nothing that can't be printed."""
    try:
        call(busy, operation, parameter, bad)
    except RoamkbError as error:
        assert b"\x00" not in render.dump_json(render.error_json(error)).encode()
        assert error.message
