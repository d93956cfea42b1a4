"""The plan of a wall in one plain file: protected paths, and the methods of this machine.

A shell command waits for this, so that it imports nothing; `make_plan` of `wall/protected` makes the plan.
"""

import os

#: In the data folder: what a harness runs, and the plan beside it.
FOLDER, LAUNCHER, PLAN = "wall", "shell", "plan"
#: Raise the number on any change of the form: a plan of another form is made anew.
_PLAN_HEAD = b"roamkb wall 2"
#: A plan that was cut short is none.
_PLAN_END = b"end"

#: How a wall can be had, the best first. The first two show the notes read-only.
NAMESPACE, BUBBLEWRAP, LANDLOCK, SEATBELT = "namespace", "bubblewrap", "landlock", "sandbox-exec"


class WallPaths:
    """The paths of a wall by treatment; all are real ones, but for links among the pinned ones."""

    def __init__(self, closed: list[str], opened: list[str], pinned: list[str]) -> None:
        """Take the paths that may not be written, those below that may, and those that may not be moved."""
        self.closed = closed
        self.opened = opened
        self.pinned = pinned


class WallPlan:
    """The data that a wall is raised from."""

    def __init__(self) -> None:
        """Begin with an empty plan."""
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
        """Return the existing paths that apply to a command run in `cwd`."""
        closed = self.closed + [path for path, root in self.closed_but if not is_within(cwd, root)]
        return WallPaths([path for path in closed if os.path.lexists(path)], self.opened, self.pinned)

    def is_free(self, line: str) -> bool:
        """Say whether a line may pass: its words lead by PATH only to programs that no command can write.

        Else a program that a command put into an earlier folder of PATH would run outside of the wall.
        """
        if line not in self.free:
            return False
        homes = [os.path.realpath(home) for home in self.homes]
        for path in (path for name in self.names.get(line, ()) if (path := find_program(name))):
            is_theirs = any(is_within(path, home) or is_within(os.path.realpath(path), home) for home in homes)
            protected_paths = (*self.closed, *(closed_path for closed_path, _ in self.closed_but))
            if is_theirs and not any(is_within(os.path.realpath(path), closed_path) for closed_path in protected_paths):
                return False
        return True

    @property
    def path_lists(self) -> dict[str, list[str]]:
        """Its lists of single paths, as its file calls them."""
        return {
            "home": self.homes,
            "notes": self.notes,
            "closed": self.closed,
            "opened": self.opened,
            "pinned": self.pinned,
        }

    def plan_rows(self) -> list[tuple[str, str, str]]:
        """Return the plan as the rows of its file."""
        return [
            *(("way", *method) for method in self.ways),
            ("folders", self.state, self.data),
            ("brokers", self.brokers, ""),
            *(("source", *source) for source in self.sources),
            *(("closed-but", *pair) for pair in self.closed_but),
            *((kind, path, "") for kind, paths in self.path_lists.items() for path in paths),
            *(("free", *pair) for pair in self.free.items()),
            *(("name", line, name) for line, names in self.names.items() for name in names),
        ]

    def is_fresh(self) -> bool:
        """Say whether the plan's source files are unchanged."""
        return all(file_stamp(path) == old_stamp for path, old_stamp in self.sources)


def is_within(path: str, top: str) -> bool:
    """Say whether a real path is `top` or below it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def find_program(name: str) -> str:
    """Return the path that a shell would run by that name; empty without one."""
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path if os.path.isabs(path) else os.path.abspath(path)
    return ""


def file_stamp(path: str) -> str:
    """Return a text that differs once a file was changed; a link counts with its target."""
    try:
        target_stat, link_stat = os.stat(path), os.lstat(path)
    except OSError:
        return "-"
    stamps = (
        link_stat.st_ino,
        target_stat.st_dev,
        target_stat.st_ino,
        target_stat.st_size,
        target_stat.st_mtime_ns,
        target_stat.st_mode,
    )
    return ".".join(map(str, stamps))


def read_plan(path: str) -> WallPlan | None:
    """Return the plan at `path`; None where there is none, or none of this form."""
    try:
        with open(path, "rb") as file:
            fields = file.read().split(b"\0")
    except OSError:
        return None
    if len(fields) < 2 or fields[0] != _PLAN_HEAD or fields[-1] != _PLAN_END or len(fields) % 3 != 2:
        return None
    plan = WallPlan()
    pairs, path_lists = {"way": plan.ways, "source": plan.sources, "closed-but": plan.closed_but}, plan.path_lists
    for index in range(1, len(fields) - 1, 3):
        kind, first_field, second_field = map(os.fsdecode, fields[index : index + 3])
        if kind in pairs:
            pairs[kind].append((first_field, second_field))
        elif kind in path_lists:
            path_lists[kind].append(first_field)
        elif kind == "free":
            plan.free[first_field] = second_field
        elif kind == "name":
            plan.names.setdefault(first_field, []).append(second_field)
        elif kind == "brokers":
            plan.brokers = first_field
        elif kind == "folders":
            plan.state, plan.data = first_field, second_field
        else:
            return None
    return plan


def render_plan(plan: WallPlan) -> bytes:
    """Return the file's content."""
    fields = [_PLAN_HEAD, *(os.fsencode(field) for row in plan.plan_rows() for field in row), _PLAN_END]
    return b"\0".join(fields)


def save_plan(path: str, plan: WallPlan) -> bool:
    """Save the plan, whole; say whether it was saved."""
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(render_plan(plan))
        os.replace(temporary, path)
    except OSError:
        try:  # noqa: SIM105 - contextlib is an import as well
            os.unlink(temporary)
        except OSError:
            pass
        return False
    return True
