"""Made-up facts for tables."""

from datetime import UTC, datetime, timedelta

from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.recall import Cue, CueSource
from bead.wire.index import RecallRequest
from bead_index.facts import FactTable

START = datetime(2026, 11, 1, tzinfo=UTC)


def fact(
    key: str,
    body: str,
    *,
    day: int = 0,
    trust: Trust = Trust.AGENT_OBSERVED,
    type: FactType | None = None,
    pinned: bool = False,
    status: Status = Status.CURRENT,
    sensitivity: Sensitivity = Sensitivity.PRIVATE,
    owner: str = "me",
    version: int = 1,
    uid: str | None = None,
    when: TriggerCard | None = None,
) -> FactVersion:
    """A fact whose uid is its key unless told, written on day `day` of November."""
    return FactVersion(
        uid=uid or key,
        key=key,
        version=version,
        type=type or (FactType.PROJECT if key.startswith("project/") else FactType.USER),
        owner=owner,
        status=status,
        trust=trust,
        sensitivity=sensitivity,
        valid_from=START + timedelta(days=day),
        body=body,
        pinned=pinned,
        when=when or TriggerCard(),
    )


def table(*facts: FactVersion) -> FactTable:
    """A table of `facts`."""
    return FactTable(facts)


def said(text: str, source: CueSource = CueSource.PERSON) -> Cue:
    """A cue."""
    return Cue(source, text)


def request(
    *cues: Cue | str,
    project: str = "shop",
    seen: tuple[str, ...] = (),
    budget_tokens: int = 1_500,
    max_facts: int = 2,
    owner: str = "me",
) -> RecallRequest:
    """A recall request; a plain string is the person's text."""
    return RecallRequest(
        owner=owner,
        project=project,
        session="s",
        cues=tuple(said(cue) if isinstance(cue, str) else cue for cue in cues),
        seen=seen,
        budget_tokens=budget_tokens,
        max_facts=max_facts,
    )
