"""What is said of the moment: deeds, plans, results of a run, and words that only the conversation explains.

True when it was said, and of no use to the next session. By how sentences are made, not by their subject.
"""

import re
from typing import Final

from roamkb.core.deeds import claim_of
from roamkb.core.deeds import is_deed
from roamkb.core.similarity import shape
from roamkb.core.wording import canonical

_PASS = (
    r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?"
    r"|(?:is|are|was|were)\s+(?:all\s+|now\s+)?(?:green|red|happy|passing|clean))"
)
_RUNS = r"(?:tests?|checks?|suites?|builds?|ci|pipelines?|linters?|lint|type ?checker|mypy|ruff)"
_DEED: Final = "it tells what somebody did"
_RUN: Final = "it is the result of a run"
#: (why, how it sounds)
_OF_THE_MOMENT: Final = (
    (
        _DEED,
        r"\bI['’]ll\b|\bI (?:made|forgot|broke|introduced|mistyped|overlooked|will)\b"
        r"|^I (?:should|would|could|might|want|need|plan|guess|think|hope)\b"
        r"|^(?:looked|looking)\s+(?:in|at|for|into)|^(?:will|going to|let['’]?s|let me)\s"
        r"|^(?:ich werde|ich will|als nächstes|lass mich)\b",
    ),
    (
        "only the conversation says what it means",
        r"^(?:it|they|he|she|this|that|these|those)(?:['’]s|\s+(?:is|was|are|were|will|has|have|had|does|did"
        r"|can|could|should|must|needs?|works?|worked|seems?|looks?|fails?|failed|means|happens|happened|went"
        r"|took|makes|made))\b|^see\s|^the\s+(?:above|below|following)\b"
        r"|^you\s+(?:prefer|like|want|seem|sound|are right)\b"
        r"|\byou(?:['’]ve|\s+have)?\s+(?:meant|asked|mentioned|said|wanted|added|wrote|made|did|sent|told)\b"
        r"|\byour\s+(?:answer|reply|review|input|last|message|question|go-ahead|confirmation)\b"
        r"|\b(?:from|mentioned|described|listed)\s+above\b|\bin\s+my\s+last\b",
    ),
    (
        _RUN,
        rf"\b{_RUNS}\b(?:\s+\w+){{0,2}}?\s+(?:(?:now|all|still|again)\s+)?{_PASS}(?!\w)"
        r"(?!,?\s+(?:only|when|if|unless|with|without|because|locally|but|even|although|while|in|under"
        r"|on(?!\s+(?:my|our|your)\b))\b)"
        # what the work has come to
        r"|\b(?:is|are)\s+(?:now\s+)?(?:up[ -]to[ -]date|merged|pushed|rebased|in place|done|ready|complete"
        r"|finished|committed)\W*\Z|^there\s+(?:is|are)\b.*\bleft\W*\Z"
        r"|\b\d+\s+(?:failing|failed|passing|passed|skipped|broken)\s+(?:\w+\s+)?(?:tests?|checks?)\b"
        r"|\b(?:nothing|no\s+\w+)\s+found\s+(?:so\s+far|yet)\b"
        r"|\b(?:tests?|checks?|build|pipeline|suite|linter)\s+(?:laufen|läuft|sind|ist)\s+"
        r"(?:(?:jetzt|nun|wieder|alle|alles)\s+)*(?:durch|grün)\b(?!,?\s+(?:nur|wenn|falls|solange|weil))",
    ),
)
_MOMENTS: Final = tuple((why, re.compile(how, re.IGNORECASE)) for why, how in _OF_THE_MOMENT)

_END: Final = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[*_`]*[A-Z0-9`])|\n+")

#: When it was true, as far as anybody else can tell.
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PASSING = re.compile(
    r"\b(?:yesterday|tomorrow|tonight|temporarily|meanwhile|(?:in|for) the meantime|for now|for the moment"
    r"|at the moment|just now|a (?:moment|minute|while) ago|so far|(?:is|are) (?:still )?down\b"
    r"|(?:is|are) still (?:broken|failing|red|open|missing)"
    r"|this (?:time|morning|afternoon|evening|week|month|quarter|year|sprint|iteration|milestone|release"
    r"|session|branch|pr|pull request|ticket|commit|task|step|run|once)"
    r"|(?:last|latest|previous|next) (?:run|time|build|session|step|edit|week|month|sprint)"
    rf"|(?:on|by|until|till|before|this|next|last) {_DAY}(?!s)|step \d+"
    r"|before (?:I|you|we) (?:go|stop|leave|finish|continue)|before \d{1,2} ?[ap]m)\b",
    re.IGNORECASE,
)

_NOW = re.compile(r"\b(?:now|currently|at present|as of today|today|these days|recently)\b", re.IGNORECASE)
#: Not of time: "from now on", "now and then" says when it was not.
_NOT_NOW = re.compile(r"\b(?:from now on|now and then|right now it is)\b", re.IGNORECASE)
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\bv?\d+\.\d+")

#: Words that are in every advice and tell one piece of it from no other.
_GENERIC: Final = frozenset(
    map(
        canonical,
        (
            "thing stuff code work good bad better best well careful complicated complex tricky hard "
            "easy simple everything something anything someone always never important sure right "
            "wrong correctly properly correct fine okay test write make do done get one way lot many "
            "much more double check verify really very fix bug issue problem change file case task "
            "result time need project practice quality clean great nice interesting try attention "
            "first next again now be see look pay remember note mind keep learn lesson understand "
            "know"
        ).split(),
    )
)
_LEAST_PARTICULAR: Final = 2


def of_the_moment(text: str, *, decides: bool = False) -> str:
    """Return why `text` is of no use to another session; empty where one of its sentences may be.

    What somebody did is what a decision or a deviation consists of: where it `decides`, deeds count.
    """
    found = [(_of_the_moment(one, decides=decides), one) for one in _sentences(text)]
    left = " ".join(one for why, one in found if not why)
    why = next((why for why, _ in found if why), "")
    return why if why and (not left or is_vague(left)) else ""


def reports_work(sentence: str) -> bool:
    """Say whether `sentence` tells what somebody did or will do, or how a run ended, and no more."""
    claim = claim_of(sentence)
    return is_deed(claim) or any(how.search(claim) for why, how in _MOMENTS if why in (_DEED, _RUN))


def _sentences(text: str) -> list[str]:
    return [one for one in map(str.strip, _END.split(text)) if one]


def _of_the_moment(sentence: str, *, decides: bool) -> str:
    claim = claim_of(sentence)
    if why := next((why for why, how in _MOMENTS if how.search(claim)), ""):
        return why
    return _DEED if not decides and is_deed(claim) else ""


def passing(text: str) -> str:
    """Return the words that say that `text` was true for some days; empty where none do."""
    found = _PASSING.search(text)
    return found.group() if found else ""


def undated(text: str) -> str:
    """Return the words that say that `text` was true when it was said, where nothing says when that was."""
    found = _NOW.search(_NOT_NOW.sub("", text))
    return found.group() if found and not _DATE.search(text) else ""


def is_vague(text: str) -> bool:
    """Say whether all that `text` says could be said of any project."""
    return len(shape(text).content - _GENERIC) < _LEAST_PARTICULAR
