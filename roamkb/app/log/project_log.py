"""The log of one project: wires storage and actions together, as `app` does for the knowledge base."""

import os
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from datetime import time
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb.app import requests
from roamkb.app.operation_method import takes
from roamkb.core.errors import BadRule
from roamkb.core.errors import NoLog
from roamkb.core.errors import UsageError
from roamkb.core.text import shown
from roamkb.core.text import texts_of
from roamkb.kb.notes.file_names import require_name

if TYPE_CHECKING:
    from roamkb.app import KnowledgeBase
    from roamkb.app import ProcessEnvironment
    from roamkb.boundary.human_consent import HumanAtTerminal
    from roamkb.core.model import Hit
    from roamkb.core.model import Project
    from roamkb.core.model import ProjectKind
    from roamkb.kb.write import NodeContent
    from roamkb.log.init import InitialisedLog
    from roamkb.log.learn import LearnResult
    from roamkb.log.new_learning import Author
    from roamkb.log.new_learning import NewLearning
    from roamkb.log.recall import LogFigures
    from roamkb.log.recall import RecallResult
    from roamkb.log.state.learning_state import LearningState
    from roamkb.log.state.learning_state import LogState
    from roamkb.log.store.index import LogIndex
    from roamkb.log.store.project_log import Log
    from roamkb.pipeline.ingest.ingest import IngestResult


class ProjectLog:
    """What the agents of the current project learned, in the project's own tree."""

    def __init__(
        self,
        around: "ProcessEnvironment",
        kb: "KnowledgeBase",
        *,
        folder: Path | None,
        ask: Callable[[str], str] | None = None,
        progress: Callable[[int, int], None] | None = None,
        human: "HumanAtTerminal | None" = None,
    ) -> None:
        """Take what `KnowledgeBase` found around it, and the knowledge base itself."""
        self._around = around
        self._kb = kb
        self._folder = folder
        self._ask = ask
        self._terminal = human
        self._progress = progress

    def _session(self) -> "Project":
        """What this session's project is, by the strictest of all evidence."""
        return self._kb.classify()

    @takes(lambda: requests.InitRequest)
    def init(self, request: "requests.InitRequest") -> "InitialisedLog":
        """Make the project's log; a second call changes nothing.

        What came with the project counts once a human at the terminal takes it, or said `yes`.

        Raises:
            UsageError: no log can be kept there, or nobody took the one that came with the project.
        """
        from roamkb.boundary.store.folder_evidence import find_rule
        from roamkb.log.init import init

        rule = find_rule(self._around.home, account_home=self._around.account_home)
        kb = None if isinstance(rule, BadRule) else rule.kb
        state = self._kb._state
        if kb is not None:
            # who syncs the knowledge base would sync the machine's secret
            state.lock_file(kb)
        return init(
            self._root,
            home=self._around.home,
            kb=kb,
            state=state.state,
            untracked=request.untracked,
            yes=request.yes,
            led_by=self._led_by,
            ask=self._ask,
        )

    def take(
        self,
        saying: "NewLearning",
        *,
        agent: str | None = None,
        session: str | None = None,
        supersedes: str | None = None,
        any_type: bool = True,
        offer_paraphrases: bool = False,
    ) -> "LearnResult":
        """Add `saying` to the log, as `learn` does; where `any_type`, whatever its type's spelling.

        What hooks take in names no paraphrases.
        """
        from roamkb.log.learn import learn

        log = self._log(saying.content)
        hand = self._hand(agent=agent, session=session)
        return learn(
            log,
            lambda state: self._finder(log, state),
            saying,
            hand,
            supersedes=supersedes,
            any_type=any_type,
            offer_paraphrases=offer_paraphrases,
        )

    def keep(self, fact: "NodeContent") -> Path | None:
        """Add to the log a fact that the knowledge base may not have; return where it is now, if anywhere."""
        from roamkb.core.errors import NotDurable
        from roamkb.core.errors import RoamkbError
        from roamkb.log.new_learning import NewLearning

        text = f"{fact.title}\n\n{fact.body}" if fact.body.strip() else fact.title
        saying = NewLearning(content=text, tags=fact.tags, provenance=fact.source)
        try:
            return self.take(saying, agent=fact.by).path
        except NotDurable as error:
            return error.path
        except RoamkbError:
            return None

    @takes(lambda: requests.RecallRequest)
    def recall(self, request: "requests.RecallRequest") -> "RecallResult | LogFigures":
        """Return the learnings that answer `words`, best first; without words the latest.

        With `kb`, the nodes of the knowledge base that answer stand among them.

        Raises:
            NoLog: the project has none.
        """
        from dataclasses import replace

        from roamkb.kb.search.query import parse_query
        from roamkb.log import recall as recalling
        from roamkb.log.learning import canonical_type
        from roamkb.log.recall_ranking import RecallFilter
        from roamkb.log.state.learning_state import SCOPES

        require_name(request.task or "", "the task")
        if request.scope and request.scope not in SCOPES:
            raise UsageError(f"no scope {shown(request.scope)}", hint=f"one of {', '.join(SCOPES)}")
        log = self._log_to_read()
        hand = self._hand(agent=request.agent, session=request.session)
        contents = log.read()
        at = self._moment("--as-of", request.as_of)
        state = contents.state(as_of=at)
        if request.stats:
            return recalling.figures(state)
        if request.id is not None:
            found = recalling.recall_one(log, state, request.id)
        else:
            found = recalling.recall(
                state,
                # a look back takes nothing out of the index
                self._finder(log, state if at is None else contents.state()),
                parse_query(
                    request.words if isinstance(request.words, str) else " ".join(request.words),
                    today=hand.now.date(),
                ),
                RecallFilter(
                    type=canonical_type(request.type) if request.type else "",
                    topic=request.topic or "",
                    scope=request.scope or "",
                    least_confidence=hundredths(request.min_confidence) or 0,
                    action=request.action or "",
                    tags=texts_of(request.tags),
                    concerns=self._concerns(log, request.file),
                    archived=request.all,
                ),
                recalling.RecallPage(
                    limit=_first(request.recent, request.limit, recalling.DEFAULT),
                    offset=request.offset or 0,
                    by_time=request.recent is not None,
                ),
                agent=hand.agent,
                doubts_of=self._doubts_of(log),
                now=hand.ts,
            )
        if request.kb:
            nodes = self._nodes(request.words, found.limit)
            found = recalling.joined(found, nodes, agent=hand.agent, now=hand.ts)
        ids = [one.standing.id for one in found.learnings]
        self._keep_receipt(log, hand, ids, by="recall", task=request.task)
        wanted = canonical_type(request.type) if request.type else ""
        return replace(
            found,
            form="raw" if request.raw else "framed" if request.framed else "plain",
            unknown_type=(request.type or "") if wanted and not state.having("type", wanted) else "",
        )

    @takes(lambda: requests.IngestRequest)
    def ingest(self, request: "requests.IngestRequest") -> "IngestResult":
        """Take what another tool keeps for the project into its log; a second call adds nothing.

        With `memory`, what Claude Code remembers of the project, or what lies in `folder`; without
        `yes` it is only looked at.

        Raises:
            Refused: the source is a work project's, or says so itself, and this is another's log; this
                comes first.
            NoLog: the project has none. NotFound: the file that was named isn't there.
            UsageError, DiskError, Busy: nothing more was written. NotDurable: it was, perhaps.
        """
        from roamkb.core.model import ProjectKind
        from roamkb.pipeline.ingest import ingest as ingesting

        if not request.memory and (request.folder is not None or request.yes):
            raise UsageError("a folder and --yes go with --memory", hint="roamkb ingest --file FILE")
        if request.memory and request.file is not None:
            raise UsageError("--memory takes a folder", hint="roamkb ingest --memory [DIR]")
        folder_found = self._memory(request.folder) if request.memory else None
        paths = ((folder_found,) if folder_found else ()) if request.memory else self._sources(request.file)
        kinds = [self._require_source(path) for path in paths]
        if not request.memory:
            from roamkb.boundary.policy import require_no_work

            for path in paths:
                if request.file is None:
                    self._require_own_tree(path)
                require_no_work(ingesting.kinds_said(path), self._place, fact=f"what {path} says")
        log = self._log(f"what {paths[0] if paths else 'another tool'} says")
        is_dry_run = request.dry_run or (request.memory and not request.yes)
        if not paths:
            return ingesting.IngestResult(file=None, is_dry_run=is_dry_run)
        return ingesting.ingest(
            log,
            ingesting.memory_lines(paths[0]) if request.memory else ingesting.knowledge_lines(*paths),
            self._hand(),
            files=paths,
            kind=min(kinds, key=list(ProjectKind).index),
            dry_run=is_dry_run,
            preview=request.memory,
        )

    # What the operations need

    @property
    def _human(self) -> "HumanAtTerminal | None":
        """The human at the terminal, if there is one.

        Raises:
            UsageError: an agent runs this, and may have made the terminal itself.
        """
        from roamkb.boundary.human_consent import require_no_agent

        if self._terminal is not None:
            require_no_agent(self._around.led_by)
        return self._terminal

    @property
    def _led_by(self) -> str:
        """Why what is said here is no human's word; empty where it may be one's."""
        is_asked_at_a_terminal = self._ask is not None and self._terminal is not None
        return self._around.led_by or (self._around.no_login if is_asked_at_a_terminal else "")

    @property
    def _here(self) -> Path:
        """The folder that relative paths begin at."""
        return self._around.cwd or Path("/")

    def _sources(self, file: str | None) -> tuple[Path, ...]:
        from roamkb.pipeline.store.sources import find_sources

        file = None if file is None else require_name(file, "the file")
        return find_sources(self._root, file=file, environment=self._around.environment, base=self._here)

    def _require_own_tree(self, path: Path) -> None:
        """Raise where a file that nobody named is another project's: this log may be anybody's to read."""
        from roamkb.pipeline.store.sources import leads_out

        if leads_out(path, self._root, environment=self._around.environment):
            raise UsageError(
                f"{shown(str(path))} leads out of the project; nothing was read",
                hint="a link or a setting of the repository says so: if you want it, name it with --file",
            )

    def _memory(self, folder: str | None) -> Path | None:
        from roamkb.pipeline.store.sources import find_memory

        if folder is None:
            return find_memory(self._around.home, self._root)
        return self._here / require_name(folder, "the folder")

    def _require_source(self, path: Path) -> "ProjectKind":
        """Return what the project is that `path` belongs to, where this log may have what it says.

        Raises:
            Refused: it is another's, and work. UsageError: it is the log itself, or in the knowledge base.
        """
        from roamkb.boundary.policy import require_own_tree
        from roamkb.boundary.store.folder_evidence import find_rule
        from roamkb.boundary.store.folder_evidence import lies_within
        from roamkb.boundary.store.folder_evidence import work_below
        from roamkb.pipeline.store.sources import belongs_to
        from roamkb.pipeline.store.sources import shares_tree

        rule = find_rule(self._around.home, account_home=self._around.account_home)
        source = belongs_to(path, rule, self._place)
        is_inside = shares_tree(path, source, self._place, rule)
        require_own_tree(source, self._place, is_inside=is_inside, fact=f"what {path} says")
        if path.is_dir() and not isinstance(rule, BadRule) and (below := work_below(path, rule)):
            raise UsageError(f"{shown(below)}; nothing was read", hint="name the folder of the memory itself")
        if lies_within(path, self._root / ".roamkb"):
            raise UsageError(f"{shown(str(path))} is of the log itself", hint="name another tool's file")
        if not isinstance(rule, BadRule) and lies_within(path, rule.kb):
            raise UsageError(
                f"{shown(str(path))} lies in the knowledge base, whose notes are no log",
                hint="agents find them there by `roamkb recall WORDS --kb`",
            )
        return source.kind

    def _nodes(self, words: Sequence[str] | str, limit: int) -> "Sequence[Hit]":
        """Return the nodes that answer `words`; none where nothing is asked for."""
        text = words if isinstance(words, str) else " ".join(words)
        return self._kb.search(text, limit=limit).hits if text.strip() else ()

    def _doubts_of(self, log: "Log") -> "Callable[[LearningState], Mapping[str, str]]":
        """Return what says why a learning ranks lower: the ledger, its own text, and files that are gone."""
        from roamkb.curation.audit import doubts_about
        from roamkb.pipeline.store.references_on_disk import ProjectReferences

        grounds = ProjectReferences(log.root)
        return lambda standing: doubts_about(standing, grounds)

    def _keep_receipt(
        self, log: "Log", hand: "Author", ids: Sequence[str], *, by: str, task: str | None
    ) -> None:
        """Record what is shown; where that can't be, it is shown all the same.

        What a stricter project's session asks for is its own affair, and recorded in no other's tree (D11).
        """
        from contextlib import suppress

        from roamkb.boundary.policy import require_as_strict
        from roamkb.core.errors import RoamkbError
        from roamkb.log.store.receipts import keep_receipt

        if ids:
            with suppress(RoamkbError):
                require_as_strict(self._session(), self._place, "")
                keep_receipt(log.local, hand, ids, by=by, task=task or "")

    @property
    def is_there(self) -> bool:
        """Whether the project has a log that this session may write to."""
        from roamkb.core.errors import RoamkbError

        try:
            self._log("")
        except RoamkbError:
            return False
        return True

    @cached_property
    def _place(self) -> "Project":
        """The project whose log it is, by its folder alone."""
        from roamkb.boundary.classify import classify

        folder = self._folder if self._folder is not None else self._around.cwd
        if folder is None:
            raise NoLog(None)
        return classify(
            (self._around.cwd or Path("/")) / folder,
            home=self._around.home,
            account_home=self._around.account_home,
        )

    @property
    def _root(self) -> Path:
        if self._place.root is None:
            raise NoLog(None)
        return self._place.root

    def whole(self) -> "Log":
        """Return the log of the project's place, whether it is there or counts, for who looks after it."""
        from roamkb.log.store.project_log import Log

        return Log(self._root, self._kb._state.state)

    def _log_to_read(self) -> "Log":
        return self.whole().require()

    def _log(self, fact: str) -> "Log":
        """Return the log to write `fact` to; nothing from work or nowhere goes into a looser project's."""
        from roamkb.boundary.policy import require_as_strict

        log = self._log_to_read()
        require_as_strict(self._session(), self._place, fact)
        return log

    def _finder(self, log: "Log", state: "LogState") -> "LogIndex":
        from roamkb import __version__
        from roamkb.log.store.index import LogIndex

        return LogIndex(
            log.local / "index",
            state.learnings,
            version=__version__,
            digest=state.digest,
            since=state.since,
        )

    def _hand(self, *, agent: str | None = None, session: str | None = None) -> "Author":
        from roamkb.log.new_learning import Author

        now = self._around.now()
        return Author(
            agent=require_name(agent or self._around.agent, "the agent"),
            session=require_name(session or self._around.session, "the session"),
            # what `platform.node` gives, without the time that importing it takes
            machine=os.uname().nodename,
            kind=self._session().kind,
            now=now,
            new_id=lambda: self._around.new_id(now),
            is_human=self._ask is not None and not self._led_by,
            process="" if session or self._around.session else self._process(),
        )

    def _process(self) -> str:
        """Return what stands for the session of an agent that names none: the process that it runs in."""
        harness = self._around.harness
        return harness[0] if harness else ""

    def _concerns(self, log: "Log", file: str | None) -> Callable[[Sequence[str]], bool] | None:
        """Return what says whether patterns mean `file`, a path from here or from the project's root."""
        if file is None:
            return None
        from roamkb.core.gitignore import concerns

        path = Path(require_name(file, "the file"))
        if path.is_absolute() or (self._around.cwd and (self._around.cwd / path).exists()):
            path = (self._around.cwd or Path("/")) / path
            if not path.is_relative_to(log.root):
                raise UsageError(f"{shown(file)} isn't a file of {shown(str(log.root))}")
            path = path.relative_to(log.root)
        asked, known = str(path), dict[tuple[str, ...], bool]()

        def concerned(patterns: Sequence[str]) -> bool:
            key = tuple(patterns)
            if key not in known:
                known[key] = bool(patterns) and concerns(patterns, asked)
            return known[key]

        return concerned

    def _moment(self, option: str, text: str | None) -> float | None:
        """Return the end of the day, or the moment, that `text` names, in seconds since 1970."""
        from roamkb.kb.search.query import parse_day

        if text is None:
            return None
        try:
            at = datetime.fromisoformat(text)
            is_day = at.time() == time() and "T" not in text and ":" not in text
        except ValueError:
            day = parse_day(text, today=self._around.now().date())
            if day is None:
                raise UsageError(f"{option} {shown(text)} is no day", hint="say 2026-06-10 or 7d") from None
            at, is_day = datetime.fromisoformat(day), True
        try:
            return (at + timedelta(days=1, microseconds=-1) if is_day else at).timestamp()
        except (ValueError, OverflowError, OSError):
            raise UsageError(
                f"{option} {shown(text)} is out of the calendar", hint="say 2026-06-10"
            ) from None


def _first(*values: int | None) -> int:
    return next(value for value in values if value is not None)


def hundredths(text: str | None) -> int | None:
    """Return a confidence of 0.00 to 1.00 in hundredths."""
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"{shown(text)} is no confidence", hint="a number from 0 to 1, such as 0.7")
    return round(value * 100)
