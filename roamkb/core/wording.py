"""Which words may stand for each other, and which never: the lists behind `claims` and `similarity`.

Made by hand from what short technical notes are reworded with; English, and what German
needs. A word that is on no list stands for itself and its own inflections alone.
"""

import re

from roamkb.core.stem import stem
from roamkb.core.text import folded
from roamkb.core.tokens import STOP_WORDS

#: Words that say how a claim hangs together, and not what it is about.
FUNCTION_WORDS = STOP_WORDS | frozenset(
    map(
        folded,
        (
            "also too so thus therefore hence however but yet although though because since whereas whether "
            "via through upon onto within into per about regarding concerning such like "
            "able must need needs needed ought may might going let lets each every both either any some "
            "another other "
            "get gets got order whatever whichever e g eg ie etc please note remember tip hint til fyi "
            "just simply basically actually really very quite rather again ever even else "
            "der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird "
            "werden "
            "wurde wurden hat haben hatte sein seine seiner ihr ihre es er sie wir man mit von zu zum zur "
            "im am "
            "an auf bei für als wie dass daß dann da so auch noch nur schon sich durch um über unter soll "
            "sollte "
            "muss müssen kann können darf dürfen denn weil damit welche welcher welches dieser diese "
            "dieses jeder jede jedes "
            "le la les un une de du et que qui est sont dans pour par au aux el los las y en por con del "
            "の は が を に で と も へ や か ね よ な 的 了 是 在 和 与 也 就 都 之 은 는 이 가 을 를 의 에"
        ).split(),
    )
)

#: Each negates what follows it, or leaves something out.
NEGATIONS = frozenset(
    map(
        folded,
        (
            "no not never none nothing nobody nowhere without neither nor non hardly rarely seldom avoid "
            "avoids avoided "
            "avoiding except excepting unless lacks lacking kein keine keinen keinem keiner keines nicht "
            "nichts nie niemals "
            "niemand ohne weder außer ne pas jamais sans aucun aucune non não nunca sem nada nadie sin "
            "ningun "
            "ninguna не нет без никогда ни niet geen nooit zonder"
        ).split(),
    )
)
#: Where words aren't parted by blanks, negations are letters of them.
UNSPACED_NEGATION = re.compile("[不没沒無无未非否别勿莫안못없않]|ない|なく|ません|ไม่")

#: Function words that are each other's opposites; of other words any exchange is another claim.
_OPPOSITES = (
    "to/from into/from in/out on/off all/some every/some each/some any/some many/few most/few most/some "
    "both/either "
    "both/neither must/may must/might he/she his/her him/her his/hers himself/herself i/you my/your and/or "
    "here/there "
    "this/that these/those who/whom when/where für/gegen auf/unter über/unter an/aus mit/gegen und/oder "
    "er/sie "
    "sein/ihr seine/ihre muss/darf muss/kann"
)
OPPOSITES = frozenset(frozenset(map(folded, pair.split("/"))) for pair in _OPPOSITES.split())

_NUMBERS = (
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_GERMAN = (
    "null zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
#: Numbers as words; *one* is more often no number.
NUMBERS = {
    folded(word): value
    for names, values in (
        (_NUMBERS, (0, *range(2, 20))),
        (_GERMAN, (0, *range(2, 20))),
        (_TENS, range(20, 100, 10)),
        (_GERMAN_TENS, range(20, 100, 10)),
        (("hundred", "thousand", "million", "billion"), (100, 1000, 10**6, 10**9)),
        (("hundert", "tausend", "dozen", "dutzend"), (100, 1000, 12, 12)),
    )
    for word, value in zip(names, values, strict=True)
}

_UNITS = (
    "s sec secs second seconds sekunde sekunden|ms msec msecs millisecond milliseconds millisekunde "
    "millisekunden|"
    "us µs microsecond microseconds|ns nanosecond nanoseconds|min mins minute minutes minuten|"
    "h hr hrs hour hours stunde stunden|d day days tag tage tagen|w week weeks woche wochen|"
    "month months monat monate monaten|year years yr yrs jahr jahre jahren|b byte bytes|bit bits|"
    "kb k kib kilobyte kilobytes|mb m mib megabyte megabytes|gb g gib gigabyte gigabytes|tb t tib terabyte "
    "terabytes|"
    "% percent prozent|px pixel pixels|mm millimeter millimeters millimetre millimetres|"
    "cm centimeter centimeters centimetre centimetres|km kilometer kilometers kilometre kilometres|"
    "kg kilogram kilograms|$ usd dollar dollars|€ eur euro euros|£ gbp pound pounds|hz hertz|khz|mhz|ghz"
)
#: What a number counts, by each of its names.
UNITS = {name: group.split()[0] for group in _UNITS.split("|") for name in map(folded, group.split())}

#: Words that say the same in a note, whatever the context; a word is in one group at most.
_SAME = (
    "use utilize utilise employ|show display|list enumerate|find locate found|delete remove erase drop|"
    "reject refuse|create make made "
    "generate|build built|directory folder dir|fast quick rapid|begin start began begun commence|"
    "error fault|check verify ensure|fix repair fixed|buy purchase bought|big large huge|help assist aid|"
    "require demand|obtain acquire retrieve fetch|enjoy like love|job work occupation|kid child children|"
    "film movie|"
    "photo picture image photograph|finish complete|important significant crucial essential|happy glad "
    "pleased|"
    "trip journey|print output|search look seek|whole entire|current present|change modify alter|occur "
    "happen|"
    "return give gave|select choose pick chosen chose|contain hold held|keep retain kept|convert transform|"
    "value amount|"
    "config configuration|repo repository|db database|app application|doc document documentation|"
    "info information|auth authentication|env environment|param parameter argument arg|var variable|func "
    "function|"
    "lib library|dev development|prod production|admin administrator|msg message|num number|max maximum|"
    "min minimum|"
    "temp temporary tmp|spec specification|ref reference|dep dependency|proc process|exec execute run ran|"
    "kubernetes k8s|postgres postgresql|javascript js|typescript ts|python py|"
    "small little tiny|hard difficult|easy simple|quiet silent|fail failure failed|"
    "allow permit let|prevent hinder|show reveal|tell told inform|say said state|ask inquire|"
    "car automobile|home house|bike bicycle|phone telephone|mom mother|dad father|"
    "usual normal typical|often frequent|always constantly|sometimes occasionally|maybe perhaps possibly|"
    "before prior|after following|until till|between among|toward towards|beside besides|around round|"
    "ok okay|approx approximately roughly about|nearly almost|total overall|near close|enough sufficient|"
    "correct right|wrong incorrect|identical same|distinct different|specific particular|additional extra "
    "further|"
    "ran run|wrote write written|sent send|took take taken|went go gone|came come|saw see seen|knew know "
    "known|"
    "thought think|left leave|lost lose|met meet|paid pay|read|put set|bring brought|became become|"
    "gray grey|color colour|behavior behaviour|center centre|license licence|catalog catalogue|program "
    "programme|"
    "favorite favourite|neighbor neighbour|analyze analyse|defense defence|dialog dialogue|canceled "
    "cancelled|"
    "mail email|web website|datum data|index indices|matrix matrices|vertex vertices|criterion criteria|"
    "man men|"
    "woman women|person people|foot feet|mouse mice|1st first|2nd second|3rd third"
)


def _groups() -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _SAME.split("|"):
        names = group.split()
        for name in names:
            found.setdefault(stem(name), stem(names[0]))
    return found


_SAME_STEMS = _groups()
_BRITISH = re.compile(r"is(e|es|ed|ing|ation|ations|er|ers)$")


def canonical(word: str) -> str:
    """Return what stands for a folded `word` and all that says the same: a stem, or a number's digits."""
    if word in NUMBERS:
        return str(NUMBERS[word])
    root = stem(word)
    if len(word) > 6 and (british := _BRITISH.search(word)):
        root = stem(f"{word[: british.start()]}iz{british[1]}")
    return _SAME_STEMS.get(root, root)


_CONTRACTED = re.compile(
    r"\b(?:(do|does|did|is|are|was|were|has|have|had|should|must|could|would|need|might)n['’]?t|"
    r"(can)(?:['’]?t|not)|(wo)n['’]?t|(sha)n['’]?t)\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|m|d)\b", re.IGNORECASE)
_WHOLE = {"wo": "will", "sha": "shall"}


def spelt_out(text: str) -> str:
    """Return `text` with *do not* for *don't*, and without the *'s* of *it's*."""
    text = _CONTRACTED.sub(_without_contraction, text)
    return _SUFFIX.sub("", text) if "'" in text or "’" in text else text


def _without_contraction(match: re.Match[str]) -> str:
    verb = next(group for group in match.groups() if group)
    return f"{_WHOLE.get(verb.lower(), verb)} not"
