"""Who answers the job's questions. `none` is the default: everything works by rule, and nothing is sent anywhere."""

from collections.abc import Mapping

from bead.errors import BadRequest
from bead.settings import DreamSettings
from bead_dream.providers import anthropic, keys, ollama, openai
from bead_dream.providers.base import Key, Provider, Sender


def provider_of(settings: DreamSettings, environ: Mapping[str, str]) -> Provider | None:
    """The model of the settings; None for `none`.

    Raises:
        BadRequest: a provider without a model.
    """
    if settings.provider == "none":
        return None
    if not settings.model:
        raise BadRequest(f"dream.provider is {settings.provider}, but dream.model names no model")
    match settings.provider:
        case "ollama":
            return ollama.Ollama(settings.model, _sender(settings, ollama.BASE_URL))
        case "anthropic":
            sender = _sender(settings, anthropic.BASE_URL)
            return anthropic.Anthropic(settings.model, sender, _key(settings, environ, anthropic.KEY_VARIABLE))
        case "openai":
            sender = _sender(settings, openai.BASE_URL)
            return openai.OpenAI(settings.model, sender, _key(settings, environ, openai.KEY_VARIABLE))


def _sender(settings: DreamSettings, default: str) -> Sender:
    return Sender(settings.base_url or default, settings.timeout_s)


def _key(settings: DreamSettings, environ: Mapping[str, str], default: str) -> Key:
    """Asked once; the command counts before the variable."""
    known: list[str | None] = []

    async def key() -> str | None:
        if not known:
            command = settings.api_key_command
            if command:
                known.append(await keys.key_of_command(command, environ, settings.api_key_timeout_s))
            else:
                known.append(keys.key_in(environ, settings.api_key_env or default))
        return known[0]

    return key
