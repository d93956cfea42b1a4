"""The plan of a wall: what may not be written, and how this machine keeps it so, in one plain file.

A shell command waits for this, so that it imports nothing; `protected` makes the plan.
"""

import os

#: In the data folder: what a harness runs, and the plan beside it.
FOLDER, LAUNCHER, PLAN = "wall", "shell", "plan"
#: Raise the number on any change of the form: a plan of another form is made anew.
_HEAD = b"roamkb wall 2"
#: A plan that was cut short is none.
_END = b"end"

#: How a wall can be had, the best first. The first two show the notes read-only.
NAMESPACE, BUBBLEWRAP, LANDLOCK, SEATBELT = "namespace", "bubblewrap", "landlock", "sandbox-exec"


class WallPaths:
    """What a wall does with which paths; all are real ones, but for links among those that stay put."""

    def __init__(self, closed: list[str], opened: list[str], pinned: list[str]) -> None:
        """Take what may not be written, what below it may, and what may not be moved."""
        self.closed = closed
        self.opened = opened
        self.pinned = pinned


class WallPlan:
    """What a wall needs to know."""

    def __init__(self) -> None:
        """Begin with nothing."""
        #: Which of the ways above work here, the best first; with the program's path where there is one.
        self.ways: list[tuple[str, str]] = []
        #: Files that it was made from, as they were then.
        self.sources: list[tuple[str, str]] = []
        #: Where the notes are, by every name: what counts on where no rule can be read any more.
        self.notes: list[str] = []
        #: Real paths that may not be written, or anything below them.
        self.closed: list[str] = []
        #: The same, but for commands that are run at or below a folder: roamkb's own checkout.
        self.closed_but: list[tuple[str, str]] = []
        #: Folders below closed ones that may be written all the same.
        self.opened: list[str] = []
        #: Folders above those that may not be moved; what is in them may.
        self.pinned: list[str] = []
        #: The homes, the state folder and the data folder that it is for, whatever an environment says later.
        self.homes: list[str] = []
        self.state = self.data = ""
        #: Where launchers' sockets are.
        self.brokers = ""
        #: Command lines that go through as they are, and what is run in their place.
        self.free: dict[str, str] = {}
        #: Words of those lines that PATH may lead from to a program, by line.
        self.names: dict[str, list[str]] = {}

    def paths_for(self, cwd: str) -> WallPaths:
        """Return what counts for a command that is run in `cwd`, as far as it is there."""
        closed = self.closed + [path for path, root in self.closed_but if not is_within(cwd, root)]
        return WallPaths([path for path in closed if os.path.lexists(path)], self.opened, self.pinned)

    def is_free(self, line: str) -> bool:
        """Say whether a line goes through: what its words lead to by PATH is what no command can write.

        Else a program that a command put into an earlier folder of PATH would run outside of the wall.
        """
        if line not in self.free:
            return False
        homes = [os.path.realpath(home) for home in self.homes]
        for path in (path for name in self.names.get(line, ()) if (path := find_program(name))):
            is_theirs = any(
                is_within(path, home) or is_within(os.path.realpath(path), home) for home in homes
            )
            kept = (*self.closed, *(one for one, _ in self.closed_but))
            if is_theirs and not any(is_within(os.path.realpath(path), one) for one in kept):
                return False
        return True

    def rows(self) -> list[tuple[str, str, str]]:
        """Return all of it, as it is kept."""
        return [
            *(("way", *way) for way in self.ways),
            *(("home", home, "") for home in self.homes),
            ("folders", self.state, self.data),
            ("brokers", self.brokers, ""),
            *(("source", *source) for source in self.sources),
            *(("notes", path, "") for path in self.notes),
            *(("closed", path, "") for path in self.closed),
            *(("closed-but", *one) for one in self.closed_but),
            *(("opened", path, "") for path in self.opened),
            *(("pinned", path, "") for path in self.pinned),
            *(("free", *one) for one in self.free.items()),
            *(("name", line, name) for line, names in self.names.items() for name in names),
        ]

    def is_fresh(self) -> bool:
        """Say whether the files that it was made from are as they were."""
        return all(stamp(path) == was for path, was in self.sources)


def is_within(path: str, top: str) -> bool:
    """Say whether a real path is `top` or below it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def find_program(name: str) -> str:
    """Return what a shell would run by that name; a folder of PATH that isn't absolute is any project's."""
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path if os.path.isabs(path) else os.path.abspath(path)
    return ""


def stamp(path: str) -> str:
    """Return what tells a file from what it was before; a link counts with what it leads to."""
    try:
        found, name = os.stat(path), os.lstat(path)
    except OSError:
        return "-"
    return f"{name.st_ino}.{found.st_dev}.{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_mode}"


def read_plan(path: str) -> WallPlan | None:
    """Return the plan at `path`; None where there is none, or none of this form."""
    try:
        with open(path, "rb") as file:
            fields = file.read().split(b"\0")
    except OSError:
        return None
    if len(fields) < 2 or fields[0] != _HEAD or fields[-1] != _END or len(fields) % 3 != 2:
        return None
    plan = WallPlan()
    pairs = {"way": plan.ways, "source": plan.sources, "closed-but": plan.closed_but}
    singles = {
        "home": plan.homes,
        "notes": plan.notes,
        "closed": plan.closed,
        "opened": plan.opened,
        "pinned": plan.pinned,
    }
    for at in range(1, len(fields) - 1, 3):
        kind, one, other = map(os.fsdecode, fields[at : at + 3])
        if kind in pairs:
            pairs[kind].append((one, other))
        elif kind in singles:
            singles[kind].append(one)
        elif kind == "free":
            plan.free[one] = other
        elif kind == "name":
            plan.names.setdefault(one, []).append(other)
        elif kind == "brokers":
            plan.brokers = one
        elif kind == "folders":
            plan.state, plan.data = one, other
        else:
            return None
    return plan


def render_plan(plan: WallPlan) -> bytes:
    """Return the file's content."""
    fields = [_HEAD, *(os.fsencode(field) for row in plan.rows() for field in row), _END]
    return b"\0".join(fields)


def keep_plan(path: str, plan: WallPlan) -> bool:
    """Put the plan in its place, whole; say whether it is there."""
    beside = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(render_plan(plan))
        os.replace(beside, path)
    except OSError:
        try:  # noqa: SIM105 - contextlib is an import as well
            os.unlink(beside)
        except OSError:
            pass
        return False
    return True
