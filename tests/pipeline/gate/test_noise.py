"""What is noise, and above all what isn't."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.pipeline.gate.noise import noise_of

#: Statements that one product drops as noise, or that look like commands at their beginning.
GOOD = (
    "If the redirect URI has no trailing slash, auth fails silently",
    "Git rebase fails if branch is checked out in another worktree",
    "git rebase fails if branch is checked out in another worktree",
    "For PostgreSQL 16 use jsonb_array_elements()",
    "Bash arrays start at zero, zsh arrays at one",
    "bash arrays start at 0",
    "Echo prints -n literally in dash",
    "echo prints -n literally in dash",
    "Cat the file first: the tool truncates it",
    "cat -A shows where the tabs are",
    "for PostgreSQL 16 use jsonb_array_elements()",
    "if the cache is cold the first request takes 4 s",
    "for loops over a pipe run in a subshell, so variables are lost",
    "if [ ] is used without quotes, an empty variable is a syntax error",
    "git push --force rewrites shared history",
    "git push --force-with-lease refuses when the remote moved",
    "git worktree prune forgets deleted worktrees",
    "git gc deletes unreachable objects after two weeks",
    "git stash drops untracked files unless -u is given",
    "git clone --depth 1 breaks git describe",
    "npm install needs --legacy-peer-deps on Node 20",
    "npm ci fails when package-lock.json is stale",
    "npx smoke tests need conditional bd install step (same pattern as test-installation job)",
    "docker compose up -d starts only the changed services",
    "docker build --no-cache hangs behind the proxy",
    "make install fails on macOS without gmake",
    "make -j breaks the generated headers",
    "grep -E (ERE) does not support Perl-style lookaheads like (?!...)",
    "sed -i needs an argument on macOS",
    "sqlite3 CLI accepts bound parameters as positional arguments after the SQL string",
    "bd show --json returns an array, not a single object. Must use jq '.[0].field' to extract fields.",
    "bd prime's 'bd remember' instruction competes with the log",
    "claude -p @filepath is undocumented behavior",
    "cargo test --release panics",
    "pytest -x stops at the first failure",
    "python -O strips assert statements, so never validate with them",
    "kubectl rollout restart waits for nothing",
    "terraform plan -refresh=false hides drift",
    "curl -f makes HTTP errors an exit status",
    "find -delete implies -depth",
    "ssh -A forwards the agent to every hop",
    "tar --strip-components removes leading folders",
    "set -e ignores failures in conditions",
    "test files live beside the code they test",
    "sleep 5 in tests hides races",
    "source maps must be uploaded before the release",
    "time zones are stored as IANA names",
    "kill -9 leaves the lock file behind",
    "touch events fire twice on iOS",
    "sort is stable in every engine since 2019",
    "export default hides the name from grep",
    "go vet catches copied locks",
    "which wins when both are set is undefined",
    "Run `make build && make test` before pushing",
    'Run "make build" && "make test" in that order',
    "Redirect stderr with 2>&1",
    "Append 2>&1 to keep stderr",
    "To see the failure pipe the tests through 2>&1 | tail -50",
    "Use `cmd 2>&1 | tail -3` to see the end",
    "|| is handled before | by the parser",
    "The operators are '&&' and '||'; both short-circuit",
    "((i++)) returns 1 under set -e when i is 0",
    'Chose "A" | "B" as the union type',
    "Don't chain rebase && merge",
    "It's the user's choice; don't override it",
    "`foo()` must be called before `bar()`",
    "<slot /> renders the children where it stands",
    "Use <Image> with WebP",
    "# of workers must be a power of two, or the ring breaks\nSee the comment in ring.c",
    "#123 was caused by a stale cache",
    "```sql\nSELECT 1\n```\nkeeps the connection alive",
    "Reset the database with:\n\ngit push",
    "git rebase --onto main feature\nRebases only the last commits; use it after a squash merge.",
    "The slash matters: /api/v1/ is not /api/v1",
    "Das Feld heißt `größe`, nicht groesse",
    "git push --force überschreibt die Geschichte",
    "日本語のファイル名はNFCで保存する",
    "C",
    "Always.",
)

#: What shells, trackers and editors left behind.
NOISE = (
    ("bd close bd-12", "command"),
    ("bd sync", "command"),
    ("git push", "command"),
    ("git status --short", "command"),
    ("git add -A && git commit -m 'wip'", "command"),
    ("$ npm install --save-dev vitest", "command"),
    ("cd /home/me/site && make", "command"),
    ("cat src/main.ts | grep foo", "command"),
    ("echo hello", "command"),
    ("bash scripts/deploy.sh", "command"),
    ("FOO=bar python -m pytest -q", "command"),
    ("./run.sh --fast", "command"),
    ("sudo systemctl restart nginx.service", "command"),
    ("for f in *.ts; do echo $f; done", "command"),
    ("if [ -f .env ]; then source .env; fi", "command"),
    ("while read line; do echo $line; done", "command"),
    ("#!/bin/sh\nset -e", "command"),
    ("# build first\nnpm run build --silent\nnpm run test --silent", "command"),
    ('bd create --title="A thing" --description="$(cat <<\'DESC\'\n## What\n\nIt is a plan.\nDESC\n)" --type=task',
     "command"),
    ("cd /Users/me/site && \\\niframe height needs calc(100dvh - 64px)", "command"),
    ('Loading shows messages." && bd close bd-12', "the rest of a shell command: && bd close bd-12"),
    ('It says "stop" and exits." 2>&1 | tail -3', "2>&1"),
    ("Chose A over B 2>&1 | tail -3", "2>&1 | tail -3"),
    ('One atomic change." 2>/dev/null', "2>/dev/null"),
    ("the handler was a redundant call\nbd close bd-19", "bd close"),
    ("removed the fallback chain\ngit push", "git push"),
    ("## Summary", "heading"),
    ("### What was learned today", "heading"),
    ("```", "code block"),
    ("```python\nprint(1)\n```", "code block"),
    ("~~~\nx\n~~~", "code block"),
    ("<system-reminder>", "tag"),
    ("</div>", "tag"),
    ('<a href="x">', "tag"),
    ("🎉", "no word"),
    ("---", "no word"),
    ("42", "no word"),
)  # fmt: skip


@pytest.mark.parametrize("content", GOOD)
def test_a_good_statement_is_no_noise(content: str) -> None:
    """Whatever its first word is."""
    assert "" == noise_of(content)


@pytest.mark.parametrize(("content", "reason"), NOISE)
def test_what_a_shell_left_behind_is(content: str, reason: str) -> None:
    """With the reason."""
    assert reason in noise_of(content)


@given(
    st.sampled_from(["If", "Git", "For", "Bash", "Echo", "Cat", "git", "echo", "for", "bash", "make", "docker"]),
    st.lists(st.sampled_from("the server a build index cache branch parser value user".split()), min_size=1),
    st.sampled_from(["must be restarted", "is never empty", "fails when it should not", "does not support -x"]),
)
def test_a_sentence_is_a_sentence_after_any_first_word(first: str, words: list[str], end: str) -> None:
    """A verb and a function word are enough."""
    assert "" == noise_of(f"{first} {' '.join(words)} {end}")


@given(st.text())
def test_any_text_has_an_answer(content: str) -> None:
    """Whatever it is, and the same each time."""
    assert noise_of(content) == noise_of(content)


@pytest.mark.parametrize("piece", ['"', "`", "' ", "\n", "2>&1 ", '" && a\n', "git -a ", "```\n", "a=b "])
def test_no_text_takes_long(piece: str) -> None:
    """Ten thousand of what the patterns look for, of which the beginning decides."""
    for text in (piece * 10_000, "echo " + piece * 10_000):
        assert noise_of(text) == noise_of(text * 2)


def test_a_letter_alone_is_an_argument() -> None:
    """Though it is a word of sentences, too."""
    assert "a shell command" == noise_of("ls a")


def test_a_verb_of_four_letters_makes_a_sentence() -> None:
    """A shorter word that ends alike is an argument."""
    assert ("", "a shell command") == (noise_of("ls runs"), noise_of("ls abs"))
