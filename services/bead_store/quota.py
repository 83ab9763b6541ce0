"""How many facts agents have stated in each session: more than twenty in one are a flood, and wait for a person.

In memory only: a store that starts anew begins to count anew. What the person states is not counted by anybody.
"""

from collections import OrderedDict

from bead.wire.store import AGENT_FACTS_A_SESSION

MAX_SESSIONS = 10_000
"""Sessions that are remembered; the one that wrote longest ago is forgotten first (I17)."""


class Quota:
    """Used from the facts' lane only."""

    def __init__(self, most: int = AGENT_FACTS_A_SESSION, max_sessions: int = MAX_SESSIONS) -> None:
        self._most = most
        self._max_sessions = max_sessions
        self._written: OrderedDict[str, int] = OrderedDict()

    def is_used_up(self, session: str) -> bool:
        """Whether this session's agent has stated as much as it may."""
        return self._written.get(session, 0) >= self._most

    def note(self, session: str) -> None:
        """It has stated a fact that is current now."""
        self._written[session] = self._written.get(session, 0) + 1
        self._written.move_to_end(session)
        while len(self._written) > self._max_sessions:
            self._written.popitem(last=False)
