"""Write targets of code in other languages, as far as its text shows them: `data/writing_verbs.tsv`.

Each write is known by a verb, and its target by what the verb is called with, and what the code says of the
names in there.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.data_tables import data_rows

#: What opens a file for writing, of all that stands behind `open`.
_WRITE_MODE = r"(?:\w+\s*[=:]\s*)?(?:['\"](?:[rbt]{0,2}[wax+]|\s*\+?>)|.*\bO_(?:WRONLY|RDWR|TRUNC|CREAT|APPEND))"
#: `Path(x)` of `Path(x).unlink()`.
_RECEIVER = r"(?:[\w$@.\[\]]|['\"][^'\"\n]*['\"]|\([^()\n]*\))+\.$"
_ASSIGNMENT = r"([A-Za-z_]\w{0,40})\s{0,4}:?=(?![=>~])([^\n;]{1,200})"
_LOOP = r"\bfor\w*\b([^\n;=]{1,80}?)\b(?:in|of)\b([^\n;:]{1,200})"
_ROOTED_PATH = r"\s*(?:[\w.]{1,40}\(\s*){0,3}[fr]?['\"]/[^'\"{}\n]+"
_MAX_RECEIVER_TEXT = 200
_MAX_CALL_TEXT = 400
_MAX_VERBS = 50
_MAX_NAMES = 40


def find_write_targets(language: str, code: str) -> Iterator[str]:
    """Yield the text that names the target of each write; empty where none does."""
    table = [(names.split(" "), role, verb) for names, role, verb in data_rows("writing_verbs.tsv")]
    table_language = language if any(language in names for names, *_ in table) else "*"
    definitions: dict[str, str] | None = None
    verb_count = 0
    for role, verb in [(role, verb) for names, role, verb in table if table_language in names]:
        for match in re.finditer(verb, code, re.IGNORECASE | re.MULTILINE):
            if (verb_count := verb_count + 1) > _MAX_VERBS:
                yield ""
                return
            target = _target_text(role, code, match)
            if target is None:
                continue
            if definitions is None:
                definitions = _find_definitions(code)
            yield _with_definitions(target, definitions)


def _target_text(role: str, code: str, verb_match: re.Match[str]) -> str | None:
    """Return the text of the target; None where this is no write."""
    if role == "any":
        return "".join(text or "" for text in verb_match.groups())
    receiver = re.search(_RECEIVER, code[max(0, verb_match.start() - _MAX_RECEIVER_TEXT) : verb_match.start()])
    arguments = _call_arguments(code, verb_match.end())
    if role == "open" and not any(re.match(_WRITE_MODE, text) for text in arguments):
        return None
    if role == "last":
        return arguments[-1] if len(arguments) > 1 else None
    owner = receiver[0] if receiver else ""
    if role == "first" and arguments[0] and not re.match(r"\w+\s*=", arguments[0]):
        return arguments[0]
    return owner if role in ("first", "owner") else " ".join((owner, *arguments))


def _call_arguments(code: str, offset: int) -> Sequence[str]:
    """Return a call's arguments, in parentheses or up to the end of the statement."""
    text = code[offset : offset + _MAX_CALL_TEXT].lstrip()
    arguments, depth, start, quote = [], 0, 0, ""
    is_call = text.startswith("(")
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
            start = position + 1 if is_call and position == 0 else start
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == is_call:
            arguments.append(text[start:position].strip())
            start = position + 1
        if (depth < is_call and letter in ")]}") or depth < 0 or (not is_call and not quote and letter in ";\n"):
            return [*arguments, text[start:position].strip()]
    return [*arguments, text[start:].strip()]


def _find_definitions(code: str) -> dict[str, str]:
    """Return the text that each name is assigned, or that a loop takes it from."""
    definitions: dict[str, str] = {}
    for match in re.finditer(_LOOP, code):
        for name in re.findall(r"[A-Za-z_]\w*", match[1]):
            definitions.setdefault(name, match[2])
    for match in re.finditer(_ASSIGNMENT, code):
        definitions.setdefault(match[1], match[2])
    return definitions


def _with_definitions(target: str, definitions: dict[str, str]) -> str:
    """Return a target with the definitions of its names; a path that begins at the root needs none."""
    if re.match(_ROOTED_PATH, target):
        return target
    texts: list[str] = []
    pending, seen_names = [target], set[str]()
    while pending and len(texts) < _MAX_NAMES:
        texts.append(text := pending.pop())
        names = {name for name in re.findall(r"[A-Za-z_]\w*", text) if name in definitions} - seen_names
        seen_names |= names
        pending += [definitions[name] for name in sorted(names)]
    return "\n".join(texts)
