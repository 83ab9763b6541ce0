"""Measurements of bead: benches of speed and evaluations of recall. Nothing in the services imports this package."""
