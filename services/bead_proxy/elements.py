"""Elements in a text, `<name …> … </name>`: what stands in one is not the person speaking (I13).

Pure and strict, for wishes: what is in an element can hold a tag that ends it early, so an element that begins a line
reaches to the last end of its name. What is taken out of the texts that positions are made of is `human`'s.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z_][\w:.-]*)(?:\s[^<>]*)?>")
# Names under which harnesses put files, output and other agents' words into user messages.
_KNOWN = re.compile(
    r"system[-_]reminder|command-[a-z-]+|local-command-[a-z-]+|current_datetime|hook_context|task-notification"
    r"|user-prompt-submit-hook|post-tool-use-hook|qwen:[a-z-]+|bash-(?:input|stdout|stderr|exit-code)|ide_[a-z_]+"
    r"|environment_context|private|bead-memory|teammate-message|agent-message|channel|cross-session-message"
    r"|coordinator-relay|slack-ping|slack-tag-message|fetched-web-content|untrusted[-_][a-z_-]+|voice-call-talk|tick"
    r"|mcp-(?:resource|polling)-update|remote-review(?:-progress)?|artifact-[a-z-]+|fork-(?:boilerplate|source)"
    r"|forked-skill-launch|function_results|tool_use_error|sandbox_violations|persisted-output|total_tokens"
    r"|session_context|subagent_notification|turn_aborted|user_instructions|user_shell_command"
    r"|user-memory-input|terminal|browser(?:_instruction)?|skill-format",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"[^\n]")
_BLANKS = re.compile(r"\s*")
_INDENT = 16
"""Most blanks before a tag that begins a line."""


class _Span(NamedTuple):
    """Where an element lies; one that nothing closes reaches to the end of the text."""

    start: int
    end: int
    is_known: bool
    is_closed: bool


def after_leading(text: str) -> str:
    """`text` behind the known elements that it begins with, each up to the last end of its name."""
    at = 0
    last_ends: dict[str, int] = {}
    while True:
        at = _end_of_blanks(text, at)
        opening = _TAG.match(text, at)
        if opening is None or opening["close"] or not _KNOWN.fullmatch(opening["name"]):
            return text[at:]
        last_ends = last_ends or {tag["name"]: tag.end() for tag in _TAG.finditer(text) if tag["close"]}
        if (end := last_ends.get(opening["name"], 0)) <= at:
            return text[at:]
        at = end


def without_known(text: str) -> str:
    """`text` without known elements that are complete."""
    return _cut(text, (span for span in _spans(text) if span.is_known and span.is_closed))


def outside(text: str) -> tuple[str, str]:
    """What stands in no element, and the same with every other character in its place.

    Known elements are gone from both, with all that follows one that nothing closes; complete elements of other names
    are in the second only, and NUL in the first.
    """
    kept = _cut(text, (span for span in _spans(text) if span.is_known))
    parts: list[str] = []
    at = 0
    for span in _spans(kept):
        if span.is_closed:
            parts += (kept[at : span.start], _HIDDEN.sub("\0", kept[span.start : span.end]))
            at = span.end
    return "".join(parts) + kept[at:], kept


def _cut(text: str, spans: Iterable[_Span]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts.append(text[at : span.start])
        at = span.end
    return "".join(parts) + text[at:]


def _spans(text: str) -> list[_Span]:
    """Outermost elements in order, and known ones that nothing closes; tags in backquotes are none."""
    if "<" not in text:
        return []
    tags = [tag for tag in _TAG.finditer(text) if not (_is_quoted(text, tag) or tag[0].endswith("/>"))]
    last_ends = {tag["name"]: tag.end() for tag in tags if tag["close"]}
    partners = _partners(tags)
    found: list[_Span] = []
    at = 0
    for tag in tags:
        start, name = tag.start(), tag["name"]
        if tag["close"] or start < at:
            continue
        end = partners.get(start, 0)
        if _begins_line(text, start):
            end = last_ends.get(name, 0)
        is_known = _KNOWN.fullmatch(name) is not None
        if end > start:
            found.append(_Span(start, at := end, is_known, is_closed=True))
        elif is_known:
            found.append(_Span(start, at := len(text), is_known, is_closed=False))
    return found


def _partners(tags: Iterable[re.Match[str]]) -> dict[int, int]:
    """By the start of an opening tag, the end of its closing tag."""
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    found: dict[int, int] = {}
    for tag in tags:
        if not tag["close"]:
            waiting[tag["name"]].append(tag.start())
        elif waiting[tag["name"]]:
            found[waiting[tag["name"]].pop()] = tag.end()
    return found


def _begins_line(text: str, at: int) -> bool:
    before = text[max(0, at - _INDENT) : at].rstrip(" \t")
    return before.endswith("\n") or (not before and at <= _INDENT)


def _end_of_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    return tag.start() > 0 and text[tag.start() - 1] == "`" and text[tag.end() : tag.end() + 1] == "`"
