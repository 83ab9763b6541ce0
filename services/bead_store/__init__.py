"""The store: the only process that takes the home's lock and writes files. It knows no other service."""
