"""Gemini generateContent and streamGenerateContent.

Pure. Deciding what to inject is `bead_proxy.memory`; bytes on the wire are the pipeline's. The model and whether the
answer is streamed stand in the path.
"""

from bead_proxy.gemini.reply import reply_reader
from bead_proxy.gemini.request import read, read_on

__all__ = ["read", "read_on", "reply_reader"]
