"""What other programs kept, brought into bead: one reader a program, one way into the store.

`readers` is the table; each reader turns files into `records`; `files` opens them safely; `running` shows, asks and
writes.
"""
