"""`bead completion bash|zsh|fish`: prints a script to source; commands and options come from the parsers themselves."""

import argparse
import io

from bead_cli.catalogue import COMMANDS
from bead_cli.context import Context
from bead_cli.parsing import parser_of

_EPILOG = """\
examples:
  bash:  source <(bead completion bash)
  zsh:   source <(bead completion zsh)
  fish:  bead completion fish | source
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A shell."""
    parser.epilog = _EPILOG
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")


def run(args: argparse.Namespace, context: Context) -> int:
    """Print the script."""
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell]()
    if context.output.as_json:
        context.output.document({"shell": args.shell, "script": script})
    else:
        context.output.text(script)
    return 0


def words() -> dict[str, list[str]]:
    """For each command the options and fixed words that may follow it."""
    found = {}
    for command in COMMANDS:
        parser = parser_of(command, [], io.StringIO())
        actions = parser._actions  # argparse has no public list of them
        options = [option for action in actions for option in action.option_strings if option.startswith("--")]
        choices = [str(word) for action in actions if not action.option_strings for word in action.choices or ()]
        found[command.name] = choices + options
    return found


def _bash() -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(after)}' ;;" for name, after in words().items())
    return f"""\
_bead() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='{" ".join(words())} --version'
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    *) words='' ;;
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
}}
complete -o default -F _bead bead"""


def _zsh() -> str:
    return f"autoload -Uz bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    lines = ["complete -c bead -f"]
    lines += [
        f"complete -c bead -n __fish_use_subcommand -a {command.name} -d '{command.summary.replace(chr(39), '')}'"
        for command in COMMANDS
    ]
    for name, after in words().items():
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        lines += [
            f"complete -c bead {seen} -l {word[2:]}" if word.startswith("--") else f"complete -c bead {seen} -a {word}"
            for word in after
        ]
    return "\n".join(lines)
