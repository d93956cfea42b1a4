"""The knowledge bases of one rule: chosen by name, apart from each other, all of them protected."""

from functools import reduce
from itertools import combinations
from pathlib import Path

from roamkb.boundary.store.folder_evidence import lies_within
from roamkb.core.errors import BadRule
from roamkb.core.errors import UsageError
from roamkb.core.model import NamedKb
from roamkb.core.model import Rule
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import one_line
from roamkb.fs.files import error_reason


def select_kb(rule: Rule, name: str) -> Rule:
    """Return `rule` for its knowledge base called `name`.

    Raises:
        UsageError: it has none.
    """
    if name == rule.kb_name:
        return rule
    selected = next((other for other in rule.others if other.name == name), None)
    if selected is None:
        names = ", ".join(sorted({rule.kb_name, *(other.name for other in rule.others)}))
        raise UsageError(f"the rule {rule.source} names no knowledge base {one_line(name)}", hint=f"one of {names}")
    deselected = NamedKb(name=rule.kb_name, folder=rule.kb, project_parents=rule.project_parents)
    return replace(
        rule,
        kb=selected.folder,
        project_parents=selected.project_parents,
        kb_name=name,
        others=(deselected, *(other for other in rule.others if other is not selected)),
    )


def account_rule_for(folder: Path, account_rule: Rule) -> Rule:
    """Return the account's own rule for its knowledge bases that `folder` touches, of which each must allow.

    A HOME may call a folder what it likes; where it touches none of theirs, their default one must allow.
    """
    names = (account_rule.kb_name, *(other.name for other in account_rule.others))
    rules = [select_kb(account_rule, name) for name in names]
    touched = [rule for rule in rules if overlap(folder, rule.kb)] or [account_rule]
    return reduce(lambda inner, rule: replace(rule, account=inner), touched[1:], touched[0])


def require_apart(rule: Rule) -> None:
    """Raise `BadRule` where two of the rule's folders are one, or one lies in the other, by whatever name."""
    names = (rule.kb_name, *(other.name for other in rule.others))
    for (name, folder), (other_name, other) in combinations(zip(names, rule.all_folders, strict=True), 2):
        try:
            is_one = overlap(folder, other)
        except OSError as error:
            raise BadRule(rule.source, f"names a KB that can't be looked at: {error_reason(error)}") from None
        if is_one:
            raise BadRule(
                rule.source, f"names knowledge bases that aren't apart: {name} is {folder}, {other_name} is {other}"
            )


def lies_in_notes(path: Path, rule: Rule | BadRule) -> bool:
    """Say whether `path` lies in one of the rule's knowledge bases; False where no rule names any."""
    return isinstance(rule, Rule) and any(lies_within(path, folder) for folder in rule.all_folders)


def overlap(folder: Path, other: Path) -> bool:
    """Say whether two folders are one, or one lies in the other, by whatever name."""
    return lies_within(folder, other) or lies_within(other, folder)
