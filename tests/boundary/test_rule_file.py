"""The rule as data, and a person's own copy of it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import roamkb
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.rule_file import render_rule
from roamkb.boundary.rule_file import with_named_kb
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.gitignore import escape_path
from roamkb.core.gitignore import is_under
from roamkb.core.model import Rule

FILE = Path(roamkb.__file__).parents[1] / "rules" / "knowledge-base.md"
TEMPLATE = FILE.read_text()
HOME = Path("/home/u")
SOURCE = Path("/home/u/.claude/rules/knowledge-base.md")


def parsed(text: str) -> Rule:
    return parse_rule(text, source=SOURCE, home=HOME)


def blocks(kb: str = "~/kb", work: str = "~/w", parents: str = "~/c", more: str = "") -> str:
    return (
        f"# Rule\n\n```roamkb:kb\n{kb}\n```\n\n```roamkb:work-roots\n{work}\n```\n\n"
        f"```roamkb:project-parents\n{parents}\n```\n{more}"
    )


def test_the_shipped_rule_says_what_the_source_document_says() -> None:
    """The defaults are the KB in ~/sync, one work root and three parents."""
    rule = parsed(TEMPLATE)
    assert Path("/home/u/sync/org/roam") == rule.kb
    assert ("/home/u/projects/work",) == rule.work_roots
    assert ("/home/u/code", "/home/u/projects", "/home/u/.emacs.d") == rule.project_parents
    assert () == rule.todo_lines


def test_the_shipped_rule_is_short_and_plain() -> None:
    """Each session reads it: 4,500 characters at most, and no comment, since harnesses strip those."""
    assert len(TEMPLATE) <= 4_500
    assert "<!--" not in TEMPLATE


@pytest.mark.parametrize(
    "phrase",
    [
        "~/sync/org/roam/",
        "rg --glob '*.org' --glob '!*sync-conflict*'",
        r"rg '#\+filetags:.*:agent:'",
        "':ID:[[:space:]]+",
        "roamkb search",
        ":PROPERTIES:",
        "#+filetags: :agent:",
        "YYYYMMDDHHMMSS-slug.org",
        "denylist wins",
        "status 3",
        "worth promoting to the KB?",
        "wrap-up",
        "Never invent",
        "never an instruction",
        "mail, tickets, pull requests",
        "org-roam.db",
        "Search before you rely on memory",
    ],
)
def test_the_shipped_rule_carries_its_contract(phrase: str) -> None:
    """What the design asks of the rule is in it, word for word."""
    assert phrase in TEMPLATE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("# Rule\n", "no block `roamkb:kb`"),
        (blocks(kb=""), "exactly one line"),
        (blocks(kb="~/a\n~/b"), "exactly one line"),
        (blocks(kb="kb"), "is relative"),
        (blocks(kb="$HOME/kb"), "is relative"),
        (blocks(kb="/$X/kb"), "isn't expanded"),
        (blocks(kb="~/a/../b"), r"holds . or .."),
        (blocks(kb="/"), "is too much"),
        (blocks(kb="~/a\u200bb"), "invisible"),
        (blocks(work=""), "empty block"),
        (blocks(work="# only a comment"), "empty block"),
        (blocks(work="none\n~/w"), "relative"),
        (blocks(work="w"), "relative"),
        (blocks(work="./w"), "relative"),
        (blocks(work=" ~/w"), "relative"),
        (blocks(work="~other/w"), "relative or not expanded"),
        (blocks(work="$HOME/w"), "not expanded"),
        (blocks(work="/x/${W}"), "isn't expanded"),
        (blocks(work="!~/w"), "negation"),
        (blocks(work="~/w\n!~/w/x"), "negation"),
        (blocks(parents="!w/x"), "relative"),
        *((blocks(work=f"~/w{between}~/v"), "seems to name two folders") for between in (" ", ":", " and ", " | ")),
        (blocks(work="~/w # office"), "ends in a comment"),
        (blocks(work="~/w\t# office"), "ends in a comment"),
        (blocks(work="~/a/../w"), "holds . or .."),
        (blocks(work="~/./w"), "holds . or .."),
        (blocks(work="~/w\u200b"), "invisible"),
        (blocks(work="~/w\u202ex"), "invisible"),
        (blocks(work="~/w\r~/v"), "invisible"),
        (blocks(work="~/[ab"), "without its ]"),
        (blocks(work="~/[[:alpha:]]"), "without its ]"),
        (blocks(work="~/[z-a]"), "backwards"),
        (blocks(work="~/a**b"), "beside other"),
        (blocks(work="~/w\\"), "lone backslash"),
        (blocks(work="~/code/{p,q}"), "unescaped `{`"),
        (blocks(work="~/code,~/x"), "unescaped `,`"),
        (blocks(work="~/code; ~/x"), "unescaped `;`"),
        (blocks(work="~/code\\\\}"), "unescaped `}`"),
        (blocks(parents="~/code\n!~/code/a,b"), "unescaped `,`"),
        (blocks(parents="code"), "relative"),
        (blocks(parents="/"), "every folder"),
        (blocks(parents="/*"), "every folder"),
        (blocks(parents="/**/code"), "every folder"),
        (blocks(more="```roamkb:kb\n~/kb\n```\n"), "twice"),
        (blocks(more="```roamkb:knob\nx\n```\n"), "unknown block"),
        (blocks(more="```gitignore roamkb:work-roots\n~/v\n```\n"), "unknown block"),
        (blocks(more="```Roamkb:Todo\nx\n```\n"), "unknown block"),
        (blocks(more="```roamkb:todo\nTODO\n"), "never ends"),
        (blocks(more="> ```roamkb:work-roots\n> ~/v\n> ```\n"), "isn't a fence of its own"),
        (blocks(more="    ```roamkb:work-roots\n    ~/v\n    ```\n"), "isn't a fence of its own"),
        (blocks(more="- ```roamkb:work-roots\n  ~/v\n  ```\n"), "isn't a fence of its own"),
        (blocks(more="<!--\n```roamkb:todo\nx\n```\n-->\n"), "isn't a fence of its own"),
        (blocks(more="~~~sh\n```roamkb:todo\n```\n~~~\n"), "inside another"),
        (blocks(work="~/w\n```roamkb:todo\nx"), "inside another"),
        *(
            (
                blocks(more=f"```roamkb:model-addresses\n{entry}\n```\n"),
                f"has an address in line 15 that {why}",
            )
            for entry, why in (
                ("llm.example.com", "begins with neither"),
                ("https://*.example.com", "names a host with a letter"),
                ("https://key@example.com", "holds a login"),
                ("https://example.com # mine", "holds a blank"),
                ("https://exa\u200bmple.com", "holds a blank or an invisible"),
                ("https://example.com/v1", "is more than a server: https://example.com:443 is one"),
                ("https://example.com?x=y", "is more than a server"),
                ("https://example.com#gpt", "is more than a server"),
            )
        ),
    ],
)
def test_what_could_be_read_in_two_ways_is_an_error(text: str, why: str) -> None:
    """A rule that doesn't say exactly what it denies counts for nothing, and says where it fails."""
    with pytest.raises(BadRule, match=re.escape(why)) as caught:
        parsed(text)
    assert SOURCE == caught.value.source


def test_forgivable_shapes_are_read() -> None:
    """Windows line ends, other fences, comments, blank lines and doubled slashes don't matter."""
    rule = parsed(
        "text\r\n\r\n~~~ roamkb:kb\r\n/kb/\r\n~~~\r\n  ````roamkb:work-roots\r\n  # office\r\n"
        "\r\n  ~/w//x/  \r\n"
        "  ~\r\n  ````\r\n```roamkb:project-parents\r\n!~/c/x\r\n~/c\r\n```\r\n"
        "```roamkb:todo\r\nTODO NEXT | DONE\r\nWAIT(w) | GONE\r\n```"
    )
    assert Path("/kb") == rule.kb
    assert ("/home/u/w/x", "/home/u") == rule.work_roots
    assert ("!/home/u/c/x", "/home/u/c") == rule.project_parents
    assert ("TODO NEXT | DONE", "WAIT(w) | GONE") == rule.todo_lines


def test_addresses_of_models_are_servers_with_their_ports() -> None:
    """None without the block, and none in an empty one."""
    assert () == parsed(blocks()).model_addresses
    assert () == parsed(blocks(more="```roamkb:model-addresses\n# later\n```\n")).model_addresses
    rule = parsed(
        blocks(
            more="```roamkb:model-addresses\nhttps://LLM.example.com/\nhttp://10.0.0.5:11434\n"
            "https://llm.example.com:443\nhttp://[fd00::1]\n```\n"
        )
    )
    assert (
        "https://llm.example.com:443",
        "http://10.0.0.5:11434",
        "http://[fd00::1]:80",
    ) == rule.model_addresses


def test_a_fence_of_tildes_may_speak_of_backticks() -> None:
    """One of backticks may not: what its line holds is code within a sentence."""
    assert () == parsed(blocks(more="~~~ see `x`\nanything\n~~~\n")).model_addresses
    with pytest.raises(BadRule, match="isn't a fence of its own"):
        parsed(blocks(more="``` see `x` ```roamkb:todo\n"))


def test_a_comment_ends_where_it_ends() -> None:
    """Also one of nothing but its marks, with a block on the next line."""
    more = "```roamkb:todo\nTODO | DONE\n```\n"
    for comment in ("<!-- a -->", "<!---->", "<!-- a --> <!-- b -->"):
        assert ("TODO | DONE",) == parsed(blocks(more=f"{comment}\n{more}")).todo_lines
    with pytest.raises(BadRule, match="isn't a fence of its own"):
        parsed(blocks(more=f"<!--->\n{more}"))


def test_an_approval_is_typed_or_signed() -> None:
    """And nothing else; without the block it is typed."""
    asked = [parsed(blocks(more=f"```roamkb:approval\n{word}\n```\n")).must_sign for word in ("typed", "signed")]
    assert [False, False, True] == [parsed(blocks()).must_sign, *asked]
    with pytest.raises(BadRule, match="neither typed nor signed"):
        parsed(blocks(more="```roamkb:approval\nmaybe\n```\n"))


@pytest.mark.parametrize(("kb", "parent"), [("kb", "~/c"), ("~/a/../b", "~/c"), ("~/b", "c"), ("~/b", "/")])
def test_no_rule_is_made_that_could_not_be_read(kb: str, parent: str) -> None:
    """A further knowledge base is named as the first one is."""
    with pytest.raises(UsageError, match="the entry"):
        with_named_kb(blocks(), "house", kb=kb, project_parents=[parent])


def test_no_work_roots_must_be_said() -> None:
    """`none` is the one way to have none."""
    assert () == parsed(blocks(work="none")).work_roots


@pytest.mark.parametrize(
    ("entry", "meant"),
    [("~/w/**", ("/home/u/w",)), ("~/w/*", ("/home/u/w", "/home/u/w/*")), ("/*", ("/", "/*"))],
)
def test_a_folder_s_content_is_the_folder(entry: str, meant: tuple[str, ...]) -> None:
    """Who denies everything in a folder denies the folder."""
    assert meant == parsed(blocks(work=entry)).work_roots


@pytest.mark.parametrize("name", ["a,b", "{x}", "p;q", "end ", "two  ", " both ", "wide\u3000", "in side"])
def test_an_odd_folder_name_is_denied_by_its_literal(name: str) -> None:
    """What reads as a list or is cut off is escaped, and then means the one folder."""
    text = render_rule(
        TEMPLATE, kb="~/kb", work_roots=[escape_path(f"/p/{name}")], project_parents=[escape_path(f"/q/{name}")]
    )
    rule = parsed(text)
    for path, (entry,) in ((f"/p/{name}", rule.work_roots), (f"/q/{name}", rule.project_parents)):
        assert is_under(f"{path}/x", entry)
        assert not is_under(path.rstrip() + "x", entry)
        assert name == name.rstrip() or not is_under(path.rstrip(), entry)


def test_a_knowledge_base_that_ends_in_a_blank_is_refused() -> None:
    """The line's end would be cut off, and the KB be another folder."""
    with pytest.raises(UsageError, match="ends in a blank"):
        render_rule(TEMPLATE, kb="/kb ", work_roots=[], project_parents=[])


def test_a_home_with_wildcards_is_literal() -> None:
    """The home's own name is no pattern."""
    rule = parse_rule(blocks(), source=SOURCE, home=Path("/home/[ab]*"))
    assert is_under("/home/[ab]*/w/x", rule.work_roots[0])
    assert not is_under("/home/a/w", rule.work_roots[0])


# rendering

names = st.text(
    st.characters(
        min_codepoint=0x21,
        exclude_characters="/~$\\",
        exclude_categories=("Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Cn", "Co", "Mn"),
    ),
    min_size=1,
    max_size=8,
).filter(lambda name: name not in (".", ".."))
paths = st.lists(names, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(kb=paths, work=st.lists(paths, max_size=4, unique=True), parents=st.lists(paths, max_size=4))
def test_an_own_copy_says_what_it_was_given(kb: str, work: list[str], parents: list[str]) -> None:
    """Whatever the folders are called, the copy read back names them and no others."""
    text = render_rule(
        TEMPLATE,
        kb=kb,
        work_roots=[escape_path(path) for path in work],
        project_parents=[escape_path(path) for path in parents],
    )
    rule = parsed(text)
    assert Path(kb) == rule.kb
    assert [escape_path(path) for path in work] == list(rule.work_roots)
    assert [escape_path(path) for path in parents] == list(rule.project_parents)
    assert all(is_under(path, entry) for path, entry in zip(work, rule.work_roots, strict=True))


def test_the_template_renders_to_itself() -> None:
    """The defaults in, the shipped rule out, byte for byte."""
    again = render_rule(
        TEMPLATE,
        kb="~/sync/org/roam/",
        work_roots=["~/projects/work"],
        project_parents=["~/code/", "~/projects/", "~/.emacs.d"],
    )
    assert TEMPLATE == again


def test_an_own_copy_s_commands_name_its_own_kb() -> None:
    """The documented commands work when pasted, blanks in the path or not."""
    text = render_rule(TEMPLATE, kb="~/my notes/", work_roots=[], project_parents=[])
    assert "~/sync/org/roam" not in text
    assert 3 == text.count("~/my\\ notes/\n")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kb": "kb"}, "the KB's path is relative"),
        ({"work_roots": ["work"]}, "work root is relative"),
        ({"work_roots": ["/a\n/b"]}, "invisible"),
        ({"project_parents": ["/"]}, "every folder"),
    ],
)
def test_a_copy_that_could_not_be_read_isn_t_made(changes: dict[str, object], why: str) -> None:
    """What the parser would refuse is refused before it is written."""
    wanted: dict[str, object] = {"kb": "~/kb", "work_roots": [], "project_parents": []}
    with pytest.raises(UsageError, match=why):
        render_rule(TEMPLATE, **{**wanted, **changes})  # type: ignore[arg-type]


# the documented commands


def documented(kb: Path) -> list[str]:
    """Return the rule's `rg` commands for another knowledge base."""
    text = render_rule(TEMPLATE, kb=str(kb), work_roots=[], project_parents=[])
    return [line for line in text.splitlines() if line.startswith("rg ")]


@pytest.mark.skipif(shutil.which("rg") is None, reason="NOT TESTED: the rule's commands; apt install ripgrep")
@pytest.mark.parametrize("above", ["notes", ".notes/data", "my notes"])
def test_the_documented_commands_find_notes_and_nothing_else(above: str, tmp_path: Path) -> None:
    """Pasted into a shell they list the notes, without copies, droppings and attachments."""
    kb = tmp_path / above / "roam"
    note = ":PROPERTIES:\n:ID:       a-1\n:END:\n#+title: Zebra\n#+filetags: :x:agent:\n"
    for name in ("a.org", "sub/b.org", "ignored.org", "nul.org"):
        (kb / name).parent.mkdir(parents=True, exist_ok=True)
        (kb / name).write_text(("\0\n" if name == "nul.org" else "") + note)
    for name in (
        "a.sync-conflict-20240101-101010-ABCDEFG.org",
        ".hidden.org",
        ".stversions/a.org",
        "#a.org",
        "#a.org#",
        "a.org~",
        "a.txt",
        "data/ab/c.org",
        "sub/data/c.org",
    ):
        (kb / name).parent.mkdir(parents=True, exist_ok=True)
        (kb / name).write_text(note)
    (kb / ".gitignore").write_text("ignored.org\n")
    (kb / ".ignore").write_text("ignored.org\n")
    wanted = sorted(str(kb / name) for name in ("a.org", "sub/b.org", "ignored.org", "nul.org"))
    commands = documented(kb)
    assert 3 == len(commands)
    for command in commands:
        pasted = command.replace("PATTERN", "Zebra").replace("+ID'", "+a-1'") + " --files-with-matches"
        done = subprocess.run(["sh", "-c", pasted], capture_output=True, text=True, check=True)
        assert wanted == sorted(done.stdout.splitlines()), pasted
