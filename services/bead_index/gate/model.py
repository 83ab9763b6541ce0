"""What each sign weighs: logistic regression with weights that are never negative, so that more evidence never hurts.

Pure. The numbers in use are `weights`; fitting them is `bead_evals.recall`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, fsum, log

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
        return self.bias + fsum(self.pulls(candidate).values())

    def bar(self, candidate: Candidate) -> float:
        """Log odds that the candidate must reach."""
        return log_odds(self.bare_threshold if candidate.is_bare else self.threshold)

    def surplus(self, candidate: Candidate) -> float:
        """Log odds above the candidate's bar; negative when it stays out."""
        return self.logit(candidate) - self.bar(candidate)

    def pulls(self, candidate: Candidate) -> dict[str, float]:
        """What each sign adds to the log odds; negative when it speaks against the fact."""
        weights = self.weights
        return {
            name: (-weights[name] if name in AGAINST else weights[name]) * sign.strength
            for name, sign in candidate.signs.items()
            if name in weights
        }


def chance(logit: float) -> float:
    """Probability of log odds, without overflow."""
    return 1 / (1 + exp(-logit)) if logit >= 0 else exp(logit) / (1 + exp(logit))


def log_odds(probability: float) -> float:
    """Inverse of `chance`."""
    return log(probability / (1 - probability))
