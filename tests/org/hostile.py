"""Notes that are made to be slow to read, in any size."""

from collections.abc import Iterator
from math import isqrt

_HEAD = ":PROPERTIES:\n:ID: a\n:END:\n#+title: t\n"

#: What is repeated: openers without an end, closers without a beginning, and what pairs with itself.
_UNITS = [
    *(
        "[[",
        "[[a][",
        "[[a]",
        "<https:",
        "https:",
        "https:(",
        "https:x(",
        "https:x。",
        "*a ",
        "_a",
        "=a ",
        "$a ",
        "$$",
    ),
    *(
        "\\(",
        "\\[",
        "\\a{",
        "\\a[",
        "{{{m(",
        "@@html:",
        "<<a",
        "<<<a",
        "<2024-01-01 ",
        "[2024-01-01 ",
        "<1-1-1 +1",
    ),
    *(
        "<%%(",
        "<2024-01-01>--<",
        "[fn:",
        "[fn::",
        "src_a{",
        "src_",
        "call_f(",
        "x_{",
        "x^{",
        "x_(",
        "[cite:@a;",
    ),
    *(
        "@a",
        "| a ",
        "|-\n",
        "+--+\n",
        "- a\n",
        "  - a\n",
        "- a :: ",
        ":: ",
        ":a:\n",
        ":end:\n",
        "#+begin_src\n",
    ),
    *(
        "#+begin_a\n",
        "#+end_a\n",
        "#+begin_quote\n",
        "#+begin: x\n",
        "#+a: b\n",
        "#+[",
        "#+caption: x\n",
        "#+name:\n",
    ),
    *(
        "#+call: f(\n",
        "# a\n",
        ": a\n",
        "\\begin{a}\n",
        "\\end{a}\n",
        "[fn:1]\n",
        "CLOCK:\n",
        "* a\n",
        "* a :a:\n",
    ),
    *(
        "* :a: ",
        " ",
        "\t",
        "\n",
        "\r",
        "\\",
        "[[\\",
        "日https:",
        "<https://a\n\n",
        "#+title: [[a][\n",
        "#+x: [[a][ ",
    ),
    *(
        "* a\nSCHEDULED: <\n",
        ":PROPERTIES:\n:a: b\n",
        "* a\n:PROPERTIES:\n:ID: x\n:END:\n",
        "*/_+",
        "x_{a",
        "[[[",
    ),
    *(
        "#+setupfile: a\n",
        "#+filetags: :a:a\n",
        "[[a][ https://x.org/a ",
        "https://a.b ",
        "[cite:@a] ",
        "*a* ",
    ),
]
_NESTS = [
    *(("*", "*"), ("*_", "_*"), ("[[a][", "]]"), ("x_{", "}"), ("[fn::", "]"), ("{{{m(", ")}}}"), ("$", "$")),
    *(("#+begin_a\n", "#+end_a\n"), (":a:\n", ":end:\n"), ("\\begin{a}\n", "\\end{a}\n"), ("<<", ">>")),
]
_TAILS = ["", " https://x.org/a [[id:q]] [cite:@k]\n", "]]", "\n>"]


def notes(size: int) -> Iterator[str]:
    """Yield every hostile note, of about `size` letters each and always in the same order."""
    for tail in _TAILS:
        for unit in _UNITS:
            yield _HEAD + unit * (size // len(unit)) + tail
        for opener, closer in _NESTS:
            half = size // (2 * len(opener) + 2)
            yield _HEAD + (opener + "w ") * half + "https://x.org/y " + ("w" + closer + " ") * half + tail
    # a level is as long as it is deep
    levels = isqrt(2 * size)
    yield _HEAD + "".join(" " * n + "- a\n" for n in range(levels)) + "https://x.org/a\n"
    yield _HEAD + "".join("*" * n + " a https://x.org/a :t:\n" for n in range(1, levels))
    yield ":PROPERTIES:\n:ID: a\n:ROAM_ALIASES: " + '"a" ' * (size // 4) + "\n:END:\n"
    yield ":PROPERTIES:\n:ID: a\n:ROAM_ALIASES: " + '"' + "\\\\" * (size // 2) + "\n:END:\n"
    yield ":PROPERTIES:\n:ID: a\n:ROAM_REFS: " + "https:" * (size // 6) + "\n:END:\n"
    yield ":PROPERTIES:\n:ID: a\n:x: " + " " * size
    yield _HEAD + "* a" + " " * size + "b :c:\n"
