"""Why a fact is injected or not, in plain words (D8).

Pure. Reasons quote cards and the conversation: they are content and never go to a log.
"""

from collections.abc import Mapping

from bead_index.gate.features import Candidate
from bead_index.gate.model import Model

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
_MOST = 2
"""Signs that a reason names."""


def reason(candidate: Candidate, model: Model, passes: bool) -> str:
    """One sentence: the strongest signs, and what speaks against the fact or that nothing does."""
    found = "; ".join(_strongest(candidate, model)) or "hardly a sign of it"
    if candidate.follows:
        found += f"; but the step already follows it: `{candidate.follows}`"
    elif passes and candidate.subject.card.unless:
        found += "; nothing shows that it is already followed"
    against = [_AGAINST[name].format(what=candidate.signs[name].what) for name in _AGAINST if name in candidate.signs]
    if passes:
        return found
    return f"not sure enough: {found}" + (f"; {'; '.join(against)}" if against else "")


def terms(candidate: Candidate, model: Model) -> tuple[str, ...]:
    """Words of the card or fact that made the signs, strongest first."""
    named = (candidate.signs[name].what for name in _by_pull(candidate, model) if name in _FOR)
    return tuple(dict.fromkeys(what for what in named if what))


def _strongest(candidate: Candidate, model: Model) -> list[str]:
    told: dict[str, None] = {}
    for name in sorted(_by_pull(candidate, model), key=_is_vague):
        if name in _FOR and name != "lead":
            told[_FOR[name].format(what=candidate.signs[name].what)] = None
    return list(told)[:_MOST]


def _is_vague(name: str) -> bool:
    """Whether a sign quotes nothing, and so is told only when there is no other."""
    return not _FOR.get(name, "").count("{what}")


def _by_pull(candidate: Candidate, model: Model) -> list[str]:
    pulls = {name: model.pull(name, candidate) for name in candidate.signs}
    return sorted((name for name, pull in pulls.items() if pull > 0), key=lambda name: (-pulls[name], name))
