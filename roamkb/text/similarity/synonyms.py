"""Which words may stand for each other, and which never: the lists behind `claims` and `similarity`.

Made by hand from what short technical notes are reworded with; English, and what German
needs. A word that is on no list stands for itself and its own inflections alone.
"""

import re
from collections.abc import Callable

from roamkb.core.text import folded
from roamkb.text.porter import inflection_stem
from roamkb.text.porter import stem
from roamkb.text.tokenize import STOP_WORDS

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
    "to/from into/from into/out in/out on/off all/some every/some each/some any/some many/few most/few "
    "most/some "
    "both/either "
    "both/neither must/may must/might he/she his/her him/her his/hers himself/herself i/you "
    "my/your my/their our/your "
    "our/their your/their and/or "
    "here/there "
    "this/that these/those who/whom when/where für/gegen auf/unter über/unter an/aus mit/gegen und/oder "
    "er/sie "
    "sein/ihr seine/ihre muss/darf muss/kann"
)
#: Function words that relate what follows to the rest, in groups of which one may stand for another.
_RELATED = (
    "in on at within inside of upon into|by via through using with|"
    "to into onto for|of for|of from|"
    "per by each every for|because since as so|if when whenever once where while as|"
    "about regarding concerning on of|but yet "
    "though although while whereas however|that which who whom where when|like as such|than|then so|out|or "
    "and|so thus therefore hence|whether if|else otherwise"
)
_RELATING = tuple(frozenset(group.split()) for group in _RELATED.split("|"))
RELATING = frozenset().union(*_RELATING)


def relate_otherwise(one: str, other: str) -> bool:
    """Say whether two words relate what follows to the rest, and neither may stand for the other."""
    if one not in RELATING or other not in RELATING:
        return False
    return not any(one in group and other in group for group in _RELATING)


OPPOSITES = frozenset(frozenset(map(folded, pair.split("/"))) for pair in _OPPOSITES.split())

#: Words of which each says the contrary of another; for telling a contradiction from another wording.
_CONTRARY = (
    "enable/disable allow/forbid allow/deny allow/block permit/prohibit accept/reject accept/refuse "
    "accept/decline grant/revoke start/stop start/end begin/end begin/finish open/close open/closed "
    "lock/unlock load/unload mount/unmount attach/detach connect/disconnect install/uninstall "
    "encrypt/decrypt encode/decode compress/decompress serialize/deserialize read/write push/pull "
    "upload/download import/export insert/delete add/remove add/delete add/drop create/delete "
    "create/destroy append/prepend increase/decrease increment/decrement raise/lower rise/fall "
    "grow/shrink expand/shrink expand/collapse widen/narrow gain/lose win/lose keep/drop keep/delete "
    "keep/remove keep/discard retain/discard save/discard store/discard include/exclude show/hide "
    "reveal/hide expose/hide send/receive give/take buy/sell pass/fail succeed/fail success/failure "
    "work/fail break/fix cause/prevent help/hurt improve/degrade worsen/improve speed/slow "
    "accelerate/slow approve/reject confirm/deny support/oppose agree/disagree commit/revert "
    "commit/rollback apply/revert merge/split join/split fill/empty block/unblock pause/resume "
    "suspend/resume sync/async synchronous/asynchronous block/allow whitelist/blacklist "
    "allowlist/denylist require/forbid require/prohibit mandatory/optional required/optional "
    "required/forbidden needed/unneeded safe/dangerous safe/unsafe secure/insecure true/false yes/no "
    "on/off up/down left/right top/bottom first/last front/back frontend/backend client/server "
    "internal/external inner/outer inside/outside local/remote local/global public/private "
    "upstream/downstream inbound/outbound incoming/outgoing ingress/egress input/output source/target "
    "source/destination old/new older/newer oldest/newest early/late earlier/later earliest/latest "
    "previous/next past/future before/after fast/slow faster/slower quick/slow hot/cold warm/cold "
    "high/low higher/lower highest/lowest upper/lower big/small large/small larger/smaller long/short "
    "longer/shorter wide/narrow thick/thin deep/shallow many/few more/less more/fewer most/least "
    "max/min maximum/minimum above/below over/under always/never always/sometimes often/rarely all/none "
    "everything/nothing everybody/nobody full/empty good/bad better/worse best/worst right/wrong "
    "correct/incorrect valid/invalid easy/hard simple/complex cheap/expensive strict/lenient "
    "strong/weak tight/loose hard/soft static/dynamic mutable/immutable synchronously/asynchronously "
    "eager/lazy sorted/unsorted ascending/descending signed/unsigned positive/negative even/odd "
    "single/multiple singular/plural absolute/relative horizontal/vertical row/column rows/columns "
    "head/tail parent/child ancestor/descendant master/slave primary/secondary primary/replica "
    "leader/follower producer/consumer publisher/subscriber sender/receiver caller/callee "
    "staging/production development/production test/production debug/release online/offline "
    "present/absent present/missing available/missing alive/dead active/inactive visible/hidden "
    "known/unknown same/different equal/different identical/different similar/different together/apart "
    "with/without encrypted/plaintext automatic/manual automatically/manually stable/unstable "
    "stateful/stateless survive/lose survive/die"
)

_NUMBERS = (
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_GERMAN = (
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
#: Numbers as words; *one* is more often no number.
NUMBERS = {
    folded(word): value
    for names, values in (
        (_NUMBERS, (0, *range(2, 20))),
        (_GERMAN, range(2, 20)),
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
    "require demand need|obtain acquire retrieve fetch|enjoy like love|job work occupation|"
    "kid child children|"
    "film movie|"
    "photo picture image photograph|finish complete|important significant crucial essential|happy glad "
    "pleased|"
    "trip journey|print output|search look seek|whole entire|current present|change modify alter|occur "
    "happen|"
    "return give gave given|select choose pick chosen chose|contain hold held|keep retain kept|"
    "convert transform|"
    "value amount|"
    "config configuration|repo repository|db database|app application|doc document documentation|"
    "info information|auth authentication|env environment|param parameter argument arg|var variable|func "
    "function|"
    "lib library|dev development|prod production|admin administrator|msg message|num number|max maximum|"
    "min minimum|"
    "temp temporary tmp|spec specification|ref reference|dep dependency|proc process|exec execute run ran|"
    "kubernetes k8s|postgres postgresql|javascript js|typescript ts|python py|"
    "small little tiny|hard difficult|easy simple|quiet silent|fail failure failed|"
    "allow permit let|prevent hinder|show reveal|tell told inform|say said|ask inquire|"
    "car automobile|home house|bike bicycle|phone telephone|mom mother|dad father|"
    "usual normal typical|often frequent|always constantly|sometimes occasionally|maybe perhaps possibly|"
    "before prior|after following|until till|between among|toward towards|beside besides|around round|"
    "ok okay|approx approximately roughly about|nearly almost|total overall|enough sufficient|"
    "wrong incorrect|identical same|distinct different|specific particular|additional extra "
    "further|"
    "ran run|wrote write written|sent send|took take taken|went go gone|came come|saw see seen|knew know "
    "known|"
    "thought think|left leave|lost lose|met meet|paid pay|bring brought|became become|"
    "gray grey|color colour|behavior behaviour|center centre|license licence|catalog catalogue|program "
    "programme|"
    "favorite favourite|neighbor neighbour|analyze analyse|defense defence|dialog dialogue|canceled "
    "cancelled|"
    "mail email|web website|datum data|index indices|matrix matrices|vertex vertices|criterion criteria|"
    "man men|"
    "woman women|person people|foot feet|mouse mice|1st first|2nd second|3rd third|"
    "hide hid hidden|override overrode overridden|bind bound|freeze froze frozen|drive drove driven|"
    "speak spoke spoken|steal stole stolen|grow grew grown|draw drew drawn|throw threw thrown|"
    "blow blew blown|rise rose risen|eat ate eaten|fall fell fallen|hear heard|mean meant|sell sold|feed fed|"
    "lead led|win won|spend spent|lend lent|catch caught|teach taught|forget forgot forgotten|shake shook "
    "shaken|swap swapped|sing sang sung|ring rang rung|drink drank drunk|swim swam swum|sleep slept|feel felt"
)


def _groups(reduced: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _SAME.split("|"):
        names = group.split()
        for name in names:
            found.setdefault(reduced(name), reduced(names[0]))
    return found


_SAME_STEMS = _groups(stem)
_SAME_FORMS = _groups(inflection_stem)
_BRITISH = re.compile(r"(i|y)s(e|es|ed|ing|ation|ations|er|ers)$")


def canonical(word: str) -> str:
    """Return what stands for a folded `word` and all that says the same: a stem, or a number's digits."""
    if word in NUMBERS:
        return str(NUMBERS[word])
    root = stem(_american(word))
    return _SAME_STEMS.get(root, root)


def form_of(word: str) -> str:
    """Return what stands for a folded `word`, its inflections and spellings, and all that says the same."""
    if word in NUMBERS:
        return str(NUMBERS[word])
    form = inflection_stem(_american(word))
    return _SAME_FORMS.get(form, form)


def _american(word: str) -> str:
    british = _BRITISH.search(word) if len(word) > 6 else None
    return f"{word[: british.start()]}{british[1]}z{british[2]}" if british else word


_CONTRARY_STEMS = frozenset(frozenset(map(stem, pair.split("/"))) for pair in _CONTRARY.split())


def are_contrary(one: str, other: str) -> bool:
    """Say whether two folded words, in whatever form, say the contrary of each other."""
    return frozenset((stem(one), stem(other))) in _CONTRARY_STEMS


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
