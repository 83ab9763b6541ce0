"""Weights in use. Written by `python -m bead_evals.recall --fit`; not to be edited by hand.

Fitted on the suites ledgerd, plotline, tidepool at commit 0dd0930712b0; thresholds for 4% of turns with a false
injection, by leaving each suite out in turn. Nothing in it is random.
"""

from bead_index.gate.model import Model

MODEL = Model(
    bias=-3.955,
    weights={
        "say_person": 1.021,
        "mass_person": 0.62,
        "say_agent": 1.04,
        "mass_agent": 0.713,
        "say_joint": 1.346,
        "bag_person": 1.316,
        "bag_agent": 0.989,
        "body_person": 0.687,
        "body_agent": 0.344,
        "do": 0.722,
        "do_more": 1.302,
        "do_edit": 1.854,
        "do_words": 0.853,
        "see_failure": 0.947,
        "see_output": 1.154,
        "see_words": 0.43,
        "lead": 2.235,
        "asks": 0.949,
        "unless_before": 0.544,
        "rival": 2.314,
    },
    threshold=0.26,
    bare_threshold=0.34,
)
