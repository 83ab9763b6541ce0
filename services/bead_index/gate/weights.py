"""Weights in use. Written by `python -m bead_evals.recall --fit`; not to be edited by hand.

Fitted on the suites ledgerd, plotline, tidepool at commit 7d52027a834e+; thresholds for 4% of turns with a false
injection, by leaving each suite out in turn. Nothing in it is random.
"""

from bead_index.gate.model import Model, Models

MODELS = Models(
    carded=Model(
        bias=-4.322,
        weights={
            "say_person": 1.169,
            "mass_person": 0.628,
            "say_agent": 1.33,
            "mass_agent": 0.759,
            "say_joint": 1.79,
            "bag_person": 1.74,
            "bag_agent": 1.252,
            "body_person": 0.799,
            "body_agent": 0.245,
            "do": 0.825,
            "do_more": 1.472,
            "do_edit": 2.345,
            "do_words": 0.767,
            "see_failure": 1.285,
            "see_output": 1.411,
            "see_words": 0.482,
            "lead": 2.739,
            "asks": 1.268,
            "unless_before": 0.55,
            "rival": 2.964,
        },
        threshold=0.38,
    ),
    bare=Model(
        bias=-3.156,
        weights={
            "body_person": 1.312,
            "body_agent": 0.394,
            "bare_person": 1.073,
            "bare_agent": 1.774,
            "bare_bag": 1.168,
            "do": 0.793,
            "do_more": 0.57,
            "do_edit": 1.923,
            "do_words": 0.229,
            "see_failure": 0.595,
            "see_output": 0.595,
            "lead": 1.943,
            "asks": 1.481,
            "unless_before": 1.064,
            "rival": 1.701,
        },
        threshold=0.37,
    ),
)
