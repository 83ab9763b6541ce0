"""What each sign weighs: logistic regression with weights that are never negative, so that more evidence never hurts.

Pure. The numbers in use are `weights`; fitting them is `bead_evals.recall`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

from bead_index.gate.features import AGAINST, Candidate


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of signs and the chances from which on a fact is injected."""

    bias: float
    weights: Mapping[str, float]
    """Of every sign that counts, 0 or more; signs of `features.AGAINST` are subtracted."""
    threshold: float
    """Least chance, 0 to 1, of a fact with a written card."""
    bare_threshold: float
    """Least chance of one whose sentences are by rule and of its own: the same signs mean less there."""

    def logit(self, candidate: Candidate) -> float:
        """Log odds that the step needs the fact."""
        return self.bias + sum(self.pull(name, candidate) for name in self.weights)

    def surplus(self, candidate: Candidate) -> float:
        """Log odds above the candidate's threshold; negative when it stays out."""
        return self.logit(candidate) - log_odds(self.bare_threshold if candidate.is_bare else self.threshold)

    def pull(self, name: str, candidate: Candidate) -> float:
        """What one sign adds to the log odds; negative when it speaks against the fact."""
        pull = self.weights.get(name, 0.0) * candidate.strength(name)
        return -pull if name in AGAINST else pull


def chance(logit: float) -> float:
    """Probability of log odds, without overflow."""
    return 1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit))


def log_odds(probability: float) -> float:
    """Inverse of `chance`."""
    return log(probability / (1 - probability))
