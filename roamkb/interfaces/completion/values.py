"""Values that a shell completes from the present notes and log.

`roamkb --complete SOURCE PREFIX` prints them, one a line. The scripts call it where the cursor stands at such
a value, and nowhere else.
"""

import os
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Final

from roamkb.app.knowledge_base import KnowledgeBase
from roamkb.core.errors import RoamkbError
from roamkb.core.model import EVERY_KB
from roamkb.core.text import one_line
from roamkb.kb.graph import link_graph
from roamkb.log.learning import TYPES
from roamkb.log.learning import Learning

#: More than a person looks through.
_MAX_VALUES: Final = 2_000


def print_values(words: list[str]) -> int:
    """Print the values of a source that begin with a prefix, both given in `words`; return the status."""
    source, prefix = (*words, "", "")[:2]
    values = (value for value in dict.fromkeys(_source_values(source)) if value.startswith(prefix))
    # nothing that a terminal or a shell would take for more than a word
    lines = [value for value in values if value and value == one_line(value) and value.isprintable()][:_MAX_VALUES]
    os.write(1, "".join(f"{line}\n" for line in lines).encode())
    return 0 if lines else 1


def _source_values(source: str) -> Iterator[str]:
    kb = KnowledgeBase.open()
    for read_values in _SOURCES.get(source, ()):
        # a machine without notes, or a project without a log, completes what the other has
        try:
            yield from read_values(kb)
        except (RoamkbError, OSError):
            continue


def _node_titles(kb: KnowledgeBase) -> Iterable[str]:
    links = kb.links(graph=True)
    return (node.title for node in links.graph.nodes) if isinstance(links, link_graph.LinkGraph) else ()


def _learnings(kb: KnowledgeBase) -> Iterator[Learning]:
    return (state.learning for state in kb.log.export().learnings)


def _kb_names(kb: KnowledgeBase) -> list[str]:
    return [other.name for other in kb.rule.others]


_SOURCES: Final[dict[str, tuple[Callable[[KnowledgeBase], Iterable[str]], ...]]] = {
    "tags": (
        lambda kb: (count.tag for count in kb.tags().tags),
        lambda kb: (tag for learning in _learnings(kb) for tag in learning.tags),
    ),
    "titles": (_node_titles,),
    "types": (lambda _: TYPES, lambda kb: (learning.type for learning in _learnings(kb))),
    "keys": (lambda kb: (learning.key for learning in _learnings(kb)),),
    "kbs": (_kb_names,),
    "kbs-or-all": (_kb_names, lambda kb: [EVERY_KB] if _kb_names(kb) else []),
    "tasks": (lambda kb: (task.id for task in kb.log.task("list").tasks),),
}
