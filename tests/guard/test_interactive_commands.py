"""Which commands wait for somebody to type."""

import pytest

from roamkb.guard.interactive_commands import find_interactive_program


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("bash", "bash"),
        ("/bin/bash -il", "bash"),
        ("cd /srv && zsh", "zsh"),
        ("python3", "python3"),
        ("python3.12 -i -q", "python3.12"),
        ("python3 -", "python3"),
        ("FOO=1 env BAR=2 sh --login", "sh"),
        ("sudo -s", "sudo"),
        ("sudo -u ann bash", ""),
        ("exec node", "node"),
        ("tmux", "tmux"),
        ('echo \\"; bash; echo \\"', "bash"),
        ("cat <<E\nhi\nE\nbash", "bash"),
        ("cat <<'E' > x; bash\nhi\nE", "bash"),
        ("echo '<<E'; python3", "python3"),
        ("echo $((1<<2)); sh", "sh"),
        ("bash 2>/dev/null", "bash"),
        ("if true; then bash; fi", "bash"),
        ("! bash", "bash"),
        ("cat <<<x\nbash", "bash"),
    ],
)
def test_what_waits_is_named(command: str, program: str) -> None:
    """Alone, behind other commands, with what leaves it waiting."""
    assert program == find_interactive_program(command)


@pytest.mark.parametrize(
    "command",
    [
        "", "ls", "bash x.sh", "bash -c 'echo hi'", "bash -lc make", "bash --version", "python3 -V",
        "python3 -m http.server", "python3 app.py", "python -c 'print(1)'", "cat x | bash", "bash < x.sh",
        "bash <<'EOF'\necho hi\nEOF", "sudo apt-get update", "node server.js", "npm run dev", "echo bash",
        "which python3", "tmux new -d 'make'", "git commit -m 'use bash'", "python3 - <<'E'\nprint(1)\nE",
        "cat > needs.txt <<EOF\npython3\nnode\nEOF", "bash <<-\\E\n\tls\n\tE\necho", "bash > out < x.sh",
        "python3 x.py 2>&1", "cat <<E\nbash", "python3 - <<\"E\"\nit's\nE\nls", "if x; then ls; else id; fi",
        "git commit -m 'one\nbash\ntwo'", 'echo "a\nbash\nb"',
        "'", "env", "time make", "pre-commit run bash", "grep -r node .",
    ],
)  # fmt: skip
def test_what_ends_by_itself_is_none(command: str) -> None:
    """It has its orders already."""
    assert "" == find_interactive_program(command)
