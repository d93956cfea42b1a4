"""What language models answer: the text in each one's envelope, and the JSON object in that text."""

import json
import re
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clipped
from roamkb.core.text import shown
from roamkb.models.names import ModelKind
from roamkb.secrets.detector import withheld

_Record = dict[str, Any]
_FENCE: Final = lazily(r"^ {0,3}```[ \t]*\w*[ \t]*\n(.*?)^ {0,3}```", re.MULTILINE | re.DOTALL)
_THOUGHT: Final = "</think>"
#: An object, not a brace of somebody's prose.
_BEGUN: Final = lazily(r'\{\s*"')
#: Opening braces of an answer that are looked at; prose with more of them is no answer.
_MOST_BRACES: Final = 200
#: Letters that are quoted of what was no answer.
_QUOTED: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrouble:
    """A model gave no answer."""

    #: One sentence that names the model.
    why: str


class NoAnswer(ValueError):
    """The text is no whole answer; the message is a clause that says why."""


def parse_answer(kind: ModelKind, text: str) -> Mapping[str, Any]:
    """Return the JSON object that a model of `kind` answered, or raise `NoAnswer`."""
    return object_in(_TEXTS[kind](text) if kind in _TEXTS else text)


def object_in(text: str) -> Mapping[str, Any]:
    """Return the one JSON object of an answer: all of it, in a fence, or the last one in prose."""
    # what a model thought aloud may hold drafts
    text = text.rpartition(_THOUGHT)[2]
    if not text.strip():
        raise NoAnswer("is empty")
    fenced = [one for one in _FENCE.findall(text) if one.strip()]
    for whole in (text, *reversed(fenced)):
        try:
            value = json.loads(whole)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict):
            raise NoAnswer("isn't a JSON object")
        return value
    return _last_object(text)


def _last_object(text: str) -> _Record:
    """Return the last object in prose; what is inside of one that never ends counts for nothing."""
    decoder, found, at = json.JSONDecoder(), None, 0
    for _ in range(_MOST_BRACES):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if _BEGUN.match(text, at):
                found = None
                break
            at += 1
        else:
            found = value
    if not isinstance(found, dict):
        raise NoAnswer(f"isn't JSON: {said(text)}")
    return found


def error_in(text: str) -> str:
    """Return what a server says was wrong, by the usual fields; else the beginning of what it sent."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    while isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), None)
    return said(value if isinstance(value, str) else text)


def said(text: str) -> str:
    """Return the beginning of somebody's text, fit for a message."""
    return clipped(shown(withheld(clipped(text, 10 * _QUOTED))), _QUOTED)


def _records(text: str) -> list[_Record]:
    """Return the JSON objects of a body: one, a list of them, one a line, or server-sent events."""
    try:
        value = json.loads(text)
    except RecursionError:
        value = []
    except ValueError:
        value = [one for line in text.splitlines() if (one := _record(line)) is not None]
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _record(line: str) -> object:
    try:
        return json.loads(line.removeprefix("data:"))
    except (ValueError, RecursionError):
        return None


def _required(text: str) -> list[_Record]:
    if not text.strip():
        raise NoAnswer("is empty")
    records = _records(text)
    if not records:
        raise NoAnswer(f"isn't JSON: {said(text)}")
    return records


def _at(value: object, *path: str | int) -> object:
    """Return what lies at `path` in JSON; None where there is nothing."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def _claude(text: str) -> str:
    """Return what `claude --print --output-format json` answered; a setting makes it a list of events."""
    result = next((one for one in reversed(_required(text)) if one.get("type") == "result"), None)
    if result is None:
        raise NoAnswer("holds no result")
    answer = result.get("result")
    if result.get("is_error") or result.get("subtype") != "success":
        raise NoAnswer(f"is an error: {error_in(answer if isinstance(answer, str) else text)}")
    if not isinstance(answer, str):
        raise NoAnswer("holds a result that isn't text")
    if result.get("stop_reason") == "max_tokens":
        raise NoAnswer("was cut off at its greatest length")
    return answer


def _codex(text: str) -> str:
    """Return the last message of `codex exec --json`."""
    records = _required(text)
    for one in records:
        if one.get("type") == "turn.failed":
            raise NoAnswer(f"is an error: {error_in(json.dumps(one))}")
    if not any(one.get("type") == "turn.completed" for one in records):
        errors = [one for one in records if one.get("type") == "error"]
        raise NoAnswer(f"is an error: {error_in(json.dumps(errors[-1]))}" if errors else "broke off")
    messages = [
        told
        for one in records
        if one.get("type") == "item.completed" and _at(one, "item", "type") == "agent_message"
        if isinstance(told := _at(one, "item", "text"), str)
    ]
    if not messages:
        raise NoAnswer("holds no message")
    return messages[-1]


def _ollama(text: str) -> str:
    """Return what `/api/chat` answered, at once or in streamed lines."""
    records = _required(text)
    if any("error" in one for one in records):
        raise NoAnswer(f"is an error: {error_in(json.dumps(next(one for one in records if 'error' in one)))}")
    if records[-1].get("done") is not True:
        raise NoAnswer("broke off")
    if records[-1].get("done_reason") == "length":
        raise NoAnswer("was cut off at its greatest length")
    return "".join(told for one in records if isinstance(told := _at(one, "message", "content"), str))


def _openai(text: str) -> str:
    """Return what `/chat/completions` answered, at once or as events."""
    records = _required(text)
    if any(one.get("error") for one in records):
        raise NoAnswer(
            f"is an error: {error_in(json.dumps(next(one for one in records if one.get('error'))))}"
        )
    reasons = [told for one in records if isinstance(told := _at(one, "choices", 0, "finish_reason"), str)]
    if not reasons:
        raise NoAnswer("broke off")
    if reasons[-1] == "length":
        raise NoAnswer("was cut off at its greatest length")
    pieces = [
        told
        for one in records
        for part in ("message", "delta")
        if isinstance(told := _at(one, "choices", 0, part, "content"), str)
    ]
    refused = next(
        (told for one in records if isinstance(told := _at(one, "choices", 0, "message", "refusal"), str)), ""
    )
    if refused or not pieces:
        raise NoAnswer(
            f"is a refusal: {said(refused)}" if refused else f"holds no text ({said(reasons[-1])})"
        )
    return "".join(pieces)


_TEXTS: Final[Mapping[ModelKind, Callable[[str], str]]] = {
    ModelKind.CLAUDE: _claude,
    ModelKind.CODEX: _codex,
    ModelKind.OLLAMA: _ollama,
    ModelKind.OPENAI: _openai,
}
