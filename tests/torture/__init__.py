"""Crash tests of the store: killed, refused by the disk, or without power, at every step of every write (I1-I3, D12).

`python -m tests.torture` (or `make torture`) runs everything and keeps the figures; the tests here run a part of it.
"""
