"""Shell text that programs are told to run: by their words, their input, or variables before them."""

import re
from collections.abc import Callable

from roamkb.core.programs import ASSIGNMENT
from roamkb.core.programs import SHELLS
from roamkb.core.programs import name_of
from roamkb.core.programs import script_of
from roamkb.core.programs import without_runners
from roamkb.core.readers import program_of_xargs
from roamkb.core.writers import mark_of_xargs
from roamkb.core.writers import valued

_WATCH_VALUED = "-n --interval -q --equexit -s --shotsdir"
_SSH_VALUED = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w"
#: Have ssh run something on this machine as well, or write here.
_SSH_HERE = r"-[a-zA-Z0-9]*[oFSE]"
#: Variables whose value some program runs.
_RUN_VARIABLES = (
    r"(?:[A-Z]*_)?(?:PAGER|EDITOR|BROWSER|ASKPASS|PROXY_COMMAND|SSH_COMMAND|EXTERNAL_DIFF)|VISUAL|LESSOPEN|LESSCLOSE"
    r"|PROMPT_COMMAND|MAKE_SHELL|RSYNC_RSH|GIT_SSH|FZF_DEFAULT_COMMAND"
)
_GIT_RUNS = ("-x", "--exec", "--extcmd", "--upload-pack", "--receive-pack")
#: Of other programs, the options whose value they run.
_RUN_OPTIONS = {
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "tar": ("-I", "--use-compress-program", "--to-command", "--checkpoint-action", "--info-script", "-F"),
    "zip": ("-TT", "--unzip-command"),
}
_HOME = "~"


def find_errands(
    program: list[str], words: list[str], stdin: str | None, is_here: Callable[[str], bool]
) -> list[tuple[str, str]]:
    """Return the shell text that is all that a program runs, each with the folder that it runs in.

    `words` are those with the runners before it; the folder is `~`, or empty where it is the current one.
    """
    name = name_of(program[0])
    if name == "trap":
        return [(one, "") for one in program[1:2]]
    if name == "watch":
        return [(script, "")] if (script := " ".join(_behind_options(program[1:], _WATCH_VALUED))) else []
    if name in ("su", "runuser"):
        return _errands_of_su(program[1:], stdin)
    if name == "sftp":
        return [(stdin, _HOME)] if stdin and any(map(is_here, program[1:])) else []
    if name in ("ssh", "slogin", "rsh"):
        return _errands_of_ssh(program, stdin, is_here)
    if name not in SHELLS and name != "eval":
        return []
    # as this shell and as the next one may expand it
    found = (script_of(program, stdin), script_of(without_runners(words), stdin))
    return [(one, "") for one in dict.fromkeys(found) if one is not None]


def find_side_errands(program: list[str], words: list[str]) -> list[str]:
    """Return the shell text that is run beside what a program does by itself."""
    found = [
        word.partition("=")[2]
        for word in words
        if re.match(ASSIGNMENT, word) and re.fullmatch(_RUN_VARIABLES, word.partition("=")[0])
    ]
    name = name_of(program[0]) if program else ""
    if name == "git":
        found += _errands_of_git(program[1:])
    for option in _RUN_OPTIONS.get(name, ()):
        found += [one.removeprefix("exec=") for one in valued(program[1:], (option,))]
    return [one.lstrip("!|") for one in found if " " in one.strip()]


def find_handed(program: list[str]) -> tuple[int, list[str], str] | None:
    """Return the shell command that xargs, find or fd starts with what they find: where it begins, its words,
    and what stands for a file in them.
    """
    name = name_of(program[0]) if program else ""
    mark = "{}"
    if name == "xargs":
        mark = mark_of_xargs(program[1:])
        at = len(program) - len(program_of_xargs(program[1:]))
    elif name in ("find", "fd", "fdfind"):
        starts = r"-(?:exec|execdir|ok|okdir)" if name == "find" else r"-[xX]|--exec(?:-batch)?"
        at = next((at + 1 for at, one in enumerate(program) if re.fullmatch(starts, one)), len(program))
    else:
        return None
    end = next((end for end in range(at, len(program)) if program[end] in (";", "+")), len(program))
    words = program[at:end]
    return (at, words, mark) if words and name_of(words[0]) in SHELLS and len(words) > 2 else None


def _errands_of_su(rest: list[str], stdin: str | None) -> list[tuple[str, str]]:
    folder = _HOME if {"-", "-l", "--login"}.intersection(rest) else ""
    for at, word in enumerate(rest):
        if word in ("-c", "--command"):
            return [(one, folder) for one in rest[at + 1 : at + 2]]
        if word.startswith("--command="):
            return [(word.partition("=")[2], folder)]
    return [(stdin, folder)] if stdin else []


def _errands_of_ssh(
    program: list[str], stdin: str | None, is_here: Callable[[str], bool]
) -> list[tuple[str, str]]:
    rest = _behind_options(program[1:], _SSH_VALUED)
    own = program[1 : len(program) - len(rest)]
    if not rest or not is_here(rest[0]) or any(re.match(_SSH_HERE, word) for word in own):
        return []
    # options may also stand behind the host
    script = " ".join(_behind_options(rest[1:], _SSH_VALUED))
    found = [(script, _HOME)] if script else []
    if stdin and (not script or name_of(script.split()[0]) in SHELLS):
        found.append((stdin, _HOME))
    return found


def _errands_of_git(words: list[str]) -> list[str]:
    """Return what git is told to run: aliases and settings, and the commands that some of its own take."""
    found: list[str] = []
    for at, word in enumerate(words):
        rest = words[at + 1 :]
        if word == "-c" or word in _GIT_RUNS or word.endswith("-filter"):
            found += [(one.partition("=")[2] if word == "-c" else one) for one in rest[:1]]
        elif word.startswith("--exec="):
            found.append(word.partition("=")[2])
        elif word == "foreach" or (word == "run" and "bisect" in words[:at]):
            found.append(_joined(_behind_options(rest, "")))
        elif word == "config" and rest:
            found.append(rest[-1])
    return found


def _joined(words: list[str]) -> str:
    """Return the shell text of a command's words; one alone is shell text already."""
    quoted = ("'" + word.replace("'", "'\\''") + "'" if re.search(r"\s", word) else word for word in words)
    return " ".join(words if len(words) == 1 else quoted)


def _behind_options(words: list[str], valued: str) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in valued.split() else 1
    return words[at:]
