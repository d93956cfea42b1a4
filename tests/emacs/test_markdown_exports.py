"""What Markdown calls text, org's own exporter shows as that text."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from roamkb.org.escape import escape_text
from roamkb.org.from_markdown import org_from_markdown
from roamkb.org.syntax.syntax_table import BREAK
from tests.examples import IS_THOROUGH

_SIZE = 900 if IS_THOROUGH else 300

#: Sentences that agents write.
_SENTENCES = (
    "Edit /etc/hosts and /tmp/ before", "/usr/bin/x and /a/ b", "/x/ +y+ =z= ~w~", "**“x”**y **a**", "use ~/a/~ or ~x~",
    "`export PATH=~/bin:$PATH` and `a = b ~ c`", "Set a=b, c= d and =x= y", "_init_ and __init__.py", "\\\\alpha and \\\\beta{}",
    "ends in two \\\\\\\\\nlines", "a <<b>> c and 1 << 2 >> 3", "x^{2} y_{i}", "see [fn:1] and [fn::x]", "+1 and +2+ ok",
    "1 * 2 * 3 and *p = *q;", "**bold /x/ b** *it /a b/ c*", "~~a + b~~ +c+", "*a* /b *c/ d*", "`/x/` =`y`= ~`z`~",
)  # fmt: skip
_WORDS = (
    "a", "b c", "é", "日", "/", "*", "_", "+", "=", "~", "\\", "**", "~~", "`", "``", " ", " ", "\n", "  \n", "(", ")", ".", ",", "“", "-",
    "/a/", "=b=", "~c~", "+d+", "_e_", "*f*", "**g**", "`h`", "`~i`", "`=j=`", "~~k~~", "\\*", "\\_", "\\\\alpha", "x_{1}", "<<y>>",
    "/usr/bin", "a=1", "\u2028", "\xa0", "'", '"', ":", "^{2}",
)  # fmt: skip


def _drawn() -> list[str]:
    """Return texts that hypothesis makes up, the same ones each time."""
    drawn: list[str] = []

    @settings(
        max_examples=_SIZE,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=12).map("".join))
    def collect(text: str) -> None:
        # a letter first: what else a line may begin is another test's
        drawn.append(f"x {text} z")

    collect()
    return drawn


def _texts(tokens: list[Token]) -> Iterator[str]:
    """Yield what a Markdown reader shows."""
    for token in tokens:
        if token.children:
            yield from _texts(token.children)
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "code_inline":
            yield token.content.strip()
        elif token.nesting == 0:
            yield token.content


def _words_alone(text: str) -> str:
    return "".join(text.replace(BREAK, "").split())


def _exported(folder: Path) -> dict[str, str]:
    """Return what org exports of each note, without its HTML."""
    emacs = shutil.which(os.environ.get("EMACS", "emacs"))
    if emacs is None:
        if os.environ.get("ROAMKB_TEST_ALL") == "1":
            pytest.fail("ROAMKB_TEST_ALL=1, but there's no Emacs here")
        pytest.skip("NOT EXPORTED BY REAL EMACS: no Emacs here (Debian: emacs-nox)")
    out = folder.parent / "exported.json"
    done = subprocess.run(
        [emacs, "--batch", "-Q", "-l", str(Path(__file__).with_name("export_notes.el"))],
        env=os.environ
        | {"HOME": str(folder.parent), "LC_ALL": "C.UTF-8", "EXPORT_FOLDER": str(folder), "EXPORT_OUT": str(out)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert out.exists(), done.stderr[-2000:]
    exported: dict[str, str] = json.loads(out.read_text(encoding="utf-8"))
    return {name: unescape(re.sub(r"<[^>]*>", "", html)) for name, html in exported.items()}


def test_markdowns_text_is_exported_as_that_text(tmp_path: Path) -> None:
    """No mark that Markdown doesn't know is taken for markup, and none is lost."""
    folder = tmp_path / "kb"
    folder.mkdir()
    texts = {f"n{number}": text for number, text in enumerate((*_SENTENCES, *_drawn()))}
    parser = MarkdownIt("commonmark").enable("strikethrough")
    for name, text in texts.items():
        (folder / f"{name}.org").write_text(f"{escape_text(org_from_markdown(text))}\n", encoding="utf-8")
    exported = _exported(folder)
    meant = {name: _words_alone("".join(_texts(parser.parse(text)))) for name, text in texts.items()}
    different = {
        texts[name]: (meant[name], _words_alone(exported[name]))
        for name in texts
        if meant[name] != _words_alone(exported[name])
    }
    assert {} == different
