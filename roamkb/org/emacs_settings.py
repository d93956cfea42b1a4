"""Folders and files that Emacs init files name, which are read as text: nothing in them is evaluated."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from posixpath import join
from posixpath import normpath

from roamkb.core.startup.lazy_regex import lazily

#: Comments, characters such as `?"`, strings, brackets, and words.
_TOKEN = lazily(r";[^\n]*|\?\\?.|\"(?:[^\"\\]|\\.)*\"|[()\[\]'`,]|[^\s()\[\]'`,;\"]+")
_BLOCK_START = lazily(r"(?im)^[ \t]*#\+begin_src[ \t]+(?:emacs-lisp|elisp)\b[^\n]*\n")
_BLOCK_END = lazily(r"(?im)^[ \t]*#\+end_src")
_ESCAPE = lazily(r"\\(.)")
#: What only changes how a path is spelt.
_SAME_FOLDER = frozenset("file-truename file-name-as-directory directory-file-name substitute-in-file-name".split())
_PATH_FUNCTIONS = _SAME_FOLDER | {"concat", "expand-file-name"}
#: Values that variables have where no init file sets them.
_DEFAULTS = {"org-directory": '"~/org"', "user-emacs-directory": '"~/.emacs.d"'}

#: Of forms in forms; a path has few.
_MAX_DEPTH = 8
#: Characters of a path; the system opens none that is longer.
_MAX_PATH = 4096

#: A string, a word, or a form.
_Form = str | tuple["_Form", ...]


def find_roam_folders(text: str, *, home: str) -> tuple[str, ...]:
    """Return each folder that an init file gives `org-roam-directory`, absolute; what isn't plain is left out."""
    return find_paths(text, ["org-roam-directory"], home=home)


def find_paths(
    text: str, variables: Iterable[str], *, home: str, known: Mapping[str, str] | None = None, base: str = ""
) -> tuple[str, ...]:
    """Return the absolute paths that an init file gives the variables, alone or in lists.

    What isn't plain is left out. A relative path starts at `base`; without that it is left out, too. `known` are
    the texts of other variables.
    """
    tokens = _tokens(text)
    values: dict[str, _Form] = {name: next(_values(tokens, name), value) for name, value in _DEFAULTS.items()}
    reader = _PathReader(values, home, known or {}, base)
    paths = (path for name in variables for form in _values(tokens, name) for path in reader.paths(form))
    return tuple(dict.fromkeys(paths))


def find_strings(text: str, variable: str) -> tuple[str, ...]:
    """Return each string in the forms that an init file gives a variable, whatever is computed of them."""
    values = _values(_tokens(text), variable)
    return tuple(_ESCAPE.sub(r"\1", word[1:-1]) for form in values for word in _words(form) if word.startswith('"'))


def find_plain_strings(text: str, variable: str) -> tuple[tuple[str, ...] | None, ...]:
    """Return the string or the list of strings in each form that an init file gives a variable; None where computed."""
    return tuple(map(_plain_strings, _values(_tokens(text), variable)))


def _plain_strings(form: _Form) -> tuple[str, ...] | None:
    parts = (form,) if isinstance(form, str) else form[form[:1] == ("list",) :]
    texts = [part for part in parts if isinstance(part, str) and (part.startswith('"') or part == "nil")]
    if len(texts) < len(parts):
        return None
    return tuple(_ESCAPE.sub(r"\1", part[1:-1]) for part in texts if part != "nil")


def find_words(text: str, variable: str) -> tuple[tuple[str, ...], ...]:
    """Return the words and strings of each form that an init file gives a variable."""
    return tuple(tuple(_words(form)) for form in _values(_tokens(text), variable))


def lisp_of_org(text: str) -> str:
    """Return the Emacs Lisp of a literate init file."""
    blocks, position = [], 0
    while (start := _BLOCK_START.search(text, position)) and (end := _BLOCK_END.search(text, start.end())):
        blocks.append(text[start.end() : end.start()])
        position = end.end()
    return "\n".join(blocks)


def _tokens(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(text) if token[0] not in ";'`,"]


def _words(form: _Form) -> Iterator[str]:
    """Yield each word and string of a form, in order."""
    if isinstance(form, str):
        yield form
    else:
        for part in form:
            yield from _words(part)


def _values(tokens: list[str], name: str) -> Iterator[_Form]:
    """Yield what stands behind each mention of a variable but where it is itself a part of a path."""
    for place, token in enumerate(tokens[:-1]):
        is_set = token == name and tokens[place - 1] not in _PATH_FUNCTIONS
        if is_set and (form := _read_form(tokens, place + 1)[0]) is not None:
            yield form


def _read_form(tokens: list[str], place: int, depth: int = 0) -> tuple[_Form | None, int]:
    """Return the form that begins at `place`, and where the next does; None where there is none."""
    if place >= len(tokens) or tokens[place] in ")]" or depth > _MAX_DEPTH:
        return None, place
    if tokens[place] not in "([":
        return tokens[place], place + 1
    parts: list[_Form] = []
    place += 1
    while place < len(tokens) and tokens[place] not in ")]":
        part, place = _read_form(tokens, place, depth + 1)
        if part is None:
            return None, place
        parts.append(part)
    return tuple(parts), place + 1


class _PathReader:
    """Reads a form as the path that it obviously is."""

    def __init__(self, values: dict[str, _Form], home: str, known: Mapping[str, str], base: str) -> None:
        self._values = values
        self._texts: dict[str, str | None] = dict(known)
        self._home = home
        self._base = base

    def paths(self, form: _Form) -> Iterator[str]:
        """Yield the absolute paths of a form, or of each in a list; none where it takes an Emacs to know."""
        if isinstance(form, tuple) and form and (form[0] == "list" or str(form[0]).startswith('"')):
            for part in form[form[0] == "list" :]:
                yield from self._path(part)
        else:
            yield from self._path(form)

    def _path(self, form: _Form) -> Iterator[str]:
        text = self._text(form)
        if text and len(text) <= _MAX_PATH and "\0" not in text:
            path = join(self._base, self._expanded(text))
            if path.startswith("/"):
                yield normpath(path)

    def _text(self, form: _Form, depth: int = 0) -> str | None:
        if depth > _MAX_DEPTH:
            return None
        if isinstance(form, str):
            if form.startswith('"'):
                return _ESCAPE.sub(r"\1", form[1:-1])
            return self._variable_text(form, depth)
        arguments = [self._text(part, depth + 1) for part in form[1:]]
        texts = [text for text in arguments if text is not None]
        if not texts or len(texts) < len(arguments):
            return None
        match form[0]:
            case "concat":
                return "".join(texts) if sum(map(len, texts)) <= _MAX_PATH else None
            case "getenv" if texts == ["HOME"]:
                return self._home
            case "expand-file-name" if len(texts) == 2:
                return join(texts[1], texts[0]) if not texts[0].startswith("~") else texts[0]
            case "expand-file-name":
                return texts[0]
            case str() as name if name in _SAME_FOLDER and len(texts) == 1:
                return texts[0]
        return None

    def _variable_text(self, name: str, depth: int) -> str | None:
        """Return what a variable holds, read once; within its own value it holds nothing."""
        if name in self._values:
            self._texts[name] = self._text(self._values.pop(name), depth + 1)
        return self._texts.get(name)

    def _expanded(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            return self._home + text[1:]
        return text
