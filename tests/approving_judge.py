"""A judge as people may write one: a command that finds every statement good. `APPROVING` runs it."""

import json
import sys
from pathlib import Path

#: What `verify --judge` takes.
APPROVING = f"'{sys.executable}' '{Path(__file__).resolve()}'"


def main() -> None:
    """Answer what is asked on standard input."""
    asked = json.load(sys.stdin)
    good = {"accuracy": 0.9, "relevance": 0.8, "specificity": 0.7, "vetoes": []}
    print(json.dumps({"items": [{"number": one["number"], **good} for one in asked["items"]]}))


if __name__ == "__main__":
    main()
