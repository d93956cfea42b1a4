"""A limit to what is built of a derived file at once: hooks have seconds, and a year's log takes more."""

import time
from collections.abc import Callable

from roamkb.core.errors import RoamkbError

#: Bytes of lines that a step of a build takes.
STEP_BYTES = 512 * 1024


class StillBuilding(RoamkbError):
    """What a question needs is still being built; what there is of it stays."""

    code = "still_building"

    def __init__(self) -> None:
        super().__init__("the log is long, and not all of it is indexed yet", hint="`roamkb recall WORDS` does it now")


class BuildBudget:
    """A limit to what is built at once: some seconds of the processor, or some steps; never less than one step."""

    def __init__(
        self,
        seconds: float | None = None,
        *,
        steps: int | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds
        self._steps = steps
        self._is_spent = False

    def take_step(self) -> None:
        """Count a step that was done; raise `StillBuilding` where no further one may be begun."""
        if self._steps is not None:
            self._steps -= 1
        self._is_spent = (self._end is not None and self._clock() >= self._end) or self._steps == 0
        self.require_rest()

    def require_rest(self) -> None:
        """Raise `StillBuilding` where no further step may be begun."""
        if self._is_spent:
            raise StillBuilding
