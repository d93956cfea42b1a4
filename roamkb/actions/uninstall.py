"""Take away what `install` made, and nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from roamkb.actions.harness import harness_removals
from roamkb.actions.install import SNIPPETS
from roamkb.actions.install import check_leave
from roamkb.actions.install import is_our_link
from roamkb.actions.install import own_copy
from roamkb.actions.install import rule_place
from roamkb.actions.install import short_path
from roamkb.actions.install import wished_files
from roamkb.core.installation import Absent
from roamkb.core.installation import Found
from roamkb.core.installation import Held
from roamkb.core.installation import InstallReport
from roamkb.core.installation import Outcome
from roamkb.core.installation import PutFile
from roamkb.core.installation import Remove
from roamkb.core.installation import Step
from roamkb.core.installation import Wishes
from roamkb.core.installation import left_alone
from roamkb.core.installation import unchanged
from roamkb.core.model import Rule
from roamkb.formats.block import BadMarks
from roamkb.formats.block import without_block
from roamkb.storage.installed import carry_out
from roamkb.storage.installed import look
from roamkb.storage.installed import real_path
from roamkb.storage.places import Session
from roamkb.storage.places import find_rule


def uninstall(
    wishes: Wishes, *, home: Path, account_home: Path, session: Session, rules: Mapping[Path, bytes]
) -> InstallReport:
    """Take away the rules, and the block and the snippets in the places that `wishes` name.

    The knowledge base stays, whoever made it; so does what somebody edited since.

    Raises:
        Refused: a session at work would take away the rule, or one that isn't personal a file in the KB.
    """
    if wishes.agents_md:
        wishes = replace(wishes, agents_md=real_path(wishes.agents_md))
    places = {rule_place(home).with_name(path.name): data for path, data in rules.items()}
    found = {path: look(path) for path in (*places, *wished_files(wishes))}
    steps = plan_uninstall(wishes, places=places, found=found)
    # where nobody says where the knowledge base is, the rules about it can't be told from the user's
    counts = find_rule(home, account_home=account_home)
    kb = short_path(counts.kb, home) if isinstance(counts, Rule) else None
    steps += harness_removals(wishes, home=home, kb=kb)
    check_leave("uninstall", steps, rule=None, home=home, account_home=account_home, session=session)
    if not wishes.dry_run:
        carry_out(steps)
    return InstallReport(steps=steps, dry_run=wishes.dry_run)


def plan_uninstall(
    wishes: Wishes, *, places: Mapping[Path, bytes], found: Mapping[Path, Found]
) -> tuple[Step, ...]:
    """Return what `uninstall` has to do where `found` is what is there."""
    steps = [_rule_step(place, data, found[place]) for place, data in places.items()]
    if wishes.agents_md:
        steps.append(_block_step(wishes.agents_md, found[wishes.agents_md]))
    if wishes.snippets:
        steps += [
            _snippet_step(path, found[path], what, text)
            for name, what, text in SNIPPETS
            for path in [wishes.snippets / name]
        ]
    return tuple(steps)


def _rule_step(place: Path, data: bytes, found: Found) -> Step:
    if isinstance(found, Absent):
        return unchanged("rule", place, "isn't there")
    if is_our_link(found, place.name, data):
        return _removed("rule", place, "the link", found)
    copy = own_copy(found)
    if copy is None:
        return left_alone("rule", place, "isn't roamkb's, and stays; remove it by hand if it is to go")
    if not copy.pristine:
        return left_alone("rule", place, "was edited, and stays; it counts until you remove it by hand")
    return _removed("rule", place, "your own copy", found)


def _block_step(path: Path, found: Found) -> Step:
    what = "agents block"
    if not isinstance(found, Held):
        return unchanged(what, path, "isn't there")
    try:
        data = without_block(found.data)
    except BadMarks as error:
        return left_alone(what, path, f"{error}; take the block out by hand")
    if data is None:
        return _removed(what, path, "the file held nothing else", found)
    if data == found.data:
        return unchanged(what, path, "has no block of roamkb's")
    change = PutFile(data=data, was=found)
    return Step(
        what=what,
        path=path,
        outcome=Outcome.REMOVED,
        why="the block; every other byte stays",
        change=change,
    )


def _snippet_step(path: Path, found: Found, what: str, text: str) -> Step:
    match found:
        case Absent():
            return unchanged(what, path, "isn't there")
        case Held(data=data) if data == text.encode():
            return _removed(what, path, "as it was written", found)
    return left_alone(
        what, path, "was edited, or isn't roamkb's, and stays; remove it by hand if it is to go"
    )


def _removed(what: str, path: Path, why: str, found: Found) -> Step:
    return Step(what=what, path=path, outcome=Outcome.REMOVED, why=why, change=Remove(was=found))
