"""Words that confirm a preview: one list, as it was shown, once, within ten minutes (I7).

They live in memory: after a restart a person looks at the preview again.
"""

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from bead.errors import NotConfirmed

LIFE_S = 600
_MOST = 1_000
_WORD_BYTES = 24


class _Issued(NamedTuple):
    subject: bytes
    ends: float


class Confirmations:
    """Asked from one lane. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._issued: OrderedDict[str, _Issued] = OrderedDict()

    def issue(self, *subject: str) -> str:
        """A word for exactly this subject."""
        word = secrets.token_urlsafe(_WORD_BYTES)
        self._issued[word] = _Issued(self._mac(subject), self._clock() + LIFE_S)
        while len(self._issued) > _MOST:
            self._issued.popitem(last=False)
        return word

    def redeem(self, word: str, *subject: str) -> None:
        """Use a word up.

        Raises:
            NotConfirmed: it is unknown, was used, is too old, or was given for another subject.
        """
        issued = self._issued.pop(word, None)
        if issued is None or issued.ends < self._clock():
            raise NotConfirmed("this confirmation is unknown, used or older than ten minutes; look at the preview")
        if not hmac.compare_digest(issued.subject, self._mac(subject)):
            raise NotConfirmed("this is not what the preview showed, or it has changed since; look at it again")

    def _mac(self, subject: tuple[str, ...]) -> bytes:
        # Kept as a hash: a preview's keys are a person's text and are not needed again.
        return hmac.digest(self._key, "\0".join(subject).encode(), "sha256")
