"""Words of a text: terms, and when two statements are about the same. Pure."""
