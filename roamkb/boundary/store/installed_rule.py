"""The rule that is installed in a HOME, read from a file that nobody else can have written."""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from posixpath import lexists
from posixpath import realpath

from roamkb.boundary.policy import find_denial
from roamkb.boundary.rule_file import parse_rule
from roamkb.boundary.store.folder_evidence import RuleOnDisk
from roamkb.boundary.store.folder_evidence import is_same_folder
from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.boundary.store.knowledge_bases import account_rule_for
from roamkb.boundary.store.knowledge_bases import overlap
from roamkb.boundary.store.knowledge_bases import require_apart
from roamkb.boundary.store.knowledge_bases import select_kb
from roamkb.core.errors import IS_MISSING
from roamkb.core.errors import BadRule
from roamkb.core.gitignore import literal_path
from roamkb.core.model import DEFAULT_KB
from roamkb.core.model import Rule
from roamkb.core.model import UnreadableFile
from roamkb.core.startup.dataclasses import replace
from roamkb.fs.files import MissingFile
from roamkb.fs.files import error_reason
from roamkb.fs.files import read_file
from roamkb.harnesses.registry import declared

#: Where agents and roamkb look for the rule, below HOME.
RULE_PATH = Path(*declared("rule_files"))

_RULE_LIMIT = 1024 * 1024


def load_rule(home: Path, *, account_home: Path, kb_name: str = DEFAULT_KB) -> Rule:
    """Return the rule of `home` for one of its knowledge bases, or raise `BadRule`.

    `HOME` is the caller's to set, so the rule in the home that the password database
    names adds its work roots, and has to allow as well; it is broken only if it's there and
    can't be read. What lies in such a HOME, as its knowledge base does, is that HOME's affair.

    Raises:
        UsageError: it names no knowledge base like that.
    """
    rule = replace(select_kb(_read_rule(home), kb_name), homes=tuple(dict.fromkeys((home, account_home))))
    if not is_same_folder(home, account_home) and lexists(account_home / RULE_PATH):
        try:
            rule = _with_account(rule, _read_rule(account_home), home=home, account_home=account_home)
        except OSError as error:
            raise BadRule(rule.source, f"names a KB that can't be looked at: {error_reason(error)}") from None
    rule_on_disk = RuleOnDisk(rule)
    for folder in rule.all_folders:
        try:
            reason = find_denial(rule_on_disk.identify_path(str(folder)), rule_on_disk.work_roots)
        except OSError as error:
            raise BadRule(rule.source, f"names a KB that can't be looked at: {error_reason(error)}") from None
        if reason:
            raise BadRule(rule.source, f"puts the knowledge base where work is: {reason}")
    return rule


def find_rule(home: Path, *, account_home: Path, kb_name: str = DEFAULT_KB) -> Rule | BadRule:
    """Return the rule, or its fault as a value: every project is unknown then."""
    try:
        return load_rule(home, account_home=account_home, kb_name=kb_name)
    except BadRule as fault:
        return fault


def _with_account(rule: Rule, account_rule: Rule, *, home: Path, account_home: Path) -> Rule:
    """Return the rule of another HOME, with what the account's own denies, and has to allow."""
    roots = dict.fromkeys((*rule.work_roots, *account_rule.work_roots))
    is_apart = (
        all(lies_within(folder, home) for folder in rule.all_folders)
        and not lies_within(account_home, home)
        and not any(overlap(folder, other) for folder in rule.all_folders for other in account_rule.all_folders)
    )
    account = account_rule_for(rule.kb, account_rule)
    return replace(rule, work_roots=tuple(roots), account=account, alone_below=home if is_apart else None)


def _read_rule(home: Path) -> Rule:
    """Return the rule that is installed in `home`."""
    source = home / RULE_PATH
    try:
        real = Path(realpath(source, strict=True))
        _require_own_file(source, real, real.stat())
        for folder in dict.fromkeys(
            (*_folders_above_file(source, home), *_folders_above_file(real, Path(realpath(home))))
        ):
            _require_safe_folder(source, folder, folder.stat())
    except FileNotFoundError:
        raise BadRule(source, IS_MISSING) from None
    except (OSError, ValueError) as error:
        reason = error_reason(error) if isinstance(error, OSError) else "it isn't a path"
        raise BadRule(source, f"can't be read: {reason}") from None
    data = read_file(real, limit=_RULE_LIMIT)
    if isinstance(data, UnreadableFile):
        is_missing = isinstance(data, MissingFile)
        raise BadRule(source, IS_MISSING if is_missing else f"can't be read: it {data.reason}")
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        raise BadRule(source, "isn't valid UTF-8") from None
    rule = parse_rule(text, source=source, home=home)
    require_apart(rule)
    return replace(rule, homes=(home,))


def _require_own_file(source: Path, real: Path, status: os.stat_result) -> None:
    """Raise where another user could have written the rule."""
    if not stat.S_ISREG(status.st_mode):
        raise BadRule(source, "isn't a file")
    if status.st_uid not in (os.geteuid(), 0):
        raise BadRule(source, f"belongs to another user ({real}, user {status.st_uid})")
    if status.st_mode & 0o022:
        raise BadRule(source, f"can be written by others; `chmod go-w {real}` puts that right")


def _require_safe_folder(source: Path, folder: Path, status: os.stat_result) -> None:
    """Raise where another user could put another file in the rule's place.

    Not for a folder that only its group may write to: under umask 002, the default of
    some systems, that is every folder of a user whose group is theirs alone.
    """
    if status.st_uid not in (os.geteuid(), 0):
        raise BadRule(source, f"lies in another user's folder ({folder}, user {status.st_uid})")
    if status.st_mode & 0o002 and not status.st_mode & stat.S_ISVTX:
        raise BadRule(source, f"lies in a folder that everybody may write to; `chmod o-w {folder}`")


def _folders_above_file(file: Path, home: Path) -> Iterator[Path]:
    """Yield the folder of `file`, and where that is in `home` those above it, up to `home`."""
    for folder in file.parents:
        if folder == file.parent or folder.is_relative_to(home):
            yield folder


def missing_roots(rule: Rule) -> tuple[str, ...]:
    """Return the work roots without wildcards that aren't on this disk."""
    paths = (literal_path(entry) for entry in rule.work_roots)
    return tuple(path for path in paths if path is not None and not lexists(path))
