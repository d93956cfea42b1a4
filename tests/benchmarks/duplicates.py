"""How well near duplicates are told from other claims: harmless edits and small lies made from real notes.

    python tests/benchmarks/duplicates.py [TEXTS] [--notes N] [--seed N] [--show KIND]

TEXTS is a `corpus.jsonl` in BEIR form (`_id`, `title`, `text`); without it the notes are the
sentences of this program's own docstrings. Each note is edited in ways that change nothing of what it
says, and in ways that do; a pair is *merged* where `likeness` says SAME or SIMILAR. Printed are,
for each limit, the share of merged pairs of each kind, and recall and precision over all.

The lists in `text/similarity/synonyms` and these edits come from the same hand. The guard was mended on
command descriptions and on observations about people, so their figures flatter it; German
encyclopedia sentences were only looked at afterwards.
"""

import argparse
import ast
import json
import random
import re
import sys
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from roamkb.text.similarity.jaccard import PreparedText  # noqa: E402
from roamkb.text.similarity.jaccard import TextLikeness  # noqa: E402
from roamkb.text.similarity.jaccard import prepare_text  # noqa: E402
from roamkb.text.similarity.jaccard import text_likeness  # noqa: E402

_LIMITS = (0.70, 0.80, 0.85)
_WORD = re.compile(r"[A-Za-zÄÖÜäöüß]+")
_MERGED = (TextLikeness.SAME, TextLikeness.SIMILAR)

Edit = Callable[[str, random.Random], str | None]


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("texts", type=Path, nargs="?")
    options.add_argument("--notes", type=int, default=1500)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--show", metavar="KIND", help="print the wrong ones of this kind")
    given = options.parse_args()
    dice = random.Random(given.seed)
    notes = list(dict.fromkeys(filter(_is_note, _texts(given.texts))))
    notes = dice.sample(notes, min(given.notes, len(notes)))
    global _NAMES
    _NAMES = sorted({match[0] for note in notes for match in _NAMED.finditer(note)})
    global _NOUNS
    _NOUNS = sorted({word for note in notes for word in re.findall(r"\b[a-z]{5,9}\b", note)})
    good = {edit.__name__: _pairs(edit, notes, dice) for edit in HARMLESS}
    bad = {edit.__name__: _pairs(edit, notes, dice) for edit in HARMFUL}
    bad["nearest_other_note"] = list(_nearest(notes))
    for limit in _LIMITS:
        _report(good, bad, limit, given.show)


def _texts(path: Path | None) -> Iterator[str]:
    if path is None:
        for file in sorted((ROOT / "roamkb").rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    yield (ast.get_docstring(node) or "").partition("\n")[0]
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            yield " ".join((entry.get("title") or entry["text"]).split())


def _is_note(text: str) -> bool:
    return 5 <= len(text.split()) <= 40


def _pairs(edit: Edit, notes: Sequence[str], dice: random.Random) -> list[tuple[str, str]]:
    edited = ((note, edit(note, dice)) for note in notes)
    return [(note, other) for note, other in edited if other is not None and other != note]


def _nearest(notes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each note with the other one that shares the largest part of its words."""
    held = [frozenset(map(str.lower, _WORD.findall(note))) for note in notes]
    for place, note in enumerate(notes):
        mine = held[place]
        others = (other for other in range(len(notes)) if held[other] != mine)
        best = max(others, key=lambda other: len(mine & held[other]) / (len(mine | held[other]) or 1))
        yield note, notes[best]


def _report(
    good: dict[str, list[tuple[str, str]]], bad: dict[str, list[tuple[str, str]]], limit: float, show: str
) -> None:
    print(f"\nlimit {limit:.2f}")
    right = wrong = missed = 0
    shapes: dict[str, PreparedText] = {}

    def merged(one: str, other: str) -> bool:
        for text in (one, other):
            if text not in shapes:
                shapes[text] = prepare_text(text)
        return text_likeness(shapes[one], shapes[other], limit=limit) in _MERGED

    for kind, pairs in (good | bad).items():
        found = [pair for pair in pairs if merged(*pair)]
        is_good = kind in good
        if is_good:
            right += len(found)
            missed += len(pairs) - len(found)
        else:
            wrong += len(found)
        print(f"  {'+' if is_good else '-'} {kind:22} {len(found):5} of {len(pairs):5}  {_share(found, pairs)}")
        if show == kind:
            for one, other in (set(pairs) - set(found)) if is_good else found:
                print(f"      {one}\n      {other}\n")
    print(f"  recall {right / ((right + missed) or 1):.3f}, precision {right / ((right + wrong) or 1):.3f}")


def _share(found: Sequence[object], pairs: Sequence[object]) -> str:
    return f"{100 * len(found) / len(pairs):5.1f} %" if pairs else "    -"


# What changes nothing


def case(text: str, dice: random.Random) -> str:
    return dice.choice((text.lower(), text.upper(), text[0].swapcase() + text[1:], text.title()))


def punctuation(text: str, dice: random.Random) -> str:
    plain = text.rstrip(".!?")
    return dice.choice((plain, plain + ".", plain + "!", plain + " …", text.replace(",", ""), f"({plain})"))


def blanks(text: str, dice: random.Random) -> str:
    words = text.split()
    cut = dice.randrange(1, len(words))
    return (
        dice.choice((" ", "\n", "\t"))
        + " ".join(words[:cut])
        + dice.choice(("  ", "\n", "\u00a0"))
        + " ".join(words[cut:])
    )


def markup(text: str, dice: random.Random) -> str:
    words = text.split()
    place = max(range(len(words)), key=lambda n: len(words[n].strip(".,")))
    mark = dice.choice(("`", "**", "*", "~", "=", "_", '"'))
    quoted = " ".join((*words[:place], f"{mark}{words[place]}{mark}", *words[place + 1 :]))
    return dice.choice(("", "- ", "> ", "* ", "## ", "1) ", "TIL: ")) + quoted


def article(text: str, dice: random.Random) -> str | None:
    articles = list(re.finditer(r"\b(?:the|a|an|der|die|das|ein|eine) ", text, re.IGNORECASE))
    if not articles:
        return None
    one = dice.choice(articles)
    return text[: one.start()] + dice.choice(("", "the " if one[0] in ("a ", "an ") else "")) + text[one.end() :]


def number_of_noun(text: str, dice: random.Random) -> str | None:
    nouns = list(re.finditer(r"\b[a-z]{4,}(?:er|ion|ile|ory|ment|age|ord|ine|ock|ess|est|ing|oup)s?\b", text))
    if not nouns:
        return None
    one = dice.choice(nouns)
    word = one[0]
    if word.endswith("ss"):
        other = word + "es"
    elif word.endswith("s"):
        other = word[:-1]
    else:
        other = word[:-1] + "ies" if word.endswith("ry") else word + "s"
    return text[: one.start()] + other + text[one.end() :]


_CONTRACTIONS = (
    "do not/don't does not/doesn't did not/didn't is not/isn't are not/aren't was not/wasn't were not/weren't "
    "cannot/can't can not/can't will not/won't should not/shouldn't must not/mustn't has not/hasn't "
    "have not/haven't could not/couldn't would not/wouldn't it is/it's that is/that's we have/we've "
    "they are/they're you are/you're I am/I'm there is/there's he is/he's she is/she's we are/we're"
)


def contraction(text: str, dice: random.Random) -> str | None:
    for long, short in re.findall(r"(cannot|\w+ \w+)/(\S+)", _CONTRACTIONS):
        for one, other in ((long, short), (short, long), (short, short.replace("'", "’"))):
            if re.search(rf"\b{one}\b", text):
                return re.sub(rf"\b{one}\b", other, text, count=1)
    return None


def typo(text: str, dice: random.Random) -> str | None:
    words = list(re.finditer(r"(?<![\w./`'-])[a-z]{6,}(?![\w./`'-])", text))
    if not words:
        return None
    one = dice.choice(words)
    at = dice.randrange(one.start() + 1, one.end() - 2)
    edits = (
        text[:at] + text[at + 1] + text[at] + text[at + 2 :],
        text[:at] + text[at + 1 :],
        text[:at] + text[at] + text[at:],
    )
    return dice.choice(edits)


_SMALL = (
    "because/since; because/as; in order to/to; must/has to; must/needs to; via/through; also/too; so that/so; "
    "while/whereas; but/yet; about/regarding; such as/like; for example/e.g.; that/which; within/inside; "
    "using/with; each/every; onto/to; upon/on; whether/if; for instance/for example; will/is going to; "
    "can/is able to; who/that; any/whatever; all/all of the; into/in; by/by means of; by using/with"
)


def small_words(text: str, dice: random.Random) -> str | None:
    options = []
    for pair in _SMALL.split("; "):
        one, _, other = pair.partition("/")
        for old, new in ((one, other), (other, one)):
            if re.search(rf"\b{re.escape(old)}\b", text) and old not in (
                "to",
                "so",
                "if",
                "like",
                "in",
                "with",
                "that",
                "as",
                "on",
                "through",
                "too",
                "since",
            ):
                options.append(re.sub(rf"\b{re.escape(old)}\b", new, text, count=1))
    return dice.choice(options) if options else None


def trailing_words(text: str, dice: random.Random) -> str | None:
    if len(text.split()) < 8:
        return None
    more = (
        "as far as we know",
        "for now",
        "here",
        "as usual",
        "in this project",
        "too",
        "again",
        "if I remember right",
        "(see above)",
    )
    return text.rstrip(".") + " " + dice.choice(more) + "."


def leading_words(text: str, dice: random.Random) -> str:
    lead = dice.choice(("Note that ", "Remember: ", "Note: ", "We found that ", "In general, ", "So, ", "Please "))
    return lead + text[0].lower() + text[1:]


def clause_order(text: str, dice: random.Random) -> str | None:
    match = re.fullmatch(
        r"((?:If|When|After|Before|Once|While|Since|Because|For|In|On|With|Wenn|In) [^,]{8,}), ([^,]{8,}?)\.?",
        text,
    )
    if match:
        return f"{match[2][0].upper()}{match[2][1:]} {match[1][0].lower()}{match[1][1:]}."
    match = re.fullmatch(
        r"(\w[^,]{8,}?) ((?:if|when|after|before|once|while|because|for|in|using|wenn) [^,]{8,}?)\.?", text
    )
    return f"{match[2][0].upper()}{match[2][1:]}, {match[1][0].lower()}{match[1][1:]}." if match else None


_SYNONYMS = (
    "use/utilize show/display list/enumerate find/locate delete/remove create/make directory/folder quickly/fast "
    "begin/start error/fault check/verify fix/repair buy/purchase big/large help/assist need/require get/obtain "
    "enjoys/likes job/work kids/children film/movie photo/picture finished/completed important/significant "
    "happy/glad trip/journey print/output search/look whole/entire current/present change/modify occurs/happens "
    "return/give select/choose contain/hold keep/retain convert/transform value/amount"
)


def synonym(text: str, dice: random.Random) -> str | None:
    options = []
    for pair in _SYNONYMS.split():
        one, other = pair.split("/")
        for old, new in ((one, other), (other, one)):
            if re.search(rf"\b{old}\b", text, re.IGNORECASE):
                options.append(re.sub(rf"\b{old}\b", new, text, count=1, flags=re.IGNORECASE))
    return dice.choice(options) if options else None


_SPELT = "zero one two three four five six seven eight nine ten eleven twelve".split()


def spelt_number(text: str, dice: random.Random) -> str | None:
    if match := re.search(r"(?<![\w.,:/`'\"-])([2-9]|1[0-2])(?= [a-z])", text):
        return text[: match.start()] + _SPELT[int(match[0])] + text[match.end() :]
    if match := re.search(rf"\b(?:{'|'.join(_SPELT[2:])})\b(?!-)", text):
        return text[: match.start()] + str(_SPELT.index(match[0])) + text[match.end() :]
    return None


def unit_apart(text: str, dice: random.Random) -> str | None:
    for long, short in (
        ("seconds", "s"),
        ("minutes", "min"),
        ("hours", "h"),
        ("MB", "megabytes"),
        ("days", "d"),
    ):
        if match := re.search(rf"\b(\d+) ?{long}\b", text):
            return text[: match.start()] + match[1] + dice.choice(("", " ")) + short + text[match.end() :]
    return None


def joined_words(text: str, dice: random.Random) -> str | None:
    for one, other in (
        ("file name", "filename"),
        ("sub directories", "subdirectories"),
        ("home directory", "home-directory"),
        ("file system", "filesystem"),
        ("e-mail", "email"),
        ("set up", "setup"),
        ("white space", "whitespace"),
        ("subdirectories", "sub-directories"),
        ("filename", "file name"),
        ("standard output", "standard-output"),
        ("long-term", "long term"),
        ("self-care", "self care"),
        ("weekend", "week-end"),
    ):
        if one in text:
            return text.replace(one, other, 1)
    return None


# What makes another claim of it


def number_changed(text: str, dice: random.Random) -> str | None:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return None
    one = dice.choice(numbers)
    value = int(one[0])
    other = dice.choice((value + 1, value * 10, value + dice.randrange(2, 50), max(value - 1, 0) if value else 3))
    return text[: one.start()] + str(other) + text[one.end() :]


def spelt_number_changed(text: str, dice: random.Random) -> str | None:
    match = re.search(rf"\b(?:{'|'.join(_SPELT[2:])})\b", text)
    return text[: match.start()] + _SPELT[2 + (_SPELT.index(match[0])) % 10] + text[match.end() :] if match else None


def unit_changed(text: str, dice: random.Random) -> str | None:
    for one, other in (
        ("seconds", "minutes"),
        ("minutes", "hours"),
        ("days", "weeks"),
        ("hours", "days"),
        ("MB", "GB"),
        ("KB", "MB"),
        ("years", "months"),
        ("bytes", "kB"),
        ("%", " km"),
        ("M", "G"),
    ):
        if match := re.search(rf"(\d ?){one}\b", text):
            return text[: match.start()] + match[1] + other + text[match.end() :]
    return None


_TURNED = (
    "enable/disable enabled/disabled on/off true/false before/after always/never allow/deny add/remove start/stop "
    "open/close first/last minimum/maximum up/down left/right in/out old/new oldest/newest increase/decrease read/write push/pull "
    "include/exclude including/excluding required/optional must/may public/private input/output source/target "
    "lock/unlock show/hide upper/lower uppercase/lowercase more/less faster/slower higher/lower larger/smaller success/failure "
    "valid/invalid safe/unsafe mount/unmount encode/decode local/remote ascending/descending compress/decompress "
    "compressed/uncompressed with/without all/none all/no every/no beginning/end empty/full hidden/visible "
    "existing/missing same/different equal/unequal greater/smaller above/below inside/outside forward/backward "
    "like/dislike likes/dislikes love/hate loves/hates happy/unhappy easy/hard easier/harder good/bad better/worse "
    "early/late buy/sell win/lose won/lost give/take accept/refuse agree/disagree strong/weak rich/poor "
    "positive/negative modern/ancient large/small largest/smallest long/short longer/shorter many/few most/least "
    "major/minor often/rarely north/south east/west northern/southern eastern/western increase/reduce rising/falling "
    "support/oppose supports/opposes dead/alive male/female men/women internal/external rural/urban possible/impossible "
    "known/unknown able/unable legal/illegal formal/informal recursively/non-recursively kept/dropped "
    "immer/nie vor/nach mit/ohne größer/kleiner alt/neu viele/wenige erste/letzte"
)


def turned_round(text: str, dice: random.Random) -> str | None:
    options = []
    for pair in _TURNED.split():
        one, other = pair.split("/")
        for old, new in ((one, other), (other, one)):
            if re.search(rf"\b{old}\b", text):
                options.append(re.sub(rf"\b{old}\b", new, text, count=1))
    return dice.choice(options) if options else None


_VERBS = r"\b(is|are|was|were|can|must|should|will|has|have|may|could|would|does|did|do|ist|sind|wurde|wird|kann)\b"


def negated(text: str, dice: random.Random) -> str | None:
    found = re.search(r"\b(?:not|nicht|never) |n't\b", text)
    if found:
        return text[: found.start()] + text[found.end() :]
    verb = re.search(_VERBS, text)
    if verb:
        german = verb[0] in ("ist", "sind", "wurde", "wird", "kann")
        forms = (
            (" nicht",)
            if german
            else (" not", " never")
            if verb[0] in ("may", "will", "can")
            else (" not", "n't", " never", " no longer")
        )
        return text[: verb.end()] + dice.choice(forms) + text[verb.end() :]
    if text[:1].isupper() and re.match(r"[A-Z][a-z]+ ", text):
        return dice.choice(("Don't ", "Do not ", "Never ", "Avoid to ")) + text[0].lower() + text[1:]
    return None


_NAMED = re.compile(r"(?<=[a-z,] )(?:[A-ZÄÖÜ]\w+|\"[^\"]+\"|'[\w.*-]+'|\w+[._/]\w[\w./]*)")
_NAMES: list[str] = []
_NOUNS: list[str] = []


def name_swapped(text: str, dice: random.Random) -> str | None:
    named = list(_NAMED.finditer(text))
    if not named:
        return None
    one = dice.choice(named)
    others = [name for name in dice.sample(_NAMES, min(len(_NAMES), 60)) if name[0].isalpha() == one[0][0].isalpha()]
    other = next((name for name in others if name.lower() not in text.lower()), None)
    return None if other is None else text[: one.start()] + other + text[one.end() :]


def plain_word_swapped(text: str, dice: random.Random) -> str | None:
    nouns = [m for m in re.finditer(r"(?<= )[a-z]{5,9}\b", text) if m[0] not in _SMALL_WORDS]
    other = dice.choice(_NOUNS)
    if not nouns or other in text or other in _SMALL_WORDS:
        return None
    one = dice.choice(nouns)
    return None if one[0][:4] == other[:4] else text[: one.start()] + other + text[one.end() :]


_SMALL_WORDS = frozenset(
    "the and all that der die das dem den his her their its them him this these those any each every how there while "
    "where which what when been being going gets get need needs needed able want like itself himself herself other "
    "another about again also has have had not into was were are than then who whom you your our out one ones more "
    "less due will would could should may might can must for but with from used using lot such since even just himself "
    "both ein eine einen einer eines und oder nicht sich war ist wird wurde".split()
)


def two_swapped(text: str, dice: random.Random) -> str | None:
    pattern = r"\b(\w{3,}) (before|after|to|into|than|with|by|replaces|over|instead of|from|as|vor|nach) (\w{3,})\b"
    match = re.search(pattern, text)
    if not match or {match[1].lower(), match[3].lower()} & _SMALL_WORDS:
        return None
    return f"{text[: match.start()]}{match[3]} {match[2]} {match[1]}{text[match.end() :]}"


HARMLESS: tuple[Edit, ...] = (
    case, punctuation, blanks, markup, article, number_of_noun, contraction, typo, small_words, trailing_words,
    leading_words, clause_order, synonym, spelt_number, unit_apart, joined_words,
)  # fmt: skip
HARMFUL: tuple[Edit, ...] = (
    number_changed, spelt_number_changed, unit_changed, turned_round, negated, name_swapped, plain_word_swapped,
    two_swapped,
)  # fmt: skip

if __name__ == "__main__":
    main()
