"""Command-line parser without Typer: an agent calls `search` hundreds of times a day.

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
_EXCLUDED_WORD = lazily(r"-[^\W\d_]\S*|-\"\S.*")

#: A value such as a day; no option is called by a number.
_DAYS_AGO = lazily(r"-\d+")

#: Every command takes these.
JSON_FLAG = "--json"
PROJECT_FLAG = "--project"


def parse_words(words: list[str]) -> OperationCall | None:
    """Parse `words` into a call, or return None where Typer should explain more."""
    operation = find_operation(words[0]) if words else None
    split = split_words(operation, words[1:]) if operation else None
    if operation is None or split is None:
        return None
    values, positional = split
    arguments = _operation_arguments(operation, values, positional)
    if arguments is None:
        return None
    project = values.get(PROJECT_FLAG, [None])[-1]
    return OperationCall(operation=operation, arguments=arguments, as_json=JSON_FLAG in values, project=project)


def split_words(operation: Operation, words: list[str]) -> tuple[dict[str, list[str]], list[str]] | None:
    """Return the values of a command's options, and the words that are none; None where Typer should explain more."""
    by_flag = {parameter.flag: parameter for parameter in operation.parameters if parameter.flag}
    takes_words = any(not p.flag and p.shape is ParameterShape.TEXTS for p in operation.parameters)
    values: dict[str, list[str]] = {}
    positional: list[str] = []
    remaining_words = iter(words)
    for word in remaining_words:
        if word == "-h":
            return None
        if word == "--":
            positional += remaining_words
        elif (
            (takes_words and _EXCLUDED_WORD.fullmatch(word) and word not in by_flag)
            # no option has a blank in its name
            or (takes_words and " " in word.partition("=")[0])
            or not word.startswith("-")
            or word == "-"
            or (not takes_words and _DAYS_AGO.fullmatch(word))
        ):
            positional.append(word)
        elif word == JSON_FLAG or (
            (flag_parameter := by_flag.get(word)) and flag_parameter.shape is ParameterShape.FLAG
        ):
            values.setdefault(word, []).append("")
        else:
            flag, equals, value = word.partition("=")
            if flag != PROJECT_FLAG and (flag not in by_flag or by_flag[flag].shape is ParameterShape.FLAG):
                return None
            following = value if equals else next(remaining_words, None)
            if following is None:
                return None
            values.setdefault(flag, []).append(following)
    return values, positional


def _operation_arguments(operation: Operation, values: dict[str, list[str]], positional: list[str]) -> Arguments | None:
    arguments: Arguments = {}
    for parameter in operation.parameters:
        if parameter.flag:
            parameter_values = values.get(parameter.flag, [])
        elif parameter.shape is ParameterShape.TEXTS:
            parameter_values, positional = positional, []
        else:
            parameter_values, positional = positional[:1], positional[1:]
        if not _is_valid_value(parameter, parameter_values):
            return None
        arguments[parameter.name] = _convert_values(parameter, parameter_values)
    return None if positional else arguments


def _is_valid_value(parameter: VerbParameter, parameter_values: list[str]) -> bool:
    if parameter.required and not parameter_values:
        return False
    return parameter.shape is not ParameterShape.COUNT or all(
        value.isascii() and value.isdigit() for value in parameter_values
    )


def _convert_values(parameter: VerbParameter, parameter_values: list[str]) -> str | int | bool | tuple[str, ...] | None:
    match parameter.shape:
        case ParameterShape.FLAG:
            return bool(parameter_values)
        case ParameterShape.TEXTS:
            return tuple(parameter_values)
        case ParameterShape.COUNT:
            return int(parameter_values[-1]) if parameter_values else None
        case ParameterShape.TEXT | ParameterShape.OBJECTS:
            return parameter_values[-1] if parameter_values else None
