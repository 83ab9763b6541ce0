"""The Messages API. The answer is asked for as the input of one tool, so that the provider keeps to the schema."""

import json
from typing import Any

from bead.errors import ModelTrouble
from bead_dream.providers.base import Answer, JsonObject, Key, Question, Sender, count

BASE_URL = "https://api.anthropic.com"
KEY_VARIABLE = "ANTHROPIC_API_KEY"
_VERSION = "2023-06-01"
_TOOL = "answer"


class Anthropic:
    """See `base.Provider`."""

    name = "anthropic"

    def __init__(self, model: str, sender: Sender, key: Key) -> None:
        self.model = model
        self._sender = sender
        self._key = key

    async def ask(self, question: Question) -> Answer:
        """See `base.Provider.ask`."""
        key = await self._key()
        if key is None:
            raise ModelTrouble(f"there is no API key: set {KEY_VARIABLE}, dream.api_key_env or dream.api_key_command")
        body: JsonObject = {
            "model": self.model,
            "max_tokens": question.max_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.prompt}],
            "tools": [{"name": _TOOL, "description": "The answer.", "input_schema": question.schema}],
            "tool_choice": {"type": "tool", "name": _TOOL},
        }
        headers = {"x-api-key": key, "anthropic-version": _VERSION}
        document = await self._sender.post("/v1/messages", body, headers)
        return Answer(
            _text(document.get("content")),
            count(document, "usage", "input_tokens"),
            count(document, "usage", "output_tokens"),
            is_cut=document.get("stop_reason") == "max_tokens",
        )


def _text(content: Any) -> str:
    """The tool's input as JSON; else what was said."""
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    for block in blocks:
        if block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            return json.dumps(block["input"])
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
