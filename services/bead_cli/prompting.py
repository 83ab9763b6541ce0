"""What the hooks that run before each prompt tell an agent where no base URL may be set (D9): the proxy's recall block.

    the agent's JSON → not where the proxy is in the path → the index chooses → the store keeps what is told → JSON out

Whatever fails, the prompt goes on without memory and the person is told, not the model (I10). The words of the block
are `bead.blocks`'s, what counts as told is `telling`'s.
"""

import json
import os
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from bead.errors import BeadError, NotFound, StaleConversation
from bead_cli import door as doors
from bead_cli.context import Context
from bead_cli.door import Door
from bead_cli.inpath import has_seen, is_in_path
from bead_cli.priming import DOCUMENTS

LIMIT_S = 1.0
"""Longest wait for one answer of a bead that runs."""
_MOST_CHARACTERS = 8_000
"""Of the prompt's beginning, and of its end."""
_EVENTS = {"user-prompt": "UserPromptSubmit", "before-agent": "BeforeAgent"}


class Prompt(NamedTuple):
    """What the agent says about the prompt."""

    session: str
    text: str
    """The person's own words."""
    directory: str

    def __repr__(self) -> str:
        return f"Prompt(characters={len(self.text)})"


def on_user_prompt(context: Context, given: bytes, cli: str) -> None:
    """`bead hook user-prompt`: Claude Code, Codex, Qwen Code."""
    _answer(context, given, cli, _EVENTS["user-prompt"])


def on_before_agent(context: Context, given: bytes, cli: str) -> None:
    """`bead hook before-agent`: Gemini CLI."""
    _answer(context, given, cli, _EVENTS["before-agent"])


def _answer(context: Context, given: bytes, cli: str, event: str) -> None:
    prompt = read(given)
    if prompt is None:
        return
    try:
        if is_in_path(context, cli):
            return
        text = block_for(context, prompt, cli)
    except NotFound:
        return  # no home: nothing was ever remembered
    except (BeadError, OSError) as error:
        cause = error.message if isinstance(error, BeadError) else type(error).__name__
        document: dict[str, Any] = {
            "systemMessage": f"bead: this prompt goes without memory ({cause}); see bead doctor"
        }
    else:
        if not text:
            return
        document = DOCUMENTS.get(cli, DOCUMENTS["claude"])(event, text)
    context.output.document(document)


def read(given: bytes) -> Prompt | None:
    """The prompt of a hook's document; None where there is nothing a person said, or no session to say it in."""
    from bead_proxy.human import own_words

    try:
        said = json.loads(given)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    prompt, session, directory = said.get("prompt"), said.get("session_id"), said.get("cwd")
    if not isinstance(prompt, str) or not isinstance(session, str) or not session:
        return None
    words = own_words(prompt)
    return Prompt(session, _ends(words), directory if isinstance(directory, str) else "") if words else None


def block_for(context: Context, prompt: Prompt, cli: str) -> str:
    """The block, noted as told; empty when nothing matters to this prompt.

    Raises:
        NotFound: there is no home.
        BeadError: memory could not be asked.
    """
    from bead_cli.lookup import active_project, caught_up
    from bead_proxy.permission import allows

    begun = time.perf_counter()
    settings = context.settings()
    if settings.proxy.inject != "full" or settings.proxy.recall.budget_tokens <= 0:
        return ""
    if prompt.directory and os.path.isdir(prompt.directory):
        os.chdir(prompt.directory)
    is_running = doors.running(context) is not None
    with doors.opened(context, "store", "index") as door:
        project = active_project(door, None) or ""
        if not allows(settings.proxy.projects, project, prompt.directory or None):
            return ""
        if not is_running:
            caught_up(door)
        elif has_seen(door, prompt.session, LIMIT_S):
            return ""
        for is_last in (False, True):
            try:
                return _told_once(door, settings, project, prompt, cli, begun)
            except StaleConversation:
                # A forget, or a second hook of the same session, came in between: decide once more.
                if is_last:
                    return ""
    return ""


def _told_once(door: Door, settings: Any, project: str, prompt: Prompt, cli: str, begun: float) -> str:
    import msgspec

    from bead.blocks import render
    from bead.conversations import BlockKind
    from bead.wire.index import RecallAnswer
    from bead_cli import telling
    from bead_proxy.caller import session_name

    session = session_name(prompt.session)
    state = telling.told(door, settings.owner, project, session, LIMIT_S)
    if not state.place:
        return ""
    recall = settings.proxy.recall
    question = {
        "owner": settings.owner,
        "project": project,
        "session": session,
        "cues": [{"source": "person", "text": prompt.text}],
        "seen": state.seen,
        "budget_tokens": recall.budget_tokens,
        "max_facts": recall.max_facts,
        "max_excerpts": recall.excerpts,
    }
    told = door.call("index", "POST", "/v1/recall", question, timeout_s=LIMIT_S)
    answer = msgspec.convert(told, RecallAnswer)
    text = render(BlockKind.RECALL, answer.facts, answer.excerpts)
    if text:
        telling.keep(door, state, BlockKind.RECALL, text, [*told["facts"], *told["excerpts"]], LIMIT_S)
    _trace(door, _trace_of(answer, text, project, session, cli, len(prompt.text), begun))
    return text


def _trace_of(
    answer: Any, text: str, project: str, session: str, cli: str, characters: int, begun: float
) -> Mapping[str, Any]:
    """What `bead trace` and `bead explain` say of it, in the form of the proxy's (D8)."""
    from bead.blocks import estimate_tokens, fact_tokens

    return {
        "turn": f"{session}/request-{secrets.token_hex(6)}",
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "session": session,
        "thread": "hooks",
        "project": project,
        "harness": cli,
        "protocol": "hook",
        "kind": "human",
        "cues": {"person": characters},
        "selected": [
            {
                "id": fact.uid,
                "version": fact.version,
                "score": fact.score,
                "reason": fact.code.value,
                "tokens": fact_tokens(fact),
            }
            for fact in answer.facts
        ]
        + [{"id": excerpt.id, "score": excerpt.score, "reason": "excerpt"} for excerpt in answer.excerpts],
        "rejected": [{"id": each.uid, "score": each.score, "reason": each.code.value} for each in answer.rejected],
        "inserted_tokens": estimate_tokens(text) if text else 0,
        "added_ms": {"all": round((time.perf_counter() - begun) * 1_000, 3)},
        "abstained": "" if text else "nothing relevant",
    }


def _trace(door: Door, trace: Mapping[str, Any]) -> None:
    try:
        door.call("store", "POST", "/v1/traces", trace, timeout_s=LIMIT_S)
    except BeadError:
        return  # the decision holds; only its explanation is lost


def _ends(text: str) -> str:
    if len(text) <= 2 * _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}\n{text[-_MOST_CHARACTERS:]}"
