"""Confirm words of destructive tools: one use, one action, exactly the list that was shown, ten minutes (I7).

A word is the tools' own, also where the store has one of its own for the same preview: what a model gets to see
confirms through this server only. Kept in memory: after a restart the preview is looked at again.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from bead.errors import NotConfirmed

LIFE_S = 600
_MOST = 200
_WORD_BYTES = 12


class _Issued(NamedTuple):
    action: str
    subject: tuple[str, ...]
    store_word: str
    ends: float


class Words:
    """The words that a server has given out. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._issued: OrderedDict[str, _Issued] = OrderedDict()

    def issue(self, action: str, subject: tuple[str, ...], store_word: str = "") -> str:
        """A word for this action on exactly this; `store_word` comes back when it is used."""
        word = secrets.token_urlsafe(_WORD_BYTES)
        self._issued[word] = _Issued(action, subject, store_word, self._clock() + LIFE_S)
        while len(self._issued) > _MOST:
            self._issued.popitem(last=False)
        return word

    def redeem(self, word: str, action: str, subject: tuple[str, ...]) -> str:
        """Use a word up, whatever comes of it.

        Raises:
            NotConfirmed: it is unknown, was used, is too old, or was given for something else.
        """
        issued = self._issued.pop(word, None)
        if issued is None or issued.ends < self._clock():
            raise NotConfirmed(
                "this confirm word is unknown, used or older than ten minutes; nothing was done. Call again without "
                "`confirm` and show the preview to the person"
            )
        if (issued.action, issued.subject) != (action, subject):
            raise NotConfirmed(
                "this confirm word was given for something else; nothing was done. Call again without `confirm` and "
                "show the preview to the person"
            )
        return issued.store_word
