"""Why a fact is injected or not, in plain words (D8).

Pure. Reasons quote cards and the conversation: they are content and never go to a log.
"""

from collections.abc import Iterable, Mapping, Sequence

from bead_index.gate.features import Candidate

_FOR: Mapping[str, str] = {
    "say_person": "the person says something like “{what}”",
    "say_agent": "the agent announces something like “{what}”",
    "say_joint": "the exchange is like “{what}”",
    "mass_person": "the person uses rare words of its card",
    "mass_agent": "the agent uses rare words of its card",
    "bag_person": "its words cover what the person says",
    "bag_agent": "its words cover what the agent announces",
    "body_person": "the person uses words of “{what}”",
    "body_agent": "the agent uses words of “{what}”",
    "do": "about to run or just ran `{what}`",
    "do_more": "`{what}` as well",
    "do_edit": "the edit holds `{what}`",
    "do_words": "`{what}` is written in the conversation",
    "see_failure": "the failing output shows `{what}`",
    "see_output": "the output shows `{what}`",
    "see_words": "the person quotes `{what}`",
    "lead": "no other fact comes near",
}
_AGAINST: Mapping[str, str] = {
    "asks": "the person only asks for information",
    "unless_before": "an earlier step already follows it with `{what}`",
    "rival": "another fact fits better",
}
_VAGUE = frozenset(name for name, text in _FOR.items() if "{what}" not in text)
"""Signs that quote nothing, and so are told only when there is no other."""
_MOST = 2
"""Signs that a reason names."""
_TELLING = 0.05
"""Log odds from which on an offset is told."""


def strongest(pulls: Mapping[str, float]) -> list[str]:
    """Signs that speak for a fact, the strongest first; `pulls` as `Model.pulls` has them."""
    return sorted((name for name in pulls if pulls[name] > 0 and name in _FOR), key=lambda name: (-pulls[name], name))


def reason(candidate: Candidate, signs: Sequence[str], passes: bool, offset: float = 0.0) -> str:
    """One sentence: the strongest of `signs`, and what speaks against the fact or that nothing does.

    `offset` is what earlier turns have taught about it.
    """
    found = "; ".join(_told(candidate, signs)) or "hardly a sign of it"
    if candidate.follows:
        found += f"; but the step already follows it: `{candidate.follows}`"
    elif passes and candidate.subject.card.unless:
        found += "; nothing shows that it is already followed"
    if abs(offset) >= _TELLING:
        found += f"; earlier turns {'speak for it' if offset > 0 else 'did not need it'} ({offset:+.2f})"
    against = [_AGAINST[name].format(what=candidate.signs[name].what) for name in _AGAINST if name in candidate.signs]
    if passes:
        return found
    return f"not sure enough: {found}" + (f"; {'; '.join(against)}" if against else "")


def terms(candidate: Candidate, signs: Iterable[str]) -> tuple[str, ...]:
    """Words of the card or fact that made `signs`."""
    named = [candidate.signs[name].what for name in signs]
    return tuple(dict.fromkeys(filter(None, named)))


def _told(candidate: Candidate, signs: Sequence[str]) -> list[str]:
    told: dict[str, None] = {}
    for name in sorted(signs, key=_VAGUE.__contains__):
        if name != "lead":
            told[_FOR[name].format(what=candidate.signs[name].what)] = None
            if len(told) == _MOST:
                break
    return list(told)
