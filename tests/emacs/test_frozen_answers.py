"""What two versions of org-roam say of notes that each hold one construct, frozen, since CI has only one of them.

`frozen/GROUP.json` holds the notes, and the tables of org-roam 2.2.1 (Org 9.5.5) and 2.3.1 (Org 9.8.9), both in Emacs
28.2. The newer one leads for titles, positions and the owners of links, the older one for all else; where roamkb says
something else than either, it stands here with its reason.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.emacs import agreement

_FROZEN = Path(__file__).parent / "frozen"
_GROUPS = sorted(path.stem for path in _FROZEN.glob("*.json"))
_OLDER, _NEWER = "2.2.1", "2.3.1"

#: By group and version, what differs and why: `id.field`.
_DIFFERENT = {
    # of two equal keys in a drawer the newer takes the last; it takes a tab after `:ID:`
    ("nodes", _NEWER): {
        *("a10x.node", "a10y.node", "a15.node"),
        # it means to fall back to the path where there is no title, and never does
        *("a33.title", "a38.title", "a39.title"),
        # the second file of one id: its line is counted in the first
        "a34.links",
    },
    ("nodes", _OLDER): {"a34.links"},
    ("titles", _NEWER): {
        *("b08.title", "b16.title", "b31.title"),
        # `[#a]` is no priority to Org 9.8, and `[#10]` is
        *("b24g.title", "b24g.priority", "b24h.title", "b24h.priority"),
        # an empty tag
        "b24o.tags",
    },
    # several lines of a title
    ("titles", _OLDER): {"b01.title", "b02.title", "b14.title", "b17.title", "b27.title", "b29.title"},
    ("links", _OLDER): {"title.title", "brk.links"},
    # a bracket in a link's target
    ("links", _NEWER): {"brk.links"},
    # the last of two equal keys again
    ("tags-aliases", _NEWER): {"d53.aliases"},
    # it has URLs parsed and built anew, and drops the whole file where one can't be
    ("refs", _NEWER): {
        *('e01|"https://x.org/a b".refs', "e15|<https://ang.org/x>.node", "e22|https://x.org/%20a.refs"),
        *("e23|[[cite:abc][abc]].refs", "e26|HTTPS://UP.org/X.refs"),
    },
    # of that file the newer has no links
    ("refs", _OLDER): {"e15|<https://ang.org/x>.links"},
    # COMMENT in the outline path, and a file on which the newer fails
    ("headings-times", _NEWER): {"g90h.olp", "g97.node"},
}
#: The files that one of a version and roamkb drops whole.
_DROPPED = {("refs", _NEWER): {"e15.org"}, ("headings-times", _NEWER): {"g96.org"}}


def _full(tables: dict[str, Any]) -> dict[str, Any]:
    """Return frozen tables with the columns that are left out where they are empty."""
    columns: dict[str, Any] = {"todo": None, "priority": None, "scheduled": None, "deadline": None, "olp": []}
    return tables | {"nodes": [columns | node for node in tables["nodes"]]}


@pytest.mark.parametrize("version", [_OLDER, _NEWER])
@pytest.mark.parametrize("group", _GROUPS)
def test_both_versions_agree_but_where_it_is_said(group: str, version: str, tmp_path: Path) -> None:
    """Each field of each node; positions and links by the newer one alone."""
    frozen = json.loads((_FROZEN / f"{group}.json").read_text())
    for name, text in frozen["files"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    notes = agreement.notes_in(tmp_path)
    newer = _full(frozen[_NEWER])
    theirs = agreement.their_rows(_full(frozen[version]), tmp_path, newer=newer)
    different = {f"{one.id}.{one.field}" for one in agreement.differences(theirs, agreement.our_rows(notes))}
    assert _DIFFERENT.get((group, version), set()) == different
    dropped = set(frozen[version]["files_not_indexed"]) ^ {note.file for note in notes if note.fault}
    assert _DROPPED.get((group, version), set()) == dropped


def test_both_versions_are_there() -> None:
    """With hundreds of nodes."""
    counts = {
        version: sum(len(json.loads((_FROZEN / f"{group}.json").read_text())[version]["nodes"]) for group in _GROUPS)
        for version in (_OLDER, _NEWER)
    }
    assert all(count > 300 for count in counts.values())
