"""The drain: reads the coding agents' own memories on the host, hands them to the store as drafts, and may empty them.

`places` knows where they lie, `safely` reads and empties files, `draining` does the work, `notes` is what hooks leave,
`seeding` puts hooks into an agent's settings. How a file falls into memories is `bead.drain`; drafts are the store's.
"""
