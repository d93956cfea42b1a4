"""What an init file says of the notes' folder, without an Emacs."""

import pytest

from roamkb.org.emacs_settings import find_roam_folders
from roamkb.org.emacs_settings import lisp_of_org


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ('(setq org-roam-directory "~/a b/")', ["/h/a b"]),
        ('(setq org-roam-directory (file-truename "~/roam"))', ["/h/roam"]),
        ('(custom-set-variables \'(org-roam-directory "/n" nil nil "why"))', ["/n"]),
        ('(setopt org-roam-directory (expand-file-name "roam" org-directory))', ["/h/org/roam"]),
        ('(setq org-directory "~/d") (setq org-roam-directory (concat org-directory "/r/"))', ["/h/d/r"]),
        ('(setq org-roam-directory (concat org-directory "/r"))\n(setq org-directory "~/d")', ["/h/d/r"]),
        ('(setq org-roam-directory (expand-file-name "roam" user-emacs-directory))', ["/h/.emacs.d/roam"]),
        ('(setq org-roam-directory (concat (getenv "HOME") "/r"))', ["/h/r"]),
        ('(use-package org-roam :custom (org-roam-directory "~/Заметки"))', ["/h/Заметки"]),
        ('(setq quote ?\\" org-roam-directory "~/r")', ["/h/r"]),
        ('(setq org-roam-directory "~/a")\n(setq org-roam-directory "~/b")', ["/h/a", "/h/b"]),
        ('; (setq org-roam-directory "~/old")', []),
        ('(setq note "(setq org-roam-directory \\"~/in a text\\")")', []),
        ('(setq my-org-roam-directory "~/other")', []),
        ('(setq org-roam-directory (my-folder "x"))', []),
        ('(setq org-roam-directory (shell-command-to-string "touch /tmp/x"))', []),
        ('(setq org-roam-directory "relative")', []),
        ("(setq org-roam-directory", []),
        ("(" * 5000 + "org-roam-directory " + "(" * 5000, []),
        ('(setq org-roam-directory "/a\0b")', []),
        (f"(setq org-directory (concat {'org-directory ' * 3000}))(setq org-roam-directory org-directory)", []),
        (f'(setq org-roam-directory (concat {"org-directory " * 3000}))(setq org-directory "~/d")', []),
        ("", []),
    ],
)
def test_a_folder_is_read_and_nothing_is_run(text: str, folders: list[str]) -> None:
    """What is plainly a path is one; all else is left to the human."""
    assert folders == list(find_roam_folders(text, home="/h"))


def test_a_literate_file_says_it_in_its_blocks() -> None:
    """Its prose, which may have any quotes, says nothing."""
    text = 'Don\'t set org-roam-directory "~/no" here.\n#+BEGIN_SRC emacs-lisp :tangle yes\n'
    text += '(setq org-roam-directory "~/yes")\n#+END_SRC\n#+begin_src sh\norg-roam-directory "~/sh"\n#+end_src\n'
    assert ("/h/yes",) == find_roam_folders(lisp_of_org(text), home="/h")


def test_blocks_that_end_nowhere_are_looked_through_once() -> None:
    """And what came before them counts."""
    text = '#+begin_src elisp\n(setq org-roam-directory "~/yes")\n#+end_src\n' + "#+begin_src elisp\n" * 60_000
    assert ("/h/yes",) == find_roam_folders(lisp_of_org(text), home="/h")
