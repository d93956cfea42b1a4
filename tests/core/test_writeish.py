"""Code that changes files, and code that only reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.core.writeish import may_write


@pytest.mark.parametrize(
    "code",
    [
        "open(p, 'w')", "open(p, mode='ab')", "Path(p).open('x')", "open(p, 'r+')", "os.open(p, os.O_WRONLY)", "Path('x').replace(p)", "os.chmod(p, 0)", "frame.to_csv(p)", "fs.createWriteStream(p)", "fs.openSync(p, 'w')",
        "FileUtils.rm(p)", "open(F, \">$p\")", "sysopen(F, $p, 1)", "rm(p)", "[open $p w]", "subprocess.run(x)", ".backup x", "vacuum into 'x'", "cat x > y", ":w out",
    ],
)  # fmt: skip
def test_what_changes_files_is_seen(code: str) -> None:
    """Opened to be written to, moved, run by a shell, redirected."""
    assert may_write(code)


@pytest.mark.parametrize(
    ("code", "program"),
    [
        ("print(open(p).read())", "python3"),
        ("open('axe.txt', 'rb')", "python3"),
        ("Path(p).read_text().replace('a', 'b')", "python3"),
        ("console.log(fs.readFileSync(p, 'utf8'))", "node"),
        ("if (a >= b) f = (x) => x", "node"),
        ("open(F, '<', $p); print <F>", "perl"),
        ("cat(readLines(p))", "Rscript"),
        ("select file from files", "sqlite3"),
    ],
)
def test_what_only_reads_is_not(code: str, program: str) -> None:
    """As agents write it to look at a note."""
    assert not may_write(code, program)


@given(st.text(alphabet="open(',w)<>Pathrm .|\\n", max_size=400))
def test_any_code_has_an_answer(code: str) -> None:
    """Whatever stands in it."""
    assert may_write(code) in (True, False)
