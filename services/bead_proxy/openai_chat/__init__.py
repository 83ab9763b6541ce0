"""OpenAI Chat Completions, as OpenAI and the many servers that speak like it have it.

Pure. Deciding what to inject is `bead_proxy.memory`; bytes on the wire are the pipeline's.
"""

from bead_proxy.openai_chat.reply import reply_reader
from bead_proxy.openai_chat.request import read, read_on

__all__ = ["read", "read_on", "reply_reader"]
