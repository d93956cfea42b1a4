"""A small real program on the disk layer, made to be killed and failed by the sweep.

It reads `TASK FOLDER` lines and runs each in a fork of itself, so that Python starts once
and not a thousand times. The fork waits until strace holds it; what it says goes to
`FOLDER/said`, and its process id and wait status to standard output.
"""

import contextlib
import ctypes
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from roamkb.core.errors import NotDurable
from roamkb.core.errors import RoamkbError
from roamkb.core.ids import new_id
from roamkb.core.model import ProjectKind
from roamkb.fs import files as disk
from roamkb.fs.locks import StateFolders
from roamkb.fs.locks import hold_lock
from roamkb.journal import journal as journaling
from roamkb.journal.journal import JournalContext
from roamkb.journal.store.journal import Journal
from roamkb.kb.notes.store.trash import Trash
from roamkb.log import learn as learning
from roamkb.log.init import init
from roamkb.log.jsonl import learning_line
from roamkb.log.learning import Learning
from roamkb.log.new_learning import Author
from roamkb.log.new_learning import NewLearning
from roamkb.log.state.learning_state import LearningState
from roamkb.log.state.learning_state import LogState
from roamkb.log.state.replay import replay
from roamkb.log.state.state_rows import event_row
from roamkb.log.state.state_rows import standing_row
from roamkb.log.store.cache.state_cache import StateCache
from roamkb.log.store.index import LogIndex
from roamkb.log.store.log_contents import LogContents
from roamkb.log.store.observations import mark_consolidated
from roamkb.log.store.observations import read_observations
from roamkb.log.store.observations import record_observation
from roamkb.log.store.project_log import ROTATE_AT
from roamkb.log.store.project_log import ROTATED_LINES
from roamkb.log.store.project_log import Log
from roamkb.pipeline import consolidate as consolidating
from roamkb.pipeline import learn_proposals as proposing
from roamkb.pipeline import verify as verifying
from roamkb.pipeline.extract.attention import Observation
from roamkb.pipeline.extract.model_extraction import parse_extracted
from roamkb.pipeline.gate.checks import JudgeScores
from roamkb.pipeline.gate.checks import parse_scores
from roamkb.pipeline.gate.judge_protocol import Judgement
from roamkb.pipeline.gate.judges import caller_judge
from roamkb.pipeline.ingest import ingest as ingesting
from roamkb.pipeline.proposed_learning import ProposedLearning
from roamkb.pipeline.proposed_learning import parse_proposals
from roamkb.remedies import remedy as remedying
from roamkb.remedies.episodes import ErrorEpisode
from roamkb.sharing import forget as forgetting

#: More than one page, with an end that a part of it lacks.
BODY = b":PROPERTIES:\n:ID: 1\n:END:\n#+title: old\n" * 200 + b"the end\n"
NEW_BODY = BODY.replace(b"old", b"new")
TAKEN = b"#+title: somebody else's\n"
NOTE = "20260610142900-note.org"
#: What the log says already, and what it doesn't.
KNOWN = "Zebras are striped"
#: An error that went away, and what its agent says of it.
MENDED = "src/a.c:3:10: fatal error: curl/curl.h: No such file or directory"
SAID = "The headers of libcurl come with libcurl4-openssl-dev"
#: What an agent or a model proposes.
PROPOSED = json.dumps(
    {
        "proposals": [
            {"claim": "Okapis are shy", "evidence": {"quote": "they hide", "source": "okapis.txt"}},
            {"claim": "Zebras have stripes to confuse flies", "supersedes": "k0"},
            {"withdraws": "k1"},
        ]
    }
)
NEW = "Lions sleep for most of the day"
OTHER = "20260610142900-note-0001.org"

_WHEN = datetime(2026, 6, 10, 14, 29)
_ANY_TRACER = -1
_PR_SET_PTRACER = 0x59616D61


def trash_of(folder: Path, token: str = "0001") -> Trash:
    """Return the trash of the knowledge base in `folder`."""
    state = StateFolders(state=folder / "state", cache=folder / "cache")
    kb = folder / "kb"
    return Trash(
        kb=kb,
        folder=state.trash_folder(kb),
        lock_file=state.lock_file(kb),
        now=lambda: _WHEN,
        token=lambda: token,
    )


def create(folder: Path) -> str:
    """Create a note whose first name is taken."""
    return disk.create_unique(folder / "kb", (NOTE, OTHER), BODY).name


def create_named(folder: Path) -> str:
    """Create one as where there are no unnamed files, macOS among them."""
    # a fork's own `os`; nobody else sees it
    with contextlib.suppress(AttributeError):
        del os.O_TMPFILE
    return create(folder)


def swap(folder: Path) -> str:
    """Change a note."""
    was = disk.content_digest(BODY)
    disk.swap_file(folder / "kb" / NOTE, NEW_BODY, expected_digest=was, lock=hold_lock(folder / "state" / "lock"))
    return NOTE


def trash(folder: Path, token: str = "0001") -> str:
    """Trash a note."""
    path, bin = folder / "kb" / NOTE, trash_of(folder, token)
    bin.trash_note(path, was=disk.content_digest(BODY), id="1", title="old", earlier=bin.list_entries())
    return NOTE


def trash_again(folder: Path) -> str:
    """Trash a note that is in the trash already."""
    return trash(folder, token="0002")


def restore(folder: Path) -> str:
    """Bring a note back."""
    return (trash := trash_of(folder)).restore_entry(entry := trash.get_entry("1"), trash.read_entry(entry)).name


class Yes:
    """A human who says yes."""

    def confirm(self, question: str, word: str) -> bool:
        """Say so."""
        return bool(question and word)

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Open nothing."""
        raise AssertionError(path, editor)


def keeper_of(folder: Path, *, place: str = "state/journal") -> JournalContext:
    """Return the journal of the knowledge base in `folder`, with a human who says yes."""
    journal = Journal(kb=folder / "kb", folder=folder / place)
    return JournalContext(
        journal=journal,
        lock_file=folder / "state" / "kb.lock",
        folder=None,
        human=Yes(),
    )


def journal_look(folder: Path) -> str:
    """Take in what was destroyed."""
    return str(keeper_of(folder).journal.take_look().moment)


def journal_restore(folder: Path) -> str:
    """Bring back what was; the journal lies where no fault meets it, since a look has met them all."""
    keeper = keeper_of(folder, place="journal")
    done = journaling.restore(keeper, (), mark="1", all=True, create_kb=False, dry_run=False)
    if done.plan.left:
        raise RoamkbError("; ".join(one.why for one in done.plan.left))
    if not done.is_durable:
        raise NotDurable(folder / "kb", "it said no")
    return str(len(done.plan.steps))


def bad_in_place(folder: Path) -> str:
    """Write a note under its name, as most programs do."""
    with (folder / "kb" / OTHER).open("wb") as file:
        file.write(BODY)
    return OTHER


def bad_replace(folder: Path) -> str:
    """Write beside and rename, as most careful programs do: nothing is synced, a taken name is lost."""
    beside = folder / "kb" / "note.tmp"
    beside.write_bytes(BODY)
    beside.replace(folder / "kb" / NOTE)
    return NOTE


def bad_rename(folder: Path) -> str:
    """Write beside and rename to a free name; nothing is synced."""
    beside = folder / "kb" / f"{disk.TEMPORARY_PREFIX}x.tmp"
    beside.write_bytes(BODY)
    beside.rename(folder / "kb" / OTHER)
    return OTHER


def bad_deaf(folder: Path) -> str:
    """Do everything right and don't listen to what fsync says."""
    path = folder / "kb" / OTHER
    beside = folder / "kb" / f"{disk.TEMPORARY_PREFIX}x.tmp"
    with beside.open("xb") as file:
        file.write(BODY)
        file.flush()
        with contextlib.suppress(OSError):
            os.fsync(file.fileno())
    os.link(beside, path)
    beside.unlink()
    at = os.open(path.parent, os.O_RDONLY)
    with contextlib.suppress(OSError):
        os.fsync(at)
    os.close(at)
    return OTHER


def log_of(folder: Path) -> Log:
    """Return the log of the project in `folder`."""
    return Log(folder / "state" / "site", folder / "state").require_adopted()


def _hand() -> Author:
    return Author(
        agent="me",
        session="",
        machine="m",
        kind=ProjectKind.PERSONAL,
        now=_WHEN,
        new_id=lambda: new_id(_WHEN),
    )


def _learn(folder: Path, text: str, *, supersedes: str | None = None) -> str:
    return _say(folder, NewLearning(content=text), _hand(), supersedes=supersedes).learning.id


def _say(folder: Path, saying: NewLearning, hand: Author, *, supersedes: str | None = None) -> learning.LearnResult:
    def finder(state: LogState) -> LogIndex:
        # no index can be kept there, so that it is made in memory
        return LogIndex(Path("/dev/null/index"), {id: one.learning for id, one in state.standings.items()})

    return learning.learn(log_of(folder), finder, saying, hand, supersedes=supersedes)


def learn(folder: Path) -> str:
    """Learn something new."""
    return _learn(folder, NEW)


def learn_again(folder: Path) -> str:
    """Learn what the log says."""
    return _learn(folder, KNOWN)


def learn_instead(folder: Path) -> str:
    """Learn something in place of what the log says: a line in each file."""
    return _learn(folder, NEW, supersedes="L0")


def episode(folder: Path) -> str:
    """Record what fixed an error in a session, as its deeds tell."""
    hand = replace(_hand(), session="s-1")
    deeds = ("apt-get install -y libcurl4-openssl-dev", "edit Makefile: LIBS = -lcurl")
    told = ErrorEpisode(command="make", error=MENDED, deeds=deeds)
    return f"episode {len(remedying.record_episodes(log_of(folder), [told], hand))}"


def mend(folder: Path) -> str:
    """Say what fixed it in an agent's words, in place of the deeds."""
    return remedying.replace_technique(log_of(folder), MENDED, SAID, replace(_hand(), session="s-1")).technique


def _propose(folder: Path, proposals: Sequence[ProposedLearning], hand: Author) -> str:
    log = log_of(folder)

    def verified(id: str) -> tuple[LearningState, tuple[str, ...]]:
        state = log.read_contents().replay_state()
        tuple(verifying.verify(log, verifying.Gate(state, _bench()), [state.standings[id]], hand))
        return log.read_contents().replay_state().standings[id], ()

    done = proposing.take_proposals(
        log,
        proposals,
        hand,
        learn=lambda saying, old: _say(folder, saying, hand, supersedes=old),
        verify=verified,
    )
    return " ".join(one.outcome for one in done.taken)


def propose(folder: Path) -> str:
    """Propose something new, something in place of what is known, and to take something back."""
    proposals = parse_proposals(json.loads(PROPOSED))
    return _propose(folder, proposals, replace(_hand(), session="s-1"))


def extract(folder: Path) -> str:
    """Take in what a model answered of a session."""
    proposals, _ = parse_extracted(json.loads(PROPOSED))
    return _propose(folder, proposals, replace(_hand(), session="s-1", agent="model"))


def source_of(folder: Path) -> Path:
    """Return where another tool keeps its log."""
    return folder / "state" / "source.jsonl"


def ingest(folder: Path) -> str:
    """Take in what another tool keeps: lines that are new, known, repeated and broken."""
    path = source_of(folder)
    found = ingesting.ingest(
        log_of(folder), ingesting.knowledge_lines(path), _hand(), files=[path], kind=ProjectKind.PERSONAL
    )
    return f"{found.new} new"


def observe(folder: Path) -> None:
    """Have a session say what is known, what is new twice, and what denies something."""
    said = (KNOWN + " all over their body", NEW, NEW + " in the shade", "Lions sleep 20 hours of most days")
    for number, text in enumerate((*said, said[3].replace("20", "12"))):
        told = Observation(id=str(number), ts=1.0, type="learned", text=text, session="s", agent="me")
        record_observation(log_of(folder).ignored, told)


def consolidate(folder: Path) -> str:
    """Turn what a session said into learnings, and an agent's learnings into fewer."""
    log = log_of(folder)
    consolidating.consolidate_session(log, "s", read_observations(log.ignored, "s"), _hand(), shown_learnings=())
    mark_consolidated(log.ignored, "s")
    consolidating.consolidate_agent(log, "me", _hand())
    return "s"


def verify(folder: Path) -> str:
    """Put all that wants judging through the gate."""
    log = log_of(folder)
    state = log.read_contents().replay_state()
    wanted = [one for one in state.standings.values() if verifying.needs_judging(one)]
    return f"{len(list(verifying.verify(log, verifying.Gate(state, _bench()), wanted, _hand())))} judged"


def _bench() -> verifying.JudgeContext:
    return verifying.JudgeContext(
        name="caller",
        judge=caller_judge(Judgement(scores=parse_scores(dict.fromkeys(JudgeScores.__slots__, 0.9)))),
        missing_anchors=lambda _: (),
        boot_lines={},
        shown_by_session={},
    )


def amount(folder: Path) -> str:
    """Ask what the log amounts to, and keep it or what was added to it."""
    log = log_of(folder)
    contents = log.read_contents()
    kept = StateCache(log.cache_folder / "standings", least=0)
    found = kept.load_state(contents.pages, lambda: replayed(contents))
    if found is None:
        found = replayed(contents)
        kept.save_state(contents.pages, found)
    return said_by(found)


def replayed(contents: LogContents) -> LogState:
    """Return what the lines amount to."""
    return replay(contents.learnings, contents.events, archived=contents.archived_learnings)


def said_by(state: LogState) -> str:
    """Return what stands for all that a state says."""
    told = [*map(standing_row, state.standings.values()), *map(event_row, state.events)]
    return disk.content_digest(b"\n".join(told))


def rotate(folder: Path) -> str:
    """Add the line that is one too many."""
    log = log_of(folder)
    with log.append_lock():
        log.append_entries([fact(ROTATE_AT)])
    return f"L{ROTATE_AT}"


def fact(n: int) -> Learning:
    """Return one of many learnings."""
    return Learning(id=f"L{n}", key=f"k{n}", type="learned", content=f"{KNOWN} {n}" if n else KNOWN, ts=n)


class _Consents:
    """A human who says yes."""

    def confirm(self, question: str, word: str) -> bool:
        """Say yes."""
        return bool(question and word)

    def edit(self, path: Path, editor: Sequence[str]) -> bool:
        """Edit nothing."""
        return bool(path and editor)


def forget(folder: Path) -> str:
    """Forget one of two learnings."""
    return forgetting.forget(log_of(folder), "L1", _hand(), operator="me", human=_Consents()).id


def bad_append(folder: Path) -> str:
    """Add a line as most programs do: nothing is synced, a torn line before it is glued to it."""
    with log_of(folder).knowledge.open("ab") as file:
        file.write(learning_line(Learning(id="N", key="k", type="learned", content=NEW)) + b"\n")
    return "N"


def bad_rotate(folder: Path) -> str:
    """Shorten the log first, and fill the archive then."""
    log = log_of(folder)
    lines = [*log.knowledge.read_bytes().splitlines(), learning_line(fact(ROTATE_AT))]
    beside = log.folder / f"{disk.TEMPORARY_PREFIX}x.tmp"
    beside.write_bytes(b"\n".join(lines[ROTATED_LINES:]) + b"\n")
    beside.replace(log.knowledge)
    log.archive.write_bytes(b"\n".join(lines[:ROTATED_LINES]) + b"\n")
    return f"L{ROTATE_AT}"


TASKS: dict[str, Callable[[Path], str]] = {
    task.__name__: task
    for task in (
        create,
        create_named,
        swap,
        trash,
        trash_again,
        restore,
        journal_look,
        journal_restore,
        bad_in_place,
        bad_replace,
        bad_rename,
        bad_deaf,
        learn,
        learn_again,
        learn_instead,
        episode,
        mend,
        propose,
        extract,
        ingest,
        consolidate,
        verify,
        amount,
        rotate,
        forget,
        bad_append,
        bad_rotate,
    )
}


def _run(task: Callable[[Path], str], folder: Path, said: int) -> int:
    """Return the exit status that a door would give, having said what a door would say.

    It speaks by pwritev(2): a disk that stays full for other calls may not silence it.
    """
    try:
        name = task(folder)
    except RoamkbError as error:
        os.pwritev(said, [f"roamkb: {error.message}\n{error.hint}\n".encode()], 0)
        return error.exit_code
    except Exception:  # noqa: BLE001 - a traceback is what the sweep looks for
        os.pwritev(said, [traceback.format_exc().encode()], 0)
        return 99
    os.pwritev(said, [f"ACK {name}\n".encode()], 0)
    return 0


def _wait_for_tracer() -> None:
    """Say that strace may come, and wait until a call that means nothing gets its fault."""
    os.write(1, b"%d\n" % os.getpid())
    with contextlib.suppress(OSError):
        # `KNOCK` in sweep.py; to be traced is no sign yet: it seizes first and stops us a moment later
        while True:
            os.sched_get_priority_max(os.SCHED_OTHER)
            time.sleep(0.001)


def _child(task: Callable[[Path], str], folder: Path) -> None:
    os.umask(0o022)
    said = os.open(folder / "said", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANY_TRACER, 0, 0, 0)
    _wait_for_tracer()
    os._exit(_run(task, folder, said))


def _import_all() -> None:
    """Learn something once: what is imported only then would meet the faults as well."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        root = folder / "state" / "site"
        root.mkdir(parents=True)
        init(Log(root, folder / "state"), home=folder, kbs=())
        learn(folder)
        amount(folder)
        learn_again(folder)
        amount(folder)
        source_of(folder).write_bytes(learning_line(fact(1)) + b"\n")
        observe(folder)
        (folder / "kb").mkdir()
        (folder / "kb" / NOTE).write_bytes(BODY)
        journal_look(folder)
        (folder / "kb" / NOTE).write_bytes(NEW_BODY)
        journal_look(folder)
        (folder / "state" / "journal").rename(folder / "journal")
        journal_restore(folder)
        for task in (ingest, consolidate, verify, episode, mend, propose, extract):
            task(folder)


def serve(tasks: Mapping[str, Callable[[Path], str]], warm_up: Callable[[], None]) -> None:
    """Serve `tasks` until standard input ends."""
    warm_up()
    for line in sys.stdin:
        name, folder = line.rstrip("\n").split(" ", 1)
        pid = os.fork()
        if pid == 0:
            _child(tasks[name], Path(folder))
        print(os.waitpid(pid, 0)[1], flush=True)


if __name__ == "__main__":
    serve(TASKS, _import_all)
