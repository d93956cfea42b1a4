"""Language models, asked by name: a harness's program, a server over HTTP, or any command.

What a model answers is text from elsewhere: broken, hostile or late, it is a trouble and nothing else. What
it is sent is cleaned, and credentials are masked, whoever made it. Keys come from the environment alone.
"""

import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.server_address import ServerAddress
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import one_line
from roamkb.core.text import strip_hidden
from roamkb.core.untrusted import FRAME_NOTICE
from roamkb.core.untrusted import FRAME_TAG
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import get_harness
from roamkb.models.answers import ModelTrouble
from roamkb.models.answers import NoAnswer
from roamkb.models.answers import extract_error
from roamkb.models.answers import parse_answer
from roamkb.models.answers import quote_text
from roamkb.models.clients import http_server
from roamkb.models.clients import program
from roamkb.models.names import MODEL_NAMES
from roamkb.models.names import LanguageModel
from roamkb.models.names import ModelKind
from roamkb.models.names import parse_model_name
from roamkb.secrets.detector import withhold_secrets

_KEY_VARIABLE: Final = "OPENAI_API_KEY"
_CHAT_PATH: Final = "/chat/completions"
#: A harness's program that runs inside another session takes these for its own.
_SESSION_VARIABLES: Final = declared("inner_variables")
#: Ollama drops the beginning of what doesn't fit, without a word; few texts have fewer bytes a token.
_BYTES_A_TOKEN: Final = 2
_MIN_CONTEXT: Final = 8_192
_MAX_CONTEXT: Final = 131_072
_ROOM_FOR_ANSWER: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """Limits on a model's time and output."""

    seconds: float = 600.0
    most_bytes: int = 1024 * 1024


def ask_model(
    name: str,
    prompt: str,
    payload: Mapping[str, object],
    *,
    environment: Mapping[str, str],
    limits: ModelLimits | None = None,
) -> Mapping[str, Any] | ModelTrouble:
    """Return the JSON object that the model `name` answers to `prompt` about `payload`, or its trouble.

    A command reads `payload` as JSON on standard input, with `prompt` in it.

    Raises:
        UsageError: that model can't be asked here at all: no such program, no key, no model.
    """
    model = parse_model_name(name, environment)
    clean_payload = _clean_value(payload)
    model_limits = limits or ModelLimits()
    if model.address is None:
        answer = _ask_program(model, prompt, clean_payload, environment, model_limits)
    else:
        answer = _ask_server(model, model.address, _chat_messages(prompt, clean_payload), environment, model_limits)
    if isinstance(answer, ModelTrouble):
        return answer
    try:
        return parse_answer(model, answer)
    except NoAnswer as error:
        return _make_trouble(model, f"its answer {error}")


def _make_trouble(model: LanguageModel, fault: str) -> ModelTrouble:
    return ModelTrouble(why=f"{model.label}: {fault}; nothing of it counts, ask again or another model")


def _clean_value(value: object) -> Any:
    """Return `value` with every text cleaned and its credentials masked."""
    match value:
        case str():
            return withhold_secrets(strip_hidden(value))
        case Mapping():
            return {str(name): _clean_value(item) for name, item in value.items()}
        case list() | tuple():
            return [_clean_value(item) for item in value]
        case _:
            return value


def _frame_payload(payload: Mapping[str, object]) -> str:
    """Return `payload` as JSON in a frame that marks it as data; no text in it can end the frame."""
    text = json.dumps(payload, ensure_ascii=False, indent=1)
    # as JSON may spell them, so that who quotes the text quotes it right
    text = text.replace("</", "<\\/").replace(f"<{FRAME_TAG}", f"\\u003c{FRAME_TAG}")
    return (
        f"<{FRAME_TAG}>\n{FRAME_NOTICE}\n\n{text}\n</{FRAME_TAG}>\n\nAnswer with the one JSON object, and nothing"
        " else.\n"
    )


def _ask_program(
    model: LanguageModel,
    prompt: str,
    payload: Mapping[str, object],
    environment: Mapping[str, str],
    limits: ModelLimits,
) -> str | ModelTrouble:
    import tempfile

    if model.kind is ModelKind.COMMAND:
        input_text = json.dumps({"prompt": prompt, **payload})
        return _run_model_program(model, model.words, input_text, environment, limits)
    program_environment = {name: value for name, value in environment.items() if name not in _SESSION_VARIABLES}
    # an empty folder, so that no project's settings, memory or files are read
    with tempfile.TemporaryDirectory(prefix="roamkb-") as folder:
        program_environment["PWD"] = folder
        harness = get_harness(model.harness)
        input_text = harness.model_input(prompt, _frame_payload(payload))
        return _run_model_program(
            model, harness.model_command(prompt, environment), input_text, program_environment, limits, folder
        )


def _run_model_program(
    model: LanguageModel,
    words: Sequence[str],
    input_text: str,
    environment: Mapping[str, str],
    limits: ModelLimits,
    folder: str | None = None,
) -> str | ModelTrouble:
    try:
        output = program.run_program(
            words,
            input_text.encode(),
            environment=environment,
            folder=folder,
            seconds=limits.seconds,
            most_bytes=limits.most_bytes,
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise UsageError(
            f"{one_line(words[0])} can't be run: {error.strerror}; nothing was written",
            hint=_how_to_have(model),
        ) from error
    except OSError as error:
        return _make_trouble(model, f"it couldn't be run: {error.strerror}")
    if output.trouble:
        return _make_trouble(model, output.trouble)
    if output.status and not (output.out.strip() and model.kind is not ModelKind.COMMAND):
        # the harnesses say in their envelope what was wrong
        return _make_trouble(model, f"it ended with status {output.status}: {quote_text(output.err)}")
    return output.out


def _how_to_have(model: LanguageModel) -> str:
    """Return what to do where a model's program can't be run."""
    if model.kind is ModelKind.HARNESS:
        return f"install {get_harness(model.harness).title}, or name another model"
    *names, last = MODEL_NAMES.split(", ")
    return f"name a program on the PATH, {', '.join(names)} or {last}"


def _chat_messages(prompt: str, payload: Mapping[str, object]) -> list[dict[str, str]]:
    return [{"role": "system", "content": prompt}, {"role": "user", "content": _frame_payload(payload)}]


def _ask_server(
    model: LanguageModel,
    address: ServerAddress,
    messages: Sequence[Mapping[str, str]],
    environment: Mapping[str, str],
    limits: ModelLimits,
) -> str | ModelTrouble:
    body: dict[str, object] = {"messages": messages, "stream": False}
    if model.model:
        body["model"] = model.model
    if model.kind is ModelKind.OLLAMA:
        path, headers = f"{address.path}/api/chat", {}
        size = sum(len(message["content"].encode()) for message in messages)
        context = max(size // _BYTES_A_TOKEN + _ROOM_FOR_ANSWER, _MIN_CONTEXT)
        body |= {"format": "json", "options": {"temperature": 0, "num_ctx": min(context, _MAX_CONTEXT)}}
    else:
        path, headers = address.path.removesuffix(_CHAT_PATH) + _CHAT_PATH, _key_header(model, address, environment)
    output = http_server.post_json(
        address,
        path + (f"?{address.query}" if address.query else ""),
        json.dumps(body).encode(),
        headers=headers,
        environment=environment,
        seconds=limits.seconds,
        most_bytes=limits.most_bytes,
    )
    if output.trouble:
        return _make_trouble(model, output.trouble)
    return output.text if output.status == 200 else _make_trouble(model, _describe_refusal(output.status, output.text))


def _key_header(model: LanguageModel, address: ServerAddress, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the key.

    Raises:
        UsageError: there is none, or it would go over the network in the clear.
    """
    key = environment.get(_KEY_VARIABLE, "").strip()
    if not key and address.is_loopback:
        return {}
    if not key:
        raise UsageError(
            f"{model.label} wants a key, and {_KEY_VARIABLE} isn't set; nothing was sent",
            hint=f"export {_KEY_VARIABLE}; no option and no file holds it",
        )
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"{_KEY_VARIABLE} holds what no key has; nothing was sent", hint=f"export {_KEY_VARIABLE} anew"
        )
    if address.scheme == "http" and not address.is_loopback:
        raise UsageError(
            f"{model.label} would get the key of {_KEY_VARIABLE} in the clear; nothing was sent", hint="use https://"
        )
    return {"Authorization": f"Bearer {key}"}


def _describe_refusal(status: int, text: str) -> str:
    if status in (401, 403):
        return f"it refuses the key of {_KEY_VARIABLE} (status {status}: {extract_error(text)})"
    if 300 <= status < 400:
        return f"it redirects (status {status}), which isn't followed: name the address itself"
    return f"it answers with status {status}: {extract_error(text)}"
