"""Commands of roamkb that only a human may give (design D19), however an agent would start them."""

import re
from collections.abc import Callable

from roamkb.shell.programs import ProgramRow

#: Kinds of programs that may start another that no row tells of.
_STARTER_KINDS = frozenset("code each".split())
_APPROVAL_VERBS = frozenset("approve override reject rollback uninstall".split())
#: `tests/roamkb` is a folder.
_ROAMKB_COMMAND = r"roamkb(?:[@=].*)?|-mroamkb|roamkb\.__main__|(?:[/~.$].*|.*bin)/roamkb"
#: `--yes` would write a harness's settings; without it they are only shown to who isn't at a terminal.
_RULE_OPTIONS = ("--kb", "--work-root", "--project-parent", "--yes")
#: What stands behind one of these is its value, though it looks like an option; a test compares them.
VALUE_OPTIONS = frozenset(
    "--agent --agents-md --apply --as-of --class --digest --kb --kb-name --log --mark --member --name --project "
    "--project-parent --reason --service --session --snippets --until --work-root".split()
)
#: By verb: what is asked for, and whether the words ask for it; without those words the verb only lists.
_HUMAN_ONLY_IF: dict[str, tuple[str, Callable[[list[str]], bool]]] = {
    "review": ("review", lambda words: bool({"--curate", "--edit"} & set(words))),
    "curate": ("curate --apply", lambda words: _has_option(words, "--apply")),
    "forget": ("forget", lambda words: not _has_switch(words, "--dry-run")),
    "journal": ("journal restore", lambda words: "restore" in words and not _has_switch(words, "--dry-run")),
    "trust": ("trust", lambda words: bool({"add", "remove"} & set(words))),
    "share": ("share --service", lambda words: _has_option(words, "--service")),
    "setup": ("setup", lambda words: not _has_switch(words, "--dry-run")),
    "install": (
        "install",
        lambda words: not _has_switch(words, "--dry-run") and _has_option(words, *_RULE_OPTIONS),
    ),
    # without it a log that came with the project is refused to the agent that our process finds above it
    "init": ("init --yes", lambda words: "--yes" in words),
}
#: What only a human calls, with some words or with any.
HUMAN_ONLY_VERBS = _APPROVAL_VERBS | _HUMAN_ONLY_IF.keys()
_APPROVAL_IN_TEXT = (
    r"roamkb['\"]?[,\s\]]{1,9}(?:['\"]?--?[\w-]{1,40}['\"]?[,\s]{1,9}){0,8}"
    r"['\"]?(?P<verb>approve|override|reject|review\b[^\n;|&]{0,60}?--(?:curate|edit)|init\b[^\n;|&]{0,60}?--yes|rollback|uninstall|(?:forget|setup)\b(?![^\n;|&]{0,100}--dry-run)|journal\b[^\n;|&]{0,60}?\brestore|share\b[^\n;|&]{0,100}?--service|trust\b[^\n;|&]{0,60}?\b(?:add|remove))\b(?!['\"]?[,\s]+['\"]?--help)"
    r"|roamkb\b[^\n;|&]{0,60}?\b(?P<curate>curate)\b[^\n;|&]{0,100}?--apply"
)


def find_approval(words: list[str], program: ProgramRow, stdin: str, text: str) -> str:
    """Return the approval that a command asks of roamkb; `text` is the whole script."""
    if not any("roamkb" in argument for argument in (stdin, *words)):
        return ""
    if not re.fullmatch(_ROAMKB_COMMAND, words[0]):
        if program.kind not in _STARTER_KINDS and "other" not in program.marks:
            return ""
        code = " ".join(word for word in words if re.search(r"[\s(]", word))
        if verb := find_approval_in_text(f"{code}\n{stdin}"):
            return verb
    for index, word in enumerate(words):
        if re.fullmatch(_ROAMKB_COMMAND, word) and (verb := _requested_approval(words[index + 1 : index + 50], text)):
            return verb
    return ""


def _has_option(words: list[str], *options: str) -> bool:
    """Say whether one of the options is given, with `=` or without."""
    return any(word.partition("=")[0] in options for word in words)


def _has_switch(words: list[str], switch: str) -> bool:
    """Say whether a switch is given, and not as the value of an option."""
    return any(
        word == switch and before not in VALUE_OPTIONS for before, word in zip(("", *words), words, strict=False)
    )


def find_approval_in_text(text: str) -> str:
    """Return the approval that a piece of code asks for; empty without one."""
    match = re.search(_APPROVAL_IN_TEXT, text)
    return (match["verb"] or "curate --apply").partition(" ")[0] if match else ""


def _requested_approval(words: list[str], text: str) -> str:
    """Return the approval that roamkb's words ask for; empty without one."""
    if _has_switch(words, "--help"):
        return ""
    remaining = iter(words)
    for word in remaining:
        if word == "--project":
            next(remaining, None)
        elif not word.startswith("-"):
            break
    else:
        return ""
    if word in _APPROVAL_VERBS:
        return word
    if word in _HUMAN_ONLY_IF:
        approval, is_asked = _HUMAN_ONLY_IF[word]
        return approval if is_asked(words) else ""
    if word.startswith(("$", "`")):
        return next((verb for verb in _APPROVAL_VERBS if re.search(rf"\b{verb}\b", text)), "")
    return ""
