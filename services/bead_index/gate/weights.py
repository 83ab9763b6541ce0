"""Weights in use. Written by `python -m bead_evals.recall --fit`; not to be edited by hand.

Fitted on the suites ledgerd, plotline, tidepool at commit 61736b49d8aa; thresholds for 4% of turns with a false
injection, by leaving each suite out in turn. Nothing in it is random.
"""

from bead_index.gate.model import Model

MODEL = Model(
    bias=-3.976,
    weights={
        "say_person": 1.041,
        "mass_person": 0.617,
        "say_agent": 1.052,
        "mass_agent": 0.724,
        "say_joint": 1.338,
        "bag_person": 1.312,
        "bag_agent": 0.994,
        "body_person": 0.676,
        "body_agent": 0.313,
        "do": 0.72,
        "do_more": 1.352,
        "do_edit": 1.847,
        "do_words": 0.842,
        "see_failure": 0.952,
        "see_output": 1.168,
        "see_words": 0.394,
        "lead": 2.206,
        "asks": 0.937,
        "unless_before": 0.536,
        "rival": 2.245,
    },
    threshold=0.31,
    bare_threshold=0.32,
)
