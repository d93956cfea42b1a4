"""What the writer makes of hostile words, judged by real Emacs and real org-roam.

Thousands of drafts, made of everything that org, Emacs or org-roam acts upon and of
arbitrary Unicode, are written as they would be, and a human's note beside them. All
are indexed as they were meant, nothing in them runs, and the human's note is as it was.
"""

import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import given
from hypothesis import seed
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.errors import UsageError
from roamkb.core.text import one_line
from roamkb.org.escape import escape_name
from roamkb.org.reader import parse_note
from roamkb.org.syntax.links import TYPES
from roamkb.org.writer import NodeDraft
from roamkb.org.writer import append_link
from roamkb.org.writer import check_written
from roamkb.org.writer import insert_property
from roamkb.org.writer import normalised_alias
from roamkb.org.writer import normalised_ref
from roamkb.org.writer import normalised_tags
from roamkb.org.writer import normalised_title
from roamkb.org.writer import render_node
from tests.examples import IS_THOROUGH

#: Drafts in one run of Emacs, and how many runs: 700 notes, or 2,100 where there is an hour.
SIZE = 700
BATCHES = range(3 if IS_THOROUGH else 1)

HUMAN = "deadbeef-0000-4000-8000-000000000001"
HUMAN_NOTE = f""":PROPERTIES:
:ID:       {HUMAN}
:ROAM_ALIASES: "The human's"
:END:
#+title: A human's own note
#+filetags: :mine:

* A heading of the human's
:PROPERTIES:
:ID:       {HUMAN[:-1]}2
:END:
[[id:{HUMAN}][up]]
"""

#: Lisp and shell that leave a file behind; each place that could run one names its own.
LISP = '(write-region "" nil (concat (getenv "CANARY") "-{}"))'
SHELL = 'touch "$CANARY-{}"'

#: What runs in a careless note, one thing a text.
ACTIVE = {
    "sexp": "%%" + LISP.format("sexp"),
    "timestamp": "* x\n<%%" + LISP.format("timestamp") + ">",
    "variables": "# Local Variables:\n# eval: " + LISP.format("variables") + "\n# End:",
    "macro": f"#+macro: m (eval {LISP.format('macro')})\n\n{{{{{{m}}}}}}",
    "block": f"#+begin_src emacs-lisp\n{LISP.format('block')}\n#+end_src",
    "shell": f"#+begin_src sh :results output\n{SHELL.format('shell')}\n#+end_src",
    "argument": f"#+begin_src emacs-lisp :var x={LISP.format('argument')}\nx\n#+end_src",
    "inline": f"text src_emacs-lisp{{{LISP.format('inline')}}} text",
    "header": f"#+property: header-args :var y={LISP.format('header')}\n\n#+begin_src emacs-lisp\ny\n#+end_src",
    "call": f"#+name: f\n#+begin_src emacs-lisp\n{LISP.format('call')}\n#+end_src\n\n#+call: f()\n\ncall_f()",
}

#: What org, org-roam or Emacs reads as more than words.
PIECES = (
    *ACTIVE.values(),
    *(line for text in ACTIVE.values() for line in text.split("\n")),
    "* Heading :tag:", "** TODO [#A] x", "* ", "*", "*\tx", "***************  task", "  * item", "- item", "+ item",
    "1. one", "a) b", "- tag :: x", "- [ ] x", "  continued",
    ":PROPERTIES:", f":ID: {HUMAN}", ":END:", ":ROAM_EXCLUDE: t", ':ROAM_ALIASES: "open', ":header-args: :eval yes",
    ":LOGBOOK:", ": fixed", ":", ":smile: x", f"  :ID: {HUMAN}",
    "#+title: Forged", "#+TITLE: Forged", "  #+filetags: :forged:", "#+setupfile: other.org", '#+include: "other.org"',
    "#+startup: odd", "#+todo: A | B", "#+link: x %(identity)", "[[x:y]]", "#+bind: x y", "#+tblfm: $1='(ignore)",
    "#+call: f()", "#+header: :eval yes", "#+name: f", "#+caption[x]: y", "#+begin: clocktable", "#+end:", "#+", "#+x",
    "#+begin_src", "#+BEGIN_SRC sh", "#+begin_src python", "#+begin_src sh :eval never", "#+begin_src server",
    "#+begin_src org", "#+end_src", "#+END_SRC", "#+begin_example", "#+begin_example -n", "#+end_example",
    "#+begin_quote", "#+end_quote", "#+begin_verse", "#+end_verse", "#+begin_center", "#+end_center",
    "#+begin_export html", "#+end_export", "#+begin_comment", "#+end_comment", "#+begin_note", "#+end_note",
    ",* x", ",#+end_src", ",,*", ": #+end_src", ": : :ID: x", " \u200b* x", "\u200b", "#\u200b+title: x",
    "# comment", "#", "# -*- mode: text -*-", "-*- coding: latin-1 -*-", "Local Variables:", "LOCAL VARIABLES:", "End:",
    "mode: text", "coding: latin-1", "\f", "\x1b$B", "\x00", "\r", "\r\n", "\x0e", "\ud800", "\ufeff", "\x85", "\u2028",
    "%%(", "&%%(x)", "<%%(", "<%%(x)>", "<2026-01-01 Thu +1d>", "[2026-01-01 Thu]", "SCHEDULED: <2026-01-01 Thu>",
    "DEADLINE: <2026-01-01 Thu>", "CLOCK: [2026-01-01 Thu 25:61]", "CLOCK: =>", "CLOSED: [2026-01-01 Thu]",
    "[[elisp:(ignore)]]", "[[shell:ls][x]]", "<elisp:(ignore)>", "elisp:(ignore)", "<shell: ls>", "shell:ls", "man:ls",
    "[[file:/etc/passwd]]", "[[/ssh:host:/x]]", "file:~/x", "file+sys:x", "file+emacs:x", "[[file+sys:x]]", "[[~/x]]",
    "[[./other.org]]", "[[file:other.org::*x][y]]", "[[file:../x.org]]", "[[%65lisp:(ignore)]]", "attachment:x",
    "javascript:alert(1)", "data:text/html,x", "help:car", "info:org", "[[roam:x]]", "ELISP:x", "[[ELISP:x]]",
    f"[[id:{HUMAN}]]", f"[[id:{HUMAN}][words]]", "[[id:x\\]]", "[[id:a]b]]", "https://x.org/a_(b).", "<https://y.org>",
    "doi:10.1000/1", "[[https://x.org/elisp:y][elisp:z]]", "https://x.org/Help:y", "[[", "]]", "][", "[[x]", "[ [x]]",
    "if [[ -f x ]]; then", "a[[0]]", "[cite:@key]", "@key", "[fn:1]", "[fn:1] note", "[fn::x]", "[fn:x: y]",
    "src_sh{ls}", "src_sh[:eval yes]{ls}", "call_f()", "call_f[:eval yes](x=1)", "{{{m}}}", "{{{time(%Y)}}}", "@@html:x@@",
    "<<<radio>>>", "<<target>>", "radio", "\\begin{x}", "\\end{x}", "\\[x\\]", "$x$", "\\alpha", "\\\\",
    "| a | b |", "|---+---|", "| ='(ignore) | :=1 |", "|=1|", "+---+", "| x", "-----", "=v=", "~c~", "*b*", "/i/", "_u_",
    "=a=,elisp:x", "\\", '"', "'", ",", ":", " ", "  ", "\t", "é", "日本語", "👩‍👩‍👧", "x_{1}", "a_b", "word", "Words here.",
    "#+begin_src sh\ncall_f() [[ -f x ]]\n#+end_src", "#+begin_quote\n- x\n  #+begin_src sh\n* y\n  #+end_src\n#+end_quote",
    "- item\n  #+begin_example\nout\n\n\n  #+end_example", "[fn:1] x\n\n#+begin_src sh\n\n\n[fn:2] call_f()\n#+end_src",
    "\\begin{x}\n#+begin_src sh\n\\end{x}\nelisp:x\n#+end_src",
    "~shell:ls~", "=elisp:x=", "~src_sh{ls}~", "=call_f()=", "~{{{m}}}~", "=[[shell:ls]]=", "~[[x][~", "=[[~", "~<man:=",
    "~-*- x -*-~", "~<2026-01-01 Thu>~", "~@@html:x@@~", "=<<<radio>>>=", "~%%(x)~", "~x", "x~", "=x", "x=", "*x", "x*",
    "*a ~x -*- y~ b*", "=a\nb ~c= elisp:x~", "[[https://x.org][a ~b]] elisp:x~", "[fn:: ~x] elisp:x~", "| ~x | elisp:y~ |",
    "$~x$ call_f()~", "[[https://x.org][~data:x~]]", "#+caption: ~elisp:x~ src_sh{ls}", "#+results: f", "- ~x :: elisp:y~",
    "#+begin_verse\n: call_f()\n| =1\n#+end_verse",
)  # fmt: skip

words = st.one_of(st.sampled_from(PIECES), st.text(max_size=12))
titles = st.lists(words, min_size=1, max_size=4).map(" ".join)
bodies = st.lists(st.tuples(words, st.sampled_from(("\n", "\n", "\n", "\n\n", " ", ""))), max_size=14).map(
    lambda pairs: "".join(word + end for word, end in pairs)
)
refs = st.one_of(
    st.sampled_from(("https://x.org/a_(b)", "@key", "<http://y.org/>", "doi:10.1000/xyz", "https://z.org/%41?q=a&b#c")),
    st.from_regex(r"https://[a-z]{1,9}\.org/[\w~?&=#%+:;,.'*!$@-]{0,20}", fullmatch=True),
    st.text(max_size=10).map("@".__add__),
    st.text(max_size=10).map("https://x.org/".__add__),
)


@st.composite
def drafts(draw: st.DrawFn) -> NodeDraft:
    """A node that somebody might ask for who means no good."""
    return NodeDraft(
        id="",
        created=datetime(2026, 6, 10, 14, 29),
        agent="claude-code",
        project=draw(st.one_of(st.just("~/code/site"), titles)),
        source="observed",
        title=draw(titles),
        body=draw(bodies),
        tags=tuple(draw(st.lists(words, max_size=4))),
        aliases=tuple(draw(st.lists(titles, max_size=3))),
        refs=tuple(draw(st.lists(refs, max_size=3))),
        related=tuple((HUMAN, title) for title in draw(st.lists(titles, max_size=2))),
    )


def storable(draft: NodeDraft) -> NodeDraft | None:
    """Return the draft without the refs that can't be stored, or None if it has no title."""

    def stores(ref: str) -> bool:
        try:
            return bool(normalised_ref(ref))
        except UsageError:
            return False

    kept = replace(draft, refs=tuple(filter(stores, draft.refs)))
    try:
        render_node(replace(kept, id="x"))
    except UsageError:
        return None
    return kept


@cache
def drafted(batch: int) -> list[NodeDraft]:
    """Return a batch of hostile drafts, the same ones each time, each with an id of its own."""
    found: list[NodeDraft] = []

    @seed(batch)
    @settings(
        max_examples=SIZE + SIZE // 3,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(drafts())
    def collect(draft: NodeDraft) -> None:
        if kept := storable(draft):
            found.append(kept)

    collect()
    first = batch * SIZE
    return [replace(draft, id=f"01939b7a-0000-7000-8000-{first + n:012}") for n, draft in enumerate(found[:SIZE])]


def written(batch: int) -> dict[str, str]:
    """Return the files of a batch; every third node was superseded since."""
    texts = {draft.id: render_node(draft) for draft in drafted(batch)}
    for id in list(texts)[::3]:
        marked = insert_property(texts[id], "SUPERSEDED_BY", HUMAN)
        texts[id] = append_link(marked, "superseded by", HUMAN, "A human's own note")
    return {f"{id}.org": text for id, text in texts.items()}


def folder_of(tmp_path: Path, texts: dict[str, str]) -> Path:
    """Return a knowledge base with these notes, a human's, and a file that would like to be included."""
    folder = tmp_path / "kb"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    (folder / "20240101000000-human.org").write_text(HUMAN_NOTE, encoding="utf-8")
    (folder / "other.org").write_text("#+title: Stolen\n#+filetags: :stolen:\n", encoding="utf-8")
    return folder


def by_node(rows: list[dict[str, Any]], column: str) -> dict[str, list[Any]]:
    """Return the column's values for each node."""
    found: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        found[row["node_id"]].append(row[column])
    return found


@pytest.mark.parametrize("batch", BATCHES)
def test_our_own_reader_reads_back_what_was_meant(batch: int) -> None:
    """What is checked before a note is acknowledged holds for every draft."""
    for draft in drafted(batch):
        check_written(draft, parse_note(render_node(draft), file="new.org"))


@pytest.mark.parametrize("batch", BATCHES)
def test_org_roam_indexes_each_note_as_it_was_meant(
    tmp_path: Path, org_roam: Callable[..., dict[str, Any]], batch: int
) -> None:
    """Id, title, tags, aliases, refs and links are the draft's; there's no other node and no warning."""
    tables = org_roam(folder_of(tmp_path, written(batch)))
    assert (tables["warnings"], tables["files_not_indexed"]) == ([], [])
    found = {node["id"]: node for node in tables["nodes"]}
    assert len(tables["nodes"]) == SIZE + 2 == len(found)
    tags, aliases = by_node(tables["tags"], "tag"), by_node(tables["aliases"], "alias")
    types, dests = by_node(tables["refs"], "type"), by_node(tables["refs"], "ref")
    for draft in drafted(batch):
        node = found[draft.id]
        assert (node["title"], node["level"]) == (escape_name(normalised_title(draft.title)), 0)
        assert tuple(tags[draft.id]) == normalised_tags(draft.tags)
        named = filter(one_line, map(normalised_alias, draft.aliases))
        assert set(aliases[draft.id]) == set(map(escape_name, named))
        refs_found = set(zip(types[draft.id], dests[draft.id], strict=True))
        assert refs_found == {(ref.type, ref.ref) for ref in map(normalised_ref, draft.refs)}
    assert undisturbed(tables, found)


def test_no_two_tags_make_a_link(tmp_path: Path, org_roam: Callable[..., dict[str, Any]]) -> None:
    """Each type of link is a word, and words are tags: org-roam has all of them, and no link."""
    pairs = [(first, second) for first in TYPES for second in (*TYPES, "bash")]
    usual: dict[str, Any] = {
        "created": datetime(2026, 6, 10),
        "agent": "a",
        "project": "",
        "source": "observed",
        "body": "",
    }
    drafts = [NodeDraft(id=f"x{n}", title=f"t{n}", tags=pair, **usual) for n, pair in enumerate(pairs)]
    texts = {f"{draft.id}.org": render_node(draft) for draft in drafts}
    tables = org_roam(folder_of(tmp_path, texts))
    tags = by_node(tables["tags"], "tag")
    assert {draft.id: tuple(tags[draft.id]) for draft in drafts} == {
        draft.id: normalised_tags(draft.tags) for draft in drafts
    }
    assert {link["source"] for link in tables["links"]} <= {HUMAN, HUMAN[:-1] + "2"}


def undisturbed(tables: dict[str, Any], found: dict[str, Any]) -> bool:
    """Say whether the human's two nodes are as they are alone."""
    ids = (HUMAN, HUMAN[:-1] + "2")
    return (
        [found[id]["title"] for id in ids] == ["A human's own note", "A heading of the human's"]
        and [row["tag"] for row in tables["tags"] if row["node_id"] in ids] == ["mine", "mine"]
        and [row["alias"] for row in tables["aliases"] if row["node_id"] in ids] == ["The human's"]
        and [row["dest"] for row in tables["links"] if row["source"] in ids] == [HUMAN]
    )


def visited(folder: Path, *, look: bool = True) -> tuple[list[dict[str, str]], set[str]]:
    """Return what is live in the notes of `folder`, and what ran, when all is tried on them."""
    emacs = shutil.which(os.environ.get("EMACS", "emacs"))
    if emacs is None:
        if os.environ.get("ROAMKB_TEST_ALL") == "1":
            pytest.fail("ROAMKB_TEST_ALL=1, but there's no Emacs here")
        pytest.skip("NOT TRIED IN REAL EMACS: no Emacs here (Debian: emacs-nox elpa-org-roam)")
    scratch = folder.parent / "visit"
    (scratch / "home").mkdir(parents=True)
    out = scratch / "found.json"
    environment = os.environ | {
        "HOME": str(scratch / "home"),
        "LC_ALL": "C.UTF-8",
        "VISIT_FOLDER": str(folder),
        "VISIT_OUT": str(out),
        "VISIT_LOOK": "1" if look else "",
        "CANARY": str(scratch / "ran"),
    }
    script = Path(__file__).with_name("visit_notes.el")
    if not look:
        del environment["VISIT_LOOK"]
    done = subprocess.run(
        [emacs, "--batch", "-Q", "-l", str(script)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    ran = {path.name.removeprefix("ran-") for path in scratch.glob("ran-*")}
    assert out.exists(), done.stderr[-2000:]
    return json.loads(out.read_text(encoding="utf-8")), ran


@pytest.mark.parametrize("kind", ACTIVE)
def test_a_careless_note_would_run(tmp_path: Path, kind: str) -> None:
    """The trial below can fail: pasted as it is, each active text leaves its file behind."""
    careless = f":PROPERTIES:\n:ID: x\n:END:\n#+title: x\n#+filetags: :agent:\n\n{ACTIVE[kind]}\n"
    _, ran = visited(folder_of(tmp_path, {"careless.org": careless}), look=False)
    assert kind in ran


def only_ours(found: list[dict[str, str]]) -> Iterator[str]:
    """Yield what is live in notes that are not the human's."""
    for entry in found:
        if entry["file"] not in ("20240101000000-human.org", "other.org"):
            yield f"{entry['file']}: {entry['what']}"


#: Every character that could count as a blank, and what may stand beside a mark.
EDGES = [
    *(chr(code) for code in range(0x20, 0x10000) if chr(code).isspace() or category(chr(code)) in ("Cf", "Zs")),
    *"\\é日…“k\u212a\u017f-.,:!?;'\")}[(]{|/<>*&^%$#@~`_",
]
#: Code and links around such a character.
AT_EDGES = (
    "x =src_sh{{ls}}={} y", "x{}=src_sh{{ls}}= y", "x =a={} src_sh{{ls}} b= y", "x ={}src_sh{{ls}}= y",
    "x =src_sh{{ls}}{}= y", "x =a={}[[shell:ls][d]]= y", "x ~a~{} [[shell:ls][d]] b~ y", "x{}shell:ls", "shell:{}ls",
    "<shell:{}ls>", "x\u200bshell:{}ls", "shell{}:ls", "src_sh{}{{ls}}", "src{}_sh{{ls}}", "{{{{{{m{}}}}}}}", "@@html:{}@@",
    "${}\\input{{x}}$", "\\({}\\input{{x}}{}\\)", "\\[{}\\openout1=x\\]", "\\write{}18{{ls}}", "$a{}\\^^69nput x$",
)  # fmt: skip


def test_no_character_at_an_edge_makes_a_note_live(tmp_path: Path) -> None:
    """What Emacs takes for a blank is not what Python takes for one."""
    body = "\n\n".join(AT_EDGES)
    texts = {}
    for char in EDGES:
        id = f"edge-{ord(char):04x}"
        draft = NodeDraft(
            id=id,
            created=datetime(2026, 6, 10),
            agent="a",
            project="",
            source="observed",
            title="t",
            body=body.format(*[char] * body.count("{}")),
        )
        texts[f"{id}.org"] = render_node(draft)
        check_written(draft, parse_note(texts[f"{id}.org"], file="new.org"))
    found, ran = visited(folder_of(tmp_path, texts))
    assert (list(only_ours(found)), ran) == ([], set())


@pytest.mark.parametrize("batch", BATCHES)
def test_nothing_in_a_written_note_runs_or_is_live(tmp_path: Path, batch: int) -> None:
    """Opened, coloured, executed, exported and put into an agenda unasked, no note does anything."""
    found, ran = visited(folder_of(tmp_path, written(batch)))
    assert (list(only_ours(found)), ran) == ([], set())
