"""The index: a derived copy of the store that searches for people and recalls for models.

DERIVED: delete `index.db` at any time. It follows the store and is never asked what is true.
"""
