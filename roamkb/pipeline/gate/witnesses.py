"""Transcripts of sessions as witnesses of the learnings that were made in them."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import clip_text
from roamkb.harnesses.transcript import TranscriptPassage
from roamkb.log.observation import Observation
from roamkb.log.state.learning_state import LearningState
from roamkb.pipeline.gate.transcript_evidence import ClaimAttestation
from roamkb.pipeline.gate.transcript_evidence import correct_claim
from roamkb.pipeline.gate.transcript_evidence import index_of_claim
from roamkb.pipeline.gate.transcript_evidence import recorded_attestation
from roamkb.pipeline.gate.transcript_evidence import weigh_claim
from roamkb.pipeline.proposed_learning import EXTRACTED_FIELD
from roamkb.pipeline.proposed_learning import QuotedEvidence
from roamkb.pipeline.proposed_learning import evidence_of
from roamkb.pipeline.store.references_on_disk import ProjectReferences
from roamkb.pipeline.store.transcripts import find_transcript
from roamkb.pipeline.store.transcripts import read_transcript

#: Passages around a quote, and characters of each, that a judge sees.
_PASSAGES_AROUND: Final = 2
_LONGEST_PASSAGE: Final = 400


class SessionWitnesses:
    """The transcripts of one user's sessions in a project, each read once."""

    def __init__(self, root: Path, *, home: Path, environment: Mapping[str, str]) -> None:
        """Take the project's root, and where the user's harnesses keep their transcripts."""
        self._grounds = ProjectReferences(root)
        self._home = home
        self._environment = environment
        self._read: dict[str, Sequence[TranscriptPassage]] = {}
        self._known: dict[str, ClaimAttestation | None] = {}

    def find_attestation(self, standing: LearningState) -> ClaimAttestation | None:
        """Return the attestation of a learning by the transcript of its own session.

        Where that isn't here, what the ledger remembers; None where neither says anything.
        """
        if standing.id not in self._known:
            attestations = list(self._weigh_quotes(standing))
            best_attestation = next(
                (attestation for attestation in attestations if attestation.is_good),
                attestations[0] if attestations else None,
            )
            self._known[standing.id] = best_attestation or recorded_attestation(standing)
        return self._known[standing.id]

    def correct_observation(self, observation: Observation) -> Observation:
        """Return an announced statement as its human's correction in the same session leaves it."""
        if not observation.announced:
            return observation
        text = correct_claim(observation.text, self._read_passages(observation.session))
        return replace(observation, text=text) if text else observation

    def turn_around_quote(self, standing: LearningState) -> str:
        """Return the passages around a learning's quote; empty where no transcript has it."""
        learning, evidence = standing.learning, evidence_of(standing)
        quote, session = (evidence[0].quote, evidence[0].session) if evidence else ("", learning.session)
        passages = self._read_passages(session)
        index = index_of_claim(learning.content, quote, passages)
        if index is None:
            return ""
        near = passages[max(0, index - _PASSAGES_AROUND) : index + _PASSAGES_AROUND + 1]
        lines = (
            f"{passage.speaker.value}: {f'{passage.command} ' if passage.command else ''}{passage.text}"
            for passage in near
        )
        return "\n".join(clip_text(" ".join(text.split()), _LONGEST_PASSAGE) for text in lines)

    def _weigh_quotes(self, standing: LearningState) -> Iterator[ClaimAttestation]:
        """Yield the attestation of each quote of a learning by the transcripts that are here."""
        learning = standing.learning
        # who calls `learn` without a quote says it himself; an extractor took no part in the session
        says = EXTRACTED_FIELD not in learning.extra
        for evidence in evidence_of(standing) or (QuotedEvidence(session=learning.session),):
            if passages := self._read_passages(evidence.session):
                yield weigh_claim(
                    learning.content,
                    evidence.quote,
                    passages,
                    is_there=self._is_in_project,
                    said_now=says and not evidence.quote,
                )

    def _is_in_project(self, name: str) -> bool:
        if "/" in name or "." in name:
            return self._grounds.has_file(name)
        return bool(self._grounds.symbols_among([name]))

    def _read_passages(self, session: str) -> Sequence[TranscriptPassage]:
        if session not in self._read:
            path = find_transcript(session, home=self._home, environment=self._environment)
            self._read[session] = read_transcript(path).passages if path else ()
        return self._read[session]
