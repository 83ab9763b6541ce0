"""Connects bead to a person's machine and takes itself out again: profiles, a supervised unit, agents' own settings.

`files` writes, `journal` remembers what was there, `marked`, `profiles`, `settingsfile` and `agents` say what a file is
to hold (pure), `units` is about the program that keeps bead alive. The commands compose them.
"""
