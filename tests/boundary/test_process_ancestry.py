"""Who began a process: what of its parents is evidence, and what is none."""

import pytest

from roamkb.boundary.process_ancestry import AncestorProcess
from roamkb.boundary.process_ancestry import ProcessAncestry
from roamkb.boundary.process_ancestry import hidden_reason
from roamkb.boundary.process_ancestry import missing_login_reason

INIT = AncestorProcess(pid=1, name="systemd", parent=0, session=1, is_ours=False)
MANAGER = AncestorProcess(pid=900, name="systemd", words=("/lib/systemd/systemd", "--user"), parent=1, session=900)


def line(*spelled: str, shut_off: bool = False, doubt: str = "", init: AncestorProcess = INIT) -> ProcessAncestry:
    """Return a line of processes, the nearest first, from `NAME[@PROGRAM] [MARKS]`.

    Marks: `wall` mounts of its own, `lead` a session of its own, `tty` on a terminal, `other` another user's, `dead` its session's
    leader is gone, `WORD` else is of its command.
    """
    relatives: list[AncestorProcess] = []
    session = 1
    for n, one in reversed(list(enumerate(spelled))):
        name, *marks = one.split()
        name, _, program = name.replace("_", " ").partition("@")
        if name == "manager":
            relatives.append(MANAGER)
            continue
        pid = 100 + len(spelled) - n
        session = pid if "lead" in marks else 7 if "dead" in marks else session
        words = [word for word in marks if word not in ("lead", "tty", "other", "dead", "wall")]
        relatives.append(
            AncestorProcess(
                pid=pid,
                name=name,
                words=(name, *words),
                program=program,
                parent=relatives[-1].pid if relatives else 1,
                session=session,
                terminal=34816 if "tty" in marks else 0,
                is_ours="other" not in marks,
                is_walled="wall" in marks,
            )
        )
    return ProcessAncestry(processes=(*reversed(relatives), init), root_process=init, is_shut_off=shut_off, doubt=doubt)


SEEN = [
    ("roamkb", "bash lead", "claude", "bash lead tty", "tmux:_server lead"),
    ("roamkb", "bash tty", "bash lead tty", "gnome-terminal- lead", "manager"),
    ("roamkb tty", "bash lead tty", "sshd", "sshd lead other"),
    ("roamkb tty", "bash lead tty", "login lead other"),
    ("roamkb", "sh lead", "emacs@emacs-29.4 lead", "manager"),
    ("roamkb tty", "bash lead tty", "emacs@.emacs-30.1-wrapped lead"),
    # a terminal that a window manager's shell began and left
    ("roamkb tty", "zsh lead tty", "foot@foot dead"),
    ("roamkb tty", "zsh lead tty", "xterm@xterm", "sh dead"),
    # a harness of a service, or one that was left behind, tells where it works itself
    ("roamkb", "sh lead", "claude lead", "manager"),
    ("roamkb", "sh", "codex@codex dead exec"),
    ("roamkb", "sh lead", "node@node lead /usr/bin/gemini"),
    # a container's first process began it, and not in a session of its own
    ("roamkb", "sh lead", "python", "agent"),
    ("roamkb", "sh lead", "node@node", "sh@dash lead /home/u/.vscode-server/x/bin/code-server"),
    # behind the wall, whose parents are seen
    ("curl wall", "sh wall", "bash lead", "claude", "bash lead tty", "tmux:_server lead"),
    # another user's service, which no agent of ours began
    ("roamkb", "bash", "Runner lead other"),
    # servers of tools, which the background server begins itself
    ("roamkb", "codex lead app-server"),
]
HIDDEN = [
    ("roamkb lead",),
    ("roamkb", "sh lead"),
    ("roamkb", "sh dead"),
    ("roamkb dead",),
    ("roamkb", "sh lead", "manager"),
    ("roamkb", "script@script dead"),
    ("roamkb tty", "sh lead tty", "script@script lead"),
    # what calls itself so, and isn't
    ("roamkb tty", "sh lead tty", "xterm@python3.11 lead x.py"),
    ("roamkb", "sh", "atd lead other"),
    ("roamkb", "sh lead", "cron other", "cron lead other"),
    ("roamkb", "bash lead", "codex lead app-server"),
    # left behind a wall by a name that accounts for what it begins
    ("curl wall", "claude@claude dead wall"),
    ("curl wall", "tmux@tmux lead wall"),
]


@pytest.mark.parametrize("spelled", SEEN, ids=" < ".join)
def test_what_is_seen_to_the_end_hides_nothing(spelled: tuple[str, ...]) -> None:
    """A terminal's maker, a harness, another user's service, the first process of all."""
    assert "" == hidden_reason(line(*spelled))


@pytest.mark.parametrize("spelled", HIDDEN, ids=" < ".join)
def test_what_was_left_behind_is_hidden(spelled: tuple[str, ...]) -> None:
    """Init, or the user's own, has adopted it, and nobody knows from whom."""
    lineage = line(*spelled)
    assert hidden_reason(lineage)
    assert missing_login_reason(lineage)
    assert ("app-server" in spelled[-1]) == ("" == hidden_reason(lineage, knows_session=True)), "any command sets it"


def test_a_table_of_ones_own_hides_all_but_the_harness_in_it() -> None:
    """Who puts a harness into a sandbox hides nothing; who puts a command into one does."""
    assert hidden_reason(line("roamkb", "sh", shut_off=True))
    assert "" == hidden_reason(line("roamkb", "sh", shut_off=True), knows_session=True)
    assert "" == hidden_reason(line("roamkb", "sh", "claude", shut_off=True))
    assert "no" == hidden_reason(line("roamkb", "sh", "claude", doubt="no"))


def test_where_there_is_no_table_nothing_is_hidden() -> None:
    """As on systems without one; where there should be one, its reader has a doubt."""
    assert "" == hidden_reason(ProcessAncestry()) == missing_login_reason(ProcessAncestry())


@pytest.mark.parametrize(
    "spelled",
    [
        ("roamkb tty", "bash lead tty", "gnome-terminal- lead", "manager"),
        ("roamkb tty", "bash lead tty", "tmux:_server@tmux lead"),
        ("roamkb tty", "zsh lead tty", "sshd-session other", "sshd lead other"),
        ("roamkb lead tty", "xterm@xterm", "i3", "startx", "bash lead tty", "login other"),
        ("roamkb tty", "bash tty", "sudo@sudo lead tty", "sudo@sudo tty", "zsh lead tty", "kitty@kitty lead"),
        ("roamkb tty", "bash lead tty", "code@code", "code@code lead", "manager"),
    ],
    ids=" < ".join,
)
def test_a_login_is_seen_by_what_made_the_terminal(spelled: tuple[str, ...]) -> None:
    """The first process on it is its child; `sudo` passes a terminal on."""
    assert "" == missing_login_reason(line(*spelled))


@pytest.mark.parametrize(
    "spelled",
    [
        ("roamkb tty", "bash lead tty", "python3@python3", "bash lead tty", "tmux:_server lead"),
        ("roamkb tty", "bash lead tty", "script@script tty", "bash lead tty", "kitty lead"),
        ("roamkb", "bash lead", "tmux:_server lead"),
        ("roamkb tty dead", "kitty lead"),
    ],
    ids=" < ".join,
)
def test_a_terminal_of_another_programs_making_is_no_login(spelled: tuple[str, ...]) -> None:
    """Whatever stands above: a program between can type."""
    assert "" == hidden_reason(line(*spelled))
    assert missing_login_reason(line(*spelled))


def test_a_containers_terminal_is_made_outside_of_it() -> None:
    """By whoever began the container, or another command in it."""
    shell = AncestorProcess(pid=9, name="bash", parent=0, session=9, terminal=34816)
    us = AncestorProcess(pid=12, name="roamkb", parent=9, session=9, terminal=34816)
    lineage = ProcessAncestry(
        processes=(us, shell), root_process=AncestorProcess(pid=1, name="sleep", parent=0, session=1)
    )
    assert "" == hidden_reason(lineage) == missing_login_reason(lineage)


def test_a_background_server_behind_a_shell_is_named() -> None:
    """It is what began the command, and doesn't say for which session."""
    assert "background server began it" in hidden_reason(line("roamkb", "bash lead", "codex lead app-server"))
    assert "" == hidden_reason(line("roamkb", "codex lead app-server"))
