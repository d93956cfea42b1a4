"""Extraction of learnings from a session's transcript by a language model, optional (D22)."""

from pathlib import Path

from roamkb.app.log.learn import put_through_gate
from roamkb.app.log.learn import take_learning
from roamkb.app.log.models import model_asker
from roamkb.app.log.models import named_model
from roamkb.app.log.project_context import ProjectContext
from roamkb.boundary import policy
from roamkb.boundary.store import folder_evidence
from roamkb.boundary.store import session_folders
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import known_titles
from roamkb.models import answers
from roamkb.models.store import prompts
from roamkb.pipeline import learn_proposals
from roamkb.pipeline import proposed_learning
from roamkb.pipeline.extract import model_extraction
from roamkb.pipeline.store import transcripts


def extract(context: ProjectContext, request: "model_extraction.ExtractRequest") -> "learn_proposals.ProposalOutcomes":
    """Have `model` propose learnings from a session's transcript; without `session` the latest.

    What it proposes goes through the gate as an agent's proposals do. At work its human is asked first.

    Raises:
        UsageError: no model, one that can't or may not be asked, or one that answered nonsense.
        NotFound: no transcript. NoLog, Refused, DiskError, NotDurable.
    """
    if request.model is None:
        raise UsageError("which model?", hint=f"roamkb extract --with {declared('models')[0]}")
    log = context.log_to_write("")
    path = _find_session_transcript(context, request.session)
    _require_no_work(context, path)
    passages = transcripts.read_transcript(path).passages
    model_prompt = prompts.read_prompt("extract-3")
    ask = model_asker(
        context, request.model, model_prompt.text, about=f"the transcript of the session {one_line(path.stem)}"
    )
    answer = ask(model_extraction.transcript_payload(passages))
    if isinstance(answer, answers.ModelTrouble):
        raise UsageError(answer.why, hint="nothing was learned; ask again, or another model")
    proposals, rejected_reasons = model_extraction.parse_extracted(answer)
    author = replace(
        context.make_author(session=request.session or path.stem), agent=named_model(context, request.model).label
    )
    maker = {proposed_learning.EXTRACTED_FIELD: {"model": author.agent, "prompt": model_prompt.label}}
    outcomes = learn_proposals.take_proposals(
        log,
        proposals,
        author,
        learn=lambda new_learning, superseded_key: take_learning(
            context,
            replace(new_learning, extra={**new_learning.extra, **maker}),
            agent=author.agent,
            session=author.session,
            supersedes=superseded_key,
        ),
        verify=lambda id: put_through_gate(context, log, id, author),
    )
    refused = (
        learn_proposals.ProposalOutcome(outcome="refused", why=(reason,), text="no proposal")
        for reason in rejected_reasons
    )
    return replace(outcomes, taken=(*outcomes.taken, *refused))


def _require_no_work(context: ProjectContext, path: Path) -> None:
    """Raise `Refused` where the session was at work, by a hook or its own lines, and the log isn't work's."""
    context.log_to_write(f"what is said in {path}", session=path.stem)
    rule = context.kb.find_rule()
    folders = map(Path, session_folders.transcript_folders(str(path)))
    kinds = (folder_evidence.classify_folder(folder, rule).kind for folder in folders)
    policy.require_no_work(kinds, context.log_project, fact=f"what is said in {path}")


def _find_session_transcript(context: ProjectContext, session: str | None) -> "Path":
    """Return the transcript file of a session; of the project's latest without one."""
    home, environment = context.environment.home, context.environment.variables
    if session is not None:
        transcript_path = transcripts.find_transcript(session, home=home, environment=environment)
    else:
        transcript_path = next(
            reversed(list(transcripts.session_transcripts(home, environment, context.project_root))), None
        )
    if transcript_path is None:
        raise NotFound(
            session or str(context.project_root),
            kind="transcript",
            hint=f"give the id of a session of {known_titles()} on this machine: --session ID",
        )
    return transcript_path
