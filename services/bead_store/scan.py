"""The credential scan and the private spans, as every write meets them; loads the rules beside the start."""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as WaitedTooLong
from concurrent.futures import wait as wait_for

from bead.errors import BeadError, HoldsCredential, Unavailable
from bead.scan import Exceptions, Scanner
from bead.settings import ScanSettings
from bead_store.privacy import remove_private

_WAIT_S = 10.0
"""Loading takes well under a second; whoever waits longer is told."""

NO_EXCEPTIONS = ScanSettings()


class Scan:
    """Cleans text before it is written. Usable from any thread."""

    def __init__(self, known_secrets: Iterable[str], settings: ScanSettings = NO_EXCEPTIONS) -> None:
        exceptions = Exceptions(regexes=settings.allow, rules=settings.rules_off)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-scan")
        self._loading: Future[Scanner] = self._thread.submit(Scanner.load, exceptions, tuple(known_secrets))
        self._thread.shutdown(wait=False)

    def wait(self) -> None:
        """Until the rules are there, or cannot be; `trouble` tells which."""
        wait_for([self._loading], timeout=_WAIT_S)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be written yet, for a health answer; None when the scan is ready."""
        if not self._loading.done():
            return "the credential rules are still loading"
        return "the credential rules cannot be loaded; nothing is captured" if self._loading.exception() else None

    def clean_turn(self, text: str) -> str:
        """`text` without private spans and with every credential replaced by a marker (I13)."""
        return self._scanner().redact(remove_private(text)).text

    def redacted(self, text: str) -> tuple[str, Counter[str]]:
        """`text` with every credential replaced by a marker, and how many by the rule that found them."""
        found = self._scanner().redact(text)
        return found.text, Counter(hit.rule_id for hit in found.hits)

    def require_clean(self, *texts: str) -> None:
        """Raise HoldsCredential unless none of the texts holds a credential."""
        if self._scanner().contains_secret("\n".join(texts)):
            raise HoldsCredential("the text holds what looks like a password, key or token; it was not stored")

    def _scanner(self) -> Scanner:
        try:
            return self._loading.result(timeout=_WAIT_S)
        except WaitedTooLong:
            raise Unavailable("the credential rules are still loading; try again in a moment") from None
        except (BeadError, OSError, ValueError) as error:
            raise Unavailable(f"the credential rules cannot be loaded ({type(error).__name__})") from error
