"""Weights in use. Written by `python -m bead_evals.recall --fit`; not to be edited by hand.

Fitted on the suites ledgerd, plotline, tidepool at commit a1cddd73806c+; thresholds for 4% of turns with a false
injection, by leaving each suite out in turn. Nothing in it is random.
"""

from bead_index.gate.model import Model

MODEL = Model(
    bias=-3.966,
    weights={
        "say_person": 1.036,
        "mass_person": 0.604,
        "say_agent": 1.057,
        "mass_agent": 0.726,
        "say_joint": 1.327,
        "bag_person": 1.326,
        "bag_agent": 0.99,
        "body_person": 0.655,
        "body_agent": 0.323,
        "do": 0.719,
        "do_more": 1.251,
        "do_edit": 1.879,
        "do_words": 0.775,
        "see_failure": 0.961,
        "see_output": 1.167,
        "see_words": 0.408,
        "lead": 2.206,
        "asks": 0.938,
        "unless_before": 0.416,
        "rival": 2.249,
    },
    threshold=0.31,
    bare_threshold=0.36,
)
