"""What a person decides about a review item: accepted values are written as the person's own, rejected ones buried.

Each is written down as an intent first, so that a decision made is a decision carried out, whatever happens.
"""

from collections import OrderedDict
from contextlib import suppress

from bead.errors import Corrupt, NotFound, Refused
from bead.facts import Status, Trust
from bead.wire.store import Decided, Mark, Rekey, WriteAnswer, WriteFact
from bead_store.audit import Audit
from bead_store.facts import Facts
from bead_store.intents import Intent, Intents, Operation
from bead_store.rekey import Rekeying
from bead_store.review import KEY_CONFLICT, Proposal, ReviewFiles, stands_for
from bead_store.tombstones import Tombstones

_REMEMBERED = 1_000
"""Decisions of this process that a repeated question is answered with."""
_WORDS = {Operation.ACCEPT: "accepted", Operation.REJECT: "rejected"}


class Verdicts:
    """Called from the facts' lane only."""

    def __init__(
        self,
        *,
        facts: Facts,
        rekeying: Rekeying,
        review: ReviewFiles,
        tombstones: Tombstones,
        intents: Intents,
        audit: Audit,
    ) -> None:
        self._rekeying = rekeying
        self._facts = facts
        self._review = review
        self._tombstones = tombstones
        self._intents = intents
        self._audit = audit
        self._decided: OrderedDict[tuple[Operation, str], Decided] = OrderedDict()

    def decide(self, operation: Operation, item: str) -> Decided:
        """Carry out a decision; durable when this returns, and the same answer when it is asked again.

        Raises:
            NotFound: no such item waits.
            Refused: the value cannot be written; the item stays.
        """
        for id, half_done in list(self._intents.open.items()):
            if half_done.item == item:
                self.finish(id, half_done)
        try:
            proposal = self._review.proposal(item)
        except NotFound:
            if (operation, item) in self._decided:
                return self._decided[operation, item]
            raise
        intent = self._intents.begin(Intent(operation, item=item))
        try:
            return self._carry_out(operation, item, proposal)
        finally:
            # A value that is refused stays where it is, and so does one that the disk would not take: asked again.
            # What is done but for the item is finished by whoever asks again, else by the next start.
            if not self._review.is_half_erased(item):
                self._intents.finish(intent)

    def finish(self, id: str, intent: Intent) -> None:
        """After trouble: do what was decided, unless it is done."""
        assert intent.item is not None, "a decision is about an item"
        if self._review.finish_erasing(intent.item):
            self._audit.record(_WORDS[intent.operation], intent.item)
        else:
            with suppress(Refused, Corrupt):  # done, or it cannot be: then the item is there for another decision
                self._carry_out(intent.operation, intent.item, self._review.proposal(intent.item))
        self._intents.finish(id)

    def _carry_out(self, operation: Operation, item: str, proposal: Proposal) -> Decided:
        written = None
        if operation is Operation.ACCEPT:
            written = self._accept(proposal)
        elif proposal.kind != KEY_CONFLICT:  # there, a no says that both may stay
            self._tombstones.bury_proposal(proposal.key, stands_for(proposal), item)
        decided = Decided(id=item, decision=_WORDS[operation], key=proposal.key, written=written)
        self._remember(operation, decided)
        self._review.take_away(item)
        self._audit.record(_WORDS[operation], item)
        return decided

    def _accept(self, proposal: Proposal) -> WriteAnswer | None:
        """Do what the person agreed to, with a person's trust; safe to do again after a crash."""
        if proposal.new_key:
            with suppress(NotFound):  # it is there already, or it was forgotten
                self._rekeying.rekey(Rekey(old=proposal.key, new=proposal.new_key))
            return None
        written = self._facts.write(
            WriteFact(
                body=proposal.body,
                key=proposal.key,
                type=proposal.type,
                trust=Trust.USER_STATED,
                when=proposal.when or None,
                sources=proposal.sources,
                harness=proposal.harness,
            )
        )
        for other in proposal.others:
            with suppress(NotFound):  # forgotten, or moved, meanwhile
                self._facts.mark(Mark(key=other, status=Status.DORMANT))
        return written

    def _remember(self, operation: Operation, decided: Decided) -> None:
        self._decided[operation, decided.id] = decided
        while len(self._decided) > _REMEMBERED:
            self._decided.popitem(last=False)
