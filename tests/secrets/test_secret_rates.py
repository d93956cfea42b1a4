"""How many of the credentials that people write down are noticed, and how many innocent lines are bothered.

The lines are of two files beside this one, with `{alnum 40}` and the like where a credential has its letters,
so that no scanner takes them for leaks. They were written before the rules. Whoever changes the rules looks at
the one half only (`TUNED`), and asks the other whether it was right.
"""

import random
import re
import string
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest

from roamkb.core.text import strip_hidden
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import find_secrets
from roamkb.secrets.detector import has_high_entropy
from roamkb.secrets.detector import mask_secrets
from roamkb.secrets.detector import names_a_secret
from roamkb.secrets.detector import withhold_secrets

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "b62": ALNUM,
    "hex": "0123456789abcdef",
    "b64": ALNUM + "+/",
    "b64u": ALNUM + "-_",
    "dig": string.digits,
    "UP": string.ascii_uppercase + "234567",
    "UPD": string.ascii_uppercase + string.digits,
    "b36": string.ascii_lowercase + string.digits,
    "B32L": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
WORDS = "Tiger Maple harbor Winter copper Falcon river Sunset Orange castle Panda violet".split()
TUNED, HELD = True, False


def filled(line: str, seed: int = 0) -> str:
    """Return a line of the files with letters where they belong, the same ones each time."""
    chance = random.Random(f"{line}{seed}")

    def letters(found: re.Match[str]) -> str:
        what, _, count = found[1].partition(":")
        if what == "uuid":
            return "-".join("".join(chance.choices(ALPHABETS["hex"], k=n)) for n in (8, 4, 4, 4, 12))
        return password(chance, int(count)) if what == "pw" else "".join(chance.choices(ALPHABETS[what], k=int(count)))

    inner = re.sub(
        r"\{b64of:((?:[^{}]|\{\w+:\d+\})*)\}",
        lambda found: encoded(re.sub(r"\{(\w+:\d+)\}", letters, found[1])),
        line,
    )
    return re.sub(rf"\{{(uuid|(?:{'|'.join(ALPHABETS)}|pw):\d+)\}}", letters, inner)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


def password(chance: random.Random, length: int) -> str:
    """Return a password as people or their managers make them."""
    style = chance.randrange(4)
    if style == 0 and length <= 20:
        return f"{chance.choice(WORDS)}{chance.choice('!#@-_.')}{chance.choice(WORDS)}{chance.randrange(1000, 9999)}"
    if style == 1 and length <= 16:
        word = chance.choice(WORDS).replace("a", "4").replace("e", "3").replace("o", "0")
        return f"{word}{chance.choice('!#-_.')}{chance.randrange(100, 9999)}{chance.choice('!xK9')}"
    middle = ALNUM if style == 2 else ALNUM + "!#%*+-_.="
    return chance.choice(ALNUM) + "".join(chance.choices(middle, k=length - 2)) + chance.choice(ALNUM)


def half(lines: Iterable[str], which: bool) -> list[str]:
    return [line for line in lines if sha256(line.encode()).digest()[0] % 2 == which]


def lines_of(name: str) -> list[str]:
    text = (HERE / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("# ")]


def verdicts(lines: Iterable[str]) -> Counter[str]:
    return Counter(
        "refused" if find_secret(line) else "warned" if names_a_secret(line) or has_high_entropy(line) else "clean"
        for line in lines
    )


@pytest.mark.parametrize("which", [TUNED, HELD])
def test_most_credentials_are_refused_or_warned_of(which: bool) -> None:
    """Of every form in which people write them: of vendors, tools, commands, programs and prose."""
    lines = [filled(line, seed) for line in half(lines_of("secret_lines.txt"), which) for seed in range(5)]
    found = verdicts(lines)
    assert found["clean"] <= 0.12 * len(lines), [line for line in lines if not find_secret(line)][:9]
    assert found["refused"] >= 0.75 * len(lines)


@pytest.mark.parametrize("which", [TUNED, HELD])
def test_examples_and_references_are_left_alone(which: bool) -> None:
    """What only looks like a credential: documents' examples, placeholders, variables, digests, defaults."""
    lines = [filled(line, seed) for line in half(lines_of("innocent_lines.txt"), which) for seed in range(3)]
    found = verdicts(lines)
    assert found["refused"] <= 0.015 * len(lines), [line for line in lines if find_secret(line)]
    assert found["warned"] <= 0.08 * len(lines)


@pytest.mark.slow
def test_programs_and_documents_are_left_alone() -> None:
    """Our own, with all that they say about passwords and tokens."""
    files = [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "roamkb").rglob("*.py")),
        *sorted((ROOT / "rules").glob("*.md")),
    ]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    found = verdicts(lines)
    assert len(lines) > 1000
    assert found["refused"] <= 0.001 * len(lines), [line for line in lines if find_secret(line)]
    assert found["warned"] <= 0.002 * len(lines)


def test_what_is_withheld_holds_no_credential() -> None:
    """A record that was masked is never refused for what it still says."""
    for line in lines_of("secret_lines.txt"):
        assert find_secret(withhold_secrets(filled(line))) is None, line


def test_many_texts_at_once_are_judged_as_each_alone() -> None:
    """Whatever stands before and after: by batches of any size the same credentials are found, and no others."""
    chance = random.Random(7)
    texts = [filled(line) for name in ("secret_lines.txt", "innocent_lines.txt") for line in lines_of(name)]
    pieces = [piece for text in texts for piece in re.split("(?<=[ :=])", text)]
    texts += ["".join(chance.choices(pieces, k=chance.randrange(1, 6))) for _ in range(400)]
    texts += [f"{text[:cut]}\u200b{text[cut:]}" for text in texts[::3] if (cut := chance.randrange(len(text) + 1))]
    # what masks a text knows nothing of batches
    plain = {text: (mask_secrets(text), mask_secrets(strip_hidden(text))) for text in texts}
    found = {text for text, masked in plain.items() if masked != (text, strip_hidden(text))}
    assert len(texts) > len(found) > 300
    chance.shuffle(texts)
    for size in (30, len(texts)):
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        secrets = {text: secret for batch in batches for text, secret in find_secrets(batch).items()}
        assert found == set(secrets)
        assert all(f"[{secret.kind}]" in "".join(plain[text]) for text, secret in secrets.items())
