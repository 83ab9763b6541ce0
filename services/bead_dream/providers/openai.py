"""Chat completions, of OpenAI and of every server with that interface; with its JSON schema where it has one."""

from typing import Any

from bead_dream.providers.base import Answer, JsonObject, Key, Question, RefusedByModel, Sender, ServerFailed, count

BASE_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"


_FORMS = ("json_schema", "json_object", "")
"""How an answer's form is asked for: as OpenAI does, as some local servers do, and in words alone."""


class OpenAI:
    """See `base.Provider`."""

    name = "openai"

    def __init__(self, model: str, sender: Sender, key: Key) -> None:
        self.model = model
        self._sender = sender
        self._key = key
        self._forms: tuple[str, ...] = _FORMS

    async def ask(self, question: Question) -> Answer:
        """See `base.Provider.ask`. A server that does not know a form is asked in the next one, and so from then on."""
        key = await self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        for at, form in enumerate(self._forms):
            try:
                answer = _answer(await self._sender.post("/chat/completions", self._body(question, form), headers))
            except (RefusedByModel, ServerFailed):
                if form == self._forms[-1]:
                    raise
            else:
                self._forms = self._forms[at:]
                return answer
        raise AssertionError("the last form answers or raises")

    def _body(self, question: Question, form: str) -> JsonObject:
        body: JsonObject = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.prompt},
            ],
            "max_tokens": question.max_tokens,
        }
        if form == "json_schema":
            body["response_format"] = {"type": form, "json_schema": {"name": "answer", "schema": question.schema}}
        elif form:
            body["response_format"] = {"type": form, "schema": question.schema}
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
