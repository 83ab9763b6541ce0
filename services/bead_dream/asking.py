"""Asks the model: within the day's limits, redacted, noted in the ledger, and tried again a bounded number of times."""

from collections.abc import Callable, Collection
from datetime import date

from bead.clients.night import NightClient
from bead.errors import BeadError
from bead.scan import Scanner
from bead.settings import DreamSettings
from bead.wire.dream import Spend
from bead_dream.providers.base import Provider, Question, RefusedByModel
from bead_dream.recovery import Failure, Recovered, recover

OnSpend = Callable[[int, int, float], None]
"""Told tokens read, tokens written and dollars of each answer."""

TRIES = 2
"""Of one question in one night."""
_MILLION = 1_000_000


class LimitReached(BeadError):
    """The run has come to a limit that the settings set; what it did stays."""

    code, status, exit_code = "limit-reached", 409, 1


class Model:
    """A provider with a purse."""

    def __init__(
        self, provider: Provider, settings: DreamSettings, nights: NightClient, scanner: Scanner, today: date
    ) -> None:
        self._provider = provider
        self._settings = settings
        self._nights = nights
        self._scanner = scanner
        self._today = today
        self.tokens = 0
        """Read and written in this run."""
        self.on_call: Callable[[int], None] = lambda tokens: None
        self.on_spend: OnSpend = lambda read, written, usd: None

    async def ask(self, question: Question, name: str, item: Collection[str]) -> Recovered | Failure:
        """The object with the list `name`, see `recovery.recover`.

        Raises:
            LimitReached: the day's tokens or money are spent.
            ModelTrouble: the model cannot be reached.
        """
        clean = question._replace(prompt=self._scanner.redact(question.prompt).text)
        failure = Failure("no reply")
        for _ in range(TRIES):
            await self._check_purse()
            try:
                answer = await self._provider.ask(clean)
            except RefusedByModel:
                return Failure("the model refused the question")
            await self._note(question.purpose, answer.input_tokens, answer.output_tokens)
            found = Failure("a reply that was cut off") if answer.is_cut else recover(answer.text, name, item)
            if isinstance(found, Recovered):
                return found
            failure = found
        return failure

    async def _check_purse(self) -> None:
        spent = await self._nights.spent(self._today.isoformat())
        if spent.tokens >= self._settings.daily_tokens:
            raise LimitReached(f"the {self._settings.daily_tokens} tokens of dream.daily_tokens are used for today")
        if self._settings.daily_usd is not None and spent.usd >= self._settings.daily_usd:
            raise LimitReached(f"the {self._settings.daily_usd:g} dollars of dream.daily_usd are spent for today")

    async def _note(self, purpose: str, read: int, written: int) -> None:
        price = self._settings.prices.get(self._provider.model)
        usd = (read * price.input + written * price.output) / _MILLION if price else None
        self.tokens += read + written
        self.on_call(self.tokens)
        self.on_spend(read, written, usd or 0.0)
        await self._nights.spend(
            Spend(
                provider=self._provider.name,
                model=self._provider.model,
                purpose=purpose,
                input_tokens=read,
                output_tokens=written,
                usd=usd,
            )
        )
