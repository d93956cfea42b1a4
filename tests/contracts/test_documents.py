"""The documents are true: transcripts and snippets run, links and anchors lead somewhere, lists are complete."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import roamkb.core.errors
from roamkb.core.errors import RoamkbError
from roamkb.interfaces.http.request_guard import STATUSES
from roamkb.interfaces.operations import OPERATIONS
from roamkb.interfaces.operations import Operation

_ROOT = Path(__file__).parents[2]
_PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (_ROOT / "docs").glob("*.md")))
_DOCUMENTS = (
    *_PAGES,
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "fixtures/README.md",
    "rules/knowledge-base.md",
)
_TEXTS = {name: (_ROOT / name).read_text(encoding="utf-8") for name in _DOCUMENTS}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: What differs from run to run, and what stands for it.
_FOLDED = (
    (re.compile(r"\b\d{14}-"), "TIME-"),
    (re.compile(r"\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d\]"), "[TIME]"),
    (re.compile(r"^  \d{4}-\d\d-\d\d \|", re.MULTILINE), "  DAY |"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
)

RunLine = Callable[..., subprocess.CompletedProcess[str]]


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", _TEXTS[page], re.MULTILINE | re.DOTALL)


def pages_with(language: str) -> list[str]:
    """Return the pages that have fenced blocks of one language."""
    return [page for page in _PAGES if blocks(page, language)]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One command of a transcript, and what it answers."""

    command: str
    answer: str
    status: int


def exchanges(page: str) -> Iterator[Exchange]:
    """Yield what the page's console blocks show, in order."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            command = [lines.pop(0)]
            while command[-1].endswith("\\"):
                command.append(lines.pop(0))
            status = 0
            if lines and (found := re.fullmatch(r"\[(\d+)\]", lines[-1])):
                status = int(found[1])
                lines.pop()
            yield Exchange("\n".join(command), "\n".join(lines).strip("\n"), status)


def folded(text: str) -> str:
    """Return `text` without ids, times and trailing blanks."""
    for pattern, instead in _FOLDED:
        text = pattern.sub(instead, text)
    return text.strip("\n")


def renamed(text: str, ids: Mapping[str, str]) -> str:
    """Return `text` with the page's ids replaced by those of this run."""
    return _UUID.sub(lambda found: ids.get(found.group(), found.group()), text)


@pytest.mark.parametrize("page", pages_with("console"))
def test_the_transcripts_are_what_roamkb_says(page: str, example_home: Path, run_line: RunLine) -> None:
    """A page's blocks run one after the other in one HOME; `cd` counts, and a new node's id is carried along."""
    folder = ""
    ids: dict[str, str] = {}
    for exchange in exchanges(page):
        line = renamed(exchange.command, ids)
        if moved := re.fullmatch(r"cd ~/?(.*)", line):
            folder = moved[1]
            continue
        done = run_line(line, folder)
        answer = done.stdout.replace(str(example_home), "~")
        ids |= dict(zip(_UUID.findall(exchange.answer), _UUID.findall(answer), strict=False))
        said = renamed(exchange.answer, ids)
        assert (folded(answer), done.returncode) == (folded(said), exchange.status), exchange.command


def test_the_subjects_are_shown_at_work() -> None:
    """A transcript that moved elsewhere, or is gone, is missed."""
    pages = {"README.md"}
    pages |= {f"docs/{name}.md" for name in ("install", "boundary", "notes", "log-and-pipeline", "hooks")}
    assert pages == set(pages_with("console"))
    assert 40 < sum(len(list(exchanges(page))) for page in pages)


@pytest.mark.parametrize("page", pages_with("python"))
def test_the_snippets_in_python_run(page: str, example_home: Path, run_line: RunLine) -> None:
    """In a personal project with a log."""
    assert 0 == run_line("roamkb init", "code/lantern").returncode
    for number, snippet in enumerate(blocks(page, "python")):
        script = example_home / f"snippet-{number}.py"
        script.write_text(snippet)
        done = run_line(f"PYTHONPATH='{_ROOT}' '{sys.executable}' '{script}'", "code/lantern")
        assert 0 == done.returncode, done.stdout


def test_the_proposal_on_the_page_is_taken(run_line: RunLine) -> None:
    """By the command that the page shows, here-document and all."""
    (line,) = [block for block in blocks("docs/log-and-pipeline.md", "sh") if "--proposals" in block]
    assert 0 == run_line("roamkb init", "code/lantern").returncode
    done = run_line(line, "code/lantern")
    assert (0, True) == (done.returncode, "invoice-numbers-restart-at-1-every-year" in done.stdout), done.stdout


def test_the_lines_of_a_log_have_the_fields_and_events_that_the_page_lists(
    example_home: Path, run_line: RunLine
) -> None:
    """What is written is listed; more is read."""
    said = "'Invoices are numbered by year' --type gotcha"
    key = "gotcha-invoices-are-numbered-by-year"
    for line in (
        "init",
        f"learn {said} --task t-1 --session s-1 --agent a --tag x --category bug_fix --action CREATE --file 'a/*.py'",
        f"learn {said} --task t-2",
        "learn 'Invoices are numbered by month' --type gotcha",
        f"verify {key} --accuracy 0.9 --relevance 0.9 --specificity 0.9",
        f"pin {key}",
        f"prefer {key}",
        "task start t-1 --title 'Number invoices'",
        "remedy record --error 'ValueError: x' --technique 'Do y' --outcome success",
        f"template create numbering --task-type numbers --learning {key}",
        "undo $(grep pinned .roamkb/ledger.jsonl | cut -d '\"' -f 4)",
        f"learn 'Invoices are numbered by day' --type gotcha --supersedes {key}",
    ):
        done = run_line(f"roamkb {line}", "code/lantern")
        assert 0 == done.returncode, done.stdout
    listed = set(re.findall(r"`(\w+)`", _TEXTS["docs/log-and-pipeline.md"].partition("### Lines")[2]))
    log, ledger = (
        [json.loads(line) for line in (example_home / "code/lantern/.roamkb" / name).read_text().splitlines()]
        for name in ("knowledge.jsonl", "ledger.jsonl")
    )
    happened = {event["event"] for event in ledger}
    assert set() == {field for line in log for field in line} - listed
    assert set() == happened - listed
    assert {
        "repeated",
        "superseded",
        "judged",
        "pinned",
        "preferred",
        "task",
        "attempted",
        "templated",
        "undone",
    } <= happened


@pytest.mark.parametrize("page", pages_with("toml"))
def test_the_snippets_of_settings_are_toml(page: str) -> None:
    """Codex reads its settings strictly."""
    assert all(tomllib.loads(block) for block in blocks(page, "toml"))


def test_the_generated_parts_are_up_to_date() -> None:
    """`make docs` would change nothing."""
    command = [sys.executable, str(_ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stdout), f"run `make docs`\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_command_has_a_heading(operation: Operation) -> None:
    """Nothing has to be found out from the help alone."""
    assert re.search(rf"^### {operation.name}$", _TEXTS["docs/commands.md"], re.MULTILINE)


@pytest.mark.parametrize("page", _DOCUMENTS)
def test_every_command_that_is_named_exists(page: str) -> None:
    """The rule once told every agent to run a command that wasn't there."""
    named = set(re.findall(r"(?:`|\$ )roamkb ([a-z]+)", _TEXTS[page]))
    # harnesses call them at every step, and have no time for the table
    assert set() == named - {operation.name for operation in OPERATIONS} - {"hook", "exec"}


def test_the_readme_is_read_in_one_sitting() -> None:
    """What it doesn't say, another document says."""
    assert 200 >= len(_TEXTS["README.md"].splitlines())


def test_the_readme_leads_to_every_document() -> None:
    """Nobody has to look for a page."""
    led = {target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", _TEXTS["README.md"])}
    assert set() == {*_PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} - {"README.md"} - led


def test_places_in_the_code_are_named_in_one_document() -> None:
    """Modules move; only the map of the architecture, which is generated, has to follow."""
    packages = {path.name for path in (_ROOT / "roamkb").iterdir() if path.is_dir()} - {"data", "__pycache__"}
    place = re.compile(rf"(?<![\w/])roamkb[./](?:{'|'.join(packages)})\b|`(?:{'|'.join(packages)})/\w+")
    others = set(_DOCUMENTS) - {"docs/architecture.md", "docs/conformance.md"}
    assert {} == {page: found for page in others if (found := place.findall(_TEXTS[page]))}


def test_the_modules_that_the_architecture_names_are_there() -> None:
    """Who follows a call step by step finds each step."""
    packages = {path.name for path in (_ROOT / "roamkb").iterdir() if path.is_dir()} - {"__pycache__"}
    named = re.findall(rf"`((?:{'|'.join(packages)})/[a-z_/]*[a-z_])`", _TEXTS["docs/architecture.md"])
    gone = [name for name in named if not any((_ROOT / "roamkb" / f"{name}{end}").exists() for end in (".py", ""))]
    assert len(named) > 40
    assert [] == gone


@pytest.mark.parametrize("page", _PAGES)
def test_no_sentence_stands_twice_on_a_page(page: str) -> None:
    """Two changes of one paragraph that git joined by a union keep both."""
    prose = re.sub(r"^```.*?^```$|^\|.*?$", "", _TEXTS[page], flags=re.MULTILINE | re.DOTALL)
    sentences = [sentence for sentence in re.split(r"(?<=[.:;])\s+", " ".join(prose.split())) if len(sentence) > 60]
    assert [] == sorted({sentence for sentence in sentences if sentences.count(sentence) > 1})


def test_every_decision_that_the_code_cites_is_explained() -> None:
    """A comment says `(D21)`, and the table says why."""
    sources = [path for folder in ("roamkb", "tests") for path in (_ROOT / folder).rglob("*.py")]
    cited = {
        number
        for path in sources
        for group in re.findall(r"\((?:[^()\n]* )?(D\d+(?:, D\d+)*)\)", path.read_text(encoding="utf-8"))
        for number in group.split(", ")
    }
    table = re.findall(r"^\| (D\d+) \|", _TEXTS["docs/architecture.md"], re.MULTILINE)
    assert len(cited) > 10
    assert [] == sorted(cited - set(table))


def fields(shape: str) -> Iterator[tuple[str, ...]]:
    """Yield the path of each key that a shape such as `{a, b:[{c}]}` names; what is elided is none."""
    path: list[str] = []
    key = ""
    for token in re.findall(r"[{}]|…[^,}\]]*|\w+", shape.replace("|null", "")):
        if token == "{":
            path.append(key)
        elif token == "}":
            path.pop()
        elif not token.startswith("…"):
            key = token
            yield (*path[1:], key)


def has(value: object, path: tuple[str, ...]) -> bool:
    """Say whether a JSON value has a key; what is empty or null has whatever it would have."""
    if value is None:
        return True
    if isinstance(value, list):
        return not value or has(value[0], path)
    return not path or (isinstance(value, dict) and path[0] in value and has(value[path[0]], path[1:]))


@pytest.mark.parametrize(
    ("name", "line", "folder"),
    [
        ("search", "search oauth", "code/lantern"),
        ("nodes", "nodes", "code/lantern"),
        ("show", "show Backups", "code/lantern"),
        ("links", "links Backups", "code/lantern"),
        ("write", "write 'A new fact'", "code/lantern"),
        ("supersede", "supersede 'The label printer wants 203 dpi images' 'Another printer'", "code/lantern"),
        ("trash", "trash 'The label printer wants 203 dpi images'", "code/lantern"),
        ("inventory", "inventory", "code/lantern"),
        ("classify", "classify", "code/lantern"),
        ("hygiene", "hygiene", ""),
        ("conflicts", "conflicts", ""),
        ("doctor", "doctor", ""),
        ("install", "install --dry-run", ""),
        ("tags", "tags", "code/lantern"),
        ("index", "index", "code/lantern"),
        ("init", "init", "code/lantern"),
        ("learn", "learn 'Dates are TEXT'", "logged"),
        ("observe", "observe --from-command 'bd comments add b-1 \"DECISION: Cents it is\"'", "logged"),
        ("recall", "recall", "logged"),
        ("audit", "audit", "logged"),
        ("refine", "refine", "logged"),
        ("curate", "curate", "logged"),
        ("explain", "explain learned-invoices-are-numbered-by-year", "logged"),
        ("pin", "pin learned-invoices-are-numbered-by-year", "logged"),
        ("export", "export", "logged"),
        ("journal", "journal", "code/lantern"),
        ("snapshot", "snapshot", "logged"),
        ("consolidate", "consolidate session", "logged"),
        ("verify", "verify --batch", "logged"),
        ("review", "review", "logged"),
        ("ingest", "ingest", "logged"),
        ("task", "task start b-2 --title 'Number invoices'", "logged"),
        ("brief", "brief", "logged"),
        ("relevant", "relevant --title 'Number invoices'", "logged"),
        ("remedy", "remedy suggest --error 'ValueError: x'", "logged"),
        ("stats", "stats", "logged"),
        ("refused", "write 'A fact'", "projects/work/billing"),
        ("error", "write 'OAuth redirect URIs must match exactly'", "code/lantern"),
    ],
)
def test_json_has_the_fields_that_the_page_names(name: str, line: str, folder: str, run_line: RunLine) -> None:
    """Each shape, with every key down to the last."""
    (block,) = blocks("docs/json.md", "text")
    (shape,) = re.findall(rf"^{name} +(\{{.*(?:\n +.*)*)", block, re.MULTILINE)
    # another form of the same command follows
    shape = re.split(r"(?<=\})\s{3,}(?=[\w-])", shape)[0]
    if folder == "logged":
        folder = "code/lantern"
        assert 0 == run_line("roamkb init && roamkb learn 'Invoices are numbered by year'", folder).returncode
    answer = json.loads(run_line(f"roamkb {line} --json", folder).stdout)
    assert answer["schema"] == 1
    assert [path for path in fields(shape) if not has(answer, path)] == []


def test_every_error_code_is_listed_with_its_status() -> None:
    """As the classes of errors have them."""
    listed = re.findall(r"^\| `(\w+)` \| (\d+) \|", _TEXTS["docs/json.md"], re.MULTILINE)
    classes = [value for value in vars(roamkb.core.errors).values() if isinstance(value, type)]
    known = {(one.code, str(one.exit_code)) for one in classes if issubclass(one, RoamkbError)}
    statuses = re.findall(r"^\| (\d+) \|", _TEXTS["docs/json.md"], re.MULTILINE)
    assert sorted(known) == sorted(listed)
    assert {"0", "1", *(status for _, status in known)} == set(statuses)


def test_every_status_of_the_server_is_listed() -> None:
    """What its guard refuses, and what errors are there."""
    guard = (_ROOT / "roamkb/interfaces/http/request_guard.py").read_text(encoding="utf-8")
    known = {*map(int, re.findall(r"UnwelcomeRequest\(\s*(\d{3})\b", guard)), *STATUSES.values()}
    listed = re.findall(r"^\| (\d{3}) \|", _TEXTS["docs/http.md"], re.MULTILINE)
    assert sorted(known) == list(map(int, listed))


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if not one.door], ids=lambda one: one.name)
def test_every_command_has_its_fields_listed(operation: Operation) -> None:
    """By itself, or on the line of one that gives the same."""
    (shapes,) = blocks("docs/json.md", "text")
    while (flat := re.sub(r"\{[^{}]*\}", "", shapes)) != shapes:
        shapes = flat
    assert operation.name in re.findall(r"(?<![\w-])[a-z]+", shapes)


def anchors(text: str) -> set[str]:
    """Return the anchors that a forge makes of a page's headings."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", outside, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", _DOCUMENTS)
def test_links_lead_somewhere(page: str) -> None:
    """To a file that is there, and to a heading of it."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", _TEXTS[page], flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose):
        file, _, anchor = target.partition("#")
        path = (_ROOT / page).parent / file if file else _ROOT / page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), target


@pytest.mark.parametrize("page", _DOCUMENTS)
def test_every_make_target_that_is_named_is_there(page: str) -> None:
    """What people are told to type works."""
    makefile = (_ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:`|^ {4})make ([a-z]+)", _TEXTS[page], re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
