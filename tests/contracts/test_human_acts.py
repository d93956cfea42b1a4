"""What a server offers to agents: one rule for MCP and HTTP."""

import pytest

from roamkb.core.request import ParameterShape
from roamkb.guard.human_only_commands import HUMAN_ONLY_VERBS
from roamkb.guard.human_only_commands import VALUE_OPTIONS
from roamkb.guard.human_only_commands import find_approval
from roamkb.interfaces.http.operation_routes import OFFERED_ROUTES
from roamkb.interfaces.http.operation_routes import OperationRoute
from roamkb.interfaces.mcp.tools import TOOLS
from roamkb.interfaces.mcp.tools import McpTool
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.page.decisions.forms import FORMS
from roamkb.interfaces.page.decisions.forms import OperationForm
from roamkb.shell.programs import ProgramRow
from tests.conftest import World
from tests.interfaces.http.served import serving

#: A human's decisions, and what changes the machine or names files.
NEVER = frozenset(
    "approve reject rollback override init install setup uninstall forget trust share inject ingest bundle".split()
)
#: What may only be looked at: a node is made where somebody answers for it, a review is a human's.
LISTED = frozenset({"promote", "review", "curate"})


@pytest.mark.parametrize("offered", [*OFFERED_ROUTES, *TOOLS], ids=lambda one: getattr(one, "name", "") or "route")
def test_no_door_of_agents_promotes_or_approves(offered: OperationRoute | McpTool) -> None:
    """Neither by its name nor by an option."""
    if offered.operation is None:
        return
    name = offered.operation.name
    reads = offered.reads if isinstance(offered, OperationRoute) else offered.is_read_only
    assert name not in NEVER
    assert reads or name not in LISTED
    given = {parameter.name for parameter in offered.parameters}
    assert not (name in LISTED and given & {"keys", "to", "apply", "edit", "curate"})


@pytest.mark.parametrize("form", [form for form in FORMS.values() if isinstance(form, OperationForm)])
def test_no_form_of_the_page_does_what_a_human_must_say(form: OperationForm) -> None:
    """A browser's cookie is no proof of one; what an agent may do at the terminal, a click may do."""
    assert form.operation not in NEVER | (LISTED - {"promote"})
    words = [form.operation, *(f"--{name.replace('_', '-')}" for name in (*form.parameters, *form.fixed))]
    assert "" == find_approval(["roamkb", *words], ProgramRow("", ""), "", " ".join(words))


def test_a_promotion_is_only_listed(world: World) -> None:
    """Whatever the body says, and whoever asks."""
    world.run("init")
    world.run("learn", "Deploys are frozen on Fridays", "--provenance", "user-stated")
    with serving(world) as served:
        assert {"schema": 1, "candidates": [], "hindered": {"not verified": 1}} == served.get("/api/promote").json
        for body in (b'{"all": true}', b'{"keys": ["learned-deploys-are-frozen-on-fridays"]}', b"{}"):
            assert 405 == served.send("POST", "/api/promote", body).status
        assert 400 == served.get("/api/promote?all=true").status
    assert not any(name.endswith(".org") for name in world.files())


def test_the_hook_knows_which_options_of_a_humans_commands_have_a_value() -> None:
    """Else `--dry-run` or `--help`, given as such a value, would excuse a call that does something."""
    flags = {
        parameter.flag
        for operation in OPERATIONS
        if operation.name in HUMAN_ONLY_VERBS
        for parameter in operation.parameters
        if parameter.flag and parameter.shape is not ParameterShape.FLAG
    }
    assert {*flags, "--project"} == VALUE_OPTIONS
