"""The local gate: which facts a turn needs, by trigger cards, without a model call (D7).

Pure: no I/O, no clock, no environment. Budget, duplicates and what a conversation has seen are `bead_index.selection`.
"""
