"""Write targets of code in other languages, as far as a statement spells them out: `data/writing_verbs.tsv`."""

import re
from collections.abc import Iterator

from roamkb.core.data_tables import data_rows

#: A path that is spelled out, `x.md` as well.
_SPELLED_PATH = r"['\"]([^'\"\s]*(?:/|\w\.\w)[^'\"\n]*)['\"]|(?:^|\s)([~/][^\s'\"]+)"
_STATEMENT_END = r"[;\n]|\Z"
_MAX_STATEMENT = 400
_MAX_VERBS = 50


def find_write_targets(language: str, code: str) -> Iterator[str]:
    """Yield the path that each verb of writing stands beside; empty where none is spelled out."""
    table = [(names.split(" "), role, verb) for names, role, verb in data_rows("writing_verbs.tsv")]
    table_language = language if any(language in names for names, *_ in table) else "*"
    verb_count = 0
    for role, verb in [(role, verb) for names, role, verb in table if table_language in names]:
        for match in re.finditer(verb, code, re.IGNORECASE | re.MULTILINE):
            if (verb_count := verb_count + 1) > _MAX_VERBS:
                yield ""
                return
            yield from _statement_targets(role, code, match)


def _statement_targets(role: str, code: str, verb: re.Match[str]) -> Iterator[str]:
    """Yield what a verb writes by its role; all that its statement names where none tells."""
    behind = code[verb.end() : verb.end() + _MAX_STATEMENT]
    behind = behind[: next(re.finditer(_STATEMENT_END, behind)).start()]
    before = re.split(_STATEMENT_END, code[max(0, verb.start() - _MAX_STATEMENT) : verb.start()])[-1]
    arguments, owners = _spelled_paths(verb[0] + behind), _spelled_paths(before)
    match role:
        case "first":
            yield (arguments[:1] or owners[-1:] or [""])[0]
        case "owner":
            yield (owners[-1:] or [""])[0]
        case "last":
            yield arguments[-1] if len(arguments) > 1 else ""
        case _:
            yield from [*arguments, *owners] or [""]


def _spelled_paths(text: str) -> list[str]:
    return [match[1] or match[2] for match in re.finditer(_SPELLED_PATH, text)]
