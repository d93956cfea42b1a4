"""Bytes as the text that Emacs would show."""


def decode_note(data: bytes) -> tuple[str, bool]:
    """Return the text of `data`, and whether it was clean UTF-8."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        text, clean = data.decode("utf-8"), True
    except UnicodeDecodeError:
        text, clean = data.decode("utf-8", "replace"), False
    if "\0" in text:
        return text, False
    return _normalised(text), clean


def _normalised(text: str) -> str:
    """Return `text` with `\\n` line ends, if it had ends of one kind only."""
    if "\r" not in text:
        return text
    returns = text.count("\r")
    if returns == text.count("\r\n") == text.count("\n"):
        return text.replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")
