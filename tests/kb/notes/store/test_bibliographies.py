"""Titles of cited works, from the bibliographies that a person's Emacs and notes name."""

from pathlib import Path

import pytest

from roamkb.core.errors import NotFound
from tests.conftest import World

_ID = "0a1b2c3d-0000-4000-8000-00000000b1b0"
_BIB = "@book{%s, title={The %s}, author={Knuth, Donald}, year=1984}\n"
_KNUTH = "@a The a (Knuth, Donald, 1984)"


def _bib(path: Path, *keys: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_BIB % (key, key) for key in keys))


def _about(world: World, body: str = "") -> None:
    head = f":PROPERTIES:\n:ID:       {_ID}\n:ROAM_REFS: @a\n:END:\n#+title: On a\n"
    world.note("a.org", f"{head}\n{body}\n")


@pytest.mark.parametrize(
    ("lisp", "line"),
    [
        ('(setq org-cite-global-bibliography \'("~/x.bib" "~/refs.bib"))', ""),
        ('(setq citar-bibliography (list (expand-file-name "~/refs.bib")))', ""),
        ('(use-package bibtex-completion :custom (bibtex-completion-bibliography "~/refs.bib"))', ""),
        ("", "#+bibliography: ~/refs.bib"),
        ("", '#+BIBLIOGRAPHY: "../refs.bib"'),
    ],
)
def test_a_ref_shows_its_work(world: World, lisp: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the person says that the bibliography is."""
    monkeypatch.setenv("HOME", str(world.home))
    (world.home / ".emacs").write_text(lisp)
    _bib(world.home / "refs.bib", "b", "a")
    _about(world, line)
    (work,) = world.open().show("On a").works
    assert (work.entry.title, work.entry.year, work.path.resolve()) == ("The a", "1984", world.home / "refs.bib")


def test_links_and_errors_name_works(world: World) -> None:
    """A cited work without a note is known by its title; so is one that somebody wants to link to."""
    (world.home / ".emacs").write_text('(setq org-cite-global-bibliography "~/refs.bib")')
    _bib(world.home / "refs.bib", "a", "b")
    _about(world, "As [cite:@b] says.")
    shown = world.run("show", "@a").out
    assert f"work: {_KNUTH}" in shown
    assert "=> @b: The b (Knuth, Donald, 1984); no note is about it" in world.run("links", "@a").out
    kb = world.open()
    for call in (lambda: kb.show("@b"), lambda: kb.write("A fact", links=("cite:b",))):
        with pytest.raises(NotFound) as error:
            call()
        assert "refs.bib has it: The b (Knuth, Donald, 1984)" in error.value.hint


def test_no_work_of_works_is_told(world: World) -> None:
    """Nor of a file that is no bibliography by its name; a link there is followed first."""
    _bib(world.work / "refs.bib", "a")
    _bib(world.home / "secret.txt", "a")
    (world.home / "linked.bib").symlink_to(world.work / "refs.bib")
    for path in (world.work / "refs.bib", world.home / "linked.bib", world.home / "secret.txt", world.home / "no.bib"):
        _about(world, f"#+bibliography: {path}")
        assert () == world.open().show("On a").works
