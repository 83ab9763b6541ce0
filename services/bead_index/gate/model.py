"""What each sign weighs: logistic regression with weights that are never negative, so that more evidence never hurts.

Pure. The numbers in use are `weights`; fitting them is `bead_evals.recall`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

from bead_index.gate.features import AGAINST, FOR, Candidate


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of signs and the chance from which on a fact is injected."""

    bias: float
    weights: Mapping[str, float]
    """Of every sign that counts, 0 or more; signs of `features.AGAINST` are subtracted."""
    threshold: float
    """Least chance, 0 to 1."""

    def logit(self, candidate: Candidate) -> float:
        """Log odds that the step needs the fact."""
        return self.bias + sum(self.pull(name, candidate) for name in self.weights)

    def pull(self, name: str, candidate: Candidate) -> float:
        """What one sign adds to the log odds; negative when it speaks against the fact."""
        pull = self.weights.get(name, 0.0) * candidate.strength(name)
        return -pull if name in AGAINST else pull


@dataclass(frozen=True, slots=True)
class Models:
    """One model for facts whose cards have sentences, one for facts that have only their words and literals."""

    carded: Model
    bare: Model

    def of(self, candidate: Candidate) -> Model:
        """The model that judges `candidate`."""
        return self.bare if candidate.is_bare else self.carded


CARDED_SIGNS = tuple(name for name in (*FOR, *AGAINST) if not name.startswith("bare_"))
BARE_SIGNS = tuple(name for name in (*FOR, *AGAINST) if not name.startswith(("say_", "mass_", "bag_")))


def chance(logit: float) -> float:
    """Probability of log odds, without overflow."""
    return 1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit))


def log_odds(probability: float) -> float:
    """Inverse of `chance`."""
    return log(probability / (1 - probability))
