"""The command line's words without Typer: an agent calls `search` hundreds of times a day.

Typer takes several times as long to import as a search takes to run. This reads only what
it is sure of; anything else, `--help` and mistakes included, is left to Typer, which knows
the same table and finds the words for it. A test compares the two.
"""

from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.interfaces.operations import Arguments
from roamkb.interfaces.operations import Operation
from roamkb.interfaces.operations import find_operation


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCall:
    """One call of one operation."""

    operation: Operation
    arguments: Arguments
    as_json: bool
    project: str | None


#: `-word` excludes a word from a search; options have two dashes.
_EXCLUDED = lazily(r"-[^\W\d_]\S*|-\"\S.*")

#: Every command takes these.
JSON_FLAG = "--json"
PROJECT_FLAG = "--project"


def parse_words(words: list[str]) -> OperationCall | None:
    """Return the call that `words` spell, or None where Typer should say more."""
    operation = find_operation(words[0]) if words else None
    if operation is None:
        return None
    by_flag = {parameter.flag: parameter for parameter in operation.parameters if parameter.flag}
    takes_words = any(not p.flag and p.shape is ParameterShape.TEXTS for p in operation.parameters)
    values: dict[str, list[str]] = {}
    positional: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            positional += rest
        elif (
            (takes_words and _EXCLUDED.fullmatch(word) and word not in by_flag)
            or not word.startswith("-")
            or word == "-"
        ):
            positional.append(word)
        elif word == JSON_FLAG or ((known := by_flag.get(word)) and known.shape is ParameterShape.FLAG):
            values.setdefault(word, []).append("")
        else:
            flag, equals, value = word.partition("=")
            if flag != PROJECT_FLAG and (flag not in by_flag or by_flag[flag].shape is ParameterShape.FLAG):
                return None
            following = value if equals else next(rest, None)
            if following is None:
                return None
            values.setdefault(flag, []).append(following)
    arguments = _arguments(operation, values, positional)
    if arguments is None:
        return None
    project = values.get(PROJECT_FLAG, [None])[-1]
    return OperationCall(
        operation=operation, arguments=arguments, as_json=JSON_FLAG in values, project=project
    )


def _arguments(operation: Operation, values: dict[str, list[str]], positional: list[str]) -> Arguments | None:
    arguments: Arguments = {}
    for parameter in operation.parameters:
        if parameter.flag:
            given = values.get(parameter.flag, [])
        elif parameter.shape is ParameterShape.TEXTS:
            given, positional = positional, []
        else:
            given, positional = positional[:1], positional[1:]
        if not _fits(parameter, given):
            return None
        arguments[parameter.name] = _value(parameter, given)
    return None if positional else arguments


def _fits(parameter: VerbParameter, given: list[str]) -> bool:
    if parameter.required and not given:
        return False
    return parameter.shape is not ParameterShape.COUNT or all(
        value.isascii() and value.isdigit() for value in given
    )


def _value(parameter: VerbParameter, given: list[str]) -> str | int | bool | tuple[str, ...] | None:
    match parameter.shape:
        case ParameterShape.FLAG:
            return bool(given)
        case ParameterShape.TEXTS:
            return tuple(given)
        case ParameterShape.COUNT:
            return int(given[-1]) if given else None
        case ParameterShape.TEXT | ParameterShape.OBJECTS:
            return given[-1] if given else None
