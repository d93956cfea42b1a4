"""What known programs would change: enough to spare a human's notes where anything else is allowed."""

import posixpath
import re
from collections.abc import Sequence

from roamkb.core.programs import name_of
from roamkb.core.readers import git_call
from roamkb.core.readers import program_of_xargs
from roamkb.core.readers import reads_only

#: Programs that change what their words name, all of them.
_ALL = frozenset(
    "chgrp chmod chown ed ex mv patch rm rmdir setfattr shred split sponge srm tee touch truncate trash"
    " trash-put unlink vim vi nvim nano emacs emacsclient gio rename prename csplit".split()
)
#: Programs that change only the last that they name, or what `-t` says.
_LAST = frozenset("cp install ln rsync scp gcp ginstall".split())
#: Options whose value these programs write to.
_OUTPUTS = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
    "sort": ("-o", "--output"),
    "pandoc": ("-o", "--output"),
    "tree": ("-o",),
    "unzip": ("-d",),
    "tar": ("-C", "--directory"),
}
_GIT_CHANGES = frozenset("apply checkout clean mv reset restore rm stash".split())
#: Programs that take a whole folder with them.
_DEEP = r"-[a-zA-Z]*[rR]|--recursive|--delete|--no-preserve-root"
_IN_PLACE = r"-[a-hj-zA-Z0]*i"
_DEEP_OPTIONAL = frozenset("chgrp chmod chown rm shred".split())
_DEEP_ALWAYS = frozenset("mv rmdir trash trash-put srm".split())
#: Programs that touch no more than what they name, wherever they run.
MINDERS = _ALL | _LAST | frozenset("mkdir curl wget tar unzip dd".split())

#: Programs whose words with blanks are messages, and whose standard input is text.
TALKERS = frozenset("bd gh git glab hg hub jj jira linear mail svn".split())


def targets(words: Sequence[str]) -> list[str] | None:
    """Return the words of a known writer that name what it changes; None for a program nobody knows."""
    if not words:
        return []
    name, rest = name_of(words[0]), list(words[1:])
    named = [word for word in rest if not word.startswith("-")]
    if name == "mkdir" or (name not in ("find", "xargs") and reads_only(words)):
        return []
    if name in _ALL:
        return [*named, *_valued(rest, ("-t", "--target-directory"))]
    if name in _LAST:
        folder = _valued(rest, ("-t", "--target-directory"))
        return _landed(named, folder[0] if folder else "")
    if name == "dd":
        return [word[3:] for word in rest if word.startswith("of=")]
    if name in ("perl", "ruby"):
        return named if any(re.match(_IN_PLACE, word) for word in rest) else None
    if name in ("sed", "gsed", "yq", "awk", "gawk", "sort"):
        return [*named, *_valued(rest, _OUTPUTS.get(name, ()))]
    if name in _OUTPUTS:
        return _valued(rest, _OUTPUTS[name])
    if name == "xargs":
        return targets(program_of_xargs(rest))
    if name in ("find", "fd", "fdfind"):
        return [] if reads_only(words) else named[:1]
    if name == "git":
        call = git_call(rest)
        if call is None or call[0] in _GIT_CHANGES:
            return [*_valued(rest, ("-C",)), *(call[1] if call else named)]
        return []
    return None


def takes_folders(words: Sequence[str]) -> bool:
    """Say whether a command would change whole folders, with all that lies in them."""
    if not words:
        return False
    name, rest = name_of(words[0]), words[1:]
    if name in _DEEP_ALWAYS:
        return True
    if name in ("find", "fd", "fdfind"):
        return bool({"-delete"} & set(rest)) or any(
            name_of(word) in ("rm", "shred", "mv", "unlink") for word in rest
        )
    if name == "rsync":
        return any(word.startswith("--del") for word in rest)
    return name in _DEEP_OPTIONAL and any(re.match(_DEEP, word) for word in rest)


def _valued(words: Sequence[str], options: Sequence[str]) -> list[str]:
    found: list[str] = []
    for at, word in enumerate(words):
        for option in options:
            if word == option:
                found += words[at + 1 : at + 2]
            elif word.startswith(option + "=") or (len(option) == 2 and word.startswith(option)):
                found.append(word[len(option) :].removeprefix("="))
    return found


def _landed(named: list[str], folder: str) -> list[str]:
    """Return where copies end up: in the folder by their own names, or at the one name that is given."""
    *sources, last = named if not folder else [*named, folder]
    if not sources or (last.endswith((".org", ".gpg")) and not folder):
        return [last]
    return [posixpath.join(last, posixpath.basename(one.rstrip("/"))) for one in sources]
