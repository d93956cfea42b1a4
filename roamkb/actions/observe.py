"""`observe`: what an agent said in passing, in its task's comments and its closing message, is learned."""

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass

from roamkb.actions.learn import Learned
from roamkb.core.errors import SecretFound
from roamkb.core.errors import UsageError
from roamkb.core.saying import Saying
from roamkb.core.secrets import redacted
from roamkb.formats.commands import Captured


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """What was said and can't be kept."""

    #: One redacted line.
    text: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What became of what was said, in its order."""

    learned: tuple[Learned, ...]
    declined: tuple[Declined, ...]


def observe(said: Iterable[Captured], take: Callable[[Saying], Learned]) -> Observed:
    """Have `take` add each learning; one that can't be kept stops none of the others.

    Raises:
        NoLog, Refused, DiskError, NotDurable: as `take` does.
    """
    learned: list[Learned] = []
    declined: list[Declined] = []
    for one in said:
        saying = Saying(content=one.text, type=one.said or one.type, tags=one.tags, bead=one.bead)
        try:
            learned.append(take(saying))
        except (SecretFound, UsageError) as error:
            declined.append(Declined(text=redacted(one.text), reason=error.message))
    return Observed(learned=tuple(learned), declined=tuple(declined))
