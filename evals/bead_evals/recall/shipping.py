"""Fits the weights that the service uses, and writes them as its module `bead_index.gate.weights`."""

from collections.abc import Sequence

from bead_evals.recall import folds, gates
from bead_evals.recall.suites import Suite
from bead_index.gate.model import Model


def module(suites: Sequence[Suite], commit: str) -> str:
    """Text of the module: weights from facts with blind cards, and a threshold for cards by rule beside theirs."""
    carded = [folds.see(suite, folds.cards_of(gates.with_blind_cards)) for suite in suites]
    bare = [folds.see(suite, folds.cards_of(gates.without_cards)) for suite in suites]
    names = ", ".join(suite.name for suite in suites)
    return (
        '"""Weights in use. Written by `python -m bead_evals.recall --fit`; not to be edited by hand.\n\n'
        f"Fitted on the suites {names} at commit {commit}; thresholds for {folds.BUDGET:.0%} of turns with a false\n"
        'injection, by leaving each suite out in turn. Nothing in it is random.\n"""\n\n'
        f"from bead_index.gate.model import Model\n\nMODEL = {_model(folds.learn(carded, bare))}\n"
    )


def _model(model: Model) -> str:
    kept = {name: round(weight, 3) for name, weight in model.weights.items() if round(weight, 3)}
    weights = "".join(f'        "{name}": {weight},\n' for name, weight in kept.items())
    return (
        f"Model(\n    bias={model.bias:.3f},\n    weights={{\n{weights}    }},\n"
        f"    threshold={model.threshold},\n    bare_threshold={model.bare_threshold},\n)"
    )
