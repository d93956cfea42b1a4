"""How near notes are to a question in meaning, by a sentence model; only where it is asked for.

What the model makes of a text is derived and disposable: it lies beside the index, by a digest
of model and text, and is made again where it can't be read, kept or believed.
"""

import contextlib
import hashlib
import re
import sqlite3
from array import array
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from operator import mul
from pathlib import Path

from roamkb.core.startup.lazy_regex import lazily
from roamkb.kb.search.semantic.models import Encode
from roamkb.kb.search.semantic.models import get_encoder

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
#: Bytes of the file from which on it is begun anew: the parts of 100,000 notes of a screen each.
_MOST_KEPT = 256 * 2**20
_CHECK = 8
#: What a file is told by that isn't ours, or is no longer as it was written.
_DAMAGES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}

#: Hears how many texts of how many were read.
Progress = Callable[[int, int], None]


class SentenceModel:
    """A model, and what it made of texts before."""

    def __init__(
        self,
        encode: Encode,
        *,
        name: str,
        folder: Path | None,
        is_multilingual: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """Keep the vectors in `folder`, without one nowhere; `name` tells the model from any other."""
        self.is_multilingual = is_multilingual
        self._encode = encode
        self._name = name
        self._kept = _VectorFile(folder / "meaning.db") if folder else None
        self._progress = progress

    def nearness(self, question: str, texts: Mapping[int, str]) -> dict[int, float]:
        """Return how near each text is to the question: 1 for the nearest, 0 for the farthest.

        A text is as near as the nearest of its parts.
        """
        if not texts:
            return {}
        asked = array("f", self._encode([question], True)[0])
        parts = {key: _parts(_said(text)) for key, text in texts.items()}
        digests = {key: self._digest(parts[key]) for key in texts}
        vectors = self._kept.read(digests.values()) if self._kept else {}
        self._read({digests[key]: parts[key] for key in texts}, vectors)
        found = {key: max(_cosines(vectors[digest], asked)) for key, digest in digests.items()}
        low, high = min(found.values()), max(found.values())
        return {key: (value - low) / ((high - low) or 1.0) for key, value in found.items()}

    def _read(self, texts: Mapping[bytes, Sequence[str]], vectors: dict[bytes, "array[float]"]) -> None:
        """Add to `vectors` those of the texts' parts that it hasn't got, and keep them."""
        missing = [digest for digest in texts if digest not in vectors]
        for start in range(0, len(missing), _BATCH):
            made = self._made({digest: texts[digest] for digest in missing[start : start + _BATCH]})
            vectors |= made
            if self._kept:
                self._kept.add(made)
            if self._progress:
                self._progress(min(start + _BATCH, len(missing)), len(missing))

    def _made(self, texts: Mapping[bytes, Sequence[str]]) -> "dict[bytes, array[float]]":
        """Return the vectors of the parts of each text, one after the other."""
        rows = iter(self._encode([part for parts in texts.values() for part in parts], False))
        return {
            digest: array("f", (value for _ in parts for value in next(rows)))
            for digest, parts in texts.items()
        }

    def _digest(self, parts: Sequence[str]) -> bytes:
        read = "\0".join((self._name, *parts))
        return hashlib.blake2b(read.encode("utf-8", "replace"), digest_size=16).digest()


def sentence_model(folder: Path | None, *, progress: Progress | None = None) -> SentenceModel:
    """Return the model that an extra brought, its vectors kept in `folder`.

    Raises:
        UsageError: there is none, or it isn't the one that was measured.
    """
    found = get_encoder()
    return SentenceModel(
        found.encode,
        name=found.name,
        folder=folder,
        is_multilingual=found.is_multilingual,
        progress=progress,
    )


class _VectorFile:
    """A file of vectors, each with its check; whatever is wrong with it, there are none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_writable = True

    def read(self, digests: Iterable[bytes]) -> "dict[bytes, array[float]]":
        """Return the vectors that are there, unharmed."""
        found: dict[bytes, array[float]] = {}
        try:
            if not self._path.is_file():
                return {}
            with contextlib.closing(sqlite3.connect(self._path, timeout=1.0)) as db:
                for digest in set(digests):
                    row = db.execute("SELECT data FROM vector WHERE digest = ?", (digest,)).fetchone()
                    if (
                        row
                        and isinstance(row[0], bytes)
                        and _check(digest, row[0][_CHECK:]) == row[0][:_CHECK]
                    ):
                        found[digest] = array("f", row[0][_CHECK:])
        except (OSError, sqlite3.Error) as error:
            self._mend(error)
        return found

    def add(self, vectors: "Mapping[bytes, array[float]]") -> None:
        """Keep the vectors; after the first time that it can't be done, nothing more."""
        if not self._is_writable:
            return
        rows = [(digest, _check(digest, data := made.tobytes()) + data) for digest, made in vectors.items()]
        try:
            if self._path.is_file() and self._path.stat().st_size > _MOST_KEPT:
                self._path.unlink()
            with contextlib.closing(sqlite3.connect(self._path, timeout=1.0)) as db, db:
                # what a power cut tears, the checks find
                db.execute("PRAGMA synchronous = OFF")
                db.execute(
                    "CREATE TABLE IF NOT EXISTS vector(digest BLOB PRIMARY KEY, data BLOB) WITHOUT ROWID"
                )
                db.executemany("INSERT OR REPLACE INTO vector VALUES(?, ?)", rows)
        except (OSError, sqlite3.Error) as error:
            self._is_writable = False
            self._mend(error)

    def _mend(self, error: Exception) -> None:
        """Take a file away that nobody can read; one that another process writes stays."""
        code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
        # the higher bits say which damage
        if code & 0xFF in _DAMAGES:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)


def _said(text: str) -> str:
    """Return what a note says: its title, once, and its text without what is there for programs."""
    title, _, rest = text.partition("\n")
    rest = " ".join(_LINK.sub(r"\1", _MACHINERY.sub("", rest)).split())
    return rest if rest.startswith(title) else f"{title} {rest}"


def _parts(text: str) -> list[str]:
    words = text.split()
    starts = range(0, max(len(words), 1), _PART)[:_MOST_PARTS]
    return [" ".join(words[start : start + _PART]) for start in starts]


def _check(digest: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(digest + data, digest_size=_CHECK).digest()


def _cosines(vectors: Sequence[float], asked: Sequence[float]) -> list[float]:
    size = len(asked)
    return [sum(map(mul, vectors[n : n + size], asked)) for n in range(0, len(vectors), size)] or [0.0]
