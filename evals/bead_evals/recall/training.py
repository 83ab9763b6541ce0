"""Fits the gate's weights: logistic regression with weights that are never negative, in plain Python.

Newton steps, each solved by coordinate descent with a floor of 0; no randomness. Pure. Which turns are fitted on, and
where the threshold lies, is `folds`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bead_index.gate.model import chance

RIDGE = 2.0
"""Pull of each weight towards 0 for every thousand rows, so that models of few and of many projects are alike timid and
one's threshold serves the other; 0.3 to 3 give the same order of facts."""
_STEPS = 25
_SWEEPS = 60
_STILL = 1e-4
"""Largest move of a weight at which fitting stops."""
_LEAST_CURVE = 1e-6


@dataclass(frozen=True, slots=True)
class Rows:
    """One row a candidate; every row has the same number of columns."""

    values: Sequence[Sequence[float]]
    labels: Sequence[bool]


def fit(rows: Rows, ridge: float = RIDGE) -> tuple[float, list[float]]:
    """Bias and weights that best tell the labels from the rows."""
    beta = [0.0] * len(rows.values[0])
    pull = ridge * len(rows.labels) / 1_000
    bias = -2.0
    for _ in range(_STEPS):
        slopes, curves = _derivatives(rows, bias, beta)
        slopes[:-1] = [slope - pull * weight for slope, weight in zip(slopes, beta, strict=False)]
        for at in range(len(beta)):
            curves[at][at] += pull
        step = _bounded_step(slopes, curves, beta)
        beta = [max(0.0, weight + move) for weight, move in zip(beta, step, strict=False)]
        bias += step[-1]
        if max(map(abs, step)) < _STILL:
            break
    return bias, beta


def _derivatives(rows: Rows, bias: float, beta: Sequence[float]) -> tuple[list[float], list[list[float]]]:
    """Slopes and curves of the log likelihood; the bias comes last."""
    width = len(beta) + 1
    slopes = [0.0] * width
    curves = [[0.0] * width for _ in range(width)]
    for row, label in zip(rows.values, rows.labels, strict=True):
        probability = chance(bias + sum(weight * value for weight, value in zip(beta, row, strict=True) if value))
        error = label - probability
        curve = max(probability * (1 - probability), _LEAST_CURVE)
        filled = [(at, value) for at, value in enumerate((*row, 1.0)) if value]
        for at, value in filled:
            slopes[at] += error * value
            along = curves[at]
            for other, factor in filled:
                along[other] += curve * value * factor
    return slopes, curves


def _bounded_step(slopes: Sequence[float], curves: Sequence[Sequence[float]], beta: Sequence[float]) -> list[float]:
    """The best step of the quadratic model that leaves every weight at 0 or above; the bias is free."""
    width = len(slopes)
    step = [0.0] * width
    for _ in range(_SWEEPS):
        largest = 0.0
        for at in range(width):
            row = curves[at]
            pull = slopes[at] - sum(map(float.__mul__, row, step)) + row[at] * step[at]
            new = pull / max(row[at], _LEAST_CURVE)
            if at < len(beta):
                new = max(new, -beta[at])
            largest = max(largest, abs(new - step[at]))
            step[at] = new
        if largest < _STILL / 100:
            break
    return step
