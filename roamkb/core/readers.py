"""Which programs only read what they are pointed at: a list of leave, where everything unknown may write."""

import re
from collections.abc import Callable
from collections.abc import Sequence

from roamkb.core.programs import name_of
from roamkb.core.programs import without_runners

#: Programs that write nothing but their output, whatever their options.
_PLAIN = frozenset(
    ": [ [[ ack base32 basename basenc b3sum cat cd cksum cloc cmp column comm command cut date declare"
    " delta df difft dirname dirs du dust echo egrep eza exa exit export false fgrep file fold for fmt"
    " fuser getfacl grep hash hd head hexdump hexyl id join jq let local look ls lsattr lsd lsof mapfile"
    " md5sum mdcat namei nl numfmt od paste pathchk pbcopy popd pr printenv printf ps pushd pwd read"
    " readarray readlink readonly realpath return rev roamkb b2sum seq select set sha1sum sha224sum"
    " sha256sum sha384sum sha512sum shasum shift sleep stat strings sum tac tail test tokei tr true tsort"
    " tty type typeset uname unexpand expand unset vdir dir wait wc whence which whoami wl-copy xclip zcat"
    " zgrep zless case function glow colordiff diff diff3 diffstat factor scc wdiff".split()
)
#: Programs that read unless given one of these options.
_UNLESS = {
    "ag": "--pager",
    "base64": "-o --output",
    "bat": "--pager",
    "batcat": "--pager",
    "fzf": "--bind --preview --execute",
    "less": "-o -O --log-file --LOG-FILE -k --lesskey-file",
    "more": "",
    "pandoc": "-o --output -F --filter -L --lua-filter --extract-media --pdf-engine --defaults -d",
    "rg": "--pre --hostname-bin",
    "sdiff": "-o --output",
    "shuf": "-o --output",
    "sort": "-o --output --compress-program",
    "tree": "-o --output",
    "ugrep": "--pager --filter --save-config",
    "yq": "-i --inplace --in-place -s --split-exp",
}
_GIT_READS = frozenset(
    "annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files diff-"
    " index diff-tree for-each-ref grep help log ls-files ls-tree merge-base name-rev range-diff rev-list"
    " rev-parse shortlog show show-branch show-ref status var verify-commit version whatchanged".split()
)
_GIT_LISTS = {
    "branch": r"-[arv]+|--(?:list|all|remotes|show-current|contains|merged|no-merged|format=.*|sort=.*)",
    "config": r"--get.*|-l|--list|--show-.*|get|list",
    "notes": r"list|show",
    "reflog": r"show",
    "remote": r"-v|show|get-url|--verbose",
    "stash": r"list|show",
    "tag": r"-l|--list|-n\d*",
    "worktree": r"list",
    "submodule": r"status",
}
_GIT_VALUED = frozenset("-C -c --git-dir --work-tree --namespace".split())
_GIT_HARMLESS_SETTING = r"(?i:color\.|core\.quotepath=|log\.|diff\.(?:renames|context)=)"
_GIT_WRITES = r"--output(?:=|$)|--ext-diff|-O|--open-files-in-pager|--textconv$"
#: Programs that change files, unless they are told only to show them.
_SHOWS = {
    "bunzip2": r"-[a-zA-Z0-9]*[ct]|--(?:stdout|test)$",
    "bzip2": r"-[a-zA-Z0-9]*[ct]|--(?:stdout|test)$",
    "gunzip": r"-[a-zA-Z0-9]*[clt]|--(?:stdout|to-stdout|list|test)$",
    "gzip": r"-[a-zA-Z0-9]*[clt]|--(?:stdout|to-stdout|list|test)$",
    "tar": r"-?[vzjJ]*t[vzjJf]*$|--list$",
    "unzip": r"-[a-zA-Z]*[lptvZ]",
    "xz": r"-[a-zA-Z0-9]*[clt]|--(?:stdout|to-stdout|list|test)$",
    "zstd": r"-[a-zA-Z0-9]*[clt]|--(?:stdout|list|test)$",
}
#: Of these the last mode counts, unless all goes to their output: `xz -tz` packs the file and takes it away.
_MODES = r"-[a-zA-Z0-9]*[dz]|--decompress"
_OF_MODES = {
    "bunzip2": r"-[a-zA-Z0-9]*c|--stdout$",
    "bzip2": r"-[a-zA-Z0-9]*c|--stdout$",
    "xz": r"-[a-zA-Z0-9]*c|--(?:stdout|to-stdout)$",
    "zstd": r"-[a-zA-Z0-9]*c|--stdout$",
}
#: None that names an output or a program to run.
_SHOWING = (
    r"-[abcdefghjklnpqrstuvzZ0-9]+"
    r"|--(?:stdout|to-stdout|list|test|keep|decompress|quiet|verbose|file=.*)|[^-].*"
)
FIND_WRITES = frozenset("-delete -fprint -fprint0 -fprintf -fls".split())
_FIND_RUNS = frozenset("-exec -execdir -ok -okdir".split())
_FD_RUNS = frozenset("-x -X --exec --exec-batch".split())
_XARGS_VALUED = frozenset(
    "-a -d -E -I -i -L -l -n -P -s --arg-file --delimiter --max-args --max-procs --replace".split()
)
#: Of a program for sed or awk that is read at all.
_LONGEST_PROGRAM = 4000
_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:\\.|\[\^?\]?[^\]\n]*+\]|[^/\\\n\[])*/[IM]*)"
_REPLACE = (
    r"[sy](?P<d>[^\w\s\\;{}])(?:(?:\\.|\[\^?\]?[^\]\n]*+\]|(?!(?P=d))[^\\\n\[])*(?P=d)){2}[gpiImM0-9]*+"
)
_SED_STEP = (
    rf"[\s;{{}}]*+(?:{_ADDRESS}(?:,[+~]?{_ADDRESS})?)?\s*+!?\s*+"
    rf"(?:{{|[pdlnNhHgGxDP=]|[qQ]\d*+|:\w++|[bt]\s*+\w*+|{_REPLACE})?[\s;}}]*+"
)
_SED_INPLACE = r"-[nErsuz]*i|--in-place|--i"
_AWK_WRITES = (
    r"\bsystem\s*\(|>>|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n\"]*(?:\"[^\"\n]*\"[^;}\n\"]*)*>|@(?:load|include)"
)


def reads_only(words: Sequence[str]) -> bool:
    """Say whether a simple command, variables expanded, only reads the files that its words name."""
    words = without_runners(list(words))
    if not words:
        return True
    name = name_of(words[0])
    # `./cat` may be anything
    if (
        "/" in words[0]
        and not words[0].startswith(("/bin/", "/usr/", "/opt/homebrew/bin/"))
        and name != "roamkb"
    ):
        return False
    judge = _JUDGES.get(name)
    if judge is not None:
        return judge(list(words[1:]))
    if name in _SHOWS:
        asked = words[1:2] if name == "tar" else [word for word in words[1:] if word.startswith("-")]
        has_modes = name in _OF_MODES and any(re.match(_MODES, word) for word in asked)
        shows = _OF_MODES[name] if has_modes else _SHOWS[name]
        return any(re.match(shows, word) for word in asked) and all(
            re.fullmatch(_SHOWING, word) for word in words[1:]
        )
    unless = _UNLESS.get(name)
    if unless is not None:
        return not any(_has_option(word, option) for word in words[1:] for option in unless.split())
    return name in _PLAIN


def _has_option(word: str, option: str) -> bool:
    if option.startswith("--"):
        return word == option or word.startswith(option + "=")
    # short ones come in clusters: `-uo FILE`
    return word.startswith("-") and not word.startswith("--") and option[1] in word[1:]


def git_call(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return git's subcommand and its words; None where a setting might run something."""
    rest = iter(words)
    for word in rest:
        if word == "-c" and not re.match(_GIT_HARMLESS_SETTING, next(rest, "")):
            return None
        if word in _GIT_VALUED:
            if word != "-c":
                next(rest, None)
        elif word.startswith(("--exec-path", "--config-env")):
            return None
        elif not word.startswith("-"):
            return word, list(rest)
    return "help", []


def _git(words: list[str]) -> bool:
    call = git_call(words)
    if call is None or any(re.match(_GIT_WRITES, word) for word in call[1]):
        return False
    subcommand, rest = call
    if subcommand in _GIT_READS:
        return True
    listing = _GIT_LISTS.get(subcommand)
    if listing is None:
        return False
    if not rest:
        return subcommand in ("branch", "remote", "tag", "reflog", "notes")
    return re.fullmatch(listing, rest[0]) is not None


def _find(words: list[str]) -> bool:
    for at, word in enumerate(words):
        if word in FIND_WRITES or (word in _FIND_RUNS and not runs_reader(words[at + 1 :])):
            return False
    return True


def _fd(words: list[str]) -> bool:
    at = next((at for at, word in enumerate(words) if word.split("=")[0] in _FD_RUNS), None)
    if at is None:
        return not any(re.match(r"-[A-Za-z]*[xX]", word) for word in words)
    return runs_reader(words[at + 1 :])


def runs_reader(words: list[str]) -> bool:
    """Say whether the command that another program starts only reads; nested at most a few times."""
    return len(words) < 2000 and bool(words) and _depth_of(words) < 4 and reads_only(words)


def _depth_of(words: list[str]) -> int:
    return sum(name_of(word) in ("find", "xargs", "fd", "fdfind") for word in words)


def _xargs(words: list[str]) -> bool:
    rest = program_of_xargs(words)
    return not rest or runs_reader(rest)


def program_of_xargs(words: list[str]) -> list[str]:
    """Return what xargs starts."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _XARGS_VALUED else 1
    return words[at:]


def lists_of_xargs(words: list[str]) -> list[str]:
    """Return the files that `xargs -a` reads its words from."""
    if name_of(words[0]) != "xargs":
        return []
    own = words[1 : len(words) - len(program_of_xargs(words[1:]))]
    return [
        word.partition("=")[2] or "".join(own[at + 1 : at + 2])
        for at, word in enumerate(own)
        if word == "-a" or word.startswith("--arg-file")
    ]


def _sed(words: list[str]) -> bool:
    scripts: list[str] = []
    named: list[str] = []
    rest = iter(words)
    for word in rest:
        if re.match(_SED_INPLACE, word):
            return False
        if word in ("-e", "--expression") or re.fullmatch(r"-[nErsuz]+e", word):
            scripts.append(next(rest, ""))
        elif word.startswith(("-e", "--expression=")):
            scripts.append(word.removeprefix("--expression=").removeprefix("-e"))
        elif word.startswith(("-f", "--file")) or re.match(r"-[nErsuz]+f", word):
            return False
        elif not word.startswith("-"):
            named.append(word)
    return all(_is_harmless_sed(script) for script in scripts or named[:1])


def _is_harmless_sed(script: str) -> bool:
    at = 0 if len(script) <= _LONGEST_PROGRAM else -1
    step = re.compile(_SED_STEP)
    while 0 <= at < len(script):
        found = step.match(script, at)
        if found is None or found.end() == at:
            return False
        at = found.end()
    return at >= 0


def _awk(words: list[str]) -> bool:
    rest = iter(words)
    for word in rest:
        if word in ("-F", "-v"):
            next(rest, None)
        elif re.match(r"-[fiElo]|--(?!field-separator|assign|posix|re-interval)", word) or word in (
            "-d",
            "-p",
        ):
            return False
        elif not word.startswith("-"):
            return len(word) <= _LONGEST_PROGRAM and re.search(_AWK_WRITES, word) is None
    return True


def _few_names(words: list[str]) -> bool:
    """`uniq IN OUT` and `xxd IN OUT` write."""
    return sum(not word.startswith("-") for word in words) < 2 and not any(
        word.startswith("-r") for word in words
    )


_JUDGES: dict[str, Callable[[list[str]], bool]] = {
    "awk": _awk,
    "fd": _fd,
    "fdfind": _fd,
    "find": _find,
    "gawk": _awk,
    "git": _git,
    "gsed": _sed,
    "mawk": _awk,
    "sed": _sed,
    "uniq": _few_names,
    "xargs": _xargs,
    "xxd": _few_names,
}
