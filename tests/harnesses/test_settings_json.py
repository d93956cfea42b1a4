"""Our hooks in a harness's settings: put in once, renewed, and taken out again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.fs.json_edit import BadJson
from roamkb.harnesses.claude_code import HARNESS as CLAUDE_CODE
from roamkb.harnesses.claude_code import NEW_FILE_TEXT as CLAUDE_MADE
from roamkb.harnesses.claude_code import deny_rules
from roamkb.harnesses.codex import HARNESS as CODEX
from roamkb.harnesses.codex import NEW_FILE_TEXT as CODEX_MADE
from roamkb.harnesses.settings_json import enabled_plugin
from roamkb.harnesses.settings_json import has_flag
from roamkb.harnesses.settings_json import own_handlers
from roamkb.harnesses.settings_json import with_hooks
from roamkb.harnesses.settings_json import without_hooks

PROGRAM = "/home/ann lee/.local/bin/roamkb"
DENY = deny_rules(("~/org/roam",))
USERS = {
    "model": "opus",
    "permissions": {"allow": ["Bash(ls *)"], "deny": ["Read(./.env)"]},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say 'roamkb hook stop'"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/guard --roamkb"}]}],
    },
}


def put(data: bytes | None, program: str = PROGRAM) -> bytes:
    """Return the settings with what `install --claude` wants in them."""
    return with_hooks(data, CLAUDE_CODE.wanted_hooks, program, new_file_text=CLAUDE_MADE, deny=DENY)


def take(data: bytes) -> bytes | None:
    """Return the settings without it."""
    return without_hooks(data, new_file_text=CLAUDE_MADE, deny=DENY)


def commands(data: bytes, event: str) -> list[str]:
    """Return the commands of one event."""
    groups = json.loads(data)["hooks"].get(event, [])
    return [handler["command"] for group in groups for handler in group["hooks"]]


def rendered(indent: int | str | None, *, end: str = "\n", told: Any = USERS) -> bytes:
    """Return settings in a style."""
    text = json.dumps(told, indent=indent, ensure_ascii=False) + "\n"
    return text.replace("\n", end).encode()


STYLES = [
    rendered(2),
    rendered(4),
    rendered("\t"),
    rendered(2, end="\r\n"),
    rendered(None),
    rendered(3).rstrip(),
    b"\xef\xbb\xbf" + rendered(2),
    rendered(2, told={"größe": "✓ 日本 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")}),
    b"{}",
    b"{}\n",
    b'{\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}\n',
]


@pytest.mark.parametrize("data", STYLES)
def test_a_file_is_as_it_was_after_both(data: bytes) -> None:
    """Byte for byte, whatever its style; and in between it says all that it said."""
    added = put(data)
    assert data == take(added)
    assert added == put(added)
    before, after = json.loads(data.decode("utf-8-sig")), json.loads(added.decode("utf-8-sig"))
    assert {**before, "hooks": 0, "permissions": 0} == {**after, "hooks": 0, "permissions": 0}
    assert list(before) == list(after)[: len(before)]


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([hook.event for hook in CLAUDE_CODE.wanted_hooks] + ["Notification"]),
        st.lists(
            st.fixed_dictionaries(
                {
                    "hooks": st.lists(
                        st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}),
                        min_size=1,
                        max_size=3,
                    )
                },
                optional={"matcher": st.text()},
            ),
            min_size=1,
            max_size=3,
        ),
        min_size=1,
    ),
    st.lists(st.text(), min_size=1),
    st.sampled_from([None, 1, 4, "\t"]),
)
def test_whatever_hooks_a_user_has_they_keep(hooks: dict[str, Any], deny: list[str], indent: int | str | None) -> None:
    """And the second time there is nothing to do."""
    data = rendered(indent, told={"hooks": hooks, "permissions": {"deny": deny}})
    added = put(data)
    assert added == put(added)
    assert data == take(added)
    for event, groups in hooks.items():
        assert groups == json.loads(added)["hooks"][event][: len(groups)]


def test_a_file_that_was_made_for_hooks_goes_with_them() -> None:
    """But not once anybody else wrote to it."""
    made = put(None)
    assert take(made) is None
    grown = json.dumps({**json.loads(made), "model": "opus"}).encode()
    assert {"$schema", "model"} == set(json.loads(take(grown) or b""))


def test_an_empty_file_gets_hooks() -> None:
    """Nothing of it needs to be kept."""
    assert b"{}\n" == take(put(b" \n"))


def test_codex_gets_no_field_that_it_would_refuse_the_file_for() -> None:
    """Its reader knows two, and no matcher of ours is none that its engine can't read."""
    made = with_hooks(None, CODEX.wanted_hooks, PROGRAM, new_file_text=CODEX_MADE)
    assert {"description", "hooks"} == set(json.loads(made))
    assert "?!" not in made.decode()
    assert "PostToolUseFailure" not in made.decode()
    assert without_hooks(made, new_file_text=CODEX_MADE) is None


def test_another_place_of_the_program_is_renewed_and_nothing_else() -> None:
    """What the user changed about our hooks stays."""
    old = put(None, "/old/roamkb").replace(b'"timeout": 30', b'"timeout": 55')
    new = put(old)
    assert old.replace(b'"/old/roamkb hook', f"\"'{PROGRAM}' hook".encode()) == new
    assert ["'/home/ann lee/.local/bin/roamkb' hook stop"] == commands(new, "Stop")


def test_the_form_without_a_shell_is_ours_too() -> None:
    """It is renewed as what it is, and taken out."""
    group = {"hooks": [{"type": "command", "command": "/old/roamkb", "args": ["hook", "stop"]}]}
    data = rendered(2, told={"hooks": {"Stop": [group]}})
    assert [PROGRAM] == commands(put(data), "Stop")
    assert b"{}" == (take(data) or b"").strip()


def test_of_a_group_that_somebody_shares_only_ours_goes() -> None:
    """The other handler and the matcher stay."""
    ours = {"type": "command", "command": "/x/roamkb hook pre-tool-use"}
    theirs = {"type": "command", "command": "guard"}
    shared = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [ours, theirs]}]}}
    left = json.loads(take(rendered(2, told=shared)) or b"")
    assert {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [theirs]}]}} == left


def test_ours_is_known_by_its_command_alone() -> None:
    """A command that only mentions us is the user's."""
    assert () == own_handlers(rendered(2))
    assert [hook.event for hook in CLAUDE_CODE.wanted_hooks] == [handler.event for handler in own_handlers(put(None))]
    odd = {"hooks": {"Stop": [1, {"hooks": [2, {"command": "'"}, {"command": 3}]}, {"hooks": 4}], "X": 5}}
    assert () == own_handlers(rendered(2, told=odd))


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b'{"hooks": []}',
        b'{"hooks": {"Stop": {}}}',
        b'{"permissions": 1}',
        b'{"permissions": {"deny": {}}}',
        b'{"a": 1} // mine',
        b"\xff\xfe{",
        b'{"hooks": {}, "hooks": {}}',
    ],
)
def test_what_has_another_form_is_refused(data: bytes) -> None:
    """It is left to its human."""
    with pytest.raises(BadJson):
        put(data)


def test_settings_name_our_plugin_where_it_is_on() -> None:
    """From whichever marketplace; another's name may only begin like ours."""
    told = b'{"enabledPlugins": {"roamkb@roamkb": true, "roamkb@mine": false, "roamkb-x@roamkb": true}}'
    assert "roamkb@roamkb" == enabled_plugin(told)
    for none in (b"[]", b"{}", b'{"enabledPlugins": []}'):
        assert "" == enabled_plugin(none)


def test_settings_may_turn_all_hooks_off() -> None:
    """Only `true` does."""
    assert has_flag(b'{"disableAllHooks": true}', ("disableAllHooks",), True)
    assert not has_flag(b'{"disableAllHooks": false}', ("disableAllHooks",), True)
    assert not has_flag(b"[]", ("disableAllHooks",), True)
