"""OpenAI Responses, as OpenAI's clients and Codex speak it.

Pure. Deciding what to inject is `bead_proxy.memory`; bytes on the wire are the pipeline's.
"""

from bead_proxy.openai_responses.reply import reply_reader
from bead_proxy.openai_responses.request import read, read_on

__all__ = ["read", "read_on", "reply_reader"]
