"""The files that a statement is about."""

from roamkb.pipeline.extract.edited_files import EditedFiles

_ROOT = "/home/u/code/site"


def edited(*files: str) -> EditedFiles:
    """Files that a session changed, one tool each."""
    followed = EditedFiles(_ROOT)
    for file in files:
        followed.note_tool((file,))
    return followed


def test_what_is_said_after_work_on_one_file_is_about_it_and_its_test() -> None:
    """As patterns of the project: a file at its root is no other file of that name."""
    others = ("/tmp/x.py", "../y.py", f"{_ROOT}/.roamkb/knowledge.jsonl")
    followed = edited(f"{_ROOT}/api/payments.py", "tests/test_payments.py", *others)
    said = "Retries pay twice"
    assert ("api/payments.py", "tests/test_payments.py") == followed.files_of_statement(said, is_human=False)
    assert ("/setup\\[1\\].cfg",) == edited("setup[1].cfg").files_of_statement(said, is_human=False)
    assert () == edited("api/payments.py", "api/seats.py").files_of_statement(said, is_human=False)


def test_of_many_files_only_those_that_it_names_count() -> None:
    """By the name, or by the name without its suffix; of none that it names it is about none."""
    followed = edited(*(f"{_ROOT}/api/{name}.py" for name in ("seats", "users", "mail", "venues")))
    assert () == followed.files_of_statement("Retries pay twice", is_human=False)
    assert ("api/seats.py",) == followed.files_of_statement("The seats are locked first", is_human=False)
    assert ("api/mail.py",) == followed.files_of_statement("See mail.py, not Venues", is_human=False)


def test_statements_share_the_work_before_them_and_later_work_begins_anew() -> None:
    """As long as nothing else is changed."""
    followed = edited("a/one.py")
    assert [("a/one.py",)] * 2 == [followed.files_of_statement(text, is_human=False) for text in ("x", "y")]
    followed.note_tool(())
    followed.note_tool(("a/two.py",))
    assert ("a/two.py",) == followed.files_of_statement("z", is_human=False)


def test_what_a_human_says_is_not_about_the_work_before_it() -> None:
    """But for files that it names."""
    followed = edited("a/one.py", "a/long.py")
    assert () == followed.files_of_statement("Always write a migration", is_human=True)
    assert ("a/long.py",) == followed.files_of_statement("Never touch long.py", is_human=True)
