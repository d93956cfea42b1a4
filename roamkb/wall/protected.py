"""What the wall keeps from being written on this machine, and which wall works here.

The notes by every name that a rule gave them, the rules, the harnesses' settings that hold roamkb's hooks,
roamkb's own program, the Python below it, its key and its journal. A broken rule takes nothing away: the
names that it had count.
"""

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from roamkb.boundary.store.kb_paths import KEPT
from roamkb.boundary.store.kb_paths import names_of_kb
from roamkb.boundary.store.kb_paths import rule_files
from roamkb.fs.user_dirs import BROKERS
from roamkb.fs.user_dirs import CALLS
from roamkb.fs.user_dirs import JOURNAL
from roamkb.fs.user_dirs import KEY
from roamkb.wall.plan import BUBBLEWRAP
from roamkb.wall.plan import FOLDER
from roamkb.wall.plan import LANDLOCK
from roamkb.wall.plan import NAMESPACE
from roamkb.wall.plan import SEATBELT
from roamkb.wall.plan import WallPaths
from roamkb.wall.plan import WallPlan
from roamkb.wall.plan import find_program
from roamkb.wall.plan import is_within
from roamkb.wall.plan import stamp

#: Of a home: what harnesses read that holds roamkb's hooks, server or block.
_CLAUDE_SETTINGS, _CODEX_HOOKS = ".claude/settings.json", ".codex/hooks.json"
_SETTINGS = (_CLAUDE_SETTINGS, _CODEX_HOOKS, ".codex/config.toml")
_TEXTS = (".claude/CLAUDE.md", ".codex/AGENTS.md")
_BLOCK = b"roamkb:begin"
#: What a harness without our absolute path runs: those of the plugin.
_EVENTS = (
    "session-start subagent-start user-prompt-submit pre-tool-use post-tool-use post-tool-use-failure "
    "stop subagent-stop pre-compact post-compact session-end"
).split()
#: What an agent may change lies there, the program of a hook as well.
_OF_A_PROJECT = "CLAUDE_PROJECT_DIR"
#: How the names of files end that interpreters are given.
_SCRIPTS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl")
_TRUE = ("/bin/true", "/usr/bin/true")
#: Links on the way to one file; the kernel follows no more.
_MOST_LINKS = 40


def make_plan(homes: Sequence[str], state: str, data: str, known: WallPlan | None) -> WallPlan:
    """Return the plan for who has these homes, this state folder and this data folder.

    Where no rule says any more where the notes are, what is `known` of them counts.

    Raises:
        OSError: the machine can't be looked at.
    """
    with contextlib.suppress(OSError):
        # what isn't there can't be closed
        for name in (BROKERS, CALLS):
            os.makedirs(os.path.join(state, name), mode=0o700, exist_ok=True)
    plan = gathered(homes, state, data, known.notes if known else ())
    plan.ways = list(ways())
    return plan


def gathered(homes: Sequence[str], state: str, data: str, known: Sequence[str] = ()) -> WallPlan:
    """Return the plan without the walls that work here: to try them takes a moment."""
    plan = WallPlan()
    plan.homes, plan.state, plan.data = list(dict.fromkeys(homes)), state, data
    plan.brokers = os.path.join(state, BROKERS)
    homes = [home for home in dict.fromkeys(map(os.path.realpath, homes)) if home != "/"]
    names = names_of_kb(homes, state) or known
    plan.notes = [
        name for name in names if not any(is_within(home, os.path.realpath(name)) for home in homes)
    ]
    notes = [os.path.realpath(name) for name in plan.notes]
    rules = [place for rule in rule_files(homes) for place in (os.path.dirname(rule), rule)]
    settings = [os.path.join(home, name) for home in homes for name in _SETTINGS]
    texts = [path for home in homes for name in _TEXTS if _has_block(path := os.path.join(home, name))]
    # a socket or a call of another's there could be taken for a launcher's, or for a session's own
    own = [os.path.join(state, name) for name in (KEY, KEPT, JOURNAL, BROKERS, CALLS)]
    own += [os.path.join(data, name) for name in ("rules", FOLDER)]
    plan.free = dict(_free(homes, os.path.dirname(sys.executable)))
    # ours are run by their whole path
    plan.names = {line: _names_in(line) for line, run in plan.free.items() if line == run}
    hooks = [path for line in (*plan.free.values(), *_hooks(homes)) for path in _files_in(line, homes)]
    program, root = _program()
    others = [
        path for path in map(os.path.realpath, hooks) if not any(is_within(path, one) for one in program)
    ]
    interpreter, plan.opened = _interpreter(homes)
    kept = (*rules, *settings, *texts, *own, *interpreter)
    plan.closed = _outermost([*notes, *map(os.path.realpath, kept), *others])
    for path in _outermost(program):
        if root and is_within(path, root):
            plan.closed_but.append((path, root))
        else:
            plan.closed.append(path)
    closed = (*plan.closed, *(path for path, _ in plan.closed_but))
    named = (*plan.notes, *rules, *settings, *texts, *hooks, *interpreter)
    links = [link for path in named for link in _links(path) if os.access(os.path.dirname(link), os.W_OK)]
    above = [folder for path in (*closed, *links) for folder in _above(path, homes)]
    plan.pinned = [
        path for path in dict.fromkeys((*above, *links)) if not any(is_within(path, one) for one in closed)
    ]
    sources = [*rule_files(homes), *settings, *texts, os.path.join(state, KEPT), __file__, sys.executable]
    plan.sources = [(path, stamp(path)) for path in dict.fromkeys(sources)]
    return plan


def _outermost(paths: list[str]) -> list[str]:
    """Return the paths that lie in no other of them."""
    found: list[str] = []
    for path in sorted(dict.fromkeys(paths), key=len):
        if path != "/" and not any(is_within(path, one) for one in found):
            found.append(path)
    return found


def _above(path: str, homes: Sequence[str]) -> Iterator[str]:
    """Yield the folders above `path` that could be moved, with what is in them; a home isn't, nor a mount."""
    folder = os.path.dirname(path)
    while os.path.dirname(folder) != "/" and not any(is_within(home, folder) for home in homes):
        if os.access(os.path.dirname(folder), os.W_OK) and not os.path.ismount(folder):
            yield folder
        folder = os.path.dirname(folder)


def _links(path: str) -> Iterator[str]:
    """Yield the links on the way to what `path` leads to: another one in its place would lead elsewhere."""
    for _ in range(_MOST_LINKS):
        places = (path[:at] for at, letter in enumerate(f"{path}/") if letter == "/" and at)
        link = next((place for place in places if os.path.islink(place)), "")
        if not link:
            return
        yield link
        leads_to = os.path.join(os.path.dirname(link), os.readlink(link))
        path = os.path.normpath(leads_to + path[len(link) :])


def _has_block(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _BLOCK in file.read()
    except OSError:
        return False


def _program() -> tuple[list[str], str]:
    """Return the folders of roamkb's program, and the checkout that it is worked on in, if it is."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    found = [package]
    if environment := _environment():
        found.append(os.path.realpath(environment))
    root = os.path.dirname(package)
    return found, root if os.path.lexists(os.path.join(root, ".git")) else ""


def _environment() -> str:
    """Return the virtual environment that this runs in, empty where there is none.

    Where `site` isn't imported, sys.prefix is that of the Python that it was made of.
    """
    environment = os.path.dirname(os.path.dirname(sys.executable))
    return environment if os.path.exists(os.path.join(environment, "pyvenv.cfg")) else ""


def _interpreter(homes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what hooks' Python begins with where it lies in a home, and what below it others may write.

    Its library is the base's, also in an environment of roamkb's own, and so is its program. A file that
    isn't there counts, too: `pybuilddir.txt` beside the program, or an archive beside the library, are
    looked for first. Only the packages that were installed into the base are nothing to an environment.
    """
    library, program = os.path.dirname(os.path.realpath(os.__file__)), os.path.realpath(sys.executable)
    found = [program, library]
    if os.path.realpath(sys.base_prefix) not in {*homes, *(os.path.join(home, ".local") for home in homes)}:
        # nothing else lies there
        found = [os.path.dirname(program), os.path.dirname(library)]
    packages = os.path.join(library, "site-packages")
    if not _environment():
        version = os.path.basename(library)
        found += [os.path.join(home, ".local", "lib", version, "site-packages") for home in homes]
    if not any(is_within(path, home) for path in found for home in homes):
        return [], []
    inner = [path for path in found if any(is_within(path, home) for home in homes)]
    return [*inner, sys.executable], [packages] if _environment() else []


# Who goes through


def _free(homes: Sequence[str], programs: str) -> Iterator[tuple[str, str]]:
    """Yield the user's own hooks as files that are closed have them, and roamkb's by its absolute path.

    Whatever program of that name a hook of roamkb's names, this one is run: what leads to it may be replaced.
    """
    program = shlex.quote(os.path.join(programs, "roamkb"))
    own = [*(f"hook {event}" for event in _EVENTS), "mcp"]
    for words in own:
        yield f"roamkb {words}", f"{program} {words}"
    for home in homes:
        for command in _commands(os.path.join(home, _CLAUDE_SETTINGS)):
            first, *rest = _split(command) or [""]
            if os.path.basename(first) == "roamkb" and " ".join(rest) in own:
                yield command, f"{program} {' '.join(rest)}"
            elif _OF_A_PROJECT not in command and not _is_relative(command):
                yield command, command


def _hooks(homes: Sequence[str]) -> Iterator[str]:
    for home in homes:
        for name in (_CLAUDE_SETTINGS, _CODEX_HOOKS):
            yield from _commands(os.path.join(home, name))


def _is_relative(line: str) -> bool:
    """Say whether a line runs a program or script of the folder that it is run in, which is a project's."""
    before = ""
    for word in _split(line):
        is_path = word.startswith(("./", "../")) or word.endswith(_SCRIPTS)
        is_first = not before or set(before) <= set("();|&")
        if not word.startswith(("/", "~", "$")) and (is_path or (is_first and "/" in word)):
            return True
        before = word
    return False


def _names_in(line: str) -> list[str]:
    """Return the words of a line that PATH may lead from to a program."""
    return [word for word in dict.fromkeys(_split(line)) if word[:1].isalnum() and "/" not in word]


def _files_in(line: str, homes: Sequence[str]) -> Iterator[str]:
    """Yield the files in a home that a hook's command names, but for those that it writes to.

    Hooks run outside of the wall, and so does what their programs hold.
    """
    before = ""
    for word in _split(line.replace("${HOME}", "~").replace("$HOME", "~")):
        path, is_written = os.path.expanduser(word), before.startswith(">")
        path = path if "/" in path else find_program(path)
        before = word
        is_file = os.path.isabs(path) and os.path.isfile(path)
        if is_file and not is_written and any(is_within(os.path.realpath(path), home) for home in homes):
            yield path


def _split(line: str) -> list[str]:
    """Return the words and operators of a shell's line; nothing where a quote stays open."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    try:
        return list(words)
    except ValueError:
        return []


def _commands(settings: str) -> Iterator[str]:
    try:
        with open(settings, encoding="utf-8-sig") as file:
            told = json.load(file)
    except (OSError, ValueError, RecursionError):
        return
    events = told.get("hooks") if isinstance(told, dict) else None
    for groups in events.values() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            handlers = group.get("hooks") if isinstance(group, dict) else None
            for handler in handlers if isinstance(handlers, list) else ():
                command = handler.get("command") if isinstance(handler, dict) else None
                if isinstance(command, str):
                    yield command


# What works


def ways() -> Iterator[tuple[str, str]]:
    """Yield the walls that can be raised here, the best first."""
    if sys.platform == "darwin":
        if os.access(program := "/usr/bin/sandbox-exec", os.X_OK):
            yield SEATBELT, program
        return
    if not sys.platform.startswith("linux"):
        return
    from roamkb.wall import kernel

    if _succeeds_in_child(
        lambda: kernel.enter_namespace(WallPaths([os.path.dirname(__file__)], [], []), "/")
    ):
        yield NAMESPACE, ""
    for program in ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"):
        if os.access(program, os.X_OK) and _runs(program):
            yield BUBBLEWRAP, program
            break
    if kernel.landlock_version():
        yield LANDLOCK, ""


def _runs(bubblewrap: str) -> bool:
    """Say whether bubblewrap may do here what it has to."""
    from roamkb.wall.programs import bubblewrap_words

    true = next((path for path in _TRUE if os.access(path, os.X_OK)), "true")
    words = [*bubblewrap_words(bubblewrap, WallPaths([os.path.dirname(__file__)], [], []), "/", 1), true]
    nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)]
    child = os.posix_spawn(bubblewrap, words, os.environ, file_actions=nothing)
    return os.waitpid(child, 0)[1] == 0


def _succeeds_in_child(work: Callable[[], None]) -> bool:
    """Say whether something works that can't be taken back."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0
