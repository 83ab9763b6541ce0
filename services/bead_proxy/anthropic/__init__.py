"""Anthropic Messages: what a request says, and what a reply amounts to.

Pure. Deciding what to inject is `bead_proxy.memory`; bytes on the wire are the pipeline's.
"""

from bead_proxy.anthropic.reply import reply_reader
from bead_proxy.anthropic.request import read, read_on
from bead_proxy.anthropic.source import Earlier

__all__ = ["Earlier", "read", "read_on", "reply_reader"]
