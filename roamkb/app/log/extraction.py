"""What a language model finds in a session's transcript, for those who want one (D22)."""

from typing import TYPE_CHECKING

from roamkb.app.log.learn import put_through_gate
from roamkb.app.log.learn import take_learning
from roamkb.app.log.models import model_asker
from roamkb.app.log.models import named_model
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.text import shown

if TYPE_CHECKING:
    from pathlib import Path

    from roamkb.app import requests
    from roamkb.app.log.project_context import ProjectContext
    from roamkb.pipeline.learn_proposals import ProposalOutcomes


def extract(context: "ProjectContext", request: "requests.ExtractRequest") -> "ProposalOutcomes":
    """Have `model` propose what of a session's transcript is worth keeping; without `session` the latest.

    What it proposes goes through the gate as an agent's proposals do. At work its human is asked first.

    Raises:
        UsageError: no model, one that can't or may not be asked, or one that answered nonsense.
        NotFound: no transcript. NoLog, Refused, DiskError, NotDurable.
    """
    from roamkb.core.startup.dataclasses import replace
    from roamkb.models.answers import ModelTrouble
    from roamkb.models.store.prompts import prompt
    from roamkb.pipeline.extract.model_extraction import parse_extracted
    from roamkb.pipeline.extract.model_extraction import transcript_payload
    from roamkb.pipeline.learn_proposals import ProposalOutcome
    from roamkb.pipeline.learn_proposals import take_proposals
    from roamkb.pipeline.proposed_learning import EXTRACTED
    from roamkb.pipeline.store.transcripts import read_transcript

    if request.model is None:
        raise UsageError("which model?", hint="roamkb extract --with claude")
    log = context.log_to_write("")
    path = _transcript(context, request.session)
    passages = read_transcript(path).passages
    told = prompt("extract-2")
    ask = model_asker(
        context, request.model, told.text, about=f"the transcript of the session {shown(path.stem)}"
    )
    answer = ask(transcript_payload(passages))
    if isinstance(answer, ModelTrouble):
        raise UsageError(answer.why, hint="nothing was learned; ask again, or another model")
    proposals, wrong = parse_extracted(answer)
    hand = replace(
        context.author(session=request.session or path.stem), agent=named_model(context, request.model).label
    )
    maker = {EXTRACTED: {"model": hand.agent, "prompt": told.label}}
    done = take_proposals(
        log,
        proposals,
        hand,
        learn=lambda saying, old: take_learning(
            context,
            replace(saying, extra={**saying.extra, **maker}),
            agent=hand.agent,
            session=hand.session,
            supersedes=old,
        ),
        verify=lambda id: put_through_gate(context, log, id, hand),
    )
    refused = (ProposalOutcome(outcome="refused", why=(why,), text="no proposal") for why in wrong)
    return replace(done, taken=(*done.taken, *refused))


def _transcript(context: "ProjectContext", session: str | None) -> "Path":
    """Return the file of a session; of the project's latest where none is named."""
    from roamkb.pipeline.store.transcripts import find_transcript
    from roamkb.pipeline.store.transcripts import transcripts

    home, environment = context.environment.home, context.environment.variables
    if session is not None:
        found = find_transcript(session, home=home, environment=environment)
    else:
        found = next(reversed(list(transcripts(home, environment, context.root))), None)
    if found is None:
        raise NotFound(
            session or str(context.root),
            what="transcript",
            hint="give the id of a session of Claude Code or Codex on this machine: --session ID",
        )
    return found
