"""The judgement itself, and the permits that only it gives."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.boundary.policy import FolderIdentity
from roamkb.boundary.policy import FolderSurvey
from roamkb.boundary.policy import WorkRoot
from roamkb.boundary.policy import WritePermit
from roamkb.boundary.policy import is_loosened
from roamkb.boundary.policy import judge_folder
from roamkb.boundary.policy import require_as_strict
from roamkb.boundary.policy import require_own_tree
from roamkb.boundary.policy import require_permit
from roamkb.boundary.policy import strictest_project
from roamkb.core.errors import BadRule
from roamkb.core.errors import Refused
from roamkb.core.model import Project
from roamkb.core.model import ProjectKind
from roamkb.core.model import Rule

KB = Path("/home/u/kb")
ORDER = [ProjectKind.WORK, ProjectKind.UNKNOWN, ProjectKind.PERSONAL]


def project(kind: ProjectKind, reason: str = "because") -> Project:
    return Project(kind=kind, root=Path("/p"), reason=reason, hint="" if kind is ProjectKind.PERSONAL else "do this")


def test_a_personal_project_gets_a_permit() -> None:
    """The permit says for which project and which knowledge base it is."""
    given_leave = require_permit(project(ProjectKind.PERSONAL), "a fact", kb=KB)
    assert (project(ProjectKind.PERSONAL), KB) == (given_leave.project, given_leave.kb)


def test_a_permit_is_for_one_knowledge_base() -> None:
    """A store of other notes doesn't take it, whatever the caller mixed up."""
    permit = require_permit(project(ProjectKind.PERSONAL), "a fact", kb=KB)
    permit.require_for(KB)
    for other in (KB / "inner", KB.parent, Path("/home/u/club")):
        with pytest.raises(ValueError, match="not for"):
            permit.require_for(other)


@pytest.mark.parametrize("kind", [ProjectKind.WORK, ProjectKind.UNKNOWN])
def test_others_are_refused(kind: ProjectKind) -> None:
    """The refusal names kind, reason, hint, the fact, and that it was written nowhere; its status is 3."""
    with pytest.raises(Refused) as caught:
        require_permit(project(kind), "staging deploys on Tuesdays", kb=KB)
    refusal = caught.value
    assert 3 == refusal.exit_code
    assert (kind, None, "do this") == (refusal.project.kind, refusal.written_to, refusal.hint)
    for word in (kind.value, "because", "staging deploys on Tuesdays", "written nowhere"):
        assert word in refusal.message


def test_a_refusal_names_where_the_fact_went() -> None:
    """A project with a log keeps its own facts."""
    with pytest.raises(Refused, match=r"written to /p/\.roamkb/knowledge\.jsonl"):
        require_permit(project(ProjectKind.WORK), "fact", kb=KB, written_to=Path("/p/.roamkb/knowledge.jsonl"))


def test_a_refusal_redacts_its_fact() -> None:
    """One line, without secrets, addresses, hosts and paths."""
    fact = "the key ghp_" + "a" * 36 + "\nopens db.corp.example as joe@corp.example, see /srv/keys/db"
    with pytest.raises(Refused) as caught:
        require_permit(project(ProjectKind.WORK), fact, kb=KB)
    for hidden in ("ghp_", "corp", "joe", "/srv", "\n"):
        assert hidden not in caught.value.fact
        assert hidden not in caught.value.message


def test_nobody_else_makes_permits() -> None:
    """Neither a call, nor a changed copy of a real one."""
    real = require_permit(project(ProjectKind.PERSONAL), "fact", kb=KB)
    with pytest.raises(TypeError):
        WritePermit(project=project(ProjectKind.WORK), kb=KB, seal=object())
    with pytest.raises(TypeError):
        WritePermit(project=project(ProjectKind.WORK), kb=KB)  # type: ignore[call-arg]
    with pytest.raises((TypeError, ValueError)):
        replace(real, kb=Path("/elsewhere"))  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        real.kb = Path("/elsewhere")  # type: ignore[misc]
    assert copy.copy(real) == real


@given(st.lists(st.sampled_from(ORDER), min_size=1), st.sampled_from(ORDER))
def test_more_evidence_is_never_less_strict(kinds: list[ProjectKind], more: ProjectKind) -> None:
    """Whatever is added, and wherever, the strictest stays or gets stricter."""
    before = strictest_project(map(project, kinds)).kind
    for place in range(len(kinds) + 1):
        after = strictest_project(map(project, [*kinds[:place], more, *kinds[place:]])).kind
        assert ORDER.index(after) <= ORDER.index(before)
        assert ORDER.index(after) <= ORDER.index(more)


def test_the_first_of_equals_is_reported() -> None:
    """`--project` is named before the current folder."""
    assert "one" == strictest_project([project(ProjectKind.WORK, "one"), project(ProjectKind.WORK, "two")]).reason


parts = st.lists(st.sampled_from(["a", "b", "ab"]), max_size=3)
paths = parts.map(lambda names: "/" + "/".join(["h", *names]))
inodes = st.one_of(st.none(), st.tuples(st.just(1), st.integers(1, 6)))
places = st.builds(
    lambda path, real, others, inode, above: FolderIdentity(
        path=path, real=real, others=tuple(others), inode=inode, above=frozenset(i for i in above if i)
    ),
    paths,
    paths,
    st.lists(paths, max_size=1),
    inodes,
    st.lists(inodes, max_size=2),
)
entries = st.one_of(paths, st.sampled_from(["/h/*", "/h/a*", "/h/**/b", "/h/?b/a", "/h/[ab]/b"]))
work_roots = st.builds(
    lambda entry, found, is_open: WorkRoot(entry=entry, places=tuple(found), is_open=is_open),
    entries,
    st.lists(places, max_size=2),
    st.booleans(),
)
surveys = st.builds(
    lambda here, others, work, mounted, doubt: FolderSurvey(
        root=here.path,
        places=(here, *others),
        roots=(here,),
        work_roots=tuple(work),
        mounted=tuple(mounted),
        parents=("/h",),
        doubt=doubt,
    ),
    places,
    st.lists(places, max_size=2),
    st.lists(work_roots, max_size=2),
    st.lists(places, max_size=1),
    st.sampled_from([None, None, None, "it can't be told"]),
)
RULE = Rule(source=Path("/r"), kb=KB, work_roots=(), project_parents=("/h",))


def strictness(survey: FolderSurvey, rule: Rule | BadRule = RULE) -> int:
    return ORDER.index(judge_folder(survey, rule).kind)


@given(surveys, work_roots, places, places, st.booleans())
def test_more_facts_are_never_less_strict(
    survey: FolderSurvey, work: WorkRoot, place: FolderIdentity, mount: FolderIdentity, fold: bool
) -> None:
    """Another work root, name, repository, root, mount or doubt takes leave away, and never gives it."""
    before = strictness(survey)
    assert strictness(replace(survey, work_roots=(*survey.work_roots, work))) <= before
    assert strictness(replace(survey, places=(*survey.places, place))) <= before
    assert strictness(replace(survey, roots=(*survey.roots, place))) <= before
    assert strictness(replace(survey, mounted=(*survey.mounted, mount))) <= before
    assert strictness(replace(survey, parents=(*survey.parents, "!" + place.path))) <= before
    assert strictness(replace(survey, doubt=survey.doubt or "it can't be told")) <= before
    assert strictness(replace(survey, root=None)) <= before
    assert strictness(survey, BadRule(Path("/r"), "is missing")) <= before
    assert strictness(replace(survey, fold=True)) <= before


@given(surveys)
def test_a_project_is_personal_only_by_leave(survey: FolderSurvey) -> None:
    """Without a parent nobody is personal, and every other judgement has a hint."""
    assert judge_folder(replace(survey, parents=()), RULE).kind is not ProjectKind.PERSONAL
    found = judge_folder(survey, RULE)
    assert bool(found.hint) is (found.kind is not ProjectKind.PERSONAL)


@pytest.mark.parametrize(
    ("was", "now", "loosened"),
    [
        ({}, {"model_addresses": ("https://llm.example:443",)}, True),
        ({"model_addresses": ("https://llm.example:443",)}, {}, False),
        ({}, {"work_roots": ("/w", "/v")}, False),
        ({}, {"work_roots": ()}, True),
        ({}, {"kb": Path("/other")}, True),
    ],
)
def test_to_name_another_address_of_a_model_loosens_the_rule(
    was: dict[str, Any], now: dict[str, Any], loosened: bool
) -> None:
    """What is said at work may be sent there then; to deny more isn't."""
    rule = Rule(source=Path("/r"), kb=Path("/kb"), work_roots=("/w",), project_parents=("/c",))
    assert loosened is is_loosened(replace(rule, **now), replace(rule, **was))


@pytest.mark.parametrize("source", ProjectKind)
@pytest.mark.parametrize("place", ProjectKind)
@pytest.mark.parametrize("is_inside", [True, False])
def test_work_leaves_its_tree_for_no_log(source: ProjectKind, place: ProjectKind, is_inside: bool) -> None:
    """Only a work project's log in the same tree takes it; and no log takes what a stricter session says."""
    if source is ProjectKind.WORK and not (place is ProjectKind.WORK and is_inside):
        with pytest.raises(Refused):
            require_own_tree(project(source), project(place), is_inside=is_inside, fact="x")
    else:
        require_own_tree(project(source), project(place), is_inside=is_inside, fact="x")
    order = [ProjectKind.WORK, ProjectKind.UNKNOWN, ProjectKind.PERSONAL]
    if order.index(source) < order.index(place):
        with pytest.raises(Refused):
            require_as_strict(project(source), project(place), "x")
    else:
        require_as_strict(project(source), project(place), "x")


@pytest.mark.parametrize("is_by_inode", [False, True])
def test_a_project_around_work_is_unknown(is_by_inode: bool) -> None:
    """By its path, or by any other name that the folder has."""
    here = FolderIdentity(path="/h/a", real="/h/a", others=(), inode=(1, 2), above=frozenset())
    name = "/elsewhere/w" if is_by_inode else "/h/a/w"
    inside = FolderIdentity(path=name, real=name, others=(), inode=(1, 3), above=frozenset([(1, 2)] * is_by_inode))
    beside = FolderIdentity(path="/h/b/w", real="/h/b/w", others=(), inode=(1, 4), above=frozenset())

    def kind_with(place: FolderIdentity) -> ProjectKind:
        work = WorkRoot(entry="/h/entry", places=(place,), is_open=False)
        survey = FolderSurvey(
            root=here.path, places=(here,), roots=(here,), work_roots=(work,), mounted=(), parents=("/h",), doubt=None
        )
        return judge_folder(survey, RULE).kind

    assert (ProjectKind.UNKNOWN, ProjectKind.PERSONAL) == (kind_with(inside), kind_with(beside))
