"""Who may see the admin page: one-time launch links, sessions behind a cookie, a token for each form.

Everything is in memory: a restart ends every session, and a launch link is one command away. No I/O; time and
randomness are arguments. Which requests a browser may make at all is `checks`.
"""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

LAUNCH_S = 60.0
IDLE_S = 2 * 3600.0
LONGEST_S = 12 * 3600.0
MAX_LAUNCHES = 16
MAX_SESSIONS = 32
MAX_MESSAGES = 8


@dataclass
class Message:
    """Said once, on the next page: what an action did."""

    text: str
    is_good: bool = True


@dataclass
class Session:
    """One browser that came in by a launch link."""

    secret: bytes
    """Of its form tokens; never sent."""
    began: float
    seen: float
    messages: list[Message] = field(default_factory=list)

    def form_token(self, action: str) -> str:
        """What a form that is sent to the path `action` must carry."""
        return hmac.new(self.secret, b"form " + action.encode(), sha256).hexdigest()

    def accepts(self, action: str, token: str) -> bool:
        """Whether a form for `action` was made for this session."""
        return hmac.compare_digest(self.form_token(action).encode(), token.encode("utf-8", "replace"))

    def say(self, text: str, *, is_good: bool = True) -> None:
        """Show `text` on the next page."""
        self.messages = [*self.messages[-MAX_MESSAGES + 1 :], Message(text, is_good)]

    def take_messages(self) -> list[Message]:
        """What is to be said now."""
        taken, self.messages = self.messages, []
        return taken


class Door:
    """Launch links and sessions of one running curate. `clock` counts seconds and never goes back."""

    def __init__(self, clock: Callable[[], float], word: Callable[[], str] = secrets.token_urlsafe) -> None:
        self._clock = clock
        self._word = word
        self._launches: dict[bytes, float] = {}
        """When each ends, by the hash of its word: what lies in memory opens nothing."""
        self._sessions: dict[bytes, Session] = {}

    def launch(self) -> str:
        """A word that opens one session within a minute."""
        self._drop_old()
        while len(self._launches) >= MAX_LAUNCHES:
            del self._launches[next(iter(self._launches))]
        word = self._word()
        self._launches[_hash(word)] = self._clock() + LAUNCH_S
        return word

    def enter(self, word: str) -> str | None:
        """The cookie of a new session; None when `word` is unknown, used or too old."""
        self._drop_old()
        if self._launches.pop(_hash(word), None) is None:
            return None
        while len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        cookie, now = self._word(), self._clock()
        self._sessions[_hash(cookie)] = Session(secrets.token_bytes(32), now, now)
        return cookie

    def session(self, cookie: str) -> Session | None:
        """The session that `cookie` stands for, while it lasts; this counts as a sign of life."""
        self._drop_old()
        found = self._sessions.get(_hash(cookie))
        if found:
            found.seen = self._clock()
        return found

    def is_open(self, session: Session) -> bool:
        """Whether a session still lasts; looking is no sign of life."""
        self._drop_old()
        return any(each is session for each in self._sessions.values())

    def leave(self, cookie: str) -> None:
        """End a session."""
        self._sessions.pop(_hash(cookie), None)

    def _drop_old(self) -> None:
        now = self._clock()
        self._launches = {word: end for word, end in self._launches.items() if end > now}
        self._sessions = {
            cookie: session
            for cookie, session in self._sessions.items()
            if now - session.seen < IDLE_S and now - session.began < LONGEST_S
        }


def _hash(word: str) -> bytes:
    return sha256(word.encode("utf-8", "replace")).digest()
