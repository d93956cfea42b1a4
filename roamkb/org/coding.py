"""The decoding of a note's bytes into the text that Emacs would show."""

from roamkb.core.startup.lazy_regex import lazily
from roamkb.org.file_variables import file_variables

#: Codings that a note may name, spelt as Emacs and Python both spell them.
_OTHER = lazily(
    r"iso-8859-\d+|latin-\d|windows-\d+|cp\d+|koi8-[ru]|sjis|shift_jis|euc-(?:jp|kr)|gbk?|gb2312|gb18030|big5|iso-2022-jp",
)
_LINE_END = lazily(r"-(unix|dos|mac)\Z")
_C1 = lazily(rb"[\x80-\x9f]")
#: How much of a file's beginning and end can name its coding.
_HEAD = 1000
_TAIL = 3000


def decode_note(data: bytes) -> tuple[str, bool]:
    """Return the text of `data`, and whether it is clean UTF-8 and nothing else to Emacs.

    What is not is read as what Emacs takes it for, if that's plain: UTF-16 with its mark, the
    coding that the file names, ISO-2022-JP, Latin-1. Of the rest each byte that can't be read
    becomes U+FFFD.
    """
    named_coding, line_end = _named_coding(data)
    if named_coding is not None:
        try:
            return _normalise_line_ends(data.decode(named_coding), line_end), False
        except (UnicodeDecodeError, LookupError):
            pass
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _normalise_line_ends(data.decode("utf-16", "replace"), ""), False
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        # no text to Emacs, so it leaves the line ends alone
        return data.decode("utf-8", "replace"), False
    if b"\x1b$" in data and data.isascii():
        return _normalise_line_ends(_decode_iso_2022(data), line_end), False
    try:
        return _normalise_line_ends(data.decode("utf-8"), line_end), True
    except UnicodeDecodeError:
        coding = "utf-8" if _C1.search(data) else "latin-1"
        return _normalise_line_ends(data.decode(coding, "replace"), line_end), False


def _decode_iso_2022(data: bytes) -> str:
    """Return the text of ISO-2022-JP; a stray escape garbles its own line and no other."""
    lines = data.split(b"\n")
    return "\n".join(line.decode("iso2022_jp_2" if b"\x1b" in line else "ascii", "replace") for line in lines)


def _named_coding(data: bytes) -> tuple[str | None, str]:
    """Return the coding other than UTF-8 that `data` names, and the line ends that it names."""
    ends = data if len(data) <= _HEAD + _TAIL else data[:_HEAD] + b"\n" + data[-_TAIL:]
    if b"oding" not in ends and b"ODING" not in ends:
        return None, ""
    variables = dict(reversed(file_variables(ends.decode("latin-1"))))
    name = variables.get("coding", "").strip("'\"").lower()
    suffix = _LINE_END.search(name)
    line_end = suffix[1] if suffix else ""
    name = _LINE_END.sub("", name)
    return (name if _OTHER.fullmatch(name) else None), line_end


def _normalise_line_ends(text: str, line_end: str) -> str:
    r"""Return `text` with `\n` line ends, if it had ends of one kind only."""
    if "\r" not in text or line_end == "unix":
        return text
    if "\n" not in text:
        return text.replace("\r", "\n")
    if line_end == "dos" or text.count("\r\n") == text.count("\n"):
        return text.replace("\r\n", "\n")
    return text
