"""Results of `doctor`: a list of checks, each with its fix."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.core.errors import RoamkbError
from roamkb.core.errors import code_place
from roamkb.core.request import flag_option
from roamkb.core.startup.dataclasses import KW_ONLY
from roamkb.core.startup.dataclasses import dataclass
from roamkb.core.startup.dataclasses import replace
from roamkb.core.text import count_phrase

#: Names in one sentence; who wants all of them asks the command that the fix names.
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """Options of `doctor`."""

    _: KW_ONLY
    strict: bool = flag_option("--strict", "Status 2 where something is wrong, for scripts; 0 otherwise.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """The result of one check."""

    #: As `run_check` calls it.
    name: str = ""
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
    """The results of all checks, in order."""

    JSON = "checks"
    checks: tuple[DoctorCheck, ...]
    #: Whether a fault is to show in the status.
    is_strict: bool = False

    @property
    def faults(self) -> tuple[DoctorCheck, ...]:
        """The checks that found a fault."""
        return tuple(check for check in self.checks if not check.ok)

    @property
    def verdict(self) -> str:
        """All of it in one line."""
        unproved = sum(check.ok and not check.proved for check in self.checks)
        proved = len(self.checks) - len(self.faults) - unproved
        rest = f"{proved} proved to be well" + (f", {unproved} with nothing to look at" if unproved else "")
        if not self.faults:
            return f"nothing is wrong: {count_phrase(len(self.checks), 'check')}, {rest}"
        names = ", ".join(dict.fromkeys(check.name for check in self.faults))
        return f"{count_phrase(len(self.faults), 'fault')} ({names}); {rest}"


def run_check(name: str, check_function: Callable[[], DoctorCheck]) -> DoctorCheck:
    """Run a check, and give it its name; its failure to run is a fault."""
    try:
        return replace(check_function(), name=name)
    except Exception as error:  # noqa: BLE001 - the others are wanted most where one fails, by a bug of ours too
        return _failed_check(name, error)


def run_checks(name: str, checks: Iterable[DoctorCheck]) -> Iterator[DoctorCheck]:
    """Yield checks that begin with a look of their own; where that fails, it is a fault called `name`."""
    try:
        yield from checks
    except Exception as error:  # noqa: BLE001 - see `run_check`
        yield _failed_check(name, error)


def _failed_check(name: str, error: Exception) -> DoctorCheck:
    """Return the check that couldn't be made."""
    match error:
        case RoamkbError():
            detail, fix = error.message, error.hint
        case OSError():
            detail = f"{error.filename or 'the disk'}: {error.strerror or error}"
            fix = "see that it is there, whose it is and its mode"
        case _:
            detail = f"this check broke off: {type(error).__name__} at {code_place(error)}"
            fix = "please report that line; the other checks were made"
    return DoctorCheck(name=name, ok=False, detail=detail, fix=fix)


def build_check(faults: Iterable[str], *, fine: str, fix: str) -> DoctorCheck:
    """Return the check that lists `faults`, or says `fine` where there are none."""
    named_faults = tuple(faults)
    if not named_faults:
        return DoctorCheck(ok=True, detail=fine)
    return DoctorCheck(ok=False, detail=join_first(named_faults), fix=fix)


def join_first(items: Sequence[str]) -> str:
    """Return the first items in one line, and how many more there are."""
    more = len(items) - _MAX_NAMED
    return "; ".join(items[:_MAX_NAMED]) + (f"; and {more} more" if more > 0 else "")
