"""What a session was given so far, and how its last request stood in the provider's cache: for a status line."""

from pydantic import BaseModel, ConfigDict


class Standing(BaseModel):
    """`GET /v1/views/standing/{session}`: of the session itself, without its subagents."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session: str
    facts: int
    """Distinct facts that its requests carry."""
    excerpts: int
    """Distinct pieces of past conversations and episodes."""
    requests: int
    """Traces of it among the newest; 0 where no request of it came by lately."""
    input_tokens: int = 0
    """Of its last request with numbers, those read from or written to the cache included."""
    cache_read_tokens: int = 0
    failures: tuple[str, ...] = ()
    """What went wrong with memory in its last request, in plain words without content."""
