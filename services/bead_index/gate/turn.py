"""The newest step of a conversation as the gate reads it: who says what, what is done and shown, and what was before.

Pure. Telling looking from doing is `steps`; making cues out of a request is the proxy's.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from bead.recall import Cue, CueSource
from bead_index.gate import steps
from bead_index.gate.literals import Searchable
from bead_index.gate.words import concepts, sentences

TEXT_CHARACTERS = 6_000
"""Most characters of what one source says that are read: head and tail."""
REMEMBERED_STEPS = 12
"""Steps of one session whose texts are kept for `unless`."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of somebody."""

    text: str
    concepts: frozenset[str]
    plans: bool
    """Whether it says what its speaker is about to change or run."""
    looks: bool
    """Whether it says that its speaker looks at something."""


@dataclass(frozen=True, slots=True)
class Step:
    """One request's newest content."""

    person: tuple[Said, ...]
    agent: tuple[Said, ...]
    person_text: Searchable
    agent_text: Searchable
    edits: Searchable
    """Input of tools that write text into a file."""
    acts: Searchable
    """Input of other tools, but for those that only look."""
    looks: Searchable
    failures: Searchable
    """Lines of output around signs of failure."""
    output: Searchable
    asks: bool
    """Whether the person only asks something."""

    @property
    def is_tool_step(self) -> bool:
        """Whether the agent is at work and the person has said nothing new."""
        return not self.person and any((self.acts, self.edits, self.looks, self.output))

    @property
    def is_looking(self) -> bool:
        """Whether the agent only gathers what there is, by its tools or by its words, with no plan of a change."""
        by_tools = bool(self.looks) and not self.acts
        by_words = any(said.looks for said in self.agent)
        return not self.edits and (by_tools or by_words) and not any(said.plans for said in self.agent)

    @property
    def shown(self) -> tuple[Searchable, ...]:
        """Everything that may show that the agent already follows a fact."""
        return self.person_text, self.agent_text, self.acts, self.edits, self.looks, self.output


@dataclass(slots=True)
class Session:
    """What earlier steps of one session said and did, newest last; bounded.

    What tools printed is left out: it is no sign that the agent follows anything.
    """

    earlier: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED_STEPS))

    def remember(self, step: Step) -> None:
        """Keep what `step` said and did; a request that is sent again is no step of its own."""
        texts = (step.person_text, step.agent_text, step.acts, step.edits)
        joined = "\n".join(text.text for text in texts)
        if not self.earlier or self.earlier[-1] != joined:
            self.earlier.append(joined)


def read_step(cues: Iterable[Cue]) -> Step:
    """`cues` of one request."""
    texts: dict[CueSource, list[str]] = {source: [] for source in CueSource}
    for cue in cues:
        texts[cue.source].append(ends(cue.text))
    person = ends("\n".join(texts[CueSource.PERSON]))
    agent = ends("\n".join(texts[CueSource.ASSISTANT]))
    listings = [steps.is_listing(output) for output in texts[CueSource.TOOL_OUTPUT]]
    kinds: dict[steps.Kind, list[str]] = {kind: [] for kind in steps.Kind}
    for text, is_listing in zip_longest(texts[CueSource.TOOL_INPUT], listings, fillvalue=None):
        if text is not None:
            read = steps.read_input(text, bool(is_listing))
            kinds[read.kind].append(read.text)
            agent += f"\n{read.announcement}"
    outputs = zip(texts[CueSource.TOOL_OUTPUT], listings, strict=True)
    return Step(
        person=_said(person),
        agent=_said(agent),
        person_text=Searchable(person),
        agent_text=Searchable(agent),
        edits=_joined(kinds[steps.Kind.EDIT]),
        acts=_joined(kinds[steps.Kind.ACT]),
        looks=_joined(kinds[steps.Kind.LOOK]),
        failures=_joined([steps.failure_lines(output) for output, is_listing in outputs if not is_listing]),
        output=_joined(texts[CueSource.TOOL_OUTPUT]),
        asks=steps.only_asks(person),
    )


def ends(text: str) -> str:
    """`text`, or its head and tail when it is long."""
    half = TEXT_CHARACTERS // 2
    return text if len(text) <= TEXT_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


def _joined(texts: Sequence[str]) -> Searchable:
    return Searchable(ends("\n".join(texts)))


def _said(text: str) -> tuple[Said, ...]:
    said = (Said(sentence, frozenset(concepts(sentence)), *steps.intent(sentence)) for sentence in sentences(text))
    return tuple(each for each in said if each.concepts or each.plans or each.looks)
