"""Weights in use. Written by `python -m bead_evals.recall --fit`; not to be edited by hand.

Fitted on the suites ledgerd, plotline, tidepool at commit 0536925b7a2b+; thresholds for 4% of turns with a false
injection, by leaving each suite out in turn. Nothing in it is random.
"""

from bead_index.gate.model import Model, Models

MODELS = Models(
    carded=Model(
        bias=-4.304,
        weights={
            "say_person": 1.193,
            "mass_person": 0.602,
            "say_agent": 1.33,
            "mass_agent": 0.737,
            "say_joint": 1.753,
            "bag_person": 1.778,
            "bag_agent": 1.255,
            "body_person": 0.678,
            "body_agent": 0.132,
            "do": 0.821,
            "do_more": 1.467,
            "do_edit": 2.342,
            "do_words": 0.808,
            "see_failure": 1.281,
            "see_output": 1.412,
            "see_words": 0.485,
            "lead": 2.771,
            "asks": 1.279,
            "unless_before": 0.55,
            "rival": 3.006,
        },
        threshold=0.34,
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
