"""What waits for a person, as the terminal shows it, and what becomes of it: the state behind `bead review`.

No terminal here. Review items and drafts stand in one list; a decision asks the store and says what happened.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bead.errors import BeadError, NotFound
from bead_cli.commands.queue import consequences
from bead_cli.door import Door, fact_path
from bead_cli.loopback import quoted

_MOST_SOURCES = 3
_SOURCE_CHARS = 600


class Waiting(NamedTuple):
    """One review item or draft."""

    id: str
    is_draft: bool
    key: str
    body: str
    about: str
    """Kind, agent and day."""
    notes: tuple[str, ...]
    """Why it waits, and what accepting changes besides the text."""
    sources: tuple[str, ...]
    type: str | None = None
    agent: str = ""
    """Whose it is, as a decision about all of one agent means it."""
    is_suspicious: bool = False
    """It reads like an instruction: nobody accepts it along with others."""


class Desk:
    """The list, and the place in it."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.items: list[Waiting] = []
        self.at = 0
        self.said = ""
        self.decided = 0
        self._details: dict[str, list[str]] = {}
        self.load()

    @property
    def current(self) -> Waiting | None:
        """What is looked at, None when nothing waits."""
        return self.items[self.at] if self.items else None

    def load(self) -> None:
        """Read the list again; the place stays as near as it can."""
        queue = self._door.call("store", "GET", "/v1/queue")["items"]
        self.items = [*map(_of_item, queue), *map(_of_draft, self._drafts())]
        self.at = max(0, min(self.at, len(self.items) - 1))

    def move(self, step: int) -> None:
        """Another item, not past the ends."""
        self.at = max(0, min(self.at + step, len(self.items) - 1))
        self.said = ""

    def details(self) -> list[str]:
        """What is stored under the key, and the turns that the item came from."""
        item = self.current
        if item is None:
            return []
        if item.id not in self._details:
            self._details[item.id] = [*self._stored(item), *self._told(item)]
        return self._details[item.id]

    def accept(self, text: str | None = None) -> None:
        """Keep it as the person's own words, in those of `text` when it is given."""
        item = self.current
        if item is None:
            return
        if item.is_draft:
            body = {} if text is None else {"body": text}
            decided = self._ask("POST", f"/v1/drafts/{quoted(item.id)}/approve", body)
        elif text is None:
            decided = self._ask("POST", f"/v1/queue/{quoted(item.id)}/accept", {})
        else:
            decided = self._in_other_words(item, text)
        self._settled(decided, "accepted", item)

    def reject(self) -> None:
        """Refuse it, from now on."""
        item = self.current
        if item is None:
            return
        path = f"/v1/drafts/{quoted(item.id)}/discard" if item.is_draft else f"/v1/queue/{quoted(item.id)}/reject"
        self._settled(self._ask("POST", path, {}), "rejected", item)

    def all_of_agent(self, *, accept: bool) -> list[Waiting]:
        """What a decision about everything of the current one's agent decides."""
        item = self.current
        found = [each for each in self.items if item is not None and each.agent == item.agent]
        return [each for each in found if not (accept and each.is_suspicious)]

    def decide_all(self, items: Sequence[Waiting], *, accept: bool) -> None:
        """Accept or reject exactly these; what could not be decided still waits."""
        before = self.decided
        for each in items:
            if each in self.items:
                self.at = self.items.index(each)
                self.accept() if accept else self.reject()
        self.said = f"{'accepted' if accept else 'rejected'} {self.decided - before} of {len(items)}"

    def _in_other_words(self, item: Waiting, text: str) -> Any:
        """The person's words first, then the proposal as it stood is refused."""
        fact = {"body": text, "key": item.key, "trust": "user_stated", "sources": item.sources, "type": item.type}
        request = {name: value for name, value in fact.items() if value is not None}
        if self._ask("POST", "/v1/facts", request) is None:
            return None
        return self._ask("POST", f"/v1/queue/{quoted(item.id)}/reject", {})

    def _ask(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        try:
            return self._door.call("store", method, path, body)
        except BeadError as error:
            self.said = error.message
            return None

    def _settled(self, decided: Any, word: str, item: Waiting) -> None:
        if decided is not None:
            self.decided += 1
            self.said = f"{word} {item.key}"
        said = self.said
        self.load()
        self.said = said

    def _drafts(self) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = self._door.call("store", "GET", "/v1/drafts")["drafts"]
        except NotFound:  # a store of another version
            return []
        return found

    def _stored(self, item: Waiting) -> list[str]:
        try:
            fact = self._door.call("store", "GET", fact_path(item.key))
        except BeadError as error:
            return ["nothing is stored there yet" if isinstance(error, NotFound) else error.message]
        return [f"stored now (v{fact['version']}, {fact['trust']}):", f"  {fact['body']}"]

    def _told(self, item: Waiting) -> list[str]:
        lines = []
        for source in item.sources[:_MOST_SOURCES]:
            lines += [f"source {source}:", f"  {self._turn(source)}"]
        left = len(item.sources) - _MOST_SOURCES
        return [*lines, f"{left} more sources"] if left > 0 else lines

    def _turn(self, source: str) -> str:
        session, number = source.rpartition("/")[2].partition(".md#turn-")[::2]
        if not session or not number.isdigit():
            return "(not a turn)"
        try:
            path = f"/v1/sessions/{quoted(session)}"
            turns = self._door.call("store", "GET", path, query={"after": int(number) - 1})["turns"]
        except BeadError:
            return "(not there any more)"
        text = next((turn["text"] for turn in turns if turn["ordinal"] == int(number)), "(not there any more)")
        return text if len(text) <= _SOURCE_CHARS else f"{text[:_SOURCE_CHARS]} …"


def _of_item(item: Mapping[str, Any]) -> Waiting:
    agent = item.get("harness") or item["trust"]
    about = f"{item['kind']}, by {agent}, {str(item['created'])[:10]}"
    notes = tuple(consequences(item))
    sources, is_suspicious = tuple(item["sources"]), bool(item.get("suspicious"))
    return Waiting(
        item["id"], False, item["key"], item["body"], about, notes, sources, item.get("type"), agent, is_suspicious
    )


def _of_draft(draft: Mapping[str, Any]) -> Waiting:
    about = f"draft, from {draft['agent']}, {str(draft['created'])[:10]}"
    notes = [f"{'fact' if near['is_fact'] else 'draft'} {near['name']} says nearly the same" for near in draft["near"]]
    if draft["suspicious"]:
        notes.insert(0, "it reads like an instruction to a model: read it twice")
    agent, is_suspicious = draft["agent"], bool(draft["suspicious"])
    return Waiting(draft["id"], True, draft["key"], draft["body"], about, tuple(notes), (), None, agent, is_suspicious)
