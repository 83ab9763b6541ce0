"""Texts that appear nowhere else, put in by every way in, and looked for in every place."""
