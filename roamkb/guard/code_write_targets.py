"""Where a piece of code in another language writes, as far as its text tells: `data/writing_verbs.tsv`.

Each write is known by a verb, and its target by what the verb is called with, and what the code says of the
names in there.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.data_tables import rows

#: What opens a file for writing, of all that stands behind `open`.
_MODE = r"(?:\w+\s*[=:]\s*)?(?:['\"](?:[rbt]{0,2}[wax+]|\s*\+?>)|.*\bO_(?:WRONLY|RDWR|TRUNC|CREAT|APPEND))"
#: `Path(x)` of `Path(x).unlink()`.
_RECEIVER = r"(?:[\w$@.\[\]]|['\"][^'\"\n]*['\"]|\([^()\n]*\))+\.$"
_ASSIGNED = r"([A-Za-z_]\w{0,40})\s{0,4}:?=(?![=>~])([^\n;]{1,200})"
_LOOPED = r"\bfor\w*\b([^\n;=]{1,80}?)\b(?:in|of)\b([^\n;:]{1,200})"
_ROOTED = r"\s*(?:[\w.]{1,40}\(\s*){0,3}[fr]?['\"]/[^'\"{}\n]+"
_LINE = 200
_LONGEST_CALL = 400
_MOST_VERBS = 50
_MOST_NAMES = 40


def targets(language: str, code: str) -> Iterator[str]:
    """Yield what is said of where each write goes; empty where nothing is said."""
    table = [(names.split(" "), role, verb) for names, role, verb in rows("writing_verbs.tsv")]
    by = language if any(language in names for names, *_ in table) else "*"
    definitions: dict[str, str] | None = None
    seen = 0
    for role, verb in [(role, verb) for names, role, verb in table if by in names]:
        for found in re.finditer(verb, code, re.IGNORECASE | re.MULTILINE):
            if (seen := seen + 1) > _MOST_VERBS:
                yield ""
                return
            target = _target(role, code, found)
            if target is None:
                continue
            if definitions is None:
                definitions = _definitions(code)
            yield _followed(target, definitions)


def _target(role: str, code: str, found: re.Match[str]) -> str | None:
    """Return the text of the target; None where this is no write."""
    if role == "any":
        return "".join(one or "" for one in found.groups())
    before = re.search(_RECEIVER, code[max(0, found.start() - _LINE) : found.start()])
    given = _arguments(code, found.end())
    if role == "open" and not any(re.match(_MODE, one) for one in given):
        return None
    if role == "last":
        return given[-1] if len(given) > 1 else None
    owner = before[0] if before else ""
    if role == "first" and given[0] and not re.match(r"\w+\s*=", given[0]):
        return given[0]
    return owner if role in ("first", "owner") else " ".join((owner, *given))


def _arguments(code: str, at: int) -> Sequence[str]:
    """Return what a call is given, in parentheses or up to the end of the statement."""
    text = code[at : at + _LONGEST_CALL].lstrip()
    given, depth, start, quote = [], 0, 0, ""
    is_call = text.startswith("(")
    for place, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
            start = place + 1 if is_call and place == 0 else start
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and depth == is_call:
            given.append(text[start:place].strip())
            start = place + 1
        if (depth < is_call and sign in ")]}") or depth < 0 or (not is_call and not quote and sign in ";\n"):
            return [*given, text[start:place].strip()]
    return [*given, text[start:].strip()]


def _definitions(code: str) -> dict[str, str]:
    """Return what names are set to, and what loops take them from."""
    known: dict[str, str] = {}
    for found in re.finditer(_LOOPED, code):
        for name in re.findall(r"[A-Za-z_]\w*", found[1]):
            known.setdefault(name, found[2])
    for found in re.finditer(_ASSIGNED, code):
        known.setdefault(found[1], found[2])
    return known


def _followed(target: str, definitions: dict[str, str]) -> str:
    """Return a target with what its names are set to; a path that begins at the root goes nowhere else."""
    if re.match(_ROOTED, target):
        return target
    told: list[str] = []
    waiting, seen = [target], set[str]()
    while waiting and len(told) < _MOST_NAMES:
        told.append(text := waiting.pop())
        names = {one for one in re.findall(r"[A-Za-z_]\w*", text) if one in definitions} - seen
        seen |= names
        waiting += [definitions[one] for one in sorted(names)]
    return "\n".join(told)
