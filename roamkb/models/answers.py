"""Answers of language models: the text in each one's envelope, and the JSON object in that text."""

import json
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.fs.json_edit import find_value
from roamkb.harnesses.harness import NoModelAnswer
from roamkb.harnesses.registry import get_harness
from roamkb.models.names import LanguageModel
from roamkb.models.names import ModelKind
from roamkb.secrets.detector import withhold_secrets

_Record = dict[str, Any]
_FENCED_BLOCK: Final = lazily(r"^ {0,3}```[ \t]*\w*[ \t]*\n(.*?)^ {0,3}```", re.MULTILINE | re.DOTALL)
_THOUGHT_END: Final = "</think>"
#: An object, not a brace of somebody's prose.
_OBJECT_START: Final = lazily(r'\{\s*"')
#: Opening braces of an answer that are looked at; prose with more of them is no answer.
_MAX_BRACES: Final = 200
#: Letters that are quoted of what was no answer.
_MAX_QUOTED: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrouble:
    """A model's failure to answer."""

    #: One sentence that names the model.
    why: str


class NoAnswer(ValueError):
    """A text that is no whole answer; the message is a clause with the reason."""


def parse_answer(model: LanguageModel, text: str) -> Mapping[str, Any]:
    """Return the JSON object in a model's answer, or raise `NoAnswer`."""
    if model.kind is ModelKind.HARNESS:
        return extract_object(_of_harness(model, text))
    return extract_object(_EXTRACTORS[model.kind](text) if model.kind in _EXTRACTORS else text)


def extract_object(text: str) -> Mapping[str, Any]:
    """Return the one JSON object of an answer: all of it, in a fence, or the last one in prose."""
    # what a model thought aloud may hold drafts
    text = text.rpartition(_THOUGHT_END)[2]
    if not text.strip():
        raise NoAnswer("is empty")
    fenced = [block for block in _FENCED_BLOCK.findall(text) if block.strip()]
    for candidate in (text, *reversed(fenced)):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict):
            raise NoAnswer("isn't a JSON object")
        return value
    return _last_object(text)


def _last_object(text: str) -> _Record:
    """Return the last object in prose; objects inside of an unfinished one are ignored."""
    decoder, last_value, position = json.JSONDecoder(), None, 0
    for _ in range(_MAX_BRACES):
        position = text.find("{", position)
        if position < 0:
            break
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            if _OBJECT_START.match(text, position):
                last_value = None
                break
            position += 1
        else:
            last_value = value
    if not isinstance(last_value, dict):
        raise NoAnswer(f"isn't JSON: {quote_text(text)}")
    return last_value


def extract_error(text: str) -> str:
    """Return the error in a server's answer, by the usual fields; else the beginning of its text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    while isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), None)
    return quote_text(value if isinstance(value, str) else text)


def quote_text(text: str) -> str:
    """Return the beginning of a foreign text, fit for a message."""
    return clip_text(one_line(withhold_secrets(clip_text(text, 10 * _MAX_QUOTED))), _MAX_QUOTED)


def _parse_records(text: str) -> list[_Record]:
    """Return the JSON objects of a body: one, a list of them, one a line, or server-sent events."""
    try:
        value = json.loads(text)
    except RecursionError:
        value = []
    except ValueError:
        value = [record for line in text.splitlines() if (record := _parse_record(line)) is not None]
    return [record for record in (value if isinstance(value, list) else [value]) if isinstance(record, dict)]


def _parse_record(line: str) -> object:
    try:
        return json.loads(line.removeprefix("data:"))
    except (ValueError, RecursionError):
        return None


def _require_records(text: str) -> list[_Record]:
    if not text.strip():
        raise NoAnswer("is empty")
    records = _parse_records(text)
    if not records:
        raise NoAnswer(f"isn't JSON: {quote_text(text)}")
    return records


def _texts_at(records: Iterable[_Record], *path: str | int) -> list[str]:
    """Return the texts at `path` in the records that have one there."""
    return [text for record in records if isinstance(text := find_value(record, path), str)]


def _of_harness(model: LanguageModel, text: str) -> str:
    """Return what a harness's program answered."""
    try:
        return get_harness(model.harness).model_answer(_require_records(text), text)
    except NoModelAnswer as error:
        raise NoAnswer(f"{error}: {extract_error(error.quoted)}" if error.quoted else str(error)) from error


def _extract_ollama_text(text: str) -> str:
    """Return the answer's text from `/api/chat`, at once or in streamed lines."""
    records = _require_records(text)
    if any("error" in record for record in records):
        raise NoAnswer(
            f"is an error: {extract_error(json.dumps(next(record for record in records if 'error' in record)))}"
        )
    if records[-1].get("done") is not True:
        raise NoAnswer("broke off")
    if records[-1].get("done_reason") == "length":
        raise NoAnswer("was cut off at its greatest length")
    return "".join(_texts_at(records, "message", "content"))


def _extract_openai_text(text: str) -> str:
    """Return the answer's text from `/chat/completions`, at once or as events."""
    records = _require_records(text)
    if any(record.get("error") for record in records):
        raise NoAnswer(
            f"is an error: {extract_error(json.dumps(next(record for record in records if record.get('error'))))}"
        )
    reasons = _texts_at(records, "choices", 0, "finish_reason")
    if not reasons:
        raise NoAnswer("broke off")
    if reasons[-1] == "length":
        raise NoAnswer("was cut off at its greatest length")
    pieces = [
        text
        for record in records
        for part in ("message", "delta")
        for text in _texts_at((record,), "choices", 0, part, "content")
    ]
    refusal = next(iter(_texts_at(records, "choices", 0, "message", "refusal")), "")
    if refusal or not pieces:
        raise NoAnswer(
            f"is a refusal: {quote_text(refusal)}" if refusal else f"holds no text ({quote_text(reasons[-1])})"
        )
    return "".join(pieces)


_EXTRACTORS: Final[Mapping[ModelKind, Callable[[str], str]]] = {
    ModelKind.OLLAMA: _extract_ollama_text,
    ModelKind.OPENAI: _extract_openai_text,
}
