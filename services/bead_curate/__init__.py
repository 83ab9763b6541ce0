"""The people's door: the CLI, hooks and scripts reach every other service through it."""
