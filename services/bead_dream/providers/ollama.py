"""Ollama's chat, with its schema for answers; no key, on this machine unless the settings say otherwise."""

from bead_dream.providers.base import Answer, JsonObject, Question, Sender, count

BASE_URL = "http://127.0.0.1:11434"


class Ollama:
    """See `base.Provider`."""

    name = "ollama"

    def __init__(self, model: str, sender: Sender) -> None:
        self.model = model
        self._sender = sender

    async def ask(self, question: Question) -> Answer:
        """See `base.Provider.ask`."""
        body: JsonObject = {
            "model": self.model,
            "stream": False,
            "format": question.schema,
            "options": {"temperature": 0, "num_predict": question.max_tokens},
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.prompt},
            ],
        }
        document = await self._sender.post("/api/chat", body, {})
        message = document.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        return Answer(
            text if isinstance(text, str) else "",
            count(document, "prompt_eval_count"),
            count(document, "eval_count"),
            is_cut=document.get("done_reason") == "length",
        )
