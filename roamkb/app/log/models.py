"""Language models for a project's log, and the human's consent that they require."""

from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from roamkb.app.log.project_context import ProjectContext
from roamkb.boundary import human_consent
from roamkb.boundary import policy
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.text import one_line
from roamkb.models import answers
from roamkb.models import names
from roamkb.models.clients import language_model

#: What a human types to let a model see what is said at work.
_CONSENT_WORD = "send"


def named_model(context: ProjectContext, name: str) -> "names.LanguageModel":
    """Return the model that `name` means; raise `UsageError` where it means none."""
    return names.parse_model_name(name, context.environment.variables)


def model_asker(
    context: ProjectContext, name: str, prompt: str, *, about: str
) -> "Callable[[Mapping[str, object]], Mapping[str, Any] | answers.ModelTrouble]":
    """Return a function that sends `prompt` and a payload to the model `name`, once that is allowed.

    At work, and where nobody knows whether it is, a human at the terminal is told that it is to see
    `about`, and says yes; and no network address is asked that the rule doesn't name.

    Raises:
        UsageError: there is no such model, or it may not be asked; nothing was sent.
    """
    model, environment = named_model(context, name), context.environment.variables
    project = policy.strictest_project((context.session_project(), context.log_project))
    if project.kind is not ProjectKind.PERSONAL:
        _require_named_address(context, model, project)
        human_consent.require_yes(
            context.human_at_terminal, _consent_question(model, project, about), word=_CONSENT_WORD
        )
    return lambda payload: language_model.ask_model(name, prompt, payload, environment=environment)


def _require_named_address(context: ProjectContext, model: "names.LanguageModel", project: "Project") -> None:
    """Raise where a model is asked over the network at an address that the rule doesn't name."""
    address = model.address
    if address is None or address.is_loopback:
        return
    rule = context.kb.find_rule()
    if isinstance(rule, BadRule) or address.origin_url not in rule.model_addresses:
        raise UsageError(
            f"{project.kind.value} project ({one_line(project.reason)}); not sent to {address.origin_url}: "
            "the rule doesn't name it",
            hint=f"your human can name it in the rule's block `roamkb:model-addresses`: {address.origin_url}",
        )


def _consent_question(model: "names.LanguageModel", project: "Project", about: str) -> str:
    if model.address is None:
        destination = f"to {model.label}, and wherever that sends it"
    else:
        destination = "to this machine" if model.address.is_loopback else f"to {model.address.origin_url}"
    return (
        f"{about} of a {project.kind.value} project ({one_line(project.reason)}) would be put before "
        f"{model.label}.\nIt goes {destination}. Credentials are masked, all else is sent as it stands."
    )
