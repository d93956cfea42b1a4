"""Fingerprints of errors: class and message, without what differs from run to run.

Its class and message, without what differs from run to run.

Numbers, paths, addresses, ids, times and quoted values are folded, so that the same error on another
line, machine or day is the same error. What its program calls it stays, since that is what it is:
`E0382`, `ENOENT`, `404`, `exit status 137`, and the types of a language (`'NoneType'`).
"""

import hashlib
import re
from typing import Final

from roamkb.core.data_tables import data_rows
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.lazy_regex import lazily
from roamkb.core.text import clip_text
from roamkb.remedies.error_output import ErrorLine
from roamkb.remedies.error_output import error_lines
from roamkb.remedies.error_output import is_telling
from roamkb.remedies.error_similarity import marked_nearness
from roamkb.remedies.error_similarity import marks_of
from roamkb.remedies.error_similarity import name_different_things
from roamkb.secrets.detector import redact_fact
from roamkb.text.similarity.jaccard import is_alike
from roamkb.text.similarity.jaccard import may_contradict
from roamkb.text.similarity.jaccard import prepare_text
from roamkb.text.similarity.jaccard import text_similarity

#: Characters of a folded message; what follows is detail.
_LONGEST: Final = 240
#: Errors of one output that are remembered beside the one that tells most.
_MOST_OTHERS: Final = 8
#: Hexadecimal digits of a digest: 64 bits, which a project's errors never fill.
_DIGEST_LENGTH: Final = 16
#: The least similarity of two messages that may have the same cure, inclusive; what a person would call
#: the same.
SAME_CURE_SIMILARITY: Final = 0.80
#: How near two errors are at least that are one but for what they name, and at most by their marks alone.
_OTHER_NAMES_NEARNESS: Final = 0.4
_MOST_BY_MARKS: Final = 0.79
DIGEST_FORM: Final = lazily(rf"[0-9a-f]{{{_DIGEST_LENGTH}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFingerprint:
    """The identity of an error: digest, name and folded message."""

    #: The digest that is compared.
    digest: str
    #: Its class or code, as its program calls it; empty where it has none.
    name: str
    #: Its message, folded.
    form: str
    #: The message as it was said, on one line, without secrets, addresses and paths.
    line: str
    #: Digests of what else the same output tells, at most eight.
    others: tuple[str, ...] = ()
    #: What its lines are about, names among it.
    marks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The error in words, folded."""
        return ": ".join(filter(None, (self.name, self.form)))


def fingerprint(error: str, *, type: str = "") -> ErrorFingerprint:
    """Return the identity of an error, from its message or from a program's whole output.

    `type` is its class, where the caller knows it and the text doesn't say it.
    """
    errors = error_lines(error) or [ErrorLine(name="", message="", weight=0)]
    best, *other_errors = errors
    name = best.name or type.strip()
    form = fold_message(name, best.message)
    digest = _error_digest(name, form)
    others = dict.fromkeys(
        _error_digest(error_line.name, fold_message(error_line.name, error_line.message))
        for error_line in other_errors
        if is_telling(error_line)
    )
    others.pop(digest, None)
    return ErrorFingerprint(
        digest=digest,
        name=name,
        form=form,
        line=": ".join(filter(None, (name, redact_fact(_PRIVATE.sub(r"\1\2[secret]", best.message))))),
        others=tuple(others)[:_MOST_OTHERS],
        marks=marks_of(error),
    )


def graded_nearness(error: ErrorFingerprint, other_error: ErrorFingerprint) -> float:
    """Return how near two errors are, 0 to 1; the limit or more where one cure may fit both.

    Two that name different things are never as near, though they are one error but for that.
    """
    marked = marked_nearness(error.marks, other_error.marks)
    by_message = message_nearness(error, other_error)
    if by_message and name_different_things(error.marks, other_error.marks):
        return max(marked, _OTHER_NAMES_NEARNESS)
    return by_message or min(marked, _MOST_BY_MARKS)


def message_nearness(error: ErrorFingerprint, other_error: ErrorFingerprint) -> float:
    """Return the similarity of two errors' messages, up to 1, or 0 where they are different errors.

    Two that have names of their own are different, and so are values that were compared otherwise.
    """
    if error.digest == other_error.digest:
        return 1.0
    if error.name and other_error.name and error.name.casefold() != other_error.name.casefold():
        return 0.0
    mine, theirs = (_EMPTY.sub(" ", form).strip() for form in (error.form, other_error.form))
    if not mine or not theirs or mine.startswith("assert ") or theirs.startswith("assert "):
        return 0.0
    ours, others = prepare_text(mine), prepare_text(theirs)
    if not is_alike(ours, others, limit=SAME_CURE_SIMILARITY) or may_contradict(ours, others):
        return 0.0
    return round(text_similarity(ours, others), 2)


def _error_digest(name: str, form: str) -> str:
    hashed_text = f"{name}\0{form}".casefold()
    return hashlib.sha256(hashed_text.encode("utf-8", "replace")).hexdigest()[:_DIGEST_LENGTH]


_FILE = (
    r"[\w-]+\.(?:pyi?|[cm]?jsx?|[cm]?tsx?|go|rs|cc?|cpp|cxx|hh?|hpp|java|kt|rb|php|cs|sql|sh|json|toml|ya?ml"
    r"|txt|md|lock|service|socket|timer|cfg|ini|html|css|so|o|a|env|org|csv|xml|vue|mk|gz|zip|whl|log|db|sqlite)\b"
)
_PLACE = r"(?::\d+(?::\d+)?)?"
_VALUE: Final = "<q>"
#: Names of types that a quotation keeps: 'NoneType' and 'str' are two faults, 'x' and 'y' are one.
_TYPES = "NoneType|None|str|int|float|bool|bytes|list|dict|tuple|set|function|method|module|type|object|coroutine"
#: What differs from run to run, and what stands for it; the first that fits is it.
_FOLD_FORMS: Final = (
    (
        "",
        rf"(?<!\w)['\"](?:{_TYPES})['\"](?!\w)"
        r"|(?i:['\"]?\b(?:errno|os error|returned error|exit (?:code|status)|(?:status|response) code|code"
        r"|status|signal|sqlstate|http(?:/[\d.]+)?(?: error| status)?)['\"]?[\s:=]{1,2}-?\d{1,5}\b)"
        r"|\bError \d{1,3}(?=$| connecting)|\bError -\d{1,3}\b"
        r"|\b[45]\d\d(?= (?:Client|Server) Error)"
        r"|\b[45]\d\d:? (?=Not |Bad |Unauthor|Forbidden|Internal|Service|Gateway|Too Many|Conflict|Method"
        r"|Unprocess|Gone|Request|Payload)",
    ),
    ("<url>", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s'\"`)>\]]+"),
    ("<address>", r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b"),
    ("<id>", r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b"),
    (
        "<time>",
        r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
        r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b",
    ),
    (
        _VALUE,
        r"\bb?(?<![a-zA-Z0-9])'(?:[^'\\]|\\.){0,400}?'(?!\w)|(?<!\w)[bur]?\"(?:[^\"\\]|\\.){0,400}?\"(?!\w)"
        r"|(?<!\w)'(?:[^'\\]|\\.){0,400}?'(?!\w)|`[^`']{0,400}[`']|[‘“«„][^’”»“]{0,400}[’”»“]",
    ),
    ("<address>", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?!\w|\.\d)"),
    ("<address>", r"\[[0-9a-fA-F:]{2,39}\]:\d+"),
    ("<address>", r"(?<![\w:])\[?[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){3,7}\]?(?::\d+)?(?![\w:])"),
    ("<address>", r"\b(?:localhost|(?:[A-Za-z][\w-]*\.)+[A-Za-z]{2,}):\d{2,5}\b"),
    ("<path>", rf"(?<![\w<>])(?:[A-Za-z]:|~|\.{{1,2}})?(?:[\\/][\w.@+%=-]+)+[\\/]?{_PLACE}"),
    ("<path>", rf"(?<![\w<>])@?[\w.+-]+(?:/[\w.@+-]+)+/?{_PLACE}"),
    ("<path>", rf"(?<![\w<>]){_FILE}{_PLACE}"),
    ("<n>", r"\b0x[0-9a-fA-F]+\b"),
    ("<id>", r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}\b"),
    (
        "<n>",
        r"(?<![\w.])[+-]?v?\d[\d_]*(?:,\d{3})*(?:\.\d+)*(?:e[+-]?\d+)?"
        r"(?: ?[kmgtKMGT]i?[bB]|[mun]s|s|m|h|%)?(?!\w)",
    ),
)
_FOLD_PATTERN: Final = lazily("|".join(f"(?P<f{n}>{pattern})" for n, (_, pattern) in enumerate(_FOLD_FORMS)))

#: Values that stand in a message without quotation marks, in the words of the programs that say so.
_UNQUOTED: Final = tuple((lazily(pattern), instead) for pattern, instead in data_rows("error_values.tsv"))
#: Classes whose whole message is the thing that they miss.
_MISSING: Final = lazily(r".*(?:NotFound|KeyError|NoClassDef|DoesNotExist|NoSuch|UnknownHost).*")
#: A message that is one name or value.
_ONE_WORD: Final = lazily(r"[\w.$/@-]+|(['\"]).*\1")
#: A message that is quoted as a whole, as Python does with a key that holds quotation marks.
_SENTENCE: Final = lazily(r"\"([^\"]*'[^\"]* [^\"]*)\"")
#: Where it happened, behind the message.
_WHERE: Final = lazily(r" (?:in|at) \S+\.[a-z]{1,4}(?::\d+)*$")
_ASSERT: Final = lazily(r"(?:assert|AssertionError:) (.*)")
_COMPARES: Final = lazily(r" (==|!=|<=|>=|<|>|is not|not in|is|in) ")
#: What says nothing when two messages are compared.
_EMPTY: Final = lazily(r"<\w+>|\[Errno -?\d+\]")
_TUPLE: Final = lazily(r"\((?:<n>[, ]*){2,}\)|\(<n>,\)")
_SEVERAL: Final = lazily(r"<q>(?:(?:, |,? and )<q>)+")
#: A password or a token that is called so; `using password: YES` is none.
_PRIVATE: Final = lazily(
    r"(?i)\b(\w*(?:pass(?:word|wd)?|token|secret|api[ _-]?key))"
    r"(\s*[=:]\s*(?!(?:yes|no)\b)|\s+(?:is|was)\s+(?=\S*[\d!@#$%^&*]))[^\s)]+"
)


def fold_message(name: str, message: str) -> str:
    """Return the message of an error called `name`, without the parts that differ from run to run."""
    message = _WHERE.sub("", " ".join(message.split()))
    if assertion := _ASSERT.match(message):
        # an assertion's values are its own; how they are compared isn't
        compared = _COMPARES.search(assertion[1])
        return f"assert {compared[1] if compared else ''}".strip()
    if quoted := _SENTENCE.fullmatch(message):
        message = quoted[1]
    if _MISSING.fullmatch(name) and _ONE_WORD.fullmatch(message):
        return _VALUE
    message = _PRIVATE.sub(r"\1\2<q>", message)
    for pattern, placeholder in _UNQUOTED:
        message = pattern.sub(placeholder, message)
    message = _FOLD_PATTERN.sub(_placeholder_for, message)
    # one missing argument, or three of them
    message = _SEVERAL.sub(_VALUE, message)
    message = _TUPLE.sub("(<n>)", message)
    return clip_text(message.strip(" .,:;"), _LONGEST)


def _placeholder_for(matched: re.Match[str]) -> str:
    return _FOLD_FORMS[int((matched.lastgroup or "f0")[1:])][0] or matched.group()
