"""Run roamkb as its words say, then print which texts each function was called with, as JSON on standard error."""

import json
import sys
from types import CodeType
from types import FrameType

from roamkb.__main__ import main
from roamkb.guard.shell_policy import judge_script
from roamkb.kb.search.query import parse_query
from roamkb.shell.parser import read_script
from roamkb.text.tokenize import split_words

#: Each of them takes a text as its first argument.
_COUNTED: dict[CodeType, str] = {
    function.__code__: function.__name__ for function in (split_words, parse_query, read_script, judge_script)
}


def _run() -> int:
    texts: dict[str, list[str]] = {name: [] for name in _COUNTED.values()}

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in _COUNTED:
            texts[_COUNTED[frame.f_code]].append(frame.f_locals[frame.f_code.co_varnames[0]])

    sys.setprofile(count)
    try:
        return main()
    finally:
        sys.setprofile(None)
        print(json.dumps(texts), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(_run())
