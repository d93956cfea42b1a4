"""What the disk says of folders, and how the rule is found."""

import os
import sys
from pathlib import Path

import pytest

import roamkb
from roamkb.boundary.store.call_origin import CallOrigin
from roamkb.boundary.store.call_origin import read_call_origin
from roamkb.boundary.store.folder_evidence import classify_folder
from roamkb.boundary.store.installed_rule import RULE_PATH
from roamkb.boundary.store.installed_rule import find_rule
from roamkb.boundary.store.installed_rule import load_rule
from roamkb.boundary.store.installed_rule import missing_roots
from roamkb.boundary.store.processes import ParentProcess
from roamkb.boundary.store.processes import parent_processes
from roamkb.boundary.store.session_evidence import session_project
from roamkb.core.errors import BadRule
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.mounts import Mount
from roamkb.fs.mounts import mount_points_below
from roamkb.fs.mounts import other_names
from roamkb.fs.mounts import read_mounts

TEMPLATE = (Path(roamkb.__file__).parents[1] / "rules" / "knowledge-base.md").read_text()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the shipped rule and one project of each kind."""
    home = tmp_path.resolve()
    (home / RULE_PATH).parent.mkdir(parents=True)
    (home / RULE_PATH).write_text(TEMPLATE)
    (home / RULE_PATH).chmod(0o644)
    for name in ("code/site/.git", "code/site/src", "projects/work/app/.git", "Documents"):
        (home / name).mkdir(parents=True)
    return home


@pytest.fixture
def rule(home: Path) -> Rule:
    return load_rule(home, account_home=home)


@pytest.mark.parametrize("mark", [".roamkb", ".git", ".jj", ".hg"])
def test_a_root_is_the_nearest_marked_folder(mark: str, home: Path, rule: Rule) -> None:
    """Whatever marks it, a project begins at the nearest one upwards."""
    for folder in (home / "code/a/b", home / "code/a"):
        (folder / mark).mkdir(parents=True)
        (folder / mark / "HEAD").touch()
    (home / "code/a/b/c/d").mkdir(parents=True)
    assert home / "code/a/b" == classify_folder(home / "code/a/b/c/d", rule).root


def test_a_relative_folder_is_below_the_one_at_work(home: Path, rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    """As any program would open it."""
    monkeypatch.chdir(home / "code")
    assert home / "code/site/src" == classify_folder(Path("site/src"), rule).root


def config(folder: Path, *urls: str) -> None:
    """Make a folder a repository with these remotes."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    (folder / ".git/HEAD").touch()
    (folder / ".git/config").write_text("".join(f'[remote "r{n}"]\n\turl = {url}\n' for n, url in enumerate(urls)))


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("git@github.com:acme-corp/web.git", "unknown"),
        ("https://ada@GitHub.com/Acme-Corp/web", "unknown"),
        ("ssh://git@github.com:22/acme-corp/tools/web.git", "unknown"),
        ("git@git.acme.example:other.git", "unknown"),
        ("git@github.com:acme-corporation/web.git", "personal"),
        ("git@gitlab.com:acme-corp/web.git", "personal"),
        ("git@github.com:ada/acme-corp.git", "personal"),
    ],
)
def test_the_owner_of_work_has_no_personal_project(url: str, kind: str, home: Path, rule: Rule) -> None:
    """The employer's second repository lies where the first one did; nobody said that it is personal."""
    config(home / "job/billing", "git@github.com:acme-corp/billing.git", "git@git.acme.example:billing")
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/billing")))
    config(home / "code/web", "https://example.org/ada/web", url)
    project = classify_folder(home / "code/web", rule)
    assert kind == project.kind.value
    (home / "code/web/src").mkdir()
    assert project == classify_folder(home / "code/web/src", rule)
    # a worktree has its repository's remotes
    git = home / "code/web/.git/worktrees/w"
    git.mkdir(parents=True)
    (git / "commondir").write_text("../..\n")
    (home / "code/w").mkdir()
    (home / "code/w/.git").write_text(f"gitdir: {git}\n")
    assert kind == classify_folder(home / "code/w", rule).kind.value
    # the human says which it is by the folder itself; work stays work
    for parent, folder in (("code/web", "code/web"), ("job/billing", "job/billing")):
        named = replace(rule, project_parents=(*rule.project_parents, str(home / parent)))
        expected = ProjectKind.PERSONAL if folder == "code/web" else ProjectKind.WORK
        assert expected == classify_folder(home / folder, named).kind
    if kind == "unknown":
        assert f"is of the same owner as that of the work root {home}/job/billing" in project.reason
        assert "roamkb install --project-parent" in (project.hint or "")


def test_a_work_root_whose_remotes_cannot_be_read_lets_nothing_with_a_remote_out(home: Path, rule: Rule) -> None:
    """They could be of the same owner; a project without a remote is judged as before."""
    config(home / "job/billing", "git@github.com:acme-corp/billing.git")
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/billing")))
    (home / "job/billing/.git/config").unlink()
    (home / "job/billing/.git/config").mkdir()
    config(home / "code/web", "git@github.com:ada/web.git")
    assert "config" in classify_folder(home / "code/web", rule).reason
    assert ProjectKind.UNKNOWN == classify_folder(home / "code/web", rule).kind
    assert ProjectKind.PERSONAL == classify_folder(home / "code/site", rule).kind


SSH = """
Host work-gh  other
  HostName github.com
Host github.com-work !github.com-home
    hostname=ssh.github.com
Include more/*.conf
Host box
  HostName localhost
"""


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        # an alias of ssh's configuration, in an included file too; git's rewriting for every repository
        ("git@work-gh:acme/x.git", "unknown"),
        ("ssh://git@GitHub.com-Work/acme/x.git", "unknown"),
        ("included:acme/x.git", "unknown"),
        ("gh:acme/x", "unknown"),
        ("acme:x", "unknown"),
        # the same service behind another port
        ("ssh://git@ssh.github.com:443/acme/x.git", "unknown"),
        ("[git@ssh.github.com:443]:acme/x.git", "unknown"),
        ("git@altssh.gitlab.com:acme/x.git", "unknown"),
        ("https://www.github.com/acme/x", "unknown"),
        ("git@github.com.:acme/x", "unknown"),
        ("https://github.com/ada/../acm%65/x", "unknown"),
        ("git@ssh.dev.azure.com:v3/acme/tools/x", "unknown"),
        ("hg::https://github.com/acme/x", "unknown"),
        # an alias that nothing tells of may be work's
        ("git@nowhere:acme/x.git", "unknown"),
        ("git@github.com-gone:acme/x.git", "unknown"),
        ("ext::ssh web git-upload-pack x", "unknown"),
        # others' and one's own; what names no owner is a machine of one's own network
        ("git@nowhere:x.git", "personal"),
        ("ssh://nowhere/x.git", "personal"),
        ("s3://bucket/x", "personal"),
        ("git@work-gh:ada/x.git", "personal"),
        ("git@nowhere:ada/x.git", "personal"),
        ("gh:ada/x", "personal"),
        ("git@ssh.dev.azure.com:v3/ada/tools/x", "personal"),
        ("git@box:ada/x.git", "personal"),
        ("ssh://git@10.0.0.7:2222/srv/x.git", "personal"),
        ("git@nas.local:x.git", "personal"),
    ],
)
def test_a_remote_is_known_by_its_real_host_and_owner(url: str, kind: str, home: Path) -> None:
    """As git and ssh read the user's own configuration; what that doesn't tell is never personal."""
    config(home / "job/a", "git@github.com:acme/a.git")
    config(home / "job/b", "https://gitlab.com/acme/b", "https://dev.azure.com/acme/tools/_git/b")
    (home / ".ssh/more").mkdir(parents=True)
    (home / ".ssh/config").write_text(SSH)
    (home / ".ssh/more/a.conf").write_text("Match host included\n HostName github.com\n")
    (home / ".gitconfig").write_text('[url "git@github.com:"]\n\tinsteadOf = gh:\n[include]\n\tpath = more.git\n')
    (home / "more.git").write_text('[url "https://github.com/acme/"]\n\tinsteadOf = "acme:"\n')
    rule = load_rule(home, account_home=home)
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/a"), str(home / "job/b")))
    config(home / "code/web", url)
    assert kind == classify_folder(home / "code/web", rule).kind.value
    # without a work root that has a remote nobody's owner is at work
    if not url.startswith("ext"):
        assert ProjectKind.PERSONAL == classify_folder(home / "code/web", load_rule(home, account_home=home)).kind


@pytest.mark.parametrize(
    "ssh",
    [
        "Host work-gh\n HostName github.com # work\n",
        "Host work-gh # mine\n HostName github.com\t#\n",
        'Host work-gh\n "HostName" github.com\n',
        'Host work-gh\n"HostName"github.com\n',
        "Host work-gh\n HostName = 'github.com'\n",
        'Host "work-gh" x\r\n HostName="github.com"\r\n',
        "Host *k-?h !home-gh\n HostName github.com\n",
        "Include 'a b' # more\n",
        "Include a\\ b\n",
    ],
)
def test_ssh_s_configuration_is_read_as_ssh_does(ssh: str, home: Path) -> None:
    """With its quotes, escapes and comments, each checked by `ssh -G`."""
    config(home / "job/a", "git@github.com:acme/a.git")
    (home / ".ssh").mkdir()
    (home / ".ssh/config").write_text(ssh)
    (home / ".ssh/a b").write_text("Host work-gh\n HostName github.com\n")
    rule = load_rule(home, account_home=home)
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/a")))
    config(home / "code/web", "git@work-gh:acme/x.git")
    assert "its remote github.com/acme is of the same owner" in classify_folder(home / "code/web", rule).reason


GH = "git@github.com:acme/a.git"
BITBUCKET = "ssh://git@bitbucket.acme.com:7999/pay/a.git"
CANONICAL = "CanonicalizeHostname yes\nCanonicalDomains com\n"
OWN = "code/web/.git/config"
INSTEAD = '[url "https://github.com/acme/"]\n insteadOf = "w:"\n'
SSH_FILES = {f".ssh/c/{n}": "Host gh.work\n HostName github.com\n" if n == 39 else "Host z\n" for n in range(40)}
LONG = "#" * 1024 * 1024
MANY = "".join(f"[include]\n path = i{n}\n" for n in range(40))


@pytest.mark.parametrize(
    ("work", "url", "files", "kind"),
    [
        # without an owner the whole host is one's
        ("git@git.acme.com:billing.git", "git@git.acme.com:tools/x.git", {}, "unknown"),
        ("git@git.acme.com:tools/x.git", "git@git.acme.com:x.git", {}, "unknown"),
        ("git@git.acme.com:billing.git", "git@nowhere:x.git", {}, "unknown"),
        (GH, "https://git%68ub.com/acme/x", {}, "unknown"),
        (GH, "https://\uff47ithub.com/acme/x", {}, "unknown"),
        # one account by several names
        (BITBUCKET, "https://bitbucket.acme.com/scm/pay/x.git", {}, "unknown"),
        (BITBUCKET, "https://bitbucket.acme.com/scm/~ada/x.git", {}, "personal"),
        ("https://bitbucket.acme.com/scm/pay/x.git", BITBUCKET, {}, "unknown"),
        ("ssh://ada@gerrit.acme.com:29418/pay/a", "https://gerrit.acme.com/a/pay/x", {}, "unknown"),
        ("https://acme.visualstudio.com/Pay/_git/a", "git@ssh.dev.azure.com:v3/acme/Pay/x", {}, "unknown"),
        ("https://acme@dev.azure.com/acme/Pay/_git/a", "https://acme.visualstudio.com/Pay/_git/x", {}, "unknown"),
        ("https://dev.azure.com/acme/Pay/_git/a", "acme@vs-ssh.visualstudio.com:v3/acme/Pay/x", {}, "unknown"),
        ("https://dev.azure.com/acme/Pay/_git/a", "acme@vs-ssh.visualstudio.com:v3/ada/Pay/x", {}, "personal"),
        # a command decides where it leads
        (GH, "git@nas.local:ada/x", {OWN: "[core]\n sshCommand = ssh -o HostName=github.com\n"}, "unknown"),
        (GH, "git@nas.local:ada/x", {OWN: "[core]\n sshCommand = ./ssh\n"}, "unknown"),
        (GH, "git@nas.local:ada/x", {OWN: '[core]\n sshCommand = "ssh -i a;b"\n'}, "unknown"),
        (GH, "git@nas.local:ada/x", {OWN: "[core]\n sshCommand = ssh -i '~/a b' -oIdentitiesOnly=yes\n"}, "personal"),
        (GH, "https://nas.local/ada/x", {OWN: "[core]\n sshCommand = ./ssh\n"}, "personal"),
        (GH, "git@github.work:acme/x", {".gitconfig": "[core]\n sshCommand = ssh -F ~/.ssh/work\n"}, "unknown"),
        (GH, "git@github.work:ada/x", {".gitconfig": "[core]\n sshCommand = ssh -F ~/.ssh/work\n"}, "personal"),
        (GH, "git@gh.work:acme/x", {".ssh/config": "Host gh.*\n ProxyCommand nc github.com 22\n"}, "unknown"),
        (GH, "git@gh.work:acme/x", {".ssh/config": "Host gh.*\n ProxyCommand none\n"}, "personal"),
        (GH, "git@a.github:acme/x", {".ssh/config": CANONICAL}, "unknown"),
        (GH, "git@a.github:ada/x", {".ssh/config": CANONICAL}, "personal"),
        (GH, "git@nas:x", {".ssh/config": "Match user a\n HostName github.com\n"}, "unknown"),
        (GH, "hg::EXT::ssh web hg", {}, "unknown"),
        (GH, "git://h.org/x/y", {OWN: "[core]\n gitProxy = ./proxy\n"}, "unknown"),
        (GH, "git://h.org/x/y", {OWN: "[core]\n gitProxy = none\n"}, "personal"),
        (GH, "https://h.org/x/y", {OWN: "[core]\n gitProxy = ./proxy\n"}, "personal"),
        (GH, "git://h.org/acme/x", {".gitconfig": "[core]\n gitProxy = proxy for h.org\n"}, "unknown"),
        (GH, "git://h.org/ada/x", {".gitconfig": "[core]\n gitProxy = proxy for h.org\n"}, "personal"),
        (GH, "/srv/x", {OWN: ' uploadpack = "ssh github.com git-upload-pack acme/x"\n'}, "unknown"),
        (
            GH,
            "h.org:x/y",
            {OWN: " uploadpack = /opt/git/bin/git-upload-pack\n receivepack = git-receive-pack\n"},
            "personal",
        ),
        # an address by number may be any host's
        (GH, "git@140.82.121.3:acme/x", {}, "unknown"),
        (GH, "https://140.82.121.3/acme/x", {}, "unknown"),
        (GH, "ssh://git@[2001:db8::1]/acme/x", {}, "unknown"),
        (GH, "ssh://git@2354215171/acme/x", {}, "unknown"),
        (GH, "git@140.82.121.3:ada/x", {}, "personal"),
        (GH, "git@10.0.0.7:acme/x", {".ssh/config": "Host 10.0.0.7\n User git\n"}, "personal"),
        ("git@10.0.0.7:acme/a", "git@git.acme.com:acme/x", {}, "unknown"),
        ("git@10.0.0.7:a", "git@10.0.0.7:x", {}, "unknown"),
        # what more there is to read
        (GH, "git@h.org:x/y", {OWN: '[svn-remote "x"]\n url = https://github.com/acme/x\n'}, "unknown"),
        (GH, "git@h.org:x/y", {OWN: MANY}, "unknown"),
        (GH, "git@h.org:x/y", {".gitconfig": MANY}, "unknown"),
        (GH, "git@h.org:x/y", {OWN: "[include]\n path = config\n"}, "personal"),
        (GH, "git@gh.work:acme/x", {".ssh/config": "Include c/*\n", **SSH_FILES}, "unknown"),
        (GH, "git@h.org:x/y", {".ssh/config": "Include c/*\n", **SSH_FILES}, "personal"),
        (GH, "git@h.org:x/y", {".ssh/config": "".join(f"Include x{n}\n" for n in range(300))}, "personal"),
        (GH, "git@h.org:x/y", {".ssh/config": "Include c/*\n", **{f".ssh/c/{n}": "" for n in range(300)}}, "unknown"),
        (GH, "git@h.org:x/y", {".ssh/config": "Include config\n"}, "personal"),
        (GH, "w:x", {".gitconfig": "[include]\n path = ~/inc\n", "inc": INSTEAD}, "unknown"),
        (GH, "w:x", {".gitconfig": INSTEAD + LONG}, "unknown"),
        (GH, "w:x", {".gitconfig": "[include]\n path = ~/inc\n", "inc": INSTEAD + LONG}, "unknown"),
        (GH, "git@gh.work:acme/x", {".ssh/config": "Host gh.work\n HostName github.com\n" + LONG * 17}, "unknown"),
        (GH, "https://h.org/x/y", {".ssh/config": LONG * 17}, "personal"),
        # one's own machines
        (GH, "git@nas:acme/x.git", {".ssh/config": "Host nas\n User git\n"}, "personal"),
        (GH, "git@nas:acme/x.git", {".ssh/config": "Host *\n User git\n"}, "unknown"),
        (GH, "git@nas:x.git", {".ssh/config": "Match host *.corp\n HostName gw.acme.com\n"}, "personal"),
    ],
)
def test_whose_a_remote_is(work: str, url: str, files: dict[str, str], kind: str, home: Path) -> None:
    """What the employer's other repositories are called, and a person's own."""
    config(home / "job/a", work)
    config(home / "code/web", url)
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        with (home / name).open("a") as file:
            file.write(text)
    rule = load_rule(home, account_home=home)
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/a")))
    assert kind == classify_folder(home / "code/web", rule).kind.value


def test_an_alias_of_work_is_the_owner_s_by_any_name(home: Path, rule: Rule) -> None:
    """Where the work root's own remote has one that can't be told, the owner's name suffices."""
    config(home / "job/a", "git@gone:acme/a.git", "git@hidden:a.git")
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/a")))
    for url, kind in (("git@github.com:acme/x", "unknown"), ("git@github.com:ada/x", "personal")):
        config(home / "code/web", url)
        assert kind == classify_folder(home / "code/web", rule).kind.value


def test_another_home_hides_no_alias(home: Path, tmp_path: Path) -> None:
    """The account's own configuration counts beside that of HOME."""
    config(home / "job/a", "git@github.com:acme/a.git")
    account = tmp_path / "account"
    (account / ".ssh").mkdir(parents=True)
    (account / ".ssh/config").write_text(SSH)
    rule = load_rule(home, account_home=account)
    rule = replace(rule, work_roots=(*rule.work_roots, str(home / "job/a")))
    config(home / "code/web", "git@work-gh:acme/x.git")
    reason = classify_folder(home / "code/web", rule).reason
    assert "its remote github.com/acme is of the same owner" in reason


def test_a_hollow_repository_marks_nothing(home: Path, rule: Rule) -> None:
    """Codex's sandbox puts an empty `.git` into the folder that it was started in, and git looks further up."""
    (home / "code/a/.git/objects").mkdir(parents=True)
    (home / "code/a/src/.git").mkdir(parents=True)
    assert home / "code/a" == classify_folder(home / "code/a/src", rule).root
    (home / "code/a/src/.git/HEAD").touch()
    assert home / "code/a/src" == classify_folder(home / "code/a/src", rule).root


def test_without_a_mark_the_folder_is_the_root(home: Path, rule: Rule) -> None:
    """Nothing is guessed from what else lies there."""
    (home / "code/plain/sub").mkdir(parents=True)
    (home / ".git").mkdir()
    assert home / "code/plain/sub" == classify_folder(home / "code/plain/sub", rule).root


def test_the_climb_may_end_at_the_entry_itself(home: Path, rule: Rule) -> None:
    """A version-controlled `~/code` is the project of all that has no mark of its own."""
    (home / "code/.git/objects").mkdir(parents=True)
    (home / "code/plain").mkdir()
    assert home / "code" == classify_folder(home / "code/plain", rule).root


def test_a_missing_folder_has_no_root(home: Path, rule: Rule) -> None:
    """It is unknown, and says that it isn't there."""
    project = classify_folder(home / "code/nope", rule)
    assert (ProjectKind.UNKNOWN, None) == (project.kind, project.root)
    assert "doesn't exist" in project.reason


def test_the_reason_names_evidence_and_entry(home: Path, rule: Rule) -> None:
    """Who is refused reads which folder it was, and which line of the rule."""
    harness = {"CLAUDE_PROJECT_DIR": str(home / "projects/work/app")}
    project = session_project(CallOrigin(cwd=home / "code/site", harness=harness), rule)
    assert project.reason.startswith("by $CLAUDE_PROJECT_DIR, ")
    assert str(home / "projects/work") in project.reason
    assert home / "projects/work/app" == project.root


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda place: place.unlink(), "is missing"),
        (lambda place: place.chmod(0o666), "chmod go-w"),
        (lambda place: place.write_bytes(b"\xff"), "UTF-8"),
        (lambda place: place.write_text(""), "is empty"),
        (lambda place: place.write_text("x" * 1_048_577), "can't be read: it is larger"),
    ],
)
def test_a_broken_rule_says_what_is_wrong(change: object, why: str, home: Path) -> None:
    """The message names the file and the fault; as a value it makes every project unknown."""
    change(home / RULE_PATH)  # type: ignore[operator]
    with pytest.raises(BadRule, match=why) as caught:
        load_rule(home, account_home=home)
    assert home / RULE_PATH == caught.value.source
    fault = find_rule(home, account_home=home)
    assert isinstance(fault, BadRule)
    project = classify_folder(home / "code/site", fault)
    assert ProjectKind.UNKNOWN is project.kind
    assert why in project.reason


@pytest.mark.parametrize("folder", [".claude/rules", ".claude", "."])
def test_a_rule_below_a_folder_that_everybody_may_write_to_counts_for_nothing(folder: str, home: Path) -> None:
    """Whoever may rename a folder on the way to the rule may put another rule there."""
    assert isinstance(find_rule(home, account_home=home), Rule)
    (home / folder).chmod(0o777)
    fault = find_rule(home, account_home=home)
    assert isinstance(fault, BadRule)
    assert f"chmod o-w {home / folder}" in fault.message
    (home / folder).chmod(0o1777)
    assert isinstance(find_rule(home, account_home=home), Rule)


def test_a_linked_rule_is_judged_by_the_folders_to_its_real_place(home: Path) -> None:
    """A checkout below HOME is looked at up to HOME."""
    real = home / "code" / "roamkb" / "rules" / "knowledge-base.md"
    real.parent.mkdir(parents=True)
    (home / RULE_PATH).rename(real)
    (home / RULE_PATH).symlink_to(real)
    assert isinstance(find_rule(home, account_home=home), Rule)
    (home / "code").chmod(0o777)
    assert isinstance(find_rule(home, account_home=home), BadRule)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_rule_in_another_user_s_folder_counts_for_nothing(home: Path) -> None:
    """Also where only a folder further up is theirs."""
    os.chown(home / ".claude", 12345, 12345)
    fault = find_rule(home, account_home=home)
    assert isinstance(fault, BadRule)
    assert "another user's folder" in fault.message


def test_a_home_that_isn_t_absolute_counts_for_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`HOME=.` would make every entry of the denylist miss."""
    monkeypatch.chdir(home)
    with pytest.raises(BadRule, match="isn't absolute"):
        load_rule(Path(), account_home=home)


def test_a_home_by_another_name_denies_and_allows_the_same(home: Path) -> None:
    """A HOME with dots or a link in it is the same home."""
    (home.parent / "alias").symlink_to(home)
    for name in (home.parent / "alias", home / "code" / ".."):
        rule = find_rule(name, account_home=home)
        assert ProjectKind.WORK is classify_folder(home / "projects/work/app", rule).kind
        assert ProjectKind.PERSONAL is classify_folder(home / "code/site", rule).kind


@pytest.mark.skipif(sys.platform != "linux", reason="the mount table is Linux's")
def test_the_mount_table_is_read() -> None:
    """The top of the disk is mounted somewhere."""
    assert any(mount.point == "/" for mount in read_mounts(Path("/proc")))


def test_mount_names_are_unescaped(tmp_path: Path) -> None:
    """Blanks and backslashes are written in octal there; other lines are left out."""
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_bytes(
        b"1 0 8:1 / / rw - ext4 /dev/a rw\n"
        b"2 1 8:1 /w\\040x /m\\134n rw - ext4 /dev/a rw\n"
        b"3 1 0:4 net:[1] /run/n rw - nsfs nsfs rw\nnonsense\n"
    )
    assert [("/", "8:1", "/"), ("/m\\n", "8:1", "/w x")] == [
        (mount.point, mount.device, mount.inside) for mount in read_mounts(tmp_path)
    ]


def test_other_names() -> None:
    """A folder is known by every mount of its device that shows it."""
    mounts = (
        Mount(point="/", device="8:1", inside="/"),
        Mount(point="/m", device="8:1", inside="/home/w/a"),
        Mount(point="/disk", device="8:2", inside="/"),
    )
    assert ("/home/w/a/b",) == other_names("/m/b", mounts)
    assert ("/m",) == other_names("/home/w/a", mounts)
    assert () == other_names("/home/w/ab", mounts)
    assert () == other_names("/disk/home/w/a", mounts)
    assert ("/m", "/disk") == mount_points_below("/", mounts)
    assert () == mount_points_below("/m", mounts)


def test_a_name_under_another_mount_is_none() -> None:
    """What a tmpfs on /tmp covers is not to be found there; what is mounted below it again is."""
    mounts = (
        Mount(point="/", device="8:1", inside="/", number=1, parent=0),
        Mount(point="/tmp", device="0:5", inside="/", number=2, parent=1),
        Mount(point="/home/w", device="8:1", inside="/tmp/x/home", number=3, parent=1),
        Mount(point="/tmp/again", device="8:1", inside="/tmp/x", number=4, parent=2),
    )
    assert ("/tmp/again/home/roam",) == other_names("/home/w/roam", mounts)


@pytest.mark.skipif(sys.platform != "linux", reason="the process table is Linux's")
def test_a_process_whose_name_has_brackets_is_read(tmp_path: Path) -> None:
    """The name stands in brackets of its own, and may hold some."""
    for pid, line in ((9, "9 (x) S 8 9 9 0"), (8, "8 (a) b (c) S 0 8 8 0")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(line)
        (tmp_path / str(pid) / "cwd").symlink_to("/work (deleted)")
    assert [(8, "a) b (c", "/work")] == [
        (p.pid, p.name, p.folder) for p in parent_processes(9, tmp_path) if isinstance(p, ParentProcess)
    ]


def table_of(proc: Path, *, parents: int, folder: Path) -> int:
    """Make a process table of one line of parents, the farthest of which runs in `folder`; return our pid."""
    for name in ("self", "1"):
        (proc / name).mkdir(parents=True)
    (proc / "self/mountinfo").write_bytes(Path("/proc/self/mountinfo").read_bytes())
    (proc / "1/stat").write_text("1 (init) S 0 1 1 0")
    (proc / "1/cwd").symlink_to("/")
    for pid in range(2, parents + 2):
        (proc / str(pid)).mkdir()
        (proc / str(pid) / "stat").write_text(f"{pid} (sh) S {pid - 1} 1 2 34816")
        (proc / str(pid) / "cwd").symlink_to(folder if pid == 2 else folder.parents[2] / "code")
    return parents + 1


@pytest.mark.skipif(sys.platform != "linux", reason="the process table is Linux's")
@pytest.mark.parametrize(("parents", "kind"), [(100, ProjectKind.WORK), (1000, ProjectKind.UNKNOWN)])
def test_many_processes_don_t_hide_the_one_at_work(
    parents: int, kind: ProjectKind, home: Path, rule: Rule, tmp_path: Path
) -> None:
    """Where there are more parents than are looked at, nobody knows where the session began."""
    pid = table_of(tmp_path / "proc", parents=parents, folder=home / "projects/work/app")
    project = session_project(CallOrigin(cwd=home / "code/site", pid=pid, proc=tmp_path / "proc"), rule)
    assert kind is project.kind
    assert "parent process" in project.reason


def test_the_folder_that_a_shell_came_from_is_left(home: Path, rule: Rule) -> None:
    """Who goes from work to a project of their own, in one shell, may write there."""
    session = read_call_origin({"OLDPWD": str(home / "projects/work/app")}, cwd=home / "code/site", pid=None)
    assert ProjectKind.PERSONAL is session_project(session, rule).kind


def test_a_link_that_a_shell_came_by_counts(home: Path, rule: Rule) -> None:
    """$PWD may lead through work to a folder that doesn't; the folder itself, said twice, is nothing new."""
    through_work = CallOrigin(cwd=home / "code/site", pwd=str(home / "projects/work/app"))
    assert ProjectKind.WORK is session_project(through_work, rule).kind
    itself = CallOrigin(cwd=home / "code/site", pwd=str(home / "code/site"))
    assert session_project(itself, rule).reason == session_project(CallOrigin(cwd=home / "code/site"), rule).reason
    assert "$PWD" not in session_project(itself, rule).reason


def test_what_a_rule_may_be_executed_by_is_nothing(home: Path) -> None:
    """It is who may write that matters."""
    (home / RULE_PATH).chmod(0o755)
    assert load_rule(home, account_home=home).kb


def test_a_negated_parent_wins_over_the_one_around_it(home: Path, rule: Rule) -> None:
    """Whatever their order."""
    for parents in (("code", "!code/site"), ("!code/site", "code")):
        entries = tuple(f"{entry[: -len(entry.lstrip('!'))]}{home / entry.lstrip('!')}" for entry in parents)
        denied = classify_folder(home / "code/site", replace(rule, project_parents=entries))
        assert ProjectKind.UNKNOWN is denied.kind


def test_work_roots_that_are_on_no_disk_are_named(home: Path, rule: Rule) -> None:
    """One with a wildcard may be anywhere, and isn't."""
    roots = (str(home / "projects/work"), str(home / "nowhere"), str(home / "no*where"))
    assert (str(home / "nowhere"),) == missing_roots(replace(rule, work_roots=roots))


def test_a_folder_that_is_gone_is_no_other_name_of_this_one(home: Path, rule: Rule) -> None:
    """$PWD of a shell whose folder was removed says nothing of the project."""
    session = CallOrigin(cwd=home / "code/site", pwd=str(home / "gone"))
    assert ProjectKind.PERSONAL is session_project(session, rule).kind
