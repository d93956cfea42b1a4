"""What the transcripts of sessions say of the learnings that were made in them."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.core.text import clipped
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.state.learning_state import LearningState
from roamkb.pipeline.gate.transcript_evidence import ClaimAttestation
from roamkb.pipeline.gate.transcript_evidence import attestation_of
from roamkb.pipeline.gate.transcript_evidence import place_of_claim
from roamkb.pipeline.gate.transcript_evidence import weigh
from roamkb.pipeline.proposed_learning import EXTRACTED
from roamkb.pipeline.proposed_learning import QuotedEvidence
from roamkb.pipeline.proposed_learning import evidence_of
from roamkb.pipeline.store.references_on_disk import ProjectReferences
from roamkb.pipeline.store.transcripts import find_transcript
from roamkb.pipeline.store.transcripts import read_transcript

#: Passages around a quote, and characters of each, that a judge sees.
_AROUND: Final = 2
_LONGEST: Final = 400


class SessionWitnesses:
    """The transcripts of one user's sessions in a project, each read once."""

    def __init__(self, root: Path, *, home: Path, environment: Mapping[str, str]) -> None:
        """Take the project's root, and where the user's harnesses keep their transcripts."""
        self._grounds = ProjectReferences(root)
        self._home = home
        self._environment = environment
        self._read: dict[str, Sequence[TranscriptPassage]] = {}
        self._known: dict[str, ClaimAttestation | None] = {}

    def attestation(self, standing: LearningState) -> ClaimAttestation | None:
        """Return what the transcript of a learning's own session says of it.

        Where that isn't here, what the ledger remembers; None where neither says anything.
        """
        if standing.id not in self._known:
            found = list(self._weighed(standing))
            best = next((one for one in found if one.is_good), found[0] if found else None)
            self._known[standing.id] = best or attestation_of(standing)
        return self._known[standing.id]

    def turn(self, standing: LearningState) -> str:
        """Return what was said around a learning's quote; nothing where no transcript has it."""
        learning, given = standing.learning, evidence_of(standing)
        quote, session = (given[0].quote, given[0].session) if given else ("", learning.session)
        passages = self._passages(session)
        at = place_of_claim(learning.content, quote, passages)
        if at is None:
            return ""
        near = passages[max(0, at - _AROUND) : at + _AROUND + 1]
        told = (f"{one.speaker.value}: {f'{one.command} ' if one.command else ''}{one.text}" for one in near)
        return "\n".join(clipped(" ".join(text.split()), _LONGEST) for text in told)

    def _weighed(self, standing: LearningState) -> Iterator[ClaimAttestation]:
        """Yield what the transcripts that are here say of each quote of a learning."""
        learning = standing.learning
        # who calls `learn` without a quote says it himself; an extractor took no part in the session
        says = EXTRACTED not in learning.extra
        for given in evidence_of(standing) or (QuotedEvidence(session=learning.session),):
            if passages := self._passages(given.session):
                yield weigh(
                    learning.content,
                    given.quote,
                    passages,
                    is_there=self._is_there,
                    said_now=says and not given.quote,
                )

    def _is_there(self, name: str) -> bool:
        if "/" in name or "." in name:
            return self._grounds.has_file(name)
        return bool(self._grounds.symbols_among([name]))

    def _passages(self, session: str) -> Sequence[TranscriptPassage]:
        if session not in self._read:
            path = find_transcript(session, home=self._home, environment=self._environment)
            self._read[session] = read_transcript(path).passages if path else ()
        return self._read[session]
