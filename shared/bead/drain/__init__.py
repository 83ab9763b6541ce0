"""The agents' own memories, as text: how a file falls into memories, and what is kept of one.

Pure. Which files there are and how they are read safely is `bead_cli.drain`; what becomes of a memory is the store's.
"""
