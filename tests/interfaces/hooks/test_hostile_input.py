"""What hooks read is anybody's: no text of their usual sizes keeps them busy.

Each is measured by the processor's time, against a pass over the same text by an expression that is known to
be linear, run beside it; a quadratic one takes thousands of times as long.
"""

import re
import time
from collections.abc import Callable
from functools import partial

import pytest

from roamkb.guard.hook_tampering import disables_hooks
from roamkb.guard.hook_tampering import may_disable_hooks
from roamkb.guard.policy import GuardContext
from roamkb.guard.policy import may_concern
from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import has_high_entropy
from roamkb.secrets.detector import redact_fact
from roamkb.secrets.detector import withhold_secrets

SIZE = 40_000
#: Beginnings of what our expressions look for, again and again, and what would never end it.
SEEDS = [
    "/", "./", "://a:", "a", " ", "\n", "\t", ">", "> ", "cp ", "cp/", "cp a settings.json ", ".claude/settings.json mv ", "sed -w", "sed -i ",
    '"HOME"  ', '"PYTHON', '"', "'", "\\", "$(", "{", "a=", "a:", "a.b-", "a@", "eyJ", "eyJ-", "eyJa.eyJ", "sk-ant-", "-sk-ant-", "SG.a", "fo1_a", "xoxb-",
    "-----BEGIN ", "password", "password=", "password: ", "'password', ", "password a b ", "pass ", "token:a", "AccountKey=", "auth=('a',", "auth('a',",
    "Bearer ", "basic ", "cookie: a=", "mysql ", "mysql -p", "docker login ", "curl -u a:", "net use ", "echo a ", "login ", "login a: ", "user a/", "otpauth://a/",
    "a:5432:b:", "A1b2", "A1b2-", "Error: ", "b3BlbnNzaC1rZXktdjE", "MIIEowIBAAKCAQEA", "x-", "1.2.", "a-1", "::",
]  # fmt: skip
GROUND = GuardContext(
    kb=("/home/me/org/roam",),
    kind=lambda: "personal",
    home="/home/me",
    cwd="/home/me/code/site",
    is_agent_note=lambda path: False,
    resolve=lambda path: path,
)
READERS: dict[str, Callable[[str], object]] = {
    "may_concern": lambda text: may_concern(text, GROUND),
    "may_unhook": lambda text: may_disable_hooks(f".claude/settings.json env {text}"),
    "unhooks": disables_hooks,
    "find_secret": find_secret,
    "withheld": withhold_secrets,
    "has_high_entropy": has_high_entropy,
    "redacted": redact_fact,
}


def cpu(work: Callable[[], object]) -> float:
    """Return the processor's seconds of the quicker of two runs."""
    spent = []
    for _ in range(2):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_no_repetition_takes_a_reader_long(reader: str) -> None:
    """Of whatever a text is full, the time grows with its length and no faster."""
    read = READERS[reader]
    reference = cpu(lambda: [re.findall(r"\w+|\W", "a b" * (SIZE // 3)) for _ in range(4)])
    read("warm up: password=x, token: y, curl -u a:b https://a:b@c")
    slow = {seed: spent for seed in SEEDS if (spent := cpu(partial(read, (seed * SIZE)[:SIZE]))) > 60 * reference}
    assert {} == slow
