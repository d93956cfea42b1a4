"""What of a message somebody pasted, or a harness put there."""

import pytest

from roamkb.text.pasted_blocks import without_blocks
from roamkb.text.pasted_blocks import without_printed_lines


@pytest.mark.parametrize(
    "pasted",
    [
        "<log>b c</log>",
        '<file path="a.txt">b</file>',
        "<DIV>b</div>",
        "<div>b<div>c</div>b</div>",
        "```\nb\n```",
        "```sh\nb <div> c\n```",
        "~~~\nb\n~~~",
        "- ```\n  b\n  ```",
        "so: ```\nb\n```",
        "<x><y>b</x></y>",
        "".join(f"<a{number}> " for number in range(30)) + "```\nb\n```",
    ],
)
def test_what_is_between_tags_or_fences_is_pasted(pasted: str) -> None:
    """Wherever in a line it begins."""
    kept = without_blocks(f"fix {pasted} it")
    assert (True, True, False) == (kept.startswith("fix "), kept.endswith(" it"), "b" in kept)


@pytest.mark.parametrize(
    "said", ["a < b and c > d", "List<T> and <a> <br/> ", "use ```make x``` then ```make y```", "x"]
)
def test_what_opens_nothing_stays(said: str) -> None:
    """Byte for byte."""
    assert said == without_blocks(said) == without_blocks(said, keeps_markup=True)


def test_a_block_without_an_end_goes_to_the_end_where_it_was_pasted() -> None:
    """A fence always; a tag that begins a line, of what is kept for good."""
    assert "a" == without_blocks("a ```\nb").strip()
    assert "a" == without_blocks("a\n<mail>\nb", keeps_markup=True).strip()
    assert "a\n<mail>\nb" == without_blocks("a\n<mail>\nb")


def test_a_few_words_that_are_marked_up_are_said() -> None:
    """Not so between lines, or where they are many."""
    said = "Indent with <b>tabs</b> here"
    assert (said, "Indent with \n\n here") == (without_blocks(said, keeps_markup=True), without_blocks(said))
    assert "see \n\n" == without_blocks("see <mail>one two three four</mail>", keeps_markup=True)


def test_it_takes_no_time_that_grows_with_the_square_of_the_length() -> None:
    """Of a message of half a megabyte: with the square, this would take hours."""
    unclosed = "".join(f"<a{number}>" for number in range(60_000))
    for text in ("<a>" * 160_000, "<a " * 160_000, "</a>" * 120_000, "<a><b>" * 80_000, "```a``` " * 60_000, unclosed):
        assert text == without_blocks(text)
    assert "x" == without_blocks(f"{'<a>x</a>' * 60_000}x").strip()
    assert "x" == without_blocks(f"x{'<a>' * 80_000}{'</a>' * 80_000}").strip()


@pytest.mark.parametrize(
    "printed",
    [
        "10:02:11.204 [info] GET /api/guilds/44 Sent 200 in 38ms",
        "fleet-api-6c9d8f7b5-2xk8p   1/1     Running   0   3d",
        "immich_server       2.31%   611MiB",
        "  /nix/store/0m-etc.drv",
        '  "timeout": 30, "retries": [1, 2],',
    ],
)
def test_lines_of_a_log_or_a_table_are_no_message(printed: str) -> None:
    """Some in a row; fewer are what somebody names."""
    assert "sort these\n\nby size" == without_printed_lines("\n".join(["sort these", "", *[printed] * 4, "by size"]))
    few = "\n".join(["sort these", "", *[printed] * 3, "", "by size"])
    assert few == without_printed_lines(few)


_TRACES = (
    """Traceback (most recent call last):
  File "/srv/app/pay.py", line 31, in handle
    return self.charge(order)
  File "/srv/app/pay.py", line 77, in charge
    raise CurrencyError(order.currency)
pay.CurrencyError: no such currency""",
    """java.lang.IllegalStateException: pool is closed
\tat com.acme.Pool.take(Pool.java:41)
\tat com.acme.Jobs.run(Jobs.java:12)
\tat com.acme.Main.main(Main.java:8)
\tat java.base/java.lang.Thread.run(Thread.java:833)""",
    """TypeError: order is undefined
    at charge (/srv/app/pay.js:31:7)
    at async handle (/srv/app/pay.js:77:3)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async Server.run (/srv/app/server.js:9:1)""",
)


@pytest.mark.parametrize("trace", _TRACES)
def test_of_a_stack_trace_the_error_is_said_and_the_frames_are_not(trace: str) -> None:
    """The frames are as many words as the question, and nobody's."""
    said = [line for line in trace.split("\n") if not line[0].isspace()]
    assert ["why?", *said, "it worked"] == without_printed_lines(f"why?\n{trace}\nit worked").split("\n")


@pytest.mark.parametrize(
    "said",
    [
        "do this:\n  - write the test\n  - run it\n  - mend it\n    of course\n  - push it",
        "remember:\n    we deploy from main alone\n    never on Fridays\n    ask Ann first\n    and tag it",
        "  all of\n  it was\n  copied from\n  an editor\n  with blanks",
        "- fix foo.bar in src/a.py\n- rename b.c to d.e everywhere\n- bump x to 1.2.3\n- run `make test`\n- push it",
        "Der Build bricht ab.\nNur auf dem Mac.\nSeit gestern, glaube ich.\nSieh nach, bitte.\nDanke!",
        "これはメモです、\n次の行も、\nその次の行も、\n最後の行も、\n読んでください。",
    ],
)
def test_lines_that_somebody_typed_are_all_his_message(said: str) -> None:
    """However short they are, and with names of code in them."""
    assert said == without_printed_lines(said)
