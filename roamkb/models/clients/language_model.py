"""Language models, asked by name: a harness's program, a server over HTTP, or a command of somebody's choice.

What a model answers is text from elsewhere: broken, hostile or late, it is a trouble and nothing else. What
it is sent is cleaned, and credentials are masked, whoever made it. Keys come from the environment alone.
"""

import json
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Final

from roamkb.core.errors import UsageError
from roamkb.core.server_address import ServerAddress
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import cleaned
from roamkb.core.text import shown
from roamkb.core.untrusted import HANDLING
from roamkb.core.untrusted import TAG
from roamkb.models.answers import ModelTrouble
from roamkb.models.answers import NoAnswer
from roamkb.models.answers import error_in
from roamkb.models.answers import parse_answer
from roamkb.models.answers import said
from roamkb.models.names import LanguageModel
from roamkb.models.names import ModelKind
from roamkb.models.names import parse_model_name
from roamkb.secrets.detector import withheld

_KEY: Final = "OPENAI_API_KEY"
_CHAT: Final = "/chat/completions"
#: A harness's program that runs inside another session takes these for its own.
_OF_A_SESSION: Final = (
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
)
#: What Codex could do beside answering; a name that a version doesn't know is ignored by it.
_CODEX_OFF: Final = (
    "hooks shell_tool unified_exec apps plugins multi_agent view_image image_generation".split()
)
#: Codex takes no other name of a server, and one with a dot would be a path of settings.
_SERVER: Final = lazily(r"[A-Za-z0-9_-]+")
_INSTALL: Final = {
    ModelKind.CLAUDE: "install Claude Code, or name another model",
    ModelKind.CODEX: "install Codex, or name another model",
    ModelKind.COMMAND: "name a program on the PATH, claude, codex, ollama:MODEL or openai:URL#MODEL",
}
#: Ollama drops the beginning of what doesn't fit, without a word; few texts have fewer bytes a token.
_BYTES_A_TOKEN: Final = 2
_LEAST_CONTEXT: Final = 8_192
_MOST_CONTEXT: Final = 131_072
_ROOM_FOR_ANSWER: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """How long a model may think, and how much it may say."""

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
    """Return the JSON object that the model `name` answers to `prompt` about `payload`, or what was wrong.

    A command reads `payload` as JSON on standard input, with `prompt` in it.

    Raises:
        UsageError: that model can't be asked here at all: no such program, no key, no model.
    """
    model = parse_model_name(name, environment)
    told = _fit(payload)
    bounds = limits or ModelLimits()
    if model.address is None:
        answer = _ask_program(model, prompt, told, environment, bounds)
    else:
        answer = _ask_server(model, model.address, _messages(prompt, told), environment, bounds)
    if isinstance(answer, ModelTrouble):
        return answer
    try:
        return parse_answer(model.kind, answer)
    except NoAnswer as error:
        return _trouble(model, f"its answer {error}")


def _trouble(model: LanguageModel, why: str) -> ModelTrouble:
    return ModelTrouble(why=f"{model.label}: {why}; nothing of it counts, ask again or another model")


def _fit(value: object) -> Any:
    """Return `value` with every text cleaned and its credentials masked."""
    match value:
        case str():
            return withheld(cleaned(value))
        case Mapping():
            return {str(name): _fit(one) for name, one in value.items()}
        case list() | tuple():
            return [_fit(one) for one in value]
        case _:
            return value


def _framed(payload: Mapping[str, object]) -> str:
    """Return `payload` as JSON in a frame that says what it is; no text in it can end that."""
    text = json.dumps(payload, ensure_ascii=False, indent=1)
    # as JSON may spell them, so that who quotes the text quotes it right
    text = text.replace("</", "<\\/").replace(f"<{TAG}", f"\\u003c{TAG}")
    return f"<{TAG}>\n{HANDLING}\n\n{text}\n</{TAG}>\n\nAnswer with the one JSON object, and nothing else.\n"


def _ask_program(
    model: LanguageModel,
    prompt: str,
    payload: Mapping[str, object],
    environment: Mapping[str, str],
    limits: ModelLimits,
) -> str | ModelTrouble:
    import tempfile

    if model.kind is ModelKind.COMMAND:
        asked = json.dumps({"prompt": prompt, **payload})
        return _run(model, model.words, asked, environment, limits)
    around = {name: value for name, value in environment.items() if name not in _OF_A_SESSION}
    # an empty folder, so that no project's settings, memory or files are read
    with tempfile.TemporaryDirectory(prefix="roamkb-") as folder:
        around["PWD"] = folder
        if model.kind is ModelKind.CLAUDE:
            return _run(model, _claude(prompt), _framed(payload), around, limits, folder)
        asked = f"{prompt}\n\n{_framed(payload)}"
        return _run(model, _codex(environment), asked, around, limits, folder)


def _run(
    model: LanguageModel,
    words: Sequence[str],
    asked: str,
    environment: Mapping[str, str],
    limits: ModelLimits,
    folder: str | None = None,
) -> str | ModelTrouble:
    from roamkb.models.clients.program import run_program

    try:
        done = run_program(
            words,
            asked.encode(),
            environment=environment,
            folder=folder,
            seconds=limits.seconds,
            most_bytes=limits.most_bytes,
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise UsageError(
            f"{shown(words[0])} can't be run: {error.strerror}; nothing was written",
            hint=_INSTALL[model.kind],
        ) from error
    except OSError as error:
        return _trouble(model, f"it couldn't be run: {error.strerror}")
    if done.trouble:
        return _trouble(model, done.trouble)
    if done.status and not (done.out.strip() and model.kind is not ModelKind.COMMAND):
        # the harnesses say in their envelope what was wrong
        return _trouble(model, f"it ended with status {done.status}: {said(done.err)}")
    return done.out


def _claude(prompt: str) -> list[str]:
    """Return the call of Claude Code that answers once: no tools, hooks, servers, memory or record."""
    return [
        *("claude", "--print", "--output-format", "json", "--safe-mode", "--tools", ""),
        *("--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence"),
        *("--system-prompt", prompt),
    ]


def _codex(environment: Mapping[str, str]) -> list[str]:
    """Return the call of Codex that answers once: nothing is run or written, no hook or server asked."""
    settings = [f"features.{name}=false" for name in _CODEX_OFF]
    settings += (f"mcp_servers.{name}.enabled=false" for name in _codex_servers(environment))
    settings.append('web_search="disabled"')
    return [
        *("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only"),
        *(word for setting in settings for word in ("-c", setting)),
        "-",
    ]


def _codex_servers(environment: Mapping[str, str]) -> list[str]:
    """Return the names of the MCP servers that Codex would start: the rest of its settings is wanted."""
    import tomllib

    home = environment.get("CODEX_HOME") or f"{environment.get('HOME', '')}/.codex"
    try:
        servers = tomllib.loads(Path(home, "config.toml").read_text(encoding="utf-8")).get("mcp_servers")
    except (OSError, ValueError):
        # what we can't read Codex can't either, and says so
        return []
    return [name for name in servers if _SERVER.fullmatch(name)] if isinstance(servers, dict) else []


def _messages(prompt: str, payload: Mapping[str, object]) -> list[dict[str, str]]:
    return [{"role": "system", "content": prompt}, {"role": "user", "content": _framed(payload)}]


def _ask_server(
    model: LanguageModel,
    address: ServerAddress,
    messages: Sequence[Mapping[str, str]],
    environment: Mapping[str, str],
    limits: ModelLimits,
) -> str | ModelTrouble:
    from roamkb.models.clients.http_server import post_json

    body: dict[str, object] = {"messages": messages, "stream": False}
    if model.model:
        body["model"] = model.model
    if model.kind is ModelKind.OLLAMA:
        path, headers = f"{address.path}/api/chat", {}
        size = sum(len(one["content"].encode()) for one in messages)
        context = max(size // _BYTES_A_TOKEN + _ROOM_FOR_ANSWER, _LEAST_CONTEXT)
        body |= {"format": "json", "options": {"temperature": 0, "num_ctx": min(context, _MOST_CONTEXT)}}
    else:
        path, headers = address.path.removesuffix(_CHAT) + _CHAT, _key(model, address, environment)
    done = post_json(
        address,
        path + (f"?{address.query}" if address.query else ""),
        json.dumps(body).encode(),
        headers=headers,
        environment=environment,
        seconds=limits.seconds,
        most_bytes=limits.most_bytes,
    )
    if done.trouble:
        return _trouble(model, done.trouble)
    return done.text if done.status == 200 else _trouble(model, _refusal(done.status, done.text))


def _key(model: LanguageModel, address: ServerAddress, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the header with the key.

    Raises:
        UsageError: there is none, or it would go over the network in the clear.
    """
    key = environment.get(_KEY, "").strip()
    if not key and address.is_loopback:
        return {}
    if not key:
        raise UsageError(
            f"{model.label} wants a key, and {_KEY} isn't set; nothing was sent",
            hint=f"export {_KEY}; no option and no file holds it",
        )
    if not (key.isascii() and key.isprintable()):
        raise UsageError(f"{_KEY} holds what no key has; nothing was sent", hint=f"export {_KEY} anew")
    if address.scheme == "http" and not address.is_loopback:
        raise UsageError(
            f"{model.label} would get the key of {_KEY} in the clear; nothing was sent", hint="use https://"
        )
    return {"Authorization": f"Bearer {key}"}


def _refusal(status: int, text: str) -> str:
    if status in (401, 403):
        return f"it refuses the key of {_KEY} (status {status}: {error_in(text)})"
    if 300 <= status < 400:
        return f"it redirects (status {status}), which isn't followed: name the address itself"
    return f"it answers with status {status}: {error_in(text)}"
