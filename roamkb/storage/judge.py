"""A judge of somebody's choice: a command that reads a question as JSON and answers in JSON.

Its answer is text from elsewhere: broken, hostile or late, it says nothing.
"""

import json
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

from roamkb.core.errors import UsageError
from roamkb.core.text import clipped
from roamkb.core.text import shown

#: A model may think for a while; a run that hangs is stopped.
PATIENCE = 120.0
_MOST_BYTES = 64 * 1024


def ask_judge(command: str, question: Mapping[str, object]) -> tuple[Mapping[str, Any], str]:
    """Return a judge's answer, and what was wrong with it; an empty answer where anything was.

    Raises:
        UsageError: the command can't be run.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--judge isn't a command: {error}") from error
    if not words:
        raise UsageError("--judge names no command")
    try:
        done = subprocess.run(
            words, input=json.dumps(question).encode(), capture_output=True, timeout=PATIENCE, check=False
        )
    except (FileNotFoundError, PermissionError) as error:
        raise UsageError(f"the judge {shown(words[0])} can't be run: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        return {}, f"the judge took more than {PATIENCE:.0f} s"
    except OSError as error:
        return {}, f"the judge couldn't be run: {error.strerror}"
    if done.returncode != 0:
        said = clipped(shown(done.stderr.decode("utf-8", "replace")), 120)
        return {}, f"the judge ended with status {done.returncode}: {said}"
    try:
        answer = json.loads(done.stdout[:_MOST_BYTES])
    except (ValueError, RecursionError):
        return {}, "the judge's answer isn't JSON"
    return (answer, "") if isinstance(answer, dict) else ({}, "the judge's answer isn't a JSON object")
