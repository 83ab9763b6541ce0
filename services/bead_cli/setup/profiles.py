"""What makes `claude`, typed in a shell, start with memory: a file of functions, and a block that reads it. Pure.

The functions survive an alias or a function of the same name, which go on working inside ours; reading the file prints
nothing, runs no program, and holds under `set -e` and `set -u` (B30).
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import NamedTuple

PROGRAM = "claude"

# %% marks what is filled in: shells use $ and @ themselves.
_SH = """\
# Written by `bead setup`; `bead unsetup` takes it away. Starts %%name with memory when bead answers, as it is when not.
__bead_run_%%name() {
  local __bead_inside=1 __bead_set=''
  if [ -x %%bead ]; then
    __bead_set=$(%%bead wrap --home %%home%%options --print-env sh %%name) || __bead_set=''
  else
    printf '%s\\n' 'bead: '%%bead' is not there any more, starting %%name without memory (run: bead setup)' >&2
  fi
  eval "$__bead_set"
  if [ -n "${__bead_alias_%%name:-}" ]; then
    eval "$__bead_alias_%%name \\"\\$@\\""
  elif typeset -f __bead_was_%%name >/dev/null 2>&1; then
    __bead_was_%%name "$@"
  else
    command %%name "$@"
  fi
}
# An alias would be read in place of the name below; it goes on working inside.
if __bead_found=$(alias %%name 2>/dev/null); then
  __bead_found=${__bead_found#alias }
  eval "__bead_alias_%%name=${__bead_found#%%name=}"
  unalias %%name
else
  __bead_alias_%%name=''
fi
if __bead_found=$(typeset -f %%name 2>/dev/null); then
  case $__bead_found in
    *__bead_run_%%name*) ;;
    *) eval "__bead_was_%%name${__bead_found#%%name}" ;;
  esac
fi
unset __bead_found
eval '%%name() {
  if [ -n "${__bead_inside:-}" ]; then
    command %%name "$@"
  else
    __bead_run_%%name "$@"
  fi
}'
"""
_FISH = """\
# Written by `bead setup`; `bead unsetup` takes it away. Starts %%name with memory when bead answers, as it is when not.
if functions -q %%name; and not functions %%name | string match -q '*__bead_inside*'
    functions -q __bead_was_%%name; and functions -e __bead_was_%%name
    functions -c %%name __bead_was_%%name
end
function %%name --description '%%name, with memory'
    if set -q __bead_inside
        command %%name $argv
        return
    end
    set -lx __bead_inside 1
    if test -x %%bead
        %%bead wrap --home %%home%%options --print-env fish %%name | source
    else
        echo 'bead: '%%bead' is not there any more, starting %%name without memory (run: bead setup)' >&2
    end
    if functions -q __bead_was_%%name
        __bead_was_%%name $argv
    else
        command %%name $argv
    end
end
"""


class _Marked(Template):
    delimiter = "%%"


class Shell(NamedTuple):
    """One shell: where its profile lies, what bead's file is called, and the lines that read it."""

    name: str
    profile: Path
    file: str
    functions: str
    reads: str


def shells(environ: Mapping[str, str], home: Path) -> list[Shell]:
    """Shells of this person: those with a profile, and the one they log in with."""
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    known = (
        Shell("bash", home / ".bashrc", "shell.sh", _SH, "if [ -r %%file ]; then . %%file; fi"),
        Shell(
            "zsh",
            Path(environ.get("ZDOTDIR") or home) / ".zshrc",
            "shell.sh",
            _SH,
            "if [ -r %%file ]; then . %%file; fi",
        ),
        Shell(
            "fish",
            config / "fish" / "config.fish",
            "shell.fish",
            _FISH,
            "if test -r %%file\n    source %%file\nend",
        ),
    )
    login = Path(environ.get("SHELL") or "").name
    return [shell for shell in known if shell.profile.exists() or shell.profile.is_symlink() or shell.name == login]


def functions(shell: Shell, bead: str, home: str, *, tool_search: bool = False) -> bytes:
    """The file that the block reads; with `tool_search` Claude Code keeps searching for tools (B03)."""
    quote = _fish_quoted if shell.name == "fish" else shlex.quote
    options = " --tool-search" if tool_search else ""
    names = {"name": PROGRAM, "bead": quote(bead), "home": quote(home), "options": options}
    return _Marked(shell.functions).substitute(names).encode()


def block(shell: Shell, file: Path) -> str:
    """The lines of the block."""
    quote = _fish_quoted if shell.name == "fish" else shlex.quote
    return _Marked(shell.reads).substitute(file=quote(str(file)))


def assignments(shell: str, variables: Mapping[str, str]) -> str:
    """Lines that set `variables` for the function that reads them and what it starts, and for nobody after it."""
    if shell == "fish":
        # A sourced line has the scope of whoever sources it; -g would outlive the program.
        return "".join(f"set -fx {name} {_fish_quoted(value)}\n" for name, value in variables.items())
    return "".join(f"local -x {name}={shlex.quote(value)}\n" for name, value in variables.items())


def _fish_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
