"""What one transaction changes in the copy. Where it comes from is `follow`'s, how it is kept `database`'s."""

from dataclasses import dataclass, field
from typing import NamedTuple

from bead.facts import FactVersion
from bead.wire.episodes import EpisodeView
from bead.wire.store import TurnView
from bead_index.database import IndexFile, Position


class Versions(NamedTuple):
    """The current version of a key, and those it has superseded, oldest first."""

    fact: FactVersion
    hash: str | None
    older: tuple[FactVersion, ...] = ()


class Turns(NamedTuple):
    """Every turn that `session` has after the ordinal `after`."""

    session: str
    after: int
    turns: tuple[TurnView, ...]
    hash: str | None

    def __repr__(self) -> str:
        return f"Turns({len(self.turns)} after {self.after})"


@dataclass
class Batch:
    """Hashes are None where the manifest has not told them."""

    facts: list[Versions] = field(default_factory=list)
    sessions: list[Turns] = field(default_factory=list)
    episodes: list[tuple[EpisodeView, str | None]] = field(default_factory=list)
    gone_facts: list[str] = field(default_factory=list)
    gone_sessions: list[str] = field(default_factory=list)
    gone_episodes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Batch(facts={len(self.facts)}, sessions={len(self.sessions)}, episodes={len(self.episodes)})"

    @property
    def characters(self) -> int:
        """Length of its turns' texts."""
        return sum(len(turn.text) for each in self.sessions for turn in each.turns)

    def write(self, index: IndexFile, position: Position | None = None) -> bool:
        """Apply it in one transaction, with the position it leads to; whether text that was held is no more."""
        with index.transaction():
            went = [index.drop_fact(key) for key in self.gone_facts]
            went += [index.drop_session(session) for session in self.gone_sessions]
            went += [index.drop_episode(id) for id in self.gone_episodes]
            went += [index.put_fact(*each) for each in self.facts]
            went += [index.put_session(each.session, each.turns, each.hash, each.after) for each in self.sessions]
            went += [index.put_episode(*each) for each in self.episodes]
            if any(went):
                index.demand_purge()
            if position:
                index.set_position(position)
        return any(went)
