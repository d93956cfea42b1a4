"""`trust add --approver` and `trust remove --approver`: the security keys whose touch is a human's yes (D27)."""

from datetime import datetime
from pathlib import Path
from typing import Final

from roamkb.boundary.human_consent import HumanAtTerminal
from roamkb.boundary.human_consent import HumanWithKey
from roamkb.boundary.human_consent import require_human
from roamkb.boundary.human_consent import require_yes
from roamkb.core.errors import NotFound
from roamkb.core.errors import UsageError
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.fs.files import read_file
from roamkb.log.proof.ask import ask_key
from roamkb.log.proof.store.approver_keys import ADDED
from roamkb.log.proof.store.approver_keys import REMOVED
from roamkb.log.proof.store.approver_keys import ApproverKey
from roamkb.log.proof.store.approver_keys import Approvers
from roamkb.log.proof.store.approver_keys import parse_key
from roamkb.log.trust.trust import require_account

#: What a human types, so that it isn't done for another command.
_WORD: Final = "trust"
_LONGEST_FILE: Final = 64 * 1024


def add_approver(
    account_home: Path | None, text: str, *, folder: Path, now: datetime, human: HumanAtTerminal | None
) -> None:
    """Take a key's touch for a human's yes: the first at a typed word, each further one signed by one before.

    Raises:
        UsageError: it is no security key, root keeps the list, or no human said yes. DiskError, Busy: it wasn't added.
    """
    require_human(human)
    approvers = _changeable(account_home)
    key = replace(_read_key(text, folder), added=now.isoformat(timespec="seconds"))
    if any(known.key == key.key for known in approvers.keys):
        raise UsageError(f"{key.name} is one already; nothing was written")
    question = [f"{key.name} ({key.key.partition(' ')[0]} {one_line(key.comment)})".replace(" )", ")")]
    question.append("From now on the touch of this key is your yes on this machine, for every project.")
    if not approvers.keys:
        question.append("It is the first, so that nothing but your word vouches for it.")
    _change(approvers, key, ADDED, "\n".join(question), human)


def remove_approver(
    account_home: Path | None, text: str, *, folder: Path, now: datetime, human: HumanAtTerminal | None
) -> None:
    """Take a key's touch for nothing any more, nor what it signed before; one that counts signs that.

    Raises:
        NotFound: no key is called so. UsageError, DiskError, Busy: as `add_approver`.
    """
    require_human(human)
    approvers = _changeable(account_home)
    named = parse_key(text) or _key_in_file(text, folder)
    name = named.name if named else text.strip()
    key = next((known for known in approvers.keys if known.name == name), None)
    if key is None:
        raise NotFound(name, kind="approver key", hint="`roamkb trust list` shows them")
    question = f"{name} counts no longer, and what it signed before isn't proved any more."
    _change(approvers, replace(key, added=now.isoformat(timespec="seconds"), file=""), REMOVED, question, human)


def _change(approvers: Approvers, key: ApproverKey, action: str, question: str, human: HumanAtTerminal | None) -> None:
    line = key.as_line(action)
    # who signs by touching a key has no word to type
    if not (approvers.keys and isinstance(human, HumanWithKey) and human.is_signing_only):
        require_yes(human, question, word=_WORD)
    signature = b""
    if approvers.keys:
        signature = ask_key(human, approvers, approvers.message_for(line), shown=question)
        if not approvers.takes_line(line, signature):
            raise UsageError(
                "none of your approver keys signed that; nothing was written",
                hint="it takes one that is there already: `roamkb trust list` shows them",
            )
    approvers.append_line(line, signature)


def _changeable(account_home: Path | None) -> Approvers:
    """Return the keys of an account whose own list counts and is whole, or raise."""
    approvers = Approvers(require_account(account_home))
    if approvers.is_roots:
        raise UsageError(
            f"{one_line(str(approvers.source))} is root's, and all that counts; nothing was written",
            hint="change that file as root",
        )
    if approvers.faults:
        raise UsageError(
            f"{one_line(approvers.faults[0])}; nothing was written",
            hint="to begin anew delete the list: what was signed before isn't proved then, and the first key is new",
        )
    if approvers.is_used_up:
        raise UsageError(
            f"{one_line(str(approvers.source))} has no key any more that could sign for another; nothing was written",
            hint="to begin anew delete the list",
        )
    return approvers


def _read_key(text: str, folder: Path) -> ApproverKey:
    """Return the security key that a text is, or that the file has which it names."""
    if key := parse_key(text) or _key_in_file(text, folder):
        return key
    raise UsageError(
        "that is no security key, and no file of one; nothing was written",
        hint="make one by `ssh-keygen -t ed25519-sk`, and name its file",
    )


def _key_in_file(text: str, folder: Path) -> ApproverKey | None:
    """Return the security key in the file of its public half, or beside that of its handle; with that file."""
    path = Path(f"{(folder / Path(text.strip()).expanduser()).resolve()}")
    handle = path.with_suffix("") if path.suffix == ".pub" else path
    data = read_file(Path(f"{handle}.pub"), limit=_LONGEST_FILE)
    key = parse_key(data.decode("utf-8", "replace")) if isinstance(data, bytes) else None
    return replace(key, file=str(handle)) if key else None
