"""Phase extract and reconcile: reads what is new in each session, lets the rules judge what was found, acts on it.

A session counts as read only when every piece of it was answered; one that fails is tried again, on five nights at
most, until there is something new in it.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bead import keys
from bead.clients.store import StoreClient
from bead.errors import Corrupt, NotFound
from bead.facts import FactType, FactVersion, Status
from bead.scan import Scanner
from bead.text.instructions import is_suspicious
from bead.wire.dream import DreamEpisode, DreamWrite, NightState, ProposalKind, Propose, SessionState
from bead_dream import byrule, prompts
from bead_dream.asking import Model
from bead_dream.changes import Changes
from bead_dream.claims import Claim, Context, Outcome, Turn
from bead_dream.providers.base import Question
from bead_dream.recovery import Failure
from bead_dream.rules import judge
from bead_dream.rules.support import ENOUGH, share
from bead_dream.transcript import boot_lines, chunks, turn_of

MAX_NIGHTS = 5
MAX_SESSIONS = 10_000
_BOOT_SAMPLE = 20
"""Sessions that are compared to find what a harness says in each of them."""
_FACT_FIELDS = ("key", "value")
_TURN = re.compile(r"\s*(?:[\w/.-]*#)?turn[- ]?(\d{1,9})\s*\Z", re.IGNORECASE)
_PARTS = ("situation", "action", "outcome", "lesson")
_MAX_PART = 1_000
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|\n+")
DRAWN = 0.6
"""Share of a sentence's terms that makes it a tool's, unless the person said it too."""


async def unread(store: StoreClient, night: NightState) -> list[str]:
    """Sessions with something new in them, oldest first; those that failed too often are left alone."""
    found: list[str] = []
    for session in reversed((await store.sessions(limit=MAX_SESSIONS)).sessions):
        known = night.sessions.get(session, SessionState())
        try:
            view = await store.session(session, after=known.read)
        except (NotFound, Corrupt):
            continue
        last = view.turns[-1].ordinal if view.turns else known.read
        if last > known.read and not (known.failures >= MAX_NIGHTS and last <= known.failed_at):
            found.append(session)
    return found


@dataclass
class Reading:
    """What a night knows while it reads."""

    store: StoreClient
    model: Model | None
    scanner: Scanner
    changes: Changes
    night: NightState
    facts: Sequence[FactVersion]
    boot: frozenset[str] = frozenset()

    async def compare_beginnings(self) -> None:
        """Learn which lines stand at the beginning of every session."""
        views: list[list[Turn]] = []
        for session in (await self.store.sessions(limit=_BOOT_SAMPLE)).sessions:
            try:
                views.append([turn_of(turn) for turn in (await self.store.session(session)).turns[:2]])
            except (NotFound, Corrupt):
                continue
        self.boot = boot_lines(views)

    async def read(self, session: str) -> None:
        """One session.

        Raises:
            LimitReached, ModelTrouble: the night goes on without reading; the session stays unread.
        """
        whole = await self.store.session(session)
        turns = await asyncio.to_thread(lambda: [turn_of(turn) for turn in whole.turns])
        read = self.night.sessions.get(session, SessionState()).read
        fresh = [turn for turn in turns if turn.ordinal > read]
        last = whole.turns[-1].ordinal
        project = next((turn.project for turn in reversed(whole.turns) if turn.project), None)
        scopes = ("user", "global", *((f"project/{project}",) if project else ()))
        context = self._context(turns, scopes)
        summary = byrule.summary(turns)
        if self.model is None:
            await self._propose_wishes(fresh, scopes[-1] if project else "user")
        else:
            answer = await self._ask(fresh, context)
            if isinstance(answer, Failure):
                self._failed(session, last, answer)
                return
            claims, told = answer
            await self._act(claims, context)
            summary = told or summary
        parts = {name: self._harmless(getattr(summary, name), turns) for name in _PARTS}
        if any(parts.values()):
            at = whole.turns[0].at
            await self.changes.episode(DreamEpisode(session=session, project=project, created=at, **parts))
        self.night.sessions[session] = SessionState(read=last)
        self.changes.counts["sessions read"] += 1

    def _context(self, turns: Sequence[Turn], scopes: tuple[str, ...]) -> Context:
        known = {fact.key: fact for fact in self.facts if keys.parse(fact.key).scope in scopes}
        return Context(
            turns={turn.ordinal: turn for turn in turns},
            known=known,
            scopes=scopes,
            holds_secret=self.scanner.contains_secret,
            boot_lines=self.boot,
        )

    async def _propose_wishes(self, turns: Sequence[Turn], scope: str) -> None:
        for found in byrule.wishes(turns):
            if self.scanner.contains_secret(found.body):
                self.changes.refused("holds a credential")
                continue
            await self.changes.propose(
                Propose(
                    kind=found.kind,
                    key=f"{scope}/{found.name}",
                    body=found.body,
                    type=FactType.FEEDBACK,
                    sources=(found.turn.source,),
                    suspicious=is_suspicious(found.body),
                    reason="you said so in a session",
                )
            )

    async def _ask(
        self, turns: Sequence[Turn], context: Context
    ) -> tuple[list[Claim], byrule.Summary | None] | Failure:
        assert self.model is not None, "there is somebody to ask"
        claims: dict[Claim, None] = {}
        told: byrule.Summary | None = None
        shown = sorted(
            (fact for fact in context.known.values() if fact.status is Status.CURRENT),
            key=lambda fact: fact.valid_from,
            reverse=True,
        )
        for piece in chunks(turns):
            prompt = prompts.extract_prompt(piece, shown, context.scopes)
            question = Question("extract", prompts.EXTRACT_SYSTEM, prompt, prompts.EXTRACT_SCHEMA)
            found = await self.model.ask(question, "facts", _FACT_FIELDS)
            if isinstance(found, Failure):
                return found
            for item in found.document["facts"]:
                claim = claim_of(item)
                if claim is None:
                    self.changes.refused("an item of the wrong shape")
                else:
                    claims[claim] = None
            told = summary_of(found.document.get("episode")) or told
        return list(claims), told

    async def _act(self, claims: Sequence[Claim], context: Context) -> None:
        """Each key is written once a session: the last claim about it counts."""
        last = {claim.key: claim for claim in claims}
        for claim in last.values():
            verdict = await asyncio.to_thread(judge, claim, context)
            sources = tuple(turn.source for turn in context.cited(claim))
            if verdict.outcome is Outcome.REFUSE:
                self.changes.refused(verdict.reason)
            elif verdict.outcome is Outcome.WRITE:
                kind = FactType(claim.type)
                await self.changes.write(DreamWrite(key=claim.key, body=claim.body, type=kind, sources=sources))
            else:
                assert verdict.kind is not None, "what waits says why"
                key = claim.replaces if verdict.kind is ProposalKind.KEY_CONFLICT and claim.replaces else claim.key
                await self.changes.propose(
                    Propose(
                        kind=verdict.kind,
                        key=key,
                        body=claim.body,
                        type=FactType(claim.type),
                        sources=sources,
                        suspicious=is_suspicious(claim.body),
                        reason=verdict.reason,
                    )
                )

    def _failed(self, session: str, last: int, failure: Failure) -> None:
        known = self.night.sessions.get(session, SessionState())
        failures = known.failures + 1 if known.failed_at == last else 1
        self.night.sessions[session] = SessionState(read=known.read, failures=failures, failed_at=last)
        again = "left alone until it grows" if failures >= MAX_NIGHTS else "tried again the next night"
        self.changes.counts[f"unread: {failure.reason}"] += 1
        self.changes.lines.append(f"- unread: session {session}, {failure.reason}; {again}")

    def _harmless(self, part: str, turns: Sequence[Turn]) -> str:
        """Without sentences that read like an instruction, or that are a tool's or a pasted text's: an episode may be
        recalled, and those never reach a model before a person has seen them (I14)."""
        foreign = "\n".join(f"{turn.tool}\n{turn.pasted}" for turn in turns)
        own = "\n".join(turn.own for turn in turns)

        def may_stay(sentence: str) -> bool:
            is_drawn = share(sentence, foreign) >= DRAWN and share(sentence, own) < ENOUGH
            return not is_drawn and not is_suspicious(sentence)

        kept = [sentence for sentence in _SENTENCE_END.split(part) if may_stay(sentence)]
        return self.scanner.redact(" ".join(kept)).text


def claim_of(item: Any) -> Claim | None:
    """A claim out of one item of a reply; None when it has the wrong shape."""
    if not isinstance(item, dict):
        return None
    key, value, source = item.get("key"), item.get("value"), item.get("source")
    if not (isinstance(key, str) and isinstance(value, str)):
        return None
    named = source if isinstance(source, list) else [source]
    turns = tuple(int(match[1]) for name in named if isinstance(name, str) and (match := _TURN.match(name)))
    if len(turns) != len(named):
        turns = ()
    kind, replaces = item.get("type"), item.get("replaces")
    return Claim(
        key=key.strip(),
        body=value.strip(),
        type=kind if isinstance(kind, str) and kind else _usual_type(key),
        turns=turns,
        replaces=replaces.strip() if isinstance(replaces, str) and replaces.strip() else None,
    )


def summary_of(told: Any) -> byrule.Summary | None:
    """An episode out of a reply; None when it says nothing."""
    if not isinstance(told, dict):
        return None
    parts = {name: told[name][:_MAX_PART].strip() for name in _PARTS if isinstance(told.get(name), str)}
    return byrule.Summary(**parts) if any(parts.values()) else None


def _usual_type(key: str) -> str:
    return FactType.PROJECT if key.startswith("project/") else FactType.USER
