"""What somebody did, once: a test fixed, a file renamed, a branch pushed. The files' history tells that.

By how such sentences are made, in English and German: a first person or none at all, a verb in the past, a
thing that it was done to. A sentence that says beside it why, what else would happen, or what holds anyway is
no mere deed, and neither is what somebody found out: "I found that X needs Y" says of X, not of him.
"""

import re
from typing import Final

_ADVERBS = (
    r"(?:(?:just|also|now|finally|eventually|successfully|quickly|already|then|today|first|so|okay|ok|done"
    r"|gerade|eben|jetzt|nun|dann|heute|danach|zuerst|endlich|außerdem|soeben)[,:]?\s+)*"
)
_FINDINGS = (
    r"(?:found|discovered|noticed|learned|learnt|reali[sz]ed|observed|confirmed|verified|saw|determined|figured"
    r"|established|checked)"
)
_VERB = (
    r"(?:is|are|was|were|has|have|had|does|did|do|must|needs?|can|cannot|can['’]t|fails?|breaks?|returns?"
    r"|requires?|ignores?|drops?|keeps?|never|always|only)"
)
#: How a sentence begins that says what was found out, up to what it was.
_FOUND: Final = re.compile(
    rf"{_ADVERBS}(?:I|we)(?:['’]ve|\s+have)?\s+(?:(?:just|also|now|since|already)\s+)?{_FINDINGS}(?:\s+out)?"
    r"(?:\s+that|\s*:|\s*,)\s+"
    rf"|{_ADVERBS}(?:I|we)(?:['’]ve|\s+have)?\s+(?:found|discovered|noticed|learned|learnt|reali[sz]ed)(?:\s+out)?\s+"
    rf"(?=(?!(?:a|an|the|my|your|our|this|these|some|no|any|\d+)\b)\w|(?:\S+\s+){{1,4}}?{_VERB}\b)"
    rf"|{_ADVERBS}(?:(?:ich|wir)\s+)?(?:habe?n?\s+)(?:(?:ich|wir)\s+)?(?:\w+\s+){{0,2}}?"
    r"(?:festgestellt|gelernt|herausgefunden|bemerkt|gemerkt|gesehen|entdeckt|erfahren|verstanden)\s*[,:]\s*"
    r"(?:dass\s+)?",
    re.IGNORECASE,
)

_DONE = (
    r"(?:added|adjusted|applied|bumped|changed|checked|cleaned|closed|committed|completed|converted|copied"
    r"|corrected|created|debugged|deleted|deployed|documented|edited|extracted|finished|fixed|formatted|got"
    r"|implemented|improved|installed|investigated|linted|made|marked|merged|modified|moved|opened|patched"
    r"|pushed|ran|rebased|rebuilt|refactored|reformatted|removed|renamed|reordered|replaced|reported|reran"
    r"|resolved|restarted|restored|reverted|reviewed|reworked|rewrote|simplified|solved|sorted|squashed|started"
    r"|tested|tidied|tried|tweaked|updated|upgraded|uploaded|verified|went|worked|wrote)"
)
#: What a thing begins with that something was done to; "updated rows keep their old value" has none of it.
_OBJECT = (
    r"(?:(?:up|out|down|back|in|on|off|over|through|with|at|to)\s+)?"
    r"(?:(?:the|a|an|this|that|these|those|all|both|each|every|some|several|few|more|my|our|its|their|another|it"
    r"|them|everything|unused|dead|through|two|three|four|five|\d+)\b|[`'\"“]|[\w/-]*\w\.\w+\b|\w+(?:_\w+|\(\)))"
)
_PARTICIPLES = (
    r"(?:behoben|korrigiert|hinzugefügt|aktualisiert|gelöst|gefixt|repariert|umgebaut|ergänzt|entfernt|gelöscht"
    r"|geschrieben|gepusht|commit(?:t?et)|eingecheckt|gemergt|gemerged|zusammengeführt|gebaut|getestet|angepasst"
    r"|geändert|umbenannt|verschoben|erstellt|angelegt|implementiert|eingebaut|umgestellt|aufgeräumt|bereinigt"
    r"|erledigt|abgeschlossen|ausgeführt|gestartet|überarbeitet|ausprobiert|geprüft|überprüft|installiert"
    r"|refaktoriert|refactored|formatiert|ersetzt|zurückgesetzt|vereinfacht|dokumentiert|fertiggestellt)"
)
_DEEDS: Final = tuple(
    re.compile(how, re.IGNORECASE)
    for how in (
        r"(?:I|my|I['’]\w+)\b(?![/-])",
        rf"(?:after|before|while|when|during|once|in)\s[^,;.]{{1,60}}?,?\s(?:I|we)\s+(?:{_DONE}|had|have)\b",
        rf"we(?:['’]ve|\s+have)?\s+(?:(?:also|now|just)\s+)?{_DONE}\s+{_OBJECT}",
        rf"{_DONE}\s+{_OBJECT}",
        rf"{_DONE}\s[^,;]*\band\s+(?:\w+ly\s+)?{_DONE}\s+{_OBJECT}",
        r"ich\s+(?:habe?|bin|war|werde|wollte|musste|konnte|sollte)\b|habe?\s+\w",
        rf"wir\s+(?:haben|sind)\s[^.]*\b{_PARTICIPLES}\W*\Z",
        # a participle at the end without a verb that rules it
        r"(?!.*\b(?:ist|sind|war|waren|wird|werden|wurden?|hat|haben|hatte|bleibt|bleiben|muss|müssen|darf"
        rf"|dürfen|kann|können|soll|sollen|sollte|lässt|gehört)\b).*\b{_PARTICIPLES}\W*\Z",
    )
)
#: What says more than the deed: a reason, a condition, a need, a way, what holds anyway.
_LASTING: Final = re.compile(
    r"\b(?:because|otherwise|or else|unless|whenever|so that|as long as|due to|owing to|given that|although"
    r"|even though|whereas|since(?! (?:this|last|yesterday|then|the (?:last|start|beginning))\b)|which)\b"
    r"(?!\s+(?:I|we|you|my|your)\b)"
    r"|\bby \w+ing\b|\b(?:instead of|rather than|in favou?r of)\b"
    r"|(?<!I )(?<!we )(?<!you )\b(?:must|needs?|requires?|ha(?:s|d|ve) to|never|always|every time|each time"
    r"|can(?:not|['’]t)|doesn['’]t|don['’]t|won['’]t|does not|do not|breaks|causes|crashes|hangs)\b"
    r"|\bto (?:help|avoid|prevent|ensure|allow|enable|let|keep|make sure|reduce|support|work around|stop)\b"
    r"|(?<!it )(?<!this )(?<!that )(?<!everything )(?<!all )(?<!nothing )\b(?:is|are)\b(?!\s+(?:now|all|still"
    r"|again|fine|good|green|red|done|ready|clean|fixed|up|merged|pushed|complete|completed|finished|passing|in"
    r"|happy|back|there)\b)"
    r"|\b(?:weil|denn|sonst|ansonsten|andernfalls|damit|sodass|so dass|sobald|solange|obwohl|falls|wenn|muss"
    r"|müssen|darf|dürfen|immer|niemals|nie|statt|anstatt|anstelle|braucht|brauchen|benötigt|lässt)\b"
    r"|,\s*da\b"
    # "opened twice, the editor loses a draft" is a condition
    r"|,\s+(?:the|it|they|each|every|no)\s+(?!tests?\b|suite\b|builds?\b|checks?\b)\w",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\s*(?:;|:(?=\s)|\s[–—-]\s)\s*")
#: Fewer words behind a colon or semicolon say nothing of their own.
_FEW = 3


def claim_of(sentence: str) -> str:
    """Return what a sentence says, without the words that only say that somebody found it out."""
    found = _FOUND.match(sentence)
    return sentence[found.end() :] if found else sentence


def is_deed(sentence: str) -> bool:
    """Say whether `sentence` tells what somebody did, and nothing that holds afterwards."""
    clauses = [one for one in _CLAUSE.split(claim_of(sentence)) if one]
    telling = [one for one in clauses if len(one.split()) > _FEW] or clauses[:1]
    return bool(telling) and all(map(_is_deed, telling))


def _is_deed(clause: str) -> bool:
    clause = re.sub(_ADVERBS, "", clause, count=1, flags=re.IGNORECASE)
    return any(how.match(clause) for how in _DEEDS) and not _LASTING.search(clause)
