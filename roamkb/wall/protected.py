"""The paths that the wall protects on this machine, and the methods that work here.

The notes by every name that a rule gave them, the rules, the harnesses' settings that hold roamkb's hooks,
roamkb's own program, the Python below it, and its state folder. A broken rule takes nothing away: the names that
it had count.
"""

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.boundary.store.kb_paths import KEPT_NAMES_FILE
from roamkb.boundary.store.kb_paths import all_kb_names
from roamkb.boundary.store.kb_paths import rule_files
from roamkb.fs.untrusted_files import read_file
from roamkb.fs.user_dirs import BROKERS
from roamkb.fs.user_dirs import SHARED_FOLDER
from roamkb.fs.user_dirs import TRUST_FOLDER
from roamkb.fs.user_dirs import account_state_dir
from roamkb.harnesses.registry import declared
from roamkb.wall import kernel
from roamkb.wall import programs as wall_programs
from roamkb.wall.plan import BUBBLEWRAP
from roamkb.wall.plan import FOLDER
from roamkb.wall.plan import LANDLOCK
from roamkb.wall.plan import NAMESPACE
from roamkb.wall.plan import SEATBELT
from roamkb.wall.plan import WallPaths
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import file_stamp
from roamkb.wall.plan import find_program
from roamkb.wall.plan import is_within

#: Of a home: what harnesses read that holds roamkb's hooks, server or block.
_HOOKS = declared("hook_files")
_SETTINGS_FILES = (*_HOOKS, *declared("server_files"))
_TEXT_FILES = declared("home_texts")
_BLOCK_MARK = b"roamkb:begin"
#: What a harness without our absolute path runs: those of the plugin.
HOOK_EVENTS = (
    "session-start subagent-start user-prompt-submit pre-tool-use post-tool-use post-tool-use-failure "
    "stop subagent-stop pre-compact post-compact session-end"
).split()
#: What an agent may change lies there, the program of a hook as well.
_PROJECT_VARIABLE = declared("project_variables")
#: How the names of files end that interpreters are given.
_SCRIPT_ENDINGS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl")
_TRUE_PROGRAMS = ("/bin/true", "/usr/bin/true")
#: Links on the way to one file; the kernel follows no more.
_MAX_LINKS = 40


def make_plan(homes: Sequence[str], state: str, data: str, old_plan: WallPlan | None) -> WallPlan:
    """Return the plan for these homes, this state folder and this data folder.

    Where no rule says any more where the notes are, what the old plan knows of them counts.

    Raises:
        OSError: the machine can't be looked at.
    """
    with contextlib.suppress(OSError):
        # what isn't there can't be closed
        for folder in (os.path.join(state, BROKERS), *_human_folders(homes)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    plan = gather_plan(homes, state, data, old_plan.notes if old_plan else ())
    plan.ways = list(find_wall_methods())
    return plan


def gather_plan(homes: Sequence[str], state: str, data: str, known_names: Sequence[str] = ()) -> WallPlan:
    """Return the plan without the wall's methods: to try them takes a moment."""
    plan = WallPlan()
    plan.homes, plan.state, plan.data = list(dict.fromkeys(homes)), state, data
    plan.brokers = os.path.join(state, BROKERS)
    homes = [home for home in dict.fromkeys(map(os.path.realpath, homes)) if home != "/"]
    names = all_kb_names(homes, state) or known_names
    plan.notes = [name for name in names if not any(is_within(home, os.path.realpath(name)) for home in homes)]
    notes = [os.path.realpath(name) for name in plan.notes]
    rules = [rule_path for rule in rule_files(homes) for rule_path in (os.path.dirname(rule), rule)]
    settings = [os.path.join(home, name) for home in homes for name in _SETTINGS_FILES]
    texts = [path for home in homes for name in _TEXT_FILES if _has_block(path := os.path.join(home, name))]
    # all of the state: what processes outside believe or serve, from the trash to the indexes and the brokers' sockets
    own_paths = [state, *(os.path.join(data, name) for name in ("rules", FOLDER)), *_human_folders(homes)]
    plan.free = dict(_free_commands(homes, os.path.dirname(sys.executable)))
    # ours are run by their whole path
    plan.names = {line: _program_names(line) for line, run in plan.free.items() if line == run}
    hooks = [path for line in (*plan.free.values(), *_hook_commands(homes)) for path in _named_files(line, homes)]
    program, root = _program_folders()
    others = [
        path
        for path in map(os.path.realpath, hooks)
        if not any(is_within(path, closed_path) for closed_path in program)
    ]
    interpreter, plan.opened = _interpreter_paths(homes)
    protected_paths = (*rules, *settings, *texts, *own_paths, *interpreter)
    plan.closed = _outermost_paths([*notes, *map(os.path.realpath, protected_paths), *others])
    for path in _outermost_paths(program):
        if root and is_within(path, root):
            plan.closed_but.append((path, root))
        else:
            plan.closed.append(path)
    closed = (*plan.closed, *(path for path, _ in plan.closed_but))
    named_paths = (*plan.notes, *rules, *settings, *texts, *hooks, *interpreter)
    links = [link for path in named_paths for link in _links_on_way(path) if os.access(os.path.dirname(link), os.W_OK)]
    parents = [folder for path in (*closed, *links) for folder in _movable_parents(path, homes)]
    plan.pinned = [
        path
        for path in dict.fromkeys((*parents, *links))
        if not any(is_within(path, closed_path) for closed_path in closed)
    ]
    sources = [*rule_files(homes), *settings, *texts, os.path.join(state, KEPT_NAMES_FILE), __file__, sys.executable]
    plan.sources = [(path, file_stamp(path)) for path in dict.fromkeys(sources)]
    return plan


def _human_folders(homes: Sequence[str]) -> list[str]:
    """Return the folders that hold what a human trusts and shares, of the homes that are there."""
    names = (TRUST_FOLDER, SHARED_FOLDER)
    return [os.path.join(account_state_dir(home), name) for home in homes if os.path.isdir(home) for name in names]


def _outermost_paths(paths: list[str]) -> list[str]:
    """Return the paths that lie in no other of them."""
    outer_paths: list[str] = []
    for path in sorted(dict.fromkeys(paths), key=len):
        if path != "/" and not any(is_within(path, outer_path) for outer_path in outer_paths):
            outer_paths.append(path)
    return outer_paths


def _movable_parents(path: str, homes: Sequence[str]) -> Iterator[str]:
    """Yield the folders above `path` that could be moved, with their contents; a home isn't, nor a mount."""
    folder = os.path.dirname(path)
    while os.path.dirname(folder) != "/" and not any(is_within(home, folder) for home in homes):
        if os.access(os.path.dirname(folder), os.W_OK) and not os.path.ismount(folder):
            yield folder
        folder = os.path.dirname(folder)


def _links_on_way(path: str) -> Iterator[str]:
    """Yield the links on the way to the target of `path`: replaced, they would lead elsewhere."""
    for _ in range(_MAX_LINKS):
        leading_paths = (path[:index] for index, letter in enumerate(f"{path}/") if letter == "/" and index)
        link = next((leading_path for leading_path in leading_paths if os.path.islink(leading_path)), "")
        if not link:
            return
        yield link
        leads_to = os.path.join(os.path.dirname(link), os.readlink(link))
        path = os.path.normpath(leads_to + path[len(link) :])


def _has_block(path: str) -> bool:
    try:
        return _BLOCK_MARK in read_file(path)
    except OSError:
        return False


def _program_folders() -> tuple[list[str], str]:
    """Return the folders of roamkb's program, and its checkout if it runs from one."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    folders = [package]
    if environment := _virtual_environment():
        folders.append(os.path.realpath(environment))
    root = os.path.dirname(package)
    return folders, root if os.path.lexists(os.path.join(root, ".git")) else ""


def _virtual_environment() -> str:
    """Return the virtual environment that this runs in; empty without one.

    Where `site` isn't imported, sys.prefix is that of the Python that it was made of.
    """
    environment = os.path.dirname(os.path.dirname(sys.executable))
    return environment if os.path.exists(os.path.join(environment, "pyvenv.cfg")) else ""


def _interpreter_paths(homes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files of the hooks' Python that lie in a home, and the folders among them left writable.

    Its library is the base's, also in an environment of roamkb's own, and so is its program. A file that
    isn't there counts, too: `pybuilddir.txt` beside the program, or an archive beside the library, are
    looked for first. Only the packages that were installed into the base are nothing to an environment.
    """
    library, program = os.path.dirname(os.path.realpath(os.__file__)), os.path.realpath(sys.executable)
    paths = [program, library]
    if os.path.realpath(sys.base_prefix) not in {*homes, *(os.path.join(home, ".local") for home in homes)}:
        # nothing else lies there
        paths = [os.path.dirname(program), os.path.dirname(library)]
    packages = os.path.join(library, "site-packages")
    if not _virtual_environment():
        version = os.path.basename(library)
        paths += [os.path.join(home, ".local", "lib", version, "site-packages") for home in homes]
    if not any(is_within(path, home) for path in paths for home in homes):
        return [], []
    inner = [path for path in paths if any(is_within(path, home) for home in homes)]
    return [*inner, sys.executable], [packages] if _virtual_environment() else []


# Who goes through


def _free_commands(homes: Sequence[str], programs: str) -> Iterator[tuple[str, str]]:
    """Yield the user's own hooks as files that are closed have them, and roamkb's by its absolute path.

    Whatever program of that name a hook of roamkb's names, this one is run: what leads to it may be replaced.
    """
    program = shlex.quote(os.path.join(programs, "roamkb"))
    own_commands = [*(f"hook {event}" for event in HOOK_EVENTS), "mcp"]
    for words in own_commands:
        yield f"roamkb {words}", f"{program} {words}"
    for home in homes:
        for command in (
            line for name in declared("free_hook_files") for line in _commands_in_settings(f"{home}/{name}")
        ):
            program_word, *arguments = _split_line(command) or [""]
            if os.path.basename(program_word) == "roamkb" and " ".join(arguments) in own_commands:
                yield command, f"{program} {' '.join(arguments)}"
            elif not any(name in command for name in _PROJECT_VARIABLE) and not _is_relative(command):
                yield command, command


def _hook_commands(homes: Sequence[str]) -> Iterator[str]:
    for home in homes:
        for name in _HOOKS:
            yield from _commands_in_settings(os.path.join(home, name))


def _is_relative(line: str) -> bool:
    """Say whether a line runs a program or script of the folder that it is run in, which is a project's."""
    previous_word = ""
    for word in _split_line(line):
        is_path = word.startswith(("./", "../")) or word.endswith(_SCRIPT_ENDINGS)
        is_first = not previous_word or set(previous_word) <= set("();|&")
        if not word.startswith(("/", "~", "$")) and (is_path or (is_first and "/" in word)):
            return True
        previous_word = word
    return False


def _program_names(line: str) -> list[str]:
    """Return the words of a line that PATH may lead from to a program."""
    return [word for word in dict.fromkeys(_split_line(line)) if word[:1].isalnum() and "/" not in word]


def _named_files(line: str, homes: Sequence[str]) -> Iterator[str]:
    """Yield the files in a home that a hook's command names, except those that it writes to.

    Hooks run outside of the wall, and so does what their programs hold.
    """
    previous_word = ""
    for word in _split_line(line.replace("${HOME}", "~").replace("$HOME", "~")):
        path, is_written = os.path.expanduser(word), previous_word.startswith(">")
        path = path if "/" in path else find_program(path)
        previous_word = word
        is_file = os.path.isabs(path) and os.path.isfile(path)
        if is_file and not is_written and any(is_within(os.path.realpath(path), home) for home in homes):
            yield path


def _split_line(line: str) -> list[str]:
    """Return the words and operators of a shell's line; none where a quote stays open."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        return list(words)
    except ValueError:
        return []


def _commands_in_settings(settings: str) -> Iterator[str]:
    try:
        settings_data = json.loads(read_file(settings).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return
    events = settings_data.get("hooks") if isinstance(settings_data, dict) else None
    for groups in events.values() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for handler in handlers if isinstance(handlers, list) else ():
                command = handler.get("command") if isinstance(handler, dict) else None
                if isinstance(command, str):
                    yield command


# What works


def find_wall_methods() -> Iterator[tuple[str, str]]:
    """Yield the wall methods that work here, the best first."""
    if sys.platform == "darwin":
        if os.access(program := "/usr/bin/sandbox-exec", os.X_OK):
            yield SEATBELT, program
        return
    if not sys.platform.startswith("linux"):
        return

    if _succeeds_in_child(lambda: kernel.enter_namespace(WallPaths([os.path.dirname(__file__)], [], []), "/")):
        yield NAMESPACE, ""
    for program in ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"):
        if os.access(program, os.X_OK) and _can_run_bubblewrap(program):
            yield BUBBLEWRAP, program
            break
    if kernel.landlock_version():
        yield LANDLOCK, ""


def _can_run_bubblewrap(bubblewrap: str) -> bool:
    """Say whether bubblewrap works here."""
    true = next((path for path in _TRUE_PROGRAMS if os.access(path, os.X_OK)), "true")
    words = [
        *wall_programs.bubblewrap_words(bubblewrap, WallPaths([os.path.dirname(__file__)], [], []), "/", 1),
        true,
    ]
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    child = os.posix_spawn(bubblewrap, words, os.environ, file_actions=nothing)
    return os.waitpid(child, 0)[1] == 0


def _succeeds_in_child(work: Callable[[], None]) -> bool:
    """Say whether irreversible work succeeds, tried in a child process."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0
