"""Which commands take something from the knowledge base and write only what they name elsewhere.

Where agents may not write, a program that could is denied as soon as it names a note. One that is known to
write nothing but what its words say is let go where all of that lies outside: a list of leave by options.
"""

import re
from collections.abc import Sequence

from roamkb.core.programs import name_of
from roamkb.core.writers import targets

#: Every option that may be given; their values as words of their own in the second place.
_OPTIONS = {
    "cp": (r"-[aRrdfinpPuvT]+|--(?:recursive|archive|no-clobber|preserve(?:=.*)?|verbose|force)", "-t"),
    "dd": (r"(?:if|of|bs|ibs|obs|cbs|count|skip|seek|conv|status|iflag|oflag)=.*", ""),
    "iconv": (r"-[cs]+|--(?:from-code|to-code|output)=.*", "-f -t -o"),
    "pandoc": (
        r"-s|--(?:standalone|toc|number-sections|(?:from|to|output|wrap|columns|metadata|variable|title-prefix)=.*"
        r"|shift-heading-level-by=.*)",
        "-f -t -o -M -V --from --to --output --wrap --columns --metadata --variable",
    ),
    "rsync": (
        r"-[avzrhPnqctuplogmxHSWi]+|--(?:archive|verbose|recursive|dry-run|progress|stats|checksum|times|links"
        r"|(?:exclude|include|max-size)=.*|itemize-changes|human-readable)",
        "--exclude --include",
    ),
    "shuf": (r"-[erz]+|--(?:output|head-count)=.*", "-n -o"),
    "sort": (
        r"-[bdfgiMhnRrVcCmsuz]+|--(?:output|key|field-separator|unique|reverse|numeric-sort).*",
        "-k -t -o",
    ),
    "split": (r"-[dexz]+|--(?:lines|bytes|number|additional-suffix)=.*|--verbose", "-a -b -C -l -n"),
    "tar": (
        r"-?[cvzjJhp]*c[cvzjJhp]*f?|-[cvzjJhpf]+|--(?:create|gzip|xz|zstd|verbose|exclude-vcs|(?:exclude|file|directory)=.*)",
        "-f -C --exclude --file --directory",
    ),
    "tree": (r"-[aAdfhinpsuDFJX]+|--(?:noreport|dirsfirst)", "-L -I -P -o"),
    "zip": (r"-[rqjX9@yu0-8]+", "-x -i"),
}
_CREATES = r"-?[vzjJhp]*c[vzjJhp]*f?|--create"
#: Code, whatever option it is given to.
_CODE = r"\.lua$"
#: Not one path, or none that is known.
_LIVE = r"[*?\[{$`\0]|^~[^/]|:"


def outputs_of(words: Sequence[str]) -> list[str] | None:
    """Return all that a program writes; None where that isn't sure, or where it changes its inputs."""
    if not words or name_of(words[0]) not in _OPTIONS:
        return None
    if name_of(words[0]) == "tar" and not re.fullmatch(_CREATES, "".join(words[1:2])):
        return None
    known, valued = _OPTIONS[name_of(words[0])]
    named: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if re.search(_CODE, word):
            return None
        if word in valued.split():
            if re.search(_CODE, next(rest, "")):
                return None
        elif re.fullmatch(known, word):
            continue
        elif word.startswith("-") and word != "-":
            return None
        elif name_of(words[0]) != "dd":
            named.append(word)
        else:
            return None
    if name_of(words[0]) in ("cp", "rsync", "zip", "tar", "split") and not named:
        return None
    written = targets(words)
    if written is None or any(re.search(_LIVE, one) for one in written):
        return None
    return [one for one in written if one != "-"]
