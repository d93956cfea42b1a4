"""What `doctor` says: one check after the other, each with what to do about it."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence

from roamkb.core.errors import RoamkbError
from roamkb.core.startup.dataclasses import dataclass

#: Names in one sentence; who wants all of them asks the command that the fix names.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """One thing that was looked at."""

    name: str
    #: Whether there is no fault.
    ok: bool
    #: What was found.
    detail: str
    #: What to do; where all is well, what is worth knowing.
    fix: str = ""
    #: Whether it was there to be looked at, and was; where not, there is no fault, and no proof either.
    proved: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """Everything that was looked at, in order."""

    checks: tuple[DoctorCheck, ...]

    @property
    def faults(self) -> tuple[DoctorCheck, ...]:
        """The checks that found something."""
        return tuple(check for check in self.checks if not check.ok)


def looked(name: str, look: Callable[[], DoctorCheck]) -> DoctorCheck:
    """Return what `look` finds; what keeps it from looking is a finding as well."""
    try:
        return look()
    except RoamkbError as error:
        return DoctorCheck(name=name, ok=False, detail=error.message, fix=error.hint)
    except OSError as error:
        detail = f"{error.filename or 'the disk'}: {error.strerror or error}"
        return DoctorCheck(
            name=name, ok=False, detail=detail, fix="see that it is there, whose it is and its mode"
        )


def check(name: str, faults: Iterable[str], *, fine: str, fix: str) -> DoctorCheck:
    """Return the check that names `faults`, or says `fine` where there are none."""
    found = tuple(faults)
    if not found:
        return DoctorCheck(name=name, ok=True, detail=fine)
    return DoctorCheck(name=name, ok=False, detail=listed(found), fix=fix)


def listed(items: Sequence[str]) -> str:
    """Return the first items in one line, and how many more there are."""
    more = len(items) - _NAMED
    return "; ".join(items[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
