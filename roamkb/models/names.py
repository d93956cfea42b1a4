"""The name of a language model: a harness's, `ollama:MODEL`, `openai:URL#MODEL`, or a command."""

import shlex
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.server_address import BadAddress
from roamkb.core.server_address import ServerAddress
from roamkb.core.server_address import parse_address
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.text import clip_text
from roamkb.core.text import one_line
from roamkb.harnesses.registry import declared
from roamkb.harnesses.registry import declared_by
from roamkb.secrets.detector import withhold_secrets

_OLLAMA_PORT: Final = 11434
#: A server listens on all of them; a client can only mean this machine.
_ANY_HOST: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
#: What a model may be called beside a command.
MODEL_NAMES: Final = ", ".join((*declared("models"), "ollama:MODEL", "openai:URL#MODEL"))
#: Letters of a command that say which it was.
_MAX_LABEL_LENGTH: Final = 200


class ModelKind(StrEnum):
    """The kind of a model, which decides how it is asked."""

    HARNESS = "harness"
    OLLAMA = "ollama"
    OPENAI = "openai"
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel:
    """A language model and how to reach it."""

    kind: ModelKind
    #: What events and messages call it: without a secret, on one line.
    label: str
    #: The server's, where the model is asked over HTTP.
    address: ServerAddress | None = None
    #: The model's own name; empty where the server knows only one.
    model: str = ""
    #: The harness whose program is asked.
    harness: str = ""
    #: The words of a command.
    words: tuple[str, ...] = ()


def parse_model_name(name: str, environment: Mapping[str, str]) -> LanguageModel:
    """Return the model called `name`; `environment` has Ollama's address.

    Raises:
        UsageError: it means none.
    """
    scheme, colon, model_name = name.partition(":")
    if harness := declared_by("models").get(name):
        return LanguageModel(kind=ModelKind.HARNESS, label=name, harness=harness)
    if name == ModelKind.OLLAMA or (colon and scheme == ModelKind.OLLAMA):
        return _parse_ollama_name(model_name, environment)
    if name == ModelKind.OPENAI or (colon and scheme == ModelKind.OPENAI):
        return _parse_openai_name(model_name)
    return _parse_command(name)


def _parse_ollama_name(model: str, environment: Mapping[str, str]) -> LanguageModel:
    if not model or one_line(model) != model:
        raise UsageError("which of Ollama's models?", hint="ollama:MODEL, as `ollama list` names it")
    return LanguageModel(
        kind=ModelKind.OLLAMA,
        label=f"ollama:{model}",
        address=_ollama_address(environment.get("OLLAMA_HOST", "").strip()),
        model=model,
    )


def _ollama_address(host: str) -> ServerAddress:
    """Return the address of Ollama, by its own reading of OLLAMA_HOST."""
    text = host if "://" in host else f"http://{_with_port(host)}"
    try:
        address = parse_address(text)
    except BadAddress as error:
        # not shown: it may hold a password
        raise UsageError(f"OLLAMA_HOST {error}", hint="host, host:port or https://host, as Ollama reads it") from error
    return ServerAddress(
        scheme=address.scheme,
        host=_ANY_HOST.get(address.host, address.host),
        port=address.port,
        path=address.path,
    )


def _with_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    has_port = bool(colon) and "]" not in port
    if not has_port:
        name, port = host, ""
    return f"{name or '127.0.0.1'}:{port or _OLLAMA_PORT}"


def _parse_openai_name(url_and_model: str) -> LanguageModel:
    url, _, model = url_and_model.partition("#")
    try:
        address = parse_address(url)
    except BadAddress as error:
        raise UsageError(
            f"the address behind openai: {error}",
            hint="openai:https://HOST/v1#MODEL; the key is read from OPENAI_API_KEY",
        ) from error
    if one_line(model) != model:
        raise UsageError("the model's name holds an invisible character", hint="openai:https://HOST/v1#MODEL")
    label = f"openai:{address.origin_url}{address.path}" + (f"#{model}" if model else "")
    return LanguageModel(kind=ModelKind.OPENAI, label=withhold_secrets(label), address=address, model=model)


def _parse_command(name: str) -> LanguageModel:
    try:
        words = tuple(shlex.split(name))
    except ValueError as error:
        raise UsageError(f"{one_line(name)} isn't a command: {error}") from error
    if not words:
        raise UsageError("no model is named", hint=f"{MODEL_NAMES}, or a command")
    return LanguageModel(
        kind=ModelKind.COMMAND, label=clip_text(one_line(withhold_secrets(name)), _MAX_LABEL_LENGTH), words=words
    )
