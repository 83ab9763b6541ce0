"""Chat completions, of OpenAI and of every server with that interface; with its JSON schema where it has one."""

from typing import Any

from bead_dream.providers.base import Answer, JsonObject, Key, Question, RefusedByModel, Sender, count

BASE_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"


class OpenAI:
    """See `base.Provider`."""

    name = "openai"

    def __init__(self, model: str, sender: Sender, key: Key) -> None:
        self.model = model
        self._sender = sender
        self._key = key
        self._has_schema = True

    async def ask(self, question: Question) -> Answer:
        """See `base.Provider.ask`. A server that does not know schemas is asked once more without."""
        key = await self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if self._has_schema:
            try:
                return _answer(await self._sender.post("/chat/completions", self._body(question, True), headers))
            except RefusedByModel:
                self._has_schema = False
        return _answer(await self._sender.post("/chat/completions", self._body(question, False), headers))

    def _body(self, question: Question, has_schema: bool) -> JsonObject:
        body: JsonObject = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.prompt},
            ],
            "max_tokens": question.max_tokens,
        }
        if has_schema:
            schema = {"name": "answer", "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def _answer(document: JsonObject) -> Answer:
    choices = document.get("choices")
    first: Any = choices[0] if isinstance(choices, list) and choices else {}
    message = first.get("message") if isinstance(first, dict) else None
    text = message.get("content") if isinstance(message, dict) else None
    return Answer(
        text if isinstance(text, str) else "",
        count(document, "usage", "prompt_tokens"),
        count(document, "usage", "completion_tokens"),
        is_cut=isinstance(first, dict) and first.get("finish_reason") == "length",
    )
