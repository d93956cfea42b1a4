"""Credentials in text: found by their prefixed formats, named, never shown.

The formats are those that their issuers document (and that gitleaks names); high
entropy alone only warns, since ordinary notes are full of digests (design section 13).
"""

import math
import re
from collections import Counter
from functools import lru_cache

from roamkb.core.text import cleaned
from roamkb.core.text import clipped
from roamkb.core.text import shown

#: Longest redacted line; a title's worth.
_FACT_WIDTH = 120

_BEFORE = r"(?<![A-Za-z0-9])"
_AFTER = r"(?![A-Za-z0-9])"

#: Of a variable in an environment: the end of its name.
_SHOUTED = r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY)"
#: Of a setting, by whatever style its name is written.
_NAMED = (
    r"(?<!:)(?i:passw(?:or)?d|passphrase|secret|(?:auth|access|refresh|api|bot|session|security)[_-]?token"
    r"|(?:api|access|private|secret|auth|encryption)[_-]?key)"
)

#: A group `v` and its number hold the value, where the name before it is no secret.
_FORMATS: tuple[tuple[str, str], ...] = (
    ("AWS access key", _BEFORE + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _AFTER),
    ("GitHub token", _BEFORE + r"gh[pousr]_[A-Za-z0-9]{30,255}" + _AFTER),
    ("GitHub token", _BEFORE + r"github_pat_[A-Za-z0-9_]{22,255}"),
    ("GitLab token", _BEFORE + r"gl(?:pat|oas|dt|rt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20,}"),
    ("Slack token", _BEFORE + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", _BEFORE + r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+"),
    ("Slack webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}"),
    ("Anthropic key", _BEFORE + r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", _BEFORE + r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", _BEFORE + r"sk-[A-Za-z0-9]{32,}" + _AFTER),
    ("Google API key", _BEFORE + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("Google OAuth token", _BEFORE + r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("Google OAuth secret", _BEFORE + r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("Stripe key", _BEFORE + r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("Stripe webhook secret", _BEFORE + r"whsec_[A-Za-z0-9]{20,}"),
    ("npm token", _BEFORE + r"npm_[A-Za-z0-9]{36}" + _AFTER),
    ("PyPI token", _BEFORE + r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    ("Hugging Face token", _BEFORE + r"hf_[A-Za-z0-9]{30,}" + _AFTER),
    ("SendGrid key", _BEFORE + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,}"),
    ("DigitalOcean token", _BEFORE + r"do[opr]_v1_[a-f0-9]{64}"),
    ("Twilio key", _BEFORE + r"SK[0-9a-f]{32}" + _AFTER),
    ("Azure storage key", r"AccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
    ("age secret key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    ("private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("JSON web token", _BEFORE + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("URL with a login", r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@]{0,64}:[^\s/@]{3,128}@\S+"),
    ("authorization", r"(?i:bearer)[ \t]{1,3}(?P<v26>[A-Za-z0-9._~+/-]{20,4096}=*)"),
    (
        "authorization",
        r"(?i:authorization)[\"']?:[ \t]{0,3}[\"']?(?i:basic)[ \t]{1,3}(?P<v27>[A-Za-z0-9+/]{12,4096}=*)",
    ),
    (
        "password",
        r"(?<![A-Za-z0-9])[A-Z0-9_]{0,64}" + _SHOUTED + r"=[\"'`]?(?P<v28>[^\s\"'`;|&<>(){}$]{8,512})",
    ),
    ("password", r";[ \t]{0,3}(?i:password|pwd)[ \t]{0,3}=[ \t]{0,3}(?P<v29>[^\s;\"'<>{}$*]{6,256})"),
    (
        "secret value",
        _NAMED
        + r"[\"'`\]]{0,2}[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}[\"'`]?(?P<v30>[A-Za-z0-9+/_=.~!@#%^*-]{16,512})",
    ),
)
#: What each of the formats can't be without: few texts hold any, and looking for it costs nothing.
_MARKS: tuple[tuple[str, ...], ...] = tuple(
    tuple(marks.split(" "))
    for marks in (
        "AKIA ASIA ABIA ACCA",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        "github_pat_",
        "glpat- gloas- gldt- glrt- glptt- glft- glimt- glagent- glsoat-",
        "xoxa xoxb xoxe xoxo xoxp xoxr xoxs",
        "xapp-",
        "hooks.slack.com/",
        "sk-ant-",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        "sk-",
        "AIza",
        "ya29.",
        "GOCSPX-",
        "k_live_ k_test_",
        "whsec_",
        "npm_",
        "pypi-AgE",
        "hf_",
        "SG.",
        "doo_v1_ dop_v1_ dor_v1_",
        "SK",
        "AccountKey=",
        "AGE-SECRET-KEY-1",
        "PRIVATE KEY",
        "eyJ",
        "://",
        "earer EARER",
        "asic BASIC",
        "PASSWORD PASSWD PASSPHRASE SECRET TOKEN API_KEY APIKEY ACCESS_KEY PRIVATE_KEY",
        "assword= asswd= ASSWORD= wd= WD=",
        "assword asswd assphrase ecret oken key Key KEY PASSW PASSPH SECRET TOKEN",
    )
)
#: Passwords that documents use to say "a password".
_PLACEHOLDER = re.compile(r":(?:\*+|x{3,}|\.{3,}|<[^>]*>|\$\{?\w+\}?|pass(?:word)?|secret|PASS(?:WORD)?)@")


#: From this one on a format is a name and its value.
_FIRST_NAMED = 26
#: Bits a letter: of sixteen letters a word has fewer.
_RANDOM_ENOUGH = 3.3
_MIXED = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[^0-9]*[0-9]")
#: What documents put where a secret would stand: a name, a place, a command.
_STANDS_FOR = re.compile(
    r"(?i)(?:your|change|example|placeholder|dummy|fake|sample|replace|insert|redacted|masked|passw|secret|test"
    r"|xxx|123|abc|foo|bar)"
    r"|(?:my|the|some|an?|new|old|todo|none|null|true|false|key|token|pass|env|process|config|settings|vault|os"
    r"|self|this|args|options|data|file|https?|ssh|arn|projects?)(?![a-z0-9])"
    r"|[/.~$%<\[*\\-]|(?-i:[A-Z0-9]*_[A-Z0-9_]*$)|[a-z_]+(?:\.[a-z_]+)+[(\[]?"
)
#: A name in code, words with few digits; a UUID, or a short digest; the documents' own examples.
_NAME_OR_DIGEST = re.compile(
    r"(?i)[^0-9]*[0-9]?[^0-9]*|(?:[a-z]{2,}\d{0,2}[._/-])*[a-z]{2,}\d{0,2}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-9a-f]{,31}|.*example.*"
)


class Secret:
    """Where a credential stands, what it is, and its first four characters."""

    # no dataclass, since hooks import this: their module takes as long as Python to start
    __slots__ = ("is_named", "kind", "span", "start")

    def __init__(self, *, kind: str, start: str, span: tuple[int, int], is_named: bool = False) -> None:
        self.kind = kind
        #: Whether only the name before it says so: it may stand elsewhere without.
        self.is_named = is_named
        self.start = start
        self.span = span


#: What `masked` leaves in place of a credential.
SECRET_MARK = re.compile("|".join(re.escape(f"[{kind}]") for kind in (*dict(_FORMATS), "secret")))


def find_secret(text: str) -> Secret | None:
    """Return the first credential in `text`, also where invisible characters part it."""
    if found := _secrets(text):
        return found[0]
    less = cleaned(text)
    return next(iter(_secrets(less)), None) if less != text else None


def _secrets(text: str) -> list[Secret]:
    told = tuple(n for n, marks in enumerate(_MARKS) if any(mark in text for mark in marks))
    if not told:
        return []
    found = []
    for match in _formats(told).finditer(text):
        number = int((match.lastgroup or "f0")[1:])
        kind = _FORMATS[number][0]
        if kind == "URL with a login" and _PLACEHOLDER.search(match.group()):
            continue
        if number < _FIRST_NAMED:
            found.append(Secret(kind=kind, start=match.group()[:4], span=match.span()))
        elif _is_certain(value := match[f"v{number}"], is_long=kind == "secret value"):
            # four letters of a short password are half of it
            start = value[: min(4, len(value) // 4)]
            found.append(Secret(kind=kind, start=start, span=match.span(f"v{number}"), is_named=True))
    return found


def _is_certain(value: str, *, is_long: bool) -> bool:
    """Say whether what a setting is given is a secret for sure: no placeholder, path or word."""
    value = value.rstrip(".,:!")
    if not _MIXED.search(value) or _STANDS_FOR.match(value):
        return False
    return not is_long or (_entropy(value) > _RANDOM_ENOUGH and not _NAME_OR_DIGEST.fullmatch(value))


@lru_cache(maxsize=256)
def _formats(numbers: tuple[int, ...]) -> re.Pattern[str]:
    """Return one alternation, so that a text is read once; the group's name leads back to the kind."""
    return re.compile("|".join(f"(?P<f{n}>{_FORMATS[n][1]})" for n in numbers))


def masked(text: str) -> str:
    """Return `text` with each credential replaced by its kind."""
    pieces, at = [], 0
    for secret in _secrets(text):
        pieces += [text[at : secret.span[0]], f"[{secret.kind}]"]
        at = secret.span[1]
    return "".join([*pieces, text[at:]])


_NAMES_A_SECRET = re.compile(
    r"(?i)(?<![\w/.-])(?:pass(?:word|wd|phrase|code)|api[ _-]?key|secret|token|pin)\s*(?:is\b|was\b|[:=])\s*"
    r"[\"'`]?(?=\S*[\d!@#$%^&*])[^\s\"'`]{4,}"
)


def names_a_secret(text: str) -> bool:
    """Say whether `text` reads like "the password is hunter2": a warning, since prose can't be sure."""
    return bool(_NAMES_A_SECRET.search(text))


_RANDOM = re.compile(r"[A-Za-z0-9+/_=-]{24,}")


#: The value alone; and as shells have it, where the name may stand in a longer one.
_SAID_SECRET = re.compile(
    r"(?i)(?:(?<![\w/.-])(?:pass(?:word|wd|phrase|code)|api[ _-]?key|secret|token|pin)\s*"
    r"(?:is\b|was\b|[:=])\s*|\b\w*(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY)\w*=)"
    r"[\"'`]?(?P<value>(?=\S*[\d!@#$%^&*])[^\s\"'`]{4,})"
)


def withheld(text: str) -> str:
    """Return `text` masked, and without what it calls a password or a token, wherever that stands.

    For records that nobody misses: ordinary prose loses a word now and then.
    """
    said = {text[slice(*one.span)].rstrip(".,;)") for one in _secrets(text) if one.is_named}
    # the longest first: one may begin with another
    for value in sorted(said, key=len, reverse=True):
        text = text.replace(value, "[secret]")
    text = masked(text)
    for value in {found["value"].rstrip(".,;)") for found in _SAID_SECRET.finditer(text)}:
        if len(value) >= 4 and not SECRET_MARK.match(value):
            text = text.replace(value, "[secret]")
    return text


def has_high_entropy(text: str) -> bool:
    """Say whether some word of `text` looks random: a warning, never a refusal."""
    return any(_entropy(word) > 4.3 for word in _RANDOM.findall(text) if re.search(r"\d", word))


def _entropy(word: str) -> float:
    """Return Shannon's entropy of `word` in bits a character."""
    counts = Counter(word).values()
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts)


#: In this order: each later pattern meets what the earlier ones left. Compiled when they are used: a hook
#: that masks what it records needs none of them.
_PRIVATE: tuple[tuple[str, str], ...] = (
    (
        r"\1 [secret]",
        (
            r"(?i)(?<![\w/.-])(pass(?:word|wd|phrase|code)?|pin|token|secret|credentials?|api[ _-]?key)\b"
            r"(?:\s+(?:is|was|to|uses?)\b|\s*[:=])*\s*[\"'`]?[^\s\"'`\[\]]+"
        ),
    ),
    ("[url]", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://|\\\\)\S+"),
    ("[address]", r"[\w.+%-]{1,64}@[\w-]+(?:\.[\w-]+)*"),
    ("[address]", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"),
    ("[address]", r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\w:])"),
    (
        "[path]",
        r"(?:~|\.{1,2})?(?<![\w])(?:/[^\s/:;,\"'`)\]]+){1,}/?|~[/\\]\S*|[A-Za-z]:\\\S+|\\\\\S+",
    ),
    ("[path]", r"\b[\w.-]+(?:/[\w.@-]+)+/?"),
    ("[host]", r"(?<![\w.-])(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]+(?::\d+)?\b"),
    ("[host]", r"\b(?:localhost|[A-Za-z][\w-]*):\d{2,5}\b|\blocalhost\b"),
    ("[host]", r"\b[A-Za-z]+(?:-[A-Za-z0-9]+)*-\d+[a-z]?\b|\b[A-Za-z]{2,}-[A-Za-z]+\d+\b"),
)


def redacted(fact: str) -> str:
    """Return one line that names `fact` without credentials, addresses, hosts and paths."""
    # what is invisible may part a credential, and line ends may
    line = masked(shown(masked(cleaned(fact))))
    for name, pattern in _PRIVATE:
        line = re.sub(pattern, name, line)
    return clipped(line, _FACT_WIDTH)
