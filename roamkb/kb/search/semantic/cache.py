"""The nearness of notes to a question in meaning, by an optional sentence model, with its cache.

What the model makes of a text is derived and disposable: it lies beside the index, by a digest
of model and text, and is made again where it can't be read, kept or believed.
"""

import contextlib
import hashlib
import re
import sqlite3
from array import array
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from roamkb import lazy_module
from roamkb.core.progress import report_progress
from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.search.semantic.models import Encode
from roamkb.kb.search.semantic.models import get_encoder

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

#: Fields of a drawer, which org writes in capitals, and keywords with a value.
_MACHINERY = lazily(r"^[ \t]*(?::[A-Z][A-Z0-9_+-]*:(?:[ \t].*)?|#\+\S+?:.*)$", re.MULTILINE)
#: A link, of which a reader sees the description.
_LINK = lazily(r"\[\[[^\[\]]*\](?:\[([^\[\]]*)\])?\]")
#: Words of a part that has a vector of its own, about as many as a model reads at once; the best part counts.
_PART = 180
#: Parts of a note; whoever wrote more has said what it is about.
_MOST_PARTS = 4
#: Texts read between one write to the disk and the next: who gives up has lost no more than these.
_BATCH = 16
#: The nearest of all texts, which are found whatever their words.
_NEAREST = 50
#: Texts that one question reads for those that come after it.
_READ_AHEAD = 100
#: Bytes of the file from which on it is begun anew: the parts of 100,000 notes of a screen each.
_MOST_KEPT = 256 * 2**20
_CHECK = 8
#: What a file is told by that isn't ours, or is no longer as it was written.
_DAMAGES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


class SentenceModel:
    """A sentence model with the stored vectors of texts."""

    def __init__(
        self,
        encode: Encode,
        *,
        name: str,
        folder: Path | None,
        is_multilingual: bool = True,
    ) -> None:
        """Store the vectors in `folder`, if given; `name` identifies the model."""
        self.is_multilingual = is_multilingual
        self._encode = encode
        self._name = name
        self._kept = _VectorFile(folder / "meaning.db") if folder else None

    def rate_nearness(
        self, question: str, texts: Mapping[int, str], others: Mapping[int, str] | None = None
    ) -> dict[int, float]:
        """Return the nearness of each text, and of the nearest of `others`, to the question, from 1 down to 0.

        A text is as near as the nearest of its parts; what is farther than half of `texts` isn't found. Of the others
        only those have a vector that were read once, and a question reads some more of them, the first ones first.
        """
        if not texts and not others:
            return {}
        question_vector = self._encode([question], True)[0]
        all_texts = {**texts, **(others or {})}
        digests = {key: self._text_digest(text) for key, text in all_texts.items()}
        vectors = self._kept.read_vectors(digests.values()) if self._kept else {}
        unread = [key for key in others or () if digests[key] not in vectors]
        to_read = [*texts, *unread[:_READ_AHEAD]]
        self._add_missing_vectors({digests[key]: all_texts[key] for key in to_read}, vectors)
        cosines = _best_cosines(vectors, question_vector)
        rated = {key: cosines[digest] for key, digest in digests.items() if digest in cosines}
        # in a small base the nearest are all there is
        least = sorted(rated[key] for key in texts)[len(texts) // 2] if texts else -1.0
        nearest = (key for key in sorted(rated, key=lambda key: -rated[key])[:_NEAREST] if rated[key] > least)
        found = dict.fromkeys([*texts, *nearest])
        low, high = (limit(rated[key] for key in found) for limit in (min, max))
        return {key: (rated[key] - low) / ((high - low) or 1.0) for key in found}

    def _add_missing_vectors(self, texts: Mapping[bytes, str], vectors: dict[bytes, bytes]) -> None:
        """Add the missing vectors of the texts' parts to `vectors`, and store them."""
        missing = [digest for digest in texts if digest not in vectors]
        for start in range(0, len(missing), _BATCH):
            new_vectors = self._encode_texts({digest: texts[digest] for digest in missing[start : start + _BATCH]})
            vectors |= new_vectors
            if self._kept:
                self._kept.add_vectors(new_vectors)
            report_progress("reading texts with the model", min(start + _BATCH, len(missing)), len(missing))

    def _encode_texts(self, texts: Mapping[bytes, str]) -> dict[bytes, bytes]:
        """Return the vectors of the parts of each text, concatenated, of 32-bit floats."""
        parts_of = {digest: _split_parts(_readable_text(text)) for digest, text in texts.items()}
        rows = iter(self._encode([part for parts in parts_of.values() for part in parts], False))
        return {
            digest: array("f", (value for _ in parts for value in next(rows))).tobytes()
            for digest, parts in parts_of.items()
        }

    def _text_digest(self, text: str) -> bytes:
        return hashlib.blake2b(f"{self._name}\0{text}".encode("utf-8", "replace"), digest_size=16).digest()


def sentence_model(folder: Path | None) -> SentenceModel:
    """Return the installed sentence model, its vectors stored in `folder`.

    Raises:
        UsageError: there is none, or it isn't the one that was measured.
    """
    encoder = get_encoder()
    return SentenceModel(
        encoder.encode,
        name=encoder.name,
        folder=folder,
        is_multilingual=encoder.is_multilingual,
    )


class _VectorFile:
    """A file of vectors, each with a checksum; a damaged file counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_writable = True

    def read_vectors(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the stored vectors of `digests` whose checksums hold."""
        vectors: dict[bytes, bytes] = {}
        try:
            if not self._path.is_file():
                return {}
            with contextlib.closing(sqlite3.connect(self._path, timeout=1.0)) as db:
                wanted = set(digests)
                # nearly all are wanted, and one by one they would take five times as long
                for digest, data in db.execute("SELECT digest, data FROM vector"):
                    if (
                        digest in wanted
                        and isinstance(data, bytes)
                        and _vector_checksum(digest, data[_CHECK:]) == data[:_CHECK]
                    ):
                        vectors[digest] = data[_CHECK:]
        except (OSError, sqlite3.Error) as error:
            self._remove_if_damaged(error)
        return vectors

    def add_vectors(self, vectors: Mapping[bytes, bytes]) -> None:
        """Store the vectors; after the first failure, store nothing more."""
        if not self._is_writable:
            return
        rows = [(digest, _vector_checksum(digest, data) + data) for digest, data in vectors.items()]
        try:
            if self._path.is_file() and self._path.stat().st_size > _MOST_KEPT:
                self._path.unlink()
            with contextlib.closing(sqlite3.connect(self._path, timeout=1.0)) as db, db:
                # what a power cut tears, the checks find
                db.execute("PRAGMA synchronous = OFF")
                db.execute("CREATE TABLE IF NOT EXISTS vector(digest BLOB PRIMARY KEY, data BLOB)")
                db.executemany("INSERT OR REPLACE INTO vector VALUES(?, ?)", rows)
        except (OSError, sqlite3.Error) as error:
            self._is_writable = False
            self._remove_if_damaged(error)

    def _remove_if_damaged(self, error: Exception) -> None:
        """Remove the file if it is damaged; leave it if another process is writing it."""
        code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
        # the higher bits say which damage
        if code & 0xFF in _DAMAGES:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)


def _readable_text(text: str) -> str:
    """Return the readable text of a note: its title once, and its text without drawers and keywords."""
    title, _, body = text.partition("\n")
    body = " ".join(_LINK.sub(r"\1", _MACHINERY.sub("", body)).split())
    return body if body.startswith(title) else f"{title} {body}"


def _split_parts(text: str) -> list[str]:
    words = text.split()
    starts = range(0, max(len(words), 1), _PART)[:_MOST_PARTS]
    return [" ".join(words[start : start + _PART]) for start in starts]


def _vector_checksum(digest: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(digest + data, digest_size=_CHECK).digest()


def _best_cosines(vectors: Mapping[bytes, bytes], question_vector: Sequence[float]) -> dict[bytes, float]:
    """Return the cosine of the nearest part of each text."""
    matrix = np.frombuffer(b"".join(vectors.values()), np.float32).reshape(-1, len(question_vector))
    counts = [len(data) // (matrix.itemsize * len(question_vector)) for data in vectors.values()]
    cosines = matrix @ np.asarray(question_vector, np.float32)
    best = np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]))
    return dict(zip(vectors, best.tolist(), strict=True))
