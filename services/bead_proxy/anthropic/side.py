"""Requests that a harness makes for itself: titles, compaction, memory agents, probes (D5).

Pure. Told by what they ask for, never by headers; those are the pipeline's. The wordings are from captured requests
and from the harnesses' own sources.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from bead_proxy import human
from bead_proxy.anthropic import wire
from bead_proxy.protocol import SideRequest

_TITLE_SYSTEM = re.compile(r"You are a title generator|Analyze if this message indicates a new conversation topic")
_TITLE_USER = re.compile(r"<session>|Generate a title for this conversation|Please write a \d+-\d+ word title")
_MEMORY_AGENT = re.compile(r"You are now acting as the (?:\w+ )?memory (?:extraction|consolidation) (?:sub)?agent")
_SUMMARY_SYSTEM = re.compile(
    r"You are a helpful AI assistant tasked with summarizing conversations"
    r"|You are (?:the|a) (?:specialized )?(?:system )?component that summarizes internal chat history"
    r"|\*Briefly\* summarize this partial conversation"
)
_HELPER_SYSTEM = re.compile(
    r"You are an assistant for performing a web search tool use"
    r"|You are an expert software engineer that generates concise, one-line Git commit messages"
)


class Asked(NamedTuple):
    """What a request asks beside its messages."""

    has_tools: bool
    wants_schema: bool
    """Whether the answer must be JSON of a given shape."""
    is_probe: bool
    """Whether one token of answer is enough."""


def kind(body: wire.Fields, system: list[str], newest: list[str]) -> SideRequest | None:
    """What side request `body` is, if any, by the texts of its system part and of its newest user message."""
    asked = Asked(not wire.is_empty(body.tools), _wants_schema(body), wire.anything(body.max_tokens) == 1)
    return kind_of(asked, system, newest)


def kind_of(asked: Asked, system: list[str], newest: list[str]) -> SideRequest | None:
    """As `kind`, whatever the protocol."""
    told = [human.own_words(text) for text in newest]
    if any(map(human.asks_for_summary, told)) or _any_begins(_SUMMARY_SYSTEM, system):
        return SideRequest.COMPACTION
    if _any_begins(_MEMORY_AGENT, system) or _any_begins(_MEMORY_AGENT, told):
        return SideRequest.MEMORY_AGENT
    if _any_begins(_TITLE_SYSTEM, system):
        return SideRequest.TITLE
    if not asked.has_tools:
        if _any_begins(_TITLE_USER, told):
            return SideRequest.TITLE
        if asked.wants_schema:
            return SideRequest.OTHER
    if asked.is_probe or _any_begins(_HELPER_SYSTEM, system):
        return SideRequest.OTHER
    return None


def _any_begins(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(pattern.match(text.lstrip()) for text in texts)


def _wants_schema(body: wire.Fields) -> bool:
    output: Any = wire.anything(body.output_config)
    chosen: Any = output.get("format") if isinstance(output, dict) else wire.anything(body.output_format)
    return isinstance(chosen, dict) and chosen.get("type") == "json_schema"
