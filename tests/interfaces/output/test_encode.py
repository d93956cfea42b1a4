"""Results become JSON by their fields, and each class that says otherwise says something that holds."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest

import roamkb
from roamkb.core.errors import NoNode
from roamkb.core.errors import Refused
from roamkb.core.json_form import Counts
from roamkb.core.json_form import Keys
from roamkb.core.json_form import OrNull
from roamkb.core.json_form import Rows
from roamkb.core.json_form import Share
from roamkb.core.json_form import member_name
from roamkb.core.model import NodeCandidate
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import field
from roamkb.core.startup.dataclasses import fields
from roamkb.core.timestamps import Time
from roamkb.core.timestamps import TimeOrNull
from roamkb.interfaces.output.encode import answer_json
from roamkb.interfaces.output.encode import encode_value
from roamkb.interfaces.output.encode import object_json
from roamkb.interfaces.output.render import error_json
from roamkb.log.state.deferred import DeferredList
from roamkb.log.state.deferred import DeferredSet

#: Packages whose classes may be results.
_PACKAGES = "core boundary kb journal log remedies pipeline curation tasks instructions sharing context spool install"


class Colour(Enum):
    """An enum whose names and values differ."""

    RED = "ff0000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A value without a word about JSON."""

    path: Path
    is_known: bool = True
    tags: tuple[str, ...] = ()
    colour: Colour = Colour.RED
    others: "tuple[Place, ...]" = ()
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A value that says all that can be said."""

    JSON = "when name=title place.path last.colour *place more? rows pairs counts named share until half"
    title: str
    when: Time
    until: TimeOrNull = 0.0
    place: Annotated[Place, Keys("is_known tags")]
    last: Place | None = None
    more: str | None = None
    rows: Annotated[tuple[Place, ...], Keys("at=path")] = ()
    pairs: Annotated[tuple[tuple[str, int], ...], Rows("what number")] = ()
    counts: Counts = ()
    named: Annotated[Colour | None, member_name] = None
    share: Share | None = None

    @property
    def half(self) -> OrNull:
        """A computed value."""
        return ""


def test_what_is_read_once_somebody_asks_is_a_list_in_json() -> None:
    """The history of a learning whose state was cached was an empty object in `explain --json`."""
    assert encode_value(DeferredList(lambda: [Colour.RED])) == ["ff0000"]
    assert encode_value(DeferredSet(lambda: {"b", "a"})) == ["a", "b"]


def test_a_value_has_its_fields_as_keys() -> None:
    """In their order; what JSON doesn't know is written as text, and a sequence as a list."""
    place = Place(path=Path("/a"), tags=("x",), counts={"b": 1}, others=(Place(path=Path("/b")),))
    told = encode_value(place)
    assert isinstance(told, dict)
    assert ["path", "known", "tags", "colour", "others", "counts"] == list(told)
    assert ("/a", True, ["x"], "ff0000", {"b": 1}) == (
        told["path"], told["known"], told["tags"], told["colour"], told["counts"],
    )  # fmt: skip
    assert [{"path": "/b", "known": True, "tags": [], "colour": "ff0000", "others": [], "counts": {}}] == told["others"]
    assert [["b", "a\udcff"], ["a", "b"]] == [encode_value((b"b", b"a\xff")), encode_value({"b", "a"})]


def test_a_class_may_list_its_keys() -> None:
    """With other names, values of values, all of a value, computed ones, and what may be left out."""
    place = Place(path=Path("/a"), tags=("x",))
    visit = Visit(title="T", when=0.5, place=place, rows=(place,), pairs=(("p", 1),), counts=(("c", 2),))
    assert {
        "when": "1970-01-01T00:00:00.500Z",
        "name": "T",
        "path": "/a",
        "colour": None,
        "known": True,
        "tags": ["x"],
        "rows": [{"at": "/a"}],
        "pairs": [{"what": "p", "number": 1}],
        "counts": {"c": 2},
        "named": None,
        "share": None,
        "until": None,
        "half": None,
    } == encode_value(visit)  # fmt: skip
    full = Visit(title="T", when=1, until=1, place=place, more="m", named=Colour.RED, share=1 / 3)
    told = object_json(full, "more? named share until")
    assert {"more": "m", "named": "red", "share": 0.3333, "until": "1970-01-01T00:00:01.000Z"} == told


def test_an_answer_begins_with_its_schema() -> None:
    """Also where it is no value of a class, and where something went wrong."""
    assert [("schema", 1), ("a", None)] == list(answer_json({"a": None}).items())
    node = NodeCandidate(id="i", title="t", path=Path("/n"))
    told = error_json(NoNode("x", [node]))
    assert told["error"] == {
        "code": "not_found",
        "message": "no node x",
        "hint": "did you mean t?",
        "candidates": [{"id": "i", "title": "t", "path": "/n"}],
    }
    refused = error_json(Refused(Project(kind=ProjectKind.WORK, root=None, reason="r", hint="h"), "a fact"))
    assert isinstance(refused["refused"], dict)
    assert ["kind", "root", "reason", "fact", "written_to", "hint"] == list(refused["refused"])


def _classes() -> Iterator[type]:
    for package in _PACKAGES.split():
        for module in pkgutil.walk_packages([f"{roamkb.__path__[0]}/{package}"], f"roamkb.{package}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and value.__module__ == module.name:
                    yield value


@pytest.mark.parametrize(
    "kind", [kind for kind in _classes() if "JSON" in vars(kind) and not issubclass(kind, Exception)]
)
def test_a_listed_key_is_an_attribute(kind: type) -> None:
    """Of the class, or of what a field holds; what is renamed without a need isn't."""
    words = vars(kind)["JSON"].split()
    known = {*dir(kind), *(field.name for field in fields(kind))}
    names = [word.rpartition("=")[2].strip("*?").partition(".")[0] for word in words]
    assert [] == [name for name in names if name not in known]
    assert [] == [word for word in words if word.partition("=")[0] == word.partition("=")[2]]
    listed = [field.name.removeprefix("is_") for field in fields(kind)]
    assert words != listed, "these are its fields; nothing needs to be said"


def test_each_key_that_a_class_lists_is_documented() -> None:
    """In docs/json.md, which other programs are written by."""
    _, _, fields_of = (Path(roamkb.__path__[0]).parent / "docs/json.md").read_text().partition("## Fields")
    named = set(re.findall(r"\w+", fields_of))
    listings = " ".join(vars(kind)["JSON"] for kind in _classes() if "JSON" in vars(kind)).split()
    keys = {
        word.partition("=")[0].rpartition(".")[2].strip("?").removeprefix("is_") for word in listings if word[0] != "*"
    }
    assert set() == keys - named


@pytest.mark.parametrize("kind", [kind for kind in _classes() if hasattr(kind, "__dataclass_fields__")])
def test_a_form_can_be_read(kind: type) -> None:
    """A quoted annotation would hide it."""
    quoted = [field.type for field in fields(kind) if isinstance(field.type, str)]
    forms = ("Annotated", "OrNull", "Time", "Share", "Counts", "Hundredths")
    assert [] == [text for text in quoted if any(form in text for form in forms)]
