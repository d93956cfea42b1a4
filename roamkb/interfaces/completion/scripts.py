"""Completion scripts of bash, zsh and fish, made from the table of operations.

A script has all commands, options and fixed values in itself. For tags, titles, types, keys, tasks and the
names of knowledge bases it asks `roamkb --complete`.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Final

from roamkb.core import errors
from roamkb.core.request import ParameterShape
from roamkb.core.request import VerbParameter
from roamkb.core.startup.dataclasses import dataclass
from roamkb.interfaces.cli.fast_args import OperationCall
from roamkb.interfaces.operations import COMMON_PARAMETERS
from roamkb.interfaces.operations import HELP_PARAMETER
from roamkb.interfaces.operations import OPERATIONS
from roamkb.wall.protected import HOOK_EVENTS

_HEAD_COMMENT: Final = "made from roamkb's table of commands by `roamkb completion`"


#: What harnesses run, which isn't in the table of operations: each call waits for it.
_HARNESS_COMMANDS: Final = {
    "hook": (
        "Answer a hook of a harness.",
        VerbParameter(name="event", help="The event.", metavar="EVENT", values=tuple(HOOK_EVENTS)),
    ),
    "exec": (
        "Run a command behind the wall.",
        VerbParameter(
            name="command",
            help="The command.",
            shape=ParameterShape.TEXTS,
            metavar="COMMAND",
            values="commands",
        ),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedCommand:
    """One command as a shell completes it."""

    name: str
    summary: str
    parameters: tuple[VerbParameter, ...]

    @property
    def named_options(self) -> tuple[VerbParameter, ...]:
        """Its options."""
        return tuple(parameter for parameter in self.parameters if parameter.flag)

    @property
    def valued_flags(self) -> list[str]:
        """The options that take a value."""
        return [option.flag for option in self.named_options if option.shape is not ParameterShape.FLAG]

    @property
    def positional_arguments(self) -> tuple[VerbParameter, ...]:
        """Its positional arguments."""
        return tuple(parameter for parameter in self.parameters if not parameter.flag)


def completed_commands() -> Iterator[CompletedCommand]:
    """Yield every command with its parameters."""
    for operation in OPERATIONS:
        yield CompletedCommand(
            name=operation.name,
            summary=operation.summary,
            parameters=(*operation.parameters, *COMMON_PARAMETERS, HELP_PARAMETER),
        )
    for name, (summary, argument) in _HARNESS_COMMANDS.items():
        yield CompletedCommand(name=name, summary=summary, parameters=(argument, HELP_PARAMETER))


def _names(option: VerbParameter) -> list[str]:
    return [option.flag, option.letter] if option.letter else [option.flag]


def completion_script(shell: str) -> str:
    """Return the script that completes `roamkb` in a shell."""
    return "\n".join(_SCRIPTS[shell](tuple(completed_commands()))) + "\n"


def serve(call: OperationCall) -> int:
    """Print the script that `roamkb completion SHELL` asks for."""
    shell = call.arguments["shell"]
    if shell not in _SCRIPTS:
        raise errors.UsageError(f"no completion for {shell}", hint=f"one of {', '.join(_SCRIPTS)}")
    print(completion_script(str(shell)), end="")
    return 0


# bash


def _value_source(parameter: VerbParameter) -> str:
    """Return the values of a parameter: its choices, or `@` and the source of its values."""
    return f"@{parameter.values}" if isinstance(parameter.values, str) else " ".join(parameter.values)


def _bash_script(commands: tuple[CompletedCommand, ...]) -> Iterator[str]:
    yield f"# bash completion of roamkb, {_HEAD_COMMENT}"
    yield _BASH_START
    for command in commands:
        yield f"    {command.name})"
        names = (name for option in command.named_options for name in _names(option))
        yield f"        options='{' '.join(names)}'"
        valued = [
            f"{option.flag} {_value_source(option)}".rstrip()
            for option in command.named_options
            if option.flag in command.valued_flags
        ]
        yield f"        valued={_bash_lines(valued)}"
        yield f"        arguments={_bash_lines(map(_value_source, command.positional_arguments))}"
        if any(argument.shape is ParameterShape.TEXTS for argument in command.positional_arguments):
            yield "        rest=1"
        yield "        ;;"
    yield _BASH_END.replace("COMMANDS", " ".join(command.name for command in commands))


def _bash_lines(lines: Iterable[str]) -> str:
    return "(" + " ".join(f"'{line}'" for line in lines) + ")"


_BASH_START: Final = r"""
_roamkb() {
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} quote= values= open= options= rest= line i
    local -a valued=() arguments=()
    local -i place=0
    COMPREPLY=()
    case $command in"""
_BASH_END: Final = r"""    esac
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W 'COMMANDS --help -h --version' -- "$word"))
        return
    fi
    # bash makes three words of --option=value
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        =) continue ;;
        -*) if [ -z "$open" ]; then
                for line in "${valued[@]}"; do
                    [ "${line%% *}" != "${COMP_WORDS[i]}" ] || open=$line
                done
                continue
            fi ;;
        esac
        if [ -n "$open" ]; then open=; else place+=1; fi
    done
    [ "$word" != = ] || word=
    if [ -n "$open" ]; then
        values=${open#"${open%% *}"}
        values=${values# }
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        return
    elif [ "${#arguments[@]}" -gt 0 ]; then
        [ -z "$rest" ] || [ "$place" -lt "${#arguments[@]}" ] || place=${#arguments[@]}-1
        values=${arguments[place]-}
    fi
    case $values in
    @folders | @files | @commands)
        compopt -o filenames 2>/dev/null
        case $values in @folders) i=-d ;; @files) i=-f ;; *) i=-c ;; esac
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$i" -- "$word") ;;
    @*)
        case $word in [\"\']*) quote=${word:0:1} word=${word:1} ;; esac
        # in an opened quote a value is inserted as it is
        while IFS= read -r line; do
            case $quote:$line in
            :*) printf -v line %q "$line" ;;
            \":*[\"\$\`\\!]* | \':*\'*) continue ;;
            esac
            COMPREPLY+=("$line")
        done < <("${COMP_WORDS[0]}" --complete "${values#@}" "${word//\\/}" 2>/dev/null) ;;
    ?*) COMPREPLY=($(compgen -W "$values" -- "$word")) ;;
    esac
}
complete -F _roamkb roamkb"""


# zsh


def _zsh_script(commands: tuple[CompletedCommand, ...]) -> Iterator[str]:
    yield "#compdef roamkb"
    yield f"# {_HEAD_COMMENT}"
    yield _ZSH_START
    yield from (f"            {_shell_quoted(f'{command.name}:{command.summary}')}" for command in commands)
    yield _ZSH_COMMAND
    for command in commands:
        named = [_zsh_option(option, name) for option in command.named_options for name in _names(option)]
        specs = [*named, *_zsh_arguments(command)]
        yield f"    {command.name})"
        yield "        _arguments : \\"
        yield " \\\n".join(f"            {_shell_quoted(spec)}" for spec in specs)
        yield "        ;;"
    yield '    esac\n}\n\n_roamkb "$@"'


_ZSH_START: Final = r"""
_roamkb_values() {
    local -a values
    # no value begins so, and this is asked of options as well
    [[ $PREFIX != -* ]] || return 1
    values=(${(f)"$($_roamkb_program --complete $argv[-1] "${(Q)PREFIX}" 2>/dev/null)"})
    compadd "${(@)argv[1,-2]}" -a values
}

_roamkb() {
    local _roamkb_program=$words[1] command=$words[2]
    if (( CURRENT == 2 )); then
        local -a commands=("""
_ZSH_COMMAND: Final = r"""        )
        _describe command commands
        _arguments : '--help[Show this message and exit.]' '-h[Show this message and exit.]' '--version[The version.]'
        return
    fi
    # to what reads options, a command is a program
    shift words
    (( CURRENT-- ))
    case $command in"""


def _shell_quoted(text: str) -> str:
    return "'" + text.replace("'", r"'\''") + "'"


def _zsh_option(option: VerbParameter, name: str) -> str:
    repeat_mark = "*" if option.shape is ParameterShape.TEXTS else ""
    help = option.help.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
    if option.shape is ParameterShape.FLAG:
        return f"{repeat_mark}{name}[{help}]"
    return f"{repeat_mark}{name}=[{help}]:{_zsh_value(option)}"


def _zsh_arguments(command: CompletedCommand) -> Iterator[str]:
    for place, argument in enumerate(command.positional_arguments, start=1):
        mark = "*" if argument.shape is ParameterShape.TEXTS else str(place)
        yield f"{mark}:{_zsh_value(argument)}"


def _zsh_value(parameter: VerbParameter) -> str:
    name = (parameter.metavar or parameter.name).strip("[]").replace(":", r"\:")
    if not isinstance(parameter.values, str):
        words = " ".join(parameter.values).replace(":", r"\:")
        return f"{name}:({words})" if words else f"{name}: "
    actions = {"folders": "_files -/", "files": "_files", "commands": "_normal"}
    return f"{name}:{actions.get(parameter.values, f'_roamkb_values {parameter.values}')}"


# fish


def _fish_script(commands: tuple[CompletedCommand, ...]) -> Iterator[str]:
    yield f"# fish completion of roamkb, {_HEAD_COMMENT}"
    yield _FISH_START
    for command in commands:
        name = command.name
        yield f"complete -c roamkb -n '__roamkb_at' -a {name} -d {_fish_quoted(command.summary)}"
        for option in command.named_options:
            value = "" if option.shape is ParameterShape.FLAG else _fish_value(option)
            named = f"-s {option.letter[1:]} " * bool(option.letter) + f"-l {option.flag[2:]}"
            yield f"complete -c roamkb -n '__roamkb_at {name}' {named}{value} -d {_fish_quoted(option.help)}"
        for place, argument in enumerate(command.positional_arguments):
            if argument.values:
                repeat_mark = "+" if argument.shape is ParameterShape.TEXTS else ""
                condition = " ".join(["__roamkb_at", name, f"{place}{repeat_mark}", *command.valued_flags])
                yield f"complete -c roamkb -n '{condition}'{_fish_value(argument, is_argument=True)}"


_FISH_START: Final = r"""
# __roamkb_at [COMMAND [PLACE[+] OPTION...]]: whether the cursor stands there; the options take a value
function __roamkb_at
    set -l words (commandline -opc)
    if not set -q argv[1]
        test (count $words) -eq 1
        return
    end
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    set -l place 0
    set -l open 0
    for word in $words[3..]
        if test $open -eq 1
            set open 0
        else if contains -- $word $argv[3..]
            set open 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    test $open -eq 0; or return 1
    string match -q -- '*+' $argv[2]; and test $place -ge (string trim -c + -- $argv[2]); and return 0
    test "$place" = "$argv[2]"
end

function __roamkb_values
    set -l program (commandline -opc)[1]
    set -l begun (commandline -ct | string unescape | string replace -r '^--[^=]+=' '')
    # no value begins so, and this is asked of options as well
    string match -q -- '-*' $begun; and return
    $program --complete $argv[1] $begun 2>/dev/null
end

complete -c roamkb -f
complete -c roamkb -n '__roamkb_at' -l version -d 'The version.'
complete -c roamkb -n '__roamkb_at' -s h -l help -d 'Show this message and exit.'"""


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", r"\\").replace("'", r"\'") + "'"


def _fish_value(parameter: VerbParameter, *, is_argument: bool = False) -> str:
    exclusive = "" if is_argument else " -x"
    match parameter.values:
        case ():
            return exclusive
        case "files":
            return " -F" if is_argument else " -r -F"
        case "folders":
            return f"{exclusive} -a '(__fish_complete_directories)'"
        case "commands":
            return f"{exclusive} -a '(__fish_complete_subcommand)'"
        case str() as source:
            return f"{exclusive} -a '(__roamkb_values {source})'"
        case choices:
            return f"{exclusive} -a '{' '.join(choices)}'"


_SCRIPTS: Final[dict[str, Callable[[tuple[CompletedCommand, ...]], Iterator[str]]]] = {
    "bash": _bash_script,
    "zsh": _zsh_script,
    "fish": _fish_script,
}
