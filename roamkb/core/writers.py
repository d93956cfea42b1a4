"""What known programs would change: enough to spare a human's notes where anything else is allowed."""

import posixpath
import re
from collections.abc import Sequence

from roamkb.core.programs import name_of
from roamkb.core.readers import FIND_WRITES
from roamkb.core.readers import git_call
from roamkb.core.readers import program_of_xargs
from roamkb.core.readers import reads_only

#: Programs that change what their words name, all of them.
_ALL = frozenset(
    "bindfs bunzip2 bzip2 chattr chgrp chmod chown dos2unix ed emacs emacsclient ex fallocate gio gunzip gzip"
    " link lz4 lzma mount mv nano nvim pigz prename rename rm rmdir setfacl setfattr shred sponge srm"
    " tee touch trash trash-put truncate unison unix2dos unlink unxz unzstd vi vidir vim xz zstd".split()
)
#: Programs that change only the last that they name, or what `-t` says.
_LAST = frozenset("cp install ln rsync scp gcp ginstall".split())
#: Options whose value these programs write to.
_OUTPUTS = {
    "iconv": ("-o", "--output"),
    "pandoc": ("-o", "--output"),
    "shuf": ("-o", "--output"),
    "sort": ("-o", "--output"),
    "tree": ("-o",),
}
#: Options of these that name something other than what is written.
_VALUED = {
    "csplit": ("-b", "-n", "-f", "--prefix", "--suffix-format", "--digits"),
    "split": ("-a", "-b", "-C", "-l", "-n", "-t", "--additional-suffix"),
}
#: Options of curl and wget that name a file, beside the download's own.
_FETCHED = {
    "curl": "-c --cookie-jar -D --dump-header --trace --trace-ascii --stderr --etag-save --hsts --libcurl",
    "wget": "-o --output-file -a --append-output --save-cookies --hsts-file --warc-file",
}
#: Options that say into which folder these programs put what they bring, the current one without.
_UNPACKERS = {
    "7z": ("-o",),
    "ar": ("--output",),
    "aria2c": ("-d", "--dir"),
    "bsdtar": ("-C", "--directory", "--cd"),
    "cpio": ("-D", "--directory"),
    "patch": ("-d", "--directory"),
    "restic": ("--target", "-t"),
    "tar": ("-C", "--directory", "--one-top-level"),
    "unar": ("-o", "--output-directory"),
    "unzip": ("-d",),
}
_GIT_CHANGES = frozenset(
    "am apply bisect checkout checkout-index cherry-pick clean filter-branch filter-repo mv read-tree rebase"
    " reset restore revert rm sparse-checkout stash switch".split()
)
_RCLONE_CHANGES = frozenset("bisync delete deletefile dedupe move moveto purge rmdirs sync".split())
_RCLONE_BRINGS = frozenset("copy copyto copyurl rcat".split())
#: Of programs like git, what takes files back to what they were.
_OTHERS_CHANGE = {
    "hg": frozenset("backout co checkout purge revert rollback strip up update".split()),
    "jj": frozenset("abandon edit new restore undo".split()),
    "svn": frozenset("cleanup revert switch up update".split()),
}
_GIT_PLACES = ("-C", "--work-tree", "--git-dir")
#: Programs that take a whole folder with them.
_DEEP = r"-[a-zA-Z]*[rR]|--recursive|--delete|--no-preserve-root"
_IN_PLACE = r"-[a-hj-zA-Z0-9]*i"
_DEEP_OPTIONAL = frozenset("chgrp chmod chown rm shred".split())
_DEEP_ALWAYS = frozenset("mv rmdir trash trash-put srm unison".split())
#: Of finders that start finders.
_MOST_FINDERS = 4
FINDERS = frozenset("fd fdfind find".split())
#: Where a program's own command begins, or what it looks for.
_FIND_ENDS = ("-", "(", "!")
#: By whether it is find.
_STARTS = (r"-[a-zA-Z]*[xX]|--exec(?:-batch)?", r"-(?:exec|execdir|ok|okdir)")
_FILE_MARK = r"\{[./]{0,2}\}"
#: Programs that touch no more than what they name, wherever they run.
MINDERS = _ALL | _LAST | frozenset("csplit curl dd mkdir patch split tar unzip wget zip".split())

#: Programs whose words with blanks are messages, and whose standard input is text.
TALKERS = frozenset("bd gh git glab hg hub jj jira linear mail svn".split())


def targets(words: Sequence[str]) -> list[str] | None:
    """Return the words of a known writer that name what it changes; None for a program nobody knows.

    `.` is the folder where it runs; a NUL stands for what only the running program knows.
    """
    if not words:
        return []
    name, rest = name_of(words[0]), list(words[1:])
    named = [word for word in rest if not word.startswith("-")]
    if name == "mkdir" or (name not in ("find", "xargs") and reads_only(words)):
        return []
    if name in _ALL:
        return [*named, *valued(rest, ("-t", "--target-directory"))]
    if name in _LAST:
        return _copied(name, rest, named)
    if name in _UNPACKERS:
        return _unpacked(name, rest, named)
    if name in ("curl", "wget"):
        is_told = name == "curl" and any(re.match(r"-[a-zA-Z#]*K|--config", word) for word in rest)
        return None if is_told else _fetched(name, rest, named)
    if name in ("csplit", "split"):
        return None if any(word.startswith("--filter") for word in rest) else _split(name, rest)
    if name == "zip":
        return named if any(re.match(r"-[a-zA-Z]*m|--move", word) for word in rest) else named[:1]
    if name == "rclone":
        return _changed_by_rclone(named)
    if name == "unrar":
        return [*named[-1:], "."]
    if name == "dd":
        return [word[3:] for word in rest if word.startswith("of=")]
    if name in ("perl", "ruby"):
        return named if any(re.match(_IN_PLACE, word) for word in rest) else None
    if name in ("sed", "gsed", "yq", "awk", "gawk"):
        return named
    if name in _OUTPUTS:
        return valued(rest, _OUTPUTS[name])
    if name == "xargs":
        return _unfilled(program_of_xargs(rest), mark_of_xargs(rest))
    if name in FINDERS:
        if reads_only(words):
            return []
        inner = [word for program in _started(name, rest) for word in targets(program) or ()]
        return [*(_searched(name, rest) if _changes_found(name, rest) else ()), *inner]
    if name == "git":
        return _changed_by_git(rest, named)
    if name in _OTHERS_CHANGE and _OTHERS_CHANGE[name].intersection(named):
        return [*valued(rest, ("-R", "--repository", "--cwd")), *named, "."]
    return None


def _copied(name: str, rest: list[str], named: list[str]) -> list[str]:
    folder = valued(rest, ("-t", "--target-directory"))
    named = [word for word in named if word not in folder]
    if name == "rsync" and any(one.startswith(("--remove-source-files", "--link-dest")) for one in rest):
        return [*named, *valued(rest, ("--link-dest",))]
    # written to through the link, it is the note that changes
    if name == "cp" and any(re.match(r"-[a-zA-Z]*l|--link", one) for one in rest):
        return named
    if any(
        re.match(r"--parents$|--relative$", one) or (name == "rsync" and re.match(r"-[a-zA-Z]*R", one))
        for one in rest
    ):
        return [posixpath.join((folder or named)[-1], one.lstrip("/")) for one in named]
    # what the last one names is taken for what it is, or all that a folder holds goes into it
    is_exact = any(re.match(r"-[a-zA-Z]*[Tnh]|--no-(?:target-directory|dereference)", one) for one in rest)
    is_opened = name == "rsync" and any(one.endswith("/") for one in named[:-1])
    if named and not folder and ((name == "ln" and is_exact) or is_opened or (name == "cp" and "-T" in rest)):
        return named[-1:]
    # what is written to a hard link is written to the note
    is_linked = name == "ln" and not any(re.match(r"-[a-zA-Z]*s|--symbolic", one) for one in rest)
    return [*(named[:-1] if is_linked else ()), *_landed(named, folder[0] if folder else "")]


def _unpacked(name: str, rest: list[str], named: list[str]) -> list[str]:
    if name in ("tar", "bsdtar") and not _extracts(rest):
        archives = _archives(rest)
        return [*archives, *(named if any(one.startswith("--remove") for one in rest) else ())]
    if name == "7z" and not {"x", "e"}.intersection(named[:1]):
        return named if "-sdel" in rest else named[1:2]
    folders = valued(rest, _UNPACKERS[name])
    members = [posixpath.join(folder, one) for folder in folders[-1:] for one in named[1:]]
    renamed = [one for one in rest if re.match(r"--(?:transform|xform)|s(\W).*\1.*\1", one)]
    return [*folders, *members, *renamed] or (named[:1] if name == "patch" else []) or ["."]


def _archives(rest: list[str]) -> list[str]:
    """Return the file that tar makes or adds to."""
    for at, word in enumerate(rest):
        if re.match(r"-[a-zA-Z]*f$|--file$", word) or (at == 0 and re.match(r"[a-zA-Z]*f$", word)):
            return rest[at + 1 : at + 2]
        if found := re.match(r"--file=(.*)|-f(.+)", word):
            return [found[1] or found[2]]
    return []


def _extracts(rest: list[str]) -> bool:
    """Say whether tar takes something out: in its first word, with a dash or without, or in a long option."""
    mode = rest[0] if rest and not rest[0].startswith("--") else ""
    return "x" in mode or any(re.match(r"-[a-zA-Z]*x|--(?:extract|get)$", one) for one in rest)


def _fetched(name: str, rest: list[str], named: list[str]) -> list[str]:
    """Return where downloads end up; an address says what they are called."""
    into = valued(rest, ("--output-dir",) if name == "curl" else ("-P", "--directory-prefix"))
    letter = "o" if name == "curl" else "O"
    told = valued(rest, ("--output",) if name == "curl" else ("--output-document",))
    for at, word in enumerate(rest):
        if found := re.match(rf"-[a-zA-Z#]*?{letter}(.*)", word):
            told += [found[1]] if found[1] else rest[at + 1 : at + 2]
    beside = valued(rest, _FETCHED[name].split())
    if name == "curl" and any(re.match(r"-[a-zA-Z#]*T|--upload-file", one) for one in rest):
        beside += [one for one in named if one.startswith(("file:", "sftp:", "scp:"))]
    is_named = name == "wget" or any(re.match(r"-[a-zA-Z]*O|--remote-name", one) for one in rest)
    if not told and is_named:
        told = [posixpath.basename(one.rstrip("/")) or "index.html" for one in named if "/" in one]
    return [*beside, *(posixpath.join(*into[:1], one) for one in told)]


def _split(name: str, rest: list[str]) -> list[str]:
    """Return what the pieces of a file are called, up to their numbers."""
    prefixes = valued(rest, ("-f", "--prefix")) if name == "csplit" else []
    named = [
        word
        for before, word in zip(["", *rest], rest, strict=False)
        if not word.startswith("-") and before not in _VALUED[name]
    ]
    given = prefixes or (named[1:2] if name == "split" else [])
    return [*given, *(f"{one}aa" for one in given or ["x"])]


def _changed_by_rclone(named: list[str]) -> list[str]:
    if named[:1] and named[0] in _RCLONE_CHANGES:
        return named[1:]
    return named[-1:] if named[:1] and named[0] in _RCLONE_BRINGS else []


def _searched(name: str, rest: list[str]) -> list[str]:
    """Return the folders that find or fd starts in."""
    if name == "find":
        while rest and re.fullmatch(r"-[HLP]|-[OD]\w*", rest[0]):
            rest = rest[1:]
        ends = next((at for at, one in enumerate(rest) if one.startswith(_FIND_ENDS)), len(rest))
        name_test = _name_test(rest[ends:])
        return [f"{one.rstrip('/')}/**/{name_test}" if name_test else one for one in rest[:ends] or ["."]]
    ends = next((at for at, one in enumerate(rest) if re.match(r"-[a-zA-Z]*[xX]$|--exec", one)), len(rest))
    told = valued(rest[:ends], ("--base-directory", "--search-path"))
    return [*told, *[word for word in rest[:ends] if not word.startswith("-")][1:]] or ["."]


def _name_test(tests: list[str]) -> str:
    """Return the glob that the name of all that find finds has to match, if there is one."""
    if "-name" not in tests or {"-o", "-or", "!", "-not", ",", "("}.intersection(tests):
        return ""
    glob = "".join(tests[tests.index("-name") + 1 :][:1])
    return "" if "/" in glob or "\\" in glob else glob


def _started(name: str, rest: list[str]) -> list[list[str]]:
    """Return the commands that find or fd starts for each file; a NUL stands for the file."""
    if sum(name_of(word) in FINDERS for word in rest) > _MOST_FINDERS:
        return [["\0"]]
    found: list[list[str]] = []
    is_open = False
    for word in rest:
        if not is_open and re.fullmatch(_STARTS[name == "find"], word):
            found.append([])
            is_open = True
        elif is_open and word in (";", "+"):
            is_open = False
        elif is_open:
            found[-1].append(re.sub(_FILE_MARK, "\0", word))
    if name != "find":
        # fd puts the file behind where no mark says otherwise
        found = [one if any("\0" in word for word in one) else [*one, "\0"] for one in found]
    return found


def _changes_found(name: str, rest: list[str]) -> bool:
    """Say whether what find or fd finds may change: deleted, written over, or given to who knows whom."""
    if name == "find" and FIND_WRITES.intersection(rest):
        return True
    changed = [targets(program) for program in _started(name, rest)]
    return any(one is None or any(word.startswith("\0") for word in one) for one in changed)


def mark_of_xargs(rest: list[str]) -> str:
    """Return what stands for each input in what xargs starts; it is put behind where nothing does."""
    for at, word in enumerate(rest):
        if not word.startswith("-"):
            break
        if found := re.match(r"(?:-[0rt]*I|--replace=|-i)(.*)", word):
            return found[1] or (rest[at + 1] if word.endswith("I") and at + 1 < len(rest) else "{}")
    return ""


def _unfilled(program: list[str], mark: str) -> list[str] | None:
    return targets([word.replace(mark, "\0") for word in program] if mark else program)


def _changed_by_git(rest: list[str], named: list[str]) -> list[str]:
    call = git_call(rest)
    places = [one.removesuffix("/.git") for one in valued(rest, _GIT_PLACES)]
    if call is not None and call[0] == "config" and any("worktree" in word for word in call[1]):
        return call[1][-1:]
    if call is not None and call[0] == "bundle":
        return [word for word in call[1][1:] if not word.startswith("-")][:1]
    if call is None or call[0] in _GIT_CHANGES:
        return [*places, *(call[1] if call else named), "."]
    return valued(call[1], ("-o", "--output", "--output-directory"))


def takes_folders(words: Sequence[str]) -> bool:
    """Say whether a command would change whole folders, with all that lies in them."""
    if not words:
        return False
    name, rest = name_of(words[0]), words[1:]
    if name in _DEEP_ALWAYS:
        return True
    if name in FINDERS:
        return not reads_only(words) and _changes_found(name, list(rest))
    if name == "rsync":
        return any(word.startswith("--del") for word in rest)
    if name == "rclone":
        return bool(_RCLONE_CHANGES.intersection(rest))
    return name in _DEEP_OPTIONAL and any(re.match(_DEEP, word) for word in rest)


def valued(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the values of options: words of their own, behind `=`, behind the last letter of a cluster."""
    found: list[str] = []
    for at, word in enumerate(words):
        for option in options:
            is_letter = len(option) == 2 and re.fullmatch(rf"-[a-zA-Z]*{option[1]}", word)
            if word == option or is_letter:
                found += words[at + 1 : at + 2]
            elif word.startswith(option + "=") or (len(option) == 2 and word.startswith(option)):
                found.append(word[len(option) :].removeprefix("="))
    return found


def _landed(named: list[str], folder: str) -> list[str]:
    """Return where copies end up: in the folder by their own names, or at the one name that is given."""
    *sources, last = [*named, folder] if folder else named or [""]
    if not sources or (last.endswith((".org", ".gpg")) and not folder):
        return [last]
    return [posixpath.join(last, posixpath.basename(one.rstrip("/"))) for one in sources]
