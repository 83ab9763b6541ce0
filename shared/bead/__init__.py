"""The words of the domain, the bus, its clients and settings. Writes nothing to disk; that is the store's job alone."""

__version__ = "0.1.0"
