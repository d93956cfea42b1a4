"""Whether a piece of code, in whatever language, reads as if it changed files: rather once too often."""

import re

_MODE = r"(?:mode\s*=\s*)?['\"]"
#: Calls and words of Python, JavaScript, Ruby, Perl, PHP, Lua, R, Julia, Lisp and Tcl, and of shells in them.
#: A string, since to compile it takes as long as to judge a command that has no code.
_CHANGES = (
    r"(?i:"
    # opened to be written to, by a mode behind a path or alone; the bounds keep hostile code from taking long
    rf"open\w{{0,40}}\s{{0,9}}\([^()\n]{{0,200}},\s*{_MODE}[^'\"\n]{{0,3}}[wax+]"
    rf"|open\w{{0,40}}\s{{0,9}}\(\s*{_MODE}(?=\w*[wax+])[rwabtx+]{{1,3}}['\"]"
    r"|\bO_(?:WRONLY|RDWR|TRUNC|CREAT|APPEND)|\bsysopen|\[open\s|FileIO|FileHandler|\b(?:shelve|dbm)\b"
    r"|sqlite3\.connect"
    # changed, moved, made, taken away
    r"|\bwrite|binwrite|WriteStream|unlink|remove|rename|rmtree|rmdir|truncate|copy|\bmove|touch|delete|inplace"
    r"|symlink|hard_?link|\blink\s*\(|\bchmod|\bchown|\b(?:rm|cp)(?:Sync)?\s*\(|FileUtils|os\.replace"
    r"|Path\s*\([^()\n]{0,200}\)\.replace"
    r"|extract|urlretrieve|\bto_(?:csv|excel|feather|hdf|html|json|markdown|parquet|pickle|sql|stata|xml)\b"
    r"|file\s*\(|outfile|\bsave|append|put_contents|\bfile\s*=\s*['\"]|\bsink\b|-m\s+(?:zip|tar)file|\boutput\s*="
    # run by a shell, redirected
    r"|[^-=<]>(?!=)|system|subprocess|\bexec|spawn|popen|sed\s+-\w*i|(?<!-)\b(?:rm|mv|cp|tee|dd)\s|-i\b"
    # of editors and databases
    r"|\bw(?:q|rite)?!?\s|\.output|\.once|\.(?:backup|log|clone|excel)\s+\S|\binto\s+['\"])"
)
#: Perl's and Ruby's reading of a line.
_READ_LINE = r"<\$?\w{0,20}>"


def may_write(code: str, program: str = "") -> bool:
    """Say whether `code`, told to `program` if that is known, may change a file."""
    if program.startswith(("perl", "ruby")):
        code = re.sub(_READ_LINE, "", code)
    return re.search(_CHANGES, code) is not None
