"""Forms of the page: what a person changes by a click, each by an operation of the command line's own table.

Offered is what needs no human's word (`guard/human_only_commands`): a browser's cookie is no proof of one.
"""

from collections.abc import Callable
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl
from urllib.parse import urlencode

from roamkb.app import server
from roamkb.core.errors import UsageError
from roamkb.core.errors import tell_progress
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.text import one_line
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import find_operation
from roamkb.interfaces.output import render
from roamkb.interfaces.page.decisions.outcomes import FormOutcome

#: The field of every form that says which of the page's addresses is shown next.
BACK_FIELD: Final = "back"
_MOST_FIELDS: Final = 2000

#: The fields of a form as they were sent: one value a name.
FormFields = Mapping[str, str]
#: A form's work.
FormAction = Callable[["server.ServedKnowledgeBase", FormFields], FormOutcome]


def parse_form(body: bytes) -> FormFields:
    """Return the fields of a form's body.

    Raises:
        UsageError: it isn't what a browser makes of a form, or a field stands twice.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:
        raise UsageError("the form can't be read", hint="use the page's own buttons") from None
    fields = dict(pairs)
    if len(fields) != len(pairs) or any("\0" in text for pair in pairs for text in pair):
        raise UsageError("the form can't be read: a field stands twice, or holds a NUL")
    # a browser ends the lines of a text as the network does
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}


def own_address(text: str, *, default: str) -> str:
    """Return `text` where it is an address of this page's own without its origin, else `default`."""
    is_own = (
        text.startswith("/")
        and not text.startswith(("//", "/do/", "/proof/"))
        and text.isascii()
        and text.isprintable()
    )
    return text if is_own and "\\" not in text else default


def add_parameter(address: str, name: str, value: str) -> str:
    """Return an address of the page's with one more parameter in its query."""
    path, hash_mark, place = address.partition("#")
    return f"{path}{'&' if '?' in path else '?'}{urlencode({name: value})}{hash_mark}{place}"


def call_operation(kb: "server.ServedKnowledgeBase", name: str, /, **arguments: str | bool | tuple[str, ...]) -> object:
    """Return the result of an operation of the table, which raises what it raises."""
    operation = find_operation(name)
    if operation is None:
        raise UsageError(f"there is no operation {name}")
    given: Arguments = {**arguments}
    owner = kb.log if operation.is_of_log else kb
    result: object = getattr(owner, operation.method_name)(**given)
    return result


def tell_result(name: str, result: object) -> FormOutcome:
    """Return what an operation did, as its command prints it."""
    printed = render.render_result(name, result)
    return FormOutcome(text=printed.text(False), warnings=tuple(printed.warnings))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationForm:
    """A form that is one call of one operation."""

    operation: str
    #: The parameters that it may fill; what is left empty isn't given.
    parameters: tuple[str, ...]
    #: Arguments that are always the same.
    fixed: Mapping[str, str | bool] = field(default_factory=dict)
    #: The form that takes it back with the same fields, and its label.
    reverse: tuple[str, str] = ("", "")

    def __call__(self, kb: "server.ServedKnowledgeBase", fields: FormFields) -> FormOutcome:
        """Carry the operation out."""
        unknown = fields.keys() - {*self.parameters, BACK_FIELD}
        if unknown:
            raise UsageError(f"the form has no field {one_line(min(unknown))}")
        given = {name: fields[name] for name in self.parameters if fields.get(name)}
        declared = _declared_parameters(self.operation)
        # the first says what it is about
        needed = {*self.parameters[:1], *(name for name in self.parameters if declared[name].required)}
        if needed - given.keys():
            raise UsageError(f"{self.operation} what?", hint="use the page's own buttons")
        shaped = {name: _shape_value(declared[name], value) for name, value in given.items()}
        outcome = tell_result(self.operation, call_operation(kb, self.operation, **self.fixed, **shaped))
        reverse, label = self.reverse
        return FormOutcome(
            text=outcome.text, warnings=outcome.warnings, reverse=reverse, reverse_label=label, fields=given
        )


def _declared_parameters(name: str) -> Mapping[str, VerbParameter]:
    operation = find_operation(name)
    return {parameter.name: parameter for parameter in operation.parameters} if operation else {}


def _shape_value(parameter: VerbParameter, value: str) -> str | bool | tuple[str, ...]:
    """Return a field as its parameter takes it: a switch is on where it is there."""
    match parameter.shape:
        case ParameterShape.FLAG:
            return True
        case ParameterShape.TEXTS:
            return (value,)
        case _:
            return value


def settle_pair(kb: "server.ServedKnowledgeBase", fields: FormFields) -> FormOutcome:
    """Settle which of two learnings holds: one replaces the other, or a sentence of both replaces them.

    `keep` and `other` name them; `text` is the sentence, where both hold.
    """
    names = [fields.get(name, "").strip() for name in ("keep", "other")]
    if not all(names):
        raise UsageError("which two learnings?", hint="use the page's own buttons")
    kept, other = (kb.log.explain(name).standing for name in names)
    if kept.id == other.id:
        raise UsageError("a learning doesn't contradict itself", hint="use the page's own buttons")
    text = fields.get("text", "").strip()
    if not text:
        said = kept.learning
        return tell_result(
            "learn", call_operation(kb, "learn", text=said.statement, type=said.type, supersedes=other.id)
        )
    call_operation(kb, "learn", text=text, supersedes=other.id)
    with tell_progress(lambda: f"{one_line(other.learning.key)} is replaced", hint=f"{kept.id} isn't yet"):
        return tell_result("learn", call_operation(kb, "learn", text=text, supersedes=kept.id))


_BACK_TO_TRASH: Final = ("trash", "Back into the trash")
#: What the page offers, by the last part of its address.
FORMS: Final[Mapping[str, FormAction]] = {
    "trash": OperationForm(operation="trash", parameters=("name",), reverse=("restore", "Put it back")),
    "restore": OperationForm(operation="restore", parameters=("name",), reverse=_BACK_TO_TRASH),
    "restore-last": OperationForm(operation="restore", parameters=(), fixed={"last": True}),
    "pin": OperationForm(operation="pin", parameters=("key", "off")),
    "prefer": OperationForm(operation="prefer", parameters=("key", "agent", "off")),
    "used": OperationForm(operation="used", parameters=("name", "outcome")),
    "verify": OperationForm(operation="verify", parameters=("keys",), fixed={"judge": "heuristic"}),
    "undo": OperationForm(operation="undo", parameters=("event",)),
    "reword": OperationForm(operation="learn", parameters=("text", "type", "tags", "supersedes")),
    "promote": OperationForm(operation="promote", parameters=("keys",)),
    "settle": settle_pair,
    "adopt": OperationForm(operation="conflicts", parameters=("file",), fixed={"adopt": True}),
}
