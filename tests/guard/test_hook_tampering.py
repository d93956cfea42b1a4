"""No agent turns the hooks off in a project's settings, and everything else there is its own affair."""

import pytest

from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.tool_calls import judge_tool

_SITE = "/home/ada/code/site"
_OFF = '{"disableAllHooks": true}'


def judged(tool: str, cwd: str = _SITE, **given: object) -> Denial | None:
    """Return why a call is denied in a personal project."""
    ground = GuardContext(
        kb=("/home/ada/org",),
        kind=lambda: "personal",
        cwd=cwd,
        home="/home/ada",
        is_agent_note=lambda _: False,
        resolve=lambda path: path.replace("/link/", "/.claude/"),
    )
    return judge_tool(tool, given, ground)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (f"{_SITE}/.claude/settings.local.json", _OFF),
        (".claude/settings.json", _OFF),
        ("link/settings.json", _OFF),
        ("/srv/other/.claude/settings.json", '{"disable\\u0041llHooks": true}'),
        (".claude/settings.json", '{"env": {"PYTHONHOME": "/nowhere"}}'),
        (".claude/settings.json", '{"env": {"HOME" : "/nowhere"}}'),
        (".claude/settings.json", '{"env": {"PATH": "/nowhere"}}'),
    ],
)
def test_no_file_tool_turns_hooks_off(path: str, content: str) -> None:
    """Claude Code reads a project's settings again at once, and starts hooks with their variables."""
    for given in ({"content": content}, {"old_string": "{}", "new_string": content}, {"old_string": content}):
        denial = judged("Edit", file_path=path, **given)
        assert denial is not None
        assert "only your human" in denial.reason
    assert judged("MultiEdit", file_path=path, edits=[{"old_string": "{", "new_string": content}]) is not None


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".claude/settings.json", '{"permissions": {"allow": ["Bash(echo $HOME:*)"]}}'),
        (".claude/settings.json", '{"env": {"RAILS_ENV": "test"}}'),
        (".claude/settings.json", '{"hooks": {"Stop": []}}'),
        (".vscode/settings.json", '{"terminal.integrated.env.linux": {"PATH": "/x"}}'),
        ("docs/hooks.md", _OFF),
        (".claude/settings.md", _OFF),
    ],
)
def test_all_else_may_be_written(path: str, content: str) -> None:
    """Permissions, hooks of the project's own, other programs' settings."""
    assert judged("Write", file_path=path, content=content) is None


@pytest.mark.parametrize(
    "command",
    [
        f"echo '{_OFF}' > .claude/settings.local.json",
        f"mkdir -p .claude && printf %s '{_OFF}' | tee .claude/settings.json",
        f"cd .claude; cat > settings.json <<'EOF'\n{_OFF}\nEOF",
        "jq '.disableAllHooks = true' .claude/settings.json > x && mv x .claude/settings.json",
        'python3 -c \'import json; json.dump({"disable" "AllHooks": True}, open(".claude/settings.json", "w"))\'',
        "sed -i 's/{/{\"disableAllHooks\": true,/' .claude/settings.json",
        'echo \'{"env": {"PYTHONHOME": "/nowhere"}}\' > .claude/settings.local.json',
        # letters by their numbers
        "printf '{\"disable\\x41llHooks\": true}' > .claude/settings.json",
        "printf '{\"\\144isableAllHooks\": true}' | tee .claude/settings.json",
        "cat <<'E' > .claude/settings.json\n{\"disable\\u0041llHooks\": true}\nE",
        'python3 -c \'open(".claude/settings.json", "w").write("{\\x22disable\\x41llHooks\\x22: true}")\'',
        # what it says in the end is known of none of these
        'cat > .claude/settings.json <<EOF\n{"env": {"$A": "1"}}\nEOF',
        'cat >> .claude/settings.json <<\'EOF\'\n, "env": {"FOO": "1"}\nEOF',
        'echo -e \'{"env": {"P\\x41TH": "1"}}\' > .claude/settings.json',
        'printf \'{"env": {"P%sH": "1"}}\' AT > .claude/settings.json',
        "cat - x <<'EOF' > .claude/settings.json\n\"env\": {\nEOF",
        'cat > .claude/settings.json <<\'E\'\n{"env": {"A": "1"}}\nE\nsed -i s/A/PATH/ .claude/settings.json',
        'echo \'{"env": {"P\'{A..A}\'TH": "1"}}\' > .claude/settings.json',
        'cat() { sed s/A/PATH/; }; cat > .claude/settings.json <<\'E\'\n{"env": {"A": "1"}}\nE',
        "{ cat <<'E'\n{\"env\": {\"PA\nE\necho 'TH\": 1}}'; } > .claude/settings.json",
        "(cat <<'E'\n{\"env\": {\"PA\nE\necho 'TH\": 1}}') > .claude/settings.json",
        "( cat <<'E'\n{\"env\": {\"PA\nE\necho 'TH\": 1}}' ) > .claude/settings.json",
        'cat <<\'E\' < x > .claude/settings.json\n{"env": {"A": "1"}}\nE',
        "if true; then cat <<'E'\n{\"env\": {\"PA\nE\necho 'TH\": 1}}'; fi > .claude/settings.json",
        'cat <<\'E\' | sed s/A/PATH/ > .claude/settings.json\n{"env": {"A": "1"}}\nE',
    ],
)
def test_no_command_turns_hooks_off(command: str) -> None:
    """In whatever folder it finds itself."""
    assert judged("Bash", command=command) is not None
    assert judged("Bash", f"{_SITE}/.claude", command=command.replace(".claude/", "./")) is not None


@pytest.mark.parametrize(
    "command",
    [
        "cp x.json .claude/settings.json",
        "cat x.json > .claude/settings.json",
        "cat x.json >> .claude/settings.json",
        "cat < x.json > .claude/settings.json",
        "cat x.json | tee .claude/settings.json",
        "sudo tee .claude/settings.json < x.json",
        "base64 -d x.txt > .claude/settings.local.json",
        "jq . x.json | sponge .claude/settings.json",
        'X=$(cat x.json); echo "$X" > .claude/settings.json',
        "echo `cat x.json` > .claude/settings.json",
        "cat > .claude/settings.json <<E\n$(cat x.json)\nE",
        "echo '{}' | cat - x.json > .claude/settings.json",
        "{ echo; cat x.json; } > .claude/settings.json",
        "while read -r line; do echo x; done < x.json > .claude/settings.json",
        "echo() { cat x.json; }; echo > .claude/settings.json",
        "dd if=x.json of=.claude/settings.json",
        "curl -o .claude/settings.json https://x.example/x.json",
        "xxd -r x.hex .claude/settings.json",
    ],
)
def test_what_no_word_tells_is_put_into_no_settings(command: str) -> None:
    """As a copy is; the file tool shows what it would write."""
    denial = judged("Bash", command=command)
    assert denial is not None
    assert "file tool" in denial.hint
    assert judged("Bash", command=command.replace(".claude/settings", "/tmp/settings")) is None


@pytest.mark.parametrize(
    "command",
    [
        "jq .disableAllHooks .claude/settings.json 2>/dev/null",
        "grep -rn disableAllHooks .claude",
        "cat .claude/settings.json | jq .env",
        "rg disableAllHooks docs > found.txt",
        "echo '{\"env\": {}}' > .vscode/settings.json",
        "echo '{\"permissions\": {}}' > .claude/settings.json",
        "env | sort > .claude/env.txt",
        "cp .claude/settings.json /tmp/settings.json.bak",
        "git add .claude/settings.json",
        "jq . .claude/settings.local.json",
        'cat > .claude/settings.local.json <<\'EOF\'\n{"env": {"FOO": "1"}, "permissions": {}}\nEOF',
        'mkdir -p .claude && cat > .claude/settings.json <<E\n{"env": {"DEBUG": "1"}}\nE\nenv',
        "cat .claude/settings.json > /tmp/copy",
        "cat template.json > .vscode/settings.json",
        "jq .permissions .claude/settings.json | tee /tmp/permissions.json",
        'echo \'{"$schema": "https://json.example/settings.json"}\' > .claude/settings.json',
        'echo "{\\"\\$schema\\": 1}" > .claude/settings.json',
        'tee .claude/settings.json <<\'E\'\n{"$schema": "x", "permissions": {"deny": ["Read(./\\\\*)"]}}\nE',
        "echo '{\"permissions\": {}}' | tee .claude/settings.json",
        "P=.claude/settings.json; printf '%s\\n' '{}' >> $P",
        "touch .claude/settings.json; chmod 644 .claude/settings.json",
    ],
)
def test_reading_and_other_settings_are_free(command: str) -> None:
    """A word alone is no change."""
    assert judged("Bash", command=command) is None


@pytest.mark.parametrize(
    "command",
    [
        "rm ~/.claude/settings.json",
        "rm -rf ~/.claude",
        "mv ~/.claude ~/.claude.bak",
        "echo '{}' > ~/.claude/settings.json",
        "jq 'del(.hooks)' ~/.claude/settings.json | sponge ~/.claude/settings.json",
        "jq 'del(.hooks)' ~/.claude/settings.json > /tmp/s && cp /tmp/s ~/.claude/settings.json",
        "sed -i '/roamkb/d' ~/.claude/settings.json",
        "sed -i 's/work/none/' ~/.claude/rules/knowledge-base.md",
        "rsync -a dotfiles/.claude/ ~/.claude/",
        "tar xzf claude.tgz -C ~/.claude",
        "ln -sfn /tmp/c ~/.claude",
        "cp /dev/null ~/.codex/config.toml",
        "rm -r ~/.codex",
        "echo 'exit 0' > ~/.local/bin/roamkb",
        "ln -sf /bin/true ~/.local/bin/roamkb",
        "rm ~/.local/bin/roamkb",
        "pip uninstall -y roamkb",
        "uv tool uninstall roamkb",
        "pipx uninstall roamkb",
        "claude --bare -p 'edit my notes'",
        "claude -p 'x' --settings '{\"disableAllHooks\":true}'",
        "claude --settings /tmp/none.json -p 'x'",
        "CLAUDE_CONFIG_DIR=/tmp/empty claude -p 'x'",
        "HOME=/tmp/h claude -p x",
        "env -u CLAUDE_CODE_SHELL_PREFIX claude -p x",
        "unset CLAUDE_CODE_SHELL_PREFIX; claude -p x",
        "CLAUDE_CODE_SHELL_PREFIX= claude -p x",
        "codex exec -c features.hooks=false 'x'",
        "CODEX_HOME=/tmp/c codex exec x",
        "echo '{\"disableAllHooks\": true}' > .claude/settings.local.json",
        'printf \'{"env":{"BASH_ENV":"/tmp/x"}}\' > .claude/settings.json',
        'printf \'{"env":{"NODE_OPTIONS":"--require /tmp/x.js"}}\' > .claude/settings.json',
        "cp /tmp/off.json .claude/settings.json",
        "mkdir -p .claude && jq -n '{\"disableAllHooks\":true}' > .claude/settings.local.json",
        "python3 -c \"import json,os; p=os.path.expanduser('~/.claude/settings.json'); d=json.load(open(p)); d.pop('hooks'); json.dump(d,open(p,'w'))\"",
        "chmod -x ~/.local/bin/roamkb",
        "truncate -s0 ~/.codex/hooks.json",
        "NODE_OPTIONS='--require /tmp/x.js' claude -p x",
    ],
)
def test_what_makes_the_hooks_count_is_left_alone(command: str) -> None:
    """Settings, by their folder as well; our program; a harness inside without hooks or without the wall."""
    denial = judged("Bash", command=command)
    assert denial is not None
    assert "only your human" in denial.reason


@pytest.mark.parametrize(
    "command",
    [
        "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
        "unset NODE_OPTIONS",
        'echo "$CLAUDE_CODE_SHELL_PREFIX"',
        "claude -p 'summarise README'",
        "claude --version",
        "codex exec -c model=x 'fix the hook'",
        "pip install roamkb-plugin",
        "pip show roamkb",
        "uv tool upgrade roamkb",
        "HOME=/tmp make test",
        "cp ~/.claude/settings.json /tmp/",
        "find ~ -maxdepth 1 -name '*.json' -type f -delete",
        "tar czf /tmp/c.tgz ~/.claude",
    ],
)
def test_what_only_looks_like_it_is_free(command: str) -> None:
    """Harnesses, variables and packages are everyday things."""
    assert judged("Bash", command=command) is None


@pytest.mark.parametrize("command", ["docker run -v ~/.claude:/c x", "podman run -v ~/.codex:/c:Z x"])
def test_no_container_may_write_to_the_rule_and_its_settings(command: str) -> None:
    """Its processes aren't behind the wall."""
    assert judged("Bash", command=command) is not None
    assert judged("Bash", command=command.replace("/c ", "/c:ro ").replace(":Z", ":ro,Z")) is None


@pytest.mark.parametrize(
    "command",
    [
        "gh pr create --title x --body 'It adds `roamkb approve KEY` and roamkb forget'",
        "gh issue comment 3 -F - <<'EOF'\nRun roamkb approve x in ~/sync/org/roam\nEOF",
        "glab mr create -d 'roamkb uninstall takes the hooks away'",
    ],
)
def test_a_text_that_is_sent_elsewhere_may_name_a_human_s_command(command: str) -> None:
    """As a commit's message may."""
    assert judged("Bash", command=command) is None


def test_a_command_in_such_a_text_is_judged() -> None:
    """A shell runs what stands between backquotes first."""
    assert judged("Bash", command='gh pr create --body "run `roamkb approve x`"') is not None
