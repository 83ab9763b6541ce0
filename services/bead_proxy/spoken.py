"""Which words of one user message a person may have typed, and in which of them a wish counts (I4, I13, I14).

Pure. The rule is turned round: nothing is the person's unless it can be their typing. Files speak in user messages too:
Claude Code puts a skill's file beside a tool's result and a slash command's file behind the command, each as a text
block like any other. What positions are made of is `human`'s and does not change with this.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bead_proxy import elements, human

_INTERRUPTED = "[Request interrupted by user"
# A command whose file follows begins with its message, one that the harness runs itself with its name.
_EXPANDED = "<command-message>"
_RUN_BY_HARNESS = "<command-name>"
_OUTPUT = ("<local-command-stdout>", "<local-command-stderr>")
_ARGUMENTS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
_FILES = (
    "Base directory for this skill:",
    'This skill is served by MCP server "',
    "[SYSTEM NOTIFICATION",
)
_HOOK = re.compile(r"[A-Z][A-Za-z]{2,30} hook (?:additional context|success|blocking error|stopped)\b")
_CLAUDE_CODE = (
    "x-anthropic-billing-header:",
    "You are Claude Code",
    "You are a Claude agent, built on Anthropic's Claude Agent SDK",
)
_PIPED = re.compile(r"x-anthropic-billing-header:[^\n]*\bcc_entrypoint=sdk-cli\b")


class Harness(NamedTuple):
    """What the system part of a request tells about who sends it."""

    is_claude_code: bool = False
    may_pipe: bool = False
    """Whether the prompt may have a program's output behind it: `claude -p` joins both with one line end."""


class Spoken(NamedTuple):
    """One text block."""

    words: str = ""
    """The person's, for recall and for the raw log."""
    added: str = ""
    """A file's or another program's text: no better than a tool's output."""
    typed: str = ""
    """The part of `words` in which a wish counts."""


NOBODY = Spoken()


def harness(system: Iterable[str]) -> Harness:
    """The sender, by the texts of the system part."""
    texts = [text.lstrip() for text in system]
    return Harness(
        is_claude_code=any(text.startswith(_CLAUDE_CODE) for text in texts),
        may_pipe=any(_PIPED.match(text) for text in texts),
    )


def spoken(texts: Sequence[str], normal: Sequence[str], *, beside_tool_result: bool, sender: Harness) -> list[Spoken]:
    """Whose words each of `texts` holds; `normal` are the same texts as `human.own_words_of` gives them.

    - Beside a tool's result nothing is a wish. Claude Code puts no prompt there unless the person interrupted it;
      others do (OpenHands), so there it counts for recall and the log.
    - What follows a slash command that has a file is that file; only the arguments were typed.
    - What follows a command that the harness ran itself is the prompt, a wish once the command's output was seen.
    - A block that begins with a wrapper is foreign up to the last end of that wrapper.
    """
    return list(_Message(sender, beside_tool_result=beside_tool_result).read(texts, normal))


class _Message:
    """What was seen of one message so far."""

    def __init__(self, sender: Harness, *, beside_tool_result: bool) -> None:
        self._sender = sender
        self._is_foreign = beside_tool_result and sender.is_claude_code
        self._may_wish = not beside_tool_result
        self._awaits_output = False

    def read(self, texts: Sequence[str], normal: Sequence[str]) -> Iterator[Spoken]:
        for text, remaining in zip(texts, normal, strict=True):
            yield self._block(text.strip(), remaining)

    def _block(self, text: str, normal: str) -> Spoken:
        if text.startswith(_EXPANDED):
            return self._command_with_file(text)
        if text.startswith(_RUN_BY_HARNESS):
            self._awaits_output = True
        elif text.startswith(_OUTPUT):
            self._awaits_output = False
        elif text.startswith(_INTERRUPTED):
            self._is_foreign = False
            return NOBODY
        if not normal or human.is_summary(normal) or human.asks_for_summary(normal):
            return NOBODY
        if self._is_foreign or text.startswith(_FILES) or _HOOK.match(text):
            return Spoken(added=normal)
        return self._persons(text, normal)

    def _command_with_file(self, text: str) -> Spoken:
        arguments = _ARGUMENTS.search(text)
        words = human.own_words(arguments[1]) if arguments else ""
        if self._is_foreign:
            return Spoken(added=words)
        said = Spoken(words=words, typed=self._typed(words) if self._may_wish else "")
        self._is_foreign, self._may_wish = True, False
        return said

    def _persons(self, text: str, normal: str) -> Spoken:
        begun = elements.after_leading(text)
        words = human.own_words(elements.without_known(begun))
        if not words:
            return Spoken(added=normal)
        if not self._may_wish or (self._awaits_output and self._sender.is_claude_code):
            return Spoken(words=words)
        return Spoken(words=words, typed=self._typed(begun))

    def _typed(self, text: str) -> str:
        return text.lstrip().partition("\n")[0] if self._sender.may_pipe else text
